// SPDX-License-Identifier: Apache-2.0
//! Copies that v1model makes of a packet: those of a multicast group and those of a clone session. When
//! a packet is copied is the parent module's matter.

use super::V1Model;
use crate::architecture::paths;
use crate::engine::Engine;
use crate::machine::Machine;
use crate::packet::{Traveller, Wishes};
use crate::statistics::DropReason;
use crate::trace::{Cause, PassId};
use crate::view::View;
use interpreter::trace::TraceNode;

impl V1Model {
    /// Copies for a multicast group, queued in the order of the group.
    pub(super) fn multicast(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        view: &View,
        packet: &mut Traveller,
        group: u32,
    ) {
        // BMv2 clears a copy's wishes but keeps a truncation with the packet.
        packet.wishes =
            Wishes { truncate_bytes: packet.wishes.truncate_bytes, ..Wishes::default() };
        let replicas =
            view.replication().multicast_group(group).map_or(&[][..], |group| &group.replicas);
        packet.cause = Cause::Replica;
        if replicas.is_empty() {
            machine.drop_packet(DropReason::NoReplicas, packet.parent);
        }
        for replica in replicas {
            machine.statistics.replicated += 1;
            self.metadata.egress_rid.set(&mut packet.context, u64::from(replica.instance));
            paths::to_queues(self, engine, machine, replica.egress_port, packet.clone());
        }
    }

    /// Queues the copies of a clone session.
    pub(super) fn clone_to_session(
        &self,
        engine: &mut Engine,
        machine: &mut Machine,
        view: &View,
        session: u32,
        mut copy: Traveller,
    ) {
        let Some(config) = view.replication().clone_session(session) else { return };
        machine.statistics.cloned += 1;
        copy.cause = Cause::Clone;
        copy.wishes = Wishes {
            truncate_bytes: config.packet_length_bytes.filter(|length| *length > 0).map(u64::from),
            ..Wishes::default()
        };
        if config.class_of_service != 0 {
            let class = u64::from(config.class_of_service);
            self.metadata.priority.set(&mut copy.context, class);
        }
        if let Some(group) = config.multicast_group {
            self.multicast(engine, machine, view, &mut copy, group);
        }
        for replica in &config.replicas {
            if replica.instance != 0 {
                self.metadata.egress_rid.set(&mut copy.context, u64::from(replica.instance));
            }
            paths::to_queues(self, engine, machine, replica.egress_port, copy.clone());
        }
    }

    /// A session to clone to, if the packet asked for one and it exists.
    pub(super) fn wanted_clone(
        &self,
        machine: &mut Machine,
        view: &View,
        packet: &mut Traveller,
        pass: Option<PassId>,
    ) -> Option<(u32, Option<u32>)> {
        let (session, list) = packet.wishes.clone.take()?;
        if view.replication().clone_session(session).is_none() {
            machine.drop_packet(DropReason::NoCloneSession, pass);
            return None;
        }
        machine.note(pass, || TraceNode::new("clone", "").with("session", u64::from(session)));
        Some((session, list))
    }
}
