// SPDX-License-Identifier: Apache-2.0
//! Whether a compiled program does what its source means. While the devices run, the reference
//! interpreter runs each handler that they ran, on a state of its own: cells have to be the same after
//! every handler. At the end the schedule has to be legal (so every event that a handler generated was
//! handled where and when it had to be, and no other event), and the packets that left the
//! network have to be those that handlers sent out. The rules are [`lucid_reference::simulation`]'s.

use super::arrival::{ADDRESS_BYTES, sent_addresses, wire_bytes};
use super::handler_runs::{InterceptedEvent, Replayed};
use super::simulation::CompiledSimulation;
use super::user::event_text;
use super::watch::Watcher;
use lucid::core::NO_PORT;
use lucid::syntax::ast::EventSort;
use lucid_reference::interpreter::EventValue;
use lucid_reference::simulation::route::{Route, due_ps, for_each_route};
use lucid_reference::simulation::schedule::{
    Interference, Recorder, RemovedEvent, Schedule, Tolerance, check_legal_around,
};
use lucid_reference::simulation::{
    EVENT_TIME_PS, Observation, ObservationKind, Observer, Outcome, Progress, Setup, Stage,
};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// What is not as the source means it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which dispatch, by its number in the schedule; `None` at the end.
    pub dispatch: Option<usize>,
    /// For people.
    pub message: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dispatch {
            Some(number) => write!(formatter, "dispatch {number}: {}", self.message),
            None => write!(formatter, "at the end: {}", self.message),
        }
    }
}

/// What came of a run that was verified.
#[derive(Clone, Debug)]
pub struct Verified {
    /// How the run ended.
    pub outcome: Outcome,
    /// What the devices did.
    pub schedule: Schedule,
    /// Cells compared.
    pub cells: u64,
    /// Packets out of the network compared.
    pub packets: u64,
    /// Passes in which P4 of the user's changed a packet or where it goes. What handlers did in them was compared,
    /// and not what became of what the user changed.
    pub by_user: u64,
    /// The first difference, if there is one.
    pub difference: Option<Difference>,
}

/// By how much a compiled program may be off the times of the specification: what leaves by a port
/// leaves at once; what goes round for a delay or a place comes a few rounds later.
pub fn tolerance(setup: &Setup, delay_period_ps: u64) -> Tolerance {
    /// Rounds that an event may take: out of several, to its delay queue, and out of it.
    const ROUNDS: u64 = 4;
    let round_ps = setup.timing().generate_delay_ps;
    Tolerance {
        early_ps: round_ps,
        // Each waits for those that are before it in the pipeline.
        late_ps: ROUNDS * round_ps + 2 * delay_period_ps + 100 * EVENT_TIME_PS,
        event_time_ps: EVENT_TIME_PS,
        keeps_ways: false,
        at_releases: false,
    }
}

/// A packet out of the network: switch, port, bytes.
type Leaving = (u32, u32, Vec<u8>);

struct Verifier<'s, 'o> {
    setup: &'s Setup,
    recorder: Recorder,
    observer: &'o mut dyn Observer,
    cells: u64,
    packets: u64,
    difference: Option<Difference>,
    /// What P4 of the user's did.
    interference: Interference,
    leaving: BTreeMap<Leaving, Balance>,
    /// The time of the last observation, and passes of all devices by then.
    now_ps: u64,
    passes: u64,
}

/// Packets that handlers sent out and that have not left, and packets that left and that no handler sent.
#[derive(Default)]
struct Balance {
    /// Those that have not left, with the times when they are due and the passes of all devices by then.
    due: VecDeque<(u64, u64)>,
    unexpected: u64,
}

impl Balance {
    fn left(&mut self) {
        if self.due.pop_front().is_none() {
            self.unexpected += 1;
        }
    }

    fn expect(&mut self, due_ps: u64, passes: u64) {
        match self.unexpected {
            0 => self.due.push_back((due_ps, passes)),
            _ => self.unexpected -= 1,
        }
    }
}

impl Observer for Verifier<'_, '_> {
    fn wants_accesses(&self) -> bool {
        self.observer.wants() && self.observer.wants_accesses()
    }

    fn observe(&mut self, observation: Observation) {
        self.now_ps = self.now_ps.max(observation.time_ps);
        let bytes = match &observation.kind {
            ObservationKind::LeftAsBytes { port, bytes } => Some((*port, bytes.to_vec())),
            ObservationKind::Left { event, port, bytes, frame, .. } => {
                let mut bytes = match (bytes, frame) {
                    (Some(bytes), _) | (None, Some(bytes)) => bytes.to_vec(),
                    (None, None) => Vec::new(),
                };
                let declared = &self.setup.prepared().events[event.event.0 as usize];
                let is_passing = declared.ingress.is_none();
                if frame.is_some() && is_passing {
                    // It keeps the addresses that its sender wrote.
                    bytes.splice(..ADDRESS_BYTES - 2, sent_addresses());
                }
                Some((*port, bytes))
            }
            _ => None,
        };
        if let Some((port, bytes)) = bytes {
            self.leaving.entry((observation.switch, port, bytes)).or_default().left();
            self.packets += 1;
        }
        self.recorder.observe(observation.clone());
        if self.observer.wants() {
            self.observer.observe(observation);
        }
    }

    fn progress(&mut self, progress: Progress) {
        self.observer.progress(progress);
    }
}

impl Watcher for Verifier<'_, '_> {
    fn is_to_leave(&mut self, (at, port): (u32, u32), bytes: Vec<u8>) {
        let (now_ps, passes) = (self.now_ps, self.passes);
        self.leaving.entry((at, port, bytes)).or_default().expect(now_ps, passes);
    }

    fn intercepted(&mut self, event: InterceptedEvent) {
        let InterceptedEvent { time_ps, at: (switch, port), occurrence, cause, event, arguments } =
            event;
        let cause = self.recorder.cause(occurrence, cause);
        let before = self.recorder.schedule().dispatches.len();
        let event = (event, arguments);
        self.interference.taken.push(RemovedEvent { before, time_ps, switch, port, cause, event });
    }

    fn judges(&self) -> bool {
        true
    }

    fn after_dispatches(&mut self, simulation: &CompiledSimulation, ran: &[Replayed]) -> bool {
        self.passes = simulation.passes();
        for one in ran {
            if let Some(violation) = &one.violation {
                let message = violation.message.clone();
                self.difference = Some(Difference { dispatch: Some(one.number), message });
                return false;
            }
        }
        for one in ran {
            if !self.has_equal_cells(simulation, one) || !self.has_equal_generated(one) {
                return false;
            }
            if one.changes.made {
                self.interference.made.insert(one.number);
            }
            if one.changes.diverted {
                self.interference.diverted.insert(one.number);
            } else {
                self.expect_leaving(simulation, one);
            }
        }
        true
    }
}

impl Verifier<'_, '_> {
    /// Whether the cells that a handler touched are on the device what they are for the interpreter.
    fn has_equal_cells(&mut self, simulation: &CompiledSimulation, one: &Replayed) -> bool {
        let (at, program) = (one.dispatch.switch, self.setup.program());
        for (global, index) in &one.touched {
            let Some(found) = simulation.cell(at, *global, *index) else { continue };
            self.cells += 1;
            let expected = simulation.replayed_cell(at, *global, *index).unwrap_or_default();
            if found != expected {
                let event = &program.events[one.dispatch.event.event.0 as usize].name;
                let name = &program.globals[global.0 as usize].name;
                let message = format!(
                    "after `{event}({})` at switch {at}, {} ps, `{name}[{index}]` is {found:?} on the \
                     device and {expected:?} by the reference interpreter",
                    arguments_text(&one.dispatch.event),
                    one.dispatch.time_ps,
                );
                self.difference = Some(Difference { dispatch: Some(one.number), message });
                return false;
            }
        }
        true
    }

    /// Whether a handler generated what the interpreter generates, where the program tells of it.
    fn has_equal_generated(&mut self, one: &Replayed) -> bool {
        let Some(seen) = &one.changes.generated else { return true };
        let text = |event: &EventValue| event_text(self.setup, event);
        let mut found: Vec<String> = seen.iter().map(|event| text(event)).collect();
        let replayed = one.generated.iter();
        let replayed = replayed.map(|one| self.setup.event_value(one.event, &one.arguments, 0));
        let mut expected: Vec<String> = replayed.map(|event| text(&event)).collect();
        found.sort();
        expected.sort();
        if found == expected {
            return true;
        }
        let message = format!(
            "`{}` at switch {}, {} ps, generates [{}] on the device and [{}] by the reference interpreter",
            text(&one.dispatch.event),
            one.dispatch.switch,
            one.dispatch.time_ps,
            found.join(", "),
            expected.join(", "),
        );
        self.difference = Some(Difference { dispatch: Some(one.number), message });
        false
    }

    /// What a handler generated is due where it leaves the network.
    fn expect_leaving(&mut self, simulation: &CompiledSimulation, ran: &Replayed) {
        let (setup, at) = (self.setup, ran.dispatch.switch);
        let links = simulation.links();
        for one in &ran.generated {
            let declared = &setup.program().events[one.event.0 as usize];
            let is_exit = declared.sort == EventSort::Exit;
            let mut ports = Vec::new();
            let back = setup.recirculation_ports()[at as usize];
            if ran.dispatch.stage == Stage::Egress {
                let goes_round = ran.dispatch.port == back;
                ports.push(if is_exit && goes_round { NO_PORT } else { ran.dispatch.port });
            } else if setup.prepared().events[one.event.0 as usize].egress.is_none() {
                let from = (at, one.event);
                for_each_route(setup, links, from, &one.to, &mut |route| match route {
                    Route::Port(port) => ports.push(port),
                    Route::Outside => ports.push(NO_PORT),
                    Route::Recirculate | Route::Switch(_) => {}
                });
            }
            ports.retain(|port| is_exit || *port != back && links.other_end((at, *port)).is_none());
            let bytes = wire_bytes(setup, one.event, &one.arguments);
            let due_ps = match ran.dispatch.stage {
                Stage::Egress => ran.dispatch.time_ps,
                _ => due_ps(setup.timing(), ran.dispatch.time_ps, one.delay_ns),
            };
            for port in ports {
                let balance = self.leaving.entry((at, port, bytes.clone())).or_default();
                balance.expect(due_ps, self.passes);
            }
        }
    }
}

fn arguments_text(event: &EventValue) -> String {
    let one = |value: &lucid_reference::interpreter::Value| match value {
        lucid_reference::interpreter::Value::Int(value) => value.to_string(),
        lucid_reference::interpreter::Value::Bool(value) => value.to_string(),
        other => format!("{other:?}"),
    };
    event.arguments.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Runs a compiled program to the end of the run, or to the first difference.
pub fn verify(simulation: &mut CompiledSimulation, observer: &mut dyn Observer) -> Verified {
    let setup = simulation.setup().clone();
    let mut verifier = Verifier {
        setup: &setup,
        recorder: Recorder::new(),
        observer,
        cells: 0,
        packets: 0,
        difference: None,
        interference: Interference::default(),
        leaving: BTreeMap::new(),
        now_ps: 0,
        passes: 0,
    };
    let outcome = simulation.run_watched(setup.max_time_ps(), &mut verifier);
    let Verifier { recorder, mut difference, interference, leaving, cells, packets, .. } = verifier;
    let schedule = recorder.into_schedule();
    let tolerance = tolerance(&setup, simulation.compiled().delay_period_ps);
    if difference.is_none() {
        let legal = check_legal_around(&setup, tolerance, &schedule, &interference);
        // Where a fault stops the run, what was to come is not missing.
        let is_known =
            |dispatch: Option<usize>| dispatch.is_some() || !matches!(outcome, Outcome::Stopped(_));
        let violation = legal.err().filter(|violation| is_known(violation.dispatch));
        difference = violation.map(|violation| Difference {
            dispatch: violation.dispatch,
            message: format!("{} (rule `{}`)", violation.message, violation.rule.name()),
        });
    }
    let is_over = match &outcome {
        Outcome::Finished => true,
        Outcome::TimeOver => simulation.is_quiet(),
        Outcome::Stopped(_) => false,
    };
    let may_miss = matches!(outcome, Outcome::Stopped(_)) || setup.may_lose();
    // Each packet may wait for all passes that began since its handler ran.
    let is_late = |(due_ps, passes): &(u64, u64)| {
        let wait_ps = (simulation.passes() - passes).saturating_mul(EVENT_TIME_PS);
        let latest_ps = due_ps.saturating_add(tolerance.late_ps).saturating_add(wait_ps);
        latest_ps < simulation.now_ps()
    };
    let is_missing = |balance: &Balance| {
        !may_miss && (is_over && !balance.due.is_empty() || balance.due.iter().any(is_late))
    };
    if difference.is_none() {
        let is_wrong = |balance: &Balance| balance.unexpected > 0 || is_missing(balance);
        let wrong = leaving.iter().find(|(_, balance)| is_wrong(balance));
        difference = wrong.map(|((switch, port, bytes), balance)| {
            let (what, found) = match balance.unexpected {
                0 => ("that a handler sent", "did not leave"),
                _ => ("that no handler sent", "left"),
            };
            let bytes = lucid_reference::simulation::hexadecimal(bytes);
            let message =
                format!("a packet {what} {found} switch {switch} by port {port}: {bytes}");
            Difference { dispatch: None, message }
        });
    }
    let by_user = simulation.changed_by_user;
    Verified { outcome, schedule, cells, packets, by_user, difference }
}
