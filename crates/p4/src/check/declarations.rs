// SPDX-License-Identifier: Apache-2.0
//! Declarations of types, constants, variables, functions and externs, at the top level and inside of
//! blocks (P4_16 v1.2.5 §7.2, §10, §11). Parsers, controls, tables and instances have their own files.

use super::parameters::ParameterOwner;
use super::types::Container;
use super::{Checker, FieldType, Node, Place};
use crate::ast::{
    Block, BlockType, Declaration, DeclarationKind, DeclaredName, EnumMember, Expression,
    FieldList, Method, Signature, TypeRef, TypedefTarget,
};
use crate::codes::typing as codes;
use crate::typed::{Constant, Type, TypeKind};
use source::Diagnostic;
use std::rc::Rc;
use std::sync::Arc;

impl<'a> Checker<'a> {
    pub(super) fn check_program(&mut self) {
        let program = self.program;
        for declaration in &program.declarations {
            self.check_top_level(declaration);
        }
        if let Some(position) = self.typed.errors.iter().position(|name| &**name == "NoError") {
            self.typed.errors[..=position].rotate_right(1);
        }
    }

    fn check_top_level(&mut self, declaration: &'a Declaration) {
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
            | DeclarationKind::Invalid => true,
            DeclarationKind::Action { .. } | DeclarationKind::Table(_) => {
                self.place == Place::ControlLocals
            }
            DeclarationKind::ValueSet { .. } => self.place == Place::ParserLocals,
            _ => false,
        };
        if !allowed {
            self.error(
                codes::MISPLACED_DECLARATION,
                declaration.span,
                format!("`{}` cannot be declared {}", declaration.name.text, self.place.describe()),
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
                self.require_value_type(&ty, element.span, "the element of a value set");
                if let Some(size) = self.constant_size(size, "the size of a value set") {
                    let _ = size;
                }
                self.typed.declared_types.insert(declaration.id, Arc::new(TypeKind::Set(ty)));
                self.declare(declaration.id, Node::Declaration(declaration));
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
            && self.is_compile_time_only(&ty)
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
        if !matches!(&*result, TypeKind::Void) && !makes_extern {
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
            checker.at_place(Place::Function, |checker| checker.check_block(body));
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
                if let Some((first, _)) = shapes.iter().find(|(first, earlier)| {
                    first.name.text == method.name.text && *earlier == shape
                }) {
                    let first_span = first.name.span;
                    checker.report(
                        Diagnostic::error(
                            codes::DUPLICATE_NAME,
                            method.name.span,
                            format!(
                                "method `{}` is declared twice with the same parameters",
                                method.name.text
                            ),
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
        self.fields.insert(declaration.id, Rc::new(fields));
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_enum(
        &mut self,
        declaration: &'a Declaration,
        underlying: Option<&'a TypeRef>,
        members: &'a [EnumMember],
    ) {
        self.set_node(declaration.id, Node::Declaration(declaration));
        let mut base: Option<Type> = None;
        if let Some(written) = underlying {
            let ty = self.resolve_type(written);
            if !matches!(&*ty, TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Unknown) {
                let shown = self.show(&ty);
                self.error(
                    codes::INVALID_ENUM,
                    written.span,
                    format!("an enum's values are `bit<W>` or `int<W>`, not `{shown}`"),
                );
                base = Some(self.known.unknown.clone());
            } else {
                base = Some(ty);
            }
        }
        if let Some(base) = &base {
            self.underlying.insert(declaration.id, base.clone());
        }
        let mut seen: rustc_hash::FxHashMap<&str, source::Span> = Default::default();
        let enum_type: Type = Arc::new(match base {
            Some(_) => TypeKind::SerializableEnum(declaration.id),
            None => TypeKind::Enum(declaration.id),
        });
        // Values may name earlier members.
        self.scopes.push(Default::default());
        for (index, member) in members.iter().enumerate() {
            self.set_node(member.id, Node::EnumMember(member));
            self.typed.declared_types.insert(member.id, enum_type.clone());
            self.values.insert(member.id, Constant::EnumMember(declaration.id, index));
            if let Some(first) = seen.insert(&member.name.text, member.name.span) {
                self.report(
                    Diagnostic::error(
                        codes::DUPLICATE_NAME,
                        member.name.span,
                        format!("member `{}` is declared twice", member.name.text),
                    )
                    .label(first, "first declared here"),
                );
            }
            match (&base, &member.value) {
                (Some(base), Some(value)) => self.check_enum_value(member, value, base),
                (Some(_), None) => self.error(
                    codes::INVALID_ENUM,
                    member.name.span,
                    format!("member `{}` needs a value, as the enum has a type", member.name.text),
                ),
                (None, Some(value)) => {
                    self.synthesize(value);
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_ENUM,
                            value.span,
                            format!("member `{}` cannot have a value", member.name.text),
                        )
                        .help(format!(
                            "give the enum a type: `enum bit<8> {}`",
                            declaration.name.text
                        )),
                    );
                }
                (None, None) => {}
            }
            if base.is_some() {
                self.declare_silently(member.id, Node::EnumMember(member));
            }
        }
        self.scopes.pop();
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_enum_value(&mut self, member: &'a EnumMember, value: &'a Expression, base: &Type) {
        let what = format!("the value of member `{}`", member.name.text);
        let ty = self.synthesize(value);
        if let (TypeKind::Integer, Some(Constant::Integer(number))) = (&*ty, self.constant(value))
            && super::constants::wrap(number, base) != *number
            && !matches!(&**base, TypeKind::Unknown)
        {
            let (number, shown) = (number.clone(), self.show(base));
            self.error(
                codes::INVALID_ENUM,
                value.span,
                format!(
                    "the value {number} of member `{}` does not fit `{shown}`",
                    member.name.text
                ),
            );
            return;
        }
        if self.coerce(value, base, &what) && self.constant(value).is_none() {
            self.report_not_constant(value, &what);
        }
    }

    fn declare_errors(&mut self, names: &'a [DeclaredName]) {
        for name in names {
            self.set_node(name.id, Node::Error(name));
            if let Some(first) = self.error_nodes.get(&name.name.text).copied() {
                self.report_declared_twice("error", name, first);
                continue;
            }
            self.error_nodes.insert(name.name.text.clone(), name.id);
            self.typed.errors.push(name.name.text.clone());
        }
    }

    fn declare_match_kinds(&mut self, names: &'a [DeclaredName]) {
        for name in names {
            self.set_node(name.id, Node::MatchKind(name));
            if let Some(first) = self.match_kind_nodes.get(&name.name.text).copied() {
                self.report_declared_twice("match kind", name, first);
                continue;
            }
            self.match_kind_nodes.insert(name.name.text.clone(), name.id);
            self.typed.match_kinds.push(name.name.text.clone());
            let value = Constant::MatchKind(name.name.text.clone());
            self.values.insert(name.id, value);
            self.declare(name.id, Node::MatchKind(name));
        }
    }

    fn report_declared_twice(
        &mut self,
        what: &str,
        name: &'a DeclaredName,
        first: crate::ast::NodeId,
    ) {
        let first_span = self.span_of(first);
        self.report(
            Diagnostic::error(
                codes::DUPLICATE_NAME,
                name.name.span,
                format!("{what} `{}` is declared twice", name.name.text),
            )
            .label(first_span, "first declared here"),
        );
    }

    fn check_typedef(&mut self, declaration: &'a Declaration, target: &'a TypedefTarget) {
        let ty = match target {
            TypedefTarget::Type(written) => {
                self.open_declarations.push(declaration);
                let ty = self.resolve_type(written);
                self.open_declarations.pop();
                if matches!(&*ty, TypeKind::Void | TypeKind::MatchKind | TypeKind::DontCare) {
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
