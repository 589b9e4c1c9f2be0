// SPDX-License-Identifier: Apache-2.0
//! `EditError`: why an edit is refused, with the node and its place. A refused edit leaves the tree
//! unchanged.

use crate::ast::NodeId;
use source::Span;
use std::fmt;
use std::sync::Arc;

/// A refused edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError {
    /// The node that the edit is about.
    pub node: NodeId,
    /// Its span; [`Span::NONE`] if the node does not exist.
    pub span: Span,
    /// The reason.
    pub problem: Problem,
}

/// Why an edit is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No node of the tree has this identity: it never had, or it was removed.
    NoSuchNode,
    /// The node is of another kind than the edit is for.
    WrongKind {
        /// The kind of node that the edit is for.
        expected: &'static str,
        /// The kind of the node.
        found: &'static str,
    },
    /// The node has no list of such parts.
    NoSuchList {
        /// The kind of the node.
        owner: &'static str,
        /// The kind of node to put in.
        element: &'static str,
    },
    /// The node is not in a list, so it can only be replaced.
    NotInList {
        /// The kind of the node.
        found: &'static str,
    },
    /// In the parentheses of a `for` there are only declarations, assignments and calls.
    NotInLoopHeader,
    /// The node is in the tree already, or this rewriter did not make its identity.
    NotDetached,
    /// The name has another meaning where it would be used.
    NameTaken {
        /// The name.
        name: Arc<str>,
    },
    /// The text is no name, or a keyword.
    NotAName {
        /// The text.
        name: Arc<str>,
    },
    /// The name has a meaning of its own, so it cannot be changed.
    FixedName {
        /// The name.
        name: Arc<str>,
    },
    /// A node that was taken in uses a member or parameter by this name; what it refers to is
    /// known only after the program is checked.
    UnknownReference {
        /// The name.
        name: Arc<str>,
    },
}

impl EditError {
    pub(super) fn new(node: NodeId, span: Span, problem: Problem) -> EditError {
        EditError { node, span, problem }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.node.0;
        match &self.problem {
            Problem::NoSuchNode => write!(f, "no node {node} in the program"),
            Problem::WrongKind { expected, found } => {
                write!(f, "node {node} is of the kind {found}, not {expected}")
            }
            Problem::NoSuchList { owner, element } => {
                write!(
                    f,
                    "node {node}, of the kind {owner}, has no list of parts of the kind {element}"
                )
            }
            Problem::NotInList { found } => {
                write!(f, "node {node}, of the kind {found}, is in no list; replace it instead")
            }
            Problem::NotInLoopHeader => write!(
                f,
                "beside node {node}, in the parentheses of a `for`, only declarations, \
                 assignments and calls can stand"
            ),
            Problem::NotDetached => write!(
                f,
                "node {node} is in the program already or was made elsewhere; copy or adopt it first"
            ),
            Problem::NameTaken { name } => {
                write!(f, "node {node} cannot be called `{name}`: the name is taken")
            }
            Problem::NotAName { name } => {
                write!(f, "node {node} cannot be called `{name}`: that is not an identifier")
            }
            Problem::FixedName { name } => {
                write!(
                    f,
                    "node {node}, `{name}`, cannot be renamed: its name has a meaning of its own"
                )
            }
            Problem::UnknownReference { name } => write!(
                f,
                "node {node} was taken in and uses `{name}`; finish the rewrite before renaming it"
            ),
        }
    }
}

impl std::error::Error for EditError {}
