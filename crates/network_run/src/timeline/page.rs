// SPDX-License-Identifier: Apache-2.0
//! Writes a time line as HTML. The folder `assets` has the page's style and script.

use super::events::{FrameEvent, NONE};
use super::fields::FlowKey;
use super::{TimeLine, Window};
use network_file::model::{Network, Node};
use page::columns::Column;
use page::{Page, in_page};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::IpAddr;

const FILTERS: &str = include_str!("assets/filters.html");
const BELOW: &str = include_str!("assets/below.html");
const STYLE: &str = include_str!("assets/page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("assets/model.js"),
    include_str!("assets/rows.js"),
    include_str!("assets/drawing.js"),
    include_str!("assets/frames.js"),
    include_str!("assets/agents.js"),
    include_str!("assets/page.js"),
];

/// The most flows with a row of their own.
const MAX_FLOW_ROWS: usize = 200;

/// Names of applications by source and destination of their flows.
pub(crate) type FlowNames = HashMap<[(IpAddr, u16); 2], String>;

impl TimeLine {
    /// The page of a finished time line. `until_ps` is the time that the run reached.
    pub(crate) fn html(
        &self,
        network: &Network,
        title: &str,
        until_ps: u64,
        names: &FlowNames,
    ) -> String {
        let page = Page { title, filters: FILTERS, below: BELOW, style: STYLE, scripts: &SCRIPTS };
        let columns =
            [("frames", self.frames()), ("samples", self.samples()), ("series", self.series())];
        let bytes = columns.iter().map(|(_, column)| column.text_length()).sum();
        page.html(bytes, |to| {
            let head = in_page(&self.head(network, title, until_ps, names));
            to.push_str(head.strip_suffix('}').unwrap_or(&head));
            for (name, column) in &columns {
                to.push_str(&format!(",\"{name}\":\""));
                column.write(to);
                to.push('"');
            }
            to.push('}');
        })
    }

    fn head(&self, network: &Network, title: &str, until_ps: u64, names: &FlowNames) -> Value {
        let switches = network.switches.iter().map(|switch| json!([switch.name, 1]));
        let hosts = network.hosts.iter().map(|host| json!([host.name, 0]));
        let ends = network.links.iter().flat_map(|link| &link.ends);
        let ports = ends.zip(&self.ports).map(|(end, port)| {
            let node = crate::numbering::node_id(network, end.node).0;
            json!([node, network.port_name(end), port.rate_bps])
        });
        let mut largest: Vec<usize> =
            (1..self.flows.len()).filter(|at| self.flows[*at].bytes > 0).collect();
        largest.sort_by_key(|at| (std::cmp::Reverse(self.flows[*at].bytes), *at));
        let Window { from_ps, to_ps } = self.events.window();
        let remarks = self
            .remarks
            .iter()
            .map(|remark| json!([remark.time_ps, remark.controller, remark.node, remark.text]));
        json!({
            "title": title,
            "until": until_ps,
            "nodes": switches.chain(hosts).collect::<Vec<_>>(),
            "ports": ports.collect::<Vec<_>>(),
            "links": network.links.iter().map(|link| &link.name).collect::<Vec<_>>(),
            "width": self.scale.width_ps(),
            "flows": self.flow_rows(network, names),
            "flowRows": largest.into_iter().take(MAX_FLOW_ROWS).collect::<Vec<_>>(),
            "reasons": self.events.reasons(),
            "remarks": remarks.collect::<Vec<_>>(),
            "omittedRemarks": self.omitted_remarks,
            "activities": self.activities.json(),
            "omittedActivities": self.activities.omitted(),
            "outages": self.outages.iter().map(|one| json!([one.port, one.from_ps, one.to_ps])).collect::<Vec<_>>(),
            "window": [from_ps, (to_ps != u64::MAX).then_some(to_ps)],
            "omitted": self.omitted().map(|(count, until_ps)| [count, until_ps]),
            "samplesUntil": self.events.samples_until_ps().min(until_ps),
        })
    }

    /// Of each flow the source, destination, protocol, hosts at both ends, frames and bytes received, and application.
    fn flow_rows(&self, network: &Network, names: &FlowNames) -> Vec<Value> {
        let mut hosts: HashMap<IpAddr, u32> = HashMap::new();
        let mut stations: HashMap<[u8; 6], u32> = HashMap::new();
        for (number, host) in network.hosts.iter().enumerate() {
            let node = crate::numbering::node_id(network, Node::Host(number)).0;
            hosts.extend(host.addresses().map(|own| (own.value.address, node)));
            stations.extend(host.interfaces.iter().map(|interface| (interface.mac.0, node)));
        }
        let count = self.flow_numbers.count();
        let row = |number: u32| {
            let received = self.flows.get(number as usize);
            let sums = received.map_or([0, 0], |flow| [flow.frames, flow.bytes]);
            let Some(key) = self.flow_numbers.key(number) else {
                return json!(["", "", "other flows", null, null, sums[0], sums[1], null]);
            };
            let [source, destination] = key.ends();
            let nodes = match key {
                FlowKey::Ip { addresses, .. } => addresses.map(|one| hosts.get(&one).copied()),
                FlowKey::Ethernet { addresses, .. } => {
                    addresses.map(|one| stations.get(&one).copied())
                }
                FlowKey::Short => [None, None],
            };
            let name = match key {
                FlowKey::Ip { addresses, ports, .. } => {
                    let ends = [(addresses[0], ports[0]), (addresses[1], ports[1])];
                    let back =
                        names.get(&[ends[1], ends[0]]).map(|name| format!("{name}, replies"));
                    names.get(&ends).cloned().or(back)
                }
                _ => None,
            };
            json!([source, destination, key.protocol(), nodes[0], nodes[1], sums[0], sums[1], name])
        };
        (0..=count).map(row).collect()
    }

    /// Events in order of time: the time since the one before, kind and reason, port, flow, length, and how many events
    /// before lies the cause, 0 without one.
    fn frames(&self) -> Column {
        let mut column = Column::default();
        let mut before_ps = 0;
        for (at, event) in self.events.frames.iter().enumerate() {
            let FrameEvent { time_ps, kind, reason, port, flow, length_bytes, cause } = *event;
            column.push(time_ps - before_ps);
            column.push(kind as u64 | u64::from(reason) << 2);
            column.push(port.into());
            column.push(flow.into());
            column.push(length_bytes.into());
            let is_earlier = cause != NONE && (cause as usize) < at;
            column.push(if is_earlier { at as u64 - u64::from(cause) } else { 0 });
            before_ps = time_ps;
        }
        column
    }

    /// Of each port the number of changes of its queue; for each the time since the one before and the number of packets.
    fn samples(&self) -> Column {
        let mut column = Column::default();
        let mut left = self.events.samples.as_slice();
        for number in 0..self.ports.len() as u32 {
            let own = left.partition_point(|sample| sample.port <= number);
            let (of_port, others) = left.split_at(own);
            left = others;
            column.push(of_port.len() as u64);
            let mut before_ps = 0;
            for sample in of_port {
                column.push(sample.time_ps - before_ps);
                column.push(sample.depth.into());
                before_ps = sample.time_ps;
            }
        }
        column
    }

    /// The buckets of each port, then those of the flow rows and of the flows without room: the first number, the count,
    /// and the values of each bucket.
    fn series(&self) -> Column {
        let mut column = Column::default();
        for port in &self.ports {
            let (first, buckets) = port.series.series.buckets();
            column.push(first);
            column.push(buckets.len() as u64);
            for bucket in buckets {
                let (least, most) = bucket.depths.unwrap_or_default();
                for value in [
                    bucket.frames,
                    bucket.bytes,
                    bucket.busy_ps,
                    bucket.lost,
                    bucket.dropped,
                    bucket.waiting_ps,
                    least.into(),
                    most.into(),
                ] {
                    column.push(value);
                }
            }
        }
        column.push(self.flows.len() as u64);
        for flow in &self.flows {
            let (first, buckets) = flow.series.buckets();
            column.push(first);
            column.push(buckets.len() as u64);
            buckets.for_each(|bytes| column.push(*bytes));
        }
        column
    }
}
