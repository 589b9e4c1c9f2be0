// SPDX-License-Identifier: Apache-2.0
//! Headers of events: their parameters as they are on the wire, one header for the event that came
//! in, and one for each place that generated events can take. What is in front of them on the wire
//! is `scheduler`'s.

use crate::expressions::wire_bits;
use crate::names::Names;
use crate::normal::generate_slots;
use lucid::core::walk::each_statement;
use lucid::core::{Body, Event, EventId, ExpressionKind, Program, StatementKind, Type};
use lucid::syntax::ast::EventSort;
use std::collections::BTreeMap;

/// How an event is laid out.
pub(crate) struct EventShape {
    /// Constant with its wire number.
    pub(crate) constant: String,
    /// Type and name of the header, if there are parameters with bits.
    pub(crate) header: Option<(String, String)>,
    /// Field of each parameter with its width; none for a payload.
    pub(crate) fields: Vec<Option<(String, u32)>>,
    /// Zero bits behind the parameters.
    pub(crate) padding_bits: u32,
    /// Bytes of the parameters.
    pub(crate) bytes: u32,
    pub(crate) has_payload: bool,
    /// Whether it leaves without a frame.
    pub(crate) is_bare: bool,
}

/// All events, and which places generated ones take.
pub(crate) struct Shapes {
    pub(crate) events: Vec<EventShape>,
    /// Header of a generated event by place and event; none if the event has no header.
    pub(crate) slots: BTreeMap<(u32, EventId), Option<String>>,
    /// Most events that one run of a handler generates.
    pub(crate) slot_count: u32,
    /// Names of fields of the struct of headers.
    pub(crate) names: Names,
    /// Headers that the program's parsers read: place, type, declaration of the type, field.
    pub(crate) chunks: Vec<Chunk>,
}

/// A header that the program's parsers read.
pub(crate) struct Chunk {
    pub(crate) span: source::Span,
    pub(crate) ty: String,
    /// Its declaration.
    pub(crate) declaration: String,
    /// Its field in the struct of headers.
    pub(crate) name: String,
}

impl Shapes {
    pub(crate) fn new(program: &Program, names: &mut Names) -> Shapes {
        let mut fields = Names::new(&["frame", "number"]);
        let events: Vec<EventShape> =
            program.events.iter().map(|event| shape(program, event, names, &mut fields)).collect();
        let slots = BTreeMap::new();
        let mut shapes =
            Shapes { events, slots, slot_count: 0, names: Names::default(), chunks: Vec::new() };
        for event in &program.events {
            if let Some(body) = &event.handler {
                shapes.add_generated(body, &mut fields);
            }
            if let Some(body) = &event.egress_handler {
                shapes.add_generated(body, &mut fields);
            }
        }
        shapes.names = fields;
        shapes
    }

    fn add_generated(&mut self, body: &Body, names: &mut Names) {
        let slots = generate_slots(body);
        self.slot_count = self.slot_count.max(slots.most);
        let mut at = 0;
        each_statement(&body.statements, &mut |statement| {
            let StatementKind::Generate { event, .. } = &statement.kind else { return };
            let slot = slots.slots[at].most;
            at += 1;
            let event = match &event.kind {
                ExpressionKind::Delay { event, .. } => event,
                _ => event,
            };
            if let ExpressionKind::Event { event, .. } = &event.kind {
                let shape = &self.events[event.0 as usize];
                self.slots.entry((slot, *event)).or_insert_with(|| {
                    let name = shape.header.as_ref().map(|(_, name)| name);
                    name.map(|name| names.fresh(&format!("{name}_{slot}")))
                });
            }
        });
    }

    pub(crate) fn event(&self, event: EventId) -> &EventShape {
        &self.events[event.0 as usize]
    }
}

fn shape(program: &Program, event: &Event, types: &mut Names, names: &mut Names) -> EventShape {
    let mut field_names = Names::new(&["padding"]);
    let mut fields = Vec::new();
    let mut bits = 0;
    for parameter in &event.parameters {
        let width_bits = wire_bits(parameter.ty);
        bits += width_bits;
        fields.push((width_bits > 0).then(|| (field_names.fresh(&parameter.name), width_bits)));
    }
    let padding_bits = bits.next_multiple_of(8) - bits;
    let header = (bits > 0).then(|| {
        let name = names.fresh(&event.name);
        (types.fresh(&format!("{name}_t")), name)
    });
    EventShape {
        constant: types.fresh(&format!("EVENT_{}", event.name)),
        header,
        fields,
        padding_bits,
        bytes: (bits + padding_bits) / 8,
        has_payload: event.parameters.iter().any(|parameter| parameter.ty == Type::Payload),
        is_bare: event.sort == EventSort::Packet && program.main_parser.is_some(),
    }
}
