// SPDX-License-Identifier: Apache-2.0
//! `Arena`: blocks of items in one vector, addressed by 32-bit numbers. Freed blocks are reused and split but never
//! joined, so the owner rebuilds the arena when too much is free.

/// Sizes up to this have a list each; above, sizes are powers of two.
const SMALL_SIZES: usize = 64;

/// Blocks of items.
#[derive(Clone, Debug)]
pub(crate) struct Arena<T> {
    pub(crate) items: Vec<T>,
    /// Starts of free blocks: by size up to `SMALL_SIZES`, then by the logarithm of the size.
    free: Vec<Vec<u32>>,
    /// Bit n: there are free blocks of size n + 1.
    small_free: u64,
    idle: usize,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena { items: Vec::new(), free: Vec::new(), small_free: 0, idle: 0 }
    }
}

fn class(size: usize) -> usize {
    match size {
        0..=SMALL_SIZES => size,
        _ => SMALL_SIZES + size.trailing_zeros() as usize,
    }
}

impl<T: Copy + Default> Arena<T> {
    fn take(&mut self, class: usize) -> Option<u32> {
        let list = self.free.get_mut(class)?;
        let start = list.pop();
        if list.is_empty() && (1..=SMALL_SIZES).contains(&class) {
            self.small_free &= !(1 << (class - 1));
        }
        start
    }

    /// The start of a block of `size` items. Above 64, `size` is a power of two.
    pub(crate) fn allocate(&mut self, size: usize) -> u32 {
        if size == 0 {
            return 0;
        }
        if let Some(start) = self.take(class(size)) {
            self.idle -= size;
            return start;
        }
        if size <= SMALL_SIZES {
            let larger = self.small_free >> (size - 1);
            if larger != 0 {
                let whole = size + larger.trailing_zeros() as usize;
                if let Some(start) = self.take(whole) {
                    self.idle -= whole;
                    self.release(start + size as u32, whole - size);
                    return start;
                }
            }
        }
        let start = self.items.len() as u32;
        if self.items.len() + size > self.items.capacity() {
            // Grow by a quarter, because the arena is most of an index's memory.
            self.items.reserve_exact(size.max(self.items.len() / 4));
        }
        self.items.resize(self.items.len() + size, T::default());
        start
    }

    /// Frees a block.
    pub(crate) fn release(&mut self, start: u32, size: usize) {
        if size == 0 {
            return;
        }
        let class = class(size);
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
        }
        self.free[class].push(start);
        if class <= SMALL_SIZES {
            self.small_free |= 1 << (class - 1);
        }
        self.idle += size;
    }

    /// Returns whether a rebuild would save more than half of the memory.
    pub(crate) fn is_wasteful(&self) -> bool {
        self.idle > 4096 && self.idle * 2 > self.items.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let lists: usize = self.free.iter().map(|list| list.capacity() * 4 + 24).sum();
        self.items.capacity() * size_of::<T>() + lists
    }
}
