// SPDX-License-Identifier: Apache-2.0
//! [`Results`]: what a run measured, as data. `reading` fills them, `tables` shows them to people, `expectations` judges
//! them.

use crate::statistics::{Sample, mean};
use hosts::InterfaceStatistics;
use network::links::LinkStatistics;
use network_file::model::ApplicationIndex;
use std::net::IpAddr;

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
    pub destination: Option<IpAddr>,
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
    /// The number that was not exceeded for 99 % of the time, the largest of the port's queues.
    pub p99_queue: u64,
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
