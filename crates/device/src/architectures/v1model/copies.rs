// SPDX-License-Identifier: Apache-2.0
//! Copies that v1model makes of a packet: for a multicast group or a clone session. `finish` decides when.

use super::model::V1Model;
use crate::architectures::pass_boundaries;
use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::packet::{PendingRequests, QueuedPacket};
use crate::services::Services;
use crate::trace::{Cause, PassId};

impl V1Model {
    /// Queues the copies of a multicast group in the group's order.
    pub(super) fn multicast(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        packet: &mut Box<QueuedPacket>,
        group: u32,
    ) {
        // BMv2 clears a copy's requests but keeps a truncation with the packet.
        let truncate_bytes = packet.requests.truncate_bytes;
        packet.requests = PendingRequests { truncate_bytes, ..PendingRequests::default() };
        let replicas = pass_boundaries::members(view, group);
        packet.cause = Cause::Replica;
        if replicas.is_empty() {
            services.drop_packet(DropReason::NoReplicas, packet.parent);
        }
        for replica in replicas {
            services.count_replica();
            self.metadata.egress_rid.set(&mut packet.context, u64::from(replica.instance));
            pass_boundaries::to_queues(self, services, replica.egress_port, packet.clone());
        }
    }

    /// Queues the copies of a clone session.
    pub(super) fn clone_to_session(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        session: u32,
        mut copy: Box<QueuedPacket>,
    ) {
        let Some(config) = view.replication().clone_session(session) else { return };
        services.count_clone();
        copy.cause = Cause::Clone;
        copy.requests = PendingRequests {
            truncate_bytes: config.packet_length_bytes.filter(|length| *length > 0).map(u64::from),
            ..PendingRequests::default()
        };
        if config.class_of_service != 0 {
            let class = u64::from(config.class_of_service);
            self.metadata.priority.set(&mut copy.context, class);
        }
        if let Some(group) = config.multicast_group {
            self.multicast(services, view, &mut copy, group);
        }
        for replica in &config.replicas {
            if replica.instance != 0 {
                self.metadata.egress_rid.set(&mut copy.context, u64::from(replica.instance));
            }
            pass_boundaries::to_queues(self, services, replica.egress_port, copy.clone());
        }
    }

    /// Takes the packet's clone request: session and field list. `None` if there is no request or no such session.
    pub(super) fn requested_clone(
        &self,
        services: &mut Services<'_>,
        view: &ConfigurationView,
        packet: &mut QueuedPacket,
        pass: Option<PassId>,
    ) -> Option<(u32, Option<u32>)> {
        let (session, list) = packet.requests.clone.take()?;
        pass_boundaries::clone_session(services, view, session, "clone", pass)?;
        Some((session, list))
    }
}
