// SPDX-License-Identifier: Apache-2.0
//! Reads results: reports of applications, counters of ports and links, statistics of switches and hosts.

use crate::applications::ServerKind;
use crate::built::{Built, RunningPart};
use crate::numbering::node_id;
use crate::results::{
    ApplicationResult, DirectionResult, FlowResult, Measured, PartResult, Results, SwitchResult,
};
use device::{DepthTimes, OutputPath};
use hosts::Host;
use hosts::applications::Report;
use hosts::applications::ping::PingReply;
use hosts::applications::tcp_server::{ServedConnection, TcpServerReport};
use network_file::model::{ApplicationIndex, ApplicationKind, End, Node};
use std::collections::BTreeMap;
use std::net::IpAddr;

impl Built {
    /// Reads what the run has measured so far.
    pub fn results(&self) -> Results {
        let applications = self.applications.iter().map(|application| {
            let host = self.host(application.index.host);
            let part = |part: &RunningPart| {
                let measured = self.measured(host?, application.index, part)?;
                Some(PartResult {
                    destination: part.destination().map(|destination| destination.0),
                    measured,
                })
            };
            let parts = application.parts.iter().filter_map(part).collect();
            ApplicationResult { index: application.index, parts }
        });
        let links = self.network.links.iter();
        let links: Vec<[DirectionResult; 2]> =
            links.map(|link| [0, 1].map(|side| self.direction(link, side))).collect();
        Results {
            ended_ps: self.simulation.now_ps(),
            events: self.simulation.steps(),
            frames: links.iter().flatten().map(|direction| direction.sent).sum(),
            applications: applications.collect(),
            links,
            switches: (0..self.network.switches.len()).map(|at| self.switch(at)).collect(),
            hosts: (0..self.network.hosts.len())
                .filter_map(|at| self.interface_statistics(at))
                .collect(),
        }
    }

    /// The report of the server at an address and port.
    fn server(&self, kind: ServerKind, (address, port): (IpAddr, u16)) -> Option<Report> {
        let has = |host: &network_file::model::Host| host.has_address(address);
        let host = self.network.hosts.iter().position(has)?;
        let number = self.servers.get(&(host, kind, port))?;
        self.host(host)?.report(*number)
    }

    fn measured(
        &self,
        host: &Host,
        ApplicationIndex { host: number, application }: ApplicationIndex,
        part: &RunningPart,
    ) -> Option<Measured> {
        // A reply behind its time counts as lost.
        let timeout_ps = match self.network.hosts[number].applications[application].kind {
            ApplicationKind::Ping { timeout_ps, .. } => timeout_ps,
            _ => u64::MAX,
        };
        let now_ps = self.simulation.now_ps();
        Some(match host.report(part.number)? {
            Report::Ping(report) => {
                let in_time = |reply: &&PingReply| reply.round_trip_ps <= timeout_ps;
                let replies: Vec<&PingReply> = report.replies.iter().filter(in_time).collect();
                Measured::Ping {
                    sent: report.transmitted,
                    ttl: replies.last().map(|reply| reply.ttl),
                    round_trips_ps: replies.iter().map(|reply| reply.round_trip_ps).collect(),
                }
            }
            Report::TcpBulk(report) => {
                let served = report
                    .local_port
                    .zip(part.destination())
                    .and_then(|(port, destination)| self.served(number, port, destination));
                let completed_ps = match report.finished_ps {
                    Some(acknowledged_ps) => {
                        served.and_then(|served| served.last_byte_ps).or(Some(acknowledged_ps))
                    }
                    None => None,
                };
                let from_ps = report.connected_ps.unwrap_or(now_ps);
                let flow = FlowResult {
                    bytes: report.statistics.acknowledged_bytes,
                    started_ps: report.started_ps,
                    completed_ps,
                    active_ps: completed_ps.unwrap_or(now_ps).saturating_sub(from_ps),
                    retransmissions: report.statistics.retransmissions,
                    timeouts: Some(report.statistics.timeouts),
                    marks: Some(report.statistics.echoed_marks),
                    round_trip_ps: report.statistics.mean_round_trip_ps(),
                    has_failed: report.has_failed,
                };
                Measured::Flows(vec![flow])
            }
            Report::Flows(report) => {
                let mut served: BTreeMap<(IpAddr, u16), TcpServerReport> = BTreeMap::new();
                let flows = report.flows.iter().map(|flow| {
                    let server = served.entry(flow.destination).or_insert_with(|| {
                        match self.server(ServerKind::Tcp, flow.destination) {
                            Some(Report::TcpServer(report)) => report,
                            _ => TcpServerReport::default(),
                        }
                    });
                    let at_server = flow
                        .local_port
                        .and_then(|port| self.connection(server, number, port, flow.started_ps));
                    let completed_ps = flow.finished_ps.map(|acknowledged_ps| {
                        at_server.and_then(|one| one.last_byte_ps).unwrap_or(acknowledged_ps)
                    });
                    let end_ps = completed_ps.unwrap_or(now_ps);
                    FlowResult {
                        bytes: match completed_ps {
                            Some(_) => flow.bytes,
                            None => at_server.map_or(0, |one| one.bytes),
                        },
                        started_ps: Some(flow.started_ps),
                        completed_ps,
                        active_ps: end_ps.saturating_sub(flow.started_ps),
                        retransmissions: flow.retransmissions,
                        timeouts: Some(flow.timeouts),
                        marks: None,
                        round_trip_ps: None,
                        has_failed: flow.has_failed,
                    }
                });
                Measured::Flows(flows.collect())
            }
            Report::Requests(report) => {
                let answered = report.responses.iter();
                let completions: Vec<u64> = answered
                    .filter_map(|one| Some(one.answered_ps?.saturating_sub(one.asked_ps)))
                    .collect();
                let mut sums = (0, 0);
                for destination in &part.destinations {
                    if let Some(Report::RequestServer(server)) =
                        self.server(ServerKind::Requests, *destination)
                    {
                        sums.0 += server.retransmissions;
                        sums.1 += server.timeouts;
                    }
                }
                Measured::Requests {
                    failed: (report.responses.len() - completions.len()) as u64,
                    completions,
                    rounds_ps: report
                        .rounds
                        .iter()
                        .map(|round| round.ended_ps.saturating_sub(round.began_ps))
                        .collect(),
                    retransmissions: sums.0 + report.retransmissions,
                    timeouts: sums.1,
                    bytes: report.response_bytes,
                }
            }
            Report::UdpSender(report) => {
                let flow = report.local_port.zip(part.destination()).and_then(|(port, to)| {
                    let Report::UdpServer(server) = self.server(ServerKind::Udp, to)? else {
                        return None;
                    };
                    server.flows.into_iter().find(|flow| {
                        flow.remote.1 == port && self.has_address(number, flow.remote.0)
                    })
                });
                let (received, bytes) =
                    flow.as_ref().map_or((0, 0), |flow| (flow.received, flow.received_bytes));
                Measured::Datagrams {
                    sent: report.sent,
                    received,
                    bytes,
                    active_ps: flow.as_ref().map_or(0, |flow| flow.last_ps - flow.first_ps),
                    delay_ps: flow.as_ref().and_then(|flow| {
                        let count = u128::from(flow.received);
                        (count > 0).then(|| (flow.delay_sum_ps / count) as u64)
                    }),
                    jitter_ps: flow.as_ref().map_or(0, |flow| flow.jitter_ps),
                    marks: Some(flow.as_ref().map_or(0, |flow| flow.marks)),
                    out_of_order: flow.as_ref().map_or(0, |flow| flow.out_of_order),
                }
            }
            Report::MemcachedClient(report) => Measured::Memcached {
                sent: report.gets + report.sets,
                answered: report.hits + report.misses + report.stored,
                hits: report.hits,
                lost: report.lost,
                latencies_ps: report.latencies_ps,
            },
            Report::FrameSender(report) => {
                Measured::Frames { sent: report.sent, bytes: report.sent_bytes }
            }
            Report::TcpServer(_)
            | Report::RequestServer(_)
            | Report::UdpServer(_)
            | Report::MemcachedServer(_)
            | Report::FrameListener(_) => return None,
        })
    }

    fn has_address(&self, host: usize, address: IpAddr) -> bool {
        self.network.hosts[host].has_address(address)
    }

    fn served(
        &self,
        client: usize,
        port: u16,
        destination: (IpAddr, u16),
    ) -> Option<ServedConnection> {
        let Report::TcpServer(report) = self.server(ServerKind::Tcp, destination)? else {
            return None;
        };
        self.connection(&report, client, port, 0)
    }

    /// The first connection of a client's port that was opened at a time or later.
    fn connection(
        &self,
        report: &TcpServerReport,
        client: usize,
        port: u16,
        from_ps: u64,
    ) -> Option<ServedConnection> {
        let is_wanted = |one: &&ServedConnection| {
            one.remote.1 == port
                && one.opened_ps >= from_ps
                && self.has_address(client, one.remote.0)
        };
        report.connections.iter().find(is_wanted).copied()
    }

    fn direction(&self, link: &network_file::model::Link, side: usize) -> DirectionResult {
        let (end, direction) = (&link.ends[side], &link.directions[side]);
        let id = node_id(&self.network, end.node);
        let time_ps = self.simulation.now_ps();
        let mut result = DirectionResult {
            link: self.simulation.link_statistics((id, end.port)).unwrap_or_default(),
            ..DirectionResult::default()
        };
        match end.node {
            Node::Host(number) => {
                if let Some(statistics) = self.port_statistics(number, end.port) {
                    result.sent = statistics.sent;
                    result.sent_bytes = statistics.sent_bytes;
                    result.dropped = statistics.dropped_queue_full;
                }
            }
            Node::Switch(number) => self.fill_port(number, end, &mut result),
        }
        if let Some(rate_bps) = direction.rate_bps.filter(|_| time_ps > 0) {
            let overhead = result.sent * u64::from(direction.overhead_bytes);
            let bits = (result.sent_bytes + overhead) as f64 * 8.0;
            result.utilization = Some(bits * 1e12 / (rate_bps as f64 * time_ps as f64));
        }
        result
    }

    fn fill_port(&self, switch: usize, end: &End, result: &mut DirectionResult) {
        let path = OutputPath::Port(end.port);
        let mut waited_ps = 0;
        let mut depths: Vec<DepthTimes> = Vec::new();
        for device in self.devices(switch) {
            if let Some(port) = device.statistics().ports.get(&end.port) {
                result.sent += port.sent_packets;
                result.sent_bytes += port.sent_bytes;
            }
            for queue in 0.. {
                let Some(statistics) = device.queue_statistics(path, queue) else { break };
                result.peak_queue = result.peak_queue.max(statistics.peak_packets);
                result.dropped += statistics.refused_packets;
                waited_ps += statistics.waited_ps;
                if statistics.waited_ps > 0
                    && let Some(times) = device.queue_depth_times(path, queue)
                {
                    depths.resize_with(depths.len().max(queue as usize + 1), DepthTimes::default);
                    depths[queue as usize].merge(&times);
                }
            }
        }
        let time_ps = self.simulation.now_ps();
        let p99 = depths.iter().map(|times| times.percentile(0.99, time_ps)).max();
        result.p99_queue = p99.unwrap_or(0);
        if time_ps > 0 {
            result.mean_queue = waited_ps as f64 / time_ps as f64;
        }
    }

    fn switch(&self, number: usize) -> SwitchResult {
        let mut result = SwitchResult::default();
        let mut drops: BTreeMap<_, u64> = BTreeMap::new();
        for device in self.devices(number) {
            let statistics = device.statistics();
            result.received +=
                statistics.ports.values().map(|port| port.received_packets).sum::<u64>();
            result.sent += statistics.ports.values().map(|port| port.sent_packets).sum::<u64>();
            for (reason, count) in &statistics.drops {
                *drops.entry(*reason).or_default() += count;
            }
        }
        result.drops =
            drops.into_iter().map(|(reason, count)| (reason.to_string(), count)).collect();
        result
    }
}
