// SPDX-License-Identifier: Apache-2.0
//! Local value numbering: a load reuses the value that was stored or loaded before, a pure operation
//! that was computed before is not computed again, and a store of what is there already disappears.

use super::{Substitution, for_each_region};
use crate::{
    BasicBlock, Instruction, Operand, Operation, Place, Program, Region, RegisterUpdate, SlotId,
    Temp, ValueType, effects,
};
use std::collections::HashMap;

/// Numbers values in all regions.
pub fn number_values(program: &mut Program) {
    for_each_region(program, number_region);
}

fn number_region(program: &Program, region: &mut Region) {
    region.blocks.iter_mut().for_each(|block| number_block(program, &region.temps, block));
}

/// Numbers values in one block of a region with these temporaries.
pub(crate) fn number_block(program: &Program, types: &[ValueType], block: &mut BasicBlock) {
    let mut numbering = Numbering {
        program,
        types,
        known: Substitution::default(),
        expressions: HashMap::new(),
        slots: HashMap::new(),
    };
    block.instructions.retain_mut(|instruction| numbering.keeps(instruction));
    if let Some(operand) = block.terminator.operand_mut() {
        numbering.known.operand(operand);
    }
}

/// A pure operation without its result. The result's type belongs to it: the same resize to another
/// width is another value.
#[derive(PartialEq, Eq, Hash)]
struct Expression {
    text: (std::mem::Discriminant<Operation>, u64, u64),
    operands: Vec<Operand>,
    ty: ValueType,
}

struct Numbering<'a> {
    program: &'a Program,
    types: &'a [ValueType],
    known: Substitution,
    expressions: HashMap<Expression, Temp>,
    /// What slots are known to hold.
    slots: HashMap<SlotId, Operand>,
}

impl Numbering<'_> {
    fn expression(&self, operation: &Operation) -> Option<(Expression, Temp)> {
        let (first, second) = match operation {
            Operation::Unary { operation, .. } => (*operation as u64, 0),
            Operation::Binary { operation, .. } => (*operation as u64, 0),
            Operation::Resize { kind, .. } => (*kind as u64, 0),
            Operation::Slice { high, low, .. } => (u64::from(*high), u64::from(*low)),
            Operation::Select { .. } => (0, 0),
            _ => return None,
        };
        let result = *operation.results().first()?;
        let expression = Expression {
            text: (std::mem::discriminant(operation), first, second),
            operands: operation.operands().into_iter().cloned().collect(),
            ty: *self.types.get(result.index())?,
        };
        Some((expression, result))
    }

    /// Takes up an instruction; whether it is still needed.
    fn keeps(&mut self, instruction: &mut Instruction) -> bool {
        self.known.operation(&mut instruction.operation);
        if let Operation::RegisterAccess { update: Some(RegisterUpdate { body, value }), .. } =
            &mut instruction.operation
        {
            body.retain_mut(|instruction| self.keeps_in_update(instruction));
            self.known.operand(value);
        }
        let operation = &instruction.operation;
        if let Some((expression, result)) = self.expression(operation) {
            return match self.expressions.get(&expression) {
                Some(before) => {
                    self.known.insert(result, Operand::Temp(*before));
                    false
                }
                None => {
                    self.expressions.insert(expression, result);
                    true
                }
            };
        }
        match operation {
            Operation::Load { result, place: Place::Slot(slot) } => {
                if let Some(value) = self.slots.get(slot) {
                    self.known.insert(*result, value.clone());
                    return false;
                }
                self.slots.insert(*slot, Operand::Temp(*result));
                true
            }
            Operation::Store { place: Place::Slot(slot), value } => {
                if self.slots.get(slot) == Some(value) {
                    return false;
                }
                // A constant in a varbit slot has another type than a load of it.
                let is_varbit = self
                    .program
                    .slots
                    .get(slot.index())
                    .is_some_and(|slot| matches!(slot.ty, ValueType::Varbit(_)));
                if is_varbit && matches!(value, Operand::Constant(_)) {
                    self.slots.remove(slot);
                } else {
                    self.slots.insert(*slot, value.clone());
                }
                true
            }
            _ => {
                if !self.slots.is_empty() {
                    for slot in effects::of_operation(self.program, operation).slots_written() {
                        self.slots.remove(&slot);
                    }
                }
                true
            }
        }
    }

    /// The same for an instruction of a register update, which may use values from outside but gives
    /// none to the outside.
    fn keeps_in_update(&mut self, instruction: &mut Instruction) -> bool {
        self.known.operation(&mut instruction.operation);
        if let Some((expression, result)) = self.expression(&instruction.operation)
            && let Some(before) = self.expressions.get(&expression)
        {
            self.known.insert(result, Operand::Temp(*before));
            return false;
        }
        true
    }
}
