// SPDX-License-Identifier: Apache-2.0
//! The example of in-band telemetry with its own entries. Half of the timed packets carry the option
//! with up to two reports, so that what both sides restore, 64 bytes, holds all headers.

use super::packets::{Ipv4, Packet, Sizes, TCP, UDP, damaged, ipv4};
use super::random::Random;
use super::workload::{ByHand, RING_PACKETS, Workload, words};

const SEED: u64 = 0x007e_1e3e;

/// An IPv4 option with so many reports.
fn option(reports: u64, random: &mut Random) -> Vec<u8> {
    let mut option = vec![31, 4 + 8 * reports as u8, 0, reports as u8];
    for _ in 0..reports {
        option.extend(random.below(64).to_be_bytes()[4..].iter());
        option.extend(random.below(64).to_be_bytes()[4..].iter());
    }
    option
}

fn packets(count: usize, sizes: Sizes, seed: u64, most_reports: u64) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let packet = |_| {
        let fields = Ipv4 {
            source: 0x0a00_0100 | random.below(256) as u32,
            destination: (0x0a00_0100 + 0x100 * random.below(2) as u32) | random.below(256) as u32,
            protocol: if random.one_in(4) { UDP } else { TCP },
            source_port: random.next() as u16,
            destination_port: 443,
            tcp_flags: 0x10,
        };
        let reports = random.below(most_reports + 1);
        let options = if random.one_in(2) { option(reports, &mut random) } else { Vec::new() };
        let length_bytes = sizes.next_bytes(&mut random).max(34 + options.len());
        let ingress_port = 1 + random.below(2) as u32;
        Packet { ingress_port, bytes: ipv4(fields, &options, length_bytes, &mut random) }
    };
    (0..count).map(packet).collect()
}

pub fn workload() -> Workload {
    let mut check = packets(1000, Sizes::Mix, SEED, 4);
    let right = packets(1000, Sizes::Bytes64, SEED + 1, 4);
    let mut random = Random::new(SEED);
    check.extend(damaged(&right, &mut random));
    // Options whose fields do not agree, and cut ones.
    for mut packet in packets(600, Sizes::Bytes64, SEED + 2, 4) {
        if packet.bytes[14] & 15 > 5 {
            if random.one_in(4) {
                packet.bytes.truncate(34 + random.below(16) as usize);
            } else {
                packet.bytes[34 + random.below(4) as usize] = random.below(40) as u8;
            }
            check.push(packet);
        }
    }
    let commands = include_str!("../../../../examples/telemetry/s1-runtime.json");
    let program = include_str!("../../../../examples/telemetry/telemetry.p4");
    // What the example's entries say.
    let mut hops = Vec::new();
    for port in 1..=2u8 {
        hops.extend([2, 0, 0, 0, 1, port, 2, 0, 0, 0, 0, port]);
        hops.extend(u32::from(port).to_ne_bytes());
    }
    let routes = words([0x0a00_0100, 24, 0, 0x0a00_0200, 24, 1]);
    let tables = vec![("routes", routes), ("hops", hops), ("switch", words([1]))];
    Workload {
        program_file: "examples/telemetry/telemetry.p4".to_string(),
        program: program.to_string(),
        commands: ("s1-runtime.json".to_string(), commands.to_string()),
        updates: Vec::new(),
        ring: Box::new(|sizes| packets(RING_PACKETS, sizes, SEED + 5, 2)),
        check,
        by_hand: Some(ByHand { source: "telemetry.c", tables }),
    }
}
