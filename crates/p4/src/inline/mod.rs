// SPDX-License-Identifier: Apache-2.0
//! Inlining from P4_16 to P4_16: nested controls and parsers, functions and directly called actions
//! become code at the place of the call. The calling convention is that of P4_16 v1.2.5 §6.8, control-plane
//! names stay, and the result is checked like any program. A call that cannot be inlined stays, with
//! an [`Obstacle`].

mod arguments;
mod code;
mod controls;
mod instances;
mod keys;
mod node_builder;
mod obstacle;
mod parsers;
mod returns;
mod scope;
mod sites;
mod substitute;
#[cfg(test)]
mod tests;
mod types;

pub use obstacle::Obstacle;

use crate::ast::{Declaration, DeclarationKind, ExpressionKind, NodeId, Program};
use crate::random_sites::{self, RandomSites};
use crate::rewrite::{Rewriter, Rewritten};
use crate::typed::{Callee, TypedProgram};
use crate::visit::Visit;
use node_builder::NodeBuilder;
use rustc_hash::{FxHashMap, FxHashSet};
use sites::{Calls, find_call, is_numbered};
use source::{Diagnostics, Severity, SourceMap};
use std::collections::BTreeMap;
use std::sync::Arc;
use substitute::ReferencedNodes;

/// The kinds of callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// A function.
    Function,
    /// An action, by name.
    Action,
    /// A control, by `apply`.
    Control,
    /// A parser, by `apply`.
    Parser,
}

/// A program after [`inline_all`].
#[derive(Debug)]
pub struct Inlined {
    /// The checked program, and where its nodes came from.
    pub program: Rewritten,
    /// The number of inlined calls. A call in an inlined body counts in each copy.
    pub inlined: BTreeMap<CallKind, usize>,
    /// Calls that stay, by their identity in the original program.
    pub refused: Vec<(NodeId, Obstacle)>,
}

/// Inlines one call in the tree of a rewriter. The call must stand in a body of the original program or in
/// a copy of one. Calls in the inlined body stay calls.
///
/// # Errors
///
/// Returns why the call cannot be inlined; then the tree is unchanged.
pub fn inline_block(rewriter: &mut Rewriter, call: NodeId) -> Result<(), Obstacle> {
    // As deep as the deepest program.
    stacker::maybe_grow(64 * 1024 * 1024, 256 * 1024 * 1024, || inline_one(rewriter, call))
}

/// Inlines one call like [`inline_block`] and notes the labels of copied calls that draw random numbers, so
/// that they draw the same numbers when [`RandomSites::write`] has written the labels into the tree.
fn inline_noting(
    rewriter: &mut Rewriter,
    call: NodeId,
    sites: &mut RandomSites,
) -> Result<(), Obstacle> {
    if sites.is_empty() {
        return inline_one(rewriter, call);
    }
    let first = NodeId(rewriter.program().node_count);
    let through = sites.label(call).cloned();
    // Actions and tables of the callee keep their control-plane names, which the keys of their calls begin with.
    let callee = rewriter.original().calls.get(&rewriter.model_of(call)).map(|info| info.callee);
    let inside: FxHashSet<NodeId> = match (&through, callee) {
        (
            Some(_),
            Some(
                Callee::Function(callee)
                | Callee::Action(callee)
                | Callee::BlockApply(callee)
                | Callee::DirectApply(callee),
            ),
        ) => random_sites::calls_of(rewriter.program(), callee).into_iter().collect(),
        _ => FxHashSet::default(),
    };
    inline_one(rewriter, call)?;
    for (copy, model) in rewriter.copies_from(first) {
        let through = through.as_deref().filter(|_| inside.contains(&model));
        sites.copied(model, copy, through);
    }
    Ok(())
}

fn inline_one(rewriter: &mut Rewriter, at: NodeId) -> Result<(), Obstacle> {
    let declarations = &rewriter.program().declarations;
    let home = declarations.iter().find(|each| find_call(each, at).is_some());
    let mut home = home.ok_or(Obstacle::NoSuchCall)?.clone();
    let call = find_call(&home, at).ok_or(Obstacle::NoSuchCall)?;
    let span = call.span;
    let ExpressionKind::Call(call) = &call.kind else { return Err(Obstacle::NoSuchCall) };
    let call = call.clone();
    let info = rewriter.original().calls.get(&rewriter.model_of(at)).cloned();
    let info = info.ok_or(Obstacle::NoSuchCall)?;
    let mut builder = NodeBuilder { rewriter, span };
    match info.callee {
        Callee::Function(callee) | Callee::Action(callee) => {
            let callee = here(&builder, &call, callee);
            code::inline(&mut builder, &mut home, at, &call, &info, callee)?;
        }
        Callee::BlockApply(callee) | Callee::DirectApply(callee) => {
            let declarations = &builder.rewriter.program().declarations;
            let found = declarations.iter().find(|each| each.id == callee);
            let found = found.ok_or(Obstacle::DeclaredElsewhere)?.clone();
            if is_numbered(builder.rewriter.program(), &found) {
                return Err(Obstacle::NamedByPlace);
            }
            match found.kind {
                DeclarationKind::Control(_) => {
                    controls::inline(&mut builder, &mut home, at, &call, &info, &found)?;
                }
                DeclarationKind::Parser(_) => {
                    parsers::inline(&mut builder, &mut home, at, &call, &info, &found)?;
                }
                _ => return Err(Obstacle::DeclaredElsewhere),
            }
        }
        _ => return Err(Obstacle::NoBody),
    }
    let id = home.id;
    rewriter.replace(id, home)?;
    Ok(())
}

/// Returns the action that a call calls, seen from the call: in a copied control that is a copy
/// too.
fn here(builder: &NodeBuilder<'_>, call: &crate::ast::Call, callee: NodeId) -> NodeId {
    let is_top = builder.rewriter.original().program.declarations.iter().any(|d| d.id == callee);
    match builder.rewriter.definition(call.callee.id) {
        Some(crate::typed::Definition::Node(node)) if !is_top => node,
        _ => callee,
    }
}

/// Inlines all calls of a program that can be inlined, the innermost first, and removes inlined declarations
/// without further uses. [`Rewriter::prune`] removes other unused declarations.
///
/// # Errors
///
/// Returns the errors if the original program does not pass the checker again.
#[allow(clippy::result_large_err, reason = "once a program, and then the run is over")]
pub fn inline_all(
    typed: &Arc<TypedProgram>,
    map: SourceMap,
) -> Result<Inlined, (Diagnostics, SourceMap)> {
    stacker::maybe_grow(64 * 1024 * 1024, 256 * 1024 * 1024, || {
        let mut sites = RandomSites::explicit(typed);
        let mut program = Rewriter::of(typed, map).finish()?;
        let mut inlined = BTreeMap::new();
        let mut refused: FxHashMap<NodeId, Obstacle> = FxHashMap::default();
        loop {
            let round = Round::of(&program, &refused);
            if round.calls.is_empty() {
                break;
            }
            program = round.run(program, &mut sites, &mut inlined, &mut refused)?;
        }
        if !sites.is_empty() && !inlined.is_empty() {
            // Blocks and annotations need no facts of the checker.
            let mut typed = TypedProgram::clone(&program.program);
            sites.write(&mut typed.program);
            program.program = Arc::new(typed);
        }
        let mut refused: Vec<(NodeId, Obstacle)> = refused
            .into_iter()
            .map(|(call, obstacle)| (program.came_from.origin(call), obstacle))
            .collect();
        refused.sort();
        refused.dedup();
        Ok(Inlined { program, inlined, refused })
    })
}

/// Calls of bodies without calls to inline.
struct Round {
    /// Each call, its kind, and the declaration of the callee.
    calls: Vec<(NodeId, CallKind, NodeId)>,
}

impl Round {
    fn of(program: &Rewritten, refused: &FxHashMap<NodeId, Obstacle>) -> Round {
        let typed = &program.program;
        let bodies = bodies(&typed.program);
        let kind = |call: NodeId| -> Option<(CallKind, NodeId)> {
            let info = typed.calls.get(&call)?;
            Some(match info.callee {
                Callee::Function(callee) => (CallKind::Function, callee),
                Callee::Action(callee) => (CallKind::Action, callee),
                Callee::BlockApply(callee) | Callee::DirectApply(callee) => {
                    let declaration = typed.program.declarations.iter().find(|d| d.id == callee)?;
                    match declaration.kind {
                        DeclarationKind::Parser(_) => (CallKind::Parser, callee),
                        _ => (CallKind::Control, callee),
                    }
                }
                _ => return None,
            })
        };
        let is_open = |call: &NodeId| !refused.contains_key(call) && kind(*call).is_some();
        let open: FxHashSet<NodeId> = bodies
            .iter()
            .filter(|(_, calls)| calls.iter().any(is_open))
            .map(|(declaration, _)| *declaration)
            .collect();
        let mut calls = Vec::new();
        for declaration in &typed.program.declarations {
            if program.map.library(declaration.span).is_some() {
                continue;
            }
            let mut found = Calls::default();
            found.declaration(declaration);
            for call in found.0.into_iter().filter(|call| !refused.contains_key(call)) {
                if let Some((kind, callee)) = kind(call)
                    && !open.contains(&callee)
                {
                    calls.push((call, kind, callee));
                }
            }
        }
        Round { calls }
    }

    /// Inlines the calls; when the result does not pass the checker, one by one.
    #[allow(clippy::result_large_err, reason = "once a program, and then the run is over")]
    fn run(
        self,
        program: Rewritten,
        sites: &mut RandomSites,
        inlined: &mut BTreeMap<CallKind, usize>,
        refused: &mut FxHashMap<NodeId, Obstacle>,
    ) -> Result<Rewritten, (Diagnostics, SourceMap)> {
        let mut rewriter = Rewriter::of_rewritten(program);
        let before = rewriter.clone();
        let mut noted = sites.clone();
        let mut done = Vec::new();
        for (call, kind, callee) in &self.calls {
            match inline_noting(&mut rewriter, *call, &mut noted) {
                Ok(()) => done.push((*kind, *callee)),
                Err(obstacle) => {
                    refused.insert(*call, obstacle);
                }
            }
        }
        drop_unused(&mut rewriter, done.iter().map(|(_, callee)| *callee).collect());
        if let Ok(program) = rewriter.finish() {
            for (kind, _) in done {
                *inlined.entry(kind).or_default() += 1;
            }
            *sites = noted;
            return Ok(program);
        }
        let mut good = before;
        for (call, kind, callee) in self.calls {
            if refused.contains_key(&call) {
                continue;
            }
            let (mut trial, mut noted) = (good.clone(), sites.clone());
            if let Err(obstacle) = inline_noting(&mut trial, call, &mut noted) {
                refused.insert(call, obstacle);
                continue;
            }
            drop_unused(&mut trial, FxHashSet::from_iter([callee]));
            match trial.clone().finish() {
                Ok(_) => {
                    good = trial;
                    *sites = noted;
                    *inlined.entry(kind).or_default() += 1;
                }
                Err((found, _)) => {
                    let first = found.iter().find(|each| each.severity == Severity::Error);
                    let message = first.map_or("", |first| &first.message);
                    refused.insert(call, Obstacle::Refused(message.into()));
                }
            }
        }
        good.finish()
    }
}

/// Removes top-level declarations that nothing refers to, out of those that were inlined.
fn drop_unused(rewriter: &mut Rewriter, inlined: FxHashSet<NodeId>) {
    struct Types<'r>(ReferencedNodes<'r>);
    impl<'a> Visit<'a> for Types<'_> {
        fn expression(&mut self, expression: &'a crate::ast::Expression) {
            if let ExpressionKind::Path(_) = expression.kind {
                self.0.note(expression.id);
            }
            crate::visit::walk_expression(self, expression);
        }
        fn type_ref(&mut self, ty: &'a crate::ast::TypeRef) {
            self.0.note(ty.id);
            crate::visit::walk_type_ref(self, ty);
        }
        fn action_ref(&mut self, action: &'a crate::ast::ActionRef) {
            self.0.note(action.id);
            crate::visit::walk_action_ref(self, action);
        }
    }
    let mut types = Types(ReferencedNodes { rewriter, nodes: FxHashSet::default() });
    crate::visit::walk_program(&mut types, rewriter.program());
    let used = types.0.nodes;
    let unused = |declaration: &&Declaration| {
        inlined.contains(&declaration.id)
            && !used.contains(&declaration.id)
            && rewriter.map().library(declaration.span).is_none()
            && !is_overloaded(rewriter.program(), declaration)
    };
    let unused: Vec<NodeId> =
        rewriter.program().declarations.iter().filter(unused).map(|each| each.id).collect();
    for declaration in unused {
        // A declaration that cannot be removed stays.
        let _ = rewriter.remove(declaration);
    }
}

/// Whether another top-level declaration has the same name, so that references may mean either.
fn is_overloaded(program: &Program, declaration: &Declaration) -> bool {
    let named = |each: &&Declaration| each.name.text == declaration.name.text;
    program.declarations.iter().filter(named).count() > 1
}

/// Returns the calls in each declaration that can be called: those of the top level, and actions of
/// controls.
fn bodies(program: &Program) -> Vec<(NodeId, Vec<NodeId>)> {
    let calls_of = |declaration: &Declaration| {
        let mut calls = Calls::default();
        calls.declaration(declaration);
        (declaration.id, calls.0)
    };
    let mut bodies = Vec::new();
    for declaration in &program.declarations {
        bodies.push(calls_of(declaration));
        if let DeclarationKind::Control(control) = &declaration.kind {
            let is_action =
                |local: &&Declaration| matches!(local.kind, DeclarationKind::Action { .. });
            bodies.extend(control.locals.iter().filter(is_action).map(calls_of));
        }
    }
    bodies
}
