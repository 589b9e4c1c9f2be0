// SPDX-License-Identifier: Apache-2.0
//! Lookups batched over a burst, with prefixes of all lengths, for packets that reach the lookup on several paths or not at
//! all, while packets leave the fast path and tables change within the burst.

use super::sending::{Arriving, Sent, forward_past_failures};
use crate::setup::{compile, on};
use control::target::Batch;
use device::{Device, EngineChoice};
use interpreter::random::{RandomKey, draw_number_between};
use ir::{Bits, KeyPattern, Program, TableId};
use state::{BoundAction, NewEntry, Update};
use std::sync::Arc;

const BURST_PACKETS: usize = 64;
const PACKETS: u64 = 2_000;

fn draw(packet: u64, site: u64, limit: u64) -> u64 {
    let key = RandomKey { seed: 5, device: 0, packet, pass: 0 };
    draw_number_between(key, site, 0, 0, limit - 1)
}

/// An address near others, so that prefixes of all lengths cover some.
fn address(n: u64) -> u32 {
    let n = draw(n, 0, 300) as u32;
    0x0a00_0000 | (n % 3) << 20 | (n % 5) << 9 | (n % 7) << 4 | (n % 11)
}

fn entry(program: &Program, table: &str, n: u64, length_bits: u32, argument: u64) -> NewEntry {
    let at = table_id(program, table).0 as usize;
    let action = program.tables[at].actions[0].action;
    let parameter = program.actions[action.index()].parameters[0].slot;
    let width_bits = program.slots[parameter.index()].ty.width_bits();
    let value = u64::from(address(n) & u32::MAX << (32 - length_bits));
    let key = KeyPattern::Prefix { value: Bits::from_u64(32, value), length_bits };
    let arguments = vec![Bits::from_u64(width_bits, argument)];
    NewEntry::direct(vec![key], 0, BoundAction { action, arguments })
}

fn table_id(program: &Program, table: &str) -> TableId {
    let found = program.tables.iter().position(|own| own.name.ends_with(table));
    TableId(found.expect("the program has the table") as u32)
}

/// Prefixes of 8 to 32 bits, with other results in each round. Existing prefixes are refused.
fn entries(program: &Program, round: u64) -> Vec<Update> {
    let insert = |table: &str, n: u64| {
        let length_bits = 8 + draw(n, 1, 25) as u32;
        let entry = entry(program, table, n, length_bits, 3 + (n + round) % 200);
        Update::InsertEntry { table: table_id(program, table), entry }
    };
    let first = round * 1000;
    (first..first + 40).flat_map(|n| [insert("routes", n), insert("sources", n + 500)]).collect()
}

fn packets() -> Arriving {
    let packet = |n: u64| {
        let mut bytes = vec![0xfe; 12];
        let kind = draw(n, 2, 5);
        if kind == 1 {
            bytes.extend([0x81, 0, 0, 5]);
        }
        bytes.extend(if kind == 2 { [9, 9] } else { [8, 0] });
        bytes.push(if draw(n, 3, 4) == 0 { draw(n, 4, 4) as u8 } else { 0 });
        bytes.extend(address(2 * n).to_be_bytes());
        bytes.extend(address(2 * n + 1).to_be_bytes());
        // Some packets end early.
        if draw(n, 5, 9) == 0 {
            bytes.truncate(draw(n, 6, 26) as usize);
        }
        (0, bytes)
    };
    (0..PACKETS).map(packet).collect()
}

/// Outputs, number of failed packets, and number of digests.
fn seen(program: &Arc<Program>, engine: EngineChoice) -> (Sent, u64, usize) {
    let mut device = Device::new(program.clone(), on(engine)).expect("loads");
    let _ = device.execute(Batch::of(entries(program, 0)));
    let mut failures = 0;
    let sent = forward_past_failures(&mut device, BURST_PACKETS, &packets(), |device| {
        // Later packets use other tables.
        failures += 1;
        let _ = device.execute(Batch::of(entries(program, failures)));
    });
    (sent, failures, device.drain_digests().len())
}

#[test]
fn lookups_made_ahead_are_those_of_each_packet() {
    let program = compile("batched_lookups.p4", include_str!("batched_lookups.p4"), &[]);
    let expected = seen(&program, EngineChoice::Interpreter);
    let ports: std::collections::BTreeSet<u32> =
        expected.0.iter().map(|(_, port, _)| *port).collect();
    assert!(ports.len() > 50 && expected.1 > 20 && expected.2 > 20, "{ports:?}");
    assert_eq!(seen(&program, EngineChoice::Jit), expected);
}
