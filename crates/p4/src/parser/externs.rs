// SPDX-License-Identifier: Apache-2.0
//! Extern objects with their methods, and extern functions (P4_16 v1.2.5 §7.2.11). That a
//! constructor has the name of its object is checked here, everything else later.

use super::scopes::NameClass;
use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{
    Annotation, Declaration, DeclarationKind, Method, Name, Signature, TypeRef, TypeRefKind,
};
use crate::codes::syntax;
use crate::token::TokenKind as T;
use source::{Diagnostic, Span};

impl Parser<'_> {
    /// Reads an extern object, an extern function, or `extern name;`, which only announces a type.
    pub(super) fn extern_declaration(
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
            T::OpenAngle => self
                .type_end(self.cursor.position)
                .is_some_and(|end| self.kind_at(end) == T::OpenBrace),
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
            let before = self.cursor.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            match self.method(name) {
                Ok(method) => methods.push(method),
                Err(_) => self.skip_statement(),
            }
            if self.cursor.position == before {
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
