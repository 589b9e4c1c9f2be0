// SPDX-License-Identifier: Apache-2.0
//! Match rules in order from formulas (Lucid §6.2: the conditions necessary for a table's own
//! execution), as few as the diagram gives: what an earlier test of a variable settles is not asked
//! again, negations are made by the order of rules, rules that decide nothing are left out.

use super::formula::{Formula, Formulas, Test};
use lucid::core::arithmetic::mask;
use pisa::Condition;
use std::collections::BTreeMap;

/// Conditions on subjects, and whether the formula holds where they are the first that match.
pub(super) type Rule = (BTreeMap<u32, Condition>, bool);

/// Facts about a subject on the path to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    /// Bits in `mask` have these values.
    value: u128,
    mask: u128,
    /// Bounds, both included.
    low: u128,
    high: u128,
}

impl Known {
    fn nothing(width_bits: u32) -> Known {
        Known { value: 0, mask: 0, low: 0, high: mask(width_bits) }
    }

    /// Least and greatest value that the bits and the bounds allow (not always reached).
    fn bounds(self, width_bits: u32) -> (u128, u128) {
        let free = mask(width_bits) & !self.mask;
        (self.low.max(self.value), self.high.min(self.value | free))
    }

    /// Whether a condition holds for all values left, for none, or for some.
    fn settles(self, condition: Condition, width_bits: u32) -> Option<bool> {
        let (low, high) = self.bounds(width_bits);
        match condition {
            Condition::Ternary { value, mask: asked } => {
                let both = self.mask & asked;
                if (self.value ^ value) & both != 0 {
                    return Some(false);
                }
                if both == asked {
                    return Some(true);
                }
                // The bounds settle prefixes.
                let free = mask(width_bits) & !asked;
                let is_prefix = (free.wrapping_add(1)) & free == 0;
                if is_prefix {
                    if high < value || low > (value | free) {
                        return Some(false);
                    }
                    if low >= value && high <= (value | free) {
                        return Some(true);
                    }
                }
                None
            }
            Condition::Range { low: from, high: to } => {
                if high < from || low > to {
                    Some(false)
                } else if low >= from && high <= to {
                    Some(true)
                } else {
                    None
                }
            }
        }
    }

    /// With a condition that holds.
    fn and(self, condition: Condition) -> Known {
        match condition {
            Condition::Ternary { value, mask } => {
                Known { value: self.value | value, mask: self.mask | mask, ..self }
            }
            Condition::Range { low, high } => {
                Known { low: self.low.max(low), high: self.high.min(high), ..self }
            }
        }
    }

    /// With a condition that does not hold, as far as that can be said.
    fn and_not(self, condition: Condition, width_bits: u32) -> Known {
        match condition {
            Condition::Ternary { value, mask } if mask.is_power_of_two() => {
                self.and(Condition::Ternary { value: !value & mask, mask })
            }
            // At most: then above.
            Condition::Range { low: 0, high } => {
                self.and(Condition::Range { low: high + 1, high: mask(width_bits) })
            }
            _ => self,
        }
    }
}

/// Both conditions, if one can say that.
fn both(one: Condition, other: Condition) -> Option<Condition> {
    match (one, other) {
        (
            Condition::Ternary { value, mask },
            Condition::Ternary { value: other_value, mask: other_mask },
        ) => Some(Condition::Ternary { value: value | other_value, mask: mask | other_mask }),
        (Condition::Range { low, high }, Condition::Range { low: from, high: to }) => {
            Some(Condition::Range { low: low.max(from), high: high.min(to) })
        }
        (Condition::Ternary { value, mask }, range)
        | (range, Condition::Ternary { value, mask }) => {
            // One value: the range was settled before.
            let _ = range;
            (mask.count_ones() >= 128).then_some(Condition::Ternary { value, mask })
        }
    }
}

/// The rules of a formula, or `None` if one subject would have to be asked for bits and for a range at
/// once in one rule, or if there would be more than `limit` of them.
pub(super) fn rules(formulas: &mut Formulas, formula: Formula, limit: usize) -> Option<Vec<Rule>> {
    let mut found = Vec::new();
    let mut walk = Walk { formulas, found: &mut found, limit };
    if !walk.down(formula, &mut BTreeMap::new(), &BTreeMap::new()) {
        return None;
    }
    Some(tidy(found))
}

struct Walk<'a> {
    formulas: &'a mut Formulas,
    found: &'a mut Vec<Rule>,
    limit: usize,
}

impl Walk<'_> {
    /// Appends rules that settle the formula where `asked` holds and no earlier rule matched.
    fn down(
        &mut self,
        formula: Formula,
        known: &mut BTreeMap<u32, Known>,
        asked: &BTreeMap<u32, Condition>,
    ) -> bool {
        let Some((test, low, high)) = self.formulas.root(formula) else {
            self.found.push((asked.clone(), formula == Formula::ALWAYS));
            return self.found.len() <= self.limit;
        };
        let Test { subject, width_bits, condition } = test;
        let of = known.get(&subject).copied().unwrap_or(Known::nothing(width_bits));
        match of.settles(condition, width_bits) {
            Some(true) => return self.down(high, known, asked),
            Some(false) => return self.down(low, known, asked),
            None => {}
        }
        // One side by asking, the other by coming after it. A single bit may be tested for 0 or for 1, so the
        // side that is settled sooner, and does not hold, is left for the end.
        let is_bit = matches!(condition, Condition::Ternary { mask, .. } if mask.is_power_of_two());
        let other_first = is_bit && (high == Formula::NEVER || (low == Formula::ALWAYS));
        let (first, then, first_condition) = match (other_first, condition) {
            (true, Condition::Ternary { value, mask }) => {
                (low, high, Condition::Ternary { value: !value & mask, mask })
            }
            _ => (high, low, condition),
        };
        let narrowed = match asked.get(&subject) {
            None => Some(first_condition),
            Some(before) => both(*before, first_condition),
        };
        let Some(narrowed) = narrowed else { return false };
        let mut inner = asked.clone();
        inner.insert(subject, narrowed);
        known.insert(subject, of.and(first_condition));
        let fits = self.down(first, known, &inner);
        let rest =
            if first == high { of.and_not(condition, width_bits) } else { of.and(condition) };
        known.insert(subject, rest);
        let fits = fits && self.down(then, known, asked);
        known.insert(subject, of);
        fits
    }
}

/// Whether `wide` matches wherever `narrow` does.
fn covers(wide: &BTreeMap<u32, Condition>, narrow: &BTreeMap<u32, Condition>) -> bool {
    wide.iter().all(|(subject, condition)| match (condition, narrow.get(subject)) {
        (_, None) => false,
        (
            Condition::Ternary { value, mask },
            Some(Condition::Ternary { value: given, mask: given_mask }),
        ) => given_mask & mask == *mask && given & mask == *value,
        (Condition::Range { low, high }, Some(Condition::Range { low: from, high: to })) => {
            low <= from && to <= high
        }
        (Condition::Range { low, high }, Some(Condition::Ternary { value, mask })) => {
            // The value with all free bits zero, and with all of them one.
            low <= value && (value | !mask) <= *high
        }
        (Condition::Ternary { .. }, Some(Condition::Range { .. })) => false,
    })
}

/// Leaves out rules that decide nothing.
fn tidy(mut rules: Vec<Rule>) -> Vec<Rule> {
    loop {
        let before = rules.len();
        while rules.last().is_some_and(|(_, runs)| !runs) {
            rules.pop();
        }
        // A rule that never is first.
        let mut at = 0;
        while at < rules.len() {
            let shadowed = rules[..at].iter().any(|(earlier, _)| covers(earlier, &rules[at].0));
            if shadowed {
                rules.remove(at);
            } else {
                at += 1;
            }
        }
        // A rule whose place a later one takes, with only rules of the same outcome between them.
        let mut at = 0;
        while at < rules.len() {
            let (conditions, runs) = &rules[at];
            let covered = rules[at + 1..]
                .iter()
                .take_while(|(_, other)| other == runs)
                .any(|(later, _)| covers(later, conditions));
            if covered {
                rules.remove(at);
            } else {
                at += 1;
            }
        }
        if rules.len() == before {
            return rules;
        }
    }
}
