// SPDX-License-Identifier: Apache-2.0
//! Several controllers, or maps, before one target: what they share. Each has a [`Portion`]: it owns the entries that
//! it wrote, takes numbers of members, groups and sessions from ranges of its own, and neither sees nor reaches what
//! belongs to another. `claims` holds owners, `requests` translates items, `outcomes` translates results.

mod claims;
mod outcomes;
mod portion;
mod requests;

pub use claims::CellArray;
pub use portion::Portion;

use crate::target::{Batch, Notification, Target};
use claims::{Claims, Object, entry_name};
use ir::{Program, TableId};
use state::{EntryRecord, Read, Reply as StateReply};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Numbers that a portion may give to objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdRanges {
    /// Members of action profiles.
    pub members: Range<u32>,
    /// Groups of action selectors.
    pub groups: Range<u32>,
    /// Multicast groups.
    pub multicast_groups: Range<u32>,
    /// Clone sessions.
    pub clone_sessions: Range<u32>,
}

impl IdRanges {
    /// The same range of numbers for every kind of object.
    pub fn same(range: Range<u32>) -> IdRanges {
        IdRanges {
            members: range.clone(),
            groups: range.clone(),
            multicast_groups: range.clone(),
            clone_sessions: range,
        }
    }
}

#[derive(Debug)]
struct Inner {
    target: Box<dyn Target>,
    /// The program that claims speak of.
    program: Arc<Program>,
    /// Swaps of the program so far.
    epoch: u64,
    claims: Claims,
    /// The portions and ranges of arrays that are divided.
    division: HashMap<CellArray, Vec<(usize, Range<u64>)>>,
    /// Notifications for each portion; `None` for a dropped one.
    notifications: Vec<Option<VecDeque<Notification>>>,
}

impl Inner {
    /// The owner of an entry that the target has.
    fn owner_of(&self, table: TableId, record: &EntryRecord) -> Option<usize> {
        let program = self.target.program();
        let name = entry_name(&program, table, &record.keys, record.priority);
        self.claims.owner(&Object::Entry(name))
    }

    /// Delivers the target's notifications to the portions that they concern.
    fn route_notifications(&mut self) {
        for notification in self.target.notifications() {
            self.deliver(notification);
        }
    }

    fn deliver(&mut self, notification: Notification) {
        if matches!(notification, Notification::Swapped { .. }) {
            self.renew();
        }
        let owner = match &notification {
            Notification::IdleTimeout { table, entry, .. } => Some(self.owner_of(*table, entry)),
            _ => None,
        };
        for (number, mailbox) in self.notifications.iter_mut().enumerate() {
            if let Some(mailbox) = mailbox
                && owner.is_none_or(|owner| owner == Some(number))
            {
                mailbox.push_back(notification.clone());
            }
        }
    }

    /// Translates claims to the current program. Objects of equal names keep their owners; where the target answers
    /// at once, only those that it still has.
    fn renew(&mut self) {
        let program = self.target.program();
        if Arc::ptr_eq(&program, &self.program) {
            return;
        }
        let before = std::mem::replace(&mut self.program, program.clone());
        self.epoch += 1;
        self.claims = std::mem::take(&mut self.claims).renewed(&before, &program);
        let division = std::mem::take(&mut self.division);
        let renewed = division.into_iter().filter_map(|(array, shares)| {
            Some((claims::renewed_array(array, &before, &program)?, shares))
        });
        self.division = renewed.collect();
        for table in (0..program.tables.len() as u32).map(TableId) {
            let read = Batch::one(Read::Entries { table }).made_for(program.clone());
            let Ok(StateReply::Entries(list)) = self.target.execute(read).into_reply() else {
                continue;
            };
            let names = list.iter().map(|entry| {
                (entry_name(&program, table, &entry.keys, entry.priority), entry.handle)
            });
            self.claims.keep_entries(table, names.collect());
        }
    }
}

/// A target that portions share.
#[derive(Clone, Debug)]
pub struct SharedTarget(Arc<Mutex<Inner>>);

impl SharedTarget {
    /// Shares a target. Controllers write through portions only; no portion owns the program's own entries.
    pub fn new(target: Box<dyn Target>) -> SharedTarget {
        let program = target.program();
        let claims = Claims::of_program(&program);
        SharedTarget(Arc::new(Mutex::new(Inner {
            target,
            program,
            epoch: 0,
            claims,
            division: HashMap::new(),
            notifications: Vec::new(),
        })))
    }

    /// Creates a portion with numbers and cells of its own. An array of which some portion has cells is divided: each
    /// portion reaches its own cells only.
    pub fn portion_with_cells(
        &self,
        ids: IdRanges,
        cells: impl IntoIterator<Item = (CellArray, Range<u64>)>,
    ) -> Portion {
        let portion = self.portion(ids);
        let mut inner = self.inner();
        for (array, range) in cells {
            inner.division.entry(array).or_default().push((portion.number(), range));
        }
        drop(inner);
        portion
    }

    /// Creates a portion with numbers of its own.
    pub fn portion(&self, ids: IdRanges) -> Portion {
        let mut inner = self.inner();
        // The first call of a target's notifications begins to listen.
        let _ = inner.target.notifications();
        inner.notifications.push(Some(VecDeque::new()));
        let number = inner.notifications.len() - 1;
        drop(inner);
        Portion::new(self.clone(), number, ids)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the shared state with claims about the current program.
    fn current(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner();
        inner.renew();
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_target::StateTarget;

    #[test]
    fn nothing_is_kept_for_a_portion_that_was_dropped() {
        let program = Arc::new(ir::text::parse("ir test\norigin @0\n").expect("it is sound"));
        let target = StateTarget::new(program).expect("it is sound");
        let shared = SharedTarget::new(Box::new(target));
        let [one, two] = [0, 1].map(|base| shared.portion(IdRanges::same(base..base + 1)));
        let tell = || {
            let time_ps = 1;
            let mut inner = shared.inner();
            inner.deliver(Notification::Link { time_ps, port: 1, is_up: true });
            let kept =
                inner.notifications.iter().map(|mailbox| mailbox.as_ref().map(VecDeque::len));
            kept.collect::<Vec<_>>()
        };
        assert_eq!(tell(), [Some(1), Some(1)]);
        drop(one);
        assert_eq!(tell(), [None, Some(2)]);
        drop(two);
        assert_eq!(tell(), [None, None]);
    }
}
