// SPDX-License-Identifier: Apache-2.0
//! Observations: what happens in a simulation, in order of time. Logs, JSON lines, time lines, expectations
//! and recorded schedules are made of them.

#![allow(missing_docs, reason = "the text of a variant explains its fields")]

use crate::interpreter::{CallArgument, EventValue};
use lucid::core::{ActionId, EventId, GlobalId};
use network::links::Loss;
use std::sync::Arc;

/// Number of an occurrence of an event: each event that is put into the network gets the next.
/// The same on every run with the same inputs and seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence(pub u64);

/// Something that happened, with its time in picoseconds.
#[derive(Clone, Debug)]
pub struct Observation {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// At which switch.
    pub switch: u32,
    /// What.
    pub kind: ObservationKind,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum ObservationKind {
    /// A handler ran, atomically. Prints and accesses follow with the same time, then what it generated.
    Handled {
        occurrence: Occurrence,
        /// By which occurrence's handler it was generated; `None` for inputs.
        cause: Option<Occurrence>,
        event: Arc<EventValue>,
        /// Where it came in, the recirculation port for local ones; at egress, where it leaves.
        port: u32,
        /// Which of the event's handlers ran.
        stage: Stage,
        /// Whether it arrived as a packet from outside.
        is_packet: bool,
        /// Random numbers drawn, in order, for replay.
        draws: Vec<u128>,
        /// What `Sys.dequeue_depth()` is.
        dequeue_depth: u64,
    },
    /// A handler generated an event.
    Generated {
        occurrence: Occurrence,
        by: Occurrence,
        event: Arc<EventValue>,
        destination: Destination,
    },
    /// `printf` of the handler of this occurrence.
    Printed { by: Occurrence, text: String },
    /// An event left the network at a port without a link, or is an exit event or has no handler.
    Left {
        occurrence: Occurrence,
        event: Arc<EventValue>,
        port: u32,
        /// What is on the wire if it leaves as a packet: its parameters, then its payload.
        bytes: Option<Arc<[u8]>>,
        /// The frame on the wire if a device sent the event in one.
        frame: Option<Arc<[u8]>>,
    },
    /// A device sent bytes out of the network that are none of the events that handlers generated.
    LeftAsBytes { port: u32, bytes: Arc<[u8]> },
    /// An event was lost.
    Dropped { occurrence: Occurrence, event: Option<Arc<EventValue>>, reason: DropReason },
    /// A command read or wrote.
    Commanded { text: String, result: Option<serde_json::Value> },
    /// An access beyond the end of an array.
    OutOfRange { by: Occurrence, global: GlobalId, index: u128 },
    /// A handler installed an entry into a full table; the table is as before.
    TableFull { by: Occurrence, table: GlobalId },
    /// A cell was read or written: only for observers that want accesses.
    Accessed {
        by: Occurrence,
        global: GlobalId,
        /// 0 for counters.
        index: u128,
        /// The cell (two values in a pair array) before and after.
        before: Vec<u128>,
        after: Vec<u128>,
        /// The result of the access, if it has one.
        result: Option<u128>,
    },
    /// A table was looked up: only for observers that want accesses.
    LookedUp {
        by: Occurrence,
        table: GlobalId,
        key: Vec<u128>,
        action: ActionId,
        /// False if the default action ran.
        hit: bool,
    },
    /// An extern function was called.
    Called { by: Occurrence, function: Arc<str>, arguments: Vec<CallArgument> },
    /// A link went down or up, by the specification.
    Link { ends: [(u32, u32); 2], up: bool },
}

/// Which handler of an event ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// `handle`, as it arrives.
    #[default]
    Ingress,
    /// `@egress handle`, as it leaves the switch.
    Egress,
    /// `control handle`, on the switch's processor.
    Control,
}

/// Where a generated event goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Back into this switch, not before this time.
    Recirculated { due_ps: u64 },
    /// To a switch by its number, at this time.
    Switch { switch: u32, arrives_ps: u64 },
    /// Out of a port; to the switch and port at the other end, if there is a link.
    Port { port: u32, to: Option<(u32, u32)>, arrives_ps: u64 },
}

/// Why an event was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The link loses messages at random.
    Loss,
    /// The link is down.
    LinkDown,
    /// The switch does not exist or cannot be reached.
    Unreachable,
    /// The parser dropped the packet.
    Parser,
    /// A queue was full.
    QueueFull,
}

impl From<Loss> for DropReason {
    fn from(loss: Loss) -> DropReason {
        match loss {
            Loss::Random => DropReason::Loss,
            Loss::Down => DropReason::LinkDown,
        }
    }
}

/// Counters of one switch; they mean the same for the simulation and for compiled programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handlers run.
    pub handled: u64,
    /// Packet events handled.
    pub packets: u64,
    /// Events generated: each copy for each place by itself, when the handler runs.
    pub generated: u64,
    /// Of them those for the switch itself, by the recirculation port or by its number.
    pub recirculated: u64,
    /// Events that left the network here.
    pub left: u64,
    /// Events lost here.
    pub dropped: u64,
    /// Accesses beyond the end of an array.
    pub out_of_range: u64,
    /// Entries that a full table did not take.
    pub tables_full: u64,
}

/// Receives observations. The simulation makes only those that it wants.
pub trait Observer {
    /// Whether the simulation should make observations; it always keeps counters and state.
    fn wants(&self) -> bool {
        true
    }

    /// Whether it also wants each access to a cell and each lookup.
    fn wants_accesses(&self) -> bool {
        false
    }

    /// Takes one.
    fn observe(&mut self, observation: Observation);

    /// Shows how far the simulation has come. It calls this each [`STEPS_OF_PROGRESS`] of its steps, also if the observer
    /// wants no observations.
    fn progress(&mut self, _progress: Progress) {}
}

/// Steps of a simulation from one call of [`Observer::progress`] to the next.
pub const STEPS_OF_PROGRESS: u64 = 1 << 14;

/// How far a simulation has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The simulated time, in picoseconds.
    pub time_ps: u64,
    /// Handlers that ran.
    pub handled: u64,
    /// Passes in which a compiled program only sent an event round.
    pub rounds: u64,
}

/// An observer that takes no observations.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullObserver;

impl Observer for NullObserver {
    fn wants(&self) -> bool {
        false
    }

    fn observe(&mut self, _: Observation) {}
}

/// Returns the name of an event for reports.
pub fn event_name(program: &lucid::core::Program, event: EventId) -> &Arc<str> {
    &program.events[event.0 as usize].name
}
