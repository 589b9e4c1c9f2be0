// SPDX-License-Identifier: Apache-2.0
//! Builds a network: nodes, links, applications and scheduled failures. The caller makes the devices.

use crate::applications::{Expanded, Expander, Resources, ServerKey};
use crate::built::{Built, RunningApplication, RunningPart};
use crate::controllers::{ControlInputs, ControlPlane};
use crate::external::ExternalHost;
use crate::numbering::node_id;
use crate::unsupported::{self, NOT_SIMULATED};
use crate::watched::Watched;
use device::Device;
use hosts::applications::Application;
use hosts::wire::MacAddress;
use hosts::{Host, HostOptions, InterfaceOptions, IpNetwork, Route};
use network::simulation::Simulation;
use network_file::model::{self, ApplicationIndex, EventSubject, HostInterface, Network, Node};
use network_file::{Prefix, QueueLimit};
use source::{Code, Diagnostic, Diagnostics, Explanation, Span};
use std::collections::BTreeMap;

/// An application cannot run with its options.
pub const BAD_APPLICATION: Code = Code("NW-E0402");
pub(crate) const EXPLANATIONS: &[Explanation] = &[Explanation {
    code: BAD_APPLICATION,
    title: "an application cannot run with its options",
    text: "The message says which option, and what to write. Two applications of a host cannot serve one port.",
    wrong: "",
    right: "",
}];

fn network_of(prefix: &Prefix) -> IpNetwork {
    IpNetwork { address: prefix.address, prefix_bits: prefix.length }
}

/// The options of a host: its addresses, and the rates and queues of its links.
fn host_options(network: &Network, number: usize) -> HostOptions {
    let host = &network.hosts[number];
    let interfaces = (0..).zip(&host.interfaces);
    let mut interfaces: Vec<InterfaceOptions> = interfaces
        .map(|(port, interface)| interface_options(network, (number, port), interface))
        .collect();
    let mut routes: Vec<Route> = Vec::new();
    for route in &host.routes {
        let to = network_of(&route.to);
        match route.via {
            Some(gateway) => routes.push(Route { network: to, gateway }),
            // On the host's own link: the first address is in that network too.
            None => {
                let own = &mut interfaces[0].addresses;
                let of_version = |own: &&IpNetwork| own.address.is_ipv4() == to.address.is_ipv4();
                if let Some(address) = own.iter().find(of_version).map(|own| own.address) {
                    match to.contains(address) {
                        true => own.push(IpNetwork { address, ..to }),
                        false => routes.push(Route { network: to, gateway: to.address }),
                    }
                }
            }
        }
    }
    for gateway in &host.gateways {
        let gateway = gateway.value;
        routes.push(Route { network: IpNetwork::all(gateway), gateway });
    }
    let neighbors = host.arp.iter().map(|entry| (entry.address, MacAddress(entry.mac.0)));
    HostOptions {
        name: host.name.clone(),
        interfaces,
        routes,
        neighbors: neighbors.collect(),
        ..HostOptions::default()
    }
}

/// The options of a host's interface at a port.
fn interface_options(
    network: &Network,
    (host, port): (usize, u32),
    interface: &HostInterface,
) -> InterfaceOptions {
    let mut options = InterfaceOptions {
        mac: MacAddress(interface.mac.0),
        addresses: interface.addresses.iter().map(|own| network_of(&own.value)).collect(),
        ..InterfaceOptions::default()
    };
    if let Some((link, end)) = network.link_at(Node::Host(host), port) {
        let direction = &network.links[link].directions[end];
        options.rate_bps = direction.rate_bps;
        options.overhead_bytes = direction.overhead_bytes as i32;
        // A link's queue is that of a switch. Hosts keep what Linux has, as senders slow down before it is full.
        let other = network.links[link].ends[1 - end].node;
        match direction.queue.filter(|_| matches!(other, Node::Host(_))) {
            Some(QueueLimit::Packets(packets)) => options.queue_packets = packets as usize,
            Some(QueueLimit::Bytes(bytes)) => options.queue_packets = (bytes / 1_500) as usize,
            None => {}
        }
    }
    options
}

/// Builds a network. Devices are in the order of the file's switches.
///
/// # Errors
///
/// Applications with options that cannot work, and what a simulation does not have.
pub fn build(
    network: Network,
    devices: Vec<Device>,
    resources: &Resources,
    control: ControlInputs,
) -> Result<Built, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut simulation = with_switches(&network, devices, control.seed);
    let seed = control.seed;
    let mut hosts: Vec<Host> = (0..network.hosts.len())
        .map(|number| Host::new(host_options(&network, number), seed))
        .collect();
    let (applications, servers) = add_applications(&network, &mut hosts, resources, &mut found);
    for (described, host) in network.hosts.iter().zip(hosts) {
        simulation.add(described.name.clone(), host);
    }
    unsupported::check_applications(&network, &mut found);
    complete(network, simulation, (applications, servers), control, found)
}

/// Builds a network whose hosts are outside: [`ExternalHost`]s. Its applications are not built.
///
/// # Errors
///
/// What a network does not have.
pub fn build_with_external_hosts(
    network: Network,
    devices: Vec<Device>,
    control: ControlInputs,
) -> Result<Built, Diagnostics> {
    let mut simulation = with_switches(&network, devices, control.seed);
    for (number, described) in network.hosts.iter().enumerate() {
        simulation.add(described.name.clone(), ExternalHost::of(&network, number));
    }
    let nothing = (Vec::new(), BTreeMap::new());
    complete(network, simulation, nothing, control, Diagnostics::new())
}

fn with_switches(network: &Network, devices: Vec<Device>, seed: u64) -> Simulation {
    let mut simulation = Simulation::new(seed);
    for (switch, device) in network.switches.iter().zip(devices) {
        simulation.add(switch.name.clone(), device);
    }
    simulation
}

/// Adds links, failures and controllers to the nodes.
fn complete(
    network: Network,
    mut simulation: Simulation,
    (applications, servers): (Vec<RunningApplication>, BTreeMap<ServerKey, usize>),
    control: ControlInputs,
    mut found: Diagnostics,
) -> Result<Built, Diagnostics> {
    connect(&network, &mut simulation, &mut found);
    schedule_events(&network, &mut simulation);
    unsupported::check(&network, &mut found);
    control_plane(&network, &mut simulation, control, &mut found);
    let watched = Watched::default();
    let mut built = Built { simulation, network, applications, servers, watched };
    built.prepare_watch(&mut found);
    match found.has_errors() {
        true => Err(found),
        false => Ok(built),
    }
}

fn add_applications(
    network: &Network,
    hosts: &mut [Host],
    resources: &Resources,
    found: &mut Diagnostics,
) -> (Vec<RunningApplication>, BTreeMap<ServerKey, usize>) {
    let expander = Expander { network, resources };
    let mut running = Vec::new();
    let mut servers: BTreeMap<ServerKey, usize> = BTreeMap::new();
    let mut wrong = |span: Span, name: &str, error: String| {
        let message = format!("application `{name}` cannot run: {error}");
        found.push(Diagnostic::error(BAD_APPLICATION, span, message));
    };
    let mut wanted: Vec<(ServerKey, Application, Span, &str)> = Vec::new();
    for (host, described) in network.hosts.iter().enumerate() {
        let rate_bps = hosts[host].options().interfaces.first().and_then(|first| first.rate_bps);
        for (number, application) in described.applications.iter().enumerate() {
            let Expanded { parts, servers } = expander.expand(host, application, rate_bps);
            let is_own = |key: &ServerKey| key.0 == host;
            for (key, server) in servers {
                let place = (application.span, application.name.as_str());
                // Servers that the file names come before those that clients need.
                match parts.is_empty() && is_own(&key) {
                    true => wanted.insert(0, (key, server, place.0, place.1)),
                    false => wanted.push((key, server, place.0, place.1)),
                }
            }
            let mut added = Vec::new();
            for part in parts {
                match hosts[host].add(part.application) {
                    Ok(number) => {
                        added.push(RunningPart { number, destinations: part.destinations });
                    }
                    Err(error) => wrong(application.span, &application.name, error.to_string()),
                }
            }
            let index = ApplicationIndex { host, application: number };
            running.push(RunningApplication { index, parts: added });
        }
    }
    for (key, server, span, name) in wanted {
        if servers.contains_key(&key) {
            continue;
        }
        match hosts[key.0].add(server) {
            Ok(number) => drop(servers.insert(key, number)),
            Err(error) => wrong(span, name, error.to_string()),
        }
    }
    (running, servers)
}

fn connect(network: &Network, simulation: &mut Simulation, found: &mut Diagnostics) {
    for link in &network.links {
        let [one, other] = link.ends.each_ref().map(|end| (node_id(network, end.node), end.port));
        let options = [link.directions[0].options, link.directions[1].options];
        if let Err(error) = simulation.connect_directions(one, other, options) {
            found.push(Diagnostic::error(NOT_SIMULATED, link.span, error.to_string()));
        }
    }
}

/// Adds the controllers to the simulation.
fn control_plane(
    network: &Network,
    simulation: &mut Simulation,
    control: ControlInputs,
    found: &mut Diagnostics,
) {
    let mut plane = ControlPlane::new(network, control);
    let device = |number| simulation.node(node_id(network, Node::Switch(number)));
    match plane.prepare(network, device) {
        Ok(observed) => simulation.set_agent(plane, &observed),
        Err(why) => found.push(Diagnostic::error(NOT_SIMULATED, Span::NONE, why)),
    }
}

/// Schedules failures of links. A node that fails takes its links down.
fn schedule_events(network: &Network, simulation: &mut Simulation) {
    let mut set = |end: &model::End, event: &model::Event| {
        simulation.schedule_link(event.at_ps, (node_id(network, end.node), end.port), event.is_up);
    };
    for event in &network.events {
        match event.subject {
            EventSubject::Link(link) => set(&network.links[link].ends[0], event),
            EventSubject::Node(node) => {
                let ends = network.links.iter().flat_map(|link| &link.ends);
                ends.filter(|end| end.node == node).for_each(|end| set(end, event));
            }
            EventSubject::Controller(_) => {}
        }
    }
}
