// SPDX-License-Identifier: Apache-2.0
//! [`TimeLine`]: records a run for people to look at, in bounded memory. Sums over time of each port and flow cover the
//! whole run; events of single frames are kept within a window and a budget. `page` writes what was recorded as HTML.

mod activities;
mod events;
mod fields;
mod packets;
mod page;
mod port;
mod recorder;
mod series;

use activities::Activities;
pub use activities::{Activity, ActivityKind};
use events::Events;
use fields::FlowNumbers;
use network::links::End;
use network_file::model::Network;
use packets::Packets;
pub(crate) use page::FlowNames;
use port::PortSeries;
use series::{Scale, Series};
use std::collections::VecDeque;

/// The most events of single frames in one time line.
pub const MAX_EVENTS: usize = 1_000_000;
/// The most buckets of all ports together.
const MAX_PORT_BUCKETS: usize = 1 << 19;
/// The most buckets of all flows together.
const MAX_FLOW_BUCKETS: usize = 1 << 20;

/// Which events of single frames a time line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first time, in picoseconds.
    pub from_ps: u64,
    /// The last time.
    pub to_ps: u64,
}

impl Default for Window {
    fn default() -> Window {
        Window::WHOLE
    }
}

impl Window {
    /// The whole run.
    pub const WHOLE: Window = Window { from_ps: 0, to_ps: u64::MAX };
}

/// A change that is neither of a frame nor of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) time_ps: u64,
    /// The controller, or `None` for a link.
    pub(crate) controller: Option<String>,
    /// The node that it is about.
    pub(crate) node: Option<u32>,
    pub(crate) text: String,
}

/// The most remarks; later ones are counted.
const MAX_REMARKS: usize = 50_000;

/// The time in which a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outage {
    /// The number of a port of the link.
    pub(crate) port: u32,
    pub(crate) from_ps: u64,
    /// `None`: until the end of the run.
    pub(crate) to_ps: Option<u64>,
}

/// A port at the end of a link.
#[derive(Debug, Default)]
struct Port {
    rate_bps: Option<u64>,
    overhead_bytes: u64,
    series: PortSeries,
    /// Frames that left and have not arrived: when they left, and their events.
    flying: VecDeque<(u64, u32)>,
    /// The last frames that arrived: when, and what is known of them.
    arrived: VecDeque<(u64, packets::Known)>,
    /// Departures of packets whose arrival at the node is known.
    leaving: VecDeque<(u64, u32)>,
}

/// A flow: what the receiving hosts got.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    /// Bytes over time; empty if there was no room.
    pub(crate) series: Series<u64>,
}

/// Records a run.
#[derive(Debug)]
pub struct TimeLine {
    scale: Scale,
    ports: Vec<Port>,
    /// The numbers of the ports of each node.
    ports_of: Vec<Vec<(u32, u32)>>,
    switches: u32,
    /// What devices have of packets, by node.
    packets: Vec<Packets>,
    flow_numbers: FlowNumbers,
    flows: Vec<Flow>,
    flow_buckets: usize,
    events: Events,
    remarks: Vec<Remark>,
    omitted_remarks: u64,
    activities: Activities,
    outages: Vec<Outage>,
}

impl TimeLine {
    /// Nothing recorded yet of a network.
    pub fn new(network: &Network, window: Window) -> TimeLine {
        let nodes = network.switches.len() + network.hosts.len();
        let mut ports = Vec::new();
        let mut ports_of = vec![Vec::new(); nodes];
        for link in &network.links {
            for (end, direction) in link.ends.iter().zip(&link.directions) {
                let node = crate::numbering::node_id(network, end.node).0;
                ports_of[node as usize].push((end.port, ports.len() as u32));
                ports.push(Port {
                    rate_bps: direction.rate_bps,
                    overhead_bytes: direction.overhead_bytes.into(),
                    ..Port::default()
                });
            }
        }
        ports_of.iter_mut().for_each(|of| of.sort_unstable());
        let buckets = (MAX_PORT_BUCKETS / ports.len().max(1)).clamp(64, 1024);
        TimeLine {
            scale: Scale::new(buckets),
            ports,
            ports_of,
            switches: network.switches.len() as u32,
            packets: vec![Packets::default(); network.switches.len()],
            flow_numbers: FlowNumbers::default(),
            flows: vec![Flow::default()],
            flow_buckets: 0,
            events: Events::new(window),
            remarks: Vec::new(),
            omitted_remarks: 0,
            activities: Activities::default(),
            outages: Vec::new(),
        }
    }

    /// The number of a port with a link.
    fn port_at(&self, (node, port): End) -> Option<u32> {
        let ports = self.ports_of.get(node as usize)?;
        let at = ports.binary_search_by_key(&port, |known| known.0).ok()?;
        Some(ports[at].1)
    }

    /// Records what a controller does: a command that takes effect, or a notification that reaches it.
    pub(crate) fn remark(
        &mut self,
        time_ps: u64,
        controller: &str,
        switch: Option<usize>,
        text: &str,
    ) {
        let node = switch.map(|number| number as u32);
        self.push_remark(Remark {
            time_ps,
            controller: Some(controller.to_string()),
            node,
            text: text.to_string(),
        });
    }

    /// Records a dialogue of a switch's agent.
    pub(crate) fn activity(&mut self, switch: usize, activity: Activity) {
        self.activities.add(self.events.window(), switch, activity);
    }

    fn push_remark(&mut self, remark: Remark) {
        match self.remarks.len() < MAX_REMARKS {
            true => self.remarks.push(remark),
            false => self.omitted_remarks += 1,
        }
    }

    /// Accounts for the time until the end of the run.
    pub fn finish(&mut self, end_ps: u64) {
        self.scale.reach(end_ps);
        self.remarks.sort_by_key(|remark| remark.time_ps);
        for port in &mut self.ports {
            port.series.finish(&self.scale, end_ps);
        }
        for flow in &mut self.flows {
            flow.series.widen(&self.scale);
        }
        self.events.finish();
    }

    /// How many events of single frames were left out, and the time of the last one that was kept.
    pub fn omitted(&self) -> Option<(u64, u64)> {
        self.events.omitted()
    }
}
