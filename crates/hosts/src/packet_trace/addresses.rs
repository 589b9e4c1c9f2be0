// SPDX-License-Identifier: Apache-2.0
//! [`AddressPool`]: the hosts of one side of a packet trace. [`Endpoints`] gives each flow a sender, a receiver and a port
//! that no other flow of the sender has.

use super::{Ipv4Network, TraceOptions};
use arithmetic::random::mix;
use arithmetic::random::stream::Stream;
use std::net::Ipv4Addr;
use std::ops::Range;

/// The exponent of the popularity of hosts.
const POPULARITY: f64 = 0.8;
/// Ports of clients: all that no well-known service has.
const FIRST_PORT: u16 = 1024;
const PORTS: u16 = u16::MAX - FIRST_PORT + 1;
/// Public addresses that traces use, as a power of two.
const PUBLIC_BITS: u32 = 31;
/// Purposes of random numbers.
const SOURCES: u64 = 0x7472_6101;
const DESTINATIONS: u64 = 0x7472_6102;

/// The hosts that send, or those that receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressPool {
    /// The network of their addresses; [`Ipv4Network::ALL`] stands for its public addresses.
    pub network: Ipv4Network,
    /// The number of hosts; a fourth of the flows without it.
    pub hosts: Option<u64>,
}

impl AddressPool {
    /// Public addresses.
    pub fn internet() -> AddressPool {
        AddressPool { network: Ipv4Network::ALL, hosts: None }
    }

    /// The most hosts.
    fn capacity(&self) -> u64 {
        match self.network.prefix_bits {
            0 => 1 << PUBLIC_BITS,
            bits @ (31 | 32) => 1 << (32 - bits),
            bits => (1 << (32 - bits)) - 2,
        }
    }

    /// The number of hosts for a number of flows.
    pub(super) fn hosts(&self, flows: u64) -> Result<u64, String> {
        let network = &self.network;
        if (1..8).contains(&network.prefix_bits) || network.address.octets()[0] >= 224 {
            return Err(format!(
                "{network} is no network of hosts of a trace: write 8 bits of a unicast prefix at least, such as 10.0.0.0/8"
            ));
        }
        let capacity = self.capacity();
        match self.hosts {
            Some(0) => Err("a trace needs at least one host on each side".to_owned()),
            Some(hosts) if hosts > capacity => Err(format!(
                "{network} has {capacity} addresses of hosts, fewer than {hosts}: write a shorter prefix or fewer hosts"
            )),
            // Each flow needs one host of a side.
            Some(hosts) => Ok(hosts.min(flows)),
            None => Ok((flows / 4).clamp(1, capacity)),
        }
    }
}

/// Hosts with numbers that are spread over a network.
#[derive(Clone, Copy, Debug)]
struct Hosts {
    network: Ipv4Network,
    count: u64,
    key: u64,
}

impl Hosts {
    /// The address of a host. Different hosts have different addresses.
    fn address(&self, host: u64) -> Ipv4Addr {
        let bits = 32 - u32::from(self.network.prefix_bits);
        let prefix = self.network.address.to_bits() & !mask(bits);
        let part = match bits {
            32 => return public_address(permuted(host as u32, PUBLIC_BITS, self.key)),
            0 | 1 => permuted(host as u32, bits, self.key),
            // All numbers but those of the network and of broadcast.
            bits => permuted_among(host as u32 + 1, bits, self.key, 1..mask(bits)),
        };
        Ipv4Addr::from_bits(prefix | part)
    }

    /// The host of a flow: each host has one flow at least, further ones by popularity.
    fn host(&self, flow: u32, random: &mut Stream) -> u64 {
        match u64::from(flow) < self.count {
            true => flow.into(),
            false => random.zipf(self.count, POPULARITY) - 1,
        }
    }
}

fn mask(bits: u32) -> u32 {
    u32::MAX.checked_shr(32 - bits).unwrap_or(0)
}

/// A permutation of the numbers of so many bits.
fn permuted(mut number: u32, bits: u32, key: u64) -> u32 {
    let (mask, shift) = (mask(bits), bits.div_ceil(2).max(1));
    for round in 0..4 {
        let key = mix(key ^ round);
        number = number.wrapping_add(key as u32) & mask;
        number ^= number.checked_shr(shift).unwrap_or(0);
        number = number.wrapping_mul((key >> 32) as u32 | 1) & mask;
    }
    number
}

/// A permutation of the numbers of a range, of one of them: the first of the range on its cycle.
fn permuted_among(mut number: u32, bits: u32, key: u64, range: Range<u32>) -> u32 {
    loop {
        number = permuted(number, bits, key);
        if range.contains(&number) {
            return number;
        }
    }
}

/// A public address by its number, below 2^[`PUBLIC_BITS`]: without networks of special use (RFC 6890), and without
/// addresses that end with 0 or 255.
fn public_address(number: u32) -> Ipv4Addr {
    const SPECIAL: [u8; 9] = [0, 10, 100, 127, 169, 172, 192, 198, 203];
    let (rest, last) = (number / 254, number % 254);
    let [_, first, second, third] = rest.to_be_bytes();
    let mut first = first;
    for special in SPECIAL {
        first += u8::from(first >= special);
    }
    Ipv4Addr::new(first, second, third, last as u8 + 1)
}

/// The ends of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowEnds {
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    /// The port of the client.
    pub client_port: u16,
}

/// Gives out the ends of flows.
#[derive(Debug)]
pub(super) struct Endpoints {
    sources: Hosts,
    destinations: Hosts,
    /// How many flows each source has.
    used_ports: Vec<u16>,
    flows: u32,
    seed: u64,
}

impl Endpoints {
    pub(super) fn new(options: &TraceOptions) -> Result<Endpoints, String> {
        let hosts = |pool: &AddressPool, key: u64| -> Result<Hosts, String> {
            let key = mix(options.seed ^ key);
            Ok(Hosts { network: pool.network, count: pool.hosts(options.flows)?, key })
        };
        let sources = hosts(&options.sources, SOURCES)?;
        if options.flows > sources.count.saturating_mul(PORTS.into()) {
            return Err(format!(
                "{} sources have ports for {} flows, not for {}: write more sources",
                sources.count,
                sources.count * u64::from(PORTS),
                options.flows
            ));
        }
        Ok(Endpoints {
            sources,
            destinations: hosts(&options.destinations, DESTINATIONS)?,
            used_ports: vec![0; sources.count as usize],
            flows: options.flows as u32,
            seed: options.seed,
        })
    }

    /// The ends of a flow.
    pub(super) fn of_flow(&mut self, flow: u32) -> FlowEnds {
        // Numbers of flows are by size, which must not decide their hosts.
        let bits = u32::BITS - self.flows.leading_zeros();
        let flow = permuted_among(flow, bits, self.seed ^ DESTINATIONS, 0..self.flows);
        let mut random = Stream::new(self.seed, SOURCES, flow.into());
        let mut source = self.sources.host(flow, &mut random) as usize;
        while self.used_ports[source] >= PORTS {
            source = (source + 1) % self.used_ports.len();
        }
        let count = self.used_ports[source];
        self.used_ports[source] += 1;
        let first = mix(self.sources.key ^ source as u64) % u64::from(PORTS);
        let client_port = FIRST_PORT + ((first + u64::from(count)) % u64::from(PORTS)) as u16;
        FlowEnds {
            source: self.sources.address(source as u64),
            destination: self.destinations.address(self.destinations.host(flow, &mut random)),
            client_port,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn hosts_have_different_addresses_in_their_network() {
        for (text, count) in [
            ("10.1.0.0/16", 65_534),
            ("10.1.2.0/24", 254),
            ("10.1.2.4/31", 2),
            ("10.1.2.4/32", 1),
            ("10.1.2.8/29", 6),
            ("0.0.0.0/0", 200_000),
        ] {
            let network: Ipv4Network = text.parse().expect("a network");
            let pool = AddressPool { network, hosts: Some(count) };
            assert_eq!(pool.hosts(u64::MAX), Ok(count), "{text}");
            let hosts = Hosts { network, count, key: 7 };
            let found: BTreeSet<Ipv4Addr> = (0..count).map(|host| hosts.address(host)).collect();
            assert_eq!(found.len() as u64, count, "{text}");
            for address in found {
                assert!(network.contains(address));
                assert!(
                    network.prefix_bits > 30
                        || address.octets()[3] != 0
                        || network.prefix_bits == 16
                );
                let first = address.octets()[0];
                assert!(network.prefix_bits > 0 || (1..224).contains(&first) && first != 10);
            }
        }
    }

    #[test]
    fn networks_without_enough_hosts_are_refused() {
        for (text, hosts) in
            [("10.0.0.0/24", 255), ("10.0.0.0/7", 1), ("224.0.0.0/8", 1), ("10.0.0.0/8", 0)]
        {
            let network: Ipv4Network = text.parse().expect("a network");
            assert!(AddressPool { network, hosts: Some(hosts) }.hosts(1000).is_err(), "{text}");
        }
    }
}
