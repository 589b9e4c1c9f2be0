// SPDX-License-Identifier: Apache-2.0
//! Index of the syntax tree: maps the id of a declaring node to the node, and counts the calls that apply an
//! instance.

use p4::ast::{
    Call, Declaration, DeclarationKind, DeclaredName, Expression, ExpressionKind, Method, NodeId,
    State, Statement, StatementKind, Variable,
};
use p4::typed::{Callee, Definition, TypedProgram};
use p4::visit::{Visit, walk_declaration, walk_expression, walk_state, walk_statement};
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

    /// The number of calls that apply this instance; a call in a loop counts twice.
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

    fn call(&mut self, expression: &'a Expression, call: &'a Call) {
        let Some(info) = self.typed.calls.get(&expression.id) else { return };
        let applied = match (info.callee, &call.callee.kind) {
            (Callee::BlockApply(_), ExpressionKind::Member(base, _)) => {
                match self.typed.definitions.get(&base.id) {
                    Some(Definition::Node(id)) => *id,
                    _ => return,
                }
            }
            (Callee::DirectApply(id), _) => id,
            _ => return,
        };
        *self.found.sites.entry(applied).or_insert(0) += 1 + u32::from(self.loops > 0);
    }
}

impl<'a> Visit<'a> for Walk<'a> {
    fn declaration(&mut self, declaration: &'a Declaration) {
        self.add(declaration.id, Node::Declaration(declaration));
        match &declaration.kind {
            DeclarationKind::ExternObject { methods, .. } => {
                for method in methods {
                    self.add(method.id, Node::Method(method, declaration));
                }
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
            _ => {}
        }
        walk_declaration(self, declaration);
    }

    fn state(&mut self, state: &'a State) {
        self.add(state.id, Node::State(state));
        walk_state(self, state);
    }

    fn variable(&mut self, variable: &'a Variable) {
        self.add(variable.id, Node::Variable);
    }

    fn statement(&mut self, statement: &'a Statement) {
        let is_loop =
            matches!(statement.kind, StatementKind::For { .. } | StatementKind::ForIn { .. });
        self.loops += u32::from(is_loop);
        walk_statement(self, statement);
        self.loops -= u32::from(is_loop);
    }

    fn expression(&mut self, expression: &'a Expression) {
        if let ExpressionKind::Call(call) = &expression.kind {
            self.call(expression, call);
        }
        walk_expression(self, expression);
    }
}
