// SPDX-License-Identifier: Apache-2.0
//! What forwarding loses while a control thread changes the table that it looks up in:
//!
//!     cargo bench -p conformance --bench updates
//!
//! The router of `benches/p4` with 100,000 routes forwards bursts of 32 packets on compiled code. Rounds
//! with and without a thread that modifies routes alternate; the forwarding thread's own processor time
//! counts, and medians are printed; the ratio is the median of those of neighbouring rounds. Whether a packet
//! sees half a batch is a test elsewhere.

use control::target::{Batch, Target};
use device::{Burst, Device, DeviceOptions};
use ir::ready::ReadyProgram;
use ir::{Bits, KeyPattern, Program, TableId};
use rustix::time::{ClockId, clock_gettime};
use state::{BoundAction, NewEntry, Update};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ROUTES: u32 = 100_000;
const BURST: usize = 32;
const BURSTS_A_ROUND: usize = 20_000;
const ROUNDS: usize = 61;
/// What the control thread aims at.
const UPDATES_PER_SECOND: u64 = 100_000;

fn main() {
    println!("router, {ROUTES} routes, 64-byte packets, bursts of {BURST}, compiled code");
    println!(
        "{:>10} {:>16} {:>16} {:>16} {:>10}",
        "batch", "updates/s", "alone, pkt/s", "with, pkt/s", "ratio"
    );
    for updates_a_batch in [1, 10, 100] {
        row(updates_a_batch);
    }
}

fn row(updates_a_batch: usize) {
    let (mut device, program) = router();
    let target = device.target();
    let mut ring: Vec<Burst> = (0..64).map(burst).collect();
    let (mut alone, mut with, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    forward(&mut device, &mut ring);
    for _ in 0..ROUNDS {
        alone.push(forward(&mut device, &mut ring));
        let is_over = AtomicBool::new(false);
        let updates = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let (is_over, updates, program) = (&is_over, &updates, &program);
            let mut target = target.clone();
            scope.spawn(move || {
                let start = Instant::now();
                let mut number = 0u32;
                while !is_over.load(Ordering::Relaxed) {
                    let items = (0..updates_a_batch as u32).map(|at| {
                        let route = number.wrapping_add(at).wrapping_mul(7919) % ROUTES;
                        Update::ModifyEntry {
                            table: TableId(0),
                            entry: route_entry(program, route, number / ROUTES + 1),
                        }
                    });
                    let batch = Batch::of(items).made_for(program.clone());
                    assert!(target.execute(batch).is_ok());
                    number = number.wrapping_add(updates_a_batch as u32);
                    let done = updates.fetch_add(updates_a_batch as u64, Ordering::Relaxed);
                    let due = Duration::from_nanos(done * 1_000_000_000 / UPDATES_PER_SECOND);
                    while start.elapsed() < due && !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                }
            });
            let start = Instant::now();
            with.push(forward(&mut device, &mut ring));
            let elapsed = start.elapsed().as_secs_f64();
            rates.push(updates.load(Ordering::Relaxed) as f64 / elapsed);
            is_over.store(true, Ordering::Relaxed);
        });
    }
    let ratio = median(with.iter().zip(&alone).map(|(with, alone)| with / alone).collect());
    let (alone, with, rate) = (median(alone), median(with), median(rates));
    println!("{updates_a_batch:>10} {rate:>16.0} {alone:>16.0} {with:>16.0} {ratio:>10.3}");
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

/// The processor time of this thread.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Packets a second of this thread's time.
fn forward(device: &mut Device, ring: &mut [Burst]) -> f64 {
    let start = thread_seconds();
    let mut sent = 0;
    for at in 0..BURSTS_A_ROUND {
        let burst = &mut ring[at % 64];
        burst.rewind();
        for packet in 0..BURST {
            burst.set_first_bytes(packet, &bytes((at % 64 * BURST + packet) as u32)[..34]);
        }
        device.forward(burst).expect("the router asserts nothing");
        sent += burst.outputs().len();
    }
    assert_eq!(sent, BURSTS_A_ROUND * BURST, "every packet has a route");
    (BURSTS_A_ROUND * BURST) as f64 / (thread_seconds() - start)
}

fn prefix(route: u32) -> u32 {
    0x0a00_0000 + (route << 8)
}

fn route_entry(program: &Program, route: u32, round: u32) -> NewEntry {
    let key =
        KeyPattern::Prefix { value: Bits::from_u64(32, u64::from(prefix(route))), length_bits: 24 };
    let hop = Bits::from_u64(16, u64::from((route + round) % 200));
    let action = program.tables[0].actions[0].action;
    NewEntry::direct(vec![key], 0, BoundAction { action, arguments: vec![hop] })
}

fn router() -> (Device, Arc<Program>) {
    let text = include_str!("../../../benches/p4/router.p4").to_string();
    let ready = ReadyProgram::of_text("router.p4", text).expect("the program compiles");
    let program = ready.program().clone();
    let device = Device::new(program.clone(), DeviceOptions::default()).expect("it loads");
    let routes = (0..ROUTES).map(|route| Update::InsertEntry {
        table: TableId(0),
        entry: route_entry(&program, route, 0),
    });
    let hops = (0..200u64).map(|hop| {
        let forward = program.tables[1].actions[0].action;
        let arguments = [(9, hop % 8), (48, 0x0200_0000_0000 + hop), (48, 0x0200_0001_0000 + hop)];
        let arguments = arguments.map(|(width_bits, value)| Bits::from_u64(width_bits, value));
        Update::InsertEntry {
            table: TableId(1),
            entry: NewEntry::direct(
                vec![KeyPattern::Exact(Bits::from_u64(16, hop))],
                0,
                BoundAction { action: forward, arguments: arguments.to_vec() },
            ),
        }
    });
    let outcome = device.execute(Batch::of(routes.chain(hops)));
    assert!(outcome.is_ok());
    (device, program)
}

fn burst(number: u32) -> Burst {
    let mut burst = Burst::new(BURST, 64);
    for packet in 0..BURST as u32 {
        burst.push(1, &bytes(number * BURST as u32 + packet)).expect("it fits");
    }
    burst
}

/// An IPv4 packet of 64 bytes to some route.
fn bytes(number: u32) -> [u8; 64] {
    let mut packet = [0; 64];
    packet[12..14].copy_from_slice(&[8, 0]);
    packet[14] = 0x45;
    packet[16..18].copy_from_slice(&50u16.to_be_bytes());
    packet[22] = 64;
    packet[23] = 17;
    packet[26..30].copy_from_slice(&[10, 0, 1, 10]);
    let destination = prefix(number.wrapping_mul(2_654_435_761) % ROUTES) | 7;
    packet[30..34].copy_from_slice(&destination.to_be_bytes());
    let mut sum: u32 =
        packet[14..34].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[24..26].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    packet
}
