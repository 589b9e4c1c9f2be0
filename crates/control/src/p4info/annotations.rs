// SPDX-License-Identifier: Apache-2.0
//! Annotations of P4Info: those that stay text, structured ones, and documentation. `@name`, `@id`, `@brief` and
//! `@description` have fields of their own.

use ir::lowering::{annotation_string, annotation_text};
use num_bigint::BigInt;
use p4::ast::{Annotation, AnnotationBody, Expression};
use p4::token::TokenKind;
use p4::typed::{Constant, TypedProgram};
use std::sync::Arc;

/// The annotations of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// Unstructured annotations as written.
    pub texts: Vec<Arc<str>>,
    /// Structured annotations.
    pub structured: Vec<StructuredAnnotation>,
    /// `@brief`.
    pub brief: Option<Arc<str>>,
    /// `@description`.
    pub description: Option<Arc<str>>,
}

/// An annotation `@name[...]`.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredAnnotation {
    /// The name.
    pub name: Arc<str>,
    /// The values.
    pub body: StructuredBody,
}

/// The values of a structured annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum StructuredBody {
    /// `[a, b]`
    Expressions(Vec<Literal>),
    /// `[k = a, l = b]`
    Pairs(Vec<(Arc<str>, Literal)>),
}

/// A value in a structured annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A number of 64 bits.
    Integer(i64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(Arc<str>),
}

impl Annotations {
    /// Reads the annotations of a declaration without those of these names.
    pub(super) fn of(typed: &TypedProgram, list: &[Annotation], without: &[&str]) -> Annotations {
        let mut found = Annotations::default();
        for annotation in list {
            let name = &*annotation.name.text;
            match (&annotation.body, name) {
                (_, "brief") => found.brief = annotation_string(annotation),
                (_, "description") => found.description = annotation_string(annotation),
                (_, "name" | "id") => {}
                (_, name) if without.contains(&name) => {}
                (AnnotationBody::Expressions(items), _) => {
                    found.structured.push(StructuredAnnotation {
                        name: name.into(),
                        body: StructuredBody::Expressions(
                            items.iter().filter_map(|item| literal(typed, item)).collect(),
                        ),
                    })
                }
                (AnnotationBody::Pairs(items), _) => {
                    let pair = |(key, value): &(p4::ast::Name, Expression)| {
                        Some((key.text.clone(), literal(typed, value)?))
                    };
                    found.structured.push(StructuredAnnotation {
                        name: name.into(),
                        body: StructuredBody::Pairs(items.iter().filter_map(pair).collect()),
                    });
                }
                _ => found.texts.push(annotation_text(annotation)),
            }
        }
        found
    }
}

fn literal(typed: &TypedProgram, expression: &Expression) -> Option<Literal> {
    use p4::ast::ExpressionKind;
    match (&expression.kind, typed.constants.get(&expression.id)) {
        (ExpressionKind::String(text), _) => Some(Literal::Text(text.clone())),
        (_, Some(Constant::String(text))) => Some(Literal::Text(text.clone())),
        (ExpressionKind::Bool(value), _) | (_, Some(Constant::Bool(value))) => {
            Some(Literal::Bool(*value))
        }
        (ExpressionKind::Integer { value, .. }, _) | (_, Some(Constant::Integer(value))) => {
            i64::try_from(value).ok().map(Literal::Integer)
        }
        _ => None,
    }
}

/// Returns the annotation of this name.
pub(super) fn named<'a>(list: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    list.iter().find(|annotation| *annotation.name.text == *name)
}

/// Returns the number in the `@id` among annotations.
pub(super) fn given_id(list: &[Annotation]) -> Option<u32> {
    number(named(list, "id")?)
}

/// Returns the number in an annotation such as `@id(7)`.
pub(super) fn number(annotation: &Annotation) -> Option<u32> {
    let value: BigInt = match &annotation.body {
        AnnotationBody::Unstructured(tokens) => match tokens.as_slice() {
            [token] if token.kind == TokenKind::Integer => crate::values::number(&token.text)?,
            _ => return None,
        },
        AnnotationBody::Expressions(items) => match items.as_slice() {
            [Expression { kind: p4::ast::ExpressionKind::Integer { value, .. }, .. }] => {
                value.clone()
            }
            _ => return None,
        },
        _ => return None,
    };
    u32::try_from(value).ok()
}

/// Returns the pairs of an annotation such as `@pkginfo(name = "x", version = "1")`: texts without quotes, numbers as
/// written.
pub(super) fn pairs(annotation: &Annotation) -> Vec<(Arc<str>, Arc<str>)> {
    match &annotation.body {
        AnnotationBody::Unstructured(tokens) => tokens
            .split(|token| token.kind == TokenKind::Comma)
            .filter_map(|item| match item {
                [key, assign, value] if assign.kind == TokenKind::Assign => {
                    Some((key.text.clone(), value.text.clone()))
                }
                _ => None,
            })
            .collect(),
        AnnotationBody::Pairs(items) => items
            .iter()
            .filter_map(|(key, value)| match &value.kind {
                p4::ast::ExpressionKind::String(text) => Some((key.text.clone(), text.clone())),
                p4::ast::ExpressionKind::Integer { value, .. } => {
                    Some((key.text.clone(), value.to_string().into()))
                }
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
