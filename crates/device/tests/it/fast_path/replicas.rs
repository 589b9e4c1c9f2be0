// SPDX-License-Identifier: Apache-2.0
//! Copies of multicast groups in bursts, with and without queues, in the order of the interpreter.

use super::sending::{Sent, forward};
use crate::setup::{compile, group, write};
use device::{Burst, Device, DeviceOptions, EngineChoice, TrafficManagerOptions};

/// Ports and instances of the groups from 1 on.
const GROUPS: [&[(u32, u32)]; 9] = [
    &[(1, 0), (2, 0), (5, 0)],
    &[(8, 2), (4, 7), (6, 1), (5, 3)],
    &[(2, 1), (2, 2), (1, 1)],
    &[(1, 1), (600, 2)],
    &[],
    &[(511, 1), (0, 2)],
    &[(5, 1)],
    &[(1, 1), (2, 2), (3, 3), (4, 4), (6, 5), (7, 6), (8, 7), (9, 8)],
    &[(2, 0), (1, 7)],
];

/// Outputs by packet, statistics, final values of the counter and the register.
type Seen = (Sent, device::Statistics, Vec<Option<u64>>);

fn seen(engine: EngineChoice, size: usize, options: &DeviceOptions, defines: &[&str]) -> Seen {
    let program = compile("replicas.p4", include_str!("replicas.p4"), defines);
    let options = DeviceOptions { engine, ..options.clone() };
    let mut device = Device::new(program, options).expect("loads");
    write(&device, (1..).zip(GROUPS).map(|(number, replicas)| group(number, replicas)));
    let mut packets = Vec::new();
    for group in 0..=10u8 {
        for (priority, payload) in [(0, 0), (6, 3), (1, 60)] {
            packets.push((5, [&[group, priority][..], &vec![group; payload]].concat()));
        }
    }
    let sent = forward(&mut device, size, &packets);
    let counter = |port| {
        let value = device.cells().counter(ir::CounterId(0), port)?;
        Some(value.packets << 32 | value.bytes)
    };
    let counted = (0..512).map(counter).collect();
    (sent, device.statistics(), counted)
}

fn check(options: &DeviceOptions) {
    // Copies differ, are equal, and are equal except for a field of egress.
    for defines in [&[][..], &["ALIKE"], &["ALIKE", "MARKED"]] {
        let expected = seen(EngineChoice::Interpreter, 1, options, defines);
        assert!(expected.0.len() > 40, "copies leave");
        for size in [1, 5, 64] {
            let found = seen(EngineChoice::Jit, size, options, defines);
            assert_eq!(found, expected, "bursts of {size}, {defines:?}");
        }
    }
}

#[test]
fn copies_that_need_no_queue_and_others() {
    check(&DeviceOptions::default());
}

#[test]
fn copies_that_share_a_buffer() {
    let traffic_manager = TrafficManagerOptions {
        shared_buffer_bytes: Some(300),
        ..TrafficManagerOptions::default()
    };
    check(&DeviceOptions { traffic_manager, ..DeviceOptions::default() });
}

#[test]
fn copies_with_few_passes_and_another_drop_port() {
    check(&DeviceOptions { pass_limit: Some(4), ..DeviceOptions::default() });
    check(&DeviceOptions { drop_port: Some(2), ..DeviceOptions::default() });
}

#[test]
fn copies_alone_compile_no_blocks() {
    let program = compile("replicas.p4", include_str!("replicas.p4"), &[]);
    let mut device = Device::new(program, DeviceOptions::default()).expect("loads");
    write(&device, [group(1, &[(4, 1), (2, 2), (3, 3)]), group(2, &[(1, 1), (1, 2)])]);
    let mut forward = |group: u8| {
        let mut burst = Burst::new(1, 128);
        burst.push(5, &[group, 0]).expect("it fits");
        device.forward(&mut burst).expect("nothing is asserted");
        let ports = burst.outputs().map(|sent| sent.port).collect::<Vec<_>>();
        (ports, device.code_bytes())
    };
    let (ports, straight_bytes) = forward(1);
    assert_eq!(ports, [2, 3, 4]);
    assert_eq!(forward(1).1, straight_bytes);
    // Two copies for one port are in its queue and run through the compiled blocks.
    let (ports, bytes) = forward(2);
    assert_eq!(ports, [1, 1]);
    assert!(bytes > straight_bytes);
}
