// SPDX-License-Identifier: Apache-2.0
//! Latency models: how long a driver takes to serve a batch, and when each item takes effect. A model gives
//! service times; the queue in front of the driver is the device's. Software has no model. [`DriverModel`] reads them from
//! files.

mod file;

pub use file::{DriverModel, EXPLANATIONS, ModelInput};

use crate::target::{DeviceItem, Item};
use state::{BatchItem, CellRange, CellValues, Read, Update};

/// The distribution of a duration, in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duration {
    /// A constant.
    Constant(u64),
    /// Uniform between the two, both included.
    Uniform {
        /// The minimum.
        min_ps: u64,
        /// The maximum.
        max_ps: u64,
    },
    /// A minimum and an exponential tail: `min_ps` and, on average, `mean_ps` more.
    Exponential {
        /// The minimum.
        min_ps: u64,
        /// The mean of the tail.
        mean_ps: u64,
    },
    /// A measured histogram: durations and their weights.
    Measured(Vec<(u64, u32)>),
}

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration::Constant(0);

    /// Returns the duration for 64 random bits, in picoseconds.
    pub fn draw(&self, random: u64) -> u64 {
        match self {
            Duration::Constant(ps) => *ps,
            Duration::Uniform { min_ps, max_ps } => {
                let span = max_ps.saturating_sub(*min_ps);
                let share = (u128::from(random) * (u128::from(span) + 1)) >> 64;
                min_ps.saturating_add(share as u64)
            }
            Duration::Exponential { min_ps, mean_ps } => {
                // In (0, 1], so the logarithm is finite.
                let unit = ((random >> 11) + 1) as f64 / (1u64 << 53) as f64;
                min_ps.saturating_add((-unit.ln() * *mean_ps as f64) as u64)
            }
            Duration::Measured(histogram) => {
                let total: u64 = histogram.iter().map(|(_, weight)| u64::from(*weight)).sum();
                let mut place = ((u128::from(random) * u128::from(total)) >> 64) as u64;
                for (ps, weight) in histogram {
                    if place < u64::from(*weight) {
                        return *ps;
                    }
                    place -= u64::from(*weight);
                }
                0
            }
        }
    }
}

/// What an item is about, as far as its cost goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// An entry is added, changed or removed.
    WriteEntry,
    /// Entries are read.
    ReadEntries,
    /// A default action is set: one write of one register on a chip.
    WriteDefault,
    /// Registers are written.
    WriteRegisters,
    /// Registers are read.
    ReadRegisters,
    /// Counters or meters are written.
    WriteCounters,
    /// Counters or meters are read.
    ReadCounters,
    /// Everything else.
    Other,
}

impl ItemKind {
    /// The kind of an item.
    pub fn of(item: &Item) -> ItemKind {
        match item {
            Item::State(BatchItem::Update(update)) => match update {
                Update::InsertEntry { .. }
                | Update::ModifyEntry { .. }
                | Update::ModifyEntryAt { .. }
                | Update::DeleteEntry { .. }
                | Update::DeleteEntryAt { .. }
                | Update::ClearEntries { .. } => ItemKind::WriteEntry,
                Update::SetDefaultAction { .. } => ItemKind::WriteDefault,
                Update::WriteRegister { .. } => ItemKind::WriteRegisters,
                update if update.touches_cells() => ItemKind::WriteCounters,
                _ => ItemKind::Other,
            },
            Item::State(BatchItem::Read(read)) => match read {
                Read::Entries { .. } | Read::Entry { .. } => ItemKind::ReadEntries,
                Read::Register { .. } => ItemKind::ReadRegisters,
                read if read.touches_cells() => ItemKind::ReadCounters,
                _ => ItemKind::Other,
            },
            Item::Device(DeviceItem::ReadQueue { .. } | DeviceItem::ReadSettings) => {
                ItemKind::ReadCounters
            }
            Item::Device(_) => ItemKind::Other,
        }
    }
}

/// What an item costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemCost {
    /// Whatever its size.
    pub base: Duration,
    /// For each byte of the cells that it names, in picoseconds.
    pub byte_ps: u64,
}

impl ItemCost {
    /// A cost that is always the same.
    pub const fn constant(base_ps: u64, byte_ps: u64) -> ItemCost {
        ItemCost { base: Duration::Constant(base_ps), byte_ps }
    }
}

/// How a device knows that passes have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// It counts them.
    Counted,
    /// It does not; no pass takes longer than this, in picoseconds.
    Bound(u64),
}

/// The driver of a device: how long it takes for batches, and in which pieces they take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyModel {
    /// Before the first item of a batch.
    pub batch: Duration,
    /// Costs of items of these kinds.
    pub items: Vec<(ItemKind, ItemCost)>,
    /// Cost of items of other kinds.
    pub other_items: ItemCost,
    /// From the last effect until the controller knows.
    pub reply: Duration,
    /// Whether all items take effect at one moment, the last; else one after the other, and ranges of cells
    /// cell by cell.
    pub is_atomic: bool,
    /// How barriers complete.
    pub barrier: BarrierKind,
}

impl LatencyModel {
    /// A driver that takes a constant time for each item and nothing else, item by item.
    pub fn per_item(item_ps: u64) -> LatencyModel {
        LatencyModel {
            batch: Duration::ZERO,
            items: Vec::new(),
            other_items: ItemCost::constant(item_ps, 0),
            reply: Duration::ZERO,
            is_atomic: false,
            barrier: BarrierKind::Counted,
        }
    }

    /// The cost of items of a kind.
    pub fn cost(&self, kind: ItemKind) -> &ItemCost {
        let own = self.items.iter().find(|(of, _)| *of == kind);
        own.map_or(&self.other_items, |(_, cost)| cost)
    }
}

/// The cells that an item names one by one: how many, and how to name one of them alone. `None` for items that
/// take effect at one moment under every model.
pub fn cells_of(item: &Item) -> Option<CellRange> {
    match item {
        Item::State(BatchItem::Update(
            Update::WriteRegister { cells, .. }
            | Update::WriteCounter { cells, .. }
            | Update::WriteMeter { cells, .. },
        ))
        | Item::State(BatchItem::Read(
            Read::Register { cells, .. } | Read::Counter { cells, .. } | Read::Meter { cells, .. },
        )) => Some(*cells),
        _ => None,
    }
}

/// The part of an item that is about one of its cells: the one at `place` in its range, with this index.
pub fn cell_item(item: &Item, place: usize, index: u64) -> Item {
    let cells = CellRange::one(index);
    match item.clone() {
        Item::State(BatchItem::Update(update)) => Item::from(match update {
            Update::WriteRegister { register, values, .. } => {
                Update::WriteRegister { register, cells, values: one_value(values, place) }
            }
            Update::WriteCounter { counter, values, .. } => {
                Update::WriteCounter { counter, cells, values: one_value(values, place) }
            }
            Update::WriteMeter { meter, values, .. } => {
                Update::WriteMeter { meter, cells, values: one_value(values, place) }
            }
            other => other,
        }),
        Item::State(BatchItem::Read(read)) => Item::from(match read {
            Read::Register { register, .. } => Read::Register { register, cells },
            Read::Counter { counter, .. } => Read::Counter { counter, cells },
            Read::Meter { meter, .. } => Read::Meter { meter, cells },
            other => other,
        }),
        other => other,
    }
}

fn one_value<T: Clone>(values: CellValues<T>, place: usize) -> CellValues<T> {
    match values {
        CellValues::Each(list) => CellValues::Each(list.into_iter().skip(place).take(1).collect()),
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(duration: &Duration, random: u64, expected_ps: u64) {
        assert_eq!(duration.draw(random), expected_ps);
    }

    #[test]
    fn durations_are_drawn_from_their_range() {
        let uniform = Duration::Uniform { min_ps: 10, max_ps: 19 };
        check(&Duration::Constant(7), u64::MAX, 7);
        check(&uniform, 0, 10);
        check(&uniform, u64::MAX / 2, 14);
        check(&uniform, u64::MAX, 19);
        let tail = Duration::Exponential { min_ps: 100, mean_ps: 1000 };
        check(&tail, u64::MAX, 100);
        check(&tail, u64::MAX / 2, 100 + 693);
        let measured = Duration::Measured(vec![(5, 1), (50, 3)]);
        check(&measured, 0, 5);
        check(&measured, u64::MAX / 4 + 1, 50);
        check(&measured, u64::MAX, 50);
        check(&Duration::Measured(Vec::new()), 3, 0);
    }
}
