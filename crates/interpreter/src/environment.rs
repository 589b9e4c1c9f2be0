// SPDX-License-Identifier: Apache-2.0
//! What a running block asks of its surroundings. The device implements it; nothing here keeps state.

use crate::random::RandomKey;
use ir::{Bits, CallEffects, Extern, ExternId};

/// A call of an extern that no architecture explains.
#[derive(Clone, Copy, Debug)]
pub struct ExternCall<'a> {
    /// Which.
    pub id: ExternId,
    /// Its declaration.
    pub declaration: &'a Extern,
    /// Method name; empty for a function.
    pub method: &'a str,
    /// Values of `in` and `inout` arguments.
    pub arguments: &'a [Bits],
    /// Widths in bits of the results: the return value, then `inout` and `out` arguments.
    pub result_widths_bits: &'a [u32],
    /// What the declaration lets the call do.
    pub effects: &'a CallEffects,
    /// The packet as it came into the parser of this pass.
    pub packet: &'a [u8],
}

/// The surroundings of one pass of one packet.
pub trait Environment {
    /// Device time in picoseconds.
    fn now_ps(&self) -> u64;

    /// What counters and meters take as the packet's length, in bytes.
    fn packet_length_bytes(&self) -> u64;

    /// Who draws random numbers.
    fn random_key(&self) -> RandomKey;

    /// A random number was drawn; these are its lowest 64 bits.
    fn drawn(&mut self, low_bits: u64) {
        let _ = low_bits;
    }

    /// What follows is on behalf of this packet of a burst, by its place from 0. An environment of a
    /// single packet has nothing to do.
    fn at_packet(&mut self, _index: u64) {}

    /// Takes a line for the log.
    fn log_line(&mut self, line: &str);

    /// Calls an extern that has no instance in the cells: one result for each of `result_widths_bits`. An error
    /// is a sentence for the user; it ends the block.
    fn call_extern(&mut self, call: ExternCall<'_>) -> Result<Vec<Bits>, String>;
}
