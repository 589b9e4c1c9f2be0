// SPDX-License-Identifier: Apache-2.0
//! Accepts or refuses addresses of hosts, and generates Ethernet addresses.

use super::context::Context;
use crate::codes;
use crate::format::address::{Mac, Prefix};
use crate::format::value::Located;
use crate::model::Network;
use source::Span;
use std::collections::HashSet;
use std::net::IpAddr;

/// Returns an address, or `None`, with a diagnostic, if it is an IPv6 address and the options allow none.
pub(super) fn accepted(address: IpAddr, span: Span, context: &Context<'_>) -> Option<IpAddr> {
    if address.is_ipv4() || context.options.has_ipv6 {
        return Some(address);
    }
    let message = format!("{address} is an IPv6 address, and hosts have IPv4 addresses only");
    context.messages.error(
        codes::BAD_ADDRESS,
        span,
        message,
        "write an address such as 10.0.1.1/24",
    );
    None
}

/// Returns the address of an interface if a host can have it.
pub(super) fn interface(
    prefix: Prefix,
    span: Span,
    context: &Context<'_>,
) -> Option<Located<Prefix>> {
    accepted(prefix.address, span, context)?;
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
        context.messages.error(
            codes::BAD_ADDRESS,
            span,
            message,
            "write an address such as 10.0.1.1/24",
        );
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

/// Gives hosts without an Ethernet address one: 02:00:00 and the number of the host, from 1.
pub(super) fn generate_macs(network: &mut Network) {
    let mut taken: HashSet<Mac> =
        network.hosts.iter().filter(|host| !host.is_mac_generated).map(|host| host.mac).collect();
    for number in 0..network.hosts.len() {
        if !network.hosts[number].is_mac_generated {
            continue;
        }
        let mut suffix = number as u32 + 1;
        let mac = loop {
            let [_, a, b, c] = suffix.to_be_bytes();
            let mac = Mac([2, 0, 0, a, b, c]);
            if taken.insert(mac) {
                break mac;
            }
            suffix += 1;
        };
        network.hosts[number].mac = mac;
    }
}
