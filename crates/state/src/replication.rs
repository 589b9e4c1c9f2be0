// SPDX-License-Identifier: Apache-2.0
//! What a device's fixed functions are told: multicast groups and clone sessions for its replication
//! engine, parameters of its custom CRCs. Making copies and checksums is the device's work.

use crate::{CrcParameters, CustomCrc};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One copy to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Replica {
    /// Port through which the copy leaves.
    pub egress_port: u32,
    /// What tells copies apart in egress (v1model's `egress_rid`).
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
    /// Copies are cut to so many bytes.
    pub packet_length_bytes: Option<u32>,
}

/// One version of what a device's fixed functions are told. The interpreter's side and the forwarding
/// side of the store each have one; they share the groups and sessions in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    pub(crate) multicast_groups: BTreeMap<u32, Arc<MulticastGroup>>,
    pub(crate) clone_sessions: BTreeMap<u32, Arc<CloneSession>>,
    crc16: CrcParameters,
    crc32: CrcParameters,
}

impl Default for Replication {
    /// No groups and sessions, standard CRCs.
    fn default() -> Replication {
        Replication {
            multicast_groups: BTreeMap::new(),
            clone_sessions: BTreeMap::new(),
            crc16: CrcParameters::CRC16,
            crc32: CrcParameters::CRC32,
        }
    }
}

impl Replication {
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

    /// The parameters of a custom CRC.
    pub fn crc_parameters(&self, crc: CustomCrc) -> CrcParameters {
        match crc {
            CustomCrc::Crc16 => self.crc16,
            CustomCrc::Crc32 => self.crc32,
        }
    }

    pub(crate) fn set_crc_parameters(&mut self, crc: CustomCrc, parameters: CrcParameters) {
        match crc {
            CustomCrc::Crc16 => self.crc16 = parameters,
            CustomCrc::Crc32 => self.crc32 = parameters,
        }
    }
}
