// SPDX-License-Identifier: Apache-2.0
//! [`StatementTree`]: maps each statement to the nodes of the typed program in it: nested statements and the
//! expressions in all of them. Origins name single nodes; the tree groups them by statement.

use p4::ast::{Declaration, DeclarationKind, NodeId, Program, State, Statement};
use p4::visit::{Visit, walk_declaration, walk_program, walk_state, walk_statement};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Statements, parser states and declarations of variables, with what is in them.
#[derive(Clone, Debug, Default)]
pub struct StatementTree {
    /// All nodes, each before those in it.
    nodes: Vec<NodeId>,
    ranges: HashMap<NodeId, Range<usize>>,
    enclosing: HashMap<NodeId, NodeId>,
}

impl StatementTree {
    /// Walks a program.
    pub fn of(program: &Program) -> StatementTree {
        let mut walk = Walk { tree: StatementTree::default(), open: Vec::new() };
        walk_program(&mut walk, program);
        walk.tree
    }

    /// A statement's node and the nodes in it; a node that is no statement alone.
    pub fn nodes_of(&self, statement: NodeId) -> BTreeSet<NodeId> {
        match self.ranges.get(&statement) {
            Some(range) => self.nodes[range.clone()].iter().copied().collect(),
            None => BTreeSet::from([statement]),
        }
    }

    /// The innermost statement around a node: itself, if it is a statement.
    pub fn enclosing(&self, node: NodeId) -> Option<NodeId> {
        self.enclosing.get(&node).copied()
    }

    /// All statements, in the order of the text.
    pub fn statements(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes.iter().copied().filter(|node| self.ranges.contains_key(node))
    }
}

struct Walk {
    tree: StatementTree,
    /// The statements around, the innermost last.
    open: Vec<NodeId>,
}

impl Walk {
    fn inside(&mut self, id: NodeId, walk: impl FnOnce(&mut Walk)) {
        let first = self.tree.nodes.len();
        self.open.push(id);
        walk(self);
        self.open.pop();
        self.tree.ranges.insert(id, first..self.tree.nodes.len());
    }
}

impl<'a> Visit<'a> for Walk {
    fn id(&mut self, id: &'a NodeId) {
        self.tree.nodes.push(*id);
        if let Some(around) = self.open.last() {
            self.tree.enclosing.insert(*id, *around);
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        self.inside(statement.id, |walk| walk_statement(walk, statement));
    }

    fn state(&mut self, state: &'a State) {
        self.inside(state.id, |walk| walk_state(walk, state));
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        match declaration.kind {
            DeclarationKind::Variable { .. } => {
                self.inside(declaration.id, |walk| walk_declaration(walk, declaration));
            }
            _ => walk_declaration(self, declaration),
        }
    }
}
