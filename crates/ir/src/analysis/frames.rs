// SPDX-License-Identifier: Apache-2.0
//! [`Frames`]: the regions of a program in the contexts in which they run: each block once, each action once
//! for each application of a table that lists it. A context keeps apart what a shared action does for one
//! table from what it does for another.

use super::region_facts::RegionFacts;
use crate::{ActionId, Operation, Program, RegionId, TableId};
use std::collections::HashMap;

/// A context, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FrameId(pub u32);

impl FrameId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The application of a table in whose context an action runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Application {
    pub frame: FrameId,
    pub block: usize,
    pub instruction: usize,
    pub table: TableId,
    pub action: ActionId,
}

/// A region in a context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub region: RegionId,
    /// The programmable block that runs it, where one does.
    pub program_block: Option<usize>,
    /// For an action's region.
    pub applied_by: Option<Application>,
}

/// All contexts of a program.
#[derive(Debug)]
pub(super) struct Frames {
    pub list: Vec<Frame>,
    /// Of each application of a table, by frame, basic block and instruction: the contexts of its actions.
    children: HashMap<(FrameId, usize, usize), Vec<FrameId>>,
    by_region: Vec<Vec<FrameId>>,
}

impl Frames {
    /// Blocks and the actions that they apply; regions that nothing runs have a context of their own.
    pub(super) fn of(program: &Program, regions: &[RegionFacts<'_>]) -> Frames {
        let mut frames = Frames {
            list: Vec::new(),
            children: HashMap::new(),
            by_region: vec![Vec::new(); program.regions.len()],
        };
        for (at, block) in program.blocks.iter().enumerate() {
            frames.add(program, regions, block.region, Some(at));
        }
        for at in 0..program.regions.len() {
            if frames.by_region[at].is_empty() {
                frames.add(program, regions, RegionId(at as u32), None);
            }
        }
        frames
    }

    fn push(&mut self, frame: Frame) -> FrameId {
        let id = FrameId(self.list.len() as u32);
        self.by_region[frame.region.index()].push(id);
        self.list.push(frame);
        id
    }

    fn add(
        &mut self,
        program: &Program,
        regions: &[RegionFacts<'_>],
        region: RegionId,
        program_block: Option<usize>,
    ) {
        let frame = self.push(Frame { region, program_block, applied_by: None });
        let facts = &regions[region.index()];
        for &block in &facts.order {
            let code = facts.region.blocks[block].instructions.iter().enumerate();
            for (instruction, applying) in code {
                let Operation::Apply { table, .. } = &applying.operation else { continue };
                let mut children: Vec<FrameId> = Vec::new();
                for listed in &program.tables[table.index()].actions {
                    let action = listed.action;
                    let region = program.actions[action.index()].region;
                    let application =
                        Application { frame, block, instruction, table: *table, action };
                    let applied_by = Some(application);
                    children.push(self.push(Frame { region, program_block, applied_by }));
                }
                self.children.insert((frame, block, instruction), children);
            }
        }
    }

    pub(super) fn frame(&self, id: FrameId) -> &Frame {
        &self.list[id.index()]
    }

    /// The contexts of the actions of an application.
    pub(super) fn children(&self, site: (FrameId, usize, usize)) -> &[FrameId] {
        self.children.get(&site).map_or(&[], Vec::as_slice)
    }

    /// The contexts that a region runs in.
    pub(super) fn of_region(&self, region: RegionId) -> &[FrameId] {
        &self.by_region[region.index()]
    }

    /// The contexts of programmable blocks.
    pub(super) fn of_block(&self, program: &Program, block: usize) -> Option<FrameId> {
        let region = program.blocks[block].region;
        self.of_region(region).iter().copied().find(|id| {
            let frame = self.frame(*id);
            frame.program_block == Some(block) && frame.applied_by.is_none()
        })
    }
}
