// SPDX-License-Identifier: Apache-2.0
//! Evaluates prepared expressions. Evaluation has no effects and cannot fail; `run` executes statements.

use super::arguments::{Slot, event_value};
use super::prepared::{Object, Operand, PreparedMemop, Word};
use super::value::{EventValue, Group, Place, Value};
use lucid::core::NO_PORT;
use lucid::core::arithmetic::{mask, word_binary};
use lucid::core::bits::BitWriter;
use lucid::core::hash::{hash, internet_checksum};
use std::cell::RefCell;
use std::sync::Arc;

/// `ingress_port` in an egress handler of an event that leaves by no port in particular.
const OUTSIDE_PORT: u128 = 510;

/// The values of the switch that a handler reads; constant during a handler.
#[derive(Clone, Copy, Debug)]
pub struct SwitchContext<'a> {
    /// The switch's number (`self`).
    pub switch: u32,
    /// The port that the event came in by, or leaves by in an egress handler.
    pub ingress_port: u32,
    /// The port whose packets come back.
    pub recirculation_port: u32,
    /// `Sys.time()`: nanoseconds since the beginning of the run.
    pub time_ns: u64,
    /// `Sys.dequeue_depth()`: how many events wait.
    pub dequeue_depth: u64,
    /// Values of the program's externs at this switch.
    pub externs: &'a [Value],
}

/// Locals and switch context of an expression.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) words: &'a [u128],
    pub(crate) objects: &'a [Value],
    pub(crate) context: &'a SwitchContext<'a>,
    /// Buffer for hashes.
    pub(crate) scratch: &'a RefCell<BitWriter>,
}

impl Frame<'_> {
    /// The value of a word: an integer, or 0 or 1 for a boolean.
    pub(crate) fn word(&self, word: &Word) -> u128 {
        match word {
            Word::Constant(value) => *value,
            Word::Local(local) => self.words[*local as usize],
            Word::Extern(number) => match self.context.externs.get(*number as usize) {
                Some(Value::Int(value)) => *value,
                Some(Value::Bool(value)) => u128::from(*value),
                _ => 0,
            },
            Word::SelfSwitch => u128::from(self.context.switch),
            Word::IngressPort => match self.context.ingress_port {
                NO_PORT => OUTSIDE_PORT,
                port => u128::from(port),
            },
            Word::RecirculationPort => u128::from(self.context.recirculation_port),
            Word::Time => u128::from(self.context.time_ns),
            Word::DequeueDepth => u128::from(self.context.dequeue_depth),
            Word::Not(inner) => self.word(inner) ^ 1,
            Word::BitNot(inner, ones) => !self.word(inner) & ones,
            Word::Negate(inner, ones) => self.word(inner).wrapping_neg() & ones,
            Word::Binary(operator, operands, [width_bits, right_width_bits]) => {
                let (left, right) = (self.word(&operands.0), self.word(&operands.1));
                word_binary(*operator, left, right, *width_bits, *right_width_bits)
            }
            Word::Same(operands) => {
                u128::from(self.object(&operands.0) == self.object(&operands.1))
            }
            Word::Slice(inner, low, ones) => (self.word(inner) >> low) & ones,
            Word::Hash(width_bits, parts) => {
                let (seed, arguments) = parts.as_ref();
                let seed = self.word(seed);
                self.hashed(arguments, |writer, write| hash(writer, *width_bits, seed, write))
            }
            Word::Checksum(arguments) => self.hashed(arguments, internet_checksum),
        }
    }

    /// Appends values as bits, and calls `finish`. They are evaluated as they are written, except that one
    /// that hashes in turn takes a writer of its own.
    fn hashed(
        &self,
        values: &[Operand],
        finish: impl FnOnce(&mut BitWriter, &mut dyn FnMut(&mut BitWriter)) -> u128,
    ) -> u128 {
        let mut write = |writer: &mut BitWriter| {
            for value in values {
                match value {
                    Operand::Int(word, width_bits) => writer.write(self.word(word), *width_bits),
                    Operand::Bool(word) => writer.write(self.word(word), 1),
                    Operand::Object(object) => write_value(writer, &self.object(object)),
                }
            }
        };
        match self.scratch.try_borrow_mut() {
            Ok(mut scratch) => finish(&mut scratch, &mut write),
            Err(_) => finish(&mut BitWriter::default(), &mut write),
        }
    }

    /// The value of an event, group or payload.
    pub(crate) fn object(&self, object: &Object) -> Value {
        match object {
            Object::Constant(value) => value.clone(),
            Object::Local(local) => self.objects[*local as usize].clone(),
            Object::Extern(number) => {
                self.context.externs.get(*number as usize).cloned().unwrap_or(Value::Int(0))
            }
            Object::Event(event, arguments) => {
                let values = arguments.iter().map(|argument| self.operand(argument)).collect();
                Value::Event(event_value(*event, values))
            }
            Object::Delay(event, nanoseconds) => {
                let delay_ns = u64::try_from(self.word(nanoseconds)).unwrap_or(u64::MAX);
                self.changed(event, |event| event.delay_ns = delay_ns)
            }
            Object::Locate(event, switch) => {
                let switch = number(self.word(switch));
                self.changed(event, |event| event.place = Place::Switch(switch))
            }
            Object::LocateMany(event, group) => {
                let group = match self.object(group) {
                    Value::Group(group) => group,
                    _ => Group::of(Vec::new()),
                };
                self.changed(event, |event| event.place = Place::Switches(group))
            }
            Object::Flood(port) => Value::Group(Group::AllBut(number(self.word(port)))),
        }
    }

    fn changed(&self, event: &Object, change: impl FnOnce(&mut EventValue)) -> Value {
        match self.object(event) {
            Value::Event(mut event) => {
                change(Arc::make_mut(&mut event));
                Value::Event(event)
            }
            other => other,
        }
    }

    /// A value as a user sees it.
    pub(crate) fn operand(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Int(word, _) => Value::Int(self.word(word)),
            Operand::Bool(word) => Value::Bool(self.word(word) != 0),
            Operand::Object(object) => self.object(object),
        }
    }

    /// A memop's value for one cell: what it computes of cell and argument.
    #[inline]
    pub(crate) fn memop(&self, memop: &PreparedMemop, cell: u128, argument: u128) -> u128 {
        let locals = [cell, argument, 0, 0, 0, 0, 0, 0];
        let frame = Frame { words: &locals, ..*self };
        match memop {
            PreparedMemop::Return(value) => frame.word(value),
            PreparedMemop::If(condition, then, otherwise) => {
                frame.word(if frame.word(condition) != 0 { then } else { otherwise })
            }
            PreparedMemop::Complex { .. } => cell,
        }
    }

    /// A memop of three or four arguments: the new cells and what is returned.
    pub(crate) fn complex_memop(
        &self,
        memop: &PreparedMemop,
        cells: [u128; 2],
        arguments: [u128; 2],
        default: u128,
    ) -> ([u128; 2], u128) {
        let PreparedMemop::Complex { pair, conditions, cells: updates, returned } = memop else {
            return (cells, default);
        };
        // Lucid's memops of three arguments have a second cell that only they see; it begins as the
        // value to return.
        let mut new_cells = if *pair { cells } else { [cells[0], default] };
        let mut locals = [0; 8];
        if *pair {
            locals[..4].copy_from_slice(&[cells[0], cells[1], arguments[0], arguments[1]]);
        } else {
            locals[..3].copy_from_slice(&[cells[0], arguments[0], arguments[1]]);
        }
        for (at, condition) in conditions.iter().enumerate() {
            if let Some(condition) = condition {
                let truth = Frame { words: &locals, ..*self }.word(condition);
                locals[4 + at] = truth;
            }
        }
        for (cell, updates) in new_cells.iter_mut().zip(updates) {
            let frame = Frame { words: &locals, ..*self };
            if let Some((_, value)) = updates.iter().find(|(guard, _)| frame.word(guard) != 0) {
                *cell = frame.word(value);
            }
        }
        locals[6..].copy_from_slice(&new_cells);
        let frame = Frame { words: &locals, ..*self };
        let result = match returned {
            Some((guard, value)) if frame.word(guard) != 0 => frame.word(value),
            _ => default,
        };
        (new_cells, result)
    }
}

/// A port or switch; what does not fit is a number that no port or switch has.
#[inline]
pub(crate) fn number(word: u128) -> u32 {
    u32::try_from(word).unwrap_or(u32::MAX)
}

/// Stores a value in a slot of a frame.
pub(crate) fn store(words: &mut [u128], objects: &mut [Value], slot: Slot, value: Value) {
    match (slot, value) {
        (Slot::Int(at, width_bits), Value::Int(word)) => {
            words[at as usize] = word & mask(width_bits);
        }
        (Slot::Bool(at) | Slot::Int(at, _), value) => {
            words[at as usize] = u128::from(value == Value::Bool(true));
        }
        (Slot::Object(at), value) => objects[at as usize] = value,
    }
}

/// Appends the bits of a value that is no integer of known width.
fn write_value(writer: &mut BitWriter, value: &Value) {
    match value {
        Value::Int(word) => writer.write(*word, 128),
        Value::Bool(truth) => writer.write(u128::from(*truth), 1),
        Value::Group(Group::Members(members)) => {
            members.iter().for_each(|member| writer.write(u128::from(*member), 32));
        }
        Value::Group(Group::AllBut(port)) => writer.write(u128::from(!port), 32),
        Value::Payload(bytes) => writer.write_bytes(bytes),
        Value::Event(event) => {
            writer.write(u128::from(event.event.0), 32);
            event.arguments.iter().for_each(|value| write_value(writer, value));
        }
    }
}
