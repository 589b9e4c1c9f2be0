// SPDX-License-Identifier: Apache-2.0
//! Expected arguments of events: a value or a wildcard for each parameter of the core program, from lists that
//! follow the records and vectors of the source.

use super::values::value_text;
use crate::interpreter::{EventValue, Group, Value};
use crate::specification::{Argument, FieldSpans, codes};
use lucid::core::{Local, Program, Type};
use source::{Diagnostic, Diagnostics};
use std::sync::Arc;

/// One a parameter; `None` where anything will do.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedArguments(Vec<Option<Value>>);

impl ExpectedArguments {
    /// How an event's arguments differ from them.
    pub fn differences(&self, program: &Program, event: &EventValue) -> Vec<String> {
        let parameters = &program.events[event.event.0 as usize].parameters;
        let pairs = self.0.iter().zip(&event.arguments).zip(parameters);
        pairs
            .filter_map(|((expected, found), parameter)| {
                let expected = expected.as_ref().filter(|expected| *expected != found)?;
                let found = value_text(program, found);
                let expected = value_text(program, expected);
                Some(format!("{} is {found}, not {expected}", parameter.name))
            })
            .collect()
    }
}

/// Parameters of core programs are flattened: an argument of the source is a record's or a
/// vector's parts, whose names begin alike.
pub(super) fn expected_arguments(
    event: &lucid::core::Event,
    arguments: &[Option<Argument>],
    field_spans: &FieldSpans,
    diagnostics: &mut Diagnostics,
) -> Option<ExpectedArguments> {
    let base = |name: &str| name.split(['#', '[']).next().unwrap_or("").to_string();
    let mut groups: Vec<(String, Vec<&lucid::core::Local>)> = Vec::new();
    for parameter in &event.parameters {
        let base = base(&parameter.name);
        match groups.last_mut() {
            Some((last, group)) if *last == base => group.push(parameter),
            _ => groups.push((base, vec![parameter])),
        }
    }
    // Or one for each part.
    if arguments.len() != groups.len() && arguments.len() == event.parameters.len() {
        groups = event.parameters.iter().map(|each| (each.name.to_string(), vec![each])).collect();
    }
    if arguments.len() != groups.len() {
        let message = format!(
            "event `{}` has {} argument{}, and {} are expected",
            event.name,
            groups.len(),
            if groups.len() == 1 { "" } else { "s" },
            arguments.len()
        );
        let span = field_spans.arguments.first().copied().unwrap_or(field_spans.whole);
        let span = field_spans.arguments.last().map_or(span, |last| span.to(*last));
        diagnostics.push(
            Diagnostic::error(codes::EXPECTED_ARGUMENTS, span, message)
                .label(event.span, "declared here"),
        );
        return None;
    }
    let mut expected = Vec::new();
    for (at, (argument, (name, group))) in arguments.iter().zip(&groups).enumerate() {
        let Some(argument) = argument else {
            expected.extend(group.iter().map(|_| None));
            continue;
        };
        let span = field_spans.arguments.get(at).copied().unwrap_or(field_spans.whole);
        let mut parts = Vec::new();
        if !assign(argument, group, name.len(), &mut parts) {
            parts.clear();
            flatten(argument, &mut parts);
        }
        if parts.len() != group.len() {
            let message =
                format!("`{name}` has {} parts, and {} are expected", group.len(), parts.len());
            diagnostics.push(
                Diagnostic::error(codes::EXPECTED_ARGUMENTS, span, message)
                    .label(event.span, "declared here"),
            );
            return None;
        }
        for (part, parameter) in parts.into_iter().zip(group) {
            if part.is_any() {
                expected.push(None);
                continue;
            }
            match value(part, parameter.ty) {
                Ok(value) => expected.push(Some(value)),
                Err(wanted) => {
                    let message = format!("`{}` is {wanted}, not {part}", parameter.name);
                    diagnostics.push(
                        Diagnostic::error(codes::EXPECTED_ARGUMENTS, span, message)
                            .label(parameter.span, "declared here"),
                    );
                    return None;
                }
            }
        }
    }
    Some(ExpectedArguments(expected))
}

/// Assigns an argument to the parts of a record or vector, whose names begin alike for so many bytes: a wildcard
/// to all of them, an element of a list to those of one field or element. Returns false if the list is not of this
/// shape.
fn assign<'a>(
    argument: &'a Argument,
    group: &[&Local],
    prefix: usize,
    parts: &mut Vec<&'a Argument>,
) -> bool {
    if argument.is_any() {
        parts.extend(group.iter().map(|_| argument));
        return true;
    }
    let is_single = matches!(group, [one] if one.name.len() <= prefix);
    let Argument::List(list) = argument else {
        parts.push(argument);
        return group.len() == 1;
    };
    if is_single {
        parts.push(argument);
        return true;
    }
    let component = |local: &Local| {
        let rest = local.name.get(prefix..).unwrap_or("");
        let end =
            rest.get(1..).and_then(|rest| rest.find(['#', '['])).map_or(rest.len(), |at| at + 1);
        prefix + end
    };
    let mut elements = list.iter();
    let mut rest = group;
    while let Some(first) = rest.first() {
        let end = component(first);
        let same = |other: &&&Local| {
            component(other) == end && other.name.get(prefix..end) == first.name.get(prefix..end)
        };
        let (own, others) = rest.split_at(rest.iter().take_while(same).count().max(1));
        let Some(element) = elements.next() else { return false };
        if !assign(element, own, end, parts) {
            return false;
        }
        rest = others;
    }
    elements.next().is_none()
}

fn flatten<'a>(argument: &'a Argument, parts: &mut Vec<&'a Argument>) {
    match argument {
        Argument::List(list) => list.iter().for_each(|part| flatten(part, parts)),
        part => parts.push(part),
    }
}

/// A value of a type, or what the type takes.
fn value(argument: &Argument, ty: Type) -> Result<Value, String> {
    match ty {
        Type::Int(bits) => {
            let wanted = || format!("a number of {bits} bits");
            let (value, _) = argument.as_int().ok_or_else(wanted)?;
            if bits < 128 && value >> bits != 0 {
                return Err(wanted());
            }
            Ok(Value::Int(value))
        }
        Type::Bool => argument.as_bool().map(Value::Bool).ok_or("true or false".to_string()),
        Type::Payload => {
            let bytes = argument.as_bytes().ok_or("bytes in hexadecimal".to_string())?;
            Ok(Value::Payload(Arc::from(bytes)))
        }
        Type::Group => {
            let wanted = || "a list of ports".to_string();
            let Argument::List(list) = argument else { return Err(wanted()) };
            let port = |part: &Argument| u32::try_from(part.as_int()?.0).ok();
            let mut ports: Vec<u32> =
                list.iter().map(port).collect::<Option<Vec<u32>>>().ok_or_else(wanted)?;
            ports.sort_unstable();
            ports.dedup();
            Ok(Value::Group(Group::Members(Arc::from(ports))))
        }
        Type::Event => Err("an event, for which only \"_\" can be written".to_string()),
    }
}
