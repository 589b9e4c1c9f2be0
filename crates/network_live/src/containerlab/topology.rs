// SPDX-License-Identifier: Apache-2.0
//! The topology file: nodes with their commands, and links.

use super::{IMAGE, SCHEMA_VERSION, SwitchFiles, interface};
use crate::plan::host_commands;
use network_file::model::{Host, Network, Node};
use std::fmt::Write as _;

/// A text of YAML in double quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for each in text.chars() {
        match each {
            '"' | '\\' => quoted.extend(['\\', each]),
            each if each.is_control() => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(each));
            }
            each => quoted.push(each),
        }
    }
    quoted.push('"');
    quoted
}

pub(super) fn write(network: &Network, lab: &str, switches: &[SwitchFiles]) -> String {
    let mut text = format!(
        "# A topology of containerlab, by the schema of version {SCHEMA_VERSION}. Before `containerlab deploy` build the\n\
         # image (Dockerfile); after it, `sh links.sh` sets rates, delays and losses of the hosts' links.\n\
         name: {}\ntopology:\n  nodes:\n",
        quoted(lab)
    );
    for (number, (switch, files)) in network.switches.iter().zip(switches).enumerate() {
        let node = Node::Switch(number);
        let ends = network.links.iter().flat_map(|link| &link.ends);
        let ports = ends.filter(|end| end.node == node).map(|end| end.port);
        let interfaces: Vec<String> =
            ports.map(|port| format!("{port}={}", interface(network, node, port))).collect();
        let mut command = format!("plane net /network/network.json --live --only {}", switch.name);
        if !interfaces.is_empty() {
            let _ = write!(command, " --interfaces {}", interfaces.join(","));
        }
        let _ = writeln!(text, "    {}:", quoted(&switch.name));
        let _ = writeln!(text, "      kind: linux\n      image: {IMAGE}");
        let _ = writeln!(text, "      cmd: {}", quoted(&command));
        text.push_str("      binds:\n");
        let names = files.named(&switch.name).into_iter().map(|(name, _)| name);
        for name in std::iter::once("network.json".to_string()).chain(names) {
            let _ = writeln!(text, "        - {}", quoted(&format!("{name}:/network/{name}:ro")));
        }
    }
    for (number, host) in network.hosts.iter().enumerate() {
        let interface = interface(network, Node::Host(number), 0);
        let _ = writeln!(text, "    {}:", quoted(&host.name));
        let _ = writeln!(text, "      kind: linux\n      image: {IMAGE}\n      exec:");
        for command in host_words(host, &interface) {
            let _ = writeln!(text, "        - {}", quoted(&command));
        }
    }
    if !network.links.is_empty() {
        text.push_str("  links:\n");
    }
    for link in &network.links {
        let ends = link.ends.map(|end| {
            let interface = interface(network, end.node, end.port);
            quoted(&format!("{}:{interface}", network.name_of(end.node)))
        });
        let _ = writeln!(text, "    - endpoints: [{}]", ends.join(", "));
    }
    text
}

/// Commands that set up a host in its container, without a shell.
fn host_words(host: &Host, interface: &str) -> Vec<String> {
    let mut words = vec![
        // Switches read frames before any hardware could complete them.
        format!("ethtool -K {interface} tx off tso off gso off gro off"),
        format!("ip link set {interface} address {}", host.mac()),
    ];
    words.extend(host_commands(host, interface).iter().map(|command| format!("ip {command}")));
    words
}
