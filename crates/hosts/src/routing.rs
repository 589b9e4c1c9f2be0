// SPDX-License-Identifier: Apache-2.0
//! [`Routing`]: the addresses of a host on its interfaces, and the next hop to each destination.

use crate::interface::{HostOptions, IpNetwork};
use crate::wire::icmpv6;
use std::net::IpAddr;

/// Where a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) interface: usize,
    /// The next node's address.
    pub(crate) address: IpAddr,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    network: IpNetwork,
    interface: usize,
    /// `None`: the destinations are on the link.
    gateway: Option<IpAddr>,
}

/// An address of the host.
#[derive(Clone, Copy, Debug)]
struct Own {
    network: IpNetwork,
    interface: usize,
}

/// Addresses and routes of a host.
#[derive(Debug)]
pub(crate) struct Routing {
    own: Vec<Own>,
    /// From long to short prefixes; of equal ones those on the link first.
    entries: Vec<Entry>,
}

impl Routing {
    pub(crate) fn new(options: &HostOptions) -> Routing {
        let mut own = Vec::new();
        for (interface, described) in options.interfaces.iter().enumerate() {
            own.extend(
                described.addresses.iter().map(|network| Own { network: *network, interface }),
            );
            // An interface with an IPv6 address has one for its link too (RFC 4291 section 2.8).
            let has_link_local = |own: &IpNetwork| is_link_local(own.address);
            if described.addresses.iter().any(|own| own.address.is_ipv6())
                && !described.addresses.iter().any(has_link_local)
            {
                let address = icmpv6::link_local(described.mac).into();
                own.push(Own { network: IpNetwork { address, prefix_bits: 64 }, interface });
            }
        }
        let direct = own.iter().map(|Own { network, interface }| Entry {
            network: *network,
            interface: *interface,
            gateway: None,
        });
        let interface_of = |gateway: IpAddr| {
            // Of equal prefixes the first interface's.
            let near = own.iter().rev().filter(|own| own.network.contains(gateway));
            near.max_by_key(|own| own.network.prefix_bits).map_or(0, |own| own.interface)
        };
        let routed = options.routes.iter().map(|route| Entry {
            network: route.network,
            interface: interface_of(route.gateway),
            gateway: Some(route.gateway),
        });
        let mut entries: Vec<Entry> = direct.chain(routed).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.network.prefix_bits));
        Routing { own, entries }
    }

    /// Whether this is an address of the host.
    #[inline]
    pub(crate) fn has_address(&self, address: IpAddr) -> bool {
        self.own.iter().any(|own| own.network.address == address)
    }

    /// Whether packets to this address, which arrive at an interface, are for the host.
    #[inline]
    pub(crate) fn accepts(&self, address: IpAddr) -> bool {
        self.has_address(address)
            || match address {
                IpAddr::V4(address) if address.is_broadcast() => true,
                IpAddr::V4(_) => self.is_broadcast(address),
                IpAddr::V6(group) if group.is_multicast() => {
                    let is_solicited = |own: &Own| match own.network.address {
                        IpAddr::V6(own) => icmpv6::solicited_node(own) == group,
                        IpAddr::V4(_) => false,
                    };
                    group == ALL_NODES || self.own.iter().any(is_solicited)
                }
                IpAddr::V6(_) => false,
            }
    }

    /// Whether this is the broadcast address of a network of the host.
    #[inline]
    pub(crate) fn is_broadcast(&self, address: IpAddr) -> bool {
        self.own.iter().any(|own| own.network.broadcast() == Some(address))
    }

    /// The next hop to a destination, if there is a route. IPv4 multicast needs none.
    #[inline]
    pub(crate) fn hop(&self, destination: IpAddr) -> Option<Hop> {
        let Some(entry) = self.entries.iter().find(|entry| entry.network.contains(destination))
        else {
            let is_group = destination.is_ipv4() && destination.is_multicast();
            return is_group.then_some(Hop { interface: 0, address: destination });
        };
        Some(Hop { interface: entry.interface, address: entry.gateway.unwrap_or(destination) })
    }

    /// The address that packets to a destination come from, if there is a route: of the interface by which they leave, in
    /// the network of the next hop, of the destination's scope.
    pub(crate) fn source_for(&self, destination: IpAddr) -> Option<IpAddr> {
        if self.has_address(destination) {
            return Some(destination);
        }
        let hop = self.hop(destination)?;
        let is_usable = |own: &&Own| {
            own.interface == hop.interface
                && own.network.address.is_ipv4() == destination.is_ipv4()
                && is_link_local(own.network.address) == is_link_local(destination)
        };
        let mut usable = self.own.iter().filter(is_usable);
        let near = usable.clone().find(|own| own.network.contains(hop.address));
        Some(near.or_else(|| usable.next())?.network.address)
    }

    /// An address on an interface, for messages to neighbours of an address.
    pub(crate) fn address_near(&self, interface: usize, neighbor: IpAddr) -> Option<IpAddr> {
        let of_interface = self.own.iter().filter(|own| {
            own.interface == interface && own.network.address.is_ipv4() == neighbor.is_ipv4()
        });
        let near = of_interface.clone().find(|own| own.network.contains(neighbor));
        near.or_else(|| of_interface.clone().next()).map(|own| own.network.address)
    }
}

/// All IPv6 nodes of a link.
const ALL_NODES: std::net::Ipv6Addr = std::net::Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{InterfaceOptions, Route};
    use crate::wire::MacAddress;

    fn routing() -> Routing {
        let interface = |last: u8, addresses: &[&str]| InterfaceOptions {
            mac: MacAddress([2, 0, 0, 0, 0, last]),
            addresses: addresses.iter().map(|text| text.parse().expect("a network")).collect(),
            ..InterfaceOptions::default()
        };
        let route = |network: &str, gateway: &str| Route {
            network: network.parse().expect("a network"),
            gateway: gateway.parse().expect("an address"),
        };
        Routing::new(&HostOptions {
            interfaces: vec![
                interface(1, &["10.0.1.1/24", "2001:db8:1::1/64"]),
                interface(2, &["10.0.2.1/24", "10.0.2.9/32", "2001:db8:2::1/64"]),
            ],
            routes: vec![
                route("0.0.0.0/0", "10.0.1.254"),
                route("10.9.0.0/16", "10.0.2.254"),
                route("10.0.2.0/25", "10.0.1.253"),
                route("::/0", "fe80::9"),
                route("2001:db8:9::/48", "2001:db8:2::9"),
            ],
            ..HostOptions::default()
        })
    }

    #[test]
    fn the_longest_prefix_decides_interface_hop_and_source() {
        let routing = routing();
        for (destination, interface, hop, source) in [
            ("10.0.1.7", 0, "10.0.1.7", "10.0.1.1"),
            ("10.0.2.200", 1, "10.0.2.200", "10.0.2.1"),
            ("10.0.2.7", 0, "10.0.1.253", "10.0.1.1"),
            ("10.9.1.1", 1, "10.0.2.254", "10.0.2.1"),
            ("8.8.8.8", 0, "10.0.1.254", "10.0.1.1"),
            ("2001:db8:2::7", 1, "2001:db8:2::7", "2001:db8:2::1"),
            ("2001:db8:9::7", 1, "2001:db8:2::9", "2001:db8:2::1"),
            // A gateway by its link-local address: the source is global all the same.
            ("2001:db8:7::7", 0, "fe80::9", "2001:db8:1::1"),
            ("fe80::7", 0, "fe80::7", "fe80::ff:fe00:1"),
        ] {
            let address = |text: &str| text.parse::<IpAddr>().expect("an address");
            let expected = Hop { interface, address: address(hop) };
            assert_eq!(routing.hop(address(destination)), Some(expected), "{destination}");
            assert_eq!(routing.source_for(address(destination)), Some(address(source)));
        }
    }

    #[test]
    fn own_and_group_addresses_are_accepted() {
        let routing = routing();
        for (address, is_accepted) in [
            ("10.0.2.9", true),
            ("10.0.2.255", true),
            ("10.0.2.254", false),
            ("255.255.255.255", true),
            ("2001:db8:2::1", true),
            ("fe80::ff:fe00:2", true),
            ("ff02::1", true),
            ("ff02::1:ff00:1", true),
            ("ff02::1:ff00:3", false),
            ("2001:db8:2::2", false),
        ] {
            let address: IpAddr = address.parse().expect("an address");
            assert_eq!(routing.accepts(address), is_accepted, "{address}");
        }
    }
}
