// SPDX-License-Identifier: Apache-2.0
//! Where the values of temporaries come from: storage, tables' results, computations. A computation
//! whose result is only stored belongs to the atom that stores it; another becomes an atom of its own,
//! which may run at any time, since no other code sees its result. Also finds the values that a stateful ALU can put
//! out.

use super::atom::{AtomId, AtomKind, Base, Cell};
use super::describe;
use super::stage::{
    MAX_ALU_INPUTS, MAX_OUTPUT_OPERATIONS, containers, is_in_stateful_alu, is_wiring,
};
use super::walk::{Truth, Walk};
use crate::problem::Resource;
use ir::effects::{self, Location};
use ir::{BinaryOperation, Operand, Operation, Place, SlotId, Temp};
use std::collections::BTreeSet;

impl<'a> Walk<'a, '_> {
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
        let is_after = stored < at && at <= self.flow.region.blocks[block].instructions.len();
        let is_there = !self.is_written_between(block, slot, (stored + 1, at));
        (is_after && is_there).then_some(slot)
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

    /// A computation that is stored once more while what it is made of is still there: it is done again
    /// rather than waited for.
    pub fn computed_again(&self, block: usize, value: &Operand, at: usize) -> Option<Temp> {
        let (temp, _, operation) = self.operation(value)?;
        let is_other =
            |temp: &Temp| self.computed.contains_key(temp) || self.results.contains_key(temp);
        let is_alu = matches!(operation, Operation::Unary { .. } | Operation::Binary { .. });
        if !is_alu || is_wiring(operation) || is_other(&temp) || !self.stored.contains_key(&temp) {
            return None;
        }
        let mut open: Vec<Operand> = operation.operands().into_iter().cloned().collect();
        let mut seen = BTreeSet::new();
        while let Some(operand) = open.pop() {
            let Some((inner, defined, operation)) = self.operation(&operand) else { continue };
            match operation {
                _ if !seen.insert(inner) => {}
                _ if is_other(&inner) => return None,
                _ if is_wiring(operation) => {
                    open.extend(operation.operands().into_iter().cloned());
                }
                Operation::Load { place: Place::Slot(slot), .. } => {
                    let location = Location::Slot(*slot);
                    if self.is_stale(block, &[location], (defined, at)) {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        Some(temp)
    }

    /// Whether something is written between a load and its use, outside actions.
    fn is_stale(
        &self,
        block: usize,
        locations: &[Location],
        (defined, at): (usize, usize),
    ) -> bool {
        let is_written =
            |location: &Location| self.flow.is_written_between(block, *location, (defined + 1, at));
        !self.is_parallel && at > defined && locations.iter().any(is_written)
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
        if self.is_stale(block, &locations, (defined, at)) {
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
        if let Some(operands) = self.min_or_max(operation) {
            for operand in operands {
                self.read(id, operand, block, at);
            }
            return;
        }
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

    /// The operands of a choice of the less or the greater of two values, which is one operation of an
    /// ALU.
    fn min_or_max(&self, operation: &'a Operation) -> Option<[&'a Operand; 2]> {
        let Operation::Select { condition, then, otherwise, .. } = operation else { return None };
        let (_, _, comparison) = self.operation(condition)?;
        let Operation::Binary { operation, left, right, .. } = comparison else { return None };
        let is_order = matches!(
            operation,
            BinaryOperation::LessUnsigned
                | BinaryOperation::LessEqualUnsigned
                | BinaryOperation::LessSigned
                | BinaryOperation::LessEqualSigned
        );
        let is_of_both = (left, right) == (then, otherwise) || (right, left) == (then, otherwise);
        (is_order && is_of_both).then_some([left, right])
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
    /// stands: the old cell, or a few operations on it and on what the ALU gets, which is two words besides
    /// the cell. An ALU puts out one value.
    pub fn array_output(&self, temp: Temp) -> Option<(AtomId, usize)> {
        let mut access: Option<(AtomId, usize, Temp)> = None;
        let mut operations = 0;
        let mut others = Vec::new();
        let mut open = vec![Operand::Temp(temp)];
        let mut seen = BTreeSet::new();
        while let Some(operand) = open.pop() {
            let Some((inner, at, operation)) = self.operation(&operand) else { continue };
            match operation {
                _ if !seen.insert(inner) => {}
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
                _ if operation.is_pure() && is_in_stateful_alu(operation) => {
                    operations += 1;
                    if operations > MAX_OUTPUT_OPERATIONS {
                        return None;
                    }
                    open.extend(operation.operands().into_iter().cloned());
                }
                _ => others.push((inner, at, operation)),
            }
        }
        let (id, at, old) = access?;
        let Operation::RegisterAccess { update, .. } = self.operation(&Operand::Temp(old))?.2
        else {
            return None;
        };
        let mut inputs = BTreeSet::new();
        if let Some(update) = update {
            let body = update.body.iter().flat_map(|inner| inner.operation.operands());
            for operand in body.chain([&update.value]) {
                inputs.extend(self.operation(operand).map(|(input, ..)| self.input(input)));
            }
        }
        inputs.remove(&Input::Value(old));
        for (other, loaded, operation) in others {
            let input = self.input(other);
            if inputs.contains(&input) {
                continue;
            }
            let Operation::Load { place: Place::Slot(slot), .. } = operation else { return None };
            let block = self.flow.block_of(other)?;
            if self.is_written_between(block, *slot, (at.min(loaded), at.max(loaded))) {
                return None;
            }
            inputs.insert(input);
            if inputs.len() > MAX_ALU_INPUTS {
                return None;
            }
        }
        let output = describe::output(self, temp);
        match &self.atoms[id.0].output {
            Some(known) if *known != output => None,
            _ => Some((id, at)),
        }
    }

    /// Takes note of what a stateful ALU puts out, and of what it needs for that.
    pub fn claim_output(&mut self, id: AtomId, temp: Temp) {
        let output = describe::output(self, temp);
        let mut open = vec![Operand::Temp(temp)];
        let mut seen = BTreeSet::new();
        while let Some(operand) = open.pop() {
            let Some((inner, defined, operation)) = self.operation(&operand) else { continue };
            match operation {
                _ if !seen.insert(inner) => {}
                Operation::Load { place: Place::Slot(slot), .. }
                    if !self.private.contains(slot) =>
                {
                    let cell = Cell::Location(Location::Slot(*slot));
                    self.atom(id).reads.insert(cell, defined);
                }
                _ if operation.is_pure() => open.extend(operation.operands().into_iter().cloned()),
                _ => {}
            }
        }
        self.atom(id).output.get_or_insert(output);
    }

    fn is_written_between(&self, block: usize, slot: SlotId, between: (usize, usize)) -> bool {
        self.flow.is_written_between(block, Location::Slot(slot), between)
    }

    /// What an input of a stateful ALU is: loads of one field are one.
    fn input(&self, temp: Temp) -> Input {
        match self.operation(&Operand::Temp(temp)) {
            Some((_, _, Operation::Load { place: Place::Slot(slot), .. })) => Input::Field(*slot),
            _ => Input::Value(temp),
        }
    }
}

/// What a stateful ALU computes with besides the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Input {
    Field(SlotId),
    Value(Temp),
}
