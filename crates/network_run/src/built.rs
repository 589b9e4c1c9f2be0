// SPDX-License-Identifier: Apache-2.0
//! [`Built`]: a network ready to run. `build` makes it, `watch` runs it, `results` reads it.

use crate::applications::ServerKey;
use crate::external::ExternalHost;
use crate::watched::Watched;
use device::Device;
use hosts::{Host, InterfaceStatistics};
use network::node::NodeId;
use network::simulation::Simulation;
use network_file::model::{ApplicationIndex, Network, Node};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// A part of an application at work.
#[derive(Clone, Debug)]
pub(crate) struct RunningPart {
    /// The number for [`Host::report`].
    pub(crate) number: usize,
    /// The addresses and ports that it sends to.
    pub(crate) destinations: Vec<(Ipv4Addr, u16)>,
}

impl RunningPart {
    /// Its destination, if it is one.
    pub(crate) fn destination(&self) -> Option<(Ipv4Addr, u16)> {
        match self.destinations[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// An application of the file at work.
#[derive(Clone, Debug)]
pub(crate) struct RunningApplication {
    pub(crate) index: ApplicationIndex,
    pub(crate) parts: Vec<RunningPart>,
}

/// A network ready to run.
pub struct Built {
    /// The nodes.
    pub simulation: Simulation,
    pub(crate) network: Network,
    pub(crate) applications: Vec<RunningApplication>,
    /// Servers with the numbers of their reports.
    pub(crate) servers: BTreeMap<ServerKey, usize>,
    pub(crate) watched: Watched,
}

/// The id of a node: switches come first.
pub(crate) fn node_id(network: &Network, node: Node) -> NodeId {
    NodeId(match node {
        Node::Switch(number) => number,
        Node::Host(number) => network.switches.len() + number,
    } as u32)
}

impl Built {
    /// The network as described.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The device of a switch, for changes between runs.
    pub fn device_mut(&mut self, number: usize) -> Option<&mut Device> {
        let id = node_id(&self.network, Node::Switch(number));
        self.simulation.node_mut(id)
    }

    /// The host with this number, if its programs run outside.
    pub fn external_host_mut(&mut self, number: usize) -> Option<&mut ExternalHost> {
        let id = node_id(&self.network, Node::Host(number));
        self.simulation.node_mut(id)
    }

    fn external_host(&self, number: usize) -> Option<&ExternalHost> {
        self.simulation.node(node_id(&self.network, Node::Host(number)))
    }

    /// Whether frames wait for [`ExternalHost::take_received`].
    pub fn has_received(&self, host: usize) -> bool {
        self.external_host(host).is_some_and(ExternalHost::has_received)
    }

    pub(crate) fn interface_statistics(&self, host: usize) -> Option<InterfaceStatistics> {
        let simulated = self.host(host).map(Host::interface_statistics);
        simulated.or_else(|| self.external_host(host).map(ExternalHost::statistics))
    }

    pub(crate) fn host(&self, number: usize) -> Option<&Host> {
        self.simulation.node(node_id(&self.network, Node::Host(number)))
    }

    pub(crate) fn device(&self, number: usize) -> Option<&Device> {
        self.simulation.node(node_id(&self.network, Node::Switch(number)))
    }
}
