// SPDX-License-Identifier: Apache-2.0
//! Topology files of the P4 tutorials (`topology.json`): hosts, switches, links, and the simulation they describe. The
//! caller makes the devices with their programs and entries. Shell commands for hosts are kept, not run.
//!
//! A link is `[node, node, latency, bandwidth]`, the last two optional; a node is a host's name or
//! `switch-pN` for port `N` of a switch. A latency is a number of milliseconds, or text with a unit
//! (`ns`, `us`, `ms`, `s`; microseconds without one, as `tc` has it). A bandwidth is in megabits per
//! second. It holds for the port of each switch at the link, so packets wait in the switch's
//! queues, where the program sees them.

use super::{Simulation, SimulationError};
use crate::links::LinkOptions;
use crate::node::Recorder;
use device::{Device, PortOptions, TrafficManagerOptions};
use document::{Conventions, FieldNames, Fields, Format, Messages, Node, NodeKind};
use source::quantity::{self, Decimals, Notation, Units};
use source::{Code, Diagnostic, Diagnostics, Explanation, FileId, Severity, Span};
use std::collections::BTreeMap;
use std::fmt;

/// A topology file that cannot be read.
pub const TOPOLOGY: Code = Code("NW-E0201");

/// What `plane explain` says about it.
pub const EXPLANATIONS: &[Explanation] = &[Explanation {
    code: TOPOLOGY,
    title: "a topology file cannot be read",
    text: "Topology files are those of the P4 tutorials: JSON with `hosts`, `switches` and `links`. A link is \
           `[node, node, latency, bandwidth]`, the last two optional; a node is a host's name, or `s1-p2` for \
           port 2 of switch s1. A latency is a number of milliseconds or a text such as \"10us\"; a bandwidth \
           is in megabits per second.",
    wrong: "{\"switches\": {\"s1\": {}}, \"hosts\": {\"h1\": {}}, \"links\": [[\"h1\", \"s1\"]]}\n",
    right: "{\"switches\": {\"s1\": {}}, \"hosts\": {\"h1\": {}}, \"links\": [[\"h1\", \"s1-p1\"]]}\n",
}];

static CONVENTIONS: Conventions = Conventions {
    syntax: TOPOLOGY,
    syntax_help: "",
    wrong_type: TOPOLOGY,
    wrong_value: TOPOLOGY,
    missing: TOPOLOGY,
    unknown_field: TOPOLOGY,
    repeated_field: TOPOLOGY,
    unused_fields: Severity::Error,
    field_names: FieldNames::Exact,
    note_fields: &[],
    reference: "",
    // Some files of the tutorials write numbers as texts.
    number_in_text: Some(|text| text.trim().parse().ok()),
};

/// A host of a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostDescription {
    /// Address with prefix length, as written.
    pub ip: Option<String>,
    /// Ethernet address, as written.
    pub mac: Option<String>,
    /// Shell commands.
    pub commands: Vec<String>,
}

/// A switch of a topology; paths are as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchDescription {
    /// Its program, if it is not the network's.
    pub program: Option<String>,
    /// Its entries.
    pub runtime_json: Option<String>,
    /// Its commands.
    pub cli_input: Option<String>,
    /// Its CPU port.
    pub cpu_port: Option<u32>,
    /// Number of queues of each port.
    pub priority_queues: Option<u32>,
}

/// A link of a topology: node names with ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkDescription {
    /// Both ends.
    pub ends: [(String, u32); 2],
    /// In picoseconds.
    pub latency_ps: u64,
    /// In bits per second; `None` is infinite.
    pub rate_bps: Option<u64>,
}

/// A topology file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// By name.
    pub hosts: BTreeMap<String, HostDescription>,
    /// By name.
    pub switches: BTreeMap<String, SwitchDescription>,
    /// In the order of the file.
    pub links: Vec<LinkDescription>,
}

/// Why a topology's simulation cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError<E> {
    /// The caller could not make a device.
    Device {
        /// The switch.
        switch: String,
        /// Why.
        error: E,
    },
    /// The network cannot be joined.
    Simulation(SimulationError),
    /// Packets are given for a host that does not exist.
    NoSuchHost(String),
}

impl<E: fmt::Display> fmt::Display for BuildError<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Device { switch, error } => write!(formatter, "switch `{switch}`: {error}"),
            BuildError::Simulation(error) => error.fmt(formatter),
            BuildError::NoSuchHost(name) => {
                write!(formatter, "the topology has no host `{name}` to send packets")
            }
        }
    }
}

impl<E: fmt::Display + fmt::Debug> std::error::Error for BuildError<E> {}

/// Latencies in picoseconds; microseconds where a text has no unit.
const LATENCY: Notation = Notation {
    units: Units::Named(&[
        ("ns", 1_000),
        ("nsec", 1_000),
        ("us", 1_000_000),
        ("usec", 1_000_000),
        ("ms", MILLISECOND_PS),
        ("msec", MILLISECOND_PS),
        ("s", 1_000_000_000_000),
        ("sec", 1_000_000_000_000),
    ]),
    unit_list: "ns, us, ms, s",
    default_scale: Some(1_000_000),
    decimals: Decimals::Rounded,
};
const MILLISECOND_PS: u64 = 1_000_000_000;

/// Largest accepted latency in picoseconds and rate in bits per second.
const MAX_QUANTITY: u64 = i64::MAX as u64;

fn latency_ps(node: &Node, messages: &Messages) -> Option<u64> {
    if node.kind == NodeKind::Null {
        return Some(0);
    }
    let expected = "a number of milliseconds or a text such as \"10us\"";
    let latency = messages.quantity(node, "a latency", &LATENCY, Some(MILLISECOND_PS), expected)?;
    if latency > MAX_QUANTITY {
        messages.wrong_value(node, "a latency", expected);
        return None;
    }
    Some(latency)
}

/// A bandwidth in bits per second; `Some(None)` is infinite.
fn rate_bps(node: &Node, messages: &Messages) -> Option<Option<u64>> {
    const MEGABIT: u64 = 1_000_000;
    let rate = match &node.kind {
        NodeKind::Null => return Some(None),
        NodeKind::Int(number) => {
            u64::try_from(*number).ok().and_then(|number| number.checked_mul(MEGABIT))
        }
        NodeKind::Float(number) => quantity::scaled(*number, MEGABIT).ok(),
        _ => None,
    };
    let rate = rate.filter(|rate| (1..=MAX_QUANTITY).contains(rate));
    if rate.is_none() {
        let expected = "a positive number of megabits per second";
        messages.wrong_value(node, "a bandwidth", expected);
        return None;
    }
    Some(rate)
}

/// The value of a field; `null` counts as absent.
fn present<'n>(fields: &mut Fields<'n>, name: &'static str) -> Option<&'n Node> {
    fields.get(&[name]).filter(|node| node.kind != NodeKind::Null)
}

fn text(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    let node = present(fields, name)?;
    fields.messages().text(node, &fields.name_of(name)).map(str::to_string)
}

fn number(fields: &mut Fields<'_>, name: &'static str) -> Option<u32> {
    let node = present(fields, name)?;
    fields.messages().integer_u32(node, &fields.name_of(name))
}

impl Topology {
    /// Reads the text of a file. Fields for other tools are ignored.
    pub fn parse(file: FileId, text: &str) -> Result<Topology, Diagnostics> {
        let messages = Messages::new(&CONVENTIONS, Format::Json);
        let document = messages.parse(file, text);
        let root = document.as_ref().and_then(|node| Fields::of(node, "a topology", &messages));
        let topology = root.map(Topology::read).unwrap_or_default();
        if messages.has_errors() { Err(messages.into_diagnostics()) } else { Ok(topology) }
    }

    fn read(mut root: Fields<'_>) -> Topology {
        let messages = root.messages();
        let mut topology = Topology::default();
        for (field, mut host) in root.sections("hosts") {
            let commands = host.get(&["commands"]);
            let commands = commands.and_then(|node| messages.list(node, &host.name_of("commands")));
            let commands = commands.unwrap_or_default().iter();
            let description = HostDescription {
                ip: text(&mut host, "ip"),
                mac: text(&mut host, "mac"),
                commands: commands
                    .filter_map(|command| messages.text(command, "a command"))
                    .map(str::to_string)
                    .collect(),
            };
            topology.hosts.insert(field.name.clone(), description);
        }
        for (field, mut switch) in root.sections("switches") {
            if topology.hosts.contains_key(&field.name) {
                let message = format!("`{}` is a host and a switch", field.name);
                messages.error(TOPOLOGY, field.name_span, message, "rename one of them");
            }
            let description = SwitchDescription {
                program: text(&mut switch, "program"),
                runtime_json: text(&mut switch, "runtime_json"),
                cli_input: text(&mut switch, "cli_input"),
                cpu_port: number(&mut switch, "cpu_port"),
                priority_queues: number(&mut switch, "priority_queues"),
            };
            topology.switches.insert(field.name.clone(), description);
        }
        if let Some(links) = root.get(&["links"]) {
            topology.read_links(links, messages);
        }
        topology
    }

    fn read_links(&mut self, links: &Node, messages: &Messages) {
        // A host's links are its ports in order.
        let mut host_ports: BTreeMap<String, u32> = BTreeMap::new();
        let mut taken: BTreeMap<(String, u32), Span> = BTreeMap::new();
        for link in messages.list(links, "`links`").unwrap_or_default() {
            let (one, other, rest) = match &link.kind {
                NodeKind::List(parts) => match parts.as_slice() {
                    [one, other, rest @ ..] => (one, other, rest),
                    _ => {
                        let message = "a link has two ends";
                        let help =
                            "write [node, node, latency, bandwidth]; the last two may be left out";
                        messages.error(TOPOLOGY, link.span, message, help);
                        continue;
                    }
                },
                _ => {
                    let expected = "a list [node, node, latency, bandwidth]";
                    messages.wrong_type(link, "a link", expected);
                    continue;
                }
            };
            let mut end = |node: &Node| -> Option<(String, u32)> {
                let name = messages.text(node, "the end of a link")?;
                let end = if self.hosts.contains_key(name) {
                    let port = host_ports.entry(name.to_string()).or_default();
                    *port += 1;
                    (name.to_string(), *port - 1)
                } else {
                    self.switch_end(node, name, messages)?
                };
                if let Some(earlier) = taken.insert(end.clone(), node.span) {
                    let message = format!("port {} of `{}` has two links", end.1, end.0);
                    let diagnostic = Diagnostic::error(TOPOLOGY, node.span, message);
                    messages.push(diagnostic.label(earlier, "the other link"));
                    return None;
                }
                Some(end)
            };
            let ends = (end(one), end(other));
            let latency_ps = rest.first().map_or(Some(0), |node| latency_ps(node, messages));
            let rate_bps = rest.get(1).map_or(Some(None), |node| rate_bps(node, messages));
            if let ((Some(one), Some(other)), Some(latency_ps), Some(rate_bps)) =
                (ends, latency_ps, rate_bps)
            {
                self.links.push(LinkDescription { ends: [one, other], latency_ps, rate_bps });
            }
        }
    }

    fn switch_end(&self, node: &Node, name: &str, messages: &Messages) -> Option<(String, u32)> {
        let error = |message: String, help: &str| {
            messages.error(TOPOLOGY, node.span, message, help);
            None
        };
        if let Some((switch, port)) = name.rsplit_once("-p")
            && self.switches.contains_key(switch)
        {
            return match port.parse() {
                Ok(port) => Some((switch.to_string(), port)),
                Err(_) => error(format!("`{port}` in `{name}` is not a port number"), ""),
            };
        }
        if self.switches.contains_key(name) {
            let help = format!("write `{name}-p1` for port 1");
            return error(format!("a link ends at a port of switch `{name}`"), &help);
        }
        let help = "write the name of a host, or `s1-p2` for port 2 of switch s1";
        error(format!("the topology has no host or switch `{name}`"), help)
    }

    /// Returns the options of a switch's ports and queues that its links ask for.
    pub fn traffic_manager(&self, switch: &str) -> TrafficManagerOptions {
        let mut default_port = PortOptions::default();
        if let Some(queues) = self.switches.get(switch).and_then(|switch| switch.priority_queues) {
            default_port.queue_count = queues.clamp(1, 64);
        }
        let ports = self
            .links
            .iter()
            .filter(|link| link.rate_bps.is_some())
            .flat_map(|link| link.ends.iter().map(move |end| (end, link.rate_bps)))
            .filter(|((name, _), _)| name == switch)
            .map(|((_, port), rate_bps)| (*port, PortOptions { rate_bps, ..default_port.clone() }))
            .collect();
        TrafficManagerOptions { default_port, ports, ..TrafficManagerOptions::default() }
    }

    /// Builds the simulation. The caller makes a device for every switch from its number, name, description and options;
    /// `sends` has the messages of each host with their times in picoseconds.
    pub fn build<E>(
        &self,
        seed: u64,
        mut sends: BTreeMap<String, Vec<(u64, Vec<u8>)>>,
        mut device: impl FnMut(
            u64,
            &str,
            &SwitchDescription,
            TrafficManagerOptions,
        ) -> Result<Device, E>,
    ) -> Result<Simulation, BuildError<E>> {
        let mut network = Simulation::new(seed);
        for (number, (name, description)) in self.switches.iter().enumerate() {
            let made = device(number as u64, name, description, self.traffic_manager(name));
            let made = made.map_err(|error| BuildError::Device { switch: name.clone(), error })?;
            network.add(name.clone(), made);
        }
        for name in self.hosts.keys() {
            network.add(name.clone(), Recorder::new(sends.remove(name).unwrap_or_default()));
        }
        if let Some((name, _)) = sends.pop_first() {
            return Err(BuildError::NoSuchHost(name));
        }
        for link in &self.links {
            let end = |end: &(String, u32)| network.named(&end.0).map(|node| (node, end.1));
            let (Some(one), Some(other)) = (end(&link.ends[0]), end(&link.ends[1])) else {
                continue;
            };
            // The port of a switch limits the rate itself; for a host the link does.
            let options = |from: &(String, u32)| LinkOptions {
                latency_ps: link.latency_ps,
                sender_rate_bps: link.rate_bps.filter(|_| self.hosts.contains_key(&from.0)),
                ..LinkOptions::default()
            };
            network
                .connect_directions(one, other, [options(&link.ends[0]), options(&link.ends[1])])
                .map_err(BuildError::Simulation)?;
        }
        Ok(network)
    }
}

#[cfg(test)]
mod tests;
