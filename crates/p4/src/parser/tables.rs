// SPDX-License-Identifier: Apache-2.0
//! Tables and their properties (P4_16 v1.2.5 §14.2): keys, actions, entries, and any other
//! `name = value;`. Which properties a table must have is the type checker's.

use super::scopes::NameClass;
use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{
    ActionRef, Annotation, Declaration, DeclarationKind, Entry, KeyElement, Name, TableDeclaration,
    TableProperty, TablePropertyKind,
};
use crate::codes::syntax;
use crate::token::TokenKind as T;
use source::{Diagnostic, Span};

impl Parser<'_> {
    /// `table name { properties }`
    pub(super) fn table(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
        self.bump();
        let name = self.name("a table")?;
        self.scopes.declare(&name.text, NameClass::Value);
        let opener = self.span();
        self.expect(T::OpenBrace, "after the name of a table")?;
        let mut properties = Vec::new();
        while !self.at_block_end() {
            let before = self.cursor.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            match self.table_property() {
                Ok(property) => properties.push(property),
                Err(_) => self.skip_statement(),
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        self.close_block(opener, &format!("the table `{}`", name.text));
        let kind = DeclarationKind::Table(Box::new(TableDeclaration { properties }));
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    pub(super) fn table_property(&mut self) -> Parsed<TableProperty> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_const = self.eat(T::Const);
        let kind = match self.kind() {
            T::Key => {
                let opener = self.property_start("key")?;
                TablePropertyKind::Key(self.elements(opener, "the key", Self::key_element))
            }
            T::Actions => {
                let opener = self.property_start("actions")?;
                TablePropertyKind::Actions(self.elements(
                    opener,
                    "the list of actions",
                    Self::action_list_element,
                ))
            }
            T::Entries => {
                let opener = self.property_start("entries")?;
                TablePropertyKind::Entries(self.elements(
                    opener,
                    "the list of entries",
                    Self::entry,
                ))
            }
            _ => self.custom_property()?,
        };
        // `key = { ... };` is common and harmless.
        let span = self.span_from(start);
        Ok(TableProperty { id: self.id(), span, annotations, is_const, kind })
    }

    /// `word = {`; returns where the brace stands.
    fn property_start(&mut self, word: &str) -> Parsed<Span> {
        self.bump();
        self.expect(T::Assign, &format!("after `{word}`"))?;
        let opener = self.span();
        self.expect(T::OpenBrace, &format!("after `{word} =`"))?;
        Ok(opener)
    }

    fn elements<R>(
        &mut self,
        opener: Span,
        what: &str,
        element: impl Fn(&mut Self) -> Parsed<R>,
    ) -> Vec<R> {
        let mut elements = Vec::new();
        while !self.at_block_end() {
            let before = self.cursor.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            match element(self) {
                Ok(read) => elements.push(read),
                Err(_) => self.skip_statement(),
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        self.close_block(opener, what);
        elements
    }

    fn custom_property(&mut self) -> Parsed<TablePropertyKind> {
        let name: Name = self.name("a property of this table")?;
        self.expect(T::Assign, "after the name of a property")?;
        let value = self.expression()?;
        self.expect_semicolon("this property")?;
        Ok(TablePropertyKind::Custom { name, value })
    }

    fn key_element(&mut self) -> Parsed<KeyElement> {
        let expression = self.expression()?;
        if !self.eat(T::Colon) {
            let diagnostic = Diagnostic::error(
                syntax::KEY_WITHOUT_MATCH_KIND,
                self.previous_span().after(),
                format!("expected `:` and a match kind after this key, found {}", self.found()),
            )
            .help("write `field: exact;`, with `exact`, `lpm`, `ternary` or another match kind");
            return Err(self.report(diagnostic));
        }
        let match_kind = self.name("a match kind")?;
        let annotations = self.annotations()?;
        self.expect_semicolon("this key")?;
        Ok(KeyElement { id: self.id(), annotations, expression, match_kind })
    }

    fn action_list_element(&mut self) -> Parsed<ActionRef> {
        let annotations = self.annotations()?;
        let action = self.action_ref(annotations)?;
        if self.at(T::Comma) {
            let diagnostic = Diagnostic::error(
                syntax::MISSING_SEMICOLON,
                self.span(),
                "expected `;` after this action, found `,`",
            )
            .here("write `;`");
            let _ = self.report(diagnostic);
            self.bump();
            return Ok(action);
        }
        self.expect_semicolon("this action")?;
        Ok(action)
    }

    fn action_ref(&mut self, annotations: Vec<Annotation>) -> Parsed<ActionRef> {
        let start = self.span();
        let path = self.path("an action")?;
        let arguments = if self.at(T::OpenParen) { Some(self.arguments()?) } else { None };
        let span = self.span_from(start);
        Ok(ActionRef { id: self.id(), span, annotations, path, arguments })
    }

    /// `const priority = 3: keyset: action(arguments) annotations;`
    fn entry(&mut self) -> Parsed<Entry> {
        let start = self.span();
        let is_const = self.eat(T::Const);
        let priority = if self.at(T::Priority) && self.ahead(1) == T::Assign {
            self.bump();
            self.bump();
            let priority = self.expression()?;
            self.expect(T::Colon, "after the priority of this entry")?;
            Some(priority)
        } else {
            None
        };
        let keyset = self.keyset()?;
        self.expect(T::Colon, "and an action after what this entry matches")?;
        let action = self.action_ref(Vec::new())?;
        let annotations = self.annotations()?;
        self.expect_semicolon("this entry")?;
        let span = self.span_from(start);
        Ok(Entry { id: self.id(), span, annotations, is_const, priority, keyset, action })
    }
}
