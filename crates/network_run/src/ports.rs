// SPDX-License-Identifier: Apache-2.0
//! Ports of switches as their links ask for: packets wait in the switch, so rate and queue of a link are the port's.

use device::TrafficManagerOptions;
use network_file::QueueLimit;
use network_file::model::{Network, Node};
use source::{Code, Diagnostic, Diagnostics, Explanation, quantity};

/// A link and a device file give a port different rates.
pub const RATES_DIFFER: Code = Code("NW-E0401");

pub(crate) const EXPLANATIONS: &[Explanation] = &[Explanation {
    code: RATES_DIFFER,
    title: "a link and a device file give a port different rates",
    text: "Packets wait in the port of a switch, so the rate of a link is the rate of the ports at its ends. If the switch \
           has a device file that gives the port another rate, one of the two has to go.",
    wrong: "",
    right: "",
}];

/// Returns the ports and queues of a switch: those of its device file, changed by its links. Reports rates that differ.
pub fn traffic_manager(
    network: &Network,
    switch: usize,
    base: &TrafficManagerOptions,
    found: &mut Diagnostics,
) -> TrafficManagerOptions {
    let mut options = base.clone();
    if let Some(queues) = &network.switches[switch].priority_queues {
        options.default_port.queue_count = queues.value.clamp(1, 64);
    }
    for link in &network.links {
        for (end, direction) in link.ends.iter().zip(&link.directions) {
            if end.node != Node::Switch(switch) {
                continue;
            }
            let built = base.ports.get(&end.port);
            let mut port = built.cloned().unwrap_or_else(|| options.default_port.clone());
            let own_rate = built.and_then(|port| port.rate_bps);
            match (own_rate, direction.rate_bps) {
                (Some(own), Some(rate)) if own != rate && !direction.is_default_rate => {
                    let message = format!(
                        "the link gives port {} of `{}` {}, and its device file {}",
                        end.port,
                        network.switches[switch].name,
                        quantity::rate(rate as f64),
                        quantity::rate(own as f64)
                    );
                    let help = "leave one of the two rates out, or make them equal";
                    found.push(Diagnostic::error(RATES_DIFFER, link.span, message).help(help));
                }
                (Some(_), _) => {}
                (None, rate) => port.rate_bps = rate,
            }
            match direction.queue {
                Some(QueueLimit::Packets(packets)) => port.queue_depth_packets = packets,
                Some(QueueLimit::Bytes(bytes)) => {
                    port.queue_depth_packets = u32::MAX;
                    port.queue_depth_bytes = Some(bytes);
                }
                None => {}
            }
            port.overhead_bytes = direction.overhead_bytes;
            options.ports.insert(end.port, port);
        }
    }
    options
}
