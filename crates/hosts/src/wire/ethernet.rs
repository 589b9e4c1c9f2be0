// SPDX-License-Identifier: Apache-2.0
//! Ethernet II headers.

use super::{MacAddress, View, WireError};

/// The length of a header in bytes.
pub const HEADER_BYTES: usize = 14;
/// The EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// The EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;
/// The EtherType of ARP.
pub const ARP: u16 = 0x0806;

/// An Ethernet header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EthernetHeader {
    /// The receiver.
    pub destination: MacAddress,
    /// The sender.
    pub source: MacAddress,
    /// The protocol of the payload.
    pub ether_type: u16,
}

impl EthernetHeader {
    /// Reads a header; returns it with the payload.
    #[inline]
    pub fn read(frame: View<'_>) -> Result<(EthernetHeader, View<'_>), WireError> {
        let header = frame.header::<HEADER_BYTES>()?;
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = *header;
        let header = EthernetHeader {
            destination: MacAddress([a, b, c, d, e, f]),
            source: MacAddress([g, h, i, j, k, l]),
            ether_type: u16::from_be_bytes([m, n]),
        };
        Ok((header, frame.skip(HEADER_BYTES)))
    }

    /// Returns the bytes of the header.
    #[inline]
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..6].copy_from_slice(&self.destination.0);
        bytes[6..12].copy_from_slice(&self.source.0);
        bytes[12..].copy_from_slice(&self.ether_type.to_be_bytes());
        bytes
    }
}
