// SPDX-License-Identifier: Apache-2.0
//! [`Ipv4Network`]: the network of the addresses of one side of a trace.

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
    pub fn contains(&self, address: Ipv4Addr) -> bool {
        (self.address.to_bits() ^ address.to_bits()) & self.mask() == 0
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
