// SPDX-License-Identifier: Apache-2.0
//! Answers the reads of a control plane.

use crate::validation::{canonical_keys, keys_text, matched_keys};
use crate::{
    CellRange, Cells, Configuration, EntryHandle, EntryRecord, EntryReference, EntryTarget,
    EntryWithCells, Read, Reply, TableState, UpdateError,
};
use ir::{
    Bits, Counter, CounterId, KeyPattern, Meter, MeterId, Program, RegisterId, Table, TableId,
};
use std::sync::Arc;

/// An item of the program by its number.
pub(crate) fn object<'a, T>(
    list: &'a [T],
    kind: &'static str,
    index: u32,
) -> Result<&'a T, UpdateError> {
    list.get(index as usize).ok_or(UpdateError::NoSuchObject { kind, index })
}

/// The one of these with this number, or all.
fn one_or_all<Id: Copy + PartialEq, T: Clone>(
    id: Option<Id>,
    one: impl FnOnce(Id) -> Option<T>,
    all: impl Iterator<Item = (Id, T)>,
    missing: impl FnOnce(Id) -> UpdateError,
) -> Result<Vec<(Id, T)>, UpdateError> {
    match id {
        None => Ok(all.collect()),
        Some(id) => Ok(vec![(id, one(id).ok_or_else(|| missing(id))?)]),
    }
}

impl Cells {
    /// Reads cells of a register of their program, behind the values of a list.
    pub fn read_register(
        &self,
        program: &Program,
        register: RegisterId,
        range: CellRange,
        values: &mut Vec<Bits>,
    ) -> Result<(), UpdateError> {
        let array = object(&program.registers, "register", register.0)?;
        let cells = self.register(register);
        let indexes = range.few_indexes(&array.name, array.size)?;
        values.extend(indexes.filter_map(|index| cells?.read(index)));
        Ok(())
    }
}

impl Configuration {
    /// Answers a question to this version and these cells.
    pub fn answer(&self, cells: &Cells, read: &Read) -> Result<Reply, UpdateError> {
        self.answer_with(Some(cells), read)
    }

    /// As `answer`; without cells, reads of them are errors.
    pub(crate) fn answer_with(
        &self,
        cells: Option<&Cells>,
        read: &Read,
    ) -> Result<Reply, UpdateError> {
        let program = &self.program;
        let cells = cells.ok_or(UpdateError::CellsAreTheDevices);
        Ok(match read {
            Read::Entries { table } => {
                let (_, state) = self.table_parts(*table)?;
                Reply::Entries(state.entries_by_age().into_iter().cloned().collect())
            }
            Read::Entry { table, keys, priority } => {
                Reply::Entries(vec![self.entry(*table, keys, *priority)?.clone()])
            }
            Read::DefaultAction { table } => {
                let default = self.table_parts(*table)?.1.default_action();
                Reply::DefaultAction {
                    action: default.action.clone(),
                    is_initial: default.is_initial,
                }
            }
            Read::EntriesWithCells { table, entry } => {
                let cells = cells?;
                let (declared, _) = self.table_parts(*table)?;
                let read = |target: EntryTarget| {
                    let entry = target.entry();
                    let counters = declared.direct_counters.iter();
                    let meters = declared.direct_meters.iter();
                    EntryWithCells {
                        counters: counters.map(|it| cells.direct_counter(*it, entry)).collect(),
                        meters: meters.map(|it| cells.direct_meter(*it, entry)).collect(),
                        last_hit_ps: entry
                            .filter(|_| declared.idle_timeout)
                            .map(|entry| cells.last_hit_ps(*table, entry)),
                        target,
                    }
                };
                Reply::EntriesWithCells(
                    self.targets(*table, entry.as_ref())?.into_iter().map(read).collect(),
                )
            }
            Read::Members { profile, member } => {
                let state = object(&self.profiles, "action profile", profile.0)?;
                let name = || program.action_profiles[profile.index()].name.clone();
                Reply::Members(one_or_all(
                    *member,
                    |member| state.member(member).cloned(),
                    state.members().map(|(member, action)| (member, action.clone())),
                    |member| UpdateError::NoSuchMember { profile: name(), member },
                )?)
            }
            Read::Groups { profile, group } => {
                let state = object(&self.profiles, "action profile", profile.0)?;
                let name = || program.action_profiles[profile.index()].name.clone();
                Reply::Groups(one_or_all(
                    *group,
                    |group| state.group(group).cloned(),
                    state.groups().map(|(group, content)| (group, content.clone())),
                    |group| UpdateError::NoSuchGroup { profile: name(), group },
                )?)
            }
            Read::ValueSet { set } => {
                Reply::ValueSet(object(&self.value_sets, "value set", set.0)?.members.clone())
            }
            Read::Register { register, cells: range } => {
                let mut values = Vec::new();
                cells?.read_register(program, *register, *range, &mut values)?;
                Reply::Registers(values)
            }
            Read::Counter { counter, cells: range } => {
                let cells = cells?;
                let size = indexed_counter(&program.counters, *counter)?;
                let name = &program.counters[counter.index()].name;
                let indexes = range.few_indexes(name, size)?;
                Reply::Counters(
                    indexes.filter_map(|index| cells.counter(*counter, index)).collect(),
                )
            }
            Read::Meter { meter, cells: range } => {
                let cells = cells?;
                let size = indexed_meter(&program.meters, *meter)?;
                let name = &program.meters[meter.index()].name;
                let indexes = range.few_indexes(name, size)?;
                Reply::Meters(indexes.map(|index| cells.meter(*meter, index)).collect())
            }
            Read::DirectCounter { counter, entry } => {
                let cells = cells?;
                let table = self.table_of_counter(*counter)?;
                let read = |target: EntryTarget| {
                    let value = cells.direct_counter(*counter, target.entry());
                    (target, value)
                };
                Reply::DirectCounters(
                    self.targets(table, entry.as_ref())?.into_iter().map(read).collect(),
                )
            }
            Read::DirectMeter { meter, entry } => {
                let cells = cells?;
                let table = self.table_of_meter(*meter)?;
                let read = |target: EntryTarget| {
                    let value = cells.direct_meter(*meter, target.entry());
                    (target, value)
                };
                Reply::DirectMeters(
                    self.targets(table, entry.as_ref())?.into_iter().map(read).collect(),
                )
            }
            Read::MulticastGroups { group } => Reply::MulticastGroups(one_or_all(
                *group,
                |group| self.multicast_group(group).cloned(),
                self.multicast_groups().map(|(group, content)| (group, content.clone())),
                |group| UpdateError::NoSuchMulticastGroup { group },
            )?),
            Read::CloneSessions { session } => Reply::CloneSessions(one_or_all(
                *session,
                |session| self.clone_session(session).cloned(),
                self.clone_sessions().map(|(session, content)| (session, content.clone())),
                |session| UpdateError::NoSuchCloneSession { session },
            )?),
            Read::Exclusions => Reply::Exclusions(self.replication.exclusions.clone()),
            Read::CrcParameters { calculation } => {
                let number = calculation.0;
                let crc = self.crc(*calculation);
                Reply::Crc(crc.ok_or(UpdateError::NoSuchCalculation { number })?.parameters())
            }
        })
    }

    pub(crate) fn table_parts(&self, table: TableId) -> Result<(&Table, &TableState), UpdateError> {
        Ok((
            object(&self.program.tables, "table", table.0)?,
            object(&self.tables, "table", table.0)?,
        ))
    }

    /// The entry with these keys, as a control plane writes them, and with this priority where the
    /// table has priorities.
    pub fn entry_handle(
        &self,
        table: TableId,
        keys: &[KeyPattern],
        priority: i64,
    ) -> Result<EntryHandle, UpdateError> {
        let (declared, state) = self.table_parts(table)?;
        let keys = canonical_keys(&declared.name, matched_keys(declared), keys)?;
        state.find(&keys, priority).ok_or_else(|| UpdateError::NoSuchEntry {
            table: declared.name.clone(),
            entry: keys_text(&keys),
        })
    }

    /// The record of the entry with these keys, and with this priority where the table has priorities: what the
    /// control plane wrote, with the keys in canonical form.
    pub fn entry(
        &self,
        table: TableId,
        keys: &[KeyPattern],
        priority: i64,
    ) -> Result<&Arc<EntryRecord>, UpdateError> {
        let handle = self.entry_handle(table, keys, priority)?;
        let (_, state) = self.table_parts(table)?;
        let missing = UpdateError::NoSuchObject { kind: "entry", index: handle.0 };
        state.record_at(handle).ok_or(missing)
    }

    /// The record of the entry that was inserted at this place with this generation.
    pub fn entry_at(
        &self,
        table: TableId,
        handle: EntryHandle,
        generation: u64,
    ) -> Result<&Arc<EntryRecord>, UpdateError> {
        let (declared, state) = self.table_parts(table)?;
        let record = state.record_at(handle).filter(|record| record.generation == generation);
        record.ok_or_else(|| UpdateError::EntryChanged {
            table: declared.name.clone(),
            place: handle.0,
            generation,
        })
    }

    /// One entry or the default action.
    pub(crate) fn target(
        &self,
        table: TableId,
        reference: &EntryReference,
    ) -> Result<EntryTarget, UpdateError> {
        match reference {
            EntryReference::Default => Ok(EntryTarget::Default),
            EntryReference::Entry { keys, priority } => {
                self.entry(table, keys, *priority).cloned().map(EntryTarget::Entry)
            }
            EntryReference::At { handle, generation } => {
                self.entry_at(table, *handle, *generation).cloned().map(EntryTarget::Entry)
            }
        }
    }

    /// One entry, or the default action and all entries.
    fn targets(
        &self,
        table: TableId,
        reference: Option<&EntryReference>,
    ) -> Result<Vec<EntryTarget>, UpdateError> {
        if let Some(reference) = reference {
            return Ok(vec![self.target(table, reference)?]);
        }
        let (_, state) = self.table_parts(table)?;
        let entries = state.entries_by_age().into_iter().cloned().map(EntryTarget::Entry);
        Ok(std::iter::once(EntryTarget::Default).chain(entries).collect())
    }

    /// The table that a direct counter is attached to.
    pub(crate) fn table_of_counter(&self, counter: CounterId) -> Result<TableId, UpdateError> {
        let declared = object(&self.program.counters, "counter", counter.0)?;
        self.table_where(|table| table.direct_counters.contains(&counter))
            .ok_or_else(|| UpdateError::IsIndexed { object: declared.name.clone() })
    }

    /// The table that a direct meter is attached to.
    pub(crate) fn table_of_meter(&self, meter: MeterId) -> Result<TableId, UpdateError> {
        let declared = object(&self.program.meters, "meter", meter.0)?;
        self.table_where(|table| table.direct_meters.contains(&meter))
            .ok_or_else(|| UpdateError::IsIndexed { object: declared.name.clone() })
    }

    fn table_where(&self, is_wanted: impl Fn(&Table) -> bool) -> Option<TableId> {
        let at = self.program.tables.iter().position(is_wanted)?;
        Some(TableId(at as u32))
    }
}

/// Size of a counter that is no direct one.
pub(crate) fn indexed_counter(
    counters: &[Counter],
    counter: CounterId,
) -> Result<u64, UpdateError> {
    let declared = object(counters, "counter", counter.0)?;
    declared.size.ok_or_else(|| UpdateError::IsDirect { object: declared.name.clone() })
}

/// Size of a meter that is no direct one.
pub(crate) fn indexed_meter(meters: &[Meter], meter: MeterId) -> Result<u64, UpdateError> {
    let declared = object(meters, "meter", meter.0)?;
    declared.size.ok_or_else(|| UpdateError::IsDirect { object: declared.name.clone() })
}

impl EntryTarget {
    /// The entry; `None` for the default action.
    pub fn entry(&self) -> Option<&EntryRecord> {
        match self {
            EntryTarget::Default => None,
            EntryTarget::Entry(entry) => Some(entry),
        }
    }
}
