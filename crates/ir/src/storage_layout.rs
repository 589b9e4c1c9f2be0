// SPDX-License-Identifier: Apache-2.0
//! [`StorageLayout`]: the offset of each slot in a packet's storage, a flat list of 64-bit words that all
//! engines share. The layout depends on the program alone; engines own the words.

use crate::{Bits, Program, ResizeKind, SlotId, StackId, ValueType};

/// Offsets of slots in a packet's storage, in 64-bit words, low word first.
///
/// Slots are in the order of [`SlotId`] without gaps: a slot of width `w` takes
/// `ceil(w / 64)` words, at least one; a varbit takes one word for its current length in bits, then as
/// many words as its largest length needs. Of the value of a varbit the low bits count, like those of a
/// [`Bits`] whose width is the length.
///
/// **Always true of storage:** bits at or above the width of a slot, or above the current length of a
/// varbit, are zero, and no length is above the declared one. Storage of zeros alone is the storage at
/// the start of a packet.
///
/// Equal headers have equal layouts, so a field of element `i` of a stack is
/// [`stack_stride_words`](StorageLayout::stack_stride_words) times `i` words after that of element 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageLayout {
    places: Vec<SlotPlace>,
    words: usize,
}

/// The place of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SlotPlace {
    /// First word of the value.
    offset_words: usize,
    /// The width, or the largest one.
    width_bits: u32,
    /// Then its length is in the word before.
    is_varbit: bool,
}

impl SlotPlace {
    fn value_words(self) -> usize {
        value_words(self.width_bits)
    }
}

fn value_words(width_bits: u32) -> usize {
    width_bits.div_ceil(64).max(1) as usize
}

/// The number modulo 2 to the width; all of it from 64 bits on.
fn low_bits(number: u64, width_bits: u32) -> u64 {
    match width_bits {
        0 => 0,
        1..64 => number & (u64::MAX >> (64 - width_bits)),
        _ => number,
    }
}

/// All methods that take a slot or stack require one of the program, and those that take storage require as
/// many words as the layout has; they panic otherwise.
impl StorageLayout {
    /// The layout of a program's storage.
    pub fn new(program: &Program) -> StorageLayout {
        let mut words = 0;
        let places = program
            .slots
            .iter()
            .map(|slot| {
                let is_varbit = matches!(slot.ty, ValueType::Varbit(_));
                let width_bits = slot.ty.width_bits();
                let offset_words = words + usize::from(is_varbit);
                words = offset_words + value_words(width_bits);
                SlotPlace { offset_words, width_bits, is_varbit }
            })
            .collect();
        StorageLayout { places, words }
    }

    /// How many words a packet's storage has.
    pub fn words(&self) -> usize {
        self.words
    }

    /// How many slots there are.
    pub fn slot_count(&self) -> usize {
        self.places.len()
    }

    /// First word of the slot's value.
    pub fn offset_words(&self, slot: SlotId) -> usize {
        self.places[slot.index()].offset_words
    }

    /// Size of the slot's value in words: `ceil(width / 64)`, at least 1.
    pub fn value_words(&self, slot: SlotId) -> usize {
        self.places[slot.index()].value_words()
    }

    /// Of a varbit: the word that holds its current length in bits. It precedes the value.
    pub fn length_word(&self, slot: SlotId) -> Option<usize> {
        let place = self.places[slot.index()];
        place.is_varbit.then(|| place.offset_words - 1)
    }

    /// The slot's type.
    pub fn value_type(&self, slot: SlotId) -> ValueType {
        let place = self.places[slot.index()];
        match place.is_varbit {
            true => ValueType::Varbit(place.width_bits),
            false => ValueType::Bits(place.width_bits),
        }
    }

    /// Distance in words between a slot of one element of a stack and the same slot of the next element.
    /// `None` if the distances differ, which happens in programs that were
    /// written as text only; 0 for a stack of fewer than two elements. The program is the layout's own.
    pub fn stack_stride_words(&self, program: &Program, stack: StackId) -> Option<usize> {
        let stack = &program.stacks[stack.index()];
        let members = stack.headers_per_element;
        let offset = |element: u32, member: u32| {
            let header = (stack.first_header.0 + element * members + member) as usize;
            self.offset_words(program.headers[header].first_slot)
        };
        if stack.size < 2 {
            return Some(0);
        }
        let stride = offset(1, 0).checked_sub(offset(0, 0))?;
        let is_regular = (0..stack.size).all(|element| {
            (0..members).all(|member| {
                offset(element, member) == offset(0, member) + element as usize * stride
            })
        });
        is_regular.then_some(stride)
    }

    /// The length of the slot's value in bits: of a varbit the current one.
    pub fn width_bits(&self, storage: &[u64], slot: SlotId) -> u32 {
        let place = self.places[slot.index()];
        match place.is_varbit {
            true => storage[place.offset_words - 1] as u32,
            false => place.width_bits,
        }
    }

    /// The slot's value, as wide as the slot; that of a varbit as wide as its current length.
    pub fn value(&self, storage: &[u64], slot: SlotId) -> Bits {
        let place = self.places[slot.index()];
        let width_bits = self.width_bits(storage, slot);
        debug_assert!(self.is_clean(storage, slot), "slot {} has bits above its width", slot.0);
        match width_bits {
            0..=64 => Bits::from_u64(width_bits, storage[place.offset_words]),
            _ => {
                let end = place.offset_words + place.value_words();
                Bits::from_words(width_bits, &storage[place.offset_words..end])
            }
        }
    }

    /// The lowest 64 bits of the slot's value.
    pub fn number(&self, storage: &[u64], slot: SlotId) -> u64 {
        storage[self.places[slot.index()].offset_words]
    }

    /// Stores a value: modulo 2 to the width of the slot, zeros in front of a narrower one. A varbit
    /// takes over the length of the value, at most its declared one.
    pub fn set_value(&self, storage: &mut [u64], slot: SlotId, value: &Bits) {
        let place = self.places[slot.index()];
        let mut width_bits = place.width_bits;
        if place.is_varbit {
            width_bits = width_bits.min(value.width_bits());
            storage[place.offset_words - 1] = u64::from(width_bits);
        }
        if place.width_bits <= 64 {
            storage[place.offset_words] = low_bits(value.low_u64(), width_bits);
            return;
        }
        let words = &mut storage[place.offset_words..][..place.value_words()];
        if value.width_bits() > width_bits {
            value.resize(ResizeKind::Truncate, width_bits).write_words(words);
        } else {
            value.write_words(words);
        }
    }

    /// Stores a number modulo 2 to the width of the slot; a varbit keeps its length.
    pub fn set_number(&self, storage: &mut [u64], slot: SlotId, number: u64) {
        let place = self.places[slot.index()];
        let width_bits = self.width_bits(storage, slot);
        storage[place.offset_words] = low_bits(number, width_bits);
        if place.width_bits > 64 {
            storage[place.offset_words + 1..][..place.value_words() - 1].fill(0);
        }
    }

    /// Copies the value of a slot to another of the same type.
    pub fn copy(&self, storage: &mut [u64], from: SlotId, to: SlotId) {
        let (from, to) = (self.places[from.index()], self.places[to.index()]);
        debug_assert_eq!((from.width_bits, from.is_varbit), (to.width_bits, to.is_varbit));
        let length = usize::from(from.is_varbit);
        let first = from.offset_words - length;
        storage
            .copy_within(first..from.offset_words + from.value_words(), to.offset_words - length);
    }

    /// Whether no bit of a slot is set above its width, nor above its length if it is a varbit.
    pub fn is_clean(&self, storage: &[u64], slot: SlotId) -> bool {
        let place = self.places[slot.index()];
        let width_bits = self.width_bits(storage, slot);
        let words = &storage[place.offset_words..][..place.value_words()];
        width_bits <= place.width_bits
            && words.iter().enumerate().all(|(at, word)| {
                *word == low_bits(*word, width_bits.saturating_sub(at as u32 * 64).min(64))
            })
    }
}

#[cfg(test)]
mod tests;
