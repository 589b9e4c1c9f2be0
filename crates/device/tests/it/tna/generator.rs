// SPDX-License-Identifier: Apache-2.0
//! Applications of the packet generator through the ingress parser.

use super::harness::{on_both, program};
use control::target::{self, Batch, DeviceItem, Fault};
use device::{
    Device, DeviceOptions, FlowControlOptions, GENERATED_PACKET, GeneratorApplication,
    GeneratorTimer, OutputPath, PauseFrame, PortOptions, TappedEvent, TrafficManagerOptions,
};

const PROGRAM: &str = include_str!("generator.p4");

/// Two batches of two packets.
fn twice_two(timer: GeneratorTimer) -> GeneratorApplication {
    GeneratorApplication {
        id: 3,
        timer,
        offset_ps: 500,
        period_ps: 1_000_000,
        batches: 2,
        batch_gap_ps: 30_000,
        packets: 2,
        packet_gap_ps: 7_000,
        bytes: vec![0xab, 0xcd],
        ..GeneratorApplication::default()
    }
}

fn options(applications: Vec<GeneratorApplication>) -> DeviceOptions {
    DeviceOptions { generator_applications: applications, ..DeviceOptions::default() }
}

/// The item that sets an application, with times in nanoseconds.
fn set(application: &GeneratorApplication) -> DeviceItem {
    DeviceItem::GeneratorTimer(target::GeneratorTimer {
        application: u64::from(application.id),
        is_periodic: application.timer == GeneratorTimer::Periodic,
        period_ns: application.period_ps / 1000,
        offset_ns: application.offset_ps / 1000,
        port: Some(u64::from(application.port)),
        batches: u64::from(application.batches),
        batch_gap_ns: application.batch_gap_ps / 1000,
        packets: u64::from(application.packets),
        packet_gap_ns: application.packet_gap_ps / 1000,
        bytes: application.bytes.clone(),
    })
}

fn write(device: &Device, item: DeviceItem) -> Result<(), Fault> {
    let results = device.execute(Batch::one(item)).results;
    results.into_iter().try_for_each(|result| result.map(drop))
}

/// Time, port, pipe and application, batch, packet, count, ingress port, and the rest.
fn reports(device: &mut Device) -> Vec<String> {
    let number =
        |bytes: &[u8]| bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let line = |sent: &device::Transmitted| {
        let bytes = &sent.bytes;
        format!(
            "{} port {}: {:#x} {} {} {} {} {:x?}",
            sent.time_ps,
            sent.port,
            bytes[0],
            number(&bytes[1..3]),
            number(&bytes[3..5]),
            number(&bytes[5..9]),
            number(&bytes[9..11]),
            &bytes[11..]
        )
    };
    device.drain_transmitted().iter().map(line).collect()
}

#[test]
fn batches_come_through_the_ingress_parser() {
    let options = options(vec![twice_two(GeneratorTimer::Once)]);
    on_both(&program(PROGRAM), &options, &[], |mut device| {
        device.run_to_completion().expect("nothing fails");
        let expected = [
            "1000500 port 1: 0x3 0 0 1 68 [ab, cd]",
            "1007500 port 1: 0x3 0 1 2 68 [ab, cd]",
            "1037500 port 1: 0x3 1 0 3 68 [ab, cd]",
            "1044500 port 1: 0x3 1 1 4 68 [ab, cd]",
        ];
        assert_eq!(reports(&mut device), expected);
        assert_eq!(device.statistics().ports[&68].received_packets, 4);
        assert_eq!(device.statistics().ports[&68].received_bytes, 32);
    });
}

#[test]
fn a_periodic_timer_goes_on_until_it_is_stopped() {
    let options = options(vec![twice_two(GeneratorTimer::Periodic)]);
    on_both(&program(PROGRAM), &options, &[], |mut device| {
        // It does not extend the run.
        device.run_to_completion().expect("nothing fails");
        assert_eq!(device.now_ps(), 0);
        device.advance(2_500_000).expect("nothing fails");
        assert_eq!(reports(&mut device).len(), 8);
        device.advance(3_010_000).expect("nothing fails");
        let stop = || DeviceItem::GeneratorStop { application: 3 };
        assert_eq!(write(&device, stop()), Ok(()));
        let message = "application 3 of the packet generator was not set".to_string();
        assert_eq!(write(&device, stop()), Err(Fault::Unsupported(message)));
        device.advance(9_000_000).expect("nothing fails");
        assert_eq!(reports(&mut device).len(), 2);
        // A new setting restarts it at the current time.
        assert_eq!(write(&device, set(&twice_two(GeneratorTimer::Once))), Ok(()));
        device.run_to_completion().expect("nothing fails");
        let sent = device.drain_transmitted();
        assert_eq!(sent[0].time_ps, 10_000_000);
        assert_eq!(sent[0].bytes[..9], [3, 0, 0, 0, 0, 0, 0, 0, 11]);
        // Numbers of packets continue.
        assert_eq!(sent[0].packet, GENERATED_PACKET | (0x7ff8 + 3) << 48 | 10);
        let wrong = GeneratorApplication { port: 512, ..GeneratorApplication::default() };
        let message = "there is no port 512: the largest is 511".to_string();
        assert_eq!(write(&device, set(&wrong)), Err(Fault::Unsupported(message)));
    });
}

#[test]
fn applications_are_distinguished_by_id_and_port() {
    let of = |id, port| GeneratorApplication {
        id,
        port,
        timer: GeneratorTimer::Once,
        ..GeneratorApplication::default()
    };
    on_both(&program(PROGRAM), &options(vec![of(6, 69), of(0, 68)]), &[], |mut device| {
        device.inject(5, 0, vec![1; 11]).expect("not in the past");
        device.run_to_completion().expect("nothing fails");
        let expected = [
            "0 port 2: 0x1 257 257 16843009 257 []",
            "1000000 port 1: 0x0 0 0 1 68 []",
            "1000000 port 1: 0x6 0 0 1 69 []",
        ];
        assert_eq!(reports(&mut device), expected);
    });
}

/// The program changes packets of an application into flow-control frames for the loopback port, whose MAC obeys them:
/// the delay queue of Lucid, section 3.2.
#[test]
fn generated_frames_of_flow_control_end_at_the_mac() {
    let frame = |quanta| GeneratorApplication {
        id: 7,
        timer: GeneratorTimer::Once,
        bytes: PauseFrame::of_class(2, quanta).bytes([0; 6])[6..].to_vec(),
        ..GeneratorApplication::default()
    };
    let round = PortOptions {
        loopback: true,
        latency_ps: 1_000,
        flow_control: Some(FlowControlOptions::default()),
        ..PortOptions::default()
    };
    let options = DeviceOptions {
        traffic_manager: TrafficManagerOptions {
            ports: [(68, round)].into_iter().collect(),
            ..TrafficManagerOptions::default()
        },
        ..DeviceOptions::default()
    };
    on_both(&program(PROGRAM), &options, &[], |mut device| {
        assert_eq!(write(&device, set(&frame(9))), Ok(()));
        device.advance(1_500_000).expect("nothing fails");
        assert_eq!(write(&device, set(&frame(0))), Ok(()));
        device.run_to_completion().expect("nothing fails");
        let counted = device.queue_statistics(OutputPath::Port(68), 2).expect("a queue");
        assert_eq!((counted.flow_control_pauses, counted.paused_ps), (1, 1_500_000));
        assert_eq!(device.statistics().flow_control_frames, 2);
    });
}

/// Egress receives only bytes, which taps contain.
#[test]
fn taps_have_the_packets_at_egress() {
    let options = DeviceOptions { tap: true, ..options(vec![twice_two(GeneratorTimer::Once)]) };
    on_both(&program(PROGRAM), &options, &[], |mut device| {
        device.run_to_completion().expect("nothing fails");
        let sent = device.drain_transmitted();
        let came: Vec<_> = device
            .drain_taps()
            .into_iter()
            .filter_map(|tapped| match tapped.what {
                TappedEvent::Egress { packet, .. } => packet,
                _ => None,
            })
            .collect();
        assert_eq!(came.len(), 4);
        for (came, sent) in came.iter().zip(&sent) {
            assert_eq!((came.replica, &came.bytes), (0, &sent.bytes));
        }
    });
}
