// SPDX-License-Identifier: Apache-2.0
//! Infers types of operators.

use super::Checker;
use super::body::DeferredCheck;
use super::checked::{Size, Type};
use super::codes;
use super::reports::snippet;
use super::signed::SignedComparison;
use crate::syntax::ast::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use source::Diagnostic;

impl Checker {
    pub(super) fn unary(&mut self, operator: UnaryOperator, operand: &Expression) -> Type {
        match operator {
            UnaryOperator::Not => {
                self.condition(operand, "the operand of `!`");
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

    /// Checks that an expression is a boolean. `what` is what it is, in a sentence.
    pub(super) fn condition(&mut self, e: &Expression, what: &str) {
        let found = self.infer(e);
        self.as_condition(e, found, what);
    }

    fn as_condition(&mut self, e: &Expression, found: Type, what: &str) {
        if self.unify(&found, &Type::Bool) {
            return;
        }
        let found = self.variables.resolve(&found);
        let shown = self.describe(&found);
        let mut diagnostic = Diagnostic::error(
            codes::TYPE_MISMATCH,
            e.span,
            format!("{what} must be `bool`, but this is {shown}"),
        );
        if let Some((place, name)) = self.declaration_of(e) {
            diagnostic = diagnostic.label(place, format!("`{name}` is {shown}"));
        }
        if matches!(found, Type::Int(_)) {
            diagnostic = diagnostic.help(format!("compare it: `{} != 0`", snippet(e)));
        }
        self.diagnostics.push(diagnostic);
    }

    /// The type of a binary expression. A chain such as `a + b + c` is followed to its first operand
    /// without recursion: chains are long.
    pub(super) fn binary_chain(&mut self, e: &Expression) -> Type {
        let mut chain = Vec::new();
        let mut first = e;
        while let ExpressionKind::Binary { operator, left, right } = &first.kind {
            chain.push((first, *operator, &**left, &**right));
            first = left;
        }
        let mut ty = self.infer(first);
        for (whole, operator, left, right) in chain.into_iter().rev() {
            let result = self.binary(whole, operator, (left, ty), right);
            // The whole is recorded by the caller.
            ty = if whole.id == e.id { result } else { self.record(whole, result) };
        }
        ty
    }

    fn binary(
        &mut self,
        e: &Expression,
        operator: BinaryOperator,
        left: (&Expression, Type),
        right: &Expression,
    ) -> Type {
        let shown = operator.symbol();
        let what = format!("an operand of `{shown}`");
        match operator {
            BinaryOperator::And | BinaryOperator::Or => {
                self.as_condition(left.0, left.1, &what);
                self.condition(right, &what);
                Type::Bool
            }
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                let (left, a) = left;
                let b = self.infer(right);
                self.at = e.span;
                if self.unify(&a, &b) {
                    self.body.later.push(DeferredCheck::Comparable { ty: a, span: left.span });
                } else {
                    self.operand_mismatch(shown, (left, right), (&a, &b), e.span);
                }
                Type::Bool
            }
            BinaryOperator::Less
            | BinaryOperator::Greater
            | BinaryOperator::LessOrEqual
            | BinaryOperator::GreaterOrEqual => {
                let first = left.0;
                if let Some(width) = self.same_width(e, shown, left, right)
                    && let Some(slip) = SignedComparison::of(operator, first, right)
                {
                    self.body.later.push(DeferredCheck::Ordered { slip, width, span: e.span });
                }
                Type::Bool
            }
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                let width = self.as_integer(left.0, left.1, &what);
                self.integer(right, &what);
                width.map_or(Type::Error, Type::Int)
            }
            BinaryOperator::Concatenate => {
                let left = self.as_integer(left.0, left.1, &what);
                match (left, self.integer(right, &what)) {
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
        (left, found): (&Expression, Type),
        right: &Expression,
    ) -> Option<Size> {
        let what = format!("an operand of `{operator}`");
        let a = self.as_integer(left, found, &what);
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
