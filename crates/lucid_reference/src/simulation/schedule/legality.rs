// SPDX-License-Identifier: Apache-2.0
//! Checks that a schedule is legal by the rules of [`crate::simulation`]. It replays the schedule and keeps
//! all events that are due: their source, where they arrive, and the earliest and latest time. `arrivals`
//! computes these times and places.

mod arrivals;

use super::super::inputs::{Input, Inputs};
use super::super::observation::Stage;
use super::super::setup::Setup;
use super::super::simulator::EVENT_TIME_PS;
use super::replay::{Replayer, surroundings};
use super::{Dispatch, Interference, RemovedEvent, Rule, Schedule, Violation};
use crate::interpreter::{Arguments, Parsed, parse};
use arrivals::{ArrivalWindow, LinkTimes, OrderedPath};
use lucid::core::EventId;
use network::links::End;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// How far a machine may deviate from the times of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// By how much the generate delay may be shorter, in picoseconds. Delays that a program asks
    /// for are never shorter.
    pub early_ps: u64,
    /// By how much anything may be later, in picoseconds.
    pub late_ps: u64,
    /// The time a switch takes for an event, in picoseconds.
    pub event_time_ps: u64,
    /// Whether events on the same path keep their order. Compiled switches send the first event that
    /// leaves by a port at once and other ones after a round, so a later handler's may overtake.
    pub keeps_ways: bool,
    /// Whether delayed events come at releases of the delay queue only. In a compiled switch one that
    /// is nearly due at a release goes round once more, and is handled as soon as it is due.
    pub at_releases: bool,
}

impl Tolerance {
    /// The tolerance of the simulation: none.
    pub const EXACT: Tolerance = Tolerance {
        early_ps: 0,
        late_ps: 0,
        event_time_ps: EVENT_TIME_PS,
        keeps_ways: true,
        at_releases: true,
    };
}

/// What identifies arrivals but for their times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ArrivalKey {
    at: End,
    stage: Stage,
    cause: Option<usize>,
    event: EventId,
    arguments: Arguments,
}

/// An event that is due somewhere.
#[derive(Clone, Debug)]
struct Arrival {
    key: Arc<ArrivalKey>,
    window: ArrivalWindow,
    path: Option<OrderedPath>,
}

struct LegalityChecker<'s> {
    replayer: Replayer,
    setup: &'s Setup,
    tolerance: Tolerance,
    links: LinkTimes,
    inputs: Inputs,
    next: u64,
    arrivals: HashMap<u64, Arrival>,
    /// Arrivals by latest time and then by number, for each key.
    by_key: HashMap<Arc<ArrivalKey>, BTreeSet<(u64, u64)>>,
    by_path: HashMap<OrderedPath, VecDeque<u64>>,
    /// Arrivals that each switch must handle in turn, by their latest time.
    required: Vec<BTreeSet<(u64, u64)>>,
    /// Other required dispatches, by their latest time: egress handlers, control handlers that follow.
    besides: BTreeSet<(u64, u64)>,
    free_at_ps: Vec<u64>,
}

/// Checks a schedule of a run against the rules. Inputs injected into a simulation by hand are not
/// part of its run.
pub fn check_legal(
    setup: &Setup,
    tolerance: Tolerance,
    schedule: &Schedule,
) -> Result<(), Violation> {
    check_legal_around(setup, tolerance, schedule, &Interference::default())
}

/// The same for a run in which code outside the program makes and removes events.
pub fn check_legal_around(
    setup: &Setup,
    tolerance: Tolerance,
    schedule: &Schedule,
    interference: &Interference,
) -> Result<(), Violation> {
    let switches = setup.switches as usize;
    let mut judge = LegalityChecker {
        replayer: Replayer::new(setup),
        setup,
        tolerance,
        links: LinkTimes::new(setup),
        inputs: Inputs::new(setup.sources.clone(), setup.seed),
        next: 0,
        arrivals: HashMap::new(),
        by_key: HashMap::new(),
        by_path: HashMap::new(),
        required: vec![BTreeSet::new(); switches],
        besides: BTreeSet::new(),
        free_at_ps: vec![0; switches],
    };
    let mut taken = interference.taken.iter().peekable();
    let mut before_ps = 0;
    for (number, dispatch) in schedule.dispatches.iter().enumerate() {
        let violation = |rule, message| Err(Violation::new(Some(number), rule, message));
        if dispatch.time_ps < before_ps {
            return violation(Rule::Time, "it is earlier than the one before it".to_string());
        }
        if dispatch.time_ps > setup.timing.max_time_ps {
            return violation(Rule::Time, "it is after the end of the run".to_string());
        }
        before_ps = dispatch.time_ps;
        if dispatch.switch >= setup.switches {
            return violation(Rule::Fit, format!("there is no switch {}", dispatch.switch));
        }
        while let Some(removed) = taken.next_if(|one| one.before <= number) {
            judge.take(removed);
        }
        judge.admit_inputs(dispatch.time_ps);
        if !interference.made.contains(&number) {
            let arrival = judge.find(number, dispatch)?;
            judge.check_time(number, dispatch, arrival)?;
            judge.remove(arrival);
        }
        let is_diverted = interference.diverted.contains(&number);
        let stopped = judge.run(number, dispatch, is_diverted)?;
        if stopped {
            return match schedule.dispatches.get(number + 1) {
                None => Ok(()),
                Some(_) => {
                    let message = "the run stopped at an access beyond the end of an array";
                    Err(Violation::new(Some(number + 1), Rule::Time, message))
                }
            };
        }
    }
    taken.for_each(|removed| judge.take(removed));
    judge.admit_inputs(setup.timing.max_time_ps);
    judge.check_end()
}

impl LegalityChecker<'_> {
    /// Inputs that come in until a time, included, are due.
    fn admit_inputs(&mut self, until_ps: u64) {
        while self.inputs.peek().is_some_and(|next| next.0 <= until_ps) {
            let Some((time_ps, input)) = self.inputs.pop() else { return };
            let window = ArrivalWindow { earliest_ps: time_ps, latest_ps: time_ps, certain: true };
            match input {
                Input::Event { at, event, arguments } => {
                    self.arrive(at, (event, arguments), None, window, Some(OrderedPath::Input(at)));
                }
                Input::Packet { at, bytes } => {
                    self.arrive_packet(at, &bytes, None, window, Some(OrderedPath::Input(at)));
                }
                Input::Command { .. } | Input::Link { .. } => {}
            }
        }
    }

    /// A packet arrives: the event that the parser makes of it is due, if it makes one.
    fn arrive_packet(
        &mut self,
        at: (u32, u32),
        bytes: &[u8],
        cause: Option<usize>,
        window: ArrivalWindow,
        path: Option<OrderedPath>,
    ) {
        let context = surroundings(self.setup, at.0, at.1, window.earliest_ps);
        if let Parsed::Event(event, arguments) = parse(&self.setup.prepared, bytes, &context) {
            self.arrive(at, (event, arguments), cause, window, path);
        }
    }

    /// An event arrives at a switch and is due there, if it has a handler.
    fn arrive(
        &mut self,
        at: (u32, u32),
        (event, arguments): (EventId, Arguments),
        cause: Option<usize>,
        window: ArrivalWindow,
        path: Option<OrderedPath>,
    ) {
        let prepared = &self.setup.prepared.events[event.0 as usize];
        let stage = match (&prepared.ingress, &prepared.control) {
            (Some(_), _) => Stage::Ingress,
            (None, Some(_)) => Stage::Control,
            (None, None) => return,
        };
        let (id, switch) = (self.next, at.0);
        if window.certain {
            self.required[switch as usize].insert((window.latest_ps, id));
        }
        if let Some(path) = path {
            self.by_path.entry(path).or_default().push_back(id);
        }
        self.add(ArrivalKey { at, stage, cause, event, arguments }, window, path);
    }

    /// A handler that runs besides those that a switch takes in turn.
    fn besides(&mut self, key: ArrivalKey, window: ArrivalWindow) {
        if window.certain {
            self.besides.insert((window.latest_ps, self.next));
        }
        self.add(key, window, None);
    }

    fn add(&mut self, key: ArrivalKey, window: ArrivalWindow, path: Option<OrderedPath>) {
        let key = Arc::new(key);
        self.by_key.entry(key.clone()).or_default().insert((window.latest_ps, self.next));
        self.arrivals.insert(self.next, Arrival { key, window, path });
        self.next += 1;
    }

    /// What a dispatch handles.
    fn find(&self, number: usize, dispatch: &Dispatch) -> Result<u64, Violation> {
        let slots = match self.setup.prepared.events.get(dispatch.event.event.0 as usize) {
            Some(event) => &event.slots,
            None => {
                let message = "there is no such event";
                return Err(Violation::new(Some(number), Rule::Fit, message));
            }
        };
        let mut arguments = Arguments::default();
        arguments.set(&dispatch.event.arguments, slots);
        let key = ArrivalKey {
            at: (dispatch.switch, dispatch.port),
            stage: dispatch.stage,
            cause: dispatch.cause,
            event: dispatch.event.event,
            arguments,
        };
        // Of equal events with different delays the one that is due first.
        let is_there = |id: &u64| {
            let arrival = self.arrivals.get(id);
            arrival.is_some_and(|arrival| arrival.window.earliest_ps <= dispatch.time_ps)
        };
        if let Some(equal) = self.by_key.get(&key) {
            let mut ids = equal.iter().map(|(_, id)| *id);
            if let Some(found) = ids.clone().find(is_there).or_else(|| ids.next()) {
                return Ok(found);
            }
        }
        let name = &self.setup.program.events[dispatch.event.event.0 as usize].name;
        let from = match dispatch.cause {
            Some(cause) => format!("dispatch {cause} generated no such event that arrives there"),
            None => "there is no such input".to_string(),
        };
        let message = format!(
            "`{name}` with these arguments at switch {}, port {}: {from}, or it was handled before",
            dispatch.switch, dispatch.port
        );
        Err(Violation::new(Some(number), Rule::Cause, message))
    }

    fn check_time(&mut self, number: usize, dispatch: &Dispatch, id: u64) -> Result<(), Violation> {
        let violation = |rule, message| Err(Violation::new(Some(number), rule, message));
        let Some(arrival) = self.arrivals.get(&id) else { return Ok(()) };
        let window = arrival.window;
        let (time_ps, late_ps) = (dispatch.time_ps, self.tolerance.late_ps);
        if time_ps < window.earliest_ps {
            let message = format!("it is due at {} ps, not at {time_ps} ps", window.earliest_ps);
            return violation(Rule::Early, message);
        }
        if !self.is_in_turn(arrival) {
            return if time_ps > window.latest_ps.saturating_add(late_ps) {
                let message = format!("it is due at {} ps, not at {time_ps} ps", window.latest_ps);
                violation(Rule::Idle, message)
            } else {
                Ok(())
            };
        }
        let free_at_ps = self.free_at_ps[dispatch.switch as usize];
        if time_ps < free_at_ps {
            let message = format!("the switch is busy until {free_at_ps} ps");
            return violation(Rule::Pace, message);
        }
        if let Some(path) = arrival.path.filter(|_| self.tolerance.keeps_ways) {
            let queue = self.by_path.entry(path).or_default();
            // A possibly lost event does not delay the events behind it.
            let waits = |id: &u64| self.arrivals.get(id).is_some_and(|other| other.window.certain);
            while queue.front().is_some_and(|first| *first != id && !waits(first)) {
                queue.pop_front();
            }
            if queue.front().is_some_and(|first| *first < id) {
                return violation(
                    Rule::Order,
                    "an earlier event on the same path was not handled".to_string(),
                );
            }
        }
        let Some((latest_ps, first)) = self.required[dispatch.switch as usize].first() else {
            return Ok(());
        };
        if *first != id && latest_ps.saturating_add(late_ps) < window.earliest_ps {
            let message = format!(
                "another event waits since {latest_ps} ps, and this one is not there before {} ps",
                window.earliest_ps
            );
            return violation(Rule::Order, message);
        }
        let possible_ps = free_at_ps.max(*latest_ps);
        if time_ps > possible_ps.saturating_add(late_ps) {
            let message = format!("the switch is free and an event waits since {possible_ps} ps");
            return violation(Rule::Idle, message);
        }
        Ok(())
    }

    /// Whether an event is one of those that the switch takes in turn.
    fn is_in_turn(&self, arrival: &Arrival) -> bool {
        let prepared = &self.setup.prepared.events[arrival.key.event.0 as usize];
        match arrival.key.stage {
            Stage::Ingress => true,
            Stage::Control => prepared.ingress.is_none(),
            Stage::Egress => false,
        }
    }

    fn remove(&mut self, id: u64) {
        let Some(arrival) = self.arrivals.remove(&id) else { return };
        let place = (arrival.window.latest_ps, id);
        self.required[arrival.key.at.0 as usize].remove(&place);
        self.besides.remove(&place);
        if let Some(equal) = self.by_key.get_mut(&arrival.key) {
            equal.remove(&place);
            if equal.is_empty() {
                self.by_key.remove(&arrival.key);
            }
        }
    }

    /// Removes an event in flight: the one that is due first of those that are the same, at this place if
    /// there is one. It may be one that has no handler and is not due anywhere.
    fn take(&mut self, removed: &RemovedEvent) {
        self.admit_inputs(removed.time_ps);
        let (event, arguments) = &removed.event;
        let equal = self.by_key.iter().filter(|(key, _)| {
            (key.cause, key.event) == (removed.cause, *event) && key.arguments == *arguments
        });
        let found = equal.flat_map(|(key, places)| {
            let is_here = key.at == (removed.switch, removed.port);
            places.iter().map(move |(latest_ps, id)| (!is_here, *latest_ps, *id))
        });
        if let Some((_, _, id)) = found.min() {
            self.remove(id);
        }
    }

    /// Runs the handler, and adds the arrivals of its events unless they were diverted. Returns whether the
    /// run stops here.
    fn run(
        &mut self,
        number: usize,
        dispatch: &Dispatch,
        is_diverted: bool,
    ) -> Result<bool, Violation> {
        let generated = self.replayer.dispatch(self.setup, number, dispatch)?;
        let (event, time_ps) = (dispatch.event.event, dispatch.time_ps);
        let prepared = &self.setup.prepared.events[event.0 as usize];
        let in_turn = dispatch.stage == Stage::Ingress
            || (dispatch.stage == Stage::Control && prepared.ingress.is_none());
        if in_turn {
            let free_at_ps = time_ps.saturating_add(self.tolerance.event_time_ps);
            self.free_at_ps[dispatch.switch as usize] = free_at_ps;
        }
        if dispatch.stage == Stage::Ingress && prepared.control.is_some() {
            let window = ArrivalWindow { earliest_ps: time_ps, latest_ps: time_ps, certain: true };
            let mut arguments = Arguments::default();
            arguments.set(&dispatch.event.arguments, &prepared.slots);
            let at = (dispatch.switch, dispatch.port);
            let (stage, cause) = (Stage::Control, dispatch.cause);
            self.besides(ArrivalKey { at, stage, cause, event, arguments }, window);
        }
        for one in generated.into_iter().filter(|_| !is_diverted) {
            self.generated(number, dispatch, one);
        }
        Ok(self.setup.timing.stop_on_out_of_range && self.replayer.was_out_of_range())
    }

    /// At the end nothing is left that should have been handled in time.
    fn check_end(&self) -> Result<(), Violation> {
        let end_ps = self.setup.timing.max_time_ps;
        let lost = |id: u64, since_ps: u64| {
            let Some(arrival) = self.arrivals.get(&id) else { return Ok(()) };
            let name = &self.setup.program.events[arrival.key.event.0 as usize].name;
            let message = format!(
                "`{name}` is due at switch {} at {since_ps} ps and was never handled",
                arrival.key.at.0
            );
            Err(Violation::new(None, Rule::Loss, message))
        };
        for (required, free_at_ps) in self.required.iter().zip(&self.free_at_ps) {
            if let Some((latest_ps, id)) = required.first() {
                let possible_ps = latest_ps.max(free_at_ps);
                if possible_ps.saturating_add(self.tolerance.late_ps) <= end_ps {
                    return lost(*id, *possible_ps);
                }
            }
        }
        match self.besides.first() {
            Some((latest_ps, id)) if latest_ps.saturating_add(self.tolerance.late_ps) <= end_ps => {
                lost(*id, *latest_ps)
            }
            _ => Ok(()),
        }
    }
}
