// SPDX-License-Identifier: Apache-2.0
//! [`MalleableMap`]: the control map from the program as written to the program as run. It carries out a batch in the three
//! phases of Mantis §5.1.2: shadow rows are prepared, the master entry commits, and after the packets in flight have left
//! the other rows are mirrored. It alone writes the master entry. `objects` finds the objects of both programs, `rows`
//! multiplies entries, `updates` says what is written to rows, defaults and init tables, and in which phase.

mod init_state;
mod objects;
mod rows;
mod updates;

use crate::compiler::Plan;
use control::map::{IdleEntries, Physical, Renamed, RowPriorities, TargetIndex, Translation};
use control::target::{Batch, Fault, Notification, Outcome, Visibility};
use init_state::InitState;
use ir::{KeyPattern, Program, TableId};
use objects::{Objects, TableObjects};
pub use rows::Row;
use state::{
    BoundAction, CellRange, Configuration, EntryRecord, EntryReference, NewEntry, Read,
    Reply as StateReply, Update,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows that packets do not match yet.
pub const PREPARE: u8 = 0;
/// The master entry.
pub const COMMIT: u8 = 1;
/// Rows that packets do not match any more.
pub const MIRROR: u8 = 3;

/// Writes of a legacy controller to measured registers, which are not in the copies until the next packet.
#[derive(Clone, Debug, Default)]
pub struct LegacyWrites(Arc<Mutex<Vec<LegacyWrite>>>);

/// The index of a measured register, and its cells.
pub type LegacyWrite = (usize, CellRange);

impl LegacyWrites {
    /// Takes the writes so far.
    pub fn take(&self) -> Vec<LegacyWrite> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, register: usize, cells: CellRange) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((register, cells));
    }
}

/// The map from the program as written to the program as run.
#[derive(Clone, Debug)]
pub struct MalleableMap {
    written: Arc<Program>,
    objects: Objects,
    inits: Vec<InitState>,
    legacy: LegacyWrites,
    /// Priorities of rows: those of one entry differ from those of all others, in the order of priority and age.
    priorities: RowPriorities,
    idle: IdleEntries,
    /// Whether an entry that comes back gets the age that it had.
    is_undoing: bool,
}

/// Bits of a row's priority that tell entries of equal priority apart.
const AGE_BITS: u32 = 24;

impl MalleableMap {
    /// Creates the map of a plan.
    ///
    /// # Errors
    ///
    /// The name of an object that the program as run lacks.
    pub fn new(
        plan: &Plan,
        written: Arc<Program>,
        run: Arc<Program>,
    ) -> Result<MalleableMap, String> {
        let objects = Objects::new(plan, &written, &run)?;
        let inits = plan.pipelines.iter().map(|pipeline| InitState::new(pipeline, &written, &run));
        let inits = inits.collect::<Result<_, _>>()?;
        let mut priorities = RowPriorities::new(AGE_BITS);
        for table in &objects.tables {
            for entry in table.changeable_entries(&written) {
                let name = (table.written, entry.keys, entry.priority);
                priorities.insert(name).map_err(|fault| fault.to_string())?;
            }
        }
        let (legacy, is_undoing) = (LegacyWrites::default(), false);
        let idle = IdleEntries::default();
        Ok(MalleableMap { written, objects, inits, legacy, priorities, idle, is_undoing })
    }

    /// Writes of legacy controllers to measured registers.
    pub fn legacy_writes(&self) -> LegacyWrites {
        self.legacy.clone()
    }

    /// Returns the batch for the program as run that makes its state that of the program as written at the beginning: rows
    /// of default tables and of init tables behind the master.
    pub fn prologue(&self) -> Batch {
        let mut items: Vec<Update> = Vec::new();
        for table in &self.objects.tables {
            for entry in table.changeable_entries(&self.written) {
                let below =
                    self.priorities.of(&(table.written, entry.keys.clone(), entry.priority));
                for version in table.versions() {
                    for row in table.rows(&entry, version, below).unwrap_or_default() {
                        let new = NewEntry::direct(row.keys, row.priority, row.action);
                        items.push(Update::InsertEntry { table: table.run, entry: new });
                    }
                }
            }
            let Some(default) = &table.default_table else { continue };
            let written = &self.written.tables[table.written.index()];
            let listed = written.actions[written.default_action.action as usize].action;
            let action =
                BoundAction { action: listed, arguments: written.default_action.arguments.clone() };
            for version in table.versions() {
                for row in table.default_rows(&action, version) {
                    let entry = NewEntry::direct(row.keys, 0, row.action);
                    items.push(Update::InsertEntry { table: default.table, entry });
                }
            }
        }
        for init in &self.inits {
            for number in 1..init.tables.len() {
                for version in [0, 1] {
                    let (table, entry) = (init.tables[number].table, init.entry(number, version));
                    items.push(Update::InsertEntry { table, entry });
                }
            }
        }
        Batch::of(items)
    }
}

impl Translation for MalleableMap {
    fn program(&self) -> Arc<Program> {
        self.written.clone()
    }

    fn visibility(&self, _: Visibility) -> Visibility {
        Visibility::Pass
    }

    fn update(&mut self, update: &Update, before: &Configuration) -> Result<Vec<Physical>, Fault> {
        let entry_before = |table: &TableId, keys: &[KeyPattern], priority: i64| {
            let handle = before.entry_handle(*table, keys, priority).ok()?;
            Some(before.table(*table)?.shared_entry(handle)?.to_new_entry())
        };
        match update {
            Update::InsertEntry { table, entry } => {
                if let Some(objects) = self.objects.of_table(*table) {
                    return self.entry_update(&objects, None, Some(entry));
                }
            }
            Update::ModifyEntry { table, entry } => {
                if let Some(objects) = self.objects.of_table(*table) {
                    let old = entry_before(table, &entry.keys, entry.priority);
                    return self.entry_update(&objects, old.as_ref(), Some(entry));
                }
            }
            Update::DeleteEntry { table, keys, priority } => {
                if let Some(objects) = self.objects.of_table(*table) {
                    let old = entry_before(table, keys, *priority);
                    return self.entry_update(&objects, old.as_ref(), None);
                }
            }
            Update::SetDefaultAction { table, action } => {
                if let Some(index) = self.objects.init_of(*table) {
                    return Ok(self.init_update(index, *table, action.as_ref()));
                }
                if let Some(objects) = self.objects.of_table(*table) {
                    return Ok(self.default_update(&objects, action.as_ref()));
                }
            }
            Update::WriteRegister { register, cells, .. } => {
                if let Some(measured) = self.objects.measured(*register) {
                    self.legacy.put(measured, *cells);
                }
            }
            Update::WriteDirectCounter { counter, entry, value }
                if *entry != EntryReference::Default =>
            {
                if let Some((table, run)) = self.objects.counted(*counter) {
                    return self.write_counter(&table, run, entry, *value, before);
                }
            }
            _ => {}
        }
        Ok(vec![Physical::at(TargetIndex(0), self.objects.renamed_update(update.clone()))])
    }

    fn read(&mut self, read: &Read, state: &Configuration) -> Result<Vec<Physical>, Fault> {
        match read {
            Read::DirectCounter { counter, entry: Some(entry) }
                if *entry != EntryReference::Default =>
            {
                if let Some((table, run)) = self.objects.counted(*counter) {
                    let rows = self.rows_of(&table, entry, state)?;
                    let read = |row: Row| {
                        let entry =
                            Some(EntryReference::Entry { keys: row.keys, priority: row.priority });
                        Physical::at(TargetIndex(0), Read::DirectCounter { counter: run, entry })
                    };
                    return Ok(rows.into_iter().map(read).collect());
                }
            }
            Read::EntriesWithCells { table, entry: Some(entry) }
                if *entry != EntryReference::Default =>
            {
                if let Some(table) = self.objects.of_table(*table) {
                    let rows = self.rows_of(&table, entry, state)?;
                    let read = |row: Row| {
                        let entry =
                            Some(EntryReference::Entry { keys: row.keys, priority: row.priority });
                        Physical::at(
                            TargetIndex(0),
                            Read::EntriesWithCells { table: table.run, entry },
                        )
                    };
                    return Ok(rows.into_iter().map(read).collect());
                }
            }
            _ => {}
        }
        Ok(vec![Physical::at(TargetIndex(0), self.objects.renamed_read(read.clone()))])
    }

    fn renames(&self, read: &Read) -> bool {
        matches!(read, Read::Register { .. })
    }

    fn renaming(&mut self) -> Option<&mut Renamed> {
        Some(self.objects.renaming())
    }

    fn combine(&mut self, _: &Read, replies: Vec<StateReply>) -> Result<StateReply, Fault> {
        rows::combined(replies)
    }

    fn undo(&mut self, update: &Update, state: &Configuration) -> Result<Vec<Physical>, Fault> {
        self.is_undoing = true;
        let items = self.update(update, state);
        self.is_undoing = false;
        items
    }

    fn complete(&mut self, is_phased: bool) -> Vec<Physical> {
        self.priorities.settle();
        let mut items = Vec::new();
        for init in &mut self.inits {
            // Without rows to mirror nothing would wait for the packets of the old version.
            if std::mem::take(&mut init.has_prepared) && is_phased {
                init.version ^= 1;
            } else if !init.has_changed {
                continue;
            }
            init.has_changed = false;
            init.note_alternatives();
            let (table, action) = (init.tables[0].table, Some(init.action(0)));
            let commit = Update::SetDefaultAction { table, action };
            items.push(Physical::at(TargetIndex(0), commit).in_phase(COMMIT));
        }
        items
    }

    fn barrier_before(&self, phase: u8) -> Vec<TargetIndex> {
        if phase == MIRROR { self.targets() } else { Vec::new() }
    }

    fn answer_after(&self) -> u8 {
        COMMIT
    }

    fn notify(
        &mut self,
        _: TargetIndex,
        notification: Notification,
        state: &Configuration,
    ) -> Vec<Notification> {
        let rows_idle = match &notification {
            Notification::IdleTimeout { time_ps, table, entry } => {
                self.objects.of_table_below(*table).map(|table| (*time_ps, table, entry.clone()))
            }
            _ => None,
        };
        let Some((time_ps, objects, entry)) = rows_idle else {
            return self.objects.renamed_notification(notification);
        };
        // An entry idles if all of its rows do.
        let entries = state.table(objects.written).into_iter().flat_map(|table| table.entries());
        let has_row = |record: &&Arc<EntryRecord>| {
            let rows = self.rows_of_record(&objects, record).unwrap_or_default();
            rows.iter().any(|row| row.is_at(&entry.keys, entry.priority))
        };
        let found = entries.into_iter().find(has_row).cloned();
        if let Some(record) = found {
            self.idle.suspect(objects.written, &record, time_ps);
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

impl MalleableMap {
    /// All rows of an entry in both copies.
    fn rows_of(
        &self,
        table: &TableObjects,
        entry: &EntryReference,
        state: &Configuration,
    ) -> Result<Vec<Row>, Fault> {
        let EntryReference::Entry { keys, priority } = entry else { return Ok(Vec::new()) };
        let handle = state.entry_handle(table.written, keys, *priority).map_err(Fault::Refused)?;
        let record = state.table(table.written).and_then(|table| table.shared_entry(handle));
        record.map_or(Ok(Vec::new()), |record| self.rows_of_record(table, &record))
    }

    fn rows_of_record(
        &self,
        table: &TableObjects,
        record: &EntryRecord,
    ) -> Result<Vec<Row>, Fault> {
        let entry = record.to_new_entry();
        let below = self.priorities.of(&(table.written, entry.keys.clone(), entry.priority));
        let mut rows = Vec::new();
        for version in table.versions() {
            rows.extend(table.rows(&entry, version, below)?);
        }
        Ok(rows)
    }

    /// Writes a direct counter: the first row gets the value, the others zero.
    fn write_counter(
        &mut self,
        table: &TableObjects,
        counter: ir::CounterId,
        entry: &EntryReference,
        value: state::CounterValue,
        before: &Configuration,
    ) -> Result<Vec<Physical>, Fault> {
        let rows = self.rows_of(table, entry, before)?;
        let write = |(at, row): (usize, Row)| {
            let value = if at == 0 { value } else { state::CounterValue::default() };
            let entry = EntryReference::Entry { keys: row.keys, priority: row.priority };
            Physical::at(TargetIndex(0), Update::WriteDirectCounter { counter, entry, value })
        };
        Ok(rows.into_iter().enumerate().map(write).collect())
    }
}
