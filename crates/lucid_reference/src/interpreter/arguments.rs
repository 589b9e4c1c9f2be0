// SPDX-License-Identifier: Apache-2.0
//! Arguments of an event in two banks: integers and booleans as words, other types as values. A pool reuses
//! the buffers, so a handler of integers allocates nothing.

use super::value::{EventValue, Group, Place, Value};
use lucid::core::arithmetic::mask;
use lucid::core::{EventId, Type};
use std::sync::Arc;

/// Where a parameter or local is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A boolean, as 0 or 1.
    Bool(u32),
    /// An integer and its width in bits.
    Int(u32, u32),
    /// Anything else.
    Object(u32),
}

/// Gives each type its slot, words and objects counted apart.
pub fn slots<'a>(types: impl IntoIterator<Item = &'a Type>) -> (Vec<Slot>, u32, u32) {
    let (mut words, mut objects) = (0, 0);
    let count = |counter: &mut u32| {
        *counter += 1;
        *counter - 1
    };
    let slots = types
        .into_iter()
        .map(|ty| match ty {
            Type::Bool => Slot::Bool(count(&mut words)),
            Type::Int(width_bits) => Slot::Int(count(&mut words), *width_bits),
            Type::Event | Type::Group | Type::Payload => Slot::Object(count(&mut objects)),
        })
        .collect();
    (slots, words, objects)
}

/// The arguments of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arguments {
    /// Integers and booleans in the order of the parameters.
    pub words: Vec<u128>,
    /// Other values in the order of the parameters.
    pub objects: Vec<Value>,
}

impl Arguments {
    /// Values as a user sees them, by the parameters' slots.
    pub fn values(&self, slots: &[Slot]) -> Vec<Value> {
        let nothing = || Value::Int(0);
        slots
            .iter()
            .map(|slot| match slot {
                Slot::Bool(at) => Value::Bool(self.words.get(*at as usize) == Some(&1)),
                Slot::Int(at, _) => {
                    Value::Int(self.words.get(*at as usize).copied().unwrap_or_default())
                }
                Slot::Object(at) => self.objects.get(*at as usize).cloned().unwrap_or_else(nothing),
            })
            .collect()
    }

    /// Sets them from values that fit the slots; integers are cut to their width.
    pub fn set(&mut self, values: &[Value], slots: &[Slot]) {
        self.clear();
        for (value, slot) in values.iter().zip(slots) {
            match (slot, value) {
                (Slot::Int(_, width_bits), Value::Int(word)) => {
                    self.words.push(word & mask(*width_bits));
                }
                (Slot::Bool(_) | Slot::Int(..), value) => {
                    self.words.push(u128::from(*value == Value::Bool(true)));
                }
                (Slot::Object(_), value) => self.objects.push(value.clone()),
            }
        }
    }

    /// Clears the arguments and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.objects.clear();
    }
}

/// Buffers that are not in use.
#[derive(Clone, Debug, Default)]
pub struct ArgumentPool {
    free: Vec<Arguments>,
}

impl ArgumentPool {
    /// An empty buffer.
    pub fn take(&mut self) -> Arguments {
        self.free.pop().unwrap_or_default()
    }

    /// Returns a buffer to the pool.
    pub fn give(&mut self, mut arguments: Arguments) {
        // More than this many are only free after a burst; memory goes back to the system.
        const KEPT: usize = 1 << 16;
        if self.free.len() < KEPT {
            arguments.clear();
            self.free.push(arguments);
        }
    }
}

/// An event value without delay and place.
pub fn event_value(event: EventId, arguments: Vec<Value>) -> Arc<EventValue> {
    Arc::new(EventValue { event, arguments, delay_ns: 0, place: Place::Here })
}

/// The initial value of a type.
pub(crate) fn empty_object(ty: Type) -> Value {
    match ty {
        Type::Int(_) => Value::Int(0),
        Type::Bool => Value::Bool(false),
        Type::Group => Value::Group(Group::Members(Arc::from([]))),
        Type::Payload => Value::Payload(Arc::from([])),
        Type::Event => Value::Event(event_value(EventId(u32::MAX), Vec::new())),
    }
}
