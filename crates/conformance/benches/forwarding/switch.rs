// SPDX-License-Identifier: Apache-2.0
//! The learning switch's addresses and packets: sources known, destinations random over the known
//! ones, one packet in 256 to an unknown one.

use super::entries::EntryWriter;
use super::packets::{Packet, Sizes, damaged};
use super::random::Random;
use super::workload::{ByHand, RING_PACKETS, Workload, words};
use std::collections::HashSet;

const SEED: u64 = 0x0005_317c;
const PORTS: u64 = 64;
/// Ports that a flooded packet leaves by, but for its own.
const FLOOD_PORTS: u32 = 8;

/// An address and its port.
type Host = (u64, u32);

fn hosts(count: usize) -> Vec<Host> {
    let mut random = Random::new(SEED);
    let mut known = HashSet::new();
    let mut list = Vec::with_capacity(count);
    while list.len() < count {
        // Globally unique unicast addresses: the two lowest bits of the first byte are zero.
        let address = random.next() >> 16 & !0x0300_0000_0000;
        if address != 0 && known.insert(address) {
            list.push((address, random.below(PORTS) as u32));
        }
    }
    list
}

fn packets(hosts: &[Host], count: usize, sizes: Sizes, seed: u64, is_check: bool) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let packet = |_| {
        let (source, port) = *random.pick(hosts);
        let mut destination = random.pick(hosts).0;
        if random.one_in(if is_check { 8 } else { 256 }) {
            destination = random.next() >> 16 | 0x0200_0000_0000;
        }
        // Moved and unknown sources are what digests are for; the timed packets have none.
        let ingress_port =
            if is_check && random.one_in(8) { random.below(PORTS) as u32 } else { port };
        let source = if is_check && random.one_in(8) { random.next() >> 16 } else { source };
        let mut bytes = destination.to_be_bytes()[2..].to_vec();
        bytes.extend(&source.to_be_bytes()[2..]);
        bytes.extend([8, 0]);
        let length_bytes = sizes.next_bytes(&mut random);
        while bytes.len() < length_bytes {
            bytes.push(random.next() as u8);
        }
        Packet { ingress_port, bytes }
    };
    (0..count).map(packet).collect()
}

pub fn workload(count: usize) -> Workload {
    let hosts = hosts(count);
    let mut commands = "mc_mgrp_create 1\nmc_node_create 0".to_string();
    for port in 0..FLOOD_PORTS {
        commands.push_str(&format!(" {port}"));
    }
    commands.push_str("\nmc_node_associate 1 0\n");
    let table =
        hosts.iter().flat_map(|(address, port)| (address << 16 | u64::from(*port)).to_ne_bytes());
    let tables = vec![("macs", table.collect()), ("flood", words(0..FLOOD_PORTS))];
    let mut check = packets(&hosts, 800, Sizes::Mix, SEED + 1, true);
    let right = packets(&hosts, 400, Sizes::Bytes64, SEED + 2, true);
    check.extend(damaged(&right, &mut Random::new(SEED)));
    let for_ring = hosts.clone();
    let for_updates = hosts;
    Workload {
        program_file: "benches/p4/switch.p4".to_string(),
        program: include_str!("../../../../benches/p4/switch.p4").to_string(),
        commands: ("switch.txt".to_string(), commands),
        updates: vec![Box::new(move |program| {
            let sources = EntryWriter::new(program, "SwitchIngress.sources", "SwitchIngress.known");
            let destinations =
                EntryWriter::new(program, "SwitchIngress.destinations", "SwitchIngress.forward");
            let mut updates = Vec::with_capacity(2 * for_updates.len());
            for (address, port) in &for_updates {
                let keys = vec![sources.exact(0, *address), sources.exact(1, (*port).into())];
                updates.push(sources.insert(keys, 0, &[]));
                let keys = vec![destinations.exact(0, *address)];
                updates.push(destinations.insert(keys, 0, &[(*port).into()]));
            }
            updates
        })],
        ring: Box::new(move |sizes| packets(&for_ring, RING_PACKETS, sizes, SEED + 5, false)),
        check,
        by_hand: Some(ByHand { source: "switch.c", tables }),
    }
}
