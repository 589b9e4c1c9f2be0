// SPDX-License-Identifier: Apache-2.0
//! `Draft`: applies the updates of a batch to a new version. Every update checks everything before it changes
//! anything (`acceptance`). The draft records changes to undo a failed batch, or to replay a successful one on the forwarding side.
//! Updates of action profiles, replication and cells are in files below.

use crate::change::Change;
use crate::read::object;
use crate::table::TableState;
use crate::validation::{canonical_keys, keys_text};
use crate::{
    ActionData, BatchItem, BatchOutcome, BoundAction, Cells, Configuration, EntryHandle,
    EntryRecord, NewEntry, Reply, Update, UpdateError, ValueSetState,
};
use ir::{KeyPattern, TableId, ValueSetId};
use std::sync::Arc;

mod cells;
mod profiles;
mod replication;

type Undo = Box<dyn FnOnce(&mut Cells)>;

/// A new version under construction, and the cells of the batch.
pub(crate) struct Draft<'a> {
    configuration: &'a mut Configuration,
    /// `None` for batches of configuration only.
    cells: Option<&'a mut Cells>,
    now_ps: u64,
    /// Changes of the configuration in order; `None` if they are not recorded.
    changes: Option<Vec<Change>>,
    /// Undo functions of changed cells in order; `None` if they are not recorded.
    undo: Option<Vec<Undo>>,
    /// The next generation before the first change.
    next_generation: u64,
    /// Whether an update of the configuration succeeded.
    is_changed: bool,
}

type Outcome = Result<Reply, UpdateError>;

impl<'a> Draft<'a> {
    /// Begins a draft. `logs` records changes of the configuration, `may_undo` those of cells too.
    pub(crate) fn new(
        configuration: &'a mut Configuration,
        cells: Option<&'a mut Cells>,
        now_ps: u64,
        logs: bool,
        may_undo: bool,
    ) -> Draft<'a> {
        Draft {
            next_generation: configuration.next_generation,
            configuration,
            cells,
            now_ps,
            changes: (logs || may_undo).then(Vec::new),
            undo: may_undo.then(Vec::new),
            is_changed: false,
        }
    }

    /// Applies items in order. If `stops` is set, the first error ends the batch with the outcome `rolled_back`, and
    /// the caller undoes the draft.
    pub(crate) fn apply_items(&mut self, items: Vec<BatchItem>, stops: bool) -> BatchOutcome {
        let count = items.len();
        let mut results = Vec::with_capacity(count);
        for (at, item) in items.into_iter().enumerate() {
            let result = match item {
                BatchItem::Read(read) => {
                    self.configuration.answer_with(self.cells.as_deref(), &read)
                }
                BatchItem::Update(update) => self.apply(update),
            };
            if stops && result.is_err() {
                let mut results = vec![Err(UpdateError::Aborted); count];
                results[at] = result;
                return BatchOutcome { results, rolled_back: true };
            }
            results.push(result);
        }
        BatchOutcome { results, rolled_back: false }
    }

    /// Undoes all changes.
    pub(crate) fn undo(self) {
        for change in self.changes.into_iter().flatten().rev() {
            self.configuration.undo(change);
        }
        self.configuration.next_generation = self.next_generation;
        if let Some(cells) = self.cells {
            for undo in self.undo.into_iter().flatten().rev() {
                undo(cells);
            }
        }
    }

    /// Ends a successful batch. Returns the recorded changes of the configuration, and whether there are any.
    pub(crate) fn finish(self) -> (Vec<Change>, bool) {
        if self.is_changed {
            self.configuration.advance();
        }
        (self.changes.unwrap_or_default(), self.is_changed)
    }

    fn logs(&self) -> bool {
        self.changes.is_some()
    }

    fn log(&mut self, change: Change) {
        if let Some(list) = &mut self.changes {
            list.push(change);
        }
    }

    fn apply(&mut self, update: Update) -> Outcome {
        let touches_cells = update.touches_cells();
        let result = self.try_apply(update);
        self.is_changed |= result.is_ok() && !touches_cells;
        result
    }

    fn try_apply(&mut self, update: Update) -> Outcome {
        match update {
            Update::InsertEntry { table, entry } => self.insert_entry(table, entry),
            Update::ModifyEntry { table, entry } => self.modify_entry(table, entry),
            Update::DeleteEntry { table, keys, priority } => {
                self.delete_entry(table, &keys, priority)
            }
            Update::ModifyEntryAt { table, handle, generation, action } => {
                self.modify_entry_at(table, handle, generation, action)
            }
            Update::DeleteEntryAt { table, handle, generation } => {
                self.delete_entry_at(table, handle, generation)
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
                self.set_multicast_group(group, content, true)
            }
            Update::ModifyMulticastGroup { group, content } => {
                self.set_multicast_group(group, content, false)
            }
            Update::DeleteMulticastGroup { group } => self.delete_multicast_group(group),
            Update::InsertCloneSession { session, content } => {
                self.set_clone_session(session, content, true)
            }
            Update::ModifyCloneSession { session, content } => {
                self.set_clone_session(session, content, false)
            }
            Update::DeleteCloneSession { session } => self.delete_clone_session(session),
            Update::SetNodeExclusion { instance, exclusion } => {
                Ok(self.set_node_exclusion(instance, exclusion))
            }
            Update::SetPortExclusion { exclusion, ports } => {
                Ok(self.set_port_exclusion(exclusion, ports))
            }
            Update::SetCrcParameters { calculation, parameters } => {
                self.set_crc(calculation, parameters)
            }
            cells => self.write_cells(cells),
        }
    }

    fn table(&mut self, table: TableId) -> &mut TableState {
        Arc::make_mut(&mut self.configuration.tables[table.index()])
    }

    fn insert_entry(&mut self, table: TableId, entry: NewEntry) -> Outcome {
        let entry = self.configuration.insertable(table, entry)?;
        self.configuration.count_use(table, &entry.action, true);
        let generation = self.configuration.next_generation;
        self.configuration.next_generation += 1;
        let now_ps = self.now_ps;
        let after = self.table(table).insert(entry, generation, now_ps, None);
        let handle = after.handle;
        self.log(Change::Entry { table, before: None, after: Some(after) });
        Ok(Reply::Inserted(handle))
    }

    fn modify_entry(&mut self, table: TableId, entry: NewEntry) -> Outcome {
        let (before, after) = self.configuration.modified(table, entry)?;
        let before = before.clone();
        self.replace_entry(table, before, after);
        Ok(Reply::Done)
    }

    fn modify_entry_at(
        &mut self,
        table: TableId,
        handle: EntryHandle,
        generation: u64,
        action: ActionData,
    ) -> Outcome {
        let (before, after) = self.configuration.modified_at(table, handle, generation, action)?;
        let before = before.clone();
        self.replace_entry(table, before, after);
        Ok(Reply::Done)
    }

    /// Replaces a record by one with the same keys, priority, place and generation.
    fn replace_entry(&mut self, table: TableId, before: Arc<EntryRecord>, after: EntryRecord) {
        let after = Arc::new(after);
        self.configuration.count_use(table, &after.action, true);
        self.table(table).replace(after.clone());
        self.configuration.count_use(table, &before.action, false);
        self.log(Change::Entry { table, before: Some(before), after: Some(after) });
    }

    fn delete_entry(&mut self, table: TableId, keys: &[KeyPattern], priority: i64) -> Outcome {
        self.configuration.changeable_table(table)?;
        let handle = self.configuration.entry_handle(table, keys, priority)?;
        self.remove_entry(table, handle);
        Ok(Reply::Done)
    }

    fn delete_entry_at(&mut self, table: TableId, handle: EntryHandle, generation: u64) -> Outcome {
        self.configuration.changeable_table(table)?;
        self.configuration.entry_at(table, handle, generation)?;
        self.remove_entry(table, handle);
        Ok(Reply::Done)
    }

    fn remove_entry(&mut self, table: TableId, handle: EntryHandle) {
        if let Some(before) = self.table(table).remove(handle) {
            self.configuration.count_use(table, &before.action, false);
            self.log(Change::Entry { table, before: Some(before), after: None });
        }
    }

    fn clear_entries(&mut self, table: TableId) -> Outcome {
        self.configuration.changeable_table(table)?;
        let (_, state) = self.configuration.table_parts(table)?;
        let entries: Vec<_> = state.entries().cloned().collect();
        for entry in &entries {
            self.table(table).remove(entry.handle);
            self.configuration.count_use(table, &entry.action, false);
        }
        self.log(Change::Cleared { table, entries });
        Ok(Reply::Done)
    }

    fn set_default(&mut self, table: TableId, action: Option<BoundAction>) -> Outcome {
        let default = self.configuration.new_default(table, action)?;
        if self.logs() {
            let (_, state) = self.configuration.table_parts(table)?;
            let before = state.default_action().clone();
            self.log(Change::Default { table, before, after: default.clone() });
        }
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
        let after = Arc::new(ValueSetState { members: next });
        let place = &mut self.configuration.value_sets[set.index()];
        let before = std::mem::replace(place, after.clone());
        self.log(Change::ValueSet { set, before, after });
        Ok(Reply::Done)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueSetChange {
    Insert,
    Delete,
    Replace,
}
