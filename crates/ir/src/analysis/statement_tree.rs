// SPDX-License-Identifier: Apache-2.0
//! [`StatementTree`]: which nodes of the typed program stand in which statement: nested statements and the
//! expressions in all of them. Origins name single nodes; with the tree they are gathered by statements.

use p4::ast::{Declaration, DeclarationKind, Node, NodeId, Program, State, Statement};
use p4::visit::{Visit, walk_program};
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Statements, parser states and declarations among statements, with what is in them.
#[derive(Clone, Debug, Default)]
pub struct StatementTree {
    /// All nodes, each before those in it.
    nodes: Vec<u32>,
    ranges: HashMap<u32, Range<usize>>,
    enclosing: HashMap<u32, u32>,
}

impl StatementTree {
    /// Walks a program.
    pub fn of(program: &Program) -> StatementTree {
        let mut walk = Walk { tree: StatementTree::default(), open: Vec::new() };
        walk_program(&mut walk, program);
        walk.tree
    }

    /// A statement's node and the nodes in it; a node that is no statement alone.
    pub fn nodes_of(&self, statement: u32) -> BTreeSet<u32> {
        match self.ranges.get(&statement) {
            Some(range) => self.nodes[range.clone()].iter().copied().collect(),
            None => BTreeSet::from([statement]),
        }
    }

    /// The innermost statement that a node stands in: itself, if it is one.
    pub fn enclosing(&self, node: u32) -> Option<u32> {
        if self.ranges.contains_key(&node) {
            return Some(node);
        }
        self.enclosing.get(&node).copied()
    }

    /// All statements, in the order of the text.
    pub fn statements(&self) -> impl Iterator<Item = u32> + '_ {
        self.nodes.iter().copied().filter(|node| self.ranges.contains_key(node))
    }
}

struct Walk {
    tree: StatementTree,
    /// The statements around the current place, each with the index of its first node.
    open: Vec<(u32, usize)>,
}

/// Whether a node counts as a statement.
fn is_statement<T: Node>(node: &T) -> bool {
    let node = node as &dyn Any;
    let is_variable =
        |declaration: &Declaration| matches!(declaration.kind, DeclarationKind::Variable { .. });
    node.is::<Statement>() || node.is::<State>() || node.downcast_ref().is_some_and(is_variable)
}

impl<'a> Visit<'a> for Walk {
    fn id(&mut self, id: &'a NodeId) {
        self.tree.nodes.push(id.0);
        if let Some((statement, _)) = self.open.last() {
            self.tree.enclosing.insert(id.0, *statement);
        }
    }

    fn enter<T: Node>(&mut self, node: &'a T) -> bool {
        if is_statement(node) {
            self.open.push((node.id().0, self.tree.nodes.len()));
        }
        true
    }

    fn leave<T: Node>(&mut self, node: &'a T) {
        if is_statement(node)
            && let Some((statement, first)) = self.open.pop()
        {
            self.tree.ranges.insert(statement, first..self.tree.nodes.len());
        }
    }
}
