// SPDX-License-Identifier: Apache-2.0
//! [`Rule`]: why an array is sharded or not, with its name in reports and a sentence for people.

/// The rule that decided about an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Its index is from the packet (MP5 §3.1, D2).
    PacketIndex,
    /// It has one cell, which lies in one pipeline at a time.
    OneCell,
    /// Accesses of several cells exclude each other by the packet (MP5 Figure 3).
    PacketBranches,
    /// It is sharded together with other arrays, which packets access at the same index in the same stage.
    EqualIndex,
    /// It moved to a stage of its own, because packets accessed another array in its stage (MP5 §3.3).
    Serialised,
    /// Its cell is that of the entry that a table finds.
    TableEntry,
    /// Nothing writes it: each pipeline has a copy.
    NeverWritten,
    /// Its index depends on state (MP5 §3.3).
    StateIndex,
    /// Its index cannot be computed when the packet arrives.
    UnresolvedIndex,
    /// One packet accesses two of its cells.
    TwoCells,
    /// It has two indices on branches that only state tells apart.
    StateBranches,
    /// Arrays that one codelet updates have different indices.
    CodeletIndices,
    /// Packets access another array in its stage, and no stage is left.
    StageConflict,
    /// An extern, whose calls may use all of its state.
    Extern,
    /// Ingress and egress both access it: it lies in two stages.
    TwoControls,
    /// The control has a loop, or too many conditions.
    NotAnalysed,
}

impl Rule {
    /// All of them, those of sharded arrays first.
    pub const ALL: [Rule; 16] = [
        Rule::PacketIndex,
        Rule::OneCell,
        Rule::PacketBranches,
        Rule::EqualIndex,
        Rule::Serialised,
        Rule::TableEntry,
        Rule::NeverWritten,
        Rule::StateIndex,
        Rule::UnresolvedIndex,
        Rule::TwoCells,
        Rule::StateBranches,
        Rule::CodeletIndices,
        Rule::StageConflict,
        Rule::Extern,
        Rule::TwoControls,
        Rule::NotAnalysed,
    ];

    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Rule::PacketIndex => "packet-index",
            Rule::OneCell => "one-cell",
            Rule::PacketBranches => "packet-branches",
            Rule::EqualIndex => "equal-index",
            Rule::Serialised => "serialised",
            Rule::TableEntry => "table-entry",
            Rule::NeverWritten => "never-written",
            Rule::StateIndex => "state-index",
            Rule::UnresolvedIndex => "unresolved-index",
            Rule::TwoCells => "two-cells",
            Rule::StateBranches => "state-branches",
            Rule::CodeletIndices => "codelet-indices",
            Rule::StageConflict => "stage-conflict",
            Rule::Extern => "extern",
            Rule::TwoControls => "two-controls",
            Rule::NotAnalysed => "not-analysed",
        }
    }

    /// Returns a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Rule::PacketIndex => "the index is computed from the packet",
            Rule::OneCell => "the only cell lies in one pipeline at a time",
            Rule::PacketBranches => "the packet decides which of its accesses happens",
            Rule::EqualIndex => {
                "packets access these arrays at the same index in one stage, so they are sharded together"
            }
            Rule::Serialised => {
                "packets accessed another array in its stage, so it moved to a later stage"
            }
            Rule::TableEntry => "the cell is that of the entry that a table finds for the packet",
            Rule::NeverWritten => "no packet writes it, so each pipeline has a copy",
            Rule::StateIndex => "the index depends on state",
            Rule::UnresolvedIndex => "the index cannot be computed when the packet arrives",
            Rule::TwoCells => "one packet may access two of its cells",
            Rule::StateBranches => "state decides which of two cells is accessed",
            Rule::CodeletIndices => {
                "arrays that depend on each other in one stage have different indices"
            }
            Rule::StageConflict => {
                "packets access another array in its stage, and no stage is left"
            }
            Rule::Extern => "a call may use all of its state",
            Rule::TwoControls => "ingress and egress both access it",
            Rule::NotAnalysed => "the control has a loop or too many conditions",
        }
    }

    /// Whether the array's cells lie in several pipelines.
    pub fn is_sharded(self) -> bool {
        matches!(
            self,
            Rule::PacketIndex
                | Rule::OneCell
                | Rule::PacketBranches
                | Rule::EqualIndex
                | Rule::Serialised
                | Rule::TableEntry
                | Rule::NeverWritten
        )
    }
}
