// SPDX-License-Identifier: Apache-2.0
//! Elaborates events. An event that takes globals, memops or sizes has one copy for each choice that the
//! program makes: the worklist of copies grows while handlers are elaborated, until every copy that can be
//! generated is done. Wire numbers are assigned last.

use super::builder::{Builder, Purpose};
use super::frame::{Frame, Returns};
use super::index::{EventDeclaration, Handler};
use super::values::Value;
use super::{EVENT_LIMIT, Elaborated, Elaborator, Scope, codes};
use crate::check::{Size, SizeTerm, Type, Variable};
use crate::core::{self, Event, EventId, Expression, ExpressionKind, LocalId};
use crate::syntax::ast::{self, HandlerSort, NodeId, Parameter};
use source::{Diagnostic, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One copy of an event.
#[derive(Clone, Debug)]
pub(super) struct EventCopy {
    pub declaration: NodeId,
    sizes: Vec<(Variable, u128)>,
    types: Vec<(Variable, Type)>,
    /// Closed types of the parameters.
    pub parameter_types: Vec<Type>,
    /// One entry a parameter: its value at compile time.
    pub known: Vec<Option<Value>>,
    /// Its first use.
    wanted_at: Span,
}

/// Copies that a further pass has from the beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownCopies(Vec<EventCopy>);

/// All copies so far, in order of their ids.
#[derive(Default)]
pub(super) struct EventCopies {
    known: KnownCopies,
    pub copies: Vec<EventCopy>,
    by_key: HashMap<(NodeId, String), EventId>,
    /// Events without parameters that are known at compile time.
    plain: HashMap<NodeId, EventId>,
    by_declaration: HashMap<NodeId, Vec<EventId>>,
    names: HashSet<Arc<str>>,
    /// The number of copies of an event that a `match` covered.
    matched: HashMap<NodeId, usize>,
    /// The events whose handlers are elaborated.
    done: usize,
}

impl EventCopies {
    pub fn new(known: KnownCopies) -> EventCopies {
        EventCopies { known, ..EventCopies::default() }
    }

    /// All copies, if some `match` did not know all of an event.
    pub fn unmatched_copies(&self) -> Option<KnownCopies> {
        let missed = self.matched.iter().any(|(declaration, known)| {
            self.by_declaration.get(declaration).is_some_and(|copies| copies.len() > *known)
        });
        missed.then(|| KnownCopies(self.copies.clone()))
    }
}

impl<'a> Elaborator<'a> {
    /// Makes the events that have one copy, in order of declaration.
    pub(super) fn declare_events(&mut self) -> Elaborated<()> {
        for at in 0..self.index.events.len() {
            let declaration = self.index.events[at];
            if self.is_polymorphic(declaration.id) {
                continue;
            }
            let scope = Scope::default();
            let mut types = Vec::with_capacity(declaration.parameters.len());
            let mut is_static = false;
            for parameter in declaration.parameters {
                let span = parameter.name.span;
                let ty = self.type_of(parameter.name.id, &scope, span)?;
                is_static |= self.is_static(&ty, span)?;
                types.push(ty);
            }
            if is_static {
                continue;
            }
            let copy = EventCopy {
                declaration: declaration.id,
                sizes: Vec::new(),
                types: Vec::new(),
                known: types.iter().map(|_| None).collect(),
                parameter_types: types,
                wanted_at: declaration.span,
            };
            let event = self.add_copy(copy, String::new())?;
            self.events.plain.insert(declaration.id, event);
        }
        Ok(())
    }

    fn is_polymorphic(&self, event: NodeId) -> bool {
        let signature = self.checked.signatures.get(&event);
        signature.is_some_and(|signature| !signature.variables.is_empty())
    }

    /// Makes the copies that an earlier pass found.
    pub(super) fn known_copies(&mut self) -> Elaborated<()> {
        for copy in std::mem::take(&mut self.events.known.0) {
            if !self.events.plain.contains_key(&copy.declaration) {
                self.copy_of(copy)?;
            }
        }
        Ok(())
    }

    /// The id of a copy; it is made if it is new.
    pub(super) fn copy_of(&mut self, copy: EventCopy) -> Elaborated<EventId> {
        let mut key = String::new();
        for (_, size) in &copy.sizes {
            key.push_str(&format!("{size},"));
        }
        for (_, ty) in &copy.types {
            key.push_str(&format!("{ty:?},"));
        }
        for known in &copy.known {
            match known.as_ref().map(Value::identity) {
                Some(Some(identity)) => key.push_str(&format!("{identity}|")),
                Some(None) => {
                    let message = "an event with globals needs everything beside them known";
                    let diagnostic = Diagnostic::error(codes::NOT_KNOWN, copy.wanted_at, message);
                    let help = "hand over values that the run computes as parameters of their own";
                    return Err(self.report(diagnostic.help(help)));
                }
                None => key.push('|'),
            }
        }
        match self.events.by_key.get(&(copy.declaration, key.clone())) {
            Some(event) => Ok(*event),
            None => self.add_copy(copy, key),
        }
    }

    fn add_copy(&mut self, copy: EventCopy, key: String) -> Elaborated<EventId> {
        let Some(declaration) = self.event_declaration(copy.declaration) else {
            return Err(self.internal(copy.wanted_at, "an event that is not declared"));
        };
        let count = self.program.events.len();
        if count >= EVENT_LIMIT {
            let message = format!("the program has more than {EVENT_LIMIT} events");
            let diagnostic = Diagnostic::error(codes::TOO_MANY_EVENTS, declaration.span, message)
                .label(copy.wanted_at, "one more copy is made here")
                .note("an event with globals has a copy for each choice of globals");
            return Err(self.report(diagnostic));
        }
        let declared_name = self.full_name(copy.declaration);
        let name = self.copy_name(&declared_name, &copy);
        let mut builder = Builder::new(Purpose::Handler);
        let mut global_arguments = Vec::new();
        for (at, parameter) in declaration.parameters.iter().enumerate() {
            match copy.known.get(at).and_then(Option::as_ref) {
                Some(value) => global_arguments.extend(value.globals()),
                None => {
                    let Some(ty) = copy.parameter_types.get(at).cloned() else { continue };
                    let name = &parameter.name.name;
                    self.declare(&mut builder, name, &ty, parameter.name.span)?;
                }
            }
        }
        let event = EventId(count as u32);
        self.program.events.push(Event {
            name,
            declared_name,
            global_arguments,
            span: declaration.span,
            sort: declaration.sort,
            wire_number: 0,
            parameters: builder.locals,
            handler: None,
            egress_handler: None,
            control_handler: None,
        });
        self.events.by_key.insert((copy.declaration, key), event);
        self.events.by_declaration.entry(copy.declaration).or_default().push(event);
        self.events.copies.push(copy);
        Ok(event)
    }

    /// `update(arr1, ctr1)`; of copies that differ in sizes only, `send<16>`.
    fn copy_name(&mut self, declared: &Arc<str>, copy: &EventCopy) -> Arc<str> {
        let mut name = declared.to_string();
        let known: Vec<String> =
            copy.known.iter().flatten().map(|value| self.value_name(value)).collect();
        let sizes = || {
            let sizes = copy.sizes.iter().map(|(_, size)| size.to_string());
            let types = copy.types.iter().map(|(_, ty)| self.checked.show(ty));
            format!("<{}>", sizes.chain(types).collect::<Vec<_>>().join(", "))
        };
        if !known.is_empty() {
            name.push_str(&format!("({})", known.join(", ")));
        } else if !copy.sizes.is_empty() || !copy.types.is_empty() {
            name.push_str(&sizes());
        }
        if self.events.names.contains(name.as_str()) {
            name.push_str(&sizes());
        }
        let mut unique: Arc<str> = name.as_str().into();
        let mut count = 2;
        while self.events.names.contains(&unique) {
            unique = format!("{name}~{count}").into();
            count += 1;
        }
        self.events.names.insert(unique.clone());
        unique
    }

    /// The name of a value that is known at compile time.
    fn value_name(&self, value: &Value) -> String {
        let named = match value {
            Value::Record(record) => record.name.clone(),
            Value::Vector(vector) => vector.name.clone(),
            Value::Global(id) => {
                self.program.globals.get(id.0 as usize).map(|global| global.name.clone())
            }
            Value::Memop(id) => Some(self.full_name(*id)),
            Value::Action(id) => {
                self.program.actions.get(id.0 as usize).map(|action| action.name.clone())
            }
            Value::Scalar(scalar) => {
                scalar.as_constant().map(|known| core::constant_text(known).into())
            }
            _ => None,
        };
        match named {
            Some(name) => name.to_string(),
            None => {
                let parts: Vec<String> =
                    value.parts().into_iter().map(|part| self.value_name(part)).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    pub(super) fn event_declaration(&self, id: NodeId) -> Option<EventDeclaration<'a>> {
        let at = self.index.event_places.get(&id)?;
        self.index.events.get(*at).copied()
    }

    /// A copy with these variables and types; `arguments` one a parameter, as far as they are static.
    pub(super) fn copy_for(
        &mut self,
        id: NodeId,
        inner: &Scope,
        arguments: &[Value],
        span: Span,
    ) -> Elaborated<EventCopy> {
        let Some(declaration) = self.event_declaration(id) else {
            return Err(self.internal(span, "an event that is not declared"));
        };
        if declaration.parameters.len() != arguments.len() {
            return Err(self.internal(span, "an event with another number of arguments"));
        }
        let mut sizes = Vec::new();
        let mut types = Vec::new();
        if let Some(signature) = self.checked.signatures.get(&id) {
            for variable in &signature.variables {
                if let Some(size) = inner.sizes.get(variable) {
                    sizes.push((*variable, *size));
                } else if let Some(ty) = inner.types.get(variable) {
                    types.push((*variable, ty.clone()));
                }
            }
        }
        let mut parameter_types = Vec::with_capacity(arguments.len());
        let mut known = Vec::with_capacity(arguments.len());
        for (parameter, argument) in declaration.parameters.iter().zip(arguments) {
            let ty = self.type_of(parameter.name.id, inner, parameter.name.span)?;
            known.push(self.is_static(&ty, span)?.then(|| argument.clone()));
            parameter_types.push(ty);
        }
        let declaration = id;
        Ok(EventCopy { declaration, sizes, types, parameter_types, known, wanted_at: span })
    }

    /// The value of an event with arguments.
    pub(super) fn event_value(
        &mut self,
        id: NodeId,
        path: &ast::Path,
        arguments: &[Value],
        scope: &Scope,
        builder: &mut Builder,
        span: Span,
    ) -> Elaborated<Value> {
        let event = match self.events.plain.get(&id) {
            Some(event) => *event,
            None => {
                let inner = self.instantiated(path.id, scope, span)?;
                let copy = self.copy_for(id, &inner, arguments, span)?;
                self.copy_of(copy)?
            }
        };
        let known = self.events.copies[event.0 as usize].known.clone();
        let mut leaves = Vec::new();
        for (argument, known) in arguments.iter().zip(&known) {
            if known.is_some() {
                continue;
            }
            for leaf in argument.leaves() {
                let leaf = match leaf {
                    // The rest of the packet, as an older spelling hands it over.
                    Value::Bitstring => self.rest_of_packet(span, builder)?,
                    other => other.clone(),
                };
                leaves.push(self.as_scalar(leaf, span)?);
            }
        }
        let kind = ExpressionKind::Event { event, arguments: leaves };
        Ok(Value::Scalar(Expression { kind, ty: core::Type::Event, span }))
    }

    /// The copies of an event that an arm of a `match` is about.
    pub(super) fn copies_to_match(
        &mut self,
        id: NodeId,
        path: &ast::Path,
        scope: &Scope,
    ) -> Elaborated<Vec<EventId>> {
        if let Some(event) = self.events.plain.get(&id) {
            return Ok(vec![*event]);
        }
        let copies = self.events.by_declaration.get(&id).cloned().unwrap_or_default();
        self.events.matched.insert(id, copies.len());
        let inner = self.instantiated(path.id, scope, path.span)?;
        // An arm whose types are fixed is about the copies of these types.
        let fits = |event: &EventId| {
            let copy = &self.events.copies[event.0 as usize];
            copy.sizes.iter().all(|(variable, size)| {
                inner.sizes.get(variable).is_none_or(|wanted| wanted == size)
            })
        };
        Ok(copies.into_iter().filter(fits).collect())
    }

    /// Locals for the parameters of an arm of a `match`, and what is known of them.
    pub(super) fn bind_event(
        &mut self,
        event: EventId,
        parameters: &'a [Parameter],
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Vec<LocalId>> {
        let copy = self.events.copies[event.0 as usize].clone();
        let mut locals = Vec::new();
        for (at, parameter) in parameters.iter().enumerate() {
            let value = match copy.known.get(at) {
                Some(Some(known)) => known.clone(),
                _ => {
                    let Some(ty) = copy.parameter_types.get(at) else {
                        return Err(self.internal(parameter.name.span, "one parameter too many"));
                    };
                    let name = &parameter.name;
                    let value = self.declare(builder, &name.name, ty, name.span)?;
                    locals.extend(value.leaves().into_iter().filter_map(super::builder::as_local));
                    value
                }
            };
            scope.locals.insert(parameter.name.id, value);
        }
        Ok(locals)
    }

    /// Elaborates handlers until all events are done.
    pub(super) fn handlers(&mut self) {
        while self.events.done < self.program.events.len() && !self.is_too_large() {
            let event = EventId(self.events.done as u32);
            self.events.done += 1;
            // What is wrong with one handler does not hide what is wrong with the next.
            let _ = self.handlers_of(event);
        }
    }

    fn is_too_large(&self) -> bool {
        self.statement_count > super::PROGRAM_STATEMENT_LIMIT
            || self.steps > super::PROGRAM_STEP_LIMIT
    }

    fn handlers_of(&mut self, event: EventId) -> Elaborated<()> {
        let copy = self.events.copies[event.0 as usize].clone();
        let handlers = self.index.handlers.get(&copy.declaration).cloned().unwrap_or_default();
        for handler in handlers {
            let span = match handler.event {
                Some(name) => name.span,
                None => self.program.events[event.0 as usize].span,
            };
            let body = self.handler(&copy, handler, span)?;
            let slot = &mut self.program.events[event.0 as usize];
            match handler.sort {
                HandlerSort::Ingress => slot.handler = Some(body),
                HandlerSort::Egress => slot.egress_handler = Some(body),
                HandlerSort::Control => slot.control_handler = Some(body),
            }
        }
        Ok(())
    }

    fn handler(
        &mut self,
        copy: &EventCopy,
        handler: Handler<'a>,
        span: Span,
    ) -> Elaborated<core::Body> {
        let mut scope = Scope { frame: Frame::function(Returns::Handler), ..Scope::default() };
        scope.sizes.extend(copy.sizes.iter().copied());
        scope.types.extend(copy.types.iter().cloned());
        if let Some(path) = handler.event {
            self.handler_variables(copy, path, &mut scope)?;
        }
        for (parameter, ty) in handler.parameters.iter().zip(&copy.parameter_types) {
            if let Some(pattern) = self.checked.types.get(&parameter.name.id).cloned() {
                self.match_types(&pattern, ty, &mut scope, parameter.name.span)?;
            }
        }
        let mut builder = Builder::new(Purpose::Handler);
        for (at, parameter) in handler.parameters.iter().enumerate() {
            let name = &parameter.name;
            let value = match copy.known.get(at) {
                Some(Some(known)) => known.clone(),
                _ => {
                    let Some(ty) = copy.parameter_types.get(at) else {
                        return Err(self.internal(name.span, "one parameter too many"));
                    };
                    self.declare(&mut builder, &name.name, ty, name.span)?
                }
            };
            scope.locals.insert(name.id, value);
        }
        let parameter_count = builder.locals.len() as u32;
        self.statements(&handler.body.statements, None, &mut scope, &mut builder)?;
        // The last statement of all may have been one too many.
        self.step(handler.body.span, &mut builder)?;
        self.statement_count += u64::from(builder.statement_count);
        if self.statement_count > super::PROGRAM_STATEMENT_LIMIT {
            return Err(self.too_much_in_all(handler.body.span));
        }
        let Builder { locals, statements, .. } = builder;
        Ok(core::Body { span, locals, parameter_count, statements })
    }

    /// Variables of a handler that has names of its own for those of the event.
    fn handler_variables(
        &mut self,
        copy: &EventCopy,
        path: &ast::Path,
        scope: &mut Scope,
    ) -> Elaborated<()> {
        let Some(instantiation) = self.checked.instantiations.get(&path.id) else {
            return Ok(());
        };
        for (variable, value) in &copy.sizes {
            let Some(Size { constant, terms }) = instantiation.sizes.get(variable) else {
                continue;
            };
            if let ([SizeTerm::Variable(own)], Some(value)) =
                (terms.as_slice(), value.checked_sub(*constant))
            {
                scope.sizes.entry(*own).or_insert(value);
            }
        }
        for (variable, ty) in &copy.types {
            if let Some(Type::Variable(own)) = instantiation.types.get(variable) {
                scope.types.entry(*own).or_insert_with(|| ty.clone());
            }
        }
        Ok(())
    }

    /// Assigns wire numbers: those of the source, then unused numbers from 1 up.
    pub(super) fn wire_numbers(&mut self) -> Elaborated<()> {
        let mut taken: HashSet<u32> = HashSet::new();
        let mut given: Vec<Option<u32>> = vec![None; self.program.events.len()];
        for at in 0..self.index.events.len() {
            let declaration = self.index.events[at];
            let Some((number, span)) = declaration.wire_number else { continue };
            let number = match u32::try_from(number) {
                Ok(number) if taken.insert(number) => number,
                _ => return Err(self.internal(span, "two events with one number")),
            };
            // Of several copies the first has the number.
            let copies = self.events.by_declaration.get(&declaration.id);
            if let Some(first) = copies.and_then(|copies| copies.first()) {
                given[first.0 as usize] = Some(number);
            }
        }
        let mut next = 1;
        let mut order: Vec<usize> = (0..self.program.events.len()).collect();
        let place = |event: usize| {
            let copy = &self.events.copies[event];
            self.index.event_places.get(&copy.declaration).copied().unwrap_or(usize::MAX)
        };
        order.sort_by_key(|event| (place(*event), *event));
        for event in order {
            let number = match given[event] {
                Some(number) => number,
                None => {
                    while taken.contains(&next) {
                        next += 1;
                    }
                    next += 1;
                    next - 1
                }
            };
            self.program.events[event].wire_number = number;
        }
        Ok(())
    }
}
