// SPDX-License-Identifier: Apache-2.0
//! Several programs in one device: the program of a packet, and packets in flight while the rule, the programs or their
//! code change.

mod generated;
mod harness;

use crate::setup::{ENGINES, compile};
use control::latency::LatencyModel;
use control::target::{Batch, Fault, Notification, Target, Ticket};
use device::{
    Admission, AdmissionRule, Admitted, Burst, Device, DeviceOptions, DeviceTarget, DropReason,
    EngineChoice, LoadError, MaskedBytes, OutputPath, PassTiming, ProgramId,
};
use harness::{CPU, LOOPBACK, Left, device, entry, left, packet, program, run, set_copies};
use ir::{RegisterId, TableId};
use state::{CellRange, Read, Reply, Update};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn on_both(scenario: impl Fn(EngineChoice, Device)) {
    for engine in ENGINES {
        scenario(engine, device(engine, DeviceOptions::default()));
    }
}

/// A device with program 1 by default and program 2.
fn two(engine: EngineChoice) -> (Device, [ProgramId; 2]) {
    let mut device = device(engine, DeviceOptions::default());
    let second = device.load(program(2, &[])).expect("loads");
    let programs = [device.program_id(), second];
    for id in programs {
        set_copies(&mut device.target_of(id).expect("it is loaded"));
    }
    (device, programs)
}

fn counts(device: &Device, program: ProgramId) -> Vec<u64> {
    let cells = device.cells_of(program).expect("it is loaded");
    let cells = cells.register(RegisterId(0)).expect("it is there");
    (0..cells.size()).filter_map(|at| cells.read(at)).map(|cell| cell.low_u64()).collect()
}

/// Packets of all choices except loopback, at eight ports.
fn packets() -> Vec<(u32, Vec<u8>)> {
    let one = |at: u32| {
        let mut bytes = packet((at / 3 % 6) as u8, (at % 11) as u8);
        bytes.resize(9 + (at % 4 * 5) as usize, 1);
        (at / 2 % 8, bytes)
    };
    (0..96).map(one).collect()
}

/// Packets run the programs that a rule chooses, single and in bursts.
fn check_division(engine: EngineChoice, rule: impl Fn([ProgramId; 2]) -> Admission) {
    let (mut alone, programs) = two(engine);
    let (mut burst_device, _) = two(engine);
    let admission = rule(programs);
    for device in [&mut alone, &mut burst_device] {
        device.admit(admission.clone()).expect("they are loaded");
    }
    let packets = packets();
    let mut burst = Burst::new(packets.len(), 64);
    let mut expected = Vec::new();
    for (number, (port, bytes)) in packets.iter().enumerate() {
        let met = match admission.of(*port, bytes) {
            Admitted::Program(program) => programs.iter().position(|it| *it == program),
            Admitted::Drop => None,
        };
        let seen = run(&mut alone, &[(*port, bytes.clone())]);
        let met = met.map(|at| at as u8 + 1);
        // A clone is the original packet without writes of ingress.
        let in_ingress = |seen: &Left| if bytes[0] == 1 && seen.1 == 7 { Some(0) } else { met };
        let fits = |seen: &Left| Some(seen.2.1) == met && Some(seen.2.0) == in_ingress(seen);
        assert!(seen.iter().all(fits), "{number}: {seen:?}");
        let copies = if bytes[0] == 1 { 2 } else { 1 };
        assert_eq!(seen.len(), met.map_or(0, |_| copies), "{number}");
        expected.extend(seen.iter().map(|seen| (number, seen.1, seen.2)));
        burst.push(*port, bytes).expect("it fits");
    }
    burst_device.forward(&mut burst).expect("nothing fails");
    let outputs = burst.outputs();
    let seen: Vec<_> = outputs.map(|it| (it.packet, it.port, (it.bytes[2], it.bytes[3]))).collect();
    assert_eq!(seen, expected, "{engine:?}");
    assert_eq!(burst_device.statistics().drops, alone.statistics().drops);
    assert_eq!(burst_device.statistics().ports, alone.statistics().ports);
    for program in programs {
        assert_eq!(counts(&burst_device, program), counts(&alone, program));
    }
    let is_fast = engine == EngineChoice::Jit;
    assert_eq!(burst_device.fast_path_packets() > 16, is_fast);
    assert_eq!(alone.fast_path_packets() > 16, is_fast);
}

#[test]
fn a_rule_divides_packets_by_port_bytes_and_length() {
    for engine in ENGINES {
        check_division(engine, |[one, two]| Admission {
            rules: vec![AdmissionRule {
                ports: vec![0..=1, 6..=6],
                ..AdmissionRule::all(Admitted::Program(two))
            }],
            otherwise: Admitted::Program(one),
        });
        check_division(engine, |[one, two]| Admission {
            rules: vec![
                AdmissionRule { length_bytes: 20..=100, ..AdmissionRule::all(Admitted::Drop) },
                AdmissionRule {
                    bytes: vec![MaskedBytes { offset_bytes: 1, mask: vec![6], value: vec![4] }],
                    ..AdmissionRule::all(Admitted::Program(two))
                },
            ],
            otherwise: Admitted::Program(one),
        });
        check_division(engine, |[one, two]| Admission::by_port([(0..=2, two), (3..=5, one)]));
        check_division(engine, |[_, two]| Admission::all(two));
    }
}

#[test]
fn a_port_that_a_program_has_no_bits_for_is_none() {
    on_both(|_, mut device| {
        let error = device.inject(512, 0, packet(0, 0)).expect_err("v1model has nine bits");
        assert_eq!(error.to_string(), "there is no port 512: the largest is 511");
        let id = device.program_id();
        device.admit(Admission::by_port([(0..=3, id)])).expect("it is loaded");
        assert_eq!(run(&mut device, &[(4, packet(0, 0))]), []);
        let drops = BTreeMap::from([(DropReason::NotAdmitted, 1)]);
        assert_eq!(device.statistics().drops, drops);
        assert_eq!(device.statistics().ports[&4].received_packets, 1);
    });
}

#[test]
fn a_rule_that_changes_under_traffic_loses_no_packet() {
    for engine in ENGINES {
        let (mut device, [one, second]) = two(engine);
        let mut burst = Burst::new(8, 64);
        let mut fill = |device: &mut Device| {
            burst.clear();
            for port in 0..8 {
                burst.push(port, &packet(0, 1)).expect("it fits");
            }
            device.forward(&mut burst).expect("nothing fails");
            burst.outputs().map(|sent| (sent.bytes[2], sent.bytes[3])).collect::<Vec<_>>()
        };
        let (mut sent, mut held) = (0, 0);
        for round in 0..60u8 {
            let (met, admitted) = match round % 2 {
                0 => (2, second),
                _ => (1, one),
            };
            let holds = round % 7 == 3;
            if holds {
                // The old program enqueues these, and they leave after the change.
                device.pause(OutputPath::Port(3), None);
                assert_eq!(fill(&mut device), []);
            }
            device.admit(Admission::all(admitted)).expect("it is loaded");
            if holds {
                device.resume(OutputPath::Port(3), None);
                device.run_to_completion().expect("nothing fails");
                let old = 3 - met;
                let left = left(&mut device);
                assert!(left.iter().all(|left| left.2 == (old, old)), "{left:?}");
                held += left.len();
            }
            let seen = fill(&mut device);
            assert_eq!(seen, [(met, met); 8], "{engine:?}, {round}");
            sent += seen.len();
        }
        assert_eq!((sent, held), (480, 72));
        assert_eq!(device.statistics().ports[&3].sent_packets, 552);
        assert_eq!(device.statistics().dropped_packets(), 0);
    }
}

#[test]
fn clones_resubmitted_and_recirculated_packets_stay_with_their_program() {
    for engine in ENGINES {
        let (mut device, [_, second]) = two(engine);
        for port in [3, 7] {
            device.pause(OutputPath::Port(port), None);
        }
        // Egress requests recirculation.
        device.inject(1, 0, packet(3, 3)).expect("it is on time");
        device.resume(OutputPath::Port(3), None);
        device.advance(0).expect("nothing fails");
        device.pause(OutputPath::Port(3), None);
        for what in [2, 1, 6] {
            device.inject(1, 0, packet(what, what)).expect("it is on time");
        }
        device.advance(10).expect("nothing fails");
        device.admit(Admission::all(second)).expect("it is loaded");
        device.inject(1, 10, packet(0, 0)).expect("it is on time");
        device.advance(5000).expect("nothing fails");
        assert_eq!(left(&mut device), []);
        for port in [3, 7] {
            device.resume(OutputPath::Port(port), None);
        }
        device.run_to_completion().expect("nothing fails");
        let mut left = left(&mut device);
        left.sort();
        let expected: [Left; 6] = [
            (0, 3, (1, 1), 2),
            (1, 3, (1, 1), 2),
            (2, 3, (1, 1), 1),
            (2, 7, (0, 1), 0),
            // At the loopback port it returns as a new packet.
            (3, 3, (2, 2), 1),
            (4, 3, (2, 2), 1),
        ];
        assert_eq!(left, expected, "{engine:?}");
        assert_eq!(device.statistics().ports[&LOOPBACK].received_packets, 1);
    }
}

#[test]
fn an_unloaded_program_goes_with_its_last_packet() {
    for engine in ENGINES {
        let (mut device, [one, second]) = two(engine);
        let mut target = device.target_of(one).expect("it is loaded");
        assert_eq!(device.unload(one), Err(LoadError::ProgramInUse(one)));
        device.admit(Admission::by_port([(0..=3, one), (4..=7, second)])).expect("both are there");
        assert_eq!(device.unload(second), Err(LoadError::ProgramInUse(second)));
        for port in [0, 4] {
            device.pause(OutputPath::Port(3), None);
            device.inject(port, 0, packet(0, port as u8)).expect("it is on time");
        }
        device.advance(0).expect("nothing fails");
        device.admit(Admission::all(second)).expect("it is loaded");
        assert_eq!(device.unload(one), Ok(()));
        assert_eq!(device.unload(one), Err(LoadError::NoSuchProgram(one)));
        assert_eq!(device.admit(Admission::all(one)), Err(LoadError::NoSuchProgram(one)));
        assert!(device.target_of(one).is_none() && device.cells_of(one).is_none());
        let late = target.execute(Batch::one(entry(&program(1, &[]), 1, 4, 0)));
        assert_eq!(late.first_fault(), Some((0, &Fault::Gone)));
        assert_eq!(device.loaded_programs(), 2);
        device.resume(OutputPath::Port(3), None);
        device.run_to_completion().expect("nothing fails");
        assert_eq!(left(&mut device), [(0, 3, (1, 1), 1), (1, 3, (2, 2), 1)]);
        assert_eq!(device.loaded_programs(), 1);
        // Numbers are not reused.
        let third = device.load(program(1, &[])).expect("loads");
        assert!(third != one && third != second);
        assert_eq!(counts(&device, third), [0; 16]);
    }
}

#[test]
fn a_swap_changes_the_rule_and_takes_the_state() {
    for engine in ENGINES {
        let (mut device, [one, second]) = two(engine);
        let by_port = Admission {
            rules: vec![AdmissionRule {
                ports: vec![0..=3],
                ..AdmissionRule::all(Admitted::Program(second))
            }],
            otherwise: Admitted::Program(one),
        };
        device.admit(by_port).expect("both are loaded");
        let packets = [(0, packet(0, 1)), (5, packet(0, 1))];
        assert_eq!(run(&mut device, &packets), [(0, 3, (2, 2), 1), (1, 3, (1, 1), 1)]);
        device.load_second(program(3, &[])).expect("loads");
        assert!(device.swap());
        assert_eq!(run(&mut device, &packets), [(2, 3, (2, 2), 2), (3, 3, (3, 3), 2)]);
        assert_eq!((device.loaded_programs(), device.swap()), (2, false));
        assert!(device.target_of(one).is_none());
        let programs: Vec<_> = device.admission().programs().collect();
        assert_eq!(programs, [second, device.program_id()]);
    }
}

#[test]
fn replaced_code_keeps_entries_and_registers() {
    for engine in ENGINES {
        let mut device = device(engine, DeviceOptions::default());
        let id = device.program_id();
        let mut targets = [device.target(), device.target_of(id).expect("it is loaded")];
        let before = device.program();
        assert!(device.execute(Batch::one(entry(&before, 1, 4, 0))).is_ok());
        assert_eq!(run(&mut device, &[(0, packet(0, 1))]), [(0, 4, (1, 1), 1)]);
        // One packet is in a queue, one in recirculation.
        device.pause(OutputPath::Port(4), None);
        device.inject(0, device.now_ps(), packet(0, 1)).expect("it is on time");
        device.inject(0, device.now_ps(), packet(2, 1)).expect("it is on time");
        device.advance(device.now_ps()).expect("nothing fails");
        let prepare = |number: u8, defines: &[(&str, &str)]| {
            Device::prepare(program(number, defines), device.options()).expect("loads")
        };
        let (other, longer) = (prepare(2, &[("CELLS", "17")]), prepare(2, &[("LONGER", "1")]));
        let difference = "the size of register `MyIngress.seen` differs".to_string();
        assert_eq!(device.replace_code(id, other), Err(LoadError::DifferentShape(difference)));
        assert_eq!(device.replace_code(id, longer), Ok(()));
        assert_eq!((device.program_id(), device.loaded_programs()), (id, 2));
        device.inject(0, device.now_ps(), packet(0, 1)).expect("it is on time");
        device.run_to_completion().expect("nothing fails");
        device.resume(OutputPath::Port(4), None);
        device.run_to_completion().expect("nothing fails");
        let expected = [(1, 4, (1, 1), 2), (3, 4, (2, 2), 4), (2, 4, (1, 1), 5)];
        assert_eq!(left(&mut device), expected, "{engine:?}");
        assert_eq!((device.loaded_programs(), counts(&device, id)[1]), (1, 5));
        // Controllers continue, except for batches for the old program.
        let now = device.program();
        for target in &mut targets {
            assert!(std::sync::Arc::ptr_eq(&target.program(), &now));
            let read =
                || Batch::one(Read::Register { register: RegisterId(0), cells: CellRange::one(1) });
            let stale = target.execute(read().made_for(before.clone()));
            assert_eq!(stale.first_fault(), Some((0, &Fault::Swapped)));
            let five = vec![ir::Bits::from_u64(32, 5)];
            let read = target.execute(read().made_for(now.clone()));
            assert_eq!(read.into_reply(), Ok(Reply::Registers(five)));
        }
        assert!(targets[1].execute(Batch::one(entry(&now, 2, 6, 0))).is_ok());
        let again = Device::prepare(program(1, &[]), device.options()).expect("loads");
        assert_eq!(device.replace_code(id, again), Ok(()));
        let packets = [(0, packet(0, 1)), (0, packet(0, 2))];
        assert_eq!(run(&mut device, &packets), [(4, 4, (1, 1), 6), (5, 6, (1, 1), 1)]);
        assert_eq!(device.loaded_programs(), 1);
    }
}

#[test]
fn a_pass_that_takes_time_ends_on_the_code_that_it_began_with() {
    let pass_timing =
        Some(PassTiming { first_stage_ps: 1000, stage_ps: 1000, ..PassTiming::default() });
    let options = DeviceOptions { pass_timing, ..DeviceOptions::default() };
    let mut device = device(EngineChoice::Interpreter, options);
    let id = device.program_id();
    device.inject(0, 0, packet(0, 1)).expect("it is on time");
    device.advance(500).expect("nothing fails");
    let code = Device::prepare(program(2, &[("LONGER", "1")]), device.options()).expect("loads");
    device.replace_code(id, code).expect("state is equal");
    device.inject(0, 2500, packet(0, 1)).expect("it is on time");
    device.run_to_completion().expect("nothing fails");
    assert_eq!(left(&mut device), [(0, 3, (1, 1), 1), (1, 3, (2, 2), 2)]);
    assert_eq!((device.loaded_programs(), counts(&device, id)[1]), (1, 2));
}

#[test]
fn one_program_changes_while_packets_flow_and_controllers_write_to_the_other() {
    for engine in ENGINES {
        let (mut device, [one, second]) = two(engine);
        device.admit(Admission::by_port([(0..=3, one), (4..=7, second)])).expect("both are there");
        let mut target = device.target_of(second).expect("it is loaded");
        let insert = entry(&target.program(), 1, 20, 0);
        assert!(target.execute(Batch::one(insert)).is_ok());
        let codes: Vec<_> = [(1, "0"), (3, "1")]
            .map(|(number, value)| program(number, &[("UNUSED", value)]))
            .into_iter()
            .collect();
        let (is_over, writes) = (AtomicBool::new(false), AtomicU64::new(0));
        let rounds = std::thread::scope(|scope| {
            let (is_over, writes) = (&is_over, &writes);
            let writer = scope.spawn(move || {
                let program = target.program();
                while !is_over.load(Ordering::Relaxed) {
                    let port = 20 + writes.fetch_add(1, Ordering::Relaxed) % 8;
                    let Update::InsertEntry { table, entry } = entry(&program, 1, port, 0) else {
                        panic!("it is an insertion");
                    };
                    let update = Update::ModifyEntry { table, entry };
                    let outcome = target.execute(Batch::one(update).made_for(program.clone()));
                    assert!(outcome.is_ok(), "{outcome:?}");
                }
            });
            let mut burst = Burst::new(8, 64);
            let mut rounds = 0u64;
            while rounds < 40 || writes.load(Ordering::Relaxed) < 40 {
                let number = [1, 3][rounds as usize % 2];
                let code = codes[rounds as usize % 2].clone();
                let code = Device::prepare(code, device.options()).expect("loads");
                device.replace_code(one, code).expect("state is equal");
                burst.clear();
                for port in 0..8 {
                    burst.push(port, &packet(0, 1)).expect("it fits");
                }
                device.forward(&mut burst).expect("nothing fails");
                let met = |at: usize| if at < 4 { number } else { 2 };
                for sent in burst.outputs() {
                    let met = met(sent.packet);
                    assert_eq!((sent.bytes[2], sent.bytes[3]), (met, met));
                    assert_eq!(sent.port >= 20, met == 2);
                }
                assert_eq!(burst.outputs().len(), 8);
                rounds += 1;
            }
            is_over.store(true, Ordering::Relaxed);
            while !writer.is_finished() {
                device.advance(device.now_ps()).expect("nothing fails");
            }
            rounds
        });
        for program in [one, second] {
            assert_eq!(counts(&device, program)[1], rounds * 4);
        }
        assert_eq!((device.loaded_programs(), device.statistics().dropped_packets()), (2, 0));
    }
}

#[test]
fn programs_of_two_architectures_are_side_by_side() {
    on_both(|engine, mut device| {
        let tna = compile("packet_paths.p4", include_str!("../tna/packet_paths.p4"), &[]);
        let (one, tna) = (device.program_id(), device.load(tna).expect("loads"));
        device.admit(Admission::by_port([(0..=3, one), (4..=7, tna)])).expect("both are there");
        let order = [1, 9, 0, 0, 0, 0, 0, 42];
        for (port, bytes) in [(0, packet(0, 1)), (4, order.to_vec()), (1, packet(0, 1))] {
            device.inject(port, 0, bytes).expect("it is on time");
        }
        device.run_to_completion().expect("nothing fails");
        let sent = device.drain_transmitted();
        let seen: Vec<_> = sent.iter().map(|sent| (sent.packet, sent.port)).collect();
        assert_eq!(seen, [(0, 3), (2, 3), (1, 9)], "{engine:?}");
        // The length of the packet, which only TNA's egress writes.
        assert_eq!(sent[2].bytes, [1, 9, 0, 0x20, 0, 0, 8, 42]);
    });
}

fn digests(target: &mut DeviceTarget) -> Vec<u64> {
    let number = |notification| match notification {
        Notification::Digest { fields, .. } => fields[0].1.low_u64(),
        other => panic!("{other:?}"),
    };
    target.notifications().into_iter().map(number).collect()
}

#[test]
fn each_program_has_a_target_and_notifications_of_its_own() {
    for engine in ENGINES {
        let (mut device, [one, second]) = two(engine);
        device.admit(Admission::by_port([(0..=3, one), (4..=7, second)])).expect("both are there");
        let mut main = device.target();
        let mut targets = [one, second].map(|id| device.target_of(id).expect("it is loaded"));
        for (target, port) in targets.iter_mut().zip([20, CPU]) {
            assert!(target.notifications().is_empty() && main.notifications().is_empty());
            // Tables with equal names and other entries, one of which may expire.
            let program = target.program();
            let insert = entry(&program, 1, u64::from(port), 1000);
            assert!(target.execute(Batch::one(insert).made_for(program)).is_ok());
        }
        let packets = [(0, packet(4, 1)), (4, packet(4, 2)), (5, packet(4, 1))];
        let mut seen = run(&mut device, &packets);
        seen.sort();
        assert_eq!(seen, [(0, 20, (1, 1), 1), (1, 3, (2, 2), 1), (2, CPU, (2, 2), 1)]);
        assert_eq!(digests(&mut main), [1]);
        assert_eq!(digests(&mut targets[0]), [1]);
        let heard = targets[1].notifications();
        let is_digest = |it: &Notification| matches!(it, Notification::Digest { .. });
        assert_eq!(heard.iter().filter(|it| is_digest(it)).count(), 2, "{heard:?}");
        let packet_in = heard.iter().find(|it| !is_digest(it));
        assert!(
            matches!(packet_in, Some(Notification::PacketIn { port: CPU, bytes, .. }) if bytes[2] == 2),
            "{heard:?}"
        );
        // The same in a burst.
        let mut burst = Burst::new(4, 64);
        for port in [0, 4, 5, 1] {
            burst.push(port, &packet(0, 1)).expect("it fits");
        }
        device.forward(&mut burst).expect("nothing fails");
        assert_eq!(burst.outputs().len(), 4);
        assert_eq!(targets[1].notifications().len(), 2);
        assert!(targets[0].notifications().is_empty() && main.notifications().is_empty());
        device.advance(device.now_ps() + 2_000_000).expect("nothing fails");
        let mut idle = |target: &mut DeviceTarget| {
            let notifications = target.notifications();
            let is_idle = |it: &Notification| {
                matches!(it, Notification::IdleTimeout { table: TableId(0), .. })
            };
            (notifications.len(), notifications.iter().all(is_idle))
        };
        assert_eq!([&mut main, &mut targets[0]].map(&mut idle), [(1, true), (1, true)]);
        assert_eq!(idle(&mut targets[1]), (1, true));
    }
}

#[test]
fn targets_of_all_programs_share_the_driver() {
    for engine in ENGINES {
        let control_latency = Some(LatencyModel::per_item(1000));
        let mut device = device(engine, DeviceOptions { control_latency, ..Default::default() });
        let second = device.load(program(2, &[])).expect("loads");
        let mut targets = [device.target(), device.target_of(second).expect("it is loaded")];
        let submit = |target: &mut DeviceTarget| {
            let program = target.program();
            let entries = [entry(&program, 1, 4, 0), entry(&program, 2, 5, 0)];
            target.submit(Batch::of(entries), 0)
        };
        let tickets: Vec<Ticket> = targets.iter_mut().map(submit).collect();
        device.run_to_completion().expect("nothing fails");
        let mut applied = Vec::new();
        for (target, ticket) in targets.iter_mut().zip(tickets) {
            let outcome = target.poll(ticket).expect("it is over");
            assert!(outcome.is_ok(), "{outcome:?}");
            applied.push(outcome.applied_ps);
        }
        assert_eq!(applied, [2000, 4000]);
        // A batch in the driver whose program is unloaded is refused.
        let ticket = submit(&mut targets[1]);
        device.unload(second).expect("no packet meets it");
        device.run_to_completion().expect("nothing fails");
        let outcome = targets[1].poll(ticket).expect("it is over");
        assert_eq!(outcome.first_fault(), Some((0, &Fault::Gone)));
    }
}
