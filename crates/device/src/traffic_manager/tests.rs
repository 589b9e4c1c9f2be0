// SPDX-License-Identifier: Apache-2.0
//! Tests of the traffic manager on its own, with numbers for packets.

use super::*;
use crate::options::CongestionThresholds;
use proptest::prelude::*;

const PORT: OutputPath = OutputPath::Port(1);

fn manager(port: PortOptions) -> TrafficManager<u32> {
    TrafficManager::new(TrafficManagerOptions {
        default_port: port,
        ..TrafficManagerOptions::default()
    })
}

/// Runs until nothing may send any more: (time, path, queue, packet).
fn drain(manager: &mut TrafficManager<u32>, length: u64) -> Vec<(u64, OutputPath, u32, u32)> {
    let mut sent = Vec::new();
    while let Some((time, path)) = manager.next_ready() {
        let packet = manager.dequeue(path, time).expect("a scheduled path sends");
        manager.transmit(path, length, time);
        sent.push((time, path, packet.queue, packet.item));
    }
    sent
}

#[test]
fn transmission_takes_the_wire_time_rounded_up() {
    assert_eq!(transmission_ps(125, Some(1_000_000_000)), 1_000_000);
    assert_eq!(transmission_ps(1, Some(3)), 2_666_666_666_667);
    assert_eq!(transmission_ps(1500, None), 0);
    assert_eq!(transmission_ps(u64::MAX, Some(1)), u64::MAX);
}

#[test]
fn higher_queue_goes_first_and_the_wire_is_busy() {
    let mut manager =
        manager(PortOptions { rate_bps: Some(1_000_000_000), ..PortOptions::default() });
    for (queue, packet) in [(0, 10), (7, 11), (3, 12), (7, 13)] {
        manager.enqueue(PORT, queue, 125, 0, packet).expect("room");
    }
    assert_eq!(
        drain(&mut manager, 125),
        [
            (0, PORT, 7, 11),
            (1_000_000, PORT, 7, 13),
            (2_000_000, PORT, 3, 12),
            (3_000_000, PORT, 0, 10)
        ]
    );
}

#[test]
fn packets_that_grew_before_the_wire_hold_up_those_behind() {
    // A byte takes 8 ns. Two packets leave their queue one after the other for a pipeline.
    let mut manager =
        manager(PortOptions { rate_bps: Some(1_000_000_000), ..PortOptions::default() });
    for packet in 0..3 {
        manager.enqueue(PORT, 0, 125, 0, packet).expect("room");
    }
    for dequeued_ps in [0, 1_000_000] {
        assert_eq!(manager.next_ready(), Some((dequeued_ps, PORT)));
        manager.dequeue(PORT, dequeued_ps).expect("a scheduled path sends");
        manager.reserve(PORT, 125, dequeued_ps);
    }
    // The first packet has doubled in length on the wire, so the second waits there, and the third in its queue.
    assert_eq!(manager.transmit(PORT, 250, 0), 2_000_000);
    assert_eq!(manager.transmit(PORT, 125, 1_000_000), 3_000_000);
    assert_eq!(manager.next_ready(), Some((3_000_000, PORT)));
}

#[test]
fn queue_rate_spaces_packets() {
    let mut manager = manager(PortOptions::default());
    manager.set_queue_rate(PORT, Some(0), 1_000_000);
    for packet in 0..3 {
        manager.enqueue(PORT, 0, 64, 5, packet).expect("room");
    }
    manager.enqueue(PORT, 1, 64, 5, 9).expect("room");
    let times: Vec<(u64, u32)> =
        drain(&mut manager, 64).into_iter().map(|(time, _, _, packet)| (time, packet)).collect();
    assert_eq!(times, [(5, 9), (5, 0), (1_000_005, 1), (2_000_005, 2)]);
}

#[test]
fn refuses_when_full() {
    let mut manager = manager(PortOptions::default());
    assert!(manager.set_depth_limit(PORT, Some(0), 1));
    assert!(!manager.set_depth_limit(PORT, Some(8), 1));
    manager.enqueue(PORT, 0, 64, 0, 1).expect("room");
    assert_eq!(manager.enqueue(PORT, 0, 64, 0, 2), Err((Refusal::QueueFull, 2)));
    assert_eq!(manager.enqueue(PORT, 8, 64, 0, 3), Err((Refusal::NoSuchQueue, 3)));
    assert_eq!(manager.depth_packets(PORT, 0, 0), 1);
}

#[test]
fn shared_buffer_counts_bytes_of_all_ports() {
    let mut manager = TrafficManager::new(TrafficManagerOptions {
        shared_buffer_bytes: Some(150),
        ..TrafficManagerOptions::default()
    });
    manager.enqueue(OutputPath::Port(1), 0, 100, 0, 1).expect("room");
    assert_eq!(manager.enqueue(OutputPath::Port(2), 0, 100, 0, 2), Err((Refusal::BufferFull, 2)));
    manager.enqueue(OutputPath::Recirculation, 0, 50, 0, 3).expect("room");
    assert_eq!(drain(&mut manager, 100).len(), 2);
    assert_eq!(manager.buffered_bytes(), 0);
}

#[test]
fn pause_holds_a_queue_and_a_port() {
    let mut manager = manager(PortOptions::default());
    manager.enqueue(PORT, 2, 64, 0, 1).expect("room");
    manager.enqueue(PORT, 0, 64, 0, 2).expect("room");
    assert!(manager.set_paused(PORT, Some(2), true, 0));
    assert_eq!(drain(&mut manager, 64), [(0, PORT, 0, 2)]);
    assert!(manager.set_paused(PORT, None, true, 0));
    assert!(manager.set_paused(PORT, Some(2), false, 10));
    assert_eq!(manager.next_ready(), None);
    assert!(manager.set_paused(PORT, None, false, 20));
    assert_eq!(drain(&mut manager, 64), [(20, PORT, 2, 1)]);
}

#[test]
fn congestion_is_signalled_with_hysteresis() {
    let mut manager = manager(PortOptions {
        congestion: Some(CongestionThresholds { pause_packets: 3, resume_packets: 1 }),
        ..PortOptions::default()
    });
    for packet in 0..4 {
        manager.enqueue(PORT, 0, 64, 7, packet).expect("room");
    }
    let signals = |manager: &mut TrafficManager<u32>| -> Vec<bool> {
        manager.drain_signals().iter().map(|signal| signal.congested).collect()
    };
    assert_eq!(signals(&mut manager), [true]);
    for _ in 0..2 {
        manager.dequeue(PORT, 8);
        assert_eq!(signals(&mut manager), [] as [bool; 0]);
    }
    manager.dequeue(PORT, 8);
    assert_eq!(signals(&mut manager), [false]);
}

proptest! {
    /// Whatever is queued leaves exactly once, in order within its queue, never before it was
    /// queued, and never two at a time on a wire.
    #[test]
    fn nothing_is_lost_or_reordered(
        packets in proptest::collection::vec((0u32..3, 0u32..4, 0u64..1000, 1u64..1500), 1..60),
        rate in proptest::option::of(1_000_000u64..100_000_000_000),
    ) {
        let mut manager = manager(PortOptions {
            rate_bps: rate, queue_count: 4, queue_depth_packets: 1000, ..PortOptions::default()
        });
        let mut clock = 0;
        let mut sent: Vec<(u64, u64, OutputPath, u32, u32)> = Vec::new();
        let mut send_until = |manager: &mut TrafficManager<u32>, until: u64| {
            while let Some((time, path)) = manager.next_ready().filter(|next| next.0 <= until) {
                let packet = manager.dequeue(path, time).expect("a scheduled path sends");
                let end = manager.transmit(path, packets[packet.item as usize].3, time);
                prop_assert!(time >= packet.enqueued_ps);
                sent.push((time, end, path, packet.queue, packet.item));
            }
            Ok(())
        };
        for (number, (port, queue, gap, length)) in packets.iter().enumerate() {
            clock += gap;
            send_until(&mut manager, clock)?;
            let path = OutputPath::Port(*port);
            prop_assert!(manager.enqueue(path, *queue, *length, clock, number as u32).is_ok());
        }
        send_until(&mut manager, u64::MAX)?;
        prop_assert_eq!(sent.len(), packets.len());
        prop_assert_eq!(manager.buffered_bytes(), 0);
        for (port, queue) in (0..3).flat_map(|port| (0..4).map(move |queue| (port, queue))) {
            let path = OutputPath::Port(port);
            let statistics = manager.queue_statistics(path, queue, u64::MAX);
            let times = manager.depth_times(path, queue, u64::MAX).expect("a queue");
            // Little: the sum of packets over time is the sum of the times that packets waited.
            prop_assert_eq!(times.packet_time_ps(), statistics.expect("a queue").waited_ps);
        }
        for port in 0..3 {
            let mine: Vec<_> =
                sent.iter().filter(|packet| packet.2 == OutputPath::Port(port)).collect();
            for pair in mine.windows(2) {
                prop_assert!(pair[1].0 >= pair[0].1);
            }
            for queue in 0..4 {
                let order: Vec<u32> =
                    mine.iter().filter(|packet| packet.3 == queue).map(|packet| packet.4).collect();
                prop_assert!(order.is_sorted());
            }
        }
    }
}

/// Something that is done to port 1, 2 or 3, and time that goes by before.
fn work() -> impl Strategy<Value = (u8, u32, u32, bool, u64)> {
    let after_ps = prop_oneof![Just(0u64), 0u64..3_000_000];
    (0u8..8, 1u32..4, 0u32..3, any::<bool>(), after_ps)
}

proptest! {
    /// Updated gates equal recomputed ones, and a packet at an open gate leaves immediately.
    #[test]
    fn gates_are_those_of_the_paths(works in prop::collection::vec(work(), 0..40), asks in any::<u64>()) {
        let slow = PortOptions { rate_bps: Some(1_000_000_000), queue_count: 2, ..PortOptions::default() };
        let ports = [(2, slow), (3, PortOptions { loopback: true, ..PortOptions::default() })];
        let default_port = PortOptions { queue_count: 3, ..PortOptions::default() };
        let ports = ports.into_iter().collect();
        let options = TrafficManagerOptions { default_port, ports, ..TrafficManagerOptions::default() };
        let mut manager = TrafficManager::new(options);
        let mut now_ps = 0;
        for (at, (work, port, queue, yes, after_ps)) in works.into_iter().enumerate() {
            now_ps += after_ps;
            while let Some((time_ps, path)) = manager.next_ready().filter(|next| next.0 <= now_ps) {
                manager.dequeue(path, time_ps).expect("a scheduled path sends");
                manager.transmit(path, 125, time_ps);
            }
            let path = OutputPath::Port(port);
            match work {
                0..3 => { let _ = manager.enqueue(path, queue, 125, now_ps, 0); }
                3 => { manager.set_paused(path, Some(queue), yes, now_ps); }
                4 => { manager.set_flow_paused(path, queue, yes.then_some(u64::MAX), now_ps); }
                5 => { manager.set_paused(path, None, yes, now_ps); }
                6 => { manager.set_depth_limit(path, Some(queue), u32::from(yes) * 5); }
                _ => manager.set_rate_bps(path, yes.then_some(10_000_000_000)),
            }
            if asks >> (at % 64) & 1 == 0 || !manager.refresh_gates(125, now_ps) {
                continue;
            }
            let anew = Gates::new(&manager.options, &manager.paths, now_ps);
            for kind in [GateKind::IdleWire, GateKind::InstantWire] {
                prop_assert_eq!(manager.gates(kind), anew.words(kind));
            }
            if manager.gates(GateKind::IdleWire)[port as usize] >> queue & 1 == 0 {
                prop_assert!(manager.enqueue(path, queue, 125, now_ps, 7).is_ok());
                prop_assert_eq!(manager.next_ready(), Some((now_ps, path)));
                let sent = manager.dequeue(path, now_ps).expect("it sends");
                prop_assert_eq!((sent.item, sent.queue, sent.depth_packets), (7, queue, 0));
                let arrives_ps = manager.transmit(path, 125, now_ps);
                if manager.gates(GateKind::InstantWire)[port as usize] >> queue & 1 == 0 {
                    prop_assert_eq!(arrives_ps, now_ps);
                }
            }
        }
    }
}

#[test]
fn a_queue_in_bytes_accepts_what_fits_and_a_first_packet() {
    let default_port = PortOptions {
        queue_depth_bytes: Some(250),
        rate_bps: Some(8_000_000_000_000),
        overhead_bytes: 24,
        ..PortOptions::default()
    };
    let mut manager =
        TrafficManager::new(TrafficManagerOptions { default_port, ..Default::default() });
    let path = OutputPath::Port(1);
    let mut enqueue = |length| manager.enqueue(path, 0, length, 0, length).map_err(|error| error.0);
    assert_eq!([enqueue(300), enqueue(1)], [Ok(()), Err(Refusal::QueueFull)]);
    assert_eq!(manager.dequeue(path, 0).map(|packet| packet.item), Some(300));
    // A picosecond a byte, and 24 bytes around the packet.
    assert_eq!(manager.transmit(path, 300, 0), 324);
    let mut enqueue = |length| manager.enqueue(path, 0, length, 0, length).map_err(|error| error.0);
    assert_eq!([enqueue(200), enqueue(51), enqueue(50)], [Ok(()), Err(Refusal::QueueFull), Ok(())]);
}
