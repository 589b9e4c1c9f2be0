// SPDX-License-Identifier: Apache-2.0
//! Expressions as pieces, with parentheses where an operand binds less tightly than its context needs.

use super::emitter::Emitter;
use crate::ast::{Expression, ExpressionKind, UnaryOperator};
use crate::format::pieces::Role;
use crate::parser::operators::{
    self, CONDITIONAL, LOOSEST_BINARY, POSTFIX, PREFIX, Precedence, binary_token,
};
use crate::token::TokenKind as T;
use num_bigint::{BigInt, Sign};

/// The loosest place: any expression stands there without parentheses.
const ANYTHING: Precedence = 0;

impl Emitter {
    pub(super) fn expression(&mut self, expression: &Expression) {
        self.operand(expression, ANYTHING);
    }

    /// Emits an expression where one that binds at least as tightly as `needed` must stand.
    pub(super) fn operand(&mut self, expression: &Expression, needed: Precedence) {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
            if tightness(expression) < needed {
                self.token(T::OpenParen);
                self.bare(expression);
                self.token(T::CloseParen);
            } else {
                self.bare(expression);
            }
        });
    }

    fn bare(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Integer { value, width } => self.integer(value, *width),
            ExpressionKind::Bool(true) => self.token(T::True),
            ExpressionKind::Bool(false) => self.token(T::False),
            ExpressionKind::String(text) => self.string(text),
            ExpressionKind::Path(path) => self.path(path),
            ExpressionKind::Type(ty) => self.type_ref(ty),
            ExpressionKind::ErrorType => self.token(T::Error),
            ExpressionKind::This => self.token(T::This),
            ExpressionKind::Dots => self.token(T::Dots),
            ExpressionKind::Default => self.token(T::Default),
            ExpressionKind::DontCare => self.token(T::Underscore),
            ExpressionKind::InvalidHeader => self.token(T::InvalidHeader),
            ExpressionKind::List(elements) => {
                self.role(T::OpenBrace, Role::ListOpen);
                self.comma_list(elements, Self::expression);
                self.token(T::CloseBrace);
            }
            ExpressionKind::Struct { fields, rest } => {
                self.role(T::OpenBrace, Role::ListOpen);
                self.comma_list(fields, |emitter, (name, value)| {
                    emitter.name(name);
                    emitter.token(T::Assign);
                    emitter.expression(value);
                });
                if *rest {
                    if !fields.is_empty() {
                        self.token(T::Comma);
                    }
                    self.token(T::Dots);
                }
                self.token(T::CloseBrace);
            }
            ExpressionKind::Unary(operator, operand) => {
                self.role(unary_token(*operator), Role::Unary);
                self.operand(operand, PREFIX);
            }
            ExpressionKind::Binary(operator, left, right) => {
                let strength = operators::precedence(*operator);
                self.operand(left, strength);
                self.role(binary_token(*operator), Role::Binary);
                self.operand(right, strength + 1);
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                self.operand(condition, LOOSEST_BINARY);
                self.role(T::Question, Role::Binary);
                self.operand(then, LOOSEST_BINARY);
                self.role(T::Colon, Role::ConditionalColon);
                self.operand(otherwise, LOOSEST_BINARY);
            }
            ExpressionKind::Cast(ty, operand) => {
                self.token(T::OpenParen);
                self.type_ref(ty);
                self.role(T::CloseParen, Role::CastClose);
                self.operand(operand, PREFIX);
            }
            ExpressionKind::Member(base, member) => {
                self.operand(base, POSTFIX);
                self.role(T::Dot, Role::Plain);
                self.name(member);
            }
            ExpressionKind::Index(base, index) => {
                self.operand(base, POSTFIX);
                self.token(T::OpenBracket);
                self.expression(index);
                self.token(T::CloseBracket);
            }
            ExpressionKind::Slice { base, high, low } => {
                self.operand(base, POSTFIX);
                self.token(T::OpenBracket);
                self.expression(high);
                self.role(T::Colon, Role::SliceColon);
                self.expression(low);
                self.token(T::CloseBracket);
            }
            ExpressionKind::PlusSlice { base, low, width } => {
                self.operand(base, POSTFIX);
                self.token(T::OpenBracket);
                self.expression(low);
                self.token(T::PlusColon);
                self.expression(width);
                self.token(T::CloseBracket);
            }
            ExpressionKind::Call(call) => {
                self.operand(&call.callee, POSTFIX);
                self.angles(&call.type_arguments, Self::type_ref);
                self.arguments(&call.arguments);
            }
            ExpressionKind::Mask(value, mask) => {
                self.expression(value);
                self.role(T::Mask, Role::Binary);
                self.expression(mask);
            }
            ExpressionKind::Range(low, high) => {
                self.expression(low);
                self.role(T::Range, Role::Binary);
                self.expression(high);
            }
            ExpressionKind::TupleKeyset(elements) => {
                self.token(T::OpenParen);
                self.comma_list(elements, Self::expression);
                self.token(T::CloseParen);
            }
            ExpressionKind::Extension(extension) => self.extension(extension),
            ExpressionKind::Invalid => {
                self.text(T::Identifier, "invalid_expression".to_owned());
            }
        }
    }

    /// A number; a negative one of a signed width is written by the bits it has.
    fn integer(&mut self, value: &BigInt, width: Option<(u32, bool)>) {
        let text = match width {
            None => value.to_string(),
            Some((bits, signed)) => {
                let letter = if signed { 's' } else { 'w' };
                let shown = if value.sign() == Sign::Minus && value.bits() <= u64::from(bits) {
                    value + (BigInt::from(1) << bits)
                } else {
                    value.clone()
                };
                format!("{bits}{letter}{shown}")
            }
        };
        self.text(T::Integer, text);
    }
}

/// How tightly an expression holds together.
fn tightness(expression: &Expression) -> Precedence {
    match &expression.kind {
        ExpressionKind::Mask(..) | ExpressionKind::Range(..) => ANYTHING,
        ExpressionKind::Conditional(..) => CONDITIONAL,
        ExpressionKind::Binary(operator, ..) => operators::precedence(*operator),
        ExpressionKind::Unary(..) | ExpressionKind::Cast(..) => PREFIX,
        ExpressionKind::Integer { value, width: None } if value.sign() == Sign::Minus => PREFIX,
        _ => POSTFIX,
    }
}

fn unary_token(operator: UnaryOperator) -> T {
    match operator {
        UnaryOperator::Not => T::Not,
        UnaryOperator::Complement => T::Tilde,
        UnaryOperator::Minus => T::Minus,
        UnaryOperator::Plus => T::Plus,
    }
}
