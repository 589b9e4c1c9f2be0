// SPDX-License-Identifier: Apache-2.0
//! Counters of several pipeline instances: each counts for itself, and the sum is what the program has counted.

use super::Cells;
use crate::counter::{CounterCells, CounterValue};
use crate::entry_cells::EntryCells;

impl Cells {
    /// Sets all counters to zero, those of entries too.
    pub fn clear_counts(&mut self) {
        for counter in &mut self.counters {
            match counter.flat_mut() {
                Some(cells) => cells.fill([0; 2]),
                None => *counter = CounterCells::new(counter.size()),
            }
        }
        self.direct_counters.fill_with(EntryCells::default);
    }

    /// Adds the counts of other cells of the same program, those of entries too.
    pub fn add_counts(&mut self, other: &Cells) {
        for (sum, counter) in self.counters.iter_mut().zip(&other.counters) {
            for (index, value) in counter.counted() {
                if let Some(before) = sum.read(index) {
                    sum.write(index, before.plus(value));
                }
            }
        }
        for (sum, counter) in self.direct_counters.iter_mut().zip(&other.direct_counters) {
            for (entry, value) in counter.cells() {
                if let Some(cell) = sum.cell(entry) {
                    *cell = cell.plus(value);
                }
            }
        }
    }

    /// Says whether all counters have the values of other cells of the same program, those of entries too.
    pub fn has_counts_of(&self, other: &Cells) -> bool {
        let is_zero = |value: CounterValue| value == CounterValue::default();
        let covers = |one: &Cells, other: &Cells| {
            let mut counters = one.counters.iter().zip(&other.counters);
            let mut direct = one.direct_counters.iter().zip(&other.direct_counters);
            counters.all(|(counter, other)| {
                counter.counted().all(|(index, value)| other.read(index) == Some(value))
            }) && direct.all(|(counter, other)| {
                let mut cells = counter.cells();
                cells.all(|(entry, value)| is_zero(value) || other.read(entry) == value)
            })
        };
        covers(self, other) && covers(other, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{CountUnit, Counter, CounterId, OriginId, Program};

    #[test]
    fn counts_of_instances_add_up() {
        let counter = |size| Counter {
            name: "c".into(),
            unit: CountUnit::PacketsAndBytes,
            size,
            origin: OriginId(0),
        };
        let counters = vec![counter(Some(3)), counter(Some(1 << 40)), counter(None)];
        let program = Program { counters, ..Program::default() };
        let [array, large, direct] = [0, 1, 2].map(CounterId);
        let mut one = Cells::new(&program);
        one.count(array, 1, 10);
        one.count(large, 1 << 39, 20);
        one.count_direct(direct, None, 30);
        let before = one.clone();
        let mut other = one.clone();
        other.clear_counts();
        assert!(other.has_counts_of(&Cells::new(&program)) && !other.has_counts_of(&one));
        other.count(array, 2, 1);
        other.count(large, 1 << 39, 2);
        other.count_direct(direct, None, 3);
        one.add_counts(&other);
        let value = |packets, bytes| CounterValue { packets, bytes };
        assert_eq!(one.counter(array, 1), Some(value(1, 10)));
        assert_eq!(one.counter(array, 2), Some(value(1, 1)));
        assert_eq!(one.counter(large, 1 << 39), Some(value(2, 22)));
        assert_eq!(one.direct_counter(direct, None), value(2, 33));
        assert!(!one.has_counts_of(&before) && !before.has_counts_of(&one));
    }
}
