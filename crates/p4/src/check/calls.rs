// SPDX-License-Identifier: Apache-2.0
//! Calls: name resolution of the callee, where it may be called, overloads, and the types of arguments and
//! type arguments (P4_16 v1.2.5 §6.8, §8.22, §14.1.1, §F). Built-in methods are in
//! `methods`; constructors in `instances`.

use super::arguments::{Callable, bind};
use super::inference::Substitution;
use super::type_names::count;
use super::{Checker, Node, ParameterRole, SyntacticContext};
use crate::ast::{
    Argument, Call, DeclarationKind, Expression, ExpressionKind, Method, NodeId, Path, Signature,
};
use crate::codes::typing as codes;
use crate::typed::{CallInfo, Callee, Constant, Definition, Type, TypeKind};
use source::{Diagnostic, Span};
use std::sync::Arc;

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
                        let place = match self.context {
                            SyntacticContext::TopLevel => SyntacticContext::TopLevel,
                            _ => SyntacticContext::ConstructorArguments,
                        };
                        self.in_context(place, |checker| checker.synthesize(base))
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
            if !matches!(self.context, SyntacticContext::ControlApply | SyntacticContext::Action) {
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
            && self.context != SyntacticContext::ParserState
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
                self.set_constant(expression, Constant::Bool(false));
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
        let place = self.context.describe();
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
            let nearest =
                source::nearest(&name.text, methods.iter().map(|method| &*method.name.text));
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
                && self.context == SyntacticContext::TopLevel
            {
                let what = format!("method `{}`", method.name.text);
                self.report_call_not_allowed(expression, &what, "methods are called at run time");
            }
        }
        let name = callable.name.clone();
        let result = self.call_one(expression, call, callable);
        let object_name = self.name_of(node);
        if matches!(object_name, "packet_in" | "packet_out")
            && let Some(type_argument) = self
                .typed
                .calls
                .get(&expression.id)
                .and_then(|call| call.type_arguments.first().cloned())
        {
            let object_name = object_name.to_string();
            self.check_packet_method(&object_name, &name, expression, call, &type_argument);
        }
        result
    }

    /// Returns the function by which an instance implements an abstract method.
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

    /// The candidate whose parameters the arguments fit (§8.22); reports when there is none.
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

    /// Checks a call of a resolved callee and records it.
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
            return self.known.unknown.clone();
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
                // The wrong argument is already reported.
                let follows = call.arguments.iter().any(|argument| {
                    matches!(&*self.expression_type(&argument.value), TypeKind::Unknown)
                });
                if follows {
                    return self.unknown_unless_void(&callable.result);
                }
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
                let given = callable.parameters.iter().zip(&arguments).find_map(|(given, at)| {
                    let named = matches!(&*self.declared_type(given.id),
                        TypeKind::Variable(node) if *node == parameter.id);
                    let argument = call.arguments.get((*at)?)?;
                    named.then_some((argument.value.span, &given.name.text))
                });
                let (span, what) = match given {
                    Some((span, name)) => (span, format!("parameter `{name}` of")),
                    None => (expression.span, format!("`{}` of", parameter.name.text)),
                };
                self.report(
                    Diagnostic::error(
                        codes::CANNOT_INFER,
                        span,
                        format!(
                            "{what} `{}` cannot be `{}`, which exists at compile time only",
                            callable.name,
                            self.show(&solution)
                        ),
                    )
                    .help(match &*solution {
                        TypeKind::Integer => "give the number a width, such as `32w1`",
                        _ => "pass it to a parameter without direction",
                    }),
                );
            }
            self.check_specialization(&solution, expression.span);
            if !self.is_value_type(&solution)
                && !matches!(&*solution, TypeKind::Extern(..) | TypeKind::Void | TypeKind::DontCare)
            {
                let shown = self.show(&solution);
                self.report(
                    Diagnostic::error(
                        codes::INVALID_VALUE_TYPE,
                        expression.span,
                        format!("`{}` cannot be called with a `{shown}`", callable.name),
                    )
                    .label(parameter.name.span, "the type parameter"),
                );
            }
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

    fn unknown_unless_void(&self, result: &Type) -> Type {
        match &**result {
            TypeKind::Void => result.clone(),
            _ => self.known.unknown.clone(),
        }
    }

    /// Warns about the use of something marked `@deprecated` (§20.3.8).
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
