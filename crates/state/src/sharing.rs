// SPDX-License-Identifier: Apache-2.0
//! `SharedVec` and `SharedTable`: a vector and a hash table with cheap copies (copy on write). Copies share blocks of
//! up to a thousand elements; a change copies a shared block. Without copies, changes are in place.

use hashbrown::HashTable;
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements of a block, many enough that the blocks of a large vector are on few pages.
const BLOCK_ELEMENTS: usize = 512;

/// Initial number of elements of the first block.
const MIN_ELEMENTS: usize = 4;

/// A vector in blocks. All have [`BLOCK_ELEMENTS`] elements, but for a first one that is not full yet.
#[derive(Clone, Debug)]
pub(crate) struct SharedVec<T> {
    blocks: Vec<Arc<[T]>>,
    length: usize,
}

impl<T> Default for SharedVec<T> {
    fn default() -> Self {
        SharedVec { blocks: Vec::new(), length: 0 }
    }
}

impl<T> SharedVec<T> {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Beyond the end there may be default elements.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.blocks.get(at / BLOCK_ELEMENTS)?.get(at % BLOCK_ELEMENTS)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flat_map(|block| block.iter()).take(self.length)
    }
}

impl<T: Clone + Default> SharedVec<T> {
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let block = self.blocks.get_mut(at / BLOCK_ELEMENTS)?;
        Arc::make_mut(block).get_mut(at % BLOCK_ELEMENTS)
    }

    pub(crate) fn push(&mut self, element: T) {
        let at = self.length;
        let empty = |count| std::iter::repeat_with(T::default).take(count);
        match &mut *self.blocks {
            [] => self.blocks.push(empty(MIN_ELEMENTS).collect()),
            [first] if at == first.len() && at < BLOCK_ELEMENTS => {
                *first = first.iter().cloned().chain(empty(at)).collect();
            }
            _ if at.is_multiple_of(BLOCK_ELEMENTS) => {
                self.blocks.push(empty(BLOCK_ELEMENTS).collect());
            }
            _ => {}
        }
        if let Some(place) = self.get_mut(at) {
            *place = element;
            self.length += 1;
        }
    }
}

/// Average number of elements of a shard at which the number of shards doubles.
const SHARD_ELEMENTS: usize = 1024;

/// A hash table in shards. The caller hashes and compares.
#[derive(Clone, Debug)]
pub(crate) struct SharedTable<T> {
    /// A power of two of them.
    shards: Shards<T>,
    length: usize,
}

type Shards<T> = SmallVec<[Arc<HashTable<T>>; 1]>;

impl<T> Default for SharedTable<T> {
    fn default() -> Self {
        SharedTable { shards: empty_shards(1), length: 0 }
    }
}

fn empty_shards<T>(count: usize) -> Shards<T> {
    (0..count).map(|_| Arc::default()).collect()
}

impl<T> SharedTable<T> {
    /// The shards use other bits of the hash.
    #[inline]
    fn shard(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.shards.len() - 1)
    }

    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<&T> {
        self.shards.get(self.shard(hash))?.find(hash, is_it)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.shards.iter().flat_map(|shard| shard.iter())
    }
}

impl<T: Clone> SharedTable<T> {
    /// The element, for changing, if it is there.
    pub(crate) fn find_mut(&mut self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<&mut T> {
        let at = self.shard(hash);
        Arc::make_mut(self.shards.get_mut(at)?).find_mut(hash, is_it)
    }

    /// Adds an element that is not there.
    pub(crate) fn insert_unique(&mut self, hash: u64, element: T, hasher: impl Fn(&T) -> u64) {
        if self.length >= self.shards.len() * SHARD_ELEMENTS {
            let shards = empty_shards(self.shards.len() * 2);
            let before = std::mem::replace(self, SharedTable { shards, length: 0 });
            for element in before.iter() {
                self.put(hasher(element), element.clone(), &hasher);
            }
        }
        self.put(hash, element, &hasher);
    }

    fn put(&mut self, hash: u64, element: T, hasher: &impl Fn(&T) -> u64) {
        let at = self.shard(hash);
        if let Some(shard) = self.shards.get_mut(at) {
            Arc::make_mut(shard).insert_unique(hash, element, hasher);
            self.length += 1;
        }
    }

    /// Removes the element, if it is there.
    pub(crate) fn remove(&mut self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<T> {
        let at = self.shard(hash);
        let found = Arc::make_mut(self.shards.get_mut(at)?).find_entry(hash, is_it).ok()?;
        self.length -= 1;
        Some(found.remove().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldhash::fast::FixedState;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::hash::BuildHasher;

    #[derive(Clone, Debug)]
    enum Step {
        Put(u16, u32),
        Remove(u16),
        Copy,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let key = 0u16..5000;
        let step = prop_oneof![
            6 => (key.clone(), any::<u32>()).prop_map(|(key, value)| Step::Put(key, value)),
            2 => key.prop_map(Step::Remove),
            1 => Just(Step::Copy),
        ];
        prop::collection::vec(step, 0..4000)
    }

    fn hash(key: u16) -> u64 {
        FixedState::default().hash_one(key)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(testing::cases(8)))]

        #[test]
        fn copies_of_tables_stay_as_they_were(steps in steps()) {
            let mut table = SharedTable::<(u16, u32)>::default();
            let mut model = BTreeMap::new();
            let mut copies = Vec::new();
            for step in steps {
                match step {
                    Step::Put(key, value) => {
                        match table.find_mut(hash(key), |(other, _)| *other == key) {
                            Some(found) => found.1 = value,
                            None => {
                                table.insert_unique(hash(key), (key, value), |it| hash(it.0));
                            }
                        }
                        model.insert(key, value);
                    }
                    Step::Remove(key) => {
                        let removed = table.remove(hash(key), |(other, _)| *other == key);
                        prop_assert_eq!(removed.map(|(_, value)| value), model.remove(&key));
                    }
                    Step::Copy => copies.push((table.clone(), model.clone())),
                }
            }
            copies.push((table, model));
            for (table, model) in copies {
                let content: BTreeMap<u16, u32> = table.iter().copied().collect();
                prop_assert_eq!(table.length, model.len());
                prop_assert_eq!(&content, &model);
                let finds = |key: u16| table.find(hash(key), |(other, _)| *other == key).is_some();
                prop_assert!((0..5000).all(|key| finds(key) == model.contains_key(&key)));
            }
        }

        #[test]
        fn copies_of_vectors_stay_as_they_were(steps in steps()) {
            let mut vector = SharedVec::default();
            let mut model = Vec::new();
            let mut copies = Vec::new();
            for step in steps {
                match step {
                    Step::Put(at, value) if usize::from(at) < model.len() => {
                        model[usize::from(at)] = value;
                        *vector.get_mut(usize::from(at)).expect("an element") = value;
                    }
                    Step::Put(_, value) => {
                        model.push(value);
                        vector.push(value);
                    }
                    Step::Remove(_) => prop_assert_eq!(vector.len(), model.len()),
                    Step::Copy => copies.push((vector.clone(), model.clone())),
                }
            }
            copies.push((vector, model));
            for (vector, model) in copies {
                prop_assert_eq!(vector.len(), model.len());
                prop_assert!((0..model.len()).all(|at| vector.get(at) == model.get(at)));
                prop_assert!(vector.iter().eq(&model));
            }
        }
    }
}
