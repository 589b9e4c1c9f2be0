// SPDX-License-Identifier: Apache-2.0
//! [`Turns`]: the order of the accesses to a group's cells at their owner (MP5 §3.2, phantoms). Phantoms come in the order of
//! arrival of their packets. A packet, or the word that its access does not happen, comes at any time, also before its
//! phantom.

use std::collections::{BTreeMap, VecDeque};

/// A place in the order.
#[derive(Clone, Debug)]
enum Turn<F> {
    /// The packet has not come yet.
    Phantom,
    /// The packet waits for its turn.
    Waiting(F),
    /// The access does not happen.
    Cancelled,
}

/// The order of the accesses to a group's cells of one owner. Packets have their numbers in the order of arrival.
#[derive(Clone, Debug)]
pub(super) struct Turns<F> {
    /// In ascending order of numbers.
    order: VecDeque<(u64, Turn<F>)>,
    /// What came before its phantom.
    early: BTreeMap<u64, Turn<F>>,
}

impl<F> Default for Turns<F> {
    fn default() -> Turns<F> {
        Turns { order: VecDeque::new(), early: BTreeMap::new() }
    }
}

impl<F> Turns<F> {
    /// Adds a phantom behind all others.
    pub(super) fn place(&mut self, number: u64) {
        debug_assert!(self.order.back().is_none_or(|(last, _)| *last < number));
        let turn = match self.early.is_empty() {
            true => Turn::Phantom,
            false => self.early.remove(&number).unwrap_or(Turn::Phantom),
        };
        self.order.push_back((number, turn));
    }

    /// A packet waits for its turn.
    pub(super) fn arrive(&mut self, number: u64, packet: F) {
        self.set(number, Turn::Waiting(packet));
    }

    /// A packet's access does not happen.
    pub(super) fn cancel(&mut self, number: u64) {
        self.set(number, Turn::Cancelled);
    }

    fn set(&mut self, number: u64, turn: Turn<F>) {
        // Most turns are taken in order.
        let place = match self.order.front() {
            Some((first, _)) if *first == number => Ok(0),
            _ => self.order.binary_search_by_key(&number, |(number, _)| *number),
        };
        match place {
            Ok(place) => self.order[place].1 = turn,
            Err(_) => {
                self.early.insert(number, turn);
            }
        }
    }

    /// Takes the packet whose turn it is, if it has come.
    pub(super) fn take(&mut self) -> Option<F> {
        while let Some((_, Turn::Cancelled)) = self.order.front() {
            self.order.pop_front();
        }
        match self.order.front() {
            Some((_, Turn::Waiting(_))) => match self.order.pop_front() {
                Some((_, Turn::Waiting(packet))) => Some(packet),
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes the turn of a packet that is at hand; false if it is not its turn.
    pub(super) fn take_turn(&mut self, number: u64) -> bool {
        while let Some((_, Turn::Cancelled)) = self.order.front() {
            self.order.pop_front();
        }
        let is_first =
            matches!(self.order.front(), Some((first, Turn::Phantom)) if *first == number);
        if is_first {
            self.order.pop_front();
        }
        is_first
    }

    /// Whether [`Turns::take`] has a packet.
    pub(super) fn is_ready(&self) -> bool {
        let mut turns = self.order.iter();
        let first = turns.find(|(_, turn)| !matches!(turn, Turn::Cancelled));
        matches!(first, Some((_, Turn::Waiting(_))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What happens to the packets 0, 1 and 2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Step {
        Place(u64),
        Come(u64),
        Take,
    }

    /// Tries all orders of the steps that are left; phantoms come in order.
    fn explore(turns: &Turns<u64>, left: &[Step], cancelled: u64, taken: &[u64], runs: &mut u32) {
        if left.is_empty() {
            let (mut turns, mut taken) = (turns.clone(), taken.to_vec());
            taken.extend(std::iter::from_fn(|| turns.take()));
            let expected: Vec<u64> = (0..3).filter(|number| cancelled >> number & 1 == 0).collect();
            assert_eq!(taken, expected);
            assert!(turns.order.is_empty() && turns.early.is_empty());
            *runs += 1;
            return;
        }
        for at in 0..left.len() {
            if left[..at].contains(&left[at]) {
                continue;
            }
            if let Step::Place(number) = left[at]
                && left[..at].iter().any(|step| matches!(step, Step::Place(one) if *one < number))
            {
                continue;
            }
            let (mut turns, mut taken) = (turns.clone(), taken.to_vec());
            match left[at] {
                Step::Place(number) => turns.place(number),
                Step::Come(number) if cancelled >> number & 1 == 1 => turns.cancel(number),
                Step::Come(number) if turns.take_turn(number) => taken.push(number),
                Step::Come(number) => turns.arrive(number, number),
                Step::Take => {
                    assert_eq!(turns.is_ready(), turns.clone().take().is_some());
                    taken.extend(turns.take());
                }
            }
            let rest: Vec<Step> = [&left[..at], &left[at + 1..]].concat();
            explore(&turns, &rest, cancelled, &taken, runs);
        }
    }

    #[test]
    fn packets_take_their_turns_in_order_whatever_comes_first() {
        let mut runs = 0;
        for cancelled in 0..8 {
            let steps = [
                Step::Place(0),
                Step::Place(1),
                Step::Place(2),
                Step::Come(0),
                Step::Come(1),
                Step::Come(2),
                Step::Take,
                Step::Take,
            ];
            explore(&Turns::default(), &steps, cancelled, &[], &mut runs);
        }
        // 8 steps, 3 phantoms in one order, 2 takes alike: 8! / (3! * 2!) orders.
        assert_eq!(runs, 8 * 3360);
    }
}
