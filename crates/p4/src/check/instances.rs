// SPDX-License-Identifier: Apache-2.0
//! Constructors and instances: constructor calls, instance declarations, object initializers with
//! abstract methods, and what may be instantiated where (P4_16 v1.2.5 §7.2.11.2.1,
//! §7.2.14, §8.23, §11.3, §11.3.1, §11.3.2).

use super::arguments::Callable;
use super::inference::Substitution;
use super::type_names::count;
use super::{Checker, Node, ParameterRole, SyntacticContext};
use crate::ast::{
    Argument, Call, Declaration, DeclarationKind, Expression, ExpressionKind, Method, NodeId,
    TypeRef,
};
use crate::codes::typing as codes;
use crate::typed::{CallInfo, Callee, Definition, Type, TypeKind};
use source::{Diagnostic, Span};
use std::sync::Arc;

impl<'a> Checker<'a> {
    /// `Type(...)` in an expression.
    pub(super) fn call_constructor(&mut self, expression: &'a Expression, call: &'a Call) -> Type {
        let Some(mut ty) = self.type_expression(&call.callee) else {
            return self.known.unknown.clone();
        };
        if !call.type_arguments.is_empty() {
            let arguments: Vec<Type> =
                call.type_arguments.iter().map(|argument| self.resolve_type(argument)).collect();
            if let Some(node) = constructed_node(&ty) {
                ty = self.type_of_node(node, Some(arguments), call.callee.span, true);
            }
        }
        if !matches!(
            self.context,
            SyntacticContext::ConstructorArguments
                | SyntacticContext::Table
                | SyntacticContext::TopLevel
        ) && !matches!(&*ty, TypeKind::Unknown)
        {
            let shown = self.show(&ty);
            self.synthesize_arguments(&call.arguments);
            let mut diagnostic = Diagnostic::error(
                codes::CANNOT_INSTANTIATE,
                expression.span,
                format!("`{shown}` cannot be instantiated {}", self.context.describe()),
            );
            if matches!(
                &*ty,
                TypeKind::Struct(..) | TypeKind::Header(..) | TypeKind::Bit(_) | TypeKind::Int(_)
            ) {
                diagnostic = diagnostic.help("a value of this type is written `(Type) {...}`");
            } else {
                diagnostic = diagnostic.help("declare an instance: `Type(arguments) name;`");
            }
            self.report(diagnostic);
            return self.known.unknown.clone();
        }
        if let TypeKind::Extern(node, _) = &*ty
            && let Some(method) =
                self.extern_methods(*node).iter().find(|method| method.is_abstract)
        {
            let shown = self.show(&ty);
            self.report(
                Diagnostic::error(
                    codes::ABSTRACT_METHOD,
                    expression.span,
                    format!("`{shown}` has abstract methods, so it has to be declared"),
                )
                .label(method.name.span, "an abstract method")
                .help("declare it: `Type(...) name = { ... };`, and pass `name`"),
            );
        }
        let ty = self.construct(expression.id, expression.span, &ty, &call.arguments);
        self.refer_to_overload(expression.id, call.callee.id);
        if let ExpressionKind::Type(written) = &call.callee.kind {
            self.refer_to_overload(expression.id, written.id);
        }
        self.typed.expression_types.insert(call.callee.id, ty.clone());
        ty
    }

    /// Checks constructor arguments, infers type arguments that are missing, records the call, and
    /// returns the instance's type.
    fn construct(&mut self, id: NodeId, span: Span, ty: &Type, arguments: &'a [Argument]) -> Type {
        let outcome = self.in_context(SyntacticContext::ConstructorArguments, |checker| {
            checker.construct_here(id, span, ty, arguments)
        });
        outcome.unwrap_or_else(|| self.known.unknown.clone())
    }

    fn construct_here(
        &mut self,
        id: NodeId,
        span: Span,
        ty: &Type,
        arguments: &'a [Argument],
    ) -> Option<Type> {
        if let TypeKind::Stack(element, size) = &**ty
            && matches!(&**element, TypeKind::Extern(..))
        {
            let element = self.construct_here(id, span, element, arguments)?;
            return Some(Arc::new(TypeKind::Stack(element, *size)));
        }
        let Some(node) = constructed_node(ty) else {
            self.synthesize_arguments(arguments);
            if !matches!(&**ty, TypeKind::Unknown) {
                let shown = self.show(ty);
                self.error(
                    codes::CANNOT_INSTANTIATE,
                    span,
                    format!("type `{shown}` has no instances"),
                );
            }
            return None;
        };
        let Node::Declaration(declaration) = self.node(node) else { return None };
        if let Some(others) = self.overloads.get(&node).cloned() {
            let other = self.overloaded_block(node, &others, arguments);
            if other != node {
                let ty = self.type_of_node(other, None, span, true);
                return self.construct_here(id, span, &ty, arguments);
            }
        }
        let written = match &**ty {
            TypeKind::Extern(_, arguments)
            | TypeKind::Parser(_, arguments)
            | TypeKind::Control(_, arguments)
            | TypeKind::Package(_, arguments) => arguments.clone(),
            _ => Vec::new(),
        };
        let all_left_out =
            !written.is_empty() && written.iter().all(|ty| matches!(&**ty, TypeKind::DontCare));
        let variables: Vec<Type> = written
            .into_iter()
            .map(|ty| match &*ty {
                TypeKind::DontCare => self.fresh_variable(),
                _ => ty,
            })
            .collect();
        if let TypeKind::Extern(..) = &**ty
            && let Some(bad) = variables.iter().find(|argument| {
                matches!(
                    &***argument,
                    TypeKind::Parser(..) | TypeKind::Control(..) | TypeKind::Package(..)
                )
            })
        {
            let shown = self.show(bad);
            self.error(
                codes::INVALID_VALUE_TYPE,
                span,
                format!("`{shown}` cannot be a type argument of an extern object"),
            );
        }
        let object = self.substitution(node, &variables);
        let callable = |parameters, method: Option<&'a Method>| Callable {
            callee: Callee::Constructor(node, method.map(|method| method.id)),
            name: declaration.name.text.clone(),
            declared: method.map_or(declaration.name.span, |method| method.name.span),
            type_parameters: &[],
            parameters,
            role: ParameterRole::Constructor,
            result: ty.clone(),
            object: object.clone(),
        };
        let candidates: Vec<Callable<'a>> = match &declaration.kind {
            DeclarationKind::ExternObject { methods, .. } => methods
                .iter()
                .filter(|method| method.is_constructor)
                .map(|method| callable(&method.signature.parameters, Some(method)))
                .collect(),
            DeclarationKind::Parser(parser) => {
                vec![callable(&parser.constructor_parameters, None)]
            }
            DeclarationKind::Control(control) => {
                vec![callable(&control.constructor_parameters, None)]
            }
            DeclarationKind::PackageType(package) => vec![callable(&package.parameters, None)],
            _ => Vec::new(),
        };
        if candidates.is_empty() {
            self.synthesize_arguments(arguments);
            let name = declaration.name.text.clone();
            let mut diagnostic = Diagnostic::error(
                codes::CANNOT_INSTANTIATE,
                span,
                format!("`{name}` has no constructor"),
            )
            .label(declaration.name.span, "declared here");
            if matches!(
                declaration.kind,
                DeclarationKind::ParserType(_) | DeclarationKind::ControlType(_)
            ) {
                diagnostic = diagnostic.note("this is only a type of parsers or controls");
            }
            self.report(diagnostic);
            return None;
        }
        let Some(chosen) = self.choose_overload(span, candidates, arguments) else {
            self.synthesize_arguments(arguments);
            return None;
        };
        let bound = self.check_arguments(span, &chosen, arguments, &object);
        let mut type_arguments = Vec::with_capacity(variables.len());
        for (index, variable) in variables.iter().enumerate() {
            let solution = self.solved(variable);
            if !self.has_variables(&solution) {
                type_arguments.push(solution);
                continue;
            }
            if all_left_out && bound.is_some() && matches!(&**ty, TypeKind::Extern(..)) {
                let parameters = self.type_parameters.get(&node).copied().unwrap_or(&[]);
                let parameter =
                    parameters.get(index).map_or("_", |one| &*one.name.text).to_string();
                self.report(
                    Diagnostic::error(
                        codes::CANNOT_INFER,
                        span,
                        format!(
                            "the type argument `{parameter}` of `{}` cannot be inferred",
                            chosen.name
                        ),
                    )
                    .help(format!("write it: `{}<...>(...)`", chosen.name)),
                );
                return None;
            }
            type_arguments.push(self.known.dont_care.clone());
        }
        let result: Type = Arc::new(match &**ty {
            TypeKind::Extern(node, _) => TypeKind::Extern(*node, type_arguments.clone()),
            TypeKind::Parser(node, _) => TypeKind::Parser(*node, type_arguments.clone()),
            TypeKind::Control(node, _) => TypeKind::Control(*node, type_arguments.clone()),
            _ => TypeKind::Package(node, type_arguments.clone()),
        });
        if let Some(bound) = bound {
            self.typed.calls.insert(
                id,
                CallInfo {
                    callee: chosen.callee,
                    type_arguments,
                    arguments: bound,
                    result: result.clone(),
                },
            );
        }
        Some(result)
    }

    /// A reference to the first of overloaded parsers or controls refers to the one that is constructed.
    fn refer_to_overload(&mut self, call: NodeId, reference: NodeId) {
        let Some(CallInfo { callee: Callee::Constructor(node, _), .. }) =
            self.typed.calls.get(&call)
        else {
            return;
        };
        if let Some(Definition::Node(first)) = self.typed.definitions.get_mut(&reference)
            && self.overloads.get(first).is_some_and(|others| others.contains(node))
        {
            *first = *node;
        }
    }

    /// Returns the parser or control among overloaded ones whose constructor takes the arguments.
    fn overloaded_block(
        &self,
        first: NodeId,
        others: &[NodeId],
        arguments: &'a [Argument],
    ) -> NodeId {
        std::iter::once(&first)
            .chain(others)
            .copied()
            .find(|node| match self.node(*node) {
                Node::Declaration(declaration) => match &declaration.kind {
                    DeclarationKind::Parser(parser) => {
                        super::arguments::fits(&parser.constructor_parameters, arguments)
                    }
                    DeclarationKind::Control(control) => {
                        super::arguments::fits(&control.constructor_parameters, arguments)
                    }
                    _ => false,
                },
                _ => false,
            })
            .unwrap_or(first)
    }

    /// `Type(arguments) name = { body };`
    pub(super) fn check_instance(
        &mut self,
        declaration: &'a Declaration,
        written: &'a TypeRef,
        arguments: &'a [Argument],
        body: Option<&'a [Declaration]>,
    ) {
        let ty = self.resolve_constructed_type(written);
        let may_stand_here = match (&*ty, self.context) {
            (TypeKind::Unknown, _) => true,
            (TypeKind::Extern(..) | TypeKind::Stack(..), place) => matches!(
                place,
                SyntacticContext::TopLevel
                    | SyntacticContext::ParserLocals
                    | SyntacticContext::ControlLocals
                    | SyntacticContext::ConstructorArguments
            ),
            (TypeKind::Package(..), place) => place == SyntacticContext::TopLevel,
            (TypeKind::Parser(..), place) => place == SyntacticContext::ParserLocals,
            (TypeKind::Control(..), place) => place == SyntacticContext::ControlLocals,
            _ => true,
        };
        if !may_stand_here {
            let shown = self.show(&ty);
            self.error(
                codes::CANNOT_INSTANTIATE,
                declaration.span,
                format!("`{shown}` cannot be instantiated {}", self.context.describe()),
            );
            self.in_context(SyntacticContext::ConstructorArguments, |checker| {
                checker.synthesize_arguments(arguments);
            });
            self.typed.declared_types.insert(declaration.id, ty);
            self.declare(declaration.id, Node::Declaration(declaration));
            return;
        }
        if let Some(node) = constructed_node(&ty) {
            self.warn_if_deprecated(node, written.span);
        }
        let ty = self.construct(declaration.id, declaration.span, &ty, arguments);
        self.refer_to_overload(declaration.id, written.id);
        self.typed.type_refs.insert(written.id, ty.clone());
        self.typed.declared_types.insert(declaration.id, ty.clone());
        self.set_node(declaration.id, Node::Declaration(declaration));
        self.check_initializer(declaration, &ty, body);
        self.declare(declaration.id, Node::Declaration(declaration));
        if self.context == SyntacticContext::TopLevel && &*declaration.name.text == "main" {
            match &*ty {
                TypeKind::Package(..) => self.typed.main = Some(declaration.id),
                TypeKind::Unknown => {}
                _ => {
                    let shown = self.show(&ty);
                    self.error(
                        codes::MAIN_NOT_PACKAGE,
                        declaration.name.span,
                        format!("`main` is a `{shown}`, but it has to be a package"),
                    );
                }
            }
        }
    }

    /// The functions and instances of an object initializer, against the abstract methods.
    fn check_initializer(
        &mut self,
        declaration: &'a Declaration,
        ty: &Type,
        body: Option<&'a [Declaration]>,
    ) {
        let TypeKind::Extern(node, type_arguments) = &**ty else {
            if body.is_some() && !matches!(&**ty, TypeKind::Unknown) {
                let shown = self.show(ty);
                self.error(
                    codes::ABSTRACT_METHOD,
                    declaration.span,
                    format!("`{shown}` is no extern object, so it takes no initializer"),
                );
            }
            return;
        };
        let methods = self.extern_methods(*node);
        let object = self.substitution(*node, type_arguments);
        let body = body.unwrap_or(&[]);
        let outer_this = self.this.replace(declaration);
        self.in_scope(|checker| {
            for member in body {
                checker.check_initializer_member(member, methods, &object, *node);
            }
        });
        self.this = outer_this;
        let required = methods.iter().filter(|method| {
            method.is_abstract
                && !method.annotations.iter().any(|annotation| &*annotation.name.text == "optional")
        });
        for method in required {
            let implemented = body.iter().any(|member| {
                member.name.text == method.name.text
                    && matches!(member.kind, DeclarationKind::Function { .. })
            });
            if !implemented {
                self.report(
                    Diagnostic::error(
                        codes::ABSTRACT_METHOD,
                        declaration.span,
                        format!(
                            "`{}` does not implement the abstract method `{}`",
                            declaration.name.text, method.name.text
                        ),
                    )
                    .label(method.name.span, "the abstract method")
                    .help("implement it: `Type(...) name = { ... };`"),
                );
            }
        }
    }

    fn check_initializer_member(
        &mut self,
        member: &'a Declaration,
        methods: &'a [Method],
        object: &Substitution,
        node: NodeId,
    ) {
        match &member.kind {
            DeclarationKind::Function { signature, body } => {
                self.check_function(member, signature, body);
                let named: Vec<&'a Method> = methods
                    .iter()
                    .filter(|method| method.is_abstract && method.name.text == member.name.text)
                    .collect();
                let fitting = named
                    .iter()
                    .find(|method| {
                        let given = signature.parameters.len();
                        let all = &method.signature.parameters;
                        given <= all.len()
                            && all.iter().skip(given).all(super::inference::is_optional)
                    })
                    .copied();
                let Some(method) = fitting else {
                    let mut diagnostic = Diagnostic::error(
                        codes::ABSTRACT_METHOD,
                        member.name.span,
                        format!(
                            "`{}` implements no abstract method of `{}`",
                            member.name.text,
                            self.name_of(node)
                        ),
                    );
                    if let Some(method) = named.first() {
                        diagnostic = diagnostic.label(
                            method.name.span,
                            format!(
                                "this takes {}",
                                count(method.signature.parameters.len(), "parameter")
                            ),
                        );
                    }
                    self.report(diagnostic);
                    return;
                };
                self.check_implementation(member, signature, method, object);
            }
            DeclarationKind::Instance { ty, arguments, body } => {
                self.in_context(SyntacticContext::ConstructorArguments, |checker| {
                    checker.check_instance(member, ty, arguments, body.as_deref());
                });
            }
            _ => self.check_local_declaration(member),
        }
    }

    fn check_implementation(
        &mut self,
        member: &'a Declaration,
        signature: &'a crate::ast::Signature,
        method: &'a Method,
        object: &Substitution,
    ) {
        let wanted_result = object.apply(&self.result_type(&method.signature));
        let mut fits = wanted_result == self.result_type(signature)
            && signature.type_parameters.len() == method.signature.type_parameters.len();
        for (wanted, found) in method.signature.parameters.iter().zip(&signature.parameters) {
            fits &= wanted.direction == found.direction
                && object.apply(&self.declared_type(wanted.id)) == self.declared_type(found.id);
        }
        if !fits {
            self.report(
                Diagnostic::error(
                    codes::ABSTRACT_METHOD,
                    member.name.span,
                    format!(
                        "`{}` has other types than the abstract method it implements",
                        member.name.text
                    ),
                )
                .label(method.name.span, "the abstract method"),
            );
        }
    }
}

/// Returns the declaration whose constructor makes values of the type.
fn constructed_node(ty: &Type) -> Option<NodeId> {
    match &**ty {
        TypeKind::Extern(node, _)
        | TypeKind::Parser(node, _)
        | TypeKind::Control(node, _)
        | TypeKind::Package(node, _) => Some(*node),
        _ => None,
    }
}
