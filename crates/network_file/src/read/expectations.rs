// SPDX-License-Identifier: Apache-2.0
//! Reads expectations: the subject, which the network must have, and conditions on its metrics.

use super::context::Context;
use crate::codes;
use crate::fields::expectation::{METRICS, SUBJECTS, Subject as SubjectFields};
use crate::format::value::{Located, Record, Value, ValueKind};
use crate::model::{
    ApplicationIndex, ApplicationKind, Cell, Condition, Destination, Expectation, Metric, Node,
    Subject,
};
use source::{Diagnostic, printable};

/// Reads the field `expect`.
pub(super) fn read(list: &[Value], context: &mut Context<'_>) {
    for record in list.iter().filter_map(Value::record) {
        let Some(fields) = subject_fields(record, context) else { continue };
        check_fields(record, fields, context);
        let (subject, conditions) = (subject(record, fields, context), conditions(record));
        if conditions.is_empty() && !record.is_wrong() {
            let message = format!("an expectation of `{}` has no condition", fields.name);
            let help = format!("its conditions are {}", fields.metrics.join(", "));
            context.messages.error(codes::MISSING, record.span, message, &help);
        }
        if let Some(subject) = subject {
            let span = record.span;
            context.network.expectations.push(Expectation { span, subject, conditions });
        }
    }
}

/// The one subject of an entry.
fn subject_fields(record: &Record, context: &Context<'_>) -> Option<&'static SubjectFields> {
    let written: Vec<_> =
        SUBJECTS.iter().filter(|subject| record.is_written(subject.name)).collect();
    match written.as_slice() {
        [only] => Some(only),
        [] => {
            let names: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
            let message = "an expectation does not say what it is about";
            let help = format!("write one of {}", names.join(", "));
            context.messages.error(codes::MISSING, record.span, message, &help);
            None
        }
        [one, other, ..] => {
            let message = format!("an expectation has both `{}` and `{}`", one.name, other.name);
            let span = record.span_of(other.name);
            let diagnostic = Diagnostic::error(codes::CONFLICT, span, message);
            let diagnostic = diagnostic.label(record.span_of(one.name), "the other one");
            context.messages.push(diagnostic.help("write two expectations"));
            None
        }
    }
}

/// Reports fields that another subject has.
fn check_fields(record: &Record, subject: &SubjectFields, context: &Context<'_>) {
    for (name, value) in record.written() {
        let belongs = name == subject.name
            || subject.metrics.contains(&name)
            || subject.fields.contains(&name);
        if !belongs {
            let message = format!("an expectation of `{}` has no field `{name}`", subject.name);
            let help = format!("its conditions are {}", subject.metrics.join(", "));
            context.messages.error(codes::UNKNOWN_FIELD, value.span, message, &help);
        }
    }
}

fn conditions(record: &Record) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for field in METRICS {
        let Some(value) = record.get(field.name) else { continue };
        let ValueKind::Condition(range) = value.kind else { continue };
        let metric = Metric::of_name(field.name);
        conditions.extend(metric.map(|metric| Condition { metric, range, span: value.span }));
    }
    conditions
}

fn subject(record: &Record, fields: &SubjectFields, context: &Context<'_>) -> Option<Subject> {
    let name = record.text(fields.name)?;
    match fields.name {
        "ping" => ping(&name, context),
        "application" => application(&name, context),
        "link" => context.link(&name).map(Subject::Link),
        "port" => context.linked_port(&name, "an expectation").map(Subject::Port),
        "host" => received(record, &name, context),
        "counter" => cell(record, name, context).map(Subject::Counter),
        _ => cell(record, name, context).map(Subject::Register),
    }
}

/// A ping from one host to another, such as `h1-h2`.
fn ping(name: &Located<String>, context: &Context<'_>) -> Option<Subject> {
    let Some([Node::Host(from), Node::Host(to)]) = context.pair(&name.value) else {
        let message = format!("`{}` is not a pair of hosts", printable(&name.value, 40));
        let help = "write the hosts of a ping, such as `ping: h1-h2`";
        context.messages.error(codes::UNKNOWN_SUBJECT, name.span, message, help);
        return None;
    };
    let host = &context.network.hosts[to];
    let reaches = |destination: &Located<Destination>| match destination.value {
        Destination::Host(host) => host == to,
        Destination::Address(address) => host.has_address(address),
    };
    let applications = context.network.hosts[from].applications.iter().enumerate();
    let found = applications
        .filter(|(_, application)| matches!(application.kind, ApplicationKind::Ping { .. }))
        .find_map(|(number, application)| {
            let destination = application.kind.destinations().iter().position(reaches)?;
            Some((number, destination))
        });
    match found {
        Some((application, destination)) => {
            let application = ApplicationIndex { host: from, application };
            Some(Subject::Ping { application, destination })
        }
        None => {
            let [one, other] = [from, to].map(|host| context.network.hosts[host].name.as_str());
            let message = format!("host `{one}` does not ping `{other}`");
            let help = format!("add {{ping: {{to: {other}}}}} to the applications of `{one}`");
            context.messages.error(codes::UNKNOWN_SUBJECT, name.span, message, &help);
            None
        }
    }
}

fn application(name: &Located<String>, context: &Context<'_>) -> Option<Subject> {
    let all = || {
        context.network.hosts.iter().enumerate().flat_map(|(host, entry)| {
            let applications = entry.applications.iter().enumerate();
            applications
                .map(move |(application, entry)| (ApplicationIndex { host, application }, entry))
        })
    };
    let is_meant = |entry: &crate::model::Application| {
        entry.name == name.value || entry.group.as_ref() == Some(&name.value)
    };
    let found: Vec<ApplicationIndex> =
        all().filter(|(_, entry)| is_meant(entry)).map(|(index, _)| index).collect();
    if found.is_empty() {
        let message = format!("the network has no application `{}`", printable(&name.value, 40));
        let mut names: Vec<&str> = all().map(|(_, entry)| entry.name.as_str()).collect();
        names.extend(all().filter_map(|(_, entry)| entry.group.as_deref()));
        let help = match source::nearest(&name.value, names.iter().copied()) {
            Some(near) => format!("`{near}` may be meant"),
            None if names.is_empty() => "no host has applications".to_string(),
            None => {
                let shown: Vec<&str> = names.iter().copied().take(8).collect();
                format!("applications are {}", shown.join(", "))
            }
        };
        context.messages.error(codes::UNKNOWN_SUBJECT, name.span, message, &help);
        return None;
    }
    Some(Subject::Applications(found))
}

fn received(record: &Record, name: &Located<String>, context: &Context<'_>) -> Option<Subject> {
    let host = context.host(name, "packets are counted at hosts")?;
    let fields = record
        .named("where")
        .iter()
        .filter_map(|field| Some((field.name.clone(), field.value.text()?)))
        .collect();
    let (after_ps, before_ps) = (record.number("after"), record.number("before"));
    if let (Some(after), Some(before)) = (after_ps, before_ps)
        && after > before
    {
        let message = "`before` is earlier than `after`";
        context.messages.error(codes::CONFLICT, record.span_of("before"), message, "");
    }
    Some(Subject::Received { host, fields, after_ps, before_ps })
}

fn cell(record: &Record, name: Located<String>, context: &Context<'_>) -> Option<Cell> {
    let Some(switch) = record.text("switch") else {
        if !record.is_written("switch") {
            let message =
                format!("the expectation of `{}` has no `switch`", printable(&name.value, 40));
            context.messages.error(codes::MISSING, record.span, message, "such as `switch: s1`");
        }
        return None;
    };
    let switch = context.switch(&switch, "counters and registers are those of switches")?;
    let index = record.number("index").unwrap_or(0) as u32;
    Some(Cell { switch, name, index, at_ps: record.number("at") })
}
