// SPDX-License-Identifier: Apache-2.0
//! Functions and directly called actions: a block replaces the call, and a variable holds the
//! returned value.

use super::arguments::{CallContext, PassedArguments, is_pure, pass};
use super::node_builder::NodeBuilder;
use super::obstacle::Obstacle;
use super::returns::{Returns, may_exit, may_return};
use super::scope::Scope;
use super::sites::{
    Body, Calls, Position, body_of, contains, is_numbered, is_plain, position, replace_in_list,
    transition_contains,
};
use super::substitute::{BeforeExit, ReferencedNodes, Replacement, Substitution};
use crate::ast::{
    Block, Call, Declaration, DeclarationKind, DeclaredName, Direction, Expression, ExpressionKind,
    NodeId, Parameter, Statement, StatementKind, TypeRef,
};
use crate::typed::{CallInfo, Callee};
use crate::visit::Visit;
use crate::visit_mut::VisitMut;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The callee.
struct Code {
    type_parameters: Vec<DeclaredName>,
    parameters: Vec<Parameter>,
    result: Option<TypeRef>,
    body: Block,
}

/// Inlines a call in a copy of the declaration that it stands in.
pub(super) fn inline(
    builder: &mut NodeBuilder<'_>,
    home: &mut Declaration,
    at: NodeId,
    call: &Call,
    info: &CallInfo,
    callee: NodeId,
) -> Result<(), Obstacle> {
    let top = builder.rewriter.program().declarations.iter().find(|each| each.id == callee);
    let is_closed = top.is_some();
    let local = |home: &Declaration| match &home.kind {
        DeclarationKind::Control(control) => {
            control.locals.iter().find(|local| local.id == callee).cloned()
        }
        _ => None,
    };
    let declaration = top.cloned().or_else(|| local(home)).ok_or(Obstacle::DeclaredElsewhere)?;
    let body = body_of(home, at)?;
    if is_numbered(builder.rewriter.program(), &declaration) {
        return Err(Obstacle::NamedByPlace);
    }
    let copy = builder.rewriter.copy(&declaration);
    let name = copy.name.text.clone();
    let code = match copy.kind {
        DeclarationKind::Function { signature, body } => Code {
            type_parameters: signature.type_parameters,
            parameters: signature.parameters,
            result: Some(signature.result),
            body,
        },
        DeclarationKind::Action { parameters, body } => {
            Code { type_parameters: Vec::new(), parameters, result: None, body }
        }
        _ => return Err(Obstacle::NoBody),
    };
    let has_no_effect = is_plain_function(builder, &code)
        && call.arguments.iter().all(|argument| is_pure(builder, &argument.value));
    let written = written_roots(builder, &code, call, info);
    let mut scope = Scope::of(builder.rewriter, home);
    let expanded = expand(builder, &mut scope, &name, code, (call, info), is_closed)?;
    let Expanded { result, block } = expanded;
    let mut prelude = Some((result.as_ref().map(|(name, _)| name.clone()), result, block));
    let mut replace = |mut statement: Statement, in_branch: bool| {
        let place = position(&statement, at).ok_or(Obstacle::NoSuchCall)??;
        let may_move = match place {
            Position::Whole | Position::OnlyValue | Position::First => true,
            Position::Inside => {
                is_closed
                    && only_impure_call(builder, &statement, at)
                    && !reads_any(builder, &statement, at, &written)
            }
            Position::Conditional => has_no_effect && only_impure_call(builder, &statement, at),
        };
        if !may_move {
            return Err(Obstacle::InsideExpression);
        }
        let (name, result, block) = prelude.take().ok_or(Obstacle::NoSuchCall)?;
        let mut new = before(builder, result, block);
        if place != Position::Whole {
            let name = name.ok_or(Obstacle::InsideExpression)?;
            put_value(builder, at, &name, &mut |put| put.statement(&mut statement));
            new.push(statement);
        }
        Ok(match in_branch && new.len() != 1 {
            true => vec![builder.block(new)],
            false => new,
        })
    };
    let found = match (&mut home.kind, body) {
        (DeclarationKind::Control(control), Body::Apply) => {
            replace_in_list(&mut control.body.statements, at, &mut replace)?
        }
        (DeclarationKind::Control(control), Body::Code(Some(index))) => {
            match control.locals.get_mut(index).map(|local| &mut local.kind) {
                Some(DeclarationKind::Action { body, .. }) => {
                    replace_in_list(&mut body.statements, at, &mut replace)?
                }
                _ => false,
            }
        }
        (
            DeclarationKind::Function { body, .. } | DeclarationKind::Action { body, .. },
            Body::Code(None),
        ) => replace_in_list(&mut body.statements, at, &mut replace)?,
        (DeclarationKind::Parser(parser), Body::State(index)) => {
            let Some(state) = parser.states.get_mut(index) else {
                return Err(Obstacle::NoSuchCall);
            };
            match replace_in_list(&mut state.statements, at, &mut replace)? {
                true => true,
                false => {
                    let Some(transition) = &mut state.transition else {
                        return Err(Obstacle::NoSuchCall);
                    };
                    if !transition_contains(transition, at)
                        || !has_no_effect
                        || in_keyset(transition, at)
                    {
                        return Err(Obstacle::InsideExpression);
                    }
                    let (name, result, block) = prelude.take().ok_or(Obstacle::NoSuchCall)?;
                    state.statements.extend(before(builder, result, block));
                    let name = name.ok_or(Obstacle::InsideExpression)?;
                    put_value(builder, at, &name, &mut |put| put.transition(transition));
                    true
                }
            }
        }
        _ => false,
    };
    match found {
        true => Ok(()),
        false => Err(Obstacle::OutsideStatements),
    }
}

fn in_keyset(transition: &crate::ast::Transition, at: NodeId) -> bool {
    match transition {
        crate::ast::Transition::Direct(_) => false,
        crate::ast::Transition::Select { cases, .. } => {
            cases.iter().any(|case| contains(&case.keyset, at))
        }
    }
}

/// Returns the declaration of the result, and the block that computes it.
fn before(
    builder: &mut NodeBuilder<'_>,
    result: Option<(Arc<str>, TypeRef)>,
    block: Statement,
) -> Vec<Statement> {
    let mut new = Vec::new();
    if let Some((name, ty)) = result {
        let variable = builder.variable(&name, ty, None);
        new.push(builder.declare(variable));
    }
    new.push(block);
    new
}

/// Puts the variable with the value in the place of the call.
fn put_value(
    builder: &mut NodeBuilder<'_>,
    at: NodeId,
    name: &Arc<str>,
    put: &mut dyn FnMut(&mut Put),
) {
    let value = builder.path(name);
    put(&mut Put { at, value: Some(value) });
}

/// Replaces one expression.
struct Put {
    at: NodeId,
    value: Option<Expression>,
}

impl VisitMut for Put {
    fn expression(&mut self, expression: &mut Expression) {
        if expression.id == self.at {
            if let Some(value) = self.value.take() {
                *expression = value;
            }
            return;
        }
        crate::visit_mut::walk_expression(self, expression);
    }
}

/// Whether no statement but this function's call has effects in a statement's own expressions.
fn only_impure_call(builder: &NodeBuilder<'_>, statement: &Statement, at: NodeId) -> bool {
    let mut calls = Calls::default();
    match &statement.kind {
        StatementKind::If { condition, .. } => calls.expression(condition),
        StatementKind::Switch { subject, .. } => calls.expression(subject),
        _ => calls.statement(statement),
    }
    let typed = builder.rewriter.original();
    let is_whole_statement = |call: NodeId| match &statement.kind {
        // Evaluated after its arguments.
        StatementKind::Call(whole) => whole.id == call,
        _ => false,
    };
    calls.0.iter().all(|call| {
        *call == at
            || is_whole_statement(*call)
            || typed
                .calls
                .get(&builder.rewriter.model_of(*call))
                .is_some_and(|info| matches!(info.callee, Callee::IsValid | Callee::SizeOf))
    })
}

/// Returns the variables that a call writes through its parameters.
fn written_roots(
    builder: &NodeBuilder<'_>,
    code: &Code,
    call: &Call,
    info: &CallInfo,
) -> FxHashSet<NodeId> {
    let mut referred = ReferencedNodes { rewriter: builder.rewriter, nodes: FxHashSet::default() };
    for (parameter, given) in code.parameters.iter().zip(&info.arguments) {
        let argument = given.and_then(|at| call.arguments.get(at));
        if let (Direction::Out | Direction::InOut, Some(argument)) = (parameter.direction, argument)
        {
            referred.expression(&argument.value);
        }
    }
    referred.nodes
}

/// Whether a statement's own expressions read one of these variables outside of a call.
fn reads_any(
    builder: &NodeBuilder<'_>,
    statement: &Statement,
    at: NodeId,
    written: &FxHashSet<NodeId>,
) -> bool {
    struct Reads<'m> {
        referred: ReferencedNodes<'m>,
        at: NodeId,
    }
    impl<'a> Visit<'a> for Reads<'_> {
        fn expression(&mut self, expression: &'a Expression) {
            if expression.id == self.at {
                return;
            }
            if matches!(expression.kind, ExpressionKind::Path(_)) {
                self.referred.expression(expression);
            }
            crate::visit::walk_expression(self, expression);
        }
    }
    let referred = ReferencedNodes { rewriter: builder.rewriter, nodes: FxHashSet::default() };
    let mut reads = Reads { referred, at };
    match &statement.kind {
        StatementKind::If { condition, .. } => reads.expression(condition),
        StatementKind::Switch { subject, .. } => reads.expression(subject),
        StatementKind::Assign { target, operator: None, value } if is_plain(target) => {
            reads.expression(value);
        }
        _ => reads.statement(statement),
    }
    reads.referred.nodes.iter().any(|node| written.contains(node))
}

/// Whether a function only computes a value.
fn is_plain_function(builder: &NodeBuilder<'_>, code: &Code) -> bool {
    let mut calls = Calls::default();
    calls.block(&code.body);
    let typed = builder.rewriter.original();
    code.result.is_some()
        && code
            .parameters
            .iter()
            .all(|each| !matches!(each.direction, Direction::Out | Direction::InOut))
        && calls.0.iter().all(|call| {
            typed.calls.get(&builder.rewriter.model_of(*call)).is_some_and(|info| {
                matches!(
                    info.callee,
                    Callee::IsValid
                        | Callee::SizeOf
                        | Callee::SetValid
                        | Callee::SetInvalid
                        | Callee::PushFront
                        | Callee::PopFront
                )
            })
        })
}

/// The statements of a call.
struct Expanded {
    /// The variable with the value, and its type.
    result: Option<(Arc<str>, TypeRef)>,
    block: Statement,
}

fn expand(
    builder: &mut NodeBuilder<'_>,
    scope: &mut Scope,
    name: &Arc<str>,
    code: Code,
    (call, info): (&Call, &CallInfo),
    is_closed: bool,
) -> Result<Expanded, Obstacle> {
    let Code { type_parameters, parameters, result, mut body } = code;
    let mut replacements: FxHashMap<NodeId, Replacement> = FxHashMap::default();
    for (parameter, ty) in type_parameters.iter().zip(&info.type_arguments) {
        if let Ok(written) = builder.written(ty) {
            replacements.insert(parameter.id, Replacement::Type(written));
        } else {
            return Err(Obstacle::UnwritableType);
        }
    }
    scope.rename_block(&body, &mut replacements);
    let context = CallContext {
        is_closed,
        visible: None,
        kept_names: &Default::default(),
        is_action: result.is_none(),
    };
    let passed =
        pass(builder, call, info, parameters, &context, &mut |wanted| scope.fresh(wanted))?;
    let PassedArguments { replacements: passed_stands, locals, before, after, .. } = passed;
    replacements.extend(passed_stands);
    let hidden = scope.hidden.clone();
    let mut substitution =
        Substitution { builder: &mut *builder, replacements, accept: None, hidden: &hidden };
    substitution.block(&mut body);
    let is_void = |ty: &TypeRef| matches!(ty.kind, crate::ast::TypeRefKind::Void);
    let result = match result.filter(|ty| !is_void(ty)) {
        None => None,
        Some(mut ty) => {
            substitution.type_ref(&mut ty);
            Some((scope.fresh(&format!("{name}_result")), ty))
        }
    };
    let mut types: Vec<TypeRef> = Vec::new();
    let mut named = Vec::new();
    for local in locals {
        let mut ty = local.ty;
        substitution.type_ref(&mut ty);
        types.push(ty);
        named.push((local.name, local.value));
    }
    let mut statements = Vec::new();
    for ((name, value), ty) in named.into_iter().zip(types) {
        let variable = builder.variable(&name, ty, value);
        statements.push(builder.declare(variable));
    }
    statements.extend(before);
    let flag = scope.fresh(&format!("{name}_returned"));
    let result_name = result.as_ref().map(|(name, _)| name.clone());
    let inside = without_returns(builder, body.statements, result_name, flag)?;
    statements.extend(before_exits(builder, inside, &after));
    statements.extend(after);
    let block = builder.block(statements);
    Ok(Expanded { result, block })
}

/// Returns a body that has no `return` any more.
pub(super) fn without_returns(
    builder: &mut NodeBuilder<'_>,
    statements: Vec<Statement>,
    result: Option<Arc<str>>,
    flag: Arc<str>,
) -> Result<Vec<Statement>, Obstacle> {
    if !statements.iter().any(may_return) {
        return Ok(statements);
    }
    let mut returns = Returns { builder, result, flag: flag.clone(), needs_flag: false };
    let list = returns.list(statements, true)?;
    let needs_flag = returns.needs_flag;
    let mut all = Vec::new();
    if needs_flag {
        let ty = builder.type_ref(crate::ast::TypeRefKind::Bool);
        let no = builder.expression(ExpressionKind::Bool(false));
        let variable = builder.variable(&flag, ty, Some(no));
        all.push(builder.declare(variable));
    }
    all.extend(list);
    Ok(all)
}

/// Returns a body whose exits copy out first.
pub(super) fn before_exits(
    builder: &mut NodeBuilder<'_>,
    mut statements: Vec<Statement>,
    copies: &[Statement],
) -> Vec<Statement> {
    if !copies.is_empty() && statements.iter().any(may_exit) {
        let mut exits = BeforeExit { builder, statements: copies };
        for statement in &mut statements {
            exits.statement(statement);
        }
    }
    statements
}
