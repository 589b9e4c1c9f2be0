// SPDX-License-Identifier: Apache-2.0
//! Cross products of guards: one list of rules that tells which of several units run (Lucid §6.2,
//! Figure 8). A product in lexicographic order of first-match lists is a first-match list: an earlier
//! pair that matched would have an earlier part that matched.

use super::conditions::{Conditions, covers, intersection, meet, reachable};
use super::{Condition, Guard, VariableId};
use std::collections::BTreeMap;

/// A rule of a merged table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedRule {
    /// Variables without a condition may have any value. A mask may have bits above the variable's
    /// width: [`Condition::trimmed`].
    pub conditions: BTreeMap<VariableId, Condition>,
    /// Which guards run their units, by their places in the list, ascending.
    pub runs: Vec<usize>,
}

/// The rules of a merged table: the first that matches decides; if none matches, nothing runs.
/// Rules that never decide, or that change nothing, are left out.
pub fn cross_product(guards: &[&Guard]) -> Vec<MergedRule> {
    cross_product_within(guards, usize::MAX).unwrap_or_default()
}

/// The same, or `None` if an intermediate result has more rules than the limit.
pub fn cross_product_within(guards: &[&Guard], limit: usize) -> Option<Vec<MergedRule>> {
    let mut product = Product::new();
    for guard in guards {
        product = product.with(guard, limit)?;
    }
    Some(product.rules())
}

/// Pieces of a rule looked at before it counts as reachable.
const BUDGET: u32 = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    conditions: Conditions,
    runs: Vec<usize>,
}

/// A cross product that grows guard by guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Total: each assignment of values matches a row.
    rows: Vec<Row>,
    guards: usize,
}

impl Default for Product {
    fn default() -> Product {
        Product::new()
    }
}

impl Product {
    /// Of no guards: nothing ever runs.
    pub fn new() -> Product {
        Product { rows: vec![Row { conditions: Vec::new(), runs: Vec::new() }], guards: 0 }
    }

    /// With one more guard, unless that takes more rules than the limit.
    pub fn with(&self, guard: &Guard, limit: usize) -> Option<Product> {
        let mut factors: Vec<(Conditions, bool)> = Vec::new();
        for rule in &guard.rules {
            let conditions: Conditions =
                rule.conditions.iter().map(|(variable, each)| (*variable, *each)).collect();
            let total = conditions.is_empty();
            factors.push((conditions, rule.runs));
            if total {
                break;
            }
        }
        if !factors.last().is_some_and(|(conditions, _)| conditions.is_empty()) {
            factors.push((Vec::new(), false));
        }
        let mut rows: Vec<Row> = Vec::new();
        for row in &self.rows {
            for (conditions, runs) in &factors {
                for conditions in intersection(&row.conditions, conditions) {
                    if rows.iter().any(|earlier| covers(&earlier.conditions, &conditions)) {
                        continue;
                    }
                    let mut all = row.runs.clone();
                    if *runs {
                        all.push(self.guards);
                    }
                    rows.push(Row { conditions, runs: all });
                }
            }
            // Simplifying makes it shorter, but intermediate results need a bound.
            if rows.len() > limit.saturating_mul(4).saturating_add(64) {
                return None;
            }
        }
        drop_redundant(&mut rows);
        (rows.len() <= limit.saturating_add(1))
            .then_some(Product { rows, guards: self.guards + 1 })
            .filter(|product| product.len() <= limit)
    }

    /// How many rules [`Product::rules`] has at most.
    pub fn len(&self) -> usize {
        self.rows.len() - usize::from(self.ends_in_default())
    }

    /// Whether nothing ever runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many different sets of units run, not counting the empty one.
    pub fn actions(&self) -> usize {
        let mut sets: Vec<&[usize]> = self.rows.iter().map(|row| row.runs.as_slice()).collect();
        sets.sort_unstable();
        sets.dedup();
        sets.iter().filter(|set| !set.is_empty()).count()
    }

    /// What the rules look at, and whether a rule asks for a range of it.
    pub fn variables(&self) -> BTreeMap<VariableId, bool> {
        let mut variables = BTreeMap::new();
        for (variable, condition) in self.rows.iter().flat_map(|row| &row.conditions) {
            let range = matches!(condition, Condition::Range { .. });
            *variables.entry(*variable).or_insert(false) |= range;
        }
        variables
    }

    /// The rules, without a last one that runs nothing, which is what happens anyhow.
    pub fn rules(&self) -> Vec<MergedRule> {
        let rules = &self.rows[..self.len()];
        rules
            .iter()
            .map(|row| MergedRule {
                conditions: row.conditions.iter().copied().collect(),
                runs: row.runs.clone(),
            })
            .collect()
    }

    fn ends_in_default(&self) -> bool {
        self.rows.last().is_some_and(|row| row.conditions.is_empty() && row.runs.is_empty())
    }
}

/// Takes out rows that never decide, and rows after which the rows below say the same.
fn drop_redundant(rows: &mut Vec<Row>) {
    let mut index = 0;
    while index < rows.len() {
        let row = &rows[index];
        let mut earlier: Vec<&Conditions> = rows[..index]
            .iter()
            .filter(|other| meet(&other.conditions, &row.conditions))
            .map(|other| &other.conditions)
            .collect();
        // Wide rows first leave few pieces to search.
        earlier.sort_by_key(|conditions| conditions.len());
        if earlier.len() > 1 && !reachable(&row.conditions, &earlier, BUDGET) {
            rows.remove(index);
        } else {
            index += 1;
        }
    }
    for index in (0..rows.len().saturating_sub(1)).rev() {
        let row = &rows[index];
        let below = rows[index + 1..]
            .iter()
            .find(|other| {
                (other.runs != row.runs && meet(&other.conditions, &row.conditions))
                    || (other.runs == row.runs && covers(&other.conditions, &row.conditions))
            })
            .is_some_and(|other| other.runs == row.runs);
        if below {
            rows.remove(index);
        }
    }
}
