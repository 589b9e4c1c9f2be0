// SPDX-License-Identifier: Apache-2.0
//! One pipe of Tofino 1: ingress parser, ingress, ingress deparser, traffic manager, egress parser, egress,
//! egress deparser; and how it handles mirrored, resubmitted, multicast and dropped packets between them.
//! Only bytes go from ingress to egress. Queues and wires are the traffic manager's.
//!
//! **Prefix of a packet**: the ingress parser reads 64 bits of intrinsic metadata and 64 bits of port metadata (zero)
//! before the packet; a resubmission replaces the port metadata by its header, in the highest bits. The egress parser
//! reads 27 bytes of intrinsic metadata. The device drops a packet whose ingress parser ends with an error, unless the
//! ingress control reads `parser_err`; in egress such a packet continues.
//!
//! **After ingress**, in this order: digests are sent; the last `Mirror.emit` copies the received packet,
//! unless `drop_ctl` has bit 2; then, unless `drop_ctl` has bit 0, the last `Resubmit.emit` sends the received packet
//! through ingress again, or else copies go to the traffic manager: one to `ucast_egress_port` if the program set it,
//! those of `mcast_grp_a`, those of `mcast_grp_b`; and with `copy_to_cpu`, unless `drop_ctl` has
//! bit 1, one to the device's CPU port. Copies with `bypass_egress` skip egress. **After egress**: the
//! last `Mirror.emit` copies the deparsed packet, unless `drop_ctl` has bit 2; with bit 0 the packet is dropped.
//!
//! A mirror session is a clone session of the control plane: its class of service is the queue, its packet
//! length truncates the mirrored packet, the mirror header not counted. Queue depths count packets. Exclusion ids
//! prune copies of groups as [`state::Exclusions`] says. Lengths do not include the frame check sequence. Port 68 is
//! in loopback, unless the device file configures it otherwise.

mod copies;
mod finish;
mod metadata;
mod model;

use super::described_program::DescribedProgram;
use super::pass_boundaries::{self, IngressStart};
use crate::architecture::Architecture;
use crate::drop_reason::DropReason;
use crate::ingress_source::IngressSource;
use crate::options::{DeviceOptions, PortOptions};
use crate::output::{DeviceError, LoadError};
use crate::packet::{Arrival, QueuedPacket};
use crate::pass::{Gress, Half, Pass};
use crate::services::Services;
use crate::tap::EgressPacket;
use crate::traffic_manager::Dequeued;
use interpreter::Outcome;
use ir::SlotId;
use metadata::{EGRESS_PREFIX_BYTES, EgressPrefix, INGRESS_PREFIX_BYTES, ingress_prefix};
use model::Tna;
use std::sync::Arc;

/// Binds the architecture to a program.
pub(super) fn instantiate(
    program: DescribedProgram<'_>,
    _: &DeviceOptions,
) -> Result<Arc<dyn Architecture>, LoadError> {
    Ok(Arc::new(Tna::new(program)?))
}

impl Architecture for Tna {
    fn largest_port(&self) -> u32 {
        self.ports.largest()
    }

    fn drop_slot(&self) -> Option<SlotId> {
        self.metadata.ingress.drop_ctl.slot()
    }

    fn set_defaults(&self, options: &mut DeviceOptions) {
        let traffic = &mut options.traffic_manager;
        let Some(port) = self.ports.recirculation else { return };
        let loopback = || PortOptions { loopback: true, ..traffic.default_port.clone() };
        traffic.ports.entry(port).or_insert_with(loopback);
    }

    fn begin_ingress(&self, services: &mut Services<'_>, arrival: Arrival) -> Option<Pass> {
        let Arrival { reception, source, port, arrived_ps, bytes, parent, .. } = arrival;
        let pass_number = services.next_pass(&reception, parent)?;
        let bytes = match source {
            // Its bytes have the prefix already.
            IngressSource::Resubmission => bytes,
            _ => {
                let mut memory = services.copy_of(&ingress_prefix(port, arrived_ps));
                memory.extend_from_slice(&bytes);
                services.recycle_bytes(bytes);
                memory
            }
        };
        let length = bytes.len().saturating_sub(INGRESS_PREFIX_BYTES);
        let at = IngressStart {
            reception,
            pass_number,
            source,
            port,
            names_port: true,
            arrived_ps,
            parent,
            context: services.context(bytes),
            received_bytes: u32::try_from(length).unwrap_or(u32::MAX),
        };
        Some(pass_boundaries::begin_ingress(self, services, at))
    }

    fn enqueue(&self, services: &mut Services<'_>, port: u32, packet: Box<QueuedPacket>) {
        let mut packet = packet;
        let mut prefix = EgressPrefix(&mut packet.context.packet);
        let queue = prefix.queue();
        prefix.set_enqueued(port, services.queue_depth(port, queue), services.now_ps() / 1000);
        services.enqueue(port, queue, packet);
    }

    fn begin_egress(
        &self,
        services: &mut Services<'_>,
        port: u32,
        dequeued: Dequeued<Box<QueuedPacket>>,
    ) -> Option<Pass> {
        let Dequeued { item: mut packet, queue, enqueued_ps, depth_packets } = dequeued;
        if packet.requests.bypass_egress {
            let QueuedPacket { mut context, reception, parent, .. } = *packet;
            let bytes = context.packet.split_off(EGRESS_PREFIX_BYTES);
            services.recycle(context);
            let departure = services.departure(port, queue);
            services.transmit(departure, reception, bytes, parent);
            return None;
        }
        let pass_number = services.next_pass(&packet.reception, packet.parent)?;
        let waited_ns = services.now_ps() / 1000 - enqueued_ps / 1000;
        EgressPrefix(&mut packet.context.packet).set_dequeued(depth_packets, waited_ns);
        let info = (pass_number, packet.length_bytes);
        Some(pass_boundaries::begin_egress(self, services, (port, queue), info, packet))
    }

    fn blocks(&self, gress: Gress) -> &Arc<[usize]> {
        &self.pass_blocks[gress as usize]
    }

    fn after_block(&self, pass: &mut Pass, block: usize, outcome: &Outcome, now_ps: u64) {
        let is_parser = self.parsers.contains(&block);
        match outcome {
            Outcome::Returned | Outcome::Exited => {}
            Outcome::Rejected(_) if is_parser => {
                self.note_parser_error(pass);
                if pass.gress() == Gress::Ingress && !self.accepts_parser_errors {
                    return pass.end(DropReason::ParserError);
                }
            }
            _ => return pass.fail(),
        }
        if is_parser {
            let (metadata, now_ns) = (&self.metadata, now_ps / 1000);
            let context = &mut pass.packet.context;
            match pass.half {
                Half::Ingress => metadata.ingress.global_tstamp.set(context, now_ns),
                Half::Egress(_) => metadata.egress.global_tstamp.set(context, now_ns),
            }
        }
    }

    fn finish(&self, services: &mut Services<'_>, pass: Pass) -> Result<(), DeviceError> {
        let Pass { half, run, packet, view, .. } = pass;
        let Some(view) = view else { return Ok(()) };
        match half {
            Half::Ingress => self.after_ingress(services, &view, &run, packet),
            Half::Egress(departure) => {
                self.after_egress(services, &view, &run, packet, departure);
            }
        }
        Ok(())
    }

    fn at_egress(&self, packet: &QueuedPacket) -> Option<EgressPacket> {
        let (prefix, bytes) = packet.context.packet.split_at_checked(EGRESS_PREFIX_BYTES)?;
        Some(EgressPacket { replica: metadata::replication_id(prefix), bytes: bytes.to_vec() })
    }
}
