// SPDX-License-Identifier: Apache-2.0
//! `Replication`: the configuration of a device's fixed functions (multicast groups, clone sessions and exclusions of
//! the replication engine, CRCs of calculations).

use arithmetic::crc::Crc;
use ir::{CalculationId, Program};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One copy of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Replica {
    /// Port through which the copy leaves.
    pub egress_port: u32,
    /// The replication id in egress (v1model's `egress_rid`).
    pub instance: u32,
}

/// Copies made of a packet sent to a multicast group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MulticastGroup {
    /// Copies in the order in which they are made.
    pub replicas: Vec<Replica>,
    /// The control plane's own bytes, handed back on reading.
    pub metadata: Vec<u8>,
}

/// Copies made of a cloned packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// Copies in the order in which they are made.
    pub replicas: Vec<Replica>,
    /// Multicast group whose copies are made as well.
    pub multicast_group: Option<u32>,
    /// Class of service of the copies.
    pub class_of_service: u32,
    /// Length to which copies are truncated.
    pub packet_length_bytes: Option<u32>,
}

/// Pruning of copies of a multicast group by the exclusion ids of a packet, at two levels as in Tofino.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusions {
    /// By replication id: copies with it are left out for packets with this exclusion id (level 1).
    pub(crate) nodes: BTreeMap<u32, u32>,
    /// By exclusion id: to these ports no copy goes that has the packet's own replication id (level 2).
    pub(crate) ports: BTreeMap<u32, Vec<u32>>,
}

impl Exclusions {
    /// Exclusion ids of level 1 by replication id.
    pub fn nodes(&self) -> impl Iterator<Item = (u32, u32)> {
        self.nodes.iter().map(|(&instance, &exclusion)| (instance, exclusion))
    }

    /// Ports left out by exclusion id of level 2.
    pub fn ports(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.ports.iter().map(|(&exclusion, ports)| (exclusion, &**ports))
    }

    /// Returns whether a copy is pruned. The packet has a replication id and an exclusion id for each level.
    pub fn leave_out(&self, copy: Replica, packet: PacketExclusion) -> bool {
        let PacketExclusion { replication_id, level_1, level_2 } = packet;
        self.nodes.get(&copy.instance) == Some(&level_1)
            || copy.instance == replication_id
                && self.ports.get(&level_2).is_some_and(|it| it.contains(&copy.egress_port))
    }
}

/// The exclusion ids of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketExclusion {
    /// Level 2 applies to copies with this id.
    pub replication_id: u32,
    /// Exclusion id of level 1.
    pub level_1: u32,
    /// Exclusion id of level 2.
    pub level_2: u32,
}

/// One version of the configuration of a device's fixed functions. `Configuration` and `ForwardingState` each have
/// one and share its groups and sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replication {
    pub(crate) multicast_groups: BTreeMap<u32, Arc<MulticastGroup>>,
    pub(crate) clone_sessions: BTreeMap<u32, Arc<CloneSession>>,
    pub(crate) exclusions: Arc<Exclusions>,
    /// One a calculation of the program.
    pub(crate) crcs: Vec<Crc>,
}

impl Replication {
    /// No groups and sessions, CRCs as the program has them.
    pub(crate) fn of(program: &Program) -> Replication {
        let crc = |calculation: &ir::Calculation| Crc::new(calculation.parameters);
        let crcs = program.calculations.iter().map(crc).collect();
        Replication { crcs, ..Replication::default() }
    }

    /// A multicast group.
    pub fn multicast_group(&self, group: u32) -> Option<&MulticastGroup> {
        self.multicast_groups.get(&group).map(|content| &**content)
    }

    /// Multicast groups by number.
    pub fn multicast_groups(&self) -> impl Iterator<Item = (u32, &MulticastGroup)> {
        self.multicast_groups.iter().map(|(&group, content)| (group, &**content))
    }

    /// A clone session.
    pub fn clone_session(&self, session: u32) -> Option<&CloneSession> {
        self.clone_sessions.get(&session).map(|content| &**content)
    }

    /// Clone sessions by number.
    pub fn clone_sessions(&self) -> impl Iterator<Item = (u32, &CloneSession)> {
        self.clone_sessions.iter().map(|(&session, content)| (session, &**content))
    }

    /// Which copies are left out.
    pub fn exclusions(&self) -> &Exclusions {
        &self.exclusions
    }

    /// A calculation's CRC as it is now.
    pub fn crc(&self, calculation: CalculationId) -> Option<&Crc> {
        self.crcs.get(calculation.index())
    }

    pub(crate) fn set_crc(&mut self, calculation: CalculationId, crc: Crc) {
        if let Some(set) = self.crcs.get_mut(calculation.index()) {
            *set = crc;
        }
    }
}
