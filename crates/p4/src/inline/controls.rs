// SPDX-License-Identifier: Apache-2.0
//! A control that another control applies: its tables, actions and instances become those of the caller
//! and keep their control-plane names, and its `apply` becomes a block at the place of the call.

use super::arguments::{CallContext, Local, PassedArguments, pass, visible_everywhere};
use super::code::{before_exits, without_returns};
use super::instances::Applied;
use super::keys;
use super::node_builder::{NodeBuilder, qualified};
use super::obstacle::Obstacle;
use super::returns::may_exit;
use super::scope::Scope;
use super::sites::{Calls, Position, position, replace_in_list};
use super::substitute::{ReferencedNodes, Replacement, Substitution, is_action};
use crate::ast::{
    Annotation, Call, ControlDeclaration, Declaration, DeclarationKind, NodeId, Statement,
    StatementKind,
};
use crate::typed::{CallInfo, Callee};
use crate::visit::{Visit, walk_statement};
use crate::visit_mut::VisitMut;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Inlines a call in a copy of the control that it stands in.
pub(super) fn inline(
    builder: &mut NodeBuilder<'_>,
    home: &mut Declaration,
    at: NodeId,
    call: &Call,
    info: &CallInfo,
    callee: &Declaration,
) -> Result<(), Obstacle> {
    let applied = Applied::of(builder, home, call, info)?;
    let copy = builder.rewriter.copy(callee);
    let DeclarationKind::Control(control) = copy.kind else { return Err(Obstacle::NoBody) };
    if !control.signature.type_parameters.is_empty() {
        return Err(Obstacle::Generic);
    }
    let ControlDeclaration { signature, constructor_parameters, mut locals, body } = *control;
    drop_unused_actions(builder, &mut locals, &body.statements);
    let has_state = locals.iter().any(|local| {
        matches!(local.kind, DeclarationKind::Table(_) | DeclarationKind::Instance { .. })
    });
    if has_state && applied.uses > 1 {
        return Err(Obstacle::StateWithSeveralCalls);
    }
    let goes_everywhere = locals
        .iter()
        .any(|local| matches!(local.kind, DeclarationKind::Table(_)) || is_action(local));
    let visible = visible_everywhere(home);
    let kept_names = parameter_names(&locals);
    let mut scope = Scope::of(builder.rewriter, home);
    scope.take(kept_names.iter().cloned());
    let mut replacements: FxHashMap<NodeId, Replacement> = FxHashMap::default();
    let prefix = applied.prefix.clone();
    let mut moved = Vec::new();
    let mut here = Vec::new();
    for mut local in locals {
        let is_variable = matches!(local.kind, DeclarationKind::Variable { .. });
        let goes = goes_everywhere || !is_variable;
        let wanted = match goes {
            true => format!("{}_{}", applied.label, local.name.text),
            false => local.name.text.to_string(),
        };
        replacements.insert(local.id, Replacement::Name(scope.fresh(&wanted)));
        if let DeclarationKind::Action { body, .. } = &local.kind {
            scope.rename_block(body, &mut replacements);
        }
        keys::keep_names(builder, &mut local);
        if has_control_plane_name(&local) {
            let name = qualified(&prefix, &local.annotations, &local.name.text);
            local.annotations.retain(|annotation| &*annotation.name.text != "name");
            local.annotations.push(builder.name_annotation(&name));
        }
        match goes {
            true => moved.push(local),
            false => here.push(local),
        }
    }
    scope.rename_statements(&body.statements, &mut replacements);
    let context = CallContext {
        is_closed: true,
        visible: goes_everywhere.then_some(&visible),
        kept_names: &kept_names,
        is_action: false,
    };
    replacements.extend(applied.constructor_replacements(
        builder,
        &constructor_parameters,
        &context,
    )?);
    let label = applied.label.clone();
    let passed = pass(builder, call, info, signature.parameters, &context, &mut |wanted| {
        match goes_everywhere {
            true => scope.fresh(&format!("{label}_{wanted}")),
            false => scope.fresh(wanted),
        }
    })?;
    let PassedArguments {
        replacements: for_parameters,
        locals: variables,
        before,
        after,
        after_elsewhere,
        ..
    } = passed;
    let exits_elsewhere =
        moved.iter().any(exits) || exits_outside(builder, &moved, &body.statements);
    if exits_elsewhere && !after.is_empty() {
        let own_only = !exits_outside(builder, &moved, &body.statements);
        if !own_only || passed.is_hidden_elsewhere {
            return Err(Obstacle::CopyOut);
        }
    }
    replacements.extend(for_parameters);
    let hidden = scope.hidden.clone();
    let mut substitution =
        Substitution { builder: &mut *builder, replacements, accept: None, hidden: &hidden };
    let mut statements = body.statements;
    for statement in &mut statements {
        substitution.statement(statement);
    }
    for local in moved.iter_mut().chain(&mut here) {
        substitution.declaration(local);
    }
    let mut new_locals = Vec::new();
    let mut inside = Vec::new();
    let in_loop = is_in_loop(home, at);
    for Local { name, ty, value } in variables {
        if goes_everywhere {
            let variable = builder.variable(&name, ty, None);
            new_locals.push(variable);
            match value {
                Some(value) => {
                    let target = builder.path(&name);
                    inside.push(builder.assign(target, value));
                }
                None if in_loop => return Err(Obstacle::CopyOut),
                None => {}
            }
        } else {
            let variable = builder.variable(&name, ty, value);
            inside.push(builder.declare(variable));
        }
    }
    inside.extend(before);
    for mut local in moved {
        if let DeclarationKind::Variable { initializer, .. } = &mut local.kind {
            match initializer.take() {
                Some(value) => {
                    let target = builder.path(&local.name.text);
                    inside.push(builder.assign(target, value));
                }
                None if in_loop => return Err(Obstacle::CopyOut),
                None => {}
            }
        }
        if let DeclarationKind::Action { body, .. } = &mut local.kind {
            let statements = std::mem::take(&mut body.statements);
            body.statements = before_exits(builder, statements, &after_elsewhere);
        }
        new_locals.push(local);
    }
    for local in here {
        inside.push(builder.declare(local));
    }
    let flag = scope.fresh(&format!("{}_returned", applied.label));
    let statements = without_returns(builder, statements, None, flag)?;
    inside.extend(before_exits(builder, statements, &after));
    inside.extend(after);
    let mut block = builder.block(inside);
    if let StatementKind::Block(block) = &mut block.kind {
        block.annotations = atomic(builder, &copy.annotations);
    }
    let DeclarationKind::Control(caller) = &mut home.kind else {
        return Err(Obstacle::OutsideStatements);
    };
    let mut block = Some(block);
    let found =
        replace_in_list(&mut caller.body.statements, at, &mut |statement, _| match position(
            &statement, at,
        ) {
            Some(Ok(Position::Whole)) => Ok(block.take().into_iter().collect()),
            _ => Err(Obstacle::InsideExpression),
        })?;
    if !found {
        return Err(Obstacle::OutsideStatements);
    }
    if applied.uses == 1
        && let Some(instance) = applied.instance
    {
        caller.locals.retain(|local| local.id != instance);
    }
    caller.locals.extend(new_locals);
    Ok(())
}

/// Returns the annotations of a control that a block may have, too.
fn atomic(builder: &mut NodeBuilder<'_>, annotations: &[Annotation]) -> Vec<Annotation> {
    let found: Vec<&Annotation> =
        annotations.iter().filter(|annotation| &*annotation.name.text == "atomic").collect();
    found.into_iter().map(|annotation| builder.rewriter.copy(annotation)).collect()
}

fn has_control_plane_name(local: &Declaration) -> bool {
    matches!(
        local.kind,
        DeclarationKind::Table(_)
            | DeclarationKind::Action { .. }
            | DeclarationKind::Instance { .. }
            | DeclarationKind::ValueSet { .. }
    )
}

/// Returns the names of the actions' parameters, which the control plane uses.
fn parameter_names(locals: &[Declaration]) -> FxHashSet<Arc<str>> {
    let mut names = FxHashSet::default();
    for local in locals {
        if let DeclarationKind::Action { parameters, .. } = &local.kind {
            names.extend(parameters.iter().map(|parameter| parameter.name.text.clone()));
        }
    }
    names
}

/// Leaves out actions that were only called directly and are inlined.
fn drop_unused_actions(
    builder: &NodeBuilder<'_>,
    locals: &mut Vec<Declaration>,
    body: &[Statement],
) {
    loop {
        let mut referred =
            ReferencedNodes { rewriter: builder.rewriter, nodes: FxHashSet::default() };
        for statement in body {
            referred.statement(statement);
        }
        for local in locals.iter() {
            referred.declaration(local);
        }
        let before = locals.len();
        locals.retain(|local| !is_action(local) || referred.nodes.contains(&local.id));
        if locals.len() == before {
            return;
        }
    }
}

fn exits(local: &Declaration) -> bool {
    match &local.kind {
        DeclarationKind::Action { body, .. } => body.statements.iter().any(may_exit),
        _ => false,
    }
}

/// Whether something that is not inlined here may exit: an action of the top level, or another control.
fn exits_outside(builder: &NodeBuilder<'_>, locals: &[Declaration], body: &[Statement]) -> bool {
    let rewriter = &*builder.rewriter;
    let mut referred = ReferencedNodes { rewriter, nodes: FxHashSet::default() };
    let mut calls = Calls::default();
    for statement in body {
        referred.statement(statement);
        calls.statement(statement);
    }
    for local in locals {
        referred.declaration(local);
    }
    let top = &rewriter.program().declarations;
    let by_action = top.iter().any(|each| referred.nodes.contains(&each.id) && exits(each));
    let by_control = calls.0.iter().any(|call| {
        let info = rewriter.original().calls.get(&rewriter.model_of(*call));
        info.is_some_and(|info| {
            matches!(info.callee, Callee::BlockApply(_) | Callee::DirectApply(_))
        })
    });
    by_action || by_control
}

/// Whether a call stands in a loop.
fn is_in_loop(home: &Declaration, at: NodeId) -> bool {
    struct Loops(NodeId, bool);
    impl<'a> Visit<'a> for Loops {
        fn statement(&mut self, statement: &'a Statement) {
            if let StatementKind::For { body, .. } | StatementKind::ForIn { body, .. } =
                &statement.kind
            {
                let mut calls = Calls::default();
                calls.statement(body);
                self.1 |= calls.0.contains(&self.0);
            }
            walk_statement(self, statement);
        }
    }
    let mut loops = Loops(at, false);
    loops.declaration(home);
    loops.1
}
