// SPDX-License-Identifier: Apache-2.0
//! Whether a configuration accepts an update of an entry or a default action, and in which form: keys in canonical form,
//! arguments of the declared widths, entries with everything that they hold afterwards. `draft` applies what is accepted.

use crate::initial::initial_default;
use crate::read::object;
use crate::validation::{
    allowed_action, canonical_keys, fitting_arguments, keys_text, matched_keys,
};
use crate::{
    ActionData, BoundAction, Configuration, DefaultAction, EntryHandle, EntryRecord, NewEntry,
    Update, UpdateError,
};
use ir::{Table, TableId};
use std::sync::Arc;

impl Configuration {
    /// Returns an update of an entry or a default action in the form in which it would be applied, or the error that it would
    /// have; `None` for other updates. Updates that name an entry by its place come back with its keys.
    pub fn accepted(&self, update: &Update) -> Option<Result<Update, UpdateError>> {
        Some(match update {
            Update::InsertEntry { table, entry } => self
                .insertable(*table, entry.clone())
                .map(|entry| Update::InsertEntry { table: *table, entry }),
            Update::ModifyEntry { table, entry } => {
                self.modified(*table, entry.clone()).map(|(_, after)| modification(*table, &after))
            }
            Update::ModifyEntryAt { table, handle, generation, action } => self
                .modified_at(*table, *handle, *generation, action.clone())
                .map(|(_, after)| modification(*table, &after)),
            Update::DeleteEntry { table, keys, priority } => self
                .changeable_table(*table)
                .and_then(|_| self.entry(*table, keys, *priority))
                .map(|record| deletion(*table, record)),
            Update::DeleteEntryAt { table, handle, generation } => self
                .changeable_table(*table)
                .and_then(|_| self.entry_at(*table, *handle, *generation))
                .map(|record| deletion(*table, record)),
            Update::SetDefaultAction { table, action } => {
                let is_initial = action.is_none();
                self.new_default(*table, action.clone()).map(|default| Update::SetDefaultAction {
                    table: *table,
                    action: (!is_initial).then_some(default.action),
                })
            }
            _ => return None,
        })
    }

    /// Returns the table's declaration, if the control plane may change its entries.
    pub(crate) fn changeable_table(&self, table: TableId) -> Result<&Table, UpdateError> {
        let (declared, _) = self.table_parts(table)?;
        if declared.const_entries {
            return Err(UpdateError::ConstEntries { table: declared.name.clone() });
        }
        Ok(declared)
    }

    /// A new entry as the table holds it.
    pub(crate) fn insertable(
        &self,
        table: TableId,
        entry: NewEntry,
    ) -> Result<NewEntry, UpdateError> {
        let declared = self.changeable_table(table)?;
        let entry = self.checked_entry(declared, entry)?;
        let (_, state) = self.table_parts(table)?;
        if state.find(&entry.keys, entry.priority).is_some() {
            return Err(UpdateError::EntryExists {
                table: declared.name.clone(),
                entry: keys_text(&entry.keys),
            });
        }
        // A declared size of 0 is no limit.
        if let Some(size) = declared.size.filter(|&size| size != 0)
            && state.len() as u64 >= size
        {
            return Err(UpdateError::TableFull { table: declared.name.clone(), size });
        }
        Ok(entry)
    }

    /// The record of an entry before and after a modification.
    pub(crate) fn modified(
        &self,
        table: TableId,
        entry: NewEntry,
    ) -> Result<(&Arc<EntryRecord>, EntryRecord), UpdateError> {
        let declared = self.changeable_table(table)?;
        let entry = self.checked_entry(declared, entry)?;
        let (_, state) = self.table_parts(table)?;
        let found = state.find(&entry.keys, entry.priority);
        let before = found.and_then(|handle| state.record_at(handle)).ok_or_else(|| {
            UpdateError::NoSuchEntry { table: declared.name.clone(), entry: keys_text(&entry.keys) }
        })?;
        let after = EntryRecord {
            handle: before.handle,
            generation: before.generation,
            priority: before.priority,
            inserted_ps: before.inserted_ps,
            origin: before.origin,
            keys: entry.keys,
            action: entry.action,
            idle_timeout_ns: entry.idle_timeout_ns,
            metadata: entry.metadata,
            cookie: entry.cookie,
        };
        Ok((before, after))
    }

    /// As [`Configuration::modified`], of the entry at a place.
    pub(crate) fn modified_at(
        &self,
        table: TableId,
        handle: EntryHandle,
        generation: u64,
        action: ActionData,
    ) -> Result<(&Arc<EntryRecord>, EntryRecord), UpdateError> {
        let declared = self.changeable_table(table)?;
        let before = self.entry_at(table, handle, generation)?;
        let action = self.checked_action_data(declared, action)?;
        Ok((before, EntryRecord { action, ..EntryRecord::clone(before) }))
    }

    /// A default action as the table holds it; `None` is that of the program.
    pub(crate) fn new_default(
        &self,
        table: TableId,
        action: Option<BoundAction>,
    ) -> Result<DefaultAction, UpdateError> {
        let (declared, state) = self.table_parts(table)?;
        if declared.const_default_action {
            return Err(UpdateError::ConstDefaultAction { table: declared.name.clone() });
        }
        Ok(match action {
            None => {
                let mut default = initial_default(declared)?;
                default.action = fitting_arguments(&self.program, &default.action)?;
                default
            }
            Some(action) => {
                let action = allowed_action(&self.program, declared, &action, true)?;
                let action_index = state.action_index(action.action).unwrap_or_default();
                DefaultAction { action, action_index, is_initial: false }
            }
        })
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
        let program = &self.program;
        let allowed = |action: &BoundAction| allowed_action(program, table, action, false);
        let Some(implementation) = table.implementation else {
            return match data {
                ActionData::Direct(action) => Ok(ActionData::Direct(allowed(&action)?)),
                _ => Err(UpdateError::NoProfile { table: table.name.clone() }),
            };
        };
        let declared = object(&program.action_profiles, "action profile", implementation.0)?;
        let state = object(&self.profiles, "action profile", implementation.0)?;
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
}

fn modification(table: TableId, after: &EntryRecord) -> Update {
    Update::ModifyEntry { table, entry: after.to_new_entry() }
}

fn deletion(table: TableId, record: &EntryRecord) -> Update {
    let (keys, priority) = (record.keys.clone(), record.priority);
    Update::DeleteEntry { table, keys, priority }
}
