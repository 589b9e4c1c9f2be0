// SPDX-License-Identifier: Apache-2.0
//! [`Plan`]: the nodes and links of a generated topology. Hosts have port 0, switches count ports from 1.

use crate::format::address::Prefix;
use std::collections::HashSet;
use std::net::IpAddr;

/// A switch or host of a plan, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedNode {
    Switch(usize),
    Host(usize),
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSwitch {
    pub name: String,
    /// Its address in its subnet; the hosts of the switch have others of it.
    pub address: Prefix,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedHost {
    pub name: String,
    pub address: Prefix,
    pub gateway: IpAddr,
}

/// A link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedLink {
    pub ends: [(PlannedNode, u32); 2],
    pub is_bottleneck: bool,
}

/// How many routes switches get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aggregation {
    /// One for each subnet.
    #[default]
    None,
    /// One for each /16 where its subnets have the same next hops, and a default route up.
    Pods,
}

/// The nodes and links of a generated topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub switches: Vec<PlannedSwitch>,
    pub hosts: Vec<PlannedHost>,
    pub links: Vec<PlannedLink>,
    pub aggregation: Aggregation,
    names: HashSet<String>,
}

impl Plan {
    /// Makes a plan without nodes.
    pub fn with(aggregation: Aggregation) -> Plan {
        Plan { aggregation, ..Plan::default() }
    }

    /// Adds a switch.
    pub fn switch(&mut self, name: String, address: [u8; 4]) -> usize {
        self.names.insert(name.clone());
        self.switches.push(PlannedSwitch { name, address: Prefix::v4(address, 24) });
        self.switches.len() - 1
    }

    /// Adds the next host at a port of a switch, with the address of the switch's subnet that ends in `suffix`.
    pub fn host(&mut self, switch: usize, port: u32, suffix: u32) {
        let name = format!("h{}", self.hosts.len() + 1);
        self.names.insert(name.clone());
        let gateway = self.switches[switch].address;
        let mut address = gateway;
        if let IpAddr::V4(ip) = gateway.address {
            let [a, b, c, _] = ip.octets();
            address = Prefix::v4([a, b, c, suffix as u8], gateway.length);
        }
        self.hosts.push(PlannedHost { name, address, gateway: gateway.address });
        let host = PlannedNode::Host(self.hosts.len() - 1);
        self.link((host, 0), (PlannedNode::Switch(switch), port));
    }

    /// Links two switches.
    pub fn link_switches(&mut self, one: (usize, u32), other: (usize, u32)) {
        let end = |(switch, port)| (PlannedNode::Switch(switch), port);
        self.link(end(one), end(other));
    }

    fn link(&mut self, one: (PlannedNode, u32), other: (PlannedNode, u32)) {
        self.links.push(PlannedLink { ends: [one, other], is_bottleneck: false });
    }

    /// Whether a switch has this name.
    pub fn has_switch(&self, name: &str) -> bool {
        self.names.contains(name) && self.switches.iter().any(|switch| switch.name == name)
    }

    /// Whether a host has this name.
    pub fn has_host(&self, name: &str) -> bool {
        self.names.contains(name) && self.hosts.iter().any(|host| host.name == name)
    }
}
