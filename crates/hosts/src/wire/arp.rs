// SPDX-License-Identifier: Apache-2.0
//! ARP packets for IPv4 over Ethernet (RFC 826).

use super::{MacAddress, View, WireError};
use std::net::Ipv4Addr;

const PACKET_BYTES: usize = 28;

/// Hardware type Ethernet, protocol type IPv4, and the lengths of their addresses.
const ETHERNET_IPV4: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Asks who has the target's IPv4 address.
    Request,
    /// Answers a request.
    Reply,
}

/// An ARP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArpPacket {
    /// What it is for.
    pub operation: Operation,
    /// The sender's Ethernet address.
    pub sender_mac: MacAddress,
    /// The sender's IPv4 address.
    pub sender: Ipv4Addr,
    /// The target's Ethernet address; zeros in a request.
    pub target_mac: MacAddress,
    /// The target's IPv4 address.
    pub target: Ipv4Addr,
}

impl ArpPacket {
    /// Reads a packet.
    pub fn read(payload: View<'_>) -> Result<ArpPacket, WireError> {
        let bytes = payload.header::<PACKET_BYTES>()?;
        if bytes[..6] != ETHERNET_IPV4 {
            return Err(WireError::Malformed);
        }
        let operation = match bytes[6..8] {
            [0, 1] => Operation::Request,
            [0, 2] => Operation::Reply,
            _ => return Err(WireError::Malformed),
        };
        let mac = |at: usize| MacAddress(std::array::from_fn(|n| bytes[at + n]));
        let address = |at: usize| Ipv4Addr::from(std::array::from_fn(|n| bytes[at + n]));
        Ok(ArpPacket {
            operation,
            sender_mac: mac(8),
            sender: address(14),
            target_mac: mac(18),
            target: address(24),
        })
    }

    /// Appends the packet.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&ETHERNET_IPV4);
        to.extend_from_slice(match self.operation {
            Operation::Request => &[0, 1],
            Operation::Reply => &[0, 2],
        });
        to.extend_from_slice(&self.sender_mac.0);
        to.extend_from_slice(&self.sender.octets());
        to.extend_from_slice(&self.target_mac.0);
        to.extend_from_slice(&self.target.octets());
    }
}
