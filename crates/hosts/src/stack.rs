// SPDX-License-Identifier: Apache-2.0
//! [`Stack`]: a host's protocols below its applications: sockets, demultiplexing by hash maps, ICMP answers, and timers.

mod icmp;
mod sockets;

use crate::interface::{HostOptions, Interface, InterfaceStatistics};
use crate::ports::{Datagram, EchoReply};
use crate::routing::Routing;
use crate::tcp::{Connection, Outgoing};
use crate::wire::arp::ArpPacket;
use crate::wire::ethernet::{self, EthernetHeader};
use crate::wire::icmp::IcmpHeader;
use crate::wire::icmpv6::{self, Icmpv6};
use crate::wire::ip::IpHeader;
use crate::wire::ipv4::{self, Ecn};
use crate::wire::ipv6;
use crate::wire::tcp::{Flags, TcpHeader};
use crate::wire::udp::UdpHeader;
use crate::wire::{View, WireError};
use arithmetic::random::mix;
use arithmetic::random::stream::Stream;
use network::frame::Frame;
use network::node::{Note, Outbox};
use sockets::Sockets;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::IpAddr;

/// The time to live, or hop limit, of packets (Linux: 64).
const TTL: u8 = 64;
const PACKET_START: usize = ethernet::HEADER_BYTES;
/// Purposes of random numbers.
const SEQUENCE_NUMBERS: u64 = 0x7463_7001;
const PROGRAMS: u64 = 0x7463_7002;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerTarget {
    Start { program: usize },
    Program { program: usize, token: u64 },
    Connection { id: usize },
    Neighbor { interface: usize, hop: IpAddr },
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
        destination: IpAddr,
    },
}

/// Protocols and timers of a host.
pub(crate) struct Stack {
    pub(crate) options: HostOptions,
    pub(crate) interfaces: Vec<Interface>,
    routing: Routing,
    /// Packets that the host sent to itself.
    looped_back: VecDeque<Frame>,
    sockets: Sockets,
    timers: BinaryHeap<Reverse<(u64, u64, TimerTarget)>>,
    timers_set: u64,
    identification: u16,
    sequence_numbers: Stream,
    seed: u64,
}

impl Stack {
    pub(crate) fn new(options: HostOptions, seed: u64) -> Stack {
        let [a, b, c, d, e, f] = options.interfaces.first().map_or([0; 6], |first| first.mac.0);
        let seed = mix(seed ^ mix(u64::from_be_bytes([0, 0, a, b, c, d, e, f])));
        Stack {
            interfaces: Interface::all(&options),
            routing: Routing::new(&options),
            options,
            looped_back: VecDeque::new(),
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

    /// The counters of all interfaces at a time.
    pub(crate) fn statistics_at(&self, now_ps: u64) -> InterfaceStatistics {
        let mut sum = InterfaceStatistics::default();
        for interface in &self.interfaces {
            sum.add(&interface.statistics_at(now_ps));
        }
        sum
    }

    /// Takes the next packet that the host sent to itself.
    pub(crate) fn take_looped_back(&mut self) -> Option<Frame> {
        self.looped_back.pop_front()
    }

    /// Asks again for the address of a neighbour.
    pub(crate) fn retry_neighbor(&mut self, interface: usize, hop: IpAddr, outbox: &mut Outbox) {
        let own = self.routing.address_near(interface, hop);
        if let Some(again_ps) = self.interfaces[interface].retry(hop, own, outbox) {
            self.set_timer(again_ps, TimerTarget::Neighbor { interface, hop });
        }
    }

    /// Sends an IP packet whose payload `write` appends.
    #[inline]
    fn send(
        &mut self,
        header: &IpHeader,
        outbox: &mut Outbox,
        write: impl FnOnce(&mut Vec<u8>) -> u32,
    ) {
        let destination = header.destination;
        let hop = self.routing.hop(destination);
        let interface = hop.map_or(0, |hop| hop.interface);
        let payload_start = PACKET_START + IpHeader::length_for(destination);
        let mut bytes = self.interfaces[interface].buffer();
        bytes.resize(payload_start, 0);
        let absent_bytes = write(&mut bytes);
        self.identification = self.identification.wrapping_add(1);
        let payload_bytes = bytes.len() - payload_start + absent_bytes as usize;
        header.write(payload_bytes, self.identification, &mut bytes[PACKET_START..]);
        let mut frame = Frame { bytes, absent_bytes };
        if self.routing.has_address(destination) {
            let interface = &self.interfaces[0];
            interface.address_frame(&mut frame, interface.options.mac, destination);
            self.looped_back.push_back(frame);
            self.set_timer(outbox.now_ps(), TimerTarget::LoopBack);
            return;
        }
        let is_for_group = match destination {
            IpAddr::V4(address) => {
                address.is_multicast()
                    || address.is_broadcast()
                    || self.routing.is_broadcast(destination)
            }
            IpAddr::V6(address) => address.is_multicast(),
        };
        if is_for_group {
            self.interfaces[interface].send_to_group(destination, frame, outbox);
            return;
        }
        let Some(hop) = hop else {
            self.interfaces[0].statistics.dropped_no_route += 1;
            outbox.note(|| Note::Dropped { reason: "no route", frame });
            return;
        };
        let routing = &self.routing;
        let own = || routing.address_near(interface, hop.address);
        let retry_ps = self.interfaces[interface].send_to_neighbor(hop.address, frame, own, outbox);
        if let Some(time_ps) = retry_ps {
            self.set_timer(time_ps, TimerTarget::Neighbor { interface, hop: hop.address });
        }
    }

    /// Takes a frame that arrived at an interface.
    #[inline]
    pub(crate) fn receive<'f>(
        &mut self,
        interface: usize,
        frame: &'f Frame,
        outbox: &mut Outbox,
    ) -> Delivery<'f> {
        let statistics = &mut self.interfaces[interface].statistics;
        statistics.received += 1;
        statistics.received_bytes += frame.length_bytes();
        if !outbox.wants_notes() {
            return self.deliver(interface, frame, outbox);
        }
        let before = *statistics;
        let delivery = self.deliver(interface, frame, outbox);
        if let Some(reason) = self.interfaces[interface].statistics.refusal_since(&before) {
            outbox.note(|| Note::Dropped { reason, frame: frame.clone() });
        }
        delivery
    }

    #[inline]
    fn deliver<'f>(
        &mut self,
        interface: usize,
        frame: &'f Frame,
        outbox: &mut Outbox,
    ) -> Delivery<'f> {
        let view = View { bytes: &frame.bytes, absent_bytes: frame.absent_bytes };
        match self.read(interface, view, outbox) {
            Ok(delivery) => delivery,
            Err(error) => {
                let statistics = &mut self.interfaces[interface].statistics;
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
        interface: usize,
        frame: View<'f>,
        outbox: &mut Outbox,
    ) -> Result<Delivery<'f>, WireError> {
        let (header, packet) = EthernetHeader::read(frame)?;
        let own = &mut self.interfaces[interface];
        if header.destination != own.options.mac && !header.destination.is_group() {
            own.statistics.dropped_not_for_host += 1;
            return Ok(Delivery::Nothing);
        }
        let (header, payload) = match header.ether_type {
            ethernet::IPV4 => IpHeader::read_ipv4(packet)?,
            ethernet::IPV6 => IpHeader::read_ipv6(packet)?,
            ethernet::ARP => {
                let arp = ArpPacket::read(packet)?;
                let is_asked = self.routing.has_address(arp.target.into());
                own.receive_arp(&arp, is_asked, outbox);
                return Ok(Delivery::Nothing);
            }
            _ => return Err(WireError::Malformed),
        };
        if !self.routing.accepts(header.destination) {
            own.statistics.dropped_not_for_host += 1;
            return Ok(Delivery::Nothing);
        }
        match (header.protocol, header.source, header.destination) {
            (ipv4::TCP, source, destination) => {
                let (tcp, data) = TcpHeader::read(source, destination, payload)?;
                Ok(self.receive_segment(interface, &header, &tcp, data, outbox))
            }
            (ipv4::UDP, source, destination) => {
                let (udp, data) = UdpHeader::read(source, destination, payload)?;
                let Some(program) = self.sockets.udp(udp.destination_port) else {
                    own.statistics.dropped_no_socket += 1;
                    self.answer_unreachable(&header, packet, outbox);
                    return Ok(Delivery::Nothing);
                };
                let datagram =
                    Datagram { source: (source, udp.source_port), ecn: header.ecn, payload: data };
                Ok(Delivery::Datagram { program, datagram })
            }
            (ipv4::ICMP, IpAddr::V4(_), _) => {
                let (icmp, payload) = IcmpHeader::read(payload)?;
                Ok(self.receive_icmp(&header, icmp, payload, outbox))
            }
            (ipv6::ICMP, IpAddr::V6(source), IpAddr::V6(destination)) => {
                match Icmpv6::read(source, destination, payload)? {
                    Icmpv6::Common(icmp, payload) => {
                        Ok(self.receive_icmp(&header, icmp, payload, outbox))
                    }
                    Icmpv6::Neighbor(message) => {
                        if header.ttl != icmpv6::NEIGHBOR_HOP_LIMIT {
                            return Err(WireError::Malformed);
                        }
                        let is_asked = match message {
                            icmpv6::Neighbor::Solicitation { target, .. } => {
                                self.routing.has_address(target.into())
                            }
                            icmpv6::Neighbor::Advertisement { .. } => false,
                        };
                        own.receive_neighbor(source, &message, is_asked, outbox);
                        Ok(Delivery::Nothing)
                    }
                }
            }
            _ => Err(WireError::Malformed),
        }
    }

    pub(crate) fn send_datagram(
        &mut self,
        source_port: u16,
        destination: (IpAddr, u16),
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

    fn header_to(&mut self, destination: IpAddr, protocol: u8, tos: u8) -> Option<IpHeader> {
        let Some(source) = self.routing.source_for(destination) else {
            self.interfaces[0].statistics.dropped_no_route += 1;
            return None;
        };
        let (dscp, ecn) = (tos >> 2, Ecn::from_bits(tos));
        Some(IpHeader { source, destination, protocol, dscp, ecn, ttl: TTL })
    }

    /// The most payload of a segment to an address.
    #[inline]
    fn segment_bytes(&self, destination: IpAddr) -> u16 {
        let most = self.options.most_payload_bytes(destination);
        most.saturating_sub(crate::wire::tcp::HEADER_BYTES as u32) as u16
    }

    #[inline]
    fn receive_segment(
        &mut self,
        interface: usize,
        header: &IpHeader,
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
        let segment_bytes = self.segment_bytes(header.source);
        if let Some(id) = self.sockets.accept(ends, tcp, first_sequence, segment_bytes) {
            return Delivery::Connection(id);
        }
        self.interfaces[interface].statistics.dropped_no_socket += 1;
        if !tcp.flags.contains(Flags::RST) {
            let answer = reset(tcp, payload.length());
            self.send_segment(ends, &answer, outbox);
        }
        Delivery::Nothing
    }

    #[inline]
    fn send_segment(
        &mut self,
        (source, destination): (IpAddr, IpAddr),
        outgoing: &Outgoing,
        outbox: &mut Outbox,
    ) {
        let header = IpHeader {
            source,
            destination,
            protocol: ipv4::TCP,
            dscp: 0,
            ecn: outgoing.ecn,
            ttl: TTL,
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
        let interface = self.routing.hop(ends.1).map_or(0, |hop| hop.interface);
        while let Some(outgoing) = self.sockets.poll(id, now_ps) {
            let sent_before = self.interfaces[interface].statistics.sent;
            self.send_segment(ends, &outgoing, outbox);
            // Segments that wait for a neighbour's address, are dropped or go to this host are not in the port.
            let payload_bytes = outgoing.payload.length();
            let interface = &self.interfaces[interface];
            if payload_bytes > 0 && interface.statistics.sent > sent_before {
                self.sockets.note_in_port(id, interface.idle_from_ps(), payload_bytes);
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
        remote: (IpAddr, u16),
        options: &crate::tcp::TcpOptions,
        keeps_bytes: bool,
    ) -> Option<usize> {
        let source = self.routing.source_for(remote.0)?;
        let segment_bytes = self.segment_bytes(remote.0);
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

    pub(crate) fn remote(&self, id: usize) -> Option<(IpAddr, u16)> {
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
