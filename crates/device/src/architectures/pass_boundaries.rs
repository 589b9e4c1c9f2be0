// SPDX-License-Identifier: Apache-2.0
//! Pass code that all architectures share: the begin of a pass, clone sessions, and the move of a packet to a queue or
//! back to ingress. The order of these steps is in each architecture's `finish`.

use crate::architecture::Architecture;
use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::ingress_source::IngressSource;
use crate::packet::{Arrival, PendingRequests, QueuedPacket, Reception};
use crate::pass::{EgressAhead, Half, Pass, PassInfo, PassRecord};
use crate::services::{Services, queue_step};
use crate::trace::{Cause, PassId, TraceNode};
use crate::wire::OutputPath;
use interpreter::PacketContext;
use ir::{Bits, SlotId};
use state::CloneSession;
use std::sync::Arc;

/// A packet whose metadata the architecture has set for ingress.
#[derive(Debug)]
pub(super) struct IngressStart {
    pub reception: Arc<Reception>,
    pub pass_number: u64,
    pub source: IngressSource,
    /// The port of its arrival.
    pub port: u32,
    /// Whether the trace names the port.
    pub names_port: bool,
    /// Arrival of its last bit, in picoseconds.
    pub arrived_ps: u64,
    pub parent: Option<PassId>,
    pub context: PacketContext,
    pub received_bytes: u32,
}

/// Begins a pass through ingress.
pub(super) fn begin_ingress(
    architecture: &impl Architecture,
    services: &mut Services<'_>,
    at: IngressStart,
) -> Pass {
    let waited_ps = services.now_ps().saturating_sub(at.arrived_ps);
    let step = || {
        let node = TraceNode::new("ingress", "");
        let node = match at.names_port {
            true => node.with("port", u64::from(at.port)),
            false => node,
        };
        match waited_ps {
            0 => node,
            waited_ps => node.with("waited_ps", waited_ps),
        }
    };
    let number = at.reception.number;
    let origin = (Cause::Ingress(at.source), at.parent);
    let run = PassInfo {
        packet: number,
        pass_number: at.pass_number,
        counted_bytes: at.received_bytes,
        pass: services.begin_trace(number, at.pass_number, origin, step),
    };
    let packet = Box::new(QueuedPacket {
        reception: at.reception,
        ingress_port: at.port,
        context: at.context,
        received_bytes: at.received_bytes,
        length_bytes: at.received_bytes,
        requests: PendingRequests::default(),
        cause: Cause::Queue,
        parent: run.pass,
        epoch: services.pass_epoch(),
        time_to_queues_ps: services.time_to_queues_ps(),
    });
    begin(architecture, services, Half::Ingress, run, packet)
}

/// Begins a pass through egress of a dequeued packet whose metadata the architecture has set.
pub(super) fn begin_egress(
    architecture: &impl Architecture,
    services: &mut Services<'_>,
    (port, queue): (u32, u32),
    (pass_number, counted_bytes): (u64, u32),
    mut packet: Box<QueuedPacket>,
) -> Pass {
    packet.time_to_queues_ps = services.options().ingress_latency_ps;
    let number = packet.reception.number;
    let origin = (packet.cause, packet.parent);
    let step = || queue_step("egress", port, queue);
    let pass = services.begin_trace(number, pass_number, origin, step);
    let run = PassInfo { packet: number, pass_number, counted_bytes, pass };
    let half = Half::Egress(services.departure(port, queue));
    begin(architecture, services, half, run, packet)
}

fn begin(
    architecture: &impl Architecture,
    services: &mut Services<'_>,
    half: Half,
    run: PassInfo,
    packet: Box<QueuedPacket>,
) -> Pass {
    let tap = services.tap_of(&run);
    Pass {
        half,
        run,
        packet,
        header_bytes: 0,
        blocks: architecture.blocks(half.gress()).clone(),
        blocks_run: 0,
        view: None,
        lease: services.lease(),
        began_ps: services.now_ps(),
        record: PassRecord { tap, ..PassRecord::default() },
        ended: None,
        egress: EgressAhead::No,
        hold: None,
    }
}

/// Finds a clone session and adds its step to the trace. Counts the clone as dropped if the session does not exist.
pub(super) fn clone_session<'v>(
    services: &mut Services<'_>,
    view: &'v ConfigurationView,
    session: u32,
    step: &'static str,
    pass: Option<PassId>,
) -> Option<&'v CloneSession> {
    let found = view.replication().clone_session(session);
    match found {
        Some(_) => {
            services.note(pass, || TraceNode::new(step, "").with("session", u64::from(session)));
        }
        None => services.drop_packet(DropReason::NoCloneSession, pass),
    }
    found
}

/// Returns the replicas of a multicast group, or an empty list if the group does not exist.
pub(super) fn members(view: &ConfigurationView, group: u32) -> &[state::Replica] {
    view.replication().multicast_group(group).map_or(&[][..], |group| &group.replicas)
}

/// Adds the step of a multicast to the trace.
pub(super) fn note_multicast(services: &mut Services<'_>, group: u32, pass: Option<PassId>) {
    services.note(pass, || TraceNode::new("multicast", "").with("group", u64::from(group)));
}

/// Sends a packet or a copy from ingress to the queues of a port. Drops it if the port number is out of range.
pub(super) fn to_queues(
    architecture: &impl Architecture,
    services: &mut Services<'_>,
    port: u32,
    packet: Box<QueuedPacket>,
) {
    if port > architecture.largest_port() {
        return services.drop_packet(DropReason::NoSuchPort, packet.parent);
    }
    match packet.time_to_queues_ps {
        0 => architecture.enqueue(services, port, packet),
        latency_ps => services.enqueue_later(latency_ps, port, packet),
    }
}

/// A packet on one of the internal paths back to ingress.
#[derive(Debug)]
pub(super) struct ReturningPacket {
    pub reception: Arc<Reception>,
    /// The port of its arrival.
    pub port: u32,
    pub bytes: Vec<u8>,
    /// Bytes that it occupies in the buffer.
    pub length_bytes: u64,
    pub preserved: Vec<(SlotId, Bits)>,
    pub pass: Option<PassId>,
}

/// Sends a packet back to ingress by the recirculation or the resubmission path.
pub(super) fn send_back(services: &mut Services<'_>, source: IngressSource, back: ReturningPacket) {
    let (step, path) = match source {
        IngressSource::Recirculation => ("recirculate", OutputPath::Recirculation),
        _ => ("resubmit", OutputPath::Resubmission),
    };
    services.note(back.pass, || TraceNode::new(step, ""));
    let arrival = Arrival {
        reception: back.reception,
        source,
        port: back.port,
        arrived_ps: services.now_ps(),
        bytes: back.bytes,
        absent_bytes: 0,
        preserved: back.preserved,
        parent: back.pass,
        circulating: None,
    };
    services.send_back(path, back.length_bytes, arrival);
}
