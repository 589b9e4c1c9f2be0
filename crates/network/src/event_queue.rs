// SPDX-License-Identifier: Apache-2.0
//! `EventQueue`: the future events of a discrete-event simulation, ordered by time, then rank, then insertion. Times of
//! pops never decrease.
//!
//! The queue is a hierarchical timing wheel: it reads the time, in units of about a nanosecond, as digits of 8 bits. An
//! event waits in the slot of its highest digit that differs from the current time. When the current time reaches that
//! slot, its events move to lower digits, so each event moves a few times, independent of the number of events. A heap
//! holds only the events of the current unit.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Bits of a time in picoseconds below the wheel's unit (1.024 ns).
const UNIT_BITS: u32 = 10;
const DIGIT_BITS: u32 = 8;
const SLOTS: usize = 1 << DIGIT_BITS;
/// Enough digits for every time.
const LEVELS: usize = (64 - UNIT_BITS).div_ceil(DIGIT_BITS) as usize;

/// An event with its place in the order.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    time_ps: u64,
    rank: u64,
    sequence: u64,
    item: T,
}

impl<T> Entry<T> {
    fn key(&self) -> (u64, u64, u64) {
        (self.time_ps, self.rank, self.sequence)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Entry<T>) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Entry<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    /// Reversed, because the heap pops its greatest element and the queue its earliest event.
    fn cmp(&self, other: &Entry<T>) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// One digit's slots, and which of them hold events.
#[derive(Clone, Debug)]
struct Level<T> {
    slots: Vec<Vec<Entry<T>>>,
    occupied: [u64; SLOTS / 64],
}

impl<T> Level<T> {
    fn new() -> Level<T> {
        Level { slots: (0..SLOTS).map(|_| Vec::new()).collect(), occupied: [0; SLOTS / 64] }
    }

    fn first_occupied(&self) -> Option<usize> {
        let word = self.occupied.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }
}

/// Future events of any kind.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    levels: Vec<Level<T>>,
    /// Events of the current unit, and events inserted for a time in the past.
    ready: BinaryHeap<Entry<T>>,
    /// The current time in units.
    unit: u64,
    /// Memory of the last emptied slot for reuse.
    spare: Vec<Entry<T>>,
    sequence: u64,
    length: usize,
}

impl<T> Default for EventQueue<T> {
    fn default() -> EventQueue<T> {
        EventQueue::new()
    }
}

impl<T> EventQueue<T> {
    /// Makes an empty queue at time 0.
    pub fn new() -> EventQueue<T> {
        EventQueue {
            levels: (0..LEVELS).map(|_| Level::new()).collect(),
            ready: BinaryHeap::new(),
            unit: 0,
            spare: Vec::new(),
            sequence: 0,
            length: 0,
        }
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Inserts an event. At equal times the lower rank comes first, at equal ranks the event inserted first.
    pub fn push(&mut self, time_ps: u64, rank: u64, item: T) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.length += 1;
        self.place(Entry { time_ps, rank, sequence, item });
    }

    #[inline]
    fn place(&mut self, entry: Entry<T>) {
        let unit = entry.time_ps >> UNIT_BITS;
        if unit <= self.unit {
            self.ready.push(entry);
            return;
        }
        let highest_bit = 63 - (unit ^ self.unit).leading_zeros();
        let level = highest_bit / DIGIT_BITS;
        let slot = (unit >> (level * DIGIT_BITS)) as usize % SLOTS;
        let level = &mut self.levels[level as usize];
        level.slots[slot].push(entry);
        level.occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// Advances to the next unit that has events, if the current one has none left.
    fn settle(&mut self) {
        while self.ready.is_empty() {
            // A lower level's events all come before a higher one's.
            let found = self
                .levels
                .iter()
                .enumerate()
                .find_map(|(at, level)| level.first_occupied().map(|slot| (at as u32, slot)));
            let Some((at, slot)) = found else { return };
            let shift = at * DIGIT_BITS;
            let above = self.unit >> shift >> DIGIT_BITS << DIGIT_BITS << shift;
            self.unit = above | (slot as u64) << shift;
            let level = &mut self.levels[at as usize];
            level.occupied[slot / 64] &= !(1 << (slot % 64));
            let mut moving =
                std::mem::replace(&mut level.slots[slot], std::mem::take(&mut self.spare));
            if at == 0 {
                self.ready.extend(moving.drain(..));
            } else {
                for entry in moving.drain(..) {
                    self.place(entry);
                }
            }
            self.spare = moving;
        }
    }

    /// Returns time and rank of the next event. May rearrange the queue.
    pub fn peek(&mut self) -> Option<(u64, u64)> {
        self.settle();
        self.ready.peek().map(|entry| (entry.time_ps, entry.rank))
    }

    /// Takes the next event with its time and rank.
    pub fn pop(&mut self) -> Option<(u64, u64, T)> {
        self.settle();
        let entry = self.ready.pop()?;
        self.length -= 1;
        Some((entry.time_ps, entry.rank, entry.item))
    }

    /// Returns the time of the next event without rearranging the queue, in time linear in the events of one slot.
    pub fn next_time_ps(&self) -> Option<u64> {
        if let Some(entry) = self.ready.peek() {
            return Some(entry.time_ps);
        }
        self.levels.iter().find_map(|level| {
            let slot = level.first_occupied()?;
            level.slots[slot].iter().map(|entry| entry.time_ps).min()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Against a sorted list: pushes at the present plus a distance of any size, pops in between.
    fn agrees(steps: &[(u8, u64, u64)]) {
        let mut queue = EventQueue::new();
        let mut model: Vec<(u64, u64, usize)> = Vec::new();
        let mut now = 0;
        for (number, (digits, distance, rank)) in steps.iter().enumerate() {
            let distance = distance >> (u32::from(*digits) % 64);
            let time = now + distance.min(1 << 50);
            queue.push(time, rank % 3, number);
            model.push((time, rank % 3, number));
            if rank % 2 == 0 {
                model.sort_unstable();
                let first = model.remove(0);
                assert_eq!(queue.next_time_ps(), Some(first.0));
                assert_eq!(queue.peek(), Some((first.0, first.1)));
                assert_eq!(queue.pop(), Some(first));
                now = first.0;
            }
        }
        model.sort_unstable();
        for first in model {
            assert_eq!(queue.pop(), Some(first));
        }
        assert_eq!(queue.pop(), None);
        assert!(queue.is_empty());
    }

    proptest! {
        #[test]
        fn order_is_time_rank_sequence(
            steps in prop::collection::vec((any::<u8>(), any::<u64>(), any::<u64>()), 0..200)
        ) {
            agrees(&steps);
        }
    }

    #[test]
    fn an_event_for_a_time_that_is_over_comes_next() {
        let mut queue = EventQueue::new();
        queue.push(5_000_000, 0, "late");
        queue.push(1_000_000, 0, "early");
        assert_eq!(queue.pop(), Some((1_000_000, 0, "early")));
        queue.push(10, 0, "over");
        assert_eq!(queue.pop(), Some((10, 0, "over")));
        assert_eq!(queue.pop(), Some((5_000_000, 0, "late")));
    }

    #[test]
    fn the_end_of_time_is_reached() {
        let mut queue = EventQueue::new();
        queue.push(u64::MAX, 1, 1);
        queue.push(u64::MAX, 0, 0);
        queue.push(3, 0, 2);
        let order: Vec<i32> = std::iter::from_fn(|| queue.pop().map(|entry| entry.2)).collect();
        assert_eq!(order, [2, 0, 1]);
    }
}
