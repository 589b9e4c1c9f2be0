// SPDX-License-Identifier: Apache-2.0
//! Comparisons, conditions and `?:` (P4_16 v1.2.5 §8.2 to §8.9, §8.5.1, §8.13, §8.17 to §8.21).
//! Arithmetic is in `operators`.

use super::Checker;
use super::operators::is_number;
use crate::ast::{BinaryOperator, Expression, ExpressionKind};
use crate::codes::typing as codes;
use crate::typed::{Constant, Type, TypeKind};
use source::Diagnostic;

impl<'a> Checker<'a> {
    pub(super) fn type_equality(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        (left, left_type): (&'a Expression, Type),
        (right, right_type): (&'a Expression, Type),
    ) {
        let literal = |expression: &Expression| {
            matches!(
                expression.kind,
                ExpressionKind::List(_)
                    | ExpressionKind::Struct { .. }
                    | ExpressionKind::InvalidHeader
                    | ExpressionKind::Dots
                    | ExpressionKind::Default
            )
        };
        let (common, fits) = if literal(right) && !literal(left) {
            (left_type.clone(), self.coerce(right, &left_type, "the right side"))
        } else if literal(left) && !literal(right) {
            (right_type.clone(), self.coerce(left, &right_type, "the left side"))
        } else if literal(left) && literal(right) {
            // Fields by name need a type to compare them in.
            let same = self.unify(&left_type, &right_type)
                && matches!(
                    (&left.kind, &right.kind),
                    (ExpressionKind::List(_), ExpressionKind::List(_))
                );
            if !same {
                self.report_different(
                    expression,
                    operator,
                    (left, &left_type),
                    (right, &right_type),
                );
            }
            (left_type.clone(), same)
        } else if left_type == right_type {
            (left_type.clone(), true)
        } else {
            let left_number = self.enum_or_number(&left_type);
            let right_number = self.enum_or_number(&right_type);
            match (left_number, right_number) {
                (Some(_), Some(_)) => {
                    match self.common_number(
                        expression,
                        operator,
                        (left, left_type.clone()),
                        (right, right_type.clone()),
                    ) {
                        Some(ty) => (ty, true),
                        None => return,
                    }
                }
                _ => {
                    if self.has_variables(&left_type) || self.has_variables(&right_type) {
                        (left_type.clone(), self.unify(&left_type, &right_type))
                    } else {
                        self.report_different(
                            expression,
                            operator,
                            (left, &left_type),
                            (right, &right_type),
                        );
                        return;
                    }
                }
            }
        };
        if !fits {
            return;
        }
        if !self.is_comparable(&common) {
            let shown = self.show(&common);
            self.error(
                codes::INVALID_OPERAND,
                expression.span,
                format!("values of type `{shown}` cannot be compared"),
            );
            return;
        }
        self.fold_binary(expression, operator, (left, &common), (right, &common));
        self.warn_constant_comparison(expression, operator, (left, right), &common);
    }

    pub(super) fn enum_or_number(&self, ty: &Type) -> Option<()> {
        (is_number(ty) || matches!(&**ty, TypeKind::SerializableEnum(_))).then_some(())
    }

    pub(super) fn is_comparable(&self, ty: &Type) -> bool {
        match &**ty {
            TypeKind::Void
            | TypeKind::String
            | TypeKind::Extern(..)
            | TypeKind::Parser(..)
            | TypeKind::Control(..)
            | TypeKind::Package(..)
            | TypeKind::Table(_)
            | TypeKind::ApplyResult(_)
            | TypeKind::ActionRun(_)
            | TypeKind::Action(_)
            | TypeKind::Function
            | TypeKind::Set(_)
            | TypeKind::Variable(_)
            | TypeKind::DontCare => false,
            TypeKind::Struct(..) | TypeKind::Header(..) => {
                self.fields_of(ty).iter().all(|field| self.is_comparable(&field.ty))
            }
            TypeKind::Tuple(elements) => elements.iter().all(|element| self.is_comparable(element)),
            TypeKind::Stack(element, _) | TypeKind::List(element) => self.is_comparable(element),
            _ => true,
        }
    }

    pub(super) fn warn_constant_comparison(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        (left, right): (&'a Expression, &'a Expression),
        ty: &Type,
    ) {
        use BinaryOperator as Op;
        let TypeKind::Bit(width) = &**ty else { return };
        if self.constant(left).is_some() && self.constant(right).is_some() {
            return;
        }
        // Written as `variable operator constant`.
        let (operator, bound) = match (self.integer_value(left), self.integer_value(right)) {
            (None, Some(bound)) => (operator, bound),
            (Some(bound), None) => {
                let mirrored = match operator {
                    Op::Less => Op::Greater,
                    Op::LessEqual => Op::GreaterEqual,
                    Op::Greater => Op::Less,
                    Op::GreaterEqual => Op::LessEqual,
                    other => other,
                };
                (mirrored, bound)
            }
            _ => return,
        };
        let greatest = (num_bigint::BigInt::from(1) << *width) - 1;
        let zero = num_traits::Zero::is_zero(&bound);
        let outcome = match operator {
            Op::Less if zero => Some(false),
            Op::GreaterEqual if zero => Some(true),
            Op::Greater if bound == greatest => Some(false),
            Op::LessEqual if bound == greatest => Some(true),
            _ => None,
        };
        if let Some(outcome) = outcome {
            let shown = self.show(ty);
            self.report(
                Diagnostic::warning(
                    codes::CONSTANT_COMPARISON,
                    expression.span,
                    format!("this comparison is always {outcome}"),
                )
                .note(format!("a `{shown}` is from 0 to {greatest}")),
            );
        }
    }

    pub(super) fn synthesize_conditional(
        &mut self,
        expression: &'a Expression,
        condition: &'a Expression,
        then: &'a Expression,
        otherwise: &'a Expression,
    ) -> Type {
        self.check_condition(condition);
        let then_type = self.synthesize(then);
        let otherwise_type = self.synthesize(otherwise);
        let braces = |expression: &Expression| {
            matches!(
                expression.kind,
                ExpressionKind::List(_)
                    | ExpressionKind::Struct { .. }
                    | ExpressionKind::InvalidHeader
                    | ExpressionKind::Dots
            )
        };
        let ty = match (&*then_type, &*otherwise_type) {
            (TypeKind::Unknown, _) => otherwise_type,
            (_, TypeKind::Unknown) => then_type,
            (a, b) if a == b => then_type,
            _ if braces(otherwise) && !braces(then) => {
                self.coerce(otherwise, &then_type, "the other alternative");
                then_type
            }
            _ if braces(then) && !braces(otherwise) => {
                self.coerce(then, &otherwise_type, "the other alternative");
                otherwise_type
            }
            _ if self.casts_implicitly(&then_type, &otherwise_type)
                && !matches!(&*otherwise_type, TypeKind::Integer) =>
            {
                self.coerce(then, &otherwise_type, "the other alternative");
                otherwise_type
            }
            _ if self.casts_implicitly(&otherwise_type, &then_type) => {
                self.coerce(otherwise, &then_type, "the other alternative");
                then_type
            }
            _ if self.unify(&then_type, &otherwise_type) => self.solved(&then_type),
            _ => {
                let (then_shown, otherwise_shown) =
                    (self.show(&then_type), self.show(&otherwise_type));
                self.report(
                    Diagnostic::error(
                        codes::OPERANDS_DIFFER,
                        expression.span,
                        "the two alternatives have different types",
                    )
                    .label(then.span, format!("`{then_shown}`"))
                    .label(otherwise.span, format!("`{otherwise_shown}`")),
                );
                return self.known.unknown.clone();
            }
        };
        if matches!(&*ty, TypeKind::Integer) && !self.is_compile_time_known(condition) {
            self.report(
                Diagnostic::error(
                    codes::CANNOT_INFER,
                    expression.span,
                    "neither alternative has a width",
                )
                .help("give one of the numbers a width, such as `8w1`"),
            );
            return self.known.unknown.clone();
        }
        if !self.is_value_type(&ty) && !matches!(&*ty, TypeKind::DontCare) {
            let shown = self.show(&ty);
            self.error(
                codes::INVALID_OPERAND,
                expression.span,
                format!("`?:` is not defined for type `{shown}`"),
            );
            return self.known.unknown.clone();
        }
        if let Some(Constant::Bool(value)) = self.constant(condition) {
            let chosen = if *value { then } else { otherwise };
            if let Some(value) = self.constant(chosen).cloned() {
                self.set_constant(expression, value);
            }
        }
        ty
    }

    /// Types a condition and requires `bool`.
    pub(super) fn check_condition(&mut self, condition: &'a Expression) {
        let ty = self.synthesize(condition);
        if matches!(&*ty, TypeKind::Bool | TypeKind::Unknown) {
            return;
        }
        let shown = self.show(&ty);
        let mut diagnostic = Diagnostic::error(
            codes::CONDITION_NOT_BOOL,
            condition.span,
            format!("a condition is `bool`, but this is `{shown}`"),
        );
        match &*ty {
            TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Integer => {
                diagnostic = diagnostic.help("compare it: `... != 0`");
            }
            TypeKind::ApplyResult(_) => diagnostic = diagnostic.help("ask for `.hit` or `.miss`"),
            TypeKind::Header(..) => diagnostic = diagnostic.help("ask `.isValid()`"),
            TypeKind::Function => diagnostic = diagnostic.help("call it: add `()`"),
            _ => {}
        }
        self.report(diagnostic);
    }
}
