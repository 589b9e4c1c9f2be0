// SPDX-License-Identifier: Apache-2.0
//! Applications of a network file as applications of hosts. Receivers that the file does not name are added: a client's
//! server listens.

use hosts::applications::frames::FrameSenderOptions;
use hosts::applications::memcached::{
    MemcachedClientOptions, MemcachedServerOptions, Pacing, Protocol,
};
use hosts::applications::ping::PingOptions;
use hosts::applications::requests::{RequestClientOptions, RequestServerOptions};
use hosts::applications::tcp_bulk::TcpBulkOptions;
use hosts::applications::tcp_server::TcpServerOptions;
use hosts::applications::trace_sender::TraceSenderOptions;
use hosts::applications::udp_sender::{Departures, PayloadSizes, UdpSenderOptions};
use hosts::applications::udp_server::UdpServerOptions;
use hosts::applications::{Application, Arrivals, FlowsOptions};
use hosts::packet_trace::{AddressPool, Ipv4Network, TraceOptions};
use hosts::sizes::FlowSizes;
use hosts::tcp::{Control, TcpOptions};
use hosts::wire::MacAddress;
use network::frame::Frame;
use network_file::model::{
    self, Amount, ApplicationKind, CongestionControl, DatagramSize, DelayedAck, Destination,
    FlowRate, Network, UdpRate,
};
use network_file::{Located, Prefix};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The port of TCP and UDP receivers whose file gives none, as of `iperf`.
const DEFAULT_PORT: u16 = 5001;
/// The port of request servers whose file gives none.
const REQUEST_PORT: u16 = 5002;
const SECOND_PS: u64 = 1_000_000_000_000;

/// Contents of files that applications name, by the names in the network file.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Packets of captures with their times in picoseconds from the first one on.
    pub captures: BTreeMap<String, Vec<(u64, Vec<u8>)>>,
    /// Points of flow size distributions: bytes, and the probability of at most as many.
    pub flow_sizes: BTreeMap<String, Vec<(u64, f64)>>,
}

/// A server that some client needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ServerKind {
    Tcp,
    Requests,
    Udp,
    Memcached,
}

/// A server's host, kind and port.
pub(crate) type ServerKey = (usize, ServerKind, u16);

/// The parts of an application of the file: the host that each runs on, and its destination.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) application: Application,
    /// The addresses and ports that it sends to.
    pub(crate) destinations: Vec<(IpAddr, u16)>,
}

/// What an application of the file becomes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expanded {
    pub(crate) parts: Vec<Part>,
    /// Servers that clients need, with the server's application.
    pub(crate) servers: Vec<(ServerKey, Application)>,
}

fn tcp(options: &model::TcpOptions) -> TcpOptions {
    TcpOptions {
        control: match options.control {
            CongestionControl::Reno => Control::Reno,
            CongestionControl::LinuxReno => Control::LinuxReno,
            CongestionControl::Cubic => Control::Cubic,
            CongestionControl::Dctcp => Control::Dctcp,
        },
        ecn: options.has_ecn,
        // Timestamps take 12 bytes of each segment beside the payload.
        maximum_segment_bytes: Some((options.segment_bytes + 12).min(65_495) as u16),
        initial_window_segments: options.initial_window,
        receive_buffer_bytes: options.window_bytes.min(1 << 30) as u32,
        least_timeout_ps: options.min_rto_ps,
        acknowledgement_delay_ps: match options.delayed_ack {
            DelayedAck::Off => 0,
            DelayedAck::Longest(time_ps) => time_ps,
        },
        sack: options.has_sack,
        small_queue: options.has_small_queue,
        ..TcpOptions::default()
    }
}

/// The network of the addresses of a trace.
fn network_of_trace(prefix: &Prefix) -> Option<Ipv4Network> {
    match prefix.address {
        IpAddr::V4(address) => Some(Ipv4Network { address, prefix_bits: prefix.length }),
        IpAddr::V6(_) => None,
    }
}

/// Expands applications of one network.
pub(crate) struct Expander<'n> {
    pub(crate) network: &'n Network,
    pub(crate) resources: &'n Resources,
}

impl Expander<'_> {
    /// The address to which a host sends, and the receiving host if it is one of the network's.
    fn address(&self, from: usize, to: &Destination) -> Option<(IpAddr, Option<usize>)> {
        let hosts = &self.network.hosts;
        match to {
            Destination::Host(host) => Some((hosts[*host].address_for(&hosts[from])?, Some(*host))),
            Destination::Address(address) => {
                Some((*address, hosts.iter().position(|host| host.has_address(*address))))
            }
        }
    }

    /// The addresses of destinations with a port; servers are added where they are hosts.
    fn destinations(
        &self,
        from: usize,
        to: &[Located<Destination>],
        kind: ServerKind,
        port: u16,
        server: &Application,
        servers: &mut Vec<(ServerKey, Application)>,
    ) -> Vec<(IpAddr, u16)> {
        let mut found = Vec::new();
        for to in to {
            let Some((address, host)) = self.address(from, &to.value) else { continue };
            if let Some(host) = host {
                servers.push(((host, kind, port), server.clone()));
            }
            found.push((address, port));
        }
        found
    }

    /// Expands an application of a host. The rate is that of the host's link.
    pub(crate) fn expand(
        &self,
        host: usize,
        application: &model::Application,
        link_rate_bps: Option<u64>,
    ) -> Expanded {
        let start_ps = application.start_ps;
        let mut expanded = Expanded::default();
        let servers = &mut expanded.servers;
        let parts = &mut expanded.parts;
        let mut part = |application, destinations| parts.push(Part { application, destinations });
        match &application.kind {
            ApplicationKind::Ping { to, count, interval_ps, size_bytes, .. } => {
                for to in to {
                    let Some((destination, _)) = self.address(host, &to.value) else { continue };
                    let options = PingOptions {
                        start_ps,
                        interval_ps: *interval_ps,
                        count: Some(*count),
                        payload_bytes: *size_bytes as u32,
                        ..PingOptions::to(destination)
                    };
                    part(Application::Ping(options), vec![(destination, 0)]);
                }
            }
            ApplicationKind::Tcp { to, amount, rate_bps, parallel, tcp: options } => {
                let connection = tcp(options);
                let port = options.port.unwrap_or(DEFAULT_PORT);
                let server = Application::TcpServer(TcpServerOptions {
                    tcp: connection.clone(),
                    ..TcpServerOptions::at(port)
                });
                for destination in
                    self.destinations(host, to, ServerKind::Tcp, port, &server, servers)
                {
                    for _ in 0..*parallel {
                        let Limits { bytes, duration_ps, .. } = limits(amount);
                        let options = TcpBulkOptions {
                            start_ps,
                            bytes,
                            duration_ps,
                            rate_bps: *rate_bps,
                            tcp: connection.clone(),
                            ..TcpBulkOptions::to(destination)
                        };
                        part(Application::TcpBulk(options), vec![destination]);
                    }
                }
            }
            ApplicationKind::RequestResponse {
                to,
                request_bytes,
                response_bytes,
                count,
                interval_ps,
                tcp: options,
            } => {
                let connection = tcp(options);
                let port = options.port.unwrap_or(REQUEST_PORT);
                let server = Application::RequestServer(RequestServerOptions {
                    tcp: connection.clone(),
                    ..RequestServerOptions::at(port)
                });
                let all = self.destinations(host, to, ServerKind::Requests, port, &server, servers);
                for destination in all {
                    let options = RequestClientOptions {
                        start_ps,
                        rounds: Some(*count),
                        pause_ps: interval_ps.unwrap_or(0),
                        request_bytes: *request_bytes,
                        response_bytes: *response_bytes,
                        tcp: connection.clone(),
                        ..RequestClientOptions::to(vec![destination])
                    };
                    part(Application::Requests(options), vec![destination]);
                }
            }
            ApplicationKind::Incast { from, bytes, count, interval_ps, tcp: options } => {
                let connection = tcp(options);
                let port = options.port.unwrap_or(REQUEST_PORT);
                let server = Application::RequestServer(RequestServerOptions {
                    tcp: connection.clone(),
                    ..RequestServerOptions::at(port)
                });
                let from: Vec<Located<Destination>> = from
                    .iter()
                    .map(|from| Located { value: Destination::Host(from.value), span: from.span })
                    .collect();
                let all =
                    self.destinations(host, &from, ServerKind::Requests, port, &server, servers);
                let options = RequestClientOptions {
                    start_ps,
                    rounds: Some(*count),
                    pause_ps: interval_ps.unwrap_or(0),
                    response_bytes: *bytes,
                    tcp: connection,
                    ..RequestClientOptions::to(all.clone())
                };
                part(Application::Requests(options), all);
            }
            ApplicationKind::Udp { to, rate, size, amount, arrivals, port, source_port, tos } => {
                let port = port.unwrap_or(DEFAULT_PORT);
                let server = Application::UdpServer(UdpServerOptions::at(port));
                for destination in
                    self.destinations(host, to, ServerKind::Udp, port, &server, servers)
                {
                    let Limits { bytes, duration_ps, count } = limits(amount);
                    let datagrams = |bytes: u64| bytes.div_ceil(size.mean_bytes().max(1));
                    let count = count.or(bytes.map(datagrams));
                    let options = UdpSenderOptions {
                        source_port: *source_port,
                        start_ps,
                        rate_bps: match rate {
                            UdpRate::Bits(rate) => *rate,
                            UdpRate::Datagrams(rate) => rate.saturating_mul(size.mean_bytes() * 8),
                        },
                        sizes: match *size {
                            DatagramSize::Fixed(bytes) => PayloadSizes::Fixed(bytes as u32),
                            DatagramSize::Exponential(mean) => {
                                PayloadSizes::Exponential { mean: mean as f64, least: 1 }
                            }
                        },
                        departures: match arrivals {
                            model::Arrivals::Constant => Departures::Constant,
                            model::Arrivals::Poisson => Departures::Poisson,
                        },
                        count,
                        duration_ps,
                        tos: *tos,
                        ..UdpSenderOptions::to(destination)
                    };
                    part(Application::UdpSender(options), vec![destination]);
                }
            }
            ApplicationKind::Flows { to, sizes, rate, amount, tcp: options } => {
                let connection = tcp(options);
                let port = options.port.unwrap_or(DEFAULT_PORT);
                let server = Application::TcpServer(TcpServerOptions {
                    tcp: connection.clone(),
                    ..TcpServerOptions::at(port)
                });
                let destinations =
                    self.destinations(host, to, ServerKind::Tcp, port, &server, servers);
                let (load, rate_bps) = match rate {
                    FlowRate::Load(load) => (*load, link_rate_bps.unwrap_or(1_000_000_000)),
                    FlowRate::Bits(rate) => (1.0, *rate),
                };
                let arrivals = Arrivals::Poisson {
                    destinations,
                    sizes: self.flow_sizes(sizes),
                    load,
                    rate_bps,
                    start_ps,
                    duration_ps: limits(amount).duration_ps,
                    count: limits(amount).count,
                };
                part(Application::Flows(FlowsOptions { arrivals, tcp: connection }), Vec::new());
            }
            ApplicationKind::MemcachedServer { port, value_bytes, service_time_ps } => {
                let options = MemcachedServerOptions {
                    port: *port,
                    value_bytes: *value_bytes as u32,
                    service_ps: *service_time_ps,
                    ..MemcachedServerOptions::default()
                };
                let server = Application::MemcachedServer(options);
                servers.push(((host, ServerKind::Memcached, *port), server));
            }
            ApplicationKind::MemcachedClient {
                to,
                rate,
                keys,
                value_bytes,
                zipf,
                get_share,
                amount,
                port,
                ..
            } => {
                let server = Application::MemcachedServer(MemcachedServerOptions {
                    port: *port,
                    protocol: Protocol::Text,
                    keys: *keys,
                    value_bytes: *value_bytes as u32,
                    service_ps: 0,
                });
                let all =
                    self.destinations(host, to, ServerKind::Memcached, *port, &server, servers);
                for destination in all {
                    let options = MemcachedClientOptions {
                        start_ps,
                        pacing: Pacing::Poisson(*rate as f64),
                        count: limits(amount).count,
                        duration_ps: limits(amount).duration_ps,
                        get_share: *get_share,
                        keys: *keys,
                        zipf_exponent: zipf.unwrap_or(0.0),
                        value_bytes: *value_bytes as u32,
                        timeout_ps: SECOND_PS,
                        protocol: Protocol::Text,
                        ..MemcachedClientOptions::to(destination)
                    };
                    part(Application::MemcachedClient(options), vec![destination]);
                }
            }
            ApplicationKind::Replay { capture, scale } => {
                let packets = self.resources.captures.get(&capture.value);
                let frames = packets.into_iter().flatten().map(|(time_ps, bytes)| {
                    let after_ps = (*time_ps as f64 * scale) as u64;
                    (start_ps.saturating_add(after_ps), Frame::from(bytes.clone()))
                });
                let options = FrameSenderOptions { frames: frames.collect() };
                part(Application::FrameSender(options), Vec::new());
            }
            ApplicationKind::Trace {
                flows,
                packets,
                duration_ps,
                median,
                source_net,
                destination_net,
                sources,
                destinations,
                destination_mac,
            } => {
                let pool = |network: &Option<Prefix>, hosts: &Option<u64>| AddressPool {
                    network: network
                        .as_ref()
                        .and_then(network_of_trace)
                        .unwrap_or(Ipv4Network::ALL),
                    hosts: *hosts,
                };
                let trace = TraceOptions {
                    packets: packets.unwrap_or(flows.saturating_mul(24)),
                    flows: *flows,
                    duration_ps: *duration_ps,
                    median: *median,
                    sources: pool(source_net, sources),
                    destinations: pool(destination_net, destinations),
                    source_mac: MacAddress(self.network.hosts[host].mac().0),
                    destination_mac: destination_mac
                        .or(self.network.hosts[host].gateway_mac())
                        .map_or(MacAddress::BROADCAST, |mac| MacAddress(mac.0)),
                    seed: 0,
                };
                let options = TraceSenderOptions { trace, start_ps };
                part(Application::TraceSender(options), Vec::new());
            }
            ApplicationKind::Send { frames } => {
                let frames = frames.iter().flat_map(|frame| {
                    let begin_ps = start_ps.saturating_add(frame.at_ps);
                    (0..frame.count).map(move |number| {
                        let time_ps = begin_ps.saturating_add(number * frame.interval_ps);
                        (time_ps, Frame::from(frame.bytes.clone()))
                    })
                });
                let options = FrameSenderOptions { frames: frames.collect() };
                part(Application::FrameSender(options), Vec::new());
            }
            // Refused by `unsupported`.
            ApplicationKind::Command { .. } => {}
            ApplicationKind::Listen { port }
            | ApplicationKind::Sink { port }
            | ApplicationKind::Echo { port } => {
                let port = port.unwrap_or(DEFAULT_PORT);
                let echoes = matches!(application.kind, ApplicationKind::Echo { .. });
                let tcp = TcpServerOptions { echoes, ..TcpServerOptions::at(port) };
                let udp =
                    UdpServerOptions { echoes, has_stamps: false, ..UdpServerOptions::at(port) };
                servers.push(((host, ServerKind::Tcp, port), Application::TcpServer(tcp)));
                servers.push(((host, ServerKind::Udp, port), Application::UdpServer(udp)));
            }
        }
        expanded
    }

    fn flow_sizes(&self, sizes: &model::FlowSizes) -> FlowSizes {
        match sizes {
            model::FlowSizes::WebSearch => FlowSizes::WebSearch,
            model::FlowSizes::DataMining => FlowSizes::DataMining,
            model::FlowSizes::Points(points) => FlowSizes::Table(points.clone()),
            model::FlowSizes::File(name) => {
                let points = self.resources.flow_sizes.get(&name.value);
                FlowSizes::Table(points.cloned().unwrap_or_default())
            }
        }
    }
}

/// How much an application sends: at most one of them is given.
#[derive(Default)]
struct Limits {
    bytes: Option<u64>,
    duration_ps: Option<u64>,
    count: Option<u64>,
}

fn limits(amount: &Amount) -> Limits {
    let mut limits = Limits::default();
    match amount {
        Amount::Unlimited => {}
        Amount::Duration(time_ps) => limits.duration_ps = Some(*time_ps),
        Amount::Bytes(bytes) => limits.bytes = Some(*bytes),
        Amount::Count(count) => limits.count = Some(*count),
    }
    limits
}
