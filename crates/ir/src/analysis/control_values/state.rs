// SPDX-License-Identifier: Apache-2.0
//! Accesses of state on a path: which cell, when, and what their results depend on.

use super::super::Point;
use super::super::predicates::Predicate;
use super::store::{Value, ValueId};
use super::walk::{Path, Walk, Within};
use super::{AccessedCell, ControlAccess};
use crate::effects::Location;
use crate::{ExternAccess, Instruction, Operand, Operation, Temp};
use std::collections::{BTreeSet, HashMap};

impl<'p> Walk<'p> {
    /// Notes an access of state, and gives its results values.
    pub fn access(
        &mut self,
        (at, instruction, within): (Point, &'p Instruction, Within),
        path: &Path,
        temps: &mut HashMap<Temp, ValueId>,
    ) {
        let mut predicate = path.predicate;
        let entry = within.map(|(application, _)| AccessedCell::Entry(application));
        let (object, cell, results, effects) = match &instruction.operation {
            Operation::RegisterAccess { register, index, guard, old, update } => {
                if let Some(guard) = guard {
                    let guard = self.operand(guard, temps);
                    let guard = self.values.predicate(guard);
                    predicate = self.values.predicates_mut().and(predicate, guard);
                }
                let cell = AccessedCell::Index(self.operand(index, temps));
                let effects = (old.is_some(), update.is_some());
                (Location::Register(*register), cell, Vec::from_iter(*old), effects)
            }
            Operation::Count { counter, index } => {
                let cell = AccessedCell::Index(self.operand(index, temps));
                (Location::Counter(*counter), cell, Vec::new(), (false, true))
            }
            Operation::Meter { meter, index, result } => {
                let cell = AccessedCell::Index(self.operand(index, temps));
                (Location::Meter(*meter), cell, vec![*result], (true, true))
            }
            Operation::CountDirect { counter } => {
                let Some(cell) = entry else { return };
                (Location::Counter(*counter), cell, Vec::new(), (false, true))
            }
            Operation::MeterDirect { meter, result } => {
                let Some(cell) = entry else { return };
                (Location::Meter(*meter), cell, vec![*result], (true, true))
            }
            Operation::CallExtern { target, results, effects, .. } => {
                let writes = effects.access == ExternAccess::Any;
                let object = Location::Extern(*target);
                (object, AccessedCell::Whole, results.clone(), (true, writes))
            }
            _ => return,
        };
        if predicate == Predicate::FALSE {
            return;
        }
        let inside: BTreeSet<Temp> = match &instruction.operation {
            Operation::RegisterAccess { old, update: Some(update), .. } => {
                let body = update.body.iter().flat_map(|one| one.operation.results());
                body.chain(*old).collect()
            }
            _ => BTreeSet::new(),
        };
        let mut inputs = Vec::new();
        for operand in instruction.operation.operands() {
            if matches!(operand, Operand::Temp(temp) if !inside.contains(temp)) {
                inputs.push(self.operand(operand, temps));
            }
        }
        let number = self.accesses.len();
        let is_state = match object {
            Location::Register(register) => self.state.contains(&register),
            _ => true,
        };
        if !is_state {
            self.values.configuration.insert(number);
        }
        self.accesses.push(ControlAccess {
            at,
            application: within.map(|(application, _)| application),
            object,
            cell,
            predicate,
            inputs: inputs.clone(),
            reads: effects.0,
            writes: effects.1,
            origin: instruction.origin,
        });
        let mut reads = BTreeSet::new();
        inputs.iter().for_each(|input| reads.extend(self.values.reads_of(*input)));
        reads.extend(self.values.reads_of_predicate(predicate));
        if is_state {
            reads.insert(number);
        }
        for (place, result) in (0..).zip(results) {
            let ty = self.program.regions[at.region.index()].temps[result.index()];
            let value = self.values.other(Value::Read(number, place, ty), ty);
            self.values.set_reads(value, reads.clone());
            temps.insert(result, value);
        }
    }
}
