// SPDX-License-Identifier: Apache-2.0
//! Names for the control plane while something is renamed: `@name` annotations that keep the old one
//! (P4_16 v1.2.5 §18.3.1, §18.3.2).

use super::Rewriter;
use crate::ast::{
    Annotation, AnnotationBody, BinaryOperator, Declaration, DeclarationKind, Expression,
    ExpressionKind, Field, KeyElement, Name, Node, NodeId, Parameter,
};
use crate::token::{Token, TokenKind};
use crate::typed::{Constant, Definition, TypeKind};
use crate::visit::Visit;
use crate::visit_mut::VisitMut;
use rustc_hash::FxHashMap;
use source::Span;
use std::any::Any;
use std::sync::Arc;

/// Adds `@name` where a control plane would see another name after the renaming.
pub(super) struct KeepNames<'r> {
    pub(super) rewriter: &'r Rewriter,
    /// The renamed declaration.
    pub(super) id: NodeId,
    /// Its old name.
    pub(super) old: &'r str,
    pub(super) is_action_parameter: bool,
    pub(super) names: FieldNames,
}

/// The control-plane names that fields were given by `@name`, by the struct, header or union and the
/// field's name.
pub(super) type FieldNames = FxHashMap<(NodeId, Arc<str>), String>;

impl KeepNames<'_> {
    fn refers(&self, expression: &Expression) -> bool {
        let mut found = RefersTo { rewriter: self.rewriter, id: self.id, found: false };
        Visit::expression(&mut found, expression);
        found.found
    }
}

impl VisitMut for KeepNames<'_> {
    fn enter<T: Node>(&mut self, node: &mut T) -> bool {
        let node = node as &mut dyn Any;
        if let Some(node) = node.downcast_mut::<Declaration>() {
            let has_name = matches!(
                node.kind,
                DeclarationKind::Action { .. }
                    | DeclarationKind::Table(_)
                    | DeclarationKind::Instance { .. }
                    | DeclarationKind::Control(_)
                    | DeclarationKind::Parser(_)
                    | DeclarationKind::ValueSet { .. }
                    | DeclarationKind::Struct(_)
                    | DeclarationKind::Header(_)
            );
            if node.id == self.id && has_name {
                add_name(&mut node.annotations, self.old);
            }
        } else if let Some(node) = node.downcast_mut::<Field>() {
            if node.id == self.id {
                add_name(&mut node.annotations, self.old);
            }
        } else if let Some(node) = node.downcast_mut::<Parameter>() {
            if node.id == self.id && self.is_action_parameter {
                add_name(&mut node.annotations, self.old);
            }
        } else if let Some(key) = node.downcast_mut::<KeyElement>()
            && self.refers(&key.expression)
            && let Some(name) = self.rewriter.key_name(&key.expression, &self.names)
        {
            add_name(&mut key.annotations, &name);
        }
        true
    }
}

struct RefersTo<'r> {
    rewriter: &'r Rewriter,
    id: NodeId,
    found: bool,
}

impl<'a> Visit<'a> for RefersTo<'_> {
    fn expression(&mut self, expression: &'a Expression) {
        self.found |= self.rewriter.definition(expression.id) == Some(Definition::Node(self.id));
        crate::visit::walk_expression(self, expression);
    }
}

impl Rewriter {
    /// Returns the names that `@name` gives to the fields of the tree.
    pub(super) fn names_of_fields(&self) -> FieldNames {
        let mut names = FieldNames::default();
        for declaration in &self.tree.declarations {
            if let DeclarationKind::Header(list)
            | DeclarationKind::HeaderUnion(list)
            | DeclarationKind::Struct(list) = &declaration.kind
            {
                for field in &list.fields {
                    if let Some(name) = given_name(&field.annotations) {
                        names.insert((declaration.id, field.name.text.clone()), name);
                    }
                }
            }
        }
        names
    }

    /// Returns the control-plane name of a key without `@name` (§18.3.1.3).
    fn key_name(&self, expression: &Expression, names: &FieldNames) -> Option<String> {
        let part = |part: &Expression| self.key_name(part, names);
        match &expression.kind {
            ExpressionKind::Path(path) => Some(path.name.text.to_string()),
            ExpressionKind::Member(base, name) => {
                let types = &self.typed.expression_types;
                let given = types.get(&self.model_of(base.id)).and_then(|ty| match &**ty {
                    TypeKind::Struct(node, _)
                    | TypeKind::Header(node, _)
                    | TypeKind::HeaderUnion(node, _) => {
                        names.get(&(self.mapped(base.id, *node), name.text.clone()))
                    }
                    _ => None,
                });
                let field = given.map_or(&*name.text, |given| given);
                match field.strip_prefix('.') {
                    Some(absolute) => Some(absolute.to_owned()),
                    None => Some(format!("{}.{field}", part(base)?)),
                }
            }
            ExpressionKind::Index(base, index) => {
                Some(format!("{}[{}]", part(base)?, part(index)?))
            }
            ExpressionKind::Integer { value, .. } => Some(value.to_string()),
            ExpressionKind::Slice { base, high, low } => {
                let number =
                    |part: &Expression| match self.typed.constants.get(&self.model_of(part.id)) {
                        Some(Constant::Integer(value)) => Some(value.to_string()),
                        _ => self.key_name(part, names),
                    };
                Some(format!("{}[{}:{}]", part(base)?, number(high)?, number(low)?))
            }
            ExpressionKind::Binary(BinaryOperator::BitAnd, left, right) => {
                Some(format!("{} & {}", part(left)?, part(right)?))
            }
            ExpressionKind::Call(call) => match &call.callee.kind {
                ExpressionKind::Member(base, name) if &*name.text == "isValid" => {
                    Some(format!("{}.$valid$", part(base)?))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns the name that `@name` gives.
fn given_name(annotations: &[Annotation]) -> Option<String> {
    let annotation = annotations.iter().find(|each| &*each.name.text == "name")?;
    match &annotation.body {
        AnnotationBody::Unstructured(tokens) => {
            let is_text =
                !tokens.is_empty() && tokens.iter().all(|token| token.kind == TokenKind::String);
            is_text.then(|| tokens.iter().map(|token| &*token.text).collect())
        }
        AnnotationBody::Expressions(values) => match values.as_slice() {
            [Expression { kind: ExpressionKind::String(text), .. }] => Some(text.to_string()),
            _ => None,
        },
        AnnotationBody::Empty | AnnotationBody::Pairs(_) => None,
    }
}

fn add_name(annotations: &mut Vec<Annotation>, name: &str) {
    if given_name(annotations).is_some() {
        return;
    }
    // One that is no plain string gives no name.
    annotations.retain(|each| &*each.name.text != "name");
    let token = Token { kind: TokenKind::String, span: Span::NONE, text: name.into() };
    annotations.push(Annotation {
        name: Name { text: "name".into(), span: Span::NONE },
        body: AnnotationBody::Unstructured(vec![token]),
        span: Span::NONE,
    });
}
