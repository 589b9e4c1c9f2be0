// SPDX-License-Identifier: Apache-2.0
//! Ports of a run that no compiled switch has ([`LARGEST_PORT`]): of links, recirculation, externs and
//! inputs before the run, and of events that handlers generate meanwhile.

use lucid::core::{EventId, Program};
use lucid_compiler::codes::PORT;
use lucid_compiler::wire::LARGEST_PORT;
use lucid_reference::interpreter::{Group, Value};
use lucid_reference::simulation::Setup;
use lucid_reference::specification::{Input, InputKind};
use source::{Diagnostic, Diagnostics, Span};

fn refused(span: Span, message: String) -> Diagnostic {
    Diagnostic::error(PORT, span, message)
        .help(format!("take one of the ports 0 to {LARGEST_PORT}, or run with --engine reference"))
}

/// What a run asks for that compiled switches do not have. Spans point into the specification.
pub fn check_ports(setup: &Setup) -> Diagnostics {
    let (run, mut found) = (setup.run(), Diagnostics::new());
    let is_wrong = |port: &u32| *port > LARGEST_PORT;
    let place = |end: (u32, u32)| {
        let places = &run.port_places;
        places.get(&end).or_else(|| places.get(&(0, end.1))).copied().unwrap_or(Span::NONE)
    };
    let mut reported = Vec::new();
    for (switch, port) in (0..).zip(setup.recirculation_ports()).filter(|(_, port)| is_wrong(port))
    {
        let span = place((switch, *port));
        // One number may stand for all switches.
        if span.is_none() || !reported.contains(&span) {
            reported.push(span);
            let message = format!(
                "no compiled switch has a port {port}, the recirculation port of switch {switch}"
            );
            found.push(refused(span, message));
        }
    }
    for (switch, port) in setup.links().iter().flat_map(|(ends, _)| ends) {
        if is_wrong(port) {
            let message = format!(
                "no compiled switch has a port {port}, which switch {switch} has a link at"
            );
            found.push(refused(place((*switch, *port)), message));
        }
    }
    for (declared, at) in setup.program().externs.iter().zip(0..) {
        let values = setup.externs().iter().filter_map(|externs: &Vec<Value>| externs.get(at));
        let groups = values.filter_map(|value| match value {
            Value::Group(Group::Members(members)) => members.iter().copied().find(is_wrong),
            _ => None,
        });
        // A group may be one of switches, which have other numbers.
        let is_of_ports = generates_to_ports(setup.program(), at);
        if let Some(port) = groups.into_iter().next().filter(|_| is_of_ports) {
            let span = run.extern_places.get(&*declared.name).copied().unwrap_or(declared.span);
            let message =
                format!("no compiled switch has a port {port}, a member of `{}`", declared.name);
            found.push(refused(span, message).label(declared.span, "declared here"));
        }
    }
    run.inputs.iter().filter_map(check_input).for_each(|wrong| found.push(wrong));
    found
}

/// The error of an input that comes in by a port that compiled switches do not have.
pub(super) fn check_input(input: &Input) -> Option<Diagnostic> {
    let comes = !matches!(input.kind, InputKind::Command(_) | InputKind::Link { .. });
    let (_, port) = input.locations.iter().find(|(_, port)| comes && *port > LARGEST_PORT)?;
    let message = format!("no compiled switch has a port {port}, where this comes in");
    Some(refused(input.field_spans.whole, message))
}

/// Whether events are generated to the ports of an extern group.
fn generates_to_ports(program: &Program, extern_number: usize) -> bool {
    use lucid::core::walk::{bodies, each_statement};
    use lucid::core::{Destination, ExpressionKind, StatementKind};
    let mut found = false;
    for body in program.events.iter().flat_map(bodies) {
        each_statement(&body.statements, &mut |statement| {
            if let StatementKind::Generate { destination: Destination::Ports(group), .. } =
                &statement.kind
                && let ExpressionKind::Extern(number) = &group.kind
            {
                found |= number.0 as usize == extern_number;
            }
        });
    }
    found
}

/// A handler generated an event for such a port.
pub(super) fn generated_there(
    program: &Program,
    handler: EventId,
    (switch, port): (u32, u32),
    event: EventId,
) -> Diagnostic {
    let name = |event: EventId| &program.events[event.0 as usize].name;
    let message = format!(
        "a handler of `{}` generates `{}` for port {port} of switch {switch}, and no compiled switch \
         has that port",
        name(handler),
        name(event)
    );
    refused(program.events[handler.0 as usize].span, message)
}
