// SPDX-License-Identifier: Apache-2.0
//! Refuses hosts that a live network does not have.

use crate::programs::NOT_LIVE;
use network_file::model::Network;
use source::{Diagnostic, Diagnostics};

/// Reports hosts with several interfaces.
pub fn check_hosts(network: &Network, found: &mut Diagnostics) {
    for host in network.hosts.iter().filter(|host| host.interfaces.len() > 1) {
        let message = format!(
            "host `{}` has {} interfaces, and hosts of live networks have one",
            host.name,
            host.interfaces.len()
        );
        let help = "run the file as a simulation, or put a switch between the host and its links";
        found.push(Diagnostic::error(NOT_LIVE, host.span, message).help(help));
    }
}
