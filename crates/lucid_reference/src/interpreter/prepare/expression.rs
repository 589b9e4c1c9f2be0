// SPDX-License-Identifier: Apache-2.0
//! Prepares expressions of a core program, by their types: words or objects.

use super::super::arguments::{Slot, event_value};
use super::super::prepared::{Object, Operand, Word};
use super::super::value::{Group, Value};
use super::{PrepareError, operands, same_count, within};
use lucid::core;
use lucid::core::arithmetic::mask;
use lucid::core::{Constant, Expression, ExpressionKind, Type};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};
use std::sync::Arc;

/// What an expression may mention.
pub(super) struct Scope<'a> {
    pub(super) program: &'a core::Program,
    /// Of the locals.
    pub(super) slots: &'a [Slot],
    /// The object that keeps `this`.
    pub(super) this: u32,
    /// Whether `this` was mentioned.
    pub(super) uses_this: bool,
}

impl Scope<'_> {
    pub(super) fn slot(&self, local: core::LocalId) -> Result<Slot, PrepareError> {
        within("local", local.0, self.slots.len())?;
        Ok(self.slots[local.0 as usize])
    }

    pub(super) fn word_slot(&self, local: core::LocalId) -> Result<u32, PrepareError> {
        match self.slot(local)? {
            Slot::Bool(at) | Slot::Int(at, _) => Ok(at),
            Slot::Object(_) => Err("an integer is kept in something else".to_string()),
        }
    }

    /// Checks that an event exists and takes this number of arguments.
    pub(super) fn constructor(
        &self,
        event: core::EventId,
        given: usize,
    ) -> Result<(), PrepareError> {
        within("event", event.0, self.program.events.len())?;
        let parameters = self.program.events[event.0 as usize].parameters.len();
        same_count("arguments of an event", given, parameters)
    }
}

/// The width of a word's type in bits.
fn width(expression: &Expression) -> Result<u32, PrepareError> {
    match expression.ty {
        Type::Int(width) if (1..=core::MAX_INTEGER_BITS).contains(&width) => Ok(width),
        Type::Int(width) => Err(format!("an integer of {width} bits")),
        Type::Bool => Ok(1),
        other => Err(format!("{other:?} where a number should be")),
    }
}

pub(super) fn operand(scope: &mut Scope<'_>, from: &Expression) -> Result<Operand, PrepareError> {
    Ok(match from.ty {
        Type::Int(_) => Operand::Int(word(scope, from)?, width(from)?),
        Type::Bool => Operand::Bool(word(scope, from)?),
        _ => Operand::Object(object(scope, from)?),
    })
}

pub(super) fn word(scope: &mut Scope<'_>, from: &Expression) -> Result<Word, PrepareError> {
    let bits = width(from)?;
    let ones = mask(bits);
    // What the surroundings give is cut to the width of its use.
    let cut = |word| {
        if bits < 64 { Word::Slice(Box::new(word), 0, ones) } else { word }
    };
    Ok(match &from.kind {
        ExpressionKind::Constant(Constant::Int(value, _)) => Word::Constant(value & ones),
        ExpressionKind::Constant(Constant::Bool(value)) => Word::Constant(u128::from(*value)),
        ExpressionKind::Local(local) => Word::Local(scope.word_slot(*local)?),
        ExpressionKind::Extern(number) => {
            within("extern", number.0, scope.program.externs.len())?;
            Word::Extern(number.0)
        }
        ExpressionKind::SelfSwitch => cut(Word::SelfSwitch),
        ExpressionKind::IngressPort => cut(Word::IngressPort),
        ExpressionKind::RecirculationPort => cut(Word::RecirculationPort),
        ExpressionKind::Time => cut(Word::Time),
        ExpressionKind::DequeueDepth => cut(Word::DequeueDepth),
        ExpressionKind::Unary(operator, inner) => {
            let inner = Box::new(word(scope, inner)?);
            match operator {
                UnaryOperator::Not => Word::Not(inner),
                UnaryOperator::BitNot => Word::BitNot(inner, ones),
                UnaryOperator::Negate => Word::Negate(inner, ones),
            }
        }
        ExpressionKind::Binary(operator, left, right) => binary(scope, *operator, left, right)?,
        ExpressionKind::Cast(inner) => {
            let from_bits = width(inner)?;
            let inner = word(scope, inner)?;
            if from_bits <= bits { inner } else { Word::Slice(Box::new(inner), 0, ones) }
        }
        ExpressionKind::Slice(inner, low) => {
            if *low >= core::MAX_INTEGER_BITS {
                return Err(format!("a slice from bit {low}"));
            }
            Word::Slice(Box::new(word(scope, inner)?), *low, ones)
        }
        ExpressionKind::Hash { seed, arguments } => {
            let seed = word(scope, seed)?;
            Word::Hash(bits, Box::new((seed, operands(scope, arguments)?)))
        }
        ExpressionKind::Checksum { arguments } => Word::Checksum(operands(scope, arguments)?),
        ExpressionKind::Constant(Constant::Group(_))
        | ExpressionKind::This
        | ExpressionKind::Event { .. }
        | ExpressionKind::Delay { .. }
        | ExpressionKind::Locate { .. }
        | ExpressionKind::LocateMany { .. }
        | ExpressionKind::Flood(_)
        | ExpressionKind::EmptyPayload => {
            return Err("an event, group or payload where a number should be".to_string());
        }
    })
}

fn binary(
    scope: &mut Scope<'_>,
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
) -> Result<Word, PrepareError> {
    if !matches!(left.ty, Type::Int(_) | Type::Bool) {
        let same = Word::Same(Box::new((object(scope, left)?, object(scope, right)?)));
        return match operator {
            BinaryOperator::Equal => Ok(same),
            BinaryOperator::NotEqual => Ok(Word::Not(Box::new(same))),
            _ => Err(format!("{operator:?} of {:?}", left.ty)),
        };
    }
    let (bits, right_bits) = (width(left)?, width(right)?);
    let operands = (word(scope, left)?, word(scope, right)?);
    Ok(Word::Binary(operator, Box::new(operands), [bits, right_bits]))
}

pub(super) fn object(scope: &mut Scope<'_>, from: &Expression) -> Result<Object, PrepareError> {
    Ok(match &from.kind {
        ExpressionKind::Constant(Constant::Group(members)) => {
            Object::Constant(Value::Group(Group::of(members.clone())))
        }
        ExpressionKind::Local(local) => match scope.slot(*local)? {
            Slot::Object(at) => Object::Local(at),
            _ => return Err("a number where an event, group or payload should be".to_string()),
        },
        ExpressionKind::Extern(number) => {
            within("extern", number.0, scope.program.externs.len())?;
            Object::Extern(number.0)
        }
        ExpressionKind::This => {
            scope.uses_this = true;
            Object::Local(scope.this)
        }
        ExpressionKind::Event { event, arguments } => {
            scope.constructor(*event, arguments.len())?;
            if arguments.is_empty() {
                Object::Constant(Value::Event(event_value(*event, Vec::new())))
            } else {
                Object::Event(*event, operands(scope, arguments)?)
            }
        }
        ExpressionKind::Delay { event, nanoseconds } => {
            Object::Delay(Box::new(object(scope, event)?), Box::new(word(scope, nanoseconds)?))
        }
        ExpressionKind::Locate { event, switch } => {
            Object::Locate(Box::new(object(scope, event)?), Box::new(word(scope, switch)?))
        }
        ExpressionKind::LocateMany { event, switches } => {
            Object::LocateMany(Box::new(object(scope, event)?), Box::new(object(scope, switches)?))
        }
        ExpressionKind::Flood(port) => Object::Flood(Box::new(word(scope, port)?)),
        ExpressionKind::EmptyPayload => Object::Constant(Value::Payload(Arc::from([]))),
        ExpressionKind::Constant(Constant::Int(..) | Constant::Bool(_))
        | ExpressionKind::SelfSwitch
        | ExpressionKind::IngressPort
        | ExpressionKind::RecirculationPort
        | ExpressionKind::Time
        | ExpressionKind::DequeueDepth
        | ExpressionKind::Unary(..)
        | ExpressionKind::Binary(..)
        | ExpressionKind::Cast(_)
        | ExpressionKind::Slice(..)
        | ExpressionKind::Hash { .. }
        | ExpressionKind::Checksum { .. } => {
            return Err("a number where an event, group or payload should be".to_string());
        }
    })
}
