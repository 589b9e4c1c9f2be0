// SPDX-License-Identifier: Apache-2.0
//! Tables: keys, actions, default action and other properties (P4_16 v1.2.5 §14.2.1.1,
//! §14.2.1.3, §14.2.1.5, §14.2.1.6). Entries are in `entries`, the binding of actions in `actions`.

use super::{Checker, Node, SyntacticContext};
use crate::ast::{
    ActionRef, Argument, Declaration, Expression, ExpressionKind, KeyElement, Name, NodeId,
    TableDeclaration, TableProperty, TablePropertyKind,
};
use crate::codes::typing as codes;
use crate::interfaces::table_properties;
use crate::typed::{Constant, Definition, Type, TypeKind};
use num_traits::Signed;
use source::{Diagnostic, Span};
use std::rc::Rc;
use std::sync::Arc;

/// An action in a table's list.
#[derive(Clone, Copy)]
pub(super) struct ListedAction<'a> {
    pub(super) node: NodeId,
    pub(super) arguments: &'a [Argument],
    pub(super) reference: &'a ActionRef,
}

/// A key of a table as entries see it.
pub(super) struct TableKey<'a> {
    pub(super) ty: Type,
    pub(super) match_kind: &'a Name,
}

impl<'a> Checker<'a> {
    pub(super) fn check_table(
        &mut self,
        declaration: &'a Declaration,
        table: &'a TableDeclaration,
    ) {
        self.set_node(declaration.id, Node::Declaration(declaration));
        self.typed.declared_types.insert(declaration.id, Arc::new(TypeKind::Table(declaration.id)));
        self.open_declarations.push(declaration);
        self.in_context(SyntacticContext::Table, |checker| {
            checker.check_properties(declaration, table)
        });
        self.open_declarations.pop();
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    fn check_properties(&mut self, declaration: &'a Declaration, table: &'a TableDeclaration) {
        self.check_repeated_properties(table);
        let mut keys: Vec<TableKey<'a>> = Vec::new();
        let mut key_property: Option<&'a TableProperty> = None;
        let mut entries_property: Option<&'a TableProperty> = None;
        let mut has_actions = false;
        let mut listed: Vec<ListedAction<'a>> = Vec::new();
        for property in &table.properties {
            self.check_property_annotations(&property.annotations);
            match &property.kind {
                TablePropertyKind::Key(elements) => {
                    if let Some(entries) = entries_property {
                        self.report(
                            Diagnostic::error(
                                codes::INVALID_TABLE_PROPERTY,
                                entries.span,
                                "the entries must come after the key",
                            )
                            .label(property.span, "the key"),
                        );
                    }
                    if key_property.is_none() {
                        key_property = Some(property);
                        keys = elements.iter().map(|key| self.check_table_key(key)).collect();
                    }
                }
                TablePropertyKind::Actions(actions) => {
                    has_actions = true;
                    for action in actions {
                        if let Some(action) = self.check_listed_action(action) {
                            self.add_listed_action(&mut listed, action);
                        }
                    }
                }
                TablePropertyKind::Entries(_) => entries_property = Some(property),
                TablePropertyKind::Custom { name, .. } => {
                    if &*name.text == "default_action" && !has_actions {
                        self.report(
                            Diagnostic::error(
                                codes::INVALID_TABLE_PROPERTY,
                                property.span,
                                "`default_action` must come after `actions`",
                            )
                            .label(declaration.name.span, "the table"),
                        );
                    }
                }
            }
        }
        if !has_actions {
            self.report(
                Diagnostic::error(
                    codes::MISSING_ACTIONS,
                    declaration.name.span,
                    format!("table `{}` has no `actions`", declaration.name.text),
                )
                .help("add `actions = { ... }`"),
            );
        }
        let listed = Rc::new(listed);
        self.table_actions.insert(declaration.id, listed.clone());
        for property in &table.properties {
            if let TablePropertyKind::Custom { name, value } = &property.kind {
                self.check_custom_property(name, value, &listed);
            }
        }
        for property in &table.properties {
            let TablePropertyKind::Entries(entries) = &property.kind else { continue };
            if keys.is_empty() && !entries.is_empty() {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_TABLE_PROPERTY,
                        property.span,
                        format!("table `{}` has entries but no key", declaration.name.text),
                    )
                    .label(declaration.name.span, "the table"),
                );
            } else {
                self.check_entries(table, property, entries, &keys, &listed);
            }
        }
    }

    fn check_repeated_properties(&mut self, table: &'a TableDeclaration) {
        let mut seen: Vec<(&str, Span)> = Vec::new();
        for property in &table.properties {
            let name = match &property.kind {
                TablePropertyKind::Key(_) => "key",
                TablePropertyKind::Actions(_) => "actions",
                TablePropertyKind::Entries(_) => "entries",
                TablePropertyKind::Custom { name, .. } => &name.text,
            };
            match seen.iter().find(|(earlier, _)| *earlier == name) {
                Some((_, first)) => {
                    let first = *first;
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_TABLE_PROPERTY,
                            property.span,
                            format!("property `{name}` is given twice"),
                        )
                        .label(first, "first given here"),
                    );
                }
                None => seen.push((name, property.span)),
            }
        }
    }

    fn add_listed_action(&mut self, listed: &mut Vec<ListedAction<'a>>, action: ListedAction<'a>) {
        let first = listed.iter().find(|earlier| {
            earlier.node == action.node
                || earlier.reference.path.name.text == action.reference.path.name.text
        });
        if let Some(first) = first {
            let span = first.reference.span;
            self.report(
                Diagnostic::error(
                    codes::DUPLICATE_NAME,
                    action.reference.span,
                    format!("action `{}` is listed twice", action.reference.path.name.text),
                )
                .label(span, "first listed here"),
            );
        } else {
            listed.push(action);
        }
    }

    fn check_table_key(&mut self, key: &'a KeyElement) -> TableKey<'a> {
        self.check_annotations(&key.annotations);
        let ty = self.synthesize(&key.expression);
        if !names_itself(&key.expression)
            && !key.annotations.iter().any(|annotation| &*annotation.name.text == "name")
        {
            self.report(
                Diagnostic::error(
                    codes::INVALID_TABLE_KEY,
                    key.expression.span,
                    "this key has no name for the control plane",
                )
                .help("give it one: `... : exact @name(\"...\")`"),
            );
        }
        match self.match_kind_nodes.get(&key.match_kind.text).copied() {
            Some(node) => {
                self.used.insert(node);
                self.typed.definitions.insert(key.id, Definition::Node(node));
            }
            None => {
                let mut diagnostic = Diagnostic::error(
                    codes::UNKNOWN_MATCH_KIND,
                    key.match_kind.span,
                    format!("there is no match kind `{}`", key.match_kind.text),
                );
                let nearest = source::nearest(
                    &key.match_kind.text,
                    self.typed.match_kinds.iter().map(|name| &**name),
                );
                if let Some(nearest) = nearest {
                    diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
                } else if self.typed.match_kinds.is_empty() {
                    diagnostic = diagnostic.help("add `#include <core.p4>`");
                } else {
                    diagnostic =
                        diagnostic.note(format!("there are {}", self.typed.match_kinds.join(", ")));
                }
                self.report(diagnostic);
            }
        }
        let representation = self.representation(&ty);
        if matches!((&*key.match_kind.text, &*representation), ("lpm" | "range", TypeKind::Bool)) {
            let kind = key.match_kind.text.clone();
            self.error(
                codes::INVALID_TABLE_KEY,
                key.expression.span,
                format!("a `bool` cannot be matched with `{kind}`"),
            );
        }
        let allowed = matches!(
            &*representation,
            TypeKind::Bit(_)
                | TypeKind::Int(_)
                | TypeKind::Integer
                | TypeKind::Varbit(_)
                | TypeKind::Bool
                | TypeKind::Error
                | TypeKind::Enum(_)
                | TypeKind::SerializableEnum(_)
                | TypeKind::Variable(_)
                | TypeKind::Unknown
        );
        if !allowed {
            let shown = self.show(&ty);
            let mut diagnostic = Diagnostic::error(
                codes::INVALID_TABLE_KEY,
                key.expression.span,
                format!("a value of type `{shown}` cannot be a key"),
            );
            if let TypeKind::Header(..) | TypeKind::Struct(..) = &*ty {
                diagnostic = diagnostic.help("list its fields as keys");
            }
            self.report(diagnostic);
        }
        let ty = if allowed { ty } else { self.known.unknown.clone() };
        TableKey { ty, match_kind: &key.match_kind }
    }

    fn check_custom_property(
        &mut self,
        name: &'a Name,
        value: &'a Expression,
        listed: &[ListedAction<'a>],
    ) {
        match &*name.text {
            "default_action" => {
                self.check_default_action(value, listed);
            }
            "size" => {
                if let Some(size) = self.constant_size(value, "the size of a table")
                    && size.is_negative()
                {
                    self.error(
                        codes::INVALID_TABLE_PROPERTY,
                        value.span,
                        format!("a table cannot have {size} entries"),
                    );
                }
            }
            "largest_priority_wins" => {
                let bool_type = self.known.bool.clone();
                if self.check_against(value, &bool_type, "`largest_priority_wins`") {
                    self.require_compile_time(value, "`largest_priority_wins`");
                }
            }
            "priority_delta" => {
                if let Some(delta) = self.constant_size(value, "`priority_delta`")
                    && !delta.is_positive()
                {
                    self.error(
                        codes::INVALID_TABLE_PROPERTY,
                        value.span,
                        format!("`priority_delta` is positive, not {delta}"),
                    );
                }
            }
            known if table_properties().any(|property| property == known) => {
                self.synthesize(value);
            }
            _ => self.check_unknown_property(name, value),
        }
    }

    /// A property that no architecture gives a meaning has no effect; most are misspelt.
    fn check_unknown_property(&mut self, name: &'a Name, value: &'a Expression) {
        let diagnostic = Diagnostic::warning(
            codes::UNKNOWN_TABLE_PROPERTY,
            name.span,
            format!("`{}` is not a property of tables and has no effect", name.text),
        );
        let names = table_properties()
            .chain(["key", "actions", "entries", "default_action", "size"])
            .chain(["largest_priority_wins", "priority_delta"]);
        match source::nearest(&name.text, names) {
            // The value would be judged by rules that are not meant for it.
            Some(nearest) => self.report(diagnostic.help(format!("did you mean `{nearest}`?"))),
            None => {
                self.report(diagnostic);
                self.synthesize(value);
            }
        }
    }

    fn check_default_action(&mut self, value: &'a Expression, listed: &[ListedAction<'a>]) {
        let (path, arguments): (_, &'a [Argument]) = match &value.kind {
            ExpressionKind::Path(path) => (path, &[]),
            ExpressionKind::Call(call) => match &call.callee.kind {
                ExpressionKind::Path(path) => (path, &call.arguments),
                _ => {
                    self.report_no_action(value);
                    return;
                }
            },
            ExpressionKind::Invalid => return,
            _ => {
                self.report_no_action(value);
                return;
            }
        };
        let Some(node) = self.check_complete_action(value.id, value.span, path, arguments, listed)
        else {
            return;
        };
        let ty: Type = Arc::new(TypeKind::Action(node));
        match &value.kind {
            ExpressionKind::Call(call) => {
                self.typed.definitions.insert(call.callee.id, Definition::Node(node));
                self.typed.expression_types.insert(call.callee.id, ty);
                self.typed.expression_types.insert(value.id, self.known.void.clone());
            }
            _ => {
                self.typed.expression_types.insert(value.id, ty);
            }
        }
        if let Some(action) = listed.iter().find(|action| action.node == node)
            && let Some(annotation) = action
                .reference
                .annotations
                .iter()
                .find(|annotation| &*annotation.name.text == "tableonly")
        {
            self.report(
                Diagnostic::error(
                    codes::INVALID_ACTION_ARGUMENTS,
                    value.span,
                    format!("action `{}` cannot be the default", path.name.text),
                )
                .label(annotation.span, "it is marked so here"),
            );
        }
    }

    fn report_no_action(&mut self, value: &'a Expression) {
        self.error(
            codes::NOT_CALLABLE,
            value.span,
            "a default action is the name of an action, perhaps with arguments",
        );
    }

    /// Returns the integer of a constant, whatever type it has.
    pub(super) fn plain_integer(&self, expression: &Expression) -> Option<num_bigint::BigInt> {
        match self.constant(expression)? {
            Constant::Integer(value) => Some(value.clone()),
            Constant::EnumMember(node, index) => match self.enum_member_value(*node, *index)? {
                Constant::Integer(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether a control-plane name can be made of a key's expression (§18.3.1.3).
fn names_itself(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Path(_)
        | ExpressionKind::Integer { .. }
        | ExpressionKind::Bool(_)
        | ExpressionKind::Type(_)
        | ExpressionKind::ErrorType
        | ExpressionKind::Invalid
        | ExpressionKind::Extension(_)
        | ExpressionKind::This => true,
        ExpressionKind::Member(base, _) => names_itself(base),
        ExpressionKind::Index(base, index) => names_itself(base) && names_itself(index),
        ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => {
            names_itself(base)
        }
        ExpressionKind::Binary(crate::ast::BinaryOperator::BitAnd, left, right) => {
            names_itself(left) && names_itself(right)
        }
        ExpressionKind::Cast(_, value) => names_itself(value),
        ExpressionKind::Call(call) => match &call.callee.kind {
            ExpressionKind::Member(base, name) => &*name.text == "isValid" && names_itself(base),
            _ => false,
        },
        _ => false,
    }
}
