// SPDX-License-Identifier: Apache-2.0
//! Annotations: which bodies the predefined ones take (P4_16 v1.2.5 §20). What they mean is the
//! business of those who look for them.

use super::Checker;
use crate::ast::{Annotation, AnnotationBody, ExpressionKind};
use crate::codes::typing as codes;
use crate::token::TokenKind;
use source::Diagnostic;

/// Annotations with exactly one string.
const WITH_STRING: &[&str] = &["name", "deprecated", "noWarn"];

/// Annotations without a body.
const WITHOUT_BODY: &[&str] =
    &["hidden", "tableonly", "defaultonly", "pure", "noSideEffects", "optional", "atomic"];

impl<'a> Checker<'a> {
    pub(super) fn check_annotations(&mut self, annotations: &'a [Annotation]) {
        for annotation in annotations {
            self.check_annotation(annotation);
        }
    }

    fn check_annotation(&mut self, annotation: &'a Annotation) {
        let name = &*annotation.name.text;
        if WITH_STRING.contains(&name) && string_body(annotation).is_none() {
            self.report(
                Diagnostic::error(
                    codes::INVALID_ANNOTATION,
                    annotation.span,
                    format!("`@{name}` takes one string"),
                )
                .help(format!("write `@{name}(\"...\")`")),
            );
        } else if WITHOUT_BODY.contains(&name)
            && !matches!(&annotation.body, AnnotationBody::Empty)
            && !matches!(&annotation.body, AnnotationBody::Unstructured(tokens) if tokens.is_empty())
        {
            self.report(Diagnostic::error(
                codes::INVALID_ANNOTATION,
                annotation.span,
                format!("`@{name}` takes nothing in parentheses"),
            ));
        }
    }
}

/// The string of an annotation such as `@name("x")`; strings joined with `++` count as one.
pub(super) fn string_body(annotation: &Annotation) -> Option<String> {
    match &annotation.body {
        AnnotationBody::Unstructured(tokens) => {
            let mut text = String::new();
            for (index, token) in tokens.iter().enumerate() {
                match (index % 2, token.kind) {
                    (0, TokenKind::String) => text.push_str(&token.text),
                    (1, TokenKind::PlusPlus) => {}
                    _ => return None,
                }
            }
            (tokens.len() % 2 == 1).then_some(text)
        }
        AnnotationBody::Expressions(expressions) => match expressions.as_slice() {
            [one] => match &one.kind {
                ExpressionKind::String(text) => Some(text.to_string()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
