// SPDX-License-Identifier: Apache-2.0
//! Unary and binary operators (P4_16 v1.2.5 §8.5 to §8.9, §8.10.1, §8.10.2), with `&&` and `||`
//! that leave their right operand alone when the left decides, and arithmetic of `int` values known
//! at compile time.

use super::{Lowered, Lowering, Value, bit, codes};
use crate::{BinaryOperation as Operation, Bits, Operand, Terminator, UnaryOperation, ValueType};
use num_bigint::BigInt;
use p4::ast::{BinaryOperator, Expression, UnaryOperator};
use p4::typed::Type;

impl<'a> Lowering<'a> {
    pub(super) fn unary_expression(
        &mut self,
        operator: UnaryOperator,
        inner: &'a Expression,
    ) -> Lowered<Value> {
        let value = self.evaluate(inner)?;
        if let Value::Integer(value) = &value {
            match operator {
                UnaryOperator::Minus => return Ok(Value::Integer(-value)),
                UnaryOperator::Plus => return Ok(Value::Integer(value.clone())),
                UnaryOperator::Complement => return Ok(Value::Integer(-value - 1)),
                UnaryOperator::Not => {}
            }
        }
        let operand = self.scalar(value, inner)?;
        Ok(Value::Scalar(match operator {
            UnaryOperator::Not | UnaryOperator::Complement => {
                self.unary(UnaryOperation::Not, operand)
            }
            UnaryOperator::Minus => self.unary(UnaryOperation::Negate, operand),
            UnaryOperator::Plus => operand,
        }))
    }

    pub(super) fn binary_expression(
        &mut self,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Lowered<Value> {
        if matches!(operator, BinaryOperator::And | BinaryOperator::Or) {
            return Ok(Value::Scalar(self.short_circuit(operator, left, right)?));
        }
        let left_value = self.evaluate(left)?;
        let right_value = self.evaluate(right)?;
        let left_type = self.result_type(left)?;
        let right_type = self.result_type(right)?;
        if matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
            // One side may be a list that got no type of its own.
            let left_value = self.cast(left_value, None, &left_type)?;
            let right_value = self.cast(right_value, None, &right_type)?;
            let equal = self.equal(&left_value, &right_value)?;
            return Ok(Value::Scalar(match operator {
                BinaryOperator::Equal => equal,
                _ => self.not(equal),
            }));
        }
        self.arithmetic(operator, (left_value, &left_type), (right_value, &right_type))
    }

    /// An operator that is neither `&&`, `||`, `==` nor `!=`.
    pub(crate) fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        (left, left_type): (Value, &Type),
        (right, right_type): (Value, &Type),
    ) -> Lowered<Value> {
        use BinaryOperator as B;
        let (left, right) = match (left, right) {
            (Value::Integer(left), Value::Integer(right)) => {
                return self.integer_arithmetic(operator, &left, &right);
            }
            (Value::Scalar(left), Value::Integer(right)) => {
                let width = match operator {
                    B::ShiftLeft | B::ShiftRight => 32,
                    _ => self.width(&left),
                };
                let right = match operator {
                    B::ShiftLeft | B::ShiftRight if right >= BigInt::from(u32::MAX) => {
                        BigInt::from(u32::MAX)
                    }
                    _ => right,
                };
                (left, Operand::Constant(Bits::from_bigint(width, &right)))
            }
            (Value::Integer(left), Value::Scalar(right)) => {
                let width = self.width(&right);
                (Operand::Constant(Bits::from_bigint(width, &left)), right)
            }
            (Value::Scalar(left), Value::Scalar(right)) => (left, right),
            _ => return Err(self.missing_fact("numbers as operands")),
        };
        let signed = self.is_signed(left_type) || self.is_signed(right_type);
        let by_sign = |signed_one, unsigned_one| if signed { signed_one } else { unsigned_one };
        let operation = match operator {
            B::Multiply => Operation::Multiply,
            B::Divide | B::Modulo => {
                if super::constant(&right).is_some_and(Bits::is_zero) {
                    return Err(self.error(codes::NOT_EXPRESSIBLE, "a division by zero"));
                }
                match operator {
                    B::Divide => Operation::DivideUnsigned,
                    _ => Operation::RemainderUnsigned,
                }
            }
            B::Add => Operation::Add,
            B::Subtract => Operation::Subtract,
            B::AddSaturating => {
                by_sign(Operation::AddSaturatingSigned, Operation::AddSaturatingUnsigned)
            }
            B::SubtractSaturating => {
                by_sign(Operation::SubtractSaturatingSigned, Operation::SubtractSaturatingUnsigned)
            }
            B::ShiftLeft => Operation::ShiftLeft,
            B::ShiftRight if self.is_signed(left_type) => Operation::ShiftRightArithmetic,
            B::ShiftRight => Operation::ShiftRightLogical,
            B::Less => by_sign(Operation::LessSigned, Operation::LessUnsigned),
            B::LessEqual => by_sign(Operation::LessEqualSigned, Operation::LessEqualUnsigned),
            B::Greater => {
                let less = by_sign(Operation::LessSigned, Operation::LessUnsigned);
                return Ok(Value::Scalar(self.binary(less, right, left)));
            }
            B::GreaterEqual => {
                let less = by_sign(Operation::LessEqualSigned, Operation::LessEqualUnsigned);
                return Ok(Value::Scalar(self.binary(less, right, left)));
            }
            B::BitAnd => Operation::And,
            B::BitXor => Operation::Xor,
            B::BitOr => Operation::Or,
            B::Concat => {
                let width = self.width(&left).saturating_add(self.width(&right));
                if width > crate::MAX_WIDTH_BITS {
                    return Err(self.error(codes::TOO_WIDE, format!("the result has {width} bits")));
                }
                Operation::Concat
            }
            B::Equal | B::NotEqual | B::And | B::Or => {
                return Err(self.missing_fact("an arithmetic operator"));
            }
        };
        Ok(Value::Scalar(self.binary(operation, left, right)))
    }

    fn integer_arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: &BigInt,
        right: &BigInt,
    ) -> Lowered<Value> {
        use BinaryOperator as B;
        let zero = BigInt::ZERO;
        let amount = u32::try_from(right).ok().filter(|amount| *amount <= crate::MAX_WIDTH_BITS);
        let value = match operator {
            B::Add => left + right,
            B::Subtract => left - right,
            B::Multiply => left * right,
            B::Divide if *right != zero => left / right,
            B::Modulo if *right != zero => left % right,
            B::BitAnd => left & right,
            B::BitOr => left | right,
            B::BitXor => left ^ right,
            B::ShiftLeft | B::ShiftRight => match (amount, operator) {
                (Some(amount), B::ShiftLeft) => left << amount,
                (Some(amount), _) => left >> amount,
                (None, _) => {
                    return Err(self.error(codes::TOO_WIDE, "this shifts too far"));
                }
            },
            B::Less => return Ok(Value::Scalar(bit(left < right))),
            B::LessEqual => return Ok(Value::Scalar(bit(left <= right))),
            B::Greater => return Ok(Value::Scalar(bit(left > right))),
            B::GreaterEqual => return Ok(Value::Scalar(bit(left >= right))),
            _ => {
                return Err(self.error(
                    codes::NOT_EXPRESSIBLE,
                    "this operation on numbers without width has no result",
                ));
            }
        };
        Ok(Value::Integer(value))
    }

    /// `&&` and `||` (§8.5): the right operand is evaluated only when the left does not decide.
    fn short_circuit(
        &mut self,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Lowered<Operand> {
        let is_and = operator == BinaryOperator::And;
        let first = self.operand(left)?;
        if let Some(known) = super::constant(&first) {
            return if known.is_true() == is_and { self.operand(right) } else { Ok(first) };
        }
        if self.is_pure(right) {
            let second = self.operand(right)?;
            return Ok(if is_and { self.and(first, second) } else { self.or(first, second) });
        }
        let name = self.local_name("$condition");
        let slot = self.add_slot(&name, ValueType::Bits(1), crate::Display::Bool);
        self.store_slot(slot, first.clone());
        let more = self.new_block("");
        let end = self.new_block("");
        let (then, otherwise) = if is_and { (more, end) } else { (end, more) };
        self.terminate(Terminator::Branch { condition: first, then, otherwise });
        self.start_block(more);
        let second = self.operand(right)?;
        self.store_slot(slot, second);
        self.goto_and_start(end);
        Ok(self.load_slot(slot))
    }
}
