// SPDX-License-Identifier: Apache-2.0
//! Resolves a specification: looks up its names in the program and converts values to the types there. Each
//! failure is a diagnostic that names the entry of the specification and, if there is one, the declaration in
//! the program.

mod captures;
mod commands;
mod inputs;

use super::codes;
use crate::interpreter::{Group, Value};
use crate::specification::{Argument, FieldSpans, Run};
use lucid::core::arithmetic::mask;
use lucid::core::{Event, EventId, GlobalId, Program, Type};
use source::{Diagnostic, Diagnostics, Span};
use std::sync::Arc;

/// Resolves the names of one run.
pub(super) struct Resolver<'a> {
    pub(super) program: &'a Program,
    pub(super) run: &'a Run,
    pub(super) switches: u32,
    pub(super) found: &'a mut Diagnostics,
}

/// A type as a user writes it.
pub(super) fn type_name(ty: Type) -> String {
    match ty {
        Type::Int(width_bits) => format!("int<{width_bits}>"),
        Type::Bool => "bool".to_string(),
        Type::Event => "event".to_string(),
        Type::Group => "group".to_string(),
        Type::Payload => "Payload.t".to_string(),
    }
}

/// A specification's value as a value of a type, or why not.
pub(super) fn fit(argument: &Argument, ty: Type) -> Result<Value, String> {
    let wrong = || format!("`{argument}` is not of type `{}`", type_name(ty));
    match ty {
        Type::Int(width_bits) => {
            let (value, _) = argument.as_int().ok_or_else(wrong)?;
            if value > mask(width_bits) {
                let most = mask(width_bits);
                return Err(format!("{value} does not fit in int<{width_bits}> (at most {most})"));
            }
            Ok(Value::Int(value))
        }
        Type::Bool => argument.as_bool().map(Value::Bool).ok_or_else(wrong),
        Type::Group => {
            let Argument::List(members) = argument else { return Err(wrong()) };
            let member = |member: &Argument| {
                member.as_int().and_then(|(value, _)| u32::try_from(value).ok())
            };
            let members = members.iter().map(member).collect::<Option<Vec<u32>>>();
            members.map(|members| Value::Group(Group::of(members))).ok_or_else(wrong)
        }
        Type::Payload => {
            argument.as_bytes().map(|bytes| Value::Payload(bytes.into())).ok_or_else(wrong)
        }
        Type::Event => Err("an event value cannot be written in a specification".to_string()),
    }
}

/// The argument with the upper bits removed that an integer of its type does not have, as the reference
/// implementation does; `None` if nothing is removed. A text that names a width has that width.
fn cut(argument: &Argument, ty: Type) -> Option<Argument> {
    let Type::Int(width_bits) = ty else { return None };
    let (value, None) = argument.as_int()? else { return None };
    let kept = value & mask(width_bits);
    (kept != value).then_some(Argument::Int(kept))
}

/// An argument, or a part of one, with the number of the argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'l> {
    pub(super) argument: &'l Argument,
    pub(super) number: usize,
}

impl Part<'_> {
    /// Where it stands in the specification.
    pub(super) fn span(self, field_spans: &FieldSpans) -> Span {
        field_spans.arguments.get(self.number).copied().unwrap_or(field_spans.whole)
    }
}

/// The program flattens records and vectors, so this flattens their values. A list stays whole where
/// the type is a group.
fn flatten<'l>(
    arguments: &mut dyn Iterator<Item = Part<'l>>,
    types: &[Type],
    parts: &mut Vec<Part<'l>>,
) {
    for part in arguments {
        match part.argument {
            Argument::List(list) if types.get(parts.len()) != Some(&Type::Group) => {
                let mut inner = list.iter().map(|argument| Part { argument, number: part.number });
                flatten(&mut inner, types, parts);
            }
            _ => parts.push(part),
        }
    }
}

/// The arguments with their numbers.
fn numbered(arguments: &[Argument]) -> impl Iterator<Item = Part<'_>> {
    arguments.iter().enumerate().map(|(number, argument)| Part { argument, number })
}

impl<'a> Resolver<'a> {
    /// Whether a switch exists; reports an error if not.
    pub(super) fn switch_exists(&mut self, switch: u32, span: Span) -> bool {
        if switch < self.switches {
            return true;
        }
        let message = format!("there is no switch {switch}");
        let count = self.switches;
        let last = count - 1;
        let help = match count {
            1 => "the run has one switch, 0; say how many there are with `switches`".to_string(),
            _ => format!("the run has {count} switches, 0 to {last}; see `switches`"),
        };
        self.found.push(Diagnostic::error(codes::UNKNOWN_PLACE, span, message).help(help));
        false
    }

    /// Values of the program's externs at each switch.
    pub(super) fn externs(&mut self) -> Vec<Vec<Value>> {
        let mut externs = vec![Vec::new(); self.switches as usize];
        let program = self.program;
        for wanted in &program.externs {
            let Some(values) = self.run.externs.get(wanted.name.as_ref()) else {
                let message =
                    format!("the specification gives no values for `extern {}`", wanted.name);
                let example = vec!["0"; self.switches as usize].join(", ");
                let help = format!("add \"externs\": {{\"{}\": [{example}]}}", wanted.name);
                let error = Diagnostic::error(codes::EXTERN_VALUES, wanted.span, message);
                self.found.push(error.here("declared here").help(help));
                continue;
            };
            let place = self.extern_place(&wanted.name);
            if values.len() != externs.len() {
                let message = format!(
                    "`extern {}` has {} values for {} switches",
                    wanted.name,
                    values.len(),
                    self.switches
                );
                let error = Diagnostic::error(codes::EXTERN_VALUES, place, message);
                let error = error.label(wanted.span, "declared here");
                self.found.push(error.help("give one value for each switch, that of 0 first"));
                continue;
            }
            for (switch, value) in values.iter().enumerate() {
                match fit(value, wanted.ty) {
                    Ok(value) => externs[switch].push(value),
                    Err(why) => {
                        let message = format!(
                            "the value of `extern {}` at switch {switch}: {why}",
                            wanted.name
                        );
                        let error = Diagnostic::error(codes::MISFIT, place, message);
                        self.found.push(error.label(wanted.span, "declared here"));
                    }
                }
            }
        }
        let known = |name: &str| program.externs.iter().any(|each| each.name.as_ref() == name);
        for name in self.run.externs.keys().filter(|name| !known(name)) {
            let message = format!("the program has no extern `{name}`");
            let place = self.extern_place(name);
            let mut error = Diagnostic::error(codes::EXTERN_VALUES, place, message);
            if let Some(meant) =
                source::nearest(name, program.externs.iter().map(|each| each.name.as_ref()))
            {
                error = error.help(format!("did you mean `{meant}`?"));
            }
            self.found.push(error);
        }
        externs
    }

    fn extern_place(&self, name: &str) -> Span {
        self.run.extern_places.get(name).copied().unwrap_or(Span::NONE)
    }

    /// The event of a name and its argument values. An event over globals is named with the globals
    /// among its arguments.
    pub(super) fn event(
        &mut self,
        name: &str,
        arguments: &[Argument],
        field_spans: &FieldSpans,
    ) -> Option<(EventId, Vec<Value>)> {
        let (id, parts) = self.event_and_parts(name, arguments, field_spans)?;
        let values = self.fit_arguments(id, &parts, field_spans)?;
        Some((id, values))
    }

    /// The event of a name and the arguments for its parameters, parts of records taken apart.
    pub(super) fn event_and_parts<'l>(
        &mut self,
        name: &str,
        arguments: &'l [Argument],
        field_spans: &FieldSpans,
    ) -> Option<(EventId, Vec<Part<'l>>)> {
        let program = self.program;
        let exact = program
            .events
            .iter()
            .position(|event| event.name.as_ref() == name && event.global_arguments.is_empty());
        // A copy by its full name, `update(arr1, ctr1)`, has the other arguments alone.
        let exact = exact.or_else(|| program.events.iter().position(|e| e.name.as_ref() == name));
        if let Some(at) = exact {
            let types = parameter_types(&program.events[at]);
            let mut parts = Vec::new();
            flatten(&mut numbered(arguments), &types, &mut parts);
            return Some((EventId(at as u32), parts));
        }
        let copies: Vec<(usize, &Event)> = program
            .events
            .iter()
            .enumerate()
            .filter(|(_, event)| event.declared_name.as_ref() == name)
            .collect();
        if copies.is_empty() {
            let message = format!("the program has no event `{name}`");
            let mut error = Diagnostic::error(codes::UNKNOWN_EVENT, field_spans.name, message);
            let names = program.events.iter().map(|event| event.declared_name.as_ref());
            if let Some(meant) = source::nearest(name, names) {
                error = error.help(format!("did you mean `{meant}`?"));
            } else if let Some(event) = program.events.first() {
                error =
                    error.help(format!("events of the program are declared as `{}`", event.name));
            }
            self.found.push(error);
            return None;
        }
        let mut globals = Vec::new();
        let mut rest = Vec::new();
        for part in numbered(arguments) {
            match self.globals_of(part.argument) {
                Some(parts) => globals.extend(parts),
                None => rest.push(part),
            }
        }
        let chosen = copies.iter().find(|(_, event)| event.global_arguments == globals);
        let Some((at, event)) = chosen else {
            let message = format!("the program never uses `{name}` with these globals");
            let list: Vec<&str> = copies.iter().map(|(_, event)| event.name.as_ref()).collect();
            let span = copies[0].1.span;
            let error = Diagnostic::error(codes::UNKNOWN_EVENT, field_spans.whole, message);
            let error = error.label(span, "declared here");
            let note = "give the names of the globals where the event takes globals";
            self.found.push(error.help(format!("its uses are {}", list.join(", "))).note(note));
            return None;
        };
        let types = parameter_types(event);
        let mut parts = Vec::new();
        flatten(&mut rest.into_iter(), &types, &mut parts);
        Some((EventId(*at as u32), parts))
    }

    /// The globals that a name means: one, or the parts of a record or vector.
    fn globals_of(&self, argument: &Argument) -> Option<Vec<GlobalId>> {
        let Argument::Text(name) = argument else { return None };
        let is_part = |global: &str| {
            global == name
                || global
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.starts_with('#') || rest.starts_with('['))
        };
        let parts: Vec<GlobalId> = (0..)
            .zip(&self.program.globals)
            .filter(|(_, global)| is_part(&global.name))
            .map(|(at, _)| GlobalId(at))
            .collect();
        (!parts.is_empty()).then_some(parts)
    }

    /// Converts arguments to an event's parameters. A trailing payload may be left out.
    pub(super) fn fit_arguments(
        &mut self,
        id: EventId,
        parts: &[Part<'_>],
        field_spans: &FieldSpans,
    ) -> Option<Vec<Value>> {
        self.count_fits(id, parts.len(), field_spans)?;
        let count = self.program.events[id.0 as usize].parameters.len();
        (0..count)
            .map(|at| self.fit_argument(id, at, parts.get(at).copied(), field_spans))
            .collect()
    }

    /// Whether an event takes this number of arguments; a trailing payload may be left out.
    pub(super) fn count_fits(
        &mut self,
        id: EventId,
        given: usize,
        field_spans: &FieldSpans,
    ) -> Option<()> {
        let event = &self.program.events[id.0 as usize];
        let parameters = &event.parameters;
        let left_out = parameters.get(given..).unwrap_or_default();
        if given <= parameters.len() && left_out.iter().all(|left| left.ty == Type::Payload) {
            return Some(());
        }
        let names: Vec<String> = parameters
            .iter()
            .map(|parameter| format!("{} {}", type_name(parameter.ty), parameter.name))
            .collect();
        let arguments = if parameters.len() == 1 { "argument" } else { "arguments" };
        let message =
            format!("`{}` takes {} {arguments} and is given {given}", event.name, parameters.len());
        let error = Diagnostic::error(codes::ARGUMENT_COUNT, field_spans.whole, message);
        let error = error.label(event.span, "declared here");
        self.found.push(error.help(format!("it takes ({})", names.join(", "))));
        None
    }

    /// Converts one argument to its parameter's type; an omitted argument is an empty payload.
    pub(super) fn fit_argument(
        &mut self,
        id: EventId,
        at: usize,
        part: Option<Part<'_>>,
        field_spans: &FieldSpans,
    ) -> Option<Value> {
        let event = &self.program.events[id.0 as usize];
        let parameter = &event.parameters[at];
        let Some(part) = part else { return Some(Value::Payload(Arc::from([]))) };
        let cut = cut(part.argument, parameter.ty);
        if let Some(kept) = &cut {
            let message = format!(
                "argument `{}` of `{}`: {} does not fit in {}, so it becomes {kept}",
                parameter.name,
                event.name,
                part.argument,
                type_name(parameter.ty)
            );
            let warning = Diagnostic::warning(codes::CUT_OFF, part.span(field_spans), message);
            let warning = warning.label(parameter.span, "declared here");
            self.found.push(warning.help(format!("write {kept} if that is meant")));
        }
        match fit(cut.as_ref().unwrap_or(part.argument), parameter.ty) {
            Ok(value) => Some(value),
            Err(why) => {
                let message = format!("argument `{}` of `{}`: {why}", parameter.name, event.name);
                let error = Diagnostic::error(codes::MISFIT, part.span(field_spans), message);
                self.found.push(error.label(parameter.span, "declared here"));
                None
            }
        }
    }
}

pub(super) fn parameter_types(event: &Event) -> Vec<Type> {
    event.parameters.iter().map(|parameter| parameter.ty).collect()
}
