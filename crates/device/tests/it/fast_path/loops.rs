// SPDX-License-Identifier: Apache-2.0
//! Parser loops with more iterations than the unroll limit, in programs below and above the size limit of specialization
//! by packet layout. Facts about headers at the loop head hold in each iteration.

use super::sending::{Arriving, Sent, forward};
use crate::setup::{compile, group, on, session, write};
use device::{Device, EngineChoice, Statistics};
use interpreter::random::{RandomKey, draw_number_between};

/// Parts of many kinds, of which the last has kind 0, at times followed by others.
fn packets() -> Arriving {
    let packet = |n: u64| {
        let key = RandomKey { seed: 8, device: 0, packet: n, pass: 0 };
        let mut site = 0;
        let mut draw = |limit: u64| {
            site += 1;
            draw_number_between(key, site, 0, 0, limit - 1) as u8
        };
        let mut bytes = vec![1, 2, 3, 4];
        for turn in 1..=draw(if n.is_multiple_of(3) { 60 } else { 6 }) {
            let kind = 1 + draw(12);
            bytes.push(kind << 4 | draw(16));
            let more = match kind {
                1 | 2 => 4,
                3 => 1,
                8 if (18..=25).contains(&turn) => 1,
                _ => 0,
            };
            (0..more).for_each(|_| bytes.push(draw(255)));
        }
        bytes.push(draw(16));
        (0..draw(5)).for_each(|_| bytes.push(draw(255)));
        bytes.truncate(128);
        // Some packets end early.
        if draw(9) == 0 {
            bytes.truncate(usize::from(draw(1 + bytes.len() as u64)));
        }
        (u32::from(draw(2)), bytes)
    };
    (0..3_000).map(packet).collect()
}

fn seen(engine: EngineChoice, size: usize, defines: &[&str]) -> (Sent, Statistics) {
    let program = compile("loops.p4", include_str!("loops.p4"), defines);
    let instructions = program.regions.iter().flat_map(|region| &region.blocks);
    let count: usize = instructions.map(|block| block.instructions.len()).sum();
    assert_eq!(count > 3_500, !defines.is_empty(), "{count} instructions");
    let mut device = Device::new(program, on(engine)).expect("loads");
    write(&device, [group(1, &[(6, 1)]), session(7, &[(6, 1)])]);
    let sent = forward(&mut device, size, &packets());
    assert_eq!(device.notes(), [""; 0]);
    (sent, device.statistics())
}

#[test]
fn what_loops_extract_stays_in_the_packet() {
    for defines in [&[][..], &["LARGE"]] {
        let expected = seen(EngineChoice::Interpreter, 1, defines);
        let ports: std::collections::BTreeSet<u32> = expected.0.iter().map(|it| it.1).collect();
        assert_eq!(ports.into_iter().collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        for size in [1, 32] {
            let found = seen(EngineChoice::Jit, size, defines);
            assert_eq!(found, expected, "bursts of {size}, {defines:?}");
        }
    }
}
