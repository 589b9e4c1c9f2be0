// SPDX-License-Identifier: Apache-2.0
//! Checks addresses of hosts, and generates Ethernet addresses.

use super::context::Context;
use crate::codes;
use crate::format::address::{Mac, Prefix};
use crate::format::value::Located;
use crate::model::Network;
use source::Span;
use std::collections::HashSet;
use std::net::IpAddr;

/// Returns the address of an interface if a host can have it.
pub(super) fn interface(
    prefix: Prefix,
    span: Span,
    context: &Context<'_>,
) -> Option<Located<Prefix>> {
    let Prefix { address, length } = prefix;
    let network = prefix.network().address;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let is_broadcast = match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            length < 31 && address.to_bits() | mask == u32::MAX
        }
        IpAddr::V6(_) => false,
    };
    let problem = if address.is_multicast() {
        Some("a multicast address")
    } else if address.is_unspecified() {
        Some("no address of a host")
    } else if length + 1 < bits && address == network {
        Some("the address of its network")
    } else if is_broadcast {
        Some("the broadcast address of its network")
    } else {
        None
    };
    if let Some(problem) = problem {
        let message = format!("{prefix} is {problem}");
        let help = match address {
            IpAddr::V4(_) => "write an address such as 10.0.1.1/24",
            IpAddr::V6(_) => "write an address such as 2001:db8:1::1/64",
        };
        context.messages.error(codes::BAD_ADDRESS, span, message, help);
        return None;
    }
    Some(Located { value: prefix, span })
}

/// Returns an Ethernet address if a host can have it.
pub(super) fn mac(mac: Mac, span: Span, context: &Context<'_>) -> Option<Mac> {
    if !mac.is_multicast() && mac != Mac([0; 6]) {
        return Some(mac);
    }
    let message = format!("{mac} cannot be the address of a host");
    let help = "the first byte of a host's Ethernet address is even, such as 08";
    context.messages.error(codes::BAD_ADDRESS, span, message, help);
    None
}

/// Gives interfaces without an Ethernet address one: 02:00:00 and the number of the host, from 1; later interfaces of the
/// host 02:00:NN and the number of the host, with the number of the interface.
pub(super) fn generate_macs(network: &mut Network) {
    let all = network.hosts.iter().flat_map(|host| &host.interfaces);
    let given = all.filter(|interface| !interface.is_mac_generated);
    let mut taken: HashSet<Mac> = given.map(|interface| interface.mac).collect();
    for (number, host) in network.hosts.iter_mut().enumerate() {
        for (port, interface) in host.interfaces.iter_mut().enumerate() {
            if !interface.is_mac_generated {
                continue;
            }
            let mut suffix = number as u32 + 1 + ((port as u32) << 24);
            interface.mac = loop {
                let [a, b, c, d] = suffix.to_be_bytes();
                let mac = Mac([2, 0, a, b, c, d]);
                if taken.insert(mac) {
                    break mac;
                }
                suffix += 1;
            };
        }
    }
}
