// SPDX-License-Identifier: Apache-2.0
//! Guards: when a unit runs, as static match rules over variables (Lucid §6.2, "Inlining branch
//! operations"), and cross products of them (Lucid Figure 8). Rules are in order; the first that
//! matches decides.

mod condition;
mod conditions;
mod exclusion;
mod product;

pub use exclusion::{exclusive, never_all, runs_together};
pub use product::{MergedRule, Product, cross_product, cross_product_within};

use std::collections::{BTreeMap, BTreeSet};

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

impl GuardRule {
    /// Whether all conditions hold when variables have these values.
    pub fn matches(&self, value: &impl Fn(VariableId) -> u128) -> bool {
        self.conditions.iter().all(|(variable, condition)| condition.admits(value(*variable)))
    }
}

impl Guard {
    /// Runs always.
    pub fn always() -> Guard {
        Guard { rules: vec![GuardRule { conditions: BTreeMap::new(), runs: true }] }
    }

    /// Runs never.
    pub fn never() -> Guard {
        Guard::default()
    }

    /// Runs where one condition on one variable holds.
    pub fn when(variable: VariableId, condition: Condition) -> Guard {
        Guard { rules: vec![GuardRule { conditions: [(variable, condition)].into(), runs: true }] }
    }

    /// Whether the unit runs when variables have these values.
    pub fn runs(&self, value: &impl Fn(VariableId) -> u128) -> bool {
        self.rules.iter().find(|rule| rule.matches(value)).is_some_and(|rule| rule.runs)
    }

    /// What the rules look at.
    pub fn variables(&self) -> BTreeSet<VariableId> {
        self.rules.iter().flat_map(|rule| rule.conditions.keys().copied()).collect()
    }

    /// Whether the rules plainly say that the unit runs always: the first asks for nothing.
    pub fn is_always(&self) -> bool {
        self.rules.first().is_some_and(|rule| rule.runs && rule.conditions.is_empty())
    }

    /// Runs where both run.
    pub fn and(&self, other: &Guard) -> Guard {
        self.combined(other, |both| both.len() == 2)
    }

    /// Runs where one of them runs, or both.
    pub fn or(&self, other: &Guard) -> Guard {
        self.combined(other, |any| !any.is_empty())
    }

    /// Runs where this one does not.
    pub fn negated(&self) -> Guard {
        let mut rules: Vec<GuardRule> =
            self.rules.iter().map(|rule| GuardRule { runs: !rule.runs, ..rule.clone() }).collect();
        if !rules.last().is_some_and(|rule| rule.conditions.is_empty()) {
            rules.push(GuardRule { conditions: BTreeMap::new(), runs: true });
        }
        Guard { rules }.simplified()
    }

    /// The same meaning without rules that never decide and rules that change nothing.
    pub fn simplified(&self) -> Guard {
        let merged = cross_product(&[self]);
        Guard {
            rules: merged
                .into_iter()
                .map(|rule| GuardRule { conditions: rule.conditions, runs: !rule.runs.is_empty() })
                .collect(),
        }
    }

    fn combined(&self, other: &Guard, runs: impl Fn(&[usize]) -> bool) -> Guard {
        let rules = cross_product(&[self, other])
            .into_iter()
            .map(|rule| GuardRule { conditions: rule.conditions, runs: runs(&rule.runs) })
            .collect();
        Guard { rules }.simplified()
    }
}

#[cfg(test)]
mod tests;
