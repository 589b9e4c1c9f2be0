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
use crate::link::LinkOptions;
use crate::node::Host;
use device::{Device, PortOptions, TrafficManagerOptions};
use serde_json::{Map, Value};
use source::quantity::{self, Decimals, Notation, Units};
use std::collections::BTreeMap;
use std::fmt;

/// What is wrong with a topology file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyError {
    /// Where in the file: `links[3]`, or a line and column.
    pub place: String,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl fmt::Display for TopologyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for TopologyError {}

fn problem<T>(place: &str, message: impl Into<String>) -> Result<T, TopologyError> {
    Err(TopologyError { place: place.to_string(), message: message.into() })
}

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

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, TopologyError> {
    match value.as_object() {
        Some(object) => Ok(object),
        None => problem(place, "expected an object in braces"),
    }
}

fn text(
    object: &Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<Option<String>, TopologyError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => problem(place, format!("`{key}` should be text in quotation marks")),
    }
}

fn number(
    object: &Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<Option<u32>, TopologyError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        // Some files of the tutorials write numbers as text.
        Some(value) => match value
            .as_u64()
            .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
            .and_then(|number| u32::try_from(number).ok())
        {
            Some(number) => Ok(Some(number)),
            None => problem(place, format!("`{key}` should be a number from 0 to {}", u32::MAX)),
        },
    }
}

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
const LARGEST: u64 = i64::MAX as u64;

fn latency_ps(value: &Value, place: &str) -> Result<u64, TopologyError> {
    let latency = match value {
        Value::Null => Some(0),
        Value::Number(number) => {
            number.as_f64().and_then(|number| quantity::scaled(number, MILLISECOND_PS).ok())
        }
        Value::String(text) => LATENCY.parse(text).ok(),
        _ => None,
    };
    match latency.filter(|latency| *latency <= LARGEST) {
        Some(latency) => Ok(latency),
        None => problem(place, "a latency is a number of milliseconds or text such as \"10us\""),
    }
}

fn rate_bps(value: &Value, place: &str) -> Result<Option<u64>, TopologyError> {
    const MEGABIT: u64 = 1_000_000;
    if value.is_null() {
        return Ok(None);
    }
    let rate = value.as_f64().and_then(|number| quantity::scaled(number, MEGABIT).ok());
    match rate.filter(|rate| (1..=LARGEST).contains(rate)) {
        Some(rate) => Ok(Some(rate)),
        None => problem(place, "a bandwidth is a positive number of megabits per second"),
    }
}

impl Topology {
    /// Reads a file's text.
    pub fn parse(json: &str) -> Result<Topology, TopologyError> {
        let value: Value = match serde_json::from_str(json) {
            Ok(value) => value,
            Err(error) => {
                let place = format!("line {}, column {}", error.line(), error.column());
                return problem(&place, format!("this is no JSON: {error}"));
            }
        };
        let root = object(&value, "topology")?;
        let mut topology = Topology::default();
        let empty = Value::Object(Map::new());
        for (name, host) in object(root.get("hosts").unwrap_or(&empty), "hosts")? {
            let place = format!("hosts.{name}");
            let host = object(host, &place)?;
            let commands = match host.get("commands") {
                None => Vec::new(),
                Some(Value::Array(commands)) => {
                    commands.iter().filter_map(Value::as_str).map(str::to_string).collect()
                }
                Some(_) => return problem(&place, "`commands` should be a list in brackets"),
            };
            let description = HostDescription {
                ip: text(host, "ip", &place)?,
                mac: text(host, "mac", &place)?,
                commands,
            };
            topology.hosts.insert(name.clone(), description);
        }
        for (name, switch) in object(root.get("switches").unwrap_or(&empty), "switches")? {
            let place = format!("switches.{name}");
            if topology.hosts.contains_key(name) {
                return problem(&place, "a host has this name already");
            }
            let switch = object(switch, &place)?;
            let description = SwitchDescription {
                program: text(switch, "program", &place)?,
                runtime_json: text(switch, "runtime_json", &place)?,
                cli_input: text(switch, "cli_input", &place)?,
                cpu_port: number(switch, "cpu_port", &place)?,
                priority_queues: number(switch, "priority_queues", &place)?,
            };
            topology.switches.insert(name.clone(), description);
        }
        topology.parse_links(root.get("links").unwrap_or(&Value::Array(Vec::new())))?;
        Ok(topology)
    }

    fn parse_links(&mut self, links: &Value) -> Result<(), TopologyError> {
        let Some(links) = links.as_array() else {
            return problem("links", "expected a list in brackets");
        };
        // A host's links are its ports in order.
        let mut host_ports: BTreeMap<String, u32> = BTreeMap::new();
        let mut taken: BTreeMap<(String, u32), usize> = BTreeMap::new();
        for (at, link) in links.iter().enumerate() {
            let place = format!("links[{at}]");
            let parts = link.as_array().map(Vec::as_slice).unwrap_or_default();
            let (Some(one), Some(other)) =
                (parts.first().and_then(Value::as_str), parts.get(1).and_then(Value::as_str))
            else {
                return problem(&place, "a link is a list [node, node, latency, bandwidth]");
            };
            let mut end = |name: &str| -> Result<(String, u32), TopologyError> {
                let end = if self.hosts.contains_key(name) {
                    let port = host_ports.entry(name.to_string()).or_default();
                    *port += 1;
                    (name.to_string(), *port - 1)
                } else {
                    self.switch_end(name, &place)?
                };
                if let Some(before) = taken.insert(end.clone(), at) {
                    let (name, port) = &end;
                    let message = format!("port {port} of `{name}` is in use by links[{before}]");
                    return problem(&place, message);
                }
                Ok(end)
            };
            let ends = [end(one)?, end(other)?];
            let latency_ps = parts.get(2).map_or(Ok(0), |value| latency_ps(value, &place))?;
            let rate_bps = parts.get(3).map_or(Ok(None), |value| rate_bps(value, &place))?;
            self.links.push(LinkDescription { ends, latency_ps, rate_bps });
        }
        Ok(())
    }

    fn switch_end(&self, name: &str, place: &str) -> Result<(String, u32), TopologyError> {
        if let Some((switch, port)) = name.rsplit_once("-p")
            && self.switches.contains_key(switch)
        {
            return match port.parse() {
                Ok(port) => Ok((switch.to_string(), port)),
                Err(_) => problem(place, format!("`{port}` in `{name}` is no port number")),
            };
        }
        if self.switches.contains_key(name) {
            return problem(place, format!("write `{name}-pN` for port N of this switch"));
        }
        problem(place, format!("`{name}` is neither a host nor a port of a switch, as `s1-p2`"))
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
    ) -> Result<Simulation<Vec<u8>>, BuildError<E>> {
        let mut network = Simulation::new(seed);
        for (number, (name, description)) in self.switches.iter().enumerate() {
            let made = device(number as u64, name, description, self.traffic_manager(name));
            let made = made.map_err(|error| BuildError::Device { switch: name.clone(), error })?;
            network.add(name.clone(), made);
        }
        for name in self.hosts.keys() {
            network.add(name.clone(), Host::new(sends.remove(name).unwrap_or_default()));
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
                rate_bps: link.rate_bps.filter(|_| self.hosts.contains_key(&from.0)),
                loss_per_million: 0,
            };
            network
                .connect_directions(one, other, options(&link.ends[0]), options(&link.ends[1]))
                .map_err(BuildError::Simulation)?;
        }
        Ok(network)
    }
}

#[cfg(test)]
mod tests;
