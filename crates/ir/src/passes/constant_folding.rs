// SPDX-License-Identifier: Apache-2.0
//! Computes operations on constants, uses simple identities of arithmetic, and decides branches on
//! constants. Removes instructions without effect; blocks stay.

use super::{Substitution, for_each_region};
use crate::{
    BasicBlock, BinaryOperation, Bits, Instruction, Operand, Operation, Program, Region,
    RegisterUpdate, Temp, Terminator, UnaryOperation, ValueType,
};
use std::collections::HashMap;

/// Folds constants in all regions.
pub fn fold_constants(program: &mut Program) {
    for_each_region(program, |_, region| fold_region(region));
}

fn fold_region(region: &mut Region) {
    region.blocks.iter_mut().for_each(|block| fold_block(&region.temps, block));
}

/// Folds constants in one block of a region with these temporaries.
pub(crate) fn fold_block(types: &[ValueType], block: &mut BasicBlock) {
    let mut folder = Folder { types, known: Substitution::default(), complements: HashMap::new() };
    let instructions = std::mem::take(&mut block.instructions);
    block.instructions = folder.instructions(instructions);
    if let Some(operand) = block.terminator.operand_mut() {
        folder.known.operand(operand);
    }
    if let Some(folded) = terminator(&block.terminator) {
        block.terminator = folded;
    }
}

struct Folder<'a> {
    types: &'a [ValueType],
    known: Substitution,
    /// What a temporary is the complement of.
    complements: HashMap<Temp, Operand>,
}

impl Folder<'_> {
    fn instructions(&mut self, instructions: Vec<Instruction>) -> Vec<Instruction> {
        instructions.into_iter().filter_map(|instruction| self.instruction(instruction)).collect()
    }

    /// The instruction as it remains, if it does.
    fn instruction(&mut self, mut instruction: Instruction) -> Option<Instruction> {
        self.known.operation(&mut instruction.operation);
        if let Operation::RegisterAccess { guard, old, update, register: _, index: _ } =
            &mut instruction.operation
        {
            if let Some(Operand::Constant(always)) = guard {
                if always.is_zero() {
                    if let Some(old) = *old {
                        let width = self.types[old.index()].width_bits();
                        self.known.insert(old, Operand::Constant(Bits::zero(width)));
                    }
                    return None;
                }
                *guard = None;
            }
            if let Some(RegisterUpdate { body, value }) = update {
                *body = self.instructions(std::mem::take(body));
                self.known.operand(value);
            }
            return Some(instruction);
        }
        match (value(&instruction.operation, self.types, &self.complements), &instruction.operation)
        {
            (Some(operand), operation) => {
                for result in operation.results() {
                    self.known.insert(result, operand.clone());
                }
                None
            }
            (None, Operation::Unary { result, operation: UnaryOperation::Not, operand }) => {
                self.complements.insert(*result, operand.clone());
                Some(instruction)
            }
            _ => Some(instruction),
        }
    }
}

fn constant(operand: &Operand) -> Option<&Bits> {
    match operand {
        Operand::Constant(value) => Some(value),
        Operand::Temp(_) => None,
    }
}

/// An operand that is equal to the operation's result.
fn value(
    operation: &Operation,
    types: &[ValueType],
    complements: &HashMap<Temp, Operand>,
) -> Option<Operand> {
    let width = |operand: &Operand| match operand {
        Operand::Constant(value) => Some(ValueType::Bits(value.width_bits())),
        Operand::Temp(temp) => types.get(temp.index()).copied(),
    };
    match operation {
        Operation::Unary { operation, operand, .. } => match (operation, operand) {
            (_, Operand::Constant(value)) => Some(Operand::Constant(value.unary(*operation))),
            (UnaryOperation::Not, Operand::Temp(temp)) => complements.get(temp).cloned(),
            _ => None,
        },
        Operation::Binary { operation, left, right, .. } => match (constant(left), constant(right))
        {
            (Some(left), Some(right)) => Some(Operand::Constant(left.binary(*operation, right))),
            _ => identity(*operation, left, right),
        },
        Operation::Resize { result, kind, operand } => {
            let to = types.get(result.index())?.width_bits();
            match operand {
                Operand::Constant(value) => Some(Operand::Constant(value.resize(*kind, to))),
                _ if width(operand) == Some(ValueType::Bits(to)) => Some(operand.clone()),
                _ => None,
            }
        }
        Operation::Slice { operand, high, low, .. } => match operand {
            Operand::Constant(value) => Some(Operand::Constant(value.slice(*high, *low))),
            _ if *low == 0 && width(operand) == Some(ValueType::Bits(high.saturating_add(1))) => {
                Some(operand.clone())
            }
            _ => None,
        },
        Operation::Select { condition, then, otherwise, .. } => {
            if then == otherwise {
                return Some(then.clone());
            }
            match constant(condition) {
                Some(condition) if condition.is_true() => Some(then.clone()),
                Some(_) => Some(otherwise.clone()),
                None => {
                    let (then, otherwise) = (constant(then)?, constant(otherwise)?);
                    let copies = then.width_bits() == 1 && then.is_true() && otherwise.is_zero();
                    copies.then(|| condition.clone())
                }
            }
        }
        _ => None,
    }
}

/// The result where one operand says enough, or both are the same.
fn identity(operation: BinaryOperation, left: &Operand, right: &Operand) -> Option<Operand> {
    use BinaryOperation as Op;
    let is_zero = |operand: &Operand| constant(operand).is_some_and(Bits::is_zero);
    let is_ones = |operand: &Operand| {
        constant(operand).is_some_and(|value| *value == Bits::ones(value.width_bits()))
    };
    let is_bit = |operand: &Operand, bit: bool| {
        constant(operand).is_some_and(|value| *value == Bits::from_bit(bit))
    };
    let is_one =
        |operand: &Operand| constant(operand).is_some_and(|value| value.to_u64() == Some(1));
    let same = left == right;
    match operation {
        Op::Add | Op::AddSaturatingUnsigned | Op::AddSaturatingSigned | Op::Or | Op::Xor
            if is_zero(right) =>
        {
            Some(left.clone())
        }
        Op::Add | Op::AddSaturatingUnsigned | Op::AddSaturatingSigned | Op::Or | Op::Xor
            if is_zero(left) =>
        {
            Some(right.clone())
        }
        Op::Subtract | Op::SubtractSaturatingUnsigned | Op::SubtractSaturatingSigned
            if is_zero(right) =>
        {
            Some(left.clone())
        }
        Op::ShiftLeft | Op::ShiftRightLogical | Op::ShiftRightArithmetic if is_zero(right) => {
            Some(left.clone())
        }
        Op::Multiply | Op::DivideUnsigned if is_one(right) => Some(left.clone()),
        Op::Multiply if is_one(left) => Some(right.clone()),
        Op::Multiply | Op::And if is_zero(right) => Some(right.clone()),
        Op::Multiply | Op::And if is_zero(left) => Some(left.clone()),
        Op::And if is_ones(right) || same => Some(left.clone()),
        Op::And if is_ones(left) => Some(right.clone()),
        Op::Or if is_ones(right) || same => Some(right.clone()),
        Op::Or if is_ones(left) => Some(left.clone()),
        Op::Equal | Op::LessEqualUnsigned | Op::LessEqualSigned if same => {
            Some(Operand::Constant(Bits::from_bit(true)))
        }
        Op::NotEqual | Op::LessUnsigned | Op::LessSigned if same => {
            Some(Operand::Constant(Bits::from_bit(false)))
        }
        Op::Equal if is_bit(right, true) => Some(left.clone()),
        Op::Equal if is_bit(left, true) => Some(right.clone()),
        Op::NotEqual if is_bit(right, false) => Some(left.clone()),
        Op::NotEqual if is_bit(left, false) => Some(right.clone()),
        Op::Concat if constant(left).is_some_and(|value| value.width_bits() == 0) => {
            Some(right.clone())
        }
        Op::Concat if constant(right).is_some_and(|value| value.width_bits() == 0) => {
            Some(left.clone())
        }
        _ => None,
    }
}

/// The decided terminator, when it can be decided.
fn terminator(terminator: &Terminator) -> Option<Terminator> {
    match terminator {
        Terminator::Branch { condition, then, otherwise } => {
            if then == otherwise {
                return Some(Terminator::Goto(*then));
            }
            let condition = constant(condition)?;
            Some(Terminator::Goto(if condition.is_true() { *then } else { *otherwise }))
        }
        Terminator::Switch { value, cases, default } => {
            if cases.iter().all(|(_, block)| block == default) {
                return Some(Terminator::Goto(*default));
            }
            let value = constant(value)?;
            let case = cases.iter().find(|(case, _)| case == value);
            Some(Terminator::Goto(case.map_or(*default, |(_, block)| *block)))
        }
        _ => None,
    }
}
