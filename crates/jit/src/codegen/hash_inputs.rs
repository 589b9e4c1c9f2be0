// SPDX-License-Identifier: Apache-2.0
//! Inputs of hashes and checksums, comparable with those of later ones, and the sums computed of them. The
//! arithmetic is in `hashes`.

use super::hashes::{RawSum, UNROLLED_SUM_BYTES};
use super::temporaries::PacketBits;
use cranelift_codegen::ir::Value;

/// An input of a hash or a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashInput {
    /// Bits of the packet.
    Packet(PacketBits),
    /// A number of at most 64 bits.
    Word(Value),
    /// A value that is not compared.
    Other,
}

impl HashInput {
    /// Replaces the value that is the packet's address.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        if let HashInput::Packet(bits) = self {
            bits.packet_moved(before, after);
        }
    }
}

/// What an input adds to a checksum's sum before folding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Its bytes, first byte lowest, shifted left by this many bits.
    Bytes(u32),
    /// Its value, shifted left by this many bits.
    Number(u32),
    /// Parts at several places.
    Scattered,
}

/// A sum computed on this path, and its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownSum {
    pub inputs: Vec<(HashInput, u32, Share)>,
    pub sum: RawSum,
}

impl KnownSum {
    /// Replaces the value that is the packet's address.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        self.inputs.iter_mut().for_each(|(input, ..)| input.packet_moved(before, after));
    }
}

/// The share of a field that begins at bit `first_bit` of a run of bytes.
pub(crate) fn share_in_run(first_bit: u32, bits: PacketBits, length_bytes: u32) -> Share {
    let is_whole = first_bit.is_multiple_of(8) && bits.width_bits.is_multiple_of(8);
    if !is_whole || length_bytes > UNROLLED_SUM_BYTES {
        return Share::Scattered;
    }
    let (first, last) = (first_bit / 8, (first_bit + bits.width_bits) / 8);
    // Sums load a run four bytes at once, then two, then one.
    let fours = length_bytes / 4 * 4;
    let (start, size) = match first < fours {
        true => (first / 4 * 4, 4),
        false => {
            let rest = first - fours;
            (fours + rest / 2 * 2, 2)
        }
    };
    match last <= start + size {
        true => Share::Bytes((first - start) * 8),
        false => Share::Scattered,
    }
}
