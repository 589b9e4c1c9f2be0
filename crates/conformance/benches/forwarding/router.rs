// SPDX-License-Identifier: Apache-2.0
//! The router's routes and packets: prefix lengths distributed as in a table of the Internet's
//! routes, 256 next hops, destinations random over the routes.

use super::entries::EntryWriter;
use super::packets::{Ipv4, Packet, Sizes, TCP, UDP, damaged, ipv4};
use super::random::Random;
use super::workload::{ByHand, RING_PACKETS, Workload, words};
use std::collections::HashSet;

const SEED: u64 = 0x0001_7e54;
const NEXT_HOPS: u32 = 256;

/// Shares of prefix lengths per 1,000 routes: what route collectors saw in the 2020s, and a few long
/// ones, which a network has inside.
const LENGTHS: [(u32, u32); 22] = [
    (8, 1),
    (9, 1),
    (10, 1),
    (11, 1),
    (12, 1),
    (13, 1),
    (14, 1),
    (15, 2),
    (16, 14),
    (17, 9),
    (18, 14),
    (19, 26),
    (20, 44),
    (21, 51),
    (22, 112),
    (23, 99),
    (24, 612),
    (25, 1),
    (28, 2),
    (29, 2),
    (30, 2),
    (32, 3),
];

#[derive(Clone, Copy)]
struct Route {
    address: u32,
    length_bits: u32,
    next_hop: u32,
}

fn mask(length_bits: u32) -> u32 {
    u32::MAX << (32 - length_bits)
}

fn routes(count: usize) -> Vec<Route> {
    let mut random = Random::new(SEED);
    let mut known = HashSet::new();
    let mut list = Vec::with_capacity(count);
    while list.len() < count {
        let length_bits = random.weighted(&LENGTHS);
        // Unicast addresses that are not loopback.
        let address = (random.next() as u32) & mask(length_bits);
        let first = address >> 24;
        if first == 0 || first == 127 || first >= 224 || !known.insert((address, length_bits)) {
            continue;
        }
        list.push(Route { address, length_bits, next_hop: random.below(NEXT_HOPS.into()) as u32 });
    }
    list
}

/// Port, source MAC and destination MAC of a next hop.
fn next_hop(number: u32) -> (u32, u64, u64) {
    (number % 64, 0x0200_0000_0000 | u64::from(number % 64), 0x0200_0001_0000 | u64::from(number))
}

fn packets(routes: &[Route], count: usize, sizes: Sizes, seed: u64) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let packet = |_| {
        let route = random.pick(routes);
        let fields = Ipv4 {
            source: random.next() as u32,
            destination: route.address | (random.next() as u32 & !mask(route.length_bits)),
            protocol: if random.one_in(4) { UDP } else { TCP },
            source_port: random.next() as u16,
            destination_port: 443,
            tcp_flags: 0x10,
        };
        let length_bytes = sizes.next_bytes(&mut random);
        let ingress_port = random.below(64) as u32;
        Packet { ingress_port, bytes: ipv4(fields, &[], length_bytes, &mut random) }
    };
    (0..count).map(packet).collect()
}

/// The routes as text.
pub fn route_commands(count: usize) -> String {
    let line = |route: Route| {
        let [a, b, c, d] = route.address.to_be_bytes();
        let Route { length_bits, next_hop, .. } = route;
        format!(
            "table_add RouterIngress.routes RouterIngress.set_next_hop {a}.{b}.{c}.{d}/{length_bits} => {next_hop}\n"
        )
    };
    routes(count).into_iter().map(line).collect()
}

pub fn workload(count: usize) -> Workload {
    let routes = routes(count);
    let mut commands = String::new();
    let (mut hop_table, mut route_table) = (Vec::new(), Vec::new());
    for number in 0..NEXT_HOPS {
        let (port, source, destination) = next_hop(number);
        commands.push_str(&format!(
            "table_add RouterIngress.next_hops RouterIngress.forward {number} => {port} {source} {destination}\n"
        ));
        hop_table.extend(&destination.to_be_bytes()[2..]);
        hop_table.extend(&source.to_be_bytes()[2..]);
        hop_table.extend(port.to_ne_bytes());
    }
    for route in &routes {
        route_table.extend(words([route.address, route.length_bits, route.next_hop]));
    }
    let mut check = packets(&routes, 800, Sizes::Mix, SEED + 1);
    check.extend(damaged(&packets(&routes, 800, Sizes::Bytes64, SEED + 2), &mut Random::new(SEED)));
    // Destinations anywhere: many have no route.
    let mut random = Random::new(SEED + 3);
    let anywhere: Vec<Route> = (0..400)
        .map(|_| Route { address: random.next() as u32, length_bits: 32, next_hop: 0 })
        .collect();
    check.extend(packets(&anywhere, 400, Sizes::Bytes64, SEED + 4));
    let for_ring = routes.clone();
    let for_updates = routes;
    Workload {
        program_file: "benches/p4/router.p4".to_string(),
        program: include_str!("../../../../benches/p4/router.p4").to_string(),
        commands: ("router.txt".to_string(), commands),
        updates: vec![Box::new(move |program| {
            let table = "RouterIngress.routes";
            let writer = EntryWriter::new(program, table, "RouterIngress.set_next_hop");
            for_updates
                .iter()
                .map(|route| {
                    let key = writer.prefix(0, route.address.into(), route.length_bits);
                    writer.insert(vec![key], 0, &[route.next_hop.into()])
                })
                .collect()
        })],
        ring: Box::new(move |sizes| packets(&for_ring, RING_PACKETS, sizes, SEED + 5)),
        check,
        by_hand: Some(ByHand {
            source: "router.c",
            tables: vec![("routes", route_table), ("hops", hop_table)],
        }),
    }
}
