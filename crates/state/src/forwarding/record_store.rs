// SPDX-License-Identifier: Apache-2.0
//! `RecordStore`: the records of one table in one vector of words. A record has the number of its entry's place, or
//! entries with equal content share one. `record` has the layout.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// The map from contents to shared records.
#[derive(Clone, Debug, Default)]
struct Sharing {
    numbers: HashTable<u32>,
    /// Number of entries of each record; 0 for a free record.
    uses: Vec<u32>,
    free: Vec<u32>,
    /// The number of the record of the entry at each place.
    number_of_place: Vec<u32>,
}

/// The records of one table.
#[derive(Clone, Debug)]
pub(super) struct RecordStore {
    stride_words: usize,
    words: Vec<u64>,
    /// `None` where the record of the entry at place p has number p.
    sharing: Option<Sharing>,
}

fn hash(record: &[u64]) -> u64 {
    FixedState::default().hash_one(record)
}

fn record_at(words: &[u64], stride_words: usize, number: u32) -> &[u64] {
    let at = number as usize * stride_words;
    &words[at..at + stride_words]
}

/// The record of this number of words at an address within `words`.
pub(super) fn words_at_address(
    words: &[u64],
    address: usize,
    stride_words: usize,
) -> Option<&[u64]> {
    let at = address.checked_sub(words.as_ptr() as usize)? / size_of::<u64>();
    words.get(at..at.checked_add(stride_words)?)
}

impl RecordStore {
    pub(super) fn new(stride_words: usize, is_shared: bool) -> RecordStore {
        RecordStore { stride_words, words: Vec::new(), sharing: is_shared.then(Sharing::default) }
    }

    /// The number of the record of the entry at `place`, of which there is one.
    pub(super) fn number(&self, place: u32) -> u32 {
        match &self.sharing {
            None => place,
            Some(sharing) => sharing.number_of_place.get(place as usize).copied().unwrap_or(0),
        }
    }

    /// Address and bytes of the records, with room for more.
    pub(super) fn lookup_memory(&self) -> (usize, usize) {
        (self.words.as_ptr() as usize, self.words.capacity() * size_of::<u64>())
    }

    /// Returns the memory that lookups touch.
    pub(super) fn lookup_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The words of a record.
    pub(super) fn record(&self, number: u32) -> &[u64] {
        record_at(&self.words, self.stride_words, number)
    }

    /// Adds the record of the entry at `place`, which has none. Returns its number.
    pub(super) fn give(&mut self, place: u32, record: &[u64]) -> u32 {
        let RecordStore { stride_words, words, sharing } = self;
        let stride_words = *stride_words;
        let Some(sharing) = sharing else {
            let end = (place as usize + 1) * stride_words;
            if words.len() < end {
                words.resize(end, 0);
            }
            words[end - stride_words..end].copy_from_slice(record);
            return place;
        };
        let Sharing { numbers, uses, free, number_of_place } = sharing;
        let hashed = hash(record);
        let equal = |&number: &u32| record_at(words, stride_words, number) == record;
        let number = match numbers.find(hashed, equal) {
            Some(&number) => {
                uses[number as usize] += 1;
                number
            }
            None => {
                let number = match free.pop() {
                    Some(number) => {
                        let at = number as usize * stride_words;
                        words[at..at + stride_words].copy_from_slice(record);
                        uses[number as usize] = 1;
                        number
                    }
                    None => {
                        words.extend_from_slice(record);
                        uses.push(1);
                        (uses.len() - 1) as u32
                    }
                };
                let rehash = |&number: &u32| hash(record_at(words, stride_words, number));
                numbers.insert_unique(hashed, number, rehash);
                number
            }
        };
        if number_of_place.len() <= place as usize {
            number_of_place.resize(place as usize + 1, 0);
        }
        number_of_place[place as usize] = number;
        number
    }

    /// Removes the record of the entry at `place`.
    pub(super) fn take(&mut self, place: u32) {
        let number = self.number(place);
        let RecordStore { stride_words, words, sharing } = self;
        let Some(sharing) = sharing else { return };
        let Some(uses) = sharing.uses.get_mut(number as usize) else { return };
        *uses -= 1;
        if *uses == 0 {
            let hashed = hash(record_at(words, *stride_words, number));
            if let Ok(found) = sharing.numbers.find_entry(hashed, |&other| other == number) {
                found.remove();
            }
            sharing.free.push(number);
        }
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        if let Some(sharing) = &mut self.sharing {
            *sharing = Sharing::default();
        }
    }

    /// Returns the address of a record, valid until the next change.
    #[inline(always)]
    pub(super) fn address(&self, number: u32) -> usize {
        self.words.as_ptr() as usize + number as usize * self.stride_words * size_of::<u64>()
    }

    /// The record at an address that [`RecordStore::address`] gave.
    pub(super) fn at_address(&self, address: usize) -> Option<&[u64]> {
        words_at_address(&self.words, address, self.stride_words)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let sharing = self.sharing.as_ref().map_or(0, |sharing| {
            let vectors = sharing.uses.capacity()
                + sharing.free.capacity()
                + sharing.number_of_place.capacity();
            vectors * size_of::<u32>() + sharing.numbers.allocation_size()
        });
        self.words.capacity() * size_of::<u64>() + sharing
    }
}

#[cfg(test)]
mod tests {
    use super::RecordStore;

    #[test]
    fn equal_records_are_shared_until_the_last_goes() {
        let mut store = RecordStore::new(2, true);
        assert_eq!(store.give(0, &[7, 1]), 0);
        assert_eq!(store.give(5, &[7, 2]), 1);
        assert_eq!(store.give(2, &[7, 1]), 0);
        store.take(0);
        assert_eq!((store.number(2), store.record(0)), (0, &[7, 1][..]));
        store.take(2);
        // The number is free, and the record is not found any more.
        assert_eq!(store.give(1, &[7, 3]), 0);
        assert_eq!(store.give(0, &[7, 1]), 2);
        assert_eq!(store.at_address(store.address(2)), Some(&[7, 1][..]));
        assert_eq!(store.address(1) - store.address(0), 16);
    }

    #[test]
    fn records_of_their_own_stand_at_their_places() {
        let mut store = RecordStore::new(1, false);
        assert_eq!(store.give(3, &[9]), 3);
        assert_eq!(store.give(1, &[9]), 1);
        assert_eq!((store.number(3), store.record(3)), (3, &[9][..]));
        store.take(3);
        assert_eq!(store.record(1), [9]);
    }
}
