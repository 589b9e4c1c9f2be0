// SPDX-License-Identifier: Apache-2.0
//! A parser that a state of another parser applies (P4_16 v1.2.5 §13.10): its states become states of
//! the caller, its `accept` the rest of the state that applied it.

use super::arguments::{CallContext, Local, PassedArguments, pass, visible_everywhere};
use super::instances::Applied;
use super::node_builder::{NodeBuilder, qualified};
use super::obstacle::Obstacle;
use super::scope::Scope;
use super::sites::{Position, find_call, position};
use super::substitute::{Replacement, Substitution};
use crate::ast::{
    Call, Declaration, DeclarationKind, ExpressionKind, NodeId, ParserDeclaration, State, StateRef,
    Statement, StatementKind, Transition,
};
use crate::typed::{CallInfo, Type};
use crate::visit_mut::VisitMut;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Inlines a call in a copy of the parser that it stands in.
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
    let DeclarationKind::Parser(parser) = copy.kind else { return Err(Obstacle::NoBody) };
    if !parser.signature.type_parameters.is_empty() {
        return Err(Obstacle::Generic);
    }
    let ParserDeclaration { signature, constructor_parameters, mut locals, mut states } = *parser;
    let has_state = locals.iter().any(|local| {
        matches!(local.kind, DeclarationKind::ValueSet { .. } | DeclarationKind::Instance { .. })
    });
    if has_state && applied.uses > 1 {
        return Err(Obstacle::StateWithSeveralCalls);
    }
    let mut scope = Scope::of(builder.rewriter, home);
    let (index, place) = site(home, at)?;
    let mut new_locals = move_variables(builder, home, index, place, &mut scope)?;
    if let DeclarationKind::Parser(caller) = &mut home.kind {
        caller.locals.append(&mut new_locals);
    }
    // Its arguments have the new names.
    let call = match find_call(home, at).map(|call| &call.kind) {
        Some(ExpressionKind::Call(call)) => call.clone(),
        _ => return Err(Obstacle::NoSuchCall),
    };
    let visible = visible_everywhere(home);
    let label = applied.label.clone();
    let mut replacements: FxHashMap<NodeId, Replacement> = FxHashMap::default();
    for local in &mut locals {
        let wanted = format!("{label}_{}", local.name.text);
        replacements.insert(local.id, Replacement::Name(scope.fresh(&wanted)));
        if matches!(local.kind, DeclarationKind::ValueSet { .. } | DeclarationKind::Instance { .. })
        {
            let name = qualified(&applied.prefix, &local.annotations, &local.name.text);
            local.annotations.retain(|annotation| &*annotation.name.text != "name");
            local.annotations.push(builder.name_annotation(&name));
        }
    }
    for state in &states {
        let wanted = format!("{label}_{}", state.name.text);
        replacements.insert(state.id, Replacement::Name(scope.fresh(&wanted)));
        scope.rename_statements(&state.statements, &mut replacements);
    }
    let nothing = FxHashSet::default();
    let context = CallContext {
        is_closed: true,
        visible: Some(&visible),
        kept_names: &nothing,
        is_action: false,
    };
    replacements.extend(applied.constructor_replacements(
        builder,
        &constructor_parameters,
        &context,
    )?);
    let parameter_types: FxHashMap<NodeId, Type> = signature
        .parameters
        .iter()
        .filter_map(|each| Some((each.id, super::arguments::declared_type(builder, each).ok()?)))
        .collect();
    let passed = pass(builder, &call, info, signature.parameters, &context, &mut |wanted| {
        scope.fresh(&format!("{label}_{wanted}"))
    })?;
    let PassedArguments { replacements: for_parameters, locals: variables, before, after, .. } =
        passed;
    let variable_types: FxHashMap<Arc<str>, Type> = for_parameters
        .iter()
        .filter_map(|(parameter, replacement)| match replacement {
            Replacement::Name(name) => {
                Some((name.clone(), parameter_types.get(parameter)?.clone()))
            }
            _ => None,
        })
        .collect();
    replacements.extend(for_parameters);
    let caller_state = match &home.kind {
        DeclarationKind::Parser(caller) => caller.states[index].name.text.clone(),
        _ => return Err(Obstacle::OutsideStatements),
    };
    let rest = scope.fresh(&format!("{caller_state}_after_{label}"));
    let start = states.iter().find(|state| &*state.name.text == "start").map(|state| state.id);
    let start = match start.and_then(|start| replacements.get(&start)) {
        Some(Replacement::Name(name)) => name.clone(),
        _ => return Err(Obstacle::NoBody),
    };
    let hidden = scope.hidden.clone();
    let mut substitution = Substitution {
        builder: &mut *builder,
        replacements,
        accept: Some(rest.clone()),
        hidden: &hidden,
    };
    for state in &mut states {
        substitution.state(state);
    }
    for local in &mut locals {
        substitution.declaration(local);
    }
    let mut entry = Vec::new();
    let mut hoisted = Vec::new();
    for Local { name, ty, value } in variables {
        hoisted.push(builder.variable(&name, ty, None));
        let known = variable_types.get(&name).cloned();
        entry.extend(begin(builder, &name, value, known)?);
    }
    entry.extend(before);
    for mut local in locals {
        if let DeclarationKind::Variable { initializer, .. } = &mut local.kind {
            let value = initializer.take();
            let model = builder.rewriter.model_of(local.id);
            let ty = builder.rewriter.original().declared_types.get(&model).cloned();
            entry.extend(begin(builder, &local.name.text, value, ty)?);
        }
        hoisted.push(local);
    }
    let DeclarationKind::Parser(caller) = &mut home.kind else {
        return Err(Obstacle::OutsideStatements);
    };
    let state = &mut caller.states[index];
    let mut after_call = state.statements.split_off(place);
    after_call.remove(0);
    state.statements.extend(entry);
    let to_start = StateRef { id: builder.rewriter.fresh_id(), name: builder.name(&start) };
    let transition = state.transition.replace(Transition::Direct(to_start));
    let mut statements = after;
    statements.extend(after_call);
    let continued = State {
        id: builder.rewriter.fresh_id(),
        span: state.span,
        annotations: Vec::new(),
        name: builder.name(&rest),
        statements,
        transition,
    };
    states.push(continued);
    caller.states.splice(index + 1..index + 1, states);
    if applied.uses == 1
        && let Some(instance) = applied.instance
    {
        caller.locals.retain(|local| local.id != instance);
    }
    caller.locals.extend(hoisted);
    Ok(())
}

/// Returns the state and the place in it where a call is the whole statement.
fn site(home: &Declaration, at: NodeId) -> Result<(usize, usize), Obstacle> {
    let DeclarationKind::Parser(parser) = &home.kind else {
        return Err(Obstacle::OutsideStatements);
    };
    for (index, state) in parser.states.iter().enumerate() {
        let found = state
            .statements
            .iter()
            .position(|statement| matches!(position(statement, at), Some(Ok(Position::Whole))));
        if let Some(place) = found {
            return Ok((index, place));
        }
    }
    Err(Obstacle::NotAtStateLevel)
}

/// Makes the variables that a state declares before the call variables of the parser: what follows the
/// call goes to another state. Returns them.
fn move_variables(
    builder: &mut NodeBuilder<'_>,
    home: &mut Declaration,
    index: usize,
    place: usize,
    scope: &mut Scope,
) -> Result<Vec<Declaration>, Obstacle> {
    let DeclarationKind::Parser(parser) = &mut home.kind else {
        return Err(Obstacle::OutsideStatements);
    };
    let state = &mut parser.states[index];
    let mut replacements = FxHashMap::default();
    for statement in &state.statements[..place] {
        if let StatementKind::Declaration(declaration) = &statement.kind {
            let wanted = format!("{}_{}", state.name.text, declaration.name.text);
            replacements.insert(declaration.id, Replacement::Name(scope.fresh(&wanted)));
        }
    }
    if replacements.is_empty() {
        return Ok(Vec::new());
    }
    let nothing = FxHashSet::default();
    let mut substitution =
        Substitution { builder: &mut *builder, replacements, accept: None, hidden: &nothing };
    let name = state.name.text.clone();
    substitution.state(state);
    state.name.text = name;
    let mut moved = Vec::new();
    let mut kept = Vec::new();
    for (at, statement) in std::mem::take(&mut state.statements).into_iter().enumerate() {
        match statement {
            Statement { kind: StatementKind::Declaration(declaration), .. } if at < place => {
                let mut declaration = *declaration;
                if let DeclarationKind::Variable { initializer, .. } = &mut declaration.kind {
                    let value = initializer.take();
                    let model = builder.rewriter.model_of(declaration.id);
                    let ty = builder.rewriter.original().declared_types.get(&model).cloned();
                    let begun = begin(builder, &declaration.name.text, value, ty)?;
                    // The call keeps its place in the list.
                    kept.push(match begun.len() {
                        1 => begun.into_iter().next().ok_or(Obstacle::Argument)?,
                        _ => builder.block(begun),
                    });
                } else {
                    kept.push(builder.statement(StatementKind::Empty));
                }
                moved.push(declaration);
            }
            other => kept.push(other),
        }
    }
    state.statements = kept;
    Ok(moved)
}

/// Returns the statements by which a variable begins anew: its first value, or no valid header.
fn begin(
    builder: &mut NodeBuilder<'_>,
    name: &Arc<str>,
    value: Option<crate::ast::Expression>,
    ty: Option<Type>,
) -> Result<Vec<Statement>, Obstacle> {
    if let Some(value) = value {
        let target = builder.path(name);
        return Ok(vec![builder.assign(target, value)]);
    }
    let ty = ty.ok_or(Obstacle::UnwritableType)?;
    builder.invalidation(&ty, &|builder| builder.path(name)).ok_or(Obstacle::CopyOut)
}
