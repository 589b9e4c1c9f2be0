// SPDX-License-Identifier: Apache-2.0
//! Reads a network file: a generated topology first, then the items of the file, then what refers to them.

use super::applications::{self, Sharing};
use super::context::Context;
use super::nodes::SwitchOrigin;
use super::tutorial::{self, Item};
use super::{Options, addresses, checks, controllers, events, expectations, links, nodes};
use crate::codes;
use crate::fields::link::DIRECTION;
use crate::fields::network::NETWORK;
use crate::fields::node::{HOST, SWITCH};
use crate::format::address::Mac;
use crate::format::decode;
use crate::format::shape::{Section, Shape};
use crate::format::value::{Located, Record, Value};
use crate::generate::{self, Plan, PlannedNode};
use crate::model::{ArpEntry, End, Network, Node};
use document::{Fields, Messages, Node as DocumentNode};
use source::Span;
use std::collections::HashMap;
use std::net::IpAddr;

/// Reads a network; `None` if the document is not an object. With errors in it, the result is not complete.
pub(super) fn read(
    root: &DocumentNode,
    base: Option<&DocumentNode>,
    options: &Options,
    messages: &Messages,
) -> Option<Network> {
    let file = decode(root, &Shape::Record(&NETWORK), NETWORK.what, messages)?;
    let file = file.record()?;
    if !["base", "switches", "hosts", "topology"].iter().any(|name| file.is_written(name)) {
        let message = "the file describes no network: it has no `switches`, `hosts` or `topology`";
        let help = "such as `topology: {kind: fat-tree, k: 4, program: router.p4}`";
        messages.error(codes::MISSING, root.span, message, help);
        return None;
    }
    let mut context = Context::new(options, messages);
    context.network.base = file.text("base");
    let mut base = base.and_then(|base| Fields::of(base, "a topology", messages));
    let defaults = Defaults::of(file);
    let topology = file.record("topology");
    let plan = topology.and_then(|record| generate::plan(record, messages));
    let is_wrong = |name: &str| file.is_written(name) && file.get(name).is_none();
    if ["switches", "hosts", "topology"].into_iter().any(is_wrong)
        || (topology.is_some() && plan.is_none())
    {
        // Nodes are missing, so messages about names would be wrong.
        return None;
    }
    let mut wishes = Vec::new();
    let mut templates = Vec::new();

    let (base_switches, base_hosts) = match &mut base {
        Some(base) => (tutorial::switches(base, messages), tutorial::hosts(base, messages)),
        None => (Vec::new(), Vec::new()),
    };
    let generated = plan.as_ref().zip(topology);
    read_switches(file, &defaults, (generated, &base_switches), &mut wishes, &mut context);
    read_hosts(file, &defaults, (generated, &base_hosts), &mut templates, &mut context);
    addresses::generate_macs(&mut context.network);
    let generated_links = match plan.as_ref().zip(topology) {
        Some((plan, topology)) => generated_links(plan, topology, &defaults, &mut context),
        None => Vec::new(),
    };
    if let Some(base) = &mut base {
        tutorial::add_links(base, &mut context);
    }
    links::read(file.list("links"), &defaults.links, &generated_links, &mut context);
    for (host, applications, sharing) in &templates {
        applications::of_host(applications, *host, *sharing, &mut context);
    }
    applications::of_file(file.list("applications"), &mut context);
    applications::give_names(&mut context);
    controllers::read(file.named("controllers"), &wishes, &mut context);
    events::read(file.list("events"), &mut context);
    events::captures(file.list("captures"), &mut context);
    expectations::read(file.list("expect"), &mut context);
    context.network.seed = file.number("seed");
    context.network.until_ps =
        file.number("until").map(|value| Located { value, span: file.span_of("until") });
    if let Some(plan) = &plan
        && !messages.has_errors()
    {
        generate::add_routes(plan, &mut context.network);
        gateway_neighbours(plan, &mut context.network);
    }
    checks::all(&context);
    Some(context.network)
}

/// The fields of `defaults`.
struct Defaults {
    switches: Record,
    hosts: Record,
    links: Record,
}

impl Defaults {
    fn of(file: &Record) -> Defaults {
        let section = |name: &str, section: &'static Section| {
            let found = file.record("defaults").and_then(|defaults| defaults.record(name));
            found.cloned().unwrap_or_else(|| Record::empty(section, file.span))
        };
        Defaults {
            switches: section("switches", &SWITCH),
            hosts: section("hosts", &HOST),
            links: section("links", &DIRECTION),
        }
    }
}

/// The fields that the file gives to an item, and where.
fn own<'f>(file: &'f Record, list: &str, name: &str) -> Option<(&'f Record, Span)> {
    let named = file.named(list).iter().find(|named| named.name.value == name)?;
    Some((named.value.record()?, named.name.span))
}

fn read_switches(
    file: &Record,
    defaults: &Defaults,
    (generated, base): (Option<(&Plan, &Record)>, &[Item]),
    wishes: &mut Vec<(usize, Located<String>)>,
    context: &mut Context<'_>,
) {
    let mut add = |name: &str, span: Span, origin, record: Record, context: &mut Context<'_>| {
        let number = context.network.switches.len();
        nodes::switch(name, span, origin, &record, context);
        if context.network.switches.len() > number {
            wishes.extend(record.text("controller").map(|wish| (number, wish)));
        }
    };
    if let Some((plan, topology)) = generated {
        for switch in &plan.switches {
            let (record, span) = match own(file, "switches", &switch.name) {
                Some((record, span)) => (record.clone(), span),
                None => (Record::empty(&SWITCH, topology.span), topology.span),
            };
            let record = record.or(topology).or(&defaults.switches);
            add(&switch.name, span, SwitchOrigin::Topology, record, context);
        }
    }
    for Item { name, span, record } in base {
        let (own, span) = own(file, "switches", name)
            .map_or((Record::empty(&SWITCH, *span), *span), |(own, span)| (own.clone(), span));
        add(name, span, SwitchOrigin::File, own.or(record).or(&defaults.switches), context);
    }
    for named in file.named("switches") {
        let name = &named.name;
        let is_generated = generated.is_some_and(|(plan, _)| plan.has_switch(&name.value))
            || base.iter().any(|item| item.name == name.value);
        if let Some(record) = named.value.record()
            && !is_generated
        {
            let record = record.clone().or(&defaults.switches);
            add(&name.value, name.span, SwitchOrigin::File, record, context);
        }
    }
}

/// Adds hosts; their applications go to `templates` until all hosts are known.
fn read_hosts(
    file: &Record,
    defaults: &Defaults,
    (generated, base): (Option<(&Plan, &Record)>, &[Item]),
    templates: &mut Vec<(usize, Vec<Value>, Sharing)>,
    context: &mut Context<'_>,
) {
    let mut add = |name: &str,
                   span: Span,
                   own: &Record,
                   template: Record,
                   address,
                   context: &mut Context<'_>| {
        let number = context.network.hosts.len();
        let sharing = match own.is_written("applications") {
            true => Sharing::OneHost,
            false => Sharing::SeveralHosts,
        };
        let record = own.clone().or(&template);
        nodes::host(name, span, &record, address, context);
        if context.network.hosts.len() > number {
            templates.push((number, record.list("applications").to_vec(), sharing));
        }
    };
    if let Some((plan, topology)) = generated {
        let empty = Record::empty(&HOST, topology.span);
        let template = topology.record("hosts").unwrap_or(&empty).clone().or(&defaults.hosts);
        for host in &plan.hosts {
            let (record, span) = own(file, "hosts", &host.name).unwrap_or((&empty, topology.span));
            let address = Some((host.address, host.gateway));
            add(&host.name, span, record, template.clone(), address, context);
        }
    }
    for Item { name, span, record } in base {
        let empty = Record::empty(&HOST, *span);
        let (own, span) = own(file, "hosts", name).unwrap_or((&empty, *span));
        add(name, span, own, record.clone().or(&defaults.hosts), None, context);
    }
    for named in file.named("hosts") {
        let name = &named.name;
        let is_generated = generated.is_some_and(|(plan, _)| plan.has_host(&name.value))
            || base.iter().any(|item| item.name == name.value);
        if let Some(record) = named.value.record()
            && !is_generated
        {
            add(&name.value, name.span, record, defaults.hosts.clone(), None, context);
        }
    }
}

/// Adds the links of a topology. Returns their properties, in the same order.
fn generated_links(
    plan: &Plan,
    topology: &Record,
    defaults: &Defaults,
    context: &mut Context<'_>,
) -> Vec<Record> {
    let mut properties = Vec::new();
    let span = topology.span;
    let common = Record::empty(&DIRECTION, span);
    let common = links::merged(common.or(topology), &defaults.links, context.messages);
    let bottleneck = match topology.record("bottleneck") {
        Some(own) => links::merged(own.clone(), &common, context.messages),
        None => common.clone(),
    };
    for link in &plan.links {
        let end = |(node, port): (PlannedNode, u32)| {
            let node = match node {
                PlannedNode::Switch(number) => context.find(&plan.switches[number].name),
                PlannedNode::Host(number) => context.find(&plan.hosts[number].name),
            };
            // A node whose name is taken is missing; that is reported.
            node.map(|node| End { node, port, span })
        };
        if let (Some(one), Some(other)) = (end(link.ends[0]), end(link.ends[1])) {
            let record = if link.is_bottleneck { &bottleneck } else { &common };
            links::add(None, [one, other], [record, record], span, context);
            properties.push(record.clone());
        }
    }
    properties
}

/// Gives generated hosts the Ethernet address of their switch for the gateway and for the other hosts of the switch, as
/// programs of switches need not answer ARP.
fn gateway_neighbours(plan: &Plan, network: &mut Network) {
    let mut at_switch: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut ports: HashMap<usize, (usize, Mac)> = HashMap::new();
    let generated = plan.hosts.len().min(network.hosts.len());
    for link in &network.links {
        for (end, other) in [(link.ends[0], link.ends[1]), (link.ends[1], link.ends[0])] {
            let (Node::Host(host), Node::Switch(switch)) = (end.node, other.node) else { continue };
            let Some(routes) = &network.switches[switch].routes else { continue };
            let port = routes.ports.iter().find(|port| port.port == other.port);
            if let Some(port) = port.filter(|_| host < generated && end.port == 0) {
                at_switch.entry(switch).or_default().push(host);
                ports.insert(host, (switch, port.mac));
            }
        }
    }
    for number in 0..generated {
        let Some((switch, mac)) = ports.get(&number).copied() else { continue };
        let host = &network.hosts[number];
        let gateway = host.gateways.iter().filter(|gateway| {
            network.switches[switch]
                .routes
                .as_ref()
                .is_some_and(|routes| routes.address == gateway.value)
        });
        let others = at_switch[&switch].iter().filter(|other| **other != number);
        // Those of the interface at the switch.
        let others = others.flat_map(|other| &network.hosts[*other].interfaces[0].addresses);
        let is_near = |address: &IpAddr| {
            host.interfaces[0].addresses.iter().any(|own| own.value.contains(*address))
        };
        let addresses: Vec<(IpAddr, Span)> = gateway
            .map(|gateway| (gateway.value, gateway.span))
            .chain(others.map(|other| (other.value.address, host.span)))
            .filter(|(address, _)| is_near(address))
            .collect();
        for (address, span) in addresses {
            if network.hosts[number].arp.iter().all(|entry| entry.address != address) {
                network.hosts[number].arp.push(ArpEntry { address, mac, span });
            }
        }
    }
}
