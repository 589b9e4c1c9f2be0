// SPDX-License-Identifier: Apache-2.0
//! [`Validity`]: for each point of a program the headers that may be valid there. Forward data flow over all
//! blocks in the order in which a device runs them ([`Boundaries`]); actions take what holds at all
//! applications of their tables. A header that the program has found valid by `isValid()` counts as valid up to
//! where that path ends.

use crate::architecture::boundaries::Boundaries;
use crate::control_flow::reverse_postorder;
use crate::effects;
use crate::{
    BasicBlock, BinaryOperation, Block, HeaderRef, Operand, Operation, Place, Program, RegionId,
    SlotId, SlotSet, Temp, Terminator, UnaryOperation,
};

/// The validity slots of headers at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Valid {
    /// Some path makes the header valid.
    may: SlotSet,
    /// Every path has found it valid.
    checked: SlotSet,
}

impl Valid {
    /// What holds where another path joins; whether that is new.
    fn join(into: &mut Option<Valid>, other: &Valid) -> bool {
        let Some(known) = into else {
            *into = Some(other.clone());
            return true;
        };
        let before = known.checked.len();
        known.checked.intersect(&other.checked);
        known.may.unite(&other.may) || known.checked.len() != before
    }
}

/// Whether an action of a table may end the programmable block.
fn ends_early(program: &Program, table: crate::TableId) -> bool {
    program.tables[table.index()].actions.iter().any(|listed| {
        let region = program.actions[listed.action.index()].region;
        program.regions[region.index()].blocks.iter().any(|block| {
            matches!(block.terminator, Terminator::Exit)
                || block.instructions.iter().any(|it| effects::may_end_block(&it.operation))
        })
    })
}

/// Headers that may be valid at all points of a program.
#[derive(Debug)]
pub struct Validity<'p> {
    program: &'p Program,
    validity_slots: SlotSet,
    /// Headers that the control plane gives to actions.
    action_headers: SlotSet,
    /// By table: what its actions make valid.
    made_by: Vec<SlotSet>,
    /// By region and basic block: what holds at its start; nothing for one that is not reached.
    starts: Vec<Vec<Option<Valid>>>,
    /// By programmable block: what may be valid when it begins.
    block_starts: Vec<SlotSet>,
}

impl<'p> Validity<'p> {
    /// Computes it.
    pub fn of(program: &'p Program, boundaries: &Boundaries) -> Validity<'p> {
        let validity_slots =
            SlotSet::of(program, program.headers.iter().map(|header| header.valid_slot()));
        let given = SlotSet::of(
            program,
            program.actions.iter().flat_map(|it| &it.parameters).map(|parameter| parameter.slot),
        );
        let is_given = |header: &&crate::Header| {
            let fields = program.header_types[header.ty.index()].fields.len();
            (0..fields).any(|field| given.contains(header.field_slot(field)))
        };
        let given = program.headers.iter().filter(is_given).map(|header| header.valid_slot());
        let action_headers = SlotSet::of(program, given);
        let mut validity = Validity {
            program,
            action_headers,
            made_by: Vec::new(),
            starts: program.regions.iter().map(|it| vec![None; it.blocks.len()]).collect(),
            block_starts: vec![SlotSet::empty(program); program.blocks.len()],
            validity_slots,
        };
        validity.made_by = program.tables.iter().map(|table| validity.made_valid(table)).collect();
        validity.solve_blocks(boundaries);
        validity
    }

    /// Whether the header of this validity slot may be valid when a programmable block begins.
    pub fn at_block_start(&self, block: usize, slot: SlotId) -> bool {
        self.block_starts[block].contains(slot)
    }

    /// Goes through a basic block that is reached. `visit` gets each instruction with its index and whether the
    /// header of a validity slot may be valid in front of it.
    pub fn visit(
        &self,
        region: RegionId,
        block: usize,
        mut visit: impl FnMut(usize, &'p Operation, &dyn Fn(SlotId) -> bool),
    ) {
        let Some(mut valid) = self.starts[region.index()][block].clone() else { return };
        let code = &self.program.regions[region.index()].blocks[block];
        for (at, instruction) in code.instructions.iter().enumerate() {
            let is_valid = |slot| valid.may.contains(slot) || valid.checked.contains(slot);
            visit(at, &instruction.operation, &is_valid);
            self.step(code, at, &mut valid);
        }
    }

    /// What the actions of a table may make valid.
    fn made_valid(&self, table: &crate::Table) -> SlotSet {
        let mut made = SlotSet::empty(self.program);
        for listed in &table.actions {
            let region = self.program.actions[listed.action.index()].region;
            for instruction in
                self.program.regions[region.index()].blocks.iter().flat_map(|it| &it.instructions)
            {
                match &instruction.operation {
                    Operation::Store { place, value } if !is_zero(value) => {
                        made.extend(effects::place_slots(self.program, place));
                    }
                    Operation::ShiftStack { .. } => {
                        let effects = effects::of_operation(self.program, &instruction.operation);
                        made.extend(effects.slots_written());
                    }
                    _ => {}
                }
            }
        }
        made.intersect(&self.validity_slots);
        made
    }

    /// Programmable blocks and what the device does between them, then actions.
    fn solve_blocks(&mut self, boundaries: &Boundaries) {
        let program = self.program;
        let mut ends = vec![SlotSet::empty(program); program.blocks.len()];
        let mut is_reached = vec![false; program.blocks.len()];
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for (at, block) in program.blocks.iter().enumerate() {
                let mut start = self.outside_headers(block);
                for (before, end) in boundaries.ends.iter().enumerate() {
                    for passage in end.next.iter().filter(|passage| passage.to == at) {
                        start.unite_masked(&ends[before], &passage.keeps);
                    }
                }
                for parameter in &block.parameters {
                    if parameter.is_output && !parameter.is_input {
                        parameter.slots.iter().for_each(|slot| start.remove(*slot));
                    }
                }
                if !std::mem::replace(&mut is_reached[at], true) || start != self.block_starts[at] {
                    self.block_starts[at] = start.clone();
                    ends[at] = self.solve_region(block.region, start);
                    has_changed = true;
                }
            }
        }
        let mut arrivals: Vec<Option<Valid>> = vec![None; program.regions.len()];
        for block in &program.blocks {
            let region = block.region;
            for at in 0..program.regions[region.index()].blocks.len() {
                self.arrive(region, at, &mut arrivals);
            }
        }
        for (region, arrival) in arrivals.into_iter().enumerate() {
            if let Some(valid) = arrival {
                self.solve(RegionId(region as u32), valid);
            }
        }
    }

    /// Headers that come from outside of the package: no block of it begins with the storage anew.
    fn outside_headers(&self, block: &Block) -> SlotSet {
        let mut outside = SlotSet::empty(self.program);
        for parameter in block.parameters.iter().filter(|parameter| parameter.is_input) {
            let mut all = self.program.blocks.iter().flat_map(|block| &block.parameters);
            let begins = all.any(|it| it.storage == parameter.storage && !it.is_input);
            if !begins {
                outside.extend(parameter.slots.iter().copied());
            }
        }
        outside.unite(&self.action_headers);
        outside.intersect(&self.validity_slots);
        outside
    }

    /// The region of a programmable block; what may be valid at its end, however it ends.
    fn solve_region(&mut self, region: RegionId, start: SlotSet) -> SlotSet {
        let checked = SlotSet::empty(self.program);
        self.solve(region, Valid { may: start.clone(), checked });
        let mut end = SlotSet::empty(self.program);
        let code = &self.program.regions[region.index()];
        if code.blocks.is_empty() {
            return start;
        }
        for (at, block) in code.blocks.iter().enumerate() {
            let Some(mut valid) = self.starts[region.index()][at].clone() else { continue };
            for (index, instruction) in block.instructions.iter().enumerate() {
                let before = effects::may_end_block(&instruction.operation);
                if before {
                    end.unite(&valid.may);
                }
                self.step(block, index, &mut valid);
                if let Operation::Apply { table, .. } = &instruction.operation
                    && ends_early(self.program, *table)
                {
                    end.unite(&valid.may);
                }
            }
            if block.terminator.successors().is_empty() {
                end.unite(&valid.may);
            }
        }
        end
    }

    /// The starts of a region's basic blocks.
    fn solve(&mut self, region: RegionId, start: Valid) {
        let code = &self.program.regions[region.index()];
        let mut starts: Vec<Option<Valid>> = vec![None; code.blocks.len()];
        let Some(first) = starts.first_mut() else { return };
        *first = Some(start);
        let order = reverse_postorder(code);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &at in &order {
                let Some(mut valid) = starts[at].clone() else { continue };
                let block = &code.blocks[at];
                (0..block.instructions.len()).for_each(|index| self.step(block, index, &mut valid));
                for successor in block.terminator.successors() {
                    let mut there = valid.clone();
                    there.checked.extend(self.found_valid(block, successor));
                    has_changed |= Valid::join(&mut starts[successor.index()], &there);
                }
            }
        }
        self.starts[region.index()] = starts;
    }

    /// What holds where the actions of tables begin.
    fn arrive(&self, region: RegionId, block: usize, arrivals: &mut [Option<Valid>]) {
        let Some(mut valid) = self.starts[region.index()][block].clone() else { return };
        let code = &self.program.regions[region.index()].blocks[block];
        for (at, instruction) in code.instructions.iter().enumerate() {
            if let Operation::Apply { table, .. } = &instruction.operation {
                for listed in &self.program.tables[table.index()].actions {
                    let action = self.program.actions[listed.action.index()].region;
                    Valid::join(&mut arrivals[action.index()], &valid);
                }
            }
            self.step(code, at, &mut valid);
        }
    }

    /// Computes what holds behind an instruction from what holds in front of it.
    fn step(&self, block: &BasicBlock, at: usize, valid: &mut Valid) {
        let program = self.program;
        match &block.instructions[at].operation {
            Operation::Extract { header: HeaderRef::Header(header), .. } => {
                valid.may.insert(program.headers[header.index()].valid_slot());
            }
            Operation::Extract { header, .. } => {
                let slots = effects::header_reference_slots(program, header).into_iter();
                valid.may.extend(slots.filter(|slot| self.validity_slots.contains(*slot)));
            }
            Operation::Store { place: Place::Slot(slot), value } => {
                if !self.validity_slots.contains(*slot) {
                    return;
                }
                let copied = match value {
                    Operand::Temp(temp) => self.loaded_validity(block, at, *temp),
                    Operand::Constant(_) => None,
                };
                let is_valid = match copied {
                    Some(other) => valid.may.contains(other) || valid.checked.contains(other),
                    None => !is_zero(value),
                };
                valid.checked.remove(*slot);
                match is_valid {
                    true => valid.may.insert(*slot),
                    false => valid.may.remove(*slot),
                }
            }
            Operation::Store { place, value } => {
                let mut slots = SlotSet::of(program, effects::place_slots(program, place));
                slots.intersect(&self.validity_slots);
                valid.checked.subtract(&slots);
                if !is_zero(value) {
                    valid.may.unite(&slots);
                }
            }
            Operation::ShiftStack { stack, .. } => {
                let stack = &program.stacks[stack.index()];
                let count = stack.size * stack.headers_per_element;
                let headers = (0..count).map(|at| stack.first_header.index() + at as usize);
                let slots: Vec<SlotId> =
                    headers.map(|header| program.headers[header].valid_slot()).collect();
                let is_valid =
                    |slot: &SlotId| valid.may.contains(*slot) || valid.checked.contains(*slot);
                if slots.iter().any(is_valid) {
                    valid.may.extend(slots.iter().copied());
                }
                slots.iter().for_each(|slot| valid.checked.remove(*slot));
            }
            Operation::Apply { table, .. } => {
                valid.may.unite(&self.made_by[table.index()]);
            }
            _ => {}
        }
    }

    /// The validity slot that a temporary was loaded from, earlier in the block.
    fn loaded_validity(&self, block: &BasicBlock, before: usize, temp: Temp) -> Option<SlotId> {
        match defining(block, before, temp)? {
            Operation::Load { place: Place::Slot(slot), .. } => {
                self.validity_slots.contains(*slot).then_some(*slot)
            }
            _ => None,
        }
    }

    /// Headers that the branch to a successor has found valid.
    fn found_valid(&self, block: &BasicBlock, successor: crate::BlockId) -> Vec<SlotId> {
        let mut found = Vec::new();
        if let Terminator::Branch { condition: Operand::Temp(temp), then, otherwise } =
            &block.terminator
            && then != otherwise
        {
            self.implied(block, *temp, successor == *then, &mut found);
        }
        found
    }

    fn implied(&self, block: &BasicBlock, temp: Temp, outcome: bool, found: &mut Vec<SlotId>) {
        let inner = |operand: &Operand, outcome: bool, found: &mut Vec<SlotId>| {
            if let Operand::Temp(temp) = operand {
                self.implied(block, *temp, outcome, found);
            }
        };
        match defining(block, block.instructions.len(), temp) {
            Some(Operation::Load { place: Place::Slot(slot), .. })
                if outcome && self.validity_slots.contains(*slot) =>
            {
                found.push(*slot);
            }
            Some(Operation::Load { place: place @ Place::Element { field: 0, .. }, .. })
                if outcome =>
            {
                found.extend(effects::place_slots(self.program, place));
            }
            Some(Operation::Unary { operation: UnaryOperation::Not, operand, .. }) => {
                inner(operand, !outcome, found);
            }
            Some(Operation::Binary { operation, left, right, .. }) => match (operation, right) {
                (BinaryOperation::And, _) if outcome => {
                    inner(left, true, found);
                    inner(right, true, found);
                }
                (BinaryOperation::Or, _) if !outcome => {
                    inner(left, false, found);
                    inner(right, false, found);
                }
                (BinaryOperation::Equal, Operand::Constant(value)) => {
                    inner(left, outcome == value.is_true(), found);
                }
                (BinaryOperation::NotEqual, Operand::Constant(value)) => {
                    inner(left, outcome != value.is_true(), found);
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// The operation of a block that defines a temporary, before an instruction.
fn defining(block: &BasicBlock, before: usize, temp: Temp) -> Option<&Operation> {
    let earlier = block.instructions[..before].iter().rev().map(|it| &it.operation);
    earlier.into_iter().find(|operation| operation.results().contains(&temp))
}

fn is_zero(operand: &Operand) -> bool {
    matches!(operand, Operand::Constant(value) if value.is_zero())
}
