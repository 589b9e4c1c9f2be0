// SPDX-License-Identifier: Apache-2.0
//! Handlers as controls: the user's locals, assignments and branches, with generated events put into
//! the headers of their places; `scheduler` sends them.

use super::accesses;
use super::context::{Context, HandlerControl};
use super::control::Control;
use super::tables;
use crate::expressions::{self, Environment, literal, wire_bits};
use crate::normal::{GenerateSlots, generate_slots};
use lucid::core::arithmetic::mask;
use lucid::core::walk::{deep, each_statement};
use lucid::core::{
    Body, Branch, EventId, Expression, ExternArgument, GlobalId, Pattern, PrintPiece, Statement,
    StatementKind, Type,
};
use std::collections::BTreeSet;

/// One control a handler; handlers that look up the same table are together in one, since a table
/// belongs to one control.
pub(super) fn write(context: &mut Context<'_>) {
    for egress in [false, true] {
        for events in together(context, egress) {
            control(context, events, egress);
        }
    }
}

fn body_of<'p>(context: &Context<'p>, event: EventId, egress: bool) -> Option<&'p Body> {
    let event = &context.program.events[event.0 as usize];
    if egress { event.egress_handler.as_ref() } else { event.handler.as_ref() }
}

/// Handlers by the tables that they share.
fn together(context: &Context<'_>, egress: bool) -> Vec<Vec<EventId>> {
    let mut groups: Vec<(Vec<EventId>, BTreeSet<GlobalId>)> = Vec::new();
    for at in 0..context.program.events.len() {
        let event = EventId(at as u32);
        let Some(body) = body_of(context, event, egress) else { continue };
        let mut tables = BTreeSet::new();
        each_statement(&body.statements, &mut |statement| {
            if let StatementKind::Lookup { table, .. } = statement.kind {
                tables.insert(table);
            }
        });
        let mut events = vec![event];
        // Groups are kept in the order of their first events.
        let mut first = None;
        for at in (0..groups.len()).rev() {
            if !groups[at].1.is_disjoint(&tables) {
                let (others, more) = groups.remove(at);
                events.splice(0..0, others);
                tables.extend(more);
                first = Some(at);
            }
        }
        let at = first.unwrap_or(groups.len());
        groups.insert(at, (events, tables));
    }
    groups.into_iter().map(|(events, _)| events).collect()
}

fn control(context: &mut Context<'_>, events: Vec<EventId>, egress: bool) {
    let program = context.program;
    let listed: Vec<&str> =
        events.iter().map(|event| identifier_of(&program.events[event.0 as usize].name)).collect();
    let verb = if egress { "egress" } else { "handle" };
    let name = context.names.fresh(&format!("{verb}_{}", listed.join("_and_")));
    let span = program.events[events[0].0 as usize].span;
    let mut control = Control {
        context,
        names: super::interface::INTERFACE.names(),
        declarations: Vec::new(),
        lines: Vec::new(),
        egress,
        tables: Vec::new(),
        locals: Vec::new(),
        body: &EMPTY,
        event: events[0],
        slots: GenerateSlots::default(),
        next_generate: 0,
        span,
    };
    control.reserve_globals();
    let mut comment = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let declared = &program.events[event.0 as usize];
        let Some(body) = body_of(control.context, *event, egress) else { continue };
        comment.push(signature(declared, egress));
        if events.len() > 1 {
            let constant = control.context.shapes.event(*event).constant.clone();
            let otherwise = if at > 0 { "} else " } else { "" };
            control.line(declared.span, format!("{otherwise}if (meta.event == {constant}) {{"));
        }
        control.handler(*event, body);
    }
    if events.len() > 1 {
        control.line(span, "}".to_string());
    }
    let Control { declarations, lines, .. } = control;
    context.put(span, format!("control {name}{} {{", *super::interface::PARAMETERS));
    context.pieces.extend(declarations);
    context.put(span, "apply {");
    context.pieces.extend(lines);
    context.put(span, "} }");
    context.comments.push((name.clone(), comment.join("\n")));
    context.handlers.push(HandlerControl { name, events, egress });
}

static EMPTY: std::sync::LazyLock<Body> = std::sync::LazyLock::new(Body::default);

fn identifier_of(name: &str) -> &str {
    // Copies of events for globals have long names; the first word is enough to recognise them.
    name.split('(').next().unwrap_or(name)
}

/// The head of a handler as a user writes it.
fn signature(event: &lucid::core::Event, egress: bool) -> String {
    let parameters: Vec<String> = event
        .parameters
        .iter()
        .map(|one| format!("{} {}", lucid::core::type_text(one.ty), one.name))
        .collect();
    let gress = if egress { "@egress handle" } else { "handle" };
    format!("{gress} {}({})", event.name, parameters.join(", "))
}

impl<'p> Control<'_, 'p> {
    fn handler(&mut self, event: EventId, body: &'p Body) {
        self.locals = vec![None; body.locals.len()];
        self.body = body;
        self.event = event;
        self.slots = generate_slots(body);
        self.next_generate = 0;
        let before = std::mem::take(&mut self.lines);
        self.statements(&body.statements);
        let statements = std::mem::replace(&mut self.lines, before);
        self.parameters();
        self.lines.extend(statements);
    }

    /// Parameters that are used get variables, so that the handler reads as its source does.
    fn parameters(&mut self) {
        let body = self.body;
        for at in 0..body.parameter_count as usize {
            let (Some(name), local) = (&self.locals[at], &body.locals[at]) else { continue };
            let shape = self.context.shapes.event(self.event);
            let (Some((_, header)), Some(Some((field, _)))) = (&shape.header, shape.fields.get(at))
            else {
                continue;
            };
            let value = match local.ty {
                Type::Bool => format!("{name} = hdr.{header}.{field} == 1;"),
                _ => format!("{name} = hdr.{header}.{field};"),
            };
            self.lines.push((local.span, value));
        }
    }

    fn statements(&mut self, statements: &'p [Statement]) {
        for statement in statements {
            self.span = statement.span;
            deep(|| self.statement(statement));
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        match &statement.kind {
            StatementKind::Assign { local, value, .. } => {
                let value = self.text(value);
                let local = self.local(*local);
                self.put(format!("{local} = {value};"));
            }
            StatementKind::Access { global, index, access, result } => {
                accesses::access(self, *global, index, access, *result);
            }
            StatementKind::Lookup { table, key, arguments, results } => {
                tables::lookup(self, *table, key, arguments, results);
            }
            StatementKind::Install { .. } => self.context.refuse(
                statement.span,
                "a handler on a pipeline cannot install entries: only the control plane can",
                "generate an event to the control plane, or keep the entries in arrays",
            ),
            StatementKind::Random { local } => {
                let ty = self.body.locals[local.0 as usize].ty;
                let local = self.local(*local);
                let width_bits = wire_bits(ty);
                let (low, high) = (literal(0, width_bits), literal(u128::MAX, width_bits));
                self.put(format!("random({local}, {low}, {high});"));
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.text(condition);
                self.put(format!("if ({condition}) {{"));
                self.statements(then);
                self.span = statement.span;
                self.otherwise(otherwise);
            }
            StatementKind::Match { subjects, branches } => self.branches(subjects, branches),
            StatementKind::Generate { event, destination } => self.generate(event, destination),
            StatementKind::Print { pieces } => {
                let (mut text, mut values) = (String::new(), Vec::new());
                for piece in pieces {
                    match piece {
                        PrintPiece::Text(piece) => text.push_str(piece),
                        PrintPiece::Value(value) => {
                            text.push_str("{}");
                            values.push(expressions::bits(value, self));
                        }
                    }
                }
                self.log(&text, &values);
            }
            StatementKind::CallExtern { function, arguments } => {
                let name = &self.context.program.extern_functions[function.0 as usize].name;
                let mut text = format!("{name}(");
                let mut values = Vec::new();
                for (at, argument) in arguments.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    match argument {
                        ExternArgument::Text(piece) => text.push_str(piece),
                        ExternArgument::Value(value) => {
                            text.push_str("{}");
                            values.push(expressions::bits(value, self));
                        }
                    }
                }
                text.push(')');
                self.log(&text, &values);
            }
            StatementKind::IfEvent { .. } | StatementKind::Return => {
                // The normal form has none.
                self.impossible(statement.span);
            }
        }
    }

    /// The `else` of an `if`, and its end.
    fn otherwise(&mut self, otherwise: &'p [Statement]) {
        if otherwise.is_empty() {
            self.put("}".to_string());
            return;
        }
        let before = std::mem::take(&mut self.lines);
        let span = self.span;
        self.statements(otherwise);
        self.span = span;
        let inner = std::mem::replace(&mut self.lines, before);
        let chained = matches!(otherwise, [Statement { kind: StatementKind::If { .. }, .. }])
            && inner.first().is_some_and(|(_, text)| text.starts_with("if ("));
        if chained {
            self.put("} else".to_string());
            self.lines.extend(inner);
        } else {
            self.put("} else {".to_string());
            self.lines.extend(inner);
            self.put("}".to_string());
        }
    }

    fn branches(&mut self, subjects: &[Expression], branches: &'p [Branch]) {
        let span = self.span;
        let subjects: Vec<(String, Type)> = subjects
            .iter()
            .map(|subject| match subject.ty {
                Type::Bool => {
                    let text = expressions::bits(subject, self);
                    (self.held("bit<1>", "matched", &text), Type::Int(1))
                }
                ty => (self.leaf(subject, "matched"), ty),
            })
            .collect();
        let mut open = false;
        for branch in branches {
            self.span = branch.span;
            let condition = condition(&subjects, &branch.patterns);
            let otherwise = if open { "} else " } else { "" };
            match condition {
                Some(condition) => self.put(format!("{otherwise}if ({condition}) {{")),
                None if open => self.put("} else {".to_string()),
                // The only branch, and it matches everything.
                None => {
                    self.statements(&branch.statements);
                    break;
                }
            }
            self.statements(&branch.statements);
            open = true;
        }
        self.span = span;
        if open {
            self.put("}".to_string());
        }
    }

    fn log(&mut self, text: &str, values: &[String]) {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        match values {
            [] => self.put(format!("log_msg(\"{text}\");")),
            values => self.put(format!("log_msg(\"{text}\", {{ {} }});", values.join(", "))),
        }
    }
}

/// The condition of a branch; none if it matches everything.
fn condition(subjects: &[(String, Type)], patterns: &[Pattern]) -> Option<String> {
    let mut conditions = Vec::new();
    for ((subject, ty), Pattern { value, mask: bits }) in subjects.iter().zip(patterns) {
        let width_bits = wire_bits(*ty);
        if *bits == 0 {
            continue;
        }
        let value = literal(*value, width_bits);
        conditions.push(if *bits == mask(width_bits) {
            format!("{subject} == {value}")
        } else {
            format!("({subject} & {}) == {value}", literal(*bits, width_bits))
        });
    }
    (!conditions.is_empty()).then(|| conditions.join(" && "))
}
