// SPDX-License-Identifier: Apache-2.0
//! What can be assigned to: fields, locals, scalars and cells.

use super::Checker;
use super::names::Declared;
use crate::codes::check as codes;
use crate::program::Place;
use crate::syntax::ast::{Expression, ExpressionKind, Name, Type};
use source::{Diagnostic, nearest};

impl Checker<'_> {
    /// Reports a name that is not declared.
    pub(super) fn undeclared(&mut self, name: &Name) {
        let message = format!("`{}` is not declared", name.text);
        let mut found = Diagnostic::error(codes::UNDECLARED, name.span, message);
        let values = self.names.all().filter(|(_, declared)| {
            matches!(declared, Declared::Global(_) | Declared::Local(_) | Declared::Packet)
        });
        let is_field = self.fields.iter().any(|field| field.name == name.text);
        let packet = self.names.all().find(|(_, declared)| *declared == Declared::Packet);
        found = match (nearest(&name.text, values.map(|(name, _)| name)), is_field, packet) {
            (_, true, Some((packet, _))) => {
                found.help(format!("write `{packet}.{}` for the packet's field", name.text))
            }
            (Some(near), ..) => found.help(format!("did you mean `{near}`?")),
            _ => found.help(format!("declare it before this line, such as `int {};`", name.text)),
        };
        self.diagnostics.push(found);
    }

    /// Returns what an expression names, with its type. `is_written` reports what cannot be assigned to.
    pub(super) fn place(
        &mut self,
        expression: &Expression,
        is_written: bool,
    ) -> Option<(Place, Type)> {
        let (place, ty) = match &expression.kind {
            ExpressionKind::Name(name) => self.named_place(name, is_written)?,
            ExpressionKind::Member(base, field) => self.field(base, field)?,
            ExpressionKind::Index(base, index) => self.cell(base, index)?,
            _ => {
                let message = "this value cannot be assigned to";
                let found = Diagnostic::error(codes::NOT_ASSIGNABLE, expression.span, message);
                self.diagnostics.push(found.help("assign to a field, a local, a global or a cell"));
                return None;
            }
        };
        if let Place::Scalar(global) | Place::Cell(global, _) = &place
            && is_written
        {
            self.globals[*global].is_written = true;
        }
        Some((place, ty))
    }

    fn named_place(&mut self, name: &Name, is_written: bool) -> Option<(Place, Type)> {
        let error = |message: String, code, help: String| {
            Diagnostic::error(code, name.span, message).help(help)
        };
        let text = &name.text;
        let found = match self.names.find(text) {
            None => {
                self.undeclared(name);
                return None;
            }
            Some((_, Declared::Local(local))) => {
                return Some((Place::Local(local), self.current.locals[local].ty));
            }
            Some((_, Declared::Global(global))) => {
                let Some(size) = self.globals[global].size else {
                    return Some((Place::Scalar(global), self.globals[global].ty));
                };
                let message = format!("`{text}` is an array of {size} cells and no value");
                error(message, codes::ARRAY_AS_SCALAR, format!("name a cell, such as `{text}[0]`"))
            }
            Some((_, Declared::Packet)) => {
                let field = self.fields.first().map_or("field".into(), |field| field.name.clone());
                let message = format!("`{text}` is the whole packet and no value");
                error(
                    message,
                    codes::PACKET_AS_VALUE,
                    format!("name a field, such as `{text}.{field}`"),
                )
            }
            Some((_, Declared::Function(_) | Declared::CurrentFunction | Declared::Hash(_))) => {
                let message = format!("`{text}` is a function");
                let help = match is_written {
                    true => "assign to a field, a local, a global or a cell".to_string(),
                    false => format!("call it: `{text}(...)`"),
                };
                error(message, codes::NOT_ASSIGNABLE, help)
            }
        };
        self.diagnostics.push(found);
        None
    }

    fn field(&mut self, base: &Expression, field: &Name) -> Option<(Place, Type)> {
        let ExpressionKind::Name(packet) = &base.kind else {
            let message = "only the packet has fields";
            let found = Diagnostic::error(codes::UNKNOWN_FIELD, base.span, message);
            self.diagnostics.push(found.help("write the packet's name before the `.`"));
            return None;
        };
        match self.names.find(&packet.text) {
            Some((_, Declared::Packet)) => {}
            None => {
                self.undeclared(packet);
                return None;
            }
            Some(_) => {
                let message = format!("`{}` is not the packet, so it has no fields", packet.text);
                let found = Diagnostic::error(codes::UNKNOWN_FIELD, packet.span, message);
                self.diagnostics.push(found.help("write the packet's name before the `.`"));
                return None;
            }
        }
        if let Some(index) = self.fields.iter().position(|known| known.name == field.text) {
            return Some((Place::Field(index), self.fields[index].ty));
        }
        let message = format!("the packet has no field `{}`", field.text);
        let mut found = Diagnostic::error(codes::UNKNOWN_FIELD, field.span, message);
        let names = self.fields.iter().map(|known| &*known.name);
        found = match nearest(&field.text, names) {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => found.help(format!("add `int {};` to the struct", field.text)),
        };
        self.diagnostics.push(found);
        None
    }

    fn cell(&mut self, base: &Expression, index: &Expression) -> Option<(Place, Type)> {
        let checked = self.expression(index);
        let ExpressionKind::Name(name) = &base.kind else {
            let message = "only a global array has cells";
            let found = Diagnostic::error(codes::NOT_AN_ARRAY, base.span, message);
            self.diagnostics.push(found.help("write the array's name before the `[`"));
            return None;
        };
        match self.names.find(&name.text) {
            Some((_, Declared::Global(global))) if self.globals[global].size.is_some() => {
                let ty = self.globals[global].ty;
                Some((Place::Cell(global, Box::new(checked?)), ty))
            }
            None => {
                self.undeclared(name);
                None
            }
            Some((declared, _)) => {
                let message = format!("`{}` is no array", name.text);
                let mut found = Diagnostic::error(codes::NOT_AN_ARRAY, name.span, message);
                if !declared.is_none() {
                    found = found.label(declared, "declared here");
                }
                self.diagnostics
                    .push(found.help("leave the index out, or declare the global with a size"));
                None
            }
        }
    }
}
