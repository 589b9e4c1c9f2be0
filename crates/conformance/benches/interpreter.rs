// SPDX-License-Identifier: Apache-2.0
//! How fast the interpreter forwards, beside a router written by hand in the same process:
//!
//!     cargo bench -p conformance --bench interpreter
//!
//! The example router with 1,000 IPv4 routes and 64-byte packets, one core, packets in memory, the whole
//! device: parser, ingress, queue, egress, deparser. Rounds of both alternate; medians are printed.

use device::{Device, DeviceOptions};
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

struct NoFiles;

impl IncludeLoader for NoFiles {
    fn load(&self, _path: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

const ROUTES: u32 = 1000;
const PACKETS: usize = 20_000;
const ROUNDS: usize = 9;

fn main() {
    let mut device = device();
    let packets: Vec<Vec<u8>> = (0..PACKETS).map(|number| packet(number as u32)).collect();
    let by_hand = ByHand::new();
    let mut interpreted = Vec::new();
    let mut written = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut sent = 0;
        for packet in &packets {
            let now_ps = device.now_ps();
            device.inject(1, now_ps + 1000, packet.clone()).expect("time goes on");
            device.run_to_completion().expect("the router asserts nothing");
            sent += device.drain_transmitted().len();
        }
        interpreted.push(PACKETS as f64 / start.elapsed().as_secs_f64());
        assert_eq!(sent, PACKETS, "every packet has a route");
        let start = Instant::now();
        for packet in &packets {
            let mut packet = packet.clone();
            assert!(black_box(by_hand.forward(&mut packet)).is_some());
        }
        written.push(PACKETS as f64 / start.elapsed().as_secs_f64());
    }
    let median = |list: &mut Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    let (interpreted, written) = (median(&mut interpreted), median(&mut written));
    println!("router, {ROUTES} routes, 64-byte packets, one core, median of {ROUNDS} rounds");
    println!("{:<24} {:>14} {:>10}", "", "packets/s", "ratio");
    println!("{:<24} {written:>14.0} {:>10.4}", "written by hand (Rust)", 1.0);
    println!("{:<24} {interpreted:>14.0} {:>10.4}", "interpreter", interpreted / written);
}

fn prefix(number: u32) -> u32 {
    0x0a00_0000 | (number << 8)
}

fn device() -> Device {
    let text = include_str!("../../../examples/router/router.p4").to_string();
    let options = PreprocessorOptions::default();
    let mut compiled = p4::compile::compile("router.p4", text, &NoFiles, &options);
    let typed = compiled.program.as_ref().expect("the example compiles");
    let program = ir::lowering::lower(typed, &mut compiled.diagnostics).expect("it lowers");
    let program = Arc::new(program);
    let mut device = Device::new(program.clone(), DeviceOptions::default()).expect("it loads");
    let mut commands = String::new();
    for number in 0..ROUTES {
        let [a, b, c, d] = prefix(number).to_be_bytes();
        let hop = number % 3 + 1;
        commands
            .push_str(&format!("table_add ipv4_routes set_next_hop {a}.{b}.{c}.{d}/24 => {hop}\n"));
    }
    for hop in 1..=3 {
        commands.push_str(&format!(
            "table_add next_hops forward {hop} => {hop} 02:00:00:00:00:0{hop} 02:00:00:00:01:0{hop}\n"
        ));
    }
    let mut session = control::session::Session::new(program);
    let (commands, errors) = control::entries::read("bench", &commands);
    assert_eq!(errors, []);
    for located in commands {
        let (store, cells) = device.store_and_cells_mut();
        session.apply(&located, store, cells, 0).expect("the entries fit");
    }
    device
}

fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 =
        header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn packet(number: u32) -> Vec<u8> {
    let mut packet = vec![0u8; 64];
    packet[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    packet[6..12].copy_from_slice(&[2, 0, 0, 0, 1, 1]);
    packet[12..14].copy_from_slice(&[8, 0]);
    packet[14] = 0x45;
    packet[16..18].copy_from_slice(&50u16.to_be_bytes());
    packet[22] = 64;
    packet[23] = 17;
    packet[26..30].copy_from_slice(&[10, 0, 1, 10]);
    // A multiplier spreads the packets over the routes.
    let destination = prefix(number.wrapping_mul(2_654_435_761) % ROUTES) | 7;
    packet[30..34].copy_from_slice(&destination.to_be_bytes());
    let sum = checksum(&packet[14..34]);
    packet[24..26].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// The same work, written by hand: one hash table a prefix length.
struct ByHand {
    routes: Vec<(u32, HashMap<u32, u16>)>,
    hops: HashMap<u16, (u16, [u8; 6], [u8; 6])>,
}

impl ByHand {
    fn new() -> ByHand {
        let routes = (0..ROUTES).map(|number| (prefix(number), (number % 3 + 1) as u16)).collect();
        let hop = |number: u16| {
            let last = number as u8;
            (number, (number, [2, 0, 0, 0, 0, last], [2, 0, 0, 0, 1, last]))
        };
        ByHand { routes: vec![(24, routes)], hops: (1..=3).map(hop).collect() }
    }

    fn forward(&self, packet: &mut [u8]) -> Option<u16> {
        if packet.len() < 34 || packet[12..14] != [8, 0] || packet[14] != 0x45 {
            return None;
        }
        if checksum(&packet[14..34]) != 0 || packet[22] <= 1 {
            return None;
        }
        let destination = u32::from_be_bytes(packet[30..34].try_into().ok()?);
        let hop = self.routes.iter().find_map(|(length, routes)| {
            routes.get(&(destination & (u32::MAX << (32 - length))))
        })?;
        let (port, source, target) = self.hops.get(hop)?;
        packet[..6].copy_from_slice(target);
        packet[6..12].copy_from_slice(source);
        packet[22] -= 1;
        packet[24..26].copy_from_slice(&[0, 0]);
        let sum = checksum(&packet[14..34]);
        packet[24..26].copy_from_slice(&sum.to_be_bytes());
        Some(*port)
    }
}
