// SPDX-License-Identifier: Apache-2.0
//! Random devices and looped packets on the interpreter, on compiled code, and on compiled code with a tap, which disables
//! the fast path. All results are equal.

use super::harness::{ROUND, Round, program, with_round_port};
use crate::setup::{group, write};
use device::{
    Burst, Device, DeviceOptions, EngineChoice, FlowControlOptions, OutputPath, PacketTrain,
    PauseFrame, PortOptions, QueueStatistics, Statistics, TimestampUnit, TrainTarget, Transmitted,
};
use proptest::prelude::*;

/// Options and events of a run.
#[derive(Clone, Debug)]
struct Scenario {
    options: DeviceOptions,
    packets: Vec<(u64, Round)>,
    /// Flow-control frames from outside.
    frames: Vec<(u64, u8, u16)>,
    /// Pauses and resumptions of queues by the user, with their times.
    pauses: Vec<(u64, u32, u32, bool)>,
}

#[derive(Debug, PartialEq)]
struct Shown {
    transmitted: Vec<Transmitted>,
    statistics: Statistics,
    queues: Vec<Option<QueueStatistics>>,
    peak_buffered_bytes: u64,
}

fn options() -> impl Strategy<Value = DeviceOptions> {
    let rate =
        prop::sample::select(vec![None, None, Some(1_000_000_000_000), Some(100_000_000_000)]);
    let latency = prop::sample::select(vec![0u64, 1_000, 777_777]);
    let interval = prop::sample::select(vec![0u64, 0, 1_000, 3_333]);
    let pass_limit = prop::sample::select(vec![Some(5), Some(20), Some(100_000), None]);
    let buffer = prop::sample::select(vec![None, None, Some(300), Some(5_000)]);
    let ingress_latency = prop::sample::select(vec![0u64, 0, 0, 12_345]);
    let flags = any::<[bool; 4]>();
    (rate, latency, interval, pass_limit, buffer, ingress_latency, flags).prop_map(
        |(rate_bps, latency_ps, interval, pass_limit, buffer, ingress_latency_ps, flags)| {
            let [obeys, paused, trains, nanoseconds] = flags;
            let flow_control = obeys.then(FlowControlOptions::default);
            let port = PortOptions { rate_bps, latency_ps, flow_control, ..PortOptions::default() };
            let mut options = with_round_port(port);
            options.traffic_manager.shared_buffer_bytes = buffer;
            options.traffic_manager.default_port.latency_ps = latency_ps / 7;
            if nanoseconds {
                options.timestamp_unit = TimestampUnit::Nanoseconds;
            }
            options.ingress_interval_ps = interval;
            options.ingress_latency_ps = ingress_latency_ps;
            options.egress_latency_ps = ingress_latency_ps / 3;
            options.pass_limit = pass_limit;
            if obeys && paused {
                let queue = PacketTrain::pausable_queue(ROUND, 0, 2_000_000, 300_000, rate_bps);
                options.packet_generator.extend(queue);
            }
            if trains {
                let bytes = Round { rounds: 2, queue: 7, ..Round::default() }.bytes();
                let train = |port, offset_ps, target| PacketTrain {
                    port,
                    target,
                    offset_ps,
                    period_ps: 400_000,
                    count: Some(5),
                    bytes: bytes.clone(),
                };
                options.packet_generator.push(train(9, 5, TrainTarget::Ingress));
                options.packet_generator.push(train(ROUND, 100_000, TrainTarget::Mac));
            }
            options
        },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let time = prop_oneof![Just(0u64), 0u64..5_000, 0u64..3_000_000];
    let queue = prop::sample::select(vec![0u8, 7, 7]);
    let group = prop::sample::select(vec![0u8, 0, 0, 3, 9]);
    let round =
        (0u8..8, queue, group, 30usize..200).prop_map(|(rounds, queue, group, length_bytes)| {
            Round { rounds, queue, group, length_bytes }
        });
    let packets = prop::collection::vec((time.clone(), round), 0..25);
    let frames = prop::collection::vec((time, 0u8..8, prop_oneof![Just(0u16), any::<u16>()]), 0..4);
    let port = prop::sample::select(vec![ROUND, ROUND, 2, 5]);
    let queue = prop::sample::select(vec![0u32, 7]);
    let pause = (0u64..2_000_000, port, queue, any::<bool>());
    let pauses = prop::collection::vec(pause, 0..4);
    (options(), packets, frames, pauses).prop_map(|(options, packets, frames, pauses)| Scenario {
        options,
        packets,
        frames,
        pauses,
    })
}

fn run(scenario: &Scenario, engine: EngineChoice, tap: bool) -> Shown {
    let options = DeviceOptions { engine, tap, ..scenario.options.clone() };
    let mut device = Device::new(program(), options).expect("the program loads");
    write(&device, [group(3, &[(ROUND, 1), (5, 2), (ROUND, 3)])]);
    for (time_ps, round) in &scenario.packets {
        device.inject(1, *time_ps, round.bytes()).expect("it is not in the past");
    }
    for (time_ps, class, quanta) in &scenario.frames {
        let bytes = PauseFrame::of_class(*class, *quanta).bytes([0; 6]);
        device.inject(ROUND, *time_ps, bytes).expect("it is not in the past");
    }
    for (time_ps, port, queue, paused) in &scenario.pauses {
        device.schedule_pause(*time_ps, OutputPath::Port(*port), Some(*queue), *paused);
    }
    device.advance(1_500_000).expect("nothing fails");
    device.advance(12_000_000).expect("nothing fails");
    shown(&mut device)
}

fn shown(device: &mut Device) -> Shown {
    let queue = |(port, queue)| device.queue_statistics(OutputPath::Port(port), queue);
    Shown {
        queues: [(ROUND, 0), (ROUND, 7), (2, 0), (5, 0)].into_iter().map(queue).collect(),
        peak_buffered_bytes: device.peak_buffered_bytes(),
        statistics: device.statistics(),
        transmitted: device.drain_transmitted(),
    }
}

/// The same with packets in bursts at the current device time, with the outputs of each burst.
fn run_bursts(scenario: &Scenario, engine: EngineChoice, tap: bool) -> (Vec<Sent>, Shown) {
    let options = DeviceOptions { engine, tap, ..scenario.options.clone() };
    // Bursts do not wait for paused queues without an end.
    let mut device = Device::new(program(), options).expect("the program loads");
    let mut sent = Vec::new();
    let mut pauses = scenario.pauses.iter();
    for packets in scenario.packets.chunks(4) {
        if let Some((_, port, queue, paused)) = pauses.next() {
            match paused {
                true => device.pause(OutputPath::Port(*port), Some(*queue)),
                false => device.resume(OutputPath::Port(*port), Some(*queue)),
            };
        }
        let mut burst = Burst::new(4, 512);
        for (at, (_, round)) in packets.iter().enumerate() {
            // Some use other ports than the loopback port, and some are flow-control frames.
            let mut bytes = round.bytes();
            bytes[1] = [ROUND as u8, 5, 2, 5][at];
            let _ = burst.push(1, &bytes);
        }
        if let Some((time_ps, class, quanta)) =
            scenario.frames.first().filter(|_| packets.len() < 4)
        {
            let port = if time_ps % 2 == 0 { ROUND } else { 1 };
            let _ = burst.push(port, &PauseFrame::of_class(*class, *quanta).bytes([0; 6]));
        }
        device.forward(&mut burst).expect("nothing fails");
        sent.extend(burst.outputs().map(|sent| (sent.packet, sent.port, sent.bytes.to_vec())));
        device.advance(device.now_ps() + 77_777).expect("nothing fails");
    }
    (sent, shown(&mut device))
}

/// Packet of its burst, port and bytes.
type Sent = (usize, u32, Vec<u8>);

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(48), ..ProptestConfig::default() })]

    #[test]
    fn engines_and_ways_do_the_same(scenario in scenario()) {
        let reference = run(&scenario, EngineChoice::Interpreter, false);
        prop_assert_eq!(&reference, &run(&scenario, EngineChoice::Jit, false));
        prop_assert_eq!(&reference, &run(&scenario, EngineChoice::Jit, true));
    }
    #[test]
    fn bursts_do_the_same_on_both_engines_and_ways(scenario in scenario()) {
        let reference = run_bursts(&scenario, EngineChoice::Interpreter, false);
        prop_assert_eq!(&reference, &run_bursts(&scenario, EngineChoice::Jit, false));
        prop_assert_eq!(&reference, &run_bursts(&scenario, EngineChoice::Jit, true));
    }
}

/// Packets to open queues use the fast path while other queues are paused.
#[test]
fn a_paused_queue_holds_up_no_packet_of_another() {
    let port = PortOptions { latency_ps: 1_000, ..PortOptions::default() };
    let mut device = Device::new(program(), with_round_port(port)).expect("the program loads");
    assert!(device.pause(OutputPath::Port(ROUND), Some(0)));
    let waiting = Round { rounds: 1, ..Round::default() };
    for _ in 0..5 {
        device.inject(1, device.now_ps(), waiting.bytes()).expect("it is not in the past");
    }
    let passing = Round { rounds: 3, queue: 7, ..Round::default() };
    for _ in 0..7 {
        device.inject(1, device.now_ps(), passing.bytes()).expect("it is not in the past");
    }
    device.run_to_completion().expect("nothing fails");
    assert_eq!(device.queue_depth(OutputPath::Port(ROUND), 0), 5);
    assert_eq!(device.drain_transmitted().len(), 7);
    // Waiting packets started there; each of the other four passes did too.
    assert_eq!(device.fast_path_packets(), 5 + 7 * 4);
    assert_eq!(device.statistics().ports[&2].sent_packets, 7);
    // A burst to a port without a pause does too.
    let mut burst = Burst::new(8, 256);
    for _ in 0..8 {
        let out = Round { rounds: 0, ..Round::default() };
        burst.push(1, &out.bytes()).expect("it fits");
    }
    device.forward(&mut burst).expect("nothing fails");
    assert_eq!((burst.outputs().len(), device.fast_path_packets()), (8, 33 + 8));
}
