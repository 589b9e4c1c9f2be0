// SPDX-License-Identifier: Apache-2.0
//! Walks the code of a control or an action and makes its atoms: statements, register accesses, branches. Tables
//! are in `table`, values in `value`, conditions in `condition`, and the guards of blocks in `gate`.

use super::atom::{AtomKind, Cell};
use super::describe;
use super::stage::{containers, counter_blocks};
use super::walk::{Branch, Truth, Walk};
use crate::guard::Guard;
use crate::problem::Resource;
use ir::analysis::Point;
use ir::effects::{self, Location};
use ir::{Operand, Operation, OriginId, Program, SlotId, Temp, Terminator};
use std::collections::{BTreeMap, BTreeSet};

impl<'a> Walk<'a, '_> {
    /// Walks all blocks.
    pub fn run(&mut self) {
        for block in self.flow.order.clone() {
            let start = self.start_of(block);
            self.gates.insert(block, start);
            let region = self.flow.region;
            for (at, instruction) in region.blocks[block].instructions.iter().enumerate() {
                self.instruction(block, at, &instruction.operation, instruction.origin);
            }
            self.terminator(block);
        }
    }

    fn instruction(&mut self, block: usize, at: usize, operation: &'a Operation, origin: OriginId) {
        let place = (block, at);
        match operation {
            // Their users make atoms of them.
            _ if operation.is_pure() => {}
            Operation::Load { .. }
            | Operation::Hash { .. }
            | Operation::Random { .. }
            | Operation::PacketLength { .. } => {}
            // A switch does not run these.
            Operation::Log { .. } | Operation::Assert { .. } => {}
            Operation::Store { place: target, value } => {
                self.store(place, target, value, origin);
            }
            Operation::RegisterAccess { .. } => self.register_access(place, operation, origin),
            Operation::Apply { table, keys, hit, action } => {
                self.apply(place, *table, keys, (*hit, *action), origin);
            }
            _ => self.other(place, operation, origin),
        }
    }

    /// Counters, meters, requests, operations on stacks, externs.
    fn other(&mut self, (block, at): (usize, usize), operation: &Operation, origin: OriginId) {
        let name = describe::operation(self.program, operation);
        let id = self.add(AtomKind::Statement, name, (block, at), origin);
        for operand in operation.operands() {
            self.read(id, operand, block, at);
        }
        let effects = self.flow.effects(block, at).clone();
        let is_count = matches!(
            operation,
            Operation::Count { .. }
                | Operation::CountDirect { .. }
                | Operation::Meter { .. }
                | Operation::MeterDirect { .. }
        );
        let region = self.region_id;
        let blocks = own_counter_blocks(self.program, operation);
        // A table's direct counters and meters are counted with the table.
        let is_new = effects.writes.iter().any(|location| {
            matches!(operation, Operation::Count { .. } | Operation::Meter { .. })
                && self.variables.counted.insert(*location)
        });
        let atom = self.atom(id);
        for location in effects.reads {
            // Counting commutes.
            if !is_count {
                atom.reads.insert(Cell::Location(location), at);
            }
        }
        if !is_count {
            atom.writes.extend(effects.writes.into_iter().map(Cell::Location));
        }
        atom.writes.extend(operation.results().into_iter().map(|it| Cell::Computed(region, it)));
        let containers = match operation {
            Operation::ShiftStack { .. } => atom.writes.len() as u64,
            Operation::Request { arguments, .. } => 1 + arguments.len() as u64,
            _ => 0,
        };
        atom.take(Resource::Statements, 1);
        atom.take(Resource::Instructions, containers);
        if is_new {
            atom.take(Resource::Counters, 1);
            atom.take(Resource::SramBlocks, blocks);
        }
        for result in operation.results() {
            self.computed.insert(result, id);
        }
    }

    fn store(
        &mut self,
        (block, at): (usize, usize),
        target: &ir::Place,
        value: &Operand,
        origin: OriginId,
    ) {
        let slots = effects::place_slots(self.program, target);
        if let ir::Place::Slot(slot) = target
            && self.fold_into_array((block, at), *slot, value)
        {
            return;
        }
        let name = describe::store(self, target, value);
        let id = self.add(AtomKind::Statement, name, (block, at), origin);
        let computed = self.folded(value).or_else(|| self.stored_first(value));
        match computed.or_else(|| self.computed_again(block, value, at)) {
            Some(temp) => {
                self.read_operation(id, temp, block, at);
                if let (ir::Place::Slot(slot), Operand::Temp(stored)) = (target, value) {
                    self.stored.insert(*stored, (*slot, at));
                }
            }
            None => self.read(id, value, block, at),
        }
        if let ir::Place::Element { index, .. } = target {
            self.read(id, index, block, at);
        }
        let width_bits = self.width_bits(value);
        let atom = self.atom(id);
        atom.writes.extend(slots.into_iter().map(|slot| Cell::Location(Location::Slot(slot))));
        atom.take(Resource::Statements, 1);
        atom.take(Resource::Instructions, containers(width_bits));
    }

    /// The result of a register access that goes into a field goes there at once: no atom of its own.
    fn fold_into_array(
        &mut self,
        (block, at): (usize, usize),
        slot: SlotId,
        value: &Operand,
    ) -> bool {
        let Operand::Temp(temp) = value else { return false };
        let Some((access, defined)) = self.array_output(*temp) else { return false };
        let location = Location::Slot(slot);
        let touches = |instruction| {
            let effects = self.flow.effects(block, instruction);
            effects.reads.contains(&location) || effects.writes.contains(&location)
        };
        if (defined + 1..at).any(touches) {
            return false;
        }
        self.claim_output(access, *temp);
        let width_bits = self.width_bits(value);
        let point = Point::new(self.region_id, block, at);
        let atom = self.atom(access);
        atom.code.insert(point);
        atom.writes.insert(Cell::Location(location));
        atom.take(Resource::Instructions, containers(width_bits));
        true
    }

    fn register_access(
        &mut self,
        (block, at): (usize, usize),
        operation: &'a Operation,
        origin: OriginId,
    ) {
        let Operation::RegisterAccess { register, index, guard, old, update } = operation else {
            return;
        };
        let name = describe::operation(self.program, operation);
        let truth = guard.as_ref().map(|guard| self.truth(block, guard, at));
        let id = self.add(AtomKind::Statement, name, (block, at), origin);
        // The hash unit in front of the memory computes a hash.
        match self.index_hash(index) {
            Some(temp) => self.read_operation(id, temp, block, at),
            None => self.read(id, index, block, at),
        }
        if let Some(update) = update {
            let body: BTreeSet<Temp> =
                update.body.iter().flat_map(|inner| inner.operation.results()).collect();
            let inside = |operand: &&Operand| matches!(operand, Operand::Temp(temp) if body.contains(temp) || Some(*temp) == *old);
            let operands = update.body.iter().flat_map(|inner| inner.operation.operands());
            for operand in operands.chain([&update.value]).filter(|operand| !inside(operand)) {
                self.read(id, operand, block, at);
            }
        }
        match truth {
            Some(Truth::Static(guard)) => {
                let gate = self.atom(id).gate.guard.take();
                let both = match gate {
                    Some(outer) => outer.and(&guard),
                    None => guard,
                };
                self.atom(id).gate.guard = Some(both);
            }
            Some(Truth::Dynamic { matches, after }) => {
                let gateway = self.gateway((block, at), matches, after, origin);
                self.atom(id).gate.after.extend(gateway);
            }
            None => {}
        }
        let action = describe::register_action(update.as_ref(), *old);
        let region = self.region_id;
        let atom = self.atom(id);
        atom.array = Some((*register, action));
        // One access a pass: the order of two of them counts even if both read.
        atom.reads.insert(Cell::Location(Location::Register(*register)), at);
        atom.writes.insert(Cell::Location(Location::Register(*register)));
        atom.take(Resource::Statements, 1);
        if let Some(old) = old {
            atom.writes.insert(Cell::Computed(region, *old));
            self.computed.insert(*old, id);
        }
    }

    fn terminator(&mut self, block: usize) {
        let region = self.flow.region;
        let here = &region.blocks[block];
        let at = here.instructions.len();
        let origin = here.origin;
        let branch = match &here.terminator {
            Terminator::Branch { condition, then, otherwise } => {
                match self.truth(block, condition, at) {
                    Truth::Static(guard) => Branch::Static(vec![
                        (then.index(), guard),
                        (otherwise.index(), Guard::always()),
                    ]),
                    Truth::Dynamic { matches, after } => {
                        Branch::Dynamic(self.gateway((block, at), matches, after, origin))
                    }
                }
            }
            Terminator::Switch { value, cases, default } => {
                let mut targets = Vec::new();
                let (mut matches, mut after) = (BTreeMap::new(), BTreeSet::new());
                for (case, target) in cases {
                    match self.equality(block, value, case, at) {
                        Truth::Static(guard) => targets.push((target.index(), guard)),
                        Truth::Dynamic { matches: more, after: further } => {
                            matches.extend(more);
                            after.extend(further);
                        }
                    }
                }
                targets.push((default.index(), Guard::always()));
                if matches.is_empty() && after.is_empty() {
                    Branch::Static(targets)
                } else {
                    Branch::Dynamic(self.gateway((block, at), matches, after, origin))
                }
            }
            Terminator::Exit => {
                // The rest of the control does not run: what decides that stands in `start_of`.
                return;
            }
            _ => return,
        };
        self.branches.insert(block, branch);
    }
}

/// Returns the number of SRAM blocks that a counter or meter of its own takes.
fn own_counter_blocks(program: &Program, operation: &Operation) -> u64 {
    let size = match operation {
        Operation::Count { counter, .. } => program.counters[counter.index()].size,
        Operation::Meter { meter, .. } => program.meters[meter.index()].size,
        _ => None,
    };
    size.map_or(0, counter_blocks)
}
