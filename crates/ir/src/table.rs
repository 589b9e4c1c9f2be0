// SPDX-License-Identifier: Apache-2.0
//! Match-action tables: keys, entries and actions (P4_16 v1.2.5 §14.2).

use crate::{
    ActionId, ActionProfileId, Bits, CounterId, Display, MeterId, OriginId, RegionId, SlotId,
};
use std::sync::Arc;

/// How a key is matched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MatchKind {
    /// Equal.
    Exact,
    /// Longest prefix.
    Lpm,
    /// Value and mask.
    Ternary,
    /// Low and high, both inside.
    Range,
    /// Equal, or any.
    Optional,
    /// Not matched: input of an action selector's hash.
    Selector,
    /// A match kind that no description explains.
    Other(Arc<str>),
}

impl MatchKind {
    /// Its name in P4.
    pub fn name(&self) -> &str {
        match self {
            MatchKind::Exact => "exact",
            MatchKind::Lpm => "lpm",
            MatchKind::Ternary => "ternary",
            MatchKind::Range => "range",
            MatchKind::Optional => "optional",
            MatchKind::Selector => "selector",
            MatchKind::Other(name) => name,
        }
    }
}

impl Table {
    /// Whether entries have priorities; else the longest prefix wins.
    pub fn has_priorities(&self) -> bool {
        let is_prioritised = |key: &Key| {
            matches!(key.match_kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional)
        };
        self.keys.iter().any(is_prioritised)
    }
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Control-plane name.
    pub name: Arc<str>,
    /// How it is matched.
    pub match_kind: MatchKind,
    /// Width in bits.
    pub width_bits: u32,
    /// How to show it.
    pub display: Display,
    /// Annotations as written, for P4Info.
    pub annotations: Vec<Arc<str>>,
}

/// The pattern of an entry, or of one component of a value set's member, for one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyPattern {
    /// Anything.
    Any,
    /// Equal to this.
    Exact(Bits),
    /// The first `length_bits` bits equal to those of `value`.
    Prefix {
        /// The value; bits beyond the prefix are zero.
        value: Bits,
        /// Length of the prefix.
        length_bits: u32,
    },
    /// Equal where the mask has ones.
    Ternary {
        /// The value; zero where the mask is.
        value: Bits,
        /// The mask.
        mask: Bits,
    },
    /// Between both, inclusive, as unsigned numbers.
    Range {
        /// Lowest.
        low: Bits,
        /// Highest.
        high: Bits,
    },
}

/// A match-action table (P4_16 v1.2.5 §14.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Keys in order.
    pub keys: Vec<Key>,
    /// Actions in the order of the program.
    pub actions: Vec<TableAction>,
    /// The action on a miss, as an index into `actions`, with its arguments.
    pub default_action: ActionCall,
    /// Whether the default action is `const`.
    pub const_default_action: bool,
    /// Entries that the program gives, in order.
    pub entries: Vec<Entry>,
    /// Whether the entries are `const`: then the control plane adds none.
    pub const_entries: bool,
    /// Declared number of entries.
    pub size: Option<u64>,
    /// Action profile or selector.
    pub implementation: Option<ActionProfileId>,
    /// Direct counters.
    pub direct_counters: Vec<CounterId>,
    /// Direct meters.
    pub direct_meters: Vec<MeterId>,
    /// Whether entries may time out.
    pub idle_timeout: bool,
    /// Annotations as written, for P4Info.
    pub annotations: Vec<Arc<str>>,
    /// The table's declaration.
    pub origin: OriginId,
}

/// An action in a table's list.
#[derive(Clone, Debug, PartialEq)]
pub struct TableAction {
    /// The action.
    pub action: ActionId,
    /// `@tableonly`
    pub table_only: bool,
    /// `@defaultonly`
    pub default_only: bool,
}

/// An action of a table with its control-plane arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionCall {
    /// Index into [`Table::actions`].
    pub action: u32,
    /// Arguments in the order of [`Action::parameters`].
    pub arguments: Vec<Bits>,
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// One pattern a key (selector keys left out).
    pub keys: Vec<KeyPattern>,
    /// What to do.
    pub call: ActionCall,
    /// Among matching entries of ternary, range or optional tables the largest wins.
    pub priority: i64,
    /// Where the program declares it.
    pub origin: OriginId,
}

/// An action: control-plane parameters and code. The engine stores the arguments in the parameters'
/// slots, then runs the region.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Parameters.
    pub parameters: Vec<ActionParameter>,
    /// Code.
    pub region: RegionId,
    /// Annotations as written, for P4Info.
    pub annotations: Vec<Arc<str>>,
    /// The action's declaration.
    pub origin: OriginId,
}

/// A parameter that the control plane gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionParameter {
    /// Name.
    pub name: Arc<str>,
    /// Where the engine puts it.
    pub slot: SlotId,
    /// Annotations as written.
    pub annotations: Vec<Arc<str>>,
}
