// SPDX-License-Identifier: Apache-2.0
//! [`Interface`]: a host's port with neighbours and a transmit queue. Frames leave one after the other; when a frame is
//! accepted its departure is known, so that the queue needs no events. `routing` chooses the interface.

mod neighbors;
mod options;

use crate::wire::arp::{ArpPacket, Operation};
use crate::wire::ethernet::{self, EthernetHeader};
use crate::wire::icmpv6::{self, Neighbor};
use crate::wire::ip::IpHeader;
use crate::wire::ipv4::Ecn;
use crate::wire::{MacAddress, ipv6};
use device::traffic_manager::transmission_ps;
use neighbors::{Lookup, Neighbors};
use network::frame::Frame;
use network::node::{Note, Outbox};
pub use options::{HostOptions, InterfaceOptions, IpNetwork, Route};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The reason of drops while a neighbour does not answer.
const UNRESOLVED: &str = "no ARP/ND answer";
/// Buffers kept for later frames.
const MAX_SPARE_BUFFERS: usize = 64;
/// Time between two requests for one neighbour's address (Linux: 1 s).
const RETRY_PS: u64 = 1_000_000_000_000;
/// Requests until an address counts as unreachable (Linux: 3).
const REQUESTS: u32 = 3;

/// Counters of a host's interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceStatistics {
    /// Frames sent.
    pub sent: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Frames received.
    pub received: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Frames that found the transmit queue full.
    pub dropped_queue_full: u64,
    /// Packets without a route.
    pub dropped_no_route: u64,
    /// Packets whose next hop did not answer ARP or neighbor discovery, or for which no more room was left to wait.
    pub dropped_unresolved: u64,
    /// Received frames for other stations or addresses.
    pub dropped_not_for_host: u64,
    /// Received frames with a wrong checksum.
    pub dropped_checksum: u64,
    /// Received frames with another mistake, or of a protocol that the host does not speak.
    pub dropped_malformed: u64,
    /// Received segments and datagrams without a socket.
    pub dropped_no_socket: u64,
}

impl InterfaceStatistics {
    /// Adds those of another interface.
    pub(crate) fn add(&mut self, other: &InterfaceStatistics) {
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.received += other.received;
        self.received_bytes += other.received_bytes;
        self.dropped_queue_full += other.dropped_queue_full;
        self.dropped_no_route += other.dropped_no_route;
        self.dropped_unresolved += other.dropped_unresolved;
        self.dropped_not_for_host += other.dropped_not_for_host;
        self.dropped_checksum += other.dropped_checksum;
        self.dropped_malformed += other.dropped_malformed;
        self.dropped_no_socket += other.dropped_no_socket;
    }

    /// Counters of drops with their reasons, as tables and time lines name them.
    pub fn drops(&self) -> [(&'static str, u64); 7] {
        [
            ("queue full", self.dropped_queue_full),
            ("no route", self.dropped_no_route),
            (UNRESOLVED, self.dropped_unresolved),
            ("for others", self.dropped_not_for_host),
            ("checksum", self.dropped_checksum),
            ("malformed", self.dropped_malformed),
            ("no socket", self.dropped_no_socket),
        ]
    }

    /// Why a frame that the host has received since then was dropped.
    pub(crate) fn refusal_since(&self, before: &InterfaceStatistics) -> Option<&'static str> {
        // The first three are drops of frames that the host sends.
        let counters = self.drops().into_iter().zip(before.drops()).skip(3);
        counters.into_iter().find(|(now, then)| now.1 > then.1).map(|(now, _)| now.0)
    }
}

/// A host's port.
#[derive(Debug)]
pub(crate) struct Interface {
    port: u32,
    pub(crate) options: InterfaceOptions,
    pub(crate) statistics: InterfaceStatistics,
    neighbors: Neighbors,
    /// When the first bits of waiting frames leave, and their lengths.
    starts: VecDeque<(u64, u64)>,
    busy_until_ps: u64,
    spare: Vec<Vec<u8>>,
}

impl Interface {
    /// The interfaces of a host.
    pub(crate) fn all(options: &HostOptions) -> Vec<Interface> {
        let one = |(port, own): (u32, &InterfaceOptions)| Interface {
            port,
            options: own.clone(),
            statistics: InterfaceStatistics::default(),
            neighbors: Neighbors::new(&options.neighbors),
            starts: VecDeque::new(),
            busy_until_ps: 0,
            spare: Vec::new(),
        };
        (0..).zip(&options.interfaces).map(one).collect()
    }

    /// An empty buffer for a frame.
    #[inline]
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(128))
    }

    /// Keeps the memory of a frame for a later one.
    #[inline]
    pub(crate) fn recycle(&mut self, frame: Frame) {
        if self.spare.len() < MAX_SPARE_BUFFERS {
            let mut bytes = frame.bytes;
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Sends an IP packet, behind 14 bytes that are left for the Ethernet header, to a neighbour, or lets it wait for the
    /// neighbour's address. Returns when to call [`Interface::retry`] for a neighbour that was asked for; `own` is an address
    /// of the interface.
    #[inline]
    pub(crate) fn send_to_neighbor(
        &mut self,
        hop: IpAddr,
        mut frame: Frame,
        own: impl FnOnce() -> Option<IpAddr>,
        outbox: &mut Outbox,
    ) -> Option<u64> {
        match self.neighbors.find(hop) {
            Lookup::Known(mac) => {
                self.address_frame(&mut frame, mac, hop);
                self.transmit(frame, outbox);
                None
            }
            Lookup::Pending => {
                let copy = outbox.wants_notes().then(|| frame.clone());
                if !self.neighbors.wait(hop, frame) {
                    self.statistics.dropped_unresolved += 1;
                    let frame = copy.unwrap_or_default();
                    outbox.note(|| Note::Dropped { reason: UNRESOLVED, frame });
                }
                None
            }
            Lookup::Unknown => {
                self.neighbors.wait(hop, frame);
                self.request(hop, own(), outbox);
                Some(outbox.now_ps() + RETRY_PS)
            }
        }
    }

    /// Sends an IP packet to a group of stations.
    pub(crate) fn send_to_group(&mut self, group: IpAddr, mut frame: Frame, outbox: &mut Outbox) {
        let mac = match group {
            IpAddr::V4(group) if group.is_multicast() => MacAddress::of_ipv4_group(group),
            IpAddr::V4(_) => MacAddress::BROADCAST,
            IpAddr::V6(group) => MacAddress::of_group(group),
        };
        self.address_frame(&mut frame, mac, group);
        self.transmit(frame, outbox);
    }

    /// Writes the Ethernet header of a packet; `version` is an address of its version.
    #[inline]
    pub(crate) fn address_frame(
        &self,
        frame: &mut Frame,
        destination: MacAddress,
        version: IpAddr,
    ) {
        let ether_type = IpHeader::ether_type_for(version);
        let header = EthernetHeader { destination, source: self.options.mac, ether_type };
        frame.bytes[..ethernet::HEADER_BYTES].copy_from_slice(&header.to_bytes());
    }

    /// Puts a frame into the transmit queue, or drops it if that is full. The frame being sent does not count.
    #[inline]
    pub(crate) fn transmit(&mut self, frame: Frame, outbox: &mut Outbox) {
        let now_ps = outbox.now_ps();
        while self.starts.front().is_some_and(|(start_ps, _)| *start_ps <= now_ps) {
            self.starts.pop_front();
        }
        if self.busy_until_ps > now_ps {
            if self.starts.len() >= self.options.queue_packets {
                self.statistics.dropped_queue_full += 1;
                outbox.note(|| Note::Dropped { reason: "queue full", frame: frame.clone() });
                self.recycle(frame);
                return;
            }
            self.starts.push_back((self.busy_until_ps, frame.length_bytes()));
        }
        let begins_ps = self.busy_until_ps.max(now_ps);
        let length_bytes = frame.length_bytes();
        let on_wire_bytes = length_bytes.saturating_add_signed(self.options.overhead_bytes.into());
        self.busy_until_ps =
            begins_ps.saturating_add(transmission_ps(on_wire_bytes, self.options.rate_bps));
        self.statistics.sent += 1;
        self.statistics.sent_bytes += length_bytes;
        outbox.send(self.port, self.busy_until_ps, frame);
    }

    /// When the last bit of the last frame leaves.
    pub(crate) fn idle_from_ps(&self) -> u64 {
        self.busy_until_ps
    }

    /// The counters at a time, without frames that leave later.
    pub(crate) fn statistics_at(&self, now_ps: u64) -> InterfaceStatistics {
        let mut statistics = self.statistics;
        for (_, length_bytes) in self.starts.iter().filter(|(start_ps, _)| *start_ps > now_ps) {
            statistics.sent -= 1;
            statistics.sent_bytes -= length_bytes;
        }
        statistics
    }

    /// Asks for the Ethernet address of a neighbour, from an address of the host.
    fn request(&mut self, hop: IpAddr, own: Option<IpAddr>, outbox: &mut Outbox) {
        match (hop, own) {
            (IpAddr::V4(target), own) => {
                let sender = match own {
                    Some(IpAddr::V4(own)) => own,
                    _ => Ipv4Addr::UNSPECIFIED,
                };
                let packet = ArpPacket {
                    operation: Operation::Request,
                    sender_mac: self.options.mac,
                    sender,
                    target_mac: MacAddress::default(),
                    target,
                };
                self.send_arp(&packet, MacAddress::BROADCAST, outbox);
            }
            (IpAddr::V6(target), Some(IpAddr::V6(own))) => {
                let message = Neighbor::Solicitation { target, source: Some(self.options.mac) };
                let group = icmpv6::solicited_node(target);
                self.send_neighbor(&message, own, group, MacAddress::of_group(group), outbox);
            }
            (IpAddr::V6(_), _) => {}
        }
    }

    fn send_arp(&mut self, packet: &ArpPacket, destination: MacAddress, outbox: &mut Outbox) {
        let header =
            EthernetHeader { destination, source: self.options.mac, ether_type: ethernet::ARP };
        let mut bytes = self.buffer();
        bytes.extend_from_slice(&header.to_bytes());
        packet.write(&mut bytes);
        self.transmit(bytes.into(), outbox);
    }

    fn send_neighbor(
        &mut self,
        message: &Neighbor,
        source: Ipv6Addr,
        destination: Ipv6Addr,
        mac: MacAddress,
        outbox: &mut Outbox,
    ) {
        const PAYLOAD_START: usize = ethernet::HEADER_BYTES + ipv6::HEADER_BYTES;
        let mut bytes = self.buffer();
        bytes.resize(PAYLOAD_START, 0);
        message.write(source, destination, &mut bytes);
        let header = IpHeader {
            source: source.into(),
            destination: destination.into(),
            protocol: ipv6::ICMP,
            dscp: 0,
            ecn: Ecn::NotCapable,
            // RFC 4861 section 7.1: others are ignored, as they may come from another link.
            ttl: icmpv6::NEIGHBOR_HOP_LIMIT,
        };
        let payload_bytes = bytes.len() - PAYLOAD_START;
        header.write(payload_bytes, 0, &mut bytes[ethernet::HEADER_BYTES..]);
        let mut frame = Frame::from(bytes);
        self.address_frame(&mut frame, mac, header.destination);
        self.transmit(frame, outbox);
    }

    /// Takes an ARP packet: learns its sender's address if it asks this host or is known already, answers, and sends what
    /// waited (RFC 826).
    pub(crate) fn receive_arp(&mut self, packet: &ArpPacket, is_asked: bool, outbox: &mut Outbox) {
        let sender = packet.sender.into();
        let waiting = self.neighbors.learn(sender, packet.sender_mac, is_asked);
        if is_asked && packet.operation == Operation::Request {
            let reply = ArpPacket {
                operation: Operation::Reply,
                sender_mac: self.options.mac,
                sender: packet.target,
                target_mac: packet.sender_mac,
                target: packet.sender,
            };
            self.send_arp(&reply, packet.sender_mac, outbox);
        }
        self.release(waiting, packet.sender_mac, sender, outbox);
    }

    /// Takes a message of neighbor discovery from an address (RFC 4861 section 7.2); `is_asked`: its target is the host.
    pub(crate) fn receive_neighbor(
        &mut self,
        from: Ipv6Addr,
        message: &Neighbor,
        is_asked: bool,
        outbox: &mut Outbox,
    ) {
        match *message {
            Neighbor::Solicitation { target, source } if is_asked => {
                let Some(mac) = source else { return };
                let waiting = self.neighbors.learn(from.into(), mac, true);
                let own = Some(self.options.mac);
                let answer = Neighbor::Advertisement { target, mac: own, is_solicited: true };
                self.send_neighbor(&answer, target, from, mac, outbox);
                self.release(waiting, mac, from.into(), outbox);
            }
            Neighbor::Advertisement { target, mac: Some(mac), .. } => {
                let waiting = self.neighbors.learn(target.into(), mac, false);
                self.release(waiting, mac, target.into(), outbox);
            }
            Neighbor::Solicitation { .. } | Neighbor::Advertisement { .. } => {}
        }
    }

    /// Sends what waited for a neighbour's address.
    fn release(
        &mut self,
        waiting: Vec<Frame>,
        mac: MacAddress,
        address: IpAddr,
        outbox: &mut Outbox,
    ) {
        for mut frame in waiting {
            self.address_frame(&mut frame, mac, address);
            self.transmit(frame, outbox);
        }
    }

    /// Asks again for an address, or gives up. Returns when to call this again.
    pub(crate) fn retry(
        &mut self,
        hop: IpAddr,
        own: Option<IpAddr>,
        outbox: &mut Outbox,
    ) -> Option<u64> {
        match self.neighbors.count_request(hop, REQUESTS)? {
            Ok(()) => {
                self.request(hop, own, outbox);
                Some(outbox.now_ps() + RETRY_PS)
            }
            Err(given_up) => {
                self.statistics.dropped_unresolved += given_up.len() as u64;
                for frame in given_up {
                    outbox.note(|| Note::Dropped { reason: UNRESOLVED, frame });
                }
                None
            }
        }
    }
}
