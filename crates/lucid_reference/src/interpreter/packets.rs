// SPDX-License-Identifier: Apache-2.0
//! Conversion between events and packets: a program's parsers, and the wire format of events. The
//! simulation handles ports.
//!
//! A packet event on the wire is its parameters at their widths, one after the other, then its
//! payload; zero bits pad the last byte. An event of another sort is its wire number in 16
//! bits, then the same with the padding in front of the payload, so that the payload begins at a whole byte;
//! `do_lucid_parsing` reads it.

use super::arguments::{Arguments, Slot};
use super::evaluate::{SwitchContext, store};
use super::prepared::{ParserEnd, ParserStep, Prepared, PreparedBlock, PreparedEvent};
use super::run::{Interpreter, matches};
use super::value::Value;
use lucid::core::EventId;
use lucid::core::bits::{BitReader, BitWriter};
use std::cell::RefCell;
use std::sync::Arc;

/// Width of an event's number on the wire, in bits.
const WIRE_NUMBER_BITS: u32 = 16;

/// How many blocks of parsers one packet may go through; parsers that call each other in a circle
/// end here, and the packet is dropped.
const MAX_PARSER_BLOCKS: u32 = 10_000;

/// The result of parsing a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// This event is to be handled now.
    Event(EventId, Arguments),
    /// The parser dropped it, no branch matched, or it was too short.
    Dropped,
}

/// Runs the main parser over a packet. Without a parser every packet is dropped.
pub fn parse(program: &Prepared, packet: &[u8], context: &SwitchContext<'_>) -> Parsed {
    let Some(main) = program.main_parser else { return Parsed::Dropped };
    let mut reader = BitReader::new(packet);
    let scratch = RefCell::new(BitWriter::default());
    let mut parser = &program.parsers[main as usize];
    let mut words = vec![0; parser.words as usize];
    let mut objects = parser.objects.clone();
    let mut block = &parser.block;
    for _ in 0..MAX_PARSER_BLOCKS {
        if !act(block, &mut reader, &mut words, &mut objects, &scratch, context) {
            return Parsed::Dropped;
        }
        let frame = Interpreter::frame(&words, &objects, &scratch, context);
        match &block.end {
            ParserEnd::Match { subjects, branches } => {
                let subjects: Vec<u128> =
                    subjects.iter().map(|subject| frame.word(subject)).collect();
                match branches.iter().find(|(patterns, _)| matches(&subjects, patterns)) {
                    Some((_, next)) => block = next,
                    None => return Parsed::Dropped,
                }
            }
            ParserEnd::Generate(event) => {
                let Value::Event(event) = frame.object(event) else { return Parsed::Dropped };
                let Some(prepared) = program.events.get(event.event.0 as usize) else {
                    return Parsed::Dropped;
                };
                let mut arguments = Arguments::default();
                arguments.set(&event.arguments, &prepared.slots);
                return Parsed::Event(event.event, arguments);
            }
            ParserEnd::Call { parser: next, arguments } => {
                let values: Vec<Value> =
                    arguments.iter().map(|argument| frame.operand(argument)).collect();
                parser = &program.parsers[*next as usize];
                words = vec![0; parser.words as usize];
                objects = parser.objects.clone();
                for (slot, value) in parser.slots.iter().zip(values) {
                    store(&mut words, &mut objects, *slot, value);
                }
                block = &parser.block;
            }
            ParserEnd::LucidEvent => return read_event(program, &mut reader),
            ParserEnd::Drop => return Parsed::Dropped,
        }
    }
    Parsed::Dropped
}

/// A block's actions; false if the packet is too short.
fn act(
    block: &PreparedBlock,
    reader: &mut BitReader<'_>,
    words: &mut [u128],
    objects: &mut [Value],
    scratch: &RefCell<BitWriter>,
    context: &SwitchContext<'_>,
) -> bool {
    for action in &block.actions {
        match action {
            ParserStep::Read(fields) => {
                for (local, width_bits) in fields {
                    let Some(value) = reader.read(*width_bits) else { return false };
                    words[*local as usize] = value;
                }
            }
            ParserStep::Skip(bits) => {
                if !reader.skip(*bits) {
                    return false;
                }
            }
            ParserStep::Assign(local, value) => {
                let value = Interpreter::frame(words, objects, scratch, context).word(value);
                words[*local as usize] = value;
            }
            ParserStep::AssignObject(local, value) => {
                let value = Interpreter::frame(words, objects, scratch, context).object(value);
                objects[*local as usize] = value;
            }
            ParserStep::Rest(local) => {
                objects[*local as usize] = Value::Payload(Arc::from(reader.rest()));
            }
        }
    }
    true
}

/// Reads an event with its number, as [`to_wire`] wrote it.
pub fn from_wire(program: &Prepared, bytes: &[u8]) -> Parsed {
    read_event(program, &mut BitReader::new(bytes))
}

fn read_event(program: &Prepared, reader: &mut BitReader<'_>) -> Parsed {
    let Some(number) = reader.read(WIRE_NUMBER_BITS) else { return Parsed::Dropped };
    let found = |event: &PreparedEvent| u128::from(event.wire_number) == number;
    let Some(event) = program.events.iter().position(found) else { return Parsed::Dropped };
    let mut arguments = Arguments::default();
    for slot in &program.events[event].slots {
        match slot {
            Slot::Bool(_) | Slot::Int(..) => {
                let width_bits = if let Slot::Int(_, width_bits) = slot { *width_bits } else { 1 };
                let Some(value) = reader.read(width_bits) else { return Parsed::Dropped };
                arguments.words.push(value);
            }
            Slot::Object(_) => {
                if !reader.skip(padding_bits(&program.events[event].slots)) {
                    return Parsed::Dropped;
                }
                arguments.objects.push(Value::Payload(Arc::from(reader.rest())));
            }
        }
    }
    Parsed::Event(EventId(event as u32), arguments)
}

/// Whether an event's arguments have bits on the wire: integers, booleans and payloads do.
pub fn has_wire_form(arguments: &Arguments) -> bool {
    arguments.objects.iter().all(|object| matches!(object, Value::Payload(_)))
}

/// Zero bits in front of the payload of an event with its number: headers are whole bytes.
fn padding_bits(slots: &[Slot]) -> u32 {
    let bits: u32 = slots
        .iter()
        .map(|slot| match slot {
            Slot::Bool(_) => 1,
            Slot::Int(_, width_bits) => *width_bits,
            Slot::Object(_) => 0,
        })
        .sum();
    bits.next_multiple_of(8) - bits
}

fn write_arguments(
    writer: &mut BitWriter,
    slots: &[Slot],
    arguments: &Arguments,
    padding_bits: u32,
) {
    for slot in slots {
        match slot {
            Slot::Bool(at) => writer.write(arguments.words[*at as usize], 1),
            Slot::Int(at, width_bits) => writer.write(arguments.words[*at as usize], *width_bits),
            Slot::Object(at) => {
                if let Value::Payload(bytes) = &arguments.objects[*at as usize] {
                    writer.write(0, padding_bits);
                    writer.write_bytes(bytes);
                }
            }
        }
    }
}

/// A packet event's bytes: parameters, then payload.
pub fn packet_bytes(program: &Prepared, event: EventId, arguments: &Arguments) -> Vec<u8> {
    let mut writer = BitWriter::default();
    write_arguments(&mut writer, &program.events[event.0 as usize].slots, arguments, 0);
    writer.bytes().to_vec()
}

/// Any event's bytes with its number.
pub fn to_wire(program: &Prepared, event: EventId, arguments: &Arguments) -> Vec<u8> {
    let mut writer = BitWriter::default();
    let prepared = &program.events[event.0 as usize];
    writer.write(u128::from(prepared.wire_number), WIRE_NUMBER_BITS);
    write_arguments(&mut writer, &prepared.slots, arguments, padding_bits(&prepared.slots));
    writer.bytes().to_vec()
}
