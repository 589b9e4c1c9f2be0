// SPDX-License-Identifier: Apache-2.0
//! Calls: which thing is called, where it may be called, overloads, and the types of arguments and
//! type arguments (P4_16 v1.2.5 §6.8, §8.20, appendix on calling restrictions). Built-in methods are in
//! `methods`; constructors in `instances`.

use super::inference::{Substitution, is_optional};
use super::scopes::nearest_name;
use super::types::count;
use super::{Checker, Node, ParameterRole, Place};
use crate::ast::{
    Argument, Call, DeclarationKind, DeclaredName, Direction, Expression, ExpressionKind, Method,
    NodeId, Parameter, Path, Signature,
};
use crate::codes::typing as codes;
use crate::typed::{CallInfo, Callee, Constant, Definition, Type, TypeKind};
use source::{Diagnostic, Span};
use std::sync::Arc;

/// Something that can be called, before its arguments are looked at.
#[derive(Clone)]
pub(super) struct Callable<'a> {
    pub(super) callee: Callee,
    pub(super) name: Arc<str>,
    pub(super) declared: Span,
    pub(super) type_parameters: &'a [DeclaredName],
    pub(super) parameters: &'a [Parameter],
    pub(super) role: ParameterRole,
    pub(super) result: Type,
    /// Type arguments of the object that a method belongs to.
    pub(super) object: Substitution,
}

/// Why arguments do not fit parameters.
enum BindError<'a> {
    TooMany(&'a Argument),
    Missing(&'a Parameter),
    UnknownName(&'a Argument),
    NamedTwice(&'a Argument),
    Mixed(&'a Argument),
}

impl<'a> Checker<'a> {
    pub(super) fn synthesize_call(&mut self, expression: &'a Expression, call: &'a Call) -> Type {
        let callee = &call.callee;
        match &callee.kind {
            ExpressionKind::Member(base, name) => {
                self.typed.expression_types.insert(callee.id, self.known.function.clone());
                if self.names_type(base)
                    && let Some(ty) = self.type_expression(base)
                {
                    return self.call_on_type(expression, call, base, &ty, name);
                }
                if matches!(base.kind, ExpressionKind::ErrorType) {
                    return self.call_size_of(expression, call, &self.known.error.clone(), name);
                }
                let base_type = match &base.kind {
                    // A block that is constructed and applied at once.
                    ExpressionKind::Call(inner) if self.names_type(&inner.callee) => {
                        let place = match self.place {
                            Place::TopLevel => Place::TopLevel,
                            _ => Place::ConstructorArguments,
                        };
                        self.at_place(place, |checker| checker.synthesize(base))
                    }
                    _ => self.synthesize(base),
                };
                self.call_on_value(expression, call, base, &base_type, name)
            }
            ExpressionKind::Path(path) => {
                if self.names_type(callee) {
                    return self.call_constructor(expression, call);
                }
                self.call_path(expression, call, path)
            }
            ExpressionKind::Type(_) => self.call_constructor(expression, call),
            _ => {
                let ty = self.synthesize(callee);
                self.synthesize_arguments(&call.arguments);
                self.report_not_callable(callee, &ty);
                self.known.unknown.clone()
            }
        }
    }

    pub(super) fn report_not_callable(&mut self, callee: &'a Expression, ty: &Type) {
        if matches!(&**ty, TypeKind::Unknown) {
            return;
        }
        let shown = self.show(ty);
        let mut diagnostic = Diagnostic::error(
            codes::NOT_CALLABLE,
            callee.span,
            format!("this has type `{shown}` and cannot be called"),
        );
        match &**ty {
            TypeKind::Table(_) | TypeKind::Control(..) | TypeKind::Parser(..) => {
                diagnostic = diagnostic.help("call its `apply` method");
            }
            _ => {}
        }
        self.report(diagnostic);
    }

    pub(super) fn synthesize_arguments(&mut self, arguments: &'a [Argument]) {
        for argument in arguments {
            if !matches!(argument.value.kind, ExpressionKind::DontCare) {
                self.synthesize(&argument.value);
            }
        }
    }

    fn call_path(&mut self, expression: &'a Expression, call: &'a Call, path: &'a Path) -> Type {
        let Some(nodes) = self.lookup(path).map(<[NodeId]>::to_vec) else {
            self.report_not_found(path, "function or action");
            self.synthesize_arguments(&call.arguments);
            return self.known.unknown.clone();
        };
        let first = nodes[0];
        self.used.extend(&nodes);
        let Node::Declaration(declaration) = self.node(first) else {
            let ty = self.synthesize(&call.callee);
            self.synthesize_arguments(&call.arguments);
            self.report_not_callable(&call.callee, &ty);
            return self.known.unknown.clone();
        };
        if let DeclarationKind::Action { parameters, .. } = &declaration.kind {
            self.typed.definitions.insert(call.callee.id, Definition::Node(first));
            self.typed.expression_types.insert(call.callee.id, Arc::new(TypeKind::Action(first)));
            if !matches!(self.place, Place::ControlApply | Place::Action) {
                self.report_call_not_allowed(
                    expression,
                    &format!("action `{}`", path.name.text),
                    "actions are called from actions and from the apply block of a control",
                );
            }
            let callable = Callable {
                callee: Callee::Action(first),
                name: declaration.name.text.clone(),
                declared: declaration.name.span,
                type_parameters: &[],
                parameters,
                role: ParameterRole::Action,
                result: self.known.void.clone(),
                object: Substitution::default(),
            };
            return self.call_one(expression, call, callable);
        }
        let candidates: Vec<Callable<'a>> =
            nodes.iter().filter_map(|node| self.function_callable(*node)).collect();
        if candidates.is_empty() {
            let ty = self.synthesize(&call.callee);
            self.synthesize_arguments(&call.arguments);
            self.report_not_callable(&call.callee, &ty);
            return self.known.unknown.clone();
        }
        self.typed.expression_types.insert(call.callee.id, self.known.function.clone());
        let Some(callable) = self.choose_overload(expression.span, candidates, &call.arguments)
        else {
            self.synthesize_arguments(&call.arguments);
            return self.known.unknown.clone();
        };
        let node = match callable.callee {
            Callee::Function(node)
            | Callee::ExternFunction(node)
            | Callee::AbstractMethod(node) => node,
            _ => first,
        };
        self.typed.definitions.insert(call.callee.id, Definition::Node(node));
        if matches!(callable.callee, Callee::ExternFunction(_))
            && &*callable.name == "verify"
            && self.place != Place::ParserState
        {
            self.report_call_not_allowed(
                expression,
                "`verify`",
                "`verify` is called from parser states only",
            );
        }
        self.warn_if_deprecated(node, call.callee.span);
        let is_assertion = matches!(callable.callee, Callee::ExternFunction(_))
            && &*callable.name == "static_assert";
        let result = self.call_one(expression, call, callable);
        if is_assertion {
            self.check_assertion(expression, call);
        }
        result
    }

    fn function_callable(&self, node: NodeId) -> Option<Callable<'a>> {
        let Node::Declaration(declaration) = self.node(node) else { return None };
        let (signature, callee): (&'a Signature, Callee) = match &declaration.kind {
            DeclarationKind::Function { signature, .. } => {
                let callee = if self.is_in_initializer(node) {
                    Callee::AbstractMethod(node)
                } else {
                    Callee::Function(node)
                };
                (signature, callee)
            }
            DeclarationKind::ExternFunction(signature) => (signature, Callee::ExternFunction(node)),
            _ => return None,
        };
        Some(Callable {
            callee,
            name: declaration.name.text.clone(),
            declared: declaration.name.span,
            type_parameters: &signature.type_parameters,
            parameters: &signature.parameters,
            role: ParameterRole::RunTime,
            result: self.result_type(signature),
            object: Substitution::default(),
        })
    }

    /// Whether a function belongs to the object initializer around this place.
    fn is_in_initializer(&self, node: NodeId) -> bool {
        self.this.is_some_and(|instance| match &instance.kind {
            DeclarationKind::Instance { body: Some(body), .. } => {
                body.iter().any(|member| member.id == node)
            }
            _ => false,
        })
    }

    pub(super) fn result_type(&self, signature: &Signature) -> Type {
        self.typed
            .type_refs
            .get(&signature.result.id)
            .cloned()
            .unwrap_or_else(|| self.known.unknown.clone())
    }

    /// A failed `static_assert` stops compilation (§19).
    fn check_assertion(&mut self, expression: &'a Expression, call: &'a Call) {
        let Some(check) = call.arguments.first() else { return };
        match self.constant(&check.value) {
            Some(Constant::Bool(true)) => self.set_constant(expression, Constant::Bool(true)),
            Some(Constant::Bool(false)) => {
                let message =
                    call.arguments.get(1).and_then(|message| match self.constant(&message.value) {
                        Some(Constant::String(text)) => Some(text.to_string()),
                        _ => None,
                    });
                self.error(
                    codes::ASSERTION_FAILED,
                    expression.span,
                    match message {
                        Some(message) => format!("static assertion failed: {message}"),
                        None => "static assertion failed".to_string(),
                    },
                );
            }
            _ => {
                self.report_not_constant(&check.value, "the condition of a static assertion");
            }
        }
    }

    pub(super) fn report_call_not_allowed(
        &mut self,
        expression: &'a Expression,
        what: &str,
        rule: &str,
    ) {
        let place = self.place.describe();
        self.report(
            Diagnostic::error(
                codes::CALL_NOT_ALLOWED,
                expression.span,
                format!("{what} cannot be called {place}"),
            )
            .note(rule),
        );
    }

    pub(super) fn extern_methods(&self, node: NodeId) -> &'a [Method] {
        match self.node(node) {
            Node::Declaration(declaration) => match &declaration.kind {
                DeclarationKind::ExternObject { methods, .. } => methods,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// A method of an extern object.
    pub(super) fn call_extern_method(
        &mut self,
        expression: &'a Expression,
        call: &'a Call,
        base: &'a Expression,
        (node, arguments): (NodeId, &[Type]),
        name: &'a crate::ast::Name,
    ) -> Type {
        let object = self.substitution(node, arguments);
        let methods = self.extern_methods(node);
        let candidates: Vec<Callable<'a>> = methods
            .iter()
            .filter(|method| !method.is_constructor && method.name.text == name.text)
            .map(|method| Callable {
                callee: if method.is_abstract {
                    Callee::AbstractMethod(
                        self.implementation(base, &method.name.text).unwrap_or(method.id),
                    )
                } else {
                    Callee::ExternMethod(method.id)
                },
                name: method.name.text.clone(),
                declared: method.name.span,
                type_parameters: &method.signature.type_parameters,
                parameters: &method.signature.parameters,
                role: ParameterRole::RunTime,
                result: self.result_type(&method.signature),
                object: object.clone(),
            })
            .collect();
        if candidates.is_empty() {
            self.synthesize_arguments(&call.arguments);
            let shown = self.show(&self.expression_type(base));
            let mut diagnostic = Diagnostic::error(
                codes::NO_SUCH_MEMBER,
                name.span,
                format!("`{shown}` has no method `{}`", name.text),
            )
            .label(self.span_of(node), format!("`{shown}` is declared here"));
            let nearest = nearest_name(&name.text, methods.iter().map(|method| &*method.name.text));
            if let Some(nearest) = nearest {
                diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
            }
            self.report(diagnostic);
            return self.known.unknown.clone();
        }
        let Some(callable) = self.choose_overload(expression.span, candidates, &call.arguments)
        else {
            self.synthesize_arguments(&call.arguments);
            return self.known.unknown.clone();
        };
        if let Callee::ExternMethod(method) = callable.callee {
            self.typed.definitions.insert(call.callee.id, Definition::Node(method));
            self.warn_if_deprecated(method, name.span);
            if let Node::Method(method) = self.node(method)
                && self.place == Place::TopLevel
            {
                let what = format!("method `{}`", method.name.text);
                self.report_call_not_allowed(expression, &what, "methods are called at run time");
            }
        }
        self.call_one(expression, call, callable)
    }

    /// The function by which an instance implements an abstract method.
    fn implementation(&self, base: &Expression, name: &str) -> Option<NodeId> {
        let Some(Definition::Node(node)) = self.typed.definitions.get(&base.id) else {
            return None;
        };
        let Node::Declaration(declaration) = self.node(*node) else { return None };
        let DeclarationKind::Instance { body: Some(body), .. } = &declaration.kind else {
            return None;
        };
        body.iter()
            .find(|member| {
                matches!(member.kind, DeclarationKind::Function { .. })
                    && &*member.name.text == name
            })
            .map(|member| member.id)
    }

    /// The candidate whose parameters the arguments fit (§6.8.2); reports when there is none.
    pub(super) fn choose_overload(
        &mut self,
        span: Span,
        mut candidates: Vec<Callable<'a>>,
        arguments: &'a [Argument],
    ) -> Option<Callable<'a>> {
        if candidates.len() == 1 {
            return candidates.pop();
        }
        let mut fitting: Vec<(usize, Callable<'a>)> = candidates
            .iter()
            .filter_map(|candidate| {
                let bound = bind(candidate.parameters, arguments).ok()?;
                let left_out = bound.iter().filter(|argument| argument.is_none()).count();
                Some((left_out, candidate.clone()))
            })
            .collect();
        fitting.sort_by_key(|(left_out, _)| *left_out);
        match fitting.as_slice() {
            [] => {
                let name = candidates[0].name.clone();
                let mut diagnostic = Diagnostic::error(
                    codes::NO_MATCHING_OVERLOAD,
                    span,
                    format!("no `{name}` takes {}", count(arguments.len(), "argument")),
                );
                for candidate in &candidates {
                    diagnostic = diagnostic.label(
                        candidate.declared,
                        format!("this takes {}", count(candidate.parameters.len(), "argument")),
                    );
                }
                self.report(diagnostic);
                None
            }
            [(first, _), (second, _), ..] if first == second => {
                let name = candidates[0].name.clone();
                let mut diagnostic = Diagnostic::error(
                    codes::NO_MATCHING_OVERLOAD,
                    span,
                    format!("several `{name}` fit this call"),
                )
                .help("name the arguments to tell them apart");
                for (_, candidate) in &fitting {
                    diagnostic = diagnostic.label(candidate.declared, "this one fits");
                }
                self.report(diagnostic);
                None
            }
            [(_, chosen), ..] => Some(chosen.clone()),
        }
    }

    /// Checks a call of one thing and records it.
    pub(super) fn call_one(
        &mut self,
        expression: &'a Expression,
        call: &'a Call,
        callable: Callable<'a>,
    ) -> Type {
        let written: Option<Vec<Type>> = (!call.type_arguments.is_empty()).then(|| {
            call.type_arguments.iter().map(|argument| self.resolve_type(argument)).collect()
        });
        if let Some(written) = &written
            && written.len() != callable.type_parameters.len()
        {
            self.report(
                Diagnostic::error(
                    codes::TYPE_ARGUMENT_COUNT,
                    call.callee.span,
                    format!(
                        "`{}` takes {}, but {} given",
                        callable.name,
                        count(callable.type_parameters.len(), "type argument"),
                        written.len()
                    ),
                )
                .label(callable.declared, "declared here"),
            );
            self.synthesize_arguments(&call.arguments);
            return self.known.unknown.clone();
        }
        let variables: Vec<Type> = match written {
            Some(written) => written
                .into_iter()
                .map(|ty| match &*ty {
                    TypeKind::DontCare => self.fresh_variable(),
                    _ => ty,
                })
                .collect(),
            None => callable.type_parameters.iter().map(|_| self.fresh_variable()).collect(),
        };
        let mut substitution = callable.object.clone();
        substitution.extend(Substitution::new(callable.type_parameters, &variables));
        let Some(arguments) =
            self.check_arguments(expression.span, &callable, &call.arguments, &substitution)
        else {
            return self.unknown_unless_void(&callable.result);
        };
        let mut type_arguments = Vec::with_capacity(variables.len());
        for (variable, parameter) in variables.iter().zip(callable.type_parameters) {
            let solution = self.solved(variable);
            if self.has_variables(&solution)
                && self.is_only_left_out(parameter, &callable, &arguments)
            {
                type_arguments.push(self.known.dont_care.clone());
                continue;
            }
            if self.has_variables(&solution) {
                self.report(
                    Diagnostic::error(
                        codes::CANNOT_INFER,
                        call.callee.span,
                        format!(
                            "the type argument `{}` of `{}` cannot be inferred",
                            parameter.name.text, callable.name
                        ),
                    )
                    .label(parameter.name.span, "the type parameter")
                    .help(format!("write it: `{}<...>(...)`", callable.name)),
                );
                return self.unknown_unless_void(&callable.result);
            }
            if self.is_width_missing(&solution, parameter, &callable) {
                self.report(
                    Diagnostic::error(
                        codes::CANNOT_INFER,
                        expression.span,
                        format!(
                            "an `int` has no width, and `{}` of `{}` needs one",
                            parameter.name.text, callable.name
                        ),
                    )
                    .help("give the number a width, such as `32w1`"),
                );
            }
            self.check_specialization(&solution, expression.span);
            type_arguments.push(solution);
        }
        let result = self.solved(&substitution.apply(&callable.result));
        self.check_specialization(&result, expression.span);
        self.typed.calls.insert(
            expression.id,
            CallInfo { callee: callable.callee, type_arguments, arguments, result: result.clone() },
        );
        result
    }

    /// Whether a type parameter stands only in parameters that the call leaves out.
    fn is_only_left_out(
        &self,
        type_parameter: &DeclaredName,
        callable: &Callable<'a>,
        arguments: &[Option<usize>],
    ) -> bool {
        let mentions = |ty: &Type| {
            let mut found = false;
            super::inference::map_type(ty, &mut |part| {
                found |= matches!(part, TypeKind::Variable(node) if *node == type_parameter.id);
                None
            });
            found
        };
        let mut in_left_out = false;
        for (parameter, argument) in callable.parameters.iter().zip(arguments) {
            if mentions(&self.declared_type(parameter.id)) {
                if argument.is_some() {
                    return false;
                }
                in_left_out = true;
            }
        }
        in_left_out && !mentions(&callable.result)
    }

    fn unknown_unless_void(&self, result: &Type) -> Type {
        match &**result {
            TypeKind::Void => result.clone(),
            _ => self.known.unknown.clone(),
        }
    }

    /// A run-time parameter of a bare type parameter cannot be an `int`.
    fn is_width_missing(
        &self,
        solution: &Type,
        type_parameter: &DeclaredName,
        callable: &Callable<'a>,
    ) -> bool {
        matches!(&**solution, TypeKind::Integer)
            && callable.parameters.iter().any(|parameter| {
                parameter.direction != Direction::None
                    && matches!(&*self.declared_type(parameter.id), TypeKind::Variable(node) if *node == type_parameter.id)
            })
    }

    /// Binds arguments to parameters and checks each. The result is, for each parameter, the index of
    /// its argument.
    pub(super) fn check_arguments(
        &mut self,
        span: Span,
        callable: &Callable<'a>,
        arguments: &'a [Argument],
        substitution: &Substitution,
    ) -> Option<Vec<Option<usize>>> {
        let bound = match bind(callable.parameters, arguments) {
            Ok(bound) => bound,
            Err(error) => {
                self.synthesize_arguments(arguments);
                self.report_bind_error(span, callable, arguments, error);
                return None;
            }
        };
        let generic =
            !callable.type_parameters.is_empty() || callable.role == ParameterRole::Constructor;
        let mut deferred = Vec::new();
        let mut wanted_types = Vec::with_capacity(bound.len());
        for (parameter, argument) in callable.parameters.iter().zip(&bound) {
            let wanted = substitution.apply(&self.declared_type(parameter.id));
            wanted_types.push(wanted.clone());
            let Some(argument) = argument else { continue };
            let value = &arguments[*argument].value;
            if matches!(value.kind, ExpressionKind::DontCare) {
                self.typed.expression_types.insert(value.id, self.known.dont_care.clone());
                continue;
            }
            let found = self.synthesize(value);
            if !generic || !self.has_variables(&wanted) {
                continue;
            }
            // `int` says nothing about a type parameter as long as another argument may.
            if self.is_compile_time_only(&found) || matches!(&*found, TypeKind::DontCare) {
                deferred.push((wanted, found));
            } else {
                self.unify(&wanted, &found);
            }
        }
        for (wanted, found) in deferred {
            if !matches!(&*found, TypeKind::DontCare) {
                self.unify(&wanted, &found);
            }
        }
        for ((parameter, argument), wanted) in
            callable.parameters.iter().zip(&bound).zip(&wanted_types)
        {
            let Some(argument) = argument else { continue };
            let wanted = self.solved(wanted);
            self.check_bound_argument(callable, parameter, &arguments[*argument].value, &wanted);
        }
        Some(bound)
    }

    /// Checks one typed argument against its parameter of type `wanted`.
    pub(super) fn check_bound_argument(
        &mut self,
        callable: &Callable<'a>,
        parameter: &'a Parameter,
        value: &'a Expression,
        wanted: &Type,
    ) {
        let what = format!("parameter `{}` of `{}`", parameter.name.text, callable.name);
        if matches!(value.kind, ExpressionKind::DontCare) {
            let allowed = parameter.direction == Direction::Out
                || (callable.role == ParameterRole::Constructor
                    && matches!(callable.callee, Callee::Constructor(node, _)
                        if matches!(self.node(node), Node::Declaration(declaration)
                            if matches!(declaration.kind, DeclarationKind::PackageType(_)))));
            if !allowed {
                self.error(
                    codes::MISPLACED_FORM,
                    value.span,
                    format!("{what} needs a value; `_` is for `out` parameters"),
                );
            } else if parameter.direction == Direction::Out {
                self.typed.implicit_casts.insert(value.id, wanted.clone());
            }
            return;
        }
        match parameter.direction {
            Direction::Out | Direction::InOut => {
                let found = self.expression_type(value);
                if let Err(why) = self.l_value(value) {
                    if !matches!(&*found, TypeKind::Unknown) {
                        let direction =
                            if parameter.direction == Direction::Out { "out" } else { "inout" };
                        self.report(
                            Diagnostic::error(
                                codes::ARGUMENT_NOT_L_VALUE,
                                value.span,
                                format!(
                                    "{what} is `{direction}`, so its argument must be writable"
                                ),
                            )
                            .here(why)
                            .label(parameter.span, "the parameter"),
                        );
                    }
                    return;
                }
                if found != *wanted
                    && !matches!(&*found, TypeKind::Unknown)
                    && !matches!(&**wanted, TypeKind::Unknown | TypeKind::DontCare)
                    && !(self.has_variables(wanted) && self.unify(wanted, &found))
                {
                    self.report_mismatch(value, wanted, &what);
                }
            }
            Direction::In | Direction::None => {
                let fits = self.coerce(value, wanted, &what);
                if fits && self.wants_compile_time(callable, parameter, value, wanted) {
                    self.require_compile_time(value, &what);
                }
            }
        }
    }

    /// Whether an argument has to be known at compile time. For functions and externs a parameter
    /// without direction takes run-time values as well, as p4c has it; the published architectures
    /// are written so.
    fn wants_compile_time(
        &self,
        callable: &Callable<'a>,
        parameter: &'a Parameter,
        value: &'a Expression,
        wanted: &Type,
    ) -> bool {
        if parameter.direction != Direction::None || callable.role == ParameterRole::Action {
            return false;
        }
        match callable.callee {
            Callee::Function(_)
            | Callee::ExternFunction(_)
            | Callee::ExternMethod(_)
            | Callee::AbstractMethod(_) => match &**wanted {
                TypeKind::Integer => matches!(&*self.expression_type(value), TypeKind::Integer),
                _ => self.is_compile_time_only(wanted),
            },
            _ => true,
        }
    }

    fn report_bind_error(
        &mut self,
        span: Span,
        callable: &Callable<'a>,
        arguments: &'a [Argument],
        error: BindError<'a>,
    ) {
        let name = &callable.name;
        let diagnostic = match error {
            BindError::TooMany(argument) => Diagnostic::error(
                codes::ARGUMENT_COUNT,
                argument.value.span,
                format!(
                    "`{name}` takes {}, but {} given",
                    count(callable.parameters.len(), "argument"),
                    if arguments.len() == 1 {
                        "1 is".to_string()
                    } else {
                        format!("{} are", arguments.len())
                    }
                ),
            )
            .label(callable.declared, "declared here"),
            BindError::Missing(parameter) => Diagnostic::error(
                codes::ARGUMENT_COUNT,
                span,
                format!("the argument for `{}` of `{name}` is missing", parameter.name.text),
            )
            .label(parameter.span, "the parameter"),
            BindError::UnknownName(argument) => {
                let given = argument.name.as_ref();
                let text = given.map_or("", |name| &name.text);
                let mut diagnostic = Diagnostic::error(
                    codes::ARGUMENT_NAMES,
                    given.map_or(span, |name| name.span),
                    format!("`{name}` has no parameter `{text}`"),
                )
                .label(callable.declared, "declared here");
                let names = callable.parameters.iter().map(|parameter| &*parameter.name.text);
                if let Some(nearest) = nearest_name(text, names) {
                    diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
                }
                diagnostic
            }
            BindError::NamedTwice(argument) => Diagnostic::error(
                codes::ARGUMENT_NAMES,
                argument.name.as_ref().map_or(span, |name| name.span),
                "this argument is given twice".to_string(),
            ),
            BindError::Mixed(argument) => Diagnostic::error(
                codes::ARGUMENT_NAMES,
                argument.value.span,
                "either all arguments are named or none is".to_string(),
            ),
        };
        self.report(diagnostic);
    }

    /// Warns about the use of something marked `@deprecated` (§20.3).
    pub(super) fn warn_if_deprecated(&mut self, node: NodeId, span: Span) {
        let annotations = match self.node(node) {
            Node::Declaration(declaration) => &declaration.annotations,
            Node::Method(method) => &method.annotations,
            _ => return,
        };
        let Some(annotation) =
            annotations.iter().find(|annotation| &*annotation.name.text == "deprecated")
        else {
            return;
        };
        let reason = super::annotations::string_body(annotation);
        let name = self.name_of(node).to_string();
        let mut diagnostic =
            Diagnostic::warning(codes::DEPRECATED, span, format!("`{name}` is deprecated"))
                .label(self.span_of(node), "declared here");
        if let Some(reason) = reason {
            diagnostic = diagnostic.note(reason);
        }
        self.report(diagnostic);
    }
}

/// For each parameter the index of its argument; `None` when it is left out, which default values and
/// `@optional` allow.
fn bind<'a>(
    parameters: &'a [Parameter],
    arguments: &'a [Argument],
) -> Result<Vec<Option<usize>>, BindError<'a>> {
    let mut bound = vec![None; parameters.len()];
    let named = arguments.iter().any(|argument| argument.name.is_some());
    for (index, argument) in arguments.iter().enumerate() {
        let position = match &argument.name {
            Some(name) => parameters
                .iter()
                .position(|parameter| parameter.name.text == name.text)
                .ok_or(BindError::UnknownName(argument))?,
            None if named => return Err(BindError::Mixed(argument)),
            None if index < parameters.len() => index,
            None => return Err(BindError::TooMany(argument)),
        };
        if bound[position].is_some() {
            return Err(BindError::NamedTwice(argument));
        }
        bound[position] = Some(index);
    }
    for (parameter, argument) in parameters.iter().zip(&bound) {
        if argument.is_none() && parameter.default.is_none() && !is_optional(parameter) {
            return Err(BindError::Missing(parameter));
        }
    }
    Ok(bound)
}
