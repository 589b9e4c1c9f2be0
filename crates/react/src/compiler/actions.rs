// SPDX-License-Identifier: Apache-2.0
//! Actions that use malleable fields stand once for each combination of their alternatives (Mantis §4.1, Figure 5).

use super::architectures::Style;
use super::translator::{Specialised, Translator};
use super::usage::malleables;
use p4::ast::{
    ActionRef, ControlDeclaration, Declaration, DeclarationKind, Expression, NodeId,
    TablePropertyKind,
};
use p4::typed::{Callee, Definition};
use p4::visit::{Visit, walk_expression};
use std::collections::{BTreeMap, BTreeSet};

/// An action of an expanded table.
#[derive(Clone, Debug)]
pub(super) struct ExpandedAction {
    /// The declaration as written.
    pub(super) action: NodeId,
    /// Its place in the list of the table, with the arguments that the program binds.
    pub(super) reference: ActionRef,
    /// The malleable fields that it uses.
    pub(super) fields: Vec<usize>,
    /// The declarations as run, with their names.
    pub(super) specialised: Vec<(NodeId, String)>,
    /// `@tableonly`
    pub(super) table_only: bool,
    /// `@defaultonly`
    pub(super) default_only: bool,
}

/// The actions of a control that are made once for all tables.
#[derive(Clone, Debug, Default)]
pub(super) struct SpecialisedActions {
    /// The fields that actions use.
    pub(super) fields: BTreeMap<NodeId, Vec<usize>>,
    /// The actions made so far, by the action as written.
    pub(super) made: BTreeMap<NodeId, Vec<(NodeId, String)>>,
    /// The declarations of the control so far.
    pub(super) locals: Vec<Declaration>,
}

impl Translator<'_> {
    /// Makes the actions for the combinations of alternatives of an action's fields, once for all tables.
    pub(super) fn specialise(
        &mut self,
        reference: &ActionRef,
        actions: &mut SpecialisedActions,
    ) -> Option<ExpandedAction> {
        let action = match self.program.typed.calls.get(&reference.id).map(|call| call.callee) {
            Some(Callee::Action(node)) => node,
            _ => match self.program.typed.definitions.get(&reference.id) {
                Some(Definition::Node(node)) => *node,
                _ => return None,
            },
        };
        let has = |name: &str| reference.annotations.iter().any(|one| &*one.name.text == name);
        let (fields, specialised) = match self.specialise_action(action, actions) {
            Some(made) => made,
            None => (Vec::new(), vec![(action, reference.path.name.text.to_string())]),
        };
        let (table_only, default_only) = (has("tableonly"), has("defaultonly"));
        let reference = reference.clone();
        Some(ExpandedAction { action, reference, fields, specialised, table_only, default_only })
    }

    /// The actions that a control calls in statements, on Tofino.
    pub(super) fn called_actions(&self, control: &ControlDeclaration) -> BTreeSet<NodeId> {
        struct Called<'t, 'p>(&'t Translator<'p>, BTreeSet<NodeId>);
        impl<'a> Visit<'a> for Called<'_, '_> {
            fn expression(&mut self, expression: &'a Expression) {
                let calls = &self.0.program.typed.calls;
                if let Some(Callee::Action(node)) =
                    calls.get(&self.0.model(expression.id)).map(|call| call.callee)
                {
                    self.1.insert(node);
                }
                walk_expression(self, expression);
            }
        }
        let mut called = Called(self, BTreeSet::new());
        if self.style == Style::Tna {
            called.block(&control.body);
        }
        called.1
    }

    /// Makes the actions for the combinations of alternatives of an action's fields; `None` if it has none, or too many.
    pub(super) fn specialise_action(
        &mut self,
        action: NodeId,
        actions: &mut SpecialisedActions,
    ) -> Option<Specialised> {
        let fields = actions.fields.get(&action).filter(|fields| !fields.is_empty())?.clone();
        if self.combinations(&fields) > self.limits.combinations {
            return None;
        }
        if let Some(specialised) = actions.made.get(&action) {
            return Some((fields, specialised.clone()));
        }
        let original = actions.locals.iter().find(|local| local.id == action)?.clone();
        let mut specialised = Vec::new();
        for index in 0..self.combinations(&fields) {
            let choice = self.choice(&fields, index);
            let suffix = self.choice_name(&fields, &choice);
            let mut copy = self.rewriter.copy(&original);
            copy.name.text = format!("{}__{suffix}", original.name.text).into();
            copy.annotations.retain(|one| !matches!(&*one.name.text, "name" | "id"));
            self.replace_references(&mut copy, &choice, true);
            specialised.push((copy.id, copy.name.text.to_string()));
            actions.locals.push(copy);
        }
        actions.made.insert(action, specialised.clone());
        Some((fields, specialised))
    }
}

/// The malleable fields that the actions of a control use, directly or through actions that they call.
pub(super) fn action_fields(
    translator: &Translator<'_>,
    control: &ControlDeclaration,
) -> BTreeMap<NodeId, Vec<usize>> {
    let mut found: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
    let actions = || {
        control.locals.iter().filter(|local| matches!(local.kind, DeclarationKind::Action { .. }))
    };
    for action in actions() {
        let names = malleables(action);
        let fields = translator.fields_of(&names).into_iter();
        found.insert(
            action.id,
            fields
                .filter(|field| translator.alternatives[*field] > 1)
                .filter(|field| !translator.early_of(action.id).contains_key(field))
                .collect(),
        );
    }
    found.retain(|_, fields| !fields.is_empty());
    found.into_iter().map(|(action, fields)| (action, fields.into_iter().collect())).collect()
}

/// The actions that a table lists.
pub(super) fn listed(translator: &Translator<'_>, table: &Declaration) -> Vec<NodeId> {
    let DeclarationKind::Table(table) = &table.kind else { return Vec::new() };
    let refs = table.properties.iter().flat_map(|property| match &property.kind {
        TablePropertyKind::Actions(refs) => refs.as_slice(),
        _ => &[],
    });
    let typed = &translator.program.typed;
    refs.filter_map(|reference| match typed.calls.get(&reference.id).map(|call| call.callee) {
        Some(Callee::Action(node)) => Some(node),
        _ => match typed.definitions.get(&reference.id) {
            Some(Definition::Node(node)) => Some(*node),
            _ => None,
        },
    })
    .collect()
}
