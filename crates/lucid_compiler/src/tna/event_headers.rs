// SPDX-License-Identifier: Apache-2.0
//! The headers of events: what they and their fields are called, and in which parts of the switch each of them is.
//! Their declarations are written in `events`.

use crate::atomic::program::{AtomicProgram, Operation, Payload};
use crate::expressions::wire_bits;
use crate::names::Names;
use crate::wire::FRAME_BYTES;
use lucid::core::{EventId, Program};
use lucid::syntax::ast::EventSort;
use pisa::Gress;
use source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// How an event is laid out.
#[derive(Clone, Debug)]
pub(super) struct EventHeader {
    /// P4 name of the event.
    pub(super) name: String,
    /// Type of the header; none if no parameter has bits.
    pub(super) ty: Option<String>,
    /// Field and width of each parameter; none for a payload.
    pub(super) fields: Vec<Option<(String, u32)>>,
    /// Zero bits behind the parameters.
    pub(super) padding_bits: u32,
    /// Its number on the wire.
    pub(super) number: u32,
    /// Whether it leaves a switch without a frame.
    pub(super) is_bare: bool,
    /// Whether a handler is compiled for ingress.
    pub(super) is_handled: bool,
    /// Whether one is compiled for egress.
    pub(super) has_egress: bool,
    /// Whether it leaves the network where it is generated.
    pub(super) is_exit: bool,
}

impl EventHeader {
    /// Bits of its parameters, filled to whole bytes.
    pub(super) fn bits(&self) -> u32 {
        self.fields.iter().flatten().map(|(_, width_bits)| width_bits).sum::<u32>()
            + self.padding_bits
    }

    /// Bytes of its frame and its parameters.
    pub(super) fn frame_bytes(&self) -> u32 {
        FRAME_BYTES as u32 + self.bits() / 8
    }

    /// Whether its egress handler runs as it goes round. An exit event only goes round to leave.
    pub(super) fn meets_egress_going_round(&self) -> bool {
        self.has_egress && !self.is_exit
    }
}

/// A header that the program's own parsers read.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) span: Span,
    pub(super) ty: String,
    /// Its field in the struct of headers.
    pub(super) name: String,
    /// Its fields and their widths in bits.
    pub(super) fields: Vec<(String, u32)>,
}

impl Chunk {
    /// The header.
    pub(super) fn header(&self) -> String {
        format!("hdr.{}", self.name)
    }

    /// One of its fields.
    pub(super) fn field(&self, name: &str) -> String {
        format!("hdr.{}.{name}", self.name)
    }

    /// Its declaration.
    pub(super) fn declaration(&self) -> String {
        let fields = self.fields.iter().map(|(name, bits)| format!("bit<{bits}> {name};"));
        format!("header {} {{ {} }}", self.ty, fields.collect::<String>())
    }

    /// How many bits it has.
    pub(super) fn bits(&self) -> u32 {
        self.fields.iter().map(|(_, width_bits)| width_bits).sum()
    }
}

/// The headers of the program's parsers in which an event comes in.
#[derive(Clone, Debug)]
pub(super) struct ParsedEvent {
    /// With `hdr`.
    pub(super) headers: Vec<String>,
    /// Field of each parameter; none for a payload.
    pub(super) fields: Vec<Option<String>>,
}

/// All events of a program.
#[derive(Clone, Debug)]
pub(super) struct EventHeaders {
    pub(super) events: Vec<EventHeader>,
    /// Events that each slot may hold, ascending.
    pub(super) slots: Vec<Vec<EventId>>,
    /// Events that egress handlers generate, ascending.
    pub(super) leaving: Vec<EventId>,
    /// Events without a handler that the program's parsers make: they leave the network at once.
    pub(super) passing: BTreeSet<EventId>,
    /// Events of ingress handlers that may have to lose bytes that do not belong to them.
    pub(super) cut: BTreeSet<EventId>,
    /// Events that come in by headers of the program's parsers.
    pub(super) parsed: BTreeMap<EventId, ParsedEvent>,
}

impl EventHeaders {
    pub(super) fn new(
        program: &Program,
        atomic: &AtomicProgram,
        names: &mut Names,
    ) -> EventHeaders {
        let mut given = Names::new(&[]);
        let handled = |id: EventId, gress: Gress| {
            atomic.handlers.iter().any(|one| one.event == id && one.gress == gress)
        };
        let mut events = Vec::new();
        for (at, event) in program.events.iter().enumerate() {
            let name = given.fresh(&event.name);
            let mut fields_names = Names::new(&["_pad"]);
            let mut bits = 0;
            let mut fields = Vec::new();
            for parameter in &event.parameters {
                let width_bits = wire_bits(parameter.ty);
                bits += width_bits;
                let field =
                    (width_bits > 0).then(|| (fields_names.fresh(&parameter.name), width_bits));
                fields.push(field);
            }
            events.push(EventHeader {
                ty: (bits > 0).then(|| names.fresh(&format!("{name}_h"))),
                name,
                fields,
                padding_bits: bits.next_multiple_of(8) - bits,
                number: event.wire_number,
                is_bare: event.sort == EventSort::Packet && program.main_parser.is_some(),
                is_handled: handled(EventId(at as u32), Gress::Ingress),
                has_egress: handled(EventId(at as u32), Gress::Egress),
                is_exit: event.sort == EventSort::Exit,
            });
        }
        let mut slots: Vec<Vec<EventId>> = Vec::new();
        let mut leaving: Vec<EventId> = Vec::new();
        let mut cut = BTreeSet::new();
        for statement in &atomic.statements {
            let Operation::Generate { slot, event, payload } = &statement.operation else {
                continue;
            };
            if *payload == Payload::Cut {
                cut.insert(*event);
            }
            let here = match statement.gress {
                Gress::Egress => &mut leaving,
                Gress::Ingress => {
                    let slot = *slot as usize;
                    slots.resize(slots.len().max(slot + 1), Vec::new());
                    &mut slots[slot]
                }
            };
            if !here.contains(event) {
                here.push(*event);
                here.sort();
            }
        }
        EventHeaders {
            events,
            slots,
            leaving,
            passing: BTreeSet::new(),
            cut,
            parsed: BTreeMap::new(),
        }
    }

    /// Lengths of the frames of the events that may lose bytes, ascending: each has a mirror session.
    pub(super) fn cut_lengths(&self) -> Vec<u32> {
        let lengths: BTreeSet<u32> =
            self.cut.iter().map(|id| self.event(*id).frame_bytes()).collect();
        lengths.into_iter().collect()
    }

    /// Whether some event may lose bytes.
    pub(super) fn has_cuts(&self) -> bool {
        !self.cut.is_empty()
    }

    pub(super) fn event(&self, id: EventId) -> &EventHeader {
        &self.events[id.0 as usize]
    }

    /// The header of its own in which an event comes in: always in egress, in ingress unless the program's parsers
    /// read it.
    pub(super) fn incoming_header(&self, id: EventId) -> String {
        format!("hdr.in_{}", self.event(id).name)
    }

    /// The header of an event in a slot.
    pub(super) fn outgoing_header(&self, slot: u32, id: EventId) -> String {
        format!("hdr.slot{slot}_{}", self.event(id).name)
    }

    fn field(&self, id: EventId, parameter: u32) -> &str {
        let fields = &self.event(id).fields;
        let field = fields.get(parameter as usize).and_then(|field| field.as_ref());
        field.map_or("_pad", |(name, _)| name.as_str())
    }

    /// The headers in which an event comes to ingress.
    pub(super) fn incoming_headers(&self, id: EventId) -> Vec<String> {
        match self.parsed.get(&id) {
            Some(parsed) => parsed.headers.clone(),
            None if self.event(id).ty.is_some() => vec![self.incoming_header(id)],
            None => Vec::new(),
        }
    }

    /// A parameter of the event that came in.
    pub(super) fn incoming(&self, gress: Gress, id: EventId, parameter: u32) -> String {
        let parsed = self.parsed.get(&id).filter(|_| gress == Gress::Ingress);
        let field = parsed.and_then(|parsed| parsed.fields.get(parameter as usize)?.clone());
        let own = || format!("{}.{}", self.incoming_header(id), self.field(id, parameter));
        field.unwrap_or_else(own)
    }

    /// Whether an event needs the header of its own for what comes in.
    pub(super) fn has_own_header(&self, id: EventId) -> bool {
        self.event(id).ty.is_some()
            && (!self.parsed.contains_key(&id) || self.at_egress().contains(&id))
    }

    /// An argument of a generated event.
    pub(super) fn outgoing(&self, slot: u32, id: EventId, parameter: u32) -> String {
        format!("{}.{}", self.outgoing_header(slot, id), self.field(id, parameter))
    }

    /// The header of an event that an egress handler generates.
    pub(super) fn leaving_header(&self, id: EventId) -> String {
        format!("hdr.out_{}", self.event(id).name)
    }

    /// An argument of an event that an egress handler generates.
    pub(super) fn leaving(&self, id: EventId, parameter: u32) -> String {
        format!("{}.{}", self.leaving_header(id), self.field(id, parameter))
    }

    /// Whether some event has an egress handler.
    pub(super) fn has_egress(&self) -> bool {
        self.events.iter().any(|event| event.has_egress)
    }

    /// Events that egress may have to take apart: those of copies, and those with an egress handler.
    pub(super) fn at_egress(&self) -> Vec<EventId> {
        let is_copied = |id: &EventId| self.slots.iter().any(|slot| slot.contains(id));
        (0..self.events.len() as u32)
            .map(EventId)
            .filter(|id| self.event(*id).has_egress || is_copied(id))
            .collect()
    }

    /// Headers that a slot may hold besides its frame.
    pub(super) fn slot_headers(&self, slot: u32) -> Vec<String> {
        self.slots[slot as usize]
            .iter()
            .filter(|event| self.event(**event).ty.is_some())
            .map(|event| self.outgoing_header(slot, *event))
            .collect()
    }
}
