// SPDX-License-Identifier: Apache-2.0
//! Operators: which types they take and give, and their values when these are constant (P4_16 v1.2.5
//! §8.3 to §8.10). Slices and indexes are in `members`.

use super::Checker;
use super::constants::fold_unary;
use crate::ast::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use crate::codes::typing as codes;
use crate::typed::{Constant, Type, TypeKind};
use num_traits::{Signed, ToPrimitive};
use source::Diagnostic;
use std::sync::Arc;

/// How an operator is written.
pub(super) fn spelling(operator: BinaryOperator) -> &'static str {
    use BinaryOperator as Op;
    match operator {
        Op::Multiply => "*",
        Op::Divide => "/",
        Op::Modulo => "%",
        Op::Add => "+",
        Op::Subtract => "-",
        Op::AddSaturating => "|+|",
        Op::SubtractSaturating => "|-|",
        Op::ShiftLeft => "<<",
        Op::ShiftRight => ">>",
        Op::LessEqual => "<=",
        Op::GreaterEqual => ">=",
        Op::Less => "<",
        Op::Greater => ">",
        Op::NotEqual => "!=",
        Op::Equal => "==",
        Op::BitAnd => "&",
        Op::BitXor => "^",
        Op::BitOr => "|",
        Op::Concat => "++",
        Op::And => "&&",
        Op::Or => "||",
    }
}

fn is_number(ty: &Type) -> bool {
    matches!(&**ty, TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Integer)
}

impl<'a> Checker<'a> {
    pub(super) fn synthesize_unary(
        &mut self,
        expression: &'a Expression,
        operator: UnaryOperator,
        value: &'a Expression,
    ) -> Type {
        let ty = self.synthesize(value);
        if matches!(&*ty, TypeKind::Unknown) {
            return if operator == UnaryOperator::Not { self.known.bool.clone() } else { ty };
        }
        let ty =
            if operator == UnaryOperator::Not { ty } else { self.enum_to_underlying(value, &ty) };
        let fits = match operator {
            UnaryOperator::Not => matches!(&*ty, TypeKind::Bool),
            UnaryOperator::Complement => matches!(&*ty, TypeKind::Bit(_) | TypeKind::Int(_)),
            UnaryOperator::Minus | UnaryOperator::Plus => is_number(&ty),
        };
        if !fits {
            let written = match operator {
                UnaryOperator::Not => "!",
                UnaryOperator::Complement => "~",
                UnaryOperator::Minus => "-",
                UnaryOperator::Plus => "+",
            };
            let shown = self.show(&ty);
            let mut diagnostic = Diagnostic::error(
                codes::INVALID_OPERAND,
                expression.span,
                format!("`{written}` is not defined for type `{shown}`"),
            );
            match (operator, &*ty) {
                (UnaryOperator::Complement, TypeKind::Bool) => {
                    diagnostic = diagnostic.help("for `bool` write `!`");
                }
                (UnaryOperator::Not, TypeKind::Bit(_)) => {
                    diagnostic =
                        diagnostic.help("compare it: `... == 0`, or invert its bits with `~`");
                }
                (UnaryOperator::Complement, TypeKind::Integer) => {
                    diagnostic = diagnostic.help("give the number a width, such as `32w1`");
                }
                _ => {}
            }
            self.report(diagnostic);
            return if operator == UnaryOperator::Not {
                self.known.bool.clone()
            } else {
                self.known.unknown.clone()
            };
        }
        if let Some(folded) =
            self.constant(value).and_then(|constant| fold_unary(operator, constant, &ty))
        {
            self.set_constant(expression, folded);
        }
        ty
    }

    pub(super) fn synthesize_binary(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Type {
        let left_type = self.synthesize(left);
        let right_type = self.synthesize(right);
        self.type_binary(expression, operator, (left, left_type), (right, right_type))
    }

    /// The type of an operator on operands that have been typed. `expression` is the whole, which for
    /// a compound assignment is the target.
    pub(super) fn type_binary(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        (left, left_type): (&'a Expression, Type),
        (right, right_type): (&'a Expression, Type),
    ) -> Type {
        use BinaryOperator as Op;
        let unknown =
            matches!(&*left_type, TypeKind::Unknown) || matches!(&*right_type, TypeKind::Unknown);
        match operator {
            Op::And | Op::Or => {
                for (operand, ty) in [(left, &left_type), (right, &right_type)] {
                    if !matches!(&**ty, TypeKind::Bool | TypeKind::Unknown) {
                        self.report_operand(operator, operand, ty);
                    }
                }
                self.fold_binary(expression, operator, (left, &left_type), (right, &right_type));
                self.known.bool.clone()
            }
            Op::Equal | Op::NotEqual => {
                if !unknown {
                    self.type_equality(
                        expression,
                        operator,
                        (left, left_type),
                        (right, right_type),
                    );
                }
                self.known.bool.clone()
            }
            Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
                if unknown {
                    return self.known.bool.clone();
                }
                if let Some(ty) =
                    self.common_number(expression, operator, (left, left_type), (right, right_type))
                {
                    self.fold_binary(expression, operator, (left, &ty), (right, &ty));
                    self.warn_constant_comparison(expression, operator, (left, right), &ty);
                }
                self.known.bool.clone()
            }
            Op::ShiftLeft | Op::ShiftRight => {
                if unknown {
                    return left_type;
                }
                self.type_shift(expression, operator, (left, left_type), (right, right_type))
            }
            Op::Concat => {
                if unknown {
                    return self.known.unknown.clone();
                }
                self.type_concatenation(expression, (left, left_type), (right, right_type))
            }
            _ => {
                if unknown {
                    return if matches!(&*left_type, TypeKind::Unknown) {
                        right_type
                    } else {
                        left_type
                    };
                }
                let Some(ty) = self.common_number(
                    expression,
                    operator,
                    (left, left_type),
                    (right, right_type),
                ) else {
                    return self.known.unknown.clone();
                };
                match (operator, &*ty) {
                    (Op::AddSaturating | Op::SubtractSaturating, TypeKind::Integer) => {
                        self.report_operand(operator, left, &ty);
                        return self.known.unknown.clone();
                    }
                    (Op::Divide | Op::Modulo, TypeKind::Int(_)) => {
                        self.report_operand(operator, left, &ty);
                        return self.known.unknown.clone();
                    }
                    (Op::Divide | Op::Modulo, _) => {
                        if let Some(divisor) = self.integer_value(right)
                            && divisor.is_negative()
                        {
                            self.error(
                                codes::INVALID_DIVISION,
                                expression.span,
                                "division and modulo are not defined for negative numbers",
                            );
                            return ty;
                        }
                        if matches!(&*ty, TypeKind::Integer)
                            && !(self.is_compile_time_known(left)
                                && self.is_compile_time_known(right))
                        {
                            self.report_not_constant(expression, "a division");
                            return ty;
                        }
                        if let Some(divisor) = self.integer_value(right)
                            && num_traits::Zero::is_zero(&divisor)
                        {
                            self.error(
                                codes::INVALID_DIVISION,
                                expression.span,
                                "this divides by zero",
                            );
                            return ty;
                        }
                    }
                    _ => {}
                }
                self.fold_binary(expression, operator, (left, &ty), (right, &ty));
                ty
            }
        }
    }

    /// Brings two numeric operands to one type: `int` yields to a width, enums to their underlying
    /// type. Reports when there is none.
    fn common_number(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        (left, left_type): (&'a Expression, Type),
        (right, right_type): (&'a Expression, Type),
    ) -> Option<Type> {
        let left_type = self.enum_to_underlying(left, &left_type);
        let right_type = self.enum_to_underlying(right, &right_type);
        for (operand, ty) in [(left, &left_type), (right, &right_type)] {
            if !is_number(ty) {
                self.report_operand(operator, operand, ty);
                return None;
            }
        }
        match (&*left_type, &*right_type) {
            (a, b) if a == b => Some(left_type),
            (TypeKind::Integer, _) => {
                self.coerce(left, &right_type, "the left operand");
                Some(right_type)
            }
            (_, TypeKind::Integer) => {
                self.coerce(right, &left_type, "the right operand");
                Some(left_type)
            }
            _ => {
                self.report_different(
                    expression,
                    operator,
                    (left, &left_type),
                    (right, &right_type),
                );
                None
            }
        }
    }

    fn report_operand(&mut self, operator: BinaryOperator, operand: &'a Expression, ty: &Type) {
        use BinaryOperator as Op;
        let shown = self.show(ty);
        let mut diagnostic = Diagnostic::error(
            codes::INVALID_OPERAND,
            operand.span,
            format!("`{}` is not defined for type `{shown}`", spelling(operator)),
        );
        let help = match (operator, &**ty) {
            (Op::Add, TypeKind::String) => Some("strings are joined with `++`"),
            (Op::And | Op::Or, TypeKind::Bit(_) | TypeKind::Int(_)) => {
                Some("compare it, such as `... != 0`; operators on bits are `&` and `|`")
            }
            (Op::BitAnd | Op::BitOr, TypeKind::Bool) => Some("for `bool` write `&&` or `||`"),
            (Op::BitXor, TypeKind::Bool) => Some("for `bool` write `!=`"),
            (Op::BitAnd | Op::BitOr | Op::BitXor, TypeKind::Integer)
            | (Op::AddSaturating | Op::SubtractSaturating | Op::Concat, TypeKind::Integer) => {
                Some("give the number a width, such as `32w1`")
            }
            (_, TypeKind::NewType(_)) => Some("cast it to the type beneath first"),
            _ => None,
        };
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
    }

    fn report_different(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        (left, left_type): (&'a Expression, &Type),
        (right, right_type): (&'a Expression, &Type),
    ) {
        let (left_shown, right_shown) = (self.show(left_type), self.show(right_type));
        let mut diagnostic = Diagnostic::error(
            codes::OPERANDS_DIFFER,
            expression.span,
            format!("the operands of `{}` have different types", spelling(operator)),
        )
        .label(left.span, format!("`{left_shown}`"))
        .label(right.span, format!("`{right_shown}`"));
        match (&**left_type, &**right_type) {
            (TypeKind::Bit(a), TypeKind::Bit(b)) | (TypeKind::Int(a), TypeKind::Int(b)) => {
                let wider = if a > b { &left_shown } else { &right_shown };
                diagnostic = diagnostic.help(format!("cast one of them, such as `({wider}) ...`"));
            }
            (TypeKind::Bit(_), TypeKind::Int(_)) | (TypeKind::Int(_), TypeKind::Bit(_)) => {
                diagnostic =
                    diagnostic.help(format!("cast one of them, such as `({left_shown}) ...`"));
            }
            _ => {}
        }
        self.report(diagnostic);
    }

    fn type_equality(
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
            let same = self.unify(&left_type, &right_type)
                && matches!(
                    (&left.kind, &right.kind),
                    (ExpressionKind::List(_), ExpressionKind::List(_))
                        | (ExpressionKind::Struct { .. }, ExpressionKind::Struct { .. })
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

    fn enum_or_number(&self, ty: &Type) -> Option<()> {
        (is_number(ty) || matches!(&**ty, TypeKind::SerializableEnum(_))).then_some(())
    }

    fn is_comparable(&self, ty: &Type) -> bool {
        match &**ty {
            TypeKind::Void
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
            | TypeKind::DontCare => false,
            TypeKind::Struct(..) | TypeKind::Header(..) => {
                self.fields_of(ty).iter().all(|field| self.is_comparable(&field.ty))
            }
            TypeKind::Tuple(elements) => elements.iter().all(|element| self.is_comparable(element)),
            TypeKind::Stack(element, _) | TypeKind::List(element) => self.is_comparable(element),
            _ => true,
        }
    }

    fn warn_constant_comparison(
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

    fn type_shift(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        (left, left_type): (&'a Expression, Type),
        (right, right_type): (&'a Expression, Type),
    ) -> Type {
        let left_type = self.enum_to_underlying(left, &left_type);
        let right_type = self.enum_to_underlying(right, &right_type);
        if !is_number(&left_type) {
            self.report_operand(operator, left, &left_type);
            return self.known.unknown.clone();
        }
        match &*right_type {
            TypeKind::Bit(_) => {}
            TypeKind::Integer => {
                if let Some(amount) = self.integer_value(right) {
                    if amount.is_negative() {
                        self.error(
                            codes::INVALID_SHIFT,
                            right.span,
                            "a shift by a negative amount is not defined",
                        );
                        return left_type;
                    }
                } else {
                    self.require_compile_time(right, "the amount of this shift");
                }
            }
            TypeKind::Int(_)
                if self.integer_value(right).is_some_and(|amount| !amount.is_negative()) => {}
            TypeKind::Int(_) => {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_SHIFT,
                        right.span,
                        "the amount of a shift cannot be signed",
                    )
                    .help("cast it to `bit`"),
                );
                return left_type;
            }
            _ => {
                self.report_operand(operator, right, &right_type);
                return left_type;
            }
        }
        match &*left_type {
            TypeKind::Integer => {
                if !self.is_compile_time_known(right) {
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_SHIFT,
                            expression.span,
                            "an `int` can only be shifted by an amount known at compile time",
                        )
                        .help("give the number a width, such as `32w1 << x`"),
                    );
                    return self.known.unknown.clone();
                }
            }
            TypeKind::Bit(width) | TypeKind::Int(width) => {
                if let Some(amount) = self.integer_value(right)
                    && amount.to_u64().is_none_or(|amount| amount >= u64::from(*width))
                    && *width > 0
                {
                    let shown = self.show(&left_type);
                    self.report(
                        Diagnostic::warning(
                            codes::SHIFT_TOO_FAR,
                            expression.span,
                            format!("this shifts a `{shown}` by {amount} bits"),
                        )
                        .here("none of its bits are left"),
                    );
                }
            }
            _ => {}
        }
        self.fold_binary(expression, operator, (left, &left_type), (right, &right_type));
        left_type
    }

    fn type_concatenation(
        &mut self,
        expression: &'a Expression,
        (left, left_type): (&'a Expression, Type),
        (right, right_type): (&'a Expression, Type),
    ) -> Type {
        let left_type = self.enum_to_underlying(left, &left_type);
        let right_type = self.enum_to_underlying(right, &right_type);
        if matches!((&*left_type, &*right_type), (TypeKind::String, TypeKind::String)) {
            for operand in [left, right] {
                if !self.require_compile_time(operand, "a string") {
                    return left_type;
                }
            }
            self.fold_binary(
                expression,
                BinaryOperator::Concat,
                (left, &left_type),
                (right, &right_type),
            );
            return left_type;
        }
        let width_of = |ty: &Type| match &**ty {
            TypeKind::Bit(width) | TypeKind::Int(width) => Some(*width),
            _ => None,
        };
        let (Some(left_width), Some(right_width)) = (width_of(&left_type), width_of(&right_type))
        else {
            for (operand, ty) in [(left, &left_type), (right, &right_type)] {
                if width_of(ty).is_none() {
                    self.report_operand(BinaryOperator::Concat, operand, ty);
                }
            }
            return self.known.unknown.clone();
        };
        let width = left_width.saturating_add(right_width);
        if width > super::MAXIMUM_WIDTH_BITS {
            self.error(
                codes::INVALID_WIDTH,
                expression.span,
                format!("the result would have {width} bits"),
            );
            return self.known.unknown.clone();
        }
        self.fold_binary(
            expression,
            BinaryOperator::Concat,
            (left, &left_type),
            (right, &right_type),
        );
        Arc::new(match &*left_type {
            TypeKind::Int(_) => TypeKind::Int(width),
            _ => TypeKind::Bit(width),
        })
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
            _ => {}
        }
        self.report(diagnostic);
    }
}
