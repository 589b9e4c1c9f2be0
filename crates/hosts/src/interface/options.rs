// SPDX-License-Identifier: Apache-2.0
//! [`HostOptions`]: a host's addresses, routes and transmit queue, as plain data.

use crate::wire::MacAddress;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// An IPv4 address with the prefix length of its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Network {
    /// The address.
    pub address: Ipv4Addr,
    /// The length of the prefix in bits, at most 32.
    pub prefix_bits: u8,
}

impl Ipv4Network {
    /// The network of all addresses.
    pub const ALL: Ipv4Network = Ipv4Network { address: Ipv4Addr::UNSPECIFIED, prefix_bits: 0 };

    fn mask(&self) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(self.prefix_bits)).unwrap_or(0)
    }

    /// Returns whether an address is in the network.
    #[inline]
    pub fn contains(&self, address: Ipv4Addr) -> bool {
        (self.address.to_bits() ^ address.to_bits()) & self.mask() == 0
    }

    /// Returns the broadcast address, if the network has one (RFC 3021: not with 31 or 32 bits).
    #[inline]
    pub fn broadcast(&self) -> Option<Ipv4Addr> {
        (self.prefix_bits < 31).then(|| Ipv4Addr::from_bits(self.address.to_bits() | !self.mask()))
    }
}

impl fmt::Display for Ipv4Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix_bits)
    }
}

impl FromStr for Ipv4Network {
    type Err = ();

    /// Reads `10.0.0.1/24`; without a prefix length, 32.
    fn from_str(text: &str) -> Result<Ipv4Network, ()> {
        let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
        let prefix_bits = bits.parse().ok().filter(|bits| *bits <= 32).ok_or(())?;
        Ok(Ipv4Network { address: address.parse().map_err(|_| ())?, prefix_bits })
    }
}

/// A route by a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destinations.
    pub network: Ipv4Network,
    /// The router, in a network of the host.
    pub gateway: Ipv4Addr,
}

/// The options of a host with one interface.
#[derive(Clone, Debug, PartialEq)]
pub struct HostOptions {
    /// The host's name, for messages.
    pub name: String,
    /// The Ethernet address; it must be unique in its network.
    pub mac: MacAddress,
    /// IPv4 addresses with the networks that the host reaches directly.
    pub addresses: Vec<Ipv4Network>,
    /// The router for all other destinations.
    pub gateway: Option<Ipv4Addr>,
    /// Further routes; the longest prefix wins.
    pub routes: Vec<Route>,
    /// Static ARP entries.
    pub neighbors: Vec<(Ipv4Addr, MacAddress)>,
    /// The rate of the port in bits per second; without it frames leave at once.
    pub rate_bps: Option<u64>,
    /// Frames that may wait in the port, not counting the one being sent (Linux: 1,000).
    pub queue_packets: usize,
    /// The largest IPv4 packet, in bytes.
    pub mtu_bytes: u16,
    /// Bytes that each frame takes on the wire beside its own: 24 with preamble, check sequence and gap.
    pub overhead_bytes: i32,
    /// Whether the host answers ICMP echo requests.
    pub answers_ping: bool,
}

impl Default for HostOptions {
    fn default() -> HostOptions {
        HostOptions {
            name: String::new(),
            mac: MacAddress::default(),
            addresses: Vec::new(),
            gateway: None,
            routes: Vec::new(),
            neighbors: Vec::new(),
            rate_bps: None,
            queue_packets: 1000,
            mtu_bytes: 1500,
            overhead_bytes: 0,
            answers_ping: true,
        }
    }
}

impl HostOptions {
    /// Returns the address of the next hop to a destination.
    #[inline]
    pub fn next_hop(&self, destination: Ipv4Addr) -> Option<Ipv4Addr> {
        let direct = self
            .addresses
            .iter()
            .filter(|own| own.contains(destination))
            .map(|own| (own.prefix_bits, destination));
        let routed = self
            .routes
            .iter()
            .filter(|route| route.network.contains(destination))
            .map(|route| (route.network.prefix_bits, route.gateway));
        // Of equal prefixes the direct one wins: it comes last.
        let best = routed.chain(direct).max_by_key(|(bits, _)| *bits).map(|(_, hop)| hop);
        best.or(self.gateway)
    }
}
