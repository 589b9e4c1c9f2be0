// SPDX-License-Identifier: Apache-2.0
//! Executes the packet actions of externs after the blocks of a pass: forward, drop or hold the packet, release or drop
//! held packets, emit new ones. A released packet continues at the end of ingress or egress, where it was held, with
//! the configuration at its release. A held packet belongs to no pass, so controllers' barriers do not wait for it.

use crate::drop_reason::DropReason;
use crate::event::Event;
use crate::held_packets::HeldKey;
use crate::ingress_source::IngressSource;
use crate::loaded_program::LoadedProgram;
use crate::output::DeviceError;
use crate::packet::{Arrival, EmittedPacket, PassEpoch, Queued, Reception};
use crate::pass::{Departure, Half, Pass};
use crate::switch_core::SwitchCore;
use crate::tap::{ExternAction, TappedEvent};
use crate::trace::{PassId, TraceNode};
use crate::wire::OutputPath;
use ir::ExternId;
use state::externs::{EmitTo, PacketAction};
use std::sync::Arc;

impl LoadedProgram {
    /// Finishes a pass after the actions of its externs. The packet continues after them, unless an action forwards, drops
    /// or holds it.
    pub(crate) fn act_and_finish(
        &mut self,
        core: &mut SwitchCore,
        pass: Pass,
        actions: Vec<(ExternId, PacketAction)>,
    ) -> Result<(), DeviceError> {
        let acting = ActingPacket::of(&pass);
        let mut packet = Some(pass);
        let mut outcome = Ok(());
        for (id, action) in actions {
            acting.tap(core);
            let done = match action {
                PacketAction::Forward => {
                    packet.take().map_or(Ok(()), |pass| self.resume(core, pass))
                }
                PacketAction::Drop => {
                    if let Some(pass) = packet.take() {
                        self.drop_pass(core, pass);
                    }
                    Ok(())
                }
                PacketAction::Hold { ticket, until_ps } => {
                    if let Some(pass) = packet.take() {
                        self.hold(core, pass, (id, ticket), until_ps);
                    }
                    Ok(())
                }
                PacketAction::Release { ticket } => match self.held.take((id, ticket)) {
                    Some(pass) => self.release(core, pass, (id, ticket)),
                    None => Ok(()),
                },
                PacketAction::DropHeld { ticket } => {
                    if let Some(pass) = self.held.take((id, ticket)) {
                        ActingPacket::of(&pass).tap(core);
                        self.drop_pass(core, pass);
                    }
                    Ok(())
                }
                PacketAction::Emit { bytes, to } => {
                    self.emit(core, &acting, id, (bytes, to));
                    Ok(())
                }
            };
            outcome = outcome.and(done);
        }
        if let Some(pass) = packet {
            acting.tap(core);
            outcome = outcome.and(self.resume(core, pass));
        }
        outcome
    }

    /// Releases a held packet at the end of its hold time, unless it was released before.
    pub(crate) fn release_at(
        &mut self,
        core: &mut SwitchCore,
        key: HeldKey,
        serial: u64,
    ) -> Result<(), DeviceError> {
        match self.held.take_serial(key, serial) {
            Some(pass) => self.release(core, pass, key),
            None => Ok(()),
        }
    }

    /// Drops all held packets before the program is unloaded.
    pub(crate) fn drop_held(&mut self, core: &mut SwitchCore) {
        for pass in self.held.take_all() {
            ActingPacket::of(&pass).tap(core);
            self.drop_pass(core, pass);
        }
    }

    /// Queues a packet that an extern emitted in ingress, after the ingress latency.
    pub(crate) fn queue_emitted(
        &mut self,
        core: &mut SwitchCore,
        port: u32,
        packet: Box<EmittedPacket>,
    ) {
        core.tap_last_pass(&packet.reception);
        let length = packet.bytes.len() as u64;
        let item = Queued::Emitted(self.id(), packet);
        let is_there = core.enqueue(OutputPath::Port(port), 0, length, item);
        self.membership.in_flight += u64::from(is_there);
    }

    /// Transmits a dequeued packet that an extern emitted.
    pub(crate) fn send_emitted(
        &mut self,
        core: &mut SwitchCore,
        (port, queue): (u32, u32),
        packet: EmittedPacket,
    ) {
        let EmittedPacket { reception, bytes, parent } = packet;
        core.tap_last_pass(&reception);
        let time_to_wire_ps = self.membership.time_to_wire_ps;
        let departure = Departure { port, queue, dequeued_ps: core.now_ps, time_to_wire_ps };
        core.transmit(self.id(), departure, reception, bytes, parent);
    }

    fn name_of(&self, id: ExternId) -> Arc<str> {
        match self.program().externs.get(id.index()) {
            Some(found) if found.instance.is_empty() => found.type_name.clone(),
            Some(found) => found.instance.clone(),
            None => "".into(),
        }
    }

    fn resume(&mut self, core: &mut SwitchCore, pass: Pass) -> Result<(), DeviceError> {
        let (architecture, mut services) = self.with_services(core);
        architecture.finish(&mut services, pass)
    }

    fn drop_pass(&mut self, core: &mut SwitchCore, pass: Pass) {
        core.drop_packet(DropReason::Extern, pass.run.pass);
        self.executor.runner.recycle(pass.packet.context);
    }

    fn hold(&mut self, core: &mut SwitchCore, mut pass: Pass, key: HeldKey, until_ps: Option<u64>) {
        core.statistics.held += 1;
        let name = self.name_of(key.0);
        core.note(pass.run.pass, || {
            let node = TraceNode::new("hold", name.to_string()).with("ticket", key.1);
            match until_ps {
                Some(until_ps) => node.with("until_ps", until_ps),
                None => node,
            }
        });
        tap_action(core, name, ExternAction::Held { ticket: key.1, until_ps });
        pass.view = None;
        pass.hold = None;
        pass.packet.epoch = Arc::new(PassEpoch);
        let (serial, before) = self.held.hold(key, pass);
        if let Some(before) = before {
            ActingPacket::of(&before).tap(core);
            self.drop_pass(core, before);
        }
        if let Some(until_ps) = until_ps {
            self.membership.in_flight += 1;
            let event = Event::Release { program: self.id(), key, serial };
            core.schedule(until_ps.max(core.now_ps), event);
        }
    }

    fn release(
        &mut self,
        core: &mut SwitchCore,
        mut pass: Pass,
        key: HeldKey,
    ) -> Result<(), DeviceError> {
        ActingPacket::of(&pass).tap(core);
        core.statistics.released += 1;
        let (name, now_ps) = (self.name_of(key.0), core.now_ps);
        core.note(pass.run.pass, || {
            TraceNode::new("release", name.to_string())
                .with("ticket", key.1)
                .with("time_ps", now_ps)
        });
        tap_action(core, name, ExternAction::Released { ticket: key.1 });
        pass.view = Some(self.view());
        pass.packet.epoch = core.pass_epoch();
        if let Half::Egress(departure) = &mut pass.half {
            departure.dequeued_ps = departure.dequeued_ps.max(now_ps);
        }
        self.resume(core, pass)
    }

    fn emit(
        &mut self,
        core: &mut SwitchCore,
        acting: &ActingPacket,
        id: ExternId,
        (bytes, to): (Vec<u8>, EmitTo),
    ) {
        let (EmitTo::Port(port) | EmitTo::Ingress(port)) = to;
        core.statistics.emitted += 1;
        let name = self.name_of(id);
        core.note(acting.pass, || {
            let node = TraceNode::new("emit", name.to_string()).with("port", u64::from(port));
            node.with("length_bytes", bytes.len() as u64)
        });
        tap_action(core, name, ExternAction::Emitted { to, bytes: bytes.clone() });
        if port > self.largest_port() {
            return core.drop_packet(DropReason::NoSuchPort, acting.pass);
        }
        let (reception, parent) = (acting.reception.clone(), acting.pass);
        match to {
            EmitTo::Port(port) => {
                let packet = Box::new(EmittedPacket { reception, bytes, parent });
                match acting.time_to_queues_ps {
                    0 => self.queue_emitted(core, port, packet),
                    latency_ps => {
                        self.membership.in_flight += 1;
                        let time_ps = core.now_ps.saturating_add(latency_ps);
                        let event = Event::Emission { program: self.id(), port, packet };
                        core.schedule(time_ps, event);
                    }
                }
            }
            EmitTo::Ingress(port) => {
                let arrival = Arrival {
                    reception,
                    source: IngressSource::Extern,
                    port,
                    arrived_ps: core.now_ps,
                    bytes,
                    absent_bytes: 0,
                    preserved: Vec::new(),
                    parent,
                    circulating: None,
                };
                core.schedule(core.now_ps, Event::Reception(Box::new(arrival)));
            }
        }
    }
}

/// The packet whose pass is being finished.
struct ActingPacket {
    reception: Arc<Reception>,
    number: u64,
    pass: Option<PassId>,
    /// Time from the finish of the pass to the queues, in picoseconds.
    time_to_queues_ps: u64,
}

impl ActingPacket {
    fn of(pass: &Pass) -> ActingPacket {
        ActingPacket {
            reception: pass.packet.reception.clone(),
            number: pass.run.pass_number,
            pass: pass.run.pass,
            time_to_queues_ps: match pass.half {
                Half::Ingress => pass.packet.time_to_queues_ps,
                Half::Egress(_) => 0,
            },
        }
    }

    /// Sets the packet of the tapped events that follow.
    fn tap(&self, core: &mut SwitchCore) {
        if let Some(tap) = &mut core.tap {
            tap.set_pass(self.reception.number, self.number);
        }
    }
}

fn tap_action(core: &mut SwitchCore, name: Arc<str>, action: ExternAction) {
    if let Some(tap) = &mut core.tap {
        tap.record(core.now_ps, TappedEvent::Extern { name, action });
    }
}
