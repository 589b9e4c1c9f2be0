// SPDX-License-Identifier: Apache-2.0
//! Checks of what the items of a network say together: addresses, gateways, applications without addresses, nodes
//! without links, and times after the end of the run.

use super::context::Context;
use crate::codes;
use crate::model::{ApplicationKind, Behaviour, Destination, Host, Node, Subject};
use source::{Diagnostic, Span};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Checks a whole network.
pub(super) fn all(context: &Context<'_>) {
    addresses(context);
    for (number, host) in context.network.hosts.iter().enumerate() {
        if !context.wrong_addresses.contains(&number) {
            next_hops(host, context);
        }
        needed_addresses(number, context);
        next_hops_of_traces(host, context);
    }
    interfaces(context);
    generated_routes(context);
    unlinked_nodes(context);
    late(context);
}

/// Reports addresses that two hosts have.
fn addresses(context: &Context<'_>) {
    let mut ips: HashMap<IpAddr, (usize, Span)> = HashMap::new();
    let mut macs = HashMap::new();
    let hosts = &context.network.hosts;
    let twice = |address: String, number: usize, other: usize, span: Span, earlier: Span| {
        let message = match number == other {
            true => format!("host `{}` has the address {address} twice", hosts[number].name),
            false => format!(
                "hosts `{}` and `{}` have the same address {address}",
                hosts[other].name, hosts[number].name
            ),
        };
        let diagnostic = Diagnostic::error(codes::BAD_ADDRESS, span, message);
        context.messages.push(diagnostic.label(earlier, "the other one"));
    };
    for (number, host) in hosts.iter().enumerate() {
        for address in host.addresses() {
            let (ip, span) = (address.value.address, address.span);
            match ips.get(&ip) {
                Some((other, earlier)) => twice(ip.to_string(), number, *other, span, *earlier),
                None => drop(ips.insert(ip, (number, span))),
            }
        }
        for interface in &host.interfaces {
            match macs.get(&interface.mac) {
                Some(other) => {
                    let (mac, earlier): (_, &Host) = (interface.mac.to_string(), &hosts[*other]);
                    twice(mac, number, *other, host.span, earlier.span);
                }
                None => drop(macs.insert(interface.mac, number)),
            }
        }
    }
}

/// Reports next hops that are not on the host's link.
fn next_hops(host: &Host, context: &Context<'_>) {
    let is_on_link = |address: IpAddr| {
        host.addresses().any(|own| own.value.contains(address))
            || is_on_any_link(address) && host.addresses().any(|own| own.value.address.is_ipv6())
            || host.routes.iter().any(|route| route.via.is_none() && route.to.contains(address))
            // An ARP entry makes any address a neighbour.
            || host.arp.iter().any(|entry| entry.address == address)
    };
    let check =
        |address: IpAddr, span: Span, what: &str| {
            let Some(first) = host.addresses().next() else {
                let message = format!("host `{}` has a {what}, but no address", host.name);
                let help = "write `address: 10.0.1.1/24`";
                context.messages.error(codes::NO_ADDRESS, span, message, help);
                return;
            };
            if host.has_address(address) {
                let message = format!("the {what} {address} is the host `{}` itself", host.name);
                context.messages.error(codes::BAD_ADDRESS, span, message, "");
            } else if !is_on_link(address) {
                let own: Vec<String> = host.addresses().map(|own| own.value.to_string()).collect();
                let message = format!(
                    "the {what} {address} is outside the network of `{}`, {}",
                    host.name,
                    own.join(" and ")
                );
                let diagnostic = Diagnostic::error(codes::BAD_ADDRESS, span, message);
                let diagnostic = diagnostic.label(first.span, "its address");
                context.messages.push(diagnostic.help(
                    "write another address or prefix length, or a static neighbour in `arp`",
                ));
            }
        };
    for gateway in &host.gateways {
        check(gateway.value, gateway.span, "gateway");
    }
    for route in &host.routes {
        if let Some(via) = route.via {
            check(via, route.span, "next hop");
        }
    }
}

/// Whether an address is that of a neighbour on any link.
fn is_on_any_link(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// Reports hosts without an address whose applications need one.
fn needed_addresses(number: usize, context: &Context<'_>) {
    let hosts = &context.network.hosts;
    let lacks_address = |number: usize| {
        hosts[number].addresses().next().is_none() && !context.wrong_addresses.contains(&number)
    };
    let missing = |host: &Host, span: Span, kind: &str, part: &str| {
        let message = format!("host `{}` has no address, and {part} `{kind}` needs one", host.name);
        let diagnostic = Diagnostic::error(codes::NO_ADDRESS, span, message);
        let diagnostic = diagnostic.label(host.span, "the host");
        context.messages.push(diagnostic.help("write `address: 10.0.1.1/24` at the host"));
    };
    let host = &hosts[number];
    for application in &host.applications {
        let kind = &application.kind;
        let needs_none = matches!(
            kind,
            ApplicationKind::Replay { .. }
                | ApplicationKind::Trace { .. }
                | ApplicationKind::Send { .. }
                | ApplicationKind::Listen { .. }
                | ApplicationKind::Command { .. }
        );
        if needs_none {
            continue;
        }
        if lacks_address(number) {
            missing(host, application.span, kind.name(), "its");
        }
        for destination in kind.destinations() {
            if let Destination::Host(other) = destination.value
                && lacks_address(other)
            {
                missing(&hosts[other], destination.span, kind.name(), "a");
            }
        }
        if let ApplicationKind::Incast { from, .. } = kind {
            for sender in from.iter().filter(|sender| lacks_address(sender.value)) {
                missing(&hosts[sender.value], sender.span, kind.name(), "an");
            }
        }
    }
}

/// Reports traces without an Ethernet address to send to.
fn next_hops_of_traces(host: &Host, context: &Context<'_>) {
    for application in &host.applications {
        let ApplicationKind::Trace { destination_mac: None, .. } = application.kind else {
            continue;
        };
        // Neighbours of generated hosts are known only in a file without errors.
        if host.gateway_mac().is_none() && !context.messages.has_errors() {
            let message = "a trace has no Ethernet address to send to";
            let help = "write `destination_mac: \"02:00:00:00:00:01\"`, or the gateway in `arp` of the host";
            context.messages.error(codes::MISSING, application.span, message, help);
        }
    }
}

/// Reports links at ports of hosts without an interface, and what hosts with several interfaces leave open.
fn interfaces(context: &Context<'_>) {
    let network = &context.network;
    for end in network.links.iter().flat_map(|link| &link.ends) {
        let Node::Host(number) = end.node else { continue };
        let host = &network.hosts[number];
        if end.port as usize >= host.interfaces.len() {
            let message = match host.interfaces.len() {
                1 => format!("host `{}` has several links, but one interface", host.name),
                count => format!(
                    "host `{}` has {count} interfaces, none with port {}",
                    host.name, end.port
                ),
            };
            let help = "write `interfaces: [{address: 10.0.1.1/24}, {address: 10.0.2.1/24}]` at the host, one for each link";
            let diagnostic = Diagnostic::error(codes::BAD_LINK, end.span, message);
            context.messages.push(diagnostic.label(host.span, "the host").help(help));
        }
    }
    for (number, host) in network.hosts.iter().enumerate() {
        if host.interfaces.len() < 2 {
            continue;
        }
        for route in host.routes.iter().filter(|route| route.via.is_none()) {
            let message =
                format!("a route without `via` at host `{}`, which has several links", host.name);
            let help =
                "write `via` with the next hop, or an address with this network at an interface";
            context.messages.error(codes::CONFLICT, route.span, message, help);
        }
        let is_linked = |port: usize| context.link_at(Node::Host(number), port as u32).is_some();
        let ports = 0..host.interfaces.len();
        if ports.clone().any(is_linked) && !context.messages.has_errors() {
            for port in ports.filter(|port| !is_linked(*port)) {
                let message = format!("interface {port} of host `{}` has no link", host.name);
                let diagnostic = Diagnostic::warning(codes::NOT_CONNECTED, host.span, message);
                let help = format!("write a link with the end `{}:{port}`", host.name);
                context.messages.push(diagnostic.help(help));
            }
        }
    }
}

/// Warns of IPv6 addresses at switches that take generated routes.
fn generated_routes(context: &Context<'_>) {
    let network = &context.network;
    for link in &network.links {
        for (end, other) in [(&link.ends[0], &link.ends[1]), (&link.ends[1], &link.ends[0])] {
            let (Node::Host(host), Node::Switch(switch)) = (end.node, other.node) else { continue };
            let switch = &network.switches[switch];
            let interface = network.hosts[host].interfaces.get(end.port as usize);
            let addresses = interface.into_iter().flat_map(|interface| &interface.addresses);
            let ipv6 = addresses.filter(|own| own.value.address.is_ipv6());
            for own in ipv6.filter(|_| switch.routes.is_some() && switch.entries.is_empty()) {
                let message = format!(
                    "the generated routes do not lead to the IPv6 address {}",
                    own.value.address
                );
                let diagnostic = Diagnostic::warning(codes::NOT_ROUTED, own.span, message);
                let help = format!(
                    "write `entries` for the switch `{}`, and for those on the way",
                    switch.name
                );
                context.messages.push(diagnostic.help(help));
            }
        }
    }
}

/// Warns of nodes without links.
fn unlinked_nodes(context: &Context<'_>) {
    let linked: HashSet<Node> = context.linked_nodes().collect();
    let network = &context.network;
    let switches = network.switches.iter().enumerate();
    let hosts = network.hosts.iter().enumerate();
    let nodes = switches
        .map(|(number, switch)| (Node::Switch(number), switch.span))
        .chain(hosts.map(|(number, host)| (Node::Host(number), host.span)));
    // After an error in `links` the node may have one.
    if context.messages.has_errors() {
        return;
    }
    for (node, span) in nodes.filter(|(node, _)| !linked.contains(node)) {
        let message = format!("`{}` has no link", network.name_of(node));
        let diagnostic = Diagnostic::warning(codes::NOT_CONNECTED, span, message);
        context.messages.push(diagnostic.help("`links` connects nodes: [h1, \"s1:1\"]"));
    }
}

/// Warns of what happens after the end of the run.
fn late(context: &Context<'_>) {
    let network = &context.network;
    let Some(until) = &network.until_ps else { return };
    let check = |time_ps: u64, span: Span, what: &str| {
        if time_ps > until.value {
            let message = format!("the run ends before this {what}");
            let diagnostic = Diagnostic::warning(codes::TOO_LATE, span, message);
            context.messages.push(diagnostic.label(until.span, "the end of the run"));
        }
    };
    for event in &network.events {
        check(event.at_ps, event.span, "event");
    }
    for controller in &network.controllers {
        if let Behaviour::Commands(list) = &controller.behaviour {
            for commands in list {
                check(commands.at_ps, commands.span, "command");
            }
        }
    }
    for application in network.hosts.iter().flat_map(|host| &host.applications) {
        check(application.start_ps, application.span, "start");
    }
    for expectation in &network.expectations {
        if let Subject::Counter(cell) | Subject::Register(cell) = &expectation.subject {
            check(cell.at_ps.unwrap_or(0), expectation.span, "read");
        }
    }
}
