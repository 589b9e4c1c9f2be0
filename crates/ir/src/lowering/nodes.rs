// SPDX-License-Identifier: Apache-2.0
//! An index of the syntax tree: from the number of a declaring node to the node. It also counts the
//! places that apply an instance. It knows nothing of types.

use p4::ast::*;
use p4::typed::{Callee, Definition, TypedProgram};
use std::collections::HashMap;

/// A node that declares something.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    /// Any declaration.
    Declaration(&'a Declaration),
    /// A constructor or method, and the extern object it belongs to.
    Method(&'a Method, &'a Declaration),
    /// A parser state.
    State(&'a State),
    /// A member of an enum: the enum and the member's index.
    EnumMember(&'a Declaration, usize),
    /// An error or a match kind.
    Name(&'a DeclaredName),
    /// A loop variable.
    Variable,
}

/// The index.
pub(super) struct Nodes<'a> {
    nodes: HashMap<NodeId, Node<'a>>,
    sites: HashMap<NodeId, u32>,
    top_level: HashMap<&'a str, &'a Declaration>,
}

impl<'a> Nodes<'a> {
    /// Walks the whole program.
    pub(super) fn new(typed: &'a TypedProgram) -> Nodes<'a> {
        let mut walk = Walk {
            typed,
            loops: 0,
            found: Nodes {
                nodes: HashMap::new(),
                sites: HashMap::new(),
                top_level: HashMap::new(),
            },
        };
        for declaration in &typed.program.declarations {
            walk.found.top_level.insert(&declaration.name.text, declaration);
            walk.declaration(declaration);
        }
        walk.found
    }

    /// The node with this number.
    pub(super) fn get(&self, id: NodeId) -> Option<Node<'a>> {
        self.nodes.get(&id).copied()
    }

    /// The declaration with this number.
    pub(super) fn declaration(&self, id: NodeId) -> Option<&'a Declaration> {
        match self.nodes.get(&id) {
            Some(Node::Declaration(declaration)) => Some(declaration),
            _ => None,
        }
    }

    /// The last top-level declaration with this name.
    pub(super) fn top_level(&self, name: &str) -> Option<&'a Declaration> {
        self.top_level.get(name).copied()
    }

    /// How often calls name this instance as what they apply; a call in a loop counts twice.
    pub(super) fn apply_sites(&self, instance: NodeId) -> u32 {
        self.sites.get(&instance).copied().unwrap_or(0)
    }
}

struct Walk<'a> {
    typed: &'a TypedProgram,
    loops: u32,
    found: Nodes<'a>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, id: NodeId, node: Node<'a>) {
        self.found.nodes.insert(id, node);
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        self.add(declaration.id, Node::Declaration(declaration));
        match &declaration.kind {
            DeclarationKind::Instance { body, .. } => {
                for inner in body.iter().flatten() {
                    self.declaration(inner);
                }
            }
            DeclarationKind::Action { body, .. } => {
                self.block(body);
            }
            DeclarationKind::Function { body, .. } => {
                self.block(body);
            }
            DeclarationKind::ExternObject { methods, .. } => {
                for method in methods {
                    self.add(method.id, Node::Method(method, declaration));
                }
            }
            DeclarationKind::Parser(parser) => {
                for local in &parser.locals {
                    self.declaration(local);
                }
                for state in &parser.states {
                    self.add(state.id, Node::State(state));
                    for statement in &state.statements {
                        self.statement(statement);
                    }
                }
            }
            DeclarationKind::Control(control) => {
                for local in &control.locals {
                    self.declaration(local);
                }
                self.block(&control.body);
            }
            DeclarationKind::Enum { members, .. } => {
                for (index, member) in members.iter().enumerate() {
                    self.add(member.id, Node::EnumMember(declaration, index));
                }
            }
            DeclarationKind::Error(names) | DeclarationKind::MatchKind(names) => {
                for name in names {
                    self.add(name.id, Node::Name(name));
                }
            }
            DeclarationKind::Typedef(TypedefTarget::Declaration(inner)) => self.declaration(inner),
            _ => {}
        }
    }

    fn block(&mut self, block: &'a Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Call(expression) => self.call(expression),
            StatementKind::If { then, otherwise, .. } => {
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Switch { cases, .. } => {
                for body in cases.iter().filter_map(|case| case.body.as_ref()) {
                    self.block(body);
                }
            }
            StatementKind::For { init, update, body, .. } => {
                self.loops += 1;
                for statement in init.iter().chain(update) {
                    self.statement(statement);
                }
                self.statement(body);
                self.loops -= 1;
            }
            StatementKind::ForIn { variable, body, .. } => {
                self.loops += 1;
                self.add(variable.id, Node::Variable);
                self.statement(body);
                self.loops -= 1;
            }
            StatementKind::Declaration(declaration) => self.declaration(declaration),
            _ => {}
        }
    }

    fn call(&mut self, expression: &'a Expression) {
        let ExpressionKind::Call(call) = &expression.kind else { return };
        let Some(info) = self.typed.calls.get(&expression.id) else { return };
        let times = 1 + u32::from(self.loops > 0);
        match (info.callee, &call.callee.kind) {
            (Callee::BlockApply(_), ExpressionKind::Member(base, _)) => {
                if let Some(Definition::Node(id)) = self.typed.definitions.get(&base.id) {
                    *self.found.sites.entry(*id).or_insert(0) += times;
                }
            }
            (Callee::DirectApply(id), _) => {
                *self.found.sites.entry(id).or_insert(0) += times;
            }
            _ => {}
        }
    }
}
