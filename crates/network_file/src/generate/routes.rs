// SPDX-License-Identifier: Apache-2.0
//! IPv4 routes of generated switches: shortest paths to the subnet of each switch with hosts, with all next hops of equal
//! cost. Links and hosts that the file adds count; switches that it adds forward nothing here.

use super::plan::{Aggregation, Plan};
use crate::format::address::{Mac, Prefix};
use crate::model::{GeneratedPort, GeneratedRoute, GeneratedRoutes, Network, NextHop, Node};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::IpAddr;

/// The Ethernet address of a generated switch at a port: 02:01, the number of the switch from 1, the port.
fn port_mac(switch: usize, port: u32) -> Mac {
    let ([_, _, a, b], [_, _, c, d]) = ((switch as u32 + 1).to_be_bytes(), port.to_be_bytes());
    Mac([2, 1, a, b, c, d])
}

/// Adds the routes of the generated switches, which are the first ones of the network.
pub fn add_routes(plan: &Plan, network: &mut Network) {
    let count = plan.switches.len();
    let graph = Graph::of(network, count);
    let mut tables: Vec<Table> = (0..count).map(|_| Table::default()).collect();
    for (destination, hosts) in graph.hosts.iter().enumerate() {
        if hosts.is_empty() {
            continue;
        }
        let prefixes = destination_prefixes(plan.switches[destination].address, hosts);
        for (switch, next_hops) in graph.towards(destination).into_iter().enumerate() {
            if !next_hops.is_empty() {
                let group = tables[switch].group(next_hops);
                tables[switch].routes.extend(prefixes.iter().map(|prefix| (*prefix, group)));
            }
        }
        for host in hosts {
            let group = tables[destination].group(vec![host.next_hop]);
            tables[destination].routes.extend(host.addresses.iter().map(|own| (*own, group)));
        }
    }
    for (number, mut table) in tables.into_iter().enumerate() {
        if plan.aggregation == Aggregation::Pods {
            table.aggregate();
        }
        table.routes.sort_by_key(|(prefix, _)| (u8::MAX - prefix.length, prefix.address));
        let ports = graph.ports[number].iter();
        network.switches[number].routes = Some(GeneratedRoutes {
            address: plan.switches[number].address.address,
            ports: ports
                .map(|port| GeneratedPort { port: *port, mac: port_mac(number, *port) })
                .collect(),
            groups: table.groups,
            routes: table
                .routes
                .into_iter()
                .map(|(prefix, group)| GeneratedRoute { prefix, group })
                .collect(),
        });
    }
}

/// The prefixes that other switches route to: the subnet of the switch, and hosts with addresses outside it.
fn destination_prefixes(switch: Prefix, hosts: &[AttachedHost]) -> Vec<Prefix> {
    let (inside, outside): (Vec<Prefix>, Vec<Prefix>) = hosts
        .iter()
        .flat_map(|host| host.addresses.iter().copied())
        .partition(|own| switch.contains(own.address));
    let subnet = (!inside.is_empty()).then(|| switch.network());
    subnet.into_iter().chain(outside).collect()
}

/// A host at a generated switch.
struct AttachedHost {
    next_hop: NextHop,
    /// Its addresses, as prefixes of all their bits.
    addresses: Vec<Prefix>,
}

/// The generated switches and what is attached to them.
struct Graph {
    /// For each switch its neighbours: port, neighbour, port of the neighbour; in order of port.
    neighbours: Vec<Vec<(u32, usize, u32)>>,
    hosts: Vec<Vec<AttachedHost>>,
    /// The ports with links, in order.
    ports: Vec<Vec<u32>>,
}

impl Graph {
    fn of(network: &Network, count: usize) -> Graph {
        let mut neighbours = vec![Vec::new(); count];
        let mut hosts: Vec<Vec<AttachedHost>> = (0..count).map(|_| Vec::new()).collect();
        let mut ports = vec![Vec::new(); count];
        for link in &network.links {
            for (from, to) in [(link.ends[0], link.ends[1]), (link.ends[1], link.ends[0])] {
                let Node::Switch(switch) = from.node else { continue };
                if switch >= count {
                    continue;
                }
                ports[switch].push(from.port);
                match to.node {
                    Node::Switch(other) if other < count => {
                        neighbours[switch].push((from.port, other, to.port));
                    }
                    Node::Switch(_) => {}
                    Node::Host(number) => {
                        let host = &network.hosts[number];
                        let Some(interface) = host.interfaces.get(to.port as usize) else {
                            continue;
                        };
                        let addresses = interface.addresses.iter();
                        let of_ipv4 = addresses.filter(|own| own.value.address.is_ipv4());
                        hosts[switch].push(AttachedHost {
                            next_hop: NextHop { port: from.port, mac: interface.mac },
                            addresses: of_ipv4.map(|own| all_bits(own.value.address)).collect(),
                        });
                    }
                }
            }
        }
        neighbours.iter_mut().for_each(|list| list.sort_unstable());
        hosts.iter_mut().for_each(|list| list.sort_by_key(|host| host.next_hop.port));
        ports.iter_mut().for_each(|list: &mut Vec<u32>| list.sort_unstable());
        Graph { neighbours, hosts, ports }
    }

    /// The next hops of each switch on all shortest paths to a switch, in order of port.
    fn towards(&self, destination: usize) -> Vec<Vec<NextHop>> {
        let mut distance = vec![u32::MAX; self.neighbours.len()];
        distance[destination] = 0;
        let mut queue = VecDeque::from([destination]);
        while let Some(switch) = queue.pop_front() {
            for (_, neighbour, _) in &self.neighbours[switch] {
                if distance[*neighbour] == u32::MAX {
                    distance[*neighbour] = distance[switch] + 1;
                    queue.push_back(*neighbour);
                }
            }
        }
        let next_hops = |switch: usize| {
            let closer = self.neighbours[switch].iter().filter(|(_, neighbour, _)| {
                distance[switch] != u32::MAX && distance[*neighbour] < distance[switch]
            });
            closer
                .map(|(port, neighbour, entered)| NextHop {
                    port: *port,
                    mac: port_mac(*neighbour, *entered),
                })
                .collect()
        };
        (0..self.neighbours.len()).map(next_hops).collect()
    }
}

fn all_bits(address: IpAddr) -> Prefix {
    Prefix { address, length: if address.is_ipv4() { 32 } else { 128 } }
}

/// The routes of a switch.
#[derive(Default)]
struct Table {
    groups: Vec<Vec<NextHop>>,
    known: HashMap<Vec<NextHop>, usize>,
    routes: Vec<(Prefix, usize)>,
}

impl Table {
    fn group(&mut self, next_hops: Vec<NextHop>) -> usize {
        let number = self.groups.len();
        let group = *self.known.entry(next_hops.clone()).or_insert(number);
        if group == number {
            self.groups.push(next_hops);
        }
        group
    }

    /// Replaces the /24 routes of each /16 by one where all have the same next hops, and then the largest group of equal
    /// next hops by a default route, as the two-level tables of the paper do for what leaves a pod upwards.
    fn aggregate(&mut self) {
        let (subnets, mut kept): (Vec<_>, Vec<_>) =
            self.routes.drain(..).partition(|(prefix, _)| prefix.length == 24);
        let mut pods: BTreeMap<Prefix, Vec<(Prefix, usize)>> = BTreeMap::new();
        for route in subnets {
            let pod = Prefix { length: 16, ..route.0 }.network();
            pods.entry(pod).or_default().push(route);
        }
        let mut merged: Vec<(Prefix, usize)> = Vec::new();
        for (pod, routes) in pods {
            match routes.iter().all(|(_, group)| *group == routes[0].1) {
                true => merged.push((pod, routes[0].1)),
                false => merged.extend(routes),
            }
        }
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, group) in &merged {
            *sizes.entry(*group).or_default() += 1;
        }
        // Only next hops upwards serve several prefixes.
        let largest = sizes.into_iter().max_by_key(|(group, size)| (*size, usize::MAX - group));
        if let Some((group, 2..)) = largest {
            merged.retain(|(_, other)| *other != group);
            merged.push((Prefix::v4([0; 4], 0), group));
        }
        kept.extend(merged);
        self.routes = kept;
    }
}
