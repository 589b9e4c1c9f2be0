// SPDX-License-Identifier: Apache-2.0
//! Applications of hosts.

use crate::format::address::{Mac, Prefix};
use crate::format::value::Located;
use source::Span;
use std::net::IpAddr;

/// An application of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// Its unique name.
    pub name: String,
    /// The name that the file gives to it and to others of the same entry.
    pub group: Option<String>,
    /// The place.
    pub span: Span,
    /// Its start, in picoseconds.
    pub start_ps: u64,
    /// What it does.
    pub kind: ApplicationKind,
}

/// Where an application sends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A host, by its index; its first address.
    Host(usize),
    /// An address.
    Address(IpAddr),
}

/// What an application does. Sizes are in bytes, times in picoseconds.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are those of docs/networks.md")]
pub enum ApplicationKind {
    Ping {
        to: Vec<Located<Destination>>,
        count: u64,
        interval_ps: u64,
        size_bytes: u64,
        timeout_ps: u64,
        tos: u8,
    },
    Tcp {
        to: Vec<Located<Destination>>,
        amount: Amount,
        /// The application's rate; `None` is unlimited.
        rate_bps: Option<u64>,
        /// Flows to each destination.
        parallel: u32,
        tcp: TcpOptions,
    },
    RequestResponse {
        to: Vec<Located<Destination>>,
        request_bytes: u64,
        response_bytes: u64,
        count: u64,
        /// `None`: the next request follows the response.
        interval_ps: Option<u64>,
        tcp: TcpOptions,
    },
    Udp {
        to: Vec<Located<Destination>>,
        rate: UdpRate,
        size: DatagramSize,
        amount: Amount,
        arrivals: Arrivals,
        port: Option<u16>,
        source_port: Option<u16>,
        tos: u8,
    },
    Flows {
        /// Each flow takes one at random.
        to: Vec<Located<Destination>>,
        sizes: FlowSizes,
        rate: FlowRate,
        amount: Amount,
        tcp: TcpOptions,
    },
    MemcachedServer {
        port: u16,
        value_bytes: u64,
        service_time_ps: u64,
    },
    MemcachedClient {
        to: Vec<Located<Destination>>,
        /// Requests per second.
        rate: u64,
        keys: u64,
        key_bytes: u64,
        value_bytes: u64,
        /// The exponent; `None`: all keys are equally frequent.
        zipf: Option<f64>,
        get_share: f64,
        arrivals: Arrivals,
        amount: Amount,
        port: u16,
    },
    Replay {
        capture: Located<String>,
        scale: f64,
    },
    /// A generated packet trace; absent values have defaults.
    Trace {
        flows: u64,
        packets: Option<u64>,
        duration_ps: u64,
        /// Median number of packets of a flow.
        median: Option<f64>,
        source_net: Option<Prefix>,
        destination_net: Option<Prefix>,
        sources: Option<u64>,
        destinations: Option<u64>,
        /// `None`: the gateway's, which the host knows.
        destination_mac: Option<Mac>,
    },
    /// The host with this application receives.
    Incast {
        /// The sending hosts, by their index.
        from: Vec<Located<usize>>,
        bytes: u64,
        count: u64,
        /// `None`: the next follows the last byte.
        interval_ps: Option<u64>,
        tcp: TcpOptions,
    },
    Send {
        frames: Vec<TimedFrame>,
    },
    Listen {
        port: Option<u16>,
    },
    Sink {
        port: Option<u16>,
    },
    Echo {
        port: Option<u16>,
    },
    /// A program of the user's, as text for the shell.
    Command {
        run: String,
    },
}

/// How much an application sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Until the end of the run.
    Unlimited,
    /// For a time, in picoseconds.
    Duration(u64),
    /// Bytes.
    Bytes(u64),
    /// Datagrams, requests or flows.
    Count(u64),
}

/// The rate of a UDP flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpRate {
    /// Bits of payload per second.
    Bits(u64),
    /// Datagrams per second.
    Datagrams(u64),
}

/// The payload of a datagram, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramSize {
    /// All equal.
    Fixed(u64),
    /// Exponentially distributed with this mean, at least 1 byte and at most what the MTU allows.
    Exponential(u64),
}

impl DatagramSize {
    /// The mean.
    pub fn mean_bytes(self) -> u64 {
        match self {
            DatagramSize::Fixed(bytes) | DatagramSize::Exponential(bytes) => bytes,
        }
    }
}

/// The mean rate of a group of flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowRate {
    /// A share of the rate of the host's link.
    Load(f64),
    /// Bits per second.
    Bits(u64),
}

/// An arrival process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Equal gaps.
    Constant,
    /// Exponentially distributed gaps.
    Poisson,
}

/// A distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowSizes {
    /// The web search cluster of the DCTCP paper.
    WebSearch,
    /// The data mining cluster of the VL2 paper.
    DataMining,
    /// A file with a size and a probability a line.
    File(Located<String>),
    /// Points (bytes, probability of at most as many), linear between; the last probability is 1.
    Points(Vec<(u64, f64)>),
}

/// A congestion control algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// NewReno that grows once an acknowledgement.
    Reno,
    /// NewReno that counts acknowledged segments.
    LinuxReno,
    /// Cubic.
    Cubic,
    /// DCTCP.
    Dctcp,
}

/// Delayed acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment is acknowledged at once.
    Off,
    /// Every second segment, or after this time in picoseconds.
    Longest(u64),
}

/// Options of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpOptions {
    /// Congestion control.
    pub control: CongestionControl,
    /// Payload of a segment.
    pub segment_bytes: u32,
    /// Receive window.
    pub window_bytes: u64,
    /// Segments of the initial window.
    pub initial_window: u32,
    /// Least retransmission timeout.
    pub min_rto_ps: u64,
    /// Delayed acknowledgements.
    pub delayed_ack: DelayedAck,
    /// Explicit congestion notification.
    pub has_ecn: bool,
    /// Selective acknowledgements.
    pub has_sack: bool,
    /// TCP small queues.
    pub has_small_queue: bool,
    /// Destination port.
    pub port: Option<u16>,
    /// Type of service byte of IPv4.
    pub tos: u8,
}

impl Default for TcpOptions {
    /// What Linux does by default, with a window that limits no path of up to 8 MB.
    fn default() -> TcpOptions {
        const MILLISECOND_PS: u64 = 1_000_000_000;
        TcpOptions {
            control: CongestionControl::Cubic,
            segment_bytes: 1_448,
            window_bytes: 8_000_000,
            initial_window: 10,
            min_rto_ps: 200 * MILLISECOND_PS,
            delayed_ack: DelayedAck::Longest(40 * MILLISECOND_PS),
            has_ecn: false,
            has_sack: true,
            has_small_queue: true,
            port: None,
            tos: 0,
        }
    }
}

/// A frame to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedFrame {
    /// When, in picoseconds from the start of the application on.
    pub at_ps: u64,
    /// The frame.
    pub bytes: Vec<u8>,
    /// Copies.
    pub count: u64,
    /// From one copy to the next.
    pub interval_ps: u64,
    /// The place.
    pub span: Span,
}

impl ApplicationKind {
    /// The name of the kind in files.
    pub fn name(&self) -> &'static str {
        match self {
            ApplicationKind::Ping { .. } => "ping",
            ApplicationKind::Tcp { .. } => "tcp",
            ApplicationKind::RequestResponse { .. } => "request_response",
            ApplicationKind::Udp { .. } => "udp",
            ApplicationKind::Flows { .. } => "flows",
            ApplicationKind::MemcachedServer { .. } => "memcached_server",
            ApplicationKind::MemcachedClient { .. } => "memcached_client",
            ApplicationKind::Replay { .. } => "replay",
            ApplicationKind::Trace { .. } => "trace",
            ApplicationKind::Incast { .. } => "incast",
            ApplicationKind::Send { .. } => "send",
            ApplicationKind::Listen { .. } => "listen",
            ApplicationKind::Sink { .. } => "sink",
            ApplicationKind::Echo { .. } => "echo",
            ApplicationKind::Command { .. } => "command",
        }
    }

    /// The destinations.
    pub fn destinations(&self) -> &[Located<Destination>] {
        match self {
            ApplicationKind::Ping { to, .. }
            | ApplicationKind::Tcp { to, .. }
            | ApplicationKind::RequestResponse { to, .. }
            | ApplicationKind::Udp { to, .. }
            | ApplicationKind::Flows { to, .. }
            | ApplicationKind::MemcachedClient { to, .. } => to,
            _ => &[],
        }
    }
}
