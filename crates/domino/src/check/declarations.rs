// SPDX-License-Identifier: Apache-2.0
//! The packet struct, globals with their first values, and functions.

use super::names::Declared;
use super::{Checker, Current};
use crate::codes::check as codes;
use crate::program::{Field, Function, Global, Local};
use crate::syntax::ast::{self, Initializer, Item, ParameterType};
use source::{Diagnostic, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// The largest number of cells of all globals together.
pub(crate) const CELL_LIMIT: u64 = 1 << 26;

/// The largest number of fields.
const FIELD_LIMIT: usize = 400;

impl Checker<'_> {
    /// Takes the packet's fields.
    pub(super) fn structs(&mut self, file: &ast::File) {
        let mut structs = file.items.iter().filter_map(|item| match item {
            Item::Struct(structure) => Some(structure),
            _ => None,
        });
        let Some(structure) = structs.next() else { return };
        self.structure = Some(structure.name.clone());
        let mut seen: HashMap<Arc<str>, Span> = HashMap::new();
        for (name, ty) in &structure.fields {
            if let Some(first) = seen.insert(name.text.clone(), name.span) {
                let message = format!("`{}` is declared twice", name.text);
                let found = Diagnostic::error(codes::DUPLICATE, name.span, message)
                    .here("declared again")
                    .label(first, "first declared here")
                    .help("choose another name for one of them");
                self.diagnostics.push(found);
                continue;
            }
            self.fields.push(Field { name: name.text.clone(), ty: *ty, span: name.span });
        }
        if structure.fields.is_empty() {
            let message = format!("`struct {}` has no fields", structure.name.text);
            let found = Diagnostic::error(codes::PACKET_STRUCT, structure.name.span, message);
            self.diagnostics.push(found.help("declare at least one field, such as `int port;`"));
        }
        if structure.fields.len() > FIELD_LIMIT {
            let message =
                format!("`struct {}` has more than {FIELD_LIMIT} fields", structure.name.text);
            let found = Diagnostic::error(codes::PACKET_STRUCT, structure.name.span, message);
            self.diagnostics.push(found.help("keep values that packets need not carry in locals"));
        }
        for second in structs {
            let message = format!("`{}` is a second struct", second.name.text);
            let found = Diagnostic::error(codes::PACKET_STRUCT, second.name.span, message)
                .label(structure.name.span, "the packet's struct is declared here")
                .help("a program has one struct, the packet's fields; declare other values as globals or locals");
            self.diagnostics.push(found);
        }
    }

    pub(super) fn global(&mut self, global: &ast::Global) {
        let listed = match &global.initializer {
            Some(Initializer::List(values, _)) => Some(values.len()),
            _ => None,
        };
        let size = match &global.size {
            None => None,
            Some(None) => match listed {
                Some(count) if count > 0 => Some(count as u32),
                _ => {
                    self.size_error(
                        global.name.span,
                        format!("the size of `{}` is missing", global.name.text),
                    );
                    Some(1)
                }
            },
            Some(Some(size)) => Some(self.array_size(global, size)),
        };
        let initial = self.first_values(global, size);
        self.cells += u64::from(size.unwrap_or(1));
        if self.cells > CELL_LIMIT {
            self.cells = 0;
            let message = format!("the globals have more than {CELL_LIMIT} cells together");
            self.size_error(global.name.span, message);
        }
        self.declare(&global.name, Declared::Global(self.globals.len()));
        self.globals.push(Global {
            name: global.name.text.clone(),
            ty: global.ty,
            span: global.name.span,
            size,
            initial,
            is_written: false,
        });
    }

    fn size_error(&mut self, span: Span, message: String) {
        let help = format!("the size is a constant from 1 to {CELL_LIMIT}, such as `int a[256];`");
        self.diagnostics.push(Diagnostic::error(codes::ARRAY_SIZE, span, message).help(help));
    }

    fn array_size(&mut self, global: &ast::Global, size: &ast::Expression) -> u32 {
        let Some((value, ty)) = self.constant(size, "the size of an array") else { return 1 };
        let value = if ty.is_unsigned() { i64::from(value) } else { i64::from(value as i32) };
        match u32::try_from(value) {
            Ok(size) if size > 0 && u64::from(size) <= CELL_LIMIT => size,
            _ => {
                self.size_error(
                    size.span,
                    format!("`{}` cannot have {value} cells", global.name.text),
                );
                1
            }
        }
    }

    /// Returns the first values of a global, without the zeros at their end.
    fn first_values(&mut self, global: &ast::Global, size: Option<u32>) -> Vec<u32> {
        let mut values = Vec::new();
        match &global.initializer {
            None => {}
            Some(Initializer::Value(value)) => {
                if size.is_some() {
                    let message = format!(
                        "`{}` is an array, so its first values stand in braces",
                        global.name.text
                    );
                    let found = Diagnostic::error(codes::ARRAY_AS_SCALAR, value.span, message);
                    self.diagnostics.push(found.help("write `= {0}`"));
                } else if let Some((value, _)) = self.constant(value, "a first value") {
                    values.push(value);
                }
            }
            Some(Initializer::List(list, braces)) => {
                let room = size.unwrap_or(1) as usize;
                if list.len() > room {
                    let cells =
                        if room == 1 { "1 cell".to_string() } else { format!("{room} cells") };
                    let message = format!(
                        "`{}` has {cells}, and {} values are given",
                        global.name.text,
                        list.len()
                    );
                    let span = list[room].span.to(list[list.len() - 1].span);
                    let found = Diagnostic::error(codes::TOO_MANY_INITIALIZERS, span, message);
                    self.diagnostics
                        .push(found.help("remove the values without a cell, or enlarge the array"));
                }
                if list.is_empty() && size.is_none() {
                    let message = "the first value is missing";
                    let found = Diagnostic::error(codes::NOT_CONSTANT, *braces, message);
                    self.diagnostics.push(found.help("write `= 0`"));
                }
                for value in list {
                    values
                        .push(self.constant(value, "a first value").map_or(0, |(value, _)| value));
                }
                values.truncate(room);
            }
        }
        while values.last() == Some(&0) {
            values.pop();
        }
        values
    }

    pub(super) fn function(&mut self, function: &ast::Function) {
        let name = &function.name;
        let Some(body) = &function.body else {
            let message = format!("`{}` has no body here", name.text);
            let found = Diagnostic::error(codes::UNKNOWN_FUNCTION, name.span, message);
            self.diagnostics
                .push(found.help("define the function with its body before its first call"));
            return;
        };
        self.declare(name, Declared::CurrentFunction);
        self.names.open();
        self.current = Current {
            name: name.text.clone(),
            is_packet: function.is_for_packets(),
            returns: function.returns,
            locals: Vec::new(),
        };
        for parameter in &function.parameters {
            match &parameter.ty {
                ParameterType::Value(ty) => {
                    let local = Local { name: parameter.name.text.clone(), ty: *ty };
                    self.declare(&parameter.name, Declared::Local(self.current.locals.len()));
                    self.current.locals.push(local);
                }
                ParameterType::Struct(of) => {
                    self.declare(&parameter.name, Declared::Packet);
                    if self.structure.as_ref().is_none_or(|known| known.text != of.text) {
                        let message = format!("there is no `struct {}`", of.text);
                        let mut found = Diagnostic::error(codes::PACKET_STRUCT, of.span, message);
                        found = match &self.structure {
                            Some(known) => found
                                .help(format!("the packet's struct is `struct {}`", known.text)),
                            None => found.help(format!(
                                "declare the packet's fields: `struct {} {{ int port; }};`",
                                of.text
                            )),
                        };
                        self.diagnostics.push(found);
                    }
                }
            }
        }
        if self.current.is_packet {
            self.packet_parameters(function);
        }
        let parameters = self.current.locals.len();
        let body = self.statements(body);
        self.names.close();
        let current = std::mem::take(&mut self.current);
        if self
            .names
            .in_scope(&name.text)
            .is_some_and(|(_, known)| known == Declared::CurrentFunction)
        {
            self.names.declare(name, Declared::Function(self.functions.len()));
        }
        self.functions.push(Function {
            name: name.text.clone(),
            span: name.span,
            parameters,
            locals: current.locals,
            returns: function.returns,
            body,
        });
    }

    fn packet_parameters(&mut self, function: &ast::Function) {
        let name = &function.name;
        if function.parameters.len() > 1 {
            let message = format!("`{}` has parameters beside the packet", name.text);
            let found = Diagnostic::error(codes::PACKET_FUNCTION, name.span, message);
            self.diagnostics.push(found.help("the packet function has one parameter, the packet; read other values from its fields"));
        }
        if function.returns.is_some() {
            let message = format!("the packet function `{}` returns a value", name.text);
            let found = Diagnostic::error(codes::PACKET_FUNCTION, name.span, message);
            self.diagnostics.push(
                found
                    .help(format!("write `void {}(...)`, and assign results to fields", name.text)),
            );
        }
    }

    /// Finds the one function that has a packet.
    pub(super) fn packet_function(&mut self, file: &ast::File) {
        let mut all = file.items.iter().filter_map(|item| match item {
            Item::Function(function) if function.is_for_packets() => Some(function),
            _ => None,
        });
        let Some(first) = all.next() else {
            if self.diagnostics.has_errors() {
                return;
            }
            let name = self.structure.as_ref().map_or("Packet".into(), |name| name.text.clone());
            let span = self.structure.as_ref().map_or(Span::NONE, |name| name.span);
            let found = Diagnostic::error(
                codes::PACKET_FUNCTION,
                span,
                "the program has no packet function",
            );
            self.diagnostics.push(found.help(format!(
                "add `void func(struct {name} p) {{ ... }}`, which runs for each packet"
            )));
            return;
        };
        for second in all {
            let message = format!("`{}` is a second packet function", second.name.text);
            let found = Diagnostic::error(codes::SECOND_PACKET_FUNCTION, second.name.span, message)
                .label(first.name.span, "the first one")
                .help("a program has one packet function; give a helper the values it needs as `int` parameters");
            self.diagnostics.push(found);
        }
        self.packet_function =
            self.functions.iter().position(|function| function.span == first.name.span);
    }
}
