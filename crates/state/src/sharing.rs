// SPDX-License-Identifier: Apache-2.0
//! A vector and a hash table whose copies share what neither has changed since: a copy has pointers to blocks
//! of some hundred elements, and changing an element copies its block when another copy has it too. Without
//! copies, changes are made in place.

use hashbrown::HashTable;
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements of a leaf, and leaves of a node.
const FAN_OUT: usize = 32;

/// A vector in blocks.
#[derive(Clone, Debug)]
pub(crate) struct SharedVec<T> {
    nodes: Vec<Arc<Node<T>>>,
    length: usize,
}

/// All but the last have [`FAN_OUT`] leaves of [`FAN_OUT`] elements.
type Node<T> = SmallVec<[Arc<Leaf<T>>; FAN_OUT]>;

type Leaf<T> = SmallVec<[T; FAN_OUT]>;

impl<T> Default for SharedVec<T> {
    fn default() -> Self {
        SharedVec { nodes: Vec::new(), length: 0 }
    }
}

impl<T> SharedVec<T> {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        let node = self.nodes.get(at / FAN_OUT / FAN_OUT)?;
        node.get(at / FAN_OUT % FAN_OUT)?.get(at % FAN_OUT)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.nodes.iter().flat_map(|node| node.iter()).flat_map(|leaf| leaf.iter())
    }
}

impl<T: Clone> SharedVec<T> {
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let node = Arc::make_mut(self.nodes.get_mut(at / FAN_OUT / FAN_OUT)?);
        Arc::make_mut(node.get_mut(at / FAN_OUT % FAN_OUT)?).get_mut(at % FAN_OUT)
    }

    pub(crate) fn push(&mut self, element: T) {
        let at = self.length;
        if at.is_multiple_of(FAN_OUT * FAN_OUT) {
            self.nodes.push(Arc::default());
        }
        let Some(node) = self.nodes.last_mut().map(Arc::make_mut) else { return };
        if at.is_multiple_of(FAN_OUT) {
            node.push(Arc::default());
        }
        let Some(leaf) = node.last_mut().map(Arc::make_mut) else { return };
        leaf.push(element);
        self.length += 1;
    }
}

/// Elements of a shard on average, before there are more shards.
const SHARD_ELEMENTS: usize = 256;

/// A hash table in shards. The caller hashes and compares.
#[derive(Clone, Debug)]
pub(crate) struct SharedTable<T> {
    /// A power of two of them.
    shards: Vec<Arc<HashTable<T>>>,
    length: usize,
}

impl<T> Default for SharedTable<T> {
    fn default() -> Self {
        SharedTable { shards: empty_shards(1), length: 0 }
    }
}

fn empty_shards<T>(count: usize) -> Vec<Arc<HashTable<T>>> {
    (0..count).map(|_| Arc::default()).collect()
}

impl<T> SharedTable<T> {
    /// A shard takes its elements' places from other bits.
    fn shard(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.shards.len() - 1)
    }

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
        let key = 0u16..1500;
        let step = prop_oneof![
            6 => (key.clone(), any::<u32>()).prop_map(|(key, value)| Step::Put(key, value)),
            2 => key.prop_map(Step::Remove),
            1 => Just(Step::Copy),
        ];
        prop::collection::vec(step, 0..3000)
    }

    fn hash(key: u16) -> u64 {
        FixedState::default().hash_one(key)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

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
                prop_assert!((0..1500).all(|key| finds(key) == model.contains_key(&key)));
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
                    Step::Remove(_) => prop_assert!(vector.get_mut(model.len()).is_none()),
                    Step::Copy => copies.push((vector.clone(), model.clone())),
                }
            }
            copies.push((vector, model));
            for (vector, model) in copies {
                prop_assert_eq!(vector.len(), model.len());
                prop_assert!((0..model.len() + 1).all(|at| vector.get(at) == model.get(at)));
                prop_assert!(vector.iter().eq(&model));
            }
        }
    }
}
