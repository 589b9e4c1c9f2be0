// SPDX-License-Identifier: Apache-2.0
//! Sums in cells that hardware makes wider than the program has them. A stateful ALU computes at the width of
//! hardware, and one ALU cannot cut a sum. Where no access compares a cell, its upper bits may be anything, and what
//! reads it cuts it. Where one does, they stay zero: a sum with a constant wraps around by a condition of its own.

use super::memops;
use crate::atomic::program::{MemoryAccess, MemoryUse, Operand, RegisterAction};
use lucid::core::arithmetic::mask;
use lucid::core::walk::{each_expression, each_expression_mut};
use lucid::core::{
    Constant, Expression, ExpressionKind, LocalId, MemopBody, MemopId, Program, Type,
};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};

/// The cell in a memop of two arguments.
const CELL: LocalId = LocalId(0);

/// Whether cells of an array may hold anything above the program's width.
pub(super) fn are_loose(program: &Program, actions: &[RegisterAction]) -> bool {
    let mut sums = false;
    for action in actions {
        let MemoryAccess::Simple { get, set } = &action.access else { return false };
        for side in [get, set].into_iter().flatten() {
            match side {
                MemoryUse::Old | MemoryUse::Value(_) => {}
                MemoryUse::Add(_) => sums = true,
                MemoryUse::Memop(id, _) => match body(program, *id) {
                    Some(MemopBody::Return(value)) if depends_on_low_bits(value) => {
                        sums |= !memops::ignores_width(value);
                    }
                    _ => return false,
                },
            }
        }
    }
    sums
}

fn body(program: &Program, id: MemopId) -> Option<&MemopBody> {
    program.memops.get(id.0 as usize).map(|memop| &memop.body)
}

/// Whether low bits of the result depend on as many low bits of the operands.
fn depends_on_low_bits(expression: &Expression) -> bool {
    let mut all = true;
    each_expression(expression, &mut |one| {
        all &= match &one.kind {
            ExpressionKind::Constant(_) | ExpressionKind::Local(_) => true,
            ExpressionKind::Unary(UnaryOperator::BitNot | UnaryOperator::Negate, _) => true,
            ExpressionKind::Binary(operator, ..) => matches!(
                operator,
                BinaryOperator::Add
                    | BinaryOperator::Subtract
                    | BinaryOperator::BitAnd
                    | BinaryOperator::BitOr
                    | BinaryOperator::BitXor
            ),
            _ => false,
        };
    });
    all
}

/// A value of a memop, with the constant that its argument is.
pub(super) fn with_argument(value: &Expression, argument: Operand) -> Expression {
    let mut value = value.clone();
    let Operand::Constant(constant) = argument else { return value };
    each_expression_mut(&mut value, &mut |one| {
        if let (ExpressionKind::Local(id), Type::Int(width_bits)) = (&one.kind, one.ty)
            && *id != CELL
        {
            one.kind = ExpressionKind::Constant(Constant::Int(constant, width_bits));
        }
    });
    value
}

/// A value at the width of hardware with zeros above the program's width.
#[derive(Clone, Debug)]
pub(super) struct Wrapped {
    /// Where the sum wraps around, and what it is there.
    pub(super) around: Option<(Expression, Expression)>,
    /// What it is elsewhere.
    pub(super) value: Expression,
}

/// A value of cells of a width in those of a greater one; `None` for one that takes more than an ALU and a comparison.
pub(super) fn wrapped(value: &Expression, width_bits: u32, physical_bits: u32) -> Option<Wrapped> {
    let ty = Type::Int(physical_bits);
    if memops::ignores_width(value) {
        return Some(Wrapped { around: None, value: memops::at_width(value, physical_bits) });
    }
    let ExpressionKind::Binary(operator, left, right) = &value.kind else { return None };
    let all = mask(width_bits);
    let constant = |of: &Expression| match of.kind {
        ExpressionKind::Constant(Constant::Int(value, _)) => Some(value & all),
        _ => None,
    };
    let is_cell = |of: &Expression| matches!(of.kind, ExpressionKind::Local(CELL));
    let span = value.span;
    let cell = || Expression::local(CELL, ty, span);
    let int = |value: u128| Expression::int(value, physical_bits, span);
    let binary = |operator, left, right| Expression::binary(operator, left, right, ty, span);
    let compare =
        |operator, right| Expression::binary(operator, cell(), int(right), Type::Bool, span);
    let made = |when, around, value| Some(Wrapped { around: Some((when, around)), value });
    use BinaryOperator::{Add, Equal, Greater, Less, Subtract};
    match (operator, constant(left), constant(right)) {
        (Add, None, Some(0)) | (Add, Some(0), None) | (Subtract, None, Some(0)) => {
            let kept = if constant(left).is_some() { right } else { left };
            is_cell(kept).then(|| Wrapped { around: None, value: cell() })
        }
        (Add, None, Some(by)) | (Add, Some(by), None) => {
            let summand = if constant(left).is_some() { right } else { left };
            if !is_cell(summand) {
                return None;
            }
            let sum = binary(Add, cell(), int(by));
            match by {
                1 => made(compare(Equal, all), int(0), sum),
                _ => {
                    let less = binary(Subtract, cell(), int(all + 1 - by));
                    made(compare(Greater, all - by), less, sum)
                }
            }
        }
        (Subtract, None, Some(by)) if is_cell(left) => {
            let difference = binary(Subtract, cell(), int(by));
            match by {
                1 => made(compare(Equal, 0), int(all), difference),
                _ => {
                    let more = binary(Add, cell(), int(all + 1 - by));
                    made(compare(Less, by), more, difference)
                }
            }
        }
        (Subtract, Some(from), None) if is_cell(right) => {
            let difference = binary(Subtract, int(from), cell());
            if from == all {
                return Some(Wrapped { around: None, value: difference });
            }
            made(compare(Greater, from), binary(Subtract, int(from + all + 1), cell()), difference)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lucid::core::arithmetic::{integer_binary, integer_comparison};
    use source::Span;

    fn evaluate(value: &Expression, cell: u128) -> u128 {
        match &value.kind {
            ExpressionKind::Constant(Constant::Int(value, _)) => *value,
            ExpressionKind::Local(CELL) => cell,
            ExpressionKind::Binary(operator, left, right) => {
                let (left, right) = (evaluate(left, cell), evaluate(right, cell));
                let Type::Int(width_bits) = value.ty else {
                    let truth = integer_comparison(*operator, left, right);
                    return u128::from(truth.expect("a comparison"));
                };
                integer_binary(*operator, left, right, width_bits, width_bits).expect("a sum")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sums_of_cells_of_all_widths_wrap_around() {
        let mut compared = 0;
        for width_bits in 1..6 {
            let ty = Type::Int(width_bits);
            for constant in 0..1 << width_bits {
                let cell = || Expression::local(CELL, ty, Span::NONE);
                let constant = || Expression::int(constant, width_bits, Span::NONE);
                for (operator, left, right) in [
                    (BinaryOperator::Add, cell(), constant()),
                    (BinaryOperator::Add, constant(), cell()),
                    (BinaryOperator::Subtract, cell(), constant()),
                    (BinaryOperator::Subtract, constant(), cell()),
                ] {
                    let value = Expression::binary(operator, left, right, ty, Span::NONE);
                    let made = wrapped(&value, width_bits, 8).expect("a sum with a constant");
                    for cell in 0..1 << width_bits {
                        let around = made.around.as_ref();
                        let taken = around.filter(|(when, _)| evaluate(when, cell) == 1);
                        let got = evaluate(taken.map_or(&made.value, |(_, value)| value), cell);
                        assert_eq!(got, evaluate(&value, cell), "{value:?} of {cell}");
                        compared += 1;
                    }
                }
            }
        }
        assert_eq!(compared, 4 * (4 + 16 + 64 + 256 + 1024));
    }
}
