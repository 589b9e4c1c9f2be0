// SPDX-License-Identifier: Apache-2.0
//! A network as a topology of containerlab: a container for each switch and host. `topology` writes it, `network` the
//! network file of its switches, `impairments` the script for what the topology cannot say.

mod impairments;
mod network;
mod topology;

use network_file::model::{Network, Node};

/// The version of containerlab whose schema the topology keeps.
pub const SCHEMA_VERSION: &str = "0.79";
/// The image of switches and hosts.
const IMAGE: &str = "planewright";

/// The files of a switch, as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchFiles {
    /// The P4 program, in one file.
    pub program: String,
    /// Entries: the ends of their files' names, and their texts.
    pub entries: Vec<(String, String)>,
    /// The device file: the end of its name, and its text.
    pub device: Option<(String, String)>,
}

impl SwitchFiles {
    /// Their paths in the folder, with their texts.
    fn named(&self, switch: &str) -> Vec<(String, &str)> {
        let folder = format!("switches/{switch}");
        let mut named = vec![(format!("{folder}/program.p4"), self.program.as_str())];
        let entries = (1..).zip(&self.entries);
        named.extend(entries.map(|(number, (end, text))| {
            (format!("{folder}/entries{number}.{end}"), text.as_str())
        }));
        let device = self.device.iter();
        named.extend(device.map(|(end, text)| (format!("{folder}/device.{end}"), text.as_str())));
        named
    }
}

/// The interface of a port in a container. `eth0` is that of containerlab's management network.
fn interface(network: &Network, node: Node, port: u32) -> String {
    let of_node = |link: &network_file::model::Link| {
        link.ends.iter().any(|end| end.node == node && end.port == 0)
    };
    let has_port_0 = network.links.iter().any(of_node);
    format!("eth{}", u64::from(port) + u64::from(has_port_0))
}

/// Writes a network as files: names in the folder, and texts. Switches' files are in the order of the file.
pub fn emit(network: &Network, lab: &str, switches: &[SwitchFiles]) -> Vec<(String, String)> {
    let mut files = vec![
        (format!("{lab}.clab.yml"), topology::write(network, lab, switches)),
        ("network.json".to_string(), network::write(network, switches)),
        ("links.sh".to_string(), impairments::write(network, lab)),
        ("Dockerfile".to_string(), DOCKERFILE.to_string()),
    ];
    for (switch, of_switch) in network.switches.iter().zip(switches) {
        let named = of_switch.named(&switch.name).into_iter();
        files.extend(named.map(|(name, text)| (name, text.to_string())));
    }
    files
}

const DOCKERFILE: &str = "\
# The image of switches and hosts. Copy the program `plane` beside this file, then:
#   docker build -t planewright .
# The C library of the base image must be at least as new as that of the system that built `plane`.
FROM debian:stable-slim
RUN apt-get update \\
    && apt-get install -y --no-install-recommends ethtool iperf3 iproute2 iputils-ping tcpdump \\
    && rm -rf /var/lib/apt/lists/*
COPY plane /usr/local/bin/plane
CMD [\"sleep\", \"infinity\"]
";
