// SPDX-License-Identifier: Apache-2.0
//! Declarations of types (P4_16 v1.2.5 §7.2): headers, unions, structs, enums, errors, match kinds,
//! `typedef` and `type`. How types are written where they are used is in `types`.

use super::scopes::NameClass;
use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{
    Annotation, Declaration, DeclarationKind, DeclaredName, EnumMember, Field, FieldList,
    TypedefTarget,
};
use crate::codes::syntax;
use crate::token::TokenKind as T;
use source::{Diagnostic, Span};

impl Parser<'_> {
    /// `header`, `header_union`, `struct` or `enum` with its braces.
    pub(super) fn derived_type(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
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
            let before = self.cursor.position;
            match self.field() {
                Ok(field) => fields.push(field),
                Err(_) => self.skip_statement(),
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        self.close_block(opener, what);
        Ok(FieldList { type_parameters, fields })
    }

    /// Like `at_block_end`, but `error` begins a field's type.
    pub(super) fn at_field_list_end(&self) -> bool {
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

    /// Takes the `}` of a list with commas.
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
    pub(super) fn name_set(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
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

    pub(super) fn typedef(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
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

    pub(super) fn new_type(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
        self.bump();
        let ty = self.type_ref()?;
        let (name, ty) = self.declarator(ty, "a type")?;
        self.scopes.declare(&name.text, NameClass::Type);
        self.expect_semicolon("this type")?;
        Ok(self.make_declaration(start, annotations, name, DeclarationKind::NewType(ty)))
    }
}
