// SPDX-License-Identifier: Apache-2.0
//! Switches, hosts and controllers.

use super::application::Application;
use super::routes::GeneratedRoutes;
use crate::format::address::{Mac, Prefix};
use crate::format::value::Located;
use source::Span;
use std::net::IpAddr;

/// What executes a switch's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Machine code.
    Jit,
    /// The interpreter of the pipeline IR.
    Interpreter,
    /// Lucid's reference machine.
    Reference,
}

/// A switch. File names are relative to the network file.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// The place of the name.
    pub span: Span,
    /// Its program; `None` only if the options of the reader have no program either.
    pub program: Option<Located<String>>,
    /// Its entries files.
    pub entries: Vec<Located<String>>,
    /// Its device file.
    pub device: Option<Located<String>>,
    /// What executes the program.
    pub engine: Option<Located<Engine>>,
    /// The architecture that a Lucid program is compiled for.
    pub target: Option<Located<String>>,
    /// The file of symbolics of a Lucid program.
    pub symbolics: Option<Located<String>>,
    /// The port to the controller.
    pub cpu_port: Option<Located<u32>>,
    /// Queues of each port.
    pub priority_queues: Option<Located<u32>>,
    /// Its controller, by its index.
    pub controller: Option<usize>,
    /// Its addresses and routes, if a topology generated it.
    pub routes: Option<GeneratedRoutes>,
}

impl Switch {
    /// Whether its program is a Lucid program, by the name of the file.
    pub fn is_lucid(&self) -> bool {
        let name = self.program.as_ref().map(|program| program.value.to_ascii_lowercase());
        name.is_some_and(|name| name.ends_with(".dpt"))
    }
}

/// A host.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// The place of the name.
    pub span: Span,
    /// Its interfaces by port, one at least.
    pub interfaces: Vec<HostInterface>,
    /// The next hops of all destinations without a route, at most one for each version of IP.
    pub gateways: Vec<Located<IpAddr>>,
    /// Routes beside the gateway.
    pub routes: Vec<HostRoute>,
    /// Ethernet addresses that it knows without ARP.
    pub arp: Vec<ArpEntry>,
    /// Its applications.
    pub applications: Vec<Application>,
}

/// An interface of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostInterface {
    /// Its addresses with the length of their prefix.
    pub addresses: Vec<Located<Prefix>>,
    /// Its Ethernet address.
    pub mac: Mac,
    /// Whether the reader generated the Ethernet address.
    pub is_mac_generated: bool,
}

impl Host {
    /// The addresses of all interfaces.
    pub fn addresses(&self) -> impl Iterator<Item = &Located<Prefix>> + Clone {
        self.interfaces.iter().flat_map(|interface| &interface.addresses)
    }

    /// Whether this is an address of the host.
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.addresses().any(|own| own.value.address == address)
    }

    /// The Ethernet address of the first interface.
    pub fn mac(&self) -> Mac {
        self.interfaces.first().map_or(Mac([0; 6]), |first| first.mac)
    }

    /// The address to which another host sends: the first of a version that the other one has too, or the first.
    pub fn address_for(&self, sender: &Host) -> Option<IpAddr> {
        let has_version = |own: &&Located<Prefix>| {
            let mut senders = sender.addresses();
            senders.any(|other| other.value.address.is_ipv4() == own.value.address.is_ipv4())
        };
        let found = self.addresses().find(has_version).or_else(|| self.addresses().next())?;
        Some(found.value.address)
    }

    /// The Ethernet address of the gateway of IPv4, if the host knows it without ARP.
    pub fn gateway_mac(&self) -> Option<Mac> {
        let gateway = self.gateways.iter().find(|gateway| gateway.value.is_ipv4())?.value;
        self.arp.iter().find(|entry| entry.address == gateway).map(|entry| entry.mac)
    }
}

/// A route of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRoute {
    /// The destinations.
    pub to: Prefix,
    /// The next hop; `None` if the destinations are on the host's link.
    pub via: Option<IpAddr>,
    /// The place.
    pub span: Span,
}

/// An ARP entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArpEntry {
    /// The IP address.
    pub address: IpAddr,
    /// The Ethernet address.
    pub mac: Mac,
    /// The place.
    pub span: Span,
}

/// A controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// Its name.
    pub name: String,
    /// The place of the name.
    pub span: Span,
    /// The switches that it controls, by their index.
    pub switches: Vec<usize>,
    /// What it does.
    pub behaviour: Behaviour,
    /// From a command to its effect, and from a notification to the program, in picoseconds.
    pub latency_ps: u64,
}

/// What a controller does.
#[derive(Clone, Debug, PartialEq)]
pub enum Behaviour {
    /// It applies commands at times.
    Commands(Vec<TimedCommands>),
    /// It is a program of the user's, with its arguments.
    Program(Vec<Located<String>>),
}

/// Commands at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedCommands {
    /// When, in picoseconds.
    pub at_ps: u64,
    /// The commands.
    pub commands: CommandSource,
    /// The place.
    pub span: Span,
}

/// Where commands are written.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandSource {
    /// In the network file, one a line.
    Text(Located<String>),
    /// In a file of their own.
    File(Located<String>),
}
