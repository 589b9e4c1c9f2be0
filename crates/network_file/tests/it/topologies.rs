// SPDX-License-Identifier: Apache-2.0
//! Generated topologies: names, addresses and ports, and that every choice among equal next hops leads to the host by a
//! shortest path.

use crate::reading::network_of;
use network_file::model::*;
use network_file::{Mac, Prefix};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

fn generated(fields: &str) -> Network {
    network_of("x.yaml", &format!("topology: {{program: router.p4, {fields}}}\n"))
}

fn counts(network: &Network) -> (usize, usize, usize) {
    (network.switches.len(), network.hosts.len(), network.links.len())
}

fn routes(network: &Network, switch: usize) -> &GeneratedRoutes {
    network.switches[switch].routes.as_ref().expect("a generated switch has routes")
}

/// The group of the longest prefix of an address.
fn lookup(routes: &GeneratedRoutes, address: IpAddr) -> Option<&[NextHop]> {
    let fitting = routes.routes.iter().filter(|route| route.prefix.contains(address));
    let longest = fitting.max_by_key(|route| route.prefix.length)?;
    Some(&routes.groups[longest.group])
}

/// Distances in links from a host to all nodes.
fn distances(network: &Network, from: Node) -> HashMap<Node, usize> {
    let mut found = HashMap::from([(from, 0)]);
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for link in &network.links {
            for (one, other) in [(0, 1), (1, 0)] {
                let next = link.ends[other].node;
                if link.ends[one].node == node && !found.contains_key(&next) {
                    found.insert(next, found[&node] + 1);
                    queue.push_back(next);
                }
            }
        }
    }
    found
}

/// Follows all next hops from each host to each other one. Returns the number of switches between two hosts, by pair.
fn follow_all(network: &Network) -> HashMap<(usize, usize), usize> {
    let mut lengths = HashMap::new();
    for to in 0..network.hosts.len() {
        let distance = distances(network, Node::Host(to));
        for from in (0..network.hosts.len()).filter(|from| *from != to) {
            let source = &network.hosts[from];
            let (link, end) = network.link_at(Node::Host(from), 0).expect("a link");
            let first = network.links[link].ends[1 - end];
            let Node::Switch(first_switch) = first.node else { panic!("a host at a host") };
            // The gateway is this switch, with the Ethernet address of its port.
            let gateway = source.gateways.first().expect("a gateway").value;
            assert_eq!(gateway, routes(network, first_switch).address);
            let known =
                source.arp.iter().find(|entry| entry.address == gateway).expect("a neighbour");
            let port =
                routes(network, first_switch).ports.iter().find(|port| port.port == first.port);
            assert_eq!(known.mac, port.expect("a port").mac);

            let address = network.hosts[to].interfaces[0].addresses[0].value.address;
            let mut level = HashSet::from([first_switch]);
            let mut switches = 0;
            while !level.is_empty() {
                switches += 1;
                let mut next = HashSet::new();
                for switch in level {
                    let group = lookup(routes(network, switch), address).expect("a route");
                    assert!(!group.is_empty());
                    for hop in group {
                        let (link, end) =
                            network.link_at(Node::Switch(switch), hop.port).expect("a link");
                        let other = network.links[link].ends[1 - end];
                        assert_eq!(distance[&other.node] + 1, distance[&Node::Switch(switch)]);
                        match other.node {
                            Node::Host(host) => {
                                assert_eq!((host, hop.mac), (to, network.hosts[to].mac()));
                            }
                            Node::Switch(other_switch) => {
                                let ports = &routes(network, other_switch).ports;
                                let port = ports.iter().find(|port| port.port == other.port);
                                assert_eq!(hop.mac, port.expect("a port").mac);
                                next.insert(other_switch);
                            }
                        }
                    }
                }
                level = next;
            }
            lengths.insert((from, to), switches);
        }
    }
    lengths
}

#[test]
fn every_kind_connects_all_hosts_by_shortest_paths() {
    for (fields, expected) in [
        ("kind: line, switches: 4", (4, 4, 7)),
        ("kind: line, switches: 3, hosts_per_switch: 3", (3, 9, 11)),
        ("kind: star, size: 5", (1, 5, 5)),
        ("kind: tree, depth: 3, fanout: 2", (7, 8, 14)),
        ("kind: tree, depth: 1, fanout: 4", (1, 4, 4)),
        ("kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 2", (5, 6, 12)),
        ("kind: dumbbell, hosts_per_side: 3", (2, 6, 7)),
        ("kind: fat-tree, k: 2", (5, 2, 6)),
        ("kind: fat-tree, k: 4", (20, 16, 48)),
        ("kind: fat-tree, k: 6", (45, 54, 162)),
    ] {
        let network = generated(fields);
        assert_eq!(counts(&network), expected, "{fields}");
        let pairs = follow_all(&network).len();
        assert_eq!(pairs, expected.1 * (expected.1 - 1), "{fields}");
    }
}

#[test]
fn a_fat_tree_has_the_addresses_of_the_paper() {
    let network = generated("kind: fat-tree, k: 4");
    let address = |name: &str| match network.node(name).expect(name) {
        Node::Host(number) => network.hosts[number].interfaces[0].addresses[0].value.to_string(),
        Node::Switch(number) => routes(&network, number).address.to_string(),
    };
    for (name, expected) in [
        ("h1", "10.0.0.2/24"),
        ("h2", "10.0.0.3/24"),
        ("h3", "10.0.1.2/24"),
        ("h16", "10.3.1.3/24"),
        ("p0e0", "10.0.0.1"),
        ("p0a0", "10.0.2.1"),
        ("p3a1", "10.3.3.1"),
        ("c1", "10.4.1.1"),
        ("c4", "10.4.2.2"),
    ] {
        assert_eq!(address(name), expected, "{name}");
    }
    // Two hosts, then k/2 uplinks as the default route: k = 4.
    let Some(Node::Switch(edge)) = network.node("p0e0") else { panic!("an edge switch") };
    let table: Vec<String> = routes(&network, edge)
        .routes
        .iter()
        .map(|route| {
            let ports: Vec<u32> =
                routes(&network, edge).groups[route.group].iter().map(|hop| hop.port).collect();
            format!("{} {ports:?}", route.prefix)
        })
        .collect();
    assert_eq!(table, ["10.0.0.2/32 [1]", "10.0.0.3/32 [2]", "0.0.0.0/0 [3, 4]"]);
    let lengths = follow_all(&network);
    let length = |from: usize, to: usize| lengths[&(from - 1, to - 1)];
    assert_eq!((length(1, 2), length(1, 3), length(1, 5)), (1, 3, 5));
}

#[test]
fn a_leaf_uses_all_spines_for_another_leaf() {
    let network = generated("kind: leaf-spine, leaves: 2, spines: 3, hosts_per_leaf: 2");
    let group = lookup(routes(&network, 0), "10.0.2.2".parse().expect("an address"));
    let ports: Vec<u32> = group.expect("a route").iter().map(|hop| hop.port).collect();
    assert_eq!(ports, [3, 4, 5]);
}

#[test]
fn items_beside_a_topology_change_and_extend_it() {
    let network = network_of(
        "x.yaml",
        "topology: {kind: line, switches: 3, program: router.p4, rate: 1Gbps, hosts: {applications: [sink]}}
switches:
  s2: {program: other.p4}
  box: {program: box.p4}
hosts:
  h1: {address: 10.9.0.1/24, gateway: 10.9.0.254, mac: \"02:00:00:00:00:02\", applications: []}
  far: {address: 10.0.3.7/24, gateway: 10.0.3.1}
links:
  - {ends: [far, \"s3:7\"], rate: 2Mbps}
  - [\"s1:8\", \"s3:8\"]
  - [\"box:1\", \"s1:9\"]
",
    );
    let programs: Vec<&str> = network
        .switches
        .iter()
        .map(|switch| switch.program.as_ref().expect("one").value.as_str())
        .collect();
    assert_eq!(programs, ["router.p4", "other.p4", "router.p4", "box.p4"]);
    assert_eq!(network.hosts[0].applications, []);
    assert_eq!(network.hosts[1].applications.len(), 1);
    // The address of h1 is given, so h2 gets another one.
    assert_eq!(network.hosts[0].mac(), Mac([2, 0, 0, 0, 0, 2]));
    assert_eq!(network.hosts[1].mac(), Mac([2, 0, 0, 0, 0, 3]));
    // s3 reaches the other subnet of h1 by the added link, and the added host at its own port.
    let port_to = |switch: usize, address: &str| {
        let address = address.parse().expect("an address");
        lookup(routes(&network, switch), address).map(|group| group[0].port)
    };
    assert_eq!(port_to(2, "10.9.0.1"), Some(8));
    assert_eq!(port_to(2, "10.0.3.7"), Some(7));
    assert_eq!(port_to(0, "10.0.3.7"), Some(8));
    assert_eq!(port_to(0, "10.0.77.1"), None);
    assert_eq!(network.switches[3].routes, None);
    assert!(
        routes(&network, 0).routes.contains(&GeneratedRoute {
            prefix: Prefix::parse("10.9.0.1").expect("a prefix"),
            group: routes(&network, 0)
                .groups
                .iter()
                .position(|group| group[0].port == 1)
                .expect("the group of h1"),
        })
    );
}
