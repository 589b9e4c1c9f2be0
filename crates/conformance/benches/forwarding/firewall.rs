// SPDX-License-Identifier: Apache-2.0
//! The example firewall with its own entries, and packets of a few hundred conversations from both
//! sides, some of them refused.

use super::packets::{Ipv4, Packet, Sizes, TCP, UDP, damaged, ipv4};
use super::random::Random;
use super::workload::{ByHand, RING_PACKETS, Workload, words};

const SEED: u64 = 0x000f_13e5;
const FLOWS: usize = 600;
const INSIDE: u32 = 1;
const OUTSIDE: u32 = 2;

/// A conversation as seen from inside.
fn flow(random: &mut Random) -> Ipv4 {
    Ipv4 {
        source: 0x0a00_0000 | random.below(4096) as u32,
        destination: random.next() as u32,
        protocol: if random.one_in(4) { UDP } else { TCP },
        source_port: 1024 + random.below(60000) as u16,
        destination_port: *random.pick(&[53, 80, 443]),
        tcp_flags: 0,
    }
}

/// A SYN or datagram from inside opens a conversation; then packets go in both directions. One packet in eight
/// comes from outside unasked.
fn packets(count: usize, sizes: Sizes, seed: u64) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let flows: Vec<Ipv4> = (0..FLOWS).map(|_| flow(&mut random)).collect();
    let packet = |number: usize| {
        let mut fields = *random.pick(&flows);
        fields.tcp_flags = 0x10;
        let mut ingress_port = INSIDE;
        if let Some(opening) = flows.get(number) {
            fields = *opening;
            fields.tcp_flags = 0x02;
        } else if !random.one_in(3) {
            if random.one_in(6) {
                fields = flow(&mut random);
                fields.tcp_flags = 0x02;
            }
            ingress_port = OUTSIDE;
            std::mem::swap(&mut fields.source, &mut fields.destination);
            std::mem::swap(&mut fields.source_port, &mut fields.destination_port);
        }
        let length_bytes = sizes.next_bytes(&mut random);
        Packet { ingress_port, bytes: ipv4(fields, &[], length_bytes, &mut random) }
    };
    (0..count).map(packet).collect()
}

pub fn workload() -> Workload {
    let mut check = packets(2000, Sizes::Mix, SEED);
    let right = packets(2000, Sizes::Bytes64, SEED + 1);
    check.extend(damaged(&right[1000..], &mut Random::new(SEED)));
    let commands = include_str!("../../../../examples/stateful_firewall/commands.txt");
    let program = include_str!("../../../../examples/stateful_firewall/stateful_firewall.p4");
    // What the example's commands say.
    let tables = vec![("sides", words([1, 2, 1, 2, 1, 0])), ("allowed", words([0, 2446, 1, 1462]))];
    Workload {
        program_file: "examples/stateful_firewall/stateful_firewall.p4".to_string(),
        program: program.to_string(),
        commands: ("commands.txt".to_string(), commands.to_string()),
        updates: Vec::new(),
        ring: Box::new(|sizes| packets(RING_PACKETS, sizes, SEED + 5)),
        check,
        by_hand: Some(ByHand { source: "firewall.c", tables }),
    }
}
