// SPDX-License-Identifier: Apache-2.0
//! Packets per second through a loopback port with 1,000 packets in flight, on compiled code and on the interpreter:
//! `cargo bench -p device --bench recirculation`.

use device::{
    Device, DeviceOptions, EngineChoice, PortOptions, TimestampUnit, TrafficManagerOptions,
};
use ir::ready::ReadyProgram;
use std::sync::Arc;
use std::time::Instant;

const IN_FLIGHT: u64 = 1_000;
const ROUND: u32 = 68;

fn program() -> Arc<ir::Program> {
    let ready = ReadyProgram::of_text("program.p4", include_str!("program.p4"));
    ready.expect("the program compiles").lowered().clone()
}

fn device(engine: EngineChoice, round: &PortOptions) -> Device {
    let round = PortOptions { loopback: true, ..round.clone() };
    let ports = [(ROUND, round)].into_iter().collect();
    let options = DeviceOptions {
        engine,
        traffic_manager: TrafficManagerOptions { ports, ..TrafficManagerOptions::default() },
        timestamp_unit: TimestampUnit::Nanoseconds,
        ingress_interval_ps: 1_000,
        pass_limit: None,
        ..DeviceOptions::default()
    };
    let mut device = Device::new(program(), options).expect("the program loads");
    for number in 0..IN_FLIGHT {
        let mut bytes = vec![0; 64];
        bytes[14..18].copy_from_slice(&(number as u32).to_be_bytes());
        device.inject(1, number * 1_000, bytes).expect("it is not in the past");
    }
    device
}

/// Rounds a second of real time, best of some tries.
fn measure(engine: EngineChoice, round: &PortOptions, rounds: u64) -> f64 {
    let mut device = device(engine, round);
    // A round of everybody takes a microsecond of the device's time at least.
    device.advance(10_000_000).expect("nothing fails");
    let mut best = 0f64;
    for _ in 0..5 {
        let before = device.statistics().ports[&ROUND].received_packets;
        let began = Instant::now();
        let mut done = 0;
        while done < rounds {
            device.advance(device.now_ps() + 10_000_000).expect("nothing fails");
            done = device.statistics().ports[&ROUND].received_packets - before;
        }
        best = best.max(done as f64 / began.elapsed().as_secs_f64());
    }
    best
}

fn main() {
    let ports = [
        ("latency 1 us", PortOptions { latency_ps: 1_000_000, ..PortOptions::default() }),
        (
            "latency 1 us, 1 Tb/s",
            PortOptions {
                latency_ps: 1_000_000,
                rate_bps: Some(1_000_000_000_000),
                queue_depth_packets: 2_000,
                ..PortOptions::default()
            },
        ),
        (
            "latency 1 us, 100 Gb/s (packets wait)",
            PortOptions {
                latency_ps: 1_000_000,
                rate_bps: Some(100_000_000_000),
                queue_depth_packets: 2_000,
                ..PortOptions::default()
            },
        ),
    ];
    println!(
        "{IN_FLIGHT} packets of 64 bytes go round by a loopback port; million rounds a second"
    );
    println!("{:<40} {:>8} {:>12} {:>8}", "port", "jit", "interpreter", "ratio");
    for (name, round) in &ports {
        let compiled = measure(EngineChoice::Jit, round, 300_000);
        let interpreted = measure(EngineChoice::Interpreter, round, 30_000);
        let (jit, interpreter) = (compiled / 1e6, interpreted / 1e6);
        println!("{name:<40} {jit:>8.2} {interpreter:>12.3} {:>8.1}", compiled / interpreted);
    }
}
