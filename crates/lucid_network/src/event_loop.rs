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
use lucid_reference::simulation::inputs::{Input, Phase, rank};
use lucid_reference::simulation::{ObservationKind, Observer, Occurrence, Outcome, Setup};
use std::sync::Arc;

/// The item of the queue that is no packet on a link: a device has something to do.
const WAKE: u32 = u32::MAX;

/// A rank behind that of every port: what arrives at one time is with the device before it works.
const BEHIND_PORTS: u32 = u32::MAX;

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
                    WAKE => self.wake(&setup, watch, at),
                    item => {
                        let InFlightPacket { port, bytes, provenance } =
                            self.in_flight.remove(item as usize);
                        self.arrive((at, port), bytes, provenance);
                    }
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
                            let place = (switch, self.now_ps);
                            let (warnings, program) = (&mut self.warnings, setup.program());
                            warn_table_full(warnings, program, table, place, None);
                        }
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
            watch.see(self.now_ps, at, || ObservationKind::Left {
                occurrence,
                event: setup.event_value(event, &arguments, 0),
                port,
                bytes: Some(bytes.into()),
                frame: None,
            });
            return;
        }
        let parsed =
            parse(setup.prepared(), &bytes, &self.surroundings(setup, (at, port), self.now_ps));
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
        match switch.installed.device.inject(port, self.now_ps, bytes) {
            Ok(number) => {
                switch.arriving.insert(number, provenance);
                self.schedule_wake(at);
            }
            Err(error) => self.fault(at, &error.to_string()),
        }
    }

    /// Has a device woken when it next has something to do.
    pub(super) fn schedule_wake(&mut self, at: u32) {
        let switch = &mut self.switches[at as usize];
        if let Some(next_ps) = switch.installed.device.next_event_ps()
            && switch.wakes_at_ps.is_none_or(|known| next_ps < known)
        {
            switch.wakes_at_ps = Some(next_ps);
            self.queue.push(next_ps, rank(Phase::Ingress, at, BEHIND_PORTS), WAKE);
        }
    }

    /// Runs what is due at a device, and reports it to the observer.
    fn wake(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32) {
        self.learn_links(setup, at);
        let switch = &mut self.switches[at as usize];
        if switch.wakes_at_ps.is_some_and(|due_ps| due_ps <= self.now_ps) {
            switch.wakes_at_ps = None;
        }
        let device = &mut switch.installed.device;
        if let Err(error) = device.advance(self.now_ps) {
            let message = error.to_string();
            self.fault(at, &message);
            return;
        }
        // Taps have both.
        device.drain_log();
        device.drain_transmitted();
        let passes = passes(device.drain_taps());
        self.account(setup, watch, at, passes);
        self.schedule_wake(at);
    }

    /// Accounts for what a device did at one time: handlers of ingress, then those of egress, prints, and packets
    /// that left.
    fn account(&mut self, setup: &Setup, watch: &mut Watch<'_>, at: u32, passes: Vec<DevicePass>) {
        let mut known: Vec<Option<Arc<TakenPacket>>> = Vec::new();
        for pass in &passes {
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
        for ((pass, packet), sender) in passes.into_iter().zip(known).zip(senders) {
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
        let routes = deploy::routes(&mut self.topology, at, setup.switches());
        if let Err(message) = switch.installed.reroute(routes) {
            self.fault(at, &message);
        }
    }
}
