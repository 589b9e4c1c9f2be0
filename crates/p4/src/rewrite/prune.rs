// SPDX-License-Identifier: Apache-2.0
//! Pruning: removes the declarations and parser states that nothing reaches from `main`.

use super::Rewriter;
use super::lists::ids;
use crate::ast::*;
use crate::token::TokenKind;
use crate::typed::Definition;
use crate::visit::{Visit, walk_declaration, walk_program, walk_state};
use crate::visit_mut::{VisitMut, VisitedMut};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::any::Any;

impl Rewriter {
    /// Removes what nothing reaches from the package instance `main`: top-level declarations,
    /// declarations of parsers and controls, and parser states. Libraries, errors and match kinds stay,
    /// and so does a variable or constant of a parser or control whose first value is a call. Blocks are
    /// not looked into: an unused variable of a block stays. Without `main` nothing is removed.
    /// Returns how many declarations and states were removed.
    pub fn prune(&mut self) -> usize {
        let is_main = |declaration: &&Declaration| {
            matches!(declaration.kind, DeclarationKind::Instance { .. })
                && &*declaration.name.text == "main"
        };
        let Some(main) = self.tree.declarations.iter().find(is_main).map(|main| main.id) else {
            return 0;
        };
        self.bind();
        let mut parts = Parts { parts: FxHashMap::default(), owners: Vec::new(), open: Vec::new() };
        parts.owners.resize(self.tree.node_count as usize, None);
        for declaration in &self.tree.declarations {
            parts.parts.insert(declaration.id, Part::Declaration(declaration));
        }
        walk_program(&mut parts, &self.tree);
        let stays = |declaration: &&Declaration| {
            self.is_library(declaration.span)
                || matches!(
                    declaration.kind,
                    DeclarationKind::Error(_) | DeclarationKind::MatchKind(_)
                )
        };
        let kept = self.tree.declarations.iter().filter(stays).map(|declaration| declaration.id);
        let mut uses = Uses {
            rewriter: self,
            parts: &parts,
            root: main,
            is_unbound: false,
            waiting: kept.chain([main]).collect(),
        };
        let mut reached = FxHashSet::default();
        while let Some(part) = uses.waiting.pop() {
            if reached.insert(part) {
                uses.visit_part(part);
            }
        }
        let unreached: FxHashSet<NodeId> =
            parts.parts.keys().copied().filter(|part| !reached.contains(part)).collect();
        let mut sweep = RemoveUnreached { unreached: &unreached, removed: Vec::new(), count: 0 };
        let mut tree = std::mem::take(&mut self.tree);
        sweep.list(&mut tree.declarations);
        let RemoveUnreached { removed, count, .. } = sweep;
        self.tree = tree;
        self.detach(&removed);
        count
    }
}

/// A node that can be removed by itself.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// A declaration of the top level, of a parser or of a control.
    Declaration(&'a Declaration),
    /// A state of a parser.
    State(&'a State),
}

/// All parts, and for each node the smallest part that it is in.
struct Parts<'a> {
    parts: FxHashMap<NodeId, Part<'a>>,
    owners: Vec<Option<NodeId>>,
    open: Vec<NodeId>,
}

impl<'a> Parts<'a> {
    /// Returns the parts of this name.
    fn named<'n>(&'n self, name: &'n str) -> impl Iterator<Item = (NodeId, Part<'a>)> + 'n {
        self.parts.iter().map(|(id, part)| (*id, *part)).filter(move |(_, part)| match part {
            Part::Declaration(declaration) => &*declaration.name.text == name,
            Part::State(state) => &*state.name.text == name,
        })
    }
}

impl<'a> Visit<'a> for Parts<'a> {
    fn id(&mut self, id: &'a NodeId) {
        if let Some(owner) = self.owners.get_mut(id.0 as usize) {
            *owner = self.open.last().copied();
        }
    }

    fn declaration(&mut self, node: &'a Declaration) {
        let is_part = self.parts.contains_key(&node.id);
        if is_part {
            self.open.push(node.id);
        }
        let locals: &[Declaration] = match &node.kind {
            DeclarationKind::Parser(parser) => &parser.locals,
            DeclarationKind::Control(control) => &control.locals,
            _ => &[],
        };
        self.parts.extend(locals.iter().map(|local| (local.id, Part::Declaration(local))));
        walk_declaration(self, node);
        if is_part {
            self.open.pop();
        }
    }

    fn state(&mut self, node: &'a State) {
        self.parts.insert(node.id, Part::State(node));
        self.open.push(node.id);
        walk_state(self, node);
        self.open.pop();
    }
}

/// Finds what a part uses, without the parts inside of it.
struct Uses<'r, 'a> {
    rewriter: &'r Rewriter,
    parts: &'r Parts<'a>,
    root: NodeId,
    /// The node that was entered last is new code that refers to something unknown.
    is_unbound: bool,
    waiting: Vec<NodeId>,
}

impl<'a> Uses<'_, 'a> {
    fn visit_part(&mut self, part: NodeId) {
        self.root = part;
        match self.parts.parts.get(&part) {
            Some(Part::Declaration(declaration)) => {
                self.declaration(declaration);
                self.kept_inside(declaration);
            }
            Some(Part::State(state)) => self.state(state),
            None => {}
        }
    }

    /// The start state, and variables whose first value does something.
    fn kept_inside(&mut self, declaration: &'a Declaration) {
        let locals = match &declaration.kind {
            DeclarationKind::Parser(parser) => {
                let start = parser.states.iter().filter(|state| &*state.name.text == "start");
                self.waiting.extend(start.map(|state| state.id));
                &parser.locals
            }
            DeclarationKind::Control(control) => &control.locals,
            _ => return,
        };
        for local in locals {
            if let DeclarationKind::Variable { initializer: Some(value), .. }
            | DeclarationKind::Constant { value, .. } = &local.kind
            {
                let mut calls = HasCall(false);
                calls.expression(value);
                self.waiting.extend(calls.0.then_some(local.id));
            }
        }
    }

    /// What is used is in a part, and that in others.
    fn uses(&mut self, node: NodeId) {
        if let Some(owner) = self.parts.owners.get(node.0 as usize).copied().flatten() {
            self.waiting.push(owner);
        }
    }
}

impl<'a> Visit<'a> for Uses<'_, 'a> {
    fn enter<T: Node>(&mut self, node: &'a T) -> bool {
        let id = node.id();
        let definition = self.rewriter.definition(id);
        if let Some(Definition::Node(target)) = definition {
            self.uses(target);
        }
        for (callee, _) in self.rewriter.callees(id) {
            self.uses(callee);
        }
        self.is_unbound = definition.is_none() && self.rewriter.is_new(id);
        let any = node as &dyn Any;
        let is_other_part = any.is::<Declaration>() || any.is::<State>();
        !(is_other_part && id != self.root && self.parts.parts.contains_key(&id))
    }

    fn path(&mut self, path: &'a Path) {
        if self.is_unbound {
            self.waiting.extend(self.parts.named(&path.name.text).map(|(id, _)| id));
        }
    }

    fn annotation(&mut self, annotation: &'a Annotation) {
        if let AnnotationBody::Unstructured(tokens) = &annotation.body {
            for token in tokens.iter().filter(|token| token.kind == TokenKind::Identifier) {
                let values = self.parts.named(&token.text).filter(|(_, part)| {
                    matches!(
                        part,
                        Part::Declaration(Declaration {
                            kind: DeclarationKind::Constant { .. } | DeclarationKind::Enum { .. },
                            ..
                        })
                    )
                });
                self.waiting.extend(values.map(|(id, _)| id));
            }
        }
        crate::visit::walk_annotation(self, annotation);
    }
}

struct HasCall(bool);

impl<'a> Visit<'a> for HasCall {
    fn expression(&mut self, expression: &'a Expression) {
        self.0 |= matches!(expression.kind, ExpressionKind::Call(_));
        crate::visit::walk_expression(self, expression);
    }
}

struct RemoveUnreached<'r> {
    unreached: &'r FxHashSet<NodeId>,
    removed: Vec<(NodeId, Span)>,
    count: usize,
}

impl VisitMut for RemoveUnreached<'_> {
    fn list<T: VisitedMut>(&mut self, list: &mut Vec<T>) {
        let is_part = |node: &T| {
            let node = node as &dyn Any;
            node.is::<Declaration>() || node.is::<State>()
        };
        list.retain_mut(|node| {
            let stays = !(is_part(node) && self.unreached.contains(&node.id()));
            if !stays {
                self.count += 1;
                self.removed.extend(ids(node));
            }
            stays
        });
        for node in list {
            T::accept_mut(node, self);
        }
    }
}
