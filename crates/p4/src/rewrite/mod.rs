// SPDX-License-Identifier: Apache-2.0
//! `Rewriter`: changes the tree of a checked program and checks it again. It works on a copy in which
//! every node keeps its identity and place; copies and new nodes get fresh identities, and of each
//! copy the node it came from is known. The pieces of text that new code may come from are read by
//! `parser`; what is changed and why is the tool's business.

mod parts;

pub use parts::Part;

use crate::ast::{NodeId, Program};
use crate::typed::{Definition, TypedProgram};
use crate::visit_mut::VisitMut;
use rustc_hash::FxHashMap;
use source::{Diagnostics, SourceMap};
use std::sync::Arc;

/// For each new node the node it is a copy of.
#[derive(Clone, Debug, Default)]
pub struct NodeMap(FxHashMap<NodeId, NodeId>);

impl NodeMap {
    /// The node of the original program that this node is or is a copy of, directly or through
    /// other copies. For a node made without a model, the node itself.
    pub fn origin(&self, node: NodeId) -> NodeId {
        self.0.get(&node).copied().unwrap_or(node)
    }

    /// All copies, each with its node of the original program.
    pub fn copies(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.0.iter().map(|(copy, origin)| (*copy, *origin))
    }
}

/// A program that is being changed.
#[derive(Clone, Debug)]
pub struct Rewriter {
    typed: Arc<TypedProgram>,
    tree: Program,
    came_from: NodeMap,
    /// What references in copies refer to, where that is not what the original refers to.
    rebound: FxHashMap<NodeId, NodeId>,
}

/// A program after its changes.
#[derive(Debug)]
pub struct Rewritten {
    /// All files, as they were given to [`Rewriter::finish`].
    pub map: SourceMap,
    /// The checked program.
    pub program: Arc<TypedProgram>,
    /// Warnings of the checker.
    pub warnings: Diagnostics,
    /// Where copies came from.
    pub came_from: NodeMap,
}

impl Rewriter {
    /// Begins to change a copy of this program.
    pub fn of(typed: &Arc<TypedProgram>) -> Rewriter {
        Rewriter {
            tree: deep(|| typed.program.clone()),
            typed: Arc::clone(typed),
            came_from: NodeMap::default(),
            rebound: FxHashMap::default(),
        }
    }

    /// The tree as changed so far.
    pub fn program(&self) -> &Program {
        &self.tree
    }

    /// The program before the changes. Its side tables hold for a copied node by the
    /// [origin](NodeMap::origin) of the node.
    pub fn original(&self) -> &Arc<TypedProgram> {
        &self.typed
    }

    /// Where the copies made so far came from.
    pub fn came_from(&self) -> &NodeMap {
        &self.came_from
    }

    /// An identity that no node has.
    pub fn fresh_id(&mut self) -> NodeId {
        let id = NodeId(self.tree.node_count);
        self.tree.node_count += 1;
        id
    }

    /// Copies a part of this program's tree, or a copy of one: fresh identities, the same places. A
    /// reference in the part to a declaration in the part becomes a reference to its copy, so
    /// parts that belong together are copied together, as a tuple or a list.
    pub fn copy<T: Part>(&mut self, part: &T) -> T {
        let mut copy = deep(|| part.clone());
        let mut renumber = Renumber { next: self.tree.node_count, new: FxHashMap::default() };
        copy.walk(&mut renumber);
        self.tree.node_count = renumber.next;
        for (old, new) in &renumber.new {
            self.came_from.0.insert(*new, self.came_from.origin(*old));
            if let Some(Definition::Node(target)) = self.definition(*old) {
                let target = renumber.new.get(&target).copied().unwrap_or(target);
                self.rebound.insert(*new, target);
            }
        }
        copy
    }

    /// Takes in a part that was made elsewhere, such as parsed text: fresh identities, the same
    /// places, no origin.
    pub fn adopt<T: Part>(&mut self, mut part: T) -> T {
        let mut renumber = Renumber { next: self.tree.node_count, new: FxHashMap::default() };
        part.walk(&mut renumber);
        self.tree.node_count = renumber.next;
        part
    }

    /// What a reference refers to, in a copy to the copy where that was copied together. `None` for
    /// nodes that were taken in and are not checked yet.
    pub fn definition(&self, reference: NodeId) -> Option<Definition> {
        match self.rebound.get(&reference) {
            Some(target) => Some(Definition::Node(*target)),
            None => self.typed.definitions.get(&self.came_from.origin(reference)).copied(),
        }
    }

    /// Checks the changed program.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and the map to show it with.
    #[allow(clippy::result_large_err, reason = "once a program, and then the run is over")]
    pub fn finish(self, map: SourceMap) -> Result<Rewritten, (Diagnostics, SourceMap)> {
        let mut diagnostics = Diagnostics::new();
        let program = crate::check::check(self.tree, &mut diagnostics);
        if diagnostics.has_errors() {
            return Err((diagnostics, map));
        }
        Ok(Rewritten {
            map,
            program: Arc::new(program),
            warnings: diagnostics,
            came_from: self.came_from,
        })
    }
}

/// Gives each node of a part a fresh identity.
struct Renumber {
    next: u32,
    new: FxHashMap<NodeId, NodeId>,
}

impl VisitMut for Renumber {
    fn id(&mut self, id: &mut NodeId) {
        let new = NodeId(self.next);
        self.next += 1;
        self.new.insert(*id, new);
        *id = new;
    }
}

/// Runs derived code that recurses as deep as the tree, on a stack for the deepest tree.
fn deep<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(16 * 1024 * 1024, 64 * 1024 * 1024, work)
}

#[cfg(test)]
mod tests;
