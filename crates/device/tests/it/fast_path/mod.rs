// SPDX-License-Identifier: Apache-2.0
//! Bursts through programs that the fast path cannot run to the end: deparsers that do not work in place, headers without
//! room, random numbers in egress, and copies. Outputs equal those of the interpreter.

mod batched_lookups;
mod hashes;
mod large_tables;
mod loops;
mod packet_layouts;
mod planned;
mod replicas;
mod sending;

use crate::setup::{compile, on};
use device::{Burst, Device, DeviceOptions, EngineChoice};
use sending::{Arriving, Sent, forward};
use std::sync::Arc;

fn program(defines: &[&str]) -> Arc<ir::Program> {
    compile("program.p4", include_str!("program.p4"), defines)
}

fn packets() -> Arriving {
    let mut packets = Vec::new();
    for op in 0..11u8 {
        for (arg, length) in [(1, 0), (2, 1), (3, 70)] {
            let mut bytes = vec![op, arg, 0xf6, 0xfd, 3];
            bytes.extend(0..length);
            packets.push((4, bytes));
        }
    }
    packets.push((4, vec![1, 2]));
    packets
}

/// Outputs by packet, log lines, statistics.
type Seen = (Sent, Vec<device::LogLine>, device::Statistics);

fn seen(defines: &[&str], engine: EngineChoice, size: usize) -> (Seen, Vec<String>) {
    let options = DeviceOptions { seed: 5, ..on(engine) };
    let mut device = Device::new(program(defines), options).expect("loads");
    let sent = forward(&mut device, size, &packets());
    ((sent, device.drain_log(), device.statistics()), device.notes().to_vec())
}

fn check(defines: &[&str], notes: &[&str]) {
    let (expected, _) = seen(defines, EngineChoice::Interpreter, 1);
    assert_eq!(expected.0.len(), packets().len());
    assert_eq!(expected.1.len(), 6);
    for size in [1, 7] {
        let (seen, found) = seen(defines, EngineChoice::Jit, size);
        assert_eq!(seen, expected, "{defines:?}, bursts of {size}");
        assert_eq!(found, notes);
    }
}

#[test]
fn headers_without_room() {
    // 300 bytes of header do not fit into the room before a packet.
    check(&[], &[]);
}

#[test]
fn a_deparser_that_does_not_work_in_place() {
    check(&["WITH_VARBIT"], &["the deparser does not work in the packet's own memory"]);
}

#[test]
fn random_numbers_in_egress() {
    let note = "egress draws random numbers, so it runs by itself";
    check(&["DRAWS"], &[note]);
    check(&["DRAWS", "WITH_VARBIT"], &[note]);
}

#[test]
fn packets_on_the_fast_path_leave_no_state() {
    let mut device = Device::new(program(&[]), DeviceOptions::default()).expect("loads");
    let code_bytes = device.code_bytes();
    let mut burst = Burst::new(16, 128);
    let mut forward = |op: u8| {
        burst.clear();
        for port in 0..16 {
            burst.push(port, &[op, 2, 0, 0]).expect("it fits");
        }
        device.forward(&mut burst).expect("no assertion fails");
        assert_eq!(burst.outputs().len(), 16);
        device.code_bytes()
    };
    assert_eq!(forward(0), code_bytes);
    assert_eq!(forward(5), code_bytes);
    // The blocks alone are compiled for the first packet that leaves the fast path.
    assert!(forward(1) > code_bytes);
}
