// SPDX-License-Identifier: Apache-2.0
//! What the packet replication engine of a device is told: multicast groups and clone sessions. Making
//! the copies is the device's work.

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
