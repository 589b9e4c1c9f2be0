// SPDX-License-Identifier: Apache-2.0
//! Traffic for measurements: flows that access given cells, and packets on ports at line rate, with the distributions of the paper's
//! artifact (MP5 §4.3) and others; and a reader for the artifact's files.

pub mod csv;
mod flows;
mod packets;
mod web_search;

pub use flows::{Flows, Sharing};
pub use packets::{PacketOptions, Pattern, Sizes, packets};
pub use web_search::{WebSearch, web_search};

use crate::machine::outcome::Arrival;
use crate::synthetic::{Packet, Program, Step};
use crate::work::{Access, Group};

/// A packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficPacket {
    /// The cycle in which it arrives.
    pub cycle: u64,
    /// The port.
    pub port: u32,
    /// Its length in bytes.
    pub bytes: u32,
    /// Its flow, from 0; nothing if it accesses no cell.
    pub flow: Option<u32>,
}

/// The size of the smallest packet: one cycle of a port that has a pipeline of its own.
pub const MIN_PACKET_BYTES: u32 = 64;

/// Makes the synthetic program whose packets access the cells of their flows: an array of `cells` cells in each stage that a flow
/// uses. Its last flow accesses nothing.
pub fn program(stages: usize, cells: u32, flows: &[Vec<(usize, u32)>]) -> Program {
    let mut used: Vec<usize> = flows.iter().flatten().map(|(stage, _)| *stage).collect();
    used.sort_unstable();
    used.dedup();
    let groups =
        used.iter().map(|stage| Group { name: format!("array{stage}"), stage: *stage, cells });
    let groups: Vec<Group> = groups.collect();
    let mut steps: Vec<Vec<Step>> = flows
        .iter()
        .map(|flow| {
            let mut flow = flow.clone();
            flow.sort_unstable();
            flow.into_iter()
                .map(|(stage, cell)| {
                    let group = used.binary_search(&stage).unwrap_or_default() as u32;
                    Step::plain(Access { group, cell })
                })
                .collect()
        })
        .collect();
    steps.push(Vec::new());
    Program { stages, groups, flows: steps }
}

/// The packets of traffic as arrivals for [`program`], whose last flow is `none`.
pub fn arrivals(packets: &[TrafficPacket], none: u32) -> Vec<Arrival<Packet>> {
    let mut arrivals: Vec<Arrival<Packet>> = packets
        .iter()
        .map(|packet| Arrival {
            cycle: packet.cycle,
            port: packet.port,
            packet: Packet::new(0, packet.flow.unwrap_or(none)),
        })
        .collect();
    arrivals.sort_by_key(|arrival| (arrival.cycle, arrival.port));
    for (id, arrival) in (0..).zip(&mut arrivals) {
        arrival.packet = Packet::new(id, arrival.packet.flow);
    }
    arrivals
}
