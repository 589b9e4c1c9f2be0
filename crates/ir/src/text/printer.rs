// SPDX-License-Identifier: Apache-2.0
//! Prints a program's items in the order of its lists. Code is printed by `code_printer`.

use super::reference::{List, References};
use super::token::{name, quoted};
use super::words::{self, word_of};
use crate::{
    ActionCall, Block, CrcParameters, Display, Entry, HashAlgorithm, Key, KeyPattern, MatchKind,
    OriginId, Program, Region, SlotId, Table, ValueType,
};
use source::Span;
use std::sync::Arc;

/// The text of a program.
pub(super) fn print(program: &Program, origins: bool) -> String {
    let mut printer =
        Printer { program, references: References::new(program), origins, out: String::new() };
    printer.program();
    printer.out
}

/// The text of some regions of a program, without origins.
pub(super) fn print_regions<'a>(
    program: &'a Program,
    regions: impl IntoIterator<Item = &'a Region>,
) -> String {
    let mut printer = Printer {
        program,
        references: References::new(program),
        origins: false,
        out: String::new(),
    };
    regions.into_iter().for_each(|region| printer.region(region));
    printer.out
}

pub(super) struct Printer<'a> {
    pub program: &'a Program,
    pub references: References<'a>,
    pub origins: bool,
    pub out: String,
}

/// Appends to the printer's text; writing to a string does not fail.
macro_rules! emit {
    ($printer:expr, $($argument:tt)*) => {{
        let text = format!($($argument)*);
        $printer.out.push_str(&text);
    }};
}
pub(super) use emit;

/// Prints a type behind a colon.
pub(super) fn value_type(ty: ValueType) -> String {
    match ty {
        ValueType::Bits(width) => format!("bit<{width}>"),
        ValueType::Varbit(width) => format!("varbit<{width}>"),
    }
}

fn display(display: &Display) -> String {
    match display {
        Display::Unsigned => "unsigned".into(),
        Display::Signed => "signed".into(),
        Display::Bool => "bool".into(),
        Display::Error => "error".into(),
        Display::Enum(enum_name, members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(member, value)| format!("{} = {value}", name(member)))
                .collect();
            format!("enum {} {{ {} }}", name(enum_name), members.join(", "))
        }
    }
}

fn match_kind(kind: &MatchKind) -> String {
    match kind {
        MatchKind::Other(other) => format!("other {}", name(other)),
        plain => word_of(words::MATCH_KIND, plain).into(),
    }
}

fn pattern(pattern: &KeyPattern) -> String {
    match pattern {
        KeyPattern::Any => "any".into(),
        KeyPattern::Exact(value) => format!("exact {value}"),
        KeyPattern::Prefix { value, length_bits } => format!("prefix {value} length {length_bits}"),
        KeyPattern::Ternary { value, mask } => format!("ternary {value} mask {mask}"),
        KeyPattern::Range { low, high } => format!("range {low} to {high}"),
    }
}

/// `word` and the texts in brackets, or nothing.
fn texts(word: &str, texts: &[Arc<str>]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!(" {word} [{}]", texts.join(", "))
}

impl Printer<'_> {
    /// An algorithm, with the calculation that a custom one is.
    pub fn hash_algorithm(&mut self, algorithm: HashAlgorithm) -> String {
        match algorithm {
            HashAlgorithm::Custom(id) => {
                format!("custom {}", self.references.get(List::Calculations, id.0))
            }
            plain => words::hash_text(&plain),
        }
    }

    /// The end of an item's line: its origin.
    pub fn end(&mut self, origin: OriginId) {
        if self.origins {
            emit!(self, " @{}", origin.0);
        }
        self.out.push('\n');
    }

    fn slots(&mut self, slots: &[SlotId]) -> String {
        let slots: Vec<String> =
            slots.iter().map(|slot| self.references.get(List::Slots, slot.0)).collect();
        format!("{{ {} }}", slots.join(", "))
    }

    fn program(&mut self) {
        let program = self.program;
        emit!(self, "ir {}\n", name(&program.architecture));
        for error in &program.errors {
            emit!(self, "error {}\n", name(error));
        }
        self.storage();
        self.state();
        self.device();
        for at in 0..program.regions.len() {
            self.region(&program.regions[at]);
        }
        for block in &program.blocks {
            self.block(block);
        }
        if self.origins {
            self.origins();
        }
    }

    fn storage(&mut self) {
        let program = self.program;
        for slot in &program.slots {
            let ty = value_type(slot.ty);
            emit!(self, "slot {}: {ty} {}", name(&slot.name), display(&slot.display));
            self.end(slot.origin);
        }
        for ty in &program.header_types {
            emit!(self, "header_type {} {{\n", name(&ty.name));
            for field in &ty.fields {
                let (ty, display) = (value_type(field.ty), display(&field.display));
                emit!(self, "  {}: {ty} {display}\n", name(&field.name));
            }
            self.out.push_str("}\n");
        }
        for header in &program.headers {
            let ty = self.references.get(List::HeaderTypes, header.ty.0);
            let slot = self.references.get(List::Slots, header.first_slot.0);
            emit!(self, "header {}: {ty} at {slot}\n", name(&header.name));
        }
        for stack in &program.stacks {
            let first = self.references.get(List::Headers, stack.first_header.0);
            let next = self.references.get(List::Slots, stack.next.0);
            emit!(
                self,
                "stack {} first {first} headers_per_element {} size {} next {next}\n",
                name(&stack.name),
                stack.headers_per_element,
                stack.size
            );
        }
        for union in &program.unions {
            let members: Vec<String> = union
                .members
                .iter()
                .map(|member| self.references.get(List::Headers, member.0))
                .collect();
            emit!(self, "union {} {{ {} }}\n", name(&union.name), members.join(", "));
        }
    }

    fn state(&mut self) {
        let program = self.program;
        for table in &program.tables {
            self.table(table);
        }
        for action in &program.actions {
            emit!(self, "action {}(", name(&action.name));
            for (at, parameter) in action.parameters.iter().enumerate() {
                let slot = self.references.get(List::Slots, parameter.slot.0);
                let comma = if at == 0 { "" } else { ", " };
                emit!(self, "{comma}{} at {slot}", name(&parameter.name));
                let annotations = texts("annotations", &parameter.annotations);
                self.out.push_str(&annotations);
            }
            let region = self.references.get(List::Regions, action.region.0);
            emit!(self, ") runs {region}{}", texts("annotations", &action.annotations));
            self.end(action.origin);
        }
        for register in &program.registers {
            emit!(
                self,
                "register {}: bit<{}> {} size {} initial {}",
                name(&register.name),
                register.width_bits,
                display(&register.display),
                register.size,
                register.initial
            );
            self.end(register.origin);
        }
        let cells = |size: Option<u64>| size.map_or("direct".into(), |size| format!("size {size}"));
        for counter in &program.counters {
            let unit = word_of(words::COUNT_UNIT, &counter.unit);
            emit!(self, "counter {}: {unit} {}", name(&counter.name), cells(counter.size));
            self.end(counter.origin);
        }
        for meter in &program.meters {
            let unit = word_of(words::COUNT_UNIT, &meter.unit);
            emit!(self, "meter {}: {unit} {}", name(&meter.name), cells(meter.size));
            self.end(meter.origin);
        }
        for profile in &program.action_profiles {
            emit!(self, "action_profile {}", name(&profile.name));
            if let Some(size) = profile.size {
                emit!(self, " size {size}");
            }
            if let Some((algorithm, width_bits)) = &profile.selector {
                emit!(self, " selector {} {width_bits}", self.hash_algorithm(*algorithm));
            }
            self.end(profile.origin);
        }
        for calculation in &program.calculations {
            let CrcParameters { width_bits, polynomial, initial, final_xor, .. } =
                calculation.parameters;
            let label = name(&calculation.name);
            emit!(self, "calculation {label} width {width_bits} polynomial {polynomial}");
            emit!(self, " initial {initial} final_xor {final_xor}");
            if calculation.parameters.reflect_input {
                self.out.push_str(" reflect_input");
            }
            if calculation.parameters.reflect_output {
                self.out.push_str(" reflect_output");
            }
            self.end(calculation.origin);
        }
        for set in &program.value_sets {
            emit!(self, "value_set {} size {} {{", name(&set.name), set.size);
            self.out.push('\n');
            for component in &set.components {
                self.key(component);
            }
            self.out.push('}');
            self.end(set.origin);
        }
    }

    fn key(&mut self, key: &Key) {
        emit!(
            self,
            "  key {}: {} bit<{}> {}{}\n",
            name(&key.name),
            match_kind(&key.match_kind),
            key.width_bits,
            display(&key.display),
            texts("annotations", &key.annotations)
        );
    }

    fn call(&mut self, table: &Table, call: &ActionCall) -> String {
        // By name where the table's list has the action once, else by place in that list.
        let at = call.action;
        let called = table.actions.get(at as usize).map(|listed| listed.action);
        let times = table.actions.iter().filter(|listed| Some(listed.action) == called).count();
        let action = match called {
            Some(action) if times == 1 => self.references.get(List::Actions, action.0),
            _ => format!("number {at}"),
        };
        let arguments: Vec<String> = call.arguments.iter().map(ToString::to_string).collect();
        format!("{action}({})", arguments.join(", "))
    }

    fn table(&mut self, table: &Table) {
        emit!(self, "table {} {{\n", name(&table.name));
        for key in &table.keys {
            self.key(key);
        }
        for listed in &table.actions {
            let action = self.references.get(List::Actions, listed.action.0);
            emit!(self, "  action {action}");
            if listed.table_only {
                self.out.push_str(" table_only");
            }
            if listed.default_only {
                self.out.push_str(" default_only");
            }
            self.out.push('\n');
        }
        let default = self.call(table, &table.default_action);
        let constant = if table.const_default_action { "const_default" } else { "default" };
        emit!(self, "  {constant} {default}\n");
        for entry in &table.entries {
            self.entry(table, entry);
        }
        if table.const_entries {
            self.out.push_str("  const_entries\n");
        }
        if let Some(size) = table.size {
            emit!(self, "  size {size}\n");
        }
        if let Some(profile) = table.implementation {
            let profile = self.references.get(List::ActionProfiles, profile.0);
            emit!(self, "  implementation {profile}\n");
        }
        for counter in &table.direct_counters {
            let counter = self.references.get(List::Counters, counter.0);
            emit!(self, "  direct_counter {counter}\n");
        }
        for meter in &table.direct_meters {
            let meter = self.references.get(List::Meters, meter.0);
            emit!(self, "  direct_meter {meter}\n");
        }
        if table.idle_timeout {
            self.out.push_str("  idle_timeout\n");
        }
        for annotation in &table.annotations {
            emit!(self, "  annotation {}\n", quoted(annotation));
        }
        self.out.push('}');
        self.end(table.origin);
    }

    fn entry(&mut self, table: &Table, entry: &Entry) {
        let keys: Vec<String> = entry.keys.iter().map(pattern).collect();
        let call = self.call(table, &entry.call);
        emit!(self, "  entry priority {} ({}) runs {call}", entry.priority, keys.join(", "));
        self.end(entry.origin);
    }

    fn device(&mut self) {
        let program = self.program;
        for request in &program.requests {
            let fields: Vec<String> = request
                .fields
                .iter()
                .map(|(field, ty)| format!("{}: {}", name(field), value_type(*ty)))
                .collect();
            emit!(
                self,
                "request {} label {} {{ {} }}\n",
                name(&request.name),
                name(&request.label),
                fields.join(", ")
            );
        }
        for item in &program.externs {
            emit!(self, "extern {}", name(&item.type_name));
            if !item.instance.is_empty() {
                emit!(self, " instance {}", name(&item.instance));
            }
            let arguments = texts("arguments", &item.arguments);
            self.out.push_str(&arguments);
            self.end(item.origin);
        }
        for list in &program.field_lists {
            let slots = self.slots(&list.slots);
            emit!(self, "field_list {} {slots}\n", list.number);
        }
    }

    fn block(&mut self, block: &Block) {
        let kind = word_of(words::BLOCK_KIND, &block.kind);
        let region = self.references.get(List::Regions, block.region.0);
        emit!(self, "block {} {kind} {} runs {region}", name(&block.role), name(&block.name));
        if let Some(slot) = block.parser_error {
            emit!(self, " parser_error {}", self.references.get(List::Slots, slot.0));
        }
        self.out.push_str(" {\n");
        for parameter in &block.parameters {
            emit!(
                self,
                "  parameter {} storage {}",
                name(&parameter.name),
                name(&parameter.storage)
            );
            if parameter.is_input {
                self.out.push_str(" in");
            }
            if parameter.is_output {
                self.out.push_str(" out");
            }
            let slots = self.slots(&parameter.slots);
            emit!(self, " {slots}\n");
        }
        self.out.push('}');
        self.end(block.origin);
    }

    fn origins(&mut self) {
        for (at, origin) in self.program.origins.iter().enumerate() {
            emit!(self, "origin @{at}");
            if origin.span != Span::NONE {
                let Span { file, start, end } = origin.span;
                emit!(self, " file {} bytes {start} to {end}", file.0);
            }
            if let Some(node) = origin.node {
                emit!(self, " node {}", node.0);
            }
            if let Some(owner) = &origin.name {
                emit!(self, " name {}", name(owner));
            }
            if let Some(parent) = origin.parent {
                emit!(self, " parent @{}", parent.0);
            }
            if let Some(atomic) = origin.atomic {
                emit!(self, " atomic {atomic}");
            }
            if origin.repetition > 0 {
                emit!(self, " repetition {}", origin.repetition);
            }
            if !origin.merged.is_empty() {
                emit!(self, " merges");
                for merged in &origin.merged {
                    emit!(self, " @{}", merged.0);
                }
            }
            self.out.push('\n');
        }
    }
}
