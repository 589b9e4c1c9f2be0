// SPDX-License-Identifier: Apache-2.0
//! Operators: which types they take and give, and their values when these are constant (P4_16 v1.2.5
//! §7.4, §8.4 to §8.9, §8.10.1, §8.10.2). Slices and indexes are in `members`.

use super::Checker;
use super::constants::fold_unary;
use crate::ast::{BinaryOperator, Expression, UnaryOperator};
use crate::codes::typing as codes;
use crate::typed::{Type, TypeKind};
use num_traits::{Signed, ToPrimitive};
use source::Diagnostic;
use std::sync::Arc;

/// Returns the spelling of an operator.
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

pub(super) fn is_number(ty: &Type) -> bool {
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
                if matches!(operator, Op::Divide | Op::Modulo)
                    && self.integer_value(right).is_some_and(|divisor| divisor.is_negative())
                {
                    self.error(
                        codes::INVALID_DIVISION,
                        expression.span,
                        "division and modulo are not defined for negative numbers",
                    );
                    return self.known.unknown.clone();
                }
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
    pub(super) fn common_number(
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

    pub(super) fn report_operand(
        &mut self,
        operator: BinaryOperator,
        operand: &'a Expression,
        ty: &Type,
    ) {
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

    pub(super) fn report_different(
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
            TypeKind::Integer if !self.is_compile_time_known(right) => {
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
        if width > super::MAX_WIDTH_BITS {
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
}
