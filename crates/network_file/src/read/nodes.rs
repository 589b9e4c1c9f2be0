// SPDX-License-Identifier: Apache-2.0
//! Reads switches and hosts: those of the file and those of a generated topology, with the fields of `defaults`.

use super::addresses;
use super::context::Context;
use super::shell;
use crate::codes;
use crate::fields::node::INTERFACE;
use crate::format::address::{Mac, Prefix};
use crate::format::value::{Located, NamedValue, Record, ValueKind};
use crate::model::{ArpEntry, Engine, Host, HostInterface, HostRoute, Node, Origin, Switch};
use source::{Diagnostic, Span};
use std::net::IpAddr;

/// Where a switch comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SwitchOrigin {
    File,
    Topology,
}

/// Adds a switch.
pub(super) fn switch(
    name: &str,
    span: Span,
    origin: SwitchOrigin,
    record: &Record,
    context: &mut Context<'_>,
) {
    let number = context.network.switches.len();
    if !context.add_name(name, span, Node::Switch(number)) {
        return;
    }
    let located = |name: &str| {
        let value = record.number(name)?;
        Some(Located { value: value as u32, span: record.span_of(name) })
    };
    let by_option = || {
        let program = context.options.program.clone();
        program.map(|value| Located { value, span: Span::NONE })
    };
    let program = record.text("program").or_else(by_option);
    let is_required = context.network.origin == Origin::NetworkFile;
    if is_required && program.is_none() && !record.is_written("program") {
        let message = match origin {
            SwitchOrigin::File => format!("switch `{name}` has no program"),
            // The same for all, so that it is shown once.
            SwitchOrigin::Topology => "the switches of the topology have no program".to_string(),
        };
        let help =
            "write `program: FILE` at the switch, or below `defaults: {switches: ...}` for all";
        context.messages.error(codes::MISSING, span, message, help);
    }
    let engine = record.word("engine").map(|word| Located {
        value: match word {
            "interp" => Engine::Interpreter,
            "reference" => Engine::Reference,
            _ => Engine::Jit,
        },
        span: record.span_of("engine"),
    });
    context.network.switches.push(Switch {
        name: name.to_string(),
        span,
        program,
        entries: record.texts("entries"),
        device: record.text("device"),
        engine,
        target: record.text("target"),
        symbolics: record.text("symbolics"),
        cpu_port: located("cpu_port"),
        priority_queues: located("priority_queues"),
        controller: None,
        routes: None,
    });
}

/// Adds a host; applications follow when all hosts are known. `generated` is the address and gateway of a topology.
pub(super) fn host(
    name: &str,
    span: Span,
    record: &Record,
    generated: Option<(Prefix, IpAddr)>,
    context: &mut Context<'_>,
) {
    let number = context.network.hosts.len();
    if !context.add_name(name, span, Node::Host(number)) {
        return;
    }
    let mut interfaces = interfaces(record, span, context);
    let mut gateways = gateways(record, context);
    if let Some((address, next)) = generated
        && !record.is_written("address")
        && !record.is_written("interfaces")
    {
        interfaces[0].addresses.push(Located { value: address, span });
        if !record.is_written("gateway") {
            gateways.push(Located { value: next, span });
        }
    }
    let arp = record.named("arp").iter().filter_map(|entry| arp_entry(entry, context)).collect();
    let mut host = Host {
        name: name.to_string(),
        span,
        interfaces,
        gateways,
        routes: routes(record, context),
        arp,
        applications: Vec::new(),
    };
    for command in record.texts("commands") {
        shell::apply(&command, &mut host, context);
    }
    let has_none = host.addresses().next().is_none();
    if has_none && (record.is_written("address") || record.is_written("interfaces")) {
        context.wrong_addresses.insert(number);
    }
    context.network.hosts.push(host);
}

/// The interfaces of a host: those of the list, or one with the host's own address.
fn interfaces(record: &Record, span: Span, context: &Context<'_>) -> Vec<HostInterface> {
    if !record.is_written("interfaces") {
        return vec![interface(record, context)];
    }
    for name in ["address", "mac"].into_iter().filter(|name| record.is_written(name)) {
        let message = format!("a host has both `interfaces` and `{name}`");
        let diagnostic = Diagnostic::error(codes::CONFLICT, record.span_of(name), message);
        let diagnostic = diagnostic.label(record.span_of("interfaces"), "the other one");
        let help = format!("write `{name}` at one of the interfaces");
        context.messages.push(diagnostic.help(help));
    }
    let list = record.list("interfaces").iter().filter_map(|value| value.record());
    let mut interfaces: Vec<HostInterface> =
        list.map(|record| interface(record, context)).collect();
    if interfaces.is_empty() {
        if record.get("interfaces").is_some() {
            let help = "such as `interfaces: [{address: 10.0.1.1/24}, {address: 10.0.2.1/24}]`";
            let message = "a host has one interface at least";
            context.messages.error(codes::BAD_VALUE, record.span_of("interfaces"), message, help);
        }
        interfaces.push(interface(&Record::empty(&INTERFACE, span), context));
    }
    interfaces
}

/// The interface that the fields `address` and `mac` describe.
fn interface(record: &Record, context: &Context<'_>) -> HostInterface {
    let mut addresses: Vec<Located<Prefix>> = Vec::new();
    for value in record.list("address") {
        if let ValueKind::Interface(prefix) = value.kind {
            addresses.extend(addresses::interface(prefix, value.span, context));
        }
    }
    let given = match record.get("mac").map(|value| (&value.kind, value.span)) {
        Some((ValueKind::Mac(mac), span)) => addresses::mac(*mac, span, context),
        _ => None,
    };
    HostInterface {
        addresses,
        mac: given.unwrap_or(Mac([0; 6])),
        is_mac_generated: given.is_none(),
    }
}

/// The gateways of a host, one for each version of IP.
fn gateways(record: &Record, context: &Context<'_>) -> Vec<Located<IpAddr>> {
    let mut gateways: Vec<Located<IpAddr>> = Vec::new();
    for value in record.list("gateway") {
        let ValueKind::Ip(address) = value.kind else { continue };
        let same = |other: &&Located<IpAddr>| other.value.is_ipv4() == address.is_ipv4();
        if let Some(other) = gateways.iter().find(same) {
            let version = if address.is_ipv4() { "IPv4" } else { "IPv6" };
            let message = format!("a host has two gateways of {version}");
            let diagnostic = Diagnostic::error(codes::CONFLICT, value.span, message);
            let help = "write `routes: [{to: 10.0.0.0/8, via: 10.0.1.2}]` for further next hops";
            context.messages.push(diagnostic.label(other.span, "the other one").help(help));
            continue;
        }
        gateways.push(Located { value: address, span: value.span });
    }
    gateways
}

fn ip(record: &Record, name: &str) -> Option<IpAddr> {
    match record.get(name)?.kind {
        ValueKind::Ip(address) => Some(address),
        _ => None,
    }
}

fn routes(record: &Record, context: &Context<'_>) -> Vec<HostRoute> {
    let mut routes = Vec::new();
    for route in record.list("routes").iter().filter_map(|value| value.record()) {
        let Some(ValueKind::Prefix(to)) = route.get("to").map(|value| value.kind.clone()) else {
            continue;
        };
        let via = ip(route, "via");
        if via.is_none() && route.is_written("via") {
            continue;
        }
        if via.is_some_and(|via| via.is_ipv4() != to.address.is_ipv4()) {
            let message = "a route has destinations and a next hop of different versions of IP";
            let help = "write both as IPv4 or both as IPv6";
            context.messages.error(codes::BAD_ADDRESS, route.span_of("via"), message, help);
            continue;
        }
        routes.push(HostRoute { to: to.network(), via, span: route.span });
    }
    routes
}

fn arp_entry(entry: &NamedValue, context: &Context<'_>) -> Option<ArpEntry> {
    let ValueKind::Mac(mac) = entry.value.kind else { return None };
    let span = entry.name.span;
    let Ok(address) = entry.name.value.trim().parse::<IpAddr>() else {
        let message =
            format!("`{}` is not an IP address", source::printable(&entry.name.value, 40));
        let help = "write `arp: {10.0.1.10: \"08:00:00:00:01:00\"}`";
        context.messages.error(codes::BAD_ADDRESS, span, message, help);
        return None;
    };
    Some(ArpEntry { address, mac, span })
}
