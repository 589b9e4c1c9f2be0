// SPDX-License-Identifier: Apache-2.0
//! Bursts on compiled code against single packets on the interpreter: outputs, statistics, digests and cells are equal,
//! also for packets that leave the fast path.

use crate::hand_built::{CLONE, Code, DIGEST, RECIRCULATE, RESUBMIT, TRUNCATE, program};
use crate::setup::{group, on, replicas, session, write};
use control::target::{Batch, DeviceItem, Target};
use device::{
    Burst, Device, DeviceError, DeviceOptions, DropReason, EngineChoice, OutputPath, PortOptions,
    TrafficManagerOptions,
};
use ir::{Bits, Program, RegisterId};
use proptest::prelude::*;
use state::{MulticastGroup, Update};
use std::sync::Arc;

/// A packet: op, arg, a, b, then a payload.
fn packet(op: u8, arg: u8, payload_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![op, arg, 1, 2, 3, 4, 5, 6, 7, 8];
    bytes.extend((0..payload_bytes).map(|at| at as u8));
    bytes
}

/// Results of a run: outputs (packet, port, bytes) in order of departure, digests, log lines, statistics, registers,
/// and whether an assertion failed.
#[derive(Debug, PartialEq)]
struct Seen {
    outputs: Vec<(usize, u32, Vec<u8>)>,
    digests: Vec<device::DigestMessage>,
    statistics: device::Statistics,
    registers: Vec<Option<Bits>>,
    errors: Vec<DeviceError>,
}

fn finish(
    device: &mut Device,
    outputs: Vec<(usize, u32, Vec<u8>)>,
    errors: Vec<DeviceError>,
) -> Seen {
    let register =
        |index| device.cells().register(RegisterId(0)).and_then(|cells| cells.read(index));
    Seen {
        registers: (0..4).map(register).collect(),
        digests: device.drain_digests(),
        statistics: device.statistics(),
        outputs,
        errors,
    }
}

/// Single packets on the slow path.
fn one_by_one(device: &mut Device, packets: &[(u32, Vec<u8>)]) -> Seen {
    let (mut outputs, mut errors) = (Vec::new(), Vec::new());
    for (at, (port, bytes)) in packets.iter().enumerate() {
        let injected = device.inject(*port, device.now_ps(), bytes.clone());
        errors.extend(injected.map(|_| ()).and_then(|()| device.run_to_completion()).err());
        let mut sent = device.drain_transmitted();
        sent.sort_by_key(|sent| sent.sequence);
        outputs.extend(sent.into_iter().map(|sent| (at, sent.port, sent.bytes)));
    }
    finish(device, outputs, errors)
}

/// Bursts of this size.
fn in_bursts(device: &mut Device, packets: &[(u32, Vec<u8>)], size: usize) -> Seen {
    let (mut outputs, mut errors) = (Vec::new(), Vec::new());
    let mut burst = Burst::new(size, 2048);
    for (number, chunk) in packets.chunks(size).enumerate() {
        burst.clear();
        for (port, bytes) in chunk {
            burst.push(*port, bytes).expect("it fits");
        }
        while let Err(error) = device.forward(&mut burst) {
            errors.push(error);
        }
        let sent = burst.outputs();
        outputs
            .extend(sent.map(|sent| (number * size + sent.packet, sent.port, sent.bytes.to_vec())));
    }
    assert!(device.drain_transmitted().is_empty());
    finish(device, outputs, errors)
}

/// Compares single packets and bursts, on both engines.
fn check(
    code: &Arc<Program>,
    options: &DeviceOptions,
    prepare: impl Fn(&mut Device),
    packets: &[(u32, Vec<u8>)],
) -> Seen {
    let device = |engine| {
        let options = DeviceOptions { engine, ..options.clone() };
        let mut device = Device::new(code.clone(), options).expect("loads");
        device.advance(7_000_000).expect("nothing to do");
        prepare(&mut device);
        device
    };
    let expected = one_by_one(&mut device(EngineChoice::Interpreter), packets);
    for size in [1, 3, 32] {
        for engine in [EngineChoice::Jit, EngineChoice::Interpreter] {
            let seen = in_bursts(&mut device(engine), packets, size);
            assert_eq!(seen, expected, "{engine:?}, bursts of {size}");
        }
    }
    assert_eq!(one_by_one(&mut device(EngineChoice::Jit), packets), expected);
    expected
}

fn control_plane(device: &mut Device) {
    write(device, [group(1, &[(2, 1), (1, 2)]), session(3, &[(7, 0)])]);
}

/// The first byte of a packet chooses its actions.
fn of_all_kinds() -> Arc<Program> {
    program(
        |code| {
            code.copy("hdr.h.arg", "standard_metadata.egress_spec");
            code.when("hdr.h.op", 1, |code| code.set("standard_metadata.egress_spec", 511));
            code.when("hdr.h.op", 2, |code| code.set("standard_metadata.mcast_grp", 1));
            code.when("hdr.h.op", 3, |code| code.request(CLONE, &[3, 1]));
            code.when("hdr.h.op", 4, |code| code.request(DIGEST, &[4]));
            code.when("hdr.h.op", 5, |code| {
                code.set("meta.kept", 5);
                code.when("standard_metadata.instance_type", 0, |code| {
                    code.request(RESUBMIT, &[1]);
                });
            });
            code.when("hdr.h.op", 6, |code| code.request(TRUNCATE, &[12]));
            code.when("hdr.h.op", 7, |code| code.set("hdr.x.$valid", 1));
            code.when("hdr.h.op", 8, |code| code.set("hdr.h.$valid", 0));
            code.when("hdr.h.op", 9, |code| {
                code.copy("standard_metadata.packet_length", "hdr.h.a");
                code.copy("standard_metadata.ingress_port", "hdr.h.b");
            });
            code.when("hdr.h.op", 20, |code| code.assert_is("hdr.h.arg", 1));
            code.when("hdr.h.op", 21, |code| code.set("standard_metadata.priority", 7));
            code.set("meta.lost", 9);
        },
        |code| {
            code.when("hdr.h.op", 10, |code| code.set("standard_metadata.egress_spec", 511));
            code.when("hdr.h.op", 11, |code| {
                code.when("standard_metadata.instance_type", 0, |code| {
                    code.set("hdr.x.$valid", 1);
                    code.request(CLONE, &[3, 1]);
                });
                code.copy("standard_metadata.packet_length", "hdr.h.a");
            });
            code.when("hdr.h.op", 12, |code| {
                code.set("hdr.h.op", 13);
                code.request(RECIRCULATE, &[1]);
            });
            code.when("hdr.h.op", 14, |code| {
                code.copy("standard_metadata.packet_length", "hdr.h.a");
                code.copy("standard_metadata.egress_port", "hdr.h.b");
            });
            code.when("hdr.h.op", 15, |code| {
                code.copy("standard_metadata.enq_timestamp", "hdr.h.a");
                code.copy("standard_metadata.deq_timedelta", "hdr.h.b");
            });
            code.when("hdr.h.op", 16, |code| {
                code.copy("standard_metadata.instance_type", "hdr.h.a");
                code.copy("standard_metadata.egress_spec", "hdr.h.b");
            });
            code.when("hdr.h.op", 17, |code| {
                code.set("standard_metadata.egress_port", 99);
                code.copy("standard_metadata.egress_global_timestamp", "hdr.h.a");
            });
            code.when("hdr.h.op", 18, |code| code.request(TRUNCATE, &[3]));
            code.when("hdr.h.op", 19, |code| code.assert_is("hdr.h.arg", 1));
            code.when("hdr.h.op", 22, |code| code.request(DIGEST, &[6]));
        },
    )
}

#[test]
fn each_way_alone_and_all_together() {
    let code = of_all_kinds();
    let mut all = Vec::new();
    for op in 0..23 {
        let packets: Vec<_> =
            (0..4).map(|arg| (u32::from(arg) + 1, packet(op, arg, 20 + arg as usize))).collect();
        let seen = check(&code, &DeviceOptions::default(), control_plane, &packets);
        let total = seen.outputs.len() as u64 + seen.statistics.dropped_packets();
        assert!(total >= 4, "op {op}: {seen:?}");
        all.extend(packets);
    }
    all.push((1, vec![0]));
    all.push((600, packet(0, 1, 5)));
    all.push((2, packet(0, 1, 5)));
    let seen = check(&code, &DeviceOptions::default(), control_plane, &all);
    assert!(seen.errors.contains(&DeviceError::NoSuchPort { port: 600, largest: 511 }));
    assert_eq!(seen.statistics.drops[&DropReason::IngressDrop], 4);
    assert_eq!(seen.statistics.drops[&DropReason::EgressDrop], 4);
    assert_eq!(seen.statistics.drops[&DropReason::AssertionFailed], 6);
    assert_eq!((seen.statistics.cloned, seen.statistics.digests), (8, 4));
}

#[test]
fn what_holds_packets_up_is_seen() {
    let code = of_all_kinds();
    let packets: Vec<_> =
        (0..40).map(|at: u8| (u32::from(at % 3), packet(at % 23, at % 5, 9))).collect();
    let with_port = |port: PortOptions| DeviceOptions {
        traffic_manager: TrafficManagerOptions {
            default_port: port,
            ..TrafficManagerOptions::default()
        },
        ..DeviceOptions::default()
    };
    let usual = PortOptions::default;
    let cases = [
        with_port(PortOptions { rate_bps: Some(1_000_000), ..usual() }),
        with_port(PortOptions { latency_ps: 5_000_000, ..usual() }),
        with_port(PortOptions { queue_count: 3, ..usual() }),
        with_port(PortOptions { queue_depth_packets: 0, ..usual() }),
        with_port(PortOptions { queue_rate_pps: 1000, ..usual() }),
        DeviceOptions { ingress_latency_ps: 1_500_000, ..DeviceOptions::default() },
        DeviceOptions { egress_latency_ps: 1_500_000, ..DeviceOptions::default() },
        DeviceOptions { pass_limit: Some(1), ..DeviceOptions::default() },
        DeviceOptions { pass_limit: Some(3), ..DeviceOptions::default() },
        DeviceOptions { drop_port: Some(2), ..DeviceOptions::default() },
        DeviceOptions {
            traffic_manager: TrafficManagerOptions {
                shared_buffer_bytes: Some(19),
                ..TrafficManagerOptions::default()
            },
            ..DeviceOptions::default()
        },
    ];
    for options in cases {
        check(&code, &options, control_plane, &packets);
    }
    let paused = |device: &mut Device| {
        control_plane(device);
        device.pause(OutputPath::Port(1), None);
        let depth = DeviceItem::QueueDepth { packets: 0, port: Some(2), priority: Some(0) };
        assert!(device.execute(Batch::one(depth)).is_ok());
    };
    let seen = check(&code, &DeviceOptions::default(), paused, &packets);
    assert!(seen.statistics.drops[&DropReason::QueueFull] > 0);
    // Events are first, as in `run_to_completion`.
    let scheduled = |device: &mut Device| {
        control_plane(device);
        device.schedule_pause(device.now_ps() + 5, OutputPath::Port(3), None, true);
    };
    check(&code, &DeviceOptions::default(), scheduled, &packets);
}

#[test]
fn queues_that_were_busy_are_remembered() {
    let code = program(|_| {}, |_| {});
    let send = |engine| {
        let mut device = Device::new(code.clone(), on(engine)).expect("loads");
        let mut times = Vec::new();
        for at in 0..6 {
            let rate = match at {
                2 => Some(1000),
                4 => Some(0),
                _ => None,
            };
            if let Some(packets_per_second) = rate {
                let (port, priority) = (Some(0), None);
                let item = DeviceItem::QueueRate { packets_per_second, port, priority };
                assert!(device.execute(Batch::one(item)).is_ok());
            }
            for _ in 0..2 {
                device.inject(1, device.now_ps(), packet(0, 0, 1)).expect("now");
            }
            device.advance(device.now_ps() + 10_000).expect("no assertion fails");
            times.extend(
                device.drain_transmitted().iter().map(|sent| (sent.time_ps, sent.sequence)),
            );
        }
        device.run_to_completion().expect("no assertion fails");
        times.extend(device.drain_transmitted().iter().map(|sent| (sent.time_ps, sent.sequence)));
        times
    };
    let times = send(EngineChoice::Interpreter);
    assert_eq!(times.len(), 12);
    assert_eq!(send(EngineChoice::Jit), times);
}

fn changes(code: &mut Code) {
    code.add("hdr.h.a", 1);
    code.when("hdr.h.op", 1, |code| code.set("hdr.x.$valid", 1));
}

#[test]
fn longest_headers_find_no_room() {
    // 10,000 bytes of payload; each pass adds a header of one byte.
    let code = program(changes, |code| code.when("hdr.h.op", 1, |code| code.add("hdr.h.b", 1)));
    let packets: Vec<_> = (0..8u8).map(|at| (0, packet(at % 2, 0, 1900))).collect();
    let seen = check(&code, &DeviceOptions::default(), |_| {}, &packets);
    assert_eq!(seen.outputs[1].2.len(), 1911);
    assert_eq!(seen.outputs[0].2.len(), 1910);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(12)))]

    #[test]
    fn any_mixture(
        packets in prop::collection::vec((0u32..5, 0u8..24, 0u8..9, 0usize..40), 1..70),
        cut in 0usize..11,
    ) {
        let code = of_all_kinds();
        let mut packets: Vec<_> = packets
            .into_iter()
            .map(|(port, op, arg, payload)| (port, packet(op, arg, payload)))
            .collect();
        packets[0].1.truncate(cut);
        check(&code, &DeviceOptions::default(), control_plane, &packets);
    }
}

/// Code accesses state through its instance argument, so all instances share it.
#[test]
fn devices_of_one_program_share_its_code_and_no_state() {
    let code = of_all_kinds();
    let packets: Vec<(u32, Vec<u8>)> =
        (0..14).map(|op| (u32::from(op % 3), packet(op, 2, 20))).collect();
    let options = DeviceOptions::default();
    let mut alone = Device::new(code.clone(), options.clone()).expect("loads");
    control_plane(&mut alone);
    let expected = in_bursts(&mut alone, &packets, 4);
    // The fast path, and blocks for packets that leave it.
    assert_eq!(alone.compilations(), 2);

    let first = Device::new(code, options.clone()).expect("loads");
    let mut all = vec![first];
    for _ in 0..5 {
        all.push(all[0].sharing_code_with(options.clone()).expect("loads"));
    }
    assert_eq!(all[0].compilations(), 1);
    for device in &mut all {
        control_plane(device);
        assert_eq!(in_bursts(device, &packets, 4), expected);
    }
    for device in &all {
        assert_eq!(device.compilations(), 2);
    }
    // Options of the code differ.
    let other = DeviceOptions { drop_port: Some(3), ..options };
    let other = all[0].sharing_code_with(other).expect("loads");
    assert_eq!((other.compilations(), all[0].compilations()), (1, 2));
}

/// No packet of a tapped device takes the fast path, which is the longest function of a program.
#[test]
fn tapped_devices_compile_blocks_only() {
    let code = of_all_kinds();
    let packets: Vec<(u32, Vec<u8>)> =
        (0..14).map(|op| (u32::from(op % 3), packet(op, 2, 20))).collect();
    let options = DeviceOptions::default();
    let tapped = DeviceOptions { tap: true, ..options.clone() };
    let mut fast = Device::new(code.clone(), options).expect("loads");
    control_plane(&mut fast);
    let expected = in_bursts(&mut fast, &packets, 4);
    let mut alone = Device::new(code, tapped.clone()).expect("loads");
    let mut sharing = fast.sharing_code_with(tapped).expect("loads");
    for device in [&mut alone, &mut sharing] {
        control_plane(device);
        assert_eq!(in_bursts(device, &packets, 4), expected);
    }
    assert_eq!((alone.compilations(), alone.fast_path_packets()), (1, 0));
    assert_eq!((sharing.compilations(), sharing.fast_path_packets()), (2, 0));
}

/// State that a device keeps between bursts blocks no writer and is never stale.
#[test]
fn writes_between_bursts_are_seen_by_the_next() {
    let code = of_all_kinds();
    let mut device = Device::new(code.clone(), DeviceOptions::default()).expect("loads");
    control_plane(&mut device);
    let packets: Vec<(u32, Vec<u8>)> = [2, 0, 2].map(|op| (1, packet(op, 3, 20))).into();
    let batch = |port| {
        let replicas = replicas(&[(port, 0)]);
        let content = MulticastGroup { replicas, ..MulticastGroup::default() };
        Batch::one(Update::ModifyMulticastGroup { group: 1, content })
    };
    let check = |device: &mut Device, port, copies| {
        let outputs = in_bursts(device, &packets, 3).outputs;
        let ports: Vec<_> = outputs.into_iter().map(|(_, port, _)| port).collect();
        assert_eq!(ports, [port, 3, port]);
        assert_eq!(device.forwarding_copies(), copies);
    };
    for port in 4..20 {
        assert!(device.execute(batch(port)).is_ok());
        check(&mut device, port, 1);
    }
    let mut target = device.target();
    for port in 20..40 {
        assert!(target.execute(batch(port)).is_ok());
        check(&mut device, port, 1);
    }
}

#[test]
fn reasons_against_the_fast_path() {
    let notes = |change: &dyn Fn(&mut ir::Slot)| {
        let mut program = (*program(|_| {}, |_| {})).clone();
        program.slots.iter_mut().for_each(change);
        Device::new(Arc::new(program), on(EngineChoice::Jit)).expect("loads").notes().to_vec()
    };
    let check = |change: &dyn Fn(&mut ir::Slot), expected: &str| {
        assert_eq!(notes(change), [format!("every packet goes block by block: {expected}")]);
    };
    assert_eq!(notes(&|_| {}), [""; 0]);
    check(
        &|slot| {
            if &*slot.name == "standard_metadata.priority" {
                slot.ty = ir::ValueType::Bits(48);
            }
        },
        "`priority` of its standard metadata has more than 32 bits",
    );
}
