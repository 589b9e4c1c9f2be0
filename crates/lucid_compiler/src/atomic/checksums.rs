// SPDX-License-Identifier: Apache-2.0
//! Internet checksums that the deparser cannot compute, since the pipeline needs them before: no hash unit
//! has sums of ones' complement (RFC 1071), so they are added up. A tree of additions of 16-bit words in
//! containers of 32 bits, the carries added twice, and the complement.

use super::program::{
    AluOperator, AtomicProgram, Operand, Operation, Statement, Variable, VariableKind,
};
use lucid::core::arithmetic::mask;
use pisa::{Condition, Guard, VariableId};
use std::collections::BTreeSet;

/// Width of a word of the sum, in bits.
const WORD_BITS: u32 = 16;

/// Replaces checksums by additions, except those of arguments of generated events that nothing else reads:
/// the deparser computes them.
pub(super) fn expand(mut program: AtomicProgram) -> AtomicProgram {
    let mut read: BTreeSet<VariableId> = BTreeSet::new();
    for statement in &program.statements {
        read.extend(program.reads(statement));
        read.extend(statement.guard.variables());
    }
    for statement in std::mem::take(&mut program.statements) {
        match &statement.operation {
            Operation::Checksum { to, arguments }
                if read.contains(to)
                    || !matches!(program.variable(*to).kind, VariableKind::Argument { .. }) =>
            {
                let (to, arguments) = (*to, arguments.clone());
                Sum { program: &mut program, statement: &statement }.write(to, &arguments);
            }
            Operation::Checksum { to, arguments } => {
                let (to, arguments) = (*to, arguments.clone());
                Sum { program: &mut program, statement: &statement }.leave(to, arguments);
            }
            _ => program.statements.push(statement),
        }
    }
    program
}

struct Sum<'a> {
    program: &'a mut AtomicProgram,
    /// The one that is replaced.
    statement: &'a Statement,
}

impl Sum<'_> {
    /// Leaves the sum to the deparser. Tofino's deparser has no constants but zero in a sum, and its conditions
    /// have one bit, so the pipeline gives it both as variables.
    fn leave(&mut self, to: VariableId, arguments: Vec<(Operand, u32)>) {
        let arguments = arguments
            .into_iter()
            .map(|(operand, width_bits)| match operand {
                Operand::Constant(value) if value & mask(width_bits) != 0 => {
                    (self.kept(operand, width_bits, "summand"), width_bits)
                }
                _ => (operand, width_bits),
            })
            .collect();
        let mut statement = self.statement.clone();
        statement.operation = Operation::Checksum { to, arguments };
        if !statement.guard.is_always()
            && let Operand::Variable(flag) = self.kept(Operand::Constant(1), 1, "sums")
        {
            statement.guard = Guard::when(flag, Condition::Ternary { value: 1, mask: 1 });
        }
        self.program.statements.push(statement);
    }

    /// A variable that holds a constant where the statement runs.
    fn kept(&mut self, constant: Operand, width_bits: u32, name: &str) -> Operand {
        let to = self.temporary(width_bits, name);
        self.emit(Operation::Move { to, from: constant });
        Operand::Variable(to)
    }

    fn write(&mut self, to: VariableId, arguments: &[(Operand, u32)]) {
        let mut known = 0u128;
        let mut terms = Vec::new();
        for word in self.words(arguments) {
            match word {
                Operand::Constant(value) => known += value,
                variable => terms.push(variable),
            }
        }
        // Carries of what is known.
        while known >> WORD_BITS != 0 {
            known = (known & mask(WORD_BITS)) + (known >> WORD_BITS);
        }
        if known != 0 || terms.is_empty() {
            terms.push(Operand::Constant(known));
        }
        let is_one = terms.len() == 1;
        while terms.len() > 1 {
            let pairs: Vec<Vec<Operand>> = terms.chunks(2).map(<[Operand]>::to_vec).collect();
            terms = pairs
                .into_iter()
                .map(|pair| match pair.as_slice() {
                    [left, right] => self.add(*left, *right, 2 * WORD_BITS),
                    _ => pair[0],
                })
                .collect();
        }
        let mut sum = terms[0];
        if !is_one {
            sum = self.carried(sum, 2 * WORD_BITS);
            sum = self.carried(sum, WORD_BITS);
        }
        let right = Operand::Constant(mask(WORD_BITS));
        self.emit(Operation::Compute { to, operator: AluOperator::Xor, left: sum, right });
    }

    /// Words of the arguments one after the other, zero bits behind the last.
    fn words(&mut self, arguments: &[(Operand, u32)]) -> Vec<Operand> {
        let mut words = Vec::new();
        // What is there of the next word, and how many bits that is.
        let mut word: Option<(Operand, u32)> = None;
        for (operand, width_bits) in arguments {
            let mut left_bits = *width_bits;
            while left_bits > 0 {
                let there_bits = word.map_or(0, |(_, bits)| bits);
                let taken_bits = left_bits.min(WORD_BITS - there_bits);
                left_bits -= taken_bits;
                let piece = self.piece(*operand, *width_bits, left_bits, taken_bits);
                let joined = match word.take() {
                    None => (piece, taken_bits),
                    Some(before) => self.joined(before, (piece, taken_bits)),
                };
                match joined {
                    (whole, WORD_BITS) => words.push(whole),
                    part => word = Some(part),
                }
            }
        }
        if let Some(last) = word {
            let padding = (Operand::Constant(0), WORD_BITS - last.1);
            words.push(self.joined(last, padding).0);
        }
        words
    }

    /// Bits `low` and so many above it of an operand.
    fn piece(&mut self, operand: Operand, width_bits: u32, low: u32, taken_bits: u32) -> Operand {
        match operand {
            Operand::Constant(value) => Operand::Constant(value >> low & mask(taken_bits)),
            Operand::Variable(from) => {
                let is_whole = low == 0 && taken_bits == width_bits;
                if is_whole && self.program.variable(from).width_bits <= taken_bits {
                    return operand;
                }
                let to = self.temporary(taken_bits, "sum");
                self.emit(Operation::Slice { to, from, low, width_bits: taken_bits });
                Operand::Variable(to)
            }
        }
    }

    fn joined(&mut self, left: (Operand, u32), right: (Operand, u32)) -> (Operand, u32) {
        let bits = left.1 + right.1;
        if let (Operand::Constant(high), Operand::Constant(low)) = (left.0, right.0) {
            return (Operand::Constant(high << right.1 | low), bits);
        }
        let to = self.temporary(bits, "sum");
        self.emit(Operation::Concatenate { to, left, right });
        (Operand::Variable(to), bits)
    }

    fn add(&mut self, left: Operand, right: Operand, width_bits: u32) -> Operand {
        let to = self.temporary(width_bits, "sum");
        self.emit(Operation::Compute { to, operator: AluOperator::Add, left, right });
        Operand::Variable(to)
    }

    /// The lower word of a sum and what was carried over it.
    fn carried(&mut self, sum: Operand, width_bits: u32) -> Operand {
        let low = self.piece(sum, 2 * WORD_BITS, 0, WORD_BITS);
        let high = self.piece(sum, 2 * WORD_BITS, WORD_BITS, WORD_BITS);
        self.add(low, high, width_bits)
    }

    fn temporary(&mut self, width_bits: u32, name: &str) -> VariableId {
        let id = VariableId(self.program.variables.len() as u32);
        self.program.variables.push(Variable {
            name: name.into(),
            width_bits,
            kind: VariableKind::Temporary,
            span: self.statement.span,
        });
        id
    }

    fn emit(&mut self, operation: Operation) {
        self.program.statements.push(Statement { operation, ..self.statement.clone() });
    }
}
