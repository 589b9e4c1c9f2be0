// SPDX-License-Identifier: Apache-2.0
//! `Environment`: the services that a running block uses. The device implements it.

use crate::random::RandomKey;
use ir::{Bits, CallEffects, Extern, ExternId};

/// A call of an extern that no architecture defines.
#[derive(Clone, Copy, Debug)]
pub struct ExternCall<'a> {
    /// The extern.
    pub id: ExternId,
    /// Its declaration.
    pub declaration: &'a Extern,
    /// Method name; empty for a function.
    pub method: &'a str,
    /// Values of `in` and `inout` arguments.
    pub arguments: &'a [Bits],
    /// Widths in bits of the results: the return value, then `inout` and `out` arguments.
    pub result_widths_bits: &'a [u32],
    /// The effects that the declaration allows.
    pub effects: &'a CallEffects,
    /// The packet that entered the parser of this pass.
    pub packet: &'a [u8],
}

/// Services for one pass of one packet.
pub trait Environment {
    /// Device time in picoseconds.
    fn now_ps(&self) -> u64;

    /// The packet's length for counters and meters, in bytes.
    fn packet_length_bytes(&self) -> u64;

    /// The key of this pass for random numbers.
    fn random_key(&self) -> RandomKey;

    /// A random number was drawn; these are its lowest 64 bits.
    fn drawn(&mut self, low_bits: u64) {
        let _ = low_bits;
    }

    /// Announces the packet of a burst, by its index, that the following calls are for. An environment of a
    /// single packet ignores it.
    fn at_packet(&mut self, _index: u64) {}

    /// Logs a line.
    fn log_line(&mut self, line: &str);

    /// Calls an extern that has no instance in the cells: one result for each of `result_widths_bits`. An error
    /// is a sentence for the user; it ends the block.
    fn call_extern(&mut self, call: ExternCall<'_>) -> Result<Vec<Bits>, String>;
}
