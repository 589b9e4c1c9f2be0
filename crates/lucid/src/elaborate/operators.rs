// SPDX-License-Identifier: Apache-2.0
//! Elaborates operators and hashes on values: comparisons of records and vectors become comparisons of
//! their parts, and arguments of hashes are flattened.

use super::builder::Builder;
use super::fold;
use super::values::Value;
use super::{Elaborated, Elaborator, Scope, codes};
use crate::check::{Builtin, Definition};
use crate::core::{Expression, ExpressionKind, MAX_INTEGER_BITS, Type, type_text};
use crate::syntax::ast::{self, BinaryOperator, ExpressionKind as Source};
use source::{Diagnostic, Span};

/// Bits of the internet checksum.
const CHECKSUM_BITS: u32 = 16;

impl<'a> Elaborator<'a> {
    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: Value,
        right: Value,
        span: Span,
        builder: &Builder,
    ) -> Elaborated<Value> {
        if let (Value::Scalar(_), Value::Scalar(_)) = (&left, &right) {
            let (left, right) = (self.as_scalar(left, span)?, self.as_scalar(right, span)?);
            return Ok(Value::Scalar(self.binary_scalar(operator, left, right, span, builder)?));
        }
        let (equal, join) = match operator {
            BinaryOperator::Equal => (true, BinaryOperator::And),
            BinaryOperator::NotEqual => (false, BinaryOperator::Or),
            _ => return Err(self.internal(span, "an operator between records or vectors")),
        };
        let (left, right) = (left.leaves(), right.leaves());
        if left.len() != right.len() {
            return Err(self.internal(span, "a comparison of different types"));
        }
        let mut parts = Vec::with_capacity(left.len());
        for (left, right) in left.into_iter().zip(right) {
            match (left, right) {
                (Value::Scalar(left), Value::Scalar(right)) => {
                    let (left, right) = (left.clone(), right.clone());
                    parts.push(self.binary_scalar(operator, left, right, span, builder)?);
                }
                _ => return Err(self.not_comparable("globals and memops", span, builder)),
            }
        }
        Ok(Value::Scalar(fold::joined(join, parts, equal, span)))
    }

    fn not_comparable(&mut self, what: &str, span: Span, builder: &Builder) -> super::Reported {
        let message = format!("{what} cannot be compared");
        self.report_in(builder, Diagnostic::error(codes::OPERAND, span, message))
    }

    fn binary_scalar(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        span: Span,
        builder: &Builder,
    ) -> Elaborated<Expression> {
        use BinaryOperator as B;
        let ty = match operator {
            B::Equal | B::NotEqual => {
                match left.ty {
                    Type::Int(_) | Type::Bool | Type::Group => {}
                    Type::Event => return Err(self.not_comparable("events", span, builder)),
                    Type::Payload => return Err(self.not_comparable("payloads", span, builder)),
                }
                Type::Bool
            }
            B::Less | B::Greater | B::LessOrEqual | B::GreaterOrEqual | B::And | B::Or => {
                Type::Bool
            }
            B::Concatenate => match (left.ty, right.ty) {
                (Type::Int(upper), Type::Int(lower)) => {
                    let width = upper + lower;
                    if width > MAX_INTEGER_BITS {
                        self.width_of(u128::from(width), span)?;
                    }
                    Type::Int(width)
                }
                _ => return Err(self.internal(span, "a concatenation of no integers")),
            },
            B::Add
            | B::Subtract
            | B::SaturatingAdd
            | B::SaturatingSubtract
            | B::BitAnd
            | B::BitOr
            | B::BitXor
            | B::ShiftLeft
            | B::ShiftRight => left.ty,
        };
        Ok(Expression::binary(operator, left, right, ty, span))
    }

    /// `hash<w>(seed, a, b)`, and the checksum that it is with the seed `checksum`.
    pub(super) fn hash(
        &mut self,
        expression: &'a ast::Expression,
        arguments: &'a [ast::Expression],
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = expression.span;
        let width = self.expression_width(expression, scope)?;
        let Some((seed, arguments)) = arguments.split_first() else {
            return Err(self.internal(span, "a hash without a seed"));
        };
        let is_checksum = match &seed.kind {
            Source::Name(path) => {
                matches!(self.definition(path)?, Definition::Builtin(Builtin::Checksum))
            }
            _ => false,
        };
        let seed = if is_checksum { None } else { Some(self.scalar(seed, scope, builder)?) };
        let mut operands = Vec::new();
        for argument in arguments {
            let value = self.expression(argument, scope, builder)?;
            for leaf in value.leaves() {
                match leaf {
                    Value::Scalar(leaf) if matches!(leaf.ty, Type::Int(_) | Type::Bool) => {
                        operands.push(leaf.clone());
                    }
                    other => {
                        let what = describe(other);
                        let message = format!("{what} cannot be hashed");
                        let diagnostic = Diagnostic::error(codes::OPERAND, argument.span, message);
                        let help = "hash integers, booleans, and records and vectors of them";
                        return Err(self.report_in(builder, diagnostic.help(help)));
                    }
                }
            }
        }
        let value = match seed {
            Some(seed) => {
                let kind = ExpressionKind::Hash { seed: Box::new(seed), arguments: operands };
                Expression { kind, ty: Type::Int(width), span }
            }
            None => {
                let kind = ExpressionKind::Checksum { arguments: operands };
                let whole = Expression { kind, ty: Type::Int(CHECKSUM_BITS), span };
                Expression::cast(whole, width, span)
            }
        };
        Ok(Value::Scalar(value))
    }
}

/// Describes the values of a type for messages.
pub(super) fn describe_type(ty: Type) -> String {
    match ty {
        Type::Event => "an event".to_owned(),
        Type::Group => "a group".to_owned(),
        Type::Payload => "a payload".to_owned(),
        Type::Bool => "a boolean".to_owned(),
        Type::Int(_) => format!("an `{}`", type_text(ty)),
    }
}

/// Describes a value for messages.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Scalar(expression) => describe_type(expression.ty),
        Value::Record(_) => "a record".to_owned(),
        Value::Vector(_) => "a vector".to_owned(),
        Value::Tuple(_) => "a tuple".to_owned(),
        Value::Global(_) | Value::New(_) => "a global".to_owned(),
        Value::Memop(_) => "a memop".to_owned(),
        Value::Action(_) => "an action".to_owned(),
        Value::Pattern { .. } => "a pattern".to_owned(),
        Value::Text(_) => "a text".to_owned(),
        Value::Bitstring => "the unread bits of a packet".to_owned(),
        Value::Void => "nothing".to_owned(),
    }
}
