// SPDX-License-Identifier: Apache-2.0
//! v1model as BMv2's `simple_switch` runs it: parser, checksum verification, ingress, queues,
//! egress, checksum computation, deparser; and how it handles clones, digests, resubmission,
//! multicast, drops and recirculation between them. Queues and wires are the traffic manager's.
//!
//! **After ingress**, in this order: the last `clone` is made, digests are sent, then the first of
//! these that applies: resubmit, multicast when `mcast_grp` is not 0, drop when `egress_spec` is
//! the drop port, queue for `egress_spec`. **After egress**: the last `clone` is made, drop when
//! `egress_spec` is the drop port, recirculate, send.
//!
//! A rejecting parser does not drop: ingress runs with `parser_error` set. A clone made in ingress
//! is the original packet, parsed again; one made in egress is the packet at the end
//! of egress, neither deparsed nor parsed. Clones, resubmitted and recirculated packets begin with
//! zero metadata, but for the fields of their field list: `ingress_port` too is 0 unless
//! preserved. A request (resubmit, recirculate) stays with the packet until it is done, so
//! `recirculate` called in ingress acts after egress. Where this differs from `simple_switch`:
//! every digest is sent, not only the last; `packet_length` in egress counts all headers added and
//! removed, not only those by `setValid` and `setInvalid`; a clone session's class of service is
//! the clone's priority, and its packet length cuts the clone; each port has 8 queues.

mod block_effects;
mod copies;
mod egress_ahead;
mod fast_path;
mod finish;
mod metadata;
mod model;
mod replicas;

use super::described_program::DescribedProgram;
use super::pass_boundaries::{self, IngressStart};
use crate::architecture::Architecture;
use crate::engine::BlockRunner;
use crate::fast_path::{FastPath, FastPathExit};
use crate::ingress_source::IngressSource;
use crate::options::DeviceOptions;
use crate::output::{DeviceError, LoadError};
use crate::packet::{Arrival, QueuedPacket};
use crate::pass::{EgressAhead, EmptyQueues, Gress, Half, Pass};
use crate::services::Services;
use crate::trace::Cause;
use crate::traffic_manager::Dequeued;
use interpreter::Outcome;
use ir::{Program, SlotId};
use metadata::InstanceType;
use model::V1Model;
use std::sync::Arc;

/// Binds the architecture to a program.
pub(super) fn instantiate(
    program: DescribedProgram<'_>,
    options: &DeviceOptions,
) -> Result<Arc<dyn Architecture>, LoadError> {
    let mut model = V1Model::new(program, options.drop_port)?;
    model.egress_runs_ahead = egress_ahead::is_possible(&model, program.program);
    Ok(Arc::new(model))
}

impl Architecture for V1Model {
    fn largest_port(&self) -> u32 {
        self.metadata.ingress_port.largest()
    }

    fn drop_slot(&self) -> Option<SlotId> {
        self.metadata.egress_spec.slot()
    }

    fn begin_ingress(&self, services: &mut Services<'_>, arrival: Arrival) -> Option<Pass> {
        let Arrival { reception, source, port, arrived_ps, bytes, preserved, parent, .. } = arrival;
        let pass_number = services.next_pass(&reception, parent)?;
        let received_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut context = services.context(bytes);
        for (slot, value) in preserved {
            context.set_slot(slot, &value);
        }
        let metadata = &self.metadata;
        let names_port = source.is_port();
        if names_port {
            metadata.ingress_port.set(&mut context, u64::from(port));
            metadata.ingress_global_timestamp.set(&mut context, services.timestamp());
        }
        let instance_type = match source {
            IngressSource::Resubmission => InstanceType::Resubmitted,
            IngressSource::Recirculation => InstanceType::Recirculated,
            _ => InstanceType::Normal,
        };
        metadata.instance_type.set(&mut context, instance_type as u64);
        metadata.packet_length.set(&mut context, u64::from(received_bytes));
        let at = IngressStart {
            reception,
            pass_number,
            source,
            port,
            names_port,
            arrived_ps,
            parent,
            context,
            received_bytes,
        };
        Some(pass_boundaries::begin_ingress(self, services, at))
    }

    fn enqueue(&self, services: &mut Services<'_>, port: u32, packet: Box<QueuedPacket>) {
        let mut packet = packet;
        let queue = self.metadata.priority.get(&packet.context) as u32;
        let depth = u64::from(services.queue_depth(port, queue));
        self.metadata.enq_timestamp.set(&mut packet.context, services.timestamp());
        self.metadata.enq_qdepth.set(&mut packet.context, depth);
        services.enqueue(port, queue, packet);
    }

    fn begin_egress(
        &self,
        services: &mut Services<'_>,
        port: u32,
        dequeued: Dequeued<Box<QueuedPacket>>,
    ) -> Option<Pass> {
        let Dequeued { item: mut packet, queue, enqueued_ps, depth_packets } = dequeued;
        let pass_number = services.next_pass(&packet.reception, packet.parent)?;
        let metadata = &self.metadata;
        let context = &mut packet.context;
        let now = services.timestamp();
        metadata.egress_global_timestamp.set(context, now);
        metadata.deq_timedelta.set(context, now - services.timestamp_of(enqueued_ps));
        metadata.deq_qdepth.set(context, u64::from(depth_packets));
        metadata.egress_port.set(context, u64::from(port));
        // Any port but the drop port; in nine bits the default wraps to 0.
        metadata.egress_spec.set(context, u64::from(self.drop_port) + 1);
        metadata.packet_length.set(context, u64::from(packet.length_bytes));
        let header_bytes = metadata.header_bytes(context);
        let info = (pass_number, packet.received_bytes);
        let mut pass = pass_boundaries::begin_egress(self, services, (port, queue), info, packet);
        pass.header_bytes = header_bytes;
        // Copies and steps of the trace belong to this pass.
        pass.packet.parent = pass.run.pass;
        pass.packet.cause = Cause::Queue;
        Some(pass)
    }

    fn blocks(&self, gress: Gress) -> &Arc<[usize]> {
        &self.pass_blocks[gress as usize]
    }

    fn after_block(&self, pass: &mut Pass, block: usize, outcome: &Outcome, _: u64) {
        let goes_on = match outcome {
            Outcome::Returned | Outcome::Exited => true,
            Outcome::Rejected(_) => block == self.blocks.parser,
            _ => false,
        };
        if !goes_on {
            pass.fail();
        } else if block == self.blocks.parser {
            pass.header_bytes = self.metadata.header_bytes(&pass.packet.context);
        }
    }

    fn finish(&self, services: &mut Services<'_>, pass: Pass) -> Result<(), DeviceError> {
        let Pass { half, run, mut packet, header_bytes, view, .. } = pass;
        let Some(view) = view else { return Ok(()) };
        match half {
            Half::Ingress => {
                let with_headers =
                    packet.received_bytes + self.metadata.header_bytes(&packet.context);
                packet.length_bytes = with_headers.saturating_sub(header_bytes);
                self.after_ingress(services, &view, &run, packet)
            }
            Half::Egress(departure) => {
                let egress = finish::EgressContext { view: &view, run: &run, departure };
                self.after_egress(services, &egress, packet, header_bytes)
            }
        }
    }

    fn egress_runs_ahead(&self) -> bool {
        self.egress_runs_ahead
    }

    fn run_egress_ahead(
        &self,
        runner: &mut BlockRunner,
        pass: &mut Pass,
        queues: EmptyQueues,
    ) -> Result<EgressAhead, DeviceError> {
        egress_ahead::run(self, runner, pass, queues)
    }

    fn fast_path(&self, program: &Program, min_queue_count: u32) -> Result<FastPath, String> {
        fast_path::describe(self, program, min_queue_count)
    }

    fn resume_after_exit(
        &self,
        services: &mut Services<'_>,
        left: FastPathExit,
    ) -> Result<(), DeviceError> {
        fast_path::leave(self, services, left)
    }
}
