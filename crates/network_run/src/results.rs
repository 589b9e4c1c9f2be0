// SPDX-License-Identifier: Apache-2.0
//! [`Results`]: what a run measured, as data. `tables` shows it to people, `expectations` judges it.

use crate::applications::ServerKind;
use crate::built::{Built, RunningPart};
use crate::numbering::node_id;
use crate::statistics::{Sample, mean};
use device::OutputPath;
use hosts::applications::Report;
use hosts::applications::ping::PingReply;
use hosts::applications::tcp_server::{ServedConnection, TcpServerReport};
use hosts::{Host, InterfaceStatistics};
use network::links::LinkStatistics;
use network_file::model::{ApplicationIndex, ApplicationKind, End, Node};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// What a run measured. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The time that the run reached.
    pub ended_ps: u64,
    /// Events of the simulation.
    pub events: u64,
    /// Frames put on a wire by a host or switch.
    pub frames: u64,
    /// Applications, in the order of the file.
    pub applications: Vec<ApplicationResult>,
    /// Links, in the order of the file; each direction.
    pub links: Vec<[DirectionResult; 2]>,
    /// Switches, in the order of the file.
    pub switches: Vec<SwitchResult>,
    /// Interfaces of hosts, in the order of the file.
    pub hosts: Vec<InterfaceStatistics>,
}

/// An application's measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationResult {
    /// Which application.
    pub index: ApplicationIndex,
    /// For each of its destinations and connections.
    pub parts: Vec<PartResult>,
}

/// What a part of an application measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PartResult {
    /// The address that it sends to, if it is one.
    pub destination: Option<Ipv4Addr>,
    /// The measurements.
    pub measured: Measured,
}

/// Measurements by kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// A ping.
    Ping {
        /// Requests.
        sent: u64,
        /// Round trips of the replies, in order of arrival.
        round_trips_ps: Vec<u64>,
        /// The last reply's time to live.
        ttl: Option<u8>,
    },
    /// Flows over TCP: one of a bulk sender, or many.
    Flows(Vec<FlowResult>),
    /// Requests with responses.
    Requests {
        /// From request to the last byte of the response.
        completions: Vec<u64>,
        /// Requests whose connection failed. One that waits at the end of the run counts nowhere.
        failed: u64,
        /// Rounds: from the first request to the last response.
        rounds_ps: Vec<u64>,
        /// Segments sent again, by the servers.
        retransmissions: u64,
        /// Expired timers, of the servers.
        timeouts: u64,
        /// Bytes of responses.
        bytes: u64,
    },
    /// UDP datagrams.
    Datagrams {
        /// Sent.
        sent: u64,
        /// Received by the server, if it is a host of the network.
        received: u64,
        /// Bytes of payload received.
        bytes: u64,
        /// From the first to the last arrival.
        active_ps: u64,
        /// Mean delay.
        delay_ps: Option<u64>,
        /// Interarrival jitter (RFC 3550).
        jitter_ps: u64,
        /// Marked packets (ECN); `None` if the receiver does not count them.
        marks: Option<u64>,
        /// Arrived after later ones.
        out_of_order: u64,
    },
    /// Requests of a memcached client.
    Memcached {
        /// Requests made.
        sent: u64,
        /// Hits, misses and stored values.
        answered: u64,
        /// Gets with a value.
        hits: u64,
        /// Requests without an answer.
        lost: u64,
        /// From request to answer.
        latencies_ps: Vec<u64>,
    },
    /// Frames as they are.
    Frames {
        /// Handed to the port.
        sent: u64,
        /// Their bytes.
        bytes: u64,
    },
}

/// A flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowResult {
    /// Bytes that the receiver acknowledged.
    pub bytes: u64,
    /// The first SYN; `None` if it never started.
    pub started_ps: Option<u64>,
    /// The last byte at the receiver, if the flow ended.
    pub completed_ps: Option<u64>,
    /// From the first to the last byte, or to the end of the run.
    pub active_ps: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expired timers; `None` if the sender does not count them.
    pub timeouts: Option<u64>,
    /// Acknowledgements with a congestion mark; `None` if the sender does not count them.
    pub marks: Option<u64>,
    /// The mean round trip.
    pub round_trip_ps: Option<u64>,
    /// Whether it was refused, reset or given up.
    pub has_failed: bool,
}

impl FlowResult {
    /// Bits per second of payload.
    pub fn goodput_bps(&self) -> f64 {
        match self.active_ps {
            0 => 0.0,
            time_ps => self.bytes as f64 * 8e12 / time_ps as f64,
        }
    }

    /// From the first SYN to the last byte at the receiver.
    pub fn completion_ps(&self) -> Option<u64> {
        Some(self.completed_ps?.saturating_sub(self.started_ps?))
    }
}

/// A direction of a link: the sending port and the link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectionResult {
    /// Counters of the link.
    pub link: LinkStatistics,
    /// Frames that the port put on the wire.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Share of the time for which the wire was busy; `None` without a rate.
    pub utilization: Option<f64>,
    /// Frames that found the port's queue full.
    pub dropped: u64,
    /// The largest number of packets that waited, over all queues of the port.
    pub peak_queue: u64,
    /// The mean number of packets that waited.
    pub mean_queue: f64,
}

/// A switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchResult {
    /// Packets received.
    pub received: u64,
    /// Packets sent.
    pub sent: u64,
    /// Dropped packets by reason.
    pub drops: Vec<(String, u64)>,
}

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
    fn server(&self, kind: ServerKind, (address, port): (Ipv4Addr, u16)) -> Option<Report> {
        let has = |host: &network_file::model::Host| {
            host.addresses.iter().any(|own| own.value.address == address)
        };
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
                let mut served: BTreeMap<(Ipv4Addr, u16), TcpServerReport> = BTreeMap::new();
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
                let mut sums = (0, 0, 0);
                for destination in &part.destinations {
                    if let Some(Report::RequestServer(server)) =
                        self.server(ServerKind::Requests, *destination)
                    {
                        sums.0 += server.retransmissions;
                        sums.1 += server.timeouts;
                        sums.2 += server.response_bytes;
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
                    bytes: sums.2,
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

    fn has_address(&self, host: usize, address: Ipv4Addr) -> bool {
        self.network.hosts[host].addresses.iter().any(|own| own.value.address == address)
    }

    fn served(
        &self,
        client: usize,
        port: u16,
        destination: (Ipv4Addr, u16),
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
                if let Some(statistics) = self.interface_statistics(number) {
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
            }
        }
        let time_ps = self.simulation.now_ps();
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

impl Measured {
    /// Completion times of flows or requests.
    pub fn completions(&self) -> Sample {
        match self {
            Measured::Flows(flows) => flows.iter().filter_map(FlowResult::completion_ps).collect(),
            Measured::Requests { completions, .. } => completions.iter().copied().collect(),
            Measured::Memcached { latencies_ps, .. } => latencies_ps.iter().copied().collect(),
            Measured::Ping { round_trips_ps, .. } => round_trips_ps.iter().copied().collect(),
            Measured::Datagrams { .. } | Measured::Frames { .. } => Sample::default(),
        }
    }

    /// Bits per second of payload, the sum over flows.
    pub fn goodput_bps(&self) -> f64 {
        match self {
            Measured::Flows(flows) if flows.len() == 1 => flows[0].goodput_bps(),
            Measured::Flows(flows) => {
                let bytes: u64 = flows.iter().map(|flow| flow.bytes).sum();
                let begin = flows.iter().filter_map(|flow| flow.started_ps).min();
                let end = flows.iter().map(|flow| flow.started_ps.unwrap_or(0) + flow.active_ps);
                let active_ps = end.max().unwrap_or(0).saturating_sub(begin.unwrap_or(0));
                if active_ps == 0 { 0.0 } else { bytes as f64 * 8e12 / active_ps as f64 }
            }
            Measured::Datagrams { bytes, active_ps, received, .. } if *received > 1 => {
                // The first datagram arrives at the beginning of the time.
                let bytes = *bytes as f64 * (1.0 - 1.0 / *received as f64);
                bytes * 8e12 / (*active_ps).max(1) as f64
            }
            Measured::Requests { bytes, completions, .. } => {
                let mean_ps = mean(completions).unwrap_or(0.0) * completions.len() as f64;
                if mean_ps == 0.0 { 0.0 } else { *bytes as f64 * 8e12 / mean_ps }
            }
            _ => 0.0,
        }
    }

    /// Requests, datagrams or frames sent; flows started.
    pub(crate) fn sent(&self) -> u64 {
        match self {
            Measured::Ping { sent, .. }
            | Measured::Datagrams { sent, .. }
            | Measured::Memcached { sent, .. }
            | Measured::Frames { sent, .. } => *sent,
            Measured::Flows(flows) => flows.len() as u64,
            Measured::Requests { completions, failed, .. } => completions.len() as u64 + failed,
        }
    }

    /// Replies, datagrams or answers received; flows completed.
    pub(crate) fn received(&self) -> u64 {
        match self {
            Measured::Ping { round_trips_ps, .. } => round_trips_ps.len() as u64,
            Measured::Datagrams { received, .. } => *received,
            Measured::Memcached { answered, .. } => *answered,
            Measured::Frames { .. } => 0,
            Measured::Flows(_) | Measured::Requests { .. } => self.completions().count() as u64,
        }
    }

    /// Bytes of payload that arrived.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Measured::Flows(flows) => flows.iter().map(|flow| flow.bytes).sum(),
            Measured::Requests { bytes, .. }
            | Measured::Datagrams { bytes, .. }
            | Measured::Frames { bytes, .. } => *bytes,
            Measured::Ping { .. } | Measured::Memcached { .. } => 0,
        }
    }

    pub(crate) fn retransmissions(&self) -> u64 {
        match self {
            Measured::Flows(flows) => flows.iter().map(|flow| flow.retransmissions).sum(),
            Measured::Requests { retransmissions, .. } => *retransmissions,
            _ => 0,
        }
    }

    pub(crate) fn timeouts(&self) -> u64 {
        match self {
            Measured::Flows(flows) => flows.iter().filter_map(|flow| flow.timeouts).sum(),
            Measured::Requests { timeouts, .. } => *timeouts,
            _ => 0,
        }
    }

    /// The mean round trip of a ping or a flow.
    pub(crate) fn round_trip_ps(&self) -> Option<u64> {
        match self {
            Measured::Flows(flows) => flows.first()?.round_trip_ps,
            _ => self.completions().mean(),
        }
    }

    pub(crate) fn ttl(&self) -> Option<u8> {
        match self {
            Measured::Ping { ttl, .. } => *ttl,
            _ => None,
        }
    }
}
