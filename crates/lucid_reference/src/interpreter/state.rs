// SPDX-License-Identifier: Apache-2.0
//! The persistent state of one switch: arrays, pairs, counters and tables, by global. For handlers and
//! commands alike, cells wrap at their width, reads beyond the end of an array find no cell, and a full
//! table takes no entry.

use super::value::Value;
use lucid::core::arithmetic::mask;
use lucid::core::{ActionId, GlobalId, GlobalKind, Program};

/// State of all globals of a program at one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    globals: Vec<GlobalState>,
}

/// State of one global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobalState {
    /// An array, an array of pairs, or a counter (an array of one cell).
    Cells(Cells),
    /// A match table.
    Table(MatchTable),
}

/// Cells of one width, alone or in pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    width_bits: u32,
    pairs: bool,
    storage: Storage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Storage {
    /// Up to 64 bits.
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
}

impl Cells {
    fn new(width_bits: u32, length: u64, pairs: bool) -> Cells {
        // Whether so much memory may be used was asked before (`bytes_of_state`).
        let count = length as usize * if pairs { 2 } else { 1 };
        let storage = if width_bits <= 64 {
            Storage::Narrow(vec![0; count])
        } else {
            Storage::Wide(vec![0; count])
        };
        Cells { width_bits, pairs, storage }
    }

    /// Width of a cell in bits.
    pub fn width_bits(&self) -> u32 {
        self.width_bits
    }

    /// Whether each index has two cells.
    pub fn is_pairs(&self) -> bool {
        self.pairs
    }

    /// How many indices there are.
    pub fn length(&self) -> u64 {
        let count = match &self.storage {
            Storage::Narrow(cells) => cells.len(),
            Storage::Wide(cells) => cells.len(),
        };
        count as u64 / if self.pairs { 2 } else { 1 }
    }

    /// The cell at an index, or the two; the second is 0 where there is one.
    #[inline]
    pub fn get(&self, index: u128) -> Option<[u128; 2]> {
        let at = usize::try_from(index).ok()?;
        let first = if self.pairs { at.checked_mul(2)? } else { at };
        let cell = |at: usize| match &self.storage {
            Storage::Narrow(cells) => cells.get(at).map(|cell| u128::from(*cell)),
            Storage::Wide(cells) => cells.get(at).copied(),
        };
        Some([cell(first)?, if self.pairs { cell(first + 1)? } else { 0 }])
    }

    /// Sets the cell at an index, or the two, cut to the width. False if there is no such index.
    #[inline]
    pub fn set(&mut self, index: u128, values: [u128; 2]) -> bool {
        let Ok(at) = usize::try_from(index) else { return false };
        if index >= u128::from(self.length()) {
            return false;
        }
        let ones = mask(self.width_bits);
        let (first, count) = if self.pairs { (at * 2, 2) } else { (at, 1) };
        for (offset, value) in values.into_iter().take(count).enumerate() {
            match &mut self.storage {
                Storage::Narrow(cells) => cells[first + offset] = (value & ones) as u64,
                Storage::Wide(cells) => cells[first + offset] = value & ones,
            }
        }
        true
    }
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Value and mask a field; a field of a key matches if they are equal under the mask.
    pub key: Vec<(u128, u128)>,
    /// Lower comes first.
    pub priority: u32,
    /// The action.
    pub action: ActionId,
    /// Its install arguments.
    pub arguments: Vec<Value>,
}

impl Entry {
    /// Its install arguments as control planes write them: booleans are 0 and 1.
    pub fn numbers(&self) -> impl Iterator<Item = u128> {
        self.arguments.iter().map(|argument| match argument {
            Value::Int(value) => *value,
            Value::Bool(value) => u128::from(*value),
            _ => 0,
        })
    }
}

/// A match table. Of the entries that match, the first by priority counts, and of equal ones the
/// one installed first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchTable {
    capacity: u64,
    entries: Vec<Entry>,
}

impl MatchTable {
    /// A table without entries.
    pub fn new(capacity: u64) -> MatchTable {
        MatchTable { capacity, entries: Vec::new() }
    }

    /// How many entries it may hold.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// In the order in which they are tried.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds an entry; false if the table is full.
    pub fn install(&mut self, entry: Entry) -> bool {
        if self.entries.len() as u64 >= self.capacity {
            return false;
        }
        let at = self.entries.partition_point(|other| other.priority <= entry.priority);
        self.entries.insert(at, entry);
        true
    }

    /// Removes the entries with exactly this key; returns how many there were.
    pub fn remove(&mut self, key: &[(u128, u128)]) -> usize {
        let before = self.entries.len();
        let same = |entry: &Entry| {
            entry.key.len() == key.len()
                && entry
                    .key
                    .iter()
                    .zip(key)
                    .all(|(one, other)| one.1 == other.1 && one.0 & one.1 == other.0 & other.1)
        };
        self.entries.retain(|entry| !same(entry));
        before - self.entries.len()
    }

    /// The entry that a key hits.
    pub fn lookup(&self, key: &[u128]) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            entry.key.iter().zip(key).all(|((value, mask), field)| field & mask == value & mask)
        })
    }
}

/// How much memory the arrays of a program take at one switch, in bytes.
pub fn bytes_of_state(program: &Program) -> u128 {
    let cells = |width_bits: u32, count: u128| count * if width_bits <= 64 { 8 } else { 16 };
    let of = |kind: &GlobalKind| match kind {
        GlobalKind::Array { width_bits, length } => cells(*width_bits, u128::from(*length)),
        GlobalKind::PairArray { width_bits, length } => cells(*width_bits, 2 * u128::from(*length)),
        GlobalKind::Counter { .. } | GlobalKind::Table(_) => 16,
    };
    program.globals.iter().map(|global| of(&global.kind)).sum()
}

impl State {
    /// As a switch begins: cells are zero, counters have their initial value, tables are empty.
    pub fn new(program: &Program) -> State {
        let begin = |kind: &GlobalKind| match kind {
            GlobalKind::Array { width_bits, length } => {
                GlobalState::Cells(Cells::new(*width_bits, *length, false))
            }
            GlobalKind::PairArray { width_bits, length } => {
                GlobalState::Cells(Cells::new(*width_bits, *length, true))
            }
            GlobalKind::Counter { width_bits, initial } => {
                let mut cells = Cells::new(*width_bits, 1, false);
                cells.set(0, [*initial, 0]);
                GlobalState::Cells(cells)
            }
            GlobalKind::Table(table) => GlobalState::Table(MatchTable::new(table.capacity)),
        };
        State { globals: program.globals.iter().map(|global| begin(&global.kind)).collect() }
    }

    /// The state of a global.
    pub fn global(&self, global: GlobalId) -> Option<&GlobalState> {
        self.globals.get(global.0 as usize)
    }

    /// All globals in order.
    pub fn globals(&self) -> &[GlobalState] {
        &self.globals
    }

    /// An array, an array of pairs or a counter.
    #[inline]
    pub fn cells(&self, global: GlobalId) -> Option<&Cells> {
        match self.globals.get(global.0 as usize)? {
            GlobalState::Cells(cells) => Some(cells),
            GlobalState::Table(_) => None,
        }
    }

    /// An array, an array of pairs or a counter, to change it.
    #[inline]
    pub fn cells_mut(&mut self, global: GlobalId) -> Option<&mut Cells> {
        match self.globals.get_mut(global.0 as usize)? {
            GlobalState::Cells(cells) => Some(cells),
            GlobalState::Table(_) => None,
        }
    }

    /// A table.
    pub fn table(&self, global: GlobalId) -> Option<&MatchTable> {
        match self.globals.get(global.0 as usize)? {
            GlobalState::Table(table) => Some(table),
            GlobalState::Cells(_) => None,
        }
    }

    /// A table, to change it.
    pub fn table_mut(&mut self, global: GlobalId) -> Option<&mut MatchTable> {
        match self.globals.get_mut(global.0 as usize)? {
            GlobalState::Table(table) => Some(table),
            GlobalState::Cells(_) => None,
        }
    }
}
