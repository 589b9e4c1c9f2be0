// SPDX-License-Identifier: Apache-2.0
//! Declarations of types, constants, variables, functions and externs, at the top level and inside of
//! blocks (P4_16 v1.2.5 §7.2.2, §7.2.5, §7.2.6, §7.2.11.1, §7.2.11.2, §7.5, §7.6, §10, §11.1, §11.2).
//! Parsers, controls, tables and instances have their own files.

use super::nesting::{Container, Extent};
use super::parameters::ParameterOwner;
use super::{Checker, FieldType, Node, SyntacticContext};
use crate::ast::{
    Block, BlockType, Declaration, DeclarationKind, DeclaredName, Expression, FieldList, Method,
    Signature, TypeRef, TypedefTarget,
};
use crate::codes::typing as codes;
use crate::typed::{Type, TypeKind};
use source::Diagnostic;
use std::rc::Rc;
use std::sync::Arc;

impl<'a> Checker<'a> {
    pub(super) fn check_program(&mut self) {
        let program = self.program;
        for declaration in &program.declarations {
            self.check_top_level(declaration);
        }
        self.settle_tables();
        self.check_control_plane_names();
        if !self.diagnostics.has_errors() {
            self.warn_unused();
            self.warn_without_main();
        }
        if let Some(position) = self.typed.errors.iter().position(|name| &**name == "NoError") {
            self.typed.errors[..=position].rotate_right(1);
        }
    }

    /// Warns about parsers and controls for an architecture in a program without `main` (§18.2).
    fn warn_without_main(&mut self) {
        let declarations = &self.program.declarations;
        let declares = |wanted: fn(&DeclarationKind) -> bool| {
            declarations.iter().rfind(|declaration| wanted(&declaration.kind))
        };
        let has_packages = declares(|kind| matches!(kind, DeclarationKind::PackageType(_)));
        let block = declares(|kind| {
            matches!(kind, DeclarationKind::Parser(_) | DeclarationKind::Control(_))
        });
        let (None, Some(_), Some(block)) = (self.typed.main, has_packages, block) else { return };
        let package = declarations.iter().find(|declaration| {
            matches!(declaration.kind, DeclarationKind::Instance { .. })
                && matches!(&*self.declared_type(declaration.id), TypeKind::Package(..))
        });
        let diagnostic = match package {
            Some(package) => Diagnostic::warning(
                codes::MISSING_MAIN,
                package.name.span,
                format!("the package is called `{}`; only `main` is run", package.name.text),
            )
            .help("call it `main`"),
            None => Diagnostic::warning(
                codes::MISSING_MAIN,
                block.name.span,
                "the program has no `main`, so nothing is run",
            )
            .note("a package instance called `main` says which parsers and controls are used"),
        };
        self.report(diagnostic);
    }

    fn check_top_level(&mut self, declaration: &'a Declaration) {
        if &*declaration.name.text == "main"
            && !matches!(
                declaration.kind,
                DeclarationKind::Instance { .. } | DeclarationKind::Function { .. }
            )
        {
            self.report(
                Diagnostic::error(
                    codes::MAIN_NOT_PACKAGE,
                    declaration.name.span,
                    "`main` is not a package",
                )
                .note("the name `main` is for the package instance that is the whole program"),
            );
        }
        self.check_annotations(&declaration.annotations);
        match &declaration.kind {
            DeclarationKind::Variable { ty, initializer } => {
                self.report(
                    Diagnostic::error(
                        codes::MISPLACED_DECLARATION,
                        declaration.span,
                        format!(
                            "variable `{}` cannot stand at the top level",
                            declaration.name.text
                        ),
                    )
                    .help("make it a `const`, or declare it in a parser or control"),
                );
                self.check_variable(declaration, ty, initializer.as_ref());
            }
            DeclarationKind::Table(_) => {
                self.error(
                    codes::MISPLACED_DECLARATION,
                    declaration.span,
                    format!("table `{}` can only stand in a control", declaration.name.text),
                );
            }
            _ => self.check_declaration(declaration),
        }
    }

    /// A declaration of a parser, control or object initializer.
    pub(super) fn check_local_declaration(&mut self, declaration: &'a Declaration) {
        self.check_annotations(&declaration.annotations);
        let allowed = match &declaration.kind {
            DeclarationKind::Constant { .. }
            | DeclarationKind::Variable { .. }
            | DeclarationKind::Instance { .. }
            | DeclarationKind::Extension(_)
            | DeclarationKind::Invalid => true,
            DeclarationKind::Action { .. } | DeclarationKind::Table(_) => {
                self.context == SyntacticContext::ControlLocals
            }
            DeclarationKind::ValueSet { .. } => self.context == SyntacticContext::ParserLocals,
            _ => false,
        };
        if !allowed {
            self.error(
                codes::MISPLACED_DECLARATION,
                declaration.span,
                format!(
                    "`{}` cannot be declared {}",
                    declaration.name.text,
                    self.context.describe()
                ),
            );
        }
        self.check_declaration(declaration);
    }

    fn check_declaration(&mut self, declaration: &'a Declaration) {
        match &declaration.kind {
            DeclarationKind::Constant { ty, value } => self.check_constant(declaration, ty, value),
            DeclarationKind::Variable { ty, initializer } => {
                self.check_variable(declaration, ty, initializer.as_ref());
            }
            DeclarationKind::Instance { ty, arguments, body } => {
                self.check_instance(declaration, ty, arguments, body.as_deref());
            }
            DeclarationKind::Action { parameters, body } => {
                self.check_action(declaration, parameters, body);
            }
            DeclarationKind::Function { signature, body } => {
                self.check_function(declaration, signature, body);
            }
            DeclarationKind::ExternFunction(signature) => {
                self.in_scope(|checker| {
                    checker.check_signature(declaration.id, signature, ParameterOwner::Extern);
                });
                self.declare(declaration.id, Node::Declaration(declaration));
            }
            DeclarationKind::ExternObject { type_parameters, methods } => {
                self.check_extern_object(declaration, type_parameters, methods);
            }
            DeclarationKind::Parser(parser) => self.check_parser(declaration, parser),
            DeclarationKind::Control(control) => self.check_control(declaration, control),
            DeclarationKind::ParserType(block) => {
                self.check_block_type(declaration, block, ParameterOwner::Parser);
            }
            DeclarationKind::ControlType(block) => {
                self.check_block_type(declaration, block, ParameterOwner::Control);
            }
            DeclarationKind::PackageType(block) => {
                self.check_block_type(declaration, block, ParameterOwner::Package);
            }
            DeclarationKind::Header(fields) => {
                self.check_fields(declaration, fields, Container::Header);
            }
            DeclarationKind::HeaderUnion(fields) => {
                self.check_fields(declaration, fields, Container::HeaderUnion);
            }
            DeclarationKind::Struct(fields) => {
                self.check_fields(declaration, fields, Container::Struct);
            }
            DeclarationKind::Enum { underlying, members } => {
                self.check_enum(declaration, underlying.as_ref(), members);
            }
            DeclarationKind::Error(names) => self.declare_errors(names),
            DeclarationKind::MatchKind(names) => self.declare_match_kinds(names),
            DeclarationKind::Typedef(target) => self.check_typedef(declaration, target),
            DeclarationKind::NewType(written) => self.check_new_type(declaration, written),
            DeclarationKind::Table(table) => self.check_table(declaration, table),
            DeclarationKind::ValueSet { element, size } => {
                let ty = self.resolve_type(element);
                if self.require_value_type(&ty, element.span, "the element of a value set")
                    && (self.is_compile_time_only(&ty)
                        || matches!(
                            &*ty,
                            TypeKind::Header(..) | TypeKind::HeaderUnion(..) | TypeKind::Stack(..)
                        ))
                {
                    let shown = self.show(&ty);
                    self.error(
                        codes::INVALID_VALUE_TYPE,
                        element.span,
                        format!("the element of a value set cannot have type `{shown}`"),
                    );
                }
                self.constant_size(size, "the size of a value set");
                self.typed.declared_types.insert(declaration.id, Arc::new(TypeKind::Set(ty)));
                self.declare(declaration.id, Node::Declaration(declaration));
            }
            DeclarationKind::Extension(extension) => {
                self.check_extension(declaration.span, extension);
            }
            DeclarationKind::Invalid => {}
        }
    }

    /// A size that must be a constant; constructor parameters count as such.
    pub(super) fn constant_size(
        &mut self,
        size: &'a Expression,
        what: &str,
    ) -> Option<num_bigint::BigInt> {
        let ty = self.synthesize(size);
        let ty = self.enum_to_underlying(size, &ty);
        match &*ty {
            TypeKind::Unknown => None,
            TypeKind::Integer | TypeKind::Bit(_) | TypeKind::Int(_) => {
                self.require_compile_time(size, what);
                self.integer_value(size)
            }
            _ => {
                let shown = self.show(&ty);
                self.error(
                    codes::TYPE_MISMATCH,
                    size.span,
                    format!("{what} is an integer, not a value of type `{shown}`"),
                );
                None
            }
        }
    }

    fn check_constant(
        &mut self,
        declaration: &'a Declaration,
        written: &'a TypeRef,
        value: &'a Expression,
    ) {
        let ty = self.resolve_type(written);
        self.require_value_type(&ty, written.span, "a constant");
        let what = format!("constant `{}`", declaration.name.text);
        if self.check_against(value, &ty, &what) && self.require_compile_time(value, &what) {
            if let Some(constant) = self.constant(value).cloned() {
                self.values.insert(declaration.id, constant.clone());
                self.typed.constants.insert(declaration.id, constant);
            } else if self.mentions_constructor_parameter(value) {
                // §11.1: a local compile-time known value, the same in all instances.
                self.report_not_constant(value, &what);
            }
        }
        self.typed.declared_types.insert(declaration.id, ty);
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_variable(
        &mut self,
        declaration: &'a Declaration,
        written: &'a TypeRef,
        initializer: Option<&'a Expression>,
    ) {
        let ty = self.resolve_type(written);
        if self.require_value_type(&ty, written.span, "a variable")
            && matches!(
                &*ty,
                TypeKind::Integer | TypeKind::String | TypeKind::MatchKind | TypeKind::List(_)
            )
        {
            let shown = self.show(&ty);
            let mut diagnostic = Diagnostic::error(
                codes::INVALID_VALUE_TYPE,
                written.span,
                format!("a variable cannot have type `{shown}`"),
            )
            .note("values of this type exist at compile time only");
            if matches!(&*ty, TypeKind::Integer) {
                diagnostic =
                    diagnostic.help("give it a width, such as `bit<32>`, or make it a `const`");
            }
            self.report(diagnostic);
        }
        if let Some(initializer) = initializer {
            let what = format!("variable `{}`", declaration.name.text);
            self.check_against(initializer, &ty, &what);
        }
        self.typed.declared_types.insert(declaration.id, ty);
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_signature(
        &mut self,
        owner: crate::ast::NodeId,
        signature: &'a Signature,
        parameters: ParameterOwner,
    ) -> Type {
        self.declare_type_parameters(owner, &signature.type_parameters);
        let result = self.resolve_type(&signature.result);
        let makes_extern =
            parameters == ParameterOwner::Extern && matches!(&*result, TypeKind::Extern(..));
        if matches!(&*result, TypeKind::Integer | TypeKind::String | TypeKind::MatchKind) {
            let shown = self.show(&result);
            self.error(
                codes::INVALID_VALUE_TYPE,
                signature.result.span,
                format!("a result cannot have type `{shown}`, which exists at compile time only"),
            );
        } else if !matches!(&*result, TypeKind::Void) && !makes_extern {
            self.require_value_type(&result, signature.result.span, "a result");
        }
        self.declare_parameters(&signature.parameters, parameters);
        result
    }

    pub(super) fn check_function(
        &mut self,
        declaration: &'a Declaration,
        signature: &'a Signature,
        body: &'a Block,
    ) {
        self.set_node(declaration.id, Node::Declaration(declaration));
        self.open_declarations.push(declaration);
        self.in_scope(|checker| {
            let result =
                checker.check_signature(declaration.id, signature, ParameterOwner::Function);
            let returns_value = !matches!(&*result, TypeKind::Void | TypeKind::Unknown);
            let outer_result = checker.result.replace(result);
            let outer_loops = std::mem::take(&mut checker.loop_depth);
            checker.in_context(SyntacticContext::Function, |checker| checker.check_block(body));
            checker.result = outer_result;
            checker.loop_depth = outer_loops;
            if returns_value && !super::statements::always_leaves(&body.statements) {
                checker.report(
                    Diagnostic::error(
                        codes::INVALID_RETURN,
                        declaration.name.span,
                        format!("function `{}` can end without `return`", declaration.name.text),
                    )
                    .label(signature.result.span, "it has to return a value"),
                );
            }
        });
        self.open_declarations.pop();
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_extern_object(
        &mut self,
        declaration: &'a Declaration,
        type_parameters: &'a [DeclaredName],
        methods: &'a [Method],
    ) {
        self.declare(declaration.id, Node::Declaration(declaration));
        if !type_parameters.is_empty() {
            self.type_parameters.insert(declaration.id, type_parameters);
        }
        self.in_scope(|checker| {
            checker.declare_type_parameters(declaration.id, type_parameters);
            let mut shapes: Vec<(&Method, Vec<&str>)> = Vec::new();
            for method in methods {
                checker.check_annotations(&method.annotations);
                checker.set_node(method.id, Node::Method(method));
                checker.in_scope(|checker| {
                    let owner = if method.is_constructor {
                        ParameterOwner::ExternConstructor
                    } else {
                        ParameterOwner::Extern
                    };
                    if method.is_constructor {
                        checker.resolve_type(&method.signature.result);
                        checker.declare_parameters(&method.signature.parameters, owner);
                    } else {
                        checker.check_signature(method.id, &method.signature, owner);
                        for parameter in &method.signature.parameters {
                            let ty = checker.declared_type(parameter.id);
                            if matches!(&*ty, TypeKind::Extern(node, _) if *node == declaration.id)
                            {
                                checker.report(
                                    Diagnostic::error(
                                        codes::RECURSIVE_DECLARATION,
                                        parameter.span,
                                        format!("`{}` uses itself", declaration.name.text),
                                    )
                                    .label(declaration.name.span, "declared here"),
                                );
                            }
                        }
                        if method.name.text == declaration.name.text {
                            checker.error(
                                codes::INVALID_CONSTRUCTOR,
                                method.name.span,
                                format!(
                                    "constructor `{}` cannot have a result type",
                                    method.name.text
                                ),
                            );
                        }
                    }
                });
                if method.is_constructor && method.name.text != declaration.name.text {
                    checker.report(
                        Diagnostic::error(
                            codes::INVALID_CONSTRUCTOR,
                            method.name.span,
                            format!("method `{}` has no result type", method.name.text),
                        )
                        .help(format!(
                            "give it one, such as `void`; a constructor is called `{}`",
                            declaration.name.text
                        )),
                    );
                }
                let shape: Vec<&str> = method
                    .signature
                    .parameters
                    .iter()
                    .map(|parameter| &*parameter.name.text)
                    .collect();
                // §7.2.11.2: abstract methods are not overloaded.
                if let Some((first, _)) = shapes.iter().find(|(first, earlier)| {
                    first.name.text == method.name.text
                        && (*earlier == shape || first.is_abstract && method.is_abstract)
                }) {
                    let same = shapes.iter().any(|(first, earlier)| {
                        first.name.text == method.name.text && *earlier == shape
                    });
                    let first_span = first.name.span;
                    checker.report(
                        Diagnostic::error(
                            codes::DUPLICATE_NAME,
                            method.name.span,
                            if same {
                                format!(
                                    "method `{}` is declared twice with the same parameters",
                                    method.name.text
                                )
                            } else {
                                format!("abstract method `{}` is declared twice", method.name.text)
                            },
                        )
                        .label(first_span, "first declared here"),
                    );
                } else {
                    shapes.push((method, shape));
                }
            }
        });
    }

    fn check_block_type(
        &mut self,
        declaration: &'a Declaration,
        block: &'a BlockType,
        owner: ParameterOwner,
    ) {
        self.open_declarations.push(declaration);
        self.in_scope(|checker| {
            checker.declare_type_parameters(declaration.id, &block.type_parameters);
            checker.declare_parameters(&block.parameters, owner);
        });
        self.open_declarations.pop();
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_fields(
        &mut self,
        declaration: &'a Declaration,
        list: &'a FieldList,
        container: Container,
    ) {
        self.set_node(declaration.id, Node::Declaration(declaration));
        self.open_declarations.push(declaration);
        let mut fields: Vec<FieldType> = Vec::with_capacity(list.fields.len());
        self.in_scope(|checker| {
            checker.declare_type_parameters(declaration.id, &list.type_parameters);
            // Field names have a scope of their own: a field may be called as a type parameter is.
            checker.in_scope(|checker| {
                let mut seen: rustc_hash::FxHashMap<&str, source::Span> = Default::default();
                for field in &list.fields {
                    checker.check_annotations(&field.annotations);
                    checker.set_node(field.id, Node::Field(field));
                    let ty = checker.resolve_type(&field.ty);
                    let described = FieldType {
                        name: field.name.text.clone(),
                        span: field.name.span,
                        ty: ty.clone(),
                    };
                    let ty = if checker.check_nesting(&ty, container, field.span, Some(&described))
                    {
                        ty
                    } else {
                        checker.known.unknown.clone()
                    };
                    if let Some(first) = seen.get(&*field.name.text).copied() {
                        checker.report(
                            Diagnostic::error(
                                codes::DUPLICATE_NAME,
                                field.name.span,
                                format!("field `{}` is declared twice", field.name.text),
                            )
                            .here("declared again here")
                            .label(first, "first declared here"),
                        );
                        continue;
                    }
                    seen.insert(&field.name.text, field.name.span);
                    checker.typed.declared_types.insert(field.id, ty.clone());
                    fields.push(FieldType { ty, ..described });
                }
            });
        });
        self.open_declarations.pop();
        let mut extent = Extent::one();
        for field in &fields {
            extent = extent.holds(self.extent(&field.ty));
        }
        if !self.check_extent(extent, declaration.name.span) {
            fields.clear();
            extent = Extent::one();
        }
        self.extents.insert(declaration.id, extent);
        self.fields.insert(declaration.id, Rc::new(fields));
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_typedef(&mut self, declaration: &'a Declaration, target: &'a TypedefTarget) {
        let ty = match target {
            TypedefTarget::Type(written) => {
                self.open_declarations.push(declaration);
                let ty = self.resolve_type(written);
                self.open_declarations.pop();
                if matches!(
                    &*ty,
                    TypeKind::Void | TypeKind::MatchKind | TypeKind::String | TypeKind::DontCare
                ) {
                    let shown = self.show(&ty);
                    self.error(
                        codes::INVALID_NEW_TYPE,
                        written.span,
                        format!("`typedef` cannot rename type `{shown}`"),
                    );
                }
                ty
            }
            TypedefTarget::Declaration(inner) => {
                self.check_declaration(inner);
                self.type_of_node(inner.id, None, inner.name.span, false)
            }
        };
        self.aliases.insert(declaration.id, ty);
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_new_type(&mut self, declaration: &'a Declaration, written: &'a TypeRef) {
        self.open_declarations.push(declaration);
        let ty = self.resolve_type(written);
        self.open_declarations.pop();
        let allowed = matches!(
            &*ty,
            TypeKind::Bit(_)
                | TypeKind::Int(_)
                | TypeKind::Bool
                | TypeKind::NewType(_)
                | TypeKind::Unknown
        );
        if !allowed {
            let shown = self.show(&ty);
            self.report(
                Diagnostic::error(
                    codes::INVALID_NEW_TYPE,
                    written.span,
                    format!("`type` cannot make a new type of `{shown}`"),
                )
                .note("it takes `bit<W>`, `int<W>`, `bool` and other new types")
                .help("to give a type another name use `typedef`"),
            );
        }
        self.underlying
            .insert(declaration.id, if allowed { ty } else { self.known.unknown.clone() });
        self.declare(declaration.id, Node::Declaration(declaration));
    }
}
