// SPDX-License-Identifier: Apache-2.0
//! [`Stack`]: a host's protocols below its applications: sockets, demultiplexing by hash maps, ICMP answers, and timers.

mod sockets;

use crate::interface::{Asked, HostOptions, Interface};
use crate::ports::{Datagram, EchoReply};
use crate::tcp::{Connection, Outgoing};
use crate::wire::arp::ArpPacket;
use crate::wire::ethernet::{self, EthernetHeader};
use crate::wire::icmp::{self, IcmpHeader};
use crate::wire::ipv4::{self, Ecn, Ipv4Header};
use crate::wire::tcp::{Flags, TcpHeader};
use crate::wire::udp::UdpHeader;
use crate::wire::{View, WireError};
use arithmetic::random::mix;
use arithmetic::random::stream::Stream;
use network::frame::Frame;
use network::node::{Note, Outbox};
use sockets::Sockets;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::Ipv4Addr;

/// The time to live of packets (Linux: 64).
const TTL: u8 = 64;
const PACKET_START: usize = ethernet::HEADER_BYTES;
const PAYLOAD_START: usize = PACKET_START + ipv4::HEADER_BYTES;
/// Purposes of random numbers.
const SEQUENCE_NUMBERS: u64 = 0x7463_7001;
const PROGRAMS: u64 = 0x7463_7002;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerTarget {
    Start { program: usize },
    Program { program: usize, token: u64 },
    Connection { id: usize },
    Arp { hop: Ipv4Addr },
    LoopBack,
}

/// What arrived for an application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Delivery<'a> {
    Nothing,
    /// A connection took a segment.
    Connection(usize),
    Datagram {
        program: usize,
        datagram: Datagram<'a>,
    },
    EchoReply {
        program: usize,
        reply: EchoReply,
    },
    Unreachable {
        program: usize,
        destination: Ipv4Addr,
    },
}

/// Protocols and timers of a host.
pub(crate) struct Stack {
    pub(crate) interface: Interface,
    sockets: Sockets,
    timers: BinaryHeap<Reverse<(u64, u64, TimerTarget)>>,
    timers_set: u64,
    identification: u16,
    sequence_numbers: Stream,
    seed: u64,
}

impl Stack {
    pub(crate) fn new(options: HostOptions, seed: u64) -> Stack {
        let [a, b, c, d, e, f] = options.mac.0;
        let seed = mix(seed ^ mix(u64::from_be_bytes([0, 0, a, b, c, d, e, f])));
        Stack {
            interface: Interface::new(options),
            sockets: Sockets::default(),
            timers: BinaryHeap::new(),
            timers_set: 0,
            identification: 0,
            sequence_numbers: Stream::new(seed, SEQUENCE_NUMBERS, 0),
            seed,
        }
    }

    /// The random numbers of a program.
    pub(crate) fn random(&self, program: usize) -> Stream {
        Stream::new(self.seed, PROGRAMS, program as u64)
    }

    pub(crate) fn set_timer(&mut self, time_ps: u64, target: TimerTarget) {
        self.timers_set += 1;
        self.timers.push(Reverse((time_ps, self.timers_set, target)));
    }

    #[inline]
    pub(crate) fn next_timer_ps(&self) -> Option<u64> {
        self.timers.peek().map(|Reverse((time_ps, ..))| *time_ps)
    }

    /// Takes the next timer that is due.
    pub(crate) fn take_timer(&mut self, now_ps: u64) -> Option<(u64, TimerTarget)> {
        let due = self.timers.peek().is_some_and(|Reverse((time_ps, ..))| *time_ps <= now_ps);
        let Reverse((time_ps, _, target)) = if due { self.timers.pop()? } else { return None };
        Some((time_ps, target))
    }

    /// Sends an IPv4 packet whose payload `write` appends.
    #[inline]
    fn send(
        &mut self,
        header: &Ipv4Header,
        outbox: &mut Outbox,
        write: impl FnOnce(&mut Vec<u8>) -> u32,
    ) {
        let mut bytes = self.interface.buffer();
        bytes.resize(PAYLOAD_START, 0);
        let absent_bytes = write(&mut bytes);
        self.identification = self.identification.wrapping_add(1);
        let header = Ipv4Header { identification: self.identification, ..*header };
        let payload_bytes = bytes.len() - PAYLOAD_START + absent_bytes as usize;
        bytes[PACKET_START..PAYLOAD_START].copy_from_slice(&header.to_bytes(payload_bytes));
        let frame = Frame { bytes, absent_bytes };
        match self.interface.send_packet(header.destination, frame, outbox) {
            Asked::Nothing => {}
            Asked::RetryAt(time_ps) => {
                if let Some(hop) = self.interface.options.next_hop(header.destination) {
                    self.set_timer(time_ps, TimerTarget::Arp { hop });
                }
            }
            Asked::LoopBack => self.set_timer(outbox.now_ps(), TimerTarget::LoopBack),
        }
    }

    /// Takes a frame that arrived.
    #[inline]
    pub(crate) fn receive<'f>(&mut self, frame: &'f Frame, outbox: &mut Outbox) -> Delivery<'f> {
        let statistics = &mut self.interface.statistics;
        statistics.received += 1;
        statistics.received_bytes += frame.length_bytes();
        if !outbox.wants_notes() {
            return self.deliver(frame, outbox);
        }
        let before = *statistics;
        let delivery = self.deliver(frame, outbox);
        if let Some(reason) = self.interface.statistics.refusal_since(&before) {
            outbox.note(|| Note::Dropped { reason, frame: frame.clone() });
        }
        delivery
    }

    #[inline]
    fn deliver<'f>(&mut self, frame: &'f Frame, outbox: &mut Outbox) -> Delivery<'f> {
        let view = View { bytes: &frame.bytes, absent_bytes: frame.absent_bytes };
        match self.read(view, outbox) {
            Ok(delivery) => delivery,
            Err(error) => {
                let statistics = &mut self.interface.statistics;
                match error {
                    WireError::Checksum => statistics.dropped_checksum += 1,
                    _ => statistics.dropped_malformed += 1,
                }
                Delivery::Nothing
            }
        }
    }

    #[inline]
    fn read<'f>(
        &mut self,
        frame: View<'f>,
        outbox: &mut Outbox,
    ) -> Result<Delivery<'f>, WireError> {
        let (header, packet) = EthernetHeader::read(frame)?;
        if header.destination != self.interface.options.mac && !header.destination.is_group() {
            self.interface.statistics.dropped_not_for_host += 1;
            return Ok(Delivery::Nothing);
        }
        match header.ether_type {
            ethernet::IPV4 => self.read_ipv4(packet, outbox),
            ethernet::ARP => {
                let arp = ArpPacket::read(packet)?;
                self.interface.receive_arp(&arp, outbox);
                Ok(Delivery::Nothing)
            }
            _ => Err(WireError::Malformed),
        }
    }

    #[inline]
    fn read_ipv4<'f>(
        &mut self,
        packet: View<'f>,
        outbox: &mut Outbox,
    ) -> Result<Delivery<'f>, WireError> {
        let (header, payload) = Ipv4Header::read(packet)?;
        if !self.interface.accepts(header.destination) {
            self.interface.statistics.dropped_not_for_host += 1;
            return Ok(Delivery::Nothing);
        }
        match header.protocol {
            ipv4::TCP => {
                let (tcp, data) = TcpHeader::read(header.source, header.destination, payload)?;
                Ok(self.receive_segment(&header, &tcp, data, outbox))
            }
            ipv4::UDP => {
                let (udp, data) = UdpHeader::read(header.source, header.destination, payload)?;
                let Some(program) = self.sockets.udp(udp.destination_port) else {
                    self.interface.statistics.dropped_no_socket += 1;
                    self.answer_unreachable(&header, packet, outbox);
                    return Ok(Delivery::Nothing);
                };
                let datagram = Datagram {
                    source: (header.source, udp.source_port),
                    ecn: header.ecn,
                    payload: data,
                };
                Ok(Delivery::Datagram { program, datagram })
            }
            ipv4::ICMP => self.receive_icmp(&header, payload, outbox),
            _ => Err(WireError::Malformed),
        }
    }

    fn receive_icmp<'f>(
        &mut self,
        header: &Ipv4Header,
        message: View<'f>,
        outbox: &mut Outbox,
    ) -> Result<Delivery<'f>, WireError> {
        let (icmp, payload) = IcmpHeader::read(message)?;
        match icmp {
            IcmpHeader::EchoRequest { identifier, sequence } => {
                let is_own = self.interface.has_address(header.destination);
                if is_own && self.interface.options.answers_ping {
                    let reply = Ipv4Header {
                        source: header.destination,
                        destination: header.source,
                        protocol: ipv4::ICMP,
                        ttl: TTL,
                        ..*header
                    };
                    let message = IcmpHeader::EchoReply { identifier, sequence };
                    self.send(&reply, outbox, |to| message.write(payload, to));
                }
                Ok(Delivery::Nothing)
            }
            IcmpHeader::EchoReply { identifier, sequence } => {
                let reply = EchoReply {
                    source: header.source,
                    sequence,
                    ttl: header.ttl,
                    payload_bytes: payload.length() as u32,
                };
                Ok(Delivery::EchoReply { program: identifier.into(), reply })
            }
            IcmpHeader::Unreachable { .. } | IcmpHeader::TimeExceeded => {
                Ok(self.unreachable(payload))
            }
            IcmpHeader::Other { .. } => Ok(Delivery::Nothing),
        }
    }

    /// The program that sent a packet of which the begin came back.
    fn unreachable(&self, packet: View<'_>) -> Delivery<'static> {
        // The packet is cut, so that its length is not checked.
        let Ok(bytes) = packet.header::<{ ipv4::HEADER_BYTES + icmp::HEADER_BYTES }>() else {
            return Delivery::Nothing;
        };
        if bytes[0] != 0x45 {
            return Delivery::Nothing;
        }
        let destination = Ipv4Addr::new(bytes[16], bytes[17], bytes[18], bytes[19]);
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let program = match bytes[9] {
            ipv4::ICMP => Some(usize::from(word(24))),
            ipv4::UDP => self.sockets.udp(word(20)),
            _ => None,
        };
        program.map_or(Delivery::Nothing, |program| Delivery::Unreachable { program, destination })
    }

    /// Answers a datagram for a port without a socket, with the begin of its packet.
    fn answer_unreachable(&mut self, header: &Ipv4Header, packet: View<'_>, outbox: &mut Outbox) {
        if !self.interface.has_address(header.destination) {
            return;
        }
        let answer = Ipv4Header {
            source: header.destination,
            destination: header.source,
            protocol: ipv4::ICMP,
            dscp: 0,
            ecn: Ecn::NotCapable,
            ttl: TTL,
            identification: 0,
        };
        let begin = packet.take(ipv4::HEADER_BYTES + icmp::HEADER_BYTES);
        let message = IcmpHeader::Unreachable { code: icmp::PORT_UNREACHABLE };
        self.send(&answer, outbox, |to| message.write(begin, to));
    }

    pub(crate) fn send_echo(
        &mut self,
        destination: Ipv4Addr,
        identifier: u16,
        sequence: u16,
        payload: View<'_>,
        outbox: &mut Outbox,
    ) {
        let message = IcmpHeader::EchoRequest { identifier, sequence };
        if let Some(header) = self.header_to(destination, ipv4::ICMP, 0) {
            self.send(&header, outbox, |to| message.write(payload, to));
        }
    }

    pub(crate) fn send_datagram(
        &mut self,
        source_port: u16,
        destination: (Ipv4Addr, u16),
        tos: u8,
        payload: View<'_>,
        outbox: &mut Outbox,
    ) {
        if let Some(header) = self.header_to(destination.0, ipv4::UDP, tos) {
            let udp = UdpHeader { source_port, destination_port: destination.1 };
            self.send(&header, outbox, |to| {
                udp.write(header.source, header.destination, payload, to)
            });
        }
    }

    fn header_to(&mut self, destination: Ipv4Addr, protocol: u8, tos: u8) -> Option<Ipv4Header> {
        let Some(source) = self.interface.source_for(destination) else {
            self.interface.statistics.dropped_no_route += 1;
            return None;
        };
        let (dscp, ecn) = (tos >> 2, Ecn::from_bits(tos));
        Some(Ipv4Header { source, destination, protocol, dscp, ecn, ttl: TTL, identification: 0 })
    }

    #[inline]
    fn receive_segment(
        &mut self,
        header: &Ipv4Header,
        tcp: &TcpHeader,
        payload: View<'_>,
        outbox: &mut Outbox,
    ) -> Delivery<'static> {
        let ends = (header.destination, header.source);
        if let Some(id) = self.sockets.find(ends, tcp) {
            if let Some(connection) = self.sockets.connection_mut(id) {
                connection.receive(outbox.now_ps(), tcp, payload, header.ecn);
            }
            return Delivery::Connection(id);
        }
        let first_sequence = self.sequence_numbers.bits() as u32;
        let segment_bytes = self.interface.options.mtu_bytes.saturating_sub(40);
        if let Some(id) = self.sockets.accept(ends, tcp, first_sequence, segment_bytes) {
            return Delivery::Connection(id);
        }
        self.interface.statistics.dropped_no_socket += 1;
        if !tcp.flags.contains(Flags::RST) {
            let answer = reset(tcp, payload.length());
            self.send_segment(ends, &answer, outbox);
        }
        Delivery::Nothing
    }

    #[inline]
    fn send_segment(
        &mut self,
        (source, destination): (Ipv4Addr, Ipv4Addr),
        outgoing: &Outgoing,
        outbox: &mut Outbox,
    ) {
        let header = Ipv4Header {
            source,
            destination,
            protocol: ipv4::TCP,
            dscp: 0,
            ecn: outgoing.ecn,
            ttl: TTL,
            identification: 0,
        };
        self.send(&header, outbox, |to| {
            outgoing.header.write(source, destination, outgoing.payload.view(), to)
        });
    }

    /// Sends what a connection has to send, and sets its timer.
    #[inline]
    pub(crate) fn flush(&mut self, id: usize, outbox: &mut Outbox) {
        let now_ps = outbox.now_ps();
        let Some(ends) = self.sockets.ends(id) else { return };
        while let Some(outgoing) = self.sockets.poll(id, now_ps) {
            let sent_before = self.interface.statistics.sent;
            self.send_segment(ends, &outgoing, outbox);
            // Segments that wait for ARP, are dropped or go to this host are not in the port.
            let payload_bytes = outgoing.payload.length();
            if payload_bytes > 0 && self.interface.statistics.sent > sent_before {
                self.sockets.note_in_port(id, self.interface.idle_from_ps(), payload_bytes);
            }
        }
        if let Some(time_ps) = self.sockets.timer_to_set(id) {
            self.set_timer(time_ps, TimerTarget::Connection { id });
        }
    }

    /// Has the host remove a connection that a program aborted.
    #[inline]
    pub(crate) fn finish_later(&mut self, id: usize, now_ps: u64) {
        if self.sockets.is_aborted(id, now_ps) {
            self.set_timer(now_ps, TimerTarget::Connection { id });
        }
    }

    /// A timer of a connection expired. Returns whether it was the connection's latest.
    pub(crate) fn expire(&mut self, id: usize, timer_ps: u64, now_ps: u64) -> bool {
        self.sockets.expire(id, timer_ps, now_ps)
    }

    /// Opens a connection.
    pub(crate) fn connect(
        &mut self,
        program: usize,
        remote: (Ipv4Addr, u16),
        options: &crate::tcp::TcpOptions,
        keeps_bytes: bool,
    ) -> Option<usize> {
        let source = self.interface.source_for(remote.0)?;
        let segment_bytes = self.interface.options.mtu_bytes.saturating_sub(40);
        let first_sequence = self.sequence_numbers.bits() as u32;
        self.sockets.connect(program, (source, remote), |ports| {
            let options = options.clone();
            Connection::connect(options, ports, first_sequence, segment_bytes, keeps_bytes)
        })
    }

    pub(crate) fn connection(&self, id: usize) -> Option<&Connection> {
        self.sockets.connection(id)
    }

    pub(crate) fn connection_mut(&mut self, id: usize) -> Option<&mut Connection> {
        self.sockets.connection_mut(id)
    }

    /// Takes what happened to a connection, with the program that owns it.
    #[inline]
    pub(crate) fn take_events(&mut self, id: usize) -> Option<(usize, crate::tcp::TcpEvents)> {
        self.sockets.take_events(id)
    }

    pub(crate) fn remote(&self, id: usize) -> Option<(Ipv4Addr, u16)> {
        let (_, address) = self.sockets.ends(id)?;
        Some((address, self.sockets.connection(id)?.ports().1))
    }

    /// Removes a connection that is over.
    pub(crate) fn remove_if_closed(&mut self, id: usize) {
        self.sockets.remove_if_closed(id);
    }

    pub(crate) fn bind_free_udp(&mut self, program: usize) -> Option<u16> {
        self.sockets.bind_free_udp(program)
    }

    /// Has a program serve a port. False if another one does.
    pub(crate) fn bind(&mut self, program: usize, binding: &crate::program::Binding) -> bool {
        self.sockets.bind(program, binding)
    }
}

/// The answer to a segment without a connection (RFC 9293 section 3.10.7.1).
fn reset(tcp: &TcpHeader, payload_bytes: usize) -> Outgoing {
    let has_ack = tcp.flags.contains(Flags::ACK);
    let length = payload_bytes as u32
        + u32::from(tcp.flags.contains(Flags::SYN))
        + u32::from(tcp.flags.contains(Flags::FIN));
    let header = TcpHeader {
        source_port: tcp.destination_port,
        destination_port: tcp.source_port,
        sequence: if has_ack { tcp.acknowledgement } else { 0 },
        acknowledgement: if has_ack { 0 } else { tcp.sequence.wrapping_add(length) },
        flags: if has_ack { Flags::RST } else { Flags::RST | Flags::ACK },
        ..TcpHeader::default()
    };
    Outgoing { header, payload: Default::default(), ecn: Ecn::NotCapable }
}
