// SPDX-License-Identifier: Apache-2.0
//! Packets between passes, and what a run knows of them: those on links and loops, and those in a device from
//! ingress to egress.

use lucid::core::EventId;
use lucid_reference::interpreter::EventValue;
use std::sync::Arc;

/// Who decided what a packet is and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketOwner {
    /// The Lucid program, or a sender outside the network.
    Program,
    /// The user's P4 made it, or sent it where it goes.
    UserP4,
}

/// What is known of a packet that comes to a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Provenance {
    /// The occurrence whose handler sent it.
    pub(super) cause: Option<u64>,
    /// The occurrence that it is. That of a packet on a link is `None` if it is not known.
    pub(super) occurrence: Option<u64>,
    /// Whether it is known which occurrence it is, and not only numbered.
    pub(super) is_known: bool,
    pub(super) owner: PacketOwner,
}

impl Provenance {
    /// That of a packet from outside the network.
    pub(super) const OUTSIDE: Provenance =
        Provenance { cause: None, occurrence: None, is_known: false, owner: PacketOwner::Program };
}

/// A packet that is to leave a switch's port for another switch, or on its way to a port.
#[derive(Clone, Debug)]
pub(super) struct InFlightPacket {
    pub(super) bytes: Vec<u8>,
    pub(super) provenance: Provenance,
    /// The event that a handler sent, if that is known.
    pub(super) event: Option<Arc<EventValue>>,
}

/// What is known of a packet that ingress took, until its copies have left the device.
#[derive(Clone, Debug)]
pub(super) struct TakenPacket {
    pub(super) cause: Option<u64>,
    pub(super) occurrence: u64,
    /// When ingress took it, in picoseconds.
    pub(super) taken_ps: u64,
    /// The event whose handler ran, if one did.
    pub(super) handled: Option<EventId>,
    /// The event that has no handler here, and the port that it came by.
    pub(super) unhandled: Option<(EventId, u32)>,
    /// Whether it is known which occurrence it is.
    pub(super) is_known: bool,
    /// What is behind its parameters, if it has a payload.
    pub(super) payload: Option<Arc<[u8]>>,
    /// Whether what leaves is what the user's P4 made, or goes where that sent it.
    pub(super) is_users: bool,
}

impl TakenPacket {
    /// The occurrence whose handler generated what leaves, unless it leaves as it arrived.
    pub(super) fn sender(&self) -> Option<u64> {
        match self.handled {
            Some(_) => Some(self.occurrence),
            None => self.cause,
        }
    }
}
