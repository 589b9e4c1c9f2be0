// SPDX-License-Identifier: Apache-2.0
//! What each update does to a version in the making. Every update checks everything before it changes
//! anything. Changes of cells can be recorded so that a failed batch is undone. Action profiles and
//! cells have files of their own.

use crate::read::object;
use crate::store::initial_default;
use crate::table::TableState;
use crate::validation::{
    allowed_action, canonical_keys, check_replicas, fitting_arguments, keys_text, matched_keys,
};
use crate::{
    ActionData, BoundAction, Cells, Configuration, CrcParameters, CustomCrc, DefaultAction,
    NewEntry, Read, Reply, Update, UpdateError, ValueSetState,
};
use ir::{KeyPattern, Table, TableId, ValueSetId};
use std::sync::Arc;

mod cells;
mod profiles;

type Undo = Box<dyn FnOnce(&mut Cells)>;

/// A version in the making, and the cells that go with it.
pub(crate) struct Draft<'a> {
    configuration: &'a mut Configuration,
    cells: &'a mut Cells,
    now_ps: u64,
    /// How cells are set back, the latest change last; `None` where nobody will ask.
    undo: Option<Vec<Undo>>,
}

type Outcome = Result<Reply, UpdateError>;

impl<'a> Draft<'a> {
    /// Changes that stay.
    pub(crate) fn new(
        configuration: &'a mut Configuration,
        cells: &'a mut Cells,
        now_ps: u64,
    ) -> Draft<'a> {
        Draft { configuration, cells, now_ps, undo: None }
    }

    /// Changes that may be undone.
    pub(crate) fn recording(
        configuration: &'a mut Configuration,
        cells: &'a mut Cells,
        now_ps: u64,
    ) -> Draft<'a> {
        Draft { configuration, cells, now_ps, undo: Some(Vec::new()) }
    }

    /// Sets the cells back. The configuration is thrown away by who made it.
    pub(crate) fn undo(self) {
        for undo in self.undo.into_iter().flatten().rev() {
            undo(self.cells);
        }
    }

    pub(crate) fn answer(&self, read: &Read) -> Outcome {
        self.configuration.answer(self.cells, read)
    }

    fn remember(&mut self, undo: impl FnOnce(&mut Cells) + 'static) {
        if let Some(list) = &mut self.undo {
            list.push(Box::new(undo));
        }
    }

    pub(crate) fn apply(&mut self, update: Update) -> Outcome {
        match update {
            Update::InsertEntry { table, entry } => self.insert_entry(table, entry),
            Update::ModifyEntry { table, entry } => self.modify_entry(table, entry),
            Update::DeleteEntry { table, keys, priority } => {
                self.delete_entry(table, &keys, priority)
            }
            Update::ClearEntries { table } => self.clear_entries(table),
            Update::SetDefaultAction { table, action } => self.set_default(table, action),
            Update::InsertMember { profile, member, action } => {
                self.insert_member(profile, member, &action)
            }
            Update::ModifyMember { profile, member, action } => {
                self.modify_member(profile, member, &action)
            }
            Update::DeleteMember { profile, member } => self.delete_member(profile, member),
            Update::InsertGroup { profile, group, content } => {
                self.set_group(profile, group, content, true)
            }
            Update::ModifyGroup { profile, group, content } => {
                self.set_group(profile, group, content, false)
            }
            Update::DeleteGroup { profile, group } => self.delete_group(profile, group),
            Update::InsertValueSetMember { set, member } => {
                self.change_value_set(set, &[member], ValueSetChange::Insert)
            }
            Update::DeleteValueSetMember { set, member } => {
                self.change_value_set(set, &[member], ValueSetChange::Delete)
            }
            Update::SetValueSet { set, members } => {
                self.change_value_set(set, &members, ValueSetChange::Replace)
            }
            Update::InsertMulticastGroup { group, content } => {
                check_replicas(&content.replicas)?;
                if self.configuration.multicast_groups.contains_key(&group) {
                    return Err(UpdateError::MulticastGroupExists { group });
                }
                Arc::make_mut(&mut self.configuration.multicast_groups).insert(group, content);
                Ok(Reply::Done)
            }
            Update::ModifyMulticastGroup { group, content } => {
                check_replicas(&content.replicas)?;
                if !self.configuration.multicast_groups.contains_key(&group) {
                    return Err(UpdateError::NoSuchMulticastGroup { group });
                }
                Arc::make_mut(&mut self.configuration.multicast_groups).insert(group, content);
                Ok(Reply::Done)
            }
            Update::DeleteMulticastGroup { group } => {
                if !self.configuration.multicast_groups.contains_key(&group) {
                    return Err(UpdateError::NoSuchMulticastGroup { group });
                }
                Arc::make_mut(&mut self.configuration.multicast_groups).remove(&group);
                Ok(Reply::Done)
            }
            Update::InsertCloneSession { session, content } => {
                check_replicas(&content.replicas)?;
                if self.configuration.clone_sessions.contains_key(&session) {
                    return Err(UpdateError::CloneSessionExists { session });
                }
                Arc::make_mut(&mut self.configuration.clone_sessions).insert(session, content);
                Ok(Reply::Done)
            }
            Update::ModifyCloneSession { session, content } => {
                check_replicas(&content.replicas)?;
                if !self.configuration.clone_sessions.contains_key(&session) {
                    return Err(UpdateError::NoSuchCloneSession { session });
                }
                Arc::make_mut(&mut self.configuration.clone_sessions).insert(session, content);
                Ok(Reply::Done)
            }
            Update::DeleteCloneSession { session } => {
                if !self.configuration.clone_sessions.contains_key(&session) {
                    return Err(UpdateError::NoSuchCloneSession { session });
                }
                Arc::make_mut(&mut self.configuration.clone_sessions).remove(&session);
                Ok(Reply::Done)
            }
            Update::SetCrcParameters { crc, parameters } => self.set_crc(crc, parameters),
            cells => self.write_cells(cells),
        }
    }

    fn table(&mut self, table: TableId) -> &mut TableState {
        Arc::make_mut(&mut self.configuration.tables[table.index()])
    }

    /// The table's declaration, if the control plane may change its entries.
    fn changeable_table(&self, table: TableId) -> Result<&Table, UpdateError> {
        let (declared, _) = self.configuration.table_parts(table)?;
        if declared.const_entries {
            return Err(UpdateError::ConstEntries { table: declared.name.clone() });
        }
        Ok(declared)
    }

    fn checked_entry(&self, declared: &Table, entry: NewEntry) -> Result<NewEntry, UpdateError> {
        let keys = canonical_keys(&declared.name, matched_keys(declared), &entry.keys)?;
        let action = self.checked_action_data(declared, entry.action)?;
        if entry.idle_timeout_ns != 0 && !declared.idle_timeout {
            return Err(UpdateError::NoIdleTimeout { table: declared.name.clone() });
        }
        Ok(NewEntry { keys, action, ..entry })
    }

    fn checked_action_data(
        &self,
        table: &Table,
        data: ActionData,
    ) -> Result<ActionData, UpdateError> {
        let program = &self.configuration.program;
        let allowed = |action: &BoundAction| allowed_action(program, table, action, false);
        let Some(implementation) = table.implementation else {
            return match data {
                ActionData::Direct(action) => Ok(ActionData::Direct(allowed(&action)?)),
                _ => Err(UpdateError::NoProfile { table: table.name.clone() }),
            };
        };
        let declared = object(&program.action_profiles, "action profile", implementation.0)?;
        let state = object(&self.configuration.profiles, "action profile", implementation.0)?;
        let profile = &declared.name;
        match &data {
            ActionData::Direct(_) => Err(UpdateError::NeedsMember {
                table: table.name.clone(),
                profile: profile.clone(),
            }),
            ActionData::Member(member) => {
                let action = state.member(*member).ok_or_else(|| UpdateError::NoSuchMember {
                    profile: profile.clone(),
                    member: *member,
                })?;
                allowed(action)?;
                Ok(data)
            }
            ActionData::Group(group) => {
                if state.group(*group).is_none() {
                    return Err(UpdateError::NoSuchGroup {
                        profile: profile.clone(),
                        group: *group,
                    });
                }
                Ok(data)
            }
            ActionData::OneShot(actions) => {
                if declared.selector.is_none() {
                    return Err(UpdateError::NoSelector { profile: profile.clone() });
                }
                let mut actions = actions.clone();
                for choice in &mut actions {
                    if choice.weight == 0 {
                        return Err(UpdateError::ZeroWeight { profile: profile.clone() });
                    }
                    choice.action = allowed(&choice.action)?;
                }
                Ok(ActionData::OneShot(actions))
            }
        }
    }

    /// Counts an entry's use of its member or group up or down.
    fn count_use(&mut self, table: TableId, data: &ActionData, is_added: bool) {
        let implementation = self
            .configuration
            .program
            .tables
            .get(table.index())
            .and_then(|table| table.implementation);
        let Some(profile) =
            implementation.and_then(|profile| self.configuration.profiles.get_mut(profile.index()))
        else {
            return;
        };
        let uses = match data {
            ActionData::Member(member) => {
                Arc::make_mut(profile).member_uses.entry(*member).or_default()
            }
            ActionData::Group(group) => {
                Arc::make_mut(profile).group_uses.entry(*group).or_default()
            }
            ActionData::Direct(_) | ActionData::OneShot(_) => return,
        };
        *uses = if is_added { *uses + 1 } else { uses.saturating_sub(1) };
    }

    fn insert_entry(&mut self, table: TableId, entry: NewEntry) -> Outcome {
        let declared = self.changeable_table(table)?;
        let entry = self.checked_entry(declared, entry)?;
        let (_, state) = self.configuration.table_parts(table)?;
        if state.find(&entry.keys, entry.priority).is_some() {
            return Err(UpdateError::EntryExists {
                table: declared.name.clone(),
                entry: keys_text(&entry.keys),
            });
        }
        // A declared size of 0 says nothing, as no size does.
        if let Some(size) = declared.size.filter(|&size| size != 0)
            && state.len() as u64 >= size
        {
            return Err(UpdateError::TableFull { table: declared.name.clone(), size });
        }
        self.count_use(table, &entry.action, true);
        let generation = self.configuration.next_generation;
        self.configuration.next_generation += 1;
        let now_ps = self.now_ps;
        Ok(Reply::Inserted(self.table(table).insert(entry, generation, now_ps, None)))
    }

    fn modify_entry(&mut self, table: TableId, entry: NewEntry) -> Outcome {
        let declared = self.changeable_table(table)?;
        let entry = self.checked_entry(declared, entry)?;
        let handle = self.configuration.entry_handle(table, &entry.keys, entry.priority)?;
        self.count_use(table, &entry.action, true);
        if let Some(before) = self.table(table).modify(handle, entry) {
            self.count_use(table, &before, false);
        }
        Ok(Reply::Done)
    }

    fn delete_entry(&mut self, table: TableId, keys: &[KeyPattern], priority: i64) -> Outcome {
        self.changeable_table(table)?;
        let handle = self.configuration.entry_handle(table, keys, priority)?;
        if let Some(entry) = self.table(table).remove(handle) {
            self.count_use(table, &entry.action, false);
        }
        Ok(Reply::Done)
    }

    fn clear_entries(&mut self, table: TableId) -> Outcome {
        self.changeable_table(table)?;
        let (_, state) = self.configuration.table_parts(table)?;
        let handles: Vec<_> = state.entries().map(|entry| entry.handle).collect();
        for handle in handles {
            if let Some(entry) = self.table(table).remove(handle) {
                self.count_use(table, &entry.action, false);
            }
        }
        Ok(Reply::Done)
    }

    fn set_default(&mut self, table: TableId, action: Option<BoundAction>) -> Outcome {
        let (declared, state) = self.configuration.table_parts(table)?;
        if declared.const_default_action {
            return Err(UpdateError::ConstDefaultAction { table: declared.name.clone() });
        }
        let default = match action {
            None => {
                let mut default = initial_default(declared)?;
                default.action = fitting_arguments(&self.configuration.program, &default.action)?;
                default
            }
            Some(action) => {
                let action = allowed_action(&self.configuration.program, declared, &action, true)?;
                let action_index = state.action_index(action.action).unwrap_or_default();
                DefaultAction { action, action_index, is_initial: false }
            }
        };
        self.table(table).set_default(default);
        Ok(Reply::Done)
    }

    fn change_value_set(
        &mut self,
        set: ValueSetId,
        members: &[Vec<KeyPattern>],
        change: ValueSetChange,
    ) -> Outcome {
        let declared = object(&self.configuration.program.value_sets, "value set", set.0)?;
        let state = object(&self.configuration.value_sets, "value set", set.0)?;
        let mut next = match change {
            ValueSetChange::Replace => Vec::new(),
            ValueSetChange::Insert | ValueSetChange::Delete => state.members.clone(),
        };
        for member in members {
            let member = canonical_keys(&declared.name, declared.components.iter(), member)?;
            let at = next.iter().position(|other| *other == member);
            match (change, at) {
                (ValueSetChange::Delete, Some(at)) => {
                    next.remove(at);
                }
                (ValueSetChange::Delete, None) => {
                    return Err(UpdateError::NoSuchValueSetMember {
                        set: declared.name.clone(),
                        member: keys_text(&member),
                    });
                }
                (_, Some(_)) => {
                    return Err(UpdateError::ValueSetMemberExists {
                        set: declared.name.clone(),
                        member: keys_text(&member),
                    });
                }
                (_, None) if next.len() as u64 >= declared.size => {
                    return Err(UpdateError::ValueSetFull {
                        set: declared.name.clone(),
                        size: declared.size,
                    });
                }
                (_, None) => next.push(member),
            }
        }
        self.configuration.value_sets[set.index()] = Arc::new(ValueSetState { members: next });
        Ok(Reply::Done)
    }

    fn set_crc(&mut self, crc: CustomCrc, parameters: Option<CrcParameters>) -> Outcome {
        let width_bits = crc.width_bits();
        if let Some(given) = parameters {
            let fits = |value: u32| width_bits == 32 || value >> width_bits == 0;
            if ![given.polynomial, given.initial, given.final_xor].into_iter().all(fits) {
                return Err(UpdateError::CrcParametersTooWide { width_bits });
            }
        }
        match crc {
            CustomCrc::Crc16 => {
                self.configuration.crc16 = parameters.unwrap_or(CrcParameters::CRC16);
            }
            CustomCrc::Crc32 => {
                self.configuration.crc32 = parameters.unwrap_or(CrcParameters::CRC32);
            }
        }
        Ok(Reply::Done)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueSetChange {
    Insert,
    Delete,
    Replace,
}
