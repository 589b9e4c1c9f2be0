// SPDX-License-Identifier: Apache-2.0
//! The top level and its declarations (P4_16 v1.2.5 §6.6, §10, §11): functions, actions, constants,
//! instances, parameters. Types are in `type_declarations`, externs in `externs`, parsers and
//! controls in `parsers`, tables in `tables`.

use super::scopes::NameClass;
use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{
    Annotation, Argument, BlockType, Declaration, DeclarationKind, Direction, Name, Parameter,
    Signature, TypeRef, TypeRefKind,
};
use crate::codes::syntax;
use crate::dialect::{FormPlace, Unparsed};
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
            let before = self.cursor.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            if self.at(T::ListHole) {
                declarations.extend(self.declarations_hole());
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
            if self.cursor.position == before {
                self.bump();
            }
        }
        declarations
    }

    fn top_level_declaration(&mut self) -> Parsed<Option<Declaration>> {
        let start = self.span();
        let mut annotations = self.annotations()?;
        if let Some(read) = self.declaration_extension(FormPlace::TopLevel, start, &mut annotations)
        {
            return read.map(Some);
        }
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
        let starts_type =
            self.at_name() || self.at(T::Dot) || self.is_base_type_at(self.cursor.position);
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
        let first = self.cursor.position;
        let ty = self.type_ref()?;
        if self.at(T::OpenParen) {
            return self.instance(start, annotations, ty);
        }
        let name = self.name("a function")?;
        if self.at(T::OpenParen)
            && first + 2 == self.cursor.position
            && let Some(unparsed) = self.report_mistyped_action(first)
        {
            return Err(unparsed);
        }
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

    pub(super) fn declare_function(&mut self, name: &Name, generic: bool) {
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

    /// `{ functions and instances }` (§11.3.1)
    fn object_initializer(&mut self) -> Parsed<Vec<Declaration>> {
        let opener = self.span();
        self.expect(T::OpenBrace, "before the functions of this instance")?;
        self.scopes.open();
        let mut declarations = Vec::new();
        while !self.at_block_end() {
            let before = self.cursor.position;
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
            if self.cursor.position == before {
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
}
