// SPDX-License-Identifier: Apache-2.0
//! The event loop of a run: inputs and packets on links arrive at devices, devices work until their next event, and
//! reports what their taps saw to the observer. `ingress` accounts for passes through ingress.

use super::arrival::{frame_for_here, is_bare};
use super::deploy;
use super::in_flight::{InFlightPacket, Provenance, TakenPacket};
use super::passes::{DevicePass, Half, passes};
use super::simulation::CompiledSimulation;
use super::unsupported_packets::not_itself;
use super::watch::{Plain, Watch, Watcher};
use device::{IngressSource, PauseFrame};
use lucid::core::EventId;
use lucid_reference::interpreter::{Arguments, Parsed, SwitchContext, packet_bytes, parse};
use lucid_reference::simulation::faults::warn_table_full;
use lucid_reference::simulation::inputs::Input;
use lucid_reference::simulation::{
    ObservationKind, Observer, Occurrence, Outcome, Progress, STEPS_OF_PROGRESS, Setup,
};
use network::event_loop::{self, End, Event, Fabric, Participants};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

impl CompiledSimulation {
    /// Runs to the end of the specification's time.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        self.run_until(self.setup.timing().max_time_ps, observer)
    }

    /// Runs everything until a time, included.
    pub fn run_until(&mut self, until_ps: u64, observer: &mut dyn Observer) -> Outcome {
        self.run_watched(until_ps, &mut Plain(observer))
    }

    pub(super) fn run_watched(&mut self, until_ps: u64, observer: &mut dyn Watcher) -> Outcome {
        if let Some(fault) = &self.stopped {
            return Outcome::Stopped(fault.clone());
        }
        let setup = self.setup.clone();
        let watch = Watch::new(observer);
        let mut run = Run { simulation: self, setup: &setup, watch, until_ps, steps: 0 };
        match event_loop::run_until(&mut run, until_ps) {
            End::Finished => Outcome::Finished,
            End::TimeOver => {
                let Run { simulation, mut watch, .. } = run;
                for at in 0..setup.switches() {
                    simulation.circulate(&setup, &mut watch, at, until_ps);
                }
                Outcome::TimeOver
            }
            End::Stopped(outcome) => outcome,
        }
    }

    fn input(&mut self, setup: &Setup, watch: &mut Watch<'_>, input: Input) {
        match input {
            Input::Event { at, event, arguments } if is_bare(setup, event) => {
                self.packet_event_arrives(setup, watch, at, (event, arguments));
            }
            Input::Event { at, event, arguments } => {
                self.arrive(at, frame_for_here(setup, event, &arguments), Provenance::OUTSIDE);
            }
            Input::Packet { at, bytes } => self.arrive(at, bytes.to_vec(), Provenance::OUTSIDE),
            Input::Command { switch, command } => {
                let target = &mut self.switches[switch as usize];
                match target.installed.run(&command) {
                    Ok(answered) => {
                        if let Some(table) = answered.table_full {
                            target.counts.tables_full += 1;
                            let place = (switch, self.now_ps());
                            let (warnings, program) = (&mut self.warnings, setup.program());
                            warn_table_full(warnings, program, table, place, None);
                        }
                        watch.see(self.now_ps(), switch, || ObservationKind::Commanded {
                            text: answered.text,
                            result: answered.result,
                        });
                    }
                    Err(message) => self.fault(switch, &message),
                }
            }
            Input::Link { ends, up } => {
                self.fabric.links.set_up(ends[0], up, self.fabric.now_ps());
                self.switches.iter_mut().for_each(|switch| switch.knows_links = false);
                watch.see(self.now_ps(), ends[0].0, || ObservationKind::Link { ends, up });
            }
        }
    }

    /// A packet event arrives from outside. On the wire it is its bytes, of which the parser has to make
    /// the event again; one that has no handler leaves the network before any switch sees it.
    fn packet_event_arrives(
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
            watch.observer.is_to_leave((at, port), bytes.clone());
            watch.see(self.now_ps(), at, || ObservationKind::Left {
                occurrence,
                event: setup.event_value(event, &arguments, 0),
                port,
                bytes: Some(bytes.into()),
                frame: None,
            });
            return;
        }
        let parsed =
            parse(setup.prepared(), &bytes, &self.surroundings(setup, (at, port), self.now_ps()));
        if parsed != Parsed::Event(event, arguments) {
            let fault = not_itself(setup, event);
            self.stopped.get_or_insert(Box::new(fault));
            return;
        }
        self.arrive((at, port), bytes, Provenance::OUTSIDE);
    }

    /// A packet arrives at a port of a switch.
    fn arrive(&mut self, (at, port): (u32, u32), bytes: Vec<u8>, provenance: Provenance) {
        let switch = &mut self.switches[at as usize];
        match switch.installed.device.inject(port, self.fabric.now_ps(), bytes) {
            Ok(number) => {
                switch.arriving.insert(number, provenance);
                self.schedule_wake(at);
            }
            Err(error) => self.fault(at, &error.to_string()),
        }
    }

    /// Has a device woken when it next has something to do.
    pub(super) fn schedule_wake(&mut self, at: u32) {
        let next_ps = self.switches[at as usize].installed.device.next_effect_ps();
        self.fabric.wake_at(at, next_ps);
    }

    /// Makes the rounds of packets that wait at a device until a time, and accounts for them.
    fn circulate(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, until_ps: u64) {
        let device = &mut self.switches[at as usize].installed.device;
        device.run_circulation(until_ps);
        let passes = passes(device.drain_taps());
        self.account(setup, watch, at, passes);
    }

    /// Runs what is due at a device, and reports it to the observer. The run ends at `until_ps`.
    fn wake(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, until_ps: u64) {
        self.learn_links(setup, at);
        self.fabric.woken(at);
        let device = &mut self.switches[at as usize].installed.device;
        if let Err(error) = device.advance(self.fabric.now_ps()) {
            let message = error.to_string();
            self.fault(at, &message);
            return;
        }
        // Taps have both.
        device.drain_log();
        device.drain_transmitted();
        let passes = passes(device.drain_taps());
        self.account(setup, watch, at, passes);
        // Packets that wait go round until something else can happen to the switch.
        let next_input_ps = self.inputs.peek().map(|next| next.0);
        let next_ps = [next_input_ps, self.fabric.next_time_ps()].into_iter().flatten().min();
        let before_ps = next_ps.unwrap_or(u64::MAX);
        let device = &mut self.switches[at as usize].installed.device;
        device.run_circulation(until_ps.min(before_ps.saturating_sub(1)));
        self.schedule_wake(at);
    }

    /// Accounts for what a device did at one time: handlers of ingress, then those of egress, prints, and packets
    /// that left.
    fn account(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, passes: Vec<DevicePass>) {
        let mut known: Vec<Option<Arc<TakenPacket>>> = Vec::new();
        let mut gone_round: VecDeque<Option<Provenance>> = VecDeque::new();
        for (number, pass) in passes.iter().enumerate() {
            let packet = match &pass.half {
                Half::Ingress { port, source, arrived_ps, bytes } => {
                    let switch = &mut self.switches[at as usize];
                    let provenance = match source {
                        IngressSource::Wire => switch.arriving.remove(&pass.packet),
                        IngressSource::Loopback => switch.looping.pop_front().flatten(),
                        IngressSource::Generator
                        | IngressSource::Extern
                        | IngressSource::Resubmission
                        | IngressSource::Recirculation => None,
                    };
                    let arrived = (*port, *arrived_ps, bytes.as_slice());
                    let taken = provenance.and_then(|provenance| {
                        self.take(setup, watch, at, arrived, provenance, pass)
                    });
                    if self.stopped.is_some() {
                        return;
                    }
                    taken.map(Arc::new)
                }
                Half::Egress { port, queue, .. } => {
                    let queued = self.switches[at as usize].queued.get_mut(&(*port, *queue));
                    queued.and_then(|queued| queued.pop_front()).flatten()
                }
                Half::Circulation { rounds } if number == 0 => {
                    self.rotate(at, *rounds);
                    None
                }
                Half::Circulation { rounds } => {
                    // They follow what the passes before send.
                    for _ in 0..*rounds {
                        let looping = &mut self.switches[at as usize].looping;
                        let next = looping.pop_front().flatten();
                        gone_round.push_back(next);
                        self.count_rounds(next, 1);
                    }
                    None
                }
            };
            for place in &pass.queued {
                let queued = self.switches[at as usize].queued.entry(*place).or_default();
                queued.push_back(packet.clone());
            }
            known.push(packet);
        }
        let mut senders = Vec::new();
        for (pass, packet) in passes.iter().zip(&known) {
            let sender =
                packet.as_ref().and_then(|packet| self.egress_ran(setup, watch, at, pass, packet));
            if self.stopped.is_some() {
                return;
            }
            senders.push(sender);
        }
        for (pass, packet) in passes.iter().zip(&known) {
            let Some(packet) = packet else { continue };
            let by = Occurrence(packet.occurrence);
            for (time_ps, text) in &pass.lines {
                let text = text.clone();
                watch.see(*time_ps, at, || ObservationKind::Printed { by, text });
            }
        }
        for (number, ((pass, packet), sender)) in
            passes.into_iter().zip(known).zip(senders).enumerate()
        {
            if let Half::Circulation { rounds } = pass.half
                && number > 0
            {
                let looping = &mut self.switches[at as usize].looping;
                looping.extend(gone_round.drain(..rounds as usize));
            }
            for sent in pass.sent {
                match &packet {
                    Some(packet) => self.send(setup, watch, (at, sender), packet, sent),
                    // A frame of flow control ends at the port's MAC; what else a packet generator makes does not
                    // belong to the run.
                    None if sent.comes_back && PauseFrame::read(&sent.bytes).is_none() => {
                        self.switches[at as usize].looping.push_back(None);
                    }
                    None => {}
                }
            }
        }
    }

    /// Packets that come back to a switch went round again, one after the other.
    fn rotate(&mut self, at: u32, rounds: u64) {
        let mut looping = std::mem::take(&mut self.switches[at as usize].looping);
        let count = looping.len() as u64;
        let (turns, rest) = (rounds.checked_div(count).unwrap_or(0), rounds.checked_rem(count));
        let rest = rest.unwrap_or(0) as usize;
        for (number, packet) in looping.iter().enumerate() {
            self.count_rounds(*packet, turns + u64::from(number < rest));
        }
        looping.rotate_left(rest);
        self.switches[at as usize].looping = looping;
    }

    /// Counts rounds of a packet as the passes that they are. Those of packet generators do not count.
    fn count_rounds(&mut self, packet: Option<Provenance>, rounds: u64) {
        let rounds = if packet.is_some() { rounds } else { 0 };
        self.passes += rounds;
        self.skipped_rounds += rounds;
    }

    pub(super) fn surroundings<'s>(
        &self,
        setup: &'s Setup,
        (at, port): (u32, u32),
        time_ps: u64,
    ) -> SwitchContext<'s> {
        SwitchContext {
            switch: at,
            ingress_port: port,
            recirculation_port: setup.recirculation_ports()[at as usize],
            time_ns: time_ps / 1000,
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
        let routes = deploy::routes(&mut self.fabric.links, at, setup.switches());
        if let Err(message) = switch.installed.reroute(routes) {
            self.fault(at, &message);
        }
    }
}

/// A simulation in a run, with its watcher.
struct Run<'r, 'w> {
    simulation: &'r mut CompiledSimulation,
    setup: &'r Setup,
    watch: Watch<'w>,
    until_ps: u64,
    /// Events taken so far.
    steps: u64,
}

impl Run<'_, '_> {
    /// Shows the handlers that ran, and stops at a fault or if the watcher has seen enough.
    fn flow(&mut self) -> ControlFlow<Outcome> {
        let batch = std::mem::take(&mut self.simulation.batch);
        if !batch.is_empty() && !self.watch.observer.after_dispatches(self.simulation, &batch) {
            return ControlFlow::Break(Outcome::TimeOver);
        }
        match &self.simulation.stopped {
            Some(fault) => ControlFlow::Break(Outcome::Stopped(fault.clone())),
            None => ControlFlow::Continue(()),
        }
    }
}

impl Participants for Run<'_, '_> {
    type Item = InFlightPacket;
    type Stop = Outcome;

    fn fabric(&mut self) -> &mut Fabric<InFlightPacket> {
        &mut self.simulation.fabric
    }

    fn next_input(&mut self) -> Option<(u64, u64)> {
        self.simulation.inputs.peek()
    }

    fn take_input(&mut self) -> ControlFlow<Outcome> {
        if let Some((_, input)) = self.simulation.inputs.pop() {
            self.simulation.input(self.setup, &mut self.watch, input);
        }
        self.flow()
    }

    fn take_event(&mut self, event: Event) -> ControlFlow<Outcome> {
        let Event { is_departure, node, port, flight } = event;
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_OF_PROGRESS) {
            let simulation = &self.simulation;
            self.watch.observer.progress(Progress {
                time_ps: simulation.now_ps(),
                handled: simulation.handled(),
                rounds: simulation.rounds(),
            });
        }
        match flight {
            None => self.simulation.wake(self.setup, &mut self.watch, node, self.until_ps),
            Some(flight) => {
                let packet = self.simulation.fabric.take(flight);
                if is_departure {
                    self.simulation.depart(self.setup, &mut self.watch, (node, port), packet);
                } else {
                    self.simulation.arrive((node, port), packet.bytes, packet.provenance);
                }
            }
        }
        self.flow()
    }
}
