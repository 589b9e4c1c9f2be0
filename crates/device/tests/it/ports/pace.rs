// SPDX-License-Identifier: Apache-2.0
//! Units of time stamps, and the packet rate of ingress.

use super::harness::{Round, check, fast, sent, with_round_port};
use device::{Burst, DeviceOptions, PortOptions, TimestampUnit};

fn nanoseconds(options: DeviceOptions) -> DeviceOptions {
    DeviceOptions { timestamp_unit: TimestampUnit::Nanoseconds, ..options }
}

#[test]
fn time_stamps_count_nanoseconds_where_asked() {
    // 125 bytes take 10 ns on the wire, and the second packet waits for them.
    check(
        &nanoseconds(with_round_port(fast())),
        |device| {
            for _ in 0..2 {
                let packet = Round { rounds: 1, length_bytes: 125, ..Round::default() };
                device.inject(1, 7_001_999, packet.bytes()).unwrap();
            }
            device.run_to_completion().unwrap();
            sent(device)
        },
        "7011999 #0 port 2: from 68 rid 0 in 7011 out 7001 enqueued 7001 waited 0 depth 0/0
         7021999 #1 port 2: from 68 rid 0 in 7021 out 7011 enqueued 7001 waited 10 depth 0/0",
    );
}

#[test]
fn the_fast_path_counts_them_too() {
    // After 5 s, which are more nanoseconds than 32 bits have: 5,000,000,003 mod 2^32 is 705,032,707.
    let send = |device: &mut device::Device| {
        let packet = Round { rounds: 1, ..Round::default() };
        let mut bytes = packet.bytes();
        bytes[1] = 3;
        device.inject(1, 5_000_000_003_000, bytes).unwrap();
        device.run_to_completion().unwrap();
        sent(device)
    };
    check(
        &nanoseconds(DeviceOptions::default()),
        send,
        "5000000003000 #0 port 3: from 1 rid 0 in 5000000003 out 5000000003 enqueued 705032707 \
         waited 0 depth 0/0",
    );
    check(
        &DeviceOptions::default(),
        send,
        "5000000003000 #0 port 3: from 1 rid 0 in 5000000 out 5000000 enqueued 5000000 \
         waited 0 depth 0/0",
    );
}

#[test]
fn ingress_takes_packets_in_order_one_an_interval() {
    let options = DeviceOptions { ingress_interval_ps: 1000, ..DeviceOptions::default() };
    check(
        &nanoseconds(options),
        |device| {
            for time_ps in [0, 0, 0, 2500, 9000, 9999, 10_001] {
                device.inject(1, time_ps, Round::default().bytes()).unwrap();
            }
            device.run_to_completion().unwrap();
            sent(device)
        },
        "0     #0 port 2: from 1 rid 0 in 0 out 0 enqueued 0 waited 0 depth 0/0
         1000  #1 port 2: from 1 rid 0 in 1 out 0 enqueued 0 waited 0 depth 0/0
         2000  #2 port 2: from 1 rid 0 in 2 out 0 enqueued 0 waited 0 depth 0/0
         3000  #3 port 2: from 1 rid 0 in 3 out 0 enqueued 0 waited 0 depth 0/0
         9000  #4 port 2: from 1 rid 0 in 9 out 0 enqueued 0 waited 0 depth 0/0
         10000 #5 port 2: from 1 rid 0 in 10 out 0 enqueued 0 waited 0 depth 0/0
         11000 #6 port 2: from 1 rid 0 in 11 out 0 enqueued 0 waited 0 depth 0/0"
            .replace("     #", " #")
            .replace("  #", " #")
            .as_str(),
    );
}

#[test]
fn packets_that_come_back_wait_with_the_others() {
    let options =
        DeviceOptions { ingress_interval_ps: 1000, ..with_round_port(PortOptions::default()) };
    check(
        &nanoseconds(options),
        |device| {
            device.inject(1, 0, Round { rounds: 2, ..Round::default() }.bytes()).unwrap();
            device.inject(1, 0, Round { rounds: 1, ..Round::default() }.bytes()).unwrap();
            device.run_to_completion().unwrap();
            sent(device)
        },
        // The first returns at 0, before the second arrives, and at 1000, after it.
        "3000 #0 port 2: from 68 rid 0 in 3 out 1 enqueued 1 waited 0 depth 0/0
         4000 #1 port 2: from 68 rid 0 in 4 out 2 enqueued 2 waited 0 depth 0/0",
    );
}

#[test]
fn bursts_keep_the_interval() {
    let options = DeviceOptions { ingress_interval_ps: 1000, ..DeviceOptions::default() };
    check(
        &nanoseconds(options),
        |device| {
            let mut burst = Burst::new(4, 256);
            for _ in 0..4 {
                burst.push(1, &Round::default().bytes()).unwrap();
            }
            device.forward(&mut burst).unwrap();
            let times = burst.outputs().map(|sent| sent.bytes[8..14].to_vec());
            let ends: Vec<String> = times.map(|time| time[5].to_string()).collect();
            ends.join("\n")
        },
        "0\n1\n2\n3",
    );
}
