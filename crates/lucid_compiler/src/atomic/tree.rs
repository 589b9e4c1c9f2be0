// SPDX-License-Identifier: Apache-2.0
//! The atomic table graph (Lucid Figure 6(1)): statements of one ALU each, and branch tables that say
//! what comes next. Here are its types and what is asked of it; [`super::translate`] makes it.

use super::program::{AtomicProgram, StatementId};
use pisa::{Condition, VariableId};
use source::Span;
use std::collections::BTreeMap;

/// Handlers as trees of atomic tables. The statements' guards ask only for the event.
#[derive(Clone, Debug, Default)]
pub struct AtomicGraph {
    /// Variables, arrays, statements, handlers.
    pub program: AtomicProgram,
    /// One a handler.
    pub bodies: Vec<Vec<Node>>,
}

/// A table of the graph; what follows it is the next node, or an arm's first.
#[derive(Clone, Debug)]
pub enum Node {
    /// An operation table or a memory operation table.
    Statement(StatementId),
    /// A branch table.
    Branch(Branch),
}

/// A branch table: the first rule that matches says which arm runs; none: none.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Conditions on variables, and the index of an arm. No arm writes these variables.
    pub rules: Vec<(BTreeMap<VariableId, Condition>, usize)>,
    /// What may run.
    pub arms: Vec<Vec<Node>>,
    /// The condition in the source.
    pub span: Span,
}

impl AtomicGraph {
    /// Number of tables on the longest path through a handler (Lucid §7.2: the stages that a program
    /// would take without optimisation).
    pub fn longest_path(&self) -> u32 {
        self.bodies.iter().map(|body| longest(body, 1)).max().unwrap_or(0)
    }

    /// The same without branch tables: after they became rules of the others.
    pub fn longest_path_of_statements(&self) -> u32 {
        self.bodies.iter().map(|body| longest(body, 0)).max().unwrap_or(0)
    }
}

/// The longest path, a branch table counted as so many.
fn longest(nodes: &[Node], of_branch: u32) -> u32 {
    let of = |node: &Node| match node {
        Node::Statement(_) => 1,
        Node::Branch(branch) => {
            let arms = branch.arms.iter().map(|arm| longest(arm, of_branch));
            of_branch + arms.max().unwrap_or(0)
        }
    };
    nodes.iter().map(of).sum()
}
