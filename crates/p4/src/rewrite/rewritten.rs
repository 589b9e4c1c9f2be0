// SPDX-License-Identifier: Apache-2.0
//! `Rewritten`: a program after its changes, and `NodeMap`: which node each copy came from.

use crate::ast::NodeId;
use crate::build::Printing;
use crate::typed::TypedProgram;
use rustc_hash::FxHashMap;
use source::{Diagnostics, SourceMap};
use std::sync::Arc;

/// For each copy the node it came from.
#[derive(Clone, Debug, Default)]
pub struct NodeMap(FxHashMap<NodeId, NodeId>);

impl NodeMap {
    /// Returns the node of the original program that this node is or is a copy of, directly or
    /// through other copies. For new code, the node itself; for a copy of it, the node that was
    /// copied.
    pub fn origin(&self, node: NodeId) -> NodeId {
        self.0.get(&node).copied().unwrap_or(node)
    }

    /// Returns all copies, each with its origin.
    pub fn copies(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.0.iter().map(|(copy, origin)| (*copy, *origin))
    }

    pub(super) fn add(&mut self, copy: NodeId, origin: NodeId) {
        self.0.insert(copy, origin);
    }
}

/// A program after its changes.
#[derive(Debug)]
pub struct Rewritten {
    /// All files.
    pub map: SourceMap,
    /// The checked program. Nodes that were not touched have the identities and places they had.
    pub program: Arc<TypedProgram>,
    /// Warnings of the checker.
    pub warnings: Diagnostics,
    /// Where copies came from.
    pub came_from: NodeMap,
    pub(super) printing: Printing,
}

impl Rewritten {
    /// Returns the program as text that other toolchains take: libraries as `#include`, then all
    /// else, with the comments that a tool gave to top-level declarations. Comments of a user's
    /// text are not in the tree, so they are not printed.
    pub fn print(&self) -> String {
        self.printing.print(&self.map, &self.program.program)
    }
}
