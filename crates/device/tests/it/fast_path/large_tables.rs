// SPDX-License-Identifier: Apache-2.0
//! Bursts through tables larger than the L2 cache, which compiled code prefetches: with packets that reach the lookups,
//! that do not, and that end before the key fields.

use super::sending::{Arriving, Sent, forward};
use crate::setup::{compile, on, write};
use device::{Device, EngineChoice};
use interpreter::random::{RandomKey, draw_number_between};
use ir::{Bits, KeyPattern, Program, TableId};
use state::{BoundAction, NewEntry, Update};
use std::sync::Arc;

/// Entries of each table.
const ENTRIES: u64 = 12_000;

/// The `n`th pseudo-random number of a kind.
fn mixed(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ n << 7
}

fn address(n: u64) -> u64 {
    mixed(n) >> 16
}

fn flow(n: u64) -> u64 {
    mixed(n + 1_000_000)
}

fn route(n: u64) -> u64 {
    mixed(n) >> 40 << 8
}

fn entries(program: &Program) -> Vec<Update> {
    let exact = |width_bits, number| KeyPattern::Exact(Bits::from_u64(width_bits, number));
    let entry = |table: &str, keys: Vec<KeyPattern>, argument: (u32, u64)| {
        let found = program.tables.iter().position(|own| own.name.ends_with(table));
        let at = found.expect("the program has the table");
        let action = program.tables[at].actions[0].action;
        let arguments = vec![Bits::from_u64(argument.0, argument.1)];
        let has_priority = keys.iter().any(|key| matches!(key, KeyPattern::Ternary { .. }));
        let bound = BoundAction { action, arguments };
        let entry = NewEntry::direct(keys, i64::from(has_priority), bound);
        Update::InsertEntry { table: TableId(at as u32), entry }
    };
    let prefix = |n| KeyPattern::Prefix { value: Bits::from_u64(32, route(n)), length_bits: 24 };
    let masked = |n| KeyPattern::Ternary {
        value: Bits::from_u64(64, flow(n) & !0xff),
        mask: Bits::from_u64(64, !0xff),
    };
    (0..ENTRIES)
        .flat_map(|n| {
            [
                entry("sources", vec![exact(48, address(n)), exact(9, n % 3)], (16, n & 0xff0)),
                entry("flows", vec![exact(64, flow(n))], (16, n & 0xf00)),
                entry("routes", vec![prefix(n)], (32, n)),
                entry("rules", vec![KeyPattern::Any, masked(n)], (16, n << 12 & 0xf000)),
                entry("hops", vec![exact(32, n)], (9, n % 7)),
            ]
        })
        .collect()
}

fn packets() -> Arriving {
    let mut packets = Vec::new();
    for n in 0..4_000u64 {
        let key = RandomKey { seed: 3, device: 0, packet: n, pass: 0 };
        let random = |site, limit| draw_number_between(key, site, 0, 0, limit - 1);
        // One in eight is not in the tables.
        let entry = random(1, ENTRIES * 8 / 7);
        let mut bytes = vec![0xfe; 6];
        bytes.extend(&address(entry).to_be_bytes()[2..]);
        let kind = random(2, 4);
        if kind == 1 {
            bytes.extend([0x81, 0, 0, 5]);
        }
        bytes.extend(if kind == 2 { [9, 9] } else { [8, 0] });
        bytes.extend(((route(entry) | 0x5a) as u32 ^ 0x0100_0000).to_be_bytes());
        bytes.extend(((route(entry) | 0x5a) as u32).to_be_bytes());
        bytes.extend(flow(entry).to_be_bytes());
        // Some packets end early.
        if random(3, 9) == 0 {
            bytes.truncate(random(4, 40) as usize);
        }
        packets.push(((entry % 3) as u32, bytes));
    }
    packets
}

fn seen(program: &Arc<Program>, engine: EngineChoice) -> (Sent, device::Statistics) {
    let mut device = Device::new(program.clone(), on(engine)).expect("loads");
    write(&device, entries(program));
    (forward(&mut device, 64, &packets()), device.statistics())
}

#[test]
fn large_tables_are_fetched_ahead_for() {
    let program = compile("large_tables.p4", include_str!("large_tables.p4"), &[]);
    let expected = seen(&program, EngineChoice::Interpreter);
    let ports: std::collections::BTreeSet<u32> =
        expected.0.iter().map(|(_, port, _)| *port).collect();
    assert_eq!(ports, (0..7).collect(), "entries of all tables are hit");
    assert_eq!(seen(&program, EngineChoice::Jit), expected);
}
