// SPDX-License-Identifier: Apache-2.0
//! Which action a table runs, where the program says so for good: constant entries are match rules like
//! those of branches. So actions of different tables that never both run do not depend on each other.

use super::atom::{Choice, Conditions};
use super::condition::ones;
use super::walk::Walk;
use crate::guard::Condition;
use ir::{Bits, KeyPattern, MatchKind, Operand, Table};
use std::collections::BTreeSet;

/// The most entries that are looked at; of a table with more nothing is said.
const MAX_ENTRIES: usize = 256;

impl Walk<'_, '_> {
    /// The entries of a table as rules, if they are constant and match on what guards can match on.
    pub fn choice(
        &mut self,
        table: &Table,
        keys: &[Operand],
        (block, at): (usize, usize),
    ) -> Option<Choice> {
        if !table.const_entries
            || table.implementation.is_some()
            || table.entries.len() > MAX_ENTRIES
        {
            return None;
        }
        let mut fields = Vec::new();
        for (key, operand) in table.keys.iter().zip(keys) {
            if key.match_kind == MatchKind::Selector {
                return None;
            }
            let field = self.field(block, operand, at)?;
            let variable = self.variables.of(self.program, field.cell);
            fields.push((variable, field, key.width_bits));
        }
        let mut rules = Vec::new();
        for entry in in_order(table) {
            let mut conditions = Some(Conditions::new());
            for ((variable, field, width_bits), pattern) in fields.iter().zip(&entry.keys) {
                let condition = match condition(pattern, *width_bits)? {
                    Condition::Ternary { value, mask } => field.ternary(value, mask),
                    Condition::Range { low, high } => {
                        if !field.is_whole || field.mask != u128::MAX {
                            return None;
                        }
                        Some(Condition::Range { low, high })
                    }
                };
                // The entry never matches, or one variable is matched twice.
                conditions = match (conditions, condition) {
                    (Some(mut conditions), Some(condition)) => {
                        let both = match conditions.get(variable) {
                            Some(known) => known.intersection(&condition),
                            None => vec![condition],
                        };
                        match both.as_slice() {
                            [] => None,
                            [Condition::Ternary { mask: 0, .. }] => Some(conditions),
                            [both] => {
                                conditions.insert(*variable, *both);
                                Some(conditions)
                            }
                            _ => return None,
                        }
                    }
                    _ => None,
                };
            }
            rules.extend(conditions.map(|conditions| (conditions, entry.call.action as usize)));
        }
        let defaults = match table.const_default_action {
            true => BTreeSet::from([table.default_action.action as usize]),
            false => (0..table.actions.len()).filter(|at| !table.actions[*at].table_only).collect(),
        };
        Some(Choice { rules, defaults })
    }
}

/// Entries so that the first that matches decides: by priority, or by the length of the prefix.
fn in_order(table: &Table) -> Vec<&ir::Entry> {
    let mut entries: Vec<&ir::Entry> = table.entries.iter().collect();
    let has_priorities = table.keys.iter().any(|key| {
        !matches!(key.match_kind, MatchKind::Exact | MatchKind::Lpm | MatchKind::Selector)
    });
    let prefix_bits = |entry: &ir::Entry| -> u32 {
        let lengths = entry.keys.iter().map(|pattern| match pattern {
            KeyPattern::Prefix { length_bits, .. } => *length_bits,
            KeyPattern::Exact(bits) => bits.width_bits(),
            _ => 0,
        });
        lengths.sum()
    };
    entries.sort_by_key(|entry| match has_priorities {
        true => std::cmp::Reverse(entry.priority),
        false => std::cmp::Reverse(i64::from(prefix_bits(entry))),
    });
    entries
}

/// A pattern for a key of that many bits; nothing where it is wider than a condition.
fn condition(pattern: &KeyPattern, width_bits: u32) -> Option<Condition> {
    let number = |bits: &Bits| bits.to_u128();
    let whole = ones(width_bits);
    Some(match pattern {
        KeyPattern::Any => Condition::Ternary { value: 0, mask: 0 },
        KeyPattern::Exact(bits) => Condition::Ternary { value: number(bits)?, mask: whole },
        KeyPattern::Prefix { value, length_bits } => {
            let mask = whole & !ones(width_bits.checked_sub(*length_bits)?);
            Condition::Ternary { value: number(value)? & mask, mask }
        }
        KeyPattern::Ternary { value, mask } => {
            Condition::Ternary { value: number(value)?, mask: number(mask)? }
        }
        KeyPattern::Range { low, high } => {
            Condition::Range { low: number(low)?, high: number(high)? }
        }
    })
}
