// SPDX-License-Identifier: Apache-2.0
//! [`Flow`]: the packets of one flow of a trace: TCP with SYN, FIN and counting sequence numbers, or UDP.

use super::addresses::Endpoints;
use super::plan::PlannedFlow;
use crate::wire::View;
use crate::wire::ipv4::{self, Ecn, Ipv4Header};
use crate::wire::tcp::{Flags, Options, TcpHeader};
use crate::wire::udp::UdpHeader;
use arithmetic::random::stream::Stream;
use network::frame::Frame;

/// The share of flows that are TCP.
const TCP_SHARE: f64 = 0.88;
/// Shares of TCP flows that are the data, and the acknowledgements, of a transfer. The others are mixed.
const DATA_SHARE: f64 = 0.25;
const ACKNOWLEDGEMENT_SHARE: f64 = 0.2;
/// The largest IPv4 packet.
const MTU_BYTES: u16 = 1500;
/// Packets of UDP that carry data: QUIC's.
const QUIC_BYTES: u16 = 1278;
/// Time between packets of a train.
const TRAIN_GAP_NS: f64 = 12_000.0;
/// Purpose of random numbers.
const FLOW: u64 = 0x7472_6105;
const KIND: u64 = 0x7472_6106;
/// Services and their shares, over TCP and over UDP.
const TCP_SERVICES: &[(u16, f64)] =
    &[(443, 0.68), (80, 0.17), (22, 0.03), (25, 0.03), (993, 0.03), (8080, 0.03), (1935, 0.03)];
const UDP_SERVICES: &[(u16, f64)] = &[(443, 0.5), (53, 0.35), (123, 0.05), (3478, 0.1)];

/// Shares of small, large and other packets.
#[derive(Clone, Copy, Debug)]
struct Mix {
    small: f64,
    large: f64,
}

const DATA: Mix = Mix { small: 0.03, large: 0.92 };
const ACKNOWLEDGEMENTS: Mix = Mix { small: 0.95, large: 0.01 };
const MIXED: Mix = Mix { small: 0.4, large: 0.42 };

/// A flow in progress.
#[derive(Debug)]
pub(super) struct Flow {
    random: Stream,
    header: Ipv4Header,
    ports: (u16, u16),
    mix: Mix,
    has_timestamps: bool,
    is_first: bool,
    number: u32,
    sequence: u32,
    acknowledgement: u32,
    left: u32,
    /// Packets left in the train.
    train: u32,
    /// The mean number of packets in a train.
    mean_train: f64,
    next_ns: u64,
    end_ns: u64,
}

impl Flow {
    pub(super) fn new(planned: &PlannedFlow, endpoints: &mut Endpoints, seed: u64) -> Flow {
        let mut random = Stream::new(seed, FLOW, planned.number.into());
        let ends = endpoints.of_flow(planned.number);
        let is_tcp = random.chance(TCP_SHARE);
        let kind = kind_of(planned.number, seed);
        let mix = match kind {
            share if share < DATA_SHARE => DATA,
            share if share < DATA_SHARE + ACKNOWLEDGEMENT_SHARE => ACKNOWLEDGEMENTS,
            _ => MIXED,
        };
        let service = service(if is_tcp { TCP_SERVICES } else { UDP_SERVICES }, random.fraction());
        // Servers send data, clients acknowledge it.
        let is_of_server = match kind {
            share if share < DATA_SHARE => true,
            share if share < DATA_SHARE + ACKNOWLEDGEMENT_SHARE => false,
            _ => random.chance(0.5),
        };
        let distance = random.up_to(20) as u8;
        let initial_ttl = if random.chance(0.6) { 64 } else { 128 };
        let header = Ipv4Header {
            source: ends.source,
            destination: ends.destination,
            protocol: if is_tcp { ipv4::TCP } else { ipv4::UDP },
            dscp: 0,
            ecn: Ecn::NotCapable,
            ttl: initial_ttl - 4 - distance,
            identification: random.bits() as u16,
        };
        let mut flow = Flow {
            header,
            ports: match is_of_server {
                true => (service, ends.client_port),
                false => (ends.client_port, service),
            },
            mix,
            has_timestamps: random.chance(0.5),
            is_first: true,
            number: planned.number,
            sequence: random.bits() as u32,
            acknowledgement: random.bits() as u32,
            left: planned.packets,
            train: 0,
            mean_train: (f64::from(planned.packets) / 8.0).clamp(1.0, 4.0),
            next_ns: planned.start_ns,
            end_ns: planned.end_ns,
            random,
        };
        flow.schedule();
        flow
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Draws the time of the next packet: soon after the last one in its train, or the first of as many random times up to
    /// the end as trains are left.
    fn schedule(&mut self) {
        let left_ns = (self.end_ns - self.next_ns) as f64;
        let gap_ns = if self.train > 0 {
            let fair_ns = left_ns / f64::from(self.left);
            self.random.exponential(TRAIN_GAP_NS.min(fair_ns))
        } else {
            self.train = 1 + self.random.exponential(self.mean_train - 1.0) as u32;
            // The last train is short on average.
            let trains = f64::from(self.left - 1) / self.mean_train + 1.0;
            left_ns * (1.0 - libm::pow(1.0 - self.random.fraction(), 1.0 / trains))
        };
        self.train -= 1;
        self.next_ns += gap_ns.min(left_ns) as u64;
    }

    /// Appends the next packet to a frame. Returns the length of its IPv4 packet.
    pub(super) fn write_packet(&mut self, frame: &mut Frame) -> u16 {
        self.left -= 1;
        let start = frame.bytes.len();
        frame.bytes.resize(start + ipv4::HEADER_BYTES, 0);
        let size = self.random.fraction();
        frame.absent_bytes = match self.header.protocol {
            ipv4::TCP => self.write_segment(size, frame),
            _ => self.write_datagram(size, frame),
        };
        let payload_bytes =
            frame.bytes.len() - start - ipv4::HEADER_BYTES + frame.absent_bytes as usize;
        self.header.identification = self.header.identification.wrapping_add(1);
        let header = self.header.to_bytes(payload_bytes);
        frame.bytes[start..start + ipv4::HEADER_BYTES].copy_from_slice(&header);
        if self.left > 0 {
            self.schedule();
        }
        (ipv4::HEADER_BYTES + payload_bytes) as u16
    }

    fn write_segment(&mut self, size: f64, frame: &mut Frame) -> u32 {
        let (is_first, is_last) = (std::mem::take(&mut self.is_first), self.left == 0);
        let clock = (self.next_ns / 1_000_000) as u32;
        let mut options = Options {
            timestamps: self.has_timestamps.then_some((clock, clock.wrapping_sub(20))),
            ..Options::default()
        };
        let flags = match (is_first, is_last) {
            (true, _) => {
                options.maximum_segment_size = Some(MTU_BYTES - 40);
                options.window_scale = Some(7);
                options.sack_permitted = true;
                Flags::SYN
            }
            (false, true) => Flags::FIN | Flags::ACK,
            (false, false) => Flags::ACK,
        };
        let mut tcp = TcpHeader {
            source_port: self.ports.0,
            destination_port: self.ports.1,
            sequence: self.sequence,
            acknowledgement: if is_first { 0 } else { self.acknowledgement },
            flags,
            window: 501,
            options,
        };
        let most = MTU_BYTES - ipv4::HEADER_BYTES as u16 - tcp.length() as u16;
        let payload_bytes = match () {
            () if is_first || is_last || size < self.mix.small => 0,
            () if size < self.mix.small + self.mix.large => most,
            () => self.other(most),
        };
        if payload_bytes > 0 && payload_bytes < most {
            tcp.flags = tcp.flags | Flags::PSH;
        }
        self.sequence = self
            .sequence
            .wrapping_add(u32::from(payload_bytes) + u32::from(is_first) + u32::from(is_last));
        if payload_bytes == 0 {
            // Every second segment of the other end is acknowledged.
            self.acknowledgement = self.acknowledgement.wrapping_add(2 * 1448);
        }
        let payload = View { bytes: &[], absent_bytes: payload_bytes.into() };
        let (source, destination) = (self.header.source.into(), self.header.destination.into());
        tcp.write(source, destination, payload, &mut frame.bytes)
    }

    fn write_datagram(&mut self, size: f64, frame: &mut Frame) -> u32 {
        const HEADERS: u16 = ipv4::HEADER_BYTES as u16 + crate::wire::udp::HEADER_BYTES as u16;
        let payload_bytes = match () {
            () if size < self.mix.small => 16 + self.random.up_to(20) as u16,
            () if size < self.mix.small + self.mix.large => QUIC_BYTES - HEADERS,
            () => self.other(QUIC_BYTES - HEADERS),
        };
        let udp = UdpHeader { source_port: self.ports.0, destination_port: self.ports.1 };
        let payload = View { bytes: &[], absent_bytes: payload_bytes.into() };
        let (source, destination) = (self.header.source.into(), self.header.destination.into());
        udp.write(source, destination, payload, &mut frame.bytes)
    }

    /// A payload between the small and the large ones.
    fn other(&mut self, most: u16) -> u16 {
        40 + self.random.up_to(u64::from(most) - 41) as u16
    }
}

/// A number from 0 to 1 that decides what a flow carries. Flows of nearly the same size have spread numbers (a golden ratio
/// apart), so that a few large flows do not decide the mean packet.
fn kind_of(number: u32, seed: u64) -> f64 {
    let step = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let first = Stream::new(seed, KIND, 0).bits();
    (first.wrapping_add(step) >> 11) as f64 / (1u64 << 53) as f64
}

/// The service at a share.
fn service(services: &[(u16, f64)], mut share: f64) -> u16 {
    for (port, part) in services {
        share -= part;
        if share < 0.0 {
            return *port;
        }
    }
    services.last().map_or(0, |(port, _)| *port)
}
