// SPDX-License-Identifier: Apache-2.0
//! Copies that Tofino's traffic manager makes of a packet: for a port, for the members of a multicast group,
//! for a mirror session. Which of them a packet gets is decided in `finish`.

use super::metadata::{EGRESS_PREFIX_BYTES, EgressPrefix, Orders};
use super::model::Tna;
use crate::architectures::pass_boundaries;
use crate::configuration_view::ConfigurationView;
use crate::packet::{PassEpoch, PendingRequests, QueuedPacket, Reception};
use crate::services::Services;
use crate::trace::{Cause, PassId};
use std::sync::Arc;

/// What a copy is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub reception: &'a Arc<Reception>,
    pub ingress_port: u32,
    /// The pass that made it.
    pub pass: Option<PassId>,
    pub epoch: &'a Arc<PassEpoch>,
    /// From now to the queues.
    pub time_to_queues_ps: u64,
}

impl Tna {
    /// Queues a copy with a replication id, perhaps the first one with it.
    pub(super) fn queue_copy(
        &self,
        services: &mut Services<'_>,
        source: Source<'_>,
        port: u32,
        orders: &Orders,
        (replication_id, is_first): (u32, bool),
        bytes: &[u8],
    ) {
        let mut memory = services.copy_of(&[0; EGRESS_PREFIX_BYTES]);
        memory.extend_from_slice(bytes);
        let length_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut prefix = EgressPrefix(&mut memory);
        prefix.set_copy(orders.queue, orders.class, replication_id, is_first, length_bytes);
        let bypass_egress = orders.bypass_egress;
        let packet = Box::new(QueuedPacket {
            reception: source.reception.clone(),
            ingress_port: source.ingress_port,
            context: services.context(memory),
            received_bytes: length_bytes,
            length_bytes,
            requests: PendingRequests { bypass_egress, ..PendingRequests::default() },
            cause: orders.cause,
            parent: source.pass,
            epoch: source.epoch.clone(),
            time_to_queues_ps: source.time_to_queues_ps,
        });
        pass_boundaries::to_queues(self, services, port, packet);
    }

    /// Queues copies for a multicast group, in its order; how many.
    pub(super) fn multicast(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        source: Source<'_>,
        group: u32,
        orders: &Orders,
        bytes: &[u8],
    ) -> usize {
        let orders = Orders { cause: Cause::Replica, ..*orders };
        let exclusions = view.replication().exclusions();
        let mut seen = Vec::new();
        let mut copies = 0;
        for replica in pass_boundaries::members(view, group) {
            if exclusions.leave_out(*replica, orders.exclusion) {
                continue;
            }
            copies += 1;
            let is_first = !seen.contains(&replica.instance);
            seen.push(replica.instance);
            services.count_replica();
            let copy = (replica.instance, is_first);
            self.queue_copy(services, source, replica.egress_port, &orders, copy, bytes);
        }
        copies
    }

    /// Queues the copies of a mirror session: a header, then the packet.
    pub(super) fn mirror(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        source: Source<'_>,
        session: u32,
        (header, packet): (&[u8], &[u8]),
    ) {
        let found = pass_boundaries::clone_session(services, view, session, "mirror", source.pass);
        let Some(config) = found else { return };
        services.count_clone();
        let limit = config.packet_length_bytes.filter(|length| *length > 0);
        let kept = limit.map_or(packet.len(), |limit| packet.len().min(limit as usize));
        let bytes = [header, &packet[..kept]].concat();
        let orders =
            Orders { queue: config.class_of_service, cause: Cause::Clone, ..Orders::default() };
        if let Some(group) = config.multicast_group {
            self.multicast(services, view, source, group, &orders, &bytes);
        }
        for replica in &config.replicas {
            let copy = (replica.instance, true);
            self.queue_copy(services, source, replica.egress_port, &orders, copy, &bytes);
        }
    }
}
