// SPDX-License-Identifier: Apache-2.0
//! When the headers of generated events are valid. Handlers compute arguments before they know whether the event is
//! generated, and a field of an invalid header holds nothing (P4_16 §8.18). So the parsers make all headers valid that
//! the handler may fill, with zero in what it may leave out; behind the handler those go that no event needs.

use super::context::{Context, frame_field};
use super::slots::{slot_shapes, written};
use crate::atomic::program::{Operation, SlotField, Statement, VariableKind};
use lucid::core::EventId;
use pisa::guard::{Guard, cross_product_within};
use pisa::{Gress, VariableId};
use source::Span;
use std::collections::BTreeSet;

/// Rules of two guards that are compared to find out whether a field is always written.
const MAX_RULES: usize = 1024;

/// Statements of a half of the switch that may run for an event.
fn statements_of<'c>(
    context: &'c Context<'_>,
    event: EventId,
    gress: Gress,
) -> impl Iterator<Item = &'c Statement> {
    context.atomic.statements.iter().filter(move |statement| {
        let handler = statement.handler.map(|id| &context.atomic.handlers[id.0 as usize]);
        statement.gress == gress && handler.is_none_or(|handler| handler.event == event)
    })
}

/// Events in slots whose headers the handler of this event may fill.
fn filled(context: &Context<'_>, event: EventId, gress: Gress) -> BTreeSet<(u32, EventId)> {
    let mut filled = BTreeSet::new();
    for statement in statements_of(context, event, gress) {
        if let Operation::Generate { slot, event, .. } = &statement.operation {
            filled.insert((*slot, *event));
        }
        let variables = context.atomic.reads(statement).into_iter();
        let variables = variables.chain(statement.guard.variables());
        for id in variables.chain(statement.operation.writes()) {
            if let VariableKind::Argument { slot, event, .. } = context.atomic.variable(id).kind {
                filled.insert((slot, event));
            }
        }
    }
    filled
}

/// Whether a field has a value whenever one of these guards lets an event be generated.
fn is_always_written(
    context: &Context<'_>,
    event: EventId,
    field: VariableId,
    generates: &[&Guard],
) -> bool {
    let gress = Gress::Ingress;
    let writers: Vec<&Guard> = statements_of(context, event, gress)
        .filter(|statement| written(&statement.operation).iter().any(|(to, _)| *to == field))
        .map(|statement| &statement.guard)
        .collect();
    generates.iter().all(|generate| {
        writers.iter().any(|writer| {
            writer.is_always()
                || *writer == *generate
                || cross_product_within(&[*generate, *writer], MAX_RULES).is_some_and(|rules| {
                    rules.iter().all(|rule| !rule.runs.contains(&0) || rule.runs.contains(&1))
                })
        })
    })
}

/// What the ingress parser says where the handler of an event is to run.
pub(super) fn begin(context: &Context<'_>, event: EventId) -> String {
    let mut filled = filled(context, event, Gress::Ingress);
    filled.retain(|(slot, event)| {
        context.events.slots.get(*slot as usize).is_some_and(|slot| slot.contains(event))
    });
    let slots: BTreeSet<u32> = filled.iter().map(|(slot, _)| *slot).collect();
    let mut text: String = slots.iter().map(|slot| format!("hdr.slot{slot}.setValid();")).collect();
    for (slot, event) in &filled {
        if context.events.event(*event).ty.is_some() {
            let header = context.events.outgoing_header(*slot, *event);
            text.push_str(&format!("{header}.setValid();"));
        }
    }
    text + &zeros(context, event, &filled, &slots)
}

/// What stays zero unless a statement writes it.
fn zeros(
    context: &Context<'_>,
    event: EventId,
    filled: &BTreeSet<(u32, EventId)>,
    slots: &BTreeSet<u32>,
) -> String {
    let mut text = String::new();
    let generates = |at: u32, what: Option<EventId>| -> Vec<&Guard> {
        statements_of(context, event, Gress::Ingress)
            .filter_map(|statement| match &statement.operation {
                Operation::Generate { slot, event, .. }
                    if *slot == at && what.is_none_or(|what| what == *event) =>
                {
                    Some(&statement.guard)
                }
                _ => None,
            })
            .collect()
    };
    let is_written = |kind: VariableKind, guards: &[&Guard]| {
        let variable = context.atomic.variables.iter().position(|one| one.kind == kind);
        variable.is_some_and(|at| is_always_written(context, event, VariableId(at as u32), guards))
    };
    for slot in slots {
        let guards = generates(*slot, None);
        let writes_kind = slot_shapes(context.atomic)[*slot as usize].writes_kind;
        let kind = writes_kind.then_some(SlotField::PlaceKind);
        for field in kind.into_iter().chain([SlotField::Place, SlotField::DelayNs]) {
            let kind = VariableKind::Slot { gress: Gress::Ingress, slot: *slot, field };
            if !is_written(kind, &guards) {
                text.push_str(&format!("hdr.slot{slot}.{} = 0;", frame_field(field)));
            }
        }
    }
    for (slot, generated) in filled {
        let guards = generates(*slot, Some(*generated));
        if guards.is_empty() {
            continue;
        }
        let header = context.events.event(*generated);
        for parameter in
            (0..header.fields.len() as u32).filter(|at| header.fields[*at as usize].is_some())
        {
            let (gress, slot, event) = (Gress::Ingress, *slot, *generated);
            let kind = VariableKind::Argument { gress, slot, event, parameter };
            if !is_written(kind, &guards) {
                let field = context.events.outgoing(slot, event, parameter);
                text.push_str(&format!("{field} = 0;"));
            }
        }
    }
    text
}

/// The table that leaves of a slot the headers of the event that was generated.
pub(super) fn keep(context: &mut Context<'_>, stage: usize, slot: u32) -> Option<String> {
    let events = context.events.slots[slot as usize].clone();
    let headers: Vec<(EventId, String)> = events
        .iter()
        .filter(|id| context.events.event(**id).ty.is_some())
        .map(|id| (*id, context.events.outgoing_header(slot, *id)))
        .collect();
    let all: String = headers.iter().map(|(_, header)| format!("{header}.setInvalid();")).collect();
    let empty = context.names.fresh(&format!("empty_slot{slot}"));
    context.put(Span::NONE, format!("action {empty}() {{ hdr.slot{slot}.setInvalid(); {all} }}"));
    let table = context.names.fresh(&format!("keep_slot{slot}"));
    let mut names = vec![empty.clone()];
    let mut entries = String::new();
    for id in &events {
        let others: String = headers
            .iter()
            .filter(|(other, _)| other != id)
            .map(|(_, header)| format!("{header}.setInvalid();"))
            .collect();
        let event = context.events.event(*id);
        let number = event.number;
        let name = match others.is_empty() {
            true => "NoAction".to_string(),
            false => {
                let name = format!("keep_slot{slot}_{}", event.name);
                let name = context.names.fresh(&name);
                context.put(Span::NONE, format!("action {name}() {{ {others} }}"));
                name
            }
        };
        entries.push_str(&format!("(1, {number}) : {name}();"));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    context.put(
        Span::NONE,
        format!(
            "@stage({stage}) table {table} {{ key = {{ hdr.bridge.slot{slot} : exact; \
             hdr.slot{slot}.number : exact; }} actions = {{ {}; }} \
             const entries = {{ {entries} }} const default_action = {empty}(); size = {}; }}",
            names.join("; "),
            events.len()
        ),
    );
    Some(format!("{table}.apply();"))
}
