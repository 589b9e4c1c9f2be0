// SPDX-License-Identifier: Apache-2.0
//! Annotations: which bodies the predefined ones take (P4_16 v1.2.5 §20.1, §20.2, §20.3.3.1,
//! §20.3.6, §20.3.8, §20.3.9, §C). The passes that use an annotation interpret it.

use super::Checker;
use crate::ast::{Annotation, AnnotationBody, ExpressionKind};
use crate::codes::typing as codes;
use crate::token::TokenKind;
use crate::typed::TypeKind;
use source::Diagnostic;

/// Annotations with exactly one string.
const WITH_STRING: &[&str] = &["name", "deprecated", "noWarn"];

/// Annotations without a body.
const WITHOUT_BODY: &[&str] =
    &["hidden", "tableonly", "defaultonly", "pure", "noSideEffects", "optional", "atomic"];

impl<'a> Checker<'a> {
    pub(super) fn check_annotations(&mut self, annotations: &'a [Annotation]) {
        self.warn_of_names(annotations);
        for (index, annotation) in annotations.iter().enumerate() {
            self.check_annotation(annotation);
            let is_structured = |annotation: &Annotation| {
                matches!(annotation.body, AnnotationBody::Expressions(_) | AnnotationBody::Pairs(_))
            };
            if let Some(first) = annotations[..index].iter().find(|earlier| {
                earlier.name.text == annotation.name.text
                    && (is_structured(earlier) || is_structured(annotation))
            }) {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_ANNOTATION,
                        annotation.span,
                        format!("`@{}` is given twice", annotation.name.text),
                    )
                    .label(first.span, "first given here"),
                );
            }
        }
    }

    /// Checks the annotations of a table's property, which may repeat as in p4c.
    pub(super) fn check_property_annotations(&mut self, annotations: &'a [Annotation]) {
        for annotation in annotations {
            self.check_annotation(annotation);
        }
    }

    /// Warns about further `@name`s: an object has one name for the control plane (§18.3.2), but p4c accepts
    /// more.
    fn warn_of_names(&mut self, annotations: &'a [Annotation]) {
        let mut names = annotations.iter().filter(|annotation| {
            &*annotation.name.text == "name"
                && matches!(annotation.body, AnnotationBody::Unstructured(_))
        });
        let Some(first) = names.next() else { return };
        for further in names {
            self.report(
                Diagnostic::warning(
                    codes::FURTHER_NAME,
                    further.span,
                    "a further `@name` has no effect",
                )
                .label(first.span, "this is the name"),
            );
        }
    }

    fn check_annotation(&mut self, annotation: &'a Annotation) {
        match &annotation.body {
            AnnotationBody::Expressions(values) => {
                for value in values {
                    self.check_annotation_value(value);
                }
            }
            AnnotationBody::Pairs(pairs) => {
                for (index, (name, value)) in pairs.iter().enumerate() {
                    self.check_annotation_value(value);
                    if let Some((first, _)) =
                        pairs[..index].iter().find(|(earlier, _)| earlier.text == name.text)
                    {
                        self.report(
                            Diagnostic::error(
                                codes::INVALID_ANNOTATION,
                                name.span,
                                format!("`{}` is given twice", name.text),
                            )
                            .label(first.span, "first given here"),
                        );
                    }
                }
            }
            AnnotationBody::Unstructured(tokens) if &*annotation.name.text == "match" => {
                let kind = match tokens.as_slice() {
                    [one] => Some(&one.text),
                    _ => None,
                };
                if !kind.is_some_and(|kind| self.match_kind_nodes.contains_key(kind)) {
                    self.error(
                        codes::INVALID_ANNOTATION,
                        annotation.span,
                        "`@match` takes one match kind",
                    );
                }
            }
            _ => {}
        }
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

impl<'a> Checker<'a> {
    /// Checks that values in structured annotations are compile-time integers, strings and `bool`s (§20.2).
    fn check_annotation_value(&mut self, value: &'a crate::ast::Expression) {
        let ty = self.synthesize(value);
        match &*ty {
            TypeKind::Unknown => {}
            TypeKind::Integer
            | TypeKind::Bit(_)
            | TypeKind::Int(_)
            | TypeKind::Bool
            | TypeKind::String => {
                self.require_compile_time(value, "a value in an annotation");
            }
            _ => {
                let shown = self.show(&ty);
                self.error(
                    codes::INVALID_ANNOTATION,
                    value.span,
                    format!("a value of type `{shown}` cannot stand in an annotation"),
                );
            }
        }
    }
}

/// Returns the string of an annotation such as `@name("x")`; strings joined with `++` count as one.
pub(crate) fn string_body(annotation: &Annotation) -> Option<String> {
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
