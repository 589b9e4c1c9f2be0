// SPDX-License-Identifier: Apache-2.0
//! Which controls need malleables, which pipeline applies them, and which malleables a part of the tree names.

use super::groups::Groups;
use super::registers::{RegisterAction, executed, register_actions};
use crate::language::dialect::referred;
use crate::language::{ArgumentSource, Gress, P4rProgram, check::is_malleable};
use p4::ast::{Declaration, DeclarationKind, Expression, ExpressionKind, NodeId, Statement};
use p4::typed::{Callee, Definition, TypedProgram};
use p4::visit::{Visit, Visited, walk_declaration, walk_expression};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The names of the malleables in a part of the tree.
pub(super) fn malleables<'a, T: Visited<'a>>(part: &'a T) -> BTreeSet<Arc<str>> {
    struct Names(BTreeSet<Arc<str>>);
    impl<'a> Visit<'a> for Names {
        fn expression(&mut self, expression: &'a Expression) {
            if let ExpressionKind::Extension(reference) = &expression.kind
                && let Some(name) = referred(reference)
            {
                self.0.insert(name.into());
            }
            walk_expression(self, expression);
        }
    }
    let mut names = Names(BTreeSet::new());
    T::accept(part, &mut names);
    names.0
}

/// The register that a statement writes with `register.write(index, value)`.
pub(super) fn written_register<'s>(
    typed: &TypedProgram,
    model_of: impl Fn(NodeId) -> NodeId,
    statement: &'s Statement,
) -> Option<(NodeId, &'s p4::ast::Call)> {
    let p4::ast::StatementKind::Call(expression) = &statement.kind else { return None };
    let ExpressionKind::Call(call) = &expression.kind else { return None };
    let ExpressionKind::Member(base, method) = &call.callee.kind else { return None };
    if &*method.text != "write" {
        return None;
    }
    match typed.definitions.get(&model_of(base.id)) {
        Some(Definition::Node(node)) => Some((*node, call)),
        _ => None,
    }
}

/// What the controls of a program have to do with malleables.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    /// Controls that need the state of malleables, with the pipelines' own.
    pub(super) needing: BTreeSet<NodeId>,
    /// The controls of each pipeline: its own and all that it applies.
    pub(super) reachable: BTreeMap<Gress, BTreeSet<NodeId>>,
    /// The malleables that each pipeline uses or measures.
    pub(super) used: BTreeMap<Gress, BTreeSet<Arc<str>>>,
    /// The malleables that controls behind each pipeline read.
    pub(super) copied: BTreeMap<Gress, BTreeSet<Arc<str>>>,
    /// The groups of measurements.
    pub(super) groups: Groups,
    /// Pipelines with something to measure, and the groups that they measure.
    pub(super) measuring: BTreeMap<Gress, BTreeSet<usize>>,
    /// Pipelines with malleable tables.
    pub(super) versioned: BTreeSet<Gress>,
    /// The registers that each control writes.
    writes: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl Usage {
    pub(super) fn of(program: &P4rProgram) -> Usage {
        let typed = &program.typed;
        let mut usage = Usage { groups: Groups::of(program), ..Usage::default() };
        for (number, reaction) in program.declarations.reactions.iter().enumerate() {
            for argument in &reaction.arguments {
                usage.argument(number, &argument.source);
            }
        }
        let mut direct: BTreeMap<NodeId, Parts> = BTreeMap::new();
        let actions = register_actions(typed);
        for declaration in &typed.program.declarations {
            if matches!(declaration.kind, DeclarationKind::Control(_)) {
                let mut parts = Parts::new(typed, &actions);
                parts.declaration(declaration);
                direct.insert(declaration.id, parts);
            }
        }
        for pipeline in &program.pipelines {
            let mut open = vec![pipeline.control];
            let reached = usage.reachable.entry(pipeline.gress).or_default();
            while let Some(control) = open.pop() {
                if reached.insert(control) {
                    open.extend(direct.get(&control).into_iter().flat_map(|parts| &parts.applied));
                }
            }
            for control in usage.reachable[&pipeline.gress].clone() {
                let Some(parts) = direct.get(&control) else { continue };
                let names = usage.used.entry(pipeline.gress).or_default();
                names.extend(parts.names.iter().cloned());
                if parts.has_malleable_table {
                    usage.versioned.insert(pipeline.gress);
                }
                let measured = usage.groups.registers();
                let written = measured.filter(|register| parts.written.contains(register));
                let groups: Vec<usize> =
                    written.map(|register| usage.groups.of_register(register)).collect();
                if !groups.is_empty() {
                    usage.measuring.entry(pipeline.gress).or_default().extend(groups);
                }
            }
        }
        for tail in &program.tails {
            let Some(parts) = direct.get(&tail.control) else { continue };
            usage.used.entry(tail.gress).or_default().extend(parts.names.iter().cloned());
            usage.copied.entry(tail.gress).or_default().extend(parts.names.iter().cloned());
        }
        // A control needs the state if it names it, or applies one that needs it.
        loop {
            let before = usage.needing.len();
            for (control, parts) in &direct {
                let writes = || parts.written.iter().any(|one| usage.groups.measures(*one));
                let is_needing = !parts.names.is_empty()
                    || parts.has_malleable_table
                    || writes()
                    || parts.applied.iter().any(|applied| usage.needing.contains(applied));
                if is_needing {
                    usage.needing.insert(*control);
                }
            }
            if usage.needing.len() == before {
                break;
            }
        }
        for tail in &program.tails {
            usage.needing.remove(&tail.control);
        }
        usage.writes =
            direct.iter().map(|(control, parts)| (*control, parts.written.clone())).collect();
        for pipeline in &program.pipelines {
            if usage.is_active(pipeline.gress) {
                usage.needing.insert(pipeline.control);
            } else {
                usage.needing.remove(&pipeline.control);
            }
        }
        usage
    }

    /// Whether a pipeline loads or measures anything.
    pub(super) fn is_active(&self, gress: Gress) -> bool {
        self.measuring.contains_key(&gress)
            || self.versioned.contains(&gress)
            || self.used.get(&gress).is_some_and(|names| !names.is_empty())
    }

    /// The pipelines whose controls write a register, ingress first.
    pub(super) fn writers(&self, register: NodeId) -> Vec<Gress> {
        let writes = |control: &NodeId| {
            self.writes.get(control).is_some_and(|written| written.contains(&register))
        };
        let reachable = self.reachable.iter();
        reachable
            .filter(|(_, controls)| controls.iter().any(writes))
            .map(|(gress, _)| *gress)
            .collect()
    }

    fn argument(&mut self, reaction: usize, source: &ArgumentSource) {
        let gress = |in_egress: bool| if in_egress { Gress::Egress } else { Gress::Ingress };
        let gress = match source {
            ArgumentSource::Packet { in_egress, .. } => gress(*in_egress),
            ArgumentSource::Malleable { in_egress, name } => {
                let gress = gress(*in_egress);
                self.used.entry(gress).or_default().insert(name.clone());
                gress
            }
            ArgumentSource::Register { .. } | ArgumentSource::Constant(_) => return,
        };
        let group = self.groups.of_fields(reaction);
        self.measuring.entry(gress).or_default().insert(group);
    }
}

/// What stands in one control.
struct Parts<'t> {
    typed: &'t TypedProgram,
    actions: &'t BTreeMap<NodeId, RegisterAction>,
    names: BTreeSet<Arc<str>>,
    has_malleable_table: bool,
    written: BTreeSet<NodeId>,
    applied: BTreeSet<NodeId>,
}

impl<'t> Parts<'t> {
    fn new(typed: &'t TypedProgram, actions: &'t BTreeMap<NodeId, RegisterAction>) -> Parts<'t> {
        Parts {
            typed,
            actions,
            names: BTreeSet::new(),
            has_malleable_table: false,
            written: BTreeSet::new(),
            applied: BTreeSet::new(),
        }
    }
}

impl<'a> Visit<'a> for Parts<'a> {
    fn declaration(&mut self, declaration: &'a Declaration) {
        if matches!(declaration.kind, DeclarationKind::Table(_)) {
            self.has_malleable_table |= is_malleable(&declaration.annotations);
        }
        walk_declaration(self, declaration);
    }

    fn statement(&mut self, statement: &'a Statement) {
        if let Some((register, _)) = written_register(self.typed, |node| node, statement) {
            self.written.insert(register);
        }
        p4::visit::walk_statement(self, statement);
    }

    fn expression(&mut self, expression: &'a Expression) {
        match &expression.kind {
            ExpressionKind::Extension(reference) => {
                self.names.extend(referred(reference).map(Arc::from));
            }
            ExpressionKind::Call(_) => {
                let callee = self.typed.calls.get(&expression.id).map(|call| call.callee);
                if let Some(Callee::BlockApply(node) | Callee::DirectApply(node)) = callee {
                    self.applied.insert(node);
                }
                if let Some((action, _)) = executed(self.typed, |node| node, expression)
                    && let Some(action) = self.actions.get(&action)
                {
                    self.written.insert(action.register);
                }
            }
            _ => {}
        }
        walk_expression(self, expression);
    }
}

/// How often a statement names a malleable.
pub(super) fn count(statement: &Statement, name: &str) -> usize {
    struct Count<'n>(&'n str, usize);
    impl<'a> Visit<'a> for Count<'_> {
        fn expression(&mut self, expression: &'a Expression) {
            if let ExpressionKind::Extension(reference) = &expression.kind {
                self.1 += usize::from(referred(reference) == Some(self.0));
            }
            walk_expression(self, expression);
        }
    }
    let mut count = Count(name, 0);
    count.statement(statement);
    count.1
}
