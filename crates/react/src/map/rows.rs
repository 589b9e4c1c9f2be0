// SPDX-License-Identifier: Apache-2.0
//! The rows of an entry: one for each combination of alternatives of the malleable fields in the key and in its action
//! (Mantis §4.1), in each version.

use super::objects::TableObjects;
use crate::compiler::combination;
use control::target::Fault;
use ir::{ActionId, Bits, KeyPattern};
use state::{ActionData, BoundAction, CounterValue, NewEntry, Reply as StateReply};

/// A row of the program as run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its keys.
    pub keys: Vec<KeyPattern>,
    /// Its priority, if the table as run has priorities.
    pub priority: i64,
    /// Its action.
    pub action: BoundAction,
    /// The alternatives of fields with which packets may match it; any of fields that are not here.
    pub(super) choice: Vec<(usize, usize)>,
}

impl TableObjects {
    /// The versions of its rows; one without a number if it has none.
    pub(super) fn versions(&self) -> Vec<Option<u64>> {
        if self.is_malleable { vec![Some(0), Some(1)] } else { vec![None] }
    }

    fn combinations(&self, fields: &[usize]) -> usize {
        fields.iter().map(|field| self.alternatives[*field]).product()
    }

    /// An action of the program as run, for these alternatives.
    pub(super) fn action(&self, action: &BoundAction, choice: &[(usize, usize)]) -> BoundAction {
        let Some(objects) = self.actions.get(&action.action) else { return action.clone() };
        let alternative = |field: &usize| {
            choice.iter().find(|(own, _)| own == field).map_or(0, |(_, alternative)| *alternative)
        };
        let at = objects
            .fields
            .iter()
            .fold(0, |at, field| at * self.alternatives[*field] + alternative(field));
        let action_id = objects.specialised.get(at).copied().unwrap_or(ActionId(0));
        BoundAction { action: action_id, arguments: action.arguments.clone() }
    }

    /// The action of an entry, and the fields whose alternatives multiply its rows, in order.
    fn action_and_fields<'e>(
        &self,
        entry: &'e NewEntry,
    ) -> Result<(&'e BoundAction, Vec<usize>), Fault> {
        let ActionData::Direct(action) = &entry.action else {
            let why = "members of action profiles have no versions";
            return Err(Fault::Unsupported(why.to_string()));
        };
        let own = self.actions.get(&action.action).map_or(&[][..], |objects| &objects.fields);
        let key_fields = self.keys.iter().flat_map(|key| key.fields());
        let all = self.selectors.iter().map(|(field, _)| field).filter(|_| self.has_fixed_rows);
        let mut fields: Vec<usize> = key_fields.chain(own).chain(all).copied().collect();
        fields.sort_unstable();
        fields.dedup();
        Ok((action, fields))
    }

    /// Whether two forms of an entry have rows of the same keys.
    pub(super) fn has_same_rows(&self, old: &NewEntry, new: &NewEntry) -> bool {
        let fields = |entry| self.action_and_fields(entry).map(|(_, fields)| fields);
        fields(old).is_ok_and(|old| fields(new) == Ok(old))
    }

    /// The rows of an entry in a version.
    /// `below` is the priority of the rows of a table whose entries have priorities.
    pub(super) fn rows(
        &self,
        entry: &NewEntry,
        version: Option<u64>,
        below: Option<i64>,
    ) -> Result<Vec<Row>, Fault> {
        let (action, fields) = self.action_and_fields(entry)?;
        let priority = match (self.has_priorities, self.prefix_key) {
            (true, _) => below.unwrap_or(entry.priority),
            // An lpm column that became ternary: the longest prefix wins.
            (false, Some(key)) => entry.keys.get(key).map_or(0, prefix_length),
            (false, None) => 0,
        };
        let mut rows = Vec::new();
        for index in 0..self.combinations(&fields) {
            let choice = combination(&self.alternatives, &fields, index);
            let chosen = |field: usize| {
                choice.iter().find(|(own, _)| *own == field).map(|(_, alternative)| *alternative)
            };
            let mut keys = Vec::new();
            for (key, pattern) in self.keys.iter().zip(&entry.keys) {
                let fields = key.fields();
                for column in 0..self.combinations(fields) {
                    let own = combination(&self.alternatives, fields, column);
                    let is_it = own.iter().all(|(field, at)| chosen(*field) == Some(*at));
                    keys.push(if is_it { pattern.clone() } else { KeyPattern::Any });
                }
            }
            for (field, width_bits) in &self.selectors {
                keys.push(match chosen(*field) {
                    Some(at) => KeyPattern::Exact(Bits::from_u64(*width_bits, at as u64)),
                    None => KeyPattern::Any,
                });
            }
            keys.extend(version.map(|version| KeyPattern::Exact(Bits::from_u64(1, version))));
            let action = self.action(action, &choice);
            rows.push(Row { keys, priority, action, choice });
        }
        Ok(rows)
    }

    /// The rows of the default table in a version.
    pub(super) fn default_rows(&self, action: &BoundAction, version: Option<u64>) -> Vec<Row> {
        let Some(default) = &self.default_table else { return Vec::new() };
        let fields: Vec<usize> = default.selectors.iter().map(|(field, _)| *field).collect();
        let mut rows = Vec::new();
        for index in 0..self.combinations(&fields) {
            let choice = combination(&self.alternatives, &fields, index);
            let selectors = default.selectors.iter().zip(&choice);
            let mut keys: Vec<KeyPattern> = selectors
                .map(|((_, width), (_, at))| KeyPattern::Exact(Bits::from_u64(*width, *at as u64)))
                .collect();
            keys.extend(version.map(|version| KeyPattern::Exact(Bits::from_u64(1, version))));
            let action = self.action(action, &choice);
            rows.push(Row { keys, priority: 0, action, choice });
        }
        rows
    }
}

/// The length of a prefix.
fn prefix_length(pattern: &KeyPattern) -> i64 {
    match pattern {
        KeyPattern::Prefix { length_bits, .. } => i64::from(*length_bits),
        KeyPattern::Exact(value) => i64::from(value.width_bits()),
        _ => 0,
    }
}

/// Whether two patterns match the same values of a key.
fn is_same(one: &KeyPattern, other: &KeyPattern) -> bool {
    let masked = |pattern: &KeyPattern| match pattern {
        KeyPattern::Exact(value) => Some((value.clone(), Bits::ones(value.width_bits()))),
        KeyPattern::Prefix { value, length_bits } => {
            Some((value.clone(), Bits::prefix_mask(value.width_bits(), *length_bits)))
        }
        KeyPattern::Ternary { value, mask } => Some((value.clone(), mask.clone())),
        _ => None,
    };
    let is_all = |pattern: &KeyPattern| match pattern {
        KeyPattern::Any => true,
        KeyPattern::Range { low, high } => low.is_zero() && *high == Bits::ones(high.width_bits()),
        other => masked(other).is_some_and(|(_, mask)| mask.is_zero()),
    };
    one == other
        || (is_all(one) && is_all(other))
        || masked(one).is_some_and(|one| masked(other) == Some(one))
}

impl Row {
    /// Whether it is the row with these keys and this priority.
    pub(super) fn is_at(&self, keys: &[KeyPattern], priority: i64) -> bool {
        self.priority == priority
            && self.keys.len() == keys.len()
            && self.keys.iter().zip(keys).all(|(one, other)| is_same(one, other))
    }
}

/// The sum of direct counters over the rows of an entry.
pub(super) fn combined(replies: Vec<StateReply>) -> Result<StateReply, Fault> {
    let mut replies = replies.into_iter();
    let Some(mut first) = replies.next() else { return Ok(StateReply::Done) };
    let add = |sum: &mut CounterValue, more: &CounterValue| {
        sum.packets += more.packets;
        sum.bytes += more.bytes;
    };
    for reply in replies {
        match (&mut first, reply) {
            (StateReply::DirectCounters(sum), StateReply::DirectCounters(more)) => {
                for ((_, sum), (_, more)) in sum.iter_mut().zip(&more) {
                    add(sum, more);
                }
            }
            (StateReply::EntriesWithCells(sum), StateReply::EntriesWithCells(more)) => {
                for (sum, more) in sum.iter_mut().zip(more) {
                    for (sum, more) in sum.counters.iter_mut().zip(&more.counters) {
                        add(sum, more);
                    }
                    sum.last_hit_ps = sum.last_hit_ps.max(more.last_hit_ps);
                }
            }
            _ => {}
        }
    }
    Ok(first)
}
