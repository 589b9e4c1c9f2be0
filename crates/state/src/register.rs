// SPDX-License-Identifier: Apache-2.0
//! The cells of one register array. Which packet may touch them when is the engine's and the device's
//! matter.

use foldhash::fast::FixedState;
use ir::{Bits, RegisterArray};
use std::collections::HashMap;

/// Arrays up to this size are held flat; larger ones keep only the cells that were written.
const LARGEST_FLAT_ARRAY_CELLS: u64 = 1 << 24;

#[derive(Clone, Debug)]
enum Layout {
    /// Cells of up to 64 bits.
    Words(Vec<u64>),
    /// Written cells only.
    Written(HashMap<u64, Bits, FixedState>),
}

/// The cells of one register array in one pipeline instance.
#[derive(Clone, Debug)]
pub struct RegisterCells {
    width_bits: u32,
    size: u64,
    initial: Bits,
    layout: Layout,
}

impl RegisterCells {
    /// An array with the program's initial values.
    pub(crate) fn new(array: &RegisterArray) -> RegisterCells {
        let layout = match usize::try_from(array.size) {
            Ok(size) if array.width_bits <= 64 && array.size <= LARGEST_FLAT_ARRAY_CELLS => {
                Layout::Words(vec![array.initial.low_u64(); size])
            }
            _ => Layout::Written(HashMap::default()),
        };
        RegisterCells {
            width_bits: array.width_bits,
            size: array.size,
            initial: array.initial.clone(),
            layout,
        }
    }

    /// Number of cells.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Width of a cell in bits.
    pub fn width_bits(&self) -> u32 {
        self.width_bits
    }

    /// A cell's value; `None` outside the array.
    pub fn read(&self, index: u64) -> Option<Bits> {
        if index >= self.size {
            return None;
        }
        match &self.layout {
            Layout::Words(words) => {
                words.get(index as usize).map(|&word| Bits::from_u64(self.width_bits, word))
            }
            Layout::Written(cells) => {
                Some(cells.get(&index).cloned().unwrap_or_else(|| self.initial.clone()))
            }
        }
    }

    /// Writes a cell; nothing happens outside the array. The value has the cell's width.
    pub fn write(&mut self, index: u64, value: Bits) {
        debug_assert_eq!(value.width_bits(), self.width_bits);
        if index >= self.size {
            return;
        }
        match &mut self.layout {
            Layout::Words(words) => {
                if let Some(word) = words.get_mut(index as usize) {
                    *word = value.low_u64();
                }
            }
            Layout::Written(cells) => {
                if value == self.initial {
                    cells.remove(&index);
                } else {
                    cells.insert(index, value);
                }
            }
        }
    }

    /// Writes every cell.
    pub(crate) fn fill(&mut self, value: &Bits) {
        match &mut self.layout {
            Layout::Words(words) => words.fill(value.low_u64()),
            Layout::Written(cells) => {
                // What is not written has the initial value, so a sparse array takes the new one as
                // its initial value.
                cells.clear();
                self.initial = value.clone();
            }
        }
    }
}
