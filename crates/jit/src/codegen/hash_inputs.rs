// SPDX-License-Identifier: Apache-2.0
//! Inputs of hashes and checksums as later ones can compare them, and sums that were computed of them.
//! The arithmetic is in `hashes`.

use super::hashes::{RawSum, UNROLLED_SUM_BYTES};
use super::temporaries::PacketBits;
use cranelift_codegen::ir::Value;

/// What an input of a hash or a sum was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Bits of the packet.
    Packet(PacketBits),
    /// A number of at most 64 bits.
    Word(Value),
    /// Anything else.
    Other,
}

impl Input {
    /// The address of the packet is known as another value from now on.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        if let Input::Packet(bits) = self {
            bits.packet_moved(before, after);
        }
    }
}

/// What an input adds to a sum before it is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Its bytes, the first one lowest, times two to this.
    Bytes(u32),
    /// Its number, times two to this.
    Number(u32),
    /// More than that.
    Scattered,
}

/// A sum that was computed on the way here, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownSum {
    pub inputs: Vec<(Input, u32, Share)>,
    pub sum: RawSum,
}

impl KnownSum {
    /// The address of what it sums up is known as another value from now on.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        self.inputs.iter_mut().for_each(|(input, ..)| input.packet_moved(before, after));
    }
}

/// What a field adds that begins so many bits after the first of a run of bytes.
pub(crate) fn share_in_run(first_bit: u32, bits: PacketBits, length_bytes: u32) -> Share {
    let is_whole = first_bit.is_multiple_of(8) && bits.width_bits.is_multiple_of(8);
    if !is_whole || length_bytes > UNROLLED_SUM_BYTES {
        return Share::Scattered;
    }
    let (first, last) = (first_bit / 8, (first_bit + bits.width_bits) / 8);
    // As the run is loaded: four bytes at once, then two, then one.
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
