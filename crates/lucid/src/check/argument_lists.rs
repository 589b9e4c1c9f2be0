// SPDX-License-Identifier: Apache-2.0
//! Texts of argument lists in messages: what a call takes, and the declaration that a call of an undeclared
//! event asks for. `reports` and `scopes` write the messages.

use super::Checker;
use super::checked::{Size, Type};
use super::reports::arguments;
use super::scopes::{Entry, binder_of};
use crate::syntax::ast::{Expression, ExpressionKind, Segment};
use std::collections::HashSet;

/// Longest list that a message shows, in characters.
const MAX_SHOWN_CHARACTERS: usize = 160;

/// "2 arguments (the table, the key)".
pub(super) fn counted(list: &[String]) -> String {
    let count = arguments(list.len());
    let shown = list.join(", ");
    match list.is_empty() || shown.chars().count() > MAX_SHOWN_CHARACTERS {
        true => count,
        false => format!("{count} ({shown})"),
    }
}

/// The names of a built-in function's parameters.
pub(super) fn named(parameters: &[(&'static str, Type)]) -> Vec<String> {
    parameters.iter().map(|(name, _)| (*name).to_owned()).collect()
}

impl Checker {
    /// What a declared function, event, constructor, action or parser takes: `2 arguments (int<32> x, bool b)`.
    /// Types are those of the declaration, with its own variables.
    pub(super) fn declared_arguments(&self, entry: &Entry, types: &[Type]) -> String {
        let id = binder_of(&entry.definition);
        let declared = id.and_then(|id| self.out.signatures.get(&id));
        let declared = declared.map(|signature| &signature.parameters[..]);
        let declared = declared.filter(|declared| declared.len() == types.len()).unwrap_or(types);
        let names = id.and_then(|id| self.parameters.get(&id)).map_or(&[][..], |names| names);
        self.typed_arguments(declared, names)
    }

    /// The same for these types; names are added if there is one for each.
    pub(super) fn typed_arguments(&self, types: &[Type], names: &[Segment]) -> String {
        let names = Some(names).filter(|names| names.len() == types.len());
        let list = types.iter().enumerate().map(|(at, ty)| {
            let ty = self.out.show(&self.variables.resolve(ty));
            match names {
                Some(names) => format!("{ty} {}", names[at].name),
                None => ty,
            }
        });
        counted(&list.collect::<Vec<String>>())
    }

    /// The declaration of an event that a call makes: `event g(int<32> x);`. `None` if an argument has no type
    /// that a parameter may have.
    pub(super) fn event_declaration(
        &self,
        name: &str,
        arguments: &[(&Expression, Type)],
    ) -> Option<String> {
        let mut used = HashSet::new();
        let mut parameters = Vec::with_capacity(arguments.len());
        for (at, (argument, ty)) in arguments.iter().enumerate() {
            let ty = self.parameter_type(&self.variables.resolve(ty))?;
            let mut parameter = match &argument.kind {
                ExpressionKind::Name(path) => {
                    path.segments.last().map(|last| last.name.to_string())
                }
                ExpressionKind::Field { label, .. } => Some(label.name.to_string()),
                _ => None,
            }
            .unwrap_or_else(|| format!("x{}", at + 1));
            while !used.insert(parameter.clone()) {
                parameter = format!("{parameter}_{}", at + 1);
            }
            parameters.push(format!("{} {parameter}", self.out.show(&ty)));
        }
        Some(format!("event {name}({});", parameters.join(", ")))
    }

    /// The type with widths that nothing determines yet as integers get them.
    fn parameter_type(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Int(width) => Some(Type::Int(match width.terms.is_empty() {
                true => width.clone(),
                false if self.is_open(width) => Size::constant(super::body::DEFAULT_WIDTH),
                false => width.clone(),
            })),
            Type::Vector(element, length) => {
                Some(Type::Vector(Box::new(self.parameter_type(element)?), length.clone()))
            }
            Type::Bool | Type::Group | Type::User { .. } | Type::Payload => Some(ty.clone()),
            Type::Array(_) | Type::PairArray(_) | Type::Counter(_) | Type::Table(_) => {
                Some(ty.clone())
            }
            _ => None,
        }
    }
}
