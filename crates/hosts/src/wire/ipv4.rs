// SPDX-License-Identifier: Apache-2.0
//! IPv4 headers (RFC 791) with explicit congestion notification (RFC 3168). Options are skipped, fragments refused.

use super::{View, WireError, checksum};
use std::net::Ipv4Addr;

/// The length of a header without options, in bytes.
pub const HEADER_BYTES: usize = 20;
/// The protocol number of ICMP.
pub const ICMP: u8 = 1;
/// The protocol number of TCP.
pub const TCP: u8 = 6;
/// The protocol number of UDP.
pub const UDP: u8 = 17;

/// The ECN field (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not react to marks.
    #[default]
    NotCapable,
    /// ECN-capable transport, codepoint ECT(1).
    Capable1,
    /// ECN-capable transport, codepoint ECT(0).
    Capable0,
    /// A switch marked the packet (CE).
    Congestion,
}

impl Ecn {
    /// The two lowest bits of the type of service byte.
    pub(crate) fn from_bits(bits: u8) -> Ecn {
        match bits & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::Congestion,
        }
    }
}

/// An IPv4 header without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// The sender.
    pub source: Ipv4Addr,
    /// The receiver.
    pub destination: Ipv4Addr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// The differentiated services code point, 6 bits.
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// Time to live.
    pub ttl: u8,
    /// The identification field.
    pub identification: u16,
}

impl Ipv4Header {
    /// Reads a header and checks its checksum; returns it with the payload, without padding behind it.
    #[inline]
    pub fn read(packet: View<'_>) -> Result<(Ipv4Header, View<'_>), WireError> {
        let bytes = packet.header::<HEADER_BYTES>()?;
        let header_bytes = usize::from(bytes[0] & 15) * 4;
        if bytes[0] >> 4 != 4 || header_bytes < HEADER_BYTES {
            return Err(WireError::Malformed);
        }
        let with_options = packet.bytes.get(..header_bytes).ok_or(WireError::Truncated)?;
        if checksum::of(with_options) != 0 {
            return Err(WireError::Checksum);
        }
        let total_bytes = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
        if total_bytes < header_bytes {
            return Err(WireError::Malformed);
        }
        if total_bytes > packet.length() {
            return Err(WireError::Truncated);
        }
        // More fragments, or an offset.
        if u16::from_be_bytes([bytes[6], bytes[7]]) & 0x3fff != 0 {
            return Err(WireError::Fragment);
        }
        let header = Ipv4Header {
            source: Ipv4Addr::new(bytes[12], bytes[13], bytes[14], bytes[15]),
            destination: Ipv4Addr::new(bytes[16], bytes[17], bytes[18], bytes[19]),
            protocol: bytes[9],
            dscp: bytes[1] >> 2,
            ecn: Ecn::from_bits(bytes[1]),
            ttl: bytes[8],
            identification: u16::from_be_bytes([bytes[4], bytes[5]]),
        };
        Ok((header, packet.take(total_bytes).skip(header_bytes)))
    }

    /// Returns the bytes of the header of a packet with `payload_bytes` of payload, with "do not fragment".
    #[inline]
    pub fn to_bytes(&self, payload_bytes: usize) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = 0x45;
        bytes[1] = self.dscp << 2 | self.ecn as u8;
        bytes[2..4].copy_from_slice(&((HEADER_BYTES + payload_bytes) as u16).to_be_bytes());
        bytes[4..6].copy_from_slice(&self.identification.to_be_bytes());
        bytes[6] = 0x40;
        bytes[8] = self.ttl;
        bytes[9] = self.protocol;
        bytes[12..16].copy_from_slice(&self.source.octets());
        bytes[16..].copy_from_slice(&self.destination.octets());
        let sum = checksum::of(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
}
