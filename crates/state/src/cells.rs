// SPDX-License-Identifier: Apache-2.0
//! `Cells`: the state that packets write (registers, counters, meters, times of last hits, externs) of one pipeline
//! instance. `configuration` has what packets only read.

mod counts;
mod moves;

pub use moves::MovedCells;

use crate::counter::{CounterCells, CounterValue};
use crate::entry_cells::{EntryCells, EntryIdentity, Snapshot};
use crate::externs::{
    CallServices, ExternError, ExternInstances, ExternRegistry, InstanceCall, PacketAction,
};
use crate::meter::{Colour, MeterCell, MeterCells, MeterConfiguration, metered_units};
use crate::{Configuration, EntryRecord, RegisterCells};
use ir::{Bits, CountUnit, CounterId, ExternId, MeterId, Program, RegisterId, TableId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, Default)]
struct LastHit {
    /// 0 is never.
    at_ps: u64,
    /// Whether its idle timeout was reported since.
    is_reported: bool,
}

/// A number that is unique among all cells of this process.
#[derive(Debug)]
pub(crate) struct Identity(u64);

impl Identity {
    pub(crate) fn fresh() -> Identity {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Identity(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn number(&self) -> u64 {
        self.0
    }
}

impl Clone for Identity {
    fn clone(&self) -> Identity {
        Identity::fresh()
    }
}

/// Registers, counters, meters, hit times and externs of one pipeline instance.
#[derive(Clone, Debug)]
pub struct Cells {
    identity: Identity,
    registers: Vec<RegisterCells>,
    counters: Vec<CounterCells>,
    direct_counters: Vec<EntryCells<CounterValue>>,
    meters: Vec<MeterCells>,
    direct_meters: Vec<EntryCells<Option<MeterCell>>>,
    /// `None` for tables whose entries cannot time out.
    last_hits: Vec<Option<EntryCells<LastHit>>>,
    externs: ExternInstances,
}

impl Cells {
    /// Cells with their first values, and an instance of each extern that the program calls.
    ///
    /// # Errors
    ///
    /// Externs without a provider, and those that do not fit their provider.
    pub fn with_externs(
        program: &Program,
        registry: &ExternRegistry,
    ) -> Result<Cells, Vec<ExternError>> {
        let externs = ExternInstances::new(program, registry)?;
        Ok(Cells { externs, ..Cells::new(program) })
    }

    /// Cells of the same program in their initial state, with fresh instances of the same externs.
    pub fn another(&self, program: &Program) -> Cells {
        Cells { externs: self.externs.fresh(), ..Cells::new(program) }
    }

    /// Runs a call of an extern; `None` if it has no instance here. Appends its packet actions to `actions`.
    pub fn call_extern(
        &mut self,
        id: ExternId,
        call: InstanceCall<'_>,
        services: &mut dyn CallServices,
        actions: &mut Vec<(ExternId, PacketAction)>,
    ) -> Option<Result<Vec<Bits>, String>> {
        self.externs.call(id, call, services, actions)
    }

    /// Returns the state of an extern as bytes; `None` if it has no instance here.
    pub fn extern_snapshot(&self, id: ExternId) -> Option<Vec<u8>> {
        self.externs.snapshot(id)
    }

    /// Sets the state of an extern; `None` if it has no instance here.
    pub fn restore_extern(&mut self, id: ExternId, snapshot: &[u8]) -> Option<Result<(), String>> {
        self.externs.restore(id, snapshot)
    }

    /// Copies states of externs from another program's cells.
    pub(crate) fn migrate_externs(&mut self, program: &Program, from: (&Cells, &Program)) {
        self.externs.migrate(program, (&from.0.externs, from.1));
    }

    /// Cells with their first values; externs have no instances.
    pub fn new(program: &Program) -> Cells {
        Cells {
            identity: Identity::fresh(),
            registers: program.registers.iter().map(RegisterCells::new).collect(),
            counters: program
                .counters
                .iter()
                .map(|counter| CounterCells::new(counter.size.unwrap_or(0)))
                .collect(),
            direct_counters: vec![EntryCells::default(); program.counters.len()],
            meters: program
                .meters
                .iter()
                .map(|meter| MeterCells::new(meter.unit, meter.size.unwrap_or(0)))
                .collect(),
            direct_meters: vec![EntryCells::default(); program.meters.len()],
            last_hits: program
                .tables
                .iter()
                .map(|table| table.idle_timeout.then(EntryCells::default))
                .collect(),
            externs: ExternInstances::default(),
        }
    }

    /// A number that no other cells of this process have, copies of these included. As long as it is the
    /// same, what [`Cells::register_words_mut`] and [`Cells::counter_cells_mut`] give lies at the same
    /// address, wherever the cells themselves are moved. (Only assigning to, or swapping, what
    /// [`Cells::register_mut`] lends goes unnoticed; `clone_from` keeps the address.)
    pub fn identity(&self) -> u64 {
        self.identity.number()
    }

    /// A register array.
    pub fn register(&self, register: RegisterId) -> Option<&RegisterCells> {
        self.registers.get(register.index())
    }

    /// A register array, for writing.
    pub fn register_mut(&mut self, register: RegisterId) -> Option<&mut RegisterCells> {
        self.registers.get_mut(register.index())
    }

    /// All cells of a register array end to end, the low word of each first; `None` for arrays of more
    /// than 2^24 words, of which only written cells are kept. A cell has as many words of 64 bits as its
    /// width needs, at least one. Bits above the width are zero and must stay so.
    pub fn register_words_mut(&mut self, register: RegisterId) -> Option<&mut [u64]> {
        self.registers.get_mut(register.index())?.words_mut()
    }

    /// Number of cells of a counter; 0 for a direct one.
    pub fn counter_size(&self, counter: CounterId) -> u64 {
        self.counters.get(counter.index()).map_or(0, CounterCells::size)
    }

    /// A counter cell; `None` outside the array.
    pub fn counter(&self, counter: CounterId, index: u64) -> Option<CounterValue> {
        self.counters.get(counter.index())?.read(index)
    }

    /// Packets and bytes of all cells of a counter; `None` for more than 2^24 cells, of which only
    /// written ones are kept. Empty for a direct counter.
    pub fn counter_cells_mut(&mut self, counter: CounterId) -> Option<&mut [[u64; 2]]> {
        self.counters.get_mut(counter.index())?.flat_mut()
    }

    /// Sets a counter cell; nothing happens outside the array.
    pub fn set_counter(&mut self, counter: CounterId, index: u64, value: CounterValue) {
        if let Some(cells) = self.counters.get_mut(counter.index()) {
            cells.write(index, value);
        }
    }

    /// Counts a packet; nothing happens outside the array.
    pub fn count(&mut self, counter: CounterId, index: u64, packet_bytes: u64) {
        if let Some(cells) = self.counters.get_mut(counter.index())
            && let Some(value) = cells.read(index)
        {
            cells.write(index, value.add(packet_bytes));
        }
    }

    /// How a meter cell is configured.
    pub fn meter(&self, meter: MeterId, index: u64) -> Option<MeterConfiguration> {
        self.meter_cell(meter, index).as_ref().map(MeterCell::configuration)
    }

    /// Configures a meter cell, whose buckets are full then; nothing happens outside the array.
    pub fn configure_meter(
        &mut self,
        meter: MeterId,
        index: u64,
        configuration: Option<MeterConfiguration>,
        now_ps: u64,
    ) {
        let cell = configuration.map(|configuration| MeterCell::new(configuration, now_ps));
        self.restore_meter(meter, index, cell);
    }

    pub(crate) fn meter_cell(&self, meter: MeterId, index: u64) -> Option<MeterCell> {
        self.meters.get(meter.index())?.cell(index)
    }

    pub(crate) fn restore_meter(&mut self, meter: MeterId, index: u64, cell: Option<MeterCell>) {
        if let Some(cells) = self.meters.get_mut(meter.index()) {
            cells.set(index, cell);
        }
    }

    /// Meters a packet; green outside the array and where nothing is configured.
    pub fn mark(&mut self, meter: MeterId, index: u64, packet_bytes: u64, now_ps: u64) -> Colour {
        self.meters
            .get_mut(meter.index())
            .map_or(Colour::Green, |cells| cells.mark(index, packet_bytes, now_ps))
    }
}

/// Cells of entries. The key is the record of the entry, or its place and generation as in the records of the
/// forwarding side.
impl Cells {
    /// An entry's cell of a direct counter; `None` is the default action's.
    pub fn direct_counter(&self, counter: CounterId, entry: Option<&EntryRecord>) -> CounterValue {
        self.direct_counters
            .get(counter.index())
            .map_or_else(Default::default, |cells| cells.read(EntryIdentity::of(entry)))
    }

    fn direct_counter_cell(
        &mut self,
        counter: CounterId,
        entry: EntryIdentity,
    ) -> Option<&mut CounterValue> {
        self.direct_counters.get_mut(counter.index())?.cell(entry)
    }

    /// Sets an entry's cell of a direct counter; `None` is the default action's.
    pub fn set_direct_counter(
        &mut self,
        counter: CounterId,
        entry: Option<&EntryRecord>,
        value: CounterValue,
    ) {
        if let Some(cell) = self.direct_counter_cell(counter, EntryIdentity::of(entry)) {
            *cell = value;
        }
    }

    /// Counts a packet at an entry; `None` is the default action.
    pub fn count_direct(
        &mut self,
        counter: CounterId,
        entry: Option<&EntryRecord>,
        packet_bytes: u64,
    ) {
        if let Some(cell) = self.direct_counter_cell(counter, EntryIdentity::of(entry)) {
            *cell = cell.add(packet_bytes);
        }
    }

    /// Counts a packet at the entry with this place + 1 and generation; both are 0 for the default
    /// action.
    pub fn count_direct_at(
        &mut self,
        counter: CounterId,
        place_plus_one: u32,
        generation: u64,
        packet_bytes: u64,
    ) {
        let entry = EntryIdentity { place_plus_one, generation };
        if let Some(cell) = self.direct_counter_cell(counter, entry) {
            *cell = cell.add(packet_bytes);
        }
    }

    /// Returns a direct counter's cell with the entry that owns it.
    pub(crate) fn direct_counter_snapshot(
        &self,
        counter: CounterId,
        entry: Option<&EntryRecord>,
    ) -> Option<Snapshot<CounterValue>> {
        Some(self.direct_counters.get(counter.index())?.snapshot(EntryIdentity::of(entry)))
    }

    pub(crate) fn restore_direct_counter(
        &mut self,
        counter: CounterId,
        snapshot: Option<Snapshot<CounterValue>>,
    ) {
        if let (Some(cells), Some(cell)) = (self.direct_counters.get_mut(counter.index()), snapshot)
        {
            cells.restore(cell);
        }
    }

    /// How an entry's cell of a direct meter is configured; `None` is the default action's.
    pub fn direct_meter(
        &self,
        meter: MeterId,
        entry: Option<&EntryRecord>,
    ) -> Option<MeterConfiguration> {
        let cells = self.direct_meters.get(meter.index())?;
        cells.read(EntryIdentity::of(entry)).as_ref().map(MeterCell::configuration)
    }

    fn direct_meter_cell(
        &mut self,
        meter: MeterId,
        entry: EntryIdentity,
    ) -> Option<&mut Option<MeterCell>> {
        self.direct_meters.get_mut(meter.index())?.cell(entry)
    }

    /// Configures an entry's cell of a direct meter, whose buckets are full then.
    pub fn configure_direct_meter(
        &mut self,
        meter: MeterId,
        entry: Option<&EntryRecord>,
        configuration: Option<MeterConfiguration>,
        now_ps: u64,
    ) {
        if let Some(cell) = self.direct_meter_cell(meter, EntryIdentity::of(entry)) {
            *cell = configuration.map(|configuration| MeterCell::new(configuration, now_ps));
        }
    }

    /// Returns a direct meter's cell with the entry that owns it.
    pub(crate) fn direct_meter_snapshot(
        &self,
        meter: MeterId,
        entry: Option<&EntryRecord>,
    ) -> Option<Snapshot<Option<MeterCell>>> {
        Some(self.direct_meters.get(meter.index())?.snapshot(EntryIdentity::of(entry)))
    }

    pub(crate) fn restore_direct_meter(
        &mut self,
        meter: MeterId,
        snapshot: Option<Snapshot<Option<MeterCell>>>,
    ) {
        if let (Some(cells), Some(cell)) = (self.direct_meters.get_mut(meter.index()), snapshot) {
            cells.restore(cell);
        }
    }

    /// Meters a packet at an entry; green where nothing is configured.
    pub fn mark_direct(
        &mut self,
        meter: MeterId,
        entry: Option<&EntryRecord>,
        packet_bytes: u64,
        now_ps: u64,
    ) -> Colour {
        self.mark_direct_cell(meter, EntryIdentity::of(entry), packet_bytes, now_ps)
    }

    /// Meters a packet at the entry with this place + 1 and generation; both are 0 for the default
    /// action.
    pub fn mark_direct_at(
        &mut self,
        meter: MeterId,
        place_plus_one: u32,
        generation: u64,
        packet_bytes: u64,
        now_ps: u64,
    ) -> Colour {
        let entry = EntryIdentity { place_plus_one, generation };
        self.mark_direct_cell(meter, entry, packet_bytes, now_ps)
    }

    fn mark_direct_cell(
        &mut self,
        meter: MeterId,
        entry: EntryIdentity,
        packet_bytes: u64,
        now_ps: u64,
    ) -> Colour {
        let unit = self.meters.get(meter.index()).map_or(CountUnit::Packets, MeterCells::unit);
        match self.direct_meter_cell(meter, entry) {
            Some(Some(cell)) => cell.mark(metered_units(unit, packet_bytes), now_ps),
            _ => Colour::Green,
        }
    }

    /// Records a hit of an entry, in tables with idle timeouts.
    pub fn note_hit(&mut self, table: TableId, entry: &EntryRecord, now_ps: u64) {
        self.note_hit_of(table, EntryIdentity::of(Some(entry)), now_ps);
    }

    /// As `note_hit`, for the entry with this place + 1 and generation.
    pub fn note_hit_at(
        &mut self,
        table: TableId,
        place_plus_one: u32,
        generation: u64,
        now_ps: u64,
    ) {
        self.note_hit_of(table, EntryIdentity { place_plus_one, generation }, now_ps);
    }

    fn note_hit_of(&mut self, table: TableId, entry: EntryIdentity, now_ps: u64) {
        if let Some(Some(cells)) = self.last_hits.get_mut(table.index())
            && let Some(cell) = cells.cell(entry)
        {
            *cell = LastHit { at_ps: now_ps, is_reported: false };
        }
    }

    /// When an entry was last hit, or else inserted; in tables whose entries cannot time out, when it
    /// was inserted.
    pub fn last_hit_ps(&self, table: TableId, entry: &EntryRecord) -> u64 {
        let hit = match self.last_hits.get(table.index()) {
            Some(Some(cells)) => cells.read(EntryIdentity::of(Some(entry))),
            _ => LastHit::default(),
        };
        hit.at_ps.max(entry.inserted_ps)
    }

    /// Returns entries without a hit for as long as their idle timeout. Reports each entry once until its next hit.
    pub fn take_idle_entries(
        &mut self,
        configuration: &Configuration,
        now_ps: u64,
    ) -> Vec<(TableId, Arc<EntryRecord>)> {
        let mut idle: Vec<_> = self
            .entries_to_idle(configuration)
            .filter(|(_, _, at_ps)| *at_ps <= now_ps)
            .map(|(table, entry, _)| (table, entry.clone()))
            .collect();
        idle.retain(|(table, entry)| {
            let cells = self.last_hits.get_mut(table.index()).and_then(Option::as_mut);
            let cell = cells.and_then(|cells| cells.cell(EntryIdentity::of(Some(entry))));
            cell.map(|cell| cell.is_reported = true).is_some()
        });
        idle
    }

    /// Returns the earliest time at which [`Cells::take_idle_entries`] may return an entry, if packets hit entries
    /// from now on: an entry that was reported may be hit and idle again. `None` if no entry has a timeout. Visits
    /// every entry of tables with idle timeouts.
    pub fn next_idle_check_ps(&self, configuration: &Configuration, now_ps: u64) -> Option<u64> {
        let entries = self.entries_with_timeout(configuration);
        let check_ps = |(_, entry, hit): (_, &Arc<EntryRecord>, LastHit)| match hit.is_reported {
            true => idle_at_ps(now_ps, entry),
            false => idle_at_ps(hit.at_ps.max(entry.inserted_ps), entry),
        };
        entries.map(check_ps).min()
    }

    /// Returns entries with an unreported idle timeout, with the time at which it expires.
    fn entries_to_idle<'c>(
        &'c self,
        configuration: &'c Configuration,
    ) -> impl Iterator<Item = (TableId, &'c Arc<EntryRecord>, u64)> {
        let entries = self.entries_with_timeout(configuration);
        entries.filter(|(_, _, hit)| !hit.is_reported).map(|(id, entry, hit)| {
            (id, entry, idle_at_ps(hit.at_ps.max(entry.inserted_ps), entry))
        })
    }

    /// Returns entries with an idle timeout and their last hits.
    fn entries_with_timeout<'c>(
        &'c self,
        configuration: &'c Configuration,
    ) -> impl Iterator<Item = (TableId, &'c Arc<EntryRecord>, LastHit)> {
        let tables = (0..configuration.program().tables.len() as u32).map(TableId);
        tables.filter(|id| matches!(self.last_hits.get(id.index()), Some(Some(_)))).flat_map(
            move |id| {
                let entries = configuration.table(id).into_iter().flat_map(|table| table.entries());
                entries.filter_map(move |entry| {
                    let hits = self.last_hits.get(id.index())?.as_ref()?;
                    let hit = hits.read(EntryIdentity::of(Some(entry)));
                    (entry.idle_timeout_ns != 0).then_some((id, entry, hit))
                })
            },
        )
    }
}

/// Returns the time at which an entry's idle timeout expires after its last hit.
fn idle_at_ps(last_hit_ps: u64, entry: &EntryRecord) -> u64 {
    last_hit_ps.saturating_add(entry.idle_timeout_ns.saturating_mul(1_000))
}

/// Pairs of an entry in other cells and its copy in these.
type EntryPairs = [(EntryIdentity, EntryIdentity)];

fn copy_entries<T: Copy + Default>(
    to: Option<&mut EntryCells<T>>,
    from: Option<&EntryCells<T>>,
    entries: &EntryPairs,
) {
    let (Some(to), Some(from)) = (to, from) else { return };
    for &(before, after) in entries {
        if let Some(cell) = to.cell(after) {
            *cell = from.read(before);
        }
    }
}

/// Copies from other cells, of counters, meters and tables with equal shapes.
impl Cells {
    pub(crate) fn copy_counter(&mut self, counter: CounterId, other: &Cells, before: CounterId) {
        let cells = self.counters.get_mut(counter.index());
        if let (Some(cells), Some(before)) = (cells, other.counters.get(before.index())) {
            cells.copy_from(before);
        }
    }

    /// Copies a meter if none of its cells is configured here.
    pub(crate) fn copy_meter(&mut self, meter: MeterId, other: &Cells, before: MeterId) {
        if let Some(cells) = self.meters.get_mut(meter.index())
            && !cells.is_configured()
            && let Some(before) = other.meters.get(before.index())
        {
            *cells = before.clone();
        }
    }

    pub(crate) fn copy_direct_counter(
        &mut self,
        counter: CounterId,
        other: &Cells,
        before: CounterId,
        entries: &EntryPairs,
    ) {
        let cells = self.direct_counters.get_mut(counter.index());
        copy_entries(cells, other.direct_counters.get(before.index()), entries);
    }

    pub(crate) fn copy_direct_meter(
        &mut self,
        meter: MeterId,
        other: &Cells,
        before: MeterId,
        entries: &EntryPairs,
    ) {
        let cells = self.direct_meters.get_mut(meter.index());
        copy_entries(cells, other.direct_meters.get(before.index()), entries);
    }

    pub(crate) fn copy_hits(
        &mut self,
        table: TableId,
        other: &Cells,
        before: TableId,
        entries: &EntryPairs,
    ) {
        let cells = self.last_hits.get_mut(table.index()).and_then(Option::as_mut);
        let before = other.last_hits.get(before.index()).and_then(Option::as_ref);
        copy_entries(cells, before, entries);
    }
}
