// SPDX-License-Identifier: Apache-2.0
//! Elaborates calls: inlines functions, evaluates constructors, makes event values, and dispatches built-in
//! functions.

use super::builder::{Builder, Purpose, as_local};
use super::frame::{Frame, Returns};
use super::values::Value;
use super::{CALL_LIMIT, Elaborated, Elaborator, Scope, codes};
use crate::check::{Builtin, Definition, Type};
use crate::core::{self, Expression, ExpressionKind, LocalId};
use crate::syntax::ast::{self, NodeId, Parameter, StatementKind};
use source::{Diagnostic, Span};

/// A call in the source.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub expression: &'a ast::Expression,
    pub function: &'a ast::Path,
    pub arguments: &'a [ast::Expression],
}

/// The use of a call's result.
#[derive(Clone, Debug)]
pub(super) enum ResultUse {
    /// It is a value of an expression.
    Value,
    /// It is assigned to these locals; the call then returns them.
    Into(Value),
    /// The caller discards it; the call then gives no value.
    Discard,
}

impl ResultUse {
    /// The local that receives a single value of this type; `None` if the caller discards it.
    pub fn local(
        &self,
        name: &str,
        ty: core::Type,
        span: Span,
        builder: &mut Builder,
    ) -> Option<LocalId> {
        match self {
            ResultUse::Discard => None,
            ResultUse::Into(value) if let Some(local) = as_local(value) => {
                let fits = builder.locals.get(local.0 as usize).is_some_and(|at| at.ty == ty);
                if fits { Some(local) } else { Some(builder.temporary(name, ty, span)) }
            }
            _ => Some(builder.temporary(name, ty, span)),
        }
    }
}

/// Moves deeply nested parts of a call's value into locals, so that nested calls do not nest without
/// bounds.
fn shallow(value: Value, name: &str, span: Span, builder: &mut Builder) -> Value {
    const DEEP: u32 = 64;
    let deep = |leaf: &&Value| matches!(leaf, Value::Scalar(scalar) if super::fold::is_deeper(scalar, DEEP));
    if !value.leaves().iter().any(deep) {
        return value;
    }
    let made = value.map::<std::convert::Infallible>(&mut |leaf| match leaf {
        Value::Scalar(scalar) if super::fold::is_deeper(scalar, DEEP) => {
            let local = builder.temporary(name, scalar.ty, span);
            builder.assign(local, scalar.clone(), false, span);
            Ok(Value::local(local, scalar.ty, span))
        }
        other => Ok(other.clone()),
    });
    match made {
        Ok(made) => made,
    }
}

/// A local as the value of a call, or nothing.
pub(super) fn result(local: Option<LocalId>, ty: core::Type, span: Span) -> Value {
    match local {
        Some(local) => Value::local(local, ty, span),
        None => Value::Void,
    }
}

impl<'a> Elaborator<'a> {
    /// Elaborates a call. The value stands in the locals of `result_use` where the call could use them.
    pub(super) fn call(
        &mut self,
        call: Call<'a>,
        result_use: ResultUse,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = call.expression.span;
        match self.definition(call.function)? {
            Definition::Function(id) => {
                let arguments = self.arguments(call.arguments, scope, builder)?;
                self.inline(id, call, arguments, result_use, scope, builder)
            }
            Definition::Constructor(id) => {
                let arguments = self.arguments(call.arguments, scope, builder)?;
                self.construct(id, call, arguments, scope, builder)
            }
            Definition::Event(id) => {
                let arguments = self.arguments(call.arguments, scope, builder)?;
                self.event_value(id, call.function, &arguments, scope, builder, span)
            }
            Definition::ExternFunction(id) => {
                self.call_extern(id, call, scope, builder)?;
                Ok(Value::Void)
            }
            Definition::Builtin(builtin) => {
                self.call_builtin(builtin, call, result_use, scope, builder)
            }
            _ => Err(self.internal(span, "a call of something that is no function")),
        }
    }

    fn arguments(
        &mut self,
        arguments: &'a [ast::Expression],
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Vec<Value>> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.expression(argument, scope, builder)?);
        }
        Ok(values)
    }

    fn enter(&mut self, call: Call<'a>, builder: &mut Builder) -> Elaborated<()> {
        let span = call.expression.span;
        if builder.calls.len() >= CALL_LIMIT {
            let message = "calls are nested too deep here";
            let diagnostic = Diagnostic::error(codes::TOO_DEEP, span, message);
            let note = format!("functions and constructors nest at most {CALL_LIMIT} deep");
            return Err(self.report_in(builder, diagnostic.note(note)));
        }
        builder.enter(span);
        Ok(())
    }

    /// Puts the body of a function here.
    fn inline(
        &mut self,
        id: NodeId,
        call: Call<'a>,
        arguments: Vec<Value>,
        result_use: ResultUse,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = call.expression.span;
        let Some(function) = self.index.functions.get(&id).copied() else {
            return Err(self.internal(span, "a function that is not declared"));
        };
        let mut inner = self.instantiated(call.function.id, scope, span)?;
        self.enter(call, builder)?;
        self.bind_parameters(function.parameters, arguments, &mut inner, builder)?;
        let statements = function.body.statements.as_slice();
        let returned = match statements.split_last() {
            Some((last, front))
                if let StatementKind::Return(Some(value)) = &last.kind
                    && front.iter().all(|one| !self.index.paths(one).returns) =>
            {
                // The only `return` is the last statement: its value is the call's.
                inner.frame = Frame::function(Returns::Nothing);
                self.statements(front, None, &mut inner, builder)?;
                self.step(last.span, builder)?;
                match result_use {
                    ResultUse::Discard => {
                        self.discarded(value, &mut inner, builder)?;
                        Value::Void
                    }
                    result_use => {
                        let value = self.expression_to(value, result_use, &mut inner, builder)?;
                        shallow(value, function.name, span, builder)
                    }
                }
            }
            _ => {
                let returns = match result_use {
                    ResultUse::Discard => Returns::Nothing,
                    ResultUse::Into(value) => Returns::Into(value),
                    ResultUse::Value => {
                        let ty = self.type_of(call.expression.id, scope, span)?;
                        match self.shape(&ty, span)? {
                            Type::Void => Returns::Nothing,
                            _ => Returns::Into(self.declare(builder, function.name, &ty, span)?),
                        }
                    }
                };
                let result = match &returns {
                    Returns::Into(value) => value.clone(),
                    Returns::Handler | Returns::Nothing => Value::Void,
                };
                inner.frame = Frame::function(returns);
                self.statements(statements, None, &mut inner, builder)?;
                result
            }
        };
        builder.leave();
        Ok(returned)
    }

    /// Gives parameters their arguments: as they are if they are single locals or known and the
    /// parameter is never assigned, else through new locals.
    fn bind_parameters(
        &mut self,
        parameters: &'a [Parameter],
        arguments: Vec<Value>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let assigned = self.index.assigned.contains(&parameter.name.id);
            let value = self.kept(&parameter.name, argument, assigned, scope, builder)?;
            scope.locals.insert(parameter.name.id, value);
        }
        Ok(())
    }

    /// A value under a name: what may be assigned later or is more than a local goes into new
    /// locals; what exists only before the run stays.
    pub(super) fn kept(
        &mut self,
        name: &ast::Binder,
        value: Value,
        assigned: bool,
        scope: &Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let simple = |leaf: &&Value| match leaf {
            Value::Scalar(Expression { kind, .. }) => {
                matches!(kind, ExpressionKind::Local(_) | ExpressionKind::Constant(_))
            }
            _ => true,
        };
        if !assigned && value.leaves().iter().all(simple) {
            return Ok(value);
        }
        let ty = self.type_of(name.id, scope, name.span)?;
        if self.is_static(&ty, name.span)? {
            return Ok(value);
        }
        let target = self.declare(builder, &name.name, &ty, name.span)?;
        self.assign(&target, &value, false, name.span, builder)?;
        Ok(target)
    }

    /// Evaluates a constructor of a user type.
    fn construct(
        &mut self,
        id: NodeId,
        call: Call<'a>,
        arguments: Vec<Value>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = call.expression.span;
        let Some(constructor) = self.index.constructors.get(&id).copied() else {
            return Err(self.internal(span, "a constructor that is not declared"));
        };
        let mut inner = self.instantiated(call.function.id, scope, span)?;
        self.enter(call, builder)?;
        for (parameter, argument) in constructor.parameters.iter().zip(arguments) {
            inner.locals.insert(parameter.name.id, argument);
        }
        let value = self.expression(constructor.value, &mut inner, builder)?;
        builder.leave();
        Ok(value)
    }

    fn call_extern(
        &mut self,
        id: NodeId,
        call: Call<'a>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let span = call.expression.span;
        self.effects_allowed(span, builder)?;
        let mut arguments = Vec::new();
        for argument in call.arguments {
            let value = self.expression(argument, scope, builder)?;
            for leaf in value.leaves() {
                arguments.push(match leaf {
                    Value::Scalar(scalar) => core::ExternArgument::Value(scalar.clone()),
                    Value::Text(text) => core::ExternArgument::Text(text.clone()),
                    other => {
                        let what = super::operators::describe(other);
                        let message = format!("{what} cannot be passed to an extern function");
                        let diagnostic = Diagnostic::error(codes::OPERAND, argument.span, message);
                        return Err(self.report_in(builder, diagnostic));
                    }
                });
            }
        }
        let function = match self.extern_functions.get(&id) {
            Some(function) => *function,
            None => {
                let function = core::ExternFunctionId(self.program.extern_functions.len() as u32);
                let (name, span) = (self.full_name(id), self.place(id));
                self.program.extern_functions.push(core::ExternFunction { name, span });
                self.extern_functions.insert(id, function);
                function
            }
        };
        builder.emit(core::StatementKind::CallExtern { function, arguments }, span);
        Ok(())
    }

    /// Reports an effect outside of a handler.
    pub(super) fn effects_allowed(&mut self, span: Span, builder: &Builder) -> Elaborated<()> {
        match builder.purpose {
            Purpose::Handler => Ok(()),
            purpose => Err(self.effect(span, purpose, &builder.calls)),
        }
    }

    fn call_builtin(
        &mut self,
        builtin: Builtin,
        call: Call<'a>,
        result_use: ResultUse,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = call.expression.span;
        let simple = |kind, ty| Ok(Value::Scalar(Expression { kind, ty, span }));
        match builtin {
            Builtin::ArrayGet
            | Builtin::ArrayGetm
            | Builtin::ArraySet
            | Builtin::ArraySetm
            | Builtin::ArrayUpdate
            | Builtin::ArrayUpdateComplex
            | Builtin::PairArrayUpdate
            | Builtin::CounterAdd => {
                self.effects_allowed(span, builder)?;
                let arguments = self.arguments(call.arguments, scope, builder)?;
                self.access(builtin, call, arguments, result_use, builder)
            }
            Builtin::ArrayCreate | Builtin::PairArrayCreate | Builtin::CounterCreate => {
                let ty = self.type_of(call.expression.id, scope, span)?;
                let [argument] = call.arguments else {
                    return Err(self.internal(span, "`create` without one argument"));
                };
                let value = self.expression(argument, scope, builder)?;
                let value = self.known_in(value, builder)?;
                self.new_simple_global(&ty, &value, argument.span, span, builder)
            }
            Builtin::TableCreate => self.create_table(call, scope, builder),
            Builtin::TableLookup => {
                self.effects_allowed(span, builder)?;
                let arguments = self.arguments(call.arguments, scope, builder)?;
                self.lookup(call, arguments, result_use, scope, builder)
            }
            Builtin::TableInstall | Builtin::TableInstallTernary => {
                self.effects_allowed(span, builder)?;
                let arguments = self.arguments(call.arguments, scope, builder)?;
                self.install_call(builtin, call, arguments, builder)?;
                Ok(Value::Void)
            }
            Builtin::EventDelay | Builtin::EventLocate | Builtin::EventLocateMany => {
                let [event, place] = call.arguments else {
                    return Err(self.internal(span, "an event combinator without two arguments"));
                };
                let event = Box::new(self.scalar(event, scope, builder)?);
                let place = Box::new(self.scalar(place, scope, builder)?);
                let kind = match builtin {
                    Builtin::EventDelay => ExpressionKind::Delay { event, nanoseconds: place },
                    _ if place.ty == core::Type::Group => {
                        ExpressionKind::LocateMany { event, switches: place }
                    }
                    _ => ExpressionKind::Locate { event, switch: place },
                };
                simple(kind, core::Type::Event)
            }
            Builtin::SysTime => {
                let width = self.expression_width(call.expression, scope)?;
                self.not_constant(span, builder)?;
                simple(ExpressionKind::Time, core::Type::Int(width))
            }
            Builtin::SysDequeueDepth => {
                let width = self.expression_width(call.expression, scope)?;
                self.not_constant(span, builder)?;
                simple(ExpressionKind::DequeueDepth, core::Type::Int(width))
            }
            Builtin::SysRandom => {
                self.effects_allowed(span, builder)?;
                let ty = core::Type::Int(self.expression_width(call.expression, scope)?);
                let local = match result_use.local("random", ty, span, builder) {
                    Some(local) => local,
                    // Random numbers are drawn in order, wanted or not.
                    None => builder.temporary("random", ty, span),
                };
                builder.emit(core::StatementKind::Random { local }, span);
                Ok(Value::local(local, ty, span))
            }
            Builtin::PayloadEmpty => simple(ExpressionKind::EmptyPayload, core::Type::Payload),
            Builtin::PayloadParse => self.rest_of_packet(span, builder),
            _ => Err(self.internal(span, "a builtin that is no function")),
        }
    }

    fn not_constant(&mut self, span: Span, builder: &Builder) -> Elaborated<()> {
        match builder.purpose {
            Purpose::Constant(_) => Err(self.effect(span, builder.purpose, &builder.calls)),
            _ => Ok(()),
        }
    }
}
