// SPDX-License-Identifier: Apache-2.0
//! Checkpoints: the state of a target as a value, read in one batch and written in one batch, into the same target or
//! another one. `fit` compares programs, `text` has the text form, [`crate::map::Reconciliation`] finds the differences of
//! configurations.
//!
//! A checkpoint holds tables (entries in the order of their age, with priorities, idle timeouts, cookies and
//! metadata; default actions; direct counters and meters), action profiles, value sets, registers, counters,
//! configurations of meters, multicast groups, clone sessions, exclusions, CRC parameters, and the settings of
//! queues and packet generator that were made through targets. It does not hold packets in flight, the fill of
//! meters' buckets, the times of hits and of the generator: entries begin to idle, meters begin full, and generators
//! begin anew when it is written.

mod fit;
mod text;

pub use fit::Mismatch;

use crate::map::{ControlMap, Reconciliation, Renamed};
use crate::target::{Batch, DeviceItem, Fault, Item, Outcome, Reply, Target, Visibility};
use ir::{CounterId, MeterId, Program, RegisterId, Table, TableId};
use state::{
    Atomicity, CellRange, CellValues, EntryReference, EntryTarget, Read, Reply as StateReply,
    Update,
};
use std::fmt;
use std::sync::Arc;

/// The state of a target at one time.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    program: Arc<Program>,
    /// Answers to [`Reconciliation::reads`].
    configuration: Vec<StateReply>,
    /// Answers to [`cell_reads`].
    cells: Vec<StateReply>,
    /// Queues and generator; `None` where the target has no device.
    settings: Option<Vec<DeviceItem>>,
    time_ps: u64,
    is_one_moment: bool,
}

/// Why a checkpoint was not read or written. Nothing was written then.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckpointError {
    /// The target's program lacks objects of the checkpoint; all of them.
    Mismatches(Vec<Mismatch>),
    /// The target refused an item; of a write, which one.
    Refused {
        /// The item, as text.
        item: String,
        /// Why.
        fault: Fault,
    },
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointError::Mismatches(list) => {
                let list: Vec<String> = list.iter().map(Mismatch::to_string).collect();
                write!(formatter, "the checkpoint does not fit the program: {}", list.join("; "))
            }
            CheckpointError::Refused { item, fault } => write!(formatter, "{fault}, for {item}"),
        }
    }
}

impl std::error::Error for CheckpointError {}

fn tables(program: &Program) -> impl Iterator<Item = (TableId, &Table)> {
    program.tables.iter().enumerate().map(|(at, table)| (TableId(at as u32), table))
}

/// Reads of the cells that packets write.
fn cell_reads(program: &Program) -> Vec<Read> {
    let cells = CellRange::all();
    let mut reads: Vec<Read> = Vec::new();
    for (table, declared) in tables(program) {
        if !declared.direct_counters.is_empty() || !declared.direct_meters.is_empty() {
            reads.push(Read::EntriesWithCells { table, entry: None });
        }
    }
    let registers = (0..program.registers.len() as u32).map(RegisterId);
    reads.extend(registers.map(|register| Read::Register { register, cells }));
    for (at, counter) in program.counters.iter().enumerate() {
        let id = CounterId(at as u32);
        reads.extend(counter.size.map(|_| Read::Counter { counter: id, cells }));
    }
    for (at, meter) in program.meters.iter().enumerate() {
        let id = MeterId(at as u32);
        reads.extend(meter.size.map(|_| Read::Meter { meter: id, cells }));
    }
    reads
}

impl Checkpoint {
    /// The batch that reads a target of a program. Its outcome is for [`Checkpoint::of`].
    pub fn reads(program: &Arc<Program>) -> Batch {
        let configuration = Reconciliation::new(program.clone()).reads();
        let mut items = configuration.items;
        items.extend(cell_reads(program).into_iter().map(Item::from));
        items.push(DeviceItem::ReadSettings.into());
        Batch { items, ..Batch::default() }.made_for(program.clone())
    }

    /// The checkpoint that the outcome of [`Checkpoint::reads`] is.
    pub fn of(
        program: Arc<Program>,
        outcome: Outcome,
        visibility: Visibility,
    ) -> Result<Checkpoint, CheckpointError> {
        let reconciliation = Reconciliation::new(program.clone());
        let reads = Checkpoint::reads(&program).items;
        let time_ps = outcome.applied_ps;
        let (mut replies, mut settings) = (Vec::with_capacity(reads.len()), None);
        let mut results = outcome.results.into_iter();
        for read in reads {
            match results.next().unwrap_or(Err(Fault::Gone)) {
                Ok(Reply::State(reply)) => replies.push(reply),
                Ok(Reply::Settings(list)) => settings = Some(list),
                Ok(Reply::Done | Reply::Queue(_)) => {}
                // A target may have no device.
                Err(Fault::Unsupported(_)) if matches!(read, Item::Device(_)) => {}
                Err(fault) => {
                    let item = format!("{read:?}");
                    return Err(CheckpointError::Refused { item, fault });
                }
            }
        }
        let cells = replies.split_off(reconciliation.reads().items.len().min(replies.len()));
        let is_one_moment = visibility > Visibility::Items;
        Ok(Checkpoint { program, configuration: replies, cells, settings, time_ps, is_one_moment })
    }

    /// Reads a target that answers without simulated time.
    pub fn read(target: &mut dyn Target) -> Result<Checkpoint, CheckpointError> {
        let (program, visibility) = (target.program(), target.visibility());
        let outcome = target.execute(Checkpoint::reads(&program));
        Checkpoint::of(program, outcome, visibility)
    }

    /// The program whose state it is.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// When it was read, in picoseconds of the target's time.
    pub fn time_ps(&self) -> u64 {
        self.time_ps
    }

    /// Whether everything was read at one moment; else packets may have written some cells between.
    pub fn is_one_moment(&self) -> bool {
        self.is_one_moment
    }

    /// The batch that gives a target this state: `program` is the target's, `has` the outcome of
    /// [`Checkpoint::reads_before_write`]. Objects of the target that the checkpoint lacks stay as they are. The
    /// batch is done as a whole or not at all.
    pub fn write_batch(
        &self,
        program: &Arc<Program>,
        has: Outcome,
    ) -> Result<Batch, CheckpointError> {
        let mut map = self.map_to(program)?;
        let mut has = has;
        map.passed(&mut has);
        let mut replies = Vec::with_capacity(has.results.len());
        for result in has.results {
            match result {
                Ok(Reply::State(reply)) => replies.push(reply),
                Ok(_) => {}
                Err(fault) => {
                    let item = "the state of the target before".to_string();
                    return Err(CheckpointError::Refused { item, fault });
                }
            }
        }
        let mut items: Vec<Item> = self.updates(&replies).into_iter().map(Item::from).collect();
        items.extend(self.settings.iter().flatten().cloned().map(Item::from));
        let mut batch = Batch { items, ..Batch::default() }.with(Atomicity::RollbackOnError);
        map.pass(&mut batch);
        Ok(batch.made_for(program.clone()))
    }

    /// What [`Checkpoint::write_batch`] has to know of a target with this program.
    pub fn reads_before_write(&self, program: &Arc<Program>) -> Result<Batch, CheckpointError> {
        let mut reads = Reconciliation::new(self.program.clone()).reads();
        self.map_to(program)?.pass(&mut reads);
        Ok(reads.made_for(program.clone()))
    }

    fn map_to(&self, program: &Arc<Program>) -> Result<Renamed, CheckpointError> {
        let handles = fit::handles(self, program).map_err(CheckpointError::Mismatches)?;
        Ok(Renamed::new(self.program.clone(), program, handles))
    }

    /// Writes into a target that answers without simulated time.
    pub fn write(&self, target: &mut dyn Target) -> Result<Outcome, CheckpointError> {
        let program = target.program();
        let has = target.execute(self.reads_before_write(&program)?);
        let batch = self.write_batch(&program, has)?;
        let texts: Vec<Item> = batch.items.clone();
        let outcome = target.execute(batch);
        match outcome.first_fault() {
            None => Ok(outcome),
            Some((at, fault)) => Err(CheckpointError::Refused {
                item: texts.get(at).map_or_else(String::new, |item| format!("{item:?}")),
                fault: fault.clone(),
            }),
        }
    }

    /// Updates from a configuration, in the words of this program, to this state.
    fn updates(&self, has: &[StateReply]) -> Vec<Update> {
        let reconciliation = Reconciliation::new(self.program.clone());
        let mut updates = reconciliation.updates(has, &self.configuration);
        for (read, reply) in cell_reads(&self.program).into_iter().zip(&self.cells) {
            self.cell_updates(read, reply, &mut updates);
        }
        updates
    }

    fn cell_updates(&self, read: Read, reply: &StateReply, updates: &mut Vec<Update>) {
        match (read, reply) {
            (Read::EntriesWithCells { table, .. }, StateReply::EntriesWithCells(list)) => {
                let declared = &self.program.tables[table.index()];
                for cells in list {
                    let entry = || match &cells.target {
                        EntryTarget::Default => EntryReference::Default,
                        EntryTarget::Entry(record) => EntryReference::Entry {
                            keys: record.keys.clone(),
                            priority: record.priority,
                        },
                    };
                    for (counter, value) in declared.direct_counters.iter().zip(&cells.counters) {
                        let (counter, entry, value) = (*counter, entry(), *value);
                        updates.push(Update::WriteDirectCounter { counter, entry, value });
                    }
                    for (meter, value) in declared.direct_meters.iter().zip(&cells.meters) {
                        let (meter, entry, configuration) = (*meter, entry(), *value);
                        updates.push(Update::WriteDirectMeter { meter, entry, configuration });
                    }
                }
            }
            (Read::Register { register, cells }, StateReply::Registers(list)) => {
                let values = CellValues::Each(list.clone());
                updates.push(Update::WriteRegister { register, cells, values });
            }
            (Read::Counter { counter, cells }, StateReply::Counters(list)) => {
                let values = CellValues::Each(list.clone());
                updates.push(Update::WriteCounter { counter, cells, values });
            }
            (Read::Meter { meter, cells }, StateReply::Meters(list)) => {
                let values = CellValues::Each(list.clone());
                updates.push(Update::WriteMeter { meter, cells, values });
            }
            _ => {}
        }
    }
}
