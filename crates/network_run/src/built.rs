// SPDX-License-Identifier: Apache-2.0
//! [`Built`]: a network ready to run. `build` makes it, `watch` runs it, `results` reads it.

use crate::applications::ServerKey;
use crate::controllers::{ControlPlane, Stop};
use crate::external::ExternalHost;
use crate::numbering::node_id;
use crate::watched::Watched;
use device::Device;
use hosts::{Host, InterfaceStatistics};
use network::simulation::{Simulation, SimulationError};
use network_file::model::{ApplicationIndex, Network, Node};
use source::Diagnostic;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Why a run ended before its time.
#[derive(Debug)]
pub enum RunError {
    /// A node failed.
    Simulation(SimulationError),
    /// A mistake of a controller or its program.
    Controller(Box<Diagnostic>),
    /// The user interrupted it while a controller was at work.
    Interrupted,
}

/// A part of an application at work.
#[derive(Clone, Debug)]
pub(crate) struct RunningPart {
    /// The number for [`Host::report`].
    pub(crate) number: usize,
    /// The addresses and ports that it sends to.
    pub(crate) destinations: Vec<(IpAddr, u16)>,
}

impl RunningPart {
    /// Its destination, if it is one.
    pub(crate) fn destination(&self) -> Option<(IpAddr, u16)> {
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

impl Built {
    /// The network as described.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Takes what controllers' commands at times have read since the last call, a line each.
    pub fn take_reads(&mut self) -> Vec<String> {
        self.simulation.agent_mut::<ControlPlane>().map_or_else(Vec::new, ControlPlane::take_reads)
    }

    /// Returns lines about the whole run of controllers that programs of switches bring, with the names of the switches.
    pub fn summaries(&self) -> Vec<String> {
        self.simulation.agent::<ControlPlane>().map_or_else(Vec::new, ControlPlane::summaries)
    }

    /// Ends the programs of controllers.
    pub fn end_controllers(&mut self) {
        if let Some(plane) = self.simulation.agent_mut::<ControlPlane>() {
            plane.end();
        }
    }

    /// Turns an error of the simulation into one of the run.
    pub(crate) fn run_error(&mut self, error: SimulationError) -> RunError {
        let plane = self.simulation.agent_mut::<ControlPlane>();
        match plane.and_then(ControlPlane::take_stop) {
            Some(Stop::Mistake(diagnostic)) => RunError::Controller(diagnostic),
            Some(Stop::Interrupted) => RunError::Interrupted,
            None => RunError::Simulation(error),
        }
    }

    /// The devices that a switch had until its failures, and the one that it has.
    pub(crate) fn devices(&self, number: usize) -> impl Iterator<Item = &Device> {
        let plane = self.simulation.agent::<ControlPlane>();
        let retired = plane.map_or(&[][..], |plane| plane.retired(number));
        retired.iter().chain(self.device(number))
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
        let now_ps = self.simulation.now_ps();
        let simulated = self.host(host).map(|host| host.interface_statistics(now_ps));
        simulated.or_else(|| self.external_host(host).map(ExternalHost::statistics))
    }

    /// The counters of a port of a host.
    pub(crate) fn port_statistics(&self, host: usize, port: u32) -> Option<InterfaceStatistics> {
        let now_ps = self.simulation.now_ps();
        match self.host(host) {
            Some(simulated) => simulated.port_statistics(port, now_ps),
            None => self.external_host(host).map(ExternalHost::statistics),
        }
    }

    pub(crate) fn host(&self, number: usize) -> Option<&Host> {
        self.simulation.node(node_id(&self.network, Node::Host(number)))
    }

    pub(crate) fn device(&self, number: usize) -> Option<&Device> {
        self.simulation.node(node_id(&self.network, Node::Switch(number)))
    }
}
