// SPDX-License-Identifier: Apache-2.0
//! Values of symbolic sizes and symbolic constants, and their assignment to the declarations.
//! `specification::read_symbolics` reads them from files.

use super::events::KnownCopies;
use super::values::Value;
use super::{Elaborated, Elaborator, Reported, Scope, codes};
use crate::check::{CheckedProgram, Type};
use crate::core::{Constant, Expression, arithmetic};
use crate::syntax::ast::NodeId;
use source::{Diagnostic, Diagnostics, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Values of symbolic sizes and symbolic constants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbolics {
    /// `symbolic size`, by name: the full one (`M.n`), or the last part of it.
    pub sizes: HashMap<String, u128>,
    /// `symbolic int` and `symbolic bool` (0 or 1), by name; parts of records and vectors by theirs:
    /// `seeds[2]`, `limit#low`.
    pub values: HashMap<String, u128>,
    /// Where each size is given, for messages.
    pub size_places: HashMap<String, Span>,
    /// Where each value is given.
    pub value_places: HashMap<String, Span>,
}

impl Symbolics {
    fn size(&self, name: &str) -> Option<u128> {
        lookup(&self.sizes, name)
    }

    fn value(&self, name: &str) -> Option<u128> {
        lookup(&self.values, name)
    }
}

/// By the full name, or without its modules.
fn lookup(map: &HashMap<String, u128>, name: &str) -> Option<u128> {
    let last = name.rsplit('.').next().unwrap_or(name);
    map.get(name).or_else(|| map.get(last)).copied()
}

/// Warns about values for symbolics that the program does not have. Values without a place are not judged.
pub fn unknown_symbolics(checked: &CheckedProgram, symbolics: &Symbolics) -> Diagnostics {
    let elaborator = Elaborator::new(checked, symbolics, KnownCopies::default());
    let names = |declared: &[(NodeId, Span)]| -> Vec<Arc<str>> {
        declared.iter().map(|(id, _)| elaborator.full_name(*id)).collect()
    };
    let sizes = names(&elaborator.index.symbolic_sizes);
    let values = names(&elaborator.index.symbolics);
    let mut found = Diagnostics::new();
    for (places, own, what, others, other) in [
        (&symbolics.size_places, &sizes, "symbolic size", &values, "symbolics"),
        (&symbolics.value_places, &values, "symbolic", &sizes, "sizes"),
    ] {
        let mut places: Vec<(&String, Span)> =
            places.iter().map(|(name, at)| (name, *at)).collect();
        places.sort_by_key(|(_, place)| (place.file, place.start));
        for (name, place) in places {
            let base = name.split(['#', '[']).next().unwrap_or(name);
            let is_named = |declared: &Arc<str>| {
                **declared == *base || declared.rsplit('.').next() == Some(base)
            };
            if own.iter().any(is_named) {
                continue;
            }
            let message = format!("the program has no {what} `{base}`");
            let diagnostic = Diagnostic::warning(codes::UNKNOWN_SYMBOLIC, place, message);
            found.push(if others.iter().any(is_named) {
                diagnostic.help(format!("move it to `{other}`"))
            } else if let Some(near) = source::nearest(base, own.iter().map(|name| &**name)) {
                diagnostic.help(format!("did you mean `{near}`?"))
            } else {
                diagnostic.help(match own.is_empty() {
                    true => format!("remove it: the program has no {what}"),
                    false => format!("the program has `{}`", own.join("`, `")),
                })
            });
        }
    }
    found
}

impl Elaborator<'_> {
    /// Checks that all symbolics have values, and assigns the values to their declarations.
    pub(super) fn symbolics(&mut self) -> Elaborated<()> {
        let mut missing: Vec<(String, Span)> = Vec::new();
        for (id, span) in self.index.symbolic_sizes.clone() {
            let name = self.full_name(id);
            if self.symbolics.size(&name).is_none() {
                missing.push((format!("size {name}"), span));
            }
        }
        for (id, span) in self.index.symbolics.clone() {
            let Some(ty) = self.checked.types.get(&id).cloned() else { continue };
            if mentions_missing_size(self, &ty) {
                // The error at its size reports it.
                continue;
            }
            let ty = self.close(&ty, &Scope::default(), span)?;
            let name = self.full_name(id);
            self.symbolic_parts(id, &name, &ty, span, &mut missing)?;
        }
        if missing.is_empty() {
            return if self.diagnostics.has_errors() { Err(Reported) } else { Ok(()) };
        }
        let names: Vec<String> = missing.iter().map(|(name, _)| format!("`{name}`")).collect();
        let (_, first) = missing[0];
        let mut diagnostic = Diagnostic::error(
            codes::MISSING_SYMBOLIC,
            first,
            match names.as_slice() {
                [one] => format!("the symbolic {one} has no value"),
                many => format!("{} symbolics have no value: {}", many.len(), many.join(", ")),
            },
        );
        let example = |size: bool| {
            missing.iter().find(|(name, _)| name.starts_with("size ") == size).map(|(name, _)| {
                let name = name.trim_start_matches("size ");
                let part = if size { "sizes" } else { "symbolics" };
                format!("\"{part}\": {{\"{name}\": 1}}")
            })
        };
        let parts: Vec<String> = [example(true), example(false)].into_iter().flatten().collect();
        for (name, span) in missing.iter().skip(1) {
            diagnostic = diagnostic.label(*span, format!("`{name}` has none either"));
        }
        let diagnostic = diagnostic
            .help(format!("give them in a file of symbolics: `{{{}}}`", parts.join(", ")));
        Err(self.report(diagnostic.help("or write `size` and `const` instead, with a value")))
    }

    fn symbolic_parts(
        &mut self,
        id: NodeId,
        name: &str,
        ty: &Type,
        span: Span,
        missing: &mut Vec<(String, Span)>,
    ) -> Elaborated<()> {
        let leaves = self.flatten(name, ty, span)?;
        let mut values = Vec::with_capacity(leaves.len());
        for (leaf, ty) in leaves {
            let Some(value) = self.symbolics.value(&leaf) else {
                missing.push((leaf, span));
                continue;
            };
            let known = match ty {
                crate::core::Type::Bool if value <= 1 => Constant::Bool(value == 1),
                crate::core::Type::Int(width) if value <= arithmetic::mask(width) => {
                    Constant::Int(value, width)
                }
                _ => {
                    let what = super::operators::describe_type(ty);
                    let message = format!("{value} is no value of `{leaf}`, which is {what}");
                    self.error(codes::SYMBOLIC_VALUE, span, message);
                    continue;
                }
            };
            values.push(Value::Scalar(Expression::constant(known, span)));
        }
        let mut values = values.into_iter();
        if let Ok(value) = self.assembled(ty, &mut values, span) {
            self.symbolic_values.insert(id, value);
        }
        Ok(())
    }

    /// The value of a type whose leaves are these, in order.
    fn assembled(
        &mut self,
        ty: &Type,
        leaves: &mut dyn Iterator<Item = Value>,
        span: Span,
    ) -> Elaborated<Value> {
        Ok(match self.shape(ty, span)? {
            Type::Record(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for (label, field) in &fields {
                    values.push((label.clone(), self.assembled(field, leaves, span)?));
                }
                Value::record(values)
            }
            Type::Vector(element, length) => {
                let mut values = Vec::new();
                for _ in 0..length.constant {
                    values.push(self.assembled(&element, leaves, span)?);
                }
                Value::vector(values)
            }
            // Without a leaf: the missing value is already reported.
            _ => leaves.next().ok_or(Reported)?,
        })
    }

    /// The value of a symbolic size.
    pub(super) fn symbolic_size(&mut self, id: NodeId, span: Span) -> Elaborated<u128> {
        let name = self.full_name(id);
        match self.symbolics.size(&name) {
            Some(value) => Ok(value),
            None => Err(self.internal(span, "a symbolic size without a value")),
        }
    }

    /// The value of a symbolic constant.
    pub(super) fn symbolic_value(&mut self, id: NodeId, span: Span) -> Elaborated<Value> {
        match self.symbolic_values.get(&id) {
            Some(value) => Ok(value.clone()),
            None => Err(self.internal(span, "a symbolic without a value")),
        }
    }
}

/// Whether a type mentions a symbolic size that has no value.
fn mentions_missing_size(elaborator: &Elaborator<'_>, ty: &Type) -> bool {
    let mut missing = false;
    let _ = ty.replace(&mut |_| None, &mut |term| {
        if let crate::check::SizeTerm::Symbolic(id) = term {
            missing |= elaborator.symbolics.size(&elaborator.full_name(id)).is_none();
        }
        None
    });
    missing
}
