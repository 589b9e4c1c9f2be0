// SPDX-License-Identifier: Apache-2.0
//! Roots: events over globals that something outside the program names, such as `update_one` for `arr1`,
//! by the names that globals and their parts have in the core program.

use super::values::Value;
use super::{Elaborated, Elaborator, Reported, Root, Scope, codes};
use crate::check::Type;
use source::{Diagnostic, Span};

impl Elaborator<'_> {
    /// Makes the copies of events that the roots name.
    pub(super) fn root_events(&mut self, roots: &[Root]) -> Elaborated<()> {
        let mut failed = false;
        for root in roots {
            failed |= self.root_event(root).is_err();
        }
        if failed { Err(Reported) } else { Ok(()) }
    }

    fn root_event(&mut self, root: &Root) -> Elaborated<()> {
        let found = self.index.events.iter().find(|event| *self.full_name(event.id) == *root.event);
        let Some(declaration) = found.copied() else {
            let message = format!("there is no event `{}`", root.event);
            return Err(self.error(codes::ROOT, root.span, message));
        };
        let mut names = root.globals.iter();
        let mut scope = Scope::default();
        let mut arguments = Vec::with_capacity(declaration.parameters.len());
        let mut wanted = 0;
        for parameter in declaration.parameters {
            let span = parameter.name.span;
            let ty = self.checked.types.get(&parameter.name.id).cloned();
            if !ty.as_ref().is_some_and(|ty| self.checked.is_global(ty)) {
                arguments.push(Value::Void);
                continue;
            }
            wanted += 1;
            let Some(name) = names.next() else { continue };
            let (value, given) = self.global_named(name, root.span)?;
            if let Some(pattern) = ty {
                self.match_types(&pattern, &given, &mut scope, span)?;
                let wanted = self.close(&pattern, &scope, span)?;
                if self.shape(&wanted, span)? != self.shape(&given, span)? {
                    let (wanted, given) = (self.checked.show(&wanted), self.checked.show(&given));
                    let message = format!("`{name}` is a `{given}`, not a `{wanted}`");
                    let diagnostic = Diagnostic::error(codes::ROOT, root.span, message)
                        .label(span, "the event's parameter");
                    return Err(self.report(diagnostic));
                }
            }
            arguments.push(value);
        }
        if wanted != root.globals.len() {
            let message = format!(
                "the event `{}` takes {wanted} globals, here are {}",
                root.event,
                root.globals.len()
            );
            let diagnostic = Diagnostic::error(codes::ROOT, root.span, message);
            return Err(self.report(diagnostic.label(declaration.span, "declared here")));
        }
        if wanted == 0 {
            return Ok(());
        }
        let copy = self.copy_for(declaration.id, &scope, &arguments, root.span)?;
        self.copy_of(copy).map(|_| ())
    }

    /// A global or a part of one by its name, with its closed type.
    fn global_named(&mut self, name: &str, span: Span) -> Elaborated<(Value, Type)> {
        let end = name.find(['#', '[']).unwrap_or(name.len());
        let (whole, mut parts) = name.split_at(end);
        let mut ids = self.index.values.iter().filter(|id| self.index.globals.contains_key(id));
        let id = ids.find(|id| *self.full_name(**id) == *whole).copied();
        let Some(id) = id else {
            let message = format!("there is no global `{whole}`");
            return Err(self.error(codes::ROOT, span, message));
        };
        let mut value = self.declared_value(id)?;
        let mut ty = self.type_of(id, &Scope::default(), span)?;
        while !parts.is_empty() {
            let (step, rest) = match parts[1..].find(['#', '[']) {
                Some(at) => parts.split_at(at + 1),
                None => (parts, ""),
            };
            let shape = self.shape(&ty, span)?;
            let part = match (&value, shape, step.strip_prefix('#'), index_of(step)) {
                (Value::Record(record), Type::Record(types), Some(label), _) => {
                    let mut fields = record.fields.iter().zip(types);
                    let field = fields.find(|((name, _), _)| **name == *label);
                    field.map(|((_, field), (_, ty))| (field.clone(), ty))
                }
                (Value::Vector(vector), Type::Vector(element, _), _, Some(at)) => {
                    vector.elements.get(at).map(|value| (value.clone(), *element))
                }
                _ => None,
            };
            match part {
                Some(part) => (value, ty) = part,
                None => {
                    let message = format!("`{whole}` has no part `{name}`");
                    return Err(self.error(codes::ROOT, span, message));
                }
            }
            parts = rest;
        }
        Ok((value, ty))
    }
}

/// The number in `[2]`.
fn index_of(step: &str) -> Option<usize> {
    step.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}
