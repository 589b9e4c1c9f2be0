// SPDX-License-Identifier: Apache-2.0
//! Names: annotations, control-plane names of instances, tables, actions and keys, and names of local
//! storage (P4_16 v1.2.5 §18.3.1.1, §18.3.1.2, §18.3.1.3, §18.3.1.4, §18.3.1.5, §18.3.2, §20.3.3).

use super::{Lowered, Lowering, codes};
use p4::ast::{
    Annotation, AnnotationBody, BinaryOperator, DeclarationKind, Expression, ExpressionKind,
};
use p4::parser::unescape;
use p4::token::{Token, TokenKind};
use p4::typed::{Callee, Constant, Type, TypeKind, TypedProgram};
use std::fmt::Write as _;
use std::sync::Arc;

/// The annotation with this name.
pub(crate) fn annotation_named<'n>(
    annotations: &'n [Annotation],
    name: &str,
) -> Option<&'n Annotation> {
    annotations.iter().find(|annotation| &*annotation.name.text == name)
}

/// The string in an annotation such as `@name("x")`.
pub fn annotation_string(annotation: &Annotation) -> Option<Arc<str>> {
    match &annotation.body {
        AnnotationBody::Unstructured(tokens) => match tokens.as_slice() {
            [] => None,
            tokens if tokens.iter().all(|token| token.kind == TokenKind::String) => {
                let texts = tokens.iter().map(|token| unescape(&token.text));
                Some(texts.collect::<String>().into())
            }
            _ => None,
        },
        AnnotationBody::Expressions(items) => match items.as_slice() {
            [Expression { kind: ExpressionKind::String(text), .. }] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The numbers in an annotation such as `@field_list(1, 2)`.
pub(crate) fn annotation_numbers(annotation: &Annotation) -> Vec<u32> {
    match &annotation.body {
        AnnotationBody::Unstructured(tokens) => tokens
            .iter()
            .filter(|token| token.kind == TokenKind::Integer)
            .filter_map(|token| parse_number(&token.text))
            .collect(),
        AnnotationBody::Expressions(items) => items
            .iter()
            .filter_map(|item| match &item.kind {
                ExpressionKind::Integer { value, .. } => u32::try_from(value).ok(),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The numbers in an annotation whose tokens may also name constants and members of serializable enums,
/// as in `@field_list(CLONE_LIST, FieldLists.resubmit)`. What is neither is left out.
pub(crate) fn annotation_values(typed: &TypedProgram, annotation: &Annotation) -> Vec<u32> {
    let AnnotationBody::Unstructured(tokens) = &annotation.body else {
        return annotation_numbers(annotation);
    };
    let number = |item: &[Token]| match item {
        [token] if token.kind == TokenKind::Integer => parse_number(&token.text),
        [constant] => constant_named(typed, &constant.text, None),
        [name, dot, member] if dot.kind == TokenKind::Dot => {
            constant_named(typed, &name.text, Some(&member.text))
        }
        _ => None,
    };
    tokens.split(|token| token.kind == TokenKind::Comma).filter_map(number).collect()
}

/// The value of a constant declared at top level, or of a member of a serializable enum.
fn constant_named(typed: &TypedProgram, name: &str, member: Option<&str>) -> Option<u32> {
    let named = typed.program.declarations.iter().filter(|each| *each.name.text == *name);
    let value = named.filter_map(|declaration| match (&declaration.kind, member) {
        (DeclarationKind::Constant { value, .. }, None) => Some(value),
        (DeclarationKind::Enum { members, .. }, Some(member)) => {
            members.iter().find(|each| *each.name.text == *member)?.value.as_ref()
        }
        _ => None,
    });
    value.filter_map(|value| typed.constants.get(&value.id)).find_map(|constant| match constant {
        Constant::Integer(value) => u32::try_from(value).ok(),
        _ => None,
    })
}

/// A number as P4 writes it, with or without a width.
fn parse_number(text: &str) -> Option<u32> {
    let text = text.replace('_', "");
    let digits = match text.find(['w', 's']) {
        Some(at) => text.get(at + 1..)?,
        None => &text,
    };
    let lower = digits.to_ascii_lowercase();
    let (digits, radix) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0b") => (&lower[2..], 2),
        Some("0o") => (&lower[2..], 8),
        Some("0d") => (&lower[2..], 10),
        _ => (&*lower, 10),
    };
    u32::from_str_radix(digits, radix).ok()
}

/// An annotation as it was written.
pub fn annotation_text(annotation: &Annotation) -> Arc<str> {
    let mut text = format!("@{}", annotation.name.text);
    match &annotation.body {
        AnnotationBody::Empty => {}
        AnnotationBody::Unstructured(tokens) => {
            text.push('(');
            for (index, token) in tokens.iter().enumerate() {
                let spaced = index > 0
                    && !matches!(token.kind, TokenKind::Comma | TokenKind::CloseParen)
                    && tokens[index - 1].kind != TokenKind::OpenParen;
                if spaced {
                    text.push(' ');
                }
                match token.kind {
                    TokenKind::String => {
                        let _ = write!(text, "\"{}\"", token.text);
                    }
                    _ => text.push_str(&token.text),
                }
            }
            text.push(')');
        }
        AnnotationBody::Expressions(items) => {
            let items: Vec<String> = items.iter().map(simple_text).collect();
            let _ = write!(text, "[{}]", items.join(", "));
        }
        AnnotationBody::Pairs(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|(key, value)| format!("{} = {}", key.text, simple_text(value)))
                .collect();
            let _ = write!(text, "[{}]", items.join(", "));
        }
    }
    text.into()
}

fn simple_text(expression: &Expression) -> String {
    match &expression.kind {
        ExpressionKind::String(text) => format!("\"{text}\""),
        ExpressionKind::Integer { value, .. } => value.to_string(),
        ExpressionKind::Bool(value) => value.to_string(),
        ExpressionKind::Path(path) => path.name.text.to_string(),
        ExpressionKind::Member(base, name) => format!("{}.{}", simple_text(base), name.text),
        _ => "...".to_owned(),
    }
}

/// All annotations as they were written.
pub(super) fn annotation_texts(annotations: &[Annotation]) -> Vec<Arc<str>> {
    annotations.iter().map(annotation_text).collect()
}

/// A control-plane name below a prefix: `@name` wins, and a dot in front of it makes it absolute.
pub fn control_plane_name(prefix: &str, annotations: &[Annotation], name: &str) -> Arc<str> {
    let given = annotation_named(annotations, "name").and_then(annotation_string);
    let name = given.as_deref().unwrap_or(name);
    match name.strip_prefix('.') {
        Some(absolute) => absolute.into(),
        None if prefix.is_empty() => name.into(),
        None => format!("{prefix}.{name}").into(),
    }
}

impl Lowering<'_> {
    /// The control-plane name of the instance being lowered; empty at the top level.
    pub(crate) fn prefix(&self) -> Arc<str> {
        match self.instance {
            Some(id) => self.instances[id.index()].name.clone(),
            None => "".into(),
        }
    }

    /// Annotations of the fields of a struct type.
    pub(crate) fn field_annotations(&self, ty: &Type) -> Vec<Vec<Annotation>> {
        let TypeKind::Struct(id, _) = &**ty else { return Vec::new() };
        match self.nodes.declaration(*id).map(|declaration| &declaration.kind) {
            Some(DeclarationKind::Struct(list)) => {
                list.fields.iter().map(|field| field.annotations.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The control-plane name of a declared struct or header type.
    pub(crate) fn type_name(&self, ty: &Type) -> Option<Arc<str>> {
        let (TypeKind::Struct(id, _) | TypeKind::Header(id, _)) = &**ty else { return None };
        let declaration = self.nodes.declaration(*id)?;
        Some(control_plane_name("", &declaration.annotations, &declaration.name.text))
    }

    /// Reports a control-plane name that something of the same kind has already.
    pub(crate) fn claim_name(&mut self, kind: &'static str, name: &Arc<str>) -> Lowered<()> {
        if self.control_names.insert((kind, name.clone())) {
            return Ok(());
        }
        Err(self.error(
            codes::DUPLICATE_NAME,
            format!("another {kind} has the control-plane name `{name}` already"),
        ))
    }

    /// A name for local storage.
    pub(crate) fn local_name(&self, name: &str) -> String {
        let prefix = self.prefix();
        match (&*prefix, &*self.scope) {
            ("", "") => name.to_owned(),
            ("", scope) => format!("{scope}.{name}"),
            (prefix, "") => format!("{prefix}.{name}"),
            (prefix, scope) => format!("{prefix}.{scope}.{name}"),
        }
    }

    /// The control-plane name of a key without `@name`: the text of simple expressions.
    pub(super) fn key_name(&self, expression: &Expression) -> Option<String> {
        match &expression.kind {
            ExpressionKind::Path(path) => Some(path.name.text.to_string()),
            ExpressionKind::Member(base, name) => {
                let field = self.field_control_name(base, &name.text);
                match field.strip_prefix('.') {
                    Some(absolute) => Some(absolute.to_owned()),
                    None => Some(format!("{}.{field}", self.key_name(base)?)),
                }
            }
            ExpressionKind::Index(base, index) => {
                Some(format!("{}[{}]", self.key_name(base)?, self.key_name(index)?))
            }
            ExpressionKind::Integer { value, .. } => Some(value.to_string()),
            ExpressionKind::Slice { base, high, low } => Some(format!(
                "{}[{}:{}]",
                self.key_name(base)?,
                self.key_number(high)?,
                self.key_number(low)?
            )),
            ExpressionKind::Binary(BinaryOperator::BitAnd, left, right) => {
                Some(format!("{} & {}", self.key_name(left)?, self.key_name(right)?))
            }
            ExpressionKind::Call(call) => {
                let info = self.typed.calls.get(&expression.id)?;
                match (&info.callee, &call.callee.kind) {
                    (Callee::IsValid, ExpressionKind::Member(base, _)) => {
                        Some(format!("{}.$valid$", self.key_name(base)?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn key_number(&self, expression: &Expression) -> Option<String> {
        match self.typed.constants.get(&expression.id) {
            Some(Constant::Integer(value)) => Some(value.to_string()),
            _ => self.key_name(expression),
        }
    }

    /// A field's name for the control plane: its `@name`, else its name.
    fn field_control_name(&self, base: &Expression, name: &str) -> Arc<str> {
        let found = self.typed.expression_types.get(&base.id).and_then(|ty| {
            let (TypeKind::Struct(id, _) | TypeKind::Header(id, _) | TypeKind::HeaderUnion(id, _)) =
                &*self.close(ty)
            else {
                return None;
            };
            let (DeclarationKind::Struct(list)
            | DeclarationKind::Header(list)
            | DeclarationKind::HeaderUnion(list)) = &self.nodes.declaration(*id)?.kind
            else {
                return None;
            };
            let field = list.fields.iter().find(|field| &*field.name.text == name)?;
            annotation_named(&field.annotations, "name").and_then(annotation_string)
        });
        found.unwrap_or_else(|| name.into())
    }
}
