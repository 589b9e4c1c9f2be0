// SPDX-License-Identifier: Apache-2.0
//! The finish of v1model's passes: clones, resubmission, multicast, drops, recirculation and transmission after ingress
//! and after egress, in the order that the parent module documents. `copies` makes the copies.

use super::metadata::InstanceType;
use super::model::V1Model;
use crate::architectures::pass_boundaries::{self, ReturningPacket};
use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::ingress_source::IngressSource;
use crate::output::DeviceError;
use crate::packet::QueuedPacket;
use crate::pass::{Departure, PassInfo};
use crate::services::Services;
use interpreter::Outcome;

/// What the finish of an egress pass reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct EgressContext<'a> {
    pub view: &'a ConfigurationView,
    pub run: &'a PassInfo,
    pub departure: Departure,
}

impl V1Model {
    /// Finishes a pass after its ingress block.
    pub(super) fn after_ingress(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        run: &PassInfo,
        mut packet: Box<QueuedPacket>,
    ) -> Result<(), DeviceError> {
        let (metadata, blocks, pass) = (&self.metadata, &self.blocks, run.pass);
        let length = packet.received_bytes;
        let digests = self.take_requests(services, run, &mut packet);

        if let Some((session, list)) = self.requested_clone(services, view, &mut packet, pass) {
            let mut context = services.context(packet.context.packet.clone());
            let port = u64::from(packet.ingress_port);
            metadata.ingress_port.set(&mut context, port);
            let again = PassInfo { pass: None, ..*run };
            match services.run(blocks.parser, &mut context, view, &again)? {
                Outcome::Returned | Outcome::Exited | Outcome::Rejected(_) => {
                    context.requests.clear();
                    metadata.clear(&mut context);
                    for (slot, value) in self.preserved(services, &packet.context, list) {
                        context.set_slot(slot, &value);
                    }
                    let kind = InstanceType::IngressClone as u64;
                    metadata.instance_type.set(&mut context, kind);
                    let copy = QueuedPacket { context, length_bytes: length, ..(*packet).clone() };
                    self.clone_to_session(services, view, session, Box::new(copy));
                }
                _ => {}
            }
        }

        services.send_digests(digests);

        if let Some(list) = packet.requests.resubmit.take() {
            let preserved = self.preserved(services, &packet.context, list);
            let bytes = std::mem::take(&mut packet.context.packet);
            send_back(services, IngressSource::Resubmission, packet, bytes, preserved, run);
            return Ok(());
        }

        let group = metadata.mcast_grp.get(&packet.context) as u32;
        if group != 0 {
            pass_boundaries::note_multicast(services, group, pass);
            metadata.instance_type.set(&mut packet.context, InstanceType::Replicated as u64);
            self.multicast(services, view, &mut packet, group);
            services.recycle(packet.context);
            return Ok(());
        }

        let port = metadata.egress_spec.get(&packet.context) as u32;
        if port == self.drop_port {
            services.drop_packet(DropReason::IngressDrop, pass);
            services.recycle(packet.context);
            return Ok(());
        }
        metadata.instance_type.set(&mut packet.context, InstanceType::Normal as u64);
        pass_boundaries::to_queues(self, services, port, packet);
        Ok(())
    }

    /// Finishes a pass after its egress block; the packet's headers had `before_bytes` bytes before it.
    pub(super) fn after_egress(
        &self,
        services: &mut Services<'_>,
        egress: &EgressContext<'_>,
        mut packet: Box<QueuedPacket>,
        before_bytes: u32,
    ) -> Result<(), DeviceError> {
        let EgressContext { view, run, .. } = *egress;
        let (metadata, pass) = (&self.metadata, run.pass);
        let after_bytes = metadata.header_bytes(&packet.context);
        packet.length_bytes = (packet.length_bytes + after_bytes).saturating_sub(before_bytes);
        // BMv2 sends digests after ingress only.
        self.take_requests(services, run, &mut packet);

        if let Some((session, list)) = self.requested_clone(services, view, &mut packet, pass) {
            let mut copy = packet.clone();
            metadata.clear(&mut copy.context);
            for (slot, value) in self.preserved(services, &packet.context, list) {
                copy.context.set_slot(slot, &value);
            }
            metadata.instance_type.set(&mut copy.context, InstanceType::EgressClone as u64);
            self.clone_to_session(services, view, session, copy);
        }

        if metadata.egress_spec.get(&packet.context) as u32 == self.drop_port {
            services.drop_packet(DropReason::EgressDrop, pass);
            services.recycle(packet.context);
            return Ok(());
        }

        for block in self.blocks.compute.clone() {
            if !services.run_control(block, &mut packet.context, view, run)? {
                return Ok(());
            }
        }
        self.deparse(services, egress, packet)
    }

    /// Deparses a packet and transmits it, or recirculates it.
    pub(super) fn deparse(
        &self,
        services: &mut Services<'_>,
        egress: &EgressContext<'_>,
        mut packet: Box<QueuedPacket>,
    ) -> Result<(), DeviceError> {
        let EgressContext { view, run, departure } = *egress;
        if !services.run_control(self.blocks.deparser, &mut packet.context, view, run)? {
            return Ok(());
        }
        self.take_requests(services, run, &mut packet);
        let mut bytes = packet.context.outgoing_packet();
        if let Some(length) = packet.requests.truncate_bytes {
            bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        }

        if let Some(list) = packet.requests.recirculate.take() {
            let preserved = self.preserved(services, &packet.context, list);
            send_back(services, IngressSource::Recirculation, packet, bytes, preserved, run);
            return Ok(());
        }
        services.recycle(packet.context);
        services.transmit(departure, packet.reception, bytes, run.pass);
        Ok(())
    }
}

/// Sends bytes of a packet back to ingress with the values of its field list.
fn send_back(
    services: &mut Services<'_>,
    source: IngressSource,
    packet: Box<QueuedPacket>,
    bytes: Vec<u8>,
    preserved: Vec<(ir::SlotId, ir::Bits)>,
    run: &PassInfo,
) {
    let QueuedPacket { context, reception, ingress_port: port, .. } = *packet;
    services.recycle(context);
    let length_bytes = bytes.len() as u64;
    let pass = run.pass;
    let back = ReturningPacket { reception, port, bytes, length_bytes, preserved, pass };
    pass_boundaries::send_back(services, source, back);
}
