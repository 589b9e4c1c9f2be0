// SPDX-License-Identifier: Apache-2.0
//! Inlining of functions, actions, parsers and controls, and the passing of arguments (P4_16 v1.2.5
//! §6.8, §14.1.1, §14.4). An argument is passed by reference if that equals copying in and
//! out: the body reaches the storage only by the parameter, and no other argument shares it.

use super::instances::{InstanceId, argument_of};
use super::names::control_plane_name;
use super::probes::ProbeEnd;
use super::{Binding, CopyOut, Flow, Location, Lowered, Lowering, Shape, Value, codes};
use crate::{HeaderRef, Operand, Place, SlotId};
use p4::ast::{
    Argument, Block, ControlDeclaration, Declaration, DeclarationKind, Direction, ExpressionKind,
    NodeId, Parameter, Signature, Statement, StatementKind,
};
use p4::typed::{CallInfo, Callee, Type, TypeKind};
use p4::visit::any_statement;
use std::collections::HashSet;

/// Rules for passing the arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct ArgumentRules {
    /// The body reaches no storage but its parameters.
    pub(super) closed_body: bool,
    /// The parameters are used by other regions too, so they must be storage, and always the same when
    /// the body is lowered more than once.
    pub(super) parameter_storage: ParameterStorage,
}

/// The storage that parameters need.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterStorage {
    /// Temporaries or any slots.
    Any,
    /// Slots, which may be the argument's.
    Slots,
    /// Slots that belong to the instance.
    OwnSlots,
}

enum PassedArgument {
    Nothing,
    Value(Value, Option<Type>),
    Location(Location),
    /// A location to write to, and the value it had before later arguments were evaluated.
    Saved(Location, Value),
    Binding(Binding),
}

/// Evaluated arguments of a call.
pub(super) struct Arguments {
    pure: bool,
    passing: ArgumentRules,
    passed: Vec<PassedArgument>,
}

impl<'a> Lowering<'a> {
    pub(super) fn enter(&mut self, declaration: &Declaration) -> Lowered<()> {
        if self.active.contains(&declaration.id) {
            return Err(self.error(
                codes::RECURSION,
                format!("`{}` is reached from itself", declaration.name.text),
            ));
        }
        self.active.push(declaration.id);
        Ok(())
    }

    /// A function's value for a call.
    pub(super) fn inline_function(
        &mut self,
        declaration: &'a Declaration,
        signature: &'a Signature,
        body: &'a Block,
        info: &'a CallInfo,
        arguments: &'a [Argument],
    ) -> Lowered<Value> {
        let types: Vec<(NodeId, Type)> = signature
            .type_parameters
            .iter()
            .map(|parameter| parameter.id)
            .zip(info.type_arguments.iter().map(|ty| self.close(ty)))
            .collect();
        if types.iter().any(|(_, ty)| super::shapes::is_too_large(ty)) {
            return Err(self.error(
                codes::CODE_GROWTH,
                format!("a type argument of `{}` is too large", declaration.name.text),
            ));
        }
        let is_top = self
            .nodes
            .top_level(&declaration.name.text)
            .is_some_and(|top| matches!(top.kind, DeclarationKind::Function { .. }));
        let passing =
            ArgumentRules { closed_body: is_top, parameter_storage: ParameterStorage::Any };
        let arguments = self.arguments(&signature.parameters, (info, arguments), passing)?;
        self.enter(declaration)?;
        let outcome = self.inside(|this| {
            this.expand(declaration, |this| {
                let copies = this.bind_parameters(&signature.parameters, &types, arguments)?;
                let result = this.close(&info.result);
                let value = this.function_body(body, &result)?;
                this.copy_out(copies)?;
                Ok(value)
            })
        });
        self.active.pop();
        outcome
    }

    /// The statements of a directly called action.
    pub(super) fn inline_action(
        &mut self,
        declaration: &'a Declaration,
        parameters: &'a [Parameter],
        body: &'a Block,
        info: &'a CallInfo,
        arguments: &'a [Argument],
    ) -> Lowered<()> {
        let is_top = self
            .nodes
            .top_level(&declaration.name.text)
            .is_some_and(|top| top.id == declaration.id);
        let passing =
            ArgumentRules { closed_body: is_top, parameter_storage: ParameterStorage::Any };
        let arguments = self.arguments(parameters, (info, arguments), passing)?;
        self.note_called_action(declaration, is_top);
        self.enter(declaration)?;
        let outcome = self.inside(|this| {
            this.expand(declaration, |this| {
                let copies = this.bind_parameters(parameters, &[], arguments)?;
                this.void_body(body)?;
                this.copy_out(copies)
            })
        });
        self.active.pop();
        outcome
    }

    /// Gives an origin with its control-plane name to an action that a control calls, for P4Info. Actions that only
    /// actions or code that nothing reaches call have none.
    fn note_called_action(&mut self, declaration: &Declaration, is_top: bool) {
        let is_action = |id: &NodeId| {
            let declaration = self.nodes.declaration(*id);
            declaration.is_some_and(|of| matches!(of.kind, DeclarationKind::Action { .. }))
        };
        let key = (if is_top { None } else { self.instance }, declaration.id);
        if self.active.iter().any(is_action)
            || self.called_actions.contains(&key)
            || !self.is_reached()
        {
            return;
        }
        self.called_actions.insert(key);
        let prefix = if is_top { "".into() } else { self.prefix() };
        let name = control_plane_name(&prefix, &declaration.annotations, &declaration.name.text);
        self.add_origin(declaration.span, Some(declaration.id), Some(name));
    }

    /// Lowers the body of the call at hand in a fresh expansion with a flow of its own.
    pub(super) fn expand<T>(
        &mut self,
        declaration: &Declaration,
        work: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<T> {
        let context = self.new_context();
        let random_scope = std::mem::replace(&mut self.random_scope, self.call_site.clone());
        let outer = (
            std::mem::replace(&mut self.context, context),
            std::mem::take(&mut self.flow),
            std::mem::replace(&mut self.scope, declaration.name.text.clone()),
            self.copy_outs.len(),
        );
        let outcome = work(self);
        self.context = outer.0;
        self.flow = outer.1;
        self.scope = outer.2;
        self.random_scope = random_scope;
        self.copy_outs.truncate(outer.3);
        outcome
    }

    /// A body whose `return` has no value.
    pub(super) fn void_body(&mut self, body: &'a Block) -> Lowered<()> {
        let end = self.new_block("");
        self.flow = Flow { result: Some((end, None)), ..Flow::default() };
        let outcome = self.block(body);
        self.goto_and_start(end);
        outcome
    }

    fn function_body(&mut self, body: &'a Block, result: &Type) -> Lowered<Value> {
        // The common case has its only `return` at the end and needs no storage for the value.
        if let Some((Statement { kind: StatementKind::Return(Some(value)), id, span }, before)) =
            body.statements.split_last()
            && !before.iter().any(returns)
        {
            self.statements(before)?;
            self.at(*id, *span);
            let computed = self.evaluate(value)?;
            return self.cast(computed, None, result);
        }
        let shape = self.shape(result)?;
        let location = match shape {
            Shape::Empty => None,
            shape => {
                let name = self.local_name("$result");
                Some(self.allocate(&shape, &name)?)
            }
        };
        let end = self.new_block("");
        self.flow = Flow { result: Some((end, location.clone())), ..Flow::default() };
        self.block(body)?;
        self.goto_and_start(end);
        Ok(match location {
            Some(location) => self.load(&location),
            None => Value::Void,
        })
    }

    /// Evaluates arguments from left to right, outside of what is called.
    pub(super) fn arguments(
        &mut self,
        parameters: &'a [Parameter],
        (info, arguments): (&'a CallInfo, &'a [Argument]),
        passing: ArgumentRules,
    ) -> Lowered<Arguments> {
        let pure = arguments.iter().all(|argument| self.is_pure(&argument.value));
        let mut passed: Vec<PassedArgument> =
            parameters.iter().map(|_| PassedArgument::Nothing).collect();
        for (at, argument) in arguments.iter().enumerate() {
            let Some(index) = info.arguments.iter().position(|known| *known == Some(at)) else {
                continue;
            };
            if let (Some(parameter), Some(place)) = (parameters.get(index), passed.get_mut(index)) {
                *place = self.pass_one(parameter, argument, pure && passing.closed_body)?;
                // §6.8: the value is taken here, and later arguments cannot change it any more.
                let later = arguments.get(at + 1..).unwrap_or_default();
                if parameter.direction == Direction::InOut
                    && let PassedArgument::Location(location) = place
                    && *location != Location::Nothing
                    && !later.iter().all(|argument| self.is_pure(&argument.value))
                {
                    let value = self.load(location);
                    *place = PassedArgument::Saved(location.clone(), value);
                }
            }
        }
        Ok(Arguments { pure, passing, passed })
    }

    /// Binds parameters, inside of what is called. The copies have to be made after the body.
    pub(super) fn bind_parameters(
        &mut self,
        parameters: &'a [Parameter],
        types: &[(NodeId, Type)],
        arguments: Arguments,
    ) -> Lowered<Vec<CopyOut>> {
        let Arguments { pure, passing, passed } = arguments;
        for (parameter, ty) in types {
            self.type_arguments.insert(*parameter, ty.clone());
        }
        let shared = self.shared_slots(parameters, &passed);
        let mut copies = Vec::new();
        for (parameter, passed) in parameters.iter().zip(passed) {
            let passed = match (passed, &parameter.default) {
                (PassedArgument::Nothing, Some(default)) => {
                    let ty = self.result_type(default)?;
                    PassedArgument::Value(self.evaluate(default)?, Some(ty))
                }
                (other, _) => other,
            };
            self.bind(parameter, passed, (pure, passing), &shared, &mut copies)?;
        }
        // An exit makes the copies of the innermost call first, and of each call from left to right (§6.8):
        // it takes them from the end.
        self.copy_outs.extend(copies.iter().rev().cloned());
        Ok(copies)
    }

    fn pass_one(
        &mut self,
        parameter: &'a Parameter,
        argument: &'a Argument,
        by_reference: bool,
    ) -> Lowered<PassedArgument> {
        let expression = &argument.value;
        if let Some(binding @ (Binding::Packet | Binding::Object(_) | Binding::Block(_))) =
            self.binding(expression)
        {
            return Ok(PassedArgument::Binding(binding.clone()));
        }
        if matches!(expression.kind, ExpressionKind::DontCare) {
            return Ok(PassedArgument::Nothing);
        }
        let writes = matches!(parameter.direction, Direction::Out | Direction::InOut);
        if writes {
            return Ok(PassedArgument::Location(self.target(expression)?));
        }
        let plain = !self.typed.implicit_casts.contains_key(&expression.id)
            && !self.typed.constants.contains_key(&expression.id);
        if by_reference
            && plain
            && let Some(location) = self.locate(expression)?
            && location != Location::Nothing
        {
            return Ok(PassedArgument::Location(location));
        }
        let ty = self.result_type(expression)?;
        match self.evaluate(expression)? {
            Value::Object(binding) => Ok(PassedArgument::Binding(*binding)),
            value => Ok(PassedArgument::Value(value, Some(ty))),
        }
    }

    /// Slots that more than one argument reaches while at least one of them is written.
    fn shared_slots(&self, parameters: &[Parameter], passed: &[PassedArgument]) -> HashSet<u32> {
        let mut seen: HashSet<u32> = HashSet::new();
        let mut written: HashSet<u32> = HashSet::new();
        let mut twice: HashSet<u32> = HashSet::new();
        for (parameter, passed) in parameters.iter().zip(passed) {
            let (PassedArgument::Location(location) | PassedArgument::Saved(location, _)) = passed
            else {
                continue;
            };
            for slot in self.slots_of(location) {
                if !seen.insert(slot.0) {
                    twice.insert(slot.0);
                }
                if matches!(parameter.direction, Direction::Out | Direction::InOut) {
                    written.insert(slot.0);
                }
            }
        }
        twice.retain(|slot| written.contains(slot));
        twice
    }

    fn bind(
        &mut self,
        parameter: &'a Parameter,
        passed: PassedArgument,
        (pure, passing): (bool, ArgumentRules),
        shared: &HashSet<u32>,
        copies: &mut Vec<CopyOut>,
    ) -> Lowered<()> {
        let storage_needed = passing.parameter_storage != ParameterStorage::Any;
        let binding = match passed {
            PassedArgument::Binding(binding) => binding,
            PassedArgument::Location(location) => {
                let by_reference = pure
                    && passing.closed_body
                    && passing.parameter_storage != ParameterStorage::OwnSlots
                    && is_whole(&location)
                    && (!storage_needed || is_fixed(&location))
                    && (shared.is_empty()
                        || !self.slots_of(&location).iter().any(|slot| shared.contains(&slot.0)));
                if by_reference {
                    if parameter.direction == Direction::Out {
                        self.invalidate(&location);
                    }
                    Binding::Location(location)
                } else {
                    let ty = self.declared_type(parameter.id)?;
                    let own = self.variable(parameter.id, &ty, &parameter.name.text)?;
                    match parameter.direction {
                        Direction::Out => self.invalidate(&own),
                        _ => {
                            let value = self.load(&location);
                            self.store(&own, &value)?;
                        }
                    }
                    if matches!(parameter.direction, Direction::Out | Direction::InOut) {
                        copies.push(CopyOut { to: location, from: own.clone() });
                    }
                    Binding::Location(own)
                }
            }
            PassedArgument::Saved(location, value) => {
                let ty = self.declared_type(parameter.id)?;
                let own = self.variable(parameter.id, &ty, &parameter.name.text)?;
                self.store(&own, &value)?;
                copies.push(CopyOut { to: location, from: own.clone() });
                Binding::Location(own)
            }
            PassedArgument::Value(value, from) => {
                let ty = self.declared_type(parameter.id)?;
                let value = self.cast(value, from.as_ref(), &ty)?;
                let known = passing.parameter_storage == ParameterStorage::Slots
                    && matches!(
                        value,
                        Value::Scalar(Operand::Constant(_)) | Value::Integer(_) | Value::String(_)
                    );
                if !storage_needed || known {
                    Binding::Value(value)
                } else {
                    let own = self.variable(parameter.id, &ty, &parameter.name.text)?;
                    self.store(&own, &value)?;
                    Binding::Location(own)
                }
            }
            PassedArgument::Nothing if parameter.direction == Direction::None => return Ok(()),
            PassedArgument::Nothing => {
                let ty = self.declared_type(parameter.id)?;
                if matches!(*ty, TypeKind::Extern(..)) {
                    return Ok(());
                }
                let own = self.variable(parameter.id, &ty, &parameter.name.text)?;
                self.clear(&own);
                Binding::Location(own)
            }
        };
        self.bindings.insert(parameter.id, binding);
        Ok(())
    }

    /// Makes the copies of a call that ends normally.
    pub(super) fn copy_out(&mut self, copies: Vec<CopyOut>) -> Lowered<()> {
        for copy in copies {
            let value = self.load(&copy.from);
            self.store(&copy.to, &value)?;
        }
        Ok(())
    }

    /// `instance.apply(...)` of a parser or control.
    pub(super) fn apply_block(
        &mut self,
        id: InstanceId,
        info: &'a CallInfo,
        arguments: &'a [Argument],
    ) -> Lowered<()> {
        let instance = &self.instances[id.index()];
        let (sites, declaration) = (instance.sites, instance.declaration);
        let probed = Some(instance.name.clone()).filter(|name| self.is_probed(name));
        let Some(declaration) = self.nodes.declaration(declaration) else {
            return Err(self.missing_fact("what is applied"));
        };
        let (parameters, has_tables): (&'a [Parameter], bool) = match &declaration.kind {
            DeclarationKind::Parser(parser) => (&parser.signature.parameters, false),
            DeclarationKind::Control(control) => {
                (&control.signature.parameters, self.may_have_tables(control))
            }
            _ => return Err(self.missing_fact("what is applied")),
        };
        let parameter_storage = match (has_tables, sites) {
            (false, _) => ParameterStorage::Any,
            (true, 0 | 1) => ParameterStorage::Slots,
            (true, _) => ParameterStorage::OwnSlots,
        };
        let passing = ArgumentRules { closed_body: true, parameter_storage };
        let arguments = self.arguments(parameters, (info, arguments), passing)?;
        let storage: Vec<_> = match probed {
            None => Vec::new(),
            Some(_) => arguments.passed.iter().flat_map(|one| self.slots_passed(one)).collect(),
        };
        if let Some(name) = &probed {
            self.probe(name, ProbeEnd::Begin, &storage);
        }
        self.enter(declaration)?;
        let (flow, copy_outs) = (std::mem::take(&mut self.flow), self.copy_outs.len());
        let repeating = self.repeating;
        self.repeating |= sites > 1;
        let outcome = self.inside(|this| {
            this.within(id, |this| {
                let copies = this.bind_parameters(parameters, &[], arguments)?;
                let random_scope = this.call_site.clone();
                this.drawing_in(random_scope, |this| this.block_body(declaration))?;
                this.copy_out(copies)
            })
        });
        self.repeating = repeating;
        self.flow = flow;
        self.copy_outs.truncate(copy_outs);
        self.active.pop();
        if let Some(name) = &probed {
            self.probe(name, ProbeEnd::End, &storage);
        }
        outcome
    }

    /// The slots of an argument that is passed as storage.
    fn slots_passed(&self, passed: &PassedArgument) -> Vec<SlotId> {
        match passed {
            PassedArgument::Location(location) | PassedArgument::Saved(location, _) => {
                self.slots_of(location)
            }
            PassedArgument::Nothing | PassedArgument::Value(..) | PassedArgument::Binding(_) => {
                Vec::new()
            }
        }
    }

    /// Whether a control, or one inside of it, may have tables.
    fn may_have_tables(&self, control: &ControlDeclaration) -> bool {
        let is_block = |id: &NodeId| {
            self.typed.declared_types.get(id).is_some_and(|ty| {
                matches!(**ty, TypeKind::Control(..) | TypeKind::Parser(..) | TypeKind::Unknown)
            })
        };
        let local = |local: &Declaration| match local.kind {
            DeclarationKind::Table(_) => true,
            DeclarationKind::Instance { .. } => is_block(&local.id),
            _ => false,
        };
        control.locals.iter().any(local)
            || control.constructor_parameters.iter().any(|parameter| is_block(&parameter.id))
            || self.applies_types(&control.body)
    }

    /// Whether a body applies controls by their types, or declares instances of its own.
    fn applies_types(&self, body: &Block) -> bool {
        let applies = |statement: &Statement| match &statement.kind {
            StatementKind::Call(call) => matches!(
                self.typed.calls.get(&call.id).map(|info| info.callee),
                Some(Callee::DirectApply(_))
            ),
            StatementKind::Declaration(declaration) => {
                matches!(declaration.kind, DeclarationKind::Instance { .. })
            }
            _ => false,
        };
        body.statements.iter().any(|statement| any_statement(statement, applies))
    }

    /// The body of a parser or control whose parameters are bound.
    pub(super) fn block_body(&mut self, declaration: &'a Declaration) -> Lowered<()> {
        self.atomically(&declaration.annotations, |this| this.plain_block_body(declaration))
    }

    fn plain_block_body(&mut self, declaration: &'a Declaration) -> Lowered<()> {
        match &declaration.kind {
            DeclarationKind::Parser(parser) => {
                let accept = self.new_block("");
                self.parser_body(parser, accept)?;
                self.start_block(accept);
                Ok(())
            }
            DeclarationKind::Control(control) => {
                for local in &control.locals {
                    self.local_declaration(local)?;
                }
                self.void_body(&control.body)
            }
            _ => Err(self.missing_fact("a parser or control")),
        }
    }

    /// The argument's constant of an action's parameter, for entries and default actions.
    pub(super) fn constant_argument(
        &mut self,
        parameter: &'a Parameter,
        index: usize,
        (info, arguments): (&'a CallInfo, &'a [Argument]),
    ) -> Lowered<Vec<crate::Bits>> {
        let Some(expression) = argument_of(info, arguments, index).or(parameter.default.as_ref())
        else {
            return Err(self.error(
                codes::ENTRY_MISMATCH,
                format!("the argument for `{}` is missing", parameter.name.text),
            ));
        };
        let value = self.evaluate(expression)?;
        let ty = self.declared_type(parameter.id)?;
        let value = self.cast(value, None, &ty)?;
        let mut constants = Vec::new();
        for operand in self.flatten_stored(&value) {
            match operand {
                Operand::Constant(bits) => constants.push(bits),
                Operand::Temp(_) => {
                    return Err(self.error_at(
                        expression.span,
                        codes::NOT_CONSTANT,
                        "this argument must be known at compile time",
                    ));
                }
            }
        }
        Ok(constants)
    }
}

fn returns(statement: &Statement) -> bool {
    any_statement(statement, |inner| matches!(inner.kind, StatementKind::Return(_)))
}

/// Whether a location is no part of a scalar.
fn is_whole(location: &Location) -> bool {
    !matches!(location, Location::Slice { .. } | Location::Choice { .. } | Location::Nothing)
}

/// Whether a location does not depend on temporaries.
fn is_fixed(location: &Location) -> bool {
    match location {
        Location::Scalar(Place::Element { index: Operand::Temp(_), .. }, _)
        | Location::Header { header: HeaderRef::Element { index: Operand::Temp(_), .. }, .. } => {
            false
        }
        Location::Struct(fields) | Location::Union(fields) => {
            fields.iter().all(|(_, field)| is_fixed(field))
        }
        Location::Slice { base, .. } => is_fixed(base),
        Location::Choice { .. } => false,
        _ => true,
    }
}
