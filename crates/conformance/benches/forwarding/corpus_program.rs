// SPDX-License-Identifier: Apache-2.0
//! A program given by path, with the entries it brings itself: how long it compiles and how fast it
//! runs plain IPv4 packets. There is no version in C.

use super::packets::{Ipv4, Packet, Sizes, TCP, ipv4};
use super::random::Random;
use super::workload::Workload;
use std::path::Path;

const SEED: u64 = 0x00c0_4b05;
/// Such a program may be slow.
const PACKETS: usize = 1024;

fn packets(count: usize, sizes: Sizes, seed: u64) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let packet = |_| {
        let fields = Ipv4 {
            source: random.next() as u32,
            destination: random.next() as u32,
            protocol: TCP,
            source_port: random.next() as u16,
            destination_port: 443,
            tcp_flags: 0x10,
        };
        let length_bytes = sizes.next_bytes(&mut random);
        Packet { ingress_port: 1, bytes: ipv4(fields, &[], length_bytes, &mut random) }
    };
    (0..count).map(packet).collect()
}

pub fn workload(path: &Path) -> Workload {
    let program = std::fs::read_to_string(path).unwrap_or_else(|error| {
        eprintln!("cannot read {}: {error}", path.display());
        std::process::exit(2);
    });
    Workload {
        program_file: path.display().to_string(),
        program,
        commands: ("none.txt".to_string(), String::new()),
        updates: Vec::new(),
        ring: Box::new(|sizes| packets(PACKETS, sizes, SEED + 5)),
        check: packets(256, Sizes::Mix, SEED),
        by_hand: None,
    }
}
