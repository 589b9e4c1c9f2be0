// SPDX-License-Identifier: Apache-2.0
//! The top level and its declarations (P4_16 v1.2.5 §7, §10, §11): types, externs, functions,
//! actions, constants, instances, parameters. Parsers and controls are in `parsers`, tables in
//! `tables`.

use super::scopes::NameClass;
use super::{Parsed, Parser, Unparsed};
use crate::ast::{
    Annotation, Argument, BlockType, Declaration, DeclarationKind, DeclaredName, Direction,
    EnumMember, Field, FieldList, Method, Name, Parameter, Signature, TypeRef, TypeRefKind,
    TypedefTarget,
};
use crate::codes::syntax;
use crate::token::TokenKind as T;
use source::{Diagnostic, Span};

impl Parser<'_> {
    pub(super) fn make_declaration(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        name: Name,
        kind: DeclarationKind,
    ) -> Declaration {
        let span = self.span_from(start);
        Declaration { id: self.id(), span, annotations, name, kind }
    }

    pub(super) fn program(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while !self.at_end() {
            let before = self.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            if matches!(self.kind(), T::CloseBrace | T::CloseParen | T::CloseBracket) {
                let found = self.token().text.clone();
                let diagnostic = Diagnostic::error(
                    syntax::UNMATCHED_DELIMITER,
                    self.span(),
                    format!("this `{found}` closes nothing"),
                )
                .help("remove it, or look for a `}` too many above");
                let _ = self.report(diagnostic);
                self.bump();
                continue;
            }
            match self.top_level_declaration() {
                Ok(Some(declaration)) => declarations.push(declaration),
                Ok(None) => {}
                Err(_) => self.skip_declaration(),
            }
            if self.position == before {
                self.bump();
            }
        }
        declarations
    }

    fn top_level_declaration(&mut self) -> Parsed<Option<Declaration>> {
        let start = self.span();
        let annotations = self.annotations()?;
        if self.at_end() || self.at(T::Semicolon) {
            if self.annotations_start.is_some() {
                return Err(self.unexpected("a declaration after these annotations"));
            }
            return Ok(None);
        }
        match self.kind() {
            T::Const => self.constant(start, annotations).map(Some),
            T::Extern => self.extern_declaration(start, annotations),
            T::Action => self.action(start, annotations).map(Some),
            T::Parser => self.parser_declaration(start, annotations).map(Some),
            T::Control => self.control_declaration(start, annotations).map(Some),
            T::Package => self.package(start, annotations).map(Some),
            T::Header | T::HeaderUnion | T::Struct | T::Enum => {
                let declaration = self.derived_type(start, annotations)?;
                self.eat(T::Semicolon);
                Ok(Some(declaration))
            }
            T::Typedef => self.typedef(start, annotations).map(Some),
            T::Type => self.new_type(start, annotations).map(Some),
            T::Error | T::MatchKind if self.ahead(1) == T::OpenBrace => {
                self.name_set(start, annotations).map(Some)
            }
            T::Table | T::State | T::ValueSet
                if super::cursor::is_name(self.ahead(1)) || self.ahead(1) == T::OpenAngle =>
            {
                Err(self.report_not_at_top_level())
            }
            T::If | T::Return | T::Switch | T::For | T::Transition | T::Apply | T::Exit => {
                let word = self.token().text.clone();
                let diagnostic = Diagnostic::error(
                    syntax::MISPLACED_DECLARATION,
                    self.span(),
                    format!(
                        "`{word}` cannot stand outside of a parser, control, action or function"
                    ),
                )
                .help("look for a `}` too many above");
                Err(self.report(diagnostic))
            }
            _ => self.function_or_instance(start, annotations).map(Some),
        }
    }

    fn report_not_at_top_level(&mut self) -> Unparsed {
        let word = self.token().text.clone();
        let home = if self.at(T::Table) { "a control" } else { "a parser" };
        let diagnostic = Diagnostic::error(
            syntax::MISPLACED_DECLARATION,
            self.span(),
            format!("`{word}` can be declared only inside {home}"),
        )
        .help("move it there, or look for a `}` too many above");
        self.report(diagnostic)
    }

    /// `const T name = value;`
    pub(super) fn constant(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
        self.bump();
        let ty = self.type_ref()?;
        let (name, ty) = self.declarator(ty, "a constant")?;
        self.expect(T::Assign, "and a value after the name of a constant")?;
        let value = self.expression()?;
        self.scopes.declare(&name.text, NameClass::Value);
        self.expect_semicolon("this constant")?;
        Ok(self.make_declaration(start, annotations, name, DeclarationKind::Constant { ty, value }))
    }

    /// `T name<...>(...) { }`, or `T(...) name;`. A variable is read too, and refused.
    fn function_or_instance(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
        let starts_type = self.at_name() || self.at(T::Dot) || self.is_base_type_at(self.position);
        if !starts_type && !matches!(self.kind(), T::Error | T::MatchKind) {
            return Err(self.unexpected("a declaration"));
        }
        if self.at(T::Identifier) && matches!(self.ahead(1), T::Assign | T::Dot) {
            let diagnostic = Diagnostic::error(
                syntax::MISPLACED_DECLARATION,
                self.span(),
                "a statement cannot stand outside of a parser, control, action or function",
            );
            return Err(self.report(diagnostic));
        }
        let ty = self.type_ref()?;
        if self.at(T::OpenParen) {
            return self.instance(start, annotations, ty);
        }
        let name = self.name("a function")?;
        if !matches!(self.kind(), T::OpenParen | T::OpenAngle) {
            return self.top_level_variable(start, annotations, ty, name);
        }
        self.function_after_name(start, annotations, ty, name)
    }

    fn top_level_variable(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        ty: TypeRef,
        name: Name,
    ) -> Parsed<Declaration> {
        if !matches!(self.kind(), T::Assign | T::Semicolon | T::OpenBracket) {
            return Err(self.unexpected("`(` or `;`"));
        }
        let diagnostic = Diagnostic::error(
            syntax::MISPLACED_DECLARATION,
            name.span,
            format!("the variable `{}` is declared outside of a parser or control", name.text),
        )
        .help("make it a `const`, or declare it in the control or parser that uses it");
        self.report_read(diagnostic);
        self.skip_statement();
        self.scopes.declare(&name.text, NameClass::Value);
        let _ = ty;
        Ok(self.make_declaration(start, annotations, name, DeclarationKind::Invalid))
    }

    fn function_after_name(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        result: TypeRef,
        name: Name,
    ) -> Parsed<Declaration> {
        let generic = self.at(T::OpenAngle);
        self.declare_function(&name, generic);
        self.scopes.open();
        let read = self.function_body(result);
        self.scopes.close();
        let (signature, body) = read?;
        Ok(self.make_declaration(
            start,
            annotations,
            name,
            DeclarationKind::Function { signature, body },
        ))
    }

    fn declare_function(&mut self, name: &Name, generic: bool) {
        let class = if generic { NameClass::GenericFunction } else { NameClass::Value };
        self.scopes.declare(&name.text, class);
    }

    fn function_body(&mut self, result: TypeRef) -> Parsed<(Signature, crate::ast::Block)> {
        let type_parameters = self.type_parameters()?;
        let parameters = self.parameters()?;
        let signature = Signature { result, type_parameters, parameters };
        if self.at(T::Semicolon) {
            let diagnostic = Diagnostic::error(
                syntax::UNEXPECTED_TOKEN,
                self.span(),
                "expected the body of this function, found `;`",
            )
            .here("expected `{`")
            .help("a function that the target provides is declared with `extern` in front");
            return Err(self.report(diagnostic));
        }
        let body = self.block(Vec::new(), "the body of this function")?;
        Ok((signature, body))
    }

    /// `T(arguments) name = { ... };`, from the `(`.
    pub(super) fn instance(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        ty: TypeRef,
    ) -> Parsed<Declaration> {
        let arguments = self.arguments()?;
        self.instance_after_arguments(start, annotations, ty, arguments)
    }

    pub(super) fn instance_after_arguments(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        ty: TypeRef,
        arguments: Vec<Argument>,
    ) -> Parsed<Declaration> {
        if self.at(T::Dot)
            && matches!(ty.kind, TypeRefKind::Named(_) | TypeRefKind::Specialized(..))
        {
            let diagnostic = Diagnostic::error(
                syntax::UNEXPECTED_TOKEN,
                self.span(),
                "expected a name for this instance, found `.`",
            )
            .help("give the instance a name and call its method by it");
            return Err(self.report(diagnostic));
        }
        let (name, ty) = self.declarator(ty, "an instance")?;
        let body = if self.eat(T::Assign) { Some(self.object_initializer()?) } else { None };
        self.scopes.declare(&name.text, NameClass::Value);
        self.expect_semicolon("this instance")?;
        let kind = DeclarationKind::Instance { ty, arguments, body };
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    /// `{ functions and instances }` (§11.3)
    fn object_initializer(&mut self) -> Parsed<Vec<Declaration>> {
        let opener = self.span();
        self.expect(T::OpenBrace, "before the functions of this instance")?;
        self.scopes.open();
        let mut declarations = Vec::new();
        while !self.at_block_end() {
            let before = self.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            let start = self.span();
            let read = self.annotations().and_then(|annotations| {
                self.nested(|p| p.function_or_instance(start, annotations))
            });
            match read {
                Ok(declaration) => declarations.push(declaration),
                Err(_) => self.skip_statement(),
            }
            if self.position == before {
                self.bump();
            }
        }
        self.scopes.close();
        self.close_block(opener, "this initializer");
        Ok(declarations)
    }

    /// `action name(parameters) { }`
    pub(super) fn action(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
        self.bump();
        let name = self.name("an action")?;
        self.scopes.declare(&name.text, NameClass::Value);
        self.scopes.open();
        let read = self.parameters().and_then(|parameters| {
            let body = self.block(Vec::new(), &format!("the action `{}`", name.text))?;
            Ok((parameters, body))
        });
        self.scopes.close();
        let (parameters, body) = read?;
        Ok(self.make_declaration(
            start,
            annotations,
            name,
            DeclarationKind::Action { parameters, body },
        ))
    }

    /// `(parameters)`; their names are declared in the current scope.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let opener = self.span();
        self.expect(T::OpenParen, "before the parameters")?;
        let mut parameters = Vec::new();
        while !self.at(T::CloseParen) {
            match self.parameter() {
                Ok(parameter) => parameters.push(parameter),
                Err(_) => self.skip_element(T::CloseParen),
            }
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::CloseParen, opener)?;
        Ok(parameters)
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let start = self.span();
        let annotations = self.annotations()?;
        let direction = match self.kind() {
            T::In => Direction::In,
            T::Out => Direction::Out,
            T::Inout => Direction::InOut,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.bump();
        }
        let ty = self.type_ref()?;
        if matches!(self.kind(), T::Comma | T::CloseParen) {
            let diagnostic = Diagnostic::error(
                syntax::UNEXPECTED_TOKEN,
                self.previous_span().after(),
                format!("expected the name of a parameter, found {}", self.found()),
            )
            .here("every parameter has a type and a name");
            return Err(self.report(diagnostic));
        }
        let (name, ty) = self.declarator(ty, "a parameter")?;
        let default = if self.eat(T::Assign) { Some(self.expression()?) } else { None };
        self.scopes.declare(&name.text, NameClass::Value);
        let span = self.span_from(start);
        Ok(Parameter { id: self.id(), span, annotations, direction, ty, name, default })
    }

    fn package(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        self.bump();
        let name = self.name("a package")?;
        self.scopes.declare(&name.text, NameClass::Type);
        let signature = self.block_signature();
        self.scopes.close();
        let signature = signature?;
        self.expect_semicolon("this package")?;
        Ok(self.make_declaration(start, annotations, name, DeclarationKind::PackageType(signature)))
    }

    /// `<T>(parameters)` in a new scope, which the caller closes.
    pub(super) fn block_signature(&mut self) -> Parsed<BlockType> {
        self.scopes.open();
        let type_parameters = self.type_parameters()?;
        let parameters = self.parameters()?;
        Ok(BlockType { type_parameters, parameters })
    }

    /// `header`, `header_union`, `struct` or `enum` with its braces.
    fn derived_type(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        let word = self.kind();
        if word == T::Enum {
            return self.enumeration(start, annotations);
        }
        self.bump();
        let what = match word {
            T::Header => "a header",
            T::HeaderUnion => "a header union",
            _ => "a struct",
        };
        let name = self.name(what)?;
        self.scopes.declare(&name.text, NameClass::Type);
        self.scopes.open();
        let fields = self.field_list(&format!("`{}`", name.text));
        self.scopes.close();
        let fields = fields?;
        let kind = match word {
            T::Header => DeclarationKind::Header(fields),
            T::HeaderUnion => DeclarationKind::HeaderUnion(fields),
            _ => DeclarationKind::Struct(fields),
        };
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    fn field_list(&mut self, what: &str) -> Parsed<FieldList> {
        let type_parameters = self.type_parameters()?;
        let opener = self.span();
        self.expect(T::OpenBrace, "before the fields")?;
        let mut fields = Vec::new();
        while !self.at_field_list_end() {
            let before = self.position;
            match self.field() {
                Ok(field) => fields.push(field),
                Err(_) => self.skip_statement(),
            }
            if self.position == before {
                self.bump();
            }
        }
        self.close_block(opener, what);
        Ok(FieldList { type_parameters, fields })
    }

    /// Like `at_block_end`, but `error` begins a field's type.
    fn at_field_list_end(&self) -> bool {
        !matches!(self.kind(), T::Error | T::MatchKind) && self.at_block_end()
    }

    fn field(&mut self) -> Parsed<Field> {
        let start = self.span();
        let annotations = self.annotations()?;
        let ty = self.type_ref()?;
        if self.at(T::Semicolon) || self.at(T::Colon) {
            let diagnostic = Diagnostic::error(
                syntax::UNEXPECTED_TOKEN,
                self.span(),
                format!("expected the name of a field, found {}", self.found()),
            )
            .help("a field is written `bit<8> name;`");
            return Err(self.report(diagnostic));
        }
        let (name, ty) = self.declarator(ty, "a field")?;
        self.expect_semicolon("this field")?;
        let span = self.span_from(start);
        Ok(Field { id: self.id(), span, annotations, ty, name })
    }

    fn enumeration(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        self.bump();
        let plain = self.at_name() && self.ahead(1) == T::OpenBrace;
        let underlying = if plain { None } else { Some(self.type_ref()?) };
        let name = self.name("an enum")?;
        self.scopes.declare(&name.text, NameClass::Type);
        let opener = self.span();
        self.expect(T::OpenBrace, "before the members of this enum")?;
        let mut members = Vec::new();
        while !self.at(T::CloseBrace) && !self.at_end() {
            match self.enum_member() {
                Ok(member) => members.push(member),
                Err(_) => self.skip_element(T::CloseBrace),
            }
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.close_list(opener, "this enum")?;
        let kind = DeclarationKind::Enum { underlying, members };
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    /// The `}` of a list with commas.
    fn close_list(&mut self, opener: Span, what: &str) -> Parsed<()> {
        if self.eat(T::CloseBrace) {
            return Ok(());
        }
        if matches!(self.kind(), T::Semicolon) || self.at_name() {
            let diagnostic = Diagnostic::error(
                syntax::UNEXPECTED_TOKEN,
                self.span(),
                format!("expected `,` or `}}` in {what}, found {}", self.found()),
            )
            .here("expected `,`");
            let unparsed = self.report(diagnostic);
            while !matches!(self.kind(), T::CloseBrace | T::End) && !self.begins_top_level() {
                self.bump();
            }
            return if self.eat(T::CloseBrace) { Ok(()) } else { Err(unparsed) };
        }
        self.report_unclosed(opener, what);
        Ok(())
    }

    fn enum_member(&mut self) -> Parsed<EnumMember> {
        let name = self.name("a member")?;
        let value = if self.eat(T::Assign) { Some(self.expression()?) } else { None };
        Ok(EnumMember { id: self.id(), name, value })
    }

    /// `error { ... }` or `match_kind { ... }`
    fn name_set(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        let is_error = self.at(T::Error);
        let word = self.take_name();
        let opener = self.span();
        self.bump();
        let mut names = Vec::new();
        while !self.at(T::CloseBrace) && !self.at_end() {
            let name = self.name(if is_error { "an error" } else { "a match kind" })?;
            names.push(DeclaredName { id: self.id(), name });
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.close_list(opener, "this list")?;
        let kind = if is_error {
            DeclarationKind::Error(names)
        } else {
            DeclarationKind::MatchKind(names)
        };
        Ok(self.make_declaration(start, annotations, word, kind))
    }

    fn typedef(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        self.bump();
        let inner_start = self.span();
        let inner_annotations = self.annotations()?;
        let target = if matches!(self.kind(), T::Header | T::HeaderUnion | T::Struct | T::Enum) {
            let declaration = self.derived_type(inner_start, inner_annotations)?;
            TypedefTarget::Declaration(Box::new(declaration))
        } else {
            self.reject_annotations("a type");
            TypedefTarget::Type(self.type_ref()?)
        };
        let (name, target) = match target {
            TypedefTarget::Type(ty) => {
                let (name, ty) = self.declarator(ty, "a type")?;
                (name, TypedefTarget::Type(ty))
            }
            declared => (self.name("a type")?, declared),
        };
        self.scopes.declare(&name.text, NameClass::Type);
        self.expect_semicolon("this typedef")?;
        Ok(self.make_declaration(start, annotations, name, DeclarationKind::Typedef(target)))
    }

    fn new_type(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        self.bump();
        let ty = self.type_ref()?;
        let (name, ty) = self.declarator(ty, "a type")?;
        self.scopes.declare(&name.text, NameClass::Type);
        self.expect_semicolon("this type")?;
        Ok(self.make_declaration(start, annotations, name, DeclarationKind::NewType(ty)))
    }

    /// An extern object, an extern function, or `extern name;`, which only announces a type.
    fn extern_declaration(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Option<Declaration>> {
        self.bump();
        if self.at_name() && self.ahead(1) == T::Semicolon {
            let name = self.take_name();
            self.scopes.declare(&name.text, NameClass::Type);
            self.bump();
            return Ok(None);
        }
        if self.at_extern_object() {
            return self.extern_object(start, annotations).map(Some);
        }
        let result = self.type_ref()?;
        let name = self.name("an extern function")?;
        let signature = self.method_signature(&name, result);
        let signature = signature?;
        self.expect_semicolon("this extern function")?;
        let kind = DeclarationKind::ExternFunction(signature);
        Ok(Some(self.make_declaration(start, annotations, name, kind)))
    }

    /// `name {` or `name<...> {`
    fn at_extern_object(&self) -> bool {
        if !self.at_name() {
            return false;
        }
        match self.ahead(1) {
            T::OpenBrace => true,
            T::OpenAngle => {
                self.type_end(self.position).is_some_and(|end| self.kind_at(end) == T::OpenBrace)
            }
            _ => false,
        }
    }

    fn extern_object(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        let name = self.name("an extern")?;
        self.scopes.declare(&name.text, NameClass::Type);
        self.scopes.open();
        let read = self.extern_body(&name);
        self.scopes.close();
        let kind = read?;
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    fn extern_body(&mut self, name: &Name) -> Parsed<DeclarationKind> {
        let type_parameters = self.type_parameters()?;
        let opener = self.span();
        self.expect(T::OpenBrace, "before the methods of this extern")?;
        let mut methods = Vec::new();
        while !self.at_field_list_end() {
            let before = self.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            match self.method(name) {
                Ok(method) => methods.push(method),
                Err(_) => self.skip_statement(),
            }
            if self.position == before {
                self.bump();
            }
        }
        self.close_block(opener, &format!("the extern `{}`", name.text));
        Ok(DeclarationKind::ExternObject { type_parameters, methods })
    }

    fn method(&mut self, object: &Name) -> Parsed<Method> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_abstract = self.eat(T::Abstract);
        if self.at_name() && self.ahead(1) == T::OpenParen {
            return self.constructor(start, annotations, is_abstract, object);
        }
        let result = self.type_ref()?;
        let name = self.name("a method")?;
        let signature = self.method_signature(&name, result)?;
        self.expect_semicolon("this method")?;
        let span = self.span_from(start);
        let is_constructor = false;
        Ok(Method {
            id: self.id(),
            span,
            annotations,
            name,
            is_abstract,
            is_constructor,
            signature,
        })
    }

    fn constructor(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        is_abstract: bool,
        object: &Name,
    ) -> Parsed<Method> {
        let name = self.take_name();
        if name.text != object.text {
            let diagnostic = Diagnostic::error(
                syntax::METHOD_WITHOUT_RESULT,
                name.span,
                format!("the method `{}` has no result type", name.text),
            )
            .note(format!("a constructor has the name of its extern, `{}`", object.text))
            .help("write `void` in front of a method that returns nothing");
            self.report_read(diagnostic);
        }
        let result = TypeRef { id: self.id(), span: name.span, kind: TypeRefKind::Void };
        self.scopes.open();
        let parameters = self.parameters();
        self.scopes.close();
        let parameters = parameters?;
        self.expect_semicolon("this constructor")?;
        let signature = Signature { result, type_parameters: Vec::new(), parameters };
        let is_constructor = true;
        let span = self.span_from(start);
        Ok(Method {
            id: self.id(),
            span,
            annotations,
            name,
            is_abstract,
            is_constructor,
            signature,
        })
    }

    /// `<T>(parameters)` after the name of an extern function or method.
    fn method_signature(&mut self, name: &Name, result: TypeRef) -> Parsed<Signature> {
        let generic = self.at(T::OpenAngle);
        self.declare_function(name, generic);
        self.scopes.open();
        let read = self.type_parameters().and_then(|type_parameters| {
            let parameters = self.parameters()?;
            Ok(Signature { result, type_parameters, parameters })
        });
        self.scopes.close();
        read
    }
}
