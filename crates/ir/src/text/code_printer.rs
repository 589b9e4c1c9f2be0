// SPDX-License-Identifier: Apache-2.0
//! Prints regions: basic blocks, instructions and terminators.

use super::printer::{Printer, emit, value_type};
use super::reference::List;
use super::token::{name, quoted};
use super::words::{self, word_of};
use crate::{
    ExternAccess, HeaderRef, Instruction, Operand, Operation, Place, Region, StackId, Temp,
    Terminator,
};

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Constant(value) => value.to_string(),
        Operand::Temp(temp) => format!("t{}", temp.0),
    }
}

fn operands(list: &[Operand]) -> String {
    let list: Vec<String> = list.iter().map(operand).collect();
    format!("({})", list.join(", "))
}

/// Marks what instructions define, register updates included.
fn mark_definitions(instructions: &[Instruction], defined: &mut [bool]) {
    for instruction in instructions {
        for temp in instruction.operation.results() {
            if let Some(known) = defined.get_mut(temp.index()) {
                *known = true;
            }
        }
        if let Operation::RegisterAccess { update: Some(update), .. } = &instruction.operation {
            mark_definitions(&update.body, defined);
        }
    }
}

/// Prints one region. A temporary shows its type at its first definition in the text.
struct Code<'a, 'b> {
    printer: &'b mut Printer<'a>,
    region: &'a Region,
    typed: Vec<bool>,
}

impl<'a> Printer<'a> {
    pub(super) fn region(&mut self, region: &'a Region) {
        let kind = word_of(words::REGION_KIND, &region.kind);
        emit!(self, "region {kind} {} {{\n", name(&region.name));
        let mut code = Code { printer: self, region, typed: vec![false; region.temps.len()] };
        code.undefined();
        for (at, block) in region.blocks.iter().enumerate() {
            let title = match &*block.name {
                "" => String::new(),
                title => format!(" {}", name(title)),
            };
            emit!(code.printer, "  block{at}{title}:\n");
            for instruction in &block.instructions {
                code.instruction(instruction, "    ");
            }
            let terminator = terminator(&block.terminator);
            emit!(code.printer, "    {terminator}");
            code.printer.end(block.origin);
        }
        self.out.push_str("}\n");
    }
}

fn terminator(terminator: &Terminator) -> String {
    match terminator {
        Terminator::Goto(block) => format!("goto block{}", block.0),
        Terminator::Branch { condition, then, otherwise } => {
            format!("branch {}, block{}, block{}", operand(condition), then.0, otherwise.0)
        }
        Terminator::Switch { value, cases, default } => {
            let cases: Vec<String> =
                cases.iter().map(|(case, block)| format!("{case}: block{}", block.0)).collect();
            let cases = cases.join(", ");
            format!("switch {} {{ {cases} }} default block{}", operand(value), default.0)
        }
        Terminator::Return => "return".into(),
        Terminator::Exit => "exit".into(),
        Terminator::Reject(error) => format!("reject {}", operand(error)),
    }
}

impl Code<'_, '_> {
    /// Lists the temporaries that no instruction defines, so that their types are not lost.
    fn undefined(&mut self) {
        let mut defined = vec![false; self.region.temps.len()];
        for block in &self.region.blocks {
            mark_definitions(&block.instructions, &mut defined);
        }
        for (at, ty) in self.region.temps.iter().enumerate() {
            if !defined[at] {
                emit!(self.printer, "  undefined t{at}: {}\n", value_type(*ty));
            }
        }
    }

    fn result(&mut self, temp: Temp) -> String {
        match (self.typed.get_mut(temp.index()), self.region.temps.get(temp.index())) {
            (Some(typed @ false), Some(ty)) => {
                *typed = true;
                format!("t{}: {}", temp.0, value_type(*ty))
            }
            _ => format!("t{}", temp.0),
        }
    }

    fn get(&mut self, list: List, at: u32) -> String {
        self.printer.references.get(list, at)
    }

    fn element(&mut self, stack: StackId, index: &Operand, member: u32) -> String {
        let stack = self.get(List::Stacks, stack.0);
        format!("element {stack}[{}] member {member}", operand(index))
    }

    fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Slot(slot) => self.get(List::Slots, slot.0),
            Place::Element { stack, member, field, index } => {
                format!("{} field {field}", self.element(*stack, index, *member))
            }
        }
    }

    fn header(&mut self, header: &HeaderRef) -> String {
        match header {
            HeaderRef::Header(header) => self.get(List::Headers, header.0),
            HeaderRef::Element { stack, member, index } => self.element(*stack, index, *member),
        }
    }

    fn instruction(&mut self, instruction: &Instruction, indent: &str) {
        let results = instruction.operation.results();
        let results: Vec<String> = results.into_iter().map(|temp| self.result(temp)).collect();
        self.printer.out.push_str(indent);
        if !results.is_empty() {
            emit!(self.printer, "{} = ", results.join(", "));
        }
        self.operation(&instruction.operation, indent);
        self.printer.end(instruction.origin);
    }

    fn operation(&mut self, operation: &Operation, indent: &str) {
        let text = match operation {
            Operation::Unary { operation, operand: value, .. } => {
                format!("{} {}", word_of(words::UNARY, operation), operand(value))
            }
            Operation::Binary { operation, left, right, .. } => {
                let word = word_of(words::BINARY, operation);
                format!("{word} {}, {}", operand(left), operand(right))
            }
            Operation::Resize { kind, operand: value, .. } => {
                format!("{} {}", word_of(words::RESIZE, kind), operand(value))
            }
            Operation::Slice { operand: value, high, low, .. } => {
                format!("slice {}[{high}:{low}]", operand(value))
            }
            Operation::Select { condition, then, otherwise, .. } => {
                format!("select {}, {}, {}", operand(condition), operand(then), operand(otherwise))
            }
            Operation::Load { place, .. } => format!("load {}", self.place(place)),
            Operation::Store { place, value } => {
                format!("store {}, {}", self.place(place), operand(value))
            }
            Operation::Extract { header, varbit_bits } => {
                let header = self.header(header);
                match varbit_bits {
                    Some(bits) => format!("extract {header} varbit {}", operand(bits)),
                    None => format!("extract {header}"),
                }
            }
            Operation::Lookahead { .. } => "lookahead".into(),
            Operation::Advance { bits } => format!("advance {}", operand(bits)),
            Operation::PacketLength { .. } => "packet_length".into(),
            Operation::Emit { header } => format!("emit {}", self.header(header)),
            Operation::ShiftStack { stack, by } => {
                format!("shift_stack {} by {by}", self.get(List::Stacks, stack.0))
            }
            Operation::Apply { table, keys, .. } => {
                format!("apply {}{}", self.get(List::Tables, table.0), operands(keys))
            }
            Operation::RegisterAccess { .. } => return self.register_access(operation, indent),
            Operation::Count { counter, index } => {
                format!("count {}[{}]", self.get(List::Counters, counter.0), operand(index))
            }
            Operation::Meter { meter, index, .. } => {
                format!("meter {}[{}]", self.get(List::Meters, meter.0), operand(index))
            }
            Operation::CountDirect { counter } => {
                format!("count_direct {}", self.get(List::Counters, counter.0))
            }
            Operation::MeterDirect { meter, .. } => {
                format!("meter_direct {}", self.get(List::Meters, meter.0))
            }
            Operation::ValueSetContains { set, keys, .. } => {
                let set = self.get(List::ValueSets, set.0);
                format!("value_set_contains {set}{}", operands(keys))
            }
            Operation::Hash { algorithm, inputs, payload, .. } => {
                let payload = if *payload { " payload" } else { "" };
                format!(
                    "hash {} {}{payload}",
                    self.printer.hash_algorithm(*algorithm),
                    operands(inputs)
                )
            }
            Operation::Random { low, high, site, .. } => {
                format!("random {} to {} at {}", operand(low), operand(high), name(site.key()))
            }
            Operation::Request { request, arguments } => {
                let request = self.get(List::Requests, request.0);
                format!("request {request}{}", operands(arguments))
            }
            Operation::Log { format, arguments } => {
                format!("log {} {}", quoted(format), operands(arguments))
            }
            Operation::Assert { condition, is_assume } => {
                let word = if *is_assume { "assume" } else { "assert" };
                format!("{word} {}", operand(condition))
            }
            Operation::CallExtern { target, method, arguments, effects, .. } => {
                let target = self.get(List::Externs, target.0);
                let method = match &**method {
                    "" => String::new(),
                    method => format!(" method {}", name(method)),
                };
                let access = match effects.access {
                    ExternAccess::Pure => " pure",
                    ExternAccess::Reads => " reads",
                    ExternAccess::Any => "",
                };
                let site = match &effects.random {
                    Some(site) => format!(" at {}", name(site.key())),
                    None => String::new(),
                };
                format!("call {target}{method}{access}{site} {}", operands(arguments))
            }
        };
        self.printer.out.push_str(&text);
    }

    fn register_access(&mut self, operation: &Operation, indent: &str) {
        let Operation::RegisterAccess { register, index, guard, update, .. } = operation else {
            return;
        };
        let register = self.get(List::Registers, register.0);
        emit!(self.printer, "register_access {register}[{}]", operand(index));
        if let Some(guard) = guard {
            emit!(self.printer, " guard {}", operand(guard));
        }
        if let Some(update) = update {
            self.printer.out.push_str(" update {\n");
            let inner = format!("{indent}  ");
            for instruction in &update.body {
                self.instruction(instruction, &inner);
            }
            emit!(self.printer, "{inner}yield {}\n{indent}}}", operand(&update.value));
        }
    }
}
