// SPDX-License-Identifier: Apache-2.0
//! Steps that architectures share: beginning a pass of either half, clone sessions, and the packet's move to a
//! queue or back to ingress. Each architecture decides when it takes them.

use crate::architecture::Architecture;
use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::packet::{Arrival, IngressSource, PendingRequests, QueuedPacket, Reception};
use crate::pass::{Half, Pass, PassInfo, PassRecord};
use crate::services::Services;
use crate::trace::{Cause, PassId, TraceNode};
use crate::wire::OutputPath;
use interpreter::PacketContext;
use ir::{Bits, SlotId};
use state::CloneSession;
use std::sync::Arc;

/// Why a packet that comes to ingress is there.
fn cause(source: IngressSource) -> Cause {
    match source {
        IngressSource::Wire => Cause::Port,
        IngressSource::Loopback => Cause::Loopback,
        IngressSource::Generator => Cause::Generator,
        IngressSource::Extern => Cause::Extern,
        IngressSource::Resubmission => Cause::Resubmission,
        IngressSource::Recirculation => Cause::Recirculation,
    }
}

/// A packet at the beginning of ingress, as its architecture prepared it.
#[derive(Debug)]
pub(super) struct AtIngress {
    pub reception: Arc<Reception>,
    pub pass_number: u64,
    pub source: IngressSource,
    /// The port that it came by, and whether the trace names it.
    pub port: u32,
    pub names_port: bool,
    /// When its last bit was there, in picoseconds.
    pub arrived_ps: u64,
    pub parent: Option<PassId>,
    pub context: PacketContext,
    pub received_bytes: u32,
}

/// Begins a pass through ingress.
pub(super) fn begin_ingress(
    architecture: &impl Architecture,
    services: &mut Services<'_>,
    at: AtIngress,
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
    let origin = (cause(at.source), at.parent);
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

/// Begins a pass through egress of a packet that its architecture prepared and that left a queue of a port.
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
        hold: None,
    }
}

/// A step of a trace that is about a queue of a port: `enqueue`, `egress`.
fn queue_step(name: &'static str, port: u32, queue: u32) -> TraceNode {
    TraceNode::new(name, "").with("port", u64::from(port)).with("queue", u64::from(queue))
}

/// A session to clone to, with its step in the trace; the drop of the clone is counted if it does not exist.
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

/// The members of a multicast group; none where it does not exist.
pub(super) fn members(view: &ConfigurationView, group: u32) -> &[state::Replica] {
    view.replication().multicast_group(group).map_or(&[][..], |group| &group.replicas)
}

/// Notes that a packet goes to the members of a multicast group.
pub(super) fn note_multicast(services: &mut Services<'_>, group: u32, pass: Option<PassId>) {
    services.note(pass, || TraceNode::new("multicast", "").with("group", u64::from(group)));
}

/// Sends a packet from ingress, or a copy, to the queues of a port, which the program or the control plane
/// named.
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

/// Puts a packet into a queue of a port, if there is room.
pub(super) fn put(services: &mut Services<'_>, port: u32, queue: u32, packet: Box<QueuedPacket>) {
    let pass = packet.parent;
    if services.put(port, queue, packet) {
        services.note(pass, || queue_step("enqueue", port, queue));
    }
}

/// A packet that goes back to ingress with these bytes.
#[derive(Debug)]
pub(super) struct GoingBack {
    pub reception: Arc<Reception>,
    /// The port of its arrival.
    pub port: u32,
    pub bytes: Vec<u8>,
    /// What it fills of the buffer.
    pub length_bytes: u64,
    pub preserved: Vec<(SlotId, Bits)>,
    pub pass: Option<PassId>,
}

/// Sends a packet back to ingress: the received bytes, or the deparsed ones.
pub(super) fn send_back(services: &mut Services<'_>, source: IngressSource, back: GoingBack) {
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
        preserved: back.preserved,
        parent: back.pass,
    };
    services.send_back(path, back.length_bytes, arrival);
}
