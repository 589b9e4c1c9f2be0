// SPDX-License-Identifier: Apache-2.0
//! Atoms: the least pieces of a control's code that can sit in a stage, before they are grouped into
//! units. What an atom reads, matches on and writes is told in cells. How atoms are found is in
//! `walk`, what depends on what in `link`.

use super::choice::Chosen;
use crate::guard::Guard;
use crate::problem::{DependencyKind, OwnTable, Resource};
use ir::effects::Location;
use ir::{OriginId, RegionId, RegisterId, TableId, Temp};
use std::collections::{BTreeMap, BTreeSet};

/// Something that one atom writes and another reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Cell {
    /// Storage or state of the program.
    Location(Location),
    /// A value that one atom computes for others: a temporary of the IR that has to be carried.
    Computed(RegionId, Temp),
    /// A bit that tells whether an access of a register array happens.
    Flag(u32),
}

/// Index into the list of atoms of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct AtomId(pub usize);

/// Where in a region an atom stands: basic block, instruction, and which of several atoms of the same
/// instruction it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    /// Which programmable block, in the order in which they run.
    pub control: usize,
    /// Which basic block.
    pub block: usize,
    /// Which instruction; the terminator comes after the last.
    pub instruction: usize,
    /// Which atom of the instruction.
    pub part: usize,
}

/// What kind of piece it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomKind {
    /// A statement, or a value computed for others.
    Statement,
    /// A table of the program, with those parts of its actions that run in its stage.
    Table,
    /// Later or further parts of a table's actions.
    Continuation,
    /// A condition that is no static match.
    Gateway,
}

/// When an atom runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Gate {
    /// By the results of these: tables that hit, gateways.
    pub after: BTreeSet<AtomId>,
    /// And by this guard; `None` is always.
    pub guard: Option<Guard>,
}

/// A piece of code with a place to come.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// For people.
    pub name: String,
    /// Where it comes from.
    pub origin: OriginId,
    /// Where it stands.
    pub position: Position,
    /// Kind.
    pub kind: AtomKind,
    /// What it matches on, and at which instruction of its block that is read.
    pub matches: BTreeMap<Cell, usize>,
    /// What it reads otherwise, likewise.
    pub reads: BTreeMap<Cell, usize>,
    /// What it writes.
    pub writes: BTreeSet<Cell>,
    /// The register array it accesses, with what its stateful ALU does there.
    pub array: Option<(RegisterId, String)>,
    /// What of an array's results others use; a stateful ALU has one.
    pub output: Option<String>,
    /// Hashes that it computes, with their widths in bits.
    pub hashes: BTreeMap<String, u64>,
    /// What else it takes of its stage.
    pub demand: BTreeMap<Resource, u64>,
    /// When it runs.
    pub gate: Gate,
    /// The table, if it is one.
    pub table: Option<OwnTable>,
    /// Of which table of the program it is which part. The same parts of applications on exclusive
    /// branches are one.
    pub source: Option<(TableId, usize)>,
    /// Which of the table's actions do what, where constant entries tell when those run.
    pub chosen: Option<Chosen>,
    /// Whether it may run when the program would not, since nobody else sees what it does.
    pub is_speculative: bool,
    /// Whether it may end the programmable block.
    pub ends_block: bool,
    /// Further atoms it has to wait for.
    pub explicit: Vec<(AtomId, DependencyKind)>,
}

impl Atom {
    /// Without effects.
    pub fn new(name: String, origin: OriginId, position: Position, kind: AtomKind) -> Atom {
        Atom {
            name,
            origin,
            position,
            kind,
            matches: BTreeMap::new(),
            reads: BTreeMap::new(),
            writes: BTreeSet::new(),
            array: None,
            output: None,
            hashes: BTreeMap::new(),
            demand: BTreeMap::new(),
            gate: Gate::default(),
            table: None,
            source: None,
            chosen: None,
            is_speculative: false,
            ends_block: false,
            explicit: Vec::new(),
        }
    }

    /// Takes more of a resource.
    pub fn take(&mut self, resource: Resource, amount: u64) {
        if amount > 0 {
            *self.demand.entry(resource).or_default() += amount;
        }
    }

    /// All it reads, to match or otherwise.
    pub fn all_reads(&self) -> impl Iterator<Item = (Cell, usize, bool)> + '_ {
        let matches = self.matches.iter().map(|(cell, at)| (*cell, *at, true));
        matches.chain(self.reads.iter().map(|(cell, at)| (*cell, *at, false)))
    }
}
