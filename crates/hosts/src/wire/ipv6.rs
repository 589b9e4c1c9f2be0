// SPDX-License-Identifier: Apache-2.0
//! IPv6 headers (RFC 8200). Extension headers for hosts are skipped, fragments refused.

use super::ipv4::Ecn;
use super::{View, WireError};
use std::net::Ipv6Addr;

/// The length of a header in bytes.
pub const HEADER_BYTES: usize = 40;
/// The next header of ICMPv6.
pub const ICMP: u8 = 58;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// An IPv6 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6Header {
    /// The sender.
    pub source: Ipv6Addr,
    /// The receiver.
    pub destination: Ipv6Addr,
    /// The protocol of the payload, behind extension headers.
    pub next_header: u8,
    /// The differentiated services code point, 6 bits.
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// The hops that are left.
    pub hop_limit: u8,
}

impl Ipv6Header {
    /// Reads a header and the extension headers behind it; returns it with the payload, without padding behind it.
    #[inline]
    pub fn read(packet: View<'_>) -> Result<(Ipv6Header, View<'_>), WireError> {
        let bytes = packet.header::<HEADER_BYTES>()?;
        if bytes[0] >> 4 != 6 {
            return Err(WireError::Malformed);
        }
        let payload_bytes = usize::from(u16::from_be_bytes([bytes[4], bytes[5]]));
        if HEADER_BYTES + payload_bytes > packet.length() {
            return Err(WireError::Truncated);
        }
        let traffic_class = bytes[0] << 4 | bytes[1] >> 4;
        let address = |at: usize| Ipv6Addr::from(std::array::from_fn(|n| bytes[at + n]));
        let mut header = Ipv6Header {
            source: address(8),
            destination: address(24),
            next_header: bytes[6],
            dscp: traffic_class >> 2,
            ecn: Ecn::from_bits(traffic_class),
            hop_limit: bytes[7],
        };
        let mut payload = packet.take(HEADER_BYTES + payload_bytes).skip(HEADER_BYTES);
        loop {
            match header.next_header {
                HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                    let [next, length] = *payload.header::<2>()?;
                    let length = 8 + 8 * usize::from(length);
                    if length > payload.length() {
                        return Err(WireError::Truncated);
                    }
                    header.next_header = next;
                    payload = payload.skip(length);
                }
                FRAGMENT => return Err(WireError::Fragment),
                _ => return Ok((header, payload)),
            }
        }
    }

    /// Returns the bytes of the header of a packet with `payload_bytes` of payload.
    #[inline]
    pub fn to_bytes(&self, payload_bytes: usize) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let traffic_class = self.dscp << 2 | self.ecn as u8;
        bytes[0] = 0x60 | traffic_class >> 4;
        bytes[1] = traffic_class << 4;
        bytes[4..6].copy_from_slice(&(payload_bytes as u16).to_be_bytes());
        bytes[6] = self.next_header;
        bytes[7] = self.hop_limit;
        bytes[8..24].copy_from_slice(&self.source.octets());
        bytes[24..].copy_from_slice(&self.destination.octets());
        bytes
    }
}
