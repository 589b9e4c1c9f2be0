// SPDX-License-Identifier: Apache-2.0
//! Where the values of temporaries come from: storage, tables' results, computations. A computation
//! whose result is only stored belongs to the atom that stores it; another becomes an atom of its own,
//! which may run at any time, since nobody else sees what it writes. What a stateful ALU can put out
//! besides the old value is decided here too.

use super::atom::{AtomId, AtomKind, Cell};
use super::condition::Truth;
use super::describe;
use super::walk::{Walk, containers};
use crate::problem::Resource;
use ir::effects::{self, Location};
use ir::{BinaryOperation, Operand, Operation, Place, SlotId, Temp};
use std::collections::BTreeSet;

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Base {
    /// A cell, read at an instruction of the block.
    Cell(Cell, usize),
    /// Hit or action of a table.
    Result(AtomId),
}

/// The most operations that a stateful ALU does on its way out: a comparison of sums, a choice, and
/// an operation on either side (Lucid §4.2, "memops").
const MOST_OUTPUT_OPERATIONS: usize = 8;

impl<'a> Walk<'a, '_> {
    /// Width of an operand.
    pub fn width_bits(&self, operand: &Operand) -> u32 {
        match operand {
            Operand::Constant(bits) => bits.width_bits(),
            Operand::Temp(temp) => {
                self.flow.region.temps.get(temp.index()).map_or(0, |ty| ty.width_bits())
            }
        }
    }

    /// What defines a temporary.
    pub fn operation(&self, operand: &Operand) -> Option<(Temp, usize, &'a Operation)> {
        let Operand::Temp(temp) = operand else { return None };
        let (at, instruction) = self.flow.definition(*temp)?;
        Some((*temp, at, &instruction.operation))
    }

    /// What a value is made of, where moving bits is free; computations become atoms.
    pub fn bases(&mut self, block: usize, operand: &Operand, at: usize) -> BTreeSet<Base> {
        let mut bases = BTreeSet::new();
        let mut open = vec![operand.clone()];
        let mut seen = BTreeSet::new();
        while let Some(operand) = open.pop() {
            let Some((temp, defined, operation)) = self.operation(&operand) else { continue };
            if !seen.insert(temp) {
                continue;
            }
            if let Some(table) = self.results.get(&temp) {
                bases.insert(Base::Result(*table));
                continue;
            }
            if let Some(slot) = self.still_stored(block, temp, at) {
                bases.insert(Base::Cell(Cell::Location(Location::Slot(slot)), at));
                continue;
            }
            match operation {
                _ if is_wiring(operation) => {
                    open.extend(operation.operands().into_iter().cloned());
                }
                Operation::Load { place, .. } => {
                    bases.extend(self.loaded((block, defined), temp, place, at));
                }
                // Known to the hardware for every packet.
                Operation::PacketLength { .. } => {}
                _ => {
                    let id = self.materialise(block, temp, defined);
                    let cell = match self.atoms[id.0].array {
                        // The output of an array may stand for values computed from it.
                        Some(_) => {
                            self.array_cell(id).unwrap_or(Cell::Computed(self.region_id, temp))
                        }
                        None => Cell::Computed(self.region_id, temp),
                    };
                    bases.insert(Base::Cell(cell, defined));
                }
            }
        }
        bases
    }

    /// The slot that a computed value was stored in, if it is still there.
    fn still_stored(&self, block: usize, temp: Temp, at: usize) -> Option<SlotId> {
        let (slot, stored) = *self.stored.get(&temp)?;
        let between = self.flow.region.blocks[block].instructions.get(stored + 1..at)?;
        let location = Location::Slot(slot);
        let is_there = between.iter().all(|instruction| {
            let effects = effects::of_operation(self.program, &instruction.operation);
            !effects.writes.contains(&location)
        });
        is_there.then_some(slot)
    }

    /// A computation that is stored before anybody else wants its result: it needs no other place.
    pub fn stored_first(&self, value: &Operand) -> Option<Temp> {
        let (temp, _, operation) = self.operation(value)?;
        let is_new = !self.computed.contains_key(&temp)
            && !self.results.contains_key(&temp)
            && !self.stored.contains_key(&temp)
            && self.array_output(temp).is_none();
        let is_computed = operation.is_pure() && !is_wiring(operation)
            || matches!(operation, Operation::Hash { .. } | Operation::Random { .. });
        (is_new && is_computed).then_some(temp)
    }

    fn array_cell(&self, id: AtomId) -> Option<Cell> {
        let computed = |cell: &&Cell| matches!(cell, Cell::Computed(..));
        self.atoms[id.0].writes.iter().find(computed).copied()
    }

    /// A load's cells, or a copy made in time if something overwrites them before the use.
    fn loaded(
        &mut self,
        (block, defined): (usize, usize),
        temp: Temp,
        place: &Place,
        at: usize,
    ) -> Vec<Base> {
        let mut bases = Vec::new();
        if let Place::Element { index, .. } = place {
            bases.extend(self.bases(block, index, defined));
        }
        let locations: Vec<Location> = effects::place_slots(self.program, place)
            .into_iter()
            .filter(|slot| !self.private.contains(slot))
            .map(Location::Slot)
            .collect();
        let is_stale = !self.is_parallel
            && at > defined
            && self.flow.region.blocks[block].instructions[defined + 1..at].iter().any(|between| {
                let writes = effects::of_operation(self.program, &between.operation).writes;
                locations.iter().any(|location| writes.contains(location))
            });
        if is_stale {
            if !self.computed.contains_key(&temp) {
                self.copy((block, defined), temp, &locations);
            }
            bases.push(Base::Cell(Cell::Computed(self.region_id, temp), defined));
        } else {
            bases.extend(
                locations.into_iter().map(|location| Base::Cell(Cell::Location(location), defined)),
            );
        }
        bases
    }

    fn copy(&mut self, place: (usize, usize), temp: Temp, locations: &[Location]) {
        let origin = self.flow.region.blocks[place.0].instructions[place.1].origin;
        let what = describe::operand(self, &Operand::Temp(temp));
        let id = self.add(AtomKind::Statement, format!("copy of {what}"), place, origin);
        self.computed.insert(temp, id);
        let width_bits = self.width_bits(&Operand::Temp(temp));
        let cell = Cell::Computed(self.region_id, temp);
        let atom = self.atom(id);
        atom.is_speculative = true;
        atom.writes.insert(cell);
        atom.reads.extend(locations.iter().map(|location| (Cell::Location(*location), place.1)));
        atom.take(Resource::Statements, 1);
        atom.take(Resource::Instructions, containers(width_bits));
    }

    /// The atom that computes a temporary.
    pub fn materialise(&mut self, block: usize, temp: Temp, at: usize) -> AtomId {
        if let Some(known) = self.computed.get(&temp) {
            return *known;
        }
        if let Some((access, _)) = self.array_output(temp) {
            self.claim_output(access, temp);
            self.computed.insert(temp, access);
            return access;
        }
        let origin = self.flow.region.blocks[block].instructions[at].origin;
        let name = describe::operand(self, &Operand::Temp(temp));
        let id = self.add(AtomKind::Statement, name, (block, at), origin);
        self.computed.insert(temp, id);
        self.atom(id).is_speculative = true;
        // Nothing else is said of who reads it, so its own gate costs nothing to leave out.
        self.atom(id).gate = Default::default();
        self.read_operation(id, temp, block, at);
        let width_bits = self.width_bits(&Operand::Temp(temp));
        let cell = Cell::Computed(self.region_id, temp);
        let atom = self.atom(id);
        atom.writes.insert(cell);
        atom.take(Resource::Statements, 1);
        atom.take(Resource::Instructions, containers(width_bits));
        id
    }

    /// Has an atom do the operation that defines a temporary.
    pub fn read_operation(&mut self, id: AtomId, temp: Temp, block: usize, at: usize) {
        let Some((_, _, operation)) = self.operation(&Operand::Temp(temp)) else { return };
        for (number, operand) in operation.operands().into_iter().enumerate() {
            // By the condition of a choice an entry of a table is chosen.
            let is_match = number == 0 && matches!(operation, Operation::Select { .. });
            if !is_match {
                self.read(id, operand, block, at);
                continue;
            }
            match self.truth(block, operand, at) {
                Truth::Static(guard) => {
                    for variable in guard.variables() {
                        let cell = self.variables.cell(variable);
                        self.atom(id).matches.insert(cell, at);
                    }
                }
                Truth::Dynamic { matches, after } => {
                    let atom = self.atom(id);
                    atom.matches.extend(matches);
                    atom.gate.after.extend(after);
                    atom.take(Resource::Gateways, 1);
                }
            }
        }
        if let Operation::Hash { .. } = operation {
            let bits = u64::from(self.width_bits(&Operand::Temp(temp)).min(32));
            let what = describe::hash(self, operation);
            self.atom(id).hashes.insert(what, bits);
        }
    }

    /// The hash that an index is, perhaps cut or widened.
    pub fn index_hash(&self, index: &Operand) -> Option<Temp> {
        let mut current = index.clone();
        loop {
            let (temp, _, operation) = self.operation(&current)?;
            if self.computed.contains_key(&temp) || self.stored.contains_key(&temp) {
                return None;
            }
            match operation {
                Operation::Hash { .. } => return Some(temp),
                Operation::Resize { operand, .. } | Operation::Slice { operand, .. } => {
                    current = operand.clone();
                }
                _ => return None,
            }
        }
    }

    /// The single operation whose result, moved about, is this value and nothing else.
    pub fn folded(&self, value: &Operand) -> Option<Temp> {
        let mut current = value.clone();
        loop {
            let (temp, _, operation) = self.operation(&current)?;
            if self.flow.uses(temp) != 1
                || self.computed.contains_key(&temp)
                || self.results.contains_key(&temp)
                || self.array_output(temp).is_some()
            {
                return None;
            }
            if is_wiring(operation) {
                let mut inner =
                    operation.operands().into_iter().filter(|it| matches!(it, Operand::Temp(_)));
                current = inner.next()?.clone();
                if inner.next().is_some() {
                    return None;
                }
                continue;
            }
            let is_computed = operation.is_pure()
                || matches!(operation, Operation::Hash { .. } | Operation::Random { .. });
            return is_computed.then_some(temp);
        }
    }

    /// The register access of the same block whose stateful ALU can put this value out, and where it
    /// stands: the old cell, or a few operations on it and on what the ALU gets anyway. An ALU puts out
    /// one value.
    pub fn array_output(&self, temp: Temp) -> Option<(AtomId, usize)> {
        let mut access: Option<(AtomId, usize, Temp)> = None;
        let mut operations = 0;
        let mut others = Vec::new();
        let mut open = vec![Operand::Temp(temp)];
        while let Some(operand) = open.pop() {
            let Some((inner, at, operation)) = self.operation(&operand) else { continue };
            match operation {
                Operation::RegisterAccess { .. } => {
                    let id = *self.computed.get(&inner)?;
                    if access.is_some_and(|(known, _, _)| known != id) {
                        return None;
                    }
                    access = Some((id, at, inner));
                }
                _ if is_wiring(operation) => {
                    open.extend(operation.operands().into_iter().cloned());
                }
                _ if operation.is_pure() && is_simple(operation) => {
                    operations += 1;
                    if operations > MOST_OUTPUT_OPERATIONS {
                        return None;
                    }
                    open.extend(operation.operands().into_iter().cloned());
                }
                _ => others.push((inner, operation)),
            }
        }
        let (id, at, old) = access?;
        let Operation::RegisterAccess { update, .. } = self.operation(&Operand::Temp(old))?.2
        else {
            return None;
        };
        // Other inputs have to be inputs of the update.
        for (other, operation) in others {
            let inputs = update.iter().flat_map(|update| {
                let body = update.body.iter().flat_map(|inner| inner.operation.operands());
                body.chain([&update.value])
            });
            let mut inputs = inputs.filter_map(|operand| self.operation(operand));
            let is_input = inputs.any(|(input, _, defining)| {
                input == other
                    || matches!(operation, Operation::Load { .. }) && same_load(operation, defining)
            });
            if !is_input {
                return None;
            }
        }
        let output = describe::output(self, temp);
        match &self.atoms[id.0].output {
            Some(known) if *known != output => None,
            _ => Some((id, at)),
        }
    }

    /// Takes note of what a stateful ALU puts out.
    pub fn claim_output(&mut self, id: AtomId, temp: Temp) {
        let output = describe::output(self, temp);
        self.atom(id).output.get_or_insert(output);
    }
}

fn same_load(left: &Operation, right: &Operation) -> bool {
    match (left, right) {
        (Operation::Load { place: a, .. }, Operation::Load { place: b, .. }) => a == b,
        _ => false,
    }
}

/// Whether it only moves bits.
pub(super) fn is_wiring(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Resize { .. }
            | Operation::Slice { .. }
            | Operation::Binary { operation: BinaryOperation::Concat, .. }
    )
}

/// Whether a stateful ALU has it.
fn is_simple(operation: &Operation) -> bool {
    !matches!(
        operation,
        Operation::Binary {
            operation: BinaryOperation::Multiply
                | BinaryOperation::DivideUnsigned
                | BinaryOperation::RemainderUnsigned,
            ..
        }
    )
}
