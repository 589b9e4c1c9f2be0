// SPDX-License-Identifier: Apache-2.0
//! The simulation: switches with their state, events in flight, and the event loop. `handling` runs the
//! handlers, `sending` sends the generated events; the documentation of the parent module defines the
//! semantics.

mod handling;
mod sending;

use super::inputs::{Input, Inputs};
use super::observation::{
    Counts, DropReason, Observation, ObservationKind, Observer, Progress, STEPS_OF_PROGRESS,
};
use super::random::Purpose;
use super::setup::Setup;
use crate::interpreter::{Arguments, EventValue, Interpreter, Parsed, State, parse};
use crate::specification;
use arithmetic::random::stream::Stream;
use lucid::core::EventId;
use network::event_loop::{self, End as LoopEnd, Event, Fabric, Flight, Participants};
use network::links::End;
use source::{Diagnostic, Diagnostics};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

/// How long a switch takes for an event before it can take the next, in picoseconds: a pipeline of
/// 1 GHz takes one event a clock.
pub const EVENT_TIME_PS: u64 = 1_000;

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No event is left.
    Finished,
    /// Its time is over; events wait.
    TimeOver,
    /// It stopped at a fault.
    Stopped(Box<Diagnostic>),
}

/// The cause of an event that no handler generated.
const NO_CAUSE: u64 = u64::MAX;

/// An event in flight.
#[derive(Clone, Debug)]
struct InFlightEvent {
    occurrence: u64,
    cause: u64,
    content: Content,
    /// Whether it came in as a packet, through the parser.
    is_packet: bool,
    port: u32,
    /// The switch that it goes to, if it goes by switch and not by port.
    to_switch: Option<u32>,
    /// Its value for observers, once one was made.
    value: Option<Arc<EventValue>>,
}

#[derive(Clone, Debug)]
enum Content {
    Event(EventId, Arguments),
    /// For the parser.
    Packet(Arc<[u8]>),
}

/// The state of one switch.
#[derive(Clone, Debug)]
struct Switch {
    state: State,
    /// Arrived and not handled, in order.
    waiting: VecDeque<Flight>,
    /// When it can take the next event.
    free_at_ps: u64,
    draws: Stream,
    delays: Stream,
    direct_loss: Stream,
    counts: Counts,
}

/// Passes observations to the observer, if it wants them.
struct Notifier<'o> {
    observer: &'o mut dyn Observer,
    wanted: bool,
}

impl Notifier<'_> {
    #[inline]
    fn notify(&mut self, time_ps: u64, switch: u32, kind: impl FnOnce() -> ObservationKind) {
        if self.wanted {
            self.observer.observe(Observation { time_ps, switch, kind: kind() });
        }
    }
}

/// A run in progress.
#[derive(Debug)]
pub struct Simulation {
    setup: Arc<Setup>,
    fabric: Fabric<InFlightEvent>,
    switches: Vec<Switch>,
    inputs: Inputs,
    interpreter: Interpreter,
    occurrences: u64,
    handled: u64,
    stopped: Option<Box<Diagnostic>>,
    warnings: Diagnostics,
}

impl Simulation {
    /// At time 0, with nothing handled.
    pub fn new(setup: Arc<Setup>) -> Simulation {
        let switch = |number: u32| {
            let place = u64::from(number);
            Switch {
                state: State::new(&setup.program),
                waiting: VecDeque::new(),
                free_at_ps: 0,
                draws: Purpose::Program.stream(setup.seed, place),
                delays: Purpose::GenerateDelay.stream(setup.seed, place),
                direct_loss: Purpose::DirectLoss.stream(setup.seed, place),
                counts: Counts::default(),
            }
        };
        Simulation {
            fabric: Fabric::new(setup.topology()),
            switches: (0..setup.switches).map(switch).collect(),
            inputs: Inputs::new(setup.sources.clone(), setup.seed),
            interpreter: Interpreter::default(),
            occurrences: 0,
            handled: 0,
            stopped: None,
            warnings: Diagnostics::new(),
            setup,
        }
    }

    /// What it runs.
    pub fn setup(&self) -> &Arc<Setup> {
        &self.setup
    }

    /// How far it came, in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.fabric.now_ps()
    }

    /// The state of a switch.
    pub fn state(&self, switch: u32) -> Option<&State> {
        self.switches.get(switch as usize).map(|switch| &switch.state)
    }

    /// Counters of a switch.
    pub fn counts(&self, switch: u32) -> Option<Counts> {
        self.switches.get(switch as usize).map(|switch| switch.counts)
    }

    /// Handlers run at all switches.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Events in flight or waiting.
    pub fn in_flight(&self) -> usize {
        self.fabric.in_flight()
    }

    /// Warnings of the run: each full table, once.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// When something next happens, in picoseconds.
    pub fn next_time_ps(&self) -> Option<u64> {
        let input = self.inputs.peek().map(|next| next.0);
        let queued = self.fabric.next_time_ps();
        input.into_iter().chain(queued).min()
    }

    /// When the next input comes, in picoseconds.
    pub fn next_input_ps(&self) -> Option<u64> {
        self.inputs.peek().map(|next| next.0)
    }

    /// Adds an input of a specification, at its time or now, whichever is later.
    ///
    /// # Errors
    ///
    /// The input names something that the program or the network does not have.
    pub fn inject(&mut self, input: &specification::Input) -> Result<(), Diagnostics> {
        for one in self.setup.clone().inputs(input)? {
            self.inject_at(input.time_ps.unwrap_or(0), one);
        }
        Ok(())
    }

    /// Injects a packet at a switch's port, now or at a later time; the program's parser reads it.
    pub fn inject_packet(&mut self, time_ps: u64, switch: u32, port: u32, bytes: &[u8]) {
        self.inject_at(time_ps, Input::Packet { at: (switch, port), bytes: Arc::from(bytes) });
    }

    pub(super) fn inject_event(
        &mut self,
        time_ps: u64,
        at: End,
        event: EventId,
        arguments: Arguments,
    ) {
        self.inject_at(time_ps, Input::Event { at, event, arguments });
    }

    fn inject_at(&mut self, time_ps: u64, input: Input) {
        self.inputs.inject(time_ps.max(self.now_ps()), input);
    }

    /// Runs to the end of the specification's time.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        self.run_until(self.setup.timing.max_time_ps, observer)
    }

    /// Runs until a time, included. Later events remain for another call.
    pub fn run_until(&mut self, until_ps: u64, observer: &mut dyn Observer) -> Outcome {
        let setup = self.setup.clone();
        let wanted = observer.wants();
        self.interpreter.wants_log = wanted;
        self.interpreter.wants_accesses = wanted && observer.wants_accesses();
        let notifier = Notifier { observer, wanted };
        let mut run = Run { simulation: self, setup: &setup, notifier, steps: 0 };
        if let Some(fault) = &run.simulation.stopped {
            return Outcome::Stopped(fault.clone());
        }
        match event_loop::run_until(&mut run, until_ps) {
            LoopEnd::Finished => Outcome::Finished,
            LoopEnd::TimeOver => Outcome::TimeOver,
            LoopEnd::Stopped(fault) => Outcome::Stopped(fault),
        }
    }

    fn input(&mut self, setup: &Setup, notifier: &mut Notifier<'_>, input: Input) {
        match input {
            Input::Event { at, event, arguments } => {
                let flight = self.new_flight(NO_CAUSE, Content::Event(event, arguments), at.1);
                self.arrive(setup, notifier, at.0, flight);
            }
            Input::Packet { at, bytes } => {
                let flight = self.new_flight(NO_CAUSE, Content::Packet(bytes), at.1);
                self.arrive(setup, notifier, at.0, flight);
            }
            Input::Command { switch, command } => {
                let state = &mut self.switches[switch as usize].state;
                let answer = command.run(&setup.program, state);
                if let Some(table) = answer.table_full {
                    self.switches[switch as usize].counts.tables_full += 1;
                    self.warn_table_full(setup, table, switch, None);
                }
                notifier.notify(self.now_ps(), switch, || ObservationKind::Commanded {
                    text: answer.text,
                    result: answer.result,
                });
            }
            Input::Link { ends, up } => {
                self.fabric.links.set_up(ends[0], up, self.now_ps());
                notifier.notify(self.now_ps(), ends[0].0, || ObservationKind::Link { ends, up });
            }
        }
    }

    fn new_flight(&mut self, cause: u64, content: Content, port: u32) -> Flight {
        let occurrence = self.occurrences;
        self.occurrences += 1;
        let (is_packet, to_switch, value) = (false, None, None);
        self.fabric.keep(InFlightEvent {
            occurrence,
            cause,
            content,
            is_packet,
            port,
            to_switch,
            value,
        })
    }

    /// An event is at a switch: handled now if the switch is free, otherwise after those that wait.
    /// A packet goes through the parser first; what the parser drops and what has no handler takes
    /// no time of the switch.
    fn arrive(&mut self, setup: &Setup, notifier: &mut Notifier<'_>, at: u32, number: Flight) {
        let flight = self.fabric.item(number);
        if let Content::Packet(bytes) = &flight.content {
            let context = self.surroundings(setup, at, flight.port);
            let parsed = parse(&setup.prepared, bytes, &context);
            let flight = self.fabric.item_mut(number);
            match parsed {
                Parsed::Event(event, arguments) => {
                    flight.content = Content::Event(event, arguments);
                    (flight.is_packet, flight.value) = (true, None);
                }
                Parsed::Dropped => {
                    let occurrence = self.fabric.take(number).occurrence;
                    self.drop_event(notifier, at, occurrence, None, DropReason::Parser);
                    return;
                }
            }
        }
        if let Content::Event(event, _) = &self.fabric.item(number).content {
            let prepared = &setup.prepared.events[event.0 as usize];
            if prepared.ingress.is_none() && prepared.control.is_none() {
                let flight = self.fabric.take(number);
                self.leave(setup, notifier, at, flight);
                return;
            }
        }
        let switch = &mut self.switches[at as usize];
        if !switch.waiting.is_empty() {
            switch.waiting.push_back(number);
        } else if switch.free_at_ps <= self.fabric.now_ps() {
            self.handle(setup, notifier, at, number);
        } else {
            switch.waiting.push_back(number);
            self.fabric.schedule_act(switch.free_at_ps, (at, 0));
        }
    }

    /// A switch takes the next of those that wait.
    fn serve(&mut self, setup: &Setup, notifier: &mut Notifier<'_>, at: u32) {
        if let Some(flight) = self.switches[at as usize].waiting.pop_front() {
            self.handle(setup, notifier, at, flight);
        }
        let switch = &self.switches[at as usize];
        if !switch.waiting.is_empty() {
            self.fabric.schedule_act(switch.free_at_ps, (at, 0));
        }
    }
}

/// A simulation in a run, with its observer.
struct Run<'r> {
    simulation: &'r mut Simulation,
    setup: &'r Setup,
    notifier: Notifier<'r>,
    /// Events taken so far.
    steps: u64,
}

impl Run<'_> {
    fn flow(&self) -> ControlFlow<Box<Diagnostic>> {
        match &self.simulation.stopped {
            Some(fault) => ControlFlow::Break(fault.clone()),
            None => ControlFlow::Continue(()),
        }
    }
}

impl Participants for Run<'_> {
    type Item = InFlightEvent;
    type Stop = Box<Diagnostic>;

    fn fabric(&mut self) -> &mut Fabric<InFlightEvent> {
        &mut self.simulation.fabric
    }

    fn next_input(&mut self) -> Option<(u64, u64)> {
        self.simulation.inputs.peek()
    }

    fn take_input(&mut self) -> ControlFlow<Box<Diagnostic>> {
        if let Some((_, input)) = self.simulation.inputs.pop() {
            self.simulation.input(self.setup, &mut self.notifier, input);
        }
        self.flow()
    }

    fn take_event(&mut self, event: Event) -> ControlFlow<Box<Diagnostic>> {
        let Event { is_departure, node, port, flight } = event;
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_OF_PROGRESS) {
            let (time_ps, handled) = (self.simulation.now_ps(), self.simulation.handled());
            self.notifier.observer.progress(Progress { time_ps, handled, rounds: 0 });
        }
        let (simulation, setup, notifier) = (&mut *self.simulation, self.setup, &mut self.notifier);
        match flight {
            None => simulation.serve(setup, notifier, node),
            Some(flight) if is_departure => simulation.depart(setup, notifier, node, port, flight),
            Some(flight) => simulation.arrive(setup, notifier, node, flight),
        }
        self.flow()
    }
}
