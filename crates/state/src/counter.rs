// SPDX-License-Identifier: Apache-2.0
//! The cells of one counter array. Counters that belong to entries are in `entry_cells`.

use foldhash::fast::FixedState;
use std::collections::HashMap;

/// The value of a counter cell. Both parts always count; the program's unit says which one it declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CounterValue {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl CounterValue {
    pub(crate) fn add(self, packet_bytes: u64) -> CounterValue {
        CounterValue {
            packets: self.packets.wrapping_add(1),
            bytes: self.bytes.wrapping_add(packet_bytes),
        }
    }

    pub(crate) fn plus(self, other: CounterValue) -> CounterValue {
        CounterValue {
            packets: self.packets.wrapping_add(other.packets),
            bytes: self.bytes.wrapping_add(other.bytes),
        }
    }
}

/// Arrays up to this size are held flat; larger ones keep only the cells that were written.
const LARGEST_FLAT_ARRAY_CELLS: u64 = 1 << 24;

#[derive(Clone, Debug)]
pub(crate) enum CounterCells {
    /// Packets and bytes.
    Flat(Vec<[u64; 2]>),
    Written(u64, HashMap<u64, CounterValue, FixedState>),
}

impl CounterCells {
    pub(crate) fn new(size: u64) -> CounterCells {
        match usize::try_from(size) {
            Ok(length) if size <= LARGEST_FLAT_ARRAY_CELLS => {
                CounterCells::Flat(vec![[0; 2]; length])
            }
            _ => CounterCells::Written(size, HashMap::default()),
        }
    }

    pub(crate) fn size(&self) -> u64 {
        match self {
            CounterCells::Flat(cells) => cells.len() as u64,
            CounterCells::Written(size, _) => *size,
        }
    }

    pub(crate) fn read(&self, index: u64) -> Option<CounterValue> {
        match self {
            CounterCells::Flat(cells) => cells
                .get(usize::try_from(index).ok()?)
                .map(|&[packets, bytes]| CounterValue { packets, bytes }),
            CounterCells::Written(size, cells) => {
                (index < *size).then(|| cells.get(&index).copied().unwrap_or_default())
            }
        }
    }

    pub(crate) fn write(&mut self, index: u64, value: CounterValue) {
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

    /// The cells that are not zero.
    pub(crate) fn counted(&self) -> Box<dyn Iterator<Item = (u64, CounterValue)> + '_> {
        let is_counted = |(_, value): &(u64, CounterValue)| *value != CounterValue::default();
        match self {
            CounterCells::Flat(cells) => {
                let values = cells.iter().map(|&[packets, bytes]| CounterValue { packets, bytes });
                Box::new((0..).zip(values).filter(is_counted))
            }
            CounterCells::Written(_, cells) => {
                Box::new(cells.iter().map(|(index, value)| (*index, *value)).filter(is_counted))
            }
        }
    }

    /// Packets and bytes of all cells, where the array is held flat.
    pub(crate) fn flat_mut(&mut self) -> Option<&mut [[u64; 2]]> {
        match self {
            CounterCells::Flat(cells) => Some(cells),
            CounterCells::Written(..) => None,
        }
    }

    /// Takes over the cells of an array of the same size; a flat one stays where it is.
    pub(crate) fn copy_from(&mut self, other: &CounterCells) {
        match (&mut *self, other) {
            (CounterCells::Flat(cells), CounterCells::Flat(from)) if cells.len() == from.len() => {
                cells.copy_from_slice(from);
            }
            _ => *self = other.clone(),
        }
    }
}
