// SPDX-License-Identifier: Apache-2.0
//! [`SlotSet`]: a bit set over the slots of one program. Sets of different programs are never
//! mixed.

use crate::{Program, SlotId};

/// A set of slots of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SlotSet(Vec<u64>);

impl SlotSet {
    /// The empty set.
    pub fn empty(program: &Program) -> SlotSet {
        SlotSet(vec![0; program.slots.len().div_ceil(64)])
    }

    /// All slots.
    pub fn full(program: &Program) -> SlotSet {
        let mut set = SlotSet::empty(program);
        set.extend((0..program.slots.len() as u32).map(SlotId));
        set
    }

    /// These slots.
    pub fn of(program: &Program, slots: impl IntoIterator<Item = SlotId>) -> SlotSet {
        let mut set = SlotSet::empty(program);
        set.extend(slots);
        set
    }

    /// Adds a slot.
    pub fn insert(&mut self, slot: SlotId) {
        self.0[slot.index() / 64] |= 1 << (slot.index() % 64);
    }

    /// Adds slots.
    pub fn extend(&mut self, slots: impl IntoIterator<Item = SlotId>) {
        slots.into_iter().for_each(|slot| self.insert(slot));
    }

    /// Takes a slot out.
    pub fn remove(&mut self, slot: SlotId) {
        self.0[slot.index() / 64] &= !(1 << (slot.index() % 64));
    }

    /// Whether a slot is in it.
    pub fn contains(&self, slot: SlotId) -> bool {
        self.0[slot.index() / 64] >> (slot.index() % 64) & 1 == 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The slots in order.
    pub fn iter(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(SlotId(at as u32 * 64 + bit))
            })
        })
    }

    /// Adds the other set's slots; whether any of them is new.
    pub fn unite(&mut self, other: &SlotSet) -> bool {
        let mut has_grown = false;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            has_grown |= other & !*word != 0;
            *word |= other;
        }
        has_grown
    }

    /// Adds what is both in `other` and in `mask`; whether any of it is new.
    pub fn unite_masked(&mut self, other: &SlotSet, mask: &SlotSet) -> bool {
        let mut has_grown = false;
        for ((word, other), mask) in self.0.iter_mut().zip(&other.0).zip(&mask.0) {
            has_grown |= other & mask & !*word != 0;
            *word |= other & mask;
        }
        has_grown
    }

    /// Takes out what is not in the other set.
    pub fn intersect(&mut self, other: &SlotSet) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    /// Takes out what is in the other set.
    pub fn subtract(&mut self, other: &SlotSet) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Display, OriginId, Slot, ValueType};

    #[test]
    fn sets_are_sets() {
        let slot = |number: u32| Slot {
            name: format!("s{number}").into(),
            ty: ValueType::Bits(8),
            display: Display::Unsigned,
            origin: OriginId(0),
        };
        let program = Program { slots: (0..130).map(slot).collect(), ..Program::default() };
        let ids = |numbers: &[u32]| numbers.iter().copied().map(SlotId).collect::<Vec<_>>();
        let mut set = SlotSet::of(&program, ids(&[129, 0, 63, 64]));
        assert_eq!(set.iter().collect::<Vec<_>>(), ids(&[0, 63, 64, 129]));
        let other = SlotSet::of(&program, ids(&[1, 64]));
        let mask = SlotSet::of(&program, ids(&[64, 65]));
        assert!(!set.unite_masked(&other, &mask));
        assert!(set.unite(&other) && !set.unite(&other));
        assert_eq!((set.len(), set.contains(SlotId(1))), (5, true));
        set.subtract(&SlotSet::of(&program, ids(&[0, 1])));
        set.intersect(&SlotSet::of(&program, ids(&[0, 1, 129])));
        assert_eq!(set.iter().collect::<Vec<_>>(), ids(&[129]));
        set.remove(SlotId(129));
        assert!(set.is_empty());
        assert_eq!(SlotSet::full(&program).len(), 130);
    }
}
