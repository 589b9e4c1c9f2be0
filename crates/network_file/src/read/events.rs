// SPDX-License-Identifier: Apache-2.0
//! Reads failures and returns, reloads of reactions, and captures.

use super::context::Context;
use crate::codes;
use crate::format::value::{Located, Record, Value};
use crate::model::{Capture, CaptureDirection, Event, EventSubject, Node, Reload};
use source::Diagnostic;

/// Reads the field `events`.
pub(super) fn read(list: &[Value], context: &mut Context<'_>) {
    for record in list.iter().filter_map(Value::record) {
        let subject = subject(record, context);
        if record.is_written("reload") {
            context.network.reloads.extend(reload(record, subject, context));
            continue;
        }
        if !record.is_written("state") {
            let message = "an event has neither `state` nor `reload`";
            let help = "such as `state: down`";
            context.messages.error(codes::MISSING, record.span, message, help);
        }
        for name in ["init", "fresh"].into_iter().filter(|name| record.is_written(name)) {
            let message = format!("`{name}` is of a reload, and this event has none");
            let help = "such as {at: 1s, node: s1, reload: new.p4r, init: true}";
            context.messages.error(codes::CONFLICT, record.span_of(name), message, help);
        }
        let (Some(at_ps), Some(state)) = (record.number("at"), record.word("state")) else {
            continue;
        };
        let Some(subject) = subject else { continue };
        let is_up = state == "up";
        let span = record.span;
        context.network.events.push(Event { at_ps, subject, is_up, span });
        match record.number("for") {
            Some(0) => {
                let message = "`for` is zero";
                context.messages.error(codes::BAD_VALUE, record.span_of("for"), message, "");
            }
            Some(duration) => {
                let at_ps = at_ps.saturating_add(duration);
                context.network.events.push(Event { at_ps, subject, is_up: !is_up, span });
            }
            None => {}
        }
    }
}

/// New reactions for a switch.
fn reload(record: &Record, subject: Option<EventSubject>, context: &Context<'_>) -> Option<Reload> {
    let program = record.text("reload");
    for name in ["state", "for"].into_iter().filter(|name| record.is_written(name)) {
        let message = format!("an event has both `reload` and `{name}`");
        let help = "write two events";
        context.messages.error(codes::CONFLICT, record.span_of(name), message, help);
    }
    let EventSubject::Node(Node::Switch(switch)) = subject? else {
        let message = "only switches have reactions";
        let help = "such as {at: 1s, node: s1, reload: new.p4r}";
        context.messages.error(codes::CONFLICT, record.span_of("reload"), message, help);
        return None;
    };
    Some(Reload {
        at_ps: record.number("at")?,
        switch,
        program: program?,
        runs_init: record.truth("init").unwrap_or(false),
        is_fresh: record.truth("fresh").unwrap_or(false),
        span: record.span,
    })
}

fn subject(record: &Record, context: &Context<'_>) -> Option<EventSubject> {
    match (record.is_written("link"), record.is_written("node")) {
        (true, true) => {
            let span = record.span_of("node");
            let diagnostic =
                Diagnostic::error(codes::CONFLICT, span, "an event has both `link` and `node`");
            let diagnostic = diagnostic.label(record.span_of("link"), "the other one");
            context.messages.push(diagnostic.help("write two events"));
            None
        }
        (false, false) => {
            let message = "an event has neither `link` nor `node`";
            let help = "such as {at: 1s, link: s1-s2, state: down}";
            context.messages.error(codes::MISSING, record.span, message, help);
            None
        }
        (true, false) => link(&record.texts("link"), context).map(EventSubject::Link),
        (false, true) => {
            let name = record.text("node")?;
            let named = context.network.controllers.iter().position(|one| one.name == name.value);
            match named {
                Some(number) => Some(EventSubject::Controller(number)),
                None => context.node(&name).map(EventSubject::Node),
            }
        }
    }
}

/// A link by its name, an end, its nodes, or a list of both ends.
fn link(texts: &[Located<String>], context: &Context<'_>) -> Option<usize> {
    match texts {
        [text] => context.link(text),
        [one, other] => {
            let both = Located {
                value: format!("{}-{}", one.value.trim(), other.value.trim()),
                span: one.span.to(other.span),
            };
            if context.pair(&both.value).is_some() {
                return context.link(&both);
            }
            let (first, second) = (context.link(one)?, context.link(other)?);
            if first != second {
                let message = format!("no link joins `{}` and `{}`", one.value, other.value);
                context.messages.error(codes::UNKNOWN_NODE, both.span, message, "");
                return None;
            }
            Some(first)
        }
        [] => None,
        [first, .., last] => {
            let message = "a link has two ends";
            context.messages.error(codes::BAD_LINK, first.span.to(last.span), message, "");
            None
        }
    }
}

/// Reads the field `captures`.
pub(super) fn captures(list: &[Value], context: &mut Context<'_>) {
    for record in list.iter().filter_map(Value::record) {
        let Some(text) = record.text("port") else { continue };
        let Some(port) = context.linked_port(&text, "a capture") else { continue };
        let name = context.network.port_name(&port);
        let file = record.text("file").map(|file| file.value);
        let file = file.unwrap_or_else(|| format!("{}.pcap", name.replace(':', "-")));
        if let Some(earlier) = context.network.captures.iter().find(|other| other.file == file) {
            let message = format!("two captures write `{file}`");
            let diagnostic = Diagnostic::error(codes::CONFLICT, record.span, message);
            context.messages.push(diagnostic.label(earlier.span, "the other one"));
            continue;
        }
        let direction = match record.word("direction") {
            Some("in") => CaptureDirection::In,
            Some("out") => CaptureDirection::Out,
            _ => CaptureDirection::Both,
        };
        context.network.captures.push(Capture { port, file, direction, span: record.span });
    }
}
