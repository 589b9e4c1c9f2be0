// SPDX-License-Identifier: Apache-2.0
//! Headers of Ethernet, ARP, IPv4, IPv6, ICMP, UDP and TCP to and from bytes, with checksums. Payload at the end of a frame may be
//! zeros that are not stored ([`View::absent_bytes`]).

pub mod arp;
pub mod checksum;
pub mod ethernet;
pub mod icmp;
pub mod icmpv6;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
pub mod tcp;
pub mod udp;

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An Ethernet address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The address of all stations.
    pub const BROADCAST: MacAddress = MacAddress([0xff; 6]);

    /// Returns the address of an IPv4 multicast group: its low 23 bits (RFC 1112 section 6.4).
    pub fn of_ipv4_group(group: Ipv4Addr) -> MacAddress {
        let [_, b, c, d] = group.octets();
        MacAddress([0x01, 0x00, 0x5e, b & 0x7f, c, d])
    }

    /// Returns the address of the group of an IPv6 multicast address (RFC 2464 section 7).
    pub fn of_group(group: Ipv6Addr) -> MacAddress {
        let [.., a, b, c, d] = group.octets();
        MacAddress([0x33, 0x33, a, b, c, d])
    }

    /// Whether it addresses a group of stations.
    pub fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, f] = self.0;
        write!(formatter, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
    }
}

/// Why bytes are not a valid header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The header or the length that it gives reaches beyond the end.
    Truncated,
    /// A length, version or type field has a value that the protocol does not allow.
    Malformed,
    /// The checksum does not match.
    Checksum,
    /// A fragment of an IPv4 packet; hosts do not reassemble.
    Fragment,
}

/// Bytes of a packet, the last of them possibly zeros that are not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View<'a> {
    /// The stored bytes.
    pub bytes: &'a [u8],
    /// The number of zero bytes behind them.
    pub absent_bytes: u32,
}

impl<'a> From<&'a [u8]> for View<'a> {
    fn from(bytes: &'a [u8]) -> View<'a> {
        View { bytes, absent_bytes: 0 }
    }
}

impl<'a> View<'a> {
    /// Returns the number of bytes, stored or not.
    pub fn length(&self) -> usize {
        self.bytes.len() + self.absent_bytes as usize
    }

    /// Returns the first `N` bytes. All of them must be stored.
    pub fn header<const N: usize>(&self) -> Result<&'a [u8; N], WireError> {
        self.bytes.first_chunk().ok_or(WireError::Truncated)
    }

    /// Returns the bytes from `start` on.
    pub fn skip(&self, start: usize) -> View<'a> {
        match self.bytes.get(start..) {
            Some(bytes) => View { bytes, absent_bytes: self.absent_bytes },
            None => {
                let skipped = (start - self.bytes.len()) as u32;
                View { bytes: &[], absent_bytes: self.absent_bytes.saturating_sub(skipped) }
            }
        }
    }

    /// Returns the first `length` bytes, or all if there are fewer.
    pub fn take(&self, length: usize) -> View<'a> {
        match self.bytes.get(..length) {
            Some(bytes) => View { bytes, absent_bytes: 0 },
            None => {
                let absent_bytes = self.absent_bytes.min((length - self.bytes.len()) as u32);
                View { bytes: self.bytes, absent_bytes }
            }
        }
    }

    /// Returns a copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = self.bytes.to_vec();
        bytes.resize(self.length(), 0);
        bytes
    }
}

#[cfg(test)]
mod tests;
