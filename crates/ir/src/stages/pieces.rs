// SPDX-License-Identifier: Apache-2.0
//! [`Pieces`]: cuts the code of one region into a region for each stage, by the stages of its instructions. Does not
//! check the stages; `cut` and `tables` do. Temporaries that cross become slots.
//!
//! A stage has the basic blocks of its instructions and of the branches that decide about these blocks, directly or by
//! deciding about each other. Any other branch decides nothing there, so control continues where its paths meet again.

use super::carried::CarriedSlots;
use super::constraints::all_deciders;
use crate::analysis::RegionFacts;
use crate::control_flow::post_dominators;
use crate::passes::{join_chains, remove_unreachable_blocks, renumber_temps};
use crate::{
    BasicBlock, BlockId, Instruction, Operand, Operation, Place, Region, SlotId, Temp, Terminator,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How a region is cut.
pub(super) struct Pieces<'a, 'p> {
    /// The region; it has no loop.
    pub facts: &'a RegionFacts<'p>,
    /// The stage of an instruction, by basic block and index.
    pub stage_of: &'a dyn Fn(usize, usize) -> u32,
    /// How many stages.
    pub count: u32,
    /// The stage in which `exit` ends the block. In other stages it is the end of the region.
    pub exits_in: Option<u32>,
}

/// A temporary that crosses stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The slot that carries it.
    pub slot: SlotId,
    /// The stage that computes it.
    pub from: u32,
    /// The last stage that uses it.
    pub to: u32,
}

/// A temporary's slot and stage.
#[derive(Clone, Copy)]
struct Crossing {
    slot: SlotId,
    from: u32,
}

impl Pieces<'_, '_> {
    /// Makes the regions, stage by stage, and lists what crosses.
    pub fn cut(&self, slots: &mut CarriedSlots<'_>) -> (Vec<Region>, Vec<Carried>) {
        let deciders = all_deciders(self.facts);
        let kept: Vec<Kept> = (0..self.count).map(|stage| self.kept(stage, &deciders)).collect();
        let (crossings, carried) = self.crossings(&kept, slots);
        let meets = post_dominators(self.facts.region);
        let piece =
            |(stage, kept): (usize, &Kept)| self.piece(stage as u32, kept, &meets, &crossings);
        (kept.iter().enumerate().map(piece).collect(), carried)
    }

    /// The basic blocks of a stage.
    fn kept(&self, stage: u32, deciders: &[BTreeSet<usize>]) -> Kept {
        let region = self.facts.region;
        let mut kept = Kept::default();
        for &block in &self.facts.order {
            let code = &region.blocks[block];
            let has_code =
                (0..code.instructions.len()).any(|at| (self.stage_of)(block, at) == stage);
            let exits = self.exits_in == Some(stage) && matches!(code.terminator, Terminator::Exit);
            if has_code || exits {
                kept.blocks.insert(block);
                kept.branches.extend(&deciders[block]);
            }
        }
        kept.blocks.extend(&kept.branches);
        kept
    }

    /// The temporaries that are used in a later stage than they are computed in.
    fn crossings(
        &self,
        kept: &[Kept],
        slots: &mut CarriedSlots<'_>,
    ) -> (HashMap<Temp, Crossing>, Vec<Carried>) {
        let mut last_use: BTreeMap<Temp, u32> = BTreeMap::new();
        let mut use_operand = |operand: &Operand, stage: u32| {
            if let Operand::Temp(temp) = operand {
                let last = last_use.entry(*temp).or_default();
                *last = stage.max(*last);
            }
        };
        for &block in &self.facts.order {
            let code = &self.facts.region.blocks[block];
            for (at, instruction) in code.instructions.iter().enumerate() {
                let stage = (self.stage_of)(block, at);
                let operands = instruction.operation.operands();
                operands.into_iter().for_each(|operand| use_operand(operand, stage));
            }
            for (stage, kept) in kept.iter().enumerate() {
                if kept.branches.contains(&block) {
                    code.terminator.operand().into_iter().for_each(|operand| {
                        use_operand(operand, stage as u32);
                    });
                }
            }
        }
        let (mut crossings, mut carried) = (HashMap::new(), Vec::new());
        for &block in &self.facts.order {
            let code = &self.facts.region.blocks[block].instructions;
            for (at, Instruction { operation, origin }) in code.iter().enumerate() {
                let from = (self.stage_of)(block, at);
                for (number, temp) in operation.results().into_iter().enumerate() {
                    let Some(&to) = last_use.get(&temp).filter(|last| **last > from) else {
                        continue;
                    };
                    let ty = self.facts.region.temps[temp.index()];
                    let slot = slots.add(operation, number, ty, *origin);
                    crossings.insert(temp, Crossing { slot, from });
                    carried.push(Carried { slot, from, to });
                }
            }
        }
        (crossings, carried)
    }

    /// The region of one stage.
    fn piece(
        &self,
        stage: u32,
        kept: &Kept,
        meets: &[Option<usize>],
        crossings: &HashMap<Temp, Crossing>,
    ) -> Region {
        let region = self.facts.region;
        let blocks: Vec<usize> =
            self.facts.order.iter().copied().filter(|at| kept.blocks.contains(at)).collect();
        // Block 0 is an entry, the last one is the end.
        let numbers: HashMap<usize, u32> = blocks.iter().copied().zip(1..).collect();
        let end = BlockId(blocks.len() as u32 + 1);
        let target = |from: Option<usize>| {
            let mut next = from;
            while let Some(block) = next {
                if let Some(number) = numbers.get(&block) {
                    return BlockId(*number);
                }
                next = match &region.blocks[block].terminator {
                    Terminator::Goto(successor) => Some(successor.index()),
                    _ => meets[block],
                };
            }
            end
        };
        let empty = |terminator: Terminator, of: usize| BasicBlock {
            name: "".into(),
            instructions: Vec::new(),
            terminator,
            origin: region.blocks[of].origin,
        };
        let mut made = vec![empty(Terminator::Goto(target(Some(0))), 0)];
        for &block in &blocks {
            let code = &region.blocks[block];
            let decides = kept.branches.contains(&block);
            let terminator = match &code.terminator {
                Terminator::Exit if self.exits_in == Some(stage) => Terminator::Exit,
                Terminator::Return | Terminator::Exit | Terminator::Reject(_) => {
                    Terminator::Goto(end)
                }
                Terminator::Goto(next) => Terminator::Goto(target(Some(next.index()))),
                Terminator::Branch { .. } | Terminator::Switch { .. } if decides => {
                    let mut terminator = code.terminator.clone();
                    for successor in terminator.successors_mut() {
                        *successor = target(Some(successor.index()));
                    }
                    terminator
                }
                Terminator::Branch { .. } | Terminator::Switch { .. } => {
                    Terminator::Goto(target(meets[block]))
                }
            };
            let instructions = self.instructions(stage, block, decides, crossings);
            let (name, origin) = (code.name.clone(), code.origin);
            made.push(BasicBlock { name, instructions, terminator, origin });
        }
        made.push(empty(Terminator::Return, *self.facts.order.last().unwrap_or(&0)));
        let mut region = Region {
            name: region.name.clone(),
            kind: region.kind,
            temps: region.temps.clone(),
            blocks: made,
        };
        join_chains(&mut region);
        remove_unreachable_blocks(&mut region);
        renumber_temps(&mut region);
        region
    }

    /// The instructions of a basic block in a stage, with loads of what earlier stages carry to it and stores of
    /// what it carries on.
    fn instructions(
        &self,
        stage: u32,
        block: usize,
        decides: bool,
        crossings: &HashMap<Temp, Crossing>,
    ) -> Vec<Instruction> {
        let code = &self.facts.region.blocks[block];
        let mut made: Vec<Instruction> = Vec::new();
        let mut loaded: BTreeSet<Temp> = BTreeSet::new();
        let mut load = |made: &mut Vec<Instruction>, operand: &Operand| {
            if let Operand::Temp(temp) = operand
                && let Some(crossing) = crossings.get(temp)
                && crossing.from < stage
                && loaded.insert(*temp)
                && let Some((_, definition)) = self.facts.definition(*temp)
            {
                let place = Place::Slot(crossing.slot);
                let operation = Operation::Load { result: *temp, place };
                made.push(Instruction { operation, origin: definition.origin });
            }
        };
        for (at, instruction) in code.instructions.iter().enumerate() {
            if (self.stage_of)(block, at) != stage {
                continue;
            }
            for operand in instruction.operation.operands() {
                load(&mut made, operand);
            }
            made.push(instruction.clone());
            for temp in instruction.operation.results() {
                if let Some(crossing) = crossings.get(&temp) {
                    let place = Place::Slot(crossing.slot);
                    let operation = Operation::Store { place, value: Operand::Temp(temp) };
                    made.push(Instruction { operation, origin: instruction.origin });
                }
            }
        }
        if decides {
            code.terminator.operand().into_iter().for_each(|operand| load(&mut made, operand));
        }
        made
    }
}

/// The basic blocks that a stage keeps.
#[derive(Debug, Default)]
struct Kept {
    blocks: BTreeSet<usize>,
    /// Those whose branches it decides again.
    branches: BTreeSet<usize>,
}
