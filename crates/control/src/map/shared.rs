// SPDX-License-Identifier: Apache-2.0
//! Several controllers, or maps, before one target. Each has a [`Portion`]: it owns the entries that it wrote,
//! takes numbers of members, groups and sessions from ranges of its own, and neither sees nor reaches what
//! belongs to another. Who owns what is in `claims`.

mod claims;

use crate::target::{Batch, Fault, Item, Notification, Outcome, Reply, Target, Ticket, Visibility};
use claims::{Claims, Object, entry_name};
use ir::{KeyPattern, Program, TableId};
use state::{
    BatchItem, EntryHandle, EntryRecord, EntryReference, EntryTarget, Read, Reply as StateReply,
    Subscription, Update, UpdateError,
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

#[derive(Debug)]
struct Inner {
    target: Box<dyn Target>,
    claims: Claims,
    /// What is to be told each portion.
    notifications: Vec<VecDeque<Notification>>,
}

impl Inner {
    /// The owner of an entry that the target has.
    fn owner_of(&self, table: TableId, record: &EntryRecord) -> Option<usize> {
        let program = self.target.program();
        let name = entry_name(&program, table, &record.keys, record.priority);
        self.claims.owner(&Object::Entry(name))
    }

    /// Takes what the target has to tell to those whom it concerns.
    fn route_notifications(&mut self) {
        for notification in self.target.notifications() {
            let owner = match &notification {
                Notification::IdleTimeout { table, entry, .. } => {
                    Some(self.owner_of(*table, entry))
                }
                _ => None,
            };
            for (number, mailbox) in self.notifications.iter_mut().enumerate() {
                if owner.is_none_or(|owner| owner == Some(number)) {
                    mailbox.push_back(notification.clone());
                }
            }
        }
    }

    /// Requests are not made after all.
    fn give_up(&mut self, plans: &[Plan]) {
        for plan in plans {
            let Plan::Below(list) = plan else { continue };
            for after in list {
                if let After::Own(object) | After::Disown(object) = after {
                    self.claims.settle(object, None);
                }
            }
        }
    }
}

/// A target that portions share.
#[derive(Clone, Debug)]
pub struct SharedTarget(Arc<Mutex<Inner>>);

impl SharedTarget {
    /// A target to be shared. Its controllers write by portions only; entries of its program's own belong to
    /// nobody.
    pub fn new(target: Box<dyn Target>) -> SharedTarget {
        let claims = Claims::of_program(&target.program());
        SharedTarget(Arc::new(Mutex::new(Inner { target, claims, notifications: Vec::new() })))
    }

    /// One more portion, with numbers of its own.
    pub fn portion(&self, ids: IdRanges) -> Portion {
        let mut inner = self.inner();
        // The first call of a target's notifications begins to listen.
        let _ = inner.target.notifications();
        inner.notifications.push(VecDeque::new());
        let number = inner.notifications.len() - 1;
        drop(inner);
        Portion {
            shared: self.clone(),
            number,
            ids,
            under_way: VecDeque::new(),
            reserved: HashMap::new(),
            answers: VecDeque::new(),
        }
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
    /// It put an object of this portion there.
    Own(Object),
    /// It removed an object of this portion.
    Disown(Object),
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
#[derive(Clone, Debug)]
struct UnderWay {
    ticket: Ticket,
    plans: Vec<Plan>,
    /// Whether an item that fails undoes the others.
    stops_on_error: bool,
    /// Whether it is checked only, and kept to be committed.
    is_reservation: bool,
}

/// One controller's share of a target. Numbers outside its ranges and entries that it did not write do not
/// exist for it; the first to set a table's default action owns that. Default actions, value sets and cells of
/// registers, counters and meters that belong to no entry are seen by all.
#[derive(Debug)]
pub struct Portion {
    shared: SharedTarget,
    number: usize,
    ids: IdRanges,
    under_way: VecDeque<UnderWay>,
    /// Reservations that the target keeps.
    reserved: HashMap<Ticket, UnderWay>,
    /// Answers that came without the target.
    answers: VecDeque<(Ticket, Outcome)>,
}

impl Portion {
    fn plan(&self, inner: &mut Inner, batch: Batch) -> (Vec<Plan>, Batch) {
        let mut items = Vec::with_capacity(batch.items.len());
        let mut plans = Vec::with_capacity(batch.items.len());
        for item in batch.items {
            plans.push(match self.items(inner, item, &mut items) {
                Ok(after) => Plan::Below(after),
                Err(fault) => Plan::Refused(fault),
            });
        }
        (plans, Batch { items, atomicity: batch.atomicity, program: batch.program })
    }

    /// The items below of one item here, and what to do with their results. A refused item leaves nothing.
    fn items(
        &self,
        inner: &mut Inner,
        item: Item,
        items: &mut Vec<Item>,
    ) -> Result<Vec<After>, Fault> {
        let program = inner.target.program();
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
                let object = Object::Entry(name);
                if inner.claims.is_foreign(&object, self.number) {
                    let (table, entry) = (table_name(&program, table), keys_text(&entry.keys));
                    return Err(Fault::Refused(UpdateError::EntryExists { table, entry }));
                }
                inner.claims.claim(object.clone(), self.number, true);
                one(items, Update::InsertEntry { table, entry }.into(), After::Own(object))
            }
            BatchItem::Update(Update::ModifyEntry { table, entry }) => {
                self.check_entry(inner, table, &entry.keys, entry.priority)?;
                one(items, Update::ModifyEntry { table, entry }.into(), After::Keep)
            }
            BatchItem::Update(Update::DeleteEntry { table, keys, priority }) => {
                let object = self.check_entry(inner, table, &keys, priority)?;
                inner.claims.claim(object.clone(), self.number, false);
                let update = Update::DeleteEntry { table, keys, priority };
                one(items, update.into(), After::Disown(object))
            }
            BatchItem::Update(update @ Update::ModifyEntryAt { table, handle, generation, .. }) => {
                self.check_place(inner, table, handle, generation)?;
                one(items, update.into(), After::Keep)
            }
            BatchItem::Update(update @ Update::DeleteEntryAt { table, handle, generation }) => {
                let object = self.check_place(inner, table, handle, generation)?;
                inner.claims.claim(object.clone(), self.number, false);
                one(items, update.into(), After::Disown(object))
            }
            BatchItem::Update(Update::ClearEntries { table }) => {
                let own = inner.claims.entries_to_be(table, self.number);
                let mut list = Vec::with_capacity(own.len());
                for name in own {
                    let (keys, priority) = (name.1.clone(), name.2);
                    items.push(Update::DeleteEntry { table, keys, priority }.into());
                    let object = Object::Entry(name);
                    inner.claims.claim(object.clone(), self.number, false);
                    list.push(After::Disown(object));
                }
                Ok(list)
            }
            BatchItem::Update(Update::SetDefaultAction { table, action }) => {
                let object = Object::Default(table);
                if inner.claims.is_foreign(&object, self.number) {
                    return Err(Fault::Unsupported(format!(
                        "table `{}`: its default action belongs to another controller",
                        table_name(&program, table)
                    )));
                }
                let is_set = action.is_some();
                inner.claims.claim(object.clone(), self.number, is_set);
                let after = if is_set { After::Own(object) } else { After::Disown(object) };
                one(items, Update::SetDefaultAction { table, action }.into(), after)
            }
            BatchItem::Update(update) => {
                self.check_numbers(&update)?;
                self.check_references(inner, &update)?;
                one(items, update.into(), After::Keep)
            }
            BatchItem::Read(Read::Entry { table, keys, priority }) => {
                self.check_entry(inner, table, &keys, priority)?;
                one(items, Read::Entry { table, keys, priority }.into(), After::Keep)
            }
            BatchItem::Read(read) => {
                self.check_read(inner, &read)?;
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

    /// An entry by its name, if it is this portion's.
    fn check_entry(
        &self,
        inner: &Inner,
        table: TableId,
        keys: &[KeyPattern],
        priority: i64,
    ) -> Result<Object, Fault> {
        let program = inner.target.program();
        let object = Object::Entry(entry_name(&program, table, keys, priority));
        match inner.claims.owner(&object) == Some(self.number) {
            true => Ok(object),
            false => {
                let (table, entry) = (table_name(&program, table), keys_text(keys));
                Err(Fault::Refused(UpdateError::NoSuchEntry { table, entry }))
            }
        }
    }

    /// An entry by its place, if it is this portion's.
    fn check_place(
        &self,
        inner: &Inner,
        table: TableId,
        handle: EntryHandle,
        generation: u64,
    ) -> Result<Object, Fault> {
        let name = inner.claims.at(table, handle);
        let is_own = |object: &Object| inner.claims.owner(object) == Some(self.number);
        let own = name.map(Object::Entry).filter(is_own);
        own.ok_or_else(|| {
            let table = table_name(&inner.target.program(), table);
            Fault::Refused(UpdateError::EntryChanged { table, place: handle.0, generation })
        })
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

    /// Whether an entry that is referred to belongs to this portion.
    fn check_reference(
        &self,
        inner: &Inner,
        table: Option<TableId>,
        entry: &EntryReference,
    ) -> Result<(), Fault> {
        match (entry, table) {
            (EntryReference::Entry { keys, priority }, Some(table)) => {
                self.check_entry(inner, table, keys, *priority).map(drop)
            }
            (EntryReference::At { handle, generation }, Some(table)) => {
                self.check_place(inner, table, *handle, *generation).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn check_references(&self, inner: &Inner, update: &Update) -> Result<(), Fault> {
        let program = inner.target.program();
        match update {
            Update::WriteDirectCounter { counter, entry, .. } => {
                let table = table_with(&program, |table| table.direct_counters.contains(counter));
                self.check_reference(inner, table, entry)
            }
            Update::WriteDirectMeter { meter, entry, .. } => {
                let table = table_with(&program, |table| table.direct_meters.contains(meter));
                self.check_reference(inner, table, entry)
            }
            _ => Ok(()),
        }
    }

    fn check_read(&self, inner: &Inner, read: &Read) -> Result<(), Fault> {
        let program = inner.target.program();
        match read {
            Read::DirectCounter { counter, entry: Some(entry) } => {
                let table = table_with(&program, |table| table.direct_counters.contains(counter));
                self.check_reference(inner, table, entry)
            }
            Read::DirectMeter { meter, entry: Some(entry) } => {
                let table = table_with(&program, |table| table.direct_meters.contains(meter));
                self.check_reference(inner, table, entry)
            }
            Read::EntriesWithCells { table, entry: Some(entry) } => {
                self.check_reference(inner, Some(*table), entry)
            }
            _ => Ok(()),
        }
    }

    /// The outcome of a batch here from that below.
    fn outcome(
        &self,
        inner: &mut Inner,
        plans: Vec<Plan>,
        below: Outcome,
        is_check: bool,
    ) -> Outcome {
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
            let mut whole = Ok(Reply::State(StateReply::Done));
            for after in list {
                let result = results.next().unwrap_or(Err(Fault::Gone));
                let is_done = !is_check && result.is_ok() && !below.rolled_back;
                match &after {
                    After::Own(object) => {
                        if let (true, Object::Entry(name), Ok(Reply::State(reply))) =
                            (is_done, object, &result)
                            && let StateReply::Inserted(handle) = reply
                        {
                            inner.claims.note_place(*handle, name);
                        }
                        if !is_check {
                            inner.claims.settle(object, is_done.then_some(true));
                        }
                    }
                    After::Disown(object) => {
                        if let (true, Object::Entry(name)) = (is_done, object) {
                            inner.claims.forget_place(name);
                        }
                        if !is_check {
                            inner.claims.settle(object, is_done.then_some(false));
                        }
                    }
                    After::Keep | After::Filter(_) => {}
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
        let is_own = |record: &EntryRecord| {
            table.is_some_and(|table| inner.owner_of(table, record) == Some(self.number))
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
        is_reservation: bool,
        send: impl FnOnce(&mut dyn Target, Batch) -> Ticket,
    ) -> Ticket {
        let shared = self.shared.clone();
        let mut inner = shared.inner();
        let stops_on_error = batch.stops_on_error();
        let (plans, below) = self.plan(&mut inner, batch);
        let refused = plans.iter().enumerate().find_map(|(at, plan)| match plan {
            Plan::Refused(fault) => Some((at, fault.clone())),
            Plan::Below(_) => None,
        });
        if let Some((at, fault)) = refused.filter(|_| stops_on_error || is_reservation) {
            // None of its items is wanted then. An empty batch keeps the place among the requests.
            inner.give_up(&plans);
            let ticket = inner.target.submit(Batch::default(), 0);
            let now_ps = inner.target.now_ps();
            self.answers.push_back((ticket, Outcome::aborted(plans.len(), at, fault, now_ps)));
            return ticket;
        }
        let ticket = send(&mut *inner.target, below);
        self.under_way.push_back(UnderWay { ticket, plans, stops_on_error, is_reservation });
        ticket
    }

    fn take(&mut self, ticket: Ticket, outcome: Outcome) -> Outcome {
        if let Some(at) = self.answers.iter().position(|(of, _)| *of == ticket)
            && let Some((_, answer)) = self.answers.remove(at)
        {
            return Outcome {
                applied_ps: outcome.applied_ps,
                known_ps: outcome.known_ps,
                ..answer
            };
        }
        let at = self.under_way.iter().position(|under_way| under_way.ticket == ticket);
        let Some(under_way) = at.and_then(|at| self.under_way.remove(at)) else {
            return outcome;
        };
        let shared = self.shared.clone();
        let mut inner = shared.inner();
        // An entry that was removed may have been reported before.
        inner.route_notifications();
        let UnderWay { plans, stops_on_error, is_reservation, .. } = under_way.clone();
        if is_reservation {
            match outcome.is_ok() {
                true => drop(self.reserved.insert(ticket, under_way)),
                false => inner.give_up(&plans),
            }
        }
        let mut outcome = self.outcome(&mut inner, plans, outcome, is_reservation);
        if stops_on_error && !outcome.is_ok() && !outcome.rolled_back {
            // A single item was left for the target, which had nothing to undo.
            outcome.rolled_back = true;
            let others = outcome.results.iter_mut().filter(|result| result.is_ok());
            others.for_each(|result| *result = Err(Fault::ABORTED));
        }
        outcome
    }

    /// A reservation, whether its answer has been taken or not.
    fn take_reservation(&mut self, reservation: Ticket) -> Option<UnderWay> {
        let is_it = |under_way: &UnderWay| under_way.ticket == reservation;
        let at = self.under_way.iter().position(is_it);
        let unseen = at.and_then(|at| self.under_way.remove(at));
        self.reserved.remove(&reservation).or(unseen)
    }
}

fn table_name(program: &Program, table: TableId) -> Arc<str> {
    program.tables.get(table.index()).map_or_else(|| "?".into(), |table| table.name.clone())
}

fn keys_text(keys: &[KeyPattern]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
    keys.join(", ")
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
        self.send(batch, false, |target, batch| target.submit(batch, at_ps))
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.send(batch, true, |target, batch| target.reserve(batch, at_ps))
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        let reserved = self.take_reservation(reservation);
        let ticket = self.shared.inner().target.commit(reservation, at_ps);
        if let Some(under_way) = reserved {
            self.under_way.push_back(UnderWay { ticket, is_reservation: false, ..under_way });
        }
        ticket
    }

    fn release(&mut self, reservation: Ticket) {
        let reserved = self.take_reservation(reservation);
        let mut inner = self.shared.inner();
        inner.target.release(reservation);
        if let Some(under_way) = reserved {
            inner.give_up(&under_way.plans);
        }
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.shared.inner().target.barrier(at_ps)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        let outcome = self.shared.inner().target.poll(ticket)?;
        Some(self.take(ticket, outcome))
    }

    /// Of changes that other portions make too.
    fn subscribe(&mut self, tables: &[TableId]) -> Option<Subscription> {
        self.shared.inner().target.subscribe(tables)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        let mut inner = self.shared.inner();
        inner.route_notifications();
        inner.notifications[self.number].drain(..).collect()
    }

    fn wait(&mut self, ticket: Ticket) -> Outcome {
        let outcome = self.shared.inner().target.wait(ticket);
        match outcome.first_fault() {
            // It is still under way.
            Some((_, Fault::TakesTime)) => outcome,
            _ => self.take(ticket, outcome),
        }
    }
}
