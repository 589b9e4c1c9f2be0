// SPDX-License-Identifier: Apache-2.0
//! Prints a core program as text for people and tests: globals, memops, actions, events with their
//! handlers, parsers; one statement a line. No parser of this text exists.

mod expressions;
mod parsers;

use super::{
    Access, Action, Body, Constant, Destination, Event, ExternArgument, Global, GlobalKind, Local,
    LocalId, Memop, MemopBody, Pattern, PrintPiece, Program, Statement, StatementKind, Type, Use,
};
use crate::syntax::ast::EventSort;
use expressions::Names;

/// The whole program.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { program, text: String::new(), depth: 0 };
    printer.program();
    printer.text
}

pub(super) struct Printer<'a> {
    program: &'a Program,
    text: String,
    depth: usize,
}

/// `int<32>`, `bool`, `event`, ...
pub fn type_text(ty: Type) -> String {
    match ty {
        Type::Int(width) => format!("int<{width}>"),
        Type::Bool => "bool".to_owned(),
        Type::Event => "event".to_owned(),
        Type::Group => "group".to_owned(),
        Type::Payload => "Payload.t".to_owned(),
    }
}

/// `5w32`, `true`, `{1, 2}`.
pub fn constant_text(constant: &Constant) -> String {
    match constant {
        Constant::Int(value, width) => format!("{value}w{width}"),
        Constant::Bool(value) => value.to_string(),
        Constant::Group(members) => format!("{{{}}}", list(members, u32::to_string)),
    }
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn declared(locals: &[Local]) -> String {
    list(locals, |local| format!("{} {}", type_text(local.ty), local.name))
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn indented(&mut self, print: impl FnOnce(&mut Self)) {
        self.depth += 1;
        print(self);
        self.depth -= 1;
    }

    fn program(&mut self) {
        let program = self.program;
        for global in &program.globals {
            self.global(global);
        }
        for external in &program.externs {
            self.line(&format!("extern {} {}", type_text(external.ty), external.name));
        }
        for function in &program.extern_functions {
            self.line(&format!("extern function {}", function.name));
        }
        for memop in &program.memops {
            self.memop(memop);
        }
        for action in &program.actions {
            self.action(action);
        }
        for event in &program.events {
            self.event(event);
        }
        for parser in &program.parsers {
            self.parser(parser);
        }
    }

    fn global(&mut self, global: &Global) {
        let name = &global.name;
        match &global.kind {
            GlobalKind::Array { width_bits, length } => {
                self.line(&format!("global {name} = array<{width_bits}>({length})"));
            }
            GlobalKind::PairArray { width_bits, length } => {
                self.line(&format!("global {name} = pair_array<{width_bits}>({length})"));
            }
            GlobalKind::Counter { width_bits, initial } => {
                self.line(&format!("global {name} = counter<{width_bits}>({initial})"));
            }
            GlobalKind::Table(table) => {
                self.line(&format!("global {name} = table({})", table.capacity));
                let widths = list(&table.key_widths, u32::to_string);
                let arguments = list(&table.argument_types, |ty| type_text(*ty));
                let results: Vec<String> = (table.result_types.iter().enumerate())
                    .map(|(at, ty)| match table.result_names.get(at) {
                        Some(name) if !name.is_empty() => format!("{} {name}", type_text(*ty)),
                        _ => type_text(*ty),
                    })
                    .collect();
                let actions = list(&table.actions, |action| self.action_name(*action));
                let default = self.action_name(table.default_action);
                let installed = list(&table.default_arguments, constant_text);
                self.indented(|printer| {
                    printer.line(&format!("key ({widths})"));
                    printer.line(&format!("argument ({arguments})"));
                    printer.line(&format!("result ({})", results.join(", ")));
                    printer.line(&format!("actions {actions}"));
                    printer.line(&format!("default {default}({installed})"));
                });
            }
        }
    }

    fn action_name(&self, action: super::ActionId) -> String {
        match self.program.actions.get(action.0 as usize) {
            Some(action) => action.name.to_string(),
            None => format!("action?{}", action.0),
        }
    }

    fn memop_name(&self, memop: super::MemopId) -> String {
        match self.program.memops.get(memop.0 as usize) {
            Some(memop) => format!("{}<{}>", memop.name, memop.width_bits),
            None => format!("memop?{}", memop.0),
        }
    }

    pub(super) fn global_name(&self, global: super::GlobalId) -> String {
        match self.program.globals.get(global.0 as usize) {
            Some(global) => global.name.to_string(),
            None => format!("global?{}", global.0),
        }
    }

    fn memop(&mut self, memop: &Memop) {
        let names = Names::memop(memop.argument_count);
        let parameters: Vec<String> =
            (0..memop.argument_count).map(|at| names.of(LocalId(at))).collect();
        let parameters = parameters.join(", ");
        self.line(&format!("memop {}<{}>({parameters})", memop.name, memop.width_bits));
        self.indented(|printer| match &memop.body {
            MemopBody::Return(value) => {
                let value = printer.expression(value, &names);
                printer.line(&format!("return {value}"));
            }
            MemopBody::If(condition, then, otherwise) => {
                let condition = printer.expression(condition, &names);
                let then = printer.expression(then, &names);
                let otherwise = printer.expression(otherwise, &names);
                printer.line(&format!("if {condition} return {then} else return {otherwise}"));
            }
            MemopBody::Complex { conditions, cell1, cell2, returned } => {
                for (at, condition) in conditions.iter().enumerate() {
                    if let Some(condition) = condition {
                        let condition = printer.expression(condition, &names);
                        printer.line(&format!("b{} = {condition}", at + 1));
                    }
                }
                for (name, updates) in [("cell1", cell1), ("cell2", cell2)] {
                    for (at, (guard, value)) in updates.iter().enumerate() {
                        let word = if at == 0 { "if" } else { "else if" };
                        let guard = printer.expression(guard, &names);
                        let value = printer.expression(value, &names);
                        printer.line(&format!("{word} {guard} {name} = {value}"));
                    }
                }
                if let Some((guard, value)) = returned {
                    let guard = printer.expression(guard, &names);
                    let value = printer.expression(value, &names);
                    printer.line(&format!("if {guard} return {value}"));
                }
            }
        });
    }

    fn action(&mut self, action: &Action) {
        let split = (action.install_count as usize).min(action.parameters.len());
        let (installed, matched) = action.parameters.split_at(split);
        let names = Names::locals(&action.parameters);
        let results = list(&action.results, |result| self.expression(result, &names));
        let (installed, matched) = (declared(installed), declared(matched));
        self.line(&format!("action {}({installed})({matched}) = ({results})", action.name));
    }

    fn event(&mut self, event: &Event) {
        let sort = match event.sort {
            EventSort::Background => "event",
            EventSort::Packet => "packet event",
            EventSort::Entry => "entry event",
            EventSort::Exit => "exit event",
        };
        let parameters = declared(&event.parameters);
        self.line(&format!("{sort} {}@{}({parameters})", event.name, event.wire_number));
        let handlers = [
            ("handle", &event.handler),
            ("egress handle", &event.egress_handler),
            ("control handle", &event.control_handler),
        ];
        self.indented(|printer| {
            for (word, handler) in handlers {
                if let Some(body) = handler {
                    printer.body(word, body);
                }
            }
        });
    }

    fn body(&mut self, word: &str, body: &Body) {
        let split = (body.parameter_count as usize).min(body.locals.len());
        let (parameters, locals) = body.locals.split_at(split);
        self.line(&format!("{word} ({})", declared(parameters)));
        let names = Names::locals(&body.locals);
        self.indented(|printer| {
            for local in locals {
                printer.line(&format!("local {} {}", type_text(local.ty), local.name));
            }
            printer.statements(&body.statements, &names);
        });
    }

    fn statements(&mut self, statements: &[Statement], names: &Names) {
        self.indented(|printer| {
            for statement in statements {
                stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
                    printer.statement(statement, names)
                });
            }
        });
    }

    fn statement(&mut self, statement: &Statement, names: &Names) {
        match &statement.kind {
            StatementKind::Assign { local, value, no_inline } => {
                let pragma = if *no_inline { "@noinline " } else { "" };
                let value = self.expression(value, names);
                self.line(&format!("{pragma}{} = {value}", names.of(*local)));
            }
            StatementKind::Access { global, index, access, result } => {
                let target = match result {
                    Some(result) => format!("{} = ", names.of(*result)),
                    None => String::new(),
                };
                let cell =
                    format!("{}[{}]", self.global_name(*global), self.expression(index, names));
                let access = self.access(access, names);
                self.line(&format!("{target}{cell} {access}"));
            }
            StatementKind::Lookup { table, key, arguments, results } => {
                let results = list(results, |result| names.of(*result));
                let key = list(key, |part| self.expression(part, names));
                let arguments = list(arguments, |argument| self.expression(argument, names));
                let table = self.global_name(*table);
                self.line(&format!("({results}) = lookup {table}({key})({arguments})"));
            }
            StatementKind::Install { table, key, priority, action, arguments } => {
                let key = list(key, |(value, mask)| match mask {
                    Some(mask) => format!(
                        "{} &&& {}",
                        self.expression(value, names),
                        self.expression(mask, names)
                    ),
                    None => self.expression(value, names),
                });
                let arguments = list(arguments, |argument| self.expression(argument, names));
                let (table, action) = (self.global_name(*table), self.action_name(*action));
                self.line(&format!(
                    "install {table}({key}) priority {priority} {action}({arguments})"
                ));
            }
            StatementKind::Random { local } => {
                self.line(&format!("{} = random()", names.of(*local)));
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.expression(condition, names);
                self.line(&format!("if {condition}"));
                self.statements(then, names);
                if !otherwise.is_empty() {
                    self.line("else");
                    self.statements(otherwise, names);
                }
            }
            StatementKind::Match { subjects, branches } => {
                let widths: Vec<u32> = subjects.iter().map(|subject| width(subject.ty)).collect();
                let subjects = list(subjects, |subject| self.expression(subject, names));
                self.line(&format!("match {subjects}"));
                for branch in branches {
                    self.line(&format!("| {} ->", patterns_text(&branch.patterns, &widths)));
                    self.statements(&branch.statements, names);
                }
            }
            StatementKind::IfEvent { value, event, locals, then, otherwise } => {
                let value = self.expression(value, names);
                let locals = list(locals, |local| names.of(*local));
                let event = self.event_name(*event);
                self.line(&format!("if {value} is {event}({locals})"));
                self.statements(then, names);
                if !otherwise.is_empty() {
                    self.line("else");
                    self.statements(otherwise, names);
                }
            }
            StatementKind::Generate { event, destination } => {
                let event = self.expression(event, names);
                let destination = match destination {
                    Destination::Event => String::new(),
                    Destination::Switch(switch) => {
                        format!(" to switch {}", self.expression(switch, names))
                    }
                    Destination::Switches(group) => {
                        format!(" to switches {}", self.expression(group, names))
                    }
                    Destination::Port(port) => format!(" to port {}", self.expression(port, names)),
                    Destination::Ports(ports) => {
                        format!(" to ports {}", self.expression(ports, names))
                    }
                };
                self.line(&format!("generate {event}{destination}"));
            }
            StatementKind::Print { pieces } => {
                let pieces = list(pieces, |piece| match piece {
                    PrintPiece::Text(text) => format!("{text:?}"),
                    PrintPiece::Value(value) => self.expression(value, names),
                });
                self.line(&format!("print {pieces}"));
            }
            StatementKind::CallExtern { function, arguments } => {
                let name = match self.program.extern_functions.get(function.0 as usize) {
                    Some(function) => function.name.to_string(),
                    None => format!("extern?{}", function.0),
                };
                let arguments = list(arguments, |argument| match argument {
                    ExternArgument::Value(value) => self.expression(value, names),
                    ExternArgument::Text(text) => format!("{text:?}"),
                });
                self.line(&format!("call {name}({arguments})"));
            }
            StatementKind::Return => self.line("return"),
        }
    }

    fn access(&self, access: &Access, names: &Names) -> String {
        match access {
            Access::Simple { get, set } => {
                let mut text = Vec::new();
                for (word, side) in [("get", get), ("set", set)] {
                    if let Some(side) = side {
                        text.push(format!("{word} {}", self.cell_use(side, names)));
                    }
                }
                text.join(" ")
            }
            Access::Complex { memop, arguments: [first, second], default } => format!(
                "update {}({}, {}) default {}",
                self.memop_name(*memop),
                self.expression(first, names),
                self.expression(second, names),
                self.expression(default, names)
            ),
        }
    }

    fn cell_use(&self, side: &Use, names: &Names) -> String {
        match side {
            Use::Old => "old".to_owned(),
            Use::Value(value) => self.expression(value, names),
            Use::Add(value) => format!("old + {}", self.expression(value, names)),
            Use::Memop(memop, value) => {
                format!("{}(old, {})", self.memop_name(*memop), self.expression(value, names))
            }
        }
    }
}

fn width(ty: Type) -> u32 {
    match ty {
        Type::Int(width) => width,
        _ => 1,
    }
}

/// Patterns of subjects of these widths: `_`, `10`, `0b1**0`.
fn patterns_text(patterns: &[Pattern], widths: &[u32]) -> String {
    let text = |(at, pattern): (usize, &Pattern)| {
        let width = widths.get(at).copied().unwrap_or(1);
        if pattern.mask == 0 {
            "_".to_owned()
        } else if pattern.mask == super::arithmetic::mask(width) {
            pattern.value.to_string()
        } else {
            let bit = |at: u32| match (pattern.mask >> at & 1, pattern.value >> at & 1) {
                (0, _) => '*',
                (_, 0) => '0',
                _ => '1',
            };
            format!("0b{}", (0..width.min(128)).rev().map(bit).collect::<String>())
        }
    };
    patterns.iter().enumerate().map(text).collect::<Vec<_>>().join(", ")
}
