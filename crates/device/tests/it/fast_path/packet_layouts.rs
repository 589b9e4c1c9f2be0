// SPDX-License-Identifier: Apache-2.0
//! Packets of many layouts in bursts. Code that is specialized for a layout gives the same outputs as the interpreter.

use super::sending::{Arriving, Sent, forward};
use crate::setup::{compile, on};
use arithmetic::random::SplitMix64;
use device::{Device, EngineChoice, Statistics};

fn packets() -> Arriving {
    let mut numbers = SplitMix64::new(1);
    let mut packets = Vec::new();
    for number in 0..1500 {
        let mut next = |below: u64| (numbers.next_number() % below) as u8;
        let high = [4, 4, 4, 5, 5, 2, 9, 0][usize::from(next(8))];
        let mut bytes = vec![high << 4 | next(9), next(5), 0, 0];
        let length = next(30);
        for _ in 0..length {
            bytes.push(match next(4) {
                0 => 0x80 | next(3),
                1 => next(5),
                2 => next(2) * 0xff,
                _ => next(255),
            });
        }
        if number % 3 == 0 && bytes.len() >= 12 {
            // Correct for a tail directly after the kind.
            let summed = [0, 1, 4, 11, 5, 6, 7, 8, 9, 10].map(|at| u32::from(bytes[at]));
            let sum: u32 = summed.chunks(2).map(|pair| pair[0] << 8 | pair[1]).sum();
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        packets.push((1, bytes));
    }
    packets
}

fn seen(engine: EngineChoice, size: usize) -> (Sent, Statistics) {
    let program = compile("packet_layouts.p4", include_str!("packet_layouts.p4"), &[]);
    let mut device = Device::new(program, on(engine)).expect("loads");
    let sent = forward(&mut device, size, &packets());
    assert_eq!(device.notes(), [""; 0]);
    (sent, device.statistics())
}

#[test]
fn layouts_do_not_mix() {
    let expected = seen(EngineChoice::Interpreter, 1);
    let ports: std::collections::BTreeSet<u32> = expected.0.iter().map(|sent| sent.1).collect();
    // All actions and all kinds of errors occurred.
    assert_eq!(ports.into_iter().collect::<Vec<_>>(), [2, 3, 6, 7, 8]);
    for size in [1, 9] {
        assert_eq!(seen(EngineChoice::Jit, size), expected, "bursts of {size}");
    }
}
