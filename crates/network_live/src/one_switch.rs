// SPDX-License-Identifier: Apache-2.0
//! A network cut down to one of its switches, on interfaces that exist: each link of the switch ends at an interface. The
//! frames that arrive there have passed their link already.

use crate::kernel::{self, Interfaces};
use crate::state::known_names;
use network::links::LinkOptions;
use network_file::Mac;
use network_file::model::{
    Capture, Controller, Direction, End, Event, EventSubject, Host, HostInterface, Link, Network,
    Node,
};
use std::sync::atomic::AtomicBool;

/// Keeps one switch of a network. Instead of hosts it has a node for each other end of a link, named as the port of the
/// switch. Returns the number of the switch, too.
///
/// # Errors
///
/// There is no such switch.
pub fn only(network: &Network, name: &str) -> Result<(Network, usize), String> {
    let names = || network.switches.iter().map(|switch| switch.name.as_str());
    let Some(number) = names().position(|known| known == name) else {
        let known = known_names("switches", name, names());
        return Err(format!("the network has no switch `{name}`{known}"));
    };
    let own = Node::Switch(number);
    let mut cut = Network {
        origin: network.origin,
        base: network.base.clone(),
        switches: vec![network.switches[number].clone()],
        seed: network.seed,
        ..Network::default()
    };
    // The numbers of links that are left.
    let mut links = vec![None; network.links.len()];
    for (at, link) in network.links.iter().enumerate() {
        if link.ends.iter().any(|end| end.node == own) {
            links[at] = Some(cut.links.len());
            let link = cut_link(link, own, &mut cut.hosts);
            cut.links.push(link);
        }
    }
    for controller in network.controllers.iter().filter(|one| one.switches.contains(&number)) {
        cut.switches[0].controller = Some(cut.controllers.len());
        cut.controllers.push(Controller { switches: vec![0], ..controller.clone() });
    }
    for event in &network.events {
        let at_links = |node: Node| {
            let of_node = network.links.iter().enumerate();
            of_node.filter(move |(_, link)| link.ends.iter().any(|end| end.node == node))
        };
        let subjects: Vec<EventSubject> = match event.subject {
            EventSubject::Link(link) => links[link].map(EventSubject::Link).into_iter().collect(),
            EventSubject::Node(node) if node == own => {
                vec![EventSubject::Node(Node::Switch(0))]
            }
            EventSubject::Node(node) => {
                at_links(node).filter_map(|(at, _)| links[at].map(EventSubject::Link)).collect()
            }
            EventSubject::Controller(_) => Vec::new(),
        };
        cut.events.extend(subjects.into_iter().map(|subject| Event { subject, ..*event }));
    }
    for reload in network.reloads.iter().filter(|reload| reload.switch == number) {
        cut.reloads.push(network_file::model::Reload { switch: 0, ..reload.clone() });
    }
    for capture in network.captures.iter().filter(|capture| capture.port.node == own) {
        let port = End { node: Node::Switch(0), ..capture.port };
        cut.captures.push(Capture { port, ..capture.clone() });
    }
    Ok((cut, number))
}

/// A link of the switch; its other end becomes a node without a rate, whose direction does nothing.
fn cut_link(link: &Link, own: Node, hosts: &mut Vec<Host>) -> Link {
    let mut cut = link.clone();
    for side in [0, 1] {
        if link.ends[side].node == own {
            cut.ends[side].node = Node::Switch(0);
            continue;
        }
        let span = link.ends[side].span;
        cut.ends[side] = End { node: Node::Host(hosts.len()), port: 0, span };
        cut.directions[side] = Direction {
            options: LinkOptions::default(),
            rate_bps: None,
            queue: None,
            overhead_bytes: 0,
            ..link.directions[side]
        };
        hosts.push(Host {
            name: format!("port {}", link.ends[1 - side].port),
            span,
            interfaces: vec![HostInterface {
                addresses: Vec::new(),
                mac: Mac([0; 6]),
                is_mac_generated: true,
            }],
            gateways: Vec::new(),
            routes: Vec::new(),
            arp: Vec::new(),
            applications: Vec::new(),
        });
    }
    cut
}

/// The ports of a cut network, in the order of its hosts.
fn ports(network: &Network) -> Vec<u32> {
    let of_host = |number| {
        let (link, side) = network.link_at(Node::Host(number), 0)?;
        Some(network.links[link].ends[1 - side].port)
    };
    (0..network.hosts.len()).filter_map(of_host).collect()
}

/// Opens the interfaces of a cut network's ports: those given, else `eth1` for port 1. Waits until all exist; `waits` is
/// called with the first one that does not. Returns `None` if the wait was interrupted.
///
/// # Errors
///
/// An interface cannot be opened, or a given port has no link.
pub fn open(
    network: &Network,
    given: &[(u32, String)],
    interrupted: &AtomicBool,
    waits: impl FnMut(&str),
) -> Result<Option<Interfaces>, String> {
    let ports = ports(network);
    if let Some((port, name)) = given.iter().find(|(port, _)| !ports.contains(port)) {
        let switch = &network.switches[0].name;
        return Err(format!("`{switch}` has no link at port {port}, so `{name}` has no use"));
    }
    let name = |port: &u32| {
        let given = given.iter().find(|(known, _)| known == port);
        given.map_or_else(|| format!("eth{port}"), |(_, name)| name.clone())
    };
    let names: Vec<String> = ports.iter().map(name).collect();
    kernel::open(&names, interrupted, waits)
}
