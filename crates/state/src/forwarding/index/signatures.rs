// SPDX-License-Identifier: Apache-2.0
//! `Signatures`: bit sets of the tuples that can match a key. For every byte of a key and every value of that byte, a
//! set has the tuples with an entry that matches that byte; the intersection over all bytes leaves few tuples.

/// Tuples in a word of bits.
pub(super) const GROUP: usize = 64;

/// By the value of a byte: the tuples of a group, as bits.
type ByteMap = [u64; 256];

/// The signatures of all tuples by number. Bits of removed entries may remain.
#[derive(Clone, Debug)]
pub(super) struct Signatures {
    /// Bytes of a key.
    bytes: usize,
    /// Bytes with ones in some tuple's mask, and the first byte, which marks existing tuples.
    positions: Vec<u32>,
    /// Of the first group a map a byte, the lowest byte of the first word first; then of the next group.
    maps: Vec<ByteMap>,
}

/// Number and content of the bytes of a mask or value.
fn bytes_of(words: &[u64]) -> impl Iterator<Item = (usize, u8)> + '_ {
    words.iter().flat_map(|word| word.to_le_bytes()).enumerate()
}

impl Signatures {
    /// Signatures of keys with this number of words.
    pub(super) fn new(words: usize) -> Signatures {
        Signatures { bytes: words * 8, positions: vec![0], maps: Vec::new() }
    }

    /// How many groups of tuples there are.
    #[inline(always)]
    pub(super) fn groups(&self) -> usize {
        self.maps.len().checked_div(self.bytes).unwrap_or(0)
    }

    /// The tuples of a group that the key can belong to.
    #[inline(always)]
    pub(super) fn candidates(&self, group: usize, key: &[u64]) -> u64 {
        match *key {
            [word] => Self::candidates_of([word], &self.maps[group * 8..][..8]),
            [low, high] => Self::candidates_of([low, high], &self.maps[group * 16..][..16]),
            _ => {
                let maps = &self.maps[group * self.bytes..][..self.bytes];
                let narrow = |left: u64, byte: &u32| {
                    let value = key[*byte as usize / 8] >> (byte % 8 * 8) & 0xff;
                    left & maps[*byte as usize][value as usize]
                };
                self.positions.iter().fold(u64::MAX, narrow)
            }
        }
    }

    #[inline(always)]
    fn candidates_of<const WORDS: usize>(key: [u64; WORDS], maps: &[ByteMap]) -> u64 {
        let mut left = u64::MAX;
        for word in 0..WORDS {
            for byte in 0..8 {
                left &= maps[word * 8 + byte][usize::from((key[word] >> (byte * 8)) as u8)];
            }
        }
        left
    }

    fn column(&mut self, tuple: u32) -> (&mut [ByteMap], u64) {
        let group = tuple as usize / GROUP;
        while self.groups() <= group {
            self.maps.resize(self.maps.len() + self.bytes, [0; 256]);
        }
        (&mut self.maps[group * self.bytes..][..self.bytes], 1 << (tuple as usize % GROUP))
    }

    /// Adds an empty tuple with this mask.
    pub(super) fn begin(&mut self, tuple: u32, mask: &[u64]) {
        for (byte, _) in bytes_of(mask).filter(|(_, mask)| *mask != 0) {
            if !self.positions.contains(&(byte as u32)) {
                self.positions.push(byte as u32);
            }
        }
        let (maps, bit) = self.column(tuple);
        for ((_, mask), map) in bytes_of(mask).zip(maps) {
            // Bits outside the mask match every key.
            for bits in map {
                *bits = if mask == 0 { *bits | bit } else { *bits & !bit };
            }
        }
    }

    /// Adds an entry with this value, zero outside the mask, to a tuple.
    pub(super) fn add(&mut self, tuple: u32, value: &[u64], mask: &[u64]) {
        let (maps, bit) = self.column(tuple);
        let bytes = bytes_of(value).zip(bytes_of(mask)).zip(maps);
        for (((_, value), (_, mask)), map) in bytes.filter(|((_, (_, mask)), _)| *mask != 0) {
            // All values of the bits outside the mask.
            let open = !mask;
            let mut rest = 0u8;
            loop {
                map[usize::from(value | rest)] |= bit;
                rest = rest.wrapping_sub(open) & open;
                if rest == 0 {
                    break;
                }
            }
        }
    }

    /// Removes a tuple.
    pub(super) fn end(&mut self, tuple: u32) {
        let (maps, bit) = self.column(tuple);
        maps.iter_mut().flatten().for_each(|bits| *bits &= !bit);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.maps.capacity() * size_of::<ByteMap>() + self.positions.capacity() * 4
    }
}
