// SPDX-License-Identifier: Apache-2.0
//! Devices in the network of a run: inputs and links as the run has them, a pipeline that takes one
//! packet a nanosecond at each switch, a cable from each recirculation port to itself. What a packet
//! means is `arrival`'s, what the program does with it is the device's.

use super::arrival::{Arrival, classify, frame, frame_for_here, is_bare};
use super::switch::{INTERNAL, InstalledSwitch, LoadError, lowered};
use crate::compile::Compiled;
use crate::compile::normal::walk::{each_expression, each_statement, expressions};
use crate::compile::wire::{OUTSIDE_PORT, PlaceKind};
use crate::core::{EventId, ExpressionKind, GlobalId};
use crate::interpreter::{Arguments, EventValue, Place, State, Surroundings, packet_bytes};
use crate::simulation::inputs::{Input, Inputs, Phase, rank};
use crate::simulation::topology::Topology;
use crate::simulation::{
    Counts, Destination, DropReason, EVENT_TIME_PS, NO_PORT, Observation, ObservationKind,
    Observer, Occurrence, Outcome, Setup, Stage,
};
use crate::syntax::ast::EventSort;
use device::tap::TappedEvent;
use device::{Device, DeviceOptions, EngineChoice};
use network::event_queue::EventQueue;
use slab::Slab;
use source::{Code, Diagnostic, Span};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The shortest Ethernet frame, in bytes, without its checksum: shorter packets take as long on a link.
const SHORTEST_PACKET_BYTES: u64 = 60;

/// A packet on its way to a switch's port.
#[derive(Clone, Debug)]
struct Flight {
    port: u32,
    bytes: Vec<u8>,
    /// The occurrence whose handler sent it.
    cause: Option<u64>,
    /// The occurrence that it is, if something like it was on its way before.
    occurrence: Option<u64>,
}

/// What a device was given, by the device's number of the packet.
#[derive(Clone, Copy, Debug)]
struct Given {
    cause: Option<u64>,
    occurrence: u64,
    /// The event whose handler ran, if one did.
    handled: Option<EventId>,
    /// The event that has no handler here.
    unhandled: Option<EventId>,
    /// How much has left because of it.
    sent: u32,
}

#[derive(Debug)]
struct Switch {
    installed: InstalledSwitch,
    /// Arrived and not taken, in order.
    waiting: VecDeque<u32>,
    free_at_ps: u64,
    /// When the queue has something for the device to do.
    wakes_at_ps: Option<u64>,
    given: HashMap<u64, Given>,
    counts: Counts,
}

/// Items of the queue that are not packets.
const SERVICE: u32 = u32::MAX;
const WAKE: u32 = u32::MAX - 1;

/// A run of a compiled program.
#[derive(Debug)]
pub struct CompiledSimulation {
    setup: Arc<Setup>,
    compiled: Arc<Compiled>,
    topology: Topology,
    switches: Vec<Switch>,
    queue: EventQueue<u32>,
    flights: Slab<Flight>,
    inputs: Inputs,
    now_ps: u64,
    occurrences: u64,
    handled: u64,
    passes: u64,
    /// Where a handler ran last, until somebody has looked.
    dispatched: Option<u32>,
    stopped: Option<Box<Diagnostic>>,
}

/// An observer that looks at the devices after each handler.
pub(super) trait Watcher: Observer {
    /// An event that has no handler came to a switch: it leaves the network there.
    fn leaves_unhandled(&mut self, at: u32, event: EventId, arguments: &Arguments);

    /// A handler ran at a switch and was observed. False stops the run there.
    fn after_dispatch(&mut self, simulation: &CompiledSimulation, at: u32) -> bool;
}

/// An observer that does not look.
struct Plain<'o>(&'o mut dyn Observer);

impl Observer for Plain<'_> {
    fn wants(&self) -> bool {
        self.0.wants()
    }

    fn observe(&mut self, observation: Observation) {
        self.0.observe(observation);
    }
}

impl Watcher for Plain<'_> {
    fn leaves_unhandled(&mut self, _: u32, _: EventId, _: &Arguments) {}

    fn after_dispatch(&mut self, _: &CompiledSimulation, _: u32) -> bool {
        true
    }
}

/// The observer and whether it wants anything.
struct Watch<'o> {
    observer: &'o mut dyn Watcher,
    wanted: bool,
}

impl Watch<'_> {
    fn see(&mut self, time_ps: u64, switch: u32, kind: impl FnOnce() -> ObservationKind) {
        if self.wanted {
            self.observer.observe(Observation { time_ps, switch, kind: kind() });
        }
    }
}

impl CompiledSimulation {
    /// At time 0, with each switch installed.
    ///
    /// # Errors
    ///
    /// A program that does not lower, a device that refuses it or a command: mistakes of the compiler.
    pub fn new(
        setup: Arc<Setup>,
        compiled: Arc<Compiled>,
        engine: EngineChoice,
    ) -> Result<CompiledSimulation, LoadError> {
        CompiledSimulation::with_devices(setup, compiled, engine, &|_| {})
    }

    /// The same, with devices built a little differently.
    ///
    /// # Errors
    ///
    /// As for [`CompiledSimulation::new`].
    pub fn with_devices(
        setup: Arc<Setup>,
        compiled: Arc<Compiled>,
        engine: EngineChoice,
        change: &dyn Fn(&mut DeviceOptions),
    ) -> Result<CompiledSimulation, LoadError> {
        let pipeline = Arc::new(lowered(&compiled)?);
        let mut switches = Vec::new();
        for number in 0..setup.switches {
            let place = (number, engine);
            switches.push(Switch {
                installed: InstalledSwitch::new(&setup, &compiled, &pipeline, place, change)?,
                waiting: VecDeque::new(),
                free_at_ps: 0,
                wakes_at_ps: None,
                given: HashMap::new(),
                counts: Counts::default(),
            });
        }
        Ok(CompiledSimulation {
            topology: setup.topology(),
            switches,
            queue: EventQueue::new(),
            flights: Slab::new(),
            inputs: Inputs::new(setup.sources.clone(), setup.seed),
            now_ps: 0,
            occurrences: 0,
            handled: 0,
            passes: 0,
            dispatched: None,
            stopped: None,
            setup,
            compiled,
        })
    }

    /// What it runs.
    pub fn setup(&self) -> &Arc<Setup> {
        &self.setup
    }

    /// How far it came, in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// Handlers run at all switches.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Packets through pipelines: handlers, and frames on their way through the dispatcher.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// The state of a switch as the program's globals.
    pub fn state(&self, switch: u32) -> Option<State> {
        self.switches.get(switch as usize).map(|switch| switch.installed.state())
    }

    /// The cell of a switch at an index, or the two of a pair.
    pub fn cell(&self, switch: u32, global: GlobalId, index: u64) -> Option<Vec<u128>> {
        self.switches.get(switch as usize)?.installed.cell(global, index)
    }

    /// Counters of a switch.
    pub fn counts(&self, switch: u32) -> Option<Counts> {
        self.switches.get(switch as usize).map(|switch| switch.counts)
    }

    /// The device of a switch.
    pub fn device(&self, switch: u32) -> Option<&Device> {
        self.switches.get(switch as usize).map(|switch| &switch.installed.device)
    }

    /// Runs to the end of the specification's time.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        self.run_until(self.setup.timing.max_time_ps, observer)
    }

    /// Runs everything until a time, included.
    pub fn run_until(&mut self, until_ps: u64, observer: &mut dyn Observer) -> Outcome {
        self.run_watched(until_ps, &mut Plain(observer))
    }

    /// What it was compiled to.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    pub(super) fn run_watched(&mut self, until_ps: u64, observer: &mut dyn Watcher) -> Outcome {
        let setup = self.setup.clone();
        let wanted = observer.wants();
        let watch = &mut Watch { observer, wanted };
        loop {
            if let Some(fault) = &self.stopped {
                return Outcome::Stopped(fault.clone());
            }
            let (next, is_input) = match (self.inputs.peek(), self.queue.peek()) {
                (None, None) => return Outcome::Finished,
                (None, Some(queued)) => (queued, false),
                (Some(input), None) => (input, true),
                (Some(input), Some(queued)) => (input.min(queued), input <= queued),
            };
            if next.0 > until_ps {
                self.now_ps = self.now_ps.max(until_ps);
                return Outcome::TimeOver;
            }
            self.now_ps = next.0;
            if is_input {
                if let Some((_, input)) = self.inputs.pop() {
                    self.input(&setup, watch, input);
                }
            } else if let Some((_, rank, item)) = self.queue.pop() {
                let at = (rank >> 32) as u32 & 0x3fff_ffff;
                match item {
                    SERVICE => self.serve(&setup, watch, at),
                    WAKE => self.wake(&setup, watch, at),
                    flight => self.arrive(&setup, watch, at, flight),
                }
            }
            if let Some(at) = self.dispatched.take()
                && watch.wanted
                && !watch.observer.after_dispatch(self, at)
            {
                return Outcome::TimeOver;
            }
        }
    }

    fn input(&mut self, setup: &Setup, watch: &mut Watch<'_>, input: Input) {
        match input {
            Input::Event { at, event, arguments } => {
                let bytes = if is_bare(setup, event) {
                    packet_bytes(&setup.prepared, event, &arguments)
                } else {
                    frame_for_here(setup, event, &arguments)
                };
                self.come(setup, watch, at, bytes);
            }
            Input::Packet { at, bytes } => self.come(setup, watch, at, bytes.to_vec()),
            Input::Command { switch, command } => {
                let target = &mut self.switches[switch as usize];
                match target.installed.run(&command) {
                    Ok(answered) => {
                        target.counts.tables_full += u64::from(answered.table_full.is_some());
                        watch.see(self.now_ps, switch, || ObservationKind::Commanded {
                            text: answered.text,
                            result: answered.result,
                        });
                    }
                    Err(message) => self.fault(switch, &message),
                }
            }
            Input::Link { ends, up } => {
                self.topology.set_up(ends[0], up);
                watch.see(self.now_ps, ends[0].0, || ObservationKind::Link { ends, up });
            }
        }
    }

    /// Something comes in from outside.
    fn come(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        (at, port): (u32, u32),
        bytes: Vec<u8>,
    ) {
        let flight = Flight { port, bytes, cause: None, occurrence: None };
        let flight = self.flights.insert(flight) as u32;
        self.arrive(setup, watch, at, flight);
    }

    /// A packet is at a switch: taken now if the pipeline is free, otherwise after those that wait.
    fn arrive(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, flight: u32) {
        let switch = &mut self.switches[at as usize];
        if !switch.waiting.is_empty() {
            switch.waiting.push_back(flight);
        } else if switch.free_at_ps <= self.now_ps {
            self.take(setup, watch, at, flight);
        } else {
            switch.waiting.push_back(flight);
            self.queue.push(switch.free_at_ps, rank(Phase::Ingress, at, 0), SERVICE);
        }
    }

    fn serve(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32) {
        if let Some(flight) = self.switches[at as usize].waiting.pop_front() {
            self.take(setup, watch, at, flight);
        }
        let switch = &self.switches[at as usize];
        if !switch.waiting.is_empty() {
            self.queue.push(switch.free_at_ps, rank(Phase::Ingress, at, 0), SERVICE);
        }
    }

    /// The device has something to do by itself.
    fn wake(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32) {
        self.switches[at as usize].wakes_at_ps = None;
        if self.let_work(at) {
            self.switches[at as usize].installed.device.drain_taps();
            self.tell_prints(watch, at);
            self.send_all(setup, watch, at);
        }
    }

    fn surroundings<'s>(&self, setup: &'s Setup, at: u32, port: u32) -> Surroundings<'s> {
        Surroundings {
            switch: at,
            ingress_port: port,
            recirculation_port: setup.recirculation_ports[at as usize],
            time_ns: self.now_ps / 1000,
            dequeue_depth: 0,
            externs: &setup.externs[at as usize],
        }
    }

    /// A packet goes into a device's pipeline.
    fn take(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, flight: u32) {
        let Flight { port, bytes, cause, occurrence } = self.flights.remove(flight as usize);
        self.passes += 1;
        let arrival = classify(setup, &self.surroundings(setup, at, port), &bytes);
        let occurrence = occurrence.unwrap_or_else(|| self.next_occurrence());
        let now_ps = self.now_ps;
        let switch = &mut self.switches[at as usize];
        switch.free_at_ps = now_ps.saturating_add(EVENT_TIME_PS);
        let mut given = Given { cause, occurrence, handled: None, unhandled: None, sent: 0 };
        let value = |event: EventId, arguments: &Arguments| {
            let arguments = arguments.values(&setup.prepared.events[event.0 as usize].slots);
            Arc::new(EventValue { event, arguments, delay_ns: 0, place: Place::Here })
        };
        let mut dispatched = None;
        match &arrival {
            Arrival::Dispatch { event, arguments, port, is_packet } => {
                given.handled = Some(*event);
                switch.counts.handled += 1;
                switch.counts.packets += u64::from(*is_packet);
                self.handled += 1;
                self.dispatched = Some(at);
                dispatched = watch.wanted.then(|| ObservationKind::Handled {
                    occurrence: Occurrence(occurrence),
                    cause: cause.map(Occurrence),
                    event: value(*event, arguments),
                    port: *port,
                    stage: Stage::Ingress,
                    is_packet: *is_packet,
                    draws: Vec::new(),
                });
            }
            Arrival::NoHandler { event, arguments } => {
                given.unhandled = Some(*event);
                watch.observer.leaves_unhandled(at, *event, arguments);
            }
            Arrival::Transit(_) => {}
            Arrival::Dropped => {
                switch.counts.dropped += 1;
                watch.see(now_ps, at, || ObservationKind::Dropped {
                    occurrence: Occurrence(occurrence),
                    event: None,
                    reason: DropReason::Parser,
                });
            }
        }
        let number = match switch.installed.device.inject(port, now_ps, bytes) {
            Ok(number) => number,
            Err(error) => {
                let message = error.to_string();
                self.fault(at, &message);
                return;
            }
        };
        switch.given.insert(number, given);
        if !self.let_work(at) {
            return;
        }
        let taps = self.switches[at as usize].installed.device.drain_taps();
        if let Some(mut kind) = dispatched {
            if let ObservationKind::Handled { draws, .. } = &mut kind {
                draws.extend(taps.iter().filter(|tap| tap.packet == number).filter_map(|tap| {
                    match tap.what {
                        TappedEvent::Drawn { value } => Some(u128::from(value)),
                        _ => None,
                    }
                }));
            }
            watch.see(now_ps, at, || kind);
        }
        self.tell_prints(watch, at);
        self.send_all(setup, watch, at);
    }

    fn next_occurrence(&mut self) -> u64 {
        self.occurrences += 1;
        self.occurrences - 1
    }

    /// Lets a device do what is due. False if that stopped the run.
    fn let_work(&mut self, at: u32) -> bool {
        let worked = self.switches[at as usize].installed.device.advance(self.now_ps);
        if let Err(error) = &worked {
            let message = error.to_string();
            self.fault(at, &message);
        }
        worked.is_ok()
    }

    /// Tells what programs wrote to the log: their prints.
    fn tell_prints(&mut self, watch: &mut Watch<'_>, at: u32) {
        let switch = &mut self.switches[at as usize];
        for line in switch.installed.device.drain_log() {
            let Some(given) = switch.given.get(&line.packet) else { continue };
            let by = Occurrence(given.occurrence);
            watch.see(line.time_ps, at, || ObservationKind::Printed { by, text: line.text });
        }
    }

    /// Sends what a device sent on its way.
    fn send_all(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32) {
        let switch = &mut self.switches[at as usize];
        let next_ps = switch.installed.device.next_event_ps();
        if let Some(next_ps) = next_ps
            && switch.wakes_at_ps.is_none_or(|known| next_ps < known)
        {
            switch.wakes_at_ps = Some(next_ps);
            self.queue.push(next_ps, rank(Phase::Egress, at, 0), WAKE);
        }
        let transmitted = switch.installed.device.drain_transmitted();
        // Nothing waits in a queue: what was given before is done.
        let is_idle = switch.installed.device.buffered_bytes() == 0;
        for packet in transmitted {
            let Some(given) = self.switches[at as usize].given.get_mut(&packet.packet) else {
                continue;
            };
            let before = *given;
            given.sent += 1;
            // What goes on is what it was; a handler's event is new, and so are further copies.
            let (cause, occurrence) = match (before.handled, before.sent) {
                (Some(_), _) => (Some(before.occurrence), None),
                (None, 0) => (before.cause, Some(before.occurrence)),
                (None, _) => (before.cause, None),
            };
            let occurrence = occurrence.unwrap_or_else(|| self.next_occurrence());
            let sent = Sent { at, port: packet.port, time_ps: packet.time_ps, cause, occurrence };
            self.send(setup, watch, &sent, &before, packet.bytes);
        }
        if is_idle {
            self.switches[at as usize].given.clear();
        }
    }

    /// A packet left a device.
    fn send(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        sent: &Sent,
        given: &Given,
        bytes: Vec<u8>,
    ) {
        let handler = given.handled;
        let Sent { at, port, time_ps, cause, occurrence } = *sent;
        let is_recirculated = port == setup.recirculation_ports[at as usize];
        let counts = &mut self.switches[at as usize].counts;
        if handler.is_some() {
            counts.generated += 1;
            counts.recirculated += u64::from(is_recirculated);
        }
        if is_recirculated {
            let due_ps = time_ps.saturating_add(setup.timing.generate_delay_ps);
            let observed = watch.wanted.then(|| self.contained(setup, given, &bytes)).flatten();
            if let (Some(_), Some(cause), Some(event)) = (handler, cause, observed) {
                watch.see(self.now_ps, at, || ObservationKind::Generated {
                    occurrence: Occurrence(occurrence),
                    by: Occurrence(cause),
                    event,
                    destination: Destination::Recirculated { due_ps },
                });
            }
            let flight = Flight { port, bytes, cause, occurrence: Some(occurrence) };
            self.fly(at, port, due_ps, flight);
            return;
        }
        let length_bytes = (bytes.len() as u64).max(SHORTEST_PACKET_BYTES);
        let carried = self.topology.carry((at, port), time_ps, || length_bytes);
        let observed = watch.wanted.then(|| self.contained(setup, given, &bytes)).flatten();
        if let (Some(_), Some(cause), Some(event)) = (handler, cause, &observed) {
            let (to, arrives_ps) = match carried {
                Some(Ok((to, arrives_ps))) => (Some(to), arrives_ps),
                _ => (None, time_ps),
            };
            watch.see(self.now_ps, at, || ObservationKind::Generated {
                occurrence: Occurrence(occurrence),
                by: Occurrence(cause),
                event: event.clone(),
                destination: Destination::Port { port, to, arrives_ps },
            });
        }
        match carried {
            Some(Ok((to, arrives_ps))) => {
                let flight = Flight { port: to.1, bytes, cause, occurrence: Some(occurrence) };
                self.fly(to.0, to.1, arrives_ps, flight);
            }
            Some(Err(reason)) => {
                self.switches[at as usize].counts.dropped += 1;
                watch.see(self.now_ps, at, || ObservationKind::Dropped {
                    occurrence: Occurrence(occurrence),
                    event: observed,
                    reason,
                });
            }
            None => {
                let port = if port == OUTSIDE_PORT { NO_PORT } else { port };
                self.switches[at as usize].counts.left += 1;
                let is_frame = frame(setup, &bytes).is_some();
                if let Some(event) = observed {
                    watch.see(time_ps, at, || ObservationKind::Left {
                        occurrence: Occurrence(occurrence),
                        event,
                        port,
                        bytes: (!is_frame).then(|| bytes.into()),
                    });
                }
            }
        }
    }

    fn fly(&mut self, at: u32, port: u32, time_ps: u64, flight: Flight) {
        let flight = self.flights.insert(flight) as u32;
        self.queue.push(time_ps, rank(Phase::Ingress, at, port), flight);
    }

    /// The event in bytes that left a device. Bare packets do not say which packet event they are: of
    /// those that the handler generates, the first whose parameters fit.
    fn contained(&self, setup: &Setup, given: &Given, bytes: &[u8]) -> Option<Arc<EventValue>> {
        if let Some(frame) = frame(setup, bytes) {
            let (event, arguments) = frame.event?;
            let arguments = arguments.values(&setup.prepared.events[event.0 as usize].slots);
            let place = match frame.place {
                PlaceKind::Switch => Place::Switch(frame.place_number),
                _ => Place::Here,
            };
            let delay_ns = u64::from(frame.delay_ns);
            return Some(Arc::new(EventValue { event, arguments, delay_ns, place }));
        }
        let candidates = match (given.handled, given.unhandled) {
            (Some(handler), _) => generated_packets(&setup.program, handler),
            (None, Some(event)) => vec![event],
            // In transit: any packet event.
            (None, None) => (0..setup.program.events.len() as u32)
                .map(EventId)
                .filter(|event| is_bare(setup, *event))
                .collect(),
        };
        let event = super::arrival::bare_event(setup, &candidates, bytes)?;
        Some(Arc::new(event))
    }

    /// Stops the run: the devices do not hold what the compiler promised.
    fn fault(&mut self, at: u32, message: &str) {
        let text = format!("the compiled program stopped at switch {at}: {message}");
        let help = "this is a mistake in Planewright; please report it with the program";
        let fault = Diagnostic::error(Code(INTERNAL), Span::NONE, text).help(help);
        self.stopped.get_or_insert(Box::new(fault));
    }
}

/// A packet that left a device.
struct Sent {
    at: u32,
    port: u32,
    time_ps: u64,
    cause: Option<u64>,
    occurrence: u64,
}

/// Packet events that a handler's statements can generate.
fn generated_packets(program: &crate::core::Program, handler: EventId) -> Vec<EventId> {
    let event = &program.events[handler.0 as usize];
    let mut found = Vec::new();
    if let Some(body) = &event.handler {
        each_statement(&body.statements, &mut |statement| {
            for expression in expressions(statement) {
                each_expression(expression, &mut |part| {
                    if let ExpressionKind::Event { event, .. } = &part.kind {
                        found.push(*event);
                    }
                });
            }
        });
    }
    found.push(handler);
    found.retain(|event| program.events[event.0 as usize].sort == EventSort::Packet);
    found
}
