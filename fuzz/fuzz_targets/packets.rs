// SPDX-License-Identifier: Apache-2.0
//! The packet path: bytes as packets through the examples' programs. The first byte chooses the program
//! and the port, two more the length of the next packet.
#![no_main]

use device::{Device, DeviceOptions};
use libfuzzer_sys::fuzz_target;
use ir::ready::ReadyProgram;
use std::sync::{Arc, LazyLock};

const SOURCES: &[(&str, &str)] = &[
    (include_str!("../../examples/router/router.p4"), include_str!("../../examples/router/commands.txt")),
    (include_str!("../../examples/telemetry/telemetry.p4"), include_str!("../../examples/telemetry/s1-runtime.json")),
    (include_str!("../../examples/source_routing/source_routing.p4"), ""),
    (include_str!("../../examples/calculator/calculator.p4"), ""),
    (include_str!("../../examples/stateful_firewall/stateful_firewall.p4"), include_str!("../../examples/stateful_firewall/commands.txt")),
    (include_str!("../../examples/learning_switch/learning_switch.p4"), include_str!("../../examples/learning_switch/commands.txt")),
];

static PROGRAMS: LazyLock<Vec<(Arc<ir::Program>, &'static str)>> = LazyLock::new(|| {
    let compile = |(text, entries): &(&'static str, &'static str)| {
        let ready = ReadyProgram::of_text("example.p4", *text).expect("the example compiles");
        (ready.lowered().clone(), *entries)
    };
    SOURCES.iter().map(compile).collect()
});

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, mut rest)) = bytes.split_first() else { return };
    let (program, entries) = &PROGRAMS[*choice as usize % PROGRAMS.len()];
    let mut device =
        Device::new(program.clone(), DeviceOptions::default()).expect("the example loads");
    let mut session = control::session::Session::new(program.clone());
    session.run("entries", entries, &mut device.target()).expect("the example's entries fit");
    while let [port, high, low, after @ ..] = rest {
        let length = (usize::from(*high) << 8 | usize::from(*low)) % 2048;
        let (packet, after) = after.split_at(length.min(after.len()));
        rest = after;
        let now_ps = device.now_ps();
        device.inject(u32::from(*port), now_ps + 1000, packet.to_vec()).expect("time goes on");
        device.run_to_completion().expect("the examples assert nothing");
    }
    device.drain_transmitted();
});
