// SPDX-License-Identifier: Apache-2.0
//! ICMP and ICMPv6 of a [`Stack`]: answers to echo requests, and which program an error concerns.

use super::{Delivery, Stack, TTL};
use crate::ports::EchoReply;
use crate::wire::View;
use crate::wire::icmp::{self, IcmpHeader};
use crate::wire::icmpv6;
use crate::wire::ip::IpHeader;
use crate::wire::ipv4::{self, Ecn};
use crate::wire::ipv6;
use network::node::Outbox;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The most bytes of a packet that an ICMPv6 error returns (RFC 4443 section 2.4: the error has 1,280 at most).
const RETURNED_BYTES: usize = 1280 - ipv6::HEADER_BYTES - icmp::HEADER_BYTES;

impl Stack {
    pub(super) fn receive_icmp<'f>(
        &mut self,
        header: &IpHeader,
        icmp: IcmpHeader,
        payload: View<'f>,
        outbox: &mut Outbox,
    ) -> Delivery<'f> {
        match icmp {
            IcmpHeader::EchoRequest { identifier, sequence } => {
                let is_own = self.routing.has_address(header.destination);
                if is_own && self.options.answers_ping {
                    let reply = IpHeader {
                        source: header.destination,
                        destination: header.source,
                        ttl: TTL,
                        ..*header
                    };
                    let message = IcmpHeader::EchoReply { identifier, sequence };
                    self.send_icmp(&reply, &message, payload, outbox);
                }
                Delivery::Nothing
            }
            IcmpHeader::EchoReply { identifier, sequence } => {
                let reply = EchoReply {
                    source: header.source,
                    sequence,
                    ttl: header.ttl,
                    payload_bytes: payload.length() as u32,
                };
                Delivery::EchoReply { program: identifier.into(), reply }
            }
            IcmpHeader::Unreachable { .. } | IcmpHeader::TimeExceeded => self.unreachable(payload),
            IcmpHeader::Other { .. } => Delivery::Nothing,
        }
    }

    /// Sends a message of ICMP, or of ICMPv6 to an IPv6 address.
    fn send_icmp(
        &mut self,
        header: &IpHeader,
        message: &IcmpHeader,
        payload: View<'_>,
        outbox: &mut Outbox,
    ) {
        self.send(header, outbox, |to| match (header.source, header.destination) {
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                icmpv6::write(message, source, destination, payload, to)
            }
            _ => message.write(payload, to),
        });
    }

    /// The program that sent a packet of which the begin came back.
    fn unreachable(&self, packet: View<'_>) -> Delivery<'static> {
        // The packet is cut, so that its length is not checked.
        let bytes = packet.bytes;
        let (protocol, destination, payload): (u8, IpAddr, usize) = match bytes.first() {
            Some(0x45) if bytes.len() >= ipv4::HEADER_BYTES + icmp::HEADER_BYTES => {
                let address: [u8; 4] = std::array::from_fn(|n| bytes[16 + n]);
                (bytes[9], Ipv4Addr::from(address).into(), ipv4::HEADER_BYTES)
            }
            Some(first)
                if first >> 4 == 6 && bytes.len() >= ipv6::HEADER_BYTES + icmp::HEADER_BYTES =>
            {
                let address: [u8; 16] = std::array::from_fn(|n| bytes[24 + n]);
                (bytes[6], Ipv6Addr::from(address).into(), ipv6::HEADER_BYTES)
            }
            _ => return Delivery::Nothing,
        };
        let word = |at: usize| u16::from_be_bytes([bytes[payload + at], bytes[payload + at + 1]]);
        let program = match protocol {
            ipv4::ICMP | ipv6::ICMP => Some(usize::from(word(4))),
            ipv4::UDP => self.sockets.udp(word(0)),
            _ => None,
        };
        program.map_or(Delivery::Nothing, |program| Delivery::Unreachable { program, destination })
    }

    /// Answers a datagram for a port without a socket, with the begin of its packet.
    pub(super) fn answer_unreachable(
        &mut self,
        header: &IpHeader,
        packet: View<'_>,
        outbox: &mut Outbox,
    ) {
        if !self.routing.has_address(header.destination) {
            return;
        }
        let (protocol, code, most) = match header.destination {
            IpAddr::V4(_) => {
                let most = ipv4::HEADER_BYTES + icmp::HEADER_BYTES;
                (ipv4::ICMP, icmp::PORT_UNREACHABLE, most)
            }
            IpAddr::V6(_) => (ipv6::ICMP, icmpv6::PORT_UNREACHABLE, RETURNED_BYTES),
        };
        let answer = IpHeader {
            source: header.destination,
            destination: header.source,
            protocol,
            dscp: 0,
            ecn: Ecn::NotCapable,
            ttl: TTL,
        };
        let message = IcmpHeader::Unreachable { code };
        self.send_icmp(&answer, &message, packet.take(most), outbox);
    }

    pub(crate) fn send_echo(
        &mut self,
        destination: IpAddr,
        identifier: u16,
        sequence: u16,
        payload: View<'_>,
        outbox: &mut Outbox,
    ) {
        let message = IcmpHeader::EchoRequest { identifier, sequence };
        let protocol = if destination.is_ipv4() { ipv4::ICMP } else { ipv6::ICMP };
        if let Some(header) = self.header_to(destination, protocol, 0) {
            self.send_icmp(&header, &message, payload, outbox);
        }
    }
}
