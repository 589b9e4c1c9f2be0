// SPDX-License-Identifier: Apache-2.0
//! [`IpHeader`]: what IPv4 and IPv6 headers have in common, read and written by the version of their addresses.

use super::ipv4::{self, Ecn, Ipv4Header};
use super::ipv6::{self, Ipv6Header};
use super::{View, WireError, ethernet};
use std::net::IpAddr;

/// A header of either version. Its addresses have one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// The differentiated services code point, 6 bits.
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// Time to live, or hop limit.
    pub ttl: u8,
}

impl IpHeader {
    /// Returns the length of headers of packets to an address, in bytes.
    #[inline]
    pub fn length_for(destination: IpAddr) -> usize {
        match destination {
            IpAddr::V4(_) => ipv4::HEADER_BYTES,
            IpAddr::V6(_) => ipv6::HEADER_BYTES,
        }
    }

    /// Returns the EtherType of packets to an address.
    #[inline]
    pub fn ether_type_for(destination: IpAddr) -> u16 {
        match destination {
            IpAddr::V4(_) => ethernet::IPV4,
            IpAddr::V6(_) => ethernet::IPV6,
        }
    }

    /// Reads the header of an IPv4 packet and checks its checksum; returns it with the payload.
    #[inline]
    pub fn read_ipv4(packet: View<'_>) -> Result<(IpHeader, View<'_>), WireError> {
        let (header, payload) = Ipv4Header::read(packet)?;
        let Ipv4Header { source, destination, protocol, dscp, ecn, ttl, .. } = header;
        let (source, destination) = (source.into(), destination.into());
        Ok((IpHeader { source, destination, protocol, dscp, ecn, ttl }, payload))
    }

    /// Reads the header of an IPv6 packet; returns it with the payload.
    #[inline]
    pub fn read_ipv6(packet: View<'_>) -> Result<(IpHeader, View<'_>), WireError> {
        let (header, payload) = Ipv6Header::read(packet)?;
        let Ipv6Header { source, destination, next_header, dscp, ecn, hop_limit } = header;
        let (source, destination) = (source.into(), destination.into());
        Ok((
            IpHeader { source, destination, protocol: next_header, dscp, ecn, ttl: hop_limit },
            payload,
        ))
    }

    /// Writes the header of a packet with `payload_bytes` of payload over the begin of `to`, which has room for it. The
    /// identification is that of IPv4.
    #[inline]
    pub fn write(&self, payload_bytes: usize, identification: u16, to: &mut [u8]) {
        let IpHeader { protocol, dscp, ecn, ttl, .. } = *self;
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header =
                    Ipv4Header { source, destination, protocol, dscp, ecn, ttl, identification };
                to[..ipv4::HEADER_BYTES].copy_from_slice(&header.to_bytes(payload_bytes));
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let header = Ipv6Header {
                    source,
                    destination,
                    next_header: protocol,
                    dscp,
                    ecn,
                    hop_limit: ttl,
                };
                to[..ipv6::HEADER_BYTES].copy_from_slice(&header.to_bytes(payload_bytes));
            }
            _ => debug_assert!(false, "a packet from {} to {}", self.source, self.destination),
        }
    }
}
