// SPDX-License-Identifier: Apache-2.0
//! Devices in the network of a run: inputs and links as the run has them, a pipeline that takes one
//! packet a nanosecond at each switch, a cable from each recirculation port to itself. What a packet
//! means is `arrival`'s, what the program does with it is the device's.

use super::arrival::{Arrival, classify, frame_for_here, is_bare};
use super::deploy;
use super::egress::Passes;
use super::flight::{Flight, Given, Whose};
use super::misfits::{not_itself, short_for_tofino};
use super::ports::check_ports;
use super::replaying::{Expected, Ran, Replayed};
use super::switch::{INTERNAL, InstalledSwitch, LoadError, Position, ready};
use super::user::{ByUser, Pass, is_told};
use super::watch::{Plain, Watch, Watcher};
use device::{Device, DeviceOptions, EngineChoice};
use lucid::core::NO_PORT;
use lucid::core::{EventId, GlobalId};
use lucid_compiler::{Compiled, Target};
use lucid_reference::interpreter::{
    Arguments, Parsed, State, SwitchContext, Value, packet_bytes, parse,
};
use lucid_reference::simulation::inputs::{Input, Inputs, Phase, rank};
use lucid_reference::simulation::random::{Purpose, Stream};
use lucid_reference::simulation::schedule::{Dispatch, Replayer};
use lucid_reference::simulation::topology::Topology;
use lucid_reference::simulation::{
    Counts, DropReason, EVENT_TIME_PS, ObservationKind, Observer, Occurrence, Outcome, Setup, Stage,
};
use network::event_queue::EventQueue;
use slab::Slab;
use source::{Code, Diagnostic, Span};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Switch {
    pub(super) installed: InstalledSwitch,
    /// Arrived and not taken, in order.
    waiting: VecDeque<u32>,
    free_at_ps: u64,
    /// When the queue has something for the device to do.
    pub(super) wakes_at_ps: Option<u64>,
    pub(super) given: HashMap<u64, Given>,
    pub(super) counts: Counts,
    /// Whether its forwarding table is as the links are.
    knows_links: bool,
    /// For events that get to other switches directly.
    pub(super) direct_loss: Stream,
}

/// Items of the queue that are not packets.
const SERVICE: u32 = u32::MAX;
pub(super) const WAKE: u32 = u32::MAX - 1;

/// A run of a compiled program.
#[derive(Debug)]
pub struct CompiledSimulation {
    setup: Arc<Setup>,
    compiled: Arc<Compiled>,
    pub(super) topology: Topology,
    pub(super) switches: Vec<Switch>,
    pub(super) queue: EventQueue<u32>,
    pub(super) flights: Slab<Flight>,
    inputs: Inputs,
    pub(super) now_ps: u64,
    occurrences: u64,
    pub(super) handled: u64,
    passes: u64,
    /// Passes in which P4 of the user's changed something.
    pub(super) by_user: u64,
    /// The reference interpreter beside the devices.
    pub(super) replayer: Replayer,
    /// Events that handlers generated, by the occurrence whose handler it was, until devices send them.
    pub(super) expected: HashMap<u64, Vec<Expected>>,
    /// Handlers that ran, until somebody has looked.
    pub(super) batch: Vec<Replayed>,
    pub(super) stopped: Option<Box<Diagnostic>>,
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
        let has_egress_handlers =
            setup.prepared().events.iter().any(|event| event.egress.is_some());
        let is_tna = compiled.options.target == Target::Tna;
        if has_egress_handlers && !is_tna && !compiled.options.observed {
            let message = "egress handlers are not seen unless they are compiled to be observed";
            return Err(LoadError { switch: 0, message: message.to_string() });
        }
        if compiled.options.has_user_p4() && !compiled.options.observed {
            let message =
                "what P4 of the user's does is not seen unless it is compiled to be observed";
            return Err(LoadError { switch: 0, message: message.to_string() });
        }
        if let Some(wrong) = check_ports(&setup).iter().next() {
            return Err(LoadError { switch: 0, message: wrong.message.clone() });
        }
        let pipeline = ready(&compiled)?.program().clone();
        let mut switches: Vec<Switch> = Vec::new();
        for number in 0..setup.switches() {
            let place =
                Position { number, engine, like: switches.first().map(|one| &one.installed) };
            switches.push(Switch {
                installed: InstalledSwitch::new(&setup, &compiled, &pipeline, place, change)?,
                waiting: VecDeque::new(),
                free_at_ps: 0,
                wakes_at_ps: None,
                given: HashMap::new(),
                counts: Counts::default(),
                knows_links: true,
                direct_loss: Stream::new(setup.seed(), Purpose::DirectLoss, number.into()),
            });
        }
        let mut simulation = CompiledSimulation {
            topology: setup.topology(),
            switches,
            queue: EventQueue::new(),
            flights: Slab::new(),
            inputs: Inputs::new(setup.sources().clone(), setup.seed()),
            now_ps: 0,
            occurrences: 0,
            handled: 0,
            passes: 0,
            by_user: 0,
            replayer: Replayer::new(&setup),
            expected: HashMap::new(),
            batch: Vec::new(),
            stopped: None,
            setup,
            compiled,
        };
        for at in 0..simulation.setup.switches() {
            // Packet generators begin by themselves.
            simulation.wake_in_time(at);
        }
        Ok(simulation)
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
        self.run_until(self.setup.timing().max_time_ps, observer)
    }

    /// Runs everything until a time, included.
    pub fn run_until(&mut self, until_ps: u64, observer: &mut dyn Observer) -> Outcome {
        self.run_watched(until_ps, &mut Plain(observer))
    }

    /// Whether nothing is on its way and nothing waits, but for what packet generators will make.
    pub(super) fn is_quiet(&self) -> bool {
        self.flights.iter().all(|(_, flight)| flight.whose == Whose::FlowControl)
            && self.inputs.peek().is_none()
            && self.switches.iter().all(|one| one.installed.device.buffered_bytes() == 0)
    }

    /// When the next input comes, in picoseconds.
    pub fn next_input_ps(&self) -> Option<u64> {
        self.inputs.peek().map(|next| next.0)
    }

    /// The links of the run.
    pub(super) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// What it was compiled to.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    pub(super) fn run_watched(&mut self, until_ps: u64, observer: &mut dyn Watcher) -> Outcome {
        let setup = self.setup.clone();
        let watch = &mut Watch::new(observer);
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
            let batch = std::mem::take(&mut self.batch);
            if !batch.is_empty() && !watch.observer.after_dispatches(self, &batch) {
                return Outcome::TimeOver;
            }
        }
    }

    fn input(&mut self, setup: &Setup, watch: &mut Watch<'_>, input: Input) {
        match input {
            Input::Event { at, event, arguments } if is_bare(setup, event) => {
                self.packet_event_comes(setup, watch, at, (event, arguments));
            }
            Input::Event { at, event, arguments } => {
                self.come(setup, watch, at, frame_for_here(setup, event, &arguments));
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
                self.switches.iter_mut().for_each(|switch| switch.knows_links = false);
                watch.see(self.now_ps, ends[0].0, || ObservationKind::Link { ends, up });
            }
        }
    }

    /// A packet event comes in from outside. On the wire it is its bytes, of which the parser has to make
    /// the event again; one that has no handler leaves the network before any switch sees it.
    fn packet_event_comes(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        (at, port): (u32, u32),
        (event, arguments): (EventId, Arguments),
    ) {
        let bytes = packet_bytes(setup.prepared(), event, &arguments);
        let prepared = &setup.prepared().events[event.0 as usize];
        if prepared.ingress.is_none() && prepared.control.is_none() {
            let occurrence = Occurrence(self.next_occurrence());
            self.switches[at as usize].counts.left += 1;
            watch.observer.is_to_leave((at, port), event, &arguments);
            watch.see(self.now_ps, at, || ObservationKind::Left {
                occurrence,
                event: setup.event_value(event, &arguments, 0),
                port,
                bytes: Some(bytes.into()),
            });
            return;
        }
        let parsed = parse(setup.prepared(), &bytes, &self.surroundings(setup, at, port));
        if parsed != Parsed::Event(event, arguments) {
            let fault = not_itself(setup, event);
            self.stopped.get_or_insert(Box::new(fault));
            return;
        }
        self.come(setup, watch, (at, port), bytes);
    }

    /// Something comes in from outside.
    fn come(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        (at, port): (u32, u32),
        bytes: Vec<u8>,
    ) {
        let (cause, occurrence, whose) = (None, None, Whose::Program);
        let flight = Flight { port, bytes, cause, occurrence, whose };
        let flight = self.flights.insert(flight) as u32;
        self.arrive(setup, watch, at, flight);
    }

    /// A packet is at a switch: taken now if the pipeline is free, otherwise after those that wait.
    fn arrive(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, flight: u32) {
        let whose = self.flights.get(flight as usize).map(|flight| flight.whose);
        if whose == Some(Whose::FlowControl) {
            self.obey(setup, watch, at, flight);
            return;
        }
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

    /// The MAC of a port takes a frame of flow control, and the device does what it was waiting with.
    fn obey(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, flight: u32) {
        let Flight { port, bytes, .. } = self.flights.remove(flight as usize);
        let device = &mut self.switches[at as usize].installed.device;
        if let Err(error) = device.inject(port, self.now_ps, bytes) {
            let message = error.to_string();
            self.fault(at, &message);
        } else if self.let_work(at) {
            let passes = self.passes_of(at);
            self.tell_all(setup, watch, at, passes);
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
            let passes = self.passes_of(at);
            self.tell_all(setup, watch, at, passes);
        }
    }

    fn surroundings<'s>(&self, setup: &'s Setup, at: u32, port: u32) -> SwitchContext<'s> {
        SwitchContext {
            switch: at,
            ingress_port: port,
            recirculation_port: setup.recirculation_ports()[at as usize],
            time_ns: self.now_ps / 1000,
            dequeue_depth: 0,
            externs: &setup.externs()[at as usize],
        }
    }

    /// The control plane of a switch knows which links are up before the next packet is taken.
    fn learn_links(&mut self, setup: &Setup, at: u32) {
        let switch = &mut self.switches[at as usize];
        if switch.knows_links {
            return;
        }
        switch.knows_links = true;
        let routes = deploy::routes(&mut self.topology, at, setup.switches());
        if let Err(message) = switch.installed.reroute(routes) {
            self.fault(at, &message);
        }
    }

    /// A packet goes into a device's pipeline.
    fn take(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, flight: u32) {
        let flight = self.flights.remove(flight as usize);
        let Flight { port, bytes, cause, occurrence, whose } = flight;
        let is_users = whose == Whose::User;
        self.passes += 1;
        self.learn_links(setup, at);
        let target = self.compiled.options.target;
        let arrival = classify((setup, target), &self.surroundings(setup, at, port), &bytes);
        if let Some(fault) = short_for_tofino((setup, target), at, &arrival, &bytes) {
            self.stopped.get_or_insert(Box::new(fault));
            return;
        }
        let is_known = cause.is_none() || occurrence.is_some();
        let occurrence = occurrence.unwrap_or_else(|| self.next_occurrence());
        let now_ps = self.now_ps;
        let switch = &mut self.switches[at as usize];
        switch.free_at_ps = now_ps.saturating_add(EVENT_TIME_PS);
        let payload = match &arrival {
            Arrival::Dispatch { arguments, .. } | Arrival::Transit(Some((_, arguments))) => {
                payload_of(arguments)
            }
            Arrival::NoHandler { .. } | Arrival::Transit(None) | Arrival::Dropped => None,
        };
        let (handled, unhandled) = (None, None);
        let mut given =
            Given { cause, occurrence, handled, unhandled, is_known, payload, is_users };
        let mut ran = None;
        match &arrival {
            Arrival::Dispatch { event, arguments, port, is_packet } => {
                given.handled = Some(*event);
                let dispatch = Dispatch {
                    time_ps: now_ps,
                    switch: at,
                    port: *port,
                    stage: Stage::Ingress,
                    event: setup.event_value(*event, arguments, 0),
                    cause: None,
                    draws: Vec::new(),
                    dequeue_depth: 0,
                };
                let (is_packet, by_user) = (*is_packet, ByUser::default());
                ran = Some(Ran { occurrence, cause, is_packet, dispatch, by_user });
            }
            Arrival::NoHandler { event, port, .. } => {
                given.unhandled = Some((*event, *port));
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
        if !self.let_work(at) {
            return;
        }
        let mut passes = self.passes_of(at);
        if self.compiled.options.has_user_p4() {
            let lines = passes.ingress_lines.remove(&number).unwrap_or_default();
            let pass = Pass { at: (at, port), arrival: &arrival, is_users, lines: &lines };
            if !self.account_for_user(setup, watch, pass, &mut given, &mut ran) {
                return;
            }
        }
        if let Arrival::NoHandler { event, arguments, port } = &arrival
            && *port != NO_PORT
            && !given.is_users
            && given.handled.is_none()
        {
            watch.observer.is_to_leave((at, *port), *event, arguments);
        }
        self.switches[at as usize].given.insert(number, given);
        if let Some(mut ran) = ran {
            ran.dispatch.draws = passes.ingress_draws.remove(&number).unwrap_or_default();
            self.dispatched(setup, watch, ran);
        }
        self.tell_all(setup, watch, at, passes);
    }

    fn passes_of(&mut self, at: u32) -> Passes {
        Passes::read(self.switches[at as usize].installed.device.drain_taps())
    }

    /// Tells what a device did besides the handler that it was given something for, and sends what it sent
    /// on its way.
    fn tell_all(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, passes: Passes) {
        let senders = self.egress_dispatched(setup, watch, at, passes);
        self.tell_prints(watch, at);
        self.send_all(setup, watch, at, &senders);
    }

    pub(super) fn next_occurrence(&mut self) -> u64 {
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
            if self.compiled.options.observed && is_told(&line.text) {
                continue;
            }
            let Some(given) = switch.given.get(&line.packet) else { continue };
            let by = Occurrence(given.occurrence);
            watch.see(line.time_ps, at, || ObservationKind::Printed { by, text: line.text });
        }
    }

    /// Stops the run: the devices do not hold what the compiler promised.
    pub(super) fn fault(&mut self, at: u32, message: &str) {
        let text = format!("the compiled program stopped at switch {at}: {message}");
        let help = "this is a mistake in Planewright; please report it with the program";
        let fault = Diagnostic::error(Code(INTERNAL), Span::NONE, text).help(help);
        self.stopped.get_or_insert(Box::new(fault));
    }
}

/// The payload among an event's arguments.
fn payload_of(arguments: &Arguments) -> Option<Arc<[u8]>> {
    arguments.objects.iter().find_map(|object| match object {
        Value::Payload(bytes) => Some(bytes.clone()),
        _ => None,
    })
}
