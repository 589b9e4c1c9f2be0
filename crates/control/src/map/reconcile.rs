// SPDX-License-Identifier: Apache-2.0
//! Reconciliation: the updates that turn a target's configuration into another one. A [`Record`] holds the writes to a
//! target, to bring it up to date when it is attached again.

use crate::state_target::StateTarget;
use crate::target::{Batch, Fault, Item, Outcome, Reply, Target};
use ir::{ActionProfileId, CalculationId, KeyPattern, Program, TableId, ValueSetId};
use state::{ActionData, BatchItem, EntryRecord, Exclusions, Read, Reply as StateReply, Update};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The reads of a target's whole configuration, and the updates that turn it into another one.
#[derive(Debug)]
pub struct Reconciliation {
    program: Arc<Program>,
    reads: Vec<Read>,
}

impl Reconciliation {
    /// For targets with this program.
    pub fn new(program: Arc<Program>) -> Reconciliation {
        let mut reads = Vec::new();
        for profile in (0..program.action_profiles.len() as u32).map(ActionProfileId) {
            reads.push(Read::Members { profile, member: None });
            reads.push(Read::Groups { profile, group: None });
        }
        for table in (0..program.tables.len() as u32).map(TableId) {
            reads.push(Read::Entries { table });
            reads.push(Read::DefaultAction { table });
        }
        for set in (0..program.value_sets.len() as u32).map(ValueSetId) {
            reads.push(Read::ValueSet { set });
        }
        reads.push(Read::MulticastGroups { group: None });
        reads.push(Read::CloneSessions { session: None });
        reads.push(Read::Exclusions);
        for calculation in (0..program.calculations.len() as u32).map(CalculationId) {
            reads.push(Read::CrcParameters { calculation });
        }
        Reconciliation { program, reads }
    }

    /// The reads of the whole configuration.
    pub fn reads(&self) -> Batch {
        Batch::of(self.reads.iter().cloned())
    }

    /// Returns the updates that turn the configuration `has` into `wanted`. Objects are inserted after those that they
    /// depend on and deleted before them.
    pub fn updates(&self, has: &[StateReply], wanted: &[StateReply]) -> Vec<Update> {
        let (mut makes, mut changes, mut deletes) = (Vec::new(), Vec::new(), Vec::new());
        for ((read, has), wanted) in self.reads.iter().zip(has).zip(wanted) {
            match (read, has, wanted) {
                (
                    Read::Members { profile, .. },
                    StateReply::Members(has),
                    StateReply::Members(wanted),
                ) => {
                    let profile = *profile;
                    for (member, change) in difference(has, wanted) {
                        match change {
                            Change::Insert(action) => {
                                makes.push(Update::InsertMember { profile, member, action })
                            }
                            Change::Modify(action) => {
                                makes.push(Update::ModifyMember { profile, member, action })
                            }
                            Change::Delete => {
                                deletes.push(Update::DeleteMember { profile, member })
                            }
                        }
                    }
                }
                (
                    Read::Groups { profile, .. },
                    StateReply::Groups(has),
                    StateReply::Groups(wanted),
                ) => {
                    let profile = *profile;
                    for (group, change) in difference(has, wanted) {
                        match change {
                            Change::Insert(content) => {
                                makes.push(Update::InsertGroup { profile, group, content })
                            }
                            Change::Modify(content) => {
                                makes.push(Update::ModifyGroup { profile, group, content })
                            }
                            Change::Delete => deletes.push(Update::DeleteGroup { profile, group }),
                        }
                    }
                }
                (
                    Read::Entries { table },
                    StateReply::Entries(has),
                    StateReply::Entries(wanted),
                ) => {
                    self.entries(*table, has, wanted, &mut changes);
                }
                (
                    Read::DefaultAction { table },
                    StateReply::DefaultAction { action: has, is_initial: was_initial },
                    StateReply::DefaultAction { action, is_initial },
                ) if (has, was_initial) != (action, is_initial) => {
                    let action = (!is_initial).then(|| action.clone());
                    changes.push(Update::SetDefaultAction { table: *table, action });
                }
                (
                    Read::ValueSet { set },
                    StateReply::ValueSet(has),
                    StateReply::ValueSet(wanted),
                ) if has != wanted => {
                    changes.push(Update::SetValueSet { set: *set, members: wanted.clone() });
                }
                (_, StateReply::MulticastGroups(has), StateReply::MulticastGroups(wanted)) => {
                    for (group, change) in difference(has, wanted) {
                        changes.push(match change {
                            Change::Insert(content) => {
                                Update::InsertMulticastGroup { group, content }
                            }
                            Change::Modify(content) => {
                                Update::ModifyMulticastGroup { group, content }
                            }
                            Change::Delete => Update::DeleteMulticastGroup { group },
                        });
                    }
                }
                (_, StateReply::CloneSessions(has), StateReply::CloneSessions(wanted)) => {
                    for (session, change) in difference(has, wanted) {
                        changes.push(match change {
                            Change::Insert(content) => {
                                Update::InsertCloneSession { session, content }
                            }
                            Change::Modify(content) => {
                                Update::ModifyCloneSession { session, content }
                            }
                            Change::Delete => Update::DeleteCloneSession { session },
                        });
                    }
                }
                (_, StateReply::Exclusions(has), StateReply::Exclusions(wanted)) => {
                    exclusions(has, wanted, &mut changes);
                }
                (
                    Read::CrcParameters { calculation },
                    StateReply::Crc(has),
                    StateReply::Crc(wanted),
                ) if has != wanted => {
                    let parameters = Some(*wanted);
                    changes
                        .push(Update::SetCrcParameters { calculation: *calculation, parameters });
                }
                _ => {}
            }
        }
        deletes.reverse();
        makes.into_iter().chain(changes).chain(deletes).collect()
    }

    fn entries(
        &self,
        table: TableId,
        has: &[Arc<EntryRecord>],
        wanted: &[Arc<EntryRecord>],
        changes: &mut Vec<Update>,
    ) {
        if self.program.tables[table.index()].const_entries {
            return;
        }
        type Name<'e> = (&'e [KeyPattern], i64);
        fn name(entry: &EntryRecord) -> Name<'_> {
            (&entry.keys, entry.priority)
        }
        let wanted_names: HashSet<Name<'_>> = wanted.iter().map(|entry| name(entry)).collect();
        let mut stay: Vec<&Arc<EntryRecord>> =
            has.iter().filter(|entry| wanted_names.contains(&name(entry))).collect();
        if self.program.tables[table.index()].has_priorities() {
            // Of equal priorities the older one wins, so the order has to be the same.
            let pairs = stay.iter().zip(wanted);
            let in_order = pairs.take_while(|(one, other)| name(one) == name(other)).count();
            stay.truncate(in_order);
        }
        let has_now: HashMap<Name<'_>, &EntryRecord> =
            stay.into_iter().map(|entry| (name(entry), &**entry)).collect();
        for entry in has.iter().filter(|entry| !has_now.contains_key(&name(entry))) {
            let (keys, priority) = (entry.keys.clone(), entry.priority);
            changes.push(Update::DeleteEntry { table, keys, priority });
        }
        let has = has_now;
        for entry in wanted {
            let content = |entry: &EntryRecord| -> (ActionData, u64, Vec<u8>, u64) {
                let EntryRecord { action, idle_timeout_ns, metadata, cookie, .. } = entry;
                (action.clone(), *idle_timeout_ns, metadata.clone(), *cookie)
            };
            match has.get(&name(entry)) {
                None => {
                    changes.push(Update::InsertEntry { table, entry: entry.to_new_entry() });
                }
                Some(before) if content(before) != content(entry) => {
                    changes.push(Update::ModifyEntry { table, entry: entry.to_new_entry() });
                }
                Some(_) => {}
            }
        }
    }
}

fn exclusions(has: &Exclusions, wanted: &Exclusions, changes: &mut Vec<Update>) {
    let pairs = |list: &Exclusions| list.nodes().collect::<Vec<_>>();
    for (instance, change) in difference(&pairs(has), &pairs(wanted)) {
        let exclusion = match change {
            Change::Insert(exclusion) | Change::Modify(exclusion) => Some(exclusion),
            Change::Delete => None,
        };
        changes.push(Update::SetNodeExclusion { instance, exclusion });
    }
    let pairs = |list: &Exclusions| {
        list.ports().map(|(exclusion, ports)| (exclusion, ports.to_vec())).collect::<Vec<_>>()
    };
    for (exclusion, change) in difference(&pairs(has), &pairs(wanted)) {
        let ports = match change {
            Change::Insert(ports) | Change::Modify(ports) => ports,
            Change::Delete => Vec::new(),
        };
        changes.push(Update::SetPortExclusion { exclusion, ports });
    }
}

enum Change<V> {
    Insert(V),
    Modify(V),
    Delete,
}

fn difference<K: Copy + Ord, V: Clone + PartialEq>(
    has: &[(K, V)],
    wanted: &[(K, V)],
) -> Vec<(K, Change<V>)> {
    let (has, wanted): (BTreeMap<K, &V>, BTreeMap<K, &V>) = (
        has.iter().map(|(key, value)| (*key, value)).collect(),
        wanted.iter().map(|(key, value)| (*key, value)).collect(),
    );
    let gone = has.keys().filter(|key| !wanted.contains_key(key));
    let mut changes: Vec<_> = gone.map(|key| (*key, Change::Delete)).collect();
    for (key, value) in wanted {
        match has.get(&key) {
            None => changes.push((key, Change::Insert(value.clone()))),
            Some(before) if *before != value => {
                changes.push((key, Change::Modify(value.clone())));
            }
            Some(_) => {}
        }
    }
    changes
}

/// What was written to a target: its configuration, and updates of cells while it was away.
#[derive(Debug)]
pub(super) struct Record {
    reconciliation: Reconciliation,
    written: StateTarget,
    /// Updates of cells that a target that is away has not seen.
    missed: Vec<Item>,
}

impl Record {
    /// Nothing was written yet.
    pub fn new(program: Arc<Program>) -> Option<Record> {
        let written = StateTarget::new(program.clone()).ok()?;
        Some(Record { reconciliation: Reconciliation::new(program), written, missed: Vec::new() })
    }

    /// Notes what a target has done.
    pub fn note(&mut self, batch: &Batch, outcome: &Outcome) {
        let done = batch.items.iter().zip(&outcome.results).filter(|(_, result)| result.is_ok());
        let items = done.map(|(item, _)| item).filter(|item| is_configuration(item));
        let items: Vec<Item> = items.cloned().collect();
        if !items.is_empty() {
            self.written.execute(Batch::of(items));
        }
    }

    /// Answers for a target that is away.
    pub fn stand_in(&mut self, batch: &Batch, is_check: bool, now_ps: u64) -> Outcome {
        let is_read = batch.items.iter().any(Item::is_read);
        if is_read {
            return Outcome::failed(batch.items.len(), Fault::Away, now_ps);
        }
        let at_once = Batch { program: None, ..batch.clone() };
        let outcome = match is_check {
            true => {
                let ticket = self.written.reserve(at_once, now_ps);
                self.written.release(ticket);
                self.written.wait(ticket)
            }
            false => self.written.execute(at_once),
        };
        if !is_check && outcome.is_ok() {
            let missed = batch.items.iter().filter(|item| !is_configuration(item));
            self.missed.extend(missed.cloned());
        }
        Outcome { applied_ps: now_ps, known_ps: now_ps, ..outcome }
    }

    /// What a target that is back is asked first.
    pub fn reads(&self) -> Batch {
        self.reconciliation.reads()
    }

    /// What a target lacks that answered [`Record::reads`]; else why that is not known.
    pub fn lacks(&mut self, has: Outcome) -> Result<Batch, Outcome> {
        let replies = |outcome: Outcome| -> Result<Vec<StateReply>, Outcome> {
            if !outcome.is_ok() {
                return Err(outcome);
            }
            let results = outcome.results.into_iter();
            Ok(results.filter_map(|result| result.ok().and_then(Reply::into_state)).collect())
        };
        let has = replies(has)?;
        let wanted = replies(self.written.execute(self.reconciliation.reads()))?;
        let updates = self.reconciliation.updates(&has, &wanted).into_iter().map(Item::from);
        Ok(Batch::of(updates.chain(self.missed.iter().cloned())))
    }

    /// A target has done what it lacked.
    pub fn is_up_to_date(&mut self) {
        self.missed.clear();
    }
}

fn is_configuration(item: &Item) -> bool {
    match item {
        Item::State(BatchItem::Update(update)) => !update.touches_cells(),
        Item::State(BatchItem::Read(_)) | Item::Device(_) => false,
    }
}
