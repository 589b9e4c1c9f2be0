// SPDX-License-Identifier: Apache-2.0
//! Runs packets of `program.p4` through a device on both engines and writes the outputs as lines of text.

use crate::setup::{ENGINES, compile};
use device::{Device, DeviceOptions, PortOptions, TrafficManagerOptions};
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

/// The loopback port of these tests.
pub const ROUND: u32 = 68;

pub fn program() -> Arc<ir::Program> {
    static PROGRAM: OnceLock<Arc<ir::Program>> = OnceLock::new();
    PROGRAM.get_or_init(|| compile("program.p4", include_str!("program.p4"), &[])).clone()
}

/// A packet with a number of loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    pub rounds: u8,
    pub queue: u8,
    pub group: u8,
    /// Length of the packet in bytes, at least [`Round::HEADER_BYTES`].
    pub length_bytes: usize,
}

impl Round {
    pub const HEADER_BYTES: usize = 36;

    pub fn bytes(self) -> Vec<u8> {
        let mut bytes = vec![self.rounds, ROUND as u8, self.queue, self.group];
        bytes.resize(self.length_bytes.max(Round::HEADER_BYTES), 0);
        bytes
    }
}

/// Options with one loopback port and no default latencies.
pub fn with_round_port(port: PortOptions) -> DeviceOptions {
    let ports = [(ROUND, PortOptions { loopback: true, ..port })].into_iter().collect();
    let traffic_manager = TrafficManagerOptions { ports, ..TrafficManagerOptions::default() };
    DeviceOptions { traffic_manager, ..DeviceOptions::default() }
}

/// 100 Gb/s: a byte takes 80 ps.
pub fn fast() -> PortOptions {
    PortOptions { rate_bps: Some(100_000_000_000), ..PortOptions::default() }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Outputs, one line per packet.
pub fn sent(device: &mut Device) -> String {
    let mut lines = String::new();
    for packet in device.drain_transmitted() {
        let field = |from: usize, to: usize| number(&packet.bytes[from..to]);
        let _ = writeln!(
            lines,
            "{} #{} port {}: from {} rid {} in {} out {} enqueued {} waited {} depth {}/{}",
            packet.time_ps,
            packet.packet,
            packet.port,
            field(4, 6),
            field(6, 8),
            field(8, 14),
            field(14, 20),
            field(20, 24),
            field(24, 28),
            field(28, 30),
            field(30, 32),
        );
    }
    lines
}

/// Runs a scenario on both engines and compares its lines.
pub fn check(options: &DeviceOptions, scenario: impl Fn(&mut Device) -> String, expected: &str) {
    let mut seen = Vec::new();
    for engine in ENGINES {
        let options = DeviceOptions { engine, ..options.clone() };
        let mut device = Device::new(program(), options).expect("the program loads");
        let lines = scenario(&mut device);
        let trimmed = |text: &str| {
            text.lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(trimmed(&lines), trimmed(expected), "on {engine:?}");
        seen.push((device.statistics(), device.drain_transmitted()));
    }
    assert_eq!(seen[0], seen[1]);
}
