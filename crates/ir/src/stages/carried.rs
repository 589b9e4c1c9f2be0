// SPDX-License-Identifier: Apache-2.0
//! [`CarriedSlots`]: new slots for temporaries that cross from one piece of code to another, with names that say what
//! they hold.

use crate::{
    BinaryOperation, Display, Operation, OriginId, Place, Program, Slot, SlotId, ValueType,
};
use std::collections::HashSet;
use std::sync::Arc;

/// New slots of a program.
#[derive(Debug)]
pub(super) struct CarriedSlots<'p> {
    program: &'p Program,
    prefix: &'p str,
    names: HashSet<Arc<str>>,
    slots: Vec<Slot>,
}

impl<'p> CarriedSlots<'p> {
    /// For a program; names begin with the name of the control or action that computes the values.
    pub fn new(program: &'p Program, prefix: &'p str) -> CarriedSlots<'p> {
        let names = program.slots.iter().map(|slot| slot.name.clone()).collect();
        CarriedSlots { program, prefix, names, slots: Vec::new() }
    }

    /// Adds a slot for a result of an operation.
    pub fn add(
        &mut self,
        operation: &Operation,
        result: usize,
        ty: ValueType,
        origin: OriginId,
    ) -> SlotId {
        let stem = format!("{}.$carried.{}", self.prefix, self.value_name(operation, result, ty));
        let mut name: Arc<str> = stem.as_str().into();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{stem}${number}").into();
            number += 1;
        }
        self.slots.push(Slot { name, ty, display: Display::Unsigned, origin });
        SlotId((self.program.slots.len() + self.slots.len() - 1) as u32)
    }

    /// The new slots; their numbers follow those of the program.
    pub fn finish(self) -> Vec<Slot> {
        self.slots
    }

    /// Whether a slot is one of the new ones.
    pub fn is_new(&self, slot: SlotId) -> bool {
        slot.index() >= self.program.slots.len()
    }

    fn slot_name(&self, slot: SlotId) -> &str {
        let new = slot.index().checked_sub(self.program.slots.len());
        let slot = new.map_or_else(|| &self.program.slots[slot.index()], |at| &self.slots[at]);
        &slot.name
    }

    /// A name for a result of an operation.
    fn value_name(&self, operation: &Operation, result: usize, ty: ValueType) -> String {
        let program = self.program;
        match operation {
            Operation::Load { place: Place::Slot(slot), .. } => {
                // What was carried before keeps its name.
                let name = self.slot_name(*slot);
                name.rsplit("$carried.").next().unwrap_or(name).to_string()
            }
            Operation::Load { place: Place::Element { stack, .. }, .. } => {
                format!("{}.element", program.stacks[stack.index()].name)
            }
            Operation::Apply { table, .. } => {
                let name = &program.tables[table.index()].name;
                format!("{name}.{}", if result == 0 { "hit" } else { "action" })
            }
            Operation::RegisterAccess { register, .. } => {
                format!("{}.old", program.registers[register.index()].name)
            }
            Operation::Meter { meter, .. } | Operation::MeterDirect { meter, .. } => {
                format!("{}.color", program.meters[meter.index()].name)
            }
            Operation::ValueSetContains { set, .. } => {
                format!("{}.contains", program.value_sets[set.index()].name)
            }
            Operation::CallExtern { target, method, .. } => {
                let target = &program.externs[target.index()];
                match target.instance.is_empty() {
                    true => format!("{}.{result}", target.type_name),
                    false => format!("{}.{method}.{result}", target.instance),
                }
            }
            Operation::Hash { .. } => "hash".to_string(),
            Operation::Random { .. } => "random".to_string(),
            Operation::Select { .. } => "choice".to_string(),
            Operation::Binary { operation, .. } => match operation {
                BinaryOperation::Add => "sum".to_string(),
                BinaryOperation::Subtract => "difference".to_string(),
                BinaryOperation::Multiply => "product".to_string(),
                _ if ty == ValueType::Bits(1) => "condition".to_string(),
                _ => "value".to_string(),
            },
            _ if ty == ValueType::Bits(1) => "condition".to_string(),
            _ => "value".to_string(),
        }
    }
}
