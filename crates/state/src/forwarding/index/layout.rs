// SPDX-License-Identifier: Apache-2.0
//! `KeyLayout`: the layout of a table's matched keys in 64-bit words, for keys of packets, patterns of entries and
//! generated code.

use ir::{Bits, KeyPattern, MatchKind, Table};
use smallvec::SmallVec;

/// How the matched keys of a table (without selector keys) are packed into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Up to 64 bits altogether, end to end in one word: the first key highest, the last one at bit 0.
    Word,
    /// Up to 128 bits altogether, end to end in two words, the low one first.
    DoubleWord,
    /// More: this many words. Each key starts at a new word, its low word first.
    Words(usize),
}

/// The place of one key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyField {
    /// How it is matched.
    pub kind: MatchKind,
    /// Its width.
    pub width_bits: u32,
    /// The word that its lowest bit lies in. May be one past the end when the width is zero.
    pub word: usize,
    /// The position of its lowest bit in that word; the key continues in the next words.
    pub shift: u32,
}

/// The layout of a table's keys. Unused bits are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyLayout {
    /// How many words, and how they are filled.
    pub packing: Packing,
    /// The keys in the order of the table.
    pub fields: Vec<KeyField>,
    /// Whether entries have priorities; else the longest prefix wins.
    pub has_priorities: bool,
}

/// The form of the items of [`super::MatchIndex::direct`], from which generated code reads leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectForm {
    /// There are never items.
    None,
    /// The key is the index of its item, which is a leaf or [`super::NO_MATCH`]; so is what is past the
    /// end. Without items there is a length of 0.
    Array,
    /// A hash table. The low half of the product of the key and [`super::HASH_MULTIPLIER`], shifted right by
    /// [`super::Direct::length`], is the index of a bucket of [`super::BUCKET_BYTES`]: of
    /// [`super::WORD_SLOTS`] keys, then as many leaves. The first slot with the key counts. If no
    /// slot has it and the last slot's leaf is [`super::NO_MATCH`], nothing matches; else the full lookup decides.
    Buckets,
    /// A hash table of buckets of [`super::JOINED_BUCKET_BYTES`], found as in `Buckets`, of
    /// [`super::JOINED_SLOTS`] words, each of them a key above the bits of its leaf, or all ones. If
    /// none has the key and the last one is all ones, nothing matches; else the full lookup decides.
    Joined {
        /// Bits of leaves.
        leaf_bits: u32,
    },
    /// The same as `Buckets` of keys of two words: the product is that of the low word, with the seed by exclusive
    /// or, and the high word, with [`super::HASH_SECOND_MULTIPLIER`] by exclusive or, and its halves are
    /// brought together by exclusive or; a bucket has [`super::DOUBLE_SLOTS`] keys.
    DoubleBuckets {
        /// Combined with the low word.
        seed: u64,
    },
    /// The key, left aligned in 32 bits: its first [`super::DIRECT_BITS`] choose an item. One with
    /// [`super::IS_NO_LEAF`] that is neither [`super::NO_MATCH`] nor [`super::FALL_BACK_TO_TRIE`] is, without that
    /// bit, the index of an item from which on the next [`super::BLOCK_BITS`] choose; that item may in
    /// turn give a block of the next [`super::SMALL_BLOCK_BITS`], and its item another one. At
    /// [`super::FALL_BACK_TO_TRIE`] the full lookup decides. There are always items.
    DirectTable,
}

/// A run of bits in a packed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitRun {
    pub(crate) word: u32,
    pub(crate) shift: u32,
    pub(crate) width_bits: u32,
}

impl BitRun {
    /// How many words hold the number.
    fn words(self) -> usize {
        self.width_bits.div_ceil(64) as usize
    }

    /// Word `at` of the number, the lowest being 0.
    #[inline]
    pub(crate) fn number_word(self, key: &[u64], at: usize) -> u64 {
        let left_bits = self.width_bits - 64 * at as u32;
        let first = self.word as usize + at;
        let mut number = key[first] >> self.shift;
        if self.shift != 0 && left_bits > 64 - self.shift {
            number |= key[first + 1] << (64 - self.shift);
        }
        if left_bits < 64 { number & !(u64::MAX << left_bits) } else { number }
    }

    /// The number, of at most 128 bits.
    #[inline]
    pub(crate) fn number(self, key: &[u64]) -> u128 {
        let mut number = 0;
        if self.width_bits > 0 {
            number = u128::from(self.number_word(key, 0));
        }
        if self.width_bits > 64 {
            number |= u128::from(self.number_word(key, 1)) << 64;
        }
        number
    }

    /// Writes the number into a key where these bits are still zero.
    pub(crate) fn write(self, number: &Bits, key: &mut [u64]) {
        let mut words: SmallVec<[u64; 4]> = SmallVec::from_elem(0, self.words());
        number.write_words(&mut words);
        for (at, word) in words.into_iter().enumerate() {
            let first = self.word as usize + at;
            key[first] |= word << self.shift;
            if self.shift != 0 && word >> (64 - self.shift) != 0 {
                key[first + 1] |= word >> (64 - self.shift);
            }
        }
    }
}

/// A range that a key must lie in, for keys that a mask cannot express.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeCheck {
    pub(crate) bits: BitRun,
    /// Words from the lowest on.
    pub(crate) low: SmallVec<[u64; 2]>,
    pub(crate) high: SmallVec<[u64; 2]>,
}

impl RangeCheck {
    /// Whether the key lies in the range, both ends included.
    #[inline]
    pub fn accepts(&self, key: &[u64]) -> bool {
        if self.low.len() == 1 {
            let number = self.bits.number_word(key, 0);
            return self.low[0] <= number && number <= self.high[0];
        }
        let (mut above_low, mut below_high) = (true, true);
        for at in 0..self.low.len() {
            let number = self.bits.number_word(key, at);
            above_low = number > self.low[at] || number == self.low[at] && above_low;
            below_high = number < self.high[at] || number == self.high[at] && below_high;
        }
        above_low && below_high
    }
}

impl KeyLayout {
    /// The layout of a table's keys.
    pub fn new(table: &Table) -> KeyLayout {
        let keys = table.keys.iter().filter(|key| key.match_kind != MatchKind::Selector);
        KeyLayout::of_keys(keys.map(|key| (key.match_kind.clone(), key.width_bits)).collect())
    }

    /// The layout of keys of these kinds and widths.
    pub fn of_keys(keys: Vec<(MatchKind, u32)>) -> KeyLayout {
        let total_bits: u64 = keys.iter().map(|(_, width_bits)| u64::from(*width_bits)).sum();
        let has_priorities =
            keys.iter().any(|(kind, _)| !matches!(kind, MatchKind::Exact | MatchKind::Lpm));
        let mut fields = Vec::with_capacity(keys.len());
        let packing = if total_bits <= 128 {
            let mut above_bits = total_bits as u32;
            for (kind, width_bits) in keys {
                above_bits -= width_bits;
                let (word, shift) = ((above_bits / 64) as usize, above_bits % 64);
                fields.push(KeyField { kind, width_bits, word, shift });
            }
            if total_bits <= 64 { Packing::Word } else { Packing::DoubleWord }
        } else {
            let mut word = 0;
            for (kind, width_bits) in keys {
                fields.push(KeyField { kind, width_bits, word, shift: 0 });
                word += width_bits.div_ceil(64) as usize;
            }
            Packing::Words(word)
        };
        KeyLayout { packing, fields, has_priorities }
    }

    /// How many words a key takes.
    pub fn words(&self) -> usize {
        match self.packing {
            Packing::Word => 1,
            Packing::DoubleWord => 2,
            Packing::Words(words) => words,
        }
    }

    fn total_bits(&self) -> u64 {
        self.fields.iter().map(|field| u64::from(field.width_bits)).sum()
    }

    /// Whether all keys are exact and have few bits altogether.
    pub(crate) fn is_short(&self) -> bool {
        self.total_bits() <= super::short::MAX_BITS
            && self.fields.iter().all(|field| field.kind == MatchKind::Exact)
    }

    /// Returns the seed of the hashes of the table's index.
    pub(crate) fn seed(&self) -> u64 {
        super::hash::seed_of(self.fields.iter().map(|field| u64::from(field.width_bits)))
    }

    fn is_exact(&self) -> bool {
        self.fields.iter().all(|field| field.kind == MatchKind::Exact)
    }

    /// Returns whether keys share a word with leaves of this width; the highest bit stays free.
    pub(crate) fn is_joined(&self, leaf_bits: u32) -> bool {
        self.is_exact() && !self.is_short() && self.total_bits() + u64::from(leaf_bits) < 64
    }

    /// Returns how generated code finds leaves of this width without a call, if the index has items
    /// ([`super::MatchIndex::direct`]).
    pub fn direct(&self, leaf_bits: u32) -> DirectForm {
        match &self.fields[..] {
            _ if self.is_short() => DirectForm::Array,
            [field] if field.kind == MatchKind::Lpm && (1..=32).contains(&field.width_bits) => {
                DirectForm::DirectTable
            }
            _ if !self.is_exact() => DirectForm::None,
            _ if self.is_joined(leaf_bits) => DirectForm::Joined { leaf_bits },
            _ => match self.packing {
                Packing::Word => DirectForm::Buckets,
                Packing::DoubleWord => DirectForm::DoubleBuckets { seed: self.seed() },
                Packing::Words(_) => DirectForm::None,
            },
        }
    }

    /// The one lpm key, if there is one of at most 128 bits and all others are exact.
    pub(crate) fn lone_lpm(&self) -> Option<usize> {
        let lpm = self.fields.iter().position(|field| field.kind == MatchKind::Lpm)?;
        let others = self.fields.iter().enumerate().filter(|(at, _)| *at != lpm);
        let is_alone = self.fields[lpm].width_bits <= 128
            && others.into_iter().all(|(_, field)| field.kind == MatchKind::Exact);
        is_alone.then_some(lpm)
    }

    /// Whether entries have masks or ranges: keys of one and two words are found by
    /// [`super::MatchIndex::find_rule_word`] and [`super::MatchIndex::find_rule_double`].
    pub fn has_rules(&self) -> bool {
        !self.is_exact() && self.lone_lpm().is_none()
    }

    pub(crate) fn bits_of(&self, field: usize) -> BitRun {
        let field = &self.fields[field];
        BitRun { word: field.word as u32, shift: field.shift, width_bits: field.width_bits }
    }

    /// Lays out one value a matched key. `out` has [`KeyLayout::words`] words.
    pub fn pack(&self, values: &[Bits], out: &mut [u64]) {
        out.fill(0);
        for (field, value) in values.iter().enumerate() {
            self.bits_of(field).write(value, out);
        }
    }

    /// Packs the pattern of an entry: its mask, its value (zero outside the mask), and its ranges, whose bits are
    /// outside the mask.
    pub fn pack_pattern(
        &self,
        keys: &[KeyPattern],
        value: &mut [u64],
        mask: &mut [u64],
    ) -> Vec<RangeCheck> {
        value.fill(0);
        mask.fill(0);
        let mut checks = Vec::new();
        for (field, pattern) in keys.iter().enumerate() {
            let bits = self.bits_of(field);
            match pattern {
                KeyPattern::Any => {}
                KeyPattern::Exact(wanted) => {
                    bits.write(wanted, value);
                    bits.write(&Bits::ones(bits.width_bits), mask);
                }
                KeyPattern::Prefix { value: wanted, length_bits } => {
                    bits.write(wanted, value);
                    bits.write(&Bits::prefix_mask(bits.width_bits, *length_bits), mask);
                }
                KeyPattern::Ternary { value: wanted, mask: ones } => {
                    bits.write(wanted, value);
                    bits.write(ones, mask);
                }
                KeyPattern::Range { low, high } => {
                    let mut check = RangeCheck {
                        bits,
                        low: SmallVec::from_elem(0, bits.words()),
                        high: SmallVec::from_elem(0, bits.words()),
                    };
                    low.write_words(&mut check.low);
                    high.write_words(&mut check.high);
                    checks.push(check);
                }
            }
        }
        value.iter_mut().zip(mask).for_each(|(value, mask)| *value &= *mask);
        checks
    }

    /// Returns the rank of an entry: its priority, or in a table without priorities the length of its prefixes, minus
    /// one for each wildcard of an exact key.
    pub fn rank(&self, keys: &[KeyPattern], priority: i64) -> i64 {
        if self.has_priorities {
            return priority;
        }
        keys.iter()
            .map(|pattern| match pattern {
                KeyPattern::Prefix { length_bits, .. } => i64::from(*length_bits),
                KeyPattern::Any => -1,
                _ => 0,
            })
            .sum()
    }
}
