// SPDX-License-Identifier: Apache-2.0
//! [`Liveness`]: for each point of a program the slots whose values may still be used before the packet has
//! left the device: by code up to the end of the region, by the rest of the block behind a table, by later
//! blocks, by the device between blocks ([`Boundaries`]). Backward data flow to a fixed point; an action's
//! points take what is live behind every application of its tables.
//!
//! Storage that nothing reads any more may hold anything: that is what the sets promise, and no more. Whether
//! a store may be removed also depends on who else looks at storage, such as traces.

use crate::architecture::boundaries::Boundaries;
use crate::control_flow::reverse_postorder;
use crate::effects;
use crate::{
    BlockId, Operation, Program, RegionId, RegionKind, SlotId, SlotSet, TableId, Terminator,
};

/// What is live behind a region.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exits {
    /// After `return`, or `accept` in a parser.
    returned: SlotSet,
    /// After `exit`, `reject` or an error, which end the whole block.
    ended: SlotSet,
}

/// The live slots before a piece of code, as a function of [`Exits`] after it: `needed`, and those of
/// `returned` and `ended` that get through.
#[derive(Clone, Debug)]
struct Transfer {
    needed: SlotSet,
    from_returned: SlotSet,
    from_ended: SlotSet,
}

/// Live slots at all points of a program.
#[derive(Debug)]
pub struct Liveness<'p> {
    program: &'p Program,
    /// By region and basic block: live at its start.
    starts: Vec<Vec<SlotSet>>,
    /// By region.
    exits: Vec<Exits>,
    tables: Vec<Transfer>,
    /// By programmable block: live at its end, before the device does anything.
    block_ends: Vec<SlotSet>,
}

impl<'p> Liveness<'p> {
    /// Computes it.
    pub fn of(program: &'p Program, boundaries: &Boundaries) -> Liveness<'p> {
        let mut liveness = Liveness::unsolved(program);
        liveness.block_ends = boundaries.ends.iter().map(|end| end.reads.clone()).collect();
        liveness.solve_blocks(boundaries);
        liveness.solve_other_regions();
        liveness
    }

    /// For each basic block of a region, the slots that are read from its start on before they are written,
    /// up to the end of the region: nothing is live behind it.
    pub fn within_region(program: &Program, id: RegionId) -> Vec<SlotSet> {
        let liveness = Liveness::unsolved(program);
        match liveness.exits.get(id.index()) {
            Some(exits) => liveness.solve_region(id, exits),
            None => Vec::new(),
        }
    }

    /// With nothing known but what tables do.
    fn unsolved(program: &'p Program) -> Liveness<'p> {
        let empty = SlotSet::empty(program);
        let none = Exits { returned: empty.clone(), ended: empty };
        let mut liveness = Liveness {
            program,
            starts: program.regions.iter().map(|_| Vec::new()).collect(),
            exits: vec![none; program.regions.len()],
            tables: Vec::new(),
            block_ends: Vec::new(),
        };
        let actions = liveness.action_transfers();
        liveness.tables = (0..program.tables.len())
            .map(|at| table_transfer(program, &actions, TableId(at as u32)))
            .collect();
        liveness
    }

    /// How each action turns what is live behind it into what is live in front; missing for regions that are
    /// no action's.
    fn action_transfers(&self) -> Vec<Option<Transfer>> {
        let (empty, full) = (SlotSet::empty(self.program), SlotSet::full(self.program));
        let mut transfers: Vec<Option<Transfer>> = vec![None; self.program.regions.len()];
        for action in &self.program.actions {
            let Some(transfer) = transfers.get_mut(action.region.index()) else { continue };
            if transfer.is_some() {
                continue;
            }
            // The function is a union of its parts, so three arguments determine it.
            let live = |returned: &SlotSet, ended: &SlotSet| {
                let exits = Exits { returned: returned.clone(), ended: ended.clone() };
                let starts = self.solve_region(action.region, &exits);
                starts.into_iter().next().unwrap_or_else(|| returned.clone())
            };
            *transfer = Some(Transfer {
                needed: live(&empty, &empty),
                from_returned: live(&full, &empty),
                from_ended: live(&empty, &full),
            });
        }
        transfers
    }

    /// Live slots at the start of each basic block of a region.
    fn solve_region(&self, id: RegionId, exits: &Exits) -> Vec<SlotSet> {
        let region = &self.program.regions[id.index()];
        let mut starts = vec![SlotSet::empty(self.program); region.blocks.len()];
        let order = reverse_postorder(region);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &at in order.iter().rev() {
                let block = &region.blocks[at];
                let mut live = live_behind(self.program, &block.terminator, &starts, exits);
                for instruction in block.instructions.iter().rev() {
                    self.step_back(&instruction.operation, &mut live, &exits.ended);
                }
                has_changed |= starts[at].unite(&live);
            }
        }
        starts
    }

    /// Computes the slots live before an operation from those live after it.
    fn step_back(&self, operation: &Operation, live: &mut SlotSet, ended: &SlotSet) {
        if let Operation::Apply { table, .. } = operation
            && let Some(transfer) = self.tables.get(table.index())
        {
            live.intersect(&transfer.from_returned);
            live.unite(&transfer.needed);
            live.unite_masked(ended, &transfer.from_ended);
            return;
        }
        for slot in effects::slots_surely_written(self.program, operation) {
            live.remove(slot);
        }
        if effects::may_end_block(operation) {
            live.unite(ended);
        }
        effects::visit_slots_read(self.program, operation, |slot| live.insert(slot));
    }

    /// Programmable blocks and what the device does between them.
    fn solve_blocks(&mut self, boundaries: &Boundaries) {
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for at in (0..self.program.blocks.len()).rev() {
                for passage in &boundaries.ends[at].next {
                    let next = self.program.blocks[passage.to].region;
                    if let Some(live) = self.starts[next.index()].first().cloned() {
                        self.block_ends[at].unite_masked(&live, &passage.keeps);
                    }
                }
                let block = &self.program.blocks[at];
                let id = block.region.index();
                let mut exits = self.exits[id].clone();
                exits.returned.unite(&self.block_ends[at]);
                let mut ended = self.block_ends[at].clone();
                if let (RegionKind::Parser, Some(error)) =
                    (self.program.regions[id].kind, block.parser_error)
                {
                    // The block's end stores it.
                    ended.remove(error);
                }
                exits.ended.unite(&ended);
                if self.starts[id].is_empty() || exits != self.exits[id] {
                    self.starts[id] = self.solve_region(block.region, &exits);
                    self.exits[id] = exits;
                    has_changed = true;
                }
            }
        }
    }

    /// Actions behind all applications of their tables; then regions that nothing runs, which are taken to run
    /// after any other.
    fn solve_other_regions(&mut self) {
        let program = self.program;
        let mut applied = vec![false; program.regions.len()];
        for block in &program.blocks {
            let region = &program.regions[block.region.index()];
            applied[block.region.index()] = true;
            let ended = self.exits[block.region.index()].ended.clone();
            let mut found: Vec<(TableId, SlotSet)> = Vec::new();
            for at in 0..region.blocks.len() {
                self.visit_back(block.region, BlockId(at as u32), |_, operation, live| {
                    if let Some(Operation::Apply { table, .. }) = operation {
                        found.push((*table, live.clone()));
                    }
                });
            }
            for (table, live) in found {
                for listed in
                    program.tables.get(table.index()).into_iter().flat_map(|it| &it.actions)
                {
                    let action = program.actions[listed.action.index()].region.index();
                    applied[action] = true;
                    self.exits[action].returned.unite(&live);
                    self.exits[action].ended.unite(&ended);
                }
            }
        }
        let mut anywhere = SlotSet::empty(program);
        for live in &self.block_ends {
            anywhere.unite(live);
        }
        let is_idle = |at: &usize| !applied[*at];
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for at in (0..program.regions.len()).filter(is_idle) {
                self.exits[at] = Exits { returned: anywhere.clone(), ended: anywhere.clone() };
                let starts = self.solve_region(RegionId(at as u32), &self.exits[at]);
                has_grown |= starts.first().is_some_and(|start| anywhere.unite(start));
                self.starts[at] = starts;
            }
        }
        for at in 0..program.regions.len() {
            if self.starts[at].is_empty() {
                self.starts[at] = self.solve_region(RegionId(at as u32), &self.exits[at]);
            }
        }
    }

    /// Goes through a basic block from its end to its start. `visit` gets, before each step back, the place
    /// behind which the set is live: the instruction with its index, or the terminator without an operation;
    /// the set is what is live behind the instruction, and for the terminator what is live in front of it.
    pub fn visit_back(
        &self,
        region: RegionId,
        block: BlockId,
        mut visit: impl FnMut(usize, Option<&'p Operation>, &SlotSet),
    ) {
        let code = &self.program.regions[region.index()].blocks[block.index()];
        let (starts, exits) = (&self.starts[region.index()], &self.exits[region.index()]);
        let mut live = live_behind(self.program, &code.terminator, starts, exits);
        visit(code.instructions.len(), None, &live);
        for (at, instruction) in code.instructions.iter().enumerate().rev() {
            visit(at, Some(&instruction.operation), &live);
            self.step_back(&instruction.operation, &mut live, &exits.ended);
        }
    }

    /// The slots that are live in front of an instruction; in front of the terminator for an index of one more.
    pub fn before(&self, region: RegionId, block: BlockId, instruction: usize) -> SlotSet {
        let code = &self.program.regions[region.index()].blocks[block.index()];
        let (starts, exits) = (&self.starts[region.index()], &self.exits[region.index()]);
        let mut live = live_behind(self.program, &code.terminator, starts, exits);
        for instruction in code.instructions.iter().skip(instruction).rev() {
            self.step_back(&instruction.operation, &mut live, &exits.ended);
        }
        live
    }

    /// The slots that are live at the start of a basic block; all that is live behind a region without blocks.
    pub fn at_start(&self, region: RegionId, block: BlockId) -> &SlotSet {
        let starts = &self.starts[region.index()];
        starts.get(block.index()).unwrap_or(&self.exits[region.index()].returned)
    }

    /// The slots that are live when a programmable block has ended, before the device looks at them.
    pub fn at_block_end(&self, block: usize) -> &SlotSet {
        &self.block_ends[block]
    }

    /// The slots that are live when a programmable block begins.
    pub fn at_block_start(&self, block: usize) -> &SlotSet {
        self.at_start(self.program.blocks[block].region, BlockId(0))
    }
}

/// Live slots behind a basic block's instructions, in front of its terminator.
fn live_behind(
    program: &Program,
    terminator: &Terminator,
    starts: &[SlotSet],
    exits: &Exits,
) -> SlotSet {
    match terminator {
        Terminator::Return => exits.returned.clone(),
        Terminator::Exit | Terminator::Reject(_) => exits.ended.clone(),
        _ => {
            let mut live = SlotSet::empty(program);
            for successor in terminator.successors() {
                if let Some(start) = starts.get(successor.index()) {
                    live.unite(start);
                }
            }
            live
        }
    }
}

/// One of the table's actions runs, on arguments that the engine has stored; or none, when a group has no
/// members.
fn table_transfer(program: &Program, actions: &[Option<Transfer>], id: TableId) -> Transfer {
    let table = &program.tables[id.index()];
    let empty = SlotSet::empty(program);
    let mut all =
        Transfer { needed: empty.clone(), from_returned: empty.clone(), from_ended: empty };
    for listed in &table.actions {
        let action = &program.actions[listed.action.index()];
        let Some(Some(transfer)) = actions.get(action.region.index()) else { continue };
        let mut transfer = transfer.clone();
        let parameters: Vec<SlotId> = action.parameters.iter().map(|it| it.slot).collect();
        for set in [&mut transfer.needed, &mut transfer.from_returned, &mut transfer.from_ended] {
            parameters.iter().for_each(|slot| set.remove(*slot));
        }
        all.needed.unite(&transfer.needed);
        all.from_returned.unite(&transfer.from_returned);
        all.from_ended.unite(&transfer.from_ended);
    }
    if table.implementation.is_some() || table.actions.is_empty() {
        all.from_returned = SlotSet::full(program);
    }
    all
}
