// SPDX-License-Identifier: Apache-2.0
//! One pipe of Tofino 1: ingress parser, ingress, ingress deparser, traffic manager, egress parser, egress,
//! egress deparser; and what becomes of mirrored, resubmitted, multicast and dropped packets between them.
//! Only bytes go from ingress to egress. Queues and wires are the traffic manager's.
//!
//! **In front of a packet** for the ingress parser stand 64 bits of intrinsic metadata and 64 bits of port
//! metadata (zero), or in their place what a resubmission takes along, in the highest bits; for the egress
//! parser 27 bytes of intrinsic metadata. A packet whose ingress parser ends with an error is dropped,
//! unless the ingress control reads `parser_err`; one in egress goes on.
//!
//! **After ingress**, in this order: digests are sent; the last `Mirror.emit` copies the packet as it came,
//! unless `drop_ctl` has bit 2; then, unless it has bit 0, the last `Resubmit.emit` sends the packet as it
//! came through ingress again, or else copies go to the traffic manager: one to `ucast_egress_port` if that
//! was set, those of `mcast_grp_a`, those of `mcast_grp_b`; and with `copy_to_cpu`, unless `drop_ctl` has
//! bit 1, one to the device's CPU port. Copies with `bypass_egress` leave as they are. **After egress**: the
//! last `Mirror.emit` copies the packet as it leaves, unless `drop_ctl` has bit 2; with bit 0 it is dropped.
//!
//! A mirror session is a clone session of the control plane: its class of service is the queue, its packet
//! length cuts the mirrored packet, the mirror header not counted. Queue depths count packets. Exclusion ids
//! leave copies of groups out as [`state::Exclusions`] says. Lengths have no checksum of the wire in them. Port 68 is in loopback, unless the port is set otherwise.

mod copies;
mod metadata;

use super::{Architecture, LeftStraight, Straight, paths};
use crate::engine::Engine;
use crate::machine::Machine;
use crate::options::{DeviceOptions, PortOptions};
use crate::output::{DeviceError, DigestMessage, LoadError};
use crate::packet::{Arrival, Entrance, Traveller, Wishes};
use crate::pass::{Departure, Half, Pass, Run};
use crate::statistics::DropReason;
use crate::tap::EgressPacket;
use crate::trace::Cause;
use crate::traffic_manager::{Dequeued, OutputPath};
use crate::view::View;
use interpreter::trace::TraceNode;
use interpreter::{Outcome, PacketContext};
use ir::{Bits, Program, SlotId};
use metadata::{EGRESS_PREFIX_BYTES, EgressPrefix, INGRESS_PREFIX_BYTES, Metadata, ingress_prefix};

/// The recirculation port of the first pipe.
const RECIRCULATION_PORT: u32 = 68;

/// Ports have 9 bits.
const LARGEST_PORT: u32 = 511;

/// Bits of `drop_ctl`.
const NO_PACKET: u64 = 1;
const NO_CPU_COPY: u64 = 2;
const NO_MIRRORING: u64 = 4;

/// What a request of the program means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Mirror,
    Resubmit,
    Digest,
}

/// Indices of the blocks in the program.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    ingress_parser: usize,
    ingress: usize,
    ingress_deparser: usize,
    egress_parser: usize,
    egress: usize,
    egress_deparser: usize,
}

/// A TNA program at work.
#[derive(Debug)]
pub(crate) struct Tna {
    blocks: Blocks,
    /// Those of a pass through ingress and through egress, in order.
    ingress_blocks: [usize; 3],
    egress_blocks: [usize; 3],
    metadata: Metadata,
    wishes: Vec<Wish>,
    /// Whether packets with a parser error go on to ingress.
    accepts_parser_errors: bool,
}

/// What a deparser asked for.
#[derive(Debug, Default)]
struct Wanted {
    /// Session and header of a mirror copy.
    mirror: Option<(u32, Vec<u8>)>,
    /// What a resubmitted packet takes along.
    resubmit: Option<Vec<u8>>,
    digests: Vec<DigestMessage>,
}

impl Tna {
    pub fn new(program: &Program) -> Result<Tna, LoadError> {
        let block = |role| paths::block(program, role);
        let wish = |request: &ir::Request| match &*request.name {
            "mirror" => Ok(Wish::Mirror),
            "resubmit" => Ok(Wish::Resubmit),
            "digest" => Ok(Wish::Digest),
            _ => Err(LoadError::UnsupportedRequest(request.name.clone())),
        };
        let blocks = Blocks {
            ingress_parser: block("pipe0.ingress_parser")?,
            ingress: block("pipe0.ingress")?,
            ingress_deparser: block("pipe0.ingress_deparser")?,
            egress_parser: block("pipe0.egress_parser")?,
            egress: block("pipe0.egress")?,
            egress_deparser: block("pipe0.egress_deparser")?,
        };
        let metadata = Metadata::new(program);
        let accepts_parser_errors = metadata.ingress.reads_error(program, blocks.ingress);
        let wishes = program.requests.iter().map(wish).collect::<Result<_, _>>()?;
        Ok(Tna {
            ingress_blocks: [blocks.ingress_parser, blocks.ingress, blocks.ingress_deparser],
            egress_blocks: [blocks.egress_parser, blocks.egress, blocks.egress_deparser],
            blocks,
            metadata,
            wishes,
            accepts_parser_errors,
        })
    }

    /// Takes what the last deparser asked for.
    fn wanted(
        &self,
        engine: &Engine,
        machine: &mut Machine,
        run: &Run,
        context: &mut PacketContext,
    ) -> Wanted {
        let mut wanted = Wanted::default();
        for (request, values) in std::mem::take(&mut context.requests) {
            match self.wishes[request.index()] {
                Wish::Mirror => {
                    let session = values.first().map_or(0, Bits::low_u64) as u32;
                    wanted.mirror = Some((session, header_bytes(values.get(1..).unwrap_or(&[]))));
                }
                Wish::Resubmit => wanted.resubmit = Some(header_bytes(&values)),
                Wish::Digest => {
                    let asking = (run.packet, run.pass);
                    let program = &engine.program;
                    let message = paths::digest(program, machine, asking, request, values);
                    wanted.digests.push(message);
                }
            }
        }
        wanted
    }

    /// Whether the packet goes on behind its ingress parser.
    fn note_parser_error(&self, engine: &Engine, context: &mut PacketContext) -> bool {
        let flags = self.metadata.ingress.error_flags(&engine.program, context);
        self.metadata.ingress.parser_err.set(context, flags);
        self.accepts_parser_errors
    }
}

/// Values laid end to end, filled with zeros to whole bytes.
fn header_bytes(values: &[Bits]) -> Vec<u8> {
    let mut string = interpreter::bit_string::BitString::new();
    for value in values {
        string.push(value);
    }
    string.into_bytes()
}

impl Architecture for Tna {
    fn largest_port(&self) -> u32 {
        LARGEST_PORT
    }

    fn drop_slot(&self) -> Option<SlotId> {
        self.metadata.ingress.drop_ctl.slot()
    }

    fn stage_name(&self, block: usize) -> &'static str {
        let blocks = &self.blocks;
        match block {
            _ if block == blocks.ingress_parser => "ingress parser",
            _ if block == blocks.ingress => "ingress",
            _ if block == blocks.ingress_deparser => "ingress deparser",
            _ if block == blocks.egress_parser => "egress parser",
            _ if block == blocks.egress => "egress",
            _ if block == blocks.egress_deparser => "egress deparser",
            _ => "",
        }
    }

    fn set_defaults(&self, options: &mut DeviceOptions) {
        let traffic = &mut options.traffic_manager;
        if !traffic.ports.contains_key(&RECIRCULATION_PORT) {
            let port = PortOptions { loopback: true, ..traffic.default_port.clone() };
            traffic.ports.insert(RECIRCULATION_PORT, port);
        }
    }

    fn begin_ingress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        arrival: Arrival,
    ) -> Option<Pass> {
        let Arrival { reception, entrance, port, arrived_ps, bytes, parent, .. } = arrival;
        let waited_ps = machine.now_ps.saturating_sub(arrived_ps);
        let Some(pass_number) = reception.next_pass(machine.options.pass_limit) else {
            machine.drop_packet(DropReason::PassLimit, parent);
            return None;
        };
        let bytes = match entrance {
            // It brings what stands in front of it.
            Entrance::Resubmission => bytes,
            _ => {
                let mut memory = machine.copy_of(&ingress_prefix(port, arrived_ps));
                memory.extend_from_slice(&bytes);
                machine.recycle_bytes(bytes);
                memory
            }
        };
        let length = bytes.len().saturating_sub(INGRESS_PREFIX_BYTES);
        let received_bytes = u32::try_from(length).unwrap_or(u32::MAX);
        let context = engine.context(bytes);
        let node = || paths::ingress_step(Some(port), waited_ps);
        let cause = paths::cause(entrance);
        let number = reception.number;
        let run = Run {
            packet: number,
            pass_number,
            counted_bytes: received_bytes,
            pass: machine.begin_pass(number, pass_number, (cause, parent), node),
        };
        let packet = Traveller {
            reception,
            ingress_port: port,
            context,
            received_bytes,
            length_bytes: received_bytes,
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
        let mut prefix = EgressPrefix(&mut packet.context.packet);
        let queue = prefix.queue();
        let depth = machine.traffic.depth_packets(OutputPath::Port(port), queue);
        prefix.set_enqueued(port, depth, machine.now_ps / 1000);
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
        let (parent, queue) = (packet.parent, dequeued.queue);
        packet.time_to_queues_ps = machine.options.ingress_latency_ps;
        let departure = Departure {
            port,
            queue,
            dequeued_ps: machine.now_ps,
            time_to_wire_ps: engine.time_to_wire_ps(machine),
        };
        if packet.wishes.bypass_egress {
            let bytes = packet.context.packet.split_off(EGRESS_PREFIX_BYTES);
            engine.recycle(packet.context);
            machine.transmit(departure, packet.reception, bytes, parent);
            return None;
        }
        let Some(pass_number) = packet.reception.next_pass(machine.options.pass_limit) else {
            machine.drop_packet(DropReason::PassLimit, parent);
            return None;
        };
        let now_ns = machine.now_ps / 1000;
        let waited_ns = now_ns - dequeued.enqueued_ps / 1000;
        EgressPrefix(&mut packet.context.packet).set_dequeued(dequeued.depth_packets, waited_ns);
        let number = packet.reception.number;
        let node = || paths::queue_step("egress", port, queue);
        let run = Run {
            packet: number,
            pass_number,
            counted_bytes: packet.length_bytes,
            pass: machine.begin_pass(number, pass_number, (packet.cause, parent), node),
        };
        Some(Pass { half: Half::Egress(departure), run, packet, header_bytes: 0 })
    }

    fn ingress_blocks(&self) -> &[usize] {
        &self.ingress_blocks
    }

    fn egress_blocks(&self) -> &[usize] {
        &self.egress_blocks
    }

    fn after_block(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        mut pass: Pass,
        block: usize,
        outcome: &Outcome,
    ) -> Option<Pass> {
        let is_parser = [self.blocks.ingress_parser, self.blocks.egress_parser].contains(&block);
        let context = &mut pass.packet.context;
        match outcome {
            Outcome::Returned | Outcome::Exited => {}
            Outcome::Rejected(_) if is_parser => match pass.half {
                Half::Ingress if !self.note_parser_error(engine, context) => {
                    machine.drop_packet(DropReason::ParserError, pass.run.pass);
                    engine.recycle(pass.packet.context);
                    return None;
                }
                Half::Ingress => {}
                Half::Egress(_) => {
                    let flags = self.metadata.egress.error_flags(&engine.program, context);
                    self.metadata.egress.parser_err.set(context, flags);
                }
            },
            _ => return None,
        }
        if is_parser {
            let now_ns = machine.now_ps / 1000;
            let metadata = &self.metadata;
            match pass.half {
                Half::Ingress => metadata.ingress.global_tstamp.set(context, now_ns),
                Half::Egress(_) => metadata.egress.global_tstamp.set(context, now_ns),
            }
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
        match pass.half {
            Half::Ingress => self.after_ingress(engine, machine, view, &pass.run, pass.packet),
            Half::Egress(departure) => {
                self.after_egress(engine, machine, view, &pass.run, pass.packet, departure);
                Ok(())
            }
        }
    }

    fn at_egress(&self, packet: &Traveller) -> Option<EgressPacket> {
        let (prefix, bytes) = packet.context.packet.split_at_checked(EGRESS_PREFIX_BYTES)?;
        Some(EgressPacket { replica: metadata::replication_id(prefix), bytes: bytes.to_vec() })
    }

    fn straight(&self, _: &Program, _: u32) -> Result<Straight, String> {
        Err("all blocks as one unit are there for v1model only".to_string())
    }

    fn leave_straight(
        &self,
        engine: &mut Engine,
        _: &mut Machine,
        left: LeftStraight,
    ) -> Result<(), DeviceError> {
        // There is no such way, so no packet leaves it.
        engine.recycle(left.context);
        Ok(())
    }
}

impl Tna {
    /// What becomes of a packet after its ingress deparser.
    fn after_ingress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        view: &View,
        run: &Run,
        packet: Traveller,
    ) -> Result<(), DeviceError> {
        let Traveller { reception, ingress_port, mut context, epoch, time_to_queues_ps, .. } =
            packet;
        let pass = run.pass;
        let metadata = &self.metadata;
        let wanted = self.wanted(engine, machine, run, &mut context);
        let drop_ctl = metadata.ingress.drop_ctl.get(&context);
        let source = copies::Source {
            reception: &reception,
            ingress_port,
            pass,
            epoch: &epoch,
            time_to_queues_ps,
        };
        machine.statistics.digests += wanted.digests.len() as u64;
        machine.digests.extend(wanted.digests);

        if let Some((session, header)) = wanted.mirror.filter(|_| drop_ctl & NO_MIRRORING == 0) {
            let received = context.packet.split_at(INGRESS_PREFIX_BYTES.min(context.packet.len()));
            let received = received.1.to_vec();
            self.mirror(engine, machine, view, source, session, (&header, &received));
        }
        let is_for_cpu = metadata.tm.copy_to_cpu.get(&context) != 0 && drop_ctl & NO_CPU_COPY == 0;
        let cpu_port = machine.options.cpu_port.filter(|_| is_for_cpu);

        if drop_ctl & NO_PACKET == 0
            && let Some(header) = wanted.resubmit
        {
            machine.note(pass, || TraceNode::new("resubmit", ""));
            let mut bytes = std::mem::take(&mut context.packet);
            metadata::note_resubmission(&mut bytes, &header);
            engine.recycle(context);
            let length = bytes.len().saturating_sub(INGRESS_PREFIX_BYTES) as u64;
            let arrival = Arrival {
                reception,
                entrance: Entrance::Resubmission,
                port: ingress_port,
                arrived_ps: machine.now_ps,
                bytes,
                preserved: Vec::new(),
                parent: pass,
            };
            paths::send_back(engine, machine, OutputPath::Resubmission, length, arrival);
            return Ok(());
        }

        let mut bytes = machine.copy_of(&[]);
        context.append_outgoing(&mut bytes);
        let orders = metadata.tm.orders(&context);
        self.recycle(engine, machine, context);
        let mut copies = 0;
        if drop_ctl & NO_PACKET == 0 {
            if let Some(port) = orders.unicast {
                self.queue_copy(engine, machine, source, port, &orders, (0, true), &bytes);
                copies += 1;
            }
            for group in orders.groups.into_iter().filter(|group| *group != 0) {
                let of = |group| u64::from(group);
                machine.note(pass, || TraceNode::new("multicast", "").with("group", of(group)));
                copies += self.multicast(engine, machine, view, source, group, &orders, &bytes);
            }
        }
        if let Some(port) = cpu_port {
            self.queue_copy(engine, machine, source, port, &orders, (0, true), &bytes);
            copies += 1;
        }
        machine.recycle_bytes(bytes);
        if copies == 0 {
            let reason = match drop_ctl & NO_PACKET {
                0 => DropReason::NoDestination,
                _ => DropReason::DropControl,
            };
            machine.drop_packet(reason, pass);
        }
        Ok(())
    }

    /// Mirrors a packet behind its egress deparser, and drops or sends it.
    fn after_egress(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        view: &View,
        run: &Run,
        mut packet: Traveller,
        departure: Departure,
    ) {
        let context = &mut packet.context;
        let drop_ctl = self.metadata.egress.drop_ctl.get(context);
        let wanted = self.wanted(engine, machine, run, context);
        let mut bytes = machine.copy_of(&[]);
        context.append_outgoing(&mut bytes);
        self.recycle(engine, machine, packet.context);
        if let Some((session, header)) = wanted.mirror.filter(|_| drop_ctl & NO_MIRRORING == 0) {
            let source = copies::Source {
                reception: &packet.reception,
                ingress_port: packet.ingress_port,
                pass: run.pass,
                epoch: &packet.epoch,
                time_to_queues_ps: packet.time_to_queues_ps,
            };
            self.mirror(engine, machine, view, source, session, (&header, &bytes));
        }
        if drop_ctl & NO_PACKET != 0 {
            return machine.drop_packet(DropReason::DropControl, run.pass);
        }
        machine.transmit(departure, packet.reception, bytes, run.pass);
    }

    /// Takes the memory of a packet that is gone, to be used again.
    fn recycle(&self, engine: &mut Engine, machine: &mut Machine, mut context: PacketContext) {
        machine.recycle_bytes(std::mem::take(&mut context.packet));
        engine.recycle(context);
    }
}
