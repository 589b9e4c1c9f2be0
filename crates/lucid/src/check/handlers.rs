// SPDX-License-Identifier: Apache-2.0
//! Checks events and their handlers: equal parameters, one handler of each kind, numbers on the wire.

use super::Checker;
use super::body::Frame;
use super::checked::{Definition, Signature, Type};
use super::codes;
use super::reports::{TypeExpectation, arguments as count_arguments};
use super::scopes::{Entry, Namespace, Resolution, ScopeId, show_path};
use crate::syntax::ast::{
    Binder, Block, Constraint, EventSort, HandlerSort, NodeId, Parameter, Path,
};
use source::{Diagnostic, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// All events of the program.
#[derive(Default)]
pub(super) struct Events {
    list: Vec<Event>,
    index: HashMap<NodeId, usize>,
    numbers: HashMap<u128, (Arc<str>, Span)>,
}

struct Event {
    id: NodeId,
    name: Arc<str>,
    span: Span,
    sort: EventSort,
    scope: ScopeId,
    /// The place of each kind of handler, in the order of `HandlerSort`.
    handlers: [Option<Span>; 3],
}

fn kind(sort: HandlerSort) -> (usize, &'static str) {
    match sort {
        HandlerSort::Ingress => (0, "handler of event"),
        HandlerSort::Control => (1, "control handler of event"),
        HandlerSort::Egress => (2, "egress handler of event"),
    }
}

impl Checker {
    pub(super) fn event(
        &mut self,
        name: &Binder,
        sort: EventSort,
        wire_number: Option<(u128, Span)>,
        parameters: &[Parameter],
        constraints: &[Constraint],
        body: Option<&Block>,
    ) {
        self.begin(Frame::Handler);
        if let Some((number, span)) = wire_number {
            self.wire_number(name, number, span);
        }
        let types = self.parameters(parameters);
        self.constraints(constraints);
        self.payload_parameters(name, &types, parameters);
        self.remember_parameters(name.id, parameters);
        let handlers = [body.map(|_| name.span), None, None];
        let scope = self.innermost();
        let event = Event {
            id: name.id,
            name: self.full_name(&name.name),
            span: name.span,
            sort,
            scope,
            handlers,
        };
        self.events.index.insert(name.id, self.events.list.len());
        self.events.list.push(event);
        // In its own body the event has one type: that of its parameters.
        let signature = Signature { parameters: types, result: Type::Event, variables: Vec::new() };
        self.out.signatures.insert(name.id, signature.clone());
        self.declare_named(Namespace::Values, name, Definition::Event(name.id));
        if let Some(body) = body {
            self.body.own_event = Some(name.id);
            self.block(body);
        }
        self.finish(vec![(name.id, signature)]);
        self.fixed_parameters(name, parameters);
    }

    /// What an event carries has a fixed type; only what follows from a global may be left open, as
    /// there is one copy of the event for each choice of globals.
    fn fixed_parameters(&mut self, name: &Binder, parameters: &[Parameter]) {
        let Some(signature) = self.out.signatures.get(&name.id) else { return };
        let types = signature.parameters.clone();
        let (mut known, mut of_globals) = (Vec::new(), Vec::new());
        for ty in types.iter().filter(|ty| self.out.is_global(ty)) {
            self.variables.free(ty, &mut known, &mut of_globals);
        }
        known.extend(of_globals);
        for (ty, parameter) in types.iter().zip(parameters) {
            let (mut open, mut sizes) = (Vec::new(), Vec::new());
            self.variables.free(ty, &mut open, &mut sizes);
            open.extend(sizes);
            if open.iter().all(|variable| known.contains(variable)) {
                continue;
            }
            let shown = self.out.show(ty);
            self.diagnostics.push(
                Diagnostic::error(
                    codes::NOT_DETERMINED,
                    parameter.ty.span,
                    format!("nothing fixes the type of the event's parameter `{}`", parameter.name.name),
                )
                .here(format!("this is `{shown}`"))
                .note("an event carries values of fixed widths; only what follows from a global may be open")
                .help("write the width"),
            );
        }
    }

    fn wire_number(&mut self, name: &Binder, number: u128, span: Span) {
        if number > u128::from(u16::MAX) {
            self.diagnostics.push(Diagnostic::error(
                codes::WIRE_NUMBER,
                span,
                format!("the number of an event on the wire has 16 bits, which {number} exceeds"),
            ));
            return;
        }
        match self.events.numbers.get(&number) {
            Some((other, first)) => {
                let (other, first) = (other.clone(), *first);
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::WIRE_NUMBER,
                        span,
                        format!("events `{other}` and `{}` have the same number", name.name),
                    )
                    .label(first, format!("`{other}` has it here"))
                    .help("packets identify events by their numbers: use another number"),
                );
            }
            None => {
                self.events.numbers.insert(number, (name.name.clone(), span));
            }
        }
    }

    /// Only the last bytes of a packet can be a payload.
    fn payload_parameters(&mut self, name: &Binder, types: &[Type], parameters: &[Parameter]) {
        let types: Vec<Type> = types.iter().map(|ty| self.variables.resolve(ty)).collect();
        let mut payloads = types.iter().zip(parameters).filter(|(ty, _)| self.has_payload(ty));
        let (first, second) = (payloads.next(), payloads.next());
        if let (Some((_, first)), Some((_, second))) = (first, second) {
            let diagnostic = Diagnostic::error(
                codes::PARSER,
                second.name.span,
                format!("event `{}` has two payloads", name.name),
            )
            .label(first.name.span, "the first is here")
            .note("a payload is the whole rest of a packet");
            self.diagnostics.push(diagnostic);
        }
    }

    pub(super) fn handler(
        &mut self,
        path: &Path,
        sort: HandlerSort,
        parameters: &[Parameter],
        body: &Block,
    ) {
        self.begin(Frame::Handler);
        self.at = path.span;
        let event = self.handled_event(path, sort);
        let types = self.parameters(parameters);
        if let Some((id, declared)) = event {
            self.handler_parameters(path, id, declared, &types, parameters);
        }
        self.block(body);
        self.finish(Vec::new());
    }

    /// The event that a handler is for, with its place.
    fn handled_event(&mut self, path: &Path, sort: HandlerSort) -> Option<(NodeId, Span)> {
        let shown = show_path(path);
        let found = self.peek(Namespace::Values, path);
        let entry = match found {
            Some(Resolution::Entry(entry)) => entry,
            _ => {
                let mut diagnostic = Diagnostic::error(
                    codes::HANDLER,
                    path.span,
                    format!("there is no event `{shown}` to handle"),
                );
                let scope = self.innermost();
                let last = &path.segments[path.segments.len() - 1].name;
                let later = self.later.get(&(scope, Namespace::Values, last.clone()));
                diagnostic = match later.and_then(|spans| spans.first()) {
                    Some(later) => diagnostic
                        .label(*later, "it is declared only here")
                        .help("declare the event in front of its handler"),
                    None => self.suggest_event(diagnostic, last),
                };
                self.diagnostics.push(diagnostic);
                return None;
            }
        };
        let Definition::Event(id) = entry.definition else {
            self.no_event(path, &entry);
            return None;
        };
        self.out.definitions.insert(path.id, entry.definition.clone());
        let scope = self.innermost();
        let at = *self.events.index.get(&id)?;
        let event = &mut self.events.list[at];
        if event.scope != scope {
            let span = event.span;
            self.diagnostics.push(
                Diagnostic::error(
                    codes::HANDLER,
                    path.span,
                    format!("event `{shown}` is declared in another module"),
                )
                .label(span, "declared here")
                .help("an event and its handlers stand in one module"),
            );
            return Some((id, span));
        }
        let (slot, what) = kind(sort);
        let (first, span) = (event.handlers[slot], event.span);
        event.handlers[slot].get_or_insert(path.span);
        if let Some(first) = first {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::DUPLICATE,
                    path.span,
                    format!("{what} `{shown}` is declared twice"),
                )
                .label(first, "first declared here")
                .help("put both into one"),
            );
        }
        Some((id, span))
    }

    fn no_event(&mut self, path: &Path, entry: &Entry) {
        let shown = show_path(path);
        self.diagnostics.push(
            Diagnostic::error(
                codes::HANDLER,
                path.span,
                format!("`{shown}` is no event, so it has no handler"),
            )
            .label(entry.span, "declared here"),
        );
    }

    fn suggest_event(&self, diagnostic: Diagnostic, name: &Arc<str>) -> Diagnostic {
        let scope = self.innermost();
        let events: Vec<&Event> =
            self.events.list.iter().filter(|event| event.scope == scope).collect();
        let near = source::nearest(name, events.iter().map(|event| &*event.name));
        match near.and_then(|near| events.iter().find(|event| *event.name == *near)) {
            Some(event) => diagnostic
                .help(format!("did you mean `{}`?", event.name))
                .label(event.span, format!("`{}` is declared here", event.name)),
            None => diagnostic.help(format!("declare it: `event {name}(...);`")),
        }
    }

    /// A handler's parameters are those of the event, whatever they are called.
    fn handler_parameters(
        &mut self,
        path: &Path,
        event: NodeId,
        declared: Span,
        types: &[Type],
        parameters: &[Parameter],
    ) {
        let Some(signature) = self.out.signatures.get(&event).cloned() else { return };
        if signature.parameters.len() != types.len() {
            let shown = show_path(path);
            let own = self.parameters.get(&event).map_or(&[][..], |names| names);
            let takes = self.typed_arguments(&signature.parameters, own);
            let takes = takes.replacen("argument", "parameter", 1);
            let has = count_arguments(types.len()).replace("argument", "parameter");
            self.diagnostics.push(
                Diagnostic::error(
                    codes::HANDLER_PARAMETERS,
                    path.span,
                    format!("event `{shown}` has {takes}, but its handler has {has}"),
                )
                .label(declared, "the event is declared here"),
            );
        }
        let names = self.parameters.get(&event).cloned().unwrap_or_default();
        for (at, (found, wanted)) in types.iter().zip(&signature.parameters).enumerate() {
            let parameter = &parameters[at];
            self.at = parameter.ty.span;
            if !self.unify(found, wanted) {
                let place = names.get(at).map_or(declared, |segment| segment.span);
                let why = TypeExpectation::new(place, "the event has {} here");
                let span = parameter.ty.span;
                let mut diagnostic = self.mismatch_diagnostic(span, found, wanted, Some(&why));
                // Checking the body would only repeat the error.
                self.out.types.insert(parameter.name.id, Type::Error);
                diagnostic.code = codes::HANDLER_PARAMETERS;
                diagnostic.message =
                    format!("parameter `{}` is not what the event has", parameter.name.name);
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Warns about events that the program generates and no handler handles.
    pub(super) fn unhandled_events(&mut self) {
        let mut unhandled = Vec::new();
        for event in &self.events.list {
            let leaves = matches!(event.sort, EventSort::Packet | EventSort::Exit);
            let handled = event.handlers.iter().any(Option::is_some);
            if !leaves && !handled && self.used.contains(&event.id) {
                unhandled.push((event.name.clone(), event.span));
            }
        }
        for (name, span) in unhandled {
            self.diagnostics.push(
                Diagnostic::warning(
                    codes::UNHANDLED_EVENT,
                    span,
                    format!("event `{name}` is generated, but nothing handles it"),
                )
                .help(format!(
                    "write `handle {name}(...) {{ ... }}`, or `exit event` if it only leaves"
                )),
            );
        }
    }
}
