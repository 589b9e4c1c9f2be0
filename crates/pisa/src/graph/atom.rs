// SPDX-License-Identifier: Apache-2.0
//! Atoms: the smallest pieces of a control's code that can sit in a stage, before `link` groups them into units. An atom
//! reads, matches on and writes cells. `statements` finds atoms, `edges` their dependencies.

use crate::guard::{Condition, Guard, GuardRule, VariableId};
use crate::problem::{DependencyKind, ProgramTable, Resource};
use ir::analysis::Point;
use ir::effects::Location;
use ir::{OriginId, RegionId, RegisterId, TableId, Temp};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A place that one atom writes and another reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Cell {
    /// Storage or state of the program.
    Location(Location),
    /// A value that one atom computes for others: a temporary of the IR that has to be carried.
    Computed(RegionId, Temp),
    /// The bit that enables an access of a register array.
    Flag(u32),
}

/// Separates register actions where an atom has several.
pub(super) const OTHER_ACTION: &str = " | ";

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
    /// Name for reports.
    pub name: String,
    /// Where it comes from.
    pub origin: OriginId,
    /// Where it stands.
    pub position: Position,
    /// The instructions that it stands for, as far as they are not free.
    pub code: BTreeSet<Point>,
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
    pub table: Option<ProgramTable>,
    /// Of which table of the program it is which part. The same parts of applications on exclusive
    /// branches are one.
    pub source: Option<(TableId, usize)>,
    /// Which of the table's actions do what, where constant entries tell when those run.
    pub chosen: Option<Chosen>,
    /// Whether it may run when the program would not, since no other atom sees its effects.
    pub is_speculative: bool,
    /// Whether it may end the programmable block.
    pub ends_block: bool,
    /// Further atoms it has to wait for.
    pub explicit: Vec<(AtomId, DependencyKind)>,
}

/// A source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Base {
    /// A cell, read at an instruction of the block.
    Cell(Cell, usize),
    /// Hit or action of a table.
    Result(AtomId),
}

/// Conditions of one entry.
pub(super) type Conditions = BTreeMap<VariableId, Condition>;

/// The entries of a table as rules.
#[derive(Debug)]
pub(super) struct Choice {
    /// The first that matches decides: conditions, and the number of the action.
    pub rules: Vec<(Conditions, usize)>,
    /// The action if no rule matches: one, or all that the control plane may choose.
    pub defaults: BTreeSet<usize>,
}

/// The effects of a table's atom, by the table's actions.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// The table's entries.
    pub choice: Rc<Choice>,
    /// When the table is applied.
    pub gate: Gate,
    /// The actions that the atom is part of.
    pub actions: BTreeSet<usize>,
    /// Which of them match on a cell. What is not here is matched whatever runs.
    pub matches: BTreeMap<Cell, BTreeSet<usize>>,
    /// Which of them read a cell otherwise.
    pub reads: BTreeMap<Cell, BTreeSet<usize>>,
    /// Which of them write a cell.
    pub writes: BTreeMap<Cell, BTreeSet<usize>>,
}

impl Choice {
    /// Returns the guard under which one of these actions runs if the table is applied; where the control plane chooses
    /// the default action, the guard under which one may run.
    pub fn guard(&self, actions: &BTreeSet<usize>) -> Guard {
        let rules = self.rules.iter().map(|(conditions, action)| GuardRule {
            conditions: conditions.clone(),
            runs: actions.contains(action),
        });
        let default =
            GuardRule { conditions: BTreeMap::new(), runs: !self.defaults.is_disjoint(actions) };
        Guard { rules: rules.chain([default]).collect() }
    }

    /// Whether the program alone decides which action runs.
    pub fn is_constant(&self) -> bool {
        self.defaults.len() == 1
    }
}

impl Atom {
    /// Without effects.
    pub fn new(name: String, origin: OriginId, position: Position, kind: AtomKind) -> Atom {
        Atom {
            name,
            origin,
            position,
            code: BTreeSet::new(),
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
