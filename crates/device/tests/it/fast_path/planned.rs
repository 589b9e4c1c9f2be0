// SPDX-License-Identifier: Apache-2.0
//! Planned departures: packets, counters and queues are those of a device whose packets wait.

use crate::setup::{compile, group, on, session, write};
use device::{
    Device, DeviceOptions, EngineChoice, OutputPath, Outputs, PortOptions, TrafficManagerOptions,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Time after the one before, ingress port, first bytes, length.
type Step = (u64, u32, [u8; 5], usize);

const PORTS: u32 = 4;

fn options(engine: EngineChoice, plans_departures: bool, in_bytes: bool) -> DeviceOptions {
    let slow = PortOptions {
        rate_bps: Some(1_000_000_000),
        latency_ps: 500,
        queue_depth_packets: if in_bytes { u32::MAX } else { 5 },
        queue_depth_bytes: in_bytes.then_some(500),
        overhead_bytes: 4,
        ..PortOptions::default()
    };
    let slower = PortOptions { rate_bps: Some(300_000_000), ..slow.clone() };
    let limited = PortOptions { queue_rate_pps: 1_000_000, ..slow.clone() };
    let traffic_manager = TrafficManagerOptions {
        ports: BTreeMap::from([(1, slow), (2, slower), (3, limited)]),
        ..TrafficManagerOptions::default()
    };
    DeviceOptions { traffic_manager, plans_departures, ..on(engine) }
}

/// By port: times, bytes and numbers of packets; then counters and queues at the end and at one time before.
fn run(defines: &[&str], options: DeviceOptions, receives: bool, steps: &[Step]) -> Vec<String> {
    let program = compile("planned.p4", include_str!("planned.p4"), defines);
    let mut device = Device::new(program, options).expect("loads");
    write(&device, [group(1, &[(1, 1), (2, 2), (0, 3)]), session(1, &[(2, 4)])]);
    let mut outputs = Outputs::default();
    let mut seen = Vec::new();
    let mut now_ps = 0;
    for (at, (after_ps, port, first, length)) in steps.iter().enumerate() {
        now_ps += after_ps;
        let mut bytes = first.to_vec();
        bytes.resize(*length, 0);
        match receives {
            true => {
                // The zeros at the end of the packet are not stored.
                bytes.truncate(first.len());
                let absent_bytes = (length - first.len()) as u32;
                let received = device.receive(*port, now_ps, bytes, absent_bytes, &mut outputs);
                received.expect("runs");
            }
            false => {
                device.inject(*port, now_ps, bytes).expect("runs");
                if steps.get(at + 1).is_none_or(|next| next.0 > 0) || at == steps.len() / 2 {
                    device.advance_into(now_ps, &mut outputs).expect("runs");
                }
            }
        }
        if at == steps.len() / 2 {
            device.advance_into(now_ps + 300, &mut outputs).expect("runs");
            now_ps += 300;
            seen.push(format!("{:?}", device.statistics()));
            seen.extend(
                (0..PORTS).map(|port| {
                    format!("{:?}", device.queue_statistics(OutputPath::Port(port), 0))
                }),
            );
        }
    }
    device.advance_into(u64::MAX / 2, &mut outputs).expect("runs");
    let mut by_port: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for packet in &outputs.transmitted {
        let mut bytes = packet.bytes.clone();
        bytes.resize(bytes.len() + packet.absent_bytes as usize, 0);
        let text = format!("{} {} {bytes:?}", packet.time_ps, packet.packet);
        by_port.entry(packet.port).or_default().push(text);
    }
    seen.push(format!("{by_port:#?}"));
    seen.push(format!("{:?}", device.statistics()));
    seen.extend(
        (0..PORTS).map(|port| format!("{:?}", device.queue_statistics(OutputPath::Port(port), 0))),
    );
    seen
}

fn check(defines: &[&str], in_bytes: bool, steps: &[Step]) {
    let planned = run(defines, options(EngineChoice::Jit, true, in_bytes), true, steps);
    let waiting = run(defines, options(EngineChoice::Jit, false, in_bytes), true, steps);
    let interpreted =
        run(defines, options(EngineChoice::Interpreter, false, in_bytes), false, steps);
    for ((planned, waiting), interpreted) in planned.iter().zip(&waiting).zip(&interpreted) {
        assert_eq!(waiting, interpreted, "{defines:?}");
        assert_eq!(planned, waiting, "{defines:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(24)))]
    #[test]
    fn results_are_those_of_packets_that_wait(
        variant in 0..6_usize,
        in_bytes: bool,
        steps in prop::collection::vec(
            (
                prop_oneof![Just(0), 0..2_000_u64, 0..3_000_000_u64],
                0..PORTS,
                (prop_oneof![5 => Just(0_u8), 5 => 0..6_u8], 0..PORTS as u8, any::<u8>()),
                5..200_usize,
            ),
            1..120,
        )
    ) {
        // Ports of packets that arrive at one time do not decrease.
        let mut last = 0;
        let steps: Vec<Step> = steps
            .into_iter()
            .map(|(after_ps, port, (kind, to, mark), length)| {
                let port = if after_ps == 0 { port.max(last) } else { port };
                last = port;
                (after_ps, port, [kind, to, 0, 0, mark], length)
            })
            .collect();
        let defines: &[&str] = match variant {
            0 | 1 => &[],
            2 => &["WITH_PRIORITY"],
            3 => &["WITH_DEPARTURE"],
            4 => &["WITH_REGISTER"],
            _ => &["WITH_DROP"],
        };
        check(defines, in_bytes, &steps);
    }
}

#[test]
fn a_packet_that_waits_needs_no_event() {
    let program = compile("planned.p4", include_str!("planned.p4"), &[]);
    let mut device = Device::new(program, options(EngineChoice::Jit, true, false)).expect("loads");
    let mut outputs = Outputs::default();
    for _ in 0..3 {
        device.receive(0, 0, vec![0, 1, 0, 0, 0], 121, &mut outputs).expect("runs");
    }
    assert_eq!(device.next_event_ps(), None);
    // 130 bytes on the wire at 1 Gb/s take 1.04 us; the depth of the queue is in byte 3, the mark of the table in byte 4.
    let seen: Vec<_> = outputs
        .transmitted
        .iter()
        .map(|packet| (packet.time_ps, packet.bytes.as_slice(), packet.absent_bytes))
        .collect();
    let expected: [(u64, &[u8], u32); 3] = [
        (1_040_500, &[0, 1, 0, 0, 7], 121),
        (2_080_500, &[0, 1, 0, 0, 7], 121),
        (3_120_500, &[0, 1, 0, 1, 7], 121),
    ];
    assert_eq!(seen, expected);
    assert_eq!(device.queue_depth(OutputPath::Port(1), 0), 2);
}
