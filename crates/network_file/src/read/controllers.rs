// SPDX-License-Identifier: Apache-2.0
//! Reads controllers, and assigns switches to them.

use super::context::Context;
use crate::codes;
use crate::format::value::{Located, NamedValue, Record, Value};
use crate::model::{Behaviour, CommandSource, Controller, TimedCommands};
use source::{Diagnostic, printable};

/// Reads the controllers. `wishes` has the switches that name a controller themselves.
pub(super) fn read(
    list: &[NamedValue],
    wishes: &[(usize, Located<String>)],
    context: &mut Context<'_>,
) {
    for named in list {
        let Some(record) = named.value.record() else { continue };
        let name = &named.name;
        if !context.check_name(&name.value, name.span) {
            continue;
        }
        if context.find(&name.value).is_some() {
            let message = format!("`{}` is a controller and a switch or host", name.value);
            context.messages.error(codes::BAD_NAME, name.span, message, "rename one of them");
            continue;
        }
        let number = context.network.controllers.len();
        for text in record.texts("switches") {
            if text.value == "all" {
                for switch in 0..context.network.switches.len() {
                    assign(switch, number, &text, context);
                }
            } else if let Some(switch) = context.switch(&text, "controllers control switches") {
                assign(switch, number, &text, context);
            }
        }
        if let Some(behaviour) = behaviour(name, record, context) {
            context.network.controllers.push(Controller {
                name: name.value.clone(),
                span: name.span,
                switches: Vec::new(),
                behaviour,
                latency_ps: record.number("latency").unwrap_or(0),
            });
        }
    }
    for (switch, wish) in wishes {
        let known = list.iter().map(|named| named.name.value.as_str());
        let found = context.network.controllers.iter().position(|one| one.name == wish.value);
        match found {
            Some(number) => assign(*switch, number, wish, context),
            None if known.clone().any(|name| name == wish.value) => {}
            None => {
                let message =
                    format!("the network has no controller `{}`", printable(&wish.value, 40));
                let help = match source::nearest(&wish.value, known) {
                    Some(near) => format!("`{near}` may be meant"),
                    None => format!(
                        "`controllers: {{{}: ...}}` describes it",
                        printable(&wish.value, 40)
                    ),
                };
                context.messages.error(codes::UNKNOWN_NODE, wish.span, message, &help);
            }
        }
    }
    for (number, switch) in context.network.switches.iter().enumerate() {
        if let Some(controller) = switch.controller
            && let Some(controller) = context.network.controllers.get_mut(controller)
        {
            controller.switches.push(number);
        }
    }
    for controller in &context.network.controllers {
        if controller.switches.is_empty() && !context.messages.has_errors() {
            let message = format!("controller `{}` controls no switch", controller.name);
            context.messages.error(
                codes::MISSING,
                controller.span,
                message,
                "write `switches: [s1]`",
            );
        }
    }
}

fn assign(switch: usize, controller: usize, at: &Located<String>, context: &mut Context<'_>) {
    let entry = &mut context.network.switches[switch];
    match entry.controller {
        Some(other) if other != controller => {
            let message = format!("switch `{}` has two controllers", entry.name);
            let diagnostic = Diagnostic::error(codes::CONFLICT, at.span, message);
            let diagnostic = match context.network.controllers.get(other) {
                Some(other) => diagnostic.label(other.span, "the other one"),
                None => diagnostic,
            };
            context.messages.push(diagnostic);
        }
        _ => entry.controller = Some(controller),
    }
}

fn behaviour(name: &Located<String>, record: &Record, context: &Context<'_>) -> Option<Behaviour> {
    let error = |code, message: String, help: &str| {
        context.messages.error(code, name.span, message, help);
        None
    };
    match (record.is_written("commands"), record.is_written("program")) {
        (true, true) => {
            let message = format!("controller `{}` has both `commands` and `program`", name.value);
            error(codes::CONFLICT, message, "leave one out")
        }
        (false, false) => {
            let message =
                format!("controller `{}` has neither `commands` nor `program`", name.value);
            let help = "such as `commands: [{at: 1s, text: \"table_add ...\"}]` or `program: [python3, control.py]`";
            error(codes::MISSING, message, help)
        }
        (false, true) => Some(Behaviour::Program(record.texts("program"))),
        (true, false) => {
            let list = record.list("commands").iter().filter_map(Value::record);
            Some(Behaviour::Commands(list.filter_map(|each| commands(each, context)).collect()))
        }
    }
}

fn commands(record: &Record, context: &Context<'_>) -> Option<TimedCommands> {
    let error = |code, message: &str| {
        let help =
            "such as {at: 1s, text: \"table_add t act 1 => 2\"} or {at: 1s, file: later.txt}";
        context.messages.error(code, record.span, message, help);
        None
    };
    let commands = match (record.text("text"), record.text("file")) {
        (Some(_), Some(_)) => {
            return error(codes::CONFLICT, "a command has both `text` and `file`");
        }
        (Some(text), None) => CommandSource::Text(text),
        (None, Some(file)) => CommandSource::File(file),
        (None, None) if record.is_wrong() => return None,
        (None, None) => return error(codes::MISSING, "a command has neither `text` nor `file`"),
    };
    Some(TimedCommands { at_ps: record.number("at").unwrap_or(0), commands, span: record.span })
}
