// SPDX-License-Identifier: Apache-2.0
//! Trace nodes of the events of a block. `recorder` chooses the events and their places in the tree; branches
//! are in `decision`.

use super::value::{action_text, entry_text, value_text};
use super::{TraceNode, TraceValue};
use crate::{Event, Outcome, Slots};
use ir::{
    Bits, BlockId, BlockKind, Display, HashAlgorithm, HeaderId, Key, Operand, Operation, Place,
    Program, RegionId, Slot, SlotId, ValueType,
};

/// Makes nodes of the events of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeMaker<'p>(pub &'p Program);

impl NodeMaker<'_> {
    pub fn shown(&self, display: &Display, name: &str, value: &Bits) -> TraceValue {
        TraceValue::Value(value.clone(), value_text(self.0, display, name, value))
    }

    /// A value of unknown kind.
    fn plain(&self, value: &Bits) -> TraceValue {
        self.shown(&Display::Unsigned, "", value)
    }

    /// An index: a plain number.
    fn index(&self, value: &Bits) -> TraceValue {
        TraceValue::Value(value.clone(), value.to_biguint().to_string())
    }

    fn shown_slot(&self, slot: SlotId, value: &Bits) -> TraceValue {
        match self.0.slots.get(slot.index()) {
            Some(declared) if matches!(declared.ty, ValueType::Varbit(_)) => {
                let text =
                    format!("{} ({} bits)", super::value::hexadecimal(value), value.width_bits());
                TraceValue::Value(value.clone(), text)
            }
            // A validity bit.
            Some(declared) if declared.name.ends_with("$valid") => {
                self.shown(&Display::Bool, &declared.name, value)
            }
            Some(declared) => self.shown(&declared.display, &declared.name, value),
            None => self.plain(value),
        }
    }

    fn keys(&self, keys: &[Key], values: &[Bits]) -> TraceValue {
        TraceValue::Record(
            keys.iter()
                .zip(values)
                .map(|(key, value)| {
                    (key.name.to_string(), self.shown(&key.display, &key.name, value))
                })
                .collect(),
        )
    }

    fn fields(&self, header: HeaderId, slots: Slots<'_>) -> TraceValue {
        let declared = &self.0.headers[header.index()];
        let fields = &self.0.header_types[declared.ty.index()].fields;
        TraceValue::Record(
            fields
                .iter()
                .enumerate()
                .map(|(number, field)| {
                    let slot = declared.field_slot(number);
                    (field.name.to_string(), self.shown_slot(slot, &slots.value(slot)))
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
        let declared = &self.0.tables[table.index()];
        let mut node = TraceNode::new("table", &*declared.name).with("hit", entry.is_some());
        if !keys.is_empty() {
            node = node.with("key", self.keys(&declared.keys, keys));
        }
        if let Some(entry) = entry {
            node = node.with("entry", entry_text(self.0, declared, entry));
        }
        match action {
            Some(bound) => {
                let node = node.with("action", action_text(self.0, bound));
                match bound.arguments.is_empty() {
                    true => node,
                    false => node.with("arguments", self.arguments(bound)),
                }
            }
            None => node.with("action", "none: the group has no members"),
        }
    }

    fn arguments(&self, bound: &state::BoundAction) -> TraceValue {
        let parameters =
            self.0.actions.get(bound.action.index()).map_or(&[][..], |action| &action.parameters);
        TraceValue::Record(
            parameters
                .iter()
                .zip(&bound.arguments)
                .map(|(parameter, value)| {
                    (parameter.name.to_string(), self.shown_slot(parameter.slot, value))
                })
                .collect(),
        )
    }

    /// The node of an event; `None` for events that end or accompany another step.
    pub fn node(&self, event: Event<'_>) -> Option<TraceNode> {
        let program = self.0;
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
            // Stores without a change are left out.
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
                    .with("index", self.index(index))
                    .with("read", self.shown(&declared.display, "", before));
                if let Some(after) = after {
                    node = node.with("written", self.shown(&declared.display, "", after));
                }
                if index.to_u64().is_none_or(|index| index >= declared.size) {
                    node = node.with("out_of_range", true);
                }
                node
            }
            Event::Counted { counter, index } => {
                let node = TraceNode::new("count", &*program.counters[counter.index()].name);
                match index {
                    Some(index) => node.with("index", self.index(index)),
                    None => node,
                }
            }
            Event::Metered { meter, index, colour } => {
                let mut node = TraceNode::new("meter", &*program.meters[meter.index()].name);
                if let Some(index) = index {
                    node = node.with("index", self.index(index));
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
                let name = match algorithm {
                    HashAlgorithm::Custom(id) => program.calculations[id.index()].name.to_string(),
                    plain => format!("{plain:?}").to_lowercase(),
                };
                TraceNode::new("hash", name).with("result", self.plain(result))
            }
            Event::RandomDrawn { low, high, result } => TraceNode::new("random", "")
                .with("low", self.plain(low))
                .with("high", self.plain(high))
                .with("result", self.plain(result)),
            Event::Requested { region, block, instruction, request, arguments } => {
                let declared = &program.requests[request.index()];
                let operands = request_operands(program, region, block, instruction);
                let fields = declared
                    .fields
                    .iter()
                    .zip(arguments)
                    .enumerate()
                    .map(|(number, ((name, _), value))| {
                        let slot = operands
                            .get(number)
                            .and_then(|operand| loaded_slot(program, region, operand));
                        let display = slot.map_or(&Display::Unsigned, |slot| &slot.display);
                        (name.to_string(), self.shown(display, name, value))
                    })
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
            Event::ActionEnded { .. } | Event::Decided { .. } => return None,
        })
    }
}

/// The operands of a request.
fn request_operands(
    program: &Program,
    region: RegionId,
    block: BlockId,
    instruction: u32,
) -> &[Operand] {
    let instruction = program
        .regions
        .get(region.index())
        .and_then(|region| region.blocks.get(block.index()))
        .and_then(|block| block.instructions.get(instruction as usize));
    match instruction.map(|instruction| &instruction.operation) {
        Some(Operation::Request { arguments, .. }) => arguments,
        _ => &[],
    }
}

/// The slot that an operand was loaded from, if it was.
pub(super) fn loaded_slot<'p>(
    program: &'p Program,
    region: RegionId,
    operand: &Operand,
) -> Option<&'p Slot> {
    let Operand::Temp(temp) = operand else { return None };
    let region = program.regions.get(region.index())?;
    let mut instructions = region.blocks.iter().flat_map(|block| &block.instructions);
    instructions.find_map(|instruction| match &instruction.operation {
        Operation::Load { result, place: Place::Slot(slot) } if result == temp => {
            program.slots.get(slot.index())
        }
        _ => None,
    })
}

/// How a block ended, for people.
pub fn outcome_text(program: &Program, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Returned => "end".to_owned(),
        Outcome::Exited => "exit".to_owned(),
        // A transition to `reject`.
        Outcome::Rejected(0) => "reject".to_owned(),
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
