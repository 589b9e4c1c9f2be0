// SPDX-License-Identifier: Apache-2.0
//! What packets write: registers, counters, meters, and when entries were last hit. One [`Cells`]
//! belongs to one pipeline instance. Configuration lives in `configuration`.

use crate::meter::{Colour, MeterCell, MeterConfiguration};
use crate::{Configuration, EntryRecord, RegisterCells};
use foldhash::fast::FixedState;
use ir::{CountUnit, CounterId, MeterId, Program, RegisterId, TableId};
use std::collections::HashMap;
use std::sync::Arc;

/// What a counter cell has counted. Both are always counted; the program's unit says which is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CounterValue {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl CounterValue {
    fn add(self, packet_bytes: u64) -> CounterValue {
        CounterValue {
            packets: self.packets.wrapping_add(1),
            bytes: self.bytes.wrapping_add(packet_bytes),
        }
    }
}

/// Arrays up to this size are held flat; larger ones keep only the cells that were written.
const LARGEST_FLAT_ARRAY_CELLS: u64 = 1 << 24;

#[derive(Clone, Debug)]
enum CounterCells {
    /// Packets and bytes.
    Flat(Vec<[u64; 2]>),
    Written(u64, HashMap<u64, CounterValue, FixedState>),
}

impl CounterCells {
    fn new(size: u64) -> CounterCells {
        match usize::try_from(size) {
            Ok(length) if size <= LARGEST_FLAT_ARRAY_CELLS => {
                CounterCells::Flat(vec![[0; 2]; length])
            }
            _ => CounterCells::Written(size, HashMap::default()),
        }
    }

    fn size(&self) -> u64 {
        match self {
            CounterCells::Flat(cells) => cells.len() as u64,
            CounterCells::Written(size, _) => *size,
        }
    }

    fn read(&self, index: u64) -> Option<CounterValue> {
        match self {
            CounterCells::Flat(cells) => cells
                .get(usize::try_from(index).ok()?)
                .map(|&[packets, bytes]| CounterValue { packets, bytes }),
            CounterCells::Written(size, cells) => {
                (index < *size).then(|| cells.get(&index).copied().unwrap_or_default())
            }
        }
    }

    fn write(&mut self, index: u64, value: CounterValue) {
        match self {
            CounterCells::Flat(cells) => {
                if let Some(cell) = usize::try_from(index).ok().and_then(|at| cells.get_mut(at)) {
                    *cell = [value.packets, value.bytes];
                }
            }
            CounterCells::Written(size, cells) => {
                if index < *size {
                    cells.insert(index, value);
                }
            }
        }
    }
}

#[derive(Clone, Debug)]
struct MeterCells {
    unit: CountUnit,
    size: u64,
    /// Configured cells only: the others say green and hold nothing.
    cells: HashMap<u64, MeterCell, FixedState>,
}

/// A cell that belongs to an entry. Which one tells the generation: a cell that an older entry left
/// counts as untouched, so no pipeline need hear of deletions.
#[derive(Clone, Copy, Debug, Default)]
struct EntryCell<T> {
    generation: u64,
    value: T,
}

/// Cells by the entry's place, the default action's first.
#[derive(Clone, Debug, Default)]
struct EntryCells<T>(Vec<EntryCell<T>>);

/// Index and generation of an entry's cells; `None` is the default action.
fn entry_cell(entry: Option<&EntryRecord>) -> (usize, u64) {
    match entry {
        None => (0, 0),
        Some(entry) => (entry.handle.0 as usize + 1, entry.generation),
    }
}

impl<T: Copy + Default> EntryCells<T> {
    fn read(&self, entry: Option<&EntryRecord>) -> T {
        let (index, generation) = entry_cell(entry);
        match self.0.get(index) {
            Some(cell) if cell.generation == generation => cell.value,
            _ => T::default(),
        }
    }

    /// The cell for changing; `None` when a younger entry has it (then a packet is still reading a
    /// configuration in which the older one existed).
    fn cell(&mut self, entry: Option<&EntryRecord>) -> Option<&mut T> {
        let (index, generation) = entry_cell(entry);
        if self.0.len() <= index {
            self.0.resize(index + 1, EntryCell::default());
        }
        let cell = self.0.get_mut(index)?;
        if cell.generation < generation {
            *cell = EntryCell { generation, value: T::default() };
        }
        (cell.generation == generation).then_some(&mut cell.value)
    }
}

/// An entry's cell as it was, with the generation it belonged to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot<T> {
    index: usize,
    cell: EntryCell<T>,
}

fn snapshot<T: Copy + Default>(
    cells: Option<&EntryCells<T>>,
    entry: Option<&EntryRecord>,
) -> Snapshot<T> {
    let (index, _) = entry_cell(entry);
    let cell = cells.and_then(|cells| cells.0.get(index)).copied().unwrap_or_default();
    Snapshot { index, cell }
}

fn restore<T>(cells: Option<&mut EntryCells<T>>, snapshot: Snapshot<T>) {
    if let Some(cell) = cells.and_then(|cells| cells.0.get_mut(snapshot.index)) {
        *cell = snapshot.cell;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct LastHit {
    /// 0 is never.
    at_ps: u64,
    /// Whether its idling was reported since.
    is_reported: bool,
}

/// Registers, counters, meters and hit times of one pipeline instance.
#[derive(Clone, Debug)]
pub struct Cells {
    registers: Vec<RegisterCells>,
    counters: Vec<CounterCells>,
    direct_counters: Vec<EntryCells<CounterValue>>,
    meters: Vec<MeterCells>,
    direct_meters: Vec<EntryCells<Option<MeterCell>>>,
    last_hits: Vec<EntryCells<LastHit>>,
}

impl Cells {
    /// Cells with their first values.
    pub fn new(program: &Program) -> Cells {
        Cells {
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
                .map(|meter| MeterCells {
                    unit: meter.unit,
                    size: meter.size.unwrap_or(0),
                    cells: HashMap::default(),
                })
                .collect(),
            direct_meters: vec![EntryCells::default(); program.meters.len()],
            last_hits: vec![EntryCells::default(); program.tables.len()],
        }
    }

    /// A register array.
    pub fn register(&self, register: RegisterId) -> Option<&RegisterCells> {
        self.registers.get(register.index())
    }

    /// A register array, for writing.
    pub fn register_mut(&mut self, register: RegisterId) -> Option<&mut RegisterCells> {
        self.registers.get_mut(register.index())
    }

    /// Number of cells of a counter; 0 for a direct one.
    pub fn counter_size(&self, counter: CounterId) -> u64 {
        self.counters.get(counter.index()).map_or(0, CounterCells::size)
    }

    /// A counter cell; `None` outside the array.
    pub fn counter(&self, counter: CounterId, index: u64) -> Option<CounterValue> {
        self.counters.get(counter.index())?.read(index)
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

    /// An entry's cell of a direct counter; `None` is the default action's.
    pub fn direct_counter(&self, counter: CounterId, entry: Option<&EntryRecord>) -> CounterValue {
        self.direct_counters
            .get(counter.index())
            .map_or_else(Default::default, |cells| cells.read(entry))
    }

    /// Sets an entry's cell of a direct counter; `None` is the default action's.
    pub fn set_direct_counter(
        &mut self,
        counter: CounterId,
        entry: Option<&EntryRecord>,
        value: CounterValue,
    ) {
        if let Some(cell) =
            self.direct_counters.get_mut(counter.index()).and_then(|cells| cells.cell(entry))
        {
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
        if let Some(cell) =
            self.direct_counters.get_mut(counter.index()).and_then(|cells| cells.cell(entry))
        {
            *cell = cell.add(packet_bytes);
        }
    }

    /// Number of cells of a meter; 0 for a direct one.
    pub fn meter_size(&self, meter: MeterId) -> u64 {
        self.meters.get(meter.index()).map_or(0, |cells| cells.size)
    }

    /// How a meter cell is configured.
    pub fn meter(&self, meter: MeterId, index: u64) -> Option<MeterConfiguration> {
        self.meters.get(meter.index())?.cells.get(&index).map(MeterCell::configuration)
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
        self.meters.get(meter.index())?.cells.get(&index).copied()
    }

    pub(crate) fn restore_meter(&mut self, meter: MeterId, index: u64, cell: Option<MeterCell>) {
        let Some(cells) = self.meters.get_mut(meter.index()) else { return };
        match cell {
            Some(cell) if index < cells.size => {
                cells.cells.insert(index, cell);
            }
            _ => {
                cells.cells.remove(&index);
            }
        }
    }

    /// Meters a packet; green outside the array and where nothing is configured.
    pub fn mark(&mut self, meter: MeterId, index: u64, packet_bytes: u64, now_ps: u64) -> Colour {
        let Some(cells) = self.meters.get_mut(meter.index()) else { return Colour::Green };
        let units = metered_units(cells.unit, packet_bytes);
        cells.cells.get_mut(&index).map_or(Colour::Green, |cell| cell.mark(units, now_ps))
    }

    /// How an entry's cell of a direct meter is configured; `None` is the default action's.
    pub fn direct_meter(
        &self,
        meter: MeterId,
        entry: Option<&EntryRecord>,
    ) -> Option<MeterConfiguration> {
        self.direct_meters.get(meter.index())?.read(entry).as_ref().map(MeterCell::configuration)
    }

    /// Configures an entry's cell of a direct meter, whose buckets are full then.
    pub fn configure_direct_meter(
        &mut self,
        meter: MeterId,
        entry: Option<&EntryRecord>,
        configuration: Option<MeterConfiguration>,
        now_ps: u64,
    ) {
        if let Some(cell) =
            self.direct_meters.get_mut(meter.index()).and_then(|cells| cells.cell(entry))
        {
            *cell = configuration.map(|configuration| MeterCell::new(configuration, now_ps));
        }
    }

    /// A direct counter's cell as it is, whoever has it.
    pub(crate) fn direct_counter_snapshot(
        &self,
        counter: CounterId,
        entry: Option<&EntryRecord>,
    ) -> Snapshot<CounterValue> {
        snapshot(self.direct_counters.get(counter.index()), entry)
    }

    pub(crate) fn restore_direct_counter(
        &mut self,
        counter: CounterId,
        snapshot: Snapshot<CounterValue>,
    ) {
        restore(self.direct_counters.get_mut(counter.index()), snapshot);
    }

    /// A direct meter's cell as it is, whoever has it.
    pub(crate) fn direct_meter_snapshot(
        &self,
        meter: MeterId,
        entry: Option<&EntryRecord>,
    ) -> Snapshot<Option<MeterCell>> {
        snapshot(self.direct_meters.get(meter.index()), entry)
    }

    pub(crate) fn restore_direct_meter(
        &mut self,
        meter: MeterId,
        snapshot: Snapshot<Option<MeterCell>>,
    ) {
        restore(self.direct_meters.get_mut(meter.index()), snapshot);
    }

    /// Meters a packet at an entry; green where nothing is configured.
    pub fn mark_direct(
        &mut self,
        meter: MeterId,
        entry: Option<&EntryRecord>,
        packet_bytes: u64,
        now_ps: u64,
    ) -> Colour {
        let unit = self.meters.get(meter.index()).map_or(CountUnit::Packets, |cells| cells.unit);
        self.direct_meters
            .get_mut(meter.index())
            .and_then(|cells| cells.cell(entry))
            .and_then(Option::as_mut)
            .map_or(Colour::Green, |cell| cell.mark(metered_units(unit, packet_bytes), now_ps))
    }

    /// Notes that an entry was hit.
    pub fn note_hit(&mut self, table: TableId, entry: &EntryRecord, now_ps: u64) {
        if entry.idle_timeout_ns != 0
            && let Some(cell) =
                self.last_hits.get_mut(table.index()).and_then(|cells| cells.cell(Some(entry)))
        {
            *cell = LastHit { at_ps: now_ps, is_reported: false };
        }
    }

    /// When an entry with an idle timeout was last hit, or else inserted.
    pub fn last_hit_ps(&self, table: TableId, entry: &EntryRecord) -> u64 {
        self.last_hits
            .get(table.index())
            .map_or(0, |cells| cells.read(Some(entry)).at_ps)
            .max(entry.inserted_ps)
    }

    /// Entries that went without a hit for as long as their idle timeout. Each is told once, until it
    /// is hit again.
    pub fn take_idle_entries(
        &mut self,
        configuration: &Configuration,
        now_ps: u64,
    ) -> Vec<(TableId, Arc<EntryRecord>)> {
        let mut idle = Vec::new();
        for (number, table) in configuration.program().tables.iter().enumerate() {
            let id = TableId(number as u32);
            if !table.idle_timeout {
                continue;
            }
            for entry in configuration.table(id).into_iter().flat_map(|table| table.entries()) {
                if entry.idle_timeout_ns == 0 {
                    continue;
                }
                let idle_ps = now_ps.saturating_sub(self.last_hit_ps(id, entry));
                let limit_ps = u128::from(entry.idle_timeout_ns) * 1_000;
                let cell = self.last_hits.get_mut(number).and_then(|cells| cells.cell(Some(entry)));
                if u128::from(idle_ps) >= limit_ps
                    && let Some(cell) = cell
                    && !cell.is_reported
                {
                    cell.is_reported = true;
                    idle.push((id, entry.clone()));
                }
            }
        }
        idle
    }
}

fn metered_units(unit: CountUnit, packet_bytes: u64) -> u64 {
    match unit {
        CountUnit::Packets => 1,
        CountUnit::Bytes | CountUnit::PacketsAndBytes => packet_bytes,
    }
}
