// SPDX-License-Identifier: Apache-2.0
//! Requests of a portion: what each item becomes below, and what is refused because it belongs to another.

use super::Inner;
use super::claims::{CellArray, Object, entry_name};
use super::portion::{After, Portion};
use crate::target::{Fault, Item};
use ir::{KeyPattern, Program, TableId, ValueSetId};
use state::{BatchItem, CellRange, EntryHandle, EntryReference, Read, Update, UpdateError};
use std::sync::Arc;

impl Portion {
    /// The items below of one item here, and what to do with their results. A refused item leaves nothing.
    pub(super) fn items(
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
            BatchItem::Update(
                update @ (Update::InsertValueSetMember { .. }
                | Update::DeleteValueSetMember { .. }
                | Update::SetValueSet { .. }),
            ) => {
                let (update, after) = self.value_set_update(inner, &program, update)?;
                one(items, update.into(), after)
            }
            BatchItem::Update(Update::SetCrcParameters { calculation, parameters }) => {
                let object = Object::Calculation(calculation);
                if inner.claims.is_foreign(&object, self.number) {
                    let name = program.calculations.get(calculation.index());
                    let name = name.map_or("?", |calculation| &calculation.name);
                    return Err(Fault::Unsupported(format!(
                        "the parameters of calculation `{name}` belong to another controller"
                    )));
                }
                let is_set = parameters.is_some();
                inner.claims.claim(object.clone(), self.number, is_set);
                let after = if is_set { After::Own(object) } else { After::Disown(object) };
                one(items, Update::SetCrcParameters { calculation, parameters }.into(), after)
            }
            BatchItem::Update(update) => {
                self.check_numbers(&update)?;
                self.check_references(inner, &update)?;
                self.check_cells(inner, &program, update_cells(&update))?;
                one(items, update.into(), After::Keep)
            }
            BatchItem::Read(Read::Entry { table, keys, priority }) => {
                self.check_entry(inner, table, &keys, priority)?;
                one(items, Read::Entry { table, keys, priority }.into(), After::Keep)
            }
            BatchItem::Read(Read::ValueSet { set }) => {
                one(items, Read::ValueSet { set }.into(), After::FilterMembers(set))
            }
            BatchItem::Read(read) => {
                self.check_read(inner, &read)?;
                self.check_cells(inner, &program, read_cells(&read))?;
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

    /// An update of a value set: its members are owned like entries.
    fn value_set_update(
        &self,
        inner: &mut Inner,
        program: &Program,
        update: Update,
    ) -> Result<(Update, After), Fault> {
        let declared = |set: ValueSetId| program.value_sets.get(set.index());
        // Members that do not fit stay as they are, to be refused.
        let canonical = |set: ValueSetId, member: &[KeyPattern]| {
            let member_of = |declared| state::value_set_member(declared, member).ok();
            declared(set).and_then(member_of).unwrap_or_else(|| member.to_vec())
        };
        let name = |set| declared(set).map_or_else(|| "?".into(), |set| set.name.clone());
        match &update {
            Update::InsertValueSetMember { set, member } => {
                let object = Object::ValueSetMember(*set, canonical(*set, member));
                if inner.claims.is_foreign(&object, self.number) {
                    let (set, member) = (name(*set), keys_text(member));
                    return Err(UpdateError::ValueSetMemberExists { set, member }.into());
                }
                inner.claims.claim(object.clone(), self.number, true);
                Ok((update, After::Own(object)))
            }
            Update::DeleteValueSetMember { set, member } => {
                let object = Object::ValueSetMember(*set, canonical(*set, member));
                if inner.claims.owner(&object) != Some(self.number) {
                    let (set, member) = (name(*set), keys_text(member));
                    return Err(UpdateError::NoSuchValueSetMember { set, member }.into());
                }
                inner.claims.claim(object.clone(), self.number, false);
                Ok((update, After::Disown(object)))
            }
            Update::SetValueSet { set, members } => {
                let wanted: Vec<Vec<KeyPattern>> =
                    members.iter().map(|member| canonical(*set, member)).collect();
                let (mut own, mut all) = (Vec::new(), Vec::new());
                for (member, owner) in inner.claims.members_to_be(*set) {
                    match owner == Some(self.number) {
                        true => own.push(member),
                        false => all.push(member),
                    }
                }
                if let Some(member) = wanted.iter().find(|member| all.contains(member)) {
                    let (set, member) = (name(*set), keys_text(member));
                    return Err(UpdateError::ValueSetMemberExists { set, member }.into());
                }
                let object =
                    |member: &Vec<KeyPattern>| Object::ValueSetMember(*set, member.clone());
                let gone = own.iter().filter(|member| !wanted.contains(member));
                let gone: Vec<Object> = gone.map(object).collect();
                let mut there: Vec<Object> = Vec::new();
                for member in &wanted {
                    // One that is named twice is refused below.
                    if !there.contains(&object(member)) {
                        there.push(object(member));
                    }
                }
                let claim = |inner: &mut Inner, list: &[Object], will_be_there| {
                    for object in list {
                        inner.claims.claim(object.clone(), self.number, will_be_there);
                    }
                };
                claim(inner, &gone, false);
                claim(inner, &there, true);
                all.extend(wanted);
                let update = Update::SetValueSet { set: *set, members: all };
                Ok((update, After::Replace { there, gone }))
            }
            _ => Ok((update, After::Keep)),
        }
    }

    /// Whether cells are this portion's, where their array is divided.
    fn check_cells(
        &self,
        inner: &Inner,
        program: &Program,
        cells: Option<(CellArray, CellRange)>,
    ) -> Result<(), Fault> {
        let Some((array, cells)) = cells else { return Ok(()) };
        let Some(shares) = inner.division.get(&array) else { return Ok(()) };
        let (name, size) = match array {
            CellArray::Register(id) => {
                program.registers.get(id.index()).map(|array| (&array.name, array.size))
            }
            CellArray::Counter(id) => { program.counters.get(id.index()) }
                .map(|array| (&array.name, array.size.unwrap_or(0))),
            CellArray::Meter(id) => { program.meters.get(id.index()) }
                .map(|array| (&array.name, array.size.unwrap_or(0))),
        }
        .unzip();
        let size = size.unwrap_or(0);
        let end = cells.count.map_or(size, |count| cells.first.saturating_add(count));
        let own = || shares.iter().filter(|(portion, _)| *portion == self.number);
        // What is outside the array is refused below, in its words.
        let is_own = own().any(|(_, range)| range.start <= cells.first && end <= range.end);
        if is_own || end > size || cells.first >= end {
            return Ok(());
        }
        let own: Vec<String> = own()
            .map(|(_, range)| format!("{} to {}", range.start, range.end.saturating_sub(1)))
            .collect();
        let own = if own.is_empty() { "none".to_string() } else { own.join(", ") };
        let name = name.map_or("?", |name| name);
        Err(Fault::Unsupported(format!(
            "`{name}`: of its cells this controller has {own}; name cells of its own only"
        )))
    }
}

fn update_cells(update: &Update) -> Option<(CellArray, CellRange)> {
    match update {
        Update::WriteRegister { register, cells, .. } => {
            Some((CellArray::Register(*register), *cells))
        }
        Update::WriteCounter { counter, cells, .. } => Some((CellArray::Counter(*counter), *cells)),
        Update::WriteMeter { meter, cells, .. } => Some((CellArray::Meter(*meter), *cells)),
        _ => None,
    }
}

fn read_cells(read: &Read) -> Option<(CellArray, CellRange)> {
    match read {
        Read::Register { register, cells } => Some((CellArray::Register(*register), *cells)),
        Read::Counter { counter, cells } => Some((CellArray::Counter(*counter), *cells)),
        Read::Meter { meter, cells } => Some((CellArray::Meter(*meter), *cells)),
        _ => None,
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
