// SPDX-License-Identifier: Apache-2.0
//! Addresses and routes of a generated switch, which the caller writes as entries of its program.

use crate::format::address::{Mac, Prefix};
use std::net::IpAddr;

/// Addresses and routes of a generated switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedRoutes {
    /// The switch's address.
    pub address: IpAddr,
    /// Its ports that have links, by number.
    pub ports: Vec<GeneratedPort>,
    /// Groups of equal-cost next hops, each in order of port; a group of one is a plain next hop.
    pub groups: Vec<Vec<NextHop>>,
    /// Routes, longest prefix first.
    pub routes: Vec<GeneratedRoute>,
}

/// A port of a generated switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedPort {
    /// The number.
    pub port: u32,
    /// The switch's Ethernet address at this port.
    pub mac: Mac,
}

/// A next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NextHop {
    /// The port to it.
    pub port: u32,
    /// Its Ethernet address.
    pub mac: Mac,
}

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedRoute {
    /// The destinations.
    pub prefix: Prefix,
    /// The index of its group.
    pub group: usize,
}
