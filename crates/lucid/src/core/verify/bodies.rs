// SPDX-License-Identifier: Apache-2.0
//! Verifies statements of handlers.

use super::Verifier;
use super::expressions::Scope;
use crate::core::{
    Access, Body, Destination, Event, ExternArgument, GlobalId, GlobalKind, LocalId, Pattern,
    PrintPiece, Statement, StatementKind, Type, Use, arithmetic,
};

impl Verifier<'_> {
    pub(super) fn whole_event(&mut self, event: &Event) {
        self.place = format!("event `{}`", event.name);
        self.locals(&event.parameters);
        for global in &event.global_arguments {
            self.global(*global);
        }
        let handlers = [
            ("handler", &event.handler),
            ("egress handler", &event.egress_handler),
            ("control handler", &event.control_handler),
        ];
        for (what, body) in handlers {
            let Some(body) = body else { continue };
            self.place = format!("{what} of `{}`", event.name);
            self.body(event, body);
        }
    }

    fn body(&mut self, event: &Event, body: &Body) {
        self.locals(&body.locals);
        let given = body.locals.iter().take(body.parameter_count as usize).map(|local| local.ty);
        let same = body.parameter_count as usize == event.parameters.len()
            && given.eq(event.parameters.iter().map(|parameter| parameter.ty));
        self.ensure(same, || "its parameters are not the event's".to_owned());
        self.statements(&body.statements, &Scope::locals(&body.locals));
    }

    fn statements(&mut self, statements: &[Statement], scope: &Scope) {
        for statement in statements {
            stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.statement(statement, scope));
        }
    }

    /// A local that receives a value of this type.
    fn assigned(&mut self, local: LocalId, ty: Type, scope: &Scope) {
        let found = scope.of(local);
        self.ensure(found == Some(ty), || {
            format!("local {} of type {found:?} receives {ty:?}", local.0)
        });
    }

    fn statement(&mut self, statement: &Statement, scope: &Scope) {
        match &statement.kind {
            StatementKind::Assign { local, value, .. } => {
                self.expression(value, scope);
                self.assigned(*local, value.ty, scope);
            }
            StatementKind::Access { global, index, access, result } => {
                self.expect_int(index, scope);
                self.access(*global, access, *result, scope);
            }
            StatementKind::Lookup { table, key, arguments, results } => {
                let Some(table) = self.table(*table) else { return };
                let key_types: Vec<Type> = key.iter().map(|part| part.ty).collect();
                let widths = table.key_widths.iter().map(|width| Type::Int(*width));
                let fits = widths.eq(key_types.iter().copied());
                self.ensure(fits, || format!("a key of types {key_types:?}"));
                for part in key {
                    self.expression(part, scope);
                }
                self.same_types(arguments, &table.argument_types, scope);
                self.ensure(results.len() == table.result_types.len(), || {
                    format!("a lookup with {} results", results.len())
                });
                for (result, ty) in results.iter().zip(&table.result_types) {
                    self.assigned(*result, *ty, scope);
                }
            }
            StatementKind::Install { table, key, action: id, arguments, .. } => {
                let Some(table) = self.table(*table) else { return };
                self.ensure(key.len() == table.key_widths.len(), || {
                    format!("an entry with {} key fields", key.len())
                });
                for ((value, mask), width) in key.iter().zip(&table.key_widths) {
                    self.expect(value, Type::Int(*width), scope);
                    if let Some(mask) = mask {
                        self.expect(mask, Type::Int(*width), scope);
                    }
                }
                let listed = table.actions.contains(id);
                let Some(action) = self.action(*id) else { return };
                self.ensure(listed, || format!("`{}` is no action of the table", action.name));
                let installed = action.parameters.iter().take(action.install_count as usize);
                let types: Vec<Type> = installed.map(|parameter| parameter.ty).collect();
                self.same_types(arguments, &types, scope);
            }
            StatementKind::Random { local } => {
                let fits = matches!(scope.of(*local), Some(Type::Int(_)));
                self.ensure(fits, || format!("a random number for local {}", local.0));
            }
            StatementKind::If { condition, then, otherwise } => {
                self.expect(condition, Type::Bool, scope);
                self.statements(then, scope);
                self.statements(otherwise, scope);
            }
            StatementKind::Match { subjects, branches } => {
                let widths: Vec<u32> =
                    subjects.iter().map(|subject| self.expect_int(subject, scope)).collect();
                for branch in branches {
                    self.patterns(&branch.patterns, &widths);
                    self.statements(&branch.statements, scope);
                }
            }
            StatementKind::IfEvent { value, event, locals, then, otherwise } => {
                self.expect(value, Type::Event, scope);
                if let Some(event) = self.event(*event) {
                    self.ensure(locals.len() == event.parameters.len(), || {
                        format!("`{}` matched with {} locals", event.name, locals.len())
                    });
                    for (local, parameter) in locals.iter().zip(&event.parameters) {
                        self.assigned(*local, parameter.ty, scope);
                    }
                }
                self.statements(then, scope);
                self.statements(otherwise, scope);
            }
            StatementKind::Generate { event, destination } => {
                self.expect(event, Type::Event, scope);
                match destination {
                    Destination::Event => {}
                    Destination::Switch(place) | Destination::Port(place) => {
                        self.expect_int(place, scope);
                    }
                    Destination::Ports(group) | Destination::Switches(group) => {
                        self.expect(group, Type::Group, scope);
                    }
                }
            }
            StatementKind::Print { pieces } => {
                for piece in pieces {
                    if let PrintPiece::Value(value) = piece {
                        self.expression(value, scope);
                        self.ensure(matches!(value.ty, Type::Int(_) | Type::Bool), || {
                            format!("{:?} cannot be printed", value.ty)
                        });
                    }
                }
            }
            StatementKind::CallExtern { function, arguments } => {
                let known = self.program.extern_functions.get(function.0 as usize).is_some();
                self.ensure(known, || format!("there is no extern function {}", function.0));
                for argument in arguments {
                    if let ExternArgument::Value(value) = argument {
                        self.expression(value, scope);
                    }
                }
            }
            StatementKind::Return => {}
        }
    }

    fn same_types(&mut self, given: &[crate::core::Expression], expected: &[Type], scope: &Scope) {
        self.ensure(given.len() == expected.len(), || {
            format!("{} arguments instead of {}", given.len(), expected.len())
        });
        for (argument, ty) in given.iter().zip(expected) {
            self.expect(argument, *ty, scope);
        }
    }

    pub(super) fn patterns(&mut self, patterns: &[Pattern], widths: &[u32]) {
        self.ensure(patterns.len() == widths.len(), || {
            format!("{} patterns for {} subjects", patterns.len(), widths.len())
        });
        for (pattern, width) in patterns.iter().zip(widths) {
            let inside =
                pattern.mask & !arithmetic::mask(*width) == 0 && pattern.value & !pattern.mask == 0;
            self.ensure(inside, || format!("a pattern {pattern:?} for {width} bits"));
        }
    }

    fn access(&mut self, id: GlobalId, access: &Access, result: Option<LocalId>, scope: &Scope) {
        let Some(width) = self.access_shape(id, access) else { return };
        let cell = Type::Int(width);
        if let Some(result) = result {
            self.assigned(result, cell, scope);
        }
        match access {
            Access::Simple { get, set } => {
                self.ensure(get.is_some() || set.is_some(), || {
                    "an access that neither reads nor writes".to_owned()
                });
                self.ensure(get.is_some() || result.is_none(), || {
                    "a result of an access that does not read".to_owned()
                });
                for side in [get, set].into_iter().flatten() {
                    self.cell_use(id, side, width, scope);
                }
            }
            Access::Complex { memop, arguments, default } => {
                for argument in arguments {
                    self.expect(argument, cell, scope);
                }
                self.expect(default, cell, scope);
                let pair = matches!(
                    self.global(id).map(|global| &global.kind),
                    Some(GlobalKind::PairArray { .. })
                );
                self.memop_fits(*memop, if pair { 4 } else { 3 }, width);
            }
        }
    }

    fn memop_fits(&mut self, memop: crate::core::MemopId, arguments: u32, width: u32) {
        let Some(memop) = self.memop(memop) else { return };
        self.ensure(memop.argument_count == arguments && memop.width_bits == width, || {
            format!(
                "memop `{}` of {} arguments at {} bits for {arguments} arguments at {width} bits",
                memop.name, memop.argument_count, memop.width_bits
            )
        });
    }

    fn cell_use(&mut self, id: GlobalId, side: &Use, width: u32, scope: &Scope) {
        match side {
            Use::Old => {}
            Use::Value(value) => self.expect(value, Type::Int(width), scope),
            Use::Add(value) => {
                let counter = matches!(
                    self.global(id).map(|global| &global.kind),
                    Some(GlobalKind::Counter { .. })
                );
                self.ensure(counter, || "an addition to something that is no counter".into());
                self.expect(value, Type::Int(width), scope);
            }
            Use::Memop(memop, value) => {
                self.memop_fits(*memop, 2, width);
                self.expect(value, Type::Int(width), scope);
            }
        }
    }
}
