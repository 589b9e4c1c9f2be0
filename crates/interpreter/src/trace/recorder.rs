// SPDX-License-Identifier: Apache-2.0
//! Makes a trace of the events of a block. Steps of the device are the device's to add.

use super::value::{action_text, entry_text, value_text};
use super::{TraceNode, TraceValue};
use crate::{Event, Observer, Outcome};
use ir::{Bits, BlockKind, Display, HeaderId, Key, OriginId, Program, SlotId, ValueType};
use std::sync::Arc;

/// An onlooker that makes a tree of what it sees.
#[derive(Clone, Debug)]
pub struct Recorder {
    program: Arc<Program>,
    /// Finished trees: one a block.
    finished: Vec<TraceNode>,
    /// Steps that are not finished, each inside the one before.
    open: Vec<TraceNode>,
}

impl Recorder {
    /// A recorder for a program.
    pub fn new(program: Arc<Program>) -> Recorder {
        Recorder { program, finished: Vec::new(), open: Vec::new() }
    }

    /// The trees of the blocks that ran since the last call.
    pub fn take(&mut self) -> Vec<TraceNode> {
        self.close_to(0);
        std::mem::take(&mut self.finished)
    }

    fn add(&mut self, node: TraceNode) {
        match self.open.last_mut() {
            Some(open) => open.steps.push(node),
            None => self.finished.push(node),
        }
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            if let Some(node) = self.open.pop() {
                self.add(node);
            }
        }
    }

    /// Closes the innermost step of this kind, and what is open inside it.
    fn close(&mut self, step: &str) {
        if let Some(depth) = self.open.iter().rposition(|node| node.step == step) {
            self.close_to(depth);
        }
    }

    fn shown(&self, display: &Display, value: &Bits) -> TraceValue {
        TraceValue::Value(value.clone(), value_text(&self.program, display, value))
    }

    fn plain(&self, value: &Bits) -> TraceValue {
        self.shown(&Display::Unsigned, value)
    }

    fn shown_slot(&self, slot: SlotId, value: &Bits) -> TraceValue {
        match self.program.slots.get(slot.index()) {
            Some(declared) if matches!(declared.ty, ValueType::Varbit(_)) => {
                let text =
                    format!("{} ({} bits)", super::value::hexadecimal(value), value.width_bits());
                TraceValue::Value(value.clone(), text)
            }
            // A validity bit.
            Some(declared) if declared.name.ends_with("$valid") => {
                self.shown(&Display::Bool, value)
            }
            Some(declared) => self.shown(&declared.display, value),
            None => self.plain(value),
        }
    }

    fn keys(&self, keys: &[Key], values: &[Bits]) -> TraceValue {
        TraceValue::Record(
            keys.iter()
                .zip(values)
                .map(|(key, value)| (key.name.to_string(), self.shown(&key.display, value)))
                .collect(),
        )
    }

    fn fields(&self, header: HeaderId, slots: &[Bits]) -> TraceValue {
        let declared = &self.program.headers[header.index()];
        let fields = &self.program.header_types[declared.ty.index()].fields;
        TraceValue::Record(
            fields
                .iter()
                .enumerate()
                .map(|(number, field)| {
                    let slot = declared.field_slot(number);
                    (field.name.to_string(), self.shown_slot(slot, &slots[slot.index()]))
                })
                .collect(),
        )
    }

    fn table_applied(
        &self,
        table: ir::TableId,
        keys: &[Bits],
        entry: Option<&state::EntryRecord>,
        action: Option<&state::BoundAction>,
    ) -> TraceNode {
        let declared = &self.program.tables[table.index()];
        let mut node = TraceNode::new("table", &*declared.name).with("hit", entry.is_some());
        if !keys.is_empty() {
            node = node.with("key", self.keys(&declared.keys, keys));
        }
        if let Some(entry) = entry {
            node = node.with("entry", entry_text(&self.program, declared, entry));
        }
        match action {
            Some(bound) => node.with("action", action_text(&self.program, bound)),
            None => node.with("action", "none: the group has no members"),
        }
    }

    fn node(&self, event: Event<'_>) -> Option<TraceNode> {
        let program = &self.program;
        Some(match event {
            Event::BlockEntered { block } => {
                let declared = &program.blocks[block];
                let kind = match declared.kind {
                    BlockKind::Parser => "parser",
                    BlockKind::Control => "control",
                    BlockKind::Deparser => "deparser",
                };
                TraceNode::new("block", &*declared.name)
                    .with("kind", kind)
                    .with("role", &*declared.role)
            }
            Event::ParserState { name, .. } => TraceNode::new("parser_state", name),
            Event::Extracted { header, slots } => {
                TraceNode::new("extract", &*program.headers[header.index()].name)
                    .with("fields", self.fields(header, slots))
            }
            Event::Advanced { bits } => TraceNode::new("advance", "").with("bits", bits),
            Event::ParserError { error } => TraceNode::new("parser_error", "").with(
                "error",
                match program.errors.get(error as usize) {
                    Some(name) => name.to_string(),
                    None => error.to_string(),
                },
            ),
            Event::TableApplied { table, keys, entry, action } => {
                self.table_applied(table, keys, entry, action)
            }
            // What does not change says nothing.
            Event::SlotStored { before, after, .. } if before == after => return None,
            Event::SlotStored { slot, before, after } => {
                TraceNode::new("store", &*program.slots[slot.index()].name)
                    .with("before", self.shown_slot(slot, before))
                    .with("after", self.shown_slot(slot, after))
            }
            Event::Emitted { header, slots } => {
                TraceNode::new("emit", &*program.headers[header.index()].name)
                    .with("fields", self.fields(header, slots))
            }
            Event::StackShifted { stack, by } => {
                let declared = &program.stacks[stack.index()];
                TraceNode::new("shift_stack", &*declared.name).with("by", by.to_string())
            }
            Event::RegisterAccessed { register, index, before, after } => {
                let declared = &program.registers[register.index()];
                let mut node = TraceNode::new("register", &*declared.name)
                    .with("index", self.plain(index))
                    .with("read", self.shown(&declared.display, before));
                if let Some(after) = after {
                    node = node.with("written", self.shown(&declared.display, after));
                }
                node
            }
            Event::Counted { counter, index } => {
                let node = TraceNode::new("count", &*program.counters[counter.index()].name);
                match index {
                    Some(index) => node.with("index", self.plain(index)),
                    None => node,
                }
            }
            Event::Metered { meter, index, colour } => {
                let mut node = TraceNode::new("meter", &*program.meters[meter.index()].name);
                if let Some(index) = index {
                    node = node.with("index", self.plain(index));
                }
                let colour = match colour {
                    state::Colour::Green => "green",
                    state::Colour::Yellow => "yellow",
                    state::Colour::Red => "red",
                };
                node.with("colour", colour)
            }
            Event::ValueSetAsked { set, keys, is_member } => {
                let declared = &program.value_sets[set.index()];
                TraceNode::new("value_set", &*declared.name)
                    .with("member", is_member)
                    .with("key", self.keys(&declared.components, keys))
            }
            Event::Hashed { algorithm, result } => {
                TraceNode::new("hash", format!("{algorithm:?}").to_lowercase())
                    .with("result", self.plain(result))
            }
            Event::RandomDrawn { low, high, result } => TraceNode::new("random", "")
                .with("low", self.plain(low))
                .with("high", self.plain(high))
                .with("result", self.plain(result)),
            Event::Requested { request, arguments } => {
                let declared = &program.requests[request.index()];
                let fields = declared
                    .fields
                    .iter()
                    .zip(arguments)
                    .map(|((name, _), value)| (name.to_string(), self.plain(value)))
                    .collect();
                let mut node = TraceNode::new("request", &*declared.name);
                if !declared.label.is_empty() {
                    node = node.with("label", &*declared.label);
                }
                node.with("arguments", TraceValue::Record(fields))
            }
            Event::Logged { line } => TraceNode::new("log", "").with("text", line),
            Event::ExternCalled { target, method, arguments, results } => {
                let declared = &program.externs[target.index()];
                let called = match (&*declared.instance, method) {
                    ("", _) => declared.type_name.to_string(),
                    (instance, "") => instance.to_owned(),
                    (instance, method) => format!("{instance}.{method}"),
                };
                let list = |values: &[Bits]| {
                    TraceValue::List(values.iter().map(|value| self.plain(value)).collect())
                };
                TraceNode::new("extern", called)
                    .with("arguments", list(arguments))
                    .with("results", list(results))
            }
            Event::BlockEnded { outcome, .. } => {
                TraceNode::new("outcome", "").with("text", outcome_text(program, outcome))
            }
            Event::ActionEnded { .. } => return None,
        })
    }
}

/// How a block ended, for people.
pub fn outcome_text(program: &Program, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Returned => "end".to_owned(),
        Outcome::Exited => "exit".to_owned(),
        Outcome::Rejected(error) => match program.errors.get(*error as usize) {
            Some(name) => format!("reject with error.{name}"),
            None => format!("reject with error number {error}"),
        },
        Outcome::StepLimit => format!("stopped after {} loops", ir::STEP_LIMIT),
        Outcome::AssertionFailed { is_assume: false, .. } => {
            "an assertion does not hold".to_owned()
        }
        Outcome::AssertionFailed { is_assume: true, .. } => {
            "an assumption does not hold".to_owned()
        }
        Outcome::ExternFailed { target, message } => {
            let name = program.externs.get(target.index()).map_or("", |found| &*found.type_name);
            format!("extern `{name}` failed: {message}")
        }
    }
}

impl Observer for Recorder {
    fn observe(&mut self, origin: Option<OriginId>, event: Event<'_>) {
        match event {
            // A basic block without a name is a part of the state before it.
            Event::ParserState { name: "", .. } => return,
            Event::ParserState { .. } => self.close("parser_state"),
            Event::ActionEnded { .. } => return self.close("table"),
            Event::BlockEnded { .. } => {
                // The outcome belongs to the block, not to what was open when it came.
                self.close_to(1);
            }
            _ => {}
        }
        let Some(node) = self.node(event) else { return };
        let node = node.at(origin);
        match event {
            Event::BlockEntered { .. } => {
                self.close_to(0);
                self.open.push(node);
            }
            Event::ParserState { .. } | Event::TableApplied { .. } => self.open.push(node),
            Event::BlockEnded { .. } => {
                self.add(node);
                self.close_to(0);
            }
            _ => self.add(node),
        }
    }
}
