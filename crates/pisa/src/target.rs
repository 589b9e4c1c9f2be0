// SPDX-License-Identifier: Apache-2.0
//! Targets: how many stages a pipeline has, how much of each resource a stage, a table and an array
//! may take, how large memory blocks are, and what a stateful ALU can do. Targets are data (TOML);
//! three are shipped, and users write their own. What a table takes is computed in [`crate::cost`].

mod codes;
mod reader;

pub use codes::EXPLANATIONS;

use crate::problem::{MatchKind, Resource};
use source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model of match-action hardware.
#[derive(Clone, Debug, PartialEq)]
pub struct HardwareModel {
    /// As users name it.
    pub name: Arc<str>,
    /// One sentence for people.
    pub description: String,
    /// Stages of the ingress pipeline.
    pub ingress_stages: u32,
    /// Stages of the egress pipeline.
    pub egress_stages: u32,
    /// Whether ingress and egress tables sit in the same physical stages and share their resources.
    pub shared: bool,
    /// What all tables of a stage may take together. No limit on what is not in it.
    pub stage: Limits,
    /// What one table may take. [`Resource::Entries`] is always in it.
    pub table: Limits,
    /// What one array may take.
    pub array: Limits,
    /// Blocks and what they hold.
    pub memory: Memory,
    /// Where match kinds go.
    pub matching: Matching,
    /// What one stateful ALU does to a cell in one pass.
    pub stateful_alu: StatefulAlu,
    /// Containers of the packet header vector.
    pub containers: Vec<Containers>,
    /// Where the numbers come from.
    pub provenance: Vec<Provenance>,
}

/// Most that may be taken.
pub type Limits = BTreeMap<Resource, u64>;

/// What a limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All tables of one stage (of one gress, where stages are not shared).
    Stage,
    /// One table.
    Table,
    /// One array.
    Array,
}

impl Scope {
    /// For messages: "a stage".
    pub fn words(self) -> &'static str {
        match self {
            Scope::Stage => "a stage",
            Scope::Table => "a table",
            Scope::Array => "an array",
        }
    }
}

/// Sizes of memory blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Rows of an SRAM block.
    pub sram_block_words: u64,
    /// Bits of a row.
    pub sram_block_bits: u64,
    /// Rows of a TCAM block.
    pub tcam_block_words: u64,
    /// Bits of a row.
    pub tcam_block_bits: u64,
    /// Blocks that each array takes besides those for its cells.
    pub array_overhead_blocks: u64,
    /// Bits of an exact entry besides key and action data.
    pub exact_entry_overhead_bits: u64,
    /// SRAM blocks that a table in TCAM takes to find its action.
    pub ternary_indirection_blocks: u64,
}

/// A kind of match memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchMemory {
    /// Hash tables in SRAM: exact matches only.
    Sram,
    /// TCAM.
    Tcam,
    /// Logic of its own that takes no memory.
    Logic,
}

/// Which memory a match kind takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matching {
    /// Exact.
    pub exact: MatchMemory,
    /// Longest prefix.
    pub longest_prefix: MatchMemory,
    /// Ternary.
    pub ternary: MatchMemory,
    /// Range.
    pub range: MatchMemory,
    /// Static rules that a compiler makes of branches.
    pub compiled: MatchMemory,
    /// TCAM bits for one bit matched by range.
    pub range_bits_factor: u64,
}

impl Matching {
    /// Of one kind.
    pub fn memory(&self, kind: MatchKind) -> MatchMemory {
        match kind {
            MatchKind::Exact => self.exact,
            MatchKind::LongestPrefix => self.longest_prefix,
            MatchKind::Ternary => self.ternary,
            MatchKind::Range => self.range,
        }
    }
}

/// What one stateful ALU can do to one cell of one array in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatefulAlu {
    /// Values of a cell (2: a pair).
    pub cells: u32,
    /// Widths that a cell may have, both values of a pair together, ascending; empty: any.
    pub cell_bits: Vec<u64>,
    /// Comparisons that an update may depend on.
    pub booleans: u32,
    /// Guarded updates of each value of a cell.
    pub updates: u32,
    /// Values from the packet that it reads.
    pub operands: u32,
    /// Values that it gives to the packet.
    pub outputs: u32,
    /// Where the hardware has templates of atoms instead (Domino), in order of their power.
    pub templates: Vec<AtomTemplate>,
}

/// An atom template: what a stateful atom of a Banzai machine can be configured to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomTemplate {
    /// As the field names it.
    pub name: Arc<str>,
    /// What it does, in a sentence.
    pub description: String,
    /// Values that it reads and writes.
    pub cells: u32,
    /// Whether it reads the old value to make the new one.
    pub reads: bool,
    /// How deep its conditions nest; 0: unconditional.
    pub nesting: u32,
    /// Updates to choose from, for each value; with one and a condition the other is to leave it.
    pub updates: u32,
    /// Whether it can subtract.
    pub subtracts: bool,
}

/// Containers of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Containers {
    /// Width of each.
    pub width_bits: u32,
    /// How many.
    pub count: u32,
}

/// Where a number of a target comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The field, such as `stage.hash-units`.
    pub field: String,
    /// Its value as written.
    pub value: String,
    /// Where from.
    pub source: String,
}

/// The shipped targets: names and texts.
pub const SHIPPED: [(&str, &str); 3] = [
    ("tofino", include_str!("targets/tofino.toml")),
    ("rmt", include_str!("targets/rmt.toml")),
    ("banzai", include_str!("targets/banzai.toml")),
];

impl HardwareModel {
    /// A shipped target. An error lists those that there are; `span` is where the name was given, or
    /// none.
    pub fn named(name: &str, span: Span) -> Result<HardwareModel, Box<Diagnostic>> {
        let Some((name, text)) = SHIPPED.iter().find(|(shipped, _)| *shipped == name) else {
            let list: Vec<String> = SHIPPED.iter().map(|(name, _)| format!("`{name}`")).collect();
            return Err(Box::new(
                Diagnostic::error(
                    codes::UNKNOWN_TARGET,
                    span,
                    format!("there is no target `{}`", source::printable(name, 80)),
                )
                .note(format!("these are shipped: {}", list.join(", ")))
                .help("give one of them, or the path of a target file (TOML)"),
            ));
        };
        let mut sources = SourceMap::new();
        let file = sources.add(format!("{name}.toml"), *text);
        HardwareModel::from_toml(name, file, text).map_err(|diagnostics| {
            let first = diagnostics.iter().next().map(|first| first.message.clone());
            let message =
                format!("the shipped target `{name}` is broken: {}", first.unwrap_or_default());
            Box::new(Diagnostic::error(codes::SYNTAX, Span::NONE, message))
        })
    }

    /// Reads a target. All mistakes are reported, with places in `file`, which has this text.
    pub fn from_toml(name: &str, file: FileId, text: &str) -> Result<HardwareModel, Diagnostics> {
        reader::read(name, file, text)
    }

    /// Stages of the longer half.
    pub fn stages(&self) -> u32 {
        self.ingress_stages.max(self.egress_stages)
    }

    /// Limits of a scope.
    pub fn limits(&self, scope: Scope) -> &Limits {
        match scope {
            Scope::Stage => &self.stage,
            Scope::Table => &self.table,
            Scope::Array => &self.array,
        }
    }

    /// Static entries that a merged table may have.
    pub fn entries_limit(&self) -> u64 {
        self.table.get(&Resource::Entries).copied().unwrap_or(DEFAULT_ENTRIES)
    }

    /// The same hardware with another number of stages, to see what a program would need.
    pub fn with_stages(&self, stages: u32) -> HardwareModel {
        HardwareModel { ingress_stages: stages, egress_stages: stages, ..self.clone() }
    }
}

/// Static entries a merged table where a target has no limit: a bound on the work of compiling.
const DEFAULT_ENTRIES: u64 = 4096;

#[cfg(test)]
mod tests;
