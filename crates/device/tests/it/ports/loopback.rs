// SPDX-License-Identifier: Apache-2.0
//! Loopback ports: times of looped packets, their statistics, and the end of their loops.

use super::harness::{ROUND, Round, check, fast, sent, with_round_port};
use crate::setup::{group, write};
use device::{DeviceOptions, DropReason, OutputPath, PortOptions, PortStatistics};

#[test]
fn an_ideal_port_gives_packets_back_at_once() {
    check(
        &with_round_port(PortOptions::default()),
        |device| {
            let packet = Round { rounds: 3, queue: 7, ..Round::default() };
            device.inject(1, 5_000_000, packet.bytes()).unwrap();
            device.run_to_completion().unwrap();
            let counters = device.statistics().ports;
            let round = PortStatistics {
                received_packets: 3,
                received_bytes: 108,
                sent_packets: 3,
                sent_bytes: 108,
            };
            assert_eq!(counters[&ROUND], round);
            assert_eq!(counters[&1].received_packets, 1);
            assert_eq!(counters[&2].sent_packets, 1);
            sent(device)
        },
        "5000000 #0 port 2: from 68 rid 0 in 5 out 5 enqueued 5 waited 0 depth 0/0",
    );
}

#[test]
fn a_round_takes_the_wire_and_the_latency() {
    // 125 bytes take 10 ns; with 2 us of latency, each loop takes 2,010,000 ps.
    check(
        &with_round_port(PortOptions { latency_ps: 2_000_000, ..fast() }),
        |device| {
            let packet = Round { rounds: 2, length_bytes: 125, ..Round::default() };
            device.inject(1, 1_000_000, packet.bytes()).unwrap();
            device.run_to_completion().unwrap();
            sent(device)
        },
        "5020000 #0 port 2: from 68 rid 0 in 5 out 3 enqueued 3 waited 0 depth 0/0",
    );
}

#[test]
fn rounds_wait_for_the_wire_in_order_of_priority() {
    // Three at the same time: the first takes the wire, then the higher queue has priority.
    check(
        &with_round_port(fast()),
        |device| {
            for queue in [0, 0, 7] {
                let packet = Round { rounds: 1, queue, length_bytes: 12_500, ..Round::default() };
                device.inject(1, 0, packet.bytes()).unwrap();
            }
            device.run_to_completion().unwrap();
            sent(device)
        },
        "1000000 #0 port 2: from 68 rid 0 in 1 out 0 enqueued 0 waited 0 depth 0/0
         2000000 #2 port 2: from 68 rid 0 in 2 out 1 enqueued 0 waited 1 depth 0/0
         3000000 #1 port 2: from 68 rid 0 in 3 out 2 enqueued 0 waited 2 depth 0/0",
    );
}

#[test]
fn copies_of_a_group_come_back_one_by_one() {
    check(
        &with_round_port(fast()),
        |device| {
            write(device, [group(3, &[(ROUND, 1), (ROUND, 2)])]);
            let packet = Round { rounds: 1, group: 3, queue: 7, length_bytes: 12_500 };
            device.inject(1, 0, packet.bytes()).unwrap();
            device.run_to_completion().unwrap();
            sent(device)
        },
        "1000000 #0 port 2: from 68 rid 1 in 1 out 0 enqueued 0 waited 0 depth 0/1
         2000000 #0 port 2: from 68 rid 2 in 2 out 1 enqueued 0 waited 1 depth 1/0",
    );
}

#[test]
fn rounds_are_passes_of_the_packet() {
    // A loop is a pass through ingress and one through egress.
    let options = DeviceOptions { pass_limit: Some(100), ..with_round_port(fast()) };
    check(
        &options,
        |device| {
            device.inject(1, 0, Round { rounds: 200, ..Round::default() }.bytes()).unwrap();
            device.run_to_completion().unwrap();
            let statistics = device.statistics();
            assert_eq!(statistics.drops[&DropReason::PassLimit], 1);
            assert_eq!(statistics.ports[&ROUND].received_packets, 50);
            sent(device)
        },
        "",
    );
}

#[test]
fn without_a_limit_time_is_the_caller_s() {
    // 36 bytes take 2880 ps.
    let options = DeviceOptions { pass_limit: None, ..with_round_port(fast()) };
    check(
        &options,
        |device| {
            device.inject(1, 0, Round { rounds: 255, ..Round::default() }.bytes()).unwrap();
            device.advance(2880 * 100).unwrap();
            assert_eq!(device.statistics().ports[&ROUND].received_packets, 100);
            assert_eq!(device.next_event_ps(), Some(2880 * 101));
            device.run_to_completion().unwrap();
            sent(device)
        },
        "734400 #0 port 2: from 68 rid 0 in 0 out 0 enqueued 0 waited 0 depth 0/0",
    );
}

#[test]
fn a_paused_queue_holds_rounds_and_others_pass() {
    check(
        &with_round_port(fast()),
        |device| {
            let path = OutputPath::Port(ROUND);
            assert!(device.pause(path, Some(0)));
            for queue in [0, 7, 0] {
                device
                    .inject(
                        1,
                        0,
                        Round { rounds: 1, queue, length_bytes: 125, ..Round::default() }.bytes(),
                    )
                    .unwrap();
            }
            device.run_to_completion().unwrap();
            assert_eq!(device.queue_depth(path, 0), 2);
            device.schedule_pause(7_000_000, path, Some(0), false);
            device.run_to_completion().unwrap();
            sent(device)
        },
        "10000 #1 port 2: from 68 rid 0 in 0 out 0 enqueued 0 waited 0 depth 0/0
         7010000 #0 port 2: from 68 rid 0 in 7 out 7 enqueued 0 waited 7 depth 0/1
         7020000 #2 port 2: from 68 rid 0 in 7 out 7 enqueued 0 waited 7 depth 1/0",
    );
}

#[test]
fn copies_wait_in_the_paused_queue_with_what_queues_tell() {
    // Lucid's delay queue: egress writes the waiting time into the packet.
    check(
        &DeviceOptions {
            timestamp_unit: device::TimestampUnit::Nanoseconds,
            ..with_round_port(fast())
        },
        |device| {
            write(device, [group(3, &[(ROUND, 1), (ROUND, 2)])]);
            let path = OutputPath::Port(ROUND);
            assert!(device.pause(path, Some(0)));
            for (time_ps, queue) in [(1_000_000, 0), (2_000_000, 7)] {
                let packet = Round { rounds: 1, group: 3, queue, length_bytes: 125 };
                device.inject(1, time_ps, packet.bytes()).unwrap();
            }
            device.schedule_pause(9_000_000, path, Some(0), false);
            device.run_to_completion().unwrap();
            sent(device)
        },
        "2010000 #1 port 2: from 68 rid 1 in 2010 out 2000 enqueued 2000 waited 0 depth 0/1
         2020000 #1 port 2: from 68 rid 2 in 2020 out 2010 enqueued 2000 waited 10 depth 1/0
         9010000 #0 port 2: from 68 rid 1 in 9010 out 9000 enqueued 1000 waited 8000 depth 0/1
         9020000 #0 port 2: from 68 rid 2 in 9020 out 9010 enqueued 1000 waited 8010 depth 1/0",
    );
}
