// SPDX-License-Identifier: Apache-2.0
//! [`Interface`]: a host's port with addresses, routes, ARP and a transmit queue. Frames leave one after the other; when a
//! frame is accepted its departure is known, so that the queue needs no events.

mod neighbors;
mod options;

use crate::wire::MacAddress;
use crate::wire::arp::{ArpPacket, Operation};
use crate::wire::ethernet::{self, EthernetHeader};
use device::traffic_manager::transmission_ps;
use neighbors::{Lookup, Neighbors};
use network::frame::Frame;
use network::node::{Note, Outbox};
pub use options::{HostOptions, Ipv4Network, Route};
use std::collections::VecDeque;
use std::net::Ipv4Addr;

/// The port of a host.
const PORT: u32 = 0;
/// Buffers kept for later frames.
const MAX_SPARE_BUFFERS: usize = 64;
/// Time between two ARP requests for one address (Linux: 1 s).
const ARP_RETRY_PS: u64 = 1_000_000_000_000;
/// Requests until an address counts as unreachable (Linux: 3).
const ARP_REQUESTS: u32 = 3;

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
    /// Packets whose next hop did not answer ARP, or for which no more room was left to wait.
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
    /// Counters of drops with their reasons, as tables and time lines name them.
    pub fn drops(&self) -> [(&'static str, u64); 7] {
        [
            ("queue full", self.dropped_queue_full),
            ("no route", self.dropped_no_route),
            ("no ARP answer", self.dropped_unresolved),
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

/// What an interface has its host do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Nothing,
    /// Call [`Interface::retry`] at this time.
    RetryAt(u64),
    /// Call [`Interface::take_looped_back`] now.
    LoopBack,
}

/// A host's port.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) options: HostOptions,
    pub(crate) statistics: InterfaceStatistics,
    neighbors: Neighbors,
    /// When the first bits of waiting frames leave, and their lengths.
    starts: VecDeque<(u64, u64)>,
    busy_until_ps: u64,
    looped_back: VecDeque<Frame>,
    spare: Vec<Vec<u8>>,
}

impl Interface {
    pub(crate) fn new(options: HostOptions) -> Interface {
        Interface {
            neighbors: Neighbors::new(&options.neighbors),
            options,
            statistics: InterfaceStatistics::default(),
            starts: VecDeque::new(),
            busy_until_ps: 0,
            looped_back: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Whether this is an address of the host.
    #[inline]
    pub(crate) fn has_address(&self, address: Ipv4Addr) -> bool {
        self.options.addresses.iter().any(|own| own.address == address)
    }

    /// Whether packets to this address are for the host.
    #[inline]
    pub(crate) fn accepts(&self, address: Ipv4Addr) -> bool {
        self.has_address(address)
            || address.is_broadcast()
            || self.options.addresses.iter().any(|own| own.broadcast() == Some(address))
    }

    /// The address that packets to a destination come from, if there is a route.
    pub(crate) fn source_for(&self, destination: Ipv4Addr) -> Option<Ipv4Addr> {
        if self.has_address(destination) {
            return Some(destination);
        }
        if destination.is_multicast() {
            return self.options.addresses.first().map(|own| own.address);
        }
        let hop = self.options.next_hop(destination)?;
        let addresses = &self.options.addresses;
        let near = addresses.iter().find(|own| own.contains(hop)).or(addresses.first())?;
        Some(near.address)
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

    /// Sends an IPv4 packet behind 14 bytes that are left for the Ethernet header, or lets it wait for ARP.
    #[inline]
    pub(crate) fn send_packet(
        &mut self,
        destination: Ipv4Addr,
        mut frame: Frame,
        outbox: &mut Outbox,
    ) -> Asked {
        let now_ps = outbox.now_ps();
        if self.has_address(destination) {
            self.address_frame(&mut frame, self.options.mac);
            self.looped_back.push_back(frame);
            return Asked::LoopBack;
        }
        if destination.is_broadcast()
            || self.options.addresses.iter().any(|own| own.broadcast() == Some(destination))
        {
            self.address_frame(&mut frame, MacAddress::BROADCAST);
            self.transmit(frame, outbox);
            return Asked::Nothing;
        }
        if destination.is_multicast() {
            self.address_frame(&mut frame, MacAddress::of_group(destination));
            self.transmit(frame, outbox);
            return Asked::Nothing;
        }
        let Some(hop) = self.options.next_hop(destination) else {
            self.statistics.dropped_no_route += 1;
            outbox.note(|| Note::Dropped { reason: "no route", frame });
            return Asked::Nothing;
        };
        match self.neighbors.find(hop) {
            Lookup::Known(mac) => {
                self.address_frame(&mut frame, mac);
                self.transmit(frame, outbox);
                Asked::Nothing
            }
            Lookup::Pending => {
                let copy = outbox.wants_notes().then(|| frame.clone());
                if !self.neighbors.wait(hop, frame) {
                    self.statistics.dropped_unresolved += 1;
                    let frame = copy.unwrap_or_default();
                    outbox.note(|| Note::Dropped { reason: "no ARP answer", frame });
                }
                Asked::Nothing
            }
            Lookup::Unknown => {
                self.neighbors.wait(hop, frame);
                self.request(hop, outbox);
                Asked::RetryAt(now_ps + ARP_RETRY_PS)
            }
        }
    }

    #[inline]
    fn address_frame(&self, frame: &mut Frame, destination: MacAddress) {
        let header =
            EthernetHeader { destination, source: self.options.mac, ether_type: ethernet::IPV4 };
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
        outbox.send(PORT, self.busy_until_ps, frame);
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

    /// Takes the next packet that the host sent to itself.
    pub(crate) fn take_looped_back(&mut self) -> Option<Frame> {
        self.looped_back.pop_front()
    }

    fn request(&mut self, hop: Ipv4Addr, outbox: &mut Outbox) {
        let sender = self.source_for(hop).unwrap_or(Ipv4Addr::UNSPECIFIED);
        let packet = ArpPacket {
            operation: Operation::Request,
            sender_mac: self.options.mac,
            sender,
            target_mac: MacAddress::default(),
            target: hop,
        };
        self.send_arp(&packet, MacAddress::BROADCAST, outbox);
    }

    fn send_arp(&mut self, packet: &ArpPacket, destination: MacAddress, outbox: &mut Outbox) {
        let header =
            EthernetHeader { destination, source: self.options.mac, ether_type: ethernet::ARP };
        let mut bytes = self.buffer();
        bytes.extend_from_slice(&header.to_bytes());
        packet.write(&mut bytes);
        self.transmit(bytes.into(), outbox);
    }

    /// Takes an ARP packet: learns its sender's address if it asks this host or is known already, answers, and sends what
    /// waited (RFC 826).
    pub(crate) fn receive_arp(&mut self, packet: &ArpPacket, outbox: &mut Outbox) {
        let is_asked = self.has_address(packet.target);
        let waiting = self.neighbors.learn(packet.sender, packet.sender_mac, is_asked);
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
        for mut frame in waiting {
            self.address_frame(&mut frame, packet.sender_mac);
            self.transmit(frame, outbox);
        }
    }

    /// Asks again for an address, or gives up. Returns when to call this again, and the packets that are given up.
    pub(crate) fn retry(
        &mut self,
        hop: Ipv4Addr,
        outbox: &mut Outbox,
    ) -> (Option<u64>, Vec<Frame>) {
        match self.neighbors.count_request(hop, ARP_REQUESTS) {
            None => (None, Vec::new()),
            Some(Ok(())) => {
                self.request(hop, outbox);
                (Some(outbox.now_ps() + ARP_RETRY_PS), Vec::new())
            }
            Some(Err(given_up)) => {
                self.statistics.dropped_unresolved += given_up.len() as u64;
                for frame in &given_up {
                    outbox.note(|| Note::Dropped { reason: "no ARP answer", frame: frame.clone() });
                }
                (None, given_up)
            }
        }
    }
}
