// SPDX-License-Identifier: Apache-2.0
//! Compile-time values: arithmetic of unbounded integers, wrapping to widths, folding of operators,
//! and which expressions are known at compile time (P4_16 v1.2.5 §8.7 to §8.9, §18.1). It folds what
//! other files have typed.

use super::{Checker, Node, ParameterRole};
use crate::ast::{
    BinaryOperator, DeclarationKind, Direction, Expression, ExpressionKind, UnaryOperator,
};
use crate::codes::typing as codes;
use crate::typed::{Callee, Constant, Definition, Type, TypeKind};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};
use source::Diagnostic;

/// The most bits that a compile-time integer may grow to.
const MAX_INTEGER_BITS: u64 = 1 << 17;

/// The most numbers and other values that a constant list or struct may have.
const MAX_CONSTANT_PARTS: u32 = 65_536;

fn fits_budget(value: &Constant, budget: &mut u32) -> bool {
    *budget = budget.saturating_sub(1);
    *budget > 0
        && match value {
            Constant::List(parts) => parts.iter().all(|part| fits_budget(part, budget)),
            Constant::Struct(parts) => parts.iter().all(|(_, part)| fits_budget(part, budget)),
            _ => true,
        }
}

/// Why an operation on constants has no value.
pub(super) enum FoldError {
    DivisionByZero,
    NegativeDivision,
    NegativeShift,
    TooLarge,
}

/// Returns the value modulo the type's width; unbounded for `int`.
pub(super) fn wrap(value: &BigInt, ty: &TypeKind) -> BigInt {
    match ty {
        TypeKind::Bit(width) => {
            let modulus = BigInt::one() << *width;
            let rest = value % &modulus;
            if rest.is_negative() { rest + modulus } else { rest }
        }
        TypeKind::Int(width) if *width > 0 => {
            let modulus = BigInt::one() << *width;
            let half = BigInt::one() << (*width - 1);
            let rest = value % &modulus;
            let rest = if rest.is_negative() { rest + &modulus } else { rest };
            if rest >= half { rest - modulus } else { rest }
        }
        _ => value.clone(),
    }
}

/// Returns the value limited to the type's range: for saturating operators.
fn saturate(value: BigInt, ty: &TypeKind) -> BigInt {
    let (least, greatest) = match ty {
        TypeKind::Bit(width) => (BigInt::zero(), (BigInt::one() << *width) - 1),
        TypeKind::Int(width) if *width > 0 => {
            let half = BigInt::one() << (*width - 1);
            (-half.clone(), half - 1)
        }
        _ => return value,
    };
    value.clamp(least, greatest)
}

/// Folds an operator on integers of type `ty` (the left operand's). Comparisons give `bool`.
pub(super) fn fold_integers(
    operator: BinaryOperator,
    left: &BigInt,
    right: &BigInt,
    ty: &TypeKind,
) -> Result<Constant, FoldError> {
    use BinaryOperator as Op;
    let integer = |value: BigInt| Ok(Constant::Integer(wrap(&value, ty)));
    match operator {
        Op::Multiply => {
            if left.bits().saturating_add(right.bits()) > MAX_INTEGER_BITS {
                return Err(FoldError::TooLarge);
            }
            integer(left * right)
        }
        Op::Divide | Op::Modulo => {
            if right.is_zero() {
                return Err(FoldError::DivisionByZero);
            }
            if left.is_negative() || right.is_negative() {
                return Err(FoldError::NegativeDivision);
            }
            integer(if operator == Op::Divide { left / right } else { left % right })
        }
        Op::Add => integer(left + right),
        Op::Subtract => integer(left - right),
        Op::AddSaturating => Ok(Constant::Integer(saturate(left + right, ty))),
        Op::SubtractSaturating => Ok(Constant::Integer(saturate(left - right, ty))),
        Op::ShiftLeft => {
            if right.is_negative() {
                return Err(FoldError::NegativeShift);
            }
            let fixed_width = match ty {
                TypeKind::Bit(width) | TypeKind::Int(width) => Some(u64::from(*width)),
                _ => None,
            };
            match (right.to_u64(), fixed_width) {
                (None, Some(_)) => integer(BigInt::zero()),
                (Some(amount), Some(width)) if amount >= width => integer(BigInt::zero()),
                (Some(amount), _) if amount.saturating_add(left.bits()) <= MAX_INTEGER_BITS => {
                    integer(left << amount)
                }
                _ => Err(FoldError::TooLarge),
            }
        }
        Op::ShiftRight => {
            if right.is_negative() {
                return Err(FoldError::NegativeShift);
            }
            let amount = right.to_u64().unwrap_or(u64::MAX).min(MAX_INTEGER_BITS * 2);
            integer(left >> amount)
        }
        Op::LessEqual => Ok(Constant::Bool(left <= right)),
        Op::GreaterEqual => Ok(Constant::Bool(left >= right)),
        Op::Less => Ok(Constant::Bool(left < right)),
        Op::Greater => Ok(Constant::Bool(left > right)),
        Op::NotEqual => Ok(Constant::Bool(left != right)),
        Op::Equal => Ok(Constant::Bool(left == right)),
        Op::BitAnd => integer(left & right),
        Op::BitXor => integer(left ^ right),
        Op::BitOr => integer(left | right),
        Op::Concat | Op::And | Op::Or => integer(BigInt::zero()),
    }
}

/// Folds an operator with one operand.
pub(super) fn fold_unary(
    operator: UnaryOperator,
    value: &Constant,
    ty: &TypeKind,
) -> Option<Constant> {
    match (operator, value) {
        (UnaryOperator::Not, Constant::Bool(value)) => Some(Constant::Bool(!value)),
        (UnaryOperator::Minus, Constant::Integer(value)) => {
            Some(Constant::Integer(wrap(&-value, ty)))
        }
        (UnaryOperator::Plus, Constant::Integer(_)) => Some(value.clone()),
        (UnaryOperator::Complement, Constant::Integer(value)) => {
            Some(Constant::Integer(wrap(&(-value - 1), ty)))
        }
        _ => None,
    }
}

/// Returns the bits `high..=low` of a value, unsigned.
pub(super) fn fold_slice(value: &BigInt, base_width: u32, high: u32, low: u32) -> Constant {
    let unsigned = wrap(value, &TypeKind::Bit(base_width));
    let width = high.saturating_sub(low).saturating_add(1);
    Constant::Integer(wrap(&(unsigned >> low), &TypeKind::Bit(width)))
}

impl<'a> Checker<'a> {
    pub(super) fn constant(&self, expression: &Expression) -> Option<&Constant> {
        self.typed.constants.get(&expression.id)
    }

    /// Records a value, unless it is beyond the documented size.
    pub(super) fn set_constant(&mut self, expression: &Expression, value: Constant) {
        let mut budget = MAX_CONSTANT_PARTS;
        if fits_budget(&value, &mut budget) {
            self.typed.constants.insert(expression.id, value);
        } else {
            self.typed.constants.remove(&expression.id);
        }
    }

    /// Folds `left operator right`, whose operands have been typed and cast.
    pub(super) fn fold_binary(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        (left, left_type): (&'a Expression, &Type),
        (right, right_type): (&'a Expression, &Type),
    ) {
        let (Some(a), Some(b)) = (self.constant(left), self.constant(right)) else { return };
        let folded = match (operator, a, b) {
            (BinaryOperator::And, Constant::Bool(a), Constant::Bool(b)) => Constant::Bool(*a && *b),
            (BinaryOperator::Or, Constant::Bool(a), Constant::Bool(b)) => Constant::Bool(*a || *b),
            (BinaryOperator::Concat, Constant::String(a), Constant::String(b)) => {
                Constant::String(format!("{a}{b}").into())
            }
            (BinaryOperator::Concat, Constant::Integer(a), Constant::Integer(b)) => {
                let (TypeKind::Bit(high_width) | TypeKind::Int(high_width)) = &**left_type else {
                    return;
                };
                let (TypeKind::Bit(low_width) | TypeKind::Int(low_width)) = &**right_type else {
                    return;
                };
                let low = wrap(b, &TypeKind::Bit(*low_width));
                let joined = (a << *low_width) + low;
                let width = high_width.saturating_add(*low_width);
                let ty = match &**left_type {
                    TypeKind::Int(_) => TypeKind::Int(width),
                    _ => TypeKind::Bit(width),
                };
                Constant::Integer(wrap(&joined, &ty))
            }
            (_, Constant::Integer(a), Constant::Integer(b)) => {
                match fold_integers(operator, a, b, left_type) {
                    Ok(value) => value,
                    Err(error) => {
                        let (code, message) = match error {
                            FoldError::DivisionByZero => {
                                (codes::INVALID_DIVISION, "this divides by zero")
                            }
                            FoldError::NegativeDivision => (
                                codes::INVALID_DIVISION,
                                "division and modulo are not defined for negative numbers",
                            ),
                            FoldError::NegativeShift => {
                                (codes::INVALID_SHIFT, "this shifts by a negative amount")
                            }
                            FoldError::TooLarge => {
                                (codes::NUMBER_TOO_LARGE, "the result is too large to compute")
                            }
                        };
                        self.error(code, expression.span, message);
                        return;
                    }
                }
            }
            (BinaryOperator::Equal, a, b) => Constant::Bool(self.is_same_value(a, b)),
            (BinaryOperator::NotEqual, a, b) => Constant::Bool(!self.is_same_value(a, b)),
            _ => return,
        };
        self.set_constant(expression, folded);
    }

    /// Whether two constants of one type are equal. Members of an enum with values are equal when
    /// their values are (§7.2.1).
    fn is_same_value(&self, left: &Constant, right: &Constant) -> bool {
        let valued = |constant: &Constant| match constant {
            Constant::EnumMember(node, index) => self.enum_member_value(*node, *index),
            _ => None,
        };
        match (left, right) {
            (Constant::List(left), Constant::List(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| self.is_same_value(left, right))
            }
            (Constant::Struct(left), Constant::Struct(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|((left_name, left), (right_name, right))| {
                        left_name == right_name && self.is_same_value(left, right)
                    })
            }
            _ => valued(left).as_ref().unwrap_or(left) == valued(right).as_ref().unwrap_or(right),
        }
    }

    /// Returns the constant as a value of another type: after a cast.
    pub(super) fn convert_constant(&self, value: &Constant, to: &Type) -> Option<Constant> {
        let representation = self.representation(to);
        Some(match (value, &*representation) {
            (Constant::Integer(value), TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Integer) => {
                Constant::Integer(wrap(value, &representation))
            }
            (Constant::Integer(value), TypeKind::Bool) => Constant::Bool(!value.is_zero()),
            (Constant::Bool(value), TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Integer) => {
                Constant::Integer(BigInt::from(u8::from(*value)))
            }
            (
                Constant::EnumMember(node, index),
                TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Integer,
            ) => {
                let Constant::Integer(value) = self.enum_member_value(*node, *index)? else {
                    return None;
                };
                Constant::Integer(wrap(&value, &representation))
            }
            (Constant::Integer(value), TypeKind::SerializableEnum(node)) => {
                // A value without a member has no constant of its own; it stays an integer.
                match self.enum_member_with_value(*node, value) {
                    Some(index) => Constant::EnumMember(*node, index),
                    None => Constant::Integer(value.clone()),
                }
            }
            (Constant::List(values), TypeKind::Struct(..) | TypeKind::Header(..)) => {
                let fields = self.fields_of(&representation);
                if fields.len() != values.len() {
                    return None;
                }
                Constant::Struct(
                    fields
                        .iter()
                        .zip(values)
                        .map(|(field, value)| (field.name.clone(), value.clone()))
                        .collect(),
                )
            }
            _ => value.clone(),
        })
    }

    pub(super) fn enum_member_value(
        &self,
        declaration: crate::ast::NodeId,
        index: usize,
    ) -> Option<Constant> {
        let Node::Declaration(declaration) = self.node(declaration) else { return None };
        let DeclarationKind::Enum { members, .. } = &declaration.kind else { return None };
        let value = members.get(index)?.value.as_ref()?;
        self.constant(value).cloned()
    }

    fn enum_member_with_value(
        &self,
        declaration: crate::ast::NodeId,
        wanted: &BigInt,
    ) -> Option<usize> {
        let Node::Declaration(node) = self.node(declaration) else { return None };
        let DeclarationKind::Enum { members, .. } = &node.kind else { return None };
        (0..members.len()).find(|index| {
            matches!(self.enum_member_value(declaration, *index),
                Some(Constant::Integer(value)) if value == *wanted)
        })
    }

    /// Returns the value that `...` gives a type (§7.3); `None` for types without a default.
    pub(super) fn default_constant(&self, ty: &Type) -> Option<Constant> {
        let mut budget = MAX_CONSTANT_PARTS;
        self.default_within(ty, &mut budget)
    }

    fn default_within(&self, ty: &Type, budget: &mut u32) -> Option<Constant> {
        *budget = budget.checked_sub(1)?;
        Some(match &**ty {
            TypeKind::Bool => Constant::Bool(false),
            TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Integer => {
                Constant::Integer(BigInt::zero())
            }
            TypeKind::Error => Constant::Error("NoError".into()),
            TypeKind::String => Constant::String("".into()),
            TypeKind::Enum(node) => Constant::EnumMember(*node, 0),
            TypeKind::SerializableEnum(node) => {
                match self.enum_member_with_value(*node, &BigInt::zero()) {
                    Some(index) => Constant::EnumMember(*node, index),
                    None => Constant::Integer(BigInt::zero()),
                }
            }
            TypeKind::NewType(_) => self.default_within(&self.representation(ty), budget)?,
            TypeKind::Header(..) | TypeKind::HeaderUnion(..) => Constant::InvalidHeader,
            TypeKind::Struct(..) => Constant::Struct(
                self.fields_of(ty)
                    .iter()
                    .map(|field| {
                        Some((field.name.clone(), self.default_within(&field.ty, budget)?))
                    })
                    .collect::<Option<_>>()?,
            ),
            TypeKind::Tuple(elements) => Constant::List(
                elements
                    .iter()
                    .map(|element| self.default_within(element, budget))
                    .collect::<Option<_>>()?,
            ),
            TypeKind::Stack(element, size) => Constant::List(
                (0..*size).map(|_| self.default_within(element, budget)).collect::<Option<_>>()?,
            ),
            _ => return None,
        })
    }

    /// Whether an expression's value is settled before packets flow (§18.1): constants, constructor
    /// parameters, directionless parameters of blocks and functions, instances, and what is made of
    /// these.
    pub(super) fn is_compile_time_known(&self, expression: &Expression) -> bool {
        if self.constant(expression).is_some() {
            return true;
        }
        let ty = self.typed.expression_types.get(&expression.id);
        if ty.is_some_and(|ty| matches!(&**ty, TypeKind::Unknown)) {
            return true;
        }
        match &expression.kind {
            ExpressionKind::Path(_) => match self.typed.definitions.get(&expression.id) {
                Some(Definition::Node(node)) => match self.node(*node) {
                    Node::Parameter(_, ParameterRole::Constructor) => true,
                    Node::Parameter(parameter, ParameterRole::RunTime) => {
                        parameter.direction == Direction::None
                    }
                    Node::Declaration(declaration) => !matches!(
                        declaration.kind,
                        DeclarationKind::Variable { .. }
                            | DeclarationKind::Table(_)
                            | DeclarationKind::Action { .. }
                    ),
                    Node::EnumMember(_) | Node::Error(_) | Node::MatchKind(_) => true,
                    _ => false,
                },
                _ => false,
            },
            ExpressionKind::This
            | ExpressionKind::Dots
            | ExpressionKind::InvalidHeader
            | ExpressionKind::Default
            | ExpressionKind::DontCare
            | ExpressionKind::Type(_)
            | ExpressionKind::Invalid => true,
            ExpressionKind::Extension(_) => false,
            ExpressionKind::Unary(_, value)
            | ExpressionKind::Cast(_, value)
            | ExpressionKind::Member(value, _) => self.is_compile_time_known(value),
            ExpressionKind::Binary(_, left, right)
            | ExpressionKind::Mask(left, right)
            | ExpressionKind::Range(left, right)
            | ExpressionKind::Index(left, right) => {
                self.is_compile_time_known(left) && self.is_compile_time_known(right)
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                self.is_compile_time_known(condition)
                    && self.is_compile_time_known(then)
                    && self.is_compile_time_known(otherwise)
            }
            ExpressionKind::Slice { base, high, low }
            | ExpressionKind::PlusSlice { base, low: high, width: low } => {
                self.is_compile_time_known(base)
                    && self.is_compile_time_known(high)
                    && self.is_compile_time_known(low)
            }
            ExpressionKind::List(elements) | ExpressionKind::TupleKeyset(elements) => {
                elements.iter().all(|element| self.is_compile_time_known(element))
            }
            ExpressionKind::Struct { fields, .. } => {
                fields.iter().all(|(_, value)| self.is_compile_time_known(value))
            }
            ExpressionKind::Call(written) => match self.typed.calls.get(&expression.id) {
                Some(call) => match call.callee {
                    Callee::Constructor(..) | Callee::SizeOf => true,
                    // A factory or pure function of what is known makes something that is known.
                    Callee::ExternFunction(node) => {
                        let is_pure = matches!(self.node(node), Node::Declaration(declaration)
                            if declaration.annotations.iter().any(|one| &*one.name.text == "pure"));
                        (is_pure || matches!(&*call.result, TypeKind::Extern(..)))
                            && self.context == super::SyntacticContext::ConstructorArguments
                            && written
                                .arguments
                                .iter()
                                .all(|argument| self.is_compile_time_known(&argument.value))
                    }
                    _ => false,
                },
                None => true,
            },
            _ => false,
        }
    }

    /// Whether the value differs between instances: it is known at compile time, but not a local
    /// compile-time known value (§18.1).
    pub(super) fn mentions_constructor_parameter(&self, expression: &Expression) -> bool {
        use ExpressionKind as Kind;
        match &expression.kind {
            Kind::Path(_) => {
                matches!(self.typed.definitions.get(&expression.id), Some(Definition::Node(node))
                    if matches!(self.node(*node), Node::Parameter(_, ParameterRole::Constructor)))
            }
            Kind::Unary(_, inner) | Kind::Cast(_, inner) | Kind::Member(inner, _) => {
                self.mentions_constructor_parameter(inner)
            }
            Kind::Binary(_, left, right) | Kind::Index(left, right) => {
                self.mentions_constructor_parameter(left)
                    || self.mentions_constructor_parameter(right)
            }
            Kind::Slice { base, .. } | Kind::PlusSlice { base, .. } => {
                self.mentions_constructor_parameter(base)
            }
            Kind::Conditional(condition, then, otherwise) => [condition, then, otherwise]
                .into_iter()
                .any(|part| self.mentions_constructor_parameter(part)),
            Kind::List(items) | Kind::TupleKeyset(items) => {
                items.iter().any(|item| self.mentions_constructor_parameter(item))
            }
            Kind::Struct { fields, .. } => {
                fields.iter().any(|(_, field)| self.mentions_constructor_parameter(field))
            }
            _ => false,
        }
    }

    /// Reports an expression that is not known at compile time.
    pub(super) fn require_compile_time(&mut self, expression: &'a Expression, what: &str) -> bool {
        let known = self.is_compile_time_known(expression);
        if !known {
            self.report_not_constant(expression, what);
        }
        known
    }

    pub(super) fn report_not_constant(&mut self, expression: &'a Expression, what: &str) {
        let ty = self.typed.expression_types.get(&expression.id);
        if ty.is_some_and(|ty| matches!(&**ty, TypeKind::Unknown)) {
            return;
        }
        self.report(
            Diagnostic::error(
                codes::NOT_CONSTANT,
                expression.span,
                format!("{what} must be known at compile time"),
            )
            .here("this is known only when a packet is processed"),
        );
    }
}
