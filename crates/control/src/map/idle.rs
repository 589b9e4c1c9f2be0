// SPDX-License-Identifier: Apache-2.0
//! Idle timeouts of entries with several rows below: an entry has idled when all of its rows have. The map knows which
//! rows an entry has.

use super::rows::EntryName;
use crate::target::{Batch, Notification, Outcome, Reply};
use ir::TableId;
use state::{EntryRecord, EntryReference, EntryTarget, EntryWithCells, Read, Reply as StateReply};
use std::collections::HashMap;
use std::sync::Arc;

/// Entries of a program as written of which some row has idled.
///
/// The map reports each row with [`IdleEntries::suspect`], submits [`IdleEntries::question`] to the program as written,
/// whose reply has the latest hit of all rows, and passes the outcome to [`IdleEntries::answer`].
#[derive(Clone, Debug, Default)]
pub struct IdleEntries {
    /// Entries to ask about, with when a row of each was reported.
    suspects: Vec<(EntryName, u64)>,
    asked: Vec<(EntryName, u64)>,
    /// The generation and the last hit of entries when they were reported.
    reported: HashMap<EntryName, (u64, Option<u64>)>,
}

impl IdleEntries {
    /// Reports that a row of an entry of the program as written has idled.
    pub fn suspect(&mut self, table: TableId, entry: &EntryRecord, time_ps: u64) {
        self.suspects.push(((table, entry.keys.clone(), entry.priority), time_ps));
    }

    /// Returns the reads for the program as written; `None` while their answer is pending.
    pub fn question(&mut self) -> Option<Batch> {
        if self.suspects.is_empty() || !self.asked.is_empty() {
            return None;
        }
        self.asked = std::mem::take(&mut self.suspects);
        let read = |((table, keys, priority), _): &(EntryName, u64)| Read::EntriesWithCells {
            table: *table,
            entry: Some(EntryReference::Entry { keys: keys.clone(), priority: *priority }),
        };
        Some(Batch::of(self.asked.iter().map(read)))
    }

    /// Returns the notifications that follow from the answer.
    pub fn answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        let mut found = Vec::new();
        let asked = std::mem::take(&mut self.asked);
        for ((name, time_ps), result) in asked.into_iter().zip(outcome.results) {
            let Ok(Reply::State(StateReply::EntriesWithCells(list))) = result else {
                // The entry was deleted since.
                self.reported.remove(&name);
                continue;
            };
            let Some(EntryWithCells { target: EntryTarget::Entry(entry), last_hit_ps, .. }) =
                list.into_iter().next()
            else {
                continue;
            };
            let identity = (entry.generation, last_hit_ps);
            let idle_ps = time_ps.saturating_sub(last_hit_ps.unwrap_or(0));
            if has_idled(&entry, idle_ps) && self.reported.get(&name) != Some(&identity) {
                found.push(Notification::IdleTimeout { time_ps, table: name.0, entry });
                self.reported.insert(name, identity);
            }
        }
        found
    }
}

fn has_idled(entry: &Arc<EntryRecord>, idle_ps: u64) -> bool {
    entry.idle_timeout_ns > 0 && u128::from(idle_ps) >= u128::from(entry.idle_timeout_ns) * 1_000
}
