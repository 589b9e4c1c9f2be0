// SPDX-License-Identifier: Apache-2.0
//! Maps that give an entry as written several rows as run: counters are summed over them, the latest hit counts,
//! and an entry has idled when all its rows have. Each kind of map decides which rows an entry has.

use super::Form;
use super::ids::{Ids, physical, table_of_counter};
use control::map::{
    EntryName, IdleEntries, Physical, RowPriorities, SharedRows, TargetIndex, Translation,
};
use control::target::{Batch, Fault, Notification, Outcome};
use ir::{CounterId, KeyPattern, Program, TableId};
use state::{Configuration, CounterValue, EntryReference, NewEntry, Read, Reply, Update};
use std::sync::Arc;

/// A row of a program as run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub table: TableId,
    pub keys: Vec<KeyPattern>,
    pub phase: u8,
}

/// Which rows entries have.
pub trait Rows: Send {
    /// The rows of an entry; `None` where its table is carried as it is.
    fn rows(&self, table: TableId, keys: &[KeyPattern]) -> Option<Vec<Row>>;

    /// The tables whose default actions are that of a table; `None` where its table is carried as it is.
    fn defaults(&self, table: TableId) -> Option<Vec<TableId>>;

    /// As [`Translation::complete`].
    fn complete(&mut self, _: bool) -> Vec<Physical> {
        Vec::new()
    }

    /// As [`Translation::barrier_before`].
    fn barrier_before(&self, _phase: u8) -> Vec<TargetIndex> {
        Vec::new()
    }
}

/// Every table is carried as it is.
pub struct NoRows;

impl Rows for NoRows {
    fn rows(&self, _: TableId, _: &[KeyPattern]) -> Option<Vec<Row>> {
        None
    }

    fn defaults(&self, _: TableId) -> Option<Vec<TableId>> {
        None
    }
}

/// What is done about rows of different entries that would be the same.
#[derive(Clone, Debug)]
pub enum Coinciding {
    /// There are none.
    Never,
    /// They have priorities of their own.
    Apart(RowPriorities),
    /// One row stands for all; it has no priority.
    Shared(SharedRows),
}

/// The translation by rows.
pub struct ByRows<R> {
    pub ids: Ids,
    pub rows: R,
    pub coinciding: Coinciding,
    /// What of the rows' cells is forgotten, to see that it is noticed.
    pub sums: Form,
    pub idle: IdleEntries,
}

/// How an entry is stored below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Insert,
    /// Its removal is undone.
    Restore,
    Modify,
}

impl<R: Rows> ByRows<R> {
    pub fn new(ids: Ids, rows: R) -> ByRows<R> {
        let coinciding = Coinciding::Never;
        ByRows { ids, rows, coinciding, sums: Form::Right, idle: IdleEntries::default() }
    }

    /// The priority of the rows of an entry that is there.
    fn priority(&self, table: TableId, keys: &[KeyPattern], priority: i64) -> i64 {
        match &self.coinciding {
            Coinciding::Never => priority,
            Coinciding::Apart(rows) => {
                rows.of(&(table, keys.to_vec(), priority)).unwrap_or(priority)
            }
            Coinciding::Shared(_) => 0,
        }
    }

    /// Inserts or modifies an entry that has rows.
    fn put(
        &mut self,
        table: TableId,
        entry: &NewEntry,
        list: Vec<Row>,
        change: Change,
    ) -> Result<Vec<Physical>, Fault> {
        let name: EntryName = (table, entry.keys.clone(), entry.priority);
        let priority = match (&mut self.coinciding, change) {
            (Coinciding::Apart(rows), Change::Insert) => rows.insert(name.clone())?,
            (Coinciding::Apart(rows), Change::Restore) => rows.restore(name.clone())?,
            _ => self.priority(table, &entry.keys, entry.priority),
        };
        let entry = self.ids.entry(entry);
        let mut items = Vec::new();
        for Row { table, keys, phase } in list {
            let entry = NewEntry { keys, priority, ..entry.clone() };
            let update = match (&mut self.coinciding, change) {
                (Coinciding::Shared(rows), Change::Insert) => {
                    rows.insert(table, name.clone(), entry)
                }
                (Coinciding::Shared(rows), Change::Restore) => {
                    rows.restore(table, name.clone(), entry)
                }
                (Coinciding::Shared(rows), Change::Modify) => rows.modify(table, &name, entry),
                (_, Change::Modify) => Some(Update::ModifyEntry { table, entry }),
                _ => Some(Update::InsertEntry { table, entry }),
            };
            items.extend(update.map(|update| physical(update).in_phase(phase)));
        }
        Ok(items)
    }

    /// Deletes an entry that has rows.
    fn delete(
        &mut self,
        table: TableId,
        keys: &[KeyPattern],
        priority: i64,
        list: Vec<Row>,
    ) -> Vec<Physical> {
        let name: EntryName = (table, keys.to_vec(), priority);
        let priority = match &mut self.coinciding {
            Coinciding::Apart(rows) => rows.remove(&name).unwrap_or(priority),
            _ => self.priority(table, keys, priority),
        };
        let mut items = Vec::new();
        for Row { table, keys, phase } in list {
            let update = match &mut self.coinciding {
                Coinciding::Shared(rows) => match rows.remove(table, &name, keys, priority) {
                    // The next owner is forgotten.
                    Some(Update::ModifyEntry { .. }) if self.sums == Form::Broken => None,
                    update => update,
                },
                _ => Some(Update::DeleteEntry { table, keys, priority }),
            };
            items.extend(update.map(|update| physical(update).in_phase(phase)));
        }
        items
    }

    fn change(&mut self, update: &Update, is_undone: bool) -> Result<Vec<Physical>, Fault> {
        let insert = if is_undone { Change::Restore } else { Change::Insert };
        match update {
            Update::InsertEntry { table, entry } => match self.rows.rows(*table, &entry.keys) {
                Some(list) => self.put(*table, entry, list, insert),
                None => Ok(vec![physical(self.ids.update(update)?)]),
            },
            Update::ModifyEntry { table, entry } => match self.rows.rows(*table, &entry.keys) {
                Some(list) => self.put(*table, entry, list, Change::Modify),
                None => Ok(vec![physical(self.ids.update(update)?)]),
            },
            Update::DeleteEntry { table, keys, priority } => match self.rows.rows(*table, keys) {
                Some(list) => Ok(self.delete(*table, keys, *priority, list)),
                None => Ok(vec![physical(self.ids.update(update)?)]),
            },
            Update::SetDefaultAction { table, action } => {
                let Some(tables) = self.rows.defaults(*table) else {
                    return Ok(vec![physical(self.ids.update(update)?)]);
                };
                let action = action.as_ref().map(|action| self.ids.action(action));
                let set =
                    |table| physical(Update::SetDefaultAction { table, action: action.clone() });
                Ok(tables.into_iter().map(set).collect())
            }
            Update::WriteDirectCounter { counter, entry, value } => {
                let table = table_of_counter(&self.ids.written, *counter).ok_or(Fault::Gone)?;
                let Some(references) = self.references(table, entry) else {
                    return Ok(vec![physical(self.ids.update(update)?)]);
                };
                let mut value = Some(*value);
                let write = |(below, entry, phase)| {
                    // The first row has it all.
                    let value = value.take().unwrap_or_default();
                    let counter = self.counter_of(*counter, table, below);
                    let update = Update::WriteDirectCounter { counter, entry, value };
                    physical(update).in_phase(phase)
                };
                Ok(references.into_iter().map(write).collect())
            }
            _ => Ok(vec![physical(self.ids.update(update)?)]),
        }
    }

    /// The entries as run of one as written, or of the default action.
    fn references(
        &self,
        table: TableId,
        entry: &EntryReference,
    ) -> Option<Vec<(TableId, EntryReference, u8)>> {
        match entry {
            EntryReference::Entry { keys, priority } => {
                let priority = self.priority(table, keys, *priority);
                let reference = |row: Row| {
                    let entry = EntryReference::Entry { keys: row.keys, priority };
                    (row.table, entry, row.phase)
                };
                Some(self.rows.rows(table, keys)?.into_iter().map(reference).collect())
            }
            EntryReference::Default => {
                let reference = |table| (table, EntryReference::Default, 0);
                Some(self.rows.defaults(table)?.into_iter().map(reference).collect())
            }
            EntryReference::At { .. } => None,
        }
    }

    fn counter_of(&self, counter: CounterId, table: TableId, below: TableId) -> CounterId {
        let list = &self.ids.written.tables[table.index()].direct_counters;
        let at = list.iter().position(|other| *other == counter).unwrap_or(0);
        self.ids.run.tables[below.index()].direct_counters[at]
    }
}

impl<R: Rows> Translation for ByRows<R> {
    fn program(&self) -> Arc<Program> {
        self.ids.written.clone()
    }

    fn update(&mut self, update: &Update, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        self.change(update, false)
    }

    fn undo(&mut self, update: &Update, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        self.change(update, true)
    }

    fn read(&mut self, read: &Read, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        let ids = &self.ids;
        match read {
            Read::DirectCounter { counter, entry: Some(entry) } => {
                let table = table_of_counter(&ids.written, *counter).ok_or(Fault::Gone)?;
                if let Some(references) = self.references(table, entry) {
                    let read = |(below, entry, phase)| {
                        let counter = self.counter_of(*counter, table, below);
                        let read = Read::DirectCounter { counter, entry: Some(entry) };
                        physical(read).in_phase(phase)
                    };
                    return Ok(references.into_iter().map(read).collect());
                }
            }
            Read::EntriesWithCells { table, entry: Some(entry) } => {
                if let Some(references) = self.references(*table, entry) {
                    let read = |(table, entry, phase)| {
                        let read = Read::EntriesWithCells { table, entry: Some(entry) };
                        physical(read).in_phase(phase)
                    };
                    return Ok(references.into_iter().map(read).collect());
                }
            }
            _ => {}
        }
        Ok(vec![physical(ids.read(read)?)])
    }

    fn combine(&mut self, _: &Read, replies: Vec<Reply>) -> Result<Reply, Fault> {
        let mut replies = replies.into_iter();
        let mut whole = replies.next().ok_or(Fault::Gone)?;
        if self.sums == Form::Broken {
            return Ok(whole);
        }
        for reply in replies {
            match (&mut whole, reply) {
                (Reply::DirectCounters(sums), Reply::DirectCounters(more)) => {
                    let pairs = sums.iter_mut().zip(more);
                    pairs.for_each(|((_, sum), (_, value))| add(sum, value));
                }
                (Reply::EntriesWithCells(sums), Reply::EntriesWithCells(more)) => {
                    for (cells, other) in sums.iter_mut().zip(more) {
                        let pairs = cells.counters.iter_mut().zip(other.counters);
                        pairs.for_each(|(sum, value)| add(sum, value));
                        cells.last_hit_ps = cells.last_hit_ps.max(other.last_hit_ps);
                    }
                }
                _ => {}
            }
        }
        Ok(whole)
    }

    fn complete(&mut self, is_phased: bool) -> Vec<Physical> {
        match &mut self.coinciding {
            Coinciding::Never => {}
            Coinciding::Apart(rows) => rows.settle(),
            Coinciding::Shared(rows) => rows.settle(),
        }
        self.rows.complete(is_phased)
    }

    fn barrier_before(&self, phase: u8) -> Vec<TargetIndex> {
        self.rows.barrier_before(phase)
    }

    fn notify(
        &mut self,
        _: TargetIndex,
        notification: Notification,
        state: &Configuration,
    ) -> Vec<Notification> {
        let Notification::IdleTimeout { time_ps, table: below, entry: row } = &notification else {
            return vec![notification];
        };
        for table in (0..self.ids.written.tables.len() as u32).map(TableId) {
            let entries = state.table(table).into_iter().flat_map(|table| table.entries());
            for entry in entries {
                let Some(rows) = self.rows.rows(table, &entry.keys) else {
                    if self.ids.table(table) == *below
                        && entry.keys == row.keys
                        && entry.priority == row.priority
                    {
                        let (time_ps, entry) = (*time_ps, entry.clone());
                        return vec![Notification::IdleTimeout { time_ps, table, entry }];
                    }
                    continue;
                };
                let is_it = |own: &Row| {
                    let declared = &self.ids.run.tables[own.table.index()];
                    own.table == *below
                        && state::entry_keys(declared, &own.keys).as_ref() == Ok(&row.keys)
                };
                let priority = self.priority(table, &entry.keys, entry.priority);
                if priority == row.priority && rows.iter().any(is_it) {
                    self.idle.suspect(table, entry, *time_ps);
                    return Vec::new();
                }
            }
        }
        Vec::new()
    }

    fn background(&mut self) -> Option<Batch> {
        self.idle.question()
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        self.idle.answer(outcome)
    }
}

pub fn add(sum: &mut CounterValue, value: CounterValue) {
    sum.packets = sum.packets.wrapping_add(value.packets);
    sum.bytes = sum.bytes.wrapping_add(value.bytes);
}
