// SPDX-License-Identifier: Apache-2.0
//! The problem of layout: units, the arrays that they access, the variables that they match on, and dependencies.
//! Compilers and `graph` make problems; a [`crate::Layout`] solves one.

use crate::guard::{Guard, VariableId};
pub use ir::architecture::Gress;
use source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parts of a program that layout places.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The program's name.
    pub name: Arc<str>,
    /// Variables that guards and keys match on.
    pub variables: Vec<Variable>,
    /// Stateful memory.
    pub arrays: Vec<Array>,
    /// In an order in which one after the other could run.
    pub units: Vec<Unit>,
    /// Dependencies between units; the first comes earlier in `units`.
    pub dependencies: Vec<Dependency>,
}

/// Index into [`Problem::units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitId(pub u32);

/// Index into [`Problem::arrays`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArrayId(pub u32);

/// A value that a packet carries through the stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name for reports.
    pub name: Arc<str>,
    /// Width in bits.
    pub width_bits: u32,
}

/// Memory of one stage that stateful ALUs update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Name for reports.
    pub name: Arc<str>,
    /// Width of a cell in bits, both halves of a pair together.
    pub cell_bits: u32,
    /// Number of cells.
    pub length: u64,
    /// Where it is declared.
    pub span: Span,
}

/// The smallest part of a program that has a place.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Name for reports: a table, or the text of the statement.
    pub name: Arc<str>,
    /// The line of the source that it comes from.
    pub span: Span,
    /// Which half.
    pub gress: Gress,
    /// When it runs. For a table of the program the gateway in front of it.
    pub guard: Guard,
    /// Whether it may share a table with others by the cross product of their guards. A table of the
    /// program may not.
    pub mergeable: bool,
    /// The table, if the unit is a table of the program.
    pub table: Option<ProgramTable>,
    /// The array it updates.
    pub array: Option<ArrayId>,
    /// Which program of the array's stateful ALU it runs: units with the same number on the same
    /// array run the same register action. 0 without an array. A table of the program whose actions
    /// have several has the others in its demand ([`Resource::RegisterActions`]).
    pub register_action: u32,
    /// What else it takes of its stage: instructions, hash units, action data, ...
    pub demand: BTreeMap<Resource, u64>,
}

/// A match table of the program, which a control plane fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramTable {
    /// The key fields.
    pub keys: Vec<ProgramKey>,
    /// Capacity in entries.
    pub entries: u64,
    /// How many actions it has.
    pub actions: u32,
    /// Widest action data in bits.
    pub action_data_bits: u32,
}

/// A field of a table's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramKey {
    /// The variable.
    pub variable: VariableId,
    /// The match kind.
    pub kind: MatchKind,
    /// Matched bits.
    pub width_bits: u32,
}

/// Kinds of match (P4_16 v1.2.5 §14.2.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchKind {
    /// SRAM.
    Exact,
    /// TCAM.
    LongestPrefix,
    /// TCAM.
    Ternary,
    /// TCAM, expanded.
    Range,
}

/// A resource of stages, tables and arrays.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Logical tables.
    Tables,
    /// Logical tables that match in TCAM.
    TernaryTables,
    /// Gateways: conditions in front of tables.
    Gateways,
    /// Blocks of SRAM, for exact tables, action data and arrays.
    SramBlocks,
    /// Blocks of TCAM.
    TcamBlocks,
    /// Stateful ALUs; an array takes one.
    StatefulAlus,
    /// SRAM blocks that arrays take, where the target limits those apart.
    ArrayBlocks,
    /// Hash units (distribution units that hashes and array indexes take).
    HashUnits,
    /// Bits that hashes compute.
    HashBits,
    /// Bits of exact match keys.
    ExactMatchBits,
    /// Bits of ternary match keys.
    TernaryMatchBits,
    /// Bits of all match keys together, where the target does not tell them apart.
    MatchBits,
    /// Bits of action data.
    ActionDataBits,
    /// Instructions of the stateless ALUs (one a written container).
    Instructions,
    /// Statements of the source, where the target limits those (Lucid Figure 13 counts them).
    Statements,
    /// Actions a table.
    Actions,
    /// Static entries.
    Entries,
    /// Different register actions an array.
    RegisterActions,
    /// Meters and counters.
    Counters,
}

impl Resource {
    /// All of them, in the order in which people want to read them.
    pub const ALL: [Resource; 19] = [
        Resource::Tables,
        Resource::TernaryTables,
        Resource::Gateways,
        Resource::SramBlocks,
        Resource::TcamBlocks,
        Resource::StatefulAlus,
        Resource::ArrayBlocks,
        Resource::HashUnits,
        Resource::HashBits,
        Resource::ExactMatchBits,
        Resource::TernaryMatchBits,
        Resource::MatchBits,
        Resource::ActionDataBits,
        Resource::Instructions,
        Resource::Statements,
        Resource::Actions,
        Resource::Entries,
        Resource::RegisterActions,
        Resource::Counters,
    ];

    /// As target files and JSON name it.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Tables => "tables",
            Resource::TernaryTables => "ternary-tables",
            Resource::Gateways => "gateways",
            Resource::SramBlocks => "sram-blocks",
            Resource::TcamBlocks => "tcam-blocks",
            Resource::StatefulAlus => "stateful-alus",
            Resource::ArrayBlocks => "array-blocks",
            Resource::HashUnits => "hash-units",
            Resource::HashBits => "hash-bits",
            Resource::ExactMatchBits => "exact-match-bits",
            Resource::TernaryMatchBits => "ternary-match-bits",
            Resource::MatchBits => "match-bits",
            Resource::ActionDataBits => "action-data-bits",
            Resource::Instructions => "instructions",
            Resource::Statements => "statements",
            Resource::Actions => "actions",
            Resource::Entries => "entries",
            Resource::RegisterActions => "register-actions",
            Resource::Counters => "counters",
        }
    }

    /// As a message names it, in the plural.
    pub fn words(self) -> &'static str {
        match self {
            Resource::Tables => "tables",
            Resource::TernaryTables => "ternary tables",
            Resource::Gateways => "gateways",
            Resource::SramBlocks => "SRAM blocks",
            Resource::TcamBlocks => "TCAM blocks",
            Resource::StatefulAlus => "stateful ALUs",
            Resource::ArrayBlocks => "array blocks",
            Resource::HashUnits => "hash units",
            Resource::HashBits => "hash bits",
            Resource::ExactMatchBits => "exact match bits",
            Resource::TernaryMatchBits => "ternary match bits",
            Resource::MatchBits => "match bits",
            Resource::ActionDataBits => "action data bits",
            Resource::Instructions => "instructions",
            Resource::Statements => "statements",
            Resource::Actions => "actions",
            Resource::Entries => "static entries",
            Resource::RegisterActions => "register actions",
            Resource::Counters => "counters and meters",
        }
    }

    /// By [`Resource::name`].
    pub fn named(name: &str) -> Option<Resource> {
        Resource::ALL.into_iter().find(|resource| resource.name() == name)
    }
}

impl Unit {
    /// Whether it may share a table with other units.
    pub fn may_merge(&self) -> bool {
        self.mergeable && self.table.is_none()
    }
}

/// That one unit has to wait for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// First.
    pub before: UnitId,
    /// Then.
    pub after: UnitId,
    /// Why, and so how far apart.
    pub kind: DependencyKind,
}

/// Kinds of dependencies (RMT; Lucid §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DependencyKind {
    /// The second matches on what the first writes: a later stage.
    Match,
    /// The second reads or writes in its action what the first writes: a later stage.
    Action,
    /// The second runs or not by the result of the first: the same stage will do.
    Successor,
    /// The second writes what the first reads: the same stage will do, in one table too.
    Anti,
}

impl DependencyKind {
    /// Least number of stages from the first to the second.
    pub fn distance(self) -> u32 {
        match self {
            DependencyKind::Match | DependencyKind::Action => 1,
            DependencyKind::Successor | DependencyKind::Anti => 0,
        }
    }
}
