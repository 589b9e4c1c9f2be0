// SPDX-License-Identifier: Apache-2.0
//! v1model as BMv2's `simple_switch` runs it: parser, checksum verification, ingress, queues,
//! egress, checksum computation, deparser; and what becomes of clones, digests, resubmission,
//! multicast, drops and recirculation between them. Queues and wires are the traffic manager's.
//!
//! **After ingress**, in this order: the last `clone` is made, digests are sent, then the first of
//! these that applies: resubmit, multicast when `mcast_grp` is not 0, drop when `egress_spec` is
//! the drop port, queue for `egress_spec`. **After egress**: the last `clone` is made, drop when
//! `egress_spec` is the drop port, recirculate, send.
//!
//! A rejecting parser does not drop: ingress runs with `parser_error` set. A clone made in ingress
//! is the packet as it came to ingress, parsed again; one made in egress is the packet at the end
//! of egress, neither deparsed nor parsed. Clones, resubmitted and recirculated packets begin with
//! zero metadata, but for the fields of their field list: `ingress_port` too is 0 unless
//! preserved. A wish (resubmit, recirculate) stays with the packet until it is granted, so
//! `recirculate` called in ingress acts after egress. Where this differs from `simple_switch`:
//! every digest is sent, not only the last; `packet_length` in egress counts all headers added and
//! removed, not only those by `setValid` and `setInvalid`; a clone session's class of service is
//! the clone's priority, and its packet length cuts the clone; each port has 8 queues.

mod copies;
mod metadata;
mod replicas;
mod straight;

use super::{Architecture, LeftStraight, Straight, paths};
use crate::engine::Engine;
use crate::machine::Machine;
use crate::output::{DeviceError, DigestMessage, LoadError};
use crate::packet::{Arrival, Entrance, Traveller, Wishes};
use crate::pass::{Departure, Half, Pass, Run};
use crate::statistics::DropReason;
use crate::trace::{Cause, PassId};
use crate::traffic_manager::{Dequeued, OutputPath};
use crate::view::View;
use interpreter::trace::TraceNode;
use interpreter::{Outcome, PacketContext};
use ir::{Bits, Program, SlotId};
use metadata::{InstanceType, Metadata};

/// The `egress_spec` that means drop, unless the device is told another.
pub(crate) const DROP_PORT: u32 = 511;

/// What a request of the program means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Clone { session: usize, field_list: Option<usize> },
    Resubmit { field_list: Option<usize> },
    Recirculate { field_list: Option<usize> },
    Truncate,
    Digest,
}

/// Indices of the blocks in the program.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    parser: usize,
    verify: usize,
    ingress: usize,
    egress: usize,
    compute: usize,
    deparser: usize,
}

/// A v1model program at work.
#[derive(Debug)]
pub(crate) struct V1Model {
    blocks: Blocks,
    /// Those of a pass through ingress, in order.
    ingress_blocks: [usize; 3],
    metadata: Metadata,
    wishes: Vec<Wish>,
    drop_port: u32,
}

impl V1Model {
    pub fn new(program: &Program, drop_port: Option<u32>) -> Result<V1Model, LoadError> {
        let block = |role| paths::block(program, role);
        let wish = |request: &ir::Request| {
            let field = |name: &str| request.fields.iter().position(|field| &*field.0 == name);
            let field_list = field("field_list");
            match &*request.name {
                "clone_i2e" | "clone_e2e" => {
                    Ok(Wish::Clone { session: field("session").unwrap_or(0), field_list })
                }
                "resubmit" => Ok(Wish::Resubmit { field_list }),
                "recirculate" => Ok(Wish::Recirculate { field_list }),
                "truncate" => Ok(Wish::Truncate),
                "digest" => Ok(Wish::Digest),
                _ => Err(LoadError::UnsupportedRequest(request.name.clone())),
            }
        };
        let blocks = Blocks {
            parser: block("p")?,
            verify: block("vr")?,
            ingress: block("ig")?,
            egress: block("eg")?,
            compute: block("ck")?,
            deparser: block("dep")?,
        };
        Ok(V1Model {
            blocks,
            ingress_blocks: [blocks.parser, blocks.verify, blocks.ingress],
            metadata: Metadata::new(program),
            wishes: program.requests.iter().map(wish).collect::<Result<_, _>>()?,
            drop_port: drop_port.unwrap_or(DROP_PORT),
        })
    }

    /// Takes what the last block asked for. Digests are sent when `digests` says so.
    fn take_wishes(
        &self,
        engine: &Engine,
        machine: &mut Machine,
        packet: &mut Traveller,
        pass: Option<PassId>,
    ) -> Vec<DigestMessage> {
        let mut digests = Vec::new();
        for (request, values) in std::mem::take(&mut packet.context.requests) {
            let number = |at: usize| values.get(at).map_or(0, |value: &Bits| value.low_u64());
            let list = |at: Option<usize>| at.map(|at| number(at) as u32);
            let wishes = &mut packet.wishes;
            match self.wishes[request.index()] {
                Wish::Clone { session, field_list } => {
                    wishes.clone = Some((number(session) as u32, list(field_list)));
                }
                Wish::Resubmit { field_list } => wishes.resubmit = Some(list(field_list)),
                Wish::Recirculate { field_list } => wishes.recirculate = Some(list(field_list)),
                Wish::Truncate => {
                    let before = wishes.truncate_bytes.unwrap_or(u64::MAX);
                    wishes.truncate_bytes = Some(before.min(number(0)));
                }
                Wish::Digest => {
                    let asking = (packet.reception.number, pass);
                    let program = &engine.program;
                    digests.push(paths::digest(program, machine, asking, request, values));
                }
            }
        }
        digests
    }

    /// Slots and values of a field list. Lists that do not exist preserve nothing.
    fn preserved(
        &self,
        engine: &Engine,
        context: &PacketContext,
        list: Option<u32>,
    ) -> Vec<(SlotId, Bits)> {
        engine
            .program
            .field_lists
            .iter()
            .filter(|field_list| Some(field_list.number) == list)
            .flat_map(|field_list| &field_list.slots)
            .map(|slot| (*slot, context.value(*slot)))
            .collect()
    }

    /// What becomes of a packet after its ingress block.
    fn after_ingress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        view: &View,
        run: &Run,
        mut packet: Traveller,
    ) -> Result<(), DeviceError> {
        let (metadata, blocks, pass) = (&self.metadata, self.blocks, run.pass);
        let length = packet.received_bytes;
        let digests = self.take_wishes(engine, machine, &mut packet, pass);

        if let Some((session, list)) = self.wanted_clone(machine, view, &mut packet, pass) {
            let mut context = engine.context(packet.context.packet.clone());
            let port = u64::from(packet.ingress_port);
            metadata.ingress_port.set(&mut context, port);
            let again = Run { pass: None, ..*run };
            match engine.run(machine, blocks.parser, &mut context, view, &again)? {
                Outcome::Returned | Outcome::Exited | Outcome::Rejected(_) => {
                    context.requests.clear();
                    metadata.clear(&mut context);
                    for (slot, value) in self.preserved(engine, &packet.context, list) {
                        context.set_slot(slot, &value);
                    }
                    let kind = InstanceType::IngressClone as u64;
                    metadata.instance_type.set(&mut context, kind);
                    let copy = Traveller { context, length_bytes: length, ..packet.clone() };
                    self.clone_to_session(engine, machine, view, session, copy);
                }
                _ => {}
            }
        }

        machine.statistics.digests += digests.len() as u64;
        machine.digests.extend(digests);

        if let Some(list) = packet.wishes.resubmit.take() {
            machine.note(pass, || TraceNode::new("resubmit", ""));
            let arrival = Arrival {
                preserved: self.preserved(engine, &packet.context, list),
                reception: packet.reception,
                entrance: Entrance::Resubmission,
                port: packet.ingress_port,
                arrived_ps: machine.now_ps,
                bytes: std::mem::take(&mut packet.context.packet),
                parent: pass,
            };
            engine.recycle(packet.context);
            let length = arrival.bytes.len() as u64;
            paths::send_back(engine, machine, OutputPath::Resubmission, length, arrival);
            return Ok(());
        }

        let group = metadata.mcast_grp.get(&packet.context) as u32;
        if group != 0 {
            machine.note(pass, || TraceNode::new("multicast", "").with("group", u64::from(group)));
            metadata.instance_type.set(&mut packet.context, InstanceType::Replicated as u64);
            self.multicast(engine, machine, view, &mut packet, group);
            engine.recycle(packet.context);
            return Ok(());
        }

        let port = metadata.egress_spec.get(&packet.context) as u32;
        if port == self.drop_port {
            machine.drop_packet(DropReason::IngressDrop, pass);
            engine.recycle(packet.context);
            return Ok(());
        }
        metadata.instance_type.set(&mut packet.context, InstanceType::Normal as u64);
        paths::to_queues(self, engine, machine, port, packet);
        Ok(())
    }

    /// What becomes of a packet after its egress block, before which it had so many bytes of headers.
    fn after_egress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        leaving: &Leaving<'_>,
        mut packet: Traveller,
        before_bytes: u32,
    ) -> Result<(), DeviceError> {
        let Leaving { view, run, .. } = *leaving;
        let (metadata, pass) = (&self.metadata, run.pass);
        let after_bytes = metadata.header_bytes(&packet.context);
        packet.length_bytes = (packet.length_bytes + after_bytes).saturating_sub(before_bytes);
        // BMv2 sends digests after ingress only.
        self.take_wishes(engine, machine, &mut packet, pass);

        if let Some((session, list)) = self.wanted_clone(machine, view, &mut packet, pass) {
            let mut copy = packet.clone();
            metadata.clear(&mut copy.context);
            for (slot, value) in self.preserved(engine, &packet.context, list) {
                copy.context.set_slot(slot, &value);
            }
            metadata.instance_type.set(&mut copy.context, InstanceType::EgressClone as u64);
            self.clone_to_session(engine, machine, view, session, copy);
        }

        if metadata.egress_spec.get(&packet.context) as u32 == self.drop_port {
            machine.drop_packet(DropReason::EgressDrop, pass);
            engine.recycle(packet.context);
            return Ok(());
        }

        let (block, context) = (self.blocks.compute, &mut packet.context);
        if !engine.run_control(machine, block, context, view, run)? {
            return Ok(());
        }
        self.deparse(engine, machine, leaving, packet)
    }

    /// Deparses a packet and sends it by its port, or back to ingress.
    fn deparse(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        leaving: &Leaving<'_>,
        mut packet: Traveller,
    ) -> Result<(), DeviceError> {
        let Leaving { view, run, departure } = *leaving;
        let pass = run.pass;
        let (block, context) = (self.blocks.deparser, &mut packet.context);
        if !engine.run_control(machine, block, context, view, run)? {
            return Ok(());
        }
        self.take_wishes(engine, machine, &mut packet, pass);
        let mut bytes = packet.context.outgoing_packet();
        if let Some(length) = packet.wishes.truncate_bytes {
            bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        }

        if let Some(list) = packet.wishes.recirculate.take() {
            machine.note(pass, || TraceNode::new("recirculate", ""));
            let arrival = Arrival {
                preserved: self.preserved(engine, &packet.context, list),
                reception: packet.reception,
                entrance: Entrance::Recirculation,
                port: packet.ingress_port,
                arrived_ps: machine.now_ps,
                bytes,
                parent: pass,
            };
            engine.recycle(packet.context);
            let length = arrival.bytes.len() as u64;
            paths::send_back(engine, machine, OutputPath::Recirculation, length, arrival);
            return Ok(());
        }
        engine.recycle(packet.context);
        machine.transmit(departure, packet.reception, bytes, pass);
        Ok(())
    }
}

/// How a packet leaves the device.
#[derive(Clone, Copy, Debug)]
struct Leaving<'a> {
    view: &'a View,
    run: &'a Run,
    departure: Departure,
}

impl Architecture for V1Model {
    fn largest_port(&self) -> u32 {
        self.metadata.ingress_port.largest()
    }

    fn drop_slot(&self) -> Option<SlotId> {
        self.metadata.egress_spec.slot()
    }

    fn stage_name(&self, block: usize) -> &'static str {
        let blocks = &self.blocks;
        match block {
            _ if block == blocks.parser => "parser",
            _ if block == blocks.verify => "checksum verification",
            _ if block == blocks.ingress => "ingress",
            _ if block == blocks.egress => "egress",
            _ if block == blocks.compute => "checksum computation",
            _ if block == blocks.deparser => "deparser",
            _ => "",
        }
    }

    fn begin_ingress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        arrival: Arrival,
    ) -> Option<Pass> {
        let Arrival { reception, entrance, port, arrived_ps, bytes, preserved, parent } = arrival;
        let waited_ps = machine.now_ps.saturating_sub(arrived_ps);
        let Some(pass_number) = reception.next_pass(machine.options.pass_limit) else {
            machine.drop_packet(DropReason::PassLimit, parent);
            return None;
        };
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut context = engine.context(bytes);
        for (slot, value) in preserved {
            context.set_slot(slot, &value);
        }
        let metadata = &self.metadata;
        let instance_type = match entrance {
            Entrance::Port | Entrance::Loopback | Entrance::Generator => {
                metadata.ingress_port.set(&mut context, u64::from(port));
                metadata.ingress_global_timestamp.set(&mut context, machine.timestamp());
                InstanceType::Normal
            }
            Entrance::Resubmission => InstanceType::Resubmitted,
            Entrance::Recirculation => InstanceType::Recirculated,
        };
        metadata.instance_type.set(&mut context, instance_type as u64);
        metadata.packet_length.set(&mut context, u64::from(length));
        let named_port = match entrance {
            Entrance::Port | Entrance::Loopback | Entrance::Generator => Some(port),
            Entrance::Resubmission | Entrance::Recirculation => None,
        };
        let node = || paths::ingress_step(named_port, waited_ps);
        let cause = paths::cause(entrance);
        let number = reception.number;
        let run = Run {
            packet: reception.number,
            pass_number,
            counted_bytes: length,
            pass: machine.begin_pass(number, pass_number, (cause, parent), node),
        };
        let packet = Traveller {
            length_bytes: length,
            reception,
            ingress_port: port,
            context,
            received_bytes: length,
            wishes: Wishes::default(),
            cause: Cause::Queue,
            parent: run.pass,
            epoch: machine.pass_epoch(),
            time_to_queues_ps: engine.time_to_queues_ps(machine),
        };
        Some(Pass { half: Half::Ingress, run, packet, header_bytes: 0 })
    }

    fn enqueue(&self, engine: &mut Engine, machine: &mut Machine, port: u32, packet: Traveller) {
        let mut packet = packet;
        let queue = self.metadata.priority.get(&packet.context) as u32;
        let now = machine.timestamp();
        let depth = u64::from(machine.traffic.depth_packets(OutputPath::Port(port), queue));
        self.metadata.enq_timestamp.set(&mut packet.context, now);
        self.metadata.enq_qdepth.set(&mut packet.context, depth);
        paths::put(engine, machine, port, queue, packet);
    }

    fn begin_egress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        port: u32,
        dequeued: Dequeued<Traveller>,
    ) -> Option<Pass> {
        let mut packet = dequeued.item;
        let parent = packet.parent;
        let Some(pass_number) = packet.reception.next_pass(machine.options.pass_limit) else {
            machine.drop_packet(DropReason::PassLimit, parent);
            return None;
        };
        let metadata = &self.metadata;
        let context = &mut packet.context;
        let now = machine.timestamp();
        metadata.egress_global_timestamp.set(context, now);
        metadata.deq_timedelta.set(context, now - machine.timestamp_of(dequeued.enqueued_ps));
        metadata.deq_qdepth.set(context, u64::from(dequeued.depth_packets));
        metadata.egress_port.set(context, u64::from(port));
        // Anything but the drop port; in nine bits the default becomes 0.
        metadata.egress_spec.set(context, u64::from(self.drop_port) + 1);
        metadata.packet_length.set(context, u64::from(packet.length_bytes));

        let number = packet.reception.number;
        let node = || paths::queue_step("egress", port, dequeued.queue);
        let run = Run {
            packet: number,
            pass_number,
            counted_bytes: packet.received_bytes,
            pass: machine.begin_pass(number, pass_number, (packet.cause, parent), node),
        };
        packet.parent = run.pass;
        packet.cause = Cause::Queue;
        let header_bytes = metadata.header_bytes(&packet.context);
        packet.time_to_queues_ps = machine.options.ingress_latency_ps;
        let departure = Departure {
            port,
            queue: dequeued.queue,
            dequeued_ps: machine.now_ps,
            time_to_wire_ps: engine.time_to_wire_ps(machine),
        };
        Some(Pass { half: Half::Egress(departure), run, packet, header_bytes })
    }

    fn ingress_blocks(&self) -> &[usize] {
        &self.ingress_blocks
    }

    fn egress_blocks(&self) -> &[usize] {
        std::slice::from_ref(&self.blocks.egress)
    }

    fn after_block(
        &self,
        _: &mut Engine,
        _: &mut Machine,
        mut pass: Pass,
        block: usize,
        outcome: &Outcome,
    ) -> Option<Pass> {
        let goes_on = match outcome {
            Outcome::Returned | Outcome::Exited => true,
            Outcome::Rejected(_) => block == self.blocks.parser,
            _ => false,
        };
        if !goes_on {
            return None;
        }
        if block == self.blocks.parser {
            pass.header_bytes = self.metadata.header_bytes(&pass.packet.context);
        }
        Some(pass)
    }

    fn finish(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        view: &View,
        pass: Pass,
    ) -> Result<(), DeviceError> {
        let Pass { half, run, mut packet, header_bytes } = pass;
        match half {
            Half::Ingress => {
                let with_headers =
                    packet.received_bytes + self.metadata.header_bytes(&packet.context);
                packet.length_bytes = with_headers.saturating_sub(header_bytes);
                self.after_ingress(engine, machine, view, &run, packet)
            }
            Half::Egress(departure) => {
                let leaving = Leaving { view, run: &run, departure };
                self.after_egress(engine, machine, &leaving, packet, header_bytes)
            }
        }
    }

    fn straight(&self, program: &Program, least_queue_count: u32) -> Result<Straight, String> {
        straight::describe(self, program, least_queue_count)
    }

    fn leave_straight(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        left: LeftStraight,
    ) -> Result<(), DeviceError> {
        straight::leave(self, engine, machine, left)
    }
}
