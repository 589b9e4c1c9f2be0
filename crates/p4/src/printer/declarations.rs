// SPDX-License-Identifier: Apache-2.0
//! Declarations, tables and parser states as pieces.

use super::emitter::Emitter;
use crate::ast::{
    ActionRef, BlockType, ControlDeclaration, Declaration, DeclarationKind, DeclaredName, Entry,
    EnumMember, Field, FieldList, KeyElement, Method, Name, ParserDeclaration, Signature, State,
    TableDeclaration, TableProperty, TablePropertyKind, Transition, TypedefTarget,
};
use crate::format::pieces::Role;
use crate::token::TokenKind as T;

impl Emitter {
    /// Declarations of the top level or of a parser or control, with empty lines around the larger
    /// ones.
    pub(super) fn declarations<'d>(
        &mut self,
        declarations: impl IntoIterator<Item = &'d Declaration>,
    ) {
        let mut before: Option<&Declaration> = None;
        for declaration in declarations {
            if before.is_some_and(|before| is_large(before) || is_large(declaration)) {
                self.blank_line();
            }
            self.declaration(declaration);
            before = Some(declaration);
        }
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration) {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.declaration_here(declaration));
    }

    fn declaration_here(&mut self, declaration: &Declaration) {
        if is_large(declaration) {
            self.annotation_lines(&declaration.annotations);
        } else {
            self.annotations(&declaration.annotations);
        }
        let name = &declaration.name;
        match &declaration.kind {
            DeclarationKind::Constant { ty, value } => {
                self.token(T::Const);
                self.type_ref(ty);
                self.name(name);
                self.token(T::Assign);
                self.expression(value);
                self.token(T::Semicolon);
            }
            DeclarationKind::Variable { .. } => {
                self.variable_after_annotations(declaration);
                self.token(T::Semicolon);
            }
            DeclarationKind::Instance { ty, arguments, body } => {
                self.type_ref(ty);
                self.arguments(arguments);
                self.name(name);
                if let Some(body) = body {
                    self.token(T::Assign);
                    self.role(T::OpenBrace, Role::BlockOpen);
                    self.declarations(body);
                    self.token(T::CloseBrace);
                }
                self.token(T::Semicolon);
            }
            DeclarationKind::Action { parameters, body } => {
                self.token(T::Action);
                self.name(name);
                self.parameters(parameters);
                self.block(body);
            }
            DeclarationKind::Function { signature, body } => {
                self.signature(name, signature);
                self.block(body);
            }
            DeclarationKind::ExternFunction(signature) => {
                self.token(T::Extern);
                self.signature(name, signature);
                self.token(T::Semicolon);
            }
            DeclarationKind::ExternObject { type_parameters, methods } => {
                self.token(T::Extern);
                self.name(name);
                self.type_parameters(type_parameters);
                self.role(T::OpenBrace, Role::BlockOpen);
                for method in methods {
                    self.method(method);
                }
                self.token(T::CloseBrace);
            }
            DeclarationKind::Parser(parser) => self.parser(name, parser),
            DeclarationKind::Control(control) => self.control(name, control),
            DeclarationKind::ParserType(signature) => {
                self.block_type_of(T::Parser, name, signature)
            }
            DeclarationKind::ControlType(signature) => {
                self.block_type_of(T::Control, name, signature);
            }
            DeclarationKind::PackageType(signature) => {
                self.block_type_of(T::Package, name, signature);
            }
            DeclarationKind::Header(fields) => self.fields(T::Header, name, fields),
            DeclarationKind::HeaderUnion(fields) => self.fields(T::HeaderUnion, name, fields),
            DeclarationKind::Struct(fields) => self.fields(T::Struct, name, fields),
            DeclarationKind::Enum { underlying, members } => {
                self.token(T::Enum);
                if let Some(underlying) = underlying {
                    self.type_ref(underlying);
                }
                self.name(name);
                self.role(T::OpenBrace, Role::NamesOpen);
                self.comma_list(members, Self::enum_member);
                self.token(T::CloseBrace);
            }
            DeclarationKind::Error(names) => self.name_set(T::Error, names),
            DeclarationKind::MatchKind(names) => self.name_set(T::MatchKind, names),
            DeclarationKind::Typedef(target) => {
                self.token(T::Typedef);
                match target {
                    TypedefTarget::Type(ty) => self.type_ref(ty),
                    TypedefTarget::Declaration(inner) => self.declaration(inner),
                }
                self.name(name);
                self.token(T::Semicolon);
            }
            DeclarationKind::NewType(ty) => {
                self.token(T::Type);
                self.type_ref(ty);
                self.name(name);
                self.token(T::Semicolon);
            }
            DeclarationKind::Table(table) => self.table(name, table),
            DeclarationKind::ValueSet { element, size } => {
                self.token(T::ValueSet);
                self.angle_list(std::slice::from_ref(element), Self::type_ref);
                self.token(T::OpenParen);
                self.expression(size);
                self.token(T::CloseParen);
                self.name(name);
                self.token(T::Semicolon);
            }
            DeclarationKind::Extension(extension) => self.extension(extension),
            // It was reported and left out when it was read.
            DeclarationKind::Invalid => {}
        }
    }

    /// A variable with its annotations, without the `;`.
    pub(super) fn variable_without_semicolon(&mut self, declaration: &Declaration) {
        self.annotations(&declaration.annotations);
        self.variable_after_annotations(declaration);
    }

    fn variable_after_annotations(&mut self, declaration: &Declaration) {
        if let DeclarationKind::Variable { ty, initializer } = &declaration.kind {
            self.type_ref(ty);
            self.name(&declaration.name);
            if let Some(value) = initializer {
                self.token(T::Assign);
                self.expression(value);
            }
        }
    }

    fn signature(&mut self, name: &Name, signature: &Signature) {
        self.type_ref(&signature.result);
        self.name(name);
        self.type_parameters(&signature.type_parameters);
        self.parameters(&signature.parameters);
    }

    fn method(&mut self, method: &Method) {
        self.annotation_lines(&method.annotations);
        if method.is_abstract {
            self.token(T::Abstract);
        }
        if method.is_constructor {
            self.name(&method.name);
            self.parameters(&method.signature.parameters);
        } else {
            self.signature(&method.name, &method.signature);
        }
        self.token(T::Semicolon);
    }

    fn block_type_of(&mut self, word: T, name: &Name, signature: &BlockType) {
        self.token(word);
        self.name(name);
        self.block_type(signature);
        self.token(T::Semicolon);
    }

    fn fields(&mut self, word: T, name: &Name, list: &FieldList) {
        self.token(word);
        self.name(name);
        self.type_parameters(&list.type_parameters);
        self.role(T::OpenBrace, Role::BlockOpen);
        for field in &list.fields {
            self.field(field);
        }
        self.token(T::CloseBrace);
    }

    fn field(&mut self, field: &Field) {
        self.annotations(&field.annotations);
        self.type_ref(&field.ty);
        self.name(&field.name);
        self.token(T::Semicolon);
    }

    fn enum_member(&mut self, member: &EnumMember) {
        self.name(&member.name);
        if let Some(value) = &member.value {
            self.token(T::Assign);
            self.expression(value);
        }
    }

    fn name_set(&mut self, word: T, names: &[DeclaredName]) {
        self.token(word);
        self.role(T::OpenBrace, Role::NamesOpen);
        self.comma_list(names, |emitter, declared| emitter.name(&declared.name));
        self.token(T::CloseBrace);
    }

    fn parser(&mut self, name: &Name, parser: &ParserDeclaration) {
        self.token(T::Parser);
        self.name(name);
        self.block_type(&parser.signature);
        if !parser.constructor_parameters.is_empty() {
            self.parameters(&parser.constructor_parameters);
        }
        self.role(T::OpenBrace, Role::BlockOpen);
        self.declarations(&parser.locals);
        for (at, state) in parser.states.iter().enumerate() {
            if at > 0 || !parser.locals.is_empty() {
                self.blank_line();
            }
            self.state(state);
        }
        self.token(T::CloseBrace);
    }

    fn state(&mut self, state: &State) {
        self.annotation_lines(&state.annotations);
        self.token(T::State);
        self.name(&state.name);
        self.role(T::OpenBrace, Role::BlockOpen);
        for statement in &state.statements {
            self.statement(statement);
        }
        match &state.transition {
            None => {}
            Some(Transition::Direct(target)) => {
                self.token(T::Transition);
                self.name(&target.name);
                self.token(T::Semicolon);
            }
            Some(Transition::Select { subjects, cases, .. }) => {
                self.tokens(&[T::Transition, T::Select, T::OpenParen]);
                self.comma_list(subjects, Self::expression);
                self.token(T::CloseParen);
                self.role(T::OpenBrace, Role::BlockOpen);
                for case in cases {
                    self.expression(&case.keyset);
                    self.role(T::Colon, Role::Plain);
                    self.name(&case.target.name);
                    self.token(T::Semicolon);
                }
                self.token(T::CloseBrace);
            }
        }
        self.token(T::CloseBrace);
    }

    fn control(&mut self, name: &Name, control: &ControlDeclaration) {
        self.token(T::Control);
        self.name(name);
        self.block_type(&control.signature);
        if !control.constructor_parameters.is_empty() {
            self.parameters(&control.constructor_parameters);
        }
        self.role(T::OpenBrace, Role::BlockOpen);
        self.declarations(&control.locals);
        if !control.locals.is_empty() {
            self.blank_line();
        }
        self.token(T::Apply);
        self.block(&control.body);
        self.token(T::CloseBrace);
    }

    fn table(&mut self, name: &Name, table: &TableDeclaration) {
        self.token(T::Table);
        self.name(name);
        self.role(T::OpenBrace, Role::BlockOpen);
        for property in &table.properties {
            self.table_property(property);
        }
        self.token(T::CloseBrace);
    }

    fn table_property(&mut self, property: &TableProperty) {
        self.annotations(&property.annotations);
        if property.is_const {
            self.token(T::Const);
        }
        match &property.kind {
            TablePropertyKind::Key(elements) => {
                self.property_block(T::Key, elements, Self::key_element);
            }
            TablePropertyKind::Actions(actions) => {
                self.property_block(T::Actions, actions, |emitter, action| {
                    emitter.annotations(&action.annotations);
                    emitter.action_ref(action);
                    emitter.token(T::Semicolon);
                });
            }
            TablePropertyKind::Entries(entries) => {
                self.property_block(T::Entries, entries, Self::entry);
            }
            TablePropertyKind::Custom { name, value } => {
                self.name(name);
                self.token(T::Assign);
                self.expression(value);
                self.token(T::Semicolon);
            }
        }
    }

    fn property_block<R>(&mut self, word: T, elements: &[R], emit: impl Fn(&mut Self, &R)) {
        self.tokens(&[word, T::Assign]);
        self.role(T::OpenBrace, Role::BlockOpen);
        for element in elements {
            emit(self, element);
        }
        self.token(T::CloseBrace);
    }

    fn key_element(&mut self, element: &KeyElement) {
        self.expression(&element.expression);
        self.role(T::Colon, Role::Plain);
        self.name(&element.match_kind);
        self.annotations(&element.annotations);
        self.token(T::Semicolon);
    }

    fn action_ref(&mut self, action: &ActionRef) {
        self.path(&action.path);
        if let Some(arguments) = &action.arguments {
            self.arguments(arguments);
        }
    }

    fn entry(&mut self, entry: &Entry) {
        if entry.is_const {
            self.token(T::Const);
        }
        if let Some(priority) = &entry.priority {
            self.tokens(&[T::Priority, T::Assign]);
            self.priority(priority);
            self.role(T::Colon, Role::Plain);
        }
        self.expression(&entry.keyset);
        self.role(T::Colon, Role::Plain);
        self.action_ref(&entry.action);
        self.annotations(&entry.action.annotations);
        self.annotations(&entry.annotations);
        self.token(T::Semicolon);
    }

    /// A number, or anything else in parentheses (P4_16 v1.2.5 §14.2.1.4, `entryPriority`).
    fn priority(&mut self, priority: &crate::ast::Expression) {
        let plain = matches!(
            &priority.kind,
            crate::ast::ExpressionKind::Integer { value, .. }
                if value.sign() != num_bigint::Sign::Minus
        );
        if plain {
            self.expression(priority);
        } else {
            self.token(T::OpenParen);
            self.expression(priority);
            self.token(T::CloseParen);
        }
    }
}

/// Whether a declaration takes several lines and stands apart from its neighbours.
fn is_large(declaration: &Declaration) -> bool {
    match &declaration.kind {
        DeclarationKind::Constant { .. }
        | DeclarationKind::Variable { .. }
        | DeclarationKind::ExternFunction(_)
        | DeclarationKind::ParserType(_)
        | DeclarationKind::ControlType(_)
        | DeclarationKind::PackageType(_)
        | DeclarationKind::NewType(_)
        | DeclarationKind::Typedef(TypedefTarget::Type(_))
        | DeclarationKind::ValueSet { .. }
        | DeclarationKind::Instance { body: None, .. }
        | DeclarationKind::Invalid => false,
        DeclarationKind::Typedef(TypedefTarget::Declaration(_)) => true,
        _ => true,
    }
}
