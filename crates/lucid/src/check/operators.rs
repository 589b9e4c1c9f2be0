// SPDX-License-Identifier: Apache-2.0
//! Types of operators.

use super::Checker;
use super::body::Later;
use super::checked::{Size, Type};
use super::reports::{Why, show_operator};
use crate::syntax::ast::{BinaryOperator, Expression, UnaryOperator};

impl Checker {
    pub(super) fn unary(&mut self, operator: UnaryOperator, operand: &Expression) -> Type {
        match operator {
            UnaryOperator::Not => {
                self.condition(operand, "`!`");
                Type::Bool
            }
            UnaryOperator::BitNot => self.int_of(operand, "the operand of `~`"),
            UnaryOperator::Negate => self.int_of(operand, "the operand of `-`"),
        }
    }

    fn int_of(&mut self, operand: &Expression, what: &str) -> Type {
        match self.integer(operand, what) {
            Some(width) => Type::Int(width),
            None => Type::Error,
        }
    }

    /// Checks that an expression is a boolean, for what needs one.
    pub(super) fn condition(&mut self, e: &Expression, what: &str) {
        let found = self.infer(e);
        if !self.unify(&found, &Type::Bool) {
            let why = Why::new(e.span, format!("{what} needs {{}}"));
            self.expression_mismatch(e, &found, &Type::Bool, Some(&why));
        }
    }

    pub(super) fn binary(
        &mut self,
        e: &Expression,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Type {
        let shown = show_operator(operator);
        let what = format!("an operand of `{shown}`");
        match operator {
            BinaryOperator::And | BinaryOperator::Or => {
                let what = format!("`{shown}`");
                self.condition(left, &what);
                self.condition(right, &what);
                Type::Bool
            }
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                let (a, b) = (self.infer(left), self.infer(right));
                self.at = e.span;
                if self.unify(&a, &b) {
                    self.body.later.push(Later::Comparable { ty: a, span: left.span });
                } else {
                    self.operand_mismatch(shown, (left, right), (&a, &b), e.span);
                }
                Type::Bool
            }
            BinaryOperator::Less
            | BinaryOperator::Greater
            | BinaryOperator::LessOrEqual
            | BinaryOperator::GreaterOrEqual => {
                self.same_width(e, shown, left, right);
                Type::Bool
            }
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                let width = self.integer(left, &what);
                self.integer(right, &what);
                width.map_or(Type::Error, Type::Int)
            }
            BinaryOperator::Concatenate => {
                let (left, right) = (self.integer(left, &what), self.integer(right, &what));
                match (left, right) {
                    (Some(left), Some(right)) => Type::Int(left.plus(&right)),
                    _ => Type::Error,
                }
            }
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::SaturatingAdd
            | BinaryOperator::SaturatingSubtract
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor => {
                self.same_width(e, shown, left, right).map_or(Type::Error, Type::Int)
            }
        }
    }

    /// Two integers of one width.
    fn same_width(
        &mut self,
        e: &Expression,
        operator: &str,
        left: &Expression,
        right: &Expression,
    ) -> Option<Size> {
        let what = format!("an operand of `{operator}`");
        let a = self.integer(left, &what);
        let b = self.integer(right, &what);
        let (Some(a), Some(b)) = (a.clone(), b.clone()) else { return a.or(b) };
        self.at = e.span;
        if self.unify_sizes(&a, &b) {
            return Some(a);
        }
        let types = (Type::Int(a), Type::Int(b));
        self.operand_mismatch(operator, (left, right), (&types.0, &types.1), e.span);
        None
    }
}
