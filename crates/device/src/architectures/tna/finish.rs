// SPDX-License-Identifier: Apache-2.0
//! The finish of TNA's passes: mirroring, resubmission, multicast and transmission after a deparser, in the order that
//! the parent module documents. `copies` makes the copies.

use super::copies::CopySource;
use super::metadata::{self, INGRESS_PREFIX_BYTES};
use super::model::Tna;
use crate::architectures::pass_boundaries::{self, ReturningPacket};
use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::ingress_source::IngressSource;
use crate::packet::QueuedPacket;
use crate::pass::{Departure, PassInfo};
use crate::services::Services;
use interpreter::PacketContext;

/// Bits of `drop_ctl`.
const NO_PACKET: u64 = 1;
const NO_CPU_COPY: u64 = 2;
const NO_MIRRORING: u64 = 4;

impl Tna {
    /// Finishes a pass after its ingress deparser.
    pub(super) fn after_ingress(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        run: &PassInfo,
        packet: Box<QueuedPacket>,
    ) {
        let QueuedPacket { reception, ingress_port, mut context, epoch, time_to_queues_ps, .. } =
            *packet;
        let pass = run.pass;
        let metadata = &self.metadata;
        let requests = self.take_requests(services, run, &mut context);
        let drop_ctl = metadata.ingress.drop_ctl.get(&context);
        let source = CopySource {
            reception: &reception,
            ingress_port,
            pass,
            epoch: &epoch,
            time_to_queues_ps,
        };
        services.send_digests(requests.digests);

        if let Some((session, header)) = requests.mirror.filter(|_| drop_ctl & NO_MIRRORING == 0) {
            let received = context.packet.split_at(INGRESS_PREFIX_BYTES.min(context.packet.len()));
            let received = received.1.to_vec();
            self.mirror(services, view, source, session, (&header, &received));
        }
        let is_for_cpu = metadata.tm.copy_to_cpu.get(&context) != 0 && drop_ctl & NO_CPU_COPY == 0;
        let cpu_port = services.options().cpu_port.filter(|_| is_for_cpu);

        if drop_ctl & NO_PACKET == 0
            && let Some(header) = requests.resubmit
        {
            let mut bytes = std::mem::take(&mut context.packet);
            metadata::note_resubmission(&mut bytes, &header);
            services.recycle(context);
            let length_bytes = bytes.len().saturating_sub(INGRESS_PREFIX_BYTES) as u64;
            let (port, preserved) = (ingress_port, Vec::new());
            let back = ReturningPacket { reception, port, bytes, length_bytes, preserved, pass };
            return pass_boundaries::send_back(services, IngressSource::Resubmission, back);
        }

        let mut bytes = services.copy_of(&[]);
        context.append_outgoing(&mut bytes);
        let decision = metadata.tm.decision(&context);
        recycle(services, context);
        let mut copies = 0;
        if drop_ctl & NO_PACKET == 0 {
            if let Some(port) = decision.unicast {
                self.queue_copy(services, source, port, &decision, (0, true), &bytes);
                copies += 1;
            }
            for group in decision.groups.into_iter().filter(|group| *group != 0) {
                pass_boundaries::note_multicast(services, group, pass);
                copies += self.multicast(services, view, source, group, &decision, &bytes);
            }
        }
        if let Some(port) = cpu_port {
            self.queue_copy(services, source, port, &decision, (0, true), &bytes);
            copies += 1;
        }
        services.recycle_bytes(bytes);
        if copies == 0 {
            let reason = match drop_ctl & NO_PACKET {
                0 => DropReason::NoDestination,
                _ => DropReason::DropControl,
            };
            services.drop_packet(reason, pass);
        }
    }

    /// Finishes a pass after its egress deparser: mirrors the packet, then drops or transmits it.
    pub(super) fn after_egress(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        run: &PassInfo,
        mut packet: Box<QueuedPacket>,
        departure: Departure,
    ) {
        let context = &mut packet.context;
        let drop_ctl = self.metadata.egress.drop_ctl.get(context);
        let requests = self.take_requests(services, run, context);
        let mut bytes = services.copy_of(&[]);
        context.append_outgoing(&mut bytes);
        let QueuedPacket { reception, ingress_port, context, epoch, time_to_queues_ps, .. } =
            *packet;
        recycle(services, context);
        if let Some((session, header)) = requests.mirror.filter(|_| drop_ctl & NO_MIRRORING == 0) {
            let source = CopySource {
                reception: &reception,
                ingress_port,
                pass: run.pass,
                epoch: &epoch,
                time_to_queues_ps,
            };
            self.mirror(services, view, source, session, (&header, &bytes));
        }
        if drop_ctl & NO_PACKET != 0 {
            return services.drop_packet(DropReason::DropControl, run.pass);
        }
        services.transmit(departure, reception, bytes, run.pass);
    }
}

/// Keeps the memory of a finished packet for reuse.
fn recycle(services: &mut Services<'_>, mut context: PacketContext) {
    services.recycle_bytes(std::mem::take(&mut context.packet));
    services.recycle(context);
}
