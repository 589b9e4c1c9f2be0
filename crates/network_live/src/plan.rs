// SPDX-License-Identifier: Apache-2.0
//! [`Plan`]: the names of everything that a live network has in the kernel, and the commands that set up each host. It is
//! data; `kernel` makes it.

use network_file::model::{Host, HostRoute, Link, Network, Node};
use std::fmt::Write as _;

/// What all namespaces begin with, so that nobody takes them for others.
pub const PREFIX: &str = "plane.";
/// The interface of each host.
pub const HOST_INTERFACE: &str = "eth0";
/// The longest name of an interface in Linux.
const LONGEST_INTERFACE: usize = 15;

/// What a live network has in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The namespace with the switches' ends of the pairs of interfaces.
    pub switches: String,
    /// Hosts, in the order of the file.
    pub hosts: Vec<HostPlan>,
}

/// A host in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPlan {
    /// Its name in the file.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its addresses.
    pub addresses: Vec<String>,
    /// The Ethernet address.
    pub mac: String,
    /// The other end of its interface, in the namespace of the switches.
    pub port: String,
    /// Commands of `ip` within the namespace.
    pub commands: Vec<String>,
    /// The rate at which the host sends, in bits per second, on the wire.
    pub rate_bps: Option<u64>,
    /// Settings of the namespace: paths below /proc/sys/net, and values.
    pub settings: Vec<(&'static str, &'static str)>,
}

impl Plan {
    /// Names everything of a network that has this name.
    pub fn of(network: &Network, name: &str) -> Plan {
        let hosts = network.hosts.iter().enumerate().map(|(number, host)| {
            let link = network.link_at(Node::Host(number), 0);
            let direction = link.map(|(link, end)| network.links[link].directions[end]);
            HostPlan {
                name: host.name.clone(),
                namespace: format!("{PREFIX}{name}.{}", host.name),
                addresses: host.addresses().map(|own| own.value.address.to_string()).collect(),
                mac: host.mac().to_string(),
                port: port_name(network, number, link.map(|(link, _)| &network.links[link])),
                commands: host_commands(host, HOST_INTERFACE),
                rate_bps: direction.and_then(|direction| {
                    // The kernel counts no overhead: it sends slower by its share of the longest frame.
                    let longest = 1_514;
                    let rate = u128::from(direction.rate_bps?) * longest;
                    Some((rate / (longest + u128::from(direction.overhead_bytes))) as u64)
                }),
                settings: settings(host),
            }
        });
        Plan { switches: format!("{PREFIX}{name}"), hosts: hosts.collect() }
    }

    /// All namespaces.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        let hosts = self.hosts.iter().map(|host| host.namespace.as_str());
        std::iter::once(self.switches.as_str()).chain(hosts)
    }
}

/// Settings of a host's namespace. Nothing that the file does not ask for is sent, as far as the kernel can be stopped.
fn settings(host: &Host) -> Vec<(&'static str, &'static str)> {
    match host.addresses().any(|own| own.value.address.is_ipv6()) {
        true => vec![
            ("ipv6/conf/default/accept_ra", "0"),
            ("ipv6/conf/default/router_solicitations", "0"),
            ("ipv6/conf/default/accept_dad", "0"),
            ("ipv6/conf/default/dad_transmits", "0"),
        ],
        false => vec![("ipv6/conf/all/disable_ipv6", "1"), ("ipv6/conf/default/disable_ipv6", "1")],
    }
}

/// The switch's port that the host is at, as Mininet names it, if that is short enough.
fn port_name(network: &Network, number: usize, link: Option<&Link>) -> String {
    let other = link.and_then(|link| {
        let is_own = link.ends[0].node == Node::Host(number);
        let end = link.ends[usize::from(is_own)];
        matches!(end.node, Node::Switch(_))
            .then(|| format!("{}-eth{}", network.name_of(end.node), end.port))
    });
    let is_short = |name: &String| name.len() <= LONGEST_INTERFACE;
    other.filter(is_short).unwrap_or_else(|| format!("host{number}"))
}

/// Commands of `ip` that give a host's interface its addresses, routes and ARP entries.
pub(crate) fn host_commands(host: &Host, interface: &str) -> Vec<String> {
    let mut commands = vec!["link set lo up".to_string(), format!("link set {interface} up")];
    for own in host.addresses() {
        let prefix = &own.value;
        // A broadcast address is one only in networks of more than two addresses (RFC 3021).
        let broadcast = if prefix.length < 31 && prefix.address.is_ipv4() { " brd +" } else { "" };
        // Other hosts have other addresses: the file was checked.
        let at_once = if prefix.address.is_ipv6() { " nodad" } else { "" };
        commands.push(format!(
            "addr add {}/{}{broadcast} dev {interface}{at_once}",
            prefix.address, prefix.length
        ));
    }
    for entry in &host.arp {
        commands.push(format!(
            "neigh replace {} lladdr {} dev {interface} nud permanent",
            entry.address, entry.mac
        ));
    }
    for HostRoute { to, via, .. } in &host.routes {
        let mut command = format!("route replace {}/{}", network_address(to), to.length);
        if let Some(via) = via {
            let _ = write!(command, " via {via}");
        }
        let _ = write!(command, " dev {interface}");
        if via.is_some() {
            command.push_str(" onlink");
        }
        commands.push(command);
    }
    for gateway in &host.gateways {
        commands
            .push(format!("route replace default via {} dev {interface} onlink", gateway.value));
    }
    commands
}

/// The address of a network: `ip route` refuses bits behind the prefix.
fn network_address(prefix: &network_file::Prefix) -> std::net::IpAddr {
    match prefix.address {
        std::net::IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix.length)).unwrap_or(0);
            std::net::Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        std::net::IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix.length)).unwrap_or(0);
            std::net::Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}
