// SPDX-License-Identifier: Apache-2.0
//! Handlers that a device ran: as they were seen there, as the reference interpreter runs them again, and the events
//! that they generate until devices send them.

use lucid::core::{EventId, GlobalId};
use lucid_reference::interpreter::{Arguments, EventValue, Generated};
use lucid_reference::simulation::route::Route;
use lucid_reference::simulation::schedule::{Dispatch, Violation};
use std::sync::Arc;

/// What the user's P4 did to a handler that ran.
#[derive(Clone, Debug, Default)]
pub(super) struct UserChanges {
    /// It made the event that is handled.
    pub(super) made: bool,
    /// It changed what was generated, or where that goes.
    pub(super) diverted: bool,
    /// What was generated before that.
    pub(super) generated: Option<Vec<Arc<EventValue>>>,
}

/// A handler that a device ran.
pub(super) struct HandlerRun {
    pub(super) occurrence: u64,
    pub(super) cause: Option<u64>,
    pub(super) is_packet: bool,
    /// Its cause is not set.
    pub(super) dispatch: Dispatch,
    pub(super) changes: UserChanges,
}

/// The same, as the reference interpreter runs it.
#[derive(Debug)]
pub(super) struct Replayed {
    /// Its number in the schedule.
    pub(super) number: usize,
    /// What ran. Its cause is not set.
    pub(super) dispatch: Dispatch,
    /// What it generated.
    pub(super) generated: Vec<Generated>,
    /// Cells that it accessed.
    pub(super) touched: Vec<(GlobalId, u64)>,
    pub(super) changes: UserChanges,
    /// Why it cannot have run so.
    pub(super) violation: Option<Violation>,
}

/// A copy of an event that a handler generated, until a device sends it where it goes.
#[derive(Debug)]
pub(super) struct ExpectedEvent {
    pub(super) occurrence: u64,
    pub(super) arguments: Arguments,
    pub(super) route: Route,
    pub(super) due_ps: u64,
    /// As observers see it.
    pub(super) event: Arc<EventValue>,
}

/// An event that arrived and that the user's P4 took: nothing handles it, or another event in its place.
pub(super) struct InterceptedEvent {
    pub(super) time_ps: u64,
    /// Switch and port where it arrived.
    pub(super) at: (u32, u32),
    pub(super) occurrence: u64,
    pub(super) cause: Option<u64>,
    pub(super) event: EventId,
    pub(super) arguments: Arguments,
}
