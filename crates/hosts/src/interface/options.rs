// SPDX-License-Identifier: Apache-2.0
//! [`HostOptions`]: a host's interfaces, addresses and routes, as plain data.

use crate::wire::MacAddress;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IP address with the prefix length of its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpNetwork {
    /// The address.
    pub address: IpAddr,
    /// The length of the prefix in bits, at most 32 or 128.
    pub prefix_bits: u8,
}

impl IpNetwork {
    /// The network of all IPv4 addresses.
    pub const ALL_IPV4: IpNetwork =
        IpNetwork { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), prefix_bits: 0 };
    /// The network of all IPv6 addresses.
    pub const ALL_IPV6: IpNetwork =
        IpNetwork { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), prefix_bits: 0 };

    /// Returns the network of all addresses of the version of this one.
    pub fn all(address: IpAddr) -> IpNetwork {
        match address {
            IpAddr::V4(_) => IpNetwork::ALL_IPV4,
            IpAddr::V6(_) => IpNetwork::ALL_IPV6,
        }
    }

    /// Returns whether an address is in the network.
    #[inline]
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = u32::from(self.prefix_bits);
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differing = own.to_bits() ^ other.to_bits();
                differing.checked_shr(32 - bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differing = own.to_bits() ^ other.to_bits();
                differing.checked_shr(128 - bits).unwrap_or(0) == 0
            }
            _ => false,
        }
    }

    /// Returns the broadcast address, if the network has one (RFC 3021: not with 31 or 32 bits).
    #[inline]
    pub fn broadcast(&self) -> Option<IpAddr> {
        match self.address {
            IpAddr::V4(address) if self.prefix_bits < 31 => {
                let mask = u32::MAX >> self.prefix_bits;
                Some(Ipv4Addr::from_bits(address.to_bits() | mask).into())
            }
            _ => None,
        }
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix_bits)
    }
}

impl FromStr for IpNetwork {
    type Err = ();

    /// Reads `10.0.0.1/24` or `2001:db8::1/64`; without a prefix length, all bits.
    fn from_str(text: &str) -> Result<IpNetwork, ()> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| ())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= most).ok_or(())?,
            None => most,
        };
        Ok(IpNetwork { address, prefix_bits })
    }
}

/// A route by a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destinations.
    pub network: IpNetwork,
    /// The router. Its interface is the one whose networks have it, or the first.
    pub gateway: IpAddr,
}

/// The options of an interface. Its port is its place in the list of the host.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceOptions {
    /// The Ethernet address; it must be unique in its network.
    pub mac: MacAddress,
    /// Addresses with the networks that the host reaches directly by this interface.
    pub addresses: Vec<IpNetwork>,
    /// The rate of the port in bits per second; without it frames leave at once.
    pub rate_bps: Option<u64>,
    /// Frames that may wait in the port, not counting the one being sent (Linux: 1,000).
    pub queue_packets: usize,
    /// Bytes that each frame takes on the wire beside its own: 24 with preamble, check sequence and gap.
    pub overhead_bytes: i32,
}

impl Default for InterfaceOptions {
    fn default() -> InterfaceOptions {
        InterfaceOptions {
            mac: MacAddress::default(),
            addresses: Vec::new(),
            rate_bps: None,
            queue_packets: 1000,
            overhead_bytes: 0,
        }
    }
}

/// The options of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostOptions {
    /// The host's name, for messages.
    pub name: String,
    /// The interfaces, one at least.
    pub interfaces: Vec<InterfaceOptions>,
    /// Routes by gateways; the longest prefix wins.
    pub routes: Vec<Route>,
    /// Ethernet addresses that the host knows without ARP and neighbor discovery, on every interface.
    pub neighbors: Vec<(IpAddr, MacAddress)>,
    /// The largest IP packet, in bytes.
    pub mtu_bytes: u16,
    /// Whether the host answers echo requests.
    pub answers_ping: bool,
}

impl Default for HostOptions {
    fn default() -> HostOptions {
        HostOptions {
            name: String::new(),
            interfaces: vec![InterfaceOptions::default()],
            routes: Vec::new(),
            neighbors: Vec::new(),
            mtu_bytes: 1500,
            answers_ping: true,
        }
    }
}

impl HostOptions {
    /// Returns the most bytes behind the IP header of a packet to an address.
    pub fn most_payload_bytes(&self, destination: IpAddr) -> u32 {
        let header = crate::wire::ip::IpHeader::length_for(destination) as u32;
        u32::from(self.mtu_bytes).saturating_sub(header)
    }
}
