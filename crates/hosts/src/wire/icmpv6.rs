// SPDX-License-Identifier: Apache-2.0
//! ICMPv6 messages (RFC 4443): echo, destination unreachable, and the solicitations and advertisements of neighbor
//! discovery (RFC 4861).

use super::icmp::{HEADER_BYTES, IcmpHeader, MessageTypes};
use super::{MacAddress, View, WireError, checksum, ipv6};
use std::net::Ipv6Addr;

/// Code of "destination unreachable": no socket is bound to the port.
pub const PORT_UNREACHABLE: u8 = 4;
/// The hop limit of messages of neighbor discovery, which no router forwards.
pub const NEIGHBOR_HOP_LIMIT: u8 = 255;

const TYPES: MessageTypes =
    MessageTypes { echo_request: 128, echo_reply: 129, unreachable: 1, time_exceeded: 3 };
const NEIGHBOR_SOLICITATION: u8 = 135;
const NEIGHBOR_ADVERTISEMENT: u8 = 136;
/// Options with an Ethernet address.
const SOURCE_ADDRESS: u8 = 1;
const TARGET_ADDRESS: u8 = 2;
/// Flags of an advertisement: it answers a solicitation, and replaces what is known.
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;

/// A message of neighbor discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbor {
    /// Asks for the Ethernet address of the target.
    Solicitation {
        /// The address in question.
        target: Ipv6Addr,
        /// The sender's Ethernet address; `None` while the sender has no address.
        source: Option<MacAddress>,
    },
    /// Gives the Ethernet address of the target.
    Advertisement {
        /// The address in question.
        target: Ipv6Addr,
        /// Its Ethernet address; `None` if the sender thinks that it is known.
        mac: Option<MacAddress>,
        /// Whether a solicitation asked for it.
        is_solicited: bool,
    },
}

/// An ICMPv6 message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icmpv6<'a> {
    /// A message that ICMP has too, with its payload.
    Common(IcmpHeader, View<'a>),
    /// Neighbor discovery.
    Neighbor(Neighbor),
}

impl<'a> Icmpv6<'a> {
    /// Reads a message and checks its checksum.
    pub fn read(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: View<'a>,
    ) -> Result<Icmpv6<'a>, WireError> {
        let bytes = message.header::<HEADER_BYTES>()?;
        if checksum::of_payload(source.into(), destination.into(), ipv6::ICMP, message) != 0 {
            return Err(WireError::Checksum);
        }
        if let (NEIGHBOR_SOLICITATION | NEIGHBOR_ADVERTISEMENT, 0) = (bytes[0], bytes[1]) {
            return Neighbor::read(message).map(Icmpv6::Neighbor);
        }
        let header = IcmpHeader::decode(bytes, &TYPES);
        Ok(Icmpv6::Common(header, message.skip(HEADER_BYTES)))
    }
}

/// Appends a message that ICMP has too, with the payload's stored bytes; returns the number of its absent bytes.
pub fn write(
    header: &IcmpHeader,
    source: Ipv6Addr,
    destination: Ipv6Addr,
    payload: View<'_>,
    to: &mut Vec<u8>,
) -> u32 {
    let start = to.len();
    header.append(&TYPES, payload, to);
    finish(source, destination, payload.absent_bytes, start, to)
}

fn finish(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    absent_bytes: u32,
    start: usize,
    to: &mut [u8],
) -> u32 {
    let message = View { bytes: &to[start..], absent_bytes };
    let sum = checksum::of_payload(source.into(), destination.into(), ipv6::ICMP, message);
    to[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
    absent_bytes
}

impl Neighbor {
    fn read(message: View<'_>) -> Result<Neighbor, WireError> {
        let bytes = message.header::<24>()?;
        let target = Ipv6Addr::from(std::array::from_fn(|n| bytes[8 + n]));
        if target.is_multicast() {
            return Err(WireError::Malformed);
        }
        let mut options = message.skip(24).bytes;
        let mut found = [None; 2];
        while !options.is_empty() {
            let [kind, length, ..] = *options else { return Err(WireError::Malformed) };
            // RFC 4861 section 4.6: an option without a length makes the message invalid.
            let option = options.get(..8 * usize::from(length)).ok_or(WireError::Truncated)?;
            if option.is_empty() {
                return Err(WireError::Malformed);
            }
            if let (SOURCE_ADDRESS | TARGET_ADDRESS, Some(mac)) = (kind, option[2..].first_chunk())
            {
                found[usize::from(kind - SOURCE_ADDRESS)] = Some(MacAddress(*mac));
            }
            options = &options[option.len()..];
        }
        let [source, mac] = found;
        Ok(match bytes[0] {
            NEIGHBOR_SOLICITATION => Neighbor::Solicitation { target, source },
            _ => Neighbor::Advertisement { target, mac, is_solicited: bytes[4] & SOLICITED != 0 },
        })
    }

    /// Appends the message.
    pub fn write(&self, source: Ipv6Addr, destination: Ipv6Addr, to: &mut Vec<u8>) {
        let start = to.len();
        let (message_type, flags, target, option) = match *self {
            Neighbor::Solicitation { target, source } => {
                (NEIGHBOR_SOLICITATION, 0, target, source.map(|mac| (SOURCE_ADDRESS, mac)))
            }
            Neighbor::Advertisement { target, mac, is_solicited } => {
                let flags = if is_solicited { SOLICITED | OVERRIDE } else { OVERRIDE };
                (NEIGHBOR_ADVERTISEMENT, flags, target, mac.map(|mac| (TARGET_ADDRESS, mac)))
            }
        };
        to.extend_from_slice(&[message_type, 0, 0, 0, flags, 0, 0, 0]);
        to.extend_from_slice(&target.octets());
        if let Some((kind, mac)) = option {
            to.extend_from_slice(&[kind, 1]);
            to.extend_from_slice(&mac.0);
        }
        finish(source, destination, 0, start, to);
    }
}

/// Returns the multicast address of all hosts with an address that ends like this one (RFC 4291 section 2.7.1).
pub fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]))
}

/// Returns the link-local address of an Ethernet address (RFC 4291 appendix A).
pub fn link_local(mac: MacAddress) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.0;
    let word = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    Ipv6Addr::new(0xfe80, 0, 0, 0, word(a ^ 2, b), word(c, 0xff), word(0xfe, d), word(e, f))
}
