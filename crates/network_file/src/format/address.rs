// SPDX-License-Identifier: Apache-2.0
//! Internet and Ethernet addresses and prefixes, and their texts.

use std::fmt;
use std::net::IpAddr;

/// An Ethernet address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// Reads six bytes in hexadecimal with colons or hyphens between them.
    pub fn parse(text: &str) -> Option<Mac> {
        let mut bytes = [0; 6];
        let mut parts = text.trim().split([':', '-']);
        for byte in &mut bytes {
            let part = parts.next()?;
            if part.is_empty()
                || part.len() > 2
                || !part.bytes().all(|each| each.is_ascii_hexdigit())
            {
                return None;
            }
            *byte = u8::from_str_radix(part, 16).ok()?;
        }
        parts.next().is_none().then_some(Mac(bytes))
    }

    /// Whether frames for it reach several hosts.
    pub fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, f] = self.0;
        write!(formatter, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// An address with the length of its network's prefix: an interface, or a prefix whose other bits are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// The number of leading bits that name the network.
    pub length: u8,
}

impl Prefix {
    /// Makes a prefix of 32 bits at most.
    pub fn v4(address: [u8; 4], length: u8) -> Prefix {
        Prefix { address: address.into(), length }
    }

    /// Reads `10.0.1.1/24`; without a length all bits count. `default` is not read here.
    pub fn parse(text: &str) -> Option<Prefix> {
        let (address, length) = match text.trim().split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text.trim(), None),
        };
        let address: IpAddr = address.trim().parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = match length.map(str::trim) {
            None => most,
            // `u8::from_str` takes a sign.
            Some(length) if !length.bytes().all(|each| each.is_ascii_digit()) => return None,
            Some(length) => length.parse().ok().filter(|length| *length <= most)?,
        };
        Some(Prefix { address, length })
    }

    /// Whether an address is in the network of this one.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && masked(self.address, self.length) == masked(address, self.length)
    }

    /// The prefix of the network: the other bits zero.
    pub fn network(&self) -> Prefix {
        let bits = masked(self.address, self.length);
        let address = match self.address {
            IpAddr::V4(_) => IpAddr::V4((bits as u32).into()),
            IpAddr::V6(_) => IpAddr::V6(bits.into()),
        };
        Prefix { address, length: self.length }
    }
}

fn masked(address: IpAddr, length: u8) -> u128 {
    let (bits, width) = match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let dropped = u32::from(width - length.min(width));
    bits.checked_shr(dropped).map_or(0, |kept| kept << dropped)
}

impl fmt::Display for Prefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ethernet_addresses() {
        let shown = |text: &str| Mac::parse(text).map(|mac| mac.to_string());
        assert_eq!(shown("08:00:00:00:01:1A"), Some("08:00:00:00:01:1a".to_string()));
        assert_eq!(shown("8-0-0-0-1-11"), Some("08:00:00:00:01:11".to_string()));
        for wrong in
            ["", "08:00:00:00:01", "08:00:00:00:01:11:22", "08:00:00:00:01:xx", "+8:0:0:0:0:0"]
        {
            assert_eq!(Mac::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn prefixes() {
        for (text, expected) in [
            ("10.0.1.1/24", Some("10.0.1.0/24")),
            ("10.0.1.1", Some("10.0.1.1/32")),
            ("10.0.1.1/0", Some("0.0.0.0/0")),
            ("fe80::1/64", Some("fe80::/64")),
            ("10.0.1.1/33", None),
            ("10.0.1.1/+3", None),
            ("10.0.1/24", None),
            ("300.0.1.1/24", None),
        ] {
            let network = Prefix::parse(text).map(|prefix| prefix.network().to_string());
            assert_eq!(network.as_deref(), expected, "{text}");
        }
        let subnet = Prefix::parse("10.0.1.1/24").expect("a prefix");
        assert!(subnet.contains("10.0.1.254".parse().expect("an address")));
        assert!(!subnet.contains("10.0.2.1".parse().expect("an address")));
        assert!(!subnet.contains("::1".parse().expect("an address")));
    }
}
