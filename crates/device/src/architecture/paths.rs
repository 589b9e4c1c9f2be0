// SPDX-License-Identifier: Apache-2.0
//! What is the same in every architecture: the blocks and digests of a program, the trace of a pass as it
//! begins, and the ways of a packet into the queues of the traffic manager. Which way a packet takes is each
//! architecture's matter.

use super::Architecture;
use crate::engine::Engine;
use crate::machine::{Event, Machine};
use crate::output::{DigestMessage, LoadError};
use crate::packet::{Arrival, Entrance, Queued, Traveller};
use crate::statistics::DropReason;
use crate::trace::{Cause, PassId, TraceNode};
use crate::traffic_manager::OutputPath;
use ir::{Bits, Program, RequestId};

/// The index of the block with a role.
pub(super) fn block(program: &Program, role: &'static str) -> Result<usize, LoadError> {
    program
        .blocks
        .iter()
        .position(|block| &*block.role == role)
        .ok_or_else(|| LoadError::MissingBlock { architecture: program.architecture.clone(), role })
}

/// Why a packet that comes to ingress is there.
pub(super) fn cause(entrance: Entrance) -> Cause {
    match entrance {
        Entrance::Port => Cause::Port,
        Entrance::Loopback => Cause::Loopback,
        Entrance::Generator => Cause::Generator,
        Entrance::Resubmission => Cause::Resubmission,
        Entrance::Recirculation => Cause::Recirculation,
    }
}

/// The step of a trace with which a pass of ingress begins; `port` where it came by one.
pub(super) fn ingress_step(port: Option<u32>, waited_ps: u64) -> TraceNode {
    let node = TraceNode::new("ingress", "");
    let node = match port {
        Some(port) => node.with("port", u64::from(port)),
        None => node,
    };
    match waited_ps {
        0 => node,
        waited_ps => node.with("waited_ps", waited_ps),
    }
}

/// A step of a trace that is about a queue of a port: `enqueue`, `egress`.
pub(super) fn queue_step(name: &'static str, port: u32, queue: u32) -> TraceNode {
    TraceNode::new(name, "").with("port", u64::from(port)).with("queue", u64::from(queue))
}

/// What a request for a digest sends, noted in the trace of the pass.
pub(super) fn digest(
    program: &Program,
    machine: &mut Machine,
    (packet, pass): (u64, Option<PassId>),
    request: RequestId,
    values: Vec<Bits>,
) -> DigestMessage {
    let declared = &program.requests[request.index()];
    let names = declared.fields.iter().map(|field| field.0.clone());
    machine.note(pass, || TraceNode::new("digest", declared.label.to_string()));
    DigestMessage {
        time_ps: machine.now_ps,
        name: declared.label.clone(),
        fields: names.zip(values).collect(),
        packet,
    }
}

/// Sends a packet from ingress, or a copy, to the queues of a port, which the program or the control plane
/// named.
pub(super) fn to_queues(
    architecture: &impl Architecture,
    engine: &mut Engine,
    machine: &mut Machine,
    port: u32,
    packet: Traveller,
) {
    if port > architecture.largest_port() {
        return machine.drop_packet(DropReason::NoSuchPort, packet.parent);
    }
    match packet.time_to_queues_ps {
        0 => architecture.enqueue(engine, machine, port, packet),
        latency_ps => {
            let time_ps = machine.now_ps.saturating_add(latency_ps);
            engine.in_flight += 1;
            machine.schedule(time_ps, Event::Enqueue(engine.generation, port, Box::new(packet)));
        }
    }
}

/// Puts a packet into a queue of a port, if there is room.
pub(super) fn put(
    engine: &mut Engine,
    machine: &mut Machine,
    port: u32,
    queue: u32,
    packet: Traveller,
) {
    let length = u64::from(packet.length_bytes);
    let pass = packet.parent;
    let item = Queued::Traveller(engine.generation, Box::new(packet));
    if machine.enqueue(OutputPath::Port(port), queue, length, item) {
        engine.in_flight += 1;
        machine.note(pass, || queue_step("enqueue", port, queue));
    }
}

/// Sends a packet of so many bytes back to ingress by one of the internal paths, if there is room.
pub(super) fn send_back(
    engine: &mut Engine,
    machine: &mut Machine,
    path: OutputPath,
    length_bytes: u64,
    arrival: Arrival,
) {
    let item = Queued::Arrival(engine.generation, Box::new(arrival));
    if machine.enqueue(path, 0, length_bytes, item) {
        engine.in_flight += 1;
    }
}
