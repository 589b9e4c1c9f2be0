// SPDX-License-Identifier: Apache-2.0
//! Tables that malleables change (Mantis §4.1 Figures 5 and 6, Mantis §5.1.2): a malleable field in a key becomes a column for
//! each alternative, an action that uses fields an action for each combination of alternatives, selectors and the version
//! join the key. A default action that uses fields, or that a reaction may set, moves to a table that is applied on a
//! miss; `applies` changes the places where tables are applied.

use super::actions::{ExpandedAction, SpecialisedActions, action_fields, listed};
use super::names::{STATE, VERSION};
use super::plan::KeyPlan;
use super::translator::{Choice, Translator};
use super::usage::malleables;
use crate::language::check::is_malleable;
use p4::ast::{
    ActionRef, ControlDeclaration, Declaration, DeclarationKind, Expression, KeyElement, NodeId,
    TableDeclaration, TableProperty, TablePropertyKind,
};
use p4::typed::{Callee, Constant, Definition};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A table as run, with what it was made of.
#[derive(Clone, Debug)]
pub(super) struct ExpandedTable {
    /// Its declaration.
    pub(super) table: NodeId,
    /// Its name.
    pub(super) name: String,
    pub(super) is_malleable: bool,
    pub(super) keys: Vec<KeyPlan>,
    pub(super) selectors: Vec<usize>,
    pub(super) actions: Vec<ExpandedAction>,
    /// The declaration and the name of the table that is applied on a miss.
    pub(super) default_table: Option<(NodeId, String)>,
    pub(super) default_selectors: Vec<usize>,
}

/// The name of the action of a miss in tables with a default table.
pub(super) const MISS: &str = "p4r_miss";

impl Translator<'_> {
    /// Expands the tables of a control.
    pub(super) fn expand_tables(&mut self, control: &mut ControlDeclaration) -> Vec<ExpandedTable> {
        let mut expanded = Vec::new();
        let fields = action_fields(self, control);
        let mut actions = SpecialisedActions { fields, ..SpecialisedActions::default() };
        let called = self.called_actions(control);
        for mut local in std::mem::take(&mut control.locals) {
            if !matches!(local.kind, DeclarationKind::Table(_)) {
                actions.locals.push(local);
                continue;
            }
            let is_malleable = is_malleable(&local.annotations);
            local.annotations.retain(|one| &*one.name.text != crate::language::dialect::MALLEABLE);
            let name = local.name.text.to_string();
            let is_changed = is_malleable
                || !malleables(&local).is_empty()
                || listed(self, &local).iter().any(|action| actions.fields.contains_key(action));
            let DeclarationKind::Table(table) = &mut local.kind else { continue };
            if !is_changed {
                actions.locals.push(local);
                continue;
            }
            let outcome = self.expand_table(local.id, &name, is_malleable, table, &mut actions);
            actions.locals.push(local);
            actions.locals.extend(outcome.1);
            expanded.push(outcome.0);
        }
        for action in called {
            self.specialise_action(action, &mut actions);
        }
        let SpecialisedActions { fields, made, mut locals } = actions;
        for (action, names) in made {
            if let Some(fields) = fields.get(&action) {
                self.specialised.insert(action, (fields.clone(), names));
            }
        }
        if expanded.iter().any(|table| table.default_table.is_some()) {
            let mut miss = self.locals(Span::NONE, &format!("action {MISS}() {{ }}"));
            miss.append(&mut locals);
            locals = miss;
        }
        control.locals = locals;
        expanded
    }

    /// Expands one table; also returns the table that is applied on a miss.
    fn expand_table(
        &mut self,
        id: NodeId,
        name: &str,
        is_malleable: bool,
        table: &mut TableDeclaration,
        specialised: &mut SpecialisedActions,
    ) -> (ExpandedTable, Option<Declaration>) {
        let mut keys = Vec::new();
        let mut actions = Vec::new();
        let early = self.early_of(id);
        for property in &table.properties {
            if let TablePropertyKind::Actions(refs) = &property.kind {
                for action in refs {
                    let expanded = self.specialise(action, specialised);
                    actions.extend(expanded);
                }
            }
        }
        let key_fields: BTreeSet<usize> = table
            .properties
            .iter()
            .flat_map(|property| match &property.kind {
                TablePropertyKind::Key(elements) => elements.as_slice(),
                _ => &[],
            })
            .flat_map(|element| self.fields_of(&malleables(&element.expression)))
            .filter(|field| !early.contains_key(field))
            .collect();
        let for_entries = || actions.iter().filter(|action| !action.default_only);
        let used: BTreeSet<usize> =
            for_entries().flat_map(|action| &action.fields).copied().collect();
        let selectors: Vec<usize> = key_fields.union(&used).copied().collect();
        // A selector that some action leaves open is a wildcard in its rows.
        let is_open = |field: &usize| {
            !key_fields.contains(field)
                && for_entries().any(|action| !action.fields.contains(field))
        };
        let open: BTreeSet<usize> =
            selectors.iter().filter(|field| is_open(field)).copied().collect();
        let has_columns = !key_fields.is_empty();
        let becomes_ternary = has_columns || !open.is_empty();
        let mut has_key = false;
        for property in &mut table.properties {
            if let TablePropertyKind::Key(elements) = &mut property.kind {
                has_key = true;
                keys = self.expand_keys(elements, becomes_ternary, &early);
                self.add_selectors(elements, &selectors, &open, is_malleable);
            }
        }
        if !has_key && (is_malleable || !selectors.is_empty()) {
            let mut elements = Vec::new();
            self.add_selectors(&mut elements, &selectors, &open, is_malleable);
            let id = self.rewriter.fresh_id();
            let kind = TablePropertyKind::Key(elements);
            let (annotations, span) = (Vec::new(), Span::NONE);
            table
                .properties
                .insert(0, TableProperty { id, span, annotations, is_const: false, kind });
        }
        let default = default_of(table);
        let default_is_const = default.as_ref().is_some_and(|default| default.is_const);
        let for_default: Vec<&ExpandedAction> =
            actions.iter().filter(|action| !action.table_only).collect();
        let const_action = default.as_ref().filter(|_| default_is_const).and_then(|default| {
            let node = action_of(self, &default.value)?;
            actions.iter().find(|action| action.action == node)
        });
        let needs_default_table = match default_is_const {
            true => const_action.is_some_and(|action| !action.fields.is_empty()),
            false => is_malleable || for_default.iter().any(|action| !action.fields.is_empty()),
        };
        let default_selectors: Vec<usize> = match needs_default_table {
            true => for_default
                .iter()
                .flat_map(|action| &action.fields)
                .copied()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            false => Vec::new(),
        };
        let mut default_table = None;
        if needs_default_table {
            default_table =
                self.default_table(name, &for_default, &default_selectors, is_malleable);
        }
        let rows = actions.iter().map(|action| {
            let fields: BTreeSet<usize> =
                key_fields.iter().chain(&action.fields).copied().collect();
            self.combinations(&fields.into_iter().collect::<Vec<usize>>())
        });
        let rows = rows.max().unwrap_or(1) * if is_malleable { 2 } else { 1 };
        let named = |declaration: &Declaration| (declaration.id, declaration.name.text.to_string());
        let expanded = ExpandedTable {
            table: id,
            name: name.to_string(),
            is_malleable,
            keys,
            selectors,
            actions,
            default_table: default_table.as_ref().map(named),
            default_selectors,
        };
        self.finish_properties(table, &expanded, rows);
        (expanded, default_table)
    }

    pub(super) fn fields_of(&self, names: &BTreeSet<std::sync::Arc<str>>) -> Vec<usize> {
        names.iter().filter_map(|name| self.field_index(name)).collect()
    }

    /// Makes columns of keys with malleable fields; returns a plan for each key as written.
    fn expand_keys(
        &mut self,
        elements: &mut Vec<KeyElement>,
        becomes_ternary: bool,
        early: &BTreeMap<usize, String>,
    ) -> Vec<KeyPlan> {
        let mut plans = Vec::new();
        let mut columns = Vec::new();
        for mut element in std::mem::take(elements) {
            let fields = self.fields_of(&malleables(&element.expression));
            if fields.iter().all(|field| early.contains_key(field)) {
                if !fields.is_empty() {
                    let name = key_name(self, &element);
                    element.annotations.retain(|one| &*one.name.text != "name");
                    element.annotations.extend(self.name_annotation(&name));
                }
                if becomes_ternary && &*element.match_kind.text == "lpm" {
                    element.match_kind.text = "ternary".into();
                }
                let (choice, in_action) = (Choice::new(), false);
                let loaded = early.clone();
                self.replace_loaded(&mut element.expression, &choice, loaded, in_action);
                columns.push(element);
                plans.push(KeyPlan::Plain);
                continue;
            }
            let name = key_name(self, &element);
            for index in 0..self.combinations(&fields) {
                let choice = self.choice(&fields, index);
                let suffix = self.choice_name(&fields, &choice);
                let mut column = self.rewriter.copy(&element);
                self.replace_references(&mut column.expression, &choice, false);
                column.match_kind.text = match &*column.match_kind.text {
                    "range" => "range".into(),
                    _ if self.combinations(&fields) == 1 => column.match_kind.text,
                    _ => "ternary".into(),
                };
                column.annotations.retain(|one| &*one.name.text != "name");
                column.annotations.extend(self.name_annotation(&format!("{name}__{suffix}")));
                columns.push(column);
            }
            plans.push(KeyPlan::Malleable(fields));
        }
        *elements = columns;
        plans
    }

    /// Makes `@name("...")`.
    pub(super) fn name_annotation(&mut self, name: &str) -> Option<p4::ast::Annotation> {
        let text = format!("@name(\"{name}\") action x() {{ }}");
        self.locals(Span::NONE, &text).pop().and_then(|mut made| made.annotations.pop())
    }

    /// Appends selectors and the version to a key.
    fn add_selectors(
        &mut self,
        elements: &mut Vec<KeyElement>,
        selectors: &[usize],
        open: &BTreeSet<usize>,
        is_malleable: bool,
    ) {
        let mut text = String::from("table x { key = {");
        for field in selectors {
            if let Some(selector) = self.selector(*field) {
                let kind = if open.contains(field) { "ternary" } else { "exact" };
                text.push_str(&format!(" {selector} : {kind};"));
            }
        }
        if is_malleable {
            text.push_str(&format!(" {STATE}.{VERSION} : exact;"));
        }
        text.push_str(" } actions = { } }");
        let made = self.locals(Span::NONE, &text).pop();
        if let Some(Declaration { kind: DeclarationKind::Table(table), .. }) = made {
            for property in table.properties {
                if let TablePropertyKind::Key(added) = property.kind {
                    elements.extend(added);
                }
            }
        }
    }

    /// Makes the table that is applied on a miss.
    fn default_table(
        &mut self,
        name: &str,
        actions: &[&ExpandedAction],
        selectors: &[usize],
        is_malleable: bool,
    ) -> Option<Declaration> {
        let mut key = String::new();
        for field in selectors {
            if let Some(selector) = self.selector(*field) {
                key.push_str(&format!(" {selector} : exact;"));
            }
        }
        if is_malleable {
            key.push_str(&format!(" {STATE}.{VERSION} : exact;"));
        }
        let size = self.combinations(selectors) * if is_malleable { 2 } else { 1 };
        let text = format!(
            "table {name}__default {{ key = {{{key} }} actions = {{ {MISS}; }} \
             size = {size}; const default_action = {MISS}(); }}"
        );
        let mut made = self.locals(Span::NONE, &text).pop()?;
        let mut list = Vec::new();
        for action in actions {
            list.extend(self.references(action));
        }
        list.iter_mut().for_each(|reference| reference.annotations.clear());
        if let DeclarationKind::Table(table) = &mut made.kind {
            for property in &mut table.properties {
                if let TablePropertyKind::Actions(refs) = &mut property.kind {
                    refs.splice(0..0, list.drain(..));
                }
            }
        }
        Some(made)
    }

    /// The entries of an action's specialised forms in the list of a table.
    fn references(&mut self, action: &ExpandedAction) -> Vec<ActionRef> {
        let named = |(_, name): &(NodeId, String)| {
            let mut copy = self.rewriter.copy(&action.reference);
            copy.path.name.text = name.as_str().into();
            copy
        };
        action.specialised.iter().map(named).collect()
    }

    /// Rewrites actions, default action, entries and size of an expanded table.
    fn finish_properties(
        &mut self,
        table: &mut TableDeclaration,
        expanded: &ExpandedTable,
        rows: usize,
    ) {
        let has_default_table = expanded.default_table.is_some();
        let mut properties = Vec::new();
        for mut property in std::mem::take(&mut table.properties) {
            match &mut property.kind {
                TablePropertyKind::Actions(refs) => {
                    let is_listed =
                        |action: &&ExpandedAction| !has_default_table || !action.default_only;
                    let listed = expanded.actions.iter().filter(is_listed);
                    *refs = listed.flat_map(|action| self.references(action)).collect();
                }
                TablePropertyKind::Custom { name, .. }
                    if &*name.text == "default_action" && has_default_table =>
                {
                    continue;
                }
                TablePropertyKind::Custom { name, value } if &*name.text == "size" => {
                    let size = self.program.typed.constants.get(&value.id);
                    if let Some(Constant::Integer(size)) = size {
                        let text = (size * num_bigint::BigInt::from(rows)).to_string();
                        if let Some(made) = self.expression(value.span, &text, Vec::new()) {
                            *value = made;
                        }
                    }
                }
                // The control map installs entries that may change.
                TablePropertyKind::Entries(_) if !property.is_const => continue,
                TablePropertyKind::Entries(entries) => {
                    let mut list = Vec::new();
                    for entry in entries.iter() {
                        self.expand_entry(entry, expanded, &mut list);
                    }
                    *entries = list;
                }
                _ => {}
            }
            properties.push(property);
        }
        if has_default_table {
            let text = format!(
                "table x {{ actions = {{ @defaultonly {MISS}; }} const default_action = {MISS}(); }}"
            );
            let made = self.locals(Span::NONE, &text).pop();
            if let Some(Declaration { kind: DeclarationKind::Table(made), .. }) = made {
                for property in made.properties {
                    match property.kind {
                        TablePropertyKind::Actions(mut added) => {
                            let actions =
                                properties.iter_mut().find_map(|one| match &mut one.kind {
                                    TablePropertyKind::Actions(refs) => Some(refs),
                                    _ => None,
                                });
                            if let Some(actions) = actions {
                                actions.append(&mut added);
                            }
                        }
                        _ => properties.push(property),
                    }
                }
            }
        }
        table.properties = properties;
    }
}

/// The default action of a table.
struct Default {
    value: Expression,
    is_const: bool,
}

fn default_of(table: &TableDeclaration) -> Option<Default> {
    table.properties.iter().find_map(|property| match &property.kind {
        TablePropertyKind::Custom { name, value } if &*name.text == "default_action" => {
            Some(Default { value: value.clone(), is_const: property.is_const })
        }
        _ => None,
    })
}

/// The action that an expression names or calls.
fn action_of(translator: &Translator<'_>, value: &Expression) -> Option<NodeId> {
    let typed = &translator.program.typed;
    if let Some(Callee::Action(node)) = typed.calls.get(&value.id).map(|call| call.callee) {
        return Some(node);
    }
    match typed.definitions.get(&value.id) {
        Some(Definition::Node(node)) => Some(*node),
        _ => None,
    }
}

/// The control-plane name of a key with malleable fields: `@name`, or its text with `${f}` as `f`.
pub(super) fn key_name(translator: &Translator<'_>, element: &KeyElement) -> String {
    for annotation in &element.annotations {
        if &*annotation.name.text == "name"
            && let p4::ast::AnnotationBody::Unstructured(tokens) = &annotation.body
            && let [token] = tokens.as_slice()
        {
            return token.text.to_string();
        }
    }
    let text = translator.rewriter.map().slice(element.expression.span);
    text.replace("${", "").replace('}', "").trim().to_string()
}
