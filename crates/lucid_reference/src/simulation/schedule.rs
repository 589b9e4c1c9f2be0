// SPDX-License-Identifier: Apache-2.0
//! Schedules: which handlers ran, where, when, in which order, with which random numbers. A schedule can be
//! recorded, written and read as JSON lines, replayed ([`replay`]) and checked ([`check_legal`]). The
//! documentation of [`crate::simulation`] defines legal schedules.

mod json;
mod legality;
mod replay;

pub use json::ScheduleError;
pub use legality::check_legal_around;
pub use legality::{Tolerance, check_legal};
pub use replay::Replayer;
pub use replay::{Replay, SentTo, replay};

use super::observation::{Observation, ObservationKind, Observer, Stage};
use crate::interpreter::{Arguments, EventValue};
use lucid::core::EventId;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// One handler of one event at one switch at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// Where.
    pub switch: u32,
    /// Where the event came in, or at egress where it leaves.
    pub port: u32,
    /// Which of the event's handlers.
    pub stage: Stage,
    /// The event; delay and place do not count.
    pub event: Arc<EventValue>,
    /// Number in the schedule of the dispatch that generated the event; `None` for inputs.
    pub cause: Option<usize>,
    /// Random numbers that it drew, in order.
    pub draws: Vec<u128>,
    /// What `Sys.dequeue_depth()` was.
    pub dequeue_depth: u64,
}

/// Dispatches in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// In order of time; of equal times in the order in which they happened.
    pub dispatches: Vec<Dispatch>,
}

/// The rules of legal schedules; see [`crate::simulation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Dispatches are in order of time, within the run's time.
    Time,
    /// A switch takes one event at a time.
    Pace,
    /// Every dispatch has its own cause.
    Cause,
    /// Nothing is handled before it is due.
    Early,
    /// A switch that is free does not let an event wait.
    Idle,
    /// What is surely there before something else is handled before it, and what takes one path keeps its
    /// order.
    Order,
    /// Nothing is lost, except where links lose it.
    Loss,
    /// Random numbers have the requested width, and their number is that of the draws.
    Draws,
    /// The schedule fits the program: events, handlers, arguments.
    Fit,
}

impl Rule {
    /// Its name in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Time => "time",
            Rule::Pace => "pace",
            Rule::Cause => "cause",
            Rule::Early => "early",
            Rule::Idle => "idle",
            Rule::Order => "order",
            Rule::Loss => "loss",
            Rule::Draws => "draws",
            Rule::Fit => "fit",
        }
    }
}

/// Why a schedule is not legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which dispatch, by its number; `None` if something is missing at the end.
    pub dispatch: Option<usize>,
    /// Which rule.
    pub rule: Rule,
    /// For people.
    pub message: String,
}

impl Violation {
    fn new(dispatch: Option<usize>, rule: Rule, message: impl Into<String>) -> Violation {
        Violation { dispatch, rule, message: message.into() }
    }

    /// As a diagnostic.
    pub fn diagnostic(&self) -> source::Diagnostic {
        let message = format!("the schedule is not legal: {self}");
        let code = super::codes::ILLEGAL_SCHEDULE;
        source::Diagnostic::error(code, source::Span::NONE, message)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dispatch {
            Some(number) => write!(formatter, "dispatch {number}: ")?,
            None => write!(formatter, "at the end: ")?,
        }
        write!(formatter, "{} (rule `{}`)", self.message, self.rule.name())
    }
}

impl std::error::Error for Violation {}

/// Changes that code outside the program (user P4) makes between the network and the dispatches.
#[derive(Clone, Debug, Default)]
pub struct Interference {
    /// Dispatches of events that this code made.
    pub made: BTreeSet<usize>,
    /// Dispatches whose generated events were changed or redirected.
    pub diverted: BTreeSet<usize>,
    /// Events that were removed, in order.
    pub taken: Vec<RemovedEvent>,
}

/// An event in flight that was removed.
#[derive(Clone, Debug)]
pub struct RemovedEvent {
    /// The number of the dispatch before which it was removed.
    pub before: usize,
    /// When it was removed, in picoseconds.
    pub time_ps: u64,
    /// At which switch.
    pub switch: u32,
    /// At which port.
    pub port: u32,
    /// As of a [`Dispatch`].
    pub cause: Option<usize>,
    /// The event.
    pub event: (EventId, Arguments),
}

/// An observer that records the schedule of a run.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    schedule: Schedule,
    /// Which dispatch generated an occurrence.
    origins: HashMap<u64, usize>,
    /// The last dispatch of an occurrence.
    handled: HashMap<u64, usize>,
}

impl Recorder {
    /// Nothing recorded.
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// What was recorded.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Which dispatch generated an occurrence, or if that is unknown the last of its cause.
    pub fn cause(&self, occurrence: u64, cause: Option<u64>) -> Option<usize> {
        let by = || self.handled.get(&cause?).copied();
        self.origins.get(&occurrence).copied().or_else(by)
    }

    /// What was recorded, to keep.
    pub fn into_schedule(self) -> Schedule {
        self.schedule
    }
}

impl Observer for Recorder {
    fn observe(&mut self, observation: Observation) {
        match observation.kind {
            ObservationKind::Handled {
                occurrence,
                cause,
                event,
                port,
                stage,
                draws,
                dequeue_depth,
                ..
            } => {
                let cause = self.cause(occurrence.0, cause.map(|cause| cause.0));
                self.handled.insert(occurrence.0, self.schedule.dispatches.len());
                self.schedule.dispatches.push(Dispatch {
                    time_ps: observation.time_ps,
                    switch: observation.switch,
                    port,
                    stage,
                    event,
                    cause,
                    draws,
                    dequeue_depth,
                });
            }
            ObservationKind::Generated { occurrence, by, .. } => {
                if let Some(dispatch) = self.handled.get(&by.0) {
                    self.origins.insert(occurrence.0, *dispatch);
                }
            }
            ObservationKind::Left { occurrence, .. }
            | ObservationKind::Dropped { occurrence, .. } => {
                self.origins.remove(&occurrence.0);
            }
            _ => {}
        }
    }
}
