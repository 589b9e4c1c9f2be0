// SPDX-License-Identifier: Apache-2.0
//! Call sites that draw random numbers: which calls may draw, and the label of each. The random key of a draw
//! is the path of labels from the block, action or table in which the chain of calls begins, so it does not
//! depend on spans, on names of variables, or on what a pass makes of the code. A rewriter that copies, moves
//! or renames code takes the labels first ([`RandomSites::explicit`]), notes calls that it copies
//! ([`RandomSites::copied`]), and finally writes the labels into the tree ([`RandomSites::write`]). A rewriter
//! that only copies whole statements may write them first ([`annotate`]) and [`prefix`] the bodies of calls.
//!
//! # Labels
//!
//! A *drawing call* is a call of the extern function `random`, of a method of an extern object of type
//! `Random`, of an extern annotated `@random`, or of anything whose body has a drawing call. Drawing calls of
//! one declaration (function, action, table, parser or control; actions and tables within a control are
//! declarations of their own) are numbered from 0 in the order of the text: the number is the label. The
//! annotation `@random_site("label", ...)` on a block statement, a variable, a `for`, a parser state or a
//! declaration gives labels, in the order of the text, to the drawing calls that stand in it and in nothing
//! inside that has such an annotation of its own. Other compilers ignore the annotation.
//!
//! # Keys
//!
//! A key is a scope, a slash and a label. The scope is `block ROLE` in the body of a package's block, `action
//! NAME` in an action that a table runs and `table NAME` in a table's key (both by their control-plane
//! names), and in a callee the key of the call. A label that begins with a slash is a whole key.
//! `@random_scope("...")` on an action gives another scope for runs by tables.

mod annotate;
mod scopes;
#[cfg(test)]
mod tests;
mod walk;

pub use annotate::{annotate, prefix, prefix_annotations};

use crate::ast::*;
use crate::token::TokenKind;
use crate::typed::{Callee, TypedProgram};
use scopes::{Scoped, scopes};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use walk::{Step, units, walk_unit};

/// The name of the annotation that gives labels.
pub const ANNOTATION: &str = "random_site";

/// The name of the annotation that gives an action the scope that its calls have when a table runs it.
pub const SCOPE_ANNOTATION: &str = "random_scope";

/// The annotation of extern functions, extern objects and methods that draw random numbers.
pub const DRAWING_ANNOTATION: &str = "random";

/// The labels of a program's drawing calls.
#[derive(Clone, Debug, Default)]
pub struct RandomSites {
    labels: HashMap<NodeId, Arc<str>>,
    /// Scopes of actions that are called and run by tables; only of [`RandomSites::explicit`].
    action_scopes: HashMap<NodeId, Arc<str>>,
}

impl RandomSites {
    /// Finds all drawing calls of a program.
    pub fn of(typed: &TypedProgram) -> RandomSites {
        let units = units(&typed.program);
        let drawing = Drawing::new(typed, &units);
        let mut labels = HashMap::new();
        for unit in &units {
            let mut given: Vec<std::vec::IntoIter<Arc<str>>> = Vec::new();
            let mut count = 0u32;
            walk_unit(unit, &mut |step| match step {
                Step::Enter(annotations) => given.push(written(annotations).into_iter()),
                Step::Leave => {
                    given.pop();
                }
                Step::Call(call) if drawing.calls.contains(&call.id) => {
                    let label = given.last_mut().and_then(Iterator::next);
                    labels.insert(call.id, label.unwrap_or_else(|| count.to_string().into()));
                    count += 1;
                }
                Step::Call(_) => {}
            });
        }
        RandomSites { labels, action_scopes: HashMap::new() }
    }

    /// Like [`RandomSites::of`]; where only one path of calls reaches a call, its label is the whole key, so
    /// that it stays right in other declarations and under other names.
    pub fn explicit(typed: &TypedProgram) -> RandomSites {
        let mut sites = RandomSites::of(typed);
        if sites.is_empty() {
            return sites;
        }
        for Scoped { declaration, scope, is_called } in scopes(typed) {
            let mut draws = false;
            walk_unit(declaration, &mut |step| {
                let Step::Call(call) = step else { return };
                let Some(label) = sites.labels.get_mut(&call.id) else { return };
                draws = true;
                if !is_called {
                    *label = format!("/{}", join(&scope, label)).into();
                }
            });
            if draws && is_called && !has_annotation(&declaration.annotations, SCOPE_ANNOTATION) {
                sites.action_scopes.insert(declaration.id, scope.into());
            }
        }
        sites
    }

    /// Notes that a call was copied. `through` is the label of the call that the copy's surroundings take the
    /// place of, when a body was inlined; so labels of calls within calls add up, in whichever order they are
    /// inlined.
    pub fn copied(&mut self, from: NodeId, to: NodeId, through: Option<&str>) {
        if let Some(label) = self.labels.get(&from) {
            let label = match through {
                Some(outer) => below(outer, label),
                None => label.clone(),
            };
            self.labels.insert(to, label);
        }
    }

    /// Returns the label of a call expression; `None` when it draws nothing.
    pub fn label(&self, call: NodeId) -> Option<&Arc<str>> {
        self.labels.get(&call)
    }

    /// Whether no call of the program draws.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

/// Returns the calls that a declaration (function, action, table, parser or control) evaluates, in
/// the order of the text; those of actions and tables within a control are not among them.
pub fn calls_of(tree: &Program, declaration: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    for unit in units(tree).into_iter().filter(|unit| unit.id == declaration) {
        walk_unit(unit, &mut |step| {
            if let Step::Call(call) = step {
                found.push(call.id);
            }
        });
    }
    found
}

/// Returns the key of a call with this label in this scope.
pub fn join(scope: &str, label: &str) -> Arc<str> {
    match label.strip_prefix('/') {
        Some(whole) => whole.into(),
        None => format!("{scope}/{label}").into(),
    }
}

/// Returns the label of a call in a body that takes the place of a call with this label.
fn below(outer: &str, label: &Arc<str>) -> Arc<str> {
    if label.starts_with('/') { label.clone() } else { format!("{outer}/{label}").into() }
}

/// Returns the labels that annotations give.
fn written(annotations: &[Annotation]) -> Vec<Arc<str>> {
    let ours = annotations.iter().filter(|annotation| *annotation.name.text == *ANNOTATION);
    ours.flat_map(|annotation| match &annotation.body {
        AnnotationBody::Unstructured(tokens) => tokens
            .iter()
            .filter(|token| token.kind == TokenKind::String)
            .map(|token| token.text.clone())
            .collect(),
        AnnotationBody::Expressions(items) => items
            .iter()
            .filter_map(|item| match &item.kind {
                ExpressionKind::String(text) => Some(text.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    })
    .collect()
}

fn has_annotation(annotations: &[Annotation], name: &str) -> bool {
    annotations.iter().any(|annotation| *annotation.name.text == *name)
}

/// Which calls may draw.
struct Drawing {
    calls: HashSet<NodeId>,
}

impl Drawing {
    fn new(typed: &TypedProgram, units: &[&Declaration]) -> Drawing {
        let (externs, with_abstract_methods) = drawing_externs(&typed.program);
        let initializers = initializer_functions(&typed.program);
        let blocks: HashSet<NodeId> = units
            .iter()
            .filter(|unit| {
                matches!(unit.kind, DeclarationKind::Parser(_) | DeclarationKind::Control(_))
            })
            .map(|unit| unit.id)
            .collect();
        let bodies: HashSet<NodeId> = units.iter().map(|unit| unit.id).collect();
        let mut found = Drawing { calls: HashSet::new() };
        let mut drawing: HashSet<NodeId> = HashSet::new();
        loop {
            let before = found.calls.len();
            let an_initializer_draws = initializers.iter().any(|id| drawing.contains(id));
            for unit in units {
                walk_unit(unit, &mut |step| {
                    let Step::Call(call) = step else { return };
                    let Some(info) = typed.calls.get(&call.id) else { return };
                    let draws = match info.callee {
                        Callee::ExternFunction(id) => externs.contains(&id),
                        Callee::ExternMethod(id) => {
                            externs.contains(&id)
                                || an_initializer_draws && with_abstract_methods.contains(&id)
                        }
                        Callee::AbstractMethod(id) if !bodies.contains(&id) => an_initializer_draws,
                        Callee::BlockApply(id) if !bodies.contains(&id) => {
                            blocks.iter().any(|block| drawing.contains(block))
                        }
                        Callee::Function(id)
                        | Callee::Action(id)
                        | Callee::AbstractMethod(id)
                        | Callee::BlockApply(id)
                        | Callee::DirectApply(id) => drawing.contains(&id),
                        _ => false,
                    };
                    if draws {
                        found.calls.insert(call.id);
                        drawing.insert(unit.id);
                    }
                });
            }
            if found.calls.len() == before {
                return found;
            }
        }
    }
}

/// Extern functions and methods that draw, and methods of objects that have abstract methods.
fn drawing_externs(program: &Program) -> (HashSet<NodeId>, HashSet<NodeId>) {
    let (mut drawing, mut with_abstract_methods) = (HashSet::new(), HashSet::new());
    for declaration in &program.declarations {
        let is_marked = has_annotation(&declaration.annotations, DRAWING_ANNOTATION);
        match &declaration.kind {
            DeclarationKind::ExternFunction(_)
                if is_marked || &*declaration.name.text == "random" =>
            {
                drawing.insert(declaration.id);
            }
            DeclarationKind::ExternObject { methods, .. } => {
                let all_draw = is_marked || &*declaration.name.text == "Random";
                let calls_back = methods.iter().any(|method| method.is_abstract);
                for method in methods {
                    if all_draw || has_annotation(&method.annotations, DRAWING_ANNOTATION) {
                        drawing.insert(method.id);
                    }
                    if calls_back {
                        with_abstract_methods.insert(method.id);
                    }
                }
            }
            _ => {}
        }
    }
    (drawing, with_abstract_methods)
}

/// Functions in object initializers.
fn initializer_functions(program: &Program) -> Vec<NodeId> {
    fn add(declaration: &Declaration, found: &mut Vec<NodeId>) {
        match &declaration.kind {
            DeclarationKind::Instance { body, .. } => {
                found.extend(body.iter().flatten().map(|inner| inner.id));
            }
            DeclarationKind::Parser(parser) => {
                parser.locals.iter().for_each(|local| add(local, found));
            }
            DeclarationKind::Control(control) => {
                control.locals.iter().for_each(|local| add(local, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    program.declarations.iter().for_each(|declaration| add(declaration, &mut found));
    found
}
