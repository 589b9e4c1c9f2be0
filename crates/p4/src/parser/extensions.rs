// SPDX-License-Identifier: Apache-2.0
//! Constructs of a dialect, at the places where it may add some. The dialect reads their parts;
//! recovery after an error in one is that of P4_16.

use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{
    Annotation, Block, Declaration, DeclarationKind, Expression, ExpressionKind, Extension,
    ExtensionPart, Name, Parameter, Statement, StatementKind, TypeRef,
};
use crate::dialect::{Dialect, ExtensionReader, FormPlace, Unparsed};
use crate::token::{Token, TokenKind as T};
use source::Span;

impl<'d> Parser<'d> {
    /// Returns the dialect and its form that begins at the current token.
    fn form_here(&self, place: FormPlace) -> Option<(&'d dyn Dialect, &'static str)> {
        let dialect = self.dialect?;
        let form =
            dialect.form(place, &|distance| self.token_at(self.cursor.position + distance))?;
        Some((dialect, form))
    }

    /// Reads the form of a dialect that begins at the current token, if one does.
    fn extension(&mut self, place: FormPlace) -> Option<Parsed<Extension>> {
        let (dialect, form) = self.form_here(place)?;
        let read = self.nested(|parser| {
            let mut reader = Reader { parser, parts: Vec::new() };
            dialect.read(form, &mut reader)?;
            Ok(reader.parts)
        });
        Some(read.map(|parts| Extension { dialect: dialect.name(), form, parts }))
    }

    /// Reads a declaration of a dialect, if one begins at the current token. Its name is the first
    /// in it.
    pub(super) fn declaration_extension(
        &mut self,
        place: FormPlace,
        start: Span,
        annotations: &mut Vec<Annotation>,
    ) -> Option<Parsed<Declaration>> {
        let first = self.token().clone();
        let extension = match self.extension(place)? {
            Ok(extension) => extension,
            Err(unparsed) => return Some(Err(unparsed)),
        };
        let word = || Name { text: first.text.clone(), span: first.span };
        let name = extension.names().next().cloned().unwrap_or_else(word);
        let kind = DeclarationKind::Extension(Box::new(extension));
        Some(Ok(self.make_declaration(start, std::mem::take(annotations), name, kind)))
    }

    /// Reads a statement of a dialect, if one begins at the current token.
    pub(super) fn statement_extension(&mut self, start: Span) -> Option<Parsed<Statement>> {
        let extension = self.extension(FormPlace::Statement)?;
        Some(extension.map(|extension| {
            self.make_statement(start, StatementKind::Extension(Box::new(extension)))
        }))
    }

    /// Reads an expression of a dialect, if one begins at the current token.
    pub(super) fn expression_extension(&mut self, start: Span) -> Option<Parsed<Expression>> {
        let extension = match self.extension(FormPlace::Expression)? {
            Ok(extension) => extension,
            Err(unparsed) => return Some(Err(unparsed)),
        };
        let height = self.height;
        let expression = self.make(start, ExpressionKind::Extension(Box::new(extension)));
        Some(self.one_higher(height).map(|height| {
            self.height = height;
            expression
        }))
    }
}

struct Reader<'r, 'd> {
    parser: &'r mut Parser<'d>,
    parts: Vec<ExtensionPart>,
}

impl Reader<'_, '_> {
    fn take(&mut self) -> Token {
        let token = self.parser.token().clone();
        self.parser.bump();
        self.parts.push(ExtensionPart::Token(token.clone()));
        token
    }
}

impl ExtensionReader for Reader<'_, '_> {
    fn ahead(&self, distance: usize) -> &Token {
        self.parser.token_at(self.parser.cursor.position + distance)
    }

    fn token(&mut self) -> Token {
        self.take()
    }

    fn expect(&mut self, kind: T, place: &str) -> Result<(), Unparsed> {
        let token = self.parser.token().clone();
        self.parser.expect(kind, place)?;
        self.parts.push(ExtensionPart::Token(token));
        Ok(())
    }

    fn name(&mut self, what: &str) -> Result<Name, Unparsed> {
        let name = self.parser.name(what)?;
        self.parts.push(ExtensionPart::Name(name.clone()));
        Ok(name)
    }

    fn type_ref(&mut self) -> Result<&TypeRef, Unparsed> {
        let ty = self.parser.type_ref()?;
        self.parts.push(ExtensionPart::Type(ty));
        match self.parts.last() {
            Some(ExtensionPart::Type(ty)) => Ok(ty),
            _ => Err(Unparsed),
        }
    }

    fn expression(&mut self) -> Result<&Expression, Unparsed> {
        let expression = self.parser.expression()?;
        self.parts.push(ExtensionPart::Expression(expression));
        match self.parts.last() {
            Some(ExtensionPart::Expression(expression)) => Ok(expression),
            _ => Err(Unparsed),
        }
    }

    fn parameters(&mut self) -> Result<&[Parameter], Unparsed> {
        let parameters = self.parser.parameters()?;
        self.parts.push(ExtensionPart::Parameters(parameters));
        match self.parts.last() {
            Some(ExtensionPart::Parameters(parameters)) => Ok(parameters),
            _ => Err(Unparsed),
        }
    }

    fn block(&mut self, what: &str) -> Result<&Block, Unparsed> {
        let annotations = self.parser.annotations()?;
        let block = self.parser.block(annotations, what)?;
        self.parts.push(ExtensionPart::Block(block));
        match self.parts.last() {
            Some(ExtensionPart::Block(block)) => Ok(block),
            _ => Err(Unparsed),
        }
    }

    fn verbatim(&mut self, place: &str) -> Result<(), Unparsed> {
        if self.parser.kind() == T::OpenBrace {
            // The dialect found no end of its text.
            return Err(self.parser.report_open_text());
        }
        if self.parser.kind() != T::Verbatim {
            return Err(self.parser.unexpected(&format!("`{{` {place}")));
        }
        self.take();
        Ok(())
    }

    fn balanced(&mut self) -> Result<(), Unparsed> {
        if !matches!(self.parser.kind(), T::OpenParen | T::OpenBracket | T::OpenBrace) {
            return Err(self.parser.unexpected("a bracket"));
        }
        let mut depth = 0usize;
        loop {
            match self.parser.kind() {
                T::End => return Err(self.parser.unexpected("a closing bracket")),
                T::OpenParen | T::OpenBracket | T::OpenBrace => depth += 1,
                T::CloseParen | T::CloseBracket | T::CloseBrace => depth -= 1,
                _ => {}
            }
            self.take();
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn unexpected(&mut self, expected: &str) -> Unparsed {
        self.parser.unexpected(expected)
    }
}
