// SPDX-License-Identifier: Apache-2.0
//! Events and groups where only integers and booleans can be, whatever the target: as parameters of
//! events, in tables, in calls of extern functions, in parsers. Programs that pass have a normal form.

use crate::codes;
use lucid::core::walk::{bodies, each_statement};
use lucid::core::{ExternArgument, GlobalKind, Local, Program, StatementKind, Type};
use source::{Diagnostic, Diagnostics, Span};

/// What has no bits where bits are wanted.
pub(super) fn check(program: &Program) -> Diagnostics {
    let mut found = Diagnostics::new();
    for event in &program.events {
        for parameter in &event.parameters {
            if let Some(what) = without_bits(parameter.ty, true) {
                let name = &parameter.name;
                let message = format!(
                    "parameter `{name}` of event `{}` is {what}, which has no bits on the wire",
                    event.declared_name
                );
                let help =
                    "hand over a number that says which one, and decide by it in the handler";
                found.push(Diagnostic::error(codes::NO_BITS, parameter.span, message).help(help));
            }
        }
    }
    for global in &program.globals {
        let GlobalKind::Table(table) = &global.kind else { continue };
        let installed = table.actions.iter().filter_map(|action| {
            let action = program.actions.get(action.0 as usize)?;
            Some(action.parameters.iter().take(action.install_count as usize))
        });
        let installed = installed.flatten().map(|parameter: &Local| parameter.ty);
        let types = table.argument_types.iter().chain(&table.result_types).copied();
        if let Some(what) = types.chain(installed).find_map(|ty| without_bits(ty, false)) {
            let message = format!("table `{}` has {what} in it, which has no bits", global.name);
            let help = "let the table give a number, and decide by it in the handler";
            found.push(Diagnostic::error(codes::NO_BITS, global.span, message).help(help));
        }
    }
    for parser in &program.parsers {
        let parameters = parser.locals.iter().take(parser.parameter_count as usize);
        let groups = parser.locals.iter().filter(|local| local.ty == Type::Group);
        let wrong = parameters.filter(|local| local.ty == Type::Event).chain(groups);
        for local in wrong {
            in_parser(local, &mut found);
        }
    }
    for event in &program.events {
        for body in bodies(event) {
            each_statement(&body.statements, &mut |statement| {
                let StatementKind::CallExtern { arguments, .. } = &statement.kind else { return };
                for argument in arguments {
                    let ExternArgument::Value(value) = argument else { continue };
                    if let Some(what) = without_bits(value.ty, false) {
                        extern_argument(what, value.span, &mut found);
                    }
                }
            });
        }
    }
    found
}

fn without_bits(ty: Type, payload_is_fine: bool) -> Option<&'static str> {
    match ty {
        Type::Event => Some("an event"),
        Type::Group => Some("a group"),
        Type::Payload if !payload_is_fine => Some("a payload"),
        Type::Payload | Type::Int(_) | Type::Bool => None,
    }
}

fn in_parser(local: &Local, found: &mut Diagnostics) {
    let what = if local.ty == Type::Event { "an event" } else { "a group" };
    let message = format!("`{}` is {what}, which a parser cannot hand on", local.name);
    let help = "hand over the event's arguments, and make the event where it is generated";
    found.push(Diagnostic::error(codes::NO_BITS, local.span, message).help(help));
}

fn extern_argument(what: &str, span: Span, found: &mut Diagnostics) {
    let message = format!("an extern function is called with {what}, which has no bits");
    let help = "hand over its arguments as integers and booleans";
    found.push(Diagnostic::error(codes::NO_BITS, span, message).help(help));
}
