// SPDX-License-Identifier: Apache-2.0
//! CRCs of few bytes, which compiled code computes in pairs and caches.

use super::sending::{Arriving, Sent, forward};
use crate::setup::{compile, on};
use device::{Device, EngineChoice};
use interpreter::random::{RandomKey, draw_number_between};

fn packets() -> Arriving {
    let packet = |n: u64| {
        let key = RandomKey { seed: 4, device: 0, packet: n, pass: 0 };
        let draw = |site: u64, limit: u64| draw_number_between(key, site, 0, 0, limit - 1) as u8;
        let (high, low) = (3 * draw(2, 2), 2 + draw(3, 5));
        let mut bytes = vec![draw(1, 12), high << 4 | low];
        let length = if draw(4, 8) == 0 { draw(5, 20) } else { 19 };
        bytes.extend((0..length).map(|at| draw(6 + u64::from(at), 256)));
        (1, bytes)
    };
    (0..1_500).map(packet).collect()
}

fn seen(engine: EngineChoice, size: usize) -> Sent {
    let program = compile("hashes.p4", include_str!("hashes.p4"), &[]);
    let mut device = Device::new(program, on(engine)).expect("loads");
    forward(&mut device, size, &packets())
}

#[test]
fn hashes_of_few_bytes() {
    let expected = seen(EngineChoice::Interpreter, 1);
    let different: std::collections::BTreeSet<&[u8]> =
        expected.iter().map(|(_, _, bytes)| &bytes[bytes.len() - 48..]).collect();
    assert!(different.len() > 1_000, "{} results", different.len());
    for size in [1, 9] {
        assert_eq!(seen(EngineChoice::Jit, size), expected, "bursts of {size}");
    }
}
