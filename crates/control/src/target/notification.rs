// SPDX-License-Identifier: Apache-2.0
//! Notifications of a target to its controllers (P4Runtime v1.4 §16).

use ir::{Bits, Program, TableId};
use state::EntryRecord;
use std::sync::Arc;

/// An event at a target. Times are device time in picoseconds.
#[derive(Clone, Debug)]
pub enum Notification {
    /// A packet sent a digest.
    Digest {
        /// When.
        time_ps: u64,
        /// The digest's control-plane name.
        name: Arc<str>,
        /// Names and values of its fields.
        fields: Vec<(Arc<str>, Bits)>,
    },
    /// An entry had no hit for as long as its idle timeout.
    IdleTimeout {
        /// When.
        time_ps: u64,
        /// The table.
        table: TableId,
        /// The entry.
        entry: Arc<EntryRecord>,
    },
    /// A packet left by the CPU port.
    PacketIn {
        /// When.
        time_ps: u64,
        /// The CPU port.
        port: u32,
        /// The packet.
        bytes: Vec<u8>,
    },
    /// A link came up or went down.
    Link {
        /// When.
        time_ps: u64,
        /// The port.
        port: u32,
        /// Whether it is up now.
        is_up: bool,
    },
    /// New packets meet another program. Handles of the program before are void.
    Swapped {
        /// When.
        time_ps: u64,
        /// The program that runs now.
        program: Arc<Program>,
    },
}

impl Notification {
    /// When it happened, in picoseconds of device time.
    pub fn time_ps(&self) -> u64 {
        match self {
            Notification::Digest { time_ps, .. }
            | Notification::IdleTimeout { time_ps, .. }
            | Notification::PacketIn { time_ps, .. }
            | Notification::Link { time_ps, .. }
            | Notification::Swapped { time_ps, .. } => *time_ps,
        }
    }
}
