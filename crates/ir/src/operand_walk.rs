// SPDX-License-Identifier: Apache-2.0
//! What instructions and terminators use, define and lead to: operands, results and successors. What
//! an instruction does to storage and state is in `effects`.

use crate::{
    BlockId, HeaderRef, Instruction, Operand, Operation, Place, RegisterUpdate, Temp, Terminator,
};

/// The operands of an operation in a vector. The same text serves shared and mutable references,
/// because patterns bind as the scrutinee is borrowed.
macro_rules! operands_of {
    ($operation:expr, $recurse:ident) => {{
        let mut list = Vec::new();
        match $operation {
            Operation::Unary { operand, .. }
            | Operation::Resize { operand, .. }
            | Operation::Slice { operand, .. } => list.push(operand),
            Operation::Binary { left, right, .. } => list.extend([left, right]),
            Operation::Select { condition, then, otherwise, .. } => {
                list.extend([condition, then, otherwise]);
            }
            Operation::Load { place, .. } => {
                if let Place::Element { index, .. } = place {
                    list.push(index);
                }
            }
            Operation::Store { place, value } => {
                if let Place::Element { index, .. } = place {
                    list.push(index);
                }
                list.push(value);
            }
            Operation::Extract { header, varbit_bits } => {
                if let HeaderRef::Element { index, .. } = header {
                    list.push(index);
                }
                list.extend(varbit_bits);
            }
            Operation::Emit { header } => {
                if let HeaderRef::Element { index, .. } = header {
                    list.push(index);
                }
            }
            Operation::Advance { bits } => list.push(bits),
            Operation::Apply { keys, .. } | Operation::ValueSetContains { keys, .. } => {
                list.extend(keys);
            }
            Operation::RegisterAccess { index, guard, update, .. } => {
                list.push(index);
                list.extend(guard);
                if let Some(RegisterUpdate { body, value }) = update {
                    for Instruction { operation, .. } in body {
                        list.extend(operation.$recurse());
                    }
                    list.push(value);
                }
            }
            Operation::Count { index, .. } | Operation::Meter { index, .. } => list.push(index),
            Operation::Hash { inputs, .. } => list.extend(inputs),
            Operation::Random { low, high, .. } => list.extend([low, high]),
            Operation::Request { arguments, .. }
            | Operation::Log { arguments, .. }
            | Operation::CallExtern { arguments, .. } => list.extend(arguments),
            Operation::Assert { condition, .. } => list.push(condition),
            Operation::Lookahead { .. }
            | Operation::PacketLength { .. }
            | Operation::ShiftStack { .. }
            | Operation::CountDirect { .. }
            | Operation::MeterDirect { .. } => {}
        }
        list
    }};
}

/// The results of an operation in a vector, those of a register update's body left out.
macro_rules! results_of {
    ($operation:expr) => {{
        let mut list = Vec::new();
        match $operation {
            Operation::Unary { result, .. }
            | Operation::Binary { result, .. }
            | Operation::Resize { result, .. }
            | Operation::Slice { result, .. }
            | Operation::Select { result, .. }
            | Operation::Load { result, .. }
            | Operation::Lookahead { result }
            | Operation::PacketLength { result }
            | Operation::Meter { result, .. }
            | Operation::MeterDirect { result, .. }
            | Operation::ValueSetContains { result, .. }
            | Operation::Hash { result, .. }
            | Operation::Random { result, .. } => list.push(result),
            Operation::Apply { hit, action, .. } => list.extend([hit, action]),
            Operation::RegisterAccess { old, .. } => list.extend(old),
            Operation::CallExtern { results, .. } => list.extend(results),
            Operation::Store { .. }
            | Operation::Extract { .. }
            | Operation::Advance { .. }
            | Operation::Emit { .. }
            | Operation::ShiftStack { .. }
            | Operation::Count { .. }
            | Operation::CountDirect { .. }
            | Operation::Request { .. }
            | Operation::Log { .. }
            | Operation::Assert { .. } => {}
        }
        list
    }};
}

impl Operation {
    /// All operands in the order of the fields, those in a register update among them.
    pub fn operands(&self) -> Vec<&Operand> {
        operands_of!(self, operands)
    }

    /// All operands, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Operand> {
        operands_of!(self, operands_mut)
    }

    /// The temporaries that it defines for the instructions after it, in the order of the fields. What
    /// the body of a register update defines belongs to that body alone.
    pub fn results(&self) -> Vec<Temp> {
        results_of!(self).into_iter().copied().collect()
    }

    /// The results, to be changed.
    pub fn results_mut(&mut self) -> Vec<&mut Temp> {
        results_of!(self)
    }

    /// Whether the result depends on the operands alone and nothing else happens: such an instruction
    /// may be moved, repeated, removed, and placed in a register update.
    pub fn is_pure(&self) -> bool {
        matches!(
            self,
            Operation::Unary { .. }
                | Operation::Binary { .. }
                | Operation::Resize { .. }
                | Operation::Slice { .. }
                | Operation::Select { .. }
        )
    }
}

impl Terminator {
    /// The operand that it looks at.
    pub fn operand(&self) -> Option<&Operand> {
        match self {
            Terminator::Branch { condition: operand, .. }
            | Terminator::Switch { value: operand, .. }
            | Terminator::Reject(operand) => Some(operand),
            Terminator::Goto(_) | Terminator::Return | Terminator::Exit => None,
        }
    }

    /// The operand that it looks at, to be changed.
    pub fn operand_mut(&mut self) -> Option<&mut Operand> {
        match self {
            Terminator::Branch { condition: operand, .. }
            | Terminator::Switch { value: operand, .. }
            | Terminator::Reject(operand) => Some(operand),
            Terminator::Goto(_) | Terminator::Return | Terminator::Exit => None,
        }
    }

    /// The basic blocks that may follow, with repetitions.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Goto(block) => vec![*block],
            Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Terminator::Switch { cases, default, .. } => {
                cases.iter().map(|(_, block)| *block).chain([*default]).collect()
            }
            Terminator::Return | Terminator::Exit | Terminator::Reject(_) => Vec::new(),
        }
    }

    /// The basic blocks that may follow, to be changed.
    pub fn successors_mut(&mut self) -> Vec<&mut BlockId> {
        match self {
            Terminator::Goto(block) => vec![block],
            Terminator::Branch { then, otherwise, .. } => vec![then, otherwise],
            Terminator::Switch { cases, default, .. } => {
                cases.iter_mut().map(|(_, block)| block).chain([default]).collect()
            }
            Terminator::Return | Terminator::Exit | Terminator::Reject(_) => Vec::new(),
        }
    }
}
