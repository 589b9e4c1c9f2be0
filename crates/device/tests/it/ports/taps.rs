// SPDX-License-Identifier: Apache-2.0
//! Taps: events of packets, equal on both engines.

use super::harness::{ROUND, Round, check, fast, with_round_port};
use crate::setup::{group, write};
use device::{Device, DeviceOptions, TappedEvent};

/// The taps, one line each. Packets appear by their first two bytes and length.
fn tapped(device: &mut Device) -> String {
    let short = |bytes: &[u8]| format!("{:02x}{:02x}+{}", bytes[0], bytes[1], bytes.len() - 2);
    let line = |tapped: device::Tapped| {
        let what = match tapped.what {
            TappedEvent::Ingress { port, by, arrived_ps, bytes } => {
                format!("ingress {port} {by:?} since {arrived_ps} {}", short(&bytes))
            }
            TappedEvent::Drawn { .. } => "draws".to_string(),
            TappedEvent::Logged { text } => format!("logs {text}"),
            TappedEvent::Probed { request, .. } => format!("probe {}", request.0),
            TappedEvent::Queued { path, queue, length_bytes } => {
                format!("queued {path} {queue} {length_bytes}")
            }
            TappedEvent::Egress { port, queue, enqueued_ps, depth_packets, packet } => {
                assert_eq!(packet, None);
                format!("egress {port} {queue} since {enqueued_ps} before {depth_packets}")
            }
            TappedEvent::Sent { port, queue, arrives_ps, comes_back, bytes } => {
                format!("sent {port} {queue} until {arrives_ps} {comes_back} {}", short(&bytes))
            }
            TappedEvent::Dropped { reason, .. } => format!("dropped {reason}"),
            TappedEvent::Circulated { rounds } => format!("circulated {rounds}"),
            TappedEvent::Extern { name, action } => format!("{name} {action:?}"),
        };
        format!("{} #{} pass {}: {what}\n", tapped.time_ps, tapped.packet, tapped.pass)
    };
    device.drain_taps().into_iter().map(line).collect()
}

#[test]
fn a_loop_is_tapped_pass_by_pass() {
    // 125 bytes take 10 ns.
    let options = DeviceOptions { tap: true, ingress_interval_ps: 1000, ..with_round_port(fast()) };
    check(
        &options,
        |device| {
            let packet = Round { rounds: 1, queue: 7, length_bytes: 125, ..Round::default() };
            device.inject(1, 0, packet.bytes()).unwrap();
            device.inject(1, 0, Round::default().bytes()).unwrap();
            device.run_to_completion().unwrap();
            tapped(device)
        },
        "0 #0 pass 0: ingress 1 Wire since 0 0144+123
         0 #0 pass 0: draws
         0 #0 pass 0: queued port 68 7 125
         0 #0 pass 1: egress 68 7 since 0 before 0
         0 #0 pass 1: sent 68 7 until 10000 true 0044+123
         1000 #1 pass 0: ingress 1 Wire since 0 0044+34
         1000 #1 pass 0: draws
         1000 #1 pass 0: queued port 2 0 36
         1000 #1 pass 1: egress 2 0 since 1000 before 0
         1000 #1 pass 1: sent 2 0 until 1000 false 0044+34
         10000 #0 pass 2: ingress 68 Loopback since 10000 0044+123
         10000 #0 pass 2: draws
         10000 #0 pass 2: queued port 2 0 125
         10000 #0 pass 3: egress 2 0 since 10000 before 0
         10000 #0 pass 3: sent 2 0 until 10000 false 0044+123",
    );
}

#[test]
fn drops_and_copies_are_tapped() {
    let options = DeviceOptions { tap: true, pass_limit: Some(3), ..with_round_port(fast()) };
    check(
        &options,
        |device| {
            write(device, [group(3, &[(ROUND, 1), (ROUND, 2)])]);
            let packet = Round { rounds: 1, group: 3, queue: 7, length_bytes: 125 };
            device.inject(1, 0, packet.bytes()).unwrap();
            device.run_to_completion().unwrap();
            tapped(device)
        },
        "0 #0 pass 0: ingress 1 Wire since 0 0144+123
         0 #0 pass 0: draws
         0 #0 pass 0: queued port 68 7 125
         0 #0 pass 0: queued port 68 7 125
         0 #0 pass 1: egress 68 7 since 0 before 1
         0 #0 pass 1: sent 68 7 until 10000 true 0044+123
         10000 #0 pass 2: egress 68 7 since 0 before 0
         10000 #0 pass 2: sent 68 7 until 20000 true 0044+123
         10000 #0 pass 3: ingress 68 Loopback since 10000 0044+123
         10000 #0 pass 3: dropped pass limit
         20000 #0 pass 3: ingress 68 Loopback since 20000 0044+123
         20000 #0 pass 3: dropped pass limit",
    );
}

#[test]
fn a_tapped_draw_equals_the_value_in_the_packet() {
    let options = DeviceOptions { tap: true, seed: 5, ..with_round_port(fast()) };
    check(
        &options,
        |device| {
            device.inject(1, 0, Round { rounds: 3, ..Round::default() }.bytes()).unwrap();
            device.run_to_completion().unwrap();
            let drawn: Vec<u64> = device
                .drain_taps()
                .into_iter()
                .filter_map(|tapped| match tapped.what {
                    TappedEvent::Drawn { value } => Some(value),
                    _ => None,
                })
                .collect();
            assert_eq!(drawn.len(), 4);
            let bytes = device.drain_transmitted().remove(0).bytes;
            let last = bytes[32..36].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            (drawn[3] == last && drawn[0] != drawn[1]).to_string()
        },
        "true",
    );
}

#[test]
fn nothing_is_kept_unless_asked_for() {
    check(
        &DeviceOptions::default(),
        |device| {
            device.inject(1, 0, Round::default().bytes()).unwrap();
            device.run_to_completion().unwrap();
            tapped(device)
        },
        "",
    );
}
