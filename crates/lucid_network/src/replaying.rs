// SPDX-License-Identifier: Apache-2.0
//! The reference interpreter beside the devices: each handler that a device ran is run again, on a
//! state of its own, for what cannot be seen from outside a pipeline. That is which cells and tables
//! it touched, accesses beyond the end of an array, and how many events it generated. What the
//! devices hold and send is theirs; whether the two agree is `verify`'s question.

use super::arrival::{frame, is_bare};
use super::handler_runs::{ExpectedEvent, HandlerRun, Replayed};
use super::ports::generated_there;
use super::simulation::CompiledSimulation;
use super::watch::Watch;
use lucid::core::NO_PORT;
use lucid::core::{GlobalId, GlobalKind};
use lucid::syntax::ast::EventSort;
use lucid_compiler::wire::{LARGEST_PORT, OUTSIDE_PORT, PlaceKind};
use lucid_reference::interpreter::{EventValue, Generated, LogRecord, packet_bytes};
use lucid_reference::simulation::faults;
use lucid_reference::simulation::route::{Route, due_ps, for_each_route};
use lucid_reference::simulation::schedule::Dispatch;
use lucid_reference::simulation::{
    Destination, DropReason, ObservationKind, Occurrence, Setup, Stage,
};
use std::sync::Arc;

impl CompiledSimulation {
    /// The cell of a switch, or the two of a pair, as the reference interpreter has them.
    pub(super) fn replayed_cell(
        &self,
        switch: u32,
        global: GlobalId,
        index: u64,
    ) -> Option<Vec<u128>> {
        let cells = self.replayer.states.get(switch as usize)?.cells(global)?;
        let cell = cells.get(index.into())?;
        Some(cell[..if cells.is_pairs() { 2 } else { 1 }].to_vec())
    }

    /// Counts, reports and replays a handler that a device ran. Does nothing in a run that has stopped.
    pub(super) fn dispatched(&mut self, setup: &Setup, watch: &mut Watch<'_>, ran: HandlerRun) {
        if self.stopped.is_some() {
            return;
        }
        let HandlerRun { occurrence, cause, is_packet, dispatch, changes } = ran;
        let (at, time_ps) = (dispatch.switch, dispatch.time_ps);
        let number = self.handled as usize;
        self.handled += 1;
        let counts = &mut self.switches[at as usize].counts;
        counts.handled += 1;
        let sort = setup.program().events[dispatch.event.event.0 as usize].sort;
        if dispatch.stage != Stage::Egress && matches!(sort, EventSort::Packet | EventSort::Entry) {
            counts.packets += 1;
        }
        watch.see(time_ps, at, || ObservationKind::Handled {
            occurrence: Occurrence(occurrence),
            cause: cause.map(Occurrence),
            event: dispatch.event.clone(),
            port: dispatch.port,
            stage: dispatch.stage,
            is_packet,
            draws: dispatch.draws.clone(),
            dequeue_depth: dispatch.dequeue_depth,
        });
        self.replayer.interpreter.wants_accesses = watch.tells_accesses || watch.judges;
        let (generated, violation) = match self.replayer.dispatch(setup, number, &dispatch) {
            Ok(generated) => (generated, None),
            Err(violation) if watch.judges => (Vec::new(), Some(violation)),
            Err(violation) => {
                let message = format!("it differs from the reference interpreter: {violation}");
                self.fault(at, &message);
                return;
            }
        };
        let mut touched = Vec::new();
        let notes = std::mem::take(&mut self.replayer.interpreter.output.log);
        for note in &notes {
            self.tell_note(setup, watch, occurrence, &dispatch, note);
            if let LogRecord::Accessed { global, index, .. } = note
                && let Ok(index) = u64::try_from(*index)
            {
                touched.push((*global, index));
            }
        }
        for one in &generated {
            self.tell_generated(setup, watch, (occurrence, changes.diverted), &dispatch, one);
        }
        if watch.judges {
            self.batch.push(Replayed { number, dispatch, generated, touched, changes, violation });
        }
    }

    fn tell_note(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        occurrence: u64,
        dispatch: &Dispatch,
        note: &LogRecord,
    ) {
        let (time_ps, at, by) = (dispatch.time_ps, dispatch.switch, Occurrence(occurrence));
        match note {
            LogRecord::OutOfRange(global, index, span) => {
                let (global, index) = (*global, *index);
                self.switches[at as usize].counts.out_of_range += 1;
                watch.see(time_ps, at, || ObservationKind::OutOfRange { by, global, index });
                if setup.timing().stop_on_out_of_range && self.stopped.is_none() {
                    let place = (at, time_ps, dispatch.event.event);
                    let fault =
                        faults::out_of_range(setup.program(), place, (global, index, *span));
                    self.stopped = Some(Box::new(fault));
                }
            }
            LogRecord::Accessed { global, index, before, after, result }
                if watch.tells_accesses =>
            {
                let kind = &setup.program().globals[global.0 as usize].kind;
                let cells = if matches!(kind, GlobalKind::PairArray { .. }) { 2 } else { 1 };
                watch.see(time_ps, at, || ObservationKind::Accessed {
                    by,
                    global: *global,
                    index: *index,
                    before: before[..cells].to_vec(),
                    after: after[..cells].to_vec(),
                    result: *result,
                });
            }
            LogRecord::LookedUp { table, key, action, hit } if watch.tells_accesses => {
                watch.see(time_ps, at, || ObservationKind::LookedUp {
                    by,
                    table: *table,
                    key: key.clone(),
                    action: *action,
                    hit: *hit,
                });
            }
            // The devices tell their own; handlers of compiled programs install nothing.
            LogRecord::Accessed { .. }
            | LogRecord::LookedUp { .. }
            | LogRecord::Printed(_)
            | LogRecord::Called(..)
            | LogRecord::TableFull(..) => {}
        }
    }

    /// Counts the copies of a generated event and tells them; devices will send them. One for a switch
    /// that is not there is lost at once. `is_diverted`: P4 of the user's does with them what it will.
    fn tell_generated(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        (by, is_diverted): (u64, bool),
        dispatch: &Dispatch,
        one: &Generated,
    ) {
        let (at, now_ps) = (dispatch.switch, dispatch.time_ps);
        let mut routes = Vec::new();
        let due_ps = if dispatch.stage == Stage::Egress {
            let back = setup.recirculation_ports()[at as usize];
            let sort = setup.program().events[one.event.0 as usize].sort;
            routes.push(match dispatch.port {
                NO_PORT => Route::Outside,
                port if port == back && sort == EventSort::Exit => Route::Outside,
                port => Route::Port(port),
            });
            now_ps
        } else {
            let from = (at, one.event);
            for_each_route(setup, &self.fabric.links, from, &one.to, &mut |route| {
                routes.push(route)
            });
            due_ps(setup.timing(), now_ps, one.delay_ns)
        };
        for route in &routes {
            if let Route::Port(port) = route
                && *port > LARGEST_PORT
            {
                let handler = dispatch.event.event;
                let fault = generated_there(setup.program(), handler, (at, *port), one.event);
                self.stopped.get_or_insert(Box::new(fault));
                return;
            }
        }
        let counts = &mut self.switches[at as usize].counts;
        counts.generated += routes.len() as u64;
        for route in &routes {
            match route {
                Route::Recirculate => counts.recirculated += 1,
                Route::Switch(to) if *to == at => counts.recirculated += 1,
                Route::Switch(to) if *to >= setup.switches() => counts.dropped += 1,
                Route::Switch(_) | Route::Port(_) | Route::Outside => {}
            }
        }
        if !watch.wanted {
            return;
        }
        let is_exit = setup.program().events[one.event.0 as usize].sort == EventSort::Exit;
        for route in routes {
            let event = setup.event_value(one.event, &one.arguments, one.delay_ns);
            let destination = match route {
                Route::Recirculate => Destination::Recirculated { due_ps },
                Route::Switch(to) if to == at => Destination::Recirculated { due_ps },
                Route::Switch(switch) => Destination::Switch { switch, arrives_ps: due_ps },
                Route::Outside => Destination::Port { port: NO_PORT, to: None, arrives_ps: due_ps },
                Route::Port(port) => {
                    let to = self.fabric.links.other_end((at, port)).filter(|_| !is_exit);
                    let latency_ps = match dispatch.stage {
                        Stage::Egress => 0,
                        _ => {
                            self.fabric.links.options((at, port)).map_or(0, |link| link.latency_ps)
                        }
                    };
                    let arrives_ps = due_ps.saturating_add(latency_ps);
                    Destination::Port { port, to, arrives_ps }
                }
            };
            let occurrence = self.next_occurrence();
            watch.see(now_ps, at, || ObservationKind::Generated {
                occurrence: Occurrence(occurrence),
                by: Occurrence(by),
                event: event.clone(),
                destination,
            });
            if matches!(route, Route::Switch(to) if to >= setup.switches()) {
                watch.see(now_ps, at, || ObservationKind::Dropped {
                    occurrence: Occurrence(occurrence),
                    event: Some(event),
                    reason: DropReason::Unreachable,
                });
            } else if !is_diverted {
                let arguments = one.arguments.clone();
                let expected = ExpectedEvent { occurrence, arguments, route, due_ps, event };
                self.expected.entry(by).or_default().push(expected);
            }
        }
    }

    /// Which event that a handler generated a device sends by a port: of those that it may be the one
    /// that is due first. `None` for a frame that goes round to leave later, and for what no handler
    /// generated.
    pub(super) fn claim(
        &mut self,
        setup: &Setup,
        by: u64,
        (at, port): (u32, u32),
        bytes: &[u8],
    ) -> Option<(u64, Arc<EventValue>)> {
        self.expected.get(&by)?;
        let goes_round = port == setup.recirculation_ports()[at as usize];
        let leaves = |route| leaves_by(route, port, goes_round);
        let found = frame(setup, bytes);
        let contents = match &found {
            Some(frame) => Some(frame.event.as_ref()?),
            None => None,
        };
        let fits = |one: &ExpectedEvent| match (&found, contents) {
            (Some(frame), Some((event, arguments))) => {
                let takes = match frame.place {
                    PlaceKind::Here => leaves(one.route),
                    PlaceKind::Switch => one.route == Route::Switch(frame.place_number),
                    PlaceKind::Port
                    | PlaceKind::Group
                    | PlaceKind::Flood
                    | PlaceKind::Switches
                    | PlaceKind::Later => false,
                };
                takes && one.event.event == *event && one.arguments == *arguments
            }
            _ => {
                let takes = matches!(one.route, Route::Switch(_)) || leaves(one.route);
                let event = one.event.event;
                takes
                    && is_bare(setup, event)
                    && packet_bytes(setup.prepared(), event, &one.arguments) == bytes
            }
        };
        let taken = self.take_expected(by, &fits)?;
        Some((taken.occurrence, taken.event))
    }

    /// Which event that a handler generated an egress handler runs on as it leaves by a port.
    pub(super) fn claim_at_egress(
        &mut self,
        setup: &Setup,
        by: u64,
        (at, port): (u32, u32),
        event: &EventValue,
    ) -> Option<u64> {
        let goes_round = port == setup.recirculation_ports()[at as usize];
        let fits = |one: &ExpectedEvent| {
            leaves_by(one.route, port, goes_round)
                && one.event.event == event.event
                && one.event.arguments == event.arguments
        };
        self.take_expected(by, &fits).map(|taken| taken.occurrence)
    }

    fn take_expected(
        &mut self,
        by: u64,
        fits: &dyn Fn(&ExpectedEvent) -> bool,
    ) -> Option<ExpectedEvent> {
        let list = self.expected.get_mut(&by)?;
        let candidates = (0..list.len()).filter(|number| fits(&list[*number]));
        let chosen = candidates.min_by_key(|number| list[*number].due_ps)?;
        let taken = list.remove(chosen);
        if list.is_empty() {
            self.expected.remove(&by);
        }
        Some(taken)
    }
}

/// Whether what takes a route leaves by a port of a device, which may be the one by which it goes round.
fn leaves_by(route: Route, port: u32, goes_round: bool) -> bool {
    match route {
        Route::Recirculate => goes_round,
        Route::Port(by) => by == port,
        Route::Outside => port == OUTSIDE_PORT,
        Route::Switch(_) => false,
    }
}
