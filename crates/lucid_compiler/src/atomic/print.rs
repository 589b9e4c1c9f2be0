// SPDX-License-Identifier: Apache-2.0
//! Atomic graphs and programs as text for people and tests: one line a statement, its guard before it.
//! The text is not read back by anything.

use super::program::{
    AluOperator, AtomicProgram, Hash, Index, MemoryAccess, MemoryUse, Operand, Operation, Payload,
    Statement, VariableKind,
};
use super::tree::{AtomicGraph, Branch, Node};
use lucid::core::Program;
use lucid::core::arithmetic::mask;
use pisa::{Condition, Guard, VariableId};
use std::fmt::Write as _;

/// The atomic table graph: branches as trees.
pub fn print_graph(core: &Program, graph: &AtomicGraph) -> String {
    let mut printer = Printer { core, program: &graph.program, text: String::new() };
    for (handler, body) in graph.program.handlers.iter().zip(&graph.bodies) {
        let _ = writeln!(printer.text, "handle {}", handler.name);
        printer.nodes(body, 1);
    }
    printer.text
}

/// A program of guarded statements: by handler, in order.
pub fn print(core: &Program, program: &AtomicProgram) -> String {
    let mut printer = Printer { core, program, text: String::new() };
    let mut last = None;
    for statement in &program.statements {
        if last != Some(statement.handler) {
            last = Some(statement.handler);
            let name = match statement.handler {
                Some(handler) => &*program.handlers[handler.0 as usize].name,
                None => "(several)",
            };
            let _ = writeln!(printer.text, "handle {name}");
        }
        let guard = printer.guard(&statement.guard, statement.handler.is_some());
        let operation = printer.operation(&statement.operation);
        let _ = match guard.is_empty() {
            true => writeln!(printer.text, "  {operation}"),
            false => writeln!(printer.text, "  [{guard}] {operation}"),
        };
    }
    printer.text
}

/// One statement, without its guard.
pub fn operation_text(core: &Program, program: &AtomicProgram, statement: &Statement) -> String {
    let printer = Printer { core, program, text: String::new() };
    printer.operation(&statement.operation)
}

struct Printer<'a> {
    core: &'a Program,
    program: &'a AtomicProgram,
    text: String,
}

impl Printer<'_> {
    fn nodes(&mut self, nodes: &[Node], depth: usize) {
        for node in nodes {
            match node {
                Node::Statement(id) => {
                    let statement = &self.program.statements[id.0 as usize];
                    let text = self.operation(&statement.operation);
                    let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
                }
                Node::Branch(branch) => {
                    stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.branch(branch, depth));
                }
            }
        }
    }

    fn branch(&mut self, branch: &Branch, depth: usize) {
        let _ = writeln!(self.text, "{}branch", "  ".repeat(depth));
        for (at, arm) in branch.arms.iter().enumerate() {
            let rules: Vec<String> = (branch.rules.iter().enumerate())
                .filter(|(_, (_, to))| *to == at)
                .map(|(number, (conditions, _))| {
                    format!("{}: {}", number + 1, self.conditions(conditions.iter()))
                })
                .collect();
            let _ = writeln!(self.text, "{}| {} ->", "  ".repeat(depth), rules.join(" or "));
            self.nodes(arm, depth + 2);
        }
        let none: Vec<String> = (branch.rules.iter().enumerate())
            .filter(|(_, (_, to))| *to >= branch.arms.len())
            .map(|(number, (conditions, _))| {
                format!("{}: {}", number + 1, self.conditions(conditions.iter()))
            })
            .collect();
        if !none.is_empty() {
            let _ = writeln!(self.text, "{}| {} -> nothing", "  ".repeat(depth), none.join(" or "));
        }
    }

    fn guard(&self, guard: &Guard, hide_event: bool) -> String {
        let shown = |id: &VariableId| {
            let kind = self.program.variable(*id).kind;
            !(hide_event && matches!(kind, VariableKind::Dispatched(_)))
        };
        let rules: Vec<String> = (guard.rules.iter())
            .map(|rule| {
                let conditions = rule.conditions.iter().filter(|(id, _)| shown(id));
                let text = self.conditions(conditions);
                if rule.runs { text } else { format!("{text}: no") }
            })
            .collect();
        match rules.as_slice() {
            [only] if only == "always" => String::new(),
            [first @ .., last] if last == "always" => format!("{}; else", first.join("; ")),
            _ => rules.join("; "),
        }
    }

    fn conditions<'b>(
        &self,
        conditions: impl Iterator<Item = (&'b VariableId, &'b Condition)>,
    ) -> String {
        let text: Vec<String> = conditions.map(|(id, of)| self.condition(*id, *of)).collect();
        if text.is_empty() { "always".to_owned() } else { text.join(", ") }
    }

    fn condition(&self, id: VariableId, condition: Condition) -> String {
        let variable = self.program.variable(id);
        let name = &variable.name;
        match condition {
            Condition::Ternary { value, mask: asked } if asked == mask(variable.width_bits) => {
                format!("{name} == {value}")
            }
            Condition::Ternary { value, mask } => format!("{name} & {mask:#x} == {value:#x}"),
            Condition::Range { low: 0, high } => format!("{name} <= {high}"),
            Condition::Range { low, high } if high == mask(variable.width_bits) => {
                format!("{name} >= {low}")
            }
            Condition::Range { low, high } => format!("{low} <= {name} <= {high}"),
        }
    }

    fn name(&self, id: VariableId) -> &str {
        &self.program.variable(id).name
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Variable(id) => self.name(id).to_owned(),
            Operand::Constant(value) => value.to_string(),
        }
    }

    fn list(&self, operands: impl Iterator<Item = Operand>) -> String {
        operands.map(|operand| self.operand(operand)).collect::<Vec<_>>().join(", ")
    }

    fn hash(&self, hash: &Hash) -> String {
        let values = self.list(hash.arguments.iter().map(|(operand, _)| *operand));
        format!("hash<{}>({}; {values})", hash.width_bits, hash.seed)
    }

    fn global(&self, id: lucid::core::GlobalId) -> String {
        self.core.globals.get(id.0 as usize).map_or_else(String::new, |it| it.name.to_string())
    }

    fn event(&self, id: lucid::core::EventId) -> String {
        self.core.events.get(id.0 as usize).map_or_else(String::new, |it| it.name.to_string())
    }

    fn memop(&self, id: lucid::core::MemopId) -> String {
        self.core.memops.get(id.0 as usize).map_or_else(String::new, |it| it.name.to_string())
    }

    fn operation(&self, operation: &Operation) -> String {
        match operation {
            Operation::Move { to, from } => {
                format!("{} = {}", self.name(*to), self.operand(*from))
            }
            Operation::Compute { to, operator, left, right } => {
                let (to, left, right) = (self.name(*to), self.operand(*left), self.operand(*right));
                match operator {
                    AluOperator::Minimum => format!("{to} = min({left}, {right})"),
                    AluOperator::Maximum => format!("{to} = max({left}, {right})"),
                    _ => format!("{to} = {left} {} {right}", symbol(*operator)),
                }
            }
            Operation::Slice { to, from, low, width_bits } => {
                let high = low + width_bits - 1;
                format!("{} = {}[{high}:{low}]", self.name(*to), self.name(*from))
            }
            Operation::Concatenate { to, left, right } => format!(
                "{} = {} ++ {}",
                self.name(*to),
                self.operand(left.0),
                self.operand(right.0)
            ),
            Operation::Hash { to, hash } => format!("{} = {}", self.name(*to), self.hash(hash)),
            Operation::Checksum { to, arguments } => {
                let values = self.list(arguments.iter().map(|(operand, _)| *operand));
                format!("{} = checksum({values})", self.name(*to))
            }
            Operation::Random { to } => format!("{} = random()", self.name(*to)),
            Operation::Memory { array, register_action, index, result } => {
                let array = &self.program.arrays[array.0 as usize];
                let action = &array.register_actions[*register_action as usize];
                let index = match index {
                    Index::Operand(operand) => self.operand(*operand),
                    Index::Hash(hash) => self.hash(hash),
                };
                let cell = format!("{}[{index}]", self.global(array.global));
                let access = self.access(&action.access);
                match result {
                    Some(result) => format!("{} = {cell} {access}", self.name(*result)),
                    None => format!("{cell} {access}"),
                }
            }
            Operation::Lookup { table, key, arguments, results } => {
                let results = results
                    .iter()
                    .map(|result| result.map_or("_", |result| self.name(result)).to_owned());
                format!(
                    "({}) = lookup {}({})({})",
                    results.collect::<Vec<_>>().join(", "),
                    self.global(*table),
                    self.list(key.iter().copied()),
                    self.list(arguments.iter().copied())
                )
            }
            Operation::Generate { slot, event, payload } => {
                let payload = match payload {
                    Payload::Kept => " with payload",
                    Payload::Absent => "",
                    Payload::Cut => " without the payload",
                };
                format!("generate slot{slot} {}{payload}", self.event(*event))
            }
        }
    }

    fn access(&self, access: &MemoryAccess) -> String {
        let part = |side: &MemoryUse| match side {
            MemoryUse::Old => "old".to_owned(),
            MemoryUse::Value(value) => self.operand(*value),
            MemoryUse::Add(value) => format!("old + {}", self.operand(*value)),
            MemoryUse::Memop(id, value) => {
                format!("{}(old, {})", self.memop(*id), self.operand(*value))
            }
        };
        match access {
            MemoryAccess::Simple { get, set } => {
                let sides = [("get", get), ("set", set)];
                let text = sides
                    .iter()
                    .filter_map(|(word, side)| Some(format!("{word} {}", part(side.as_ref()?))));
                text.collect::<Vec<_>>().join(" ")
            }
            MemoryAccess::Complex { memop, arguments, default } => format!(
                "update {}({}) default {}",
                self.memop(*memop),
                self.list(arguments.iter().copied()),
                self.operand(*default)
            ),
        }
    }
}

fn symbol(operator: AluOperator) -> &'static str {
    match operator {
        AluOperator::Add => "+",
        AluOperator::Subtract => "-",
        AluOperator::SaturatingAdd => "|+|",
        AluOperator::SaturatingSubtract => "|-|",
        AluOperator::And => "&",
        AluOperator::Or => "|",
        AluOperator::Xor => "^",
        AluOperator::ShiftLeft => "<<",
        AluOperator::ShiftRight => ">>",
        AluOperator::Minimum => "min",
        AluOperator::Maximum => "max",
    }
}
