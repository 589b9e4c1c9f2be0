// SPDX-License-Identifier: Apache-2.0
//! Pings between all hosts, as Mininet's `pingall` sends them.

use network_file::Located;
use network_file::model::{Application, ApplicationKind, Destination, Network};

/// From one ping to the next, in picoseconds: longer than a round trip in most networks.
const GAP_PS: u64 = 100_000_000_000;
/// When an answer is late, in picoseconds (`ping -W1`).
const TIMEOUT_PS: u64 = 1_000_000_000_000;

/// Adds a ping of one request from each host to each other host that has an address, one after the other.
pub fn add_pingall(network: &mut Network) {
    let has_address: Vec<bool> =
        network.hosts.iter().map(|host| host.addresses().next().is_some()).collect();
    let mut start_ps = 0;
    for from in 0..network.hosts.len() {
        for to in 0..network.hosts.len() {
            if from == to || !has_address[from] || !has_address[to] {
                continue;
            }
            let span = network.hosts[from].span;
            let name = format!("pingall.{}-{}", network.hosts[from].name, network.hosts[to].name);
            let kind = ApplicationKind::Ping {
                to: vec![Located { value: Destination::Host(to), span }],
                count: 1,
                interval_ps: TIMEOUT_PS,
                size_bytes: 56,
                timeout_ps: TIMEOUT_PS,
                tos: 0,
            };
            let application =
                Application { name, group: Some("pingall".to_string()), span, start_ps, kind };
            network.hosts[from].applications.push(application);
            start_ps += GAP_PS;
        }
    }
}
