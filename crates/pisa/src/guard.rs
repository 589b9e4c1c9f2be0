// SPDX-License-Identifier: Apache-2.0
//! Guards: when a unit runs, as static match rules over variables (Lucid §6.2, "Inlining branch
//! operations"), and cross products of them (Lucid Figure 8). Rules are in order; the first that
//! matches decides. What runs is not known here.

use std::collections::BTreeMap;

/// Index into [`crate::Problem::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// What a rule asks of one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Condition {
    /// `variable & mask == value`; bits outside the mask are zero in `value`.
    Ternary {
        /// The bits.
        value: u128,
        /// Which bits count.
        mask: u128,
    },
    /// `low <= variable <= high`, unsigned.
    Range {
        /// Least value.
        low: u128,
        /// Greatest value.
        high: u128,
    },
}

/// One rule: all conditions hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuardRule {
    /// Variables without a condition may have any value.
    pub conditions: BTreeMap<VariableId, Condition>,
    /// Whether the unit runs when this rule is the first that matches.
    pub runs: bool,
}

/// When a unit runs: if the first rule that matches says so. If none matches it does not run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// First match decides.
    pub rules: Vec<GuardRule>,
}

impl Guard {
    /// Runs always.
    pub fn always() -> Guard {
        Guard { rules: vec![GuardRule { conditions: BTreeMap::new(), runs: true }] }
    }
}
