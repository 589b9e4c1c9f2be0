// SPDX-License-Identifier: Apache-2.0
//! The script for links: rates, delays, jitter, loss and corruption of what hosts send. What switches send is up to their
//! `plane`, which has the links of the network file.

use super::interface;
use network::links::LossModel;
use network_file::model::{Direction, Network, Node};
use std::fmt::Write as _;

/// A duration of Go.
fn duration(time_ps: u64) -> String {
    format!("{}ns", time_ps.div_ceil(1_000))
}

fn percent(probability: f64) -> String {
    format!("{}", probability * 100.0)
}

pub(super) fn write(network: &Network, lab: &str) -> String {
    let mut text = format!(
        "#!/bin/sh\n# Rates, delays, jitter, losses and corruption of what the hosts of `{lab}` send; containerlab's topology has \
         no fields\n# for them. What switches send has those of network.json already. It needs root, and netem in the kernel.\n\
         set -e\n"
    );
    for link in &network.links {
        for (end, direction) in link.ends.iter().zip(&link.directions) {
            let Node::Host(number) = end.node else { continue };
            let name = &network.hosts[number].name;
            let interface = interface(network, end.node, end.port);
            for what in beyond(direction) {
                let _ = writeln!(text, "# {name}: {what} cannot be set; --live has it");
            }
            let Direction { options, rate_bps, .. } = direction;
            let mut command =
                format!("containerlab tools netem set -n clab-{lab}-{name} -i {interface}");
            if let Some(rate_bps) = rate_bps {
                let _ = write!(command, " --rate {}", rate_bps.div_ceil(1_000));
            }
            // Ours is from the latency to the latency and the jitter, netem's on both sides of the delay.
            let delay_ps = options.latency_ps + options.jitter_ps / 2;
            if delay_ps > 0 {
                let _ = write!(command, " --delay {}", duration(delay_ps));
            }
            if options.jitter_ps > 0 {
                let _ = write!(command, " --jitter {}", duration(options.jitter_ps / 2));
            }
            if let LossModel::Random(loss) = options.loss
                && loss > 0.0
            {
                let _ = write!(command, " --loss {}", percent(loss));
            }
            if options.corruption > 0.0 {
                let _ = write!(command, " --corruption {}", percent(options.corruption));
            }
            let _ = writeln!(text, "{command}");
        }
    }
    text
}

/// Properties of a direction that `netem set` does not have.
fn beyond(direction: &Direction) -> Vec<&'static str> {
    let options = &direction.options;
    let all = [
        (options.duplication > 0.0, "duplicate"),
        (options.reordering > 0.0 || !options.keeps_order && options.jitter_ps > 0, "reorder"),
        (matches!(options.loss, LossModel::GilbertElliott { .. }), "burst_loss"),
        (direction.overhead_bytes > 0, "overhead"),
    ];
    all.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect()
}
