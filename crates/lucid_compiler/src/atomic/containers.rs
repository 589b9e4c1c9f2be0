// SPDX-License-Identifier: Apache-2.0
//! Values that go between containers of different sizes. An ALU of Tofino reads and writes containers of one size, 8, 16
//! or 32 bits, and a sum fills a container; only a hash unit gives what it reads to a container of another size. Here
//! narrow values that are only added to wide ones become wide, and statements are marked whose values a hash unit brings.

use super::program::{AluOperator, AtomicProgram, Operand, Operation, Variable, VariableKind};
use lucid::core::arithmetic::mask;
use pisa::VariableId;
use std::collections::{BTreeMap, BTreeSet};

/// The program with marked statements, and with wide values in the place of narrow ones.
pub(super) fn sized(program: AtomicProgram) -> AtomicProgram {
    mark(widened(program))
}

/// Bits of the container for so many bits.
fn container_bits(width_bits: u32) -> u32 {
    width_bits.next_power_of_two().clamp(8, 32)
}

fn is_sum(operator: AluOperator) -> bool {
    use AluOperator::{Add, SaturatingAdd, SaturatingSubtract, Subtract};
    matches!(operator, Add | Subtract | SaturatingAdd | SaturatingSubtract)
}

fn width(program: &AtomicProgram, id: VariableId) -> u32 {
    program.variable(id).width_bits
}

/// Temporaries that are only summands of wider sums, and whose values can be made at that width: they get it.
fn widened(mut program: AtomicProgram) -> AtomicProgram {
    let mut wide = narrow_summands(&program);
    loop {
        let kept: BTreeMap<VariableId, u32> = (wide.iter())
            .filter(|(id, width_bits)| {
                program.statements.iter().all(|statement| {
                    let reads = program.reads(statement).contains(id);
                    let writes = statement.operation.writes().contains(id);
                    (!reads || reads_wide(&program, &statement.operation, **width_bits, &wide))
                        && (!writes || is_made_wide(&statement.operation))
                        && !statement.guard.variables().contains(id)
                })
            })
            .map(|(id, width_bits)| (*id, *width_bits))
            .collect();
        if kept.len() == wide.len() {
            break;
        }
        wide = kept;
    }
    for statement in &mut program.statements {
        if let Operation::Slice { to, from, low, width_bits } = statement.operation
            && let Some(wide_bits) = wide.get(&to)
        {
            let from_bits = program.variables[from.0 as usize].width_bits;
            let taken_bits = width_bits.min(program.variables[to.0 as usize].width_bits);
            let compute = |operator, right| {
                let (left, right) = (Operand::Variable(from), Operand::Constant(right));
                Operation::Compute { to, operator, left, right }
            };
            let is_top = low + taken_bits == from_bits && low > 0;
            if from_bits == *wide_bits && is_top {
                statement.operation = compute(AluOperator::ShiftRight, u128::from(low));
            } else if from_bits == *wide_bits && low == 0 {
                statement.operation = compute(AluOperator::And, mask(taken_bits));
            } else {
                statement.operation = Operation::Slice { to, from, low, width_bits: taken_bits };
            }
        }
    }
    for (id, width_bits) in wide {
        program.variables[id.0 as usize].width_bits = width_bits;
    }
    program
}

/// Temporaries that some sum of a larger container adds, and values of which such temporaries are made, by the width
/// that they need.
fn narrow_summands(program: &AtomicProgram) -> BTreeMap<VariableId, u32> {
    let mut found: BTreeMap<VariableId, u32> = BTreeMap::new();
    let is_narrow = |id: VariableId, width_bits: u32| {
        let variable = program.variable(id);
        variable.kind == VariableKind::Temporary
            && container_bits(variable.width_bits) < container_bits(width_bits)
    };
    loop {
        let before = found.len();
        for statement in &program.statements {
            let (to, operands) = match &statement.operation {
                Operation::Compute { to, operator, left, right }
                    if is_sum(*operator) || operator.is_bitwise() && found.contains_key(to) =>
                {
                    (*to, [*left, *right])
                }
                _ => continue,
            };
            let width_bits = found.get(&to).copied().unwrap_or_else(|| width(program, to));
            for id in operands.into_iter().filter_map(Operand::variable) {
                if is_narrow(id, width_bits) {
                    found.entry(id).or_insert(width_bits);
                }
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether an operation that reads a variable computes at this width, or is going to.
fn reads_wide(
    program: &AtomicProgram,
    operation: &Operation,
    width_bits: u32,
    wide: &BTreeMap<VariableId, u32>,
) -> bool {
    match operation {
        Operation::Compute { to, operator, .. } if operator.is_bitwise() => {
            wide.get(to) == Some(&width_bits)
        }
        Operation::Compute { to, operator, .. } => {
            is_sum(*operator) && width(program, *to) == width_bits
        }
        _ => false,
    }
}

/// Whether an operation can give its value at a larger width without a further step: an ALU can where the operand is
/// wide, and a hash unit otherwise.
fn is_made_wide(operation: &Operation) -> bool {
    match operation {
        Operation::Move { .. } | Operation::Slice { .. } => true,
        Operation::Compute { operator, left, right, .. } => {
            let variables = [left, right].into_iter().filter_map(|it| it.variable()).count();
            operator.is_bitwise() && variables <= 1
        }
        _ => false,
    }
}

/// Marks the statements whose value comes by a hash unit; sums that would need two such operands, and differences that
/// would need one on the right, get a statement in front that brings it.
fn mark(mut program: AtomicProgram) -> AtomicProgram {
    let summed = summed(&program);
    for mut statement in std::mem::take(&mut program.statements) {
        let Operation::Compute { to, operator, left, right } = &mut statement.operation else {
            statement.crosses = crosses(&program, &statement.operation, &summed);
            program.statements.push(statement);
            continue;
        };
        if !is_sum(*operator) {
            statement.crosses = crosses(&program, &statement.operation, &summed);
            program.statements.push(statement);
            continue;
        }
        let to_bits = width(&program, *to);
        let is_narrow = |operand: &Operand| {
            operand
                .variable()
                .is_some_and(|id| container_bits(width(&program, id)) < container_bits(to_bits))
        };
        let commutes = matches!(operator, AluOperator::Add | AluOperator::SaturatingAdd);
        if is_narrow(right) && !is_narrow(left) && commutes {
            std::mem::swap(left, right);
        }
        if is_narrow(right) {
            let brought = VariableId(program.variables.len() as u32);
            let mut first = statement.clone();
            if let Operation::Compute { right, .. } = &mut statement.operation {
                first.operation = Operation::Move { to: brought, from: *right };
                *right = Operand::Variable(brought);
            }
            first.crosses = true;
            program.variables.push(Variable {
                name: "wide".into(),
                width_bits: to_bits,
                kind: VariableKind::Temporary,
                span: statement.span,
            });
            program.statements.push(first);
        }
        if let Operation::Compute { left, .. } = &statement.operation {
            statement.crosses = left
                .variable()
                .is_some_and(|id| container_bits(width(&program, id)) < container_bits(to_bits));
        }
        program.statements.push(statement);
    }
    program
}

/// Variables that fill containers: sums and summands, and what summands of their size are made of.
fn summed(program: &AtomicProgram) -> BTreeSet<VariableId> {
    let mut found: BTreeSet<VariableId> = BTreeSet::new();
    loop {
        let before = found.len();
        for statement in &program.statements {
            let Operation::Compute { to, operator, left, right } = &statement.operation else {
                continue;
            };
            let operands = [*left, *right].into_iter().filter_map(Operand::variable);
            if is_sum(*operator) {
                found.insert(*to);
                found.extend(operands);
            } else if operator.is_bitwise() && found.contains(to) {
                let size = |id: VariableId| container_bits(width(program, id));
                found.extend(operands.filter(|id| size(*id) == size(*to)));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether an operation that computes no sum brings a value to or from a container that a sum fills.
fn crosses(program: &AtomicProgram, operation: &Operation, summed: &BTreeSet<VariableId>) -> bool {
    let size = |id: VariableId| container_bits(width(program, id));
    let (to, from, is_bitwise) = match operation {
        Operation::Move { to, from: Operand::Variable(from) } => (*to, *from, false),
        Operation::Slice { to, from, .. } => (*to, *from, false),
        Operation::Compute { to, operator, left, right } if operator.is_bitwise() => {
            match (left, right) {
                (Operand::Variable(from), Operand::Constant(_))
                | (Operand::Constant(_), Operand::Variable(from)) => (*to, *from, true),
                _ => return false,
            }
        }
        _ => return false,
    };
    let is_temporary = |id: VariableId| program.variable(id).kind == VariableKind::Temporary;
    let widens = summed.contains(&to) && is_temporary(to) && size(from) < size(to);
    let cuts = is_bitwise && summed.contains(&from) && is_temporary(from) && size(to) < size(from);
    widens || cuts
}
