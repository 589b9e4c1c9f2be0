// SPDX-License-Identifier: Apache-2.0
//! Copies that Tofino's traffic manager makes of a packet: for a port, a multicast group or a mirror session.
//! `finish` decides which copies a packet gets.

use super::metadata::{EGRESS_PREFIX_BYTES, EgressPrefix, ForwardingDecision};
use super::model::Tna;
use crate::architectures::pass_boundaries;
use crate::configuration_view::ConfigurationView;
use crate::packet::{PassEpoch, PendingRequests, QueuedPacket, Reception};
use crate::services::Services;
use crate::trace::{Cause, PassId};
use std::sync::Arc;

/// The packet that copies are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopySource<'a> {
    pub reception: &'a Arc<Reception>,
    pub ingress_port: u32,
    /// The pass that made it.
    pub pass: Option<PassId>,
    pub epoch: &'a Arc<PassEpoch>,
    /// Time from now until the copy reaches its queue, in picoseconds.
    pub time_to_queues_ps: u64,
}

impl Tna {
    /// Queues a copy with a replication id; `is_first` marks the first copy with this id.
    pub(super) fn queue_copy(
        &self,
        services: &mut Services<'_>,
        source: CopySource<'_>,
        port: u32,
        decision: &ForwardingDecision,
        (replication_id, is_first): (u32, bool),
        bytes: &[u8],
    ) {
        let mut memory = services.copy_of(&[0; EGRESS_PREFIX_BYTES]);
        memory.extend_from_slice(bytes);
        let length_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut prefix = EgressPrefix(&mut memory);
        prefix.set_copy(decision.queue, decision.class, replication_id, is_first, length_bytes);
        let bypass_egress = decision.bypass_egress;
        let packet = Box::new(QueuedPacket {
            reception: source.reception.clone(),
            ingress_port: source.ingress_port,
            context: services.context(memory),
            received_bytes: length_bytes,
            length_bytes,
            requests: PendingRequests { bypass_egress, ..PendingRequests::default() },
            cause: decision.cause,
            parent: source.pass,
            epoch: source.epoch.clone(),
            time_to_queues_ps: source.time_to_queues_ps,
        });
        pass_boundaries::to_queues(self, services, port, packet);
    }

    /// Queues the copies of a multicast group in the group's order. Returns their number.
    pub(super) fn multicast(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        source: CopySource<'_>,
        group: u32,
        decision: &ForwardingDecision,
        bytes: &[u8],
    ) -> usize {
        let decision = ForwardingDecision { cause: Cause::Replica, ..*decision };
        let exclusions = view.replication().exclusions();
        let mut seen = Vec::new();
        let mut copies = 0;
        for replica in pass_boundaries::members(view, group) {
            if exclusions.leave_out(*replica, decision.exclusion) {
                continue;
            }
            copies += 1;
            let is_first = !seen.contains(&replica.instance);
            seen.push(replica.instance);
            services.count_replica();
            let copy = (replica.instance, is_first);
            self.queue_copy(services, source, replica.egress_port, &decision, copy, bytes);
        }
        copies
    }

    /// Queues the copies of a mirror session: the mirror header followed by the packet.
    pub(super) fn mirror(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        source: CopySource<'_>,
        session: u32,
        (header, packet): (&[u8], &[u8]),
    ) {
        let found = pass_boundaries::clone_session(services, view, session, "mirror", source.pass);
        let Some(config) = found else { return };
        services.count_clone();
        let limit = config.packet_length_bytes.filter(|length| *length > 0);
        let kept = limit.map_or(packet.len(), |limit| packet.len().min(limit as usize));
        let bytes = [header, &packet[..kept]].concat();
        let decision = ForwardingDecision {
            queue: config.class_of_service,
            cause: Cause::Clone,
            ..ForwardingDecision::default()
        };
        if let Some(group) = config.multicast_group {
            self.multicast(services, view, source, group, &decision, &bytes);
        }
        for replica in &config.replicas {
            let copy = (replica.instance, true);
            self.queue_copy(services, source, replica.egress_port, &decision, copy, &bytes);
        }
    }
}
