// SPDX-License-Identifier: Apache-2.0
//! Whether a core program holds together. What is checked:
//!
//! - every id is in range; names of globals, of events, and of the locals of a body are unique, and so
//!   are wire numbers;
//! - widths are 1 to `MAX_INTEGER_BITS`; arrays have 1 to `MAX_ARRAY_LENGTH` cells;
//! - expressions have the types that their operators and uses ask for, constants fit;
//! - a body's parameters are those of its event; values of events have the event's arguments;
//! - an access fits the kind and width of its global, and memops have its number of arguments;
//! - keys, arguments and results of lookups and installs are those of the table, and actions in use
//!   are in the table's list;
//! - patterns have no bits outside their masks and no masks outside their subjects.
//!
//! It finds mistakes of elaboration, so it returns plain text and no diagnostics.

mod bodies;
mod expressions;
mod parsers;

use super::{
    Access, Action, EventId, Global, GlobalId, GlobalKind, Local, MAX_ARRAY_LENGTH,
    MAX_INTEGER_BITS, Memop, MemopBody, Program, Table, Type,
};
use expressions::Scope;
use std::collections::HashSet;

/// Everything that is wrong, one sentence each, with where it is.
pub fn verify(program: &Program) -> Result<(), Vec<String>> {
    let mut verifier = Verifier { program, place: String::new(), wrong: Vec::new() };
    verifier.program();
    if verifier.wrong.is_empty() { Ok(()) } else { Err(verifier.wrong) }
}

struct Verifier<'a> {
    program: &'a Program,
    place: String,
    wrong: Vec<String>,
}

impl<'a> Verifier<'a> {
    fn say(&mut self, what: impl Into<String>) {
        self.wrong.push(format!("{}: {}", self.place, what.into()));
    }

    fn ensure(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            let what = what();
            self.say(what);
        }
    }

    fn global(&mut self, id: GlobalId) -> Option<&'a Global> {
        let global = self.program.globals.get(id.0 as usize);
        self.ensure(global.is_some(), || format!("there is no global {}", id.0));
        global
    }

    fn table(&mut self, id: GlobalId) -> Option<&'a Table> {
        match &self.global(id)?.kind {
            GlobalKind::Table(table) => Some(table),
            _ => {
                self.say(format!("global {} is no table", id.0));
                None
            }
        }
    }

    fn memop(&mut self, id: super::MemopId) -> Option<&'a Memop> {
        let memop = self.program.memops.get(id.0 as usize);
        self.ensure(memop.is_some(), || format!("there is no memop {}", id.0));
        memop
    }

    fn action(&mut self, id: super::ActionId) -> Option<&'a Action> {
        let action = self.program.actions.get(id.0 as usize);
        self.ensure(action.is_some(), || format!("there is no action {}", id.0));
        action
    }

    fn event(&mut self, id: EventId) -> Option<&'a super::Event> {
        let event = self.program.events.get(id.0 as usize);
        self.ensure(event.is_some(), || format!("there is no event {}", id.0));
        event
    }

    fn width(&mut self, width_bits: u32) {
        self.ensure((1..=MAX_INTEGER_BITS).contains(&width_bits), || {
            format!("{width_bits} is no width of an integer")
        });
    }

    fn ty(&mut self, ty: Type) {
        if let Type::Int(width) = ty {
            self.width(width);
        }
    }

    fn unique_names<'b>(&mut self, names: impl Iterator<Item = &'b str>) {
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name) {
                self.say(format!("the name `{name}` is there twice"));
            }
        }
    }

    fn locals(&mut self, locals: &[Local]) {
        self.unique_names(locals.iter().map(|local| &*local.name));
        for local in locals {
            self.ty(local.ty);
        }
    }

    fn program(&mut self) {
        let program = self.program;
        "globals".clone_into(&mut self.place);
        self.unique_names(program.globals.iter().map(|global| &*global.name));
        for global in &program.globals {
            self.place = format!("global `{}`", global.name);
            self.global_kind(&global.kind);
        }
        for memop in &program.memops {
            self.place = format!("memop `{}` at {} bits", memop.name, memop.width_bits);
            self.whole_memop(memop);
        }
        for action in &program.actions {
            self.place = format!("action `{}`", action.name);
            self.whole_action(action);
        }
        "externs".clone_into(&mut self.place);
        self.unique_names(program.externs.iter().map(|external| &*external.name));
        for external in &program.externs {
            self.ty(external.ty);
        }
        "events".clone_into(&mut self.place);
        self.unique_names(program.events.iter().map(|event| &*event.name));
        let mut numbers = HashSet::new();
        for event in &program.events {
            if !numbers.insert(event.wire_number) {
                self.say(format!("two events have the wire number {}", event.wire_number));
            }
        }
        for event in &program.events {
            self.whole_event(event);
        }
        for parser in &program.parsers {
            self.place = format!("parser `{}`", parser.name);
            self.whole_parser(parser);
        }
        if let Some(parser) = program.main_parser {
            "program".clone_into(&mut self.place);
            self.ensure(program.parsers.get(parser.0 as usize).is_some(), || {
                format!("there is no parser {}", parser.0)
            });
        }
    }

    fn global_kind(&mut self, kind: &GlobalKind) {
        match kind {
            GlobalKind::Array { width_bits, length }
            | GlobalKind::PairArray { width_bits, length } => {
                self.width(*width_bits);
                self.ensure((1..=MAX_ARRAY_LENGTH).contains(length), || {
                    format!("{length} is no length of an array")
                });
            }
            GlobalKind::Counter { width_bits, initial } => {
                self.width(*width_bits);
                self.ensure(*initial <= super::arithmetic::mask(*width_bits), || {
                    format!("{initial} does not fit {width_bits} bits")
                });
            }
            GlobalKind::Table(table) => self.whole_table(table),
        }
    }

    fn whole_table(&mut self, table: &Table) {
        for width in &table.key_widths {
            self.width(*width);
        }
        self.ensure(table.result_names.len() == table.result_types.len(), || {
            "results and their names differ in number".to_owned()
        });
        self.ensure(table.actions.contains(&table.default_action), || {
            "the default action is not in the list of actions".to_owned()
        });
        for id in &table.actions {
            let Some(action) = self.action(*id) else { continue };
            let results: Vec<Type> = action.results.iter().map(|result| result.ty).collect();
            self.ensure(results == table.result_types, || {
                format!("action `{}` gives other results than the table", action.name)
            });
            let matched: Vec<Type> = (action.parameters.iter())
                .skip(action.install_count as usize)
                .map(|parameter| parameter.ty)
                .collect();
            self.ensure(matched == table.argument_types, || {
                format!("action `{}` takes other arguments than the table", action.name)
            });
        }
        if let Some(action) = self.action(table.default_action) {
            let installed = action.parameters.iter().take(action.install_count as usize);
            let expected: Vec<Type> = installed.map(|parameter| parameter.ty).collect();
            let given: Vec<Type> =
                table.default_arguments.iter().map(super::constant_type).collect();
            self.ensure(expected == given, || {
                "the default action's arguments do not fit".to_owned()
            });
        }
    }

    fn whole_memop(&mut self, memop: &Memop) {
        self.width(memop.width_bits);
        self.ensure((2..=4).contains(&memop.argument_count), || {
            format!("a memop of {} arguments", memop.argument_count)
        });
        let cell = Type::Int(memop.width_bits);
        let plain = Scope::memop(memop, false, false);
        match &memop.body {
            MemopBody::Return(value) => self.expect(value, cell, &plain),
            MemopBody::If(condition, then, otherwise) => {
                self.expect(condition, Type::Bool, &plain);
                self.expect(then, cell, &plain);
                self.expect(otherwise, cell, &plain);
            }
            MemopBody::Complex { conditions, cell1, cell2, returned } => {
                self.ensure(memop.argument_count > 2, || {
                    "two arguments with the body of more".to_owned()
                });
                for condition in conditions.iter().flatten() {
                    self.expect(condition, Type::Bool, &plain);
                }
                let guarded = Scope::memop(memop, true, false);
                for updates in [cell1, cell2] {
                    self.ensure(updates.len() <= 2, || "more than two updates of a cell".into());
                    for (guard, value) in updates {
                        self.expect(guard, Type::Bool, &guarded);
                        self.expect(value, cell, &plain);
                    }
                }
                if let Some((guard, value)) = returned {
                    self.expect(guard, Type::Bool, &guarded);
                    self.expect(value, cell, &Scope::memop(memop, false, true));
                }
            }
        }
    }

    fn whole_action(&mut self, action: &Action) {
        self.locals(&action.parameters);
        self.ensure(action.install_count as usize <= action.parameters.len(), || {
            "more installed parameters than parameters".to_owned()
        });
        let scope = Scope::locals(&action.parameters);
        for result in &action.results {
            self.expression(result, &scope);
        }
    }

    /// The width of the cells an access may touch, and of how many arguments its memops are.
    fn access_shape(&mut self, id: GlobalId, access: &Access) -> Option<u32> {
        let global = self.global(id)?;
        let fits = matches!(
            (&global.kind, access),
            (GlobalKind::Array { .. }, _)
                | (GlobalKind::Counter { .. }, Access::Simple { .. })
                | (GlobalKind::PairArray { .. }, Access::Complex { .. })
        );
        self.ensure(fits, || format!("`{}` cannot be accessed like this", global.name));
        match global.kind {
            GlobalKind::Array { width_bits, .. }
            | GlobalKind::PairArray { width_bits, .. }
            | GlobalKind::Counter { width_bits, .. } => Some(width_bits),
            GlobalKind::Table(_) => None,
        }
    }
}
