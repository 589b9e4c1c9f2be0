// SPDX-License-Identifier: Apache-2.0
//! Loads of malleable fields in earlier stages (Mantis §4.1): the chosen alternative is copied to a variable in front of the
//! statement that reads it. Inputs of hashes are loaded, and what cannot be expanded: keys and actions with more combinations
//! than [`super::Limits`] allows, and on Tofino all that a statement of a control or a register action reads. A field is loaded
//! only where nothing between load and use writes it.

use super::Mode;
use super::architectures::Style;
use super::registers::own_expressions;
use super::translator::{Loads, Translator};
use super::usage::malleables;
use p4::ast::{
    ControlDeclaration, Declaration, DeclarationKind, Expression, ExpressionKind, NodeId,
    Statement, StatementKind, TablePropertyKind,
};
use p4::typed::Callee;
use p4::visit::{Visit, walk_expression, walk_statement};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Names of actions, tables and objects in a part of the tree.
fn names<'a>(visit: impl FnOnce(&mut Names)) -> BTreeSet<Arc<str>>
where
    Names: Visit<'a>,
{
    let mut names = Names(BTreeSet::new());
    visit(&mut names);
    names.0
}

struct Names(BTreeSet<Arc<str>>);

impl<'a> Visit<'a> for Names {
    fn expression(&mut self, expression: &'a Expression) {
        if let ExpressionKind::Path(path) = &expression.kind {
            self.0.insert(path.name.text.clone());
        }
        walk_expression(self, expression);
    }
}

/// The keys and the actions of a table.
fn table_parts(table: &Declaration) -> (Vec<&Expression>, Vec<&Arc<str>>) {
    let (mut keys, mut actions) = (Vec::new(), Vec::new());
    if let DeclarationKind::Table(table) = &table.kind {
        for property in &table.properties {
            match &property.kind {
                TablePropertyKind::Key(all) => keys.extend(all.iter().map(|key| &key.expression)),
                TablePropertyKind::Actions(refs) => {
                    actions.extend(refs.iter().map(|action| &action.path.name.text));
                }
                _ => {}
            }
        }
    }
    (keys, actions)
}

impl Translator<'_> {
    /// The malleable fields of several alternatives among these names.
    fn several(&self, names: &BTreeSet<Arc<str>>) -> BTreeSet<usize> {
        let fields = names.iter().filter_map(|name| self.field_index(name));
        fields.filter(|field| self.alternatives[*field] > 1).collect()
    }

    /// Decides what a control loads.
    pub(super) fn plan_loads(&mut self, control: &ControlDeclaration) {
        self.loads = Loads::default();
        if self.mode == Mode::Written {
            return;
        }
        let mut early: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
        let mut of_actions: BTreeMap<&Arc<str>, BTreeSet<usize>> = BTreeMap::new();
        for local in &control.locals {
            match &local.kind {
                DeclarationKind::Instance { body: Some(_), .. } if self.style == Style::Tna => {
                    early.insert(local.id, self.several(&malleables(local)));
                }
                DeclarationKind::Action { .. } => {
                    let fields = self.several(&malleables(local));
                    let all: Vec<usize> = fields.iter().copied().collect();
                    let loaded = match self.combinations(&all) > self.limits.combinations {
                        true => fields.difference(&self.written_in(local)).copied().collect(),
                        false => BTreeSet::new(),
                    };
                    of_actions
                        .insert(&local.name.text, fields.difference(&loaded).copied().collect());
                    early.insert(local.id, loaded);
                }
                _ => {}
            }
        }
        for local in &control.locals {
            let (keys, actions) = table_parts(local);
            let fields: BTreeSet<usize> =
                keys.iter().flat_map(|key| self.several(&malleables(*key))).collect();
            let rows = actions.iter().map(|action| {
                let own = of_actions.get(action).into_iter().flatten();
                let all: BTreeSet<usize> = fields.iter().chain(own).copied().collect();
                self.combinations(&all.into_iter().collect::<Vec<usize>>())
            });
            if rows.max().unwrap_or(1) > self.limits.combinations {
                early.insert(local.id, fields);
            }
        }
        early.retain(|_, fields| !fields.is_empty());
        self.loads.reached = reached(control, &early);
        self.loads.early = early;
    }

    /// The fields that an action writes, or whose alternatives it may write.
    fn written_in(&self, action: &Declaration) -> BTreeSet<usize> {
        struct Targets<'t, 'p> {
            translator: &'t Translator<'p>,
            fields: BTreeSet<usize>,
            paths: BTreeSet<String>,
        }
        impl<'a> Visit<'a> for Targets<'_, '_> {
            fn statement(&mut self, statement: &'a Statement) {
                self.fields.extend(self.translator.written_fields(statement));
                match &statement.kind {
                    StatementKind::Assign { target, .. } => {
                        self.paths.insert(p4::printer::print_expression(target));
                    }
                    // `out` arguments, `setValid`, and what a called action does.
                    StatementKind::Call(call) => {
                        if let ExpressionKind::Call(call) = &call.kind {
                            let base = match &call.callee.kind {
                                ExpressionKind::Member(base, _) => Some(&**base),
                                _ => None,
                            };
                            let arguments = call.arguments.iter().map(|argument| &argument.value);
                            let all = arguments.chain(base);
                            self.paths.extend(all.map(p4::printer::print_expression));
                        }
                    }
                    _ => {}
                }
                walk_statement(self, statement);
            }
        }
        let (fields, paths) = (BTreeSet::new(), BTreeSet::new());
        let mut targets = Targets { translator: self, fields, paths };
        targets.declaration(action);
        let Targets { fields: direct, paths, .. } = targets;
        let alternatives = |field: usize| {
            (0..self.alternatives[field])
                .map(move |alternative| self.alternative(field, alternative))
        };
        let others = direct.iter().flat_map(|field| alternatives(*field));
        let paths: BTreeSet<String> = paths.into_iter().chain(others).collect();
        let touches = |path: &String, alternative: &String| {
            path.starts_with(alternative.as_str()) || alternative.starts_with(path.as_str())
        };
        (0..self.alternatives.len())
            .filter(|field| {
                direct.contains(field)
                    || alternatives(*field)
                        .any(|alternative| paths.iter().any(|path| touches(path, &alternative)))
            })
            .collect()
    }

    /// The variable that a key, an action or a register action reads a field from.
    pub(super) fn early_variable(&self, field: usize) -> String {
        format!("p4r_{}_early", self.program.declarations.fields[field].name.text)
    }

    /// The variables of the fields that a declaration reads from variables.
    pub(super) fn early_of(&self, declaration: NodeId) -> BTreeMap<usize, String> {
        let fields = self.loads.early.get(&self.model(declaration)).into_iter().flatten();
        fields.map(|field| (*field, self.early_variable(*field))).collect()
    }

    /// The statements that load fields in front of a statement of a control, and the variables that the statement itself
    /// reads then.
    pub(super) fn loads_before(
        &mut self,
        statement: &Statement,
    ) -> (Vec<Statement>, BTreeMap<usize, String>) {
        let own = own_expressions(statement);
        let named = names(|names| own.iter().for_each(|one| names.expression(one)));
        let reached = named.iter().filter_map(|name| self.loads.reached.get(name));
        let early: BTreeSet<usize> = reached.flatten().copied().collect();
        let mut made = Vec::new();
        for field in early {
            let variable = self.early_variable(field);
            made.extend(self.load(statement.span, field, variable));
        }
        let mut loaded = BTreeMap::new();
        if self.reads_copies(&own) {
            let written = self.written_fields(statement);
            let read: BTreeSet<Arc<str>> = own.iter().flat_map(|one| malleables(*one)).collect();
            for field in self.several(&read).difference(&written).copied() {
                let name = &self.program.declarations.fields[field].name.text;
                let variable = format!("p4r_{name}_{}", self.loads.count);
                made.extend(self.load(statement.span, field, variable.clone()));
                loaded.insert(field, variable);
            }
            self.loads.count += usize::from(!loaded.is_empty());
        }
        (made, loaded)
    }

    /// Whether a statement with these expressions reads fields from variables: no expression applies a table or a control,
    /// which may write them first.
    fn reads_copies(&self, own: &[&Expression]) -> bool {
        struct Calls<'t, 'p>(&'t Translator<'p>, bool, bool);
        impl<'a> Visit<'a> for Calls<'_, '_> {
            fn expression(&mut self, expression: &'a Expression) {
                let calls = &self.0.program.typed.calls;
                match calls.get(&self.0.model(expression.id)).map(|call| call.callee) {
                    Some(
                        Callee::TableApply(_) | Callee::BlockApply(_) | Callee::DirectApply(_),
                    ) => self.1 = true,
                    Some(Callee::ExternFunction(_) | Callee::ExternMethod(_)) => self.2 = true,
                    _ => {}
                }
                walk_expression(self, expression);
            }
        }
        let mut calls = Calls(self, false, false);
        own.iter().for_each(|one| calls.expression(one));
        !calls.1 && (calls.2 || self.style == Style::Tna)
    }

    /// Copies the chosen alternative of a field to a variable.
    fn load(&mut self, span: Span, field: usize, variable: String) -> Option<Statement> {
        let declaration = &self.program.declarations.fields[field];
        let ty = p4::printer::print_type_ref(&declaration.ty);
        let selector = self.selector(field)?;
        let mut text = format!("{{ {variable} = {}; }}", self.alternative(field, 0));
        for alternative in 1..self.alternatives[field] {
            let path = self.alternative(field, alternative);
            text =
                format!("if ({selector} == {alternative}) {{ {variable} = {path}; }} else {text}");
        }
        self.loads.variables.insert(format!("{ty} {variable};"));
        self.statement(span, &text, Vec::new())
    }
}

/// For each name of a control that leads to a declaration with loads, the fields.
fn reached(
    control: &ControlDeclaration,
    early: &BTreeMap<NodeId, BTreeSet<usize>>,
) -> BTreeMap<Arc<str>, BTreeSet<usize>> {
    let mut reached: BTreeMap<Arc<str>, BTreeSet<usize>> = BTreeMap::new();
    loop {
        let before: usize = reached.values().map(BTreeSet::len).sum();
        for local in &control.locals {
            let mut fields = early.get(&local.id).cloned().unwrap_or_default();
            let mut lead = |name: &Arc<str>| fields.extend(reached.get(name).into_iter().flatten());
            match &local.kind {
                DeclarationKind::Action { body, .. } => {
                    names(|names| names.block(body)).iter().for_each(&mut lead);
                }
                DeclarationKind::Table(_) => table_parts(local).1.into_iter().for_each(&mut lead),
                _ => {}
            }
            if !fields.is_empty() {
                reached.entry(local.name.text.clone()).or_default().extend(fields);
            }
        }
        if reached.values().map(BTreeSet::len).sum::<usize>() == before {
            return reached;
        }
    }
}
