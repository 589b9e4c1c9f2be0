// SPDX-License-Identifier: Apache-2.0
//! A network as data: what a file says, with defaults filled in and names resolved. Every item keeps its place for
//! messages of later steps.

mod application;
mod expectation;
mod link;
mod node;
mod routes;

pub use application::*;
pub use expectation::*;
pub use link::*;
pub use node::*;
pub use routes::*;

use crate::format::value::Located;
use source::Span;

/// Which notation a network is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A network file.
    #[default]
    NetworkFile,
    /// A `topology.json` of the P4 tutorials.
    Tutorial,
}

/// A network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// The notation.
    pub origin: Origin,
    /// The topology of the tutorials that the file completes.
    pub base: Option<Located<String>>,
    /// Switches.
    pub switches: Vec<Switch>,
    /// Hosts.
    pub hosts: Vec<Host>,
    /// Links.
    pub links: Vec<Link>,
    /// Controllers.
    pub controllers: Vec<Controller>,
    /// Failures and returns, in the order of the file.
    pub events: Vec<Event>,
    /// Reloads of reactions, in the order of the file.
    pub reloads: Vec<Reload>,
    /// Captures to write.
    pub captures: Vec<Capture>,
    /// Expected results.
    pub expectations: Vec<Expectation>,
    /// The seed of all random numbers.
    pub seed: Option<u64>,
    /// The end of the run, in picoseconds.
    pub until_ps: Option<Located<u64>>,
}

impl Network {
    /// The name of a node.
    pub fn name_of(&self, node: Node) -> &str {
        match node {
            Node::Switch(number) => &self.switches[number].name,
            Node::Host(number) => &self.hosts[number].name,
        }
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<Node> {
        let switch = self.switches.iter().position(|switch| switch.name == name).map(Node::Switch);
        switch.or_else(|| self.hosts.iter().position(|host| host.name == name).map(Node::Host))
    }

    /// A port in words: `s1:1`, or the name of a host.
    pub fn port_name(&self, end: &End) -> String {
        match end.node {
            Node::Host(number) if end.port == 0 => self.hosts[number].name.clone(),
            node => format!("{}:{}", self.name_of(node), end.port),
        }
    }

    /// The link at a port, and which of its ends the port is.
    pub fn link_at(&self, node: Node, port: u32) -> Option<(usize, usize)> {
        self.links.iter().enumerate().find_map(|(number, link)| {
            let end = link.ends.iter().position(|end| (end.node, end.port) == (node, port))?;
            Some((number, end))
        })
    }

    /// Returns a sentence about links whose rate or latency is a default; `None` if there are none.
    pub fn defaults_in_words(&self) -> Option<String> {
        let count = |is_default: fn(&Direction) -> bool| {
            self.links.iter().filter(|link| link.directions.iter().any(is_default)).count()
        };
        let part = |count: usize, what: &str, value: &str| {
            let verb = if count == 1 { "link has" } else { "links have" };
            (count > 0).then(|| format!("{count} {verb} the default {what} {value}"))
        };
        let rate = part(count(|direction| direction.is_default_rate), "rate", "1 Gb/s");
        let latency = part(count(|direction| direction.is_default_latency), "latency", "10 us");
        let parts: Vec<String> = rate.into_iter().chain(latency).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// A node: the index of a switch or host in the network's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A switch.
    Switch(usize),
    /// A host.
    Host(usize),
}

/// Something that fails or returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSubject {
    /// A link, by its index.
    Link(usize),
    /// A switch or host.
    Node(Node),
    /// A controller, by its index.
    Controller(usize),
}

/// A failure or return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in picoseconds.
    pub at_ps: u64,
    /// What.
    pub subject: EventSubject,
    /// Whether it returns.
    pub is_up: bool,
    /// The place.
    pub span: Span,
}

/// New reactions for a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Reload {
    /// When, in picoseconds.
    pub at_ps: u64,
    /// The switch, by its index.
    pub switch: usize,
    /// The program with the reactions.
    pub program: Located<String>,
    /// Whether its `init` runs.
    pub runs_init: bool,
    /// Whether variables begin anew.
    pub is_fresh: bool,
    /// The place.
    pub span: Span,
}

/// The frames of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureDirection {
    /// Those that the node receives.
    In,
    /// Those that the node sends.
    Out,
    /// Both.
    Both,
}

/// A capture to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The port.
    pub port: End,
    /// The file.
    pub file: String,
    /// Which frames.
    pub direction: CaptureDirection,
    /// The place.
    pub span: Span,
}
