// SPDX-License-Identifier: Apache-2.0
//! Verifies types of expressions, bottom up.

use super::Verifier;
use crate::core::{
    CONDITION_1, CONDITION_2, Constant, Expression, ExpressionKind, Local, LocalId, Memop,
    NEW_CELL_1, NEW_CELL_2, Type, constant_type,
};
use crate::syntax::ast::{BinaryOperator, UnaryOperator};

/// Which locals there are, with their types.
pub(super) struct Scope(Vec<Option<Type>>);

impl Scope {
    pub(super) fn locals(locals: &[Local]) -> Scope {
        Scope(locals.iter().map(|local| Some(local.ty)).collect())
    }

    /// Those of a memop; with its booleans in guards, with the new cells in what it returns.
    pub(super) fn memop(memop: &Memop, conditions: bool, new_cells: bool) -> Scope {
        let cell = Some(Type::Int(memop.width_bits));
        let mut types = vec![cell; memop.argument_count.min(4) as usize];
        types.resize(NEW_CELL_2.0 as usize + 1, None);
        if conditions {
            types[CONDITION_1.0 as usize] = Some(Type::Bool);
            types[CONDITION_2.0 as usize] = Some(Type::Bool);
        }
        if new_cells {
            types[NEW_CELL_1.0 as usize] = cell;
            types[NEW_CELL_2.0 as usize] = cell;
        }
        Scope(types)
    }

    pub(super) fn of(&self, local: LocalId) -> Option<Type> {
        self.0.get(local.0 as usize).copied().flatten()
    }
}

impl Verifier<'_> {
    /// Verifies an expression that has to have this type.
    pub(super) fn expect(&mut self, expression: &Expression, ty: Type, scope: &Scope) {
        let found = expression.ty;
        self.ensure(found == ty, || format!("an expression of type {found:?} instead of {ty:?}"));
        self.expression(expression, scope);
    }

    /// Verifies an expression that has to be an integer; its width.
    pub(super) fn expect_int(&mut self, expression: &Expression, scope: &Scope) -> u32 {
        self.expression(expression, scope);
        match expression.ty {
            Type::Int(width) => width,
            other => {
                self.say(format!("an expression of type {other:?} instead of an integer"));
                1
            }
        }
    }

    pub(super) fn expression(&mut self, expression: &Expression, scope: &Scope) {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.whole_expression(expression, scope));
    }

    fn whole_expression(&mut self, expression: &Expression, scope: &Scope) {
        let ty = expression.ty;
        self.ty(ty);
        let is_int = matches!(ty, Type::Int(_));
        match &expression.kind {
            ExpressionKind::Constant(constant) => {
                let found = constant_type(constant);
                self.ensure(found == ty, || format!("a constant {constant:?} of type {ty:?}"));
                if let Constant::Int(value, width) = constant {
                    self.ensure(*value <= crate::core::arithmetic::mask(*width), || {
                        format!("{value} does not fit {width} bits")
                    });
                }
            }
            ExpressionKind::Local(local) => match scope.of(*local) {
                Some(found) => {
                    self.ensure(found == ty, || {
                        format!("local {} has type {found:?}, its use {ty:?}", local.0)
                    });
                }
                None => self.say(format!("there is no local {} here", local.0)),
            },
            ExpressionKind::Extern(external) => {
                match self.program.externs.get(external.0 as usize) {
                    Some(external) => self.ensure(external.ty == ty, || {
                        format!("extern `{}` has another type", external.name)
                    }),
                    None => self.say(format!("there is no extern {}", external.0)),
                }
            }
            ExpressionKind::SelfSwitch
            | ExpressionKind::IngressPort
            | ExpressionKind::RecirculationPort
            | ExpressionKind::Time
            | ExpressionKind::DequeueDepth => {
                self.ensure(is_int, || format!("a builtin integer of type {ty:?}"));
            }
            ExpressionKind::This => {
                self.ensure(ty == Type::Event, || "`this` is an event".to_owned());
            }
            ExpressionKind::Unary(operator, operand) => {
                let operand_type =
                    if *operator == UnaryOperator::Not { Type::Bool } else { operand.ty };
                self.expect(operand, operand_type, scope);
                let right = match operator {
                    UnaryOperator::Not => ty == Type::Bool,
                    UnaryOperator::BitNot | UnaryOperator::Negate => is_int && operand.ty == ty,
                };
                self.ensure(right, || format!("{operator:?} of {:?} gives {ty:?}", operand.ty));
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.expression(left, scope);
                self.expression(right, scope);
                let fits = binary_fits(*operator, left.ty, right.ty, ty);
                self.ensure(fits, || {
                    format!("{operator:?} of {:?} and {:?} gives {ty:?}", left.ty, right.ty)
                });
            }
            ExpressionKind::Cast(operand) => {
                self.expression(operand, scope);
                let fits = is_int && matches!(operand.ty, Type::Int(_) | Type::Bool);
                self.ensure(fits, || format!("a cast from {:?} to {ty:?}", operand.ty));
            }
            ExpressionKind::Slice(operand, low) => {
                let whole = self.expect_int(operand, scope);
                let fits = matches!(ty, Type::Int(width) if low.saturating_add(width) <= whole);
                self.ensure(fits, || format!("a slice from {low} of {whole} bits as {ty:?}"));
            }
            ExpressionKind::Hash { seed, arguments } => {
                self.expect_int(seed, scope);
                for argument in arguments {
                    self.expression(argument, scope);
                    self.hashable(argument.ty);
                }
                self.ensure(is_int, || format!("a hash of type {ty:?}"));
            }
            ExpressionKind::Checksum { arguments } => {
                for argument in arguments {
                    self.expression(argument, scope);
                    self.hashable(argument.ty);
                }
                self.ensure(ty == Type::Int(16), || format!("a checksum of type {ty:?}"));
            }
            ExpressionKind::Event { event, arguments } => {
                self.ensure(ty == Type::Event, || format!("an event value of type {ty:?}"));
                let Some(event) = self.event(*event) else { return };
                self.ensure(arguments.len() == event.parameters.len(), || {
                    format!("`{}` with {} arguments", event.name, arguments.len())
                });
                for (argument, parameter) in arguments.iter().zip(&event.parameters) {
                    self.expect(argument, parameter.ty, scope);
                }
            }
            ExpressionKind::Delay { event, nanoseconds } => {
                self.expect(event, Type::Event, scope);
                self.expect_int(nanoseconds, scope);
                self.ensure(ty == Type::Event, || format!("a delayed event of type {ty:?}"));
            }
            ExpressionKind::Locate { event, switch } => {
                self.expect(event, Type::Event, scope);
                self.expect_int(switch, scope);
                self.ensure(ty == Type::Event, || format!("a located event of type {ty:?}"));
            }
            ExpressionKind::LocateMany { event, switches } => {
                self.expect(event, Type::Event, scope);
                self.expect(switches, Type::Group, scope);
                self.ensure(ty == Type::Event, || format!("a located event of type {ty:?}"));
            }
            ExpressionKind::Flood(port) => {
                self.expect_int(port, scope);
                self.ensure(ty == Type::Group, || format!("a flood of type {ty:?}"));
            }
            ExpressionKind::EmptyPayload => {
                self.ensure(ty == Type::Payload, || format!("an empty payload of type {ty:?}"));
            }
        }
    }

    fn hashable(&mut self, ty: Type) {
        self.ensure(matches!(ty, Type::Int(_) | Type::Bool), || format!("a hash of a {ty:?}"));
    }
}

fn binary_fits(operator: BinaryOperator, left: Type, right: Type, result: Type) -> bool {
    use BinaryOperator as B;
    let int = |ty| matches!(ty, Type::Int(_));
    match operator {
        B::Add
        | B::Subtract
        | B::SaturatingAdd
        | B::SaturatingSubtract
        | B::BitAnd
        | B::BitOr
        | B::BitXor => int(left) && left == right && result == left,
        B::ShiftLeft | B::ShiftRight => int(left) && int(right) && result == left,
        B::Concatenate => match (left, right, result) {
            (Type::Int(left), Type::Int(right), Type::Int(result)) => {
                left.checked_add(right) == Some(result)
            }
            _ => false,
        },
        B::Equal | B::NotEqual => {
            let comparable = matches!(left, Type::Int(_) | Type::Bool | Type::Group);
            comparable && left == right && result == Type::Bool
        }
        B::Less | B::Greater | B::LessOrEqual | B::GreaterOrEqual => {
            int(left) && left == right && result == Type::Bool
        }
        B::And | B::Or => left == Type::Bool && right == Type::Bool && result == Type::Bool,
    }
}
