// SPDX-License-Identifier: Apache-2.0
//! Reads switches and hosts: those of the file and those of a generated topology, with the fields of `defaults`.

use super::addresses;
use super::context::Context;
use super::shell;
use crate::codes;
use crate::format::address::{Mac, Prefix};
use crate::format::value::{Located, NamedValue, Record, ValueKind};
use crate::model::{ArpEntry, Engine, Host, HostRoute, Node, Origin, Switch};
use source::Span;
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
    let mut addresses: Vec<Located<Prefix>> = Vec::new();
    for value in record.list("address") {
        if let ValueKind::Interface(prefix) = value.kind {
            addresses.extend(addresses::interface(prefix, value.span, context));
        }
    }
    let mut gateway = ip(record, "gateway", context);
    if let Some((address, next)) = generated
        && !record.is_written("address")
    {
        addresses.push(Located { value: address, span });
        if !record.is_written("gateway") {
            gateway = Some(Located { value: next, span });
        }
    }
    let given = match record.get("mac").map(|value| (&value.kind, value.span)) {
        Some((ValueKind::Mac(mac), span)) => addresses::mac(*mac, span, context),
        _ => None,
    };
    let arp = record.named("arp").iter().filter_map(|entry| arp_entry(entry, context)).collect();
    let mut host = Host {
        name: name.to_string(),
        span,
        addresses,
        mac: given.unwrap_or(Mac([0; 6])),
        is_mac_generated: given.is_none(),
        gateway,
        routes: routes(record, context),
        arp,
        applications: Vec::new(),
    };
    for command in record.texts("commands") {
        shell::apply(&command, &mut host, context);
    }
    if host.addresses.is_empty() && record.is_written("address") {
        context.wrong_addresses.insert(number);
    }
    context.network.hosts.push(host);
}

fn ip(record: &Record, name: &str, context: &Context<'_>) -> Option<Located<IpAddr>> {
    let value = record.get(name)?;
    let ValueKind::Ip(address) = value.kind else { return None };
    let value_span = value.span;
    addresses::accepted(address, value_span, context)
        .map(|value| Located { value, span: value_span })
}

fn routes(record: &Record, context: &Context<'_>) -> Vec<HostRoute> {
    let mut routes = Vec::new();
    for route in record.list("routes").iter().filter_map(|value| value.record()) {
        let Some(ValueKind::Prefix(to)) = route.get("to").map(|value| value.kind.clone()) else {
            continue;
        };
        if addresses::accepted(to.address, route.span_of("to"), context).is_none() {
            continue;
        }
        let via = ip(route, "via", context);
        if via.is_none() && route.is_written("via") {
            continue;
        }
        let via = via.map(|via| via.value);
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
    let address = addresses::accepted(address, span, context)?;
    Some(ArpEntry { address, mac, span })
}
