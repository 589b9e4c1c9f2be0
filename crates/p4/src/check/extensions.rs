// SPDX-License-Identifier: Apache-2.0
//! Constructs of a dialect. Without the dialect the checker refuses them; with it, the checker checks the
//! P4_16 inside them, and an expression has the type that the dialect finds in the program. The dialect
//! resolves the names in a construct.

use super::Checker;
use crate::ast::{Expression, Extension, ExtensionPart};
use crate::codes::syntax;
use crate::typed::Type;
use source::{Diagnostic, Span};

impl<'a> Checker<'a> {
    /// Whether forms of this dialect may stand here; a report if not.
    fn accepts(&mut self, span: Span, extension: &Extension) -> bool {
        if self.dialect.is_some_and(|dialect| dialect.name() == extension.dialect) {
            return true;
        }
        let (form, dialect) = (extension.form, extension.dialect);
        self.report(
            Diagnostic::error(
                syntax::FORM_OF_A_DIALECT,
                span,
                format!("`{form}` belongs to {dialect} and is not P4_16"),
            )
            .help(format!("translate the program from {dialect} to P4_16 first")),
        );
        false
    }

    /// A declaration or statement of a dialect.
    pub(super) fn check_extension(&mut self, span: Span, extension: &'a Extension) {
        if self.accepts(span, extension) {
            self.check_parts(extension);
        }
    }

    fn check_parts(&mut self, extension: &'a Extension) {
        for part in &extension.parts {
            match part {
                ExtensionPart::Token(_) | ExtensionPart::Name(_) => {}
                ExtensionPart::Type(ty) => {
                    self.resolve_type(ty);
                }
                ExtensionPart::Expression(expression) => {
                    self.synthesize(expression);
                }
                ExtensionPart::Parameters(parameters) => {
                    for parameter in parameters {
                        self.resolve_type(&parameter.ty);
                    }
                }
                ExtensionPart::Block(block) => self.check_block(block),
            }
        }
    }

    /// The type of an expression of a dialect.
    pub(super) fn synthesize_extension(
        &mut self,
        expression: &'a Expression,
        extension: &'a Extension,
    ) -> Type {
        if !self.accepts(expression.span, extension) {
            return self.known.unknown.clone();
        }
        self.check_parts(extension);
        let written = self.dialect.and_then(|dialect| dialect.type_of(extension, self.program));
        match written {
            Some(written) => self.resolve_type(written),
            None => {
                let what = extension.tokens().next().map_or("this", |token| &token.text);
                let error = Diagnostic::error(
                    syntax::FORM_OF_A_DIALECT,
                    expression.span,
                    format!("`{what}` refers to nothing that {} declares", extension.dialect),
                );
                let known = self.dialect.map(|dialect| dialect.declared(self.program));
                let name = what.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
                let nearest = source::nearest(name, known.unwrap_or_default());
                self.report(match nearest {
                    Some(nearest) => {
                        error.help(format!("did you mean `{}`?", what.replace(name, nearest)))
                    }
                    None => error,
                });
                self.known.unknown.clone()
            }
        }
    }
}
