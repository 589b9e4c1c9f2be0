// SPDX-License-Identifier: Apache-2.0
//! Last touches on a translated control: names of keys, actions that specialised ones replace.

use super::tables::{ExpandedTable, key_name};
use super::translator::Translator;
use super::usage::malleables;
use crate::language::dialect::MALLEABLE;
use crate::language::{ArgumentSource, Gress, ReactionDeclaration};
use p4::ast::{
    ActionRef, ControlDeclaration, DeclarationKind, Expression, ExpressionKind, TablePropertyKind,
};
use p4::visit::{Visit, walk_action_ref, walk_declaration, walk_expression};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Gives keys with malleable fields their control-plane names, which chains of conditions do not have.
pub(super) fn name_keys(translator: &mut Translator<'_>, control: &mut ControlDeclaration) {
    for local in &mut control.locals {
        local.annotations.retain(|one| &*one.name.text != MALLEABLE);
        let DeclarationKind::Table(table) = &mut local.kind else { continue };
        for property in &mut table.properties {
            let TablePropertyKind::Key(elements) = &mut property.kind else { continue };
            for element in elements {
                if malleables(&element.expression).is_empty() {
                    continue;
                }
                let name = key_name(translator, element);
                element.annotations.retain(|one| &*one.name.text != "name");
                element.annotations.extend(translator.name_annotation(&name));
            }
        }
    }
}

/// Whether a reaction takes fields of the packets of a pipeline.
pub(super) fn measures_fields(reaction: &ReactionDeclaration, gress: Gress) -> bool {
    reaction.arguments.iter().any(|argument| match &argument.source {
        ArgumentSource::Packet { in_egress, .. } | ArgumentSource::Malleable { in_egress, .. } => {
            *in_egress == (gress == Gress::Egress)
        }
        _ => false,
    })
}

/// Removes actions that only expanded tables had.
pub(super) fn remove_unused_actions(control: &mut ControlDeclaration, expanded: &[ExpandedTable]) {
    let mut named = Named(BTreeSet::new());
    for local in &control.locals {
        walk_declaration(&mut named, local);
    }
    named.block(&control.body);
    let replaced: BTreeSet<_> = expanded
        .iter()
        .flat_map(|table| &table.actions)
        .filter(|action| !action.fields.is_empty())
        .map(|action| action.action)
        .collect();
    control
        .locals
        .retain(|local| !replaced.contains(&local.id) || named.0.contains(&local.name.text));
}

/// Names in lists of actions and in calls.
struct Named(BTreeSet<Arc<str>>);

impl<'a> Visit<'a> for Named {
    fn action_ref(&mut self, action: &'a ActionRef) {
        self.0.insert(action.path.name.text.clone());
        walk_action_ref(self, action);
    }

    fn expression(&mut self, expression: &'a Expression) {
        if let ExpressionKind::Path(path) = &expression.kind {
            self.0.insert(path.name.text.clone());
        }
        walk_expression(self, expression);
    }
}
