// SPDX-License-Identifier: Apache-2.0
//! `RegisterCells`: the cells of one register array.

use crate::forwarding::words_of_width;
use foldhash::fast::FixedState;
use ir::{Bits, RegisterArray};
use std::collections::HashMap;

/// Largest number of words of a flat array. Larger arrays store only written cells.
const LARGEST_FLAT_ARRAY_WORDS: u64 = 1 << 24;

#[derive(Debug)]
enum Layout {
    /// All cells end to end.
    Words(Vec<u64>),
    /// Written cells only.
    Written(HashMap<u64, Bits, FixedState>),
}

/// The cells of one register array in one pipeline instance.
#[derive(Debug)]
pub struct RegisterCells {
    width_bits: u32,
    cell_words: usize,
    size: u64,
    initial: Bits,
    layout: Layout,
}

impl Clone for RegisterCells {
    fn clone(&self) -> RegisterCells {
        let layout = match &self.layout {
            Layout::Words(words) => Layout::Words(words.clone()),
            Layout::Written(cells) => Layout::Written(cells.clone()),
        };
        RegisterCells { initial: self.initial.clone(), layout, ..*self }
    }

    /// Keeps the memory of an array of equal width and size, so that addresses of its words stay valid.
    fn clone_from(&mut self, source: &RegisterCells) {
        match (&mut self.layout, &source.layout) {
            (Layout::Words(words), Layout::Words(from)) if words.len() == from.len() => {
                words.copy_from_slice(from);
                self.width_bits = source.width_bits;
                self.cell_words = source.cell_words;
                self.size = source.size;
                self.initial = source.initial.clone();
            }
            _ => *self = source.clone(),
        }
    }
}

impl RegisterCells {
    /// An array with the program's initial values.
    pub(crate) fn new(array: &RegisterArray) -> RegisterCells {
        let cell_words = words_of_width(array.width_bits);
        let layout = match array.size.checked_mul(cell_words as u64) {
            Some(words) if words <= LARGEST_FLAT_ARRAY_WORDS => {
                Layout::Words(vec![0; words as usize])
            }
            _ => Layout::Written(HashMap::default()),
        };
        let mut cells = RegisterCells {
            width_bits: array.width_bits,
            cell_words,
            size: array.size,
            initial: array.initial.clone(),
            layout,
        };
        if !array.initial.is_zero() {
            cells.fill(&array.initial);
        }
        cells
    }

    /// Number of cells.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Width of a cell in bits.
    pub fn width_bits(&self) -> u32 {
        self.width_bits
    }

    /// All cells end to end, the low word of each first, where the array is held flat: up to 2^24 words
    /// altogether. A cell has as many words as its width needs, at least one; bits above the width are
    /// zero and must stay so.
    pub(crate) fn words_mut(&mut self) -> Option<&mut [u64]> {
        match &mut self.layout {
            Layout::Words(words) => Some(words),
            Layout::Written(_) => None,
        }
    }

    fn words_of_cell(&self, index: u64) -> std::ops::Range<usize> {
        let at = index as usize * self.cell_words;
        at..at + self.cell_words
    }

    /// A cell's value; `None` outside the array.
    pub fn read(&self, index: u64) -> Option<Bits> {
        if index >= self.size {
            return None;
        }
        match &self.layout {
            Layout::Words(words) => {
                let words = words.get(self.words_of_cell(index))?;
                Some(Bits::from_words(self.width_bits, words))
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
        let range = self.words_of_cell(index);
        match &mut self.layout {
            Layout::Words(words) => {
                if let Some(words) = words.get_mut(range) {
                    value.write_words(words);
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
            Layout::Words(words) => match self.cell_words {
                1 => words.fill(value.low_u64()),
                _ => {
                    words.chunks_exact_mut(self.cell_words).for_each(|cell| value.write_words(cell))
                }
            },
            Layout::Written(cells) => {
                // Unwritten cells have the initial value, so a sparse array takes the new value as its initial value.
                cells.clear();
                self.initial = value.clone();
            }
        }
    }
}
