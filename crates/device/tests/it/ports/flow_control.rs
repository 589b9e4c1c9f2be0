// SPDX-License-Identifier: Apache-2.0
//! Flow control in the MAC and the packet generator: pauses of queues with their start and end, and the pausable queue of
//! Lucid §3.2 from both.

use super::harness::{ROUND, Round, check, fast, sent, with_round_port};
use device::{
    Device, DeviceOptions, FlowControlOptions, GENERATED_PACKET, OutputPath, PacketTrain,
    PauseFrame, PortOptions, QueueStatistics, TimestampUnit, TrainTarget,
};

const PATH: OutputPath = OutputPath::Port(ROUND);

fn obeying(port: PortOptions) -> DeviceOptions {
    let flow_control = Some(FlowControlOptions::default());
    DeviceOptions {
        timestamp_unit: TimestampUnit::Nanoseconds,
        ..with_round_port(PortOptions { flow_control, ..port })
    }
}

fn frame(class: u8, quanta: u16) -> Vec<u8> {
    PauseFrame::of_class(class, quanta).bytes([2, 0, 0, 0, 0, 1])
}

fn send(device: &mut Device, time_ps: u64, queue: u8) {
    let packet = Round { rounds: 1, queue, length_bytes: 125, ..Round::default() };
    device.inject(1, time_ps, packet.bytes()).unwrap();
}

#[test]
fn a_frame_pauses_a_queue_for_its_quanta() {
    // Two quanta at 100 Gb/s are 10,240 ps. A packet of 125 bytes takes 10,000 ps.
    check(
        &obeying(fast()),
        |device| {
            device.inject(ROUND, 1000, frame(0, 2)).unwrap();
            send(device, 2000, 0);
            send(device, 2000, 7);
            device.run_to_completion().unwrap();
            let expected = QueueStatistics {
                peak_packets: 1,
                peak_bytes: 125,
                paused_ps: 10_240,
                flow_control_pauses: 1,
                waited_ps: 10_000,
                ..QueueStatistics::default()
            };
            assert_eq!(device.queue_statistics(PATH, 0), Some(expected));
            assert_eq!(device.queue_statistics(PATH, 7), Some(QueueStatistics::default()));
            assert_eq!(device.peak_buffered_bytes(), 125);
            assert_eq!(device.statistics().flow_control_frames, 1);
            assert_eq!(device.statistics().ports[&ROUND].received_packets, 3);
            sent(device)
        },
        // The wire is busy until 12,000.
        "12000 #2 port 2: from 68 rid 0 in 12 out 2 enqueued 2 waited 0 depth 0/0
         22000 #1 port 2: from 68 rid 0 in 22 out 12 enqueued 2 waited 10 depth 0/0",
    );
}

#[test]
fn a_pause_ends_to_the_picosecond() {
    check(
        &obeying(fast()),
        |device| {
            device.inject(ROUND, 1000, frame(0, 3)).unwrap();
            send(device, 2000, 0);
            device.run_to_completion().unwrap();
            assert_eq!(device.queue_statistics(PATH, 0).unwrap().paused_ps, 15_360);
            sent(device)
        },
        "26360 #1 port 2: from 68 rid 0 in 26 out 16 enqueued 2 waited 14 depth 0/0",
    );
}

#[test]
fn a_frame_renews_and_another_releases() {
    check(
        &obeying(fast()),
        |device| {
            device.inject(ROUND, 0, frame(0, 2)).unwrap();
            // Exactly at the end of the first pause.
            device.inject(ROUND, 10_240, frame(0, 100)).unwrap();
            send(device, 5000, 0);
            device.inject(ROUND, 20_000, frame(0, 0)).unwrap();
            device.run_to_completion().unwrap();
            let counted = device.queue_statistics(PATH, 0).unwrap();
            assert_eq!((counted.paused_ps, counted.flow_control_pauses), (20_000, 1));
            sent(device)
        },
        "30000 #2 port 2: from 68 rid 0 in 30 out 20 enqueued 5 waited 15 depth 0/0",
    );
}

#[test]
fn a_packet_on_the_wire_is_not_stopped() {
    check(
        &obeying(fast()),
        |device| {
            send(device, 0, 0);
            send(device, 0, 0);
            device.inject(ROUND, 5000, frame(0, 4)).unwrap();
            device.run_to_completion().unwrap();
            sent(device)
        },
        "10000 #0 port 2: from 68 rid 0 in 10 out 0 enqueued 0 waited 0 depth 0/0
         35480 #1 port 2: from 68 rid 0 in 35 out 25 enqueued 0 waited 25 depth 0/0",
    );
}

#[test]
fn without_a_rate_only_a_frame_releases() {
    check(
        &obeying(PortOptions::default()),
        |device| {
            device.inject(ROUND, 0, frame(0, 1)).unwrap();
            send(device, 10, 0);
            device.run_to_completion().unwrap();
            assert_eq!(device.queue_depth(PATH, 0), 1);
            device.inject(ROUND, 3_000_000, frame(0, 0)).unwrap();
            device.run_to_completion().unwrap();
            sent(device)
        },
        "3000000 #1 port 2: from 68 rid 0 in 3000 out 3000 enqueued 0 waited 3000 depth 0/0",
    );
}

#[test]
fn classes_name_queues() {
    let flow_control = Some(FlowControlOptions { queue_of_class: [7, 1, 2, 3, 4, 5, 6, 99] });
    check(
        &with_round_port(PortOptions { flow_control, ..fast() }),
        |device| {
            // Class 7 names a missing queue.
            let quanta = [Some(2), None, None, None, None, None, None, Some(2)];
            let frame = PauseFrame { quanta }.bytes([0; 6]);
            device.inject(ROUND, 0, frame).unwrap();
            send(device, 1, 7);
            send(device, 1, 0);
            device.run_to_completion().unwrap();
            sent(device)
        },
        "10001 #2 port 2: from 68 rid 0 in 0 out 0 enqueued 0 waited 0 depth 0/0
         20240 #1 port 2: from 68 rid 0 in 0 out 0 enqueued 0 waited 0 depth 0/0",
    );
}

#[test]
fn a_port_that_does_not_obey_takes_frames_as_packets() {
    check(
        &with_round_port(fast()),
        |device| {
            let mut frame = frame(0, 100);
            // The first byte is the number of loops: 1, at port 0x80.
            frame.truncate(36);
            device.inject(ROUND, 0, frame).unwrap();
            device.run_to_completion().unwrap();
            assert_eq!(device.queue_statistics(PATH, 0).unwrap().paused_ps, 0);
            device.drain_transmitted().iter().map(|sent| format!("port {}\n", sent.port)).collect()
        },
        "port 128",
    );
}

#[test]
fn the_user_s_pause_and_that_of_frames_are_two() {
    check(
        &obeying(fast()),
        |device| {
            device.inject(ROUND, 0, frame(0, 2)).unwrap();
            device.pause(PATH, Some(0));
            send(device, 0, 0);
            device.run_to_completion().unwrap();
            // A pause without packets does not extend the run.
            assert_eq!((device.now_ps(), device.queue_depth(PATH, 0)), (0, 1));
            device.schedule_pause(50_000, PATH, Some(0), false);
            device.run_to_completion().unwrap();
            sent(device)
        },
        "60000 #1 port 2: from 68 rid 0 in 60 out 50 enqueued 0 waited 50 depth 0/0",
    );
}

fn round_train(count: Option<u64>) -> PacketTrain {
    PacketTrain {
        port: 9,
        target: TrainTarget::Ingress,
        offset_ps: 3000,
        period_ps: 20_000,
        count,
        bytes: Round { rounds: 1, length_bytes: 125, ..Round::default() }.bytes(),
    }
}

#[test]
fn a_train_comes_to_ingress() {
    let options = DeviceOptions { packet_generator: vec![round_train(Some(3))], ..obeying(fast()) };
    let lines: Vec<String> = (0..3)
        .map(|at| {
            let (number, time_ps) = (GENERATED_PACKET + at, 3000 + 20_000 * at);
            let (back_ps, ns) = (time_ps + 10_000, time_ps / 1000);
            format!(
                "{back_ps} #{number} port 2: from 68 rid 0 in {} out {ns} enqueued {ns} waited 0 \
                 depth 0/0",
                back_ps / 1000
            )
        })
        .collect();
    check(
        &options,
        |device| {
            device.run_to_completion().unwrap();
            assert_eq!(device.statistics().ports[&9].received_packets, 3);
            sent(device)
        },
        &lines.join("\n"),
    );
}

#[test]
fn a_train_without_end_runs_as_long_as_there_is_something_else() {
    let options = DeviceOptions { packet_generator: vec![round_train(None)], ..obeying(fast()) };
    check(
        &options,
        |device| {
            device.run_to_completion().unwrap();
            assert_eq!((device.now_ps(), device.statistics().ports.len()), (0, 0));
            device.advance(100_000).unwrap();
            assert_eq!(device.statistics().ports[&9].received_packets, 5);
            device.run_to_completion().unwrap();
            assert_eq!(device.statistics().ports[&9].received_packets, 5);
            String::new()
        },
        "",
    );
}

/// The queue is open for 1 us of each 100 us.
fn pausable() -> DeviceOptions {
    let port = PortOptions { latency_ps: 400_000, ..fast() };
    let rate_bps = port.rate_bps;
    DeviceOptions {
        packet_generator: PacketTrain::pausable_queue(ROUND, 0, 100_000_000, 1_000_000, rate_bps),
        ..obeying(port)
    }
}

#[test]
fn a_pausable_queue_delays_and_others_pass() {
    check(
        &pausable(),
        |device| {
            send(device, 10_000_000, 0);
            send(device, 20_000_000, 7);
            send(device, 99_999_999, 0);
            send(device, 100_500_000, 0);
            send(device, 101_000_000, 0);
            device.run_to_completion().unwrap();
            let counted = device.queue_statistics(PATH, 0).unwrap();
            assert_eq!((counted.peak_packets, counted.peak_bytes), (2, 250));
            sent(device)
        },
        "20410000 #1 port 2: from 68 rid 0 in 20410 out 20000 enqueued 20000 waited 0 depth 0/0
         100410000 #0 port 2: from 68 rid 0 in 100410 out 100000 enqueued 10000 waited 90000 depth 0/1
         100420000 #2 port 2: from 68 rid 0 in 100420 out 100010 enqueued 99999 waited 11 depth 1/0
         100910000 #3 port 2: from 68 rid 0 in 100910 out 100500 enqueued 100500 waited 0 depth 0/0
         200410000 #4 port 2: from 68 rid 0 in 200410 out 200000 enqueued 101000 waited 99000 depth 0/0",
    );
}
