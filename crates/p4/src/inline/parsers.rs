// SPDX-License-Identifier: Apache-2.0
//! A parser that a state of another parser applies (P4_16 v1.2.5 §13.10): its states become states of
//! the caller, its `accept` the rest of the state that applied it.

use super::arguments::{Local, Passed, Surroundings, pass, visible_everywhere};
use super::instances::Applied;
use super::maker::{Maker, qualified};
use super::obstacle::Obstacle;
use super::scope::Scope;
use super::sites::{Position, find_call, position};
use super::substitute::{Stand, Substitution};
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
    maker: &mut Maker<'_>,
    home: &mut Declaration,
    at: NodeId,
    call: &Call,
    info: &CallInfo,
    callee: &Declaration,
) -> Result<(), Obstacle> {
    let applied = Applied::of(maker, home, call, info)?;
    let copy = maker.rewriter.copy(callee);
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
    let mut scope = Scope::of(maker.rewriter, home);
    let (index, place) = site(home, at)?;
    let mut new_locals = move_variables(maker, home, index, place, &mut scope)?;
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
    let mut stands: FxHashMap<NodeId, Stand> = FxHashMap::default();
    for local in &mut locals {
        let wanted = format!("{label}_{}", local.name.text);
        stands.insert(local.id, Stand::Name(scope.fresh(&wanted)));
        if matches!(local.kind, DeclarationKind::ValueSet { .. } | DeclarationKind::Instance { .. })
        {
            let name = qualified(&applied.prefix, &local.annotations, &local.name.text);
            local.annotations.retain(|annotation| &*annotation.name.text != "name");
            local.annotations.push(maker.name_annotation(&name));
        }
    }
    for state in &states {
        let wanted = format!("{label}_{}", state.name.text);
        stands.insert(state.id, Stand::Name(scope.fresh(&wanted)));
        scope.rename_statements(&state.statements, &mut stands);
    }
    let nothing = FxHashSet::default();
    let surroundings = Surroundings {
        is_closed: true,
        visible: Some(&visible),
        kept_names: &nothing,
        is_action: false,
    };
    stands.extend(applied.constructor_stands(maker, &constructor_parameters, &surroundings)?);
    let parameter_types: FxHashMap<NodeId, Type> = signature
        .parameters
        .iter()
        .filter_map(|each| Some((each.id, super::arguments::declared_type(maker, each).ok()?)))
        .collect();
    let passed = pass(maker, &call, info, signature.parameters, &surroundings, &mut |wanted| {
        scope.fresh(&format!("{label}_{wanted}"))
    })?;
    let Passed { stands: for_parameters, locals: variables, before, after, .. } = passed;
    let variable_types: FxHashMap<Arc<str>, Type> = for_parameters
        .iter()
        .filter_map(|(parameter, stand)| match stand {
            Stand::Name(name) => Some((name.clone(), parameter_types.get(parameter)?.clone())),
            _ => None,
        })
        .collect();
    stands.extend(for_parameters);
    let caller_state = match &home.kind {
        DeclarationKind::Parser(caller) => caller.states[index].name.text.clone(),
        _ => return Err(Obstacle::OutsideStatements),
    };
    let rest = scope.fresh(&format!("{caller_state}_after_{label}"));
    let start = states.iter().find(|state| &*state.name.text == "start").map(|state| state.id);
    let start = match start.and_then(|start| stands.get(&start)) {
        Some(Stand::Name(name)) => name.clone(),
        _ => return Err(Obstacle::NoBody),
    };
    let hidden = scope.hidden.clone();
    let mut substitution =
        Substitution { maker: &mut *maker, stands, accept: Some(rest.clone()), hidden: &hidden };
    for state in &mut states {
        substitution.state(state);
    }
    for local in &mut locals {
        substitution.declaration(local);
    }
    let mut entry = Vec::new();
    let mut hoisted = Vec::new();
    for Local { name, ty, value } in variables {
        hoisted.push(maker.variable(&name, ty, None));
        let known = variable_types.get(&name).cloned();
        entry.extend(begin(maker, &name, value, known)?);
    }
    entry.extend(before);
    for mut local in locals {
        if let DeclarationKind::Variable { initializer, .. } = &mut local.kind {
            let value = initializer.take();
            let model = maker.rewriter.model_of(local.id);
            let ty = maker.rewriter.original().declared_types.get(&model).cloned();
            entry.extend(begin(maker, &local.name.text, value, ty)?);
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
    let to_start = StateRef { id: maker.rewriter.fresh_id(), name: maker.name(&start) };
    let transition = state.transition.replace(Transition::Direct(to_start));
    let mut statements = after;
    statements.extend(after_call);
    let continued = State {
        id: maker.rewriter.fresh_id(),
        span: state.span,
        annotations: Vec::new(),
        name: maker.name(&rest),
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

/// The state and the place in it where a call is the whole statement.
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
    maker: &mut Maker<'_>,
    home: &mut Declaration,
    index: usize,
    place: usize,
    scope: &mut Scope,
) -> Result<Vec<Declaration>, Obstacle> {
    let DeclarationKind::Parser(parser) = &mut home.kind else {
        return Err(Obstacle::OutsideStatements);
    };
    let state = &mut parser.states[index];
    let mut stands = FxHashMap::default();
    for statement in &state.statements[..place] {
        if let StatementKind::Declaration(declaration) = &statement.kind {
            let wanted = format!("{}_{}", state.name.text, declaration.name.text);
            stands.insert(declaration.id, Stand::Name(scope.fresh(&wanted)));
        }
    }
    if stands.is_empty() {
        return Ok(Vec::new());
    }
    let nothing = FxHashSet::default();
    let mut substitution =
        Substitution { maker: &mut *maker, stands, accept: None, hidden: &nothing };
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
                    let model = maker.rewriter.model_of(declaration.id);
                    let ty = maker.rewriter.original().declared_types.get(&model).cloned();
                    let begun = begin(maker, &declaration.name.text, value, ty)?;
                    // The call keeps its place in the list.
                    kept.push(match begun.len() {
                        1 => begun.into_iter().next().ok_or(Obstacle::Argument)?,
                        _ => maker.block(begun),
                    });
                } else {
                    kept.push(maker.statement(StatementKind::Empty));
                }
                moved.push(declaration);
            }
            other => kept.push(other),
        }
    }
    state.statements = kept;
    Ok(moved)
}

/// The statements by which a variable begins anew: its first value, or no valid header.
fn begin(
    maker: &mut Maker<'_>,
    name: &Arc<str>,
    value: Option<crate::ast::Expression>,
    ty: Option<Type>,
) -> Result<Vec<Statement>, Obstacle> {
    if let Some(value) = value {
        let target = maker.path(name);
        return Ok(vec![maker.assign(target, value)]);
    }
    let ty = ty.ok_or(Obstacle::UnwritableType)?;
    maker.invalidation(&ty, &|maker| maker.path(name)).ok_or(Obstacle::CopyOut)
}
