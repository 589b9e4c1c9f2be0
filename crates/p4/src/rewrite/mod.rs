// SPDX-License-Identifier: Apache-2.0
//! `Rewriter`: changes the tree of a checked program and checks it again. It works on a copy in which
//! every node keeps its identity and place; copies and new nodes get fresh identities, and
//! `NodeMap` leads from a copy to its original. Edits act at once, in their order.

mod edits;
mod errors;
mod keep_names;
mod lists;
mod names;
mod parts;
mod prune;
mod references;
mod rename;
mod rewritten;
mod scopes;

pub use errors::{EditError, Problem};
pub use parts::Part;
pub use rename::ControlPlaneName;
pub use rewritten::{NodeMap, Rewritten};

use crate::ast::{NodeId, Program};
use crate::build::{BuiltProgram, Printing};
use crate::parser::pieces::{PieceNames, PieceReader};
use crate::typed::{Definition, TypedProgram};
use crate::visit_mut::VisitMut;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostics, SourceMap, Span};
use std::sync::Arc;

/// Edits a copy of a checked program.
#[derive(Clone, Debug)]
pub struct Rewriter {
    typed: Arc<TypedProgram>,
    map: SourceMap,
    tree: Program,
    /// Copies of earlier rewrites.
    earlier: NodeMap,
    /// The node that each copy was made of, which may be a copy too.
    models: FxHashMap<NodeId, NodeId>,
    /// The copies, in the order of their fresh identities.
    copies: Vec<Copied>,
    /// The definitions that references in new code refer to.
    bound: FxHashMap<NodeId, Definition>,
    /// Where each node is, by its identity. Identities beyond the end are those of pieces.
    places: Vec<NodeLocation>,
    /// Fresh names that may not be in the tree yet.
    given: FxHashSet<Arc<str>>,
    printing: Printing,
}

/// Parts that were copied together: their fresh identities are from `first` to before `end`.
#[derive(Clone, Debug)]
struct Copied {
    first: u32,
    end: u32,
    /// From the old identities to the new.
    new: FxHashMap<NodeId, NodeId>,
}

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeLocation {
    /// The identity was never given to a node.
    Unassigned,
    /// New, copied or removed, and not in the tree.
    Detached,
    /// In the top-level declaration of this identity.
    In(NodeId),
}

impl Rewriter {
    /// Begins to change a copy of a program whose places are in this map.
    pub fn of(typed: &Arc<TypedProgram>, map: SourceMap) -> Rewriter {
        Rewriter {
            places: edits::places(&typed.program),
            tree: deep(|| typed.program.clone()),
            typed: Arc::clone(typed),
            map,
            earlier: NodeMap::default(),
            models: FxHashMap::default(),
            copies: Vec::new(),
            bound: FxHashMap::default(),
            given: FxHashSet::default(),
            printing: Printing::default(),
        }
    }

    /// Begins to change a copy of a program that a tool made. Its comments stay with the top-level
    /// declarations they were given to.
    pub fn of_built(built: BuiltProgram) -> Rewriter {
        let BuiltProgram { map, program, printing, .. } = built;
        Rewriter { printing, ..Rewriter::of(&program, map) }
    }

    /// Edits the result of another rewrite. [`Rewritten::came_from`] leads to the nodes that
    /// the first one began with.
    pub fn of_rewritten(rewritten: Rewritten) -> Rewriter {
        let Rewritten { map, program, came_from, printing, .. } = rewritten;
        Rewriter { earlier: came_from, printing, ..Rewriter::of(&program, map) }
    }

    /// Returns the tree as changed so far.
    pub fn program(&self) -> &Program {
        &self.tree
    }

    /// Returns the program before the changes. Its side tables hold for a copy by its
    /// [model](Rewriter::model_of), and speak of the nodes of the original.
    pub fn original(&self) -> &Arc<TypedProgram> {
        &self.typed
    }

    /// Returns the source map.
    pub fn map(&self) -> &SourceMap {
        &self.map
    }

    /// Returns the source map, to add the text of new code.
    pub fn map_mut(&mut self) -> &mut SourceMap {
        &mut self.map
    }

    /// Returns a fresh identity.
    pub fn fresh_id(&mut self) -> NodeId {
        let id = NodeId(self.tree.node_count);
        self.tree.node_count += 1;
        id
    }

    /// Returns a reader of text whose nodes can be inserted into this tree. It knows the types and
    /// generic functions of the top level.
    pub fn pieces(&mut self) -> PieceReader<'_> {
        PieceReader::new(PieceNames::of(&self.tree), &mut self.tree.node_count)
    }

    /// Copies a part of this program's tree, or a copy of one: fresh identities, the same places. A
    /// reference in the part to a declaration in the part becomes a reference to its copy, so
    /// parts that belong together are copied together, as a tuple or a list.
    pub fn copy<T: Part>(&mut self, part: &T) -> T {
        let mut copy = deep(|| part.clone());
        let first = self.tree.node_count;
        let new = self.renumber(&mut copy);
        self.models.extend(new.iter().map(|(old, new)| (*new, *old)));
        self.copies.push(Copied { first, end: self.tree.node_count, new });
        copy
    }

    /// Copies with identities from this one on, in order, each with the node that it was made of, which may
    /// be a copy too.
    pub(crate) fn copies_from(&self, first: NodeId) -> Vec<(NodeId, NodeId)> {
        let models = self.models.iter().filter(|(copy, _)| **copy >= first);
        let mut copies: Vec<(NodeId, NodeId)> =
            models.map(|(copy, model)| (*copy, *model)).collect();
        copies.sort_unstable();
        copies
    }

    /// Adopts a part of another tree: fresh identities, the same places, no model. Parts that
    /// [`Rewriter::pieces`] parses need no adoption.
    pub fn adopt<T: Part>(&mut self, mut part: T) -> T {
        self.renumber(&mut part);
        part
    }

    fn renumber<T: Part>(&mut self, part: &mut T) -> FxHashMap<NodeId, NodeId> {
        let mut renumber = Renumber { next: self.tree.node_count, new: FxHashMap::default() };
        part.walk(&mut renumber);
        self.tree.node_count = renumber.next;
        renumber.new
    }

    /// Checks the changed program.
    ///
    /// # Errors
    ///
    /// The errors of the checker, and the map for rendering them.
    #[allow(clippy::result_large_err, reason = "once a program, and then the run is over")]
    pub fn finish(self) -> Result<Rewritten, (Diagnostics, SourceMap)> {
        let came_from = self.came_from();
        let mut diagnostics = Diagnostics::new();
        let program = crate::check::check(self.tree, &mut diagnostics);
        if diagnostics.has_errors() {
            return Err((diagnostics, self.map));
        }
        Ok(Rewritten {
            map: self.map,
            program: Arc::new(program),
            warnings: diagnostics,
            came_from,
            printing: self.printing,
        })
    }

    /// Where the copies made so far came from.
    pub fn came_from(&self) -> NodeMap {
        let mut map = self.earlier.clone();
        for copy in self.models.keys() {
            map.add(*copy, self.earlier.origin(self.model_of(*copy)));
        }
        map
    }

    /// Whether a place is in a library, such as the architecture's interface.
    fn is_library(&self, span: Span) -> bool {
        self.map.library(span).is_some()
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
