// SPDX-License-Identifier: Apache-2.0
//! Understands the shell commands that the P4 tutorials give hosts: default gateways, routes and ARP entries. Others have
//! no effect, with a warning.

use super::context::Context;
use crate::codes;
use crate::format::address::{Mac, Prefix};
use crate::format::value::Located;
use crate::model::{ArpEntry, Host, HostRoute};
use source::{Diagnostic, printable};
use std::net::IpAddr;

/// What a command does.
#[derive(Debug, PartialEq, Eq)]
enum Effect {
    Gateway(IpAddr),
    Route {
        to: Prefix,
        via: Option<IpAddr>,
    },
    Arp {
        address: IpAddr,
        mac: Mac,
    },
    /// It has no effect on a simulated host.
    Nothing,
}

/// Applies a command to a host.
pub(super) fn apply(command: &Located<String>, host: &mut Host, context: &Context<'_>) {
    let span = command.span;
    match understood(&command.value) {
        Some(Effect::Gateway(gateway)) => {
            host.gateways.retain(|other| other.value.is_ipv4() != gateway.is_ipv4());
            host.gateways.push(Located { value: gateway, span });
        }
        Some(Effect::Route { to, via }) => {
            host.routes.push(HostRoute { to: to.network(), via, span });
        }
        Some(Effect::Arp { address, mac }) => {
            host.arp.push(ArpEntry { address, mac, span });
        }
        Some(Effect::Nothing) => {}
        None => {
            let shown = printable(&command.value, 60);
            let message = format!("the command `{shown}` has no effect on a simulated host");
            let diagnostic = Diagnostic::warning(codes::UNKNOWN_COMMAND, span, message);
            context.messages.push(diagnostic.note(
                "`route add default gw`, `ip route add` and `arp -s` set routes and ARP entries; \
                 `applications` run programs",
            ));
        }
    }
}

/// Returns the effect of a command if it is one of the tutorials'.
fn understood(command: &str) -> Option<Effect> {
    let words: Vec<&str> = command.split_whitespace().filter(|word| *word != "sudo").collect();
    match words.as_slice() {
        ["route", "add", "default", "gw", gateway, rest @ ..] if is_interface(rest) => {
            Some(Effect::Gateway(gateway.parse().ok()?))
        }
        ["route", "add", "-net" | "-host", to, rest @ ..] => match rest {
            ["gw", via, rest @ ..] if is_interface(rest) => {
                Some(Effect::Route { to: Prefix::parse(to)?, via: Some(via.parse().ok()?) })
            }
            rest if is_interface(rest) => Some(Effect::Route { to: Prefix::parse(to)?, via: None }),
            _ => None,
        },
        ["ip", "route" | "r", "add", to, rest @ ..] => ip_route(to, rest),
        ["arp", options @ ..] => arp(options),
        ["ip", "neigh" | "neighbor", "add" | "replace", address, "lladdr", mac, rest @ ..]
            if is_interface(rest) =>
        {
            Some(Effect::Arp { address: address.parse().ok()?, mac: Mac::parse(mac)? })
        }
        // Offloads and IPv6 of a real interface.
        ["ethtool", ..] | ["sysctl", ..] => Some(Effect::Nothing),
        _ => None,
    }
}

/// `dev eth0` or nothing.
fn is_interface(words: &[&str]) -> bool {
    matches!(words, [] | ["dev", _] | [_])
}

fn ip_route(to: &str, rest: &[&str]) -> Option<Effect> {
    let via = match rest {
        ["via", via, rest @ ..] if is_interface(rest) => Some(via.parse().ok()?),
        ["dev", _] => None,
        _ => return None,
    };
    match (to, via) {
        ("default", Some(via)) => Some(Effect::Gateway(via)),
        ("default", None) => Some(Effect::Route { to: Prefix::v4([0; 4], 0), via: None }),
        (to, via) => Some(Effect::Route { to: Prefix::parse(to)?, via }),
    }
}

/// `-i eth0 -s ADDRESS MAC`, with the options in any order.
fn arp(options: &[&str]) -> Option<Effect> {
    match options {
        ["-i", _, rest @ ..] => arp(rest),
        ["-s", address, mac] | ["-s", address, mac, "-i", _] => {
            Some(Effect::Arp { address: address.parse().ok()?, mac: Mac::parse(mac)? })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn commands_of_the_tutorials() {
        let net = |text| Prefix::parse(text).expect("a prefix");
        for (command, expected) in [
            ("route add default gw 10.0.1.10 dev eth0", Some(Effect::Gateway(ip("10.0.1.10")))),
            ("sudo route add default gw 10.0.1.10", Some(Effect::Gateway(ip("10.0.1.10")))),
            ("ip route add default via 10.0.1.10", Some(Effect::Gateway(ip("10.0.1.10")))),
            (
                "arp -i eth0 -s 10.0.1.10 08:00:00:00:01:00",
                Some(Effect::Arp { address: ip("10.0.1.10"), mac: Mac([8, 0, 0, 0, 1, 0]) }),
            ),
            (
                "ip route add 10.0.0.0/8 dev eth0",
                Some(Effect::Route { to: net("10.0.0.0/8"), via: None }),
            ),
            (
                "ip route add 10.0.2.2 via 10.0.1.10 dev eth0",
                Some(Effect::Route { to: net("10.0.2.2"), via: Some(ip("10.0.1.10")) }),
            ),
            (
                "route add -net 10.0.2.0/24 gw 10.0.1.10",
                Some(Effect::Route { to: net("10.0.2.0/24"), via: Some(ip("10.0.1.10")) }),
            ),
            ("ethtool --offload eth0 rx off tx off", Some(Effect::Nothing)),
            ("route add default gw nobody", None),
            ("python3 server.py &", None),
            ("arp -d 10.0.1.10", None),
            ("", None),
        ] {
            assert_eq!(understood(command), expected, "{command}");
        }
    }
}
