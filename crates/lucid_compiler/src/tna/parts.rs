// SPDX-License-Identifier: Apache-2.0
//! What the units of a layout problem stand for, and what is fixed of the scheduler's tables: how many entries they
//! have, the queue that they take, the controls that they are in. Which tables there are is decided in `scheduler`.

use crate::atomic::program::StatementId;
use pisa::Gress;

/// What a unit of a layout problem stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A statement of a handler.
    Statement(StatementId),
    /// A piece of the scheduler.
    Scheduler(SchedulerPart),
}

/// Tables of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SchedulerPart {
    /// `self` and externs, set by the control plane.
    SwitchValues,
    /// Forwards a packet that no handler runs for.
    Dispatch,
    /// Ports to other switches, set by the control plane.
    Forward,
    /// Where generated events go.
    Serialise,
    /// Which headers of a slot stay behind the handlers.
    Keep(u32),
    /// `self` and externs in egress, set by the control plane.
    EgressValues,
    /// How a packet leaves: with or without its frame, or not at all.
    Leave,
    /// The time that a delayed event has waited since its last time stamp, in some of its bits.
    Wait,
    /// These bits alone.
    MaskWait,
    /// Subtracts it from the delay.
    CountDown,
    /// Numbers of the switches of groups.
    Member,
}

/// Entries for other switches.
pub const FORWARD_ENTRIES: u64 = 1024;

/// Entries for members of groups of switches.
pub const MEMBER_ENTRIES: u64 = 1024;

/// The queue of events that need not wait: the one of highest priority of eight.
pub const EVENT_QUEUE: u32 = 7;

/// The control that tables of a half of the switch are in.
pub(super) fn control(gress: Gress) -> &'static str {
    match gress {
        Gress::Ingress => "Ingress",
        Gress::Egress => "Egress",
    }
}
