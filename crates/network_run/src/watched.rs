// SPDX-License-Identifier: Apache-2.0
//! What a run shows beside the reports of its nodes.

use crate::timeline::TimeLine;
use network::packet_fields::PacketField;

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

/// What a run shows beside the reports of its nodes.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) counted: Vec<Counted>,
    /// The time line, if the user wants one.
    pub(crate) timeline: Option<Box<TimeLine>>,
}
