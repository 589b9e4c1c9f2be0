// SPDX-License-Identifier: Apache-2.0
//! Several controllers, or maps, before one target. Each has a [`Portion`]: it owns the entries that it wrote,
//! takes numbers of members, groups and sessions from ranges of its own, and neither sees nor reaches what
//! belongs to another.

use crate::target::{Batch, Fault, Item, Notification, Outcome, Reply, Target, Ticket, Visibility};
use ir::{KeyPattern, Program, TableId};
use state::{
    BatchItem, EntryReference, EntryTarget, Read, Reply as StateReply, Update, UpdateError,
};
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

/// The name of an entry: table, keys as written, priority.
type EntryName = (TableId, Vec<KeyPattern>, i64);

#[derive(Debug)]
struct Inner {
    target: Box<dyn Target>,
    /// Who wrote an entry.
    entries: HashMap<EntryName, usize>,
    /// Who set a default action.
    defaults: HashMap<TableId, usize>,
    /// What is to be told each portion.
    notifications: Vec<VecDeque<Notification>>,
}

/// A target that portions share.
#[derive(Clone, Debug)]
pub struct SharedTarget(Arc<Mutex<Inner>>);

impl SharedTarget {
    /// A target to be shared. Entries that it has already belong to nobody.
    pub fn new(target: Box<dyn Target>) -> SharedTarget {
        SharedTarget(Arc::new(Mutex::new(Inner {
            target,
            entries: HashMap::new(),
            defaults: HashMap::new(),
            notifications: Vec::new(),
        })))
    }

    /// One more portion, with numbers of its own.
    pub fn portion(&self, ids: IdRanges) -> Portion {
        let mut inner = self.inner();
        // The first call of a target's notifications begins to listen.
        let _ = inner.target.notifications();
        inner.notifications.push(VecDeque::new());
        let number = inner.notifications.len() - 1;
        drop(inner);
        Portion { shared: self.clone(), number, ids, under_way: VecDeque::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is done to the result of an item below.
#[derive(Clone, Debug)]
enum After {
    /// It is the answer.
    Keep,
    /// The entry is this portion's from now on.
    Own(EntryName),
    /// The entry is nobody's from now on.
    Disown(EntryName),
    /// The default action is this portion's, or with `false` nobody's.
    Default(TableId, bool),
    /// Others' objects are left out; entries are of this table.
    Filter(Option<TableId>),
}

/// An item of a batch: refused here, or so many items below.
#[derive(Clone, Debug)]
enum Plan {
    Refused(Fault),
    Below(Vec<After>),
}

/// A batch of a portion below.
#[derive(Debug)]
struct UnderWay {
    ticket: Ticket,
    plans: Vec<Plan>,
}

/// One controller's share of a target. Numbers outside its ranges and entries that it did not write do not
/// exist for it; the first to set a table's default action owns that.
#[derive(Debug)]
pub struct Portion {
    shared: SharedTarget,
    number: usize,
    ids: IdRanges,
    under_way: VecDeque<UnderWay>,
}

impl Portion {
    fn plan(&self, inner: &Inner, batch: Batch) -> (Vec<Plan>, Batch) {
        let mut items = Vec::with_capacity(batch.items.len());
        let mut plans = Vec::with_capacity(batch.items.len());
        // What earlier items of this batch will own.
        let mut names: HashMap<EntryName, bool> = HashMap::new();
        for item in batch.items {
            let before = items.len();
            plans.push(match self.items(inner, item, &mut names, &mut items) {
                Ok(after) => Plan::Below(after),
                Err(fault) => {
                    items.truncate(before);
                    Plan::Refused(fault)
                }
            });
        }
        (plans, Batch { items, atomicity: batch.atomicity, program: batch.program })
    }

    /// The items below of one item here, and what to do with their results.
    fn items(
        &self,
        inner: &Inner,
        item: Item,
        names: &mut HashMap<EntryName, bool>,
        items: &mut Vec<Item>,
    ) -> Result<Vec<After>, Fault> {
        let program = inner.target.program();
        let table_name = |table: TableId| -> Arc<str> {
            program.tables.get(table.index()).map_or_else(|| "?".into(), |table| table.name.clone())
        };
        let owns = |names: &HashMap<EntryName, bool>, name: &EntryName| {
            names.get(name).copied().unwrap_or(inner.entries.get(name) == Some(&self.number))
        };
        let missing = |name: &EntryName| {
            let entry: Vec<String> = name.1.iter().map(|key| format!("{key:?}")).collect();
            Fault::Refused(UpdateError::NoSuchEntry {
                table: table_name(name.0),
                entry: entry.join(", "),
            })
        };
        let one = |items: &mut Vec<Item>, item: Item, after| {
            items.push(item);
            Ok(vec![after])
        };
        let Item::State(state) = item else {
            return one(items, item, After::Keep);
        };
        match state {
            BatchItem::Update(Update::InsertEntry { table, entry }) => {
                let name = entry_name(&program, table, &entry.keys, entry.priority);
                names.insert(name.clone(), true);
                one(items, Update::InsertEntry { table, entry }.into(), After::Own(name))
            }
            BatchItem::Update(Update::ModifyEntry { table, entry }) => {
                let name = entry_name(&program, table, &entry.keys, entry.priority);
                match owns(names, &name) {
                    true => one(items, Update::ModifyEntry { table, entry }.into(), After::Keep),
                    false => Err(missing(&name)),
                }
            }
            BatchItem::Update(Update::DeleteEntry { table, keys, priority }) => {
                let name = entry_name(&program, table, &keys, priority);
                if !owns(names, &name) {
                    return Err(missing(&name));
                }
                names.insert(name.clone(), false);
                let update = Update::DeleteEntry { table, keys, priority };
                one(items, update.into(), After::Disown(name))
            }
            BatchItem::Update(Update::ClearEntries { table }) => {
                let known = inner.entries.keys().cloned().chain(names.keys().cloned());
                let mut own: Vec<EntryName> =
                    known.filter(|name| name.0 == table && owns(names, name)).collect();
                own.sort_by_key(|name| format!("{name:?}"));
                own.dedup();
                for (table, keys, priority) in own.iter().cloned() {
                    names.insert((table, keys.clone(), priority), false);
                    items.push(Update::DeleteEntry { table, keys, priority }.into());
                }
                Ok(own.into_iter().map(After::Disown).collect())
            }
            BatchItem::Update(Update::SetDefaultAction { table, action }) => {
                let owner = inner.defaults.get(&table);
                if owner.is_some_and(|owner| *owner != self.number) {
                    return Err(Fault::Unsupported(format!(
                        "table `{}`: its default action belongs to another controller",
                        table_name(table)
                    )));
                }
                let sets = action.is_some();
                let update = Update::SetDefaultAction { table, action };
                one(items, update.into(), After::Default(table, sets))
            }
            BatchItem::Update(update) => {
                self.check_numbers(&update)?;
                self.check_references(inner, &update, names)?;
                one(items, update.into(), After::Keep)
            }
            BatchItem::Read(Read::Entry { table, keys, priority }) => {
                let name = entry_name(&program, table, &keys, priority);
                match owns(names, &name) {
                    true => one(items, Read::Entry { table, keys, priority }.into(), After::Keep),
                    false => Err(missing(&name)),
                }
            }
            BatchItem::Read(read) => {
                self.check_read(inner, &read, names)?;
                let table = match &read {
                    Read::Entries { table } | Read::EntriesWithCells { table, .. } => Some(*table),
                    Read::DirectCounter { counter, .. } => {
                        table_with(&program, |table| table.direct_counters.contains(counter))
                    }
                    Read::DirectMeter { meter, .. } => {
                        table_with(&program, |table| table.direct_meters.contains(meter))
                    }
                    _ => None,
                };
                one(items, read.into(), After::Filter(table))
            }
        }
    }

    fn check_numbers(&self, update: &Update) -> Result<(), Fault> {
        let (number, range, what) = match update {
            Update::InsertMember { member, .. }
            | Update::ModifyMember { member, .. }
            | Update::DeleteMember { member, .. } => (member.0, &self.ids.members, "member"),
            Update::InsertGroup { group, .. }
            | Update::ModifyGroup { group, .. }
            | Update::DeleteGroup { group, .. } => (group.0, &self.ids.groups, "group"),
            Update::InsertMulticastGroup { group, .. }
            | Update::ModifyMulticastGroup { group, .. }
            | Update::DeleteMulticastGroup { group } => {
                (*group, &self.ids.multicast_groups, "multicast group")
            }
            Update::InsertCloneSession { session, .. }
            | Update::ModifyCloneSession { session, .. }
            | Update::DeleteCloneSession { session } => {
                (*session, &self.ids.clone_sessions, "clone session")
            }
            _ => return Ok(()),
        };
        match range.contains(&number) {
            true => Ok(()),
            false => Err(Fault::Unsupported(format!(
                "{what} {number} is not one of this controller's, {} to {}",
                range.start,
                range.end.saturating_sub(1)
            ))),
        }
    }

    /// Whether an entry that is named belongs to this portion.
    fn check_reference(
        &self,
        inner: &Inner,
        table: Option<TableId>,
        entry: &EntryReference,
        names: &HashMap<EntryName, bool>,
    ) -> Result<(), Fault> {
        let (EntryReference::Entry { keys, priority }, Some(table)) = (entry, table) else {
            return Ok(());
        };
        let name = entry_name(&inner.target.program(), table, keys, *priority);
        let is_own =
            names.get(&name).copied().unwrap_or(inner.entries.get(&name) == Some(&self.number));
        match is_own {
            true => Ok(()),
            false => {
                let table = inner.target.program().tables[table.index()].name.clone();
                let entry = format!("{keys:?}");
                Err(Fault::Refused(UpdateError::NoSuchEntry { table, entry }))
            }
        }
    }

    fn check_references(
        &self,
        inner: &Inner,
        update: &Update,
        names: &HashMap<EntryName, bool>,
    ) -> Result<(), Fault> {
        let program = inner.target.program();
        match update {
            Update::WriteDirectCounter { counter, entry, .. } => {
                let table = table_with(&program, |table| table.direct_counters.contains(counter));
                self.check_reference(inner, table, entry, names)
            }
            Update::WriteDirectMeter { meter, entry, .. } => {
                let table = table_with(&program, |table| table.direct_meters.contains(meter));
                self.check_reference(inner, table, entry, names)
            }
            _ => Ok(()),
        }
    }

    fn check_read(
        &self,
        inner: &Inner,
        read: &Read,
        names: &HashMap<EntryName, bool>,
    ) -> Result<(), Fault> {
        let program = inner.target.program();
        match read {
            Read::DirectCounter { counter, entry: Some(entry) } => {
                let table = table_with(&program, |table| table.direct_counters.contains(counter));
                self.check_reference(inner, table, entry, names)
            }
            Read::DirectMeter { meter, entry: Some(entry) } => {
                let table = table_with(&program, |table| table.direct_meters.contains(meter));
                self.check_reference(inner, table, entry, names)
            }
            Read::EntriesWithCells { table, entry: Some(entry) } => {
                self.check_reference(inner, Some(*table), entry, names)
            }
            _ => Ok(()),
        }
    }

    /// The outcome of a batch here from that below.
    fn outcome(&self, inner: &mut Inner, plans: Vec<Plan>, below: Outcome) -> Outcome {
        let mut results = below.results.into_iter();
        let mut own = Vec::with_capacity(plans.len());
        for plan in plans {
            let list = match plan {
                Plan::Refused(fault) => {
                    own.push(Err(fault));
                    continue;
                }
                Plan::Below(list) => list,
            };
            let mut whole = Ok(Reply::Done);
            for after in list {
                let result = results.next().unwrap_or(Err(Fault::Gone));
                if result.is_ok() && !below.rolled_back {
                    match &after {
                        After::Own(name) => {
                            inner.entries.insert(name.clone(), self.number);
                        }
                        After::Disown(name) => {
                            inner.entries.remove(name);
                        }
                        After::Default(table, true) => {
                            inner.defaults.insert(*table, self.number);
                        }
                        After::Default(table, false) => {
                            inner.defaults.remove(table);
                        }
                        After::Keep | After::Filter(_) => {}
                    }
                }
                if whole.is_ok() {
                    whole = match (after, result) {
                        (After::Filter(table), Ok(Reply::State(reply))) => {
                            Ok(Reply::State(self.filtered(inner, table, reply)))
                        }
                        (_, result) => result,
                    };
                }
            }
            own.push(whole);
        }
        Outcome { results: own, ..below }
    }

    /// A reply without what belongs to others.
    fn filtered(&self, inner: &Inner, table: Option<TableId>, reply: StateReply) -> StateReply {
        let is_own = |record: &state::EntryRecord| {
            let name = table.map(|table| (table, record.keys.clone(), record.priority));
            name.is_some_and(|name| inner.entries.get(&name) == Some(&self.number))
        };
        let is_own_target = |target: &EntryTarget| target.entry().is_none_or(is_own);
        match reply {
            StateReply::Entries(mut list) => {
                list.retain(|entry| is_own(entry));
                StateReply::Entries(list)
            }
            StateReply::EntriesWithCells(mut list) => {
                list.retain(|cells| is_own_target(&cells.target));
                StateReply::EntriesWithCells(list)
            }
            StateReply::DirectCounters(mut list) => {
                list.retain(|(target, _)| is_own_target(target));
                StateReply::DirectCounters(list)
            }
            StateReply::DirectMeters(mut list) => {
                list.retain(|(target, _)| is_own_target(target));
                StateReply::DirectMeters(list)
            }
            StateReply::Members(mut list) => {
                list.retain(|(member, _)| self.ids.members.contains(&member.0));
                StateReply::Members(list)
            }
            StateReply::Groups(mut list) => {
                list.retain(|(group, _)| self.ids.groups.contains(&group.0));
                StateReply::Groups(list)
            }
            StateReply::MulticastGroups(mut list) => {
                list.retain(|(group, _)| self.ids.multicast_groups.contains(group));
                StateReply::MulticastGroups(list)
            }
            StateReply::CloneSessions(mut list) => {
                list.retain(|(session, _)| self.ids.clone_sessions.contains(session));
                StateReply::CloneSessions(list)
            }
            other => other,
        }
    }

    fn send(
        &mut self,
        batch: Batch,
        send: impl FnOnce(&mut dyn Target, Batch) -> Ticket,
    ) -> Ticket {
        let shared = self.shared.clone();
        let mut inner = shared.inner();
        let (plans, below) = self.plan(&inner, batch);
        let ticket = send(&mut *inner.target, below);
        self.under_way.push_back(UnderWay { ticket, plans });
        ticket
    }

    fn take(&mut self, ticket: Ticket, outcome: Outcome) -> Outcome {
        let at = self.under_way.iter().position(|under_way| under_way.ticket == ticket);
        let Some(UnderWay { plans, .. }) = at.and_then(|at| self.under_way.remove(at)) else {
            return outcome;
        };
        let shared = self.shared.clone();
        let mut inner = shared.inner();
        self.outcome(&mut inner, plans, outcome)
    }
}

/// The name of an entry, its keys in canonical form; keys that do not fit stay as they are, to be refused.
fn entry_name(program: &Program, table: TableId, keys: &[KeyPattern], priority: i64) -> EntryName {
    let declared = program.tables.get(table.index());
    let canonical = declared.and_then(|declared| state::entry_keys(declared, keys).ok());
    (table, canonical.unwrap_or_else(|| keys.to_vec()), priority)
}

fn table_with(program: &Program, is_it: impl Fn(&ir::Table) -> bool) -> Option<TableId> {
    program.tables.iter().position(is_it).map(|at| TableId(at as u32))
}

impl Target for Portion {
    fn program(&self) -> Arc<Program> {
        self.shared.inner().target.program()
    }

    fn now_ps(&self) -> u64 {
        self.shared.inner().target.now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.shared.inner().target.visibility()
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.send(batch, |target, batch| target.submit(batch, at_ps))
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.send(batch, |target, batch| target.reserve(batch, at_ps))
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        self.shared.inner().target.commit(reservation, at_ps)
    }

    fn release(&mut self, reservation: Ticket) {
        self.shared.inner().target.release(reservation);
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.shared.inner().target.barrier(at_ps)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        let outcome = self.shared.inner().target.poll(ticket)?;
        Some(self.take(ticket, outcome))
    }

    fn notifications(&mut self) -> Vec<Notification> {
        let mut inner = self.shared.inner();
        let Inner { target, entries, notifications, .. } = &mut *inner;
        for notification in target.notifications() {
            let owner = match &notification {
                Notification::IdleTimeout { table, entry, .. } => {
                    let name = (*table, entry.keys.clone(), entry.priority);
                    Some(entries.get(&name).copied())
                }
                _ => None,
            };
            for (number, mailbox) in notifications.iter_mut().enumerate() {
                if owner.is_none_or(|owner| owner == Some(number)) {
                    mailbox.push_back(notification.clone());
                }
            }
        }
        notifications[self.number].drain(..).collect()
    }

    fn wait(&mut self, ticket: Ticket) -> Outcome {
        let outcome = self.shared.inner().target.wait(ticket);
        self.take(ticket, outcome)
    }
}
