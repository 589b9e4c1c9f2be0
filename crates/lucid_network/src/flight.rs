// SPDX-License-Identifier: Apache-2.0
//! Packets between switches, and what is known of those that a device was given.

use lucid::core::EventId;
use std::sync::Arc;

/// Whose a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// An event of the program's, or what comes in from outside.
    Program,
    /// P4 of the user's made it, or sent it where it goes.
    User,
    /// A frame of flow control that a packet generator made, which ends at the port's MAC.
    FlowControl,
}

/// A packet on its way to a switch's port.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) port: u32,
    pub(super) bytes: Vec<u8>,
    /// The occurrence whose handler sent it.
    pub(super) cause: Option<u64>,
    /// The occurrence that it is, if that is known.
    pub(super) occurrence: Option<u64>,
    pub(super) whose: Whose,
}

/// What a device was given, by the device's number of the packet.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) cause: Option<u64>,
    pub(super) occurrence: u64,
    /// The event whose handler ran, if one did.
    pub(super) handled: Option<EventId>,
    /// The event that has no handler here, and the port that it came by.
    pub(super) unhandled: Option<(EventId, u32)>,
    /// Whether it is known which occurrence it is.
    pub(super) is_known: bool,
    /// What is behind its parameters, if it has a payload.
    pub(super) payload: Option<Arc<[u8]>>,
    /// Whether what leaves is what P4 of the user's made, or goes where that sent it.
    pub(super) is_users: bool,
}

impl Given {
    /// By which occurrence's handler what leaves was generated, unless it leaves as it came.
    pub(super) fn by(&self) -> Option<u64> {
        match self.handled {
            Some(_) => Some(self.occurrence),
            None => self.cause,
        }
    }
}
