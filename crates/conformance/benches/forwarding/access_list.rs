// SPDX-License-Identifier: Apache-2.0
//! The access list's rules and packets. Rules are like ClassBench's: pairs of prefixes, ports exact,
//! any or an aligned block, a protocol or any, under at most 64 distinct masks.

use super::entries::EntryWriter;
use super::packets::{Ipv4, Packet, Sizes, TCP, UDP, damaged, ipv4};
use super::random::Random;
use super::workload::{ByHand, RING_PACKETS, Workload, words};
use std::collections::HashSet;

const SEED: u64 = 0x00ac_1157;
const MASKS: usize = 64;
const PORTS: u32 = 64;

/// Source address, destination address, ports (source in the upper half), protocol.
type Fields = [u32; 4];

#[derive(Clone, Copy)]
struct Rule {
    values: Fields,
    masks: Fields,
    permits: bool,
}

fn prefix_mask(length_bits: u32) -> u32 {
    u32::MAX.checked_shl(32 - length_bits).unwrap_or(0)
}

/// Shares are those of access lists that were published: destinations more exact than sources,
/// destination ports more exact than source ports.
fn masks() -> Vec<Fields> {
    let mut random = Random::new(SEED);
    let mut list = Vec::new();
    while list.len() < MASKS {
        let source = random.weighted(&[(0, 20), (8, 10), (16, 20), (21, 10), (24, 25), (32, 15)]);
        let destination = random.weighted(&[(16, 10), (20, 10), (24, 30), (27, 15), (32, 35)]);
        let source_port = random.weighted(&[(0, 85), (0xffff, 10), (0xfc00, 5)]);
        let destination_port = random.weighted(&[(0, 30), (0xffff, 60), (0xfc00, 10)]);
        let protocol = random.weighted(&[(0xff, 90), (0, 10)]);
        let fields = [
            prefix_mask(source),
            prefix_mask(destination),
            source_port << 16 | destination_port,
            protocol,
        ];
        if !list.contains(&fields) {
            list.push(fields);
        }
    }
    list
}

/// Rules in order of urgency, all different.
fn rules(count: usize) -> Vec<Rule> {
    let masks = masks();
    let mut random = Random::new(SEED + 1);
    // Networks repeat in real lists.
    let networks: Vec<u32> = (0..count / 4 + 8).map(|_| random.next() as u32).collect();
    let mut known = HashSet::new();
    let mut list = Vec::with_capacity(count);
    while list.len() < count {
        let masks = *random.pick(&masks);
        let low_bits = random.next() as u32 & 0xff;
        let destination_port = *random.pick(&[22u32, 25, 53, 80, 123, 443, 1433, 3306, 5060, 8080]);
        let source_port = 1024 + random.below(64000) as u32;
        let protocol = *random.pick(&[TCP, TCP, UDP]);
        let mut values = [
            *random.pick(&networks),
            *random.pick(&networks) ^ low_bits,
            source_port << 16 | destination_port,
            protocol.into(),
        ];
        for (value, mask) in values.iter_mut().zip(masks) {
            *value &= mask;
        }
        if known.insert((values, masks)) {
            list.push(Rule { values, masks, permits: !random.one_in(4) });
        }
    }
    list
}

/// Most packets match some rule, each rule as likely; one in sixteen is anything.
fn packets(rules: &[Rule], count: usize, sizes: Sizes, seed: u64) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let packet = |_| {
        let rule = random.pick(rules);
        let mut values: Fields =
            std::array::from_fn(|at| rule.values[at] | (random.next() as u32 & !rule.masks[at]));
        if random.one_in(16) {
            values = std::array::from_fn(|_| random.next() as u32);
        }
        let protocol = if values[3] & 0xff == u32::from(TCP) { TCP } else { UDP };
        let fields = Ipv4 {
            source: values[0],
            destination: values[1],
            protocol,
            source_port: (values[2] >> 16) as u16,
            destination_port: values[2] as u16,
            tcp_flags: 0x10,
        };
        let length_bytes = sizes.next_bytes(&mut random);
        let ingress_port = random.below(PORTS.into()) as u32;
        Packet { ingress_port, bytes: ipv4(fields, &[], length_bytes, &mut random) }
    };
    (0..count).map(packet).collect()
}

pub fn workload(count: usize) -> Workload {
    let rules = rules(count);
    let mut commands = String::new();
    let mut wires = Vec::new();
    for port in 0..PORTS {
        commands.push_str(&format!(
            "table_add AccessListIngress.wires AccessListIngress.send {port} => {}\n",
            port ^ 1
        ));
        wires.extend(words([port, port ^ 1]));
    }
    let table = rules.iter().flat_map(|rule| {
        words(rule.values.into_iter().chain(rule.masks).chain([u32::from(rule.permits)]))
    });
    let tables = vec![("rules", table.collect()), ("wires", wires)];
    let mut check = packets(&rules, 1600, Sizes::Mix, SEED + 2);
    let right = packets(&rules, 800, Sizes::Bytes64, SEED + 3);
    check.extend(damaged(&right, &mut Random::new(SEED)));
    let for_ring = rules.clone();
    let for_updates = rules;
    Workload {
        program_file: "benches/p4/access_list.p4".to_string(),
        program: include_str!("../../../../benches/p4/access_list.p4").to_string(),
        commands: ("access_list.txt".to_string(), commands),
        updates: vec![Box::new(move |program| {
            let table = "AccessListIngress.rules";
            let permit = EntryWriter::new(program, table, "AccessListIngress.permit");
            let deny = EntryWriter::new(program, table, "AccessListIngress.deny");
            let entry = |(at, rule): (usize, &Rule)| {
                let writer = if rule.permits { &permit } else { &deny };
                let pair = |key: usize, shift: u32, width_mask: u32, field: usize| {
                    let value = rule.values[field] >> shift & width_mask;
                    let mask = rule.masks[field] >> shift & width_mask;
                    writer.ternary(key, value.into(), mask.into())
                };
                let keys = vec![
                    pair(0, 0, u32::MAX, 0),
                    pair(1, 0, u32::MAX, 1),
                    pair(2, 0, 0xff, 3),
                    pair(3, 16, 0xffff, 2),
                    pair(4, 0, 0xffff, 2),
                ];
                writer.insert(keys, (for_updates.len() - at) as i64, &[])
            };
            for_updates.iter().enumerate().map(entry).collect()
        })],
        ring: Box::new(move |sizes| packets(&for_ring, RING_PACKETS, sizes, SEED + 5)),
        check,
        by_hand: Some(ByHand { source: "access_list.c", tables }),
    }
}
