// SPDX-License-Identifier: Apache-2.0
//! Control-plane names of keys without `@name`: the text of the expression (P4_16 v1.2.5 §18.3.1.2).
//! Inlining changes the expression, so it adds the `@name` before.

use super::node_builder::{NodeBuilder, given_name};
use crate::ast::{
    BinaryOperator, Declaration, DeclarationKind, Expression, ExpressionKind, TablePropertyKind,
};
use crate::typed::{Callee, Constant, TypeKind};
use std::sync::Arc;

/// Adds `@name` to the keys of a table.
pub(super) fn keep_names(builder: &NodeBuilder<'_>, declaration: &mut Declaration) {
    let DeclarationKind::Table(table) = &mut declaration.kind else { return };
    for property in &mut table.properties {
        let TablePropertyKind::Key(keys) = &mut property.kind else { continue };
        for key in keys {
            let has_name =
                key.annotations.iter().any(|annotation| &*annotation.name.text == "name");
            if !has_name && let Some(name) = key_name(builder, &key.expression) {
                key.annotations.push(builder.name_annotation(&name));
            }
        }
    }
}

fn key_name(builder: &NodeBuilder<'_>, expression: &Expression) -> Option<String> {
    let typed = builder.rewriter.original();
    match &expression.kind {
        ExpressionKind::Path(path) => Some(path.name.text.to_string()),
        ExpressionKind::Member(base, name) => {
            let field = field_name(builder, base, &name.text);
            match field.strip_prefix('.') {
                Some(absolute) => Some(absolute.to_owned()),
                None => Some(format!("{}.{field}", key_name(builder, base)?)),
            }
        }
        ExpressionKind::Index(base, index) => {
            Some(format!("{}[{}]", key_name(builder, base)?, key_name(builder, index)?))
        }
        ExpressionKind::Integer { value, .. } => Some(value.to_string()),
        ExpressionKind::Slice { base, high, low } => Some(format!(
            "{}[{}:{}]",
            key_name(builder, base)?,
            number(builder, high)?,
            number(builder, low)?
        )),
        ExpressionKind::Binary(BinaryOperator::BitAnd, left, right) => {
            Some(format!("{} & {}", key_name(builder, left)?, key_name(builder, right)?))
        }
        ExpressionKind::Call(call) => {
            let info = typed.calls.get(&builder.rewriter.model_of(expression.id))?;
            match (&info.callee, &call.callee.kind) {
                (Callee::IsValid, ExpressionKind::Member(base, _)) => {
                    Some(format!("{}.$valid$", key_name(builder, base)?))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn number(builder: &NodeBuilder<'_>, expression: &Expression) -> Option<String> {
    let model = builder.rewriter.model_of(expression.id);
    match builder.rewriter.original().constants.get(&model) {
        Some(Constant::Integer(value)) => Some(value.to_string()),
        _ => key_name(builder, expression),
    }
}

/// Returns a field's `@name`, else its name.
fn field_name(builder: &NodeBuilder<'_>, base: &Expression, name: &str) -> Arc<str> {
    let typed = builder.rewriter.original();
    let ty = typed.expression_types.get(&builder.rewriter.model_of(base.id));
    let found = ty.and_then(|ty| {
        let (TypeKind::Struct(id, _) | TypeKind::Header(id, _) | TypeKind::HeaderUnion(id, _)) =
            &**ty
        else {
            return None;
        };
        let declaration = typed.program.declarations.iter().find(|each| each.id == *id)?;
        let (DeclarationKind::Struct(list)
        | DeclarationKind::Header(list)
        | DeclarationKind::HeaderUnion(list)) = &declaration.kind
        else {
            return None;
        };
        let field = list.fields.iter().find(|field| &*field.name.text == name)?;
        given_name(&field.annotations)
    });
    found.unwrap_or_else(|| name.into())
}
