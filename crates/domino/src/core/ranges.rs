// SPDX-License-Identifier: Apache-2.0
//! Ranges of values along the statements of a core program, as signed numbers. They prove that indices and shift counts
//! need no guard.

use super::{Callee, Expression, Variable};
use crate::arithmetic32;
use crate::program::Operation;
use crate::syntax::ast::{BinaryOperator, LogicalOperator, UnaryOperator};

/// The values from `low` to `high` of an `int`; a `u32` is taken as the `int` of the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest value.
    pub low: i64,
    /// The largest value.
    pub high: i64,
}

const MINIMUM: i64 = i32::MIN as i64;
const MAXIMUM: i64 = i32::MAX as i64;
const MODULUS: i64 = 1 << 32;

impl Range {
    /// All values.
    pub const ALL: Range = Range { low: MINIMUM, high: MAXIMUM };

    /// The values of a truth value.
    pub const TRUTH: Range = Range { low: 0, high: 1 };

    /// Returns the range of one value.
    pub fn of(value: u32) -> Range {
        let value = i64::from(value as i32);
        Range { low: value, high: value }
    }

    /// Returns the range from `low` to `high`; all values if a computation leaves the type.
    pub fn new(low: i64, high: i64) -> Range {
        match low >= MINIMUM && high <= MAXIMUM && low <= high {
            true => Range { low, high },
            false => Range::ALL,
        }
    }

    /// Returns the range of a function.
    pub fn of_call(callee: Callee) -> Range {
        match callee {
            Callee::Hash => Range { low: 0, high: 0xffff },
            Callee::Helper(_) => Range::ALL,
        }
    }

    /// Returns the only value.
    pub fn constant(self) -> Option<u32> {
        (self.low == self.high).then_some(self.low as i32 as u32)
    }

    /// Whether no value is negative.
    pub fn is_natural(self) -> bool {
        self.low >= 0
    }

    /// Whether all values are from 0 to below `limit`.
    pub fn is_below(self, limit: u32) -> bool {
        self.low >= 0 && self.high < i64::from(limit)
    }

    /// Whether no value is from 0 to below `limit`.
    pub fn is_never_below(self, limit: u32) -> bool {
        self.high < 0 || self.low >= i64::from(limit)
    }

    /// Whether a value is in the range.
    pub fn contains(self, value: u32) -> bool {
        (self.low..=self.high).contains(&i64::from(value as i32))
    }

    /// Returns the values as unsigned numbers.
    pub fn unsigned(self) -> (i64, i64) {
        match (self.low >= 0, self.high < 0) {
            (true, _) => (self.low, self.high),
            (_, true) => (self.low + MODULUS, self.high + MODULUS),
            _ => (0, MODULUS - 1),
        }
    }

    /// Returns the range of unsigned numbers.
    fn of_unsigned(low: i64, high: i64) -> Range {
        if low < 0 || high >= MODULUS || low > high {
            Range::ALL
        } else if high <= MAXIMUM {
            Range { low, high }
        } else if low > MAXIMUM {
            Range { low: low - MODULUS, high: high - MODULUS }
        } else {
            Range::ALL
        }
    }

    fn join(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns the values that both have; `self` if there are none.
    fn meet(self, low: i64, high: i64) -> Range {
        let met = Range { low: self.low.max(low), high: self.high.min(high) };
        if met.low <= met.high { met } else { self }
    }
}

/// The ranges of all variables at a statement, with what branches change.
#[derive(Clone, Debug)]
pub struct Ranges {
    values: Vec<Range>,
    /// Changed variables with their ranges before, in order.
    log: Vec<(Variable, Range)>,
}

impl Ranges {
    /// Returns the ranges at the beginning: nothing is known.
    pub fn new(variables: usize) -> Ranges {
        Ranges { values: vec![Range::ALL; variables], log: Vec::new() }
    }

    /// Sets the range of a variable.
    pub fn set(&mut self, variable: Variable, range: Range) {
        let before = std::mem::replace(&mut self.values[variable.index()], range);
        self.log.push((variable, before));
    }

    /// Begins a branch.
    pub fn begin(&self) -> usize {
        self.log.len()
    }

    /// Ends a branch: undoes its changes and returns them.
    pub fn end(&mut self, begin: usize) -> Vec<(Variable, Range)> {
        let mut changes = Vec::new();
        for (variable, _) in &self.log[begin..] {
            changes.push((*variable, self.values[variable.index()]));
        }
        while self.log.len() > begin {
            if let Some((variable, before)) = self.log.pop() {
                self.values[variable.index()] = before;
            }
        }
        changes
    }

    /// Joins what two branches have changed.
    pub fn join(&mut self, then: &[(Variable, Range)], otherwise: &[(Variable, Range)]) {
        let before = self.begin();
        for (variable, range) in otherwise {
            self.set(*variable, *range);
        }
        let in_otherwise: Vec<(Variable, Range)> =
            then.iter().map(|(variable, _)| (*variable, self.values[variable.index()])).collect();
        self.end(before);
        for (variable, range) in otherwise {
            self.set(*variable, range.join(self.values[variable.index()]));
        }
        for ((variable, range), (_, other)) in then.iter().zip(in_otherwise) {
            self.set(*variable, range.join(other));
        }
    }

    /// Returns the range of an expression.
    pub fn of(&mut self, expression: &Expression) -> Range {
        match expression {
            Expression::Constant(value) => Range::of(*value),
            Expression::Variable(variable) => self.values[variable.index()],
            Expression::Unary(operator, operand) => {
                let range = self.of(operand);
                match operator {
                    UnaryOperator::Plus => range,
                    UnaryOperator::Negate => Range::new(-range.high, -range.low),
                    UnaryOperator::Complement => Range::new(-1 - range.high, -1 - range.low),
                    UnaryOperator::Not => Range::TRUTH,
                }
            }
            Expression::Binary(operation, left, right, _) => {
                binary(*operation, self.of(left), self.of(right))
            }
            Expression::Logical(..) => Range::TRUTH,
            Expression::Conditional(condition, then, otherwise) => {
                let begin = self.begin();
                self.assume(condition, true);
                let then = self.of(then);
                self.end(begin);
                self.assume(condition, false);
                let otherwise = self.of(otherwise);
                self.end(begin);
                then.join(otherwise)
            }
        }
    }

    /// Takes into account that a condition holds or does not hold.
    pub fn assume(&mut self, condition: &Expression, holds: bool) {
        match condition {
            Expression::Unary(UnaryOperator::Not, operand) => self.assume(operand, !holds),
            Expression::Logical(operator, left, right) => {
                let both = match operator {
                    LogicalOperator::And => holds,
                    LogicalOperator::Or => !holds,
                };
                if both {
                    self.assume(left, holds);
                    self.assume(right, holds);
                }
            }
            Expression::Binary(operation, left, right, _) if operation.operator.is_comparison() => {
                let (left_range, right_range) = (self.of(left), self.of(right));
                let naturals = left_range.is_natural() && right_range.is_natural();
                let unsigned_bound = operation.is_unsigned && right_range.is_natural();
                if let Expression::Variable(variable) = **left {
                    let operator = negated(operation.operator, holds);
                    if !operation.is_unsigned || naturals {
                        self.compare(variable, operator, right_range);
                    } else if unsigned_bound
                        && matches!(operator, BinaryOperator::Less | BinaryOperator::LessEqual)
                    {
                        // Unsigned and below a natural bound: not negative as a signed number.
                        let met = self.values[variable.index()].meet(0, MAXIMUM);
                        self.set(variable, met);
                        self.compare(variable, operator, right_range);
                    }
                }
                if let Expression::Variable(variable) = **right
                    && (!operation.is_unsigned || naturals)
                {
                    let operator = swapped(negated(operation.operator, holds));
                    self.compare(variable, operator, left_range);
                }
            }
            Expression::Variable(variable) if !holds => self.set(*variable, Range::of(0)),
            _ => {}
        }
    }

    fn compare(&mut self, variable: Variable, operator: BinaryOperator, bound: Range) {
        let range = self.values[variable.index()];
        let met = match operator {
            BinaryOperator::Less => range.meet(MINIMUM, bound.high - 1),
            BinaryOperator::LessEqual => range.meet(MINIMUM, bound.high),
            BinaryOperator::Greater => range.meet(bound.low + 1, MAXIMUM),
            BinaryOperator::GreaterEqual => range.meet(bound.low, MAXIMUM),
            BinaryOperator::Equal => range.meet(bound.low, bound.high),
            _ => return,
        };
        self.set(variable, met);
    }
}

/// Returns the comparison that holds if `operator` holds or does not.
fn negated(operator: BinaryOperator, holds: bool) -> BinaryOperator {
    use BinaryOperator as B;
    match operator {
        _ if holds => operator,
        B::Less => B::GreaterEqual,
        B::LessEqual => B::Greater,
        B::Greater => B::LessEqual,
        B::GreaterEqual => B::Less,
        B::Equal => B::NotEqual,
        B::NotEqual => B::Equal,
        other => other,
    }
}

/// Returns the comparison with its operands exchanged.
fn swapped(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator as B;
    match operator {
        B::Less => B::Greater,
        B::LessEqual => B::GreaterEqual,
        B::Greater => B::Less,
        B::GreaterEqual => B::LessEqual,
        other => other,
    }
}

/// Returns the range of an operator's value.
fn binary(operation: Operation, left: Range, right: Range) -> Range {
    use BinaryOperator as B;
    if let (Some(left), Some(right)) = (left.constant(), right.constant()) {
        return Range::of(arithmetic32::binary(operation, left, right));
    }
    let unsigned = operation.is_unsigned;
    match operation.operator {
        B::Add => Range::new(left.low + right.low, left.high + right.high),
        B::Subtract => Range::new(left.low - right.high, left.high - right.low),
        B::Multiply => {
            let products = [
                left.low * right.low,
                left.low * right.high,
                left.high * right.low,
                left.high * right.high,
            ];
            let low = products.into_iter().min().unwrap_or(MINIMUM);
            let high = products.into_iter().max().unwrap_or(MAXIMUM);
            Range::new(low, high)
        }
        B::Divide if unsigned && !(left.is_natural() && right.is_natural()) => {
            let ((_, high), (least, _)) = (left.unsigned(), right.unsigned());
            Range::of_unsigned(0, high / least.max(1))
        }
        B::Divide => match right.low > 0 {
            true => {
                let quotients = [
                    left.low / right.low,
                    left.low / right.high,
                    left.high / right.low,
                    left.high / right.high,
                ];
                let low = quotients.into_iter().min().unwrap_or(MINIMUM);
                let high = quotients.into_iter().max().unwrap_or(MAXIMUM);
                Range::new(low, high)
            }
            false => Range::ALL,
        },
        B::Remainder if unsigned => {
            let (_, most) = right.unsigned();
            Range::of_unsigned(0, (most - 1).max(0).min(left.unsigned().1))
        }
        B::Remainder => {
            let most = right.low.abs().max(right.high.abs()) - 1;
            let most = most.max(0);
            let low = if left.is_natural() { 0 } else { (-most).max(left.low) };
            let high = if left.high < 0 { 0 } else { most.min(left.high) };
            Range::new(low, high)
        }
        B::And => match (left.is_natural(), right.is_natural()) {
            (true, true) => Range::new(0, left.high.min(right.high)),
            (true, false) => Range::new(0, left.high),
            (false, true) => Range::new(0, right.high),
            (false, false) => Range::ALL,
        },
        B::Or | B::Xor if left.is_natural() && right.is_natural() => {
            let most = left.high.max(right.high) as u64;
            Range::new(0, (most + 1).next_power_of_two() as i64 - 1)
        }
        B::Or | B::Xor => Range::ALL,
        B::ShiftLeft => Range::ALL,
        B::ShiftRight => match (right.constant(), left.is_natural()) {
            (Some(count), true) => {
                Range::new(left.low >> count.min(32), left.high >> count.min(32))
            }
            (None, true) => Range::new(0, left.high),
            (Some(count), false) if !unsigned => {
                Range::new(left.low >> count.min(31), left.high >> count.min(31))
            }
            (Some(count), false) if count > 0 => {
                let most = if count < 32 { (MODULUS - 1) >> count } else { 0 };
                Range::new(0, most)
            }
            _ if !unsigned => left.join(Range { low: -1, high: 0 }),
            _ => Range::ALL,
        },
        B::Equal | B::NotEqual | B::Less | B::Greater | B::LessEqual | B::GreaterEqual => {
            Range::TRUTH
        }
    }
}
