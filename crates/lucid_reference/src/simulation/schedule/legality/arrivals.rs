// SPDX-License-Identifier: Apache-2.0
//! Computes where generated events arrive, the earliest and latest times, and whether links may lose them.

use super::super::super::inputs::Input;
use super::super::super::observation::Stage;
use super::super::super::route::{Route, due_ps, for_each_route};
use super::super::super::setup::{Setup, Timing};
use super::super::Dispatch;
use super::{ArrivalKey, LegalityChecker};
use crate::interpreter::{Arguments, Generated, packet_bytes};
use lucid::core::EventId;
use lucid::core::NO_PORT;
use lucid::syntax::ast::EventSort;
use network::links::{End, Links, PathQuality};

/// The earliest and latest time of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrivalWindow {
    pub(super) earliest_ps: u64,
    /// `u64::MAX` if it has no bound.
    pub(super) latest_ps: u64,
    /// Whether it arrives for certain; otherwise a link may lose it.
    pub(super) certain: bool,
}

impl ArrivalWindow {
    fn later(self, by: PathQuality) -> ArrivalWindow {
        let latest_ps = if by.has_rate {
            u64::MAX
        } else {
            self.latest_ps.saturating_add(by.latency_ps).saturating_add(by.jitter_ps)
        };
        ArrivalWindow {
            earliest_ps: self.earliest_ps.saturating_add(by.latency_ps),
            latest_ps,
            certain: self.certain && !by.has_loss,
        }
    }

    fn uncertain(self) -> ArrivalWindow {
        ArrivalWindow { latest_ps: u64::MAX, certain: false, ..self }
    }
}

/// A path on which events keep their order. Delays are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OrderedPath {
    Input(End),
    /// From a switch by a route with a delay.
    Route(u32, Route, u64),
    /// From a switch's egress handlers out of a port.
    Egress(End),
}

/// The links of a run as they are from each change to the next.
pub(super) struct LinkTimes {
    /// From which time on, and how.
    states: Vec<(u64, Links)>,
}

/// The state of a link or path between two times.
enum PathState {
    /// Up, with the same properties all the time.
    Up(PathQuality),
    Down,
    /// The state changes.
    Changing,
    /// The specification has no such link or path.
    Absent,
}

impl LinkTimes {
    pub(super) fn new(setup: &Setup) -> LinkTimes {
        let mut topology = setup.topology();
        let mut states = vec![(0, topology.clone())];
        let mut inputs = super::Inputs::new(setup.controls(), setup.seed);
        while let Some((time_ps, input)) = inputs.pop() {
            if let Input::Link { ends, up } = input {
                topology.set_up(ends[0], up, time_ps);
                states.push((time_ps, topology.clone()));
            }
        }
        LinkTimes { states }
    }

    /// The states of a window, from the first to the last.
    fn within(&self, window: ArrivalWindow) -> std::ops::RangeInclusive<usize> {
        let at =
            |time_ps| self.states.partition_point(|state| state.0 <= time_ps).saturating_sub(1);
        at(window.earliest_ps)..=at(window.latest_ps)
    }

    /// Whether some link changes.
    fn change(&self, window: ArrivalWindow) -> bool {
        let within = self.within(window);
        within.start() != within.end()
    }

    fn between(
        &mut self,
        window: ArrivalWindow,
        ask: &mut dyn FnMut(&mut Links) -> Option<Option<PathQuality>>,
    ) -> PathState {
        let within = self.within(window);
        let mut found: Option<Option<PathQuality>> = None;
        for (_, topology) in &mut self.states[within] {
            let Some(now) = ask(topology) else { return PathState::Absent };
            if found.is_some_and(|before| before != now) {
                return PathState::Changing;
            }
            found = Some(now);
        }
        match found {
            Some(Some(quality)) => PathState::Up(quality),
            Some(None) => PathState::Down,
            None => PathState::Absent,
        }
    }
}

impl LegalityChecker<'_> {
    /// Adds the arrivals of the events that a dispatch generated.
    pub(super) fn generated(&mut self, number: usize, dispatch: &Dispatch, one: Generated) {
        let Generated { event, arguments, delay_ns, to } = one;
        let (from, now_ps) = (dispatch.switch, dispatch.time_ps);
        if dispatch.stage == Stage::Egress {
            let window = ArrivalWindow { earliest_ps: now_ps, latest_ps: now_ps, certain: true };
            let end = (from, dispatch.port);
            let path = Some(OrderedPath::Egress(end));
            self.leave_by_port(number, end, (event, arguments), window, path);
            return;
        }
        let setup = self.setup;
        let timing = &setup.timing;
        let soonest = Timing {
            generate_delay_ps: timing.generate_delay_ps.saturating_sub(self.tolerance.early_ps),
            delay_granularity_ps: match self.tolerance.at_releases {
                true => timing.delay_granularity_ps,
                false => 0,
            },
            ..timing.clone()
        };
        let latest_ps = due_ps(timing, now_ps, delay_ns);
        let window = ArrivalWindow {
            earliest_ps: due_ps(&soonest, now_ps, delay_ns),
            latest_ps: latest_ps.saturating_add(timing.random_delay_range_ps),
            certain: true,
        };
        let mut routes = Vec::new();
        let topology = &self.replayer.topology;
        for_each_route(setup, topology, (from, event), &to, &mut |route| routes.push(route));
        let in_order = timing.random_delay_range_ps == 0;
        for route in routes {
            let path = in_order.then_some(OrderedPath::Route(from, route, delay_ns));
            let what = (event, arguments.clone());
            let port = match route {
                Route::Outside => NO_PORT,
                Route::Switch(to) => {
                    self.leave_to_switch(number, (from, to), what, window, path);
                    continue;
                }
                Route::Recirculate => setup.recirculation_ports[from as usize],
                Route::Port(port) => port,
            };
            if setup.prepared.events[event.0 as usize].egress.is_some() {
                let (event, arguments) = what;
                let (at, stage, cause) = ((from, port), Stage::Egress, Some(number));
                self.besides(ArrivalKey { at, stage, cause, event, arguments }, window);
            } else {
                self.leave_by_port(number, (from, port), what, window, path);
            }
        }
    }

    fn leave_by_port(
        &mut self,
        number: usize,
        from: End,
        what: (EventId, Arguments),
        window: ArrivalWindow,
        path: Option<OrderedPath>,
    ) {
        if self.setup.program.events[what.0.0 as usize].sort == EventSort::Exit {
            return;
        }
        if from.1 == self.setup.recirculation_ports[from.0 as usize] {
            self.comes_in(number, from, what, window, path);
            return;
        }
        let Some(to) = self.replayer.topology.other_end(from) else { return };
        let mut ask = |topology: &mut Links| topology.link_quality(from);
        // A machine may send it later, when the link has changed.
        let latest_ps = window.latest_ps.saturating_add(self.tolerance.late_ps);
        let sent = ArrivalWindow { latest_ps, ..window };
        let (window, path) = match self.links.between(sent, &mut ask) {
            PathState::Absent | PathState::Down => return,
            PathState::Changing => (window.uncertain(), None),
            PathState::Up(quality) => {
                (window.later(quality), path.filter(|_| quality.jitter_ps == 0))
            }
        };
        self.comes_in(number, to, what, window, path);
    }

    fn leave_to_switch(
        &mut self,
        number: usize,
        (from, to): (u32, u32),
        what: (EventId, Arguments),
        window: ArrivalWindow,
        path: Option<OrderedPath>,
    ) {
        if to >= self.setup.switches {
            return;
        }
        let mut ask = |topology: &mut Links| topology.path_quality(from, to);
        let mut now = self.links.between(window, &mut ask);
        if self.tolerance.late_ps > 0 && !matches!(now, PathState::Absent) {
            // A machine carries events from switch to switch, and links may change meanwhile.
            let there = match &now {
                PathState::Up(quality) => window.later(*quality),
                PathState::Down | PathState::Changing | PathState::Absent => window,
            };
            let latest_ps = there.latest_ps.saturating_add(self.tolerance.late_ps);
            if self.links.change(ArrivalWindow { latest_ps, ..window }) {
                now = PathState::Changing;
            }
        }
        let (window, path) = match now {
            PathState::Down => return,
            PathState::Changing => (window.uncertain(), None),
            PathState::Up(quality) => {
                (window.later(quality), path.filter(|_| quality.jitter_ps == 0))
            }
            PathState::Absent => {
                let certain = self.setup.timing.direct_loss <= 0.0;
                (ArrivalWindow { certain: window.certain && certain, ..window }, path)
            }
        };
        self.comes_in(number, (to, 0), what, window, path);
    }

    /// An event of the network comes in at a switch, as a packet if it is one and there is a parser.
    fn comes_in(
        &mut self,
        number: usize,
        at: End,
        (event, arguments): (EventId, Arguments),
        window: ArrivalWindow,
        path: Option<OrderedPath>,
    ) {
        let is_packet = self.setup.program.events[event.0 as usize].sort == EventSort::Packet;
        if is_packet && self.setup.prepared.main_parser.is_some() {
            let bytes = packet_bytes(&self.setup.prepared, event, &arguments);
            self.arrive_packet(at, &bytes, Some(number), window, path);
        } else {
            self.arrive(at, (event, arguments), Some(number), window, path);
        }
    }
}
