// SPDX-License-Identifier: Apache-2.0
//! Explicit casts `(T) e` (P4_16 v1.2.5 §8.12.1).

use super::Checker;
use crate::ast::{Expression, ExpressionKind, TypeRef};
use crate::codes::typing as codes;
use crate::typed::{Constant, Type, TypeKind};
use num_traits::{One, Zero};
use source::Diagnostic;

impl<'a> Checker<'a> {
    pub(super) fn synthesize_cast(
        &mut self,
        expression: &'a Expression,
        written: &'a TypeRef,
        value: &'a Expression,
    ) -> Type {
        let to = self.resolve_type(written);
        let from = self.synthesize(value);
        if matches!(&*to, TypeKind::Unknown) || matches!(&*from, TypeKind::Unknown) {
            return to;
        }
        if !self.may_be_cast_to(&to) {
            let shown = self.show(&to);
            self.error(
                codes::INVALID_CAST,
                written.span,
                format!("nothing can be cast to type `{shown}`"),
            );
            return self.known.unknown.clone();
        }
        match &value.kind {
            ExpressionKind::List(_) | ExpressionKind::Struct { .. } => {
                let fits = self.coerce(value, &to, "the cast");
                self.copy_constant(expression, value);
                return if fits { to } else { self.known.unknown.clone() };
            }
            ExpressionKind::InvalidHeader | ExpressionKind::Dots => {
                let fits = self.coerce(value, &to, "the cast");
                self.copy_constant(expression, value);
                return if fits { to } else { self.known.unknown.clone() };
            }
            _ => {}
        }
        if let Some(Constant::Integer(number)) = self.constant(value)
            && matches!(&*to, TypeKind::Bool)
            && !number.is_zero()
            && !number.is_one()
        {
            self.error(codes::INVALID_CAST, expression.span, "only 0 and 1 can be cast to `bool`");
            return to;
        }
        if !self.casts_explicitly(&from, &to) {
            let (from_shown, to_shown) = (self.show(&from), self.show(&to));
            let mut diagnostic = Diagnostic::error(
                codes::INVALID_CAST,
                expression.span,
                format!("`{from_shown}` cannot be cast to `{to_shown}`"),
            );
            if let (TypeKind::Bit(width), TypeKind::Int(_)) = (&*from, &*to) {
                diagnostic = diagnostic.help(format!(
                    "change sign and width one after the other: `({to_shown}) (int<{width}>) ...`"
                ));
            } else if let (TypeKind::Int(width), TypeKind::Bit(_)) = (&*from, &*to) {
                diagnostic = diagnostic.help(format!(
                    "change sign and width one after the other: `({to_shown}) (bit<{width}>) ...`"
                ));
            }
            self.report(diagnostic);
            return self.known.unknown.clone();
        }
        if matches!(&*from, TypeKind::Integer) {
            self.warn_if_truncated(value, &self.representation(&to));
        }
        if let Some(constant) = self.constant(value)
            && let Some(converted) = self.convert_constant(constant, &to)
        {
            self.set_constant(expression, converted);
        }
        to
    }

    fn copy_constant(&mut self, expression: &'a Expression, value: &'a Expression) {
        if let Some(constant) = self.constant(value).cloned() {
            self.set_constant(expression, constant);
        }
    }

    fn may_be_cast_to(&self, to: &Type) -> bool {
        !matches!(
            &**to,
            TypeKind::Void
                | TypeKind::MatchKind
                | TypeKind::Varbit(_)
                | TypeKind::Extern(..)
                | TypeKind::Parser(..)
                | TypeKind::Control(..)
                | TypeKind::Package(..)
                | TypeKind::DontCare
        )
    }

    fn casts_explicitly(&self, from: &Type, to: &Type) -> bool {
        if from == to {
            return true;
        }
        match (&**from, &**to) {
            (TypeKind::Unknown, _) | (_, TypeKind::Unknown) => true,
            (TypeKind::Bit(1), TypeKind::Bool) | (TypeKind::Bool, TypeKind::Bit(1)) => true,
            (TypeKind::Integer, TypeKind::Bool) => true,
            (TypeKind::Bit(_), TypeKind::Bit(_)) | (TypeKind::Int(_), TypeKind::Int(_)) => true,
            (TypeKind::Bit(a), TypeKind::Int(b)) | (TypeKind::Int(a), TypeKind::Bit(b)) => a == b,
            (TypeKind::Integer, TypeKind::Bit(_) | TypeKind::Int(_)) => true,
            (TypeKind::Bit(_) | TypeKind::Int(_), TypeKind::Integer) => true,
            // Between a new type and its original type only; further casts are written out.
            (TypeKind::NewType(node), _) if self.underlying.get(node) == Some(to) => true,
            (_, TypeKind::NewType(node)) => self.underlying.get(node).is_some_and(|under| {
                under == from
                    || (matches!(&**from, TypeKind::Integer)
                        && matches!(&*self.representation(to), TypeKind::Bit(_) | TypeKind::Int(_)))
            }),
            (TypeKind::SerializableEnum(node), _)
                if self
                    .underlying
                    .get(node)
                    .is_some_and(|under| self.casts_explicitly(under, to)) =>
            {
                true
            }
            (
                TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Integer,
                TypeKind::SerializableEnum(node),
            ) => {
                // §8.12.1: from the underlying type; widths change in a cast of their own.
                matches!(&**from, TypeKind::Integer) || self.underlying.get(node) == Some(from)
            }
            // A tuple that already has a type (§8.13).
            (TypeKind::Tuple(_), TypeKind::Tuple(_)) => false,
            _ => false,
        }
    }
}
