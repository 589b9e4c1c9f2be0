// SPDX-License-Identifier: Apache-2.0
//! What a run shows beside the reports of its nodes.

use network::links::End;
use network::packet_fields::PacketField;
use std::collections::HashMap;

/// Packets that an expectation counts.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    /// The expectation's place in the list.
    pub(crate) expectation: usize,
    pub(crate) node: u32,
    pub(crate) fields: Vec<(PacketField, u128)>,
    pub(crate) times_ps: (u64, u64),
    pub(crate) count: u64,
}

/// The parts of a run that are equal in length, and the bytes that each direction of a link carried in them.
#[derive(Clone, Debug, Default)]
pub struct LinkUse {
    /// The length of a part in picoseconds.
    pub interval_ps: u64,
    /// Bytes by the sending end.
    pub bytes: HashMap<End, Vec<u64>>,
}

/// What a run shows beside the reports of its nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    pub(crate) counted: Vec<Counted>,
    pub(crate) link_use: LinkUse,
    /// Times at which links went down or came up, by one end.
    pub(crate) link_changes: Vec<(u64, End, bool)>,
}
