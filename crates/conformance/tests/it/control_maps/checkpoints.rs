// SPDX-License-Identifier: Apache-2.0
//! Checkpoints: the state of a target, written into a fresh device of another engine, of a program with its objects in
//! another order, or through a map, gives equal checkpoints there, equal packets after, and equal checkpoints after
//! these.

use crate::control_maps::comparison::{Subject, device, packet};
use crate::control_maps::generator;
use crate::control_maps::maps::{Erased, Form, KINDS, Transformed};
use crate::control_maps::specification::Specification;
use crate::control_maps::{batches, engine};
use control::checkpoint::{Checkpoint, CheckpointError};
use control::map::Mapped;
use control::session::Session;
use control::state_target::StateTarget;
use control::target::{Batch, DeviceItem, Fault, Target};
use device::{Device, EngineChoice};
use ir::Program;
use ir::ready::ReadyProgram;
use state::{EntryReference, MeterConfiguration, NewEntry, TokenRate, Update};
use std::sync::{Arc, LazyLock};
use testing::{Choices, cases, seeds};

fn other(engine: EngineChoice) -> EngineChoice {
    match engine {
        EngineChoice::Interpreter => EngineChoice::Jit,
        _ => EngineChoice::Interpreter,
    }
}

fn direct(name: &'static str, program: &Arc<Program>, engine: EngineChoice) -> Subject {
    let device = device(program, engine);
    Subject::new(name, Box::new(device.target()), vec![device])
}

/// Sends packets to all subjects; what leaves has to be equal.
fn send(subjects: &mut [Subject], choices: &mut Choices, time_ps: &mut u64, count: usize) -> u64 {
    let mut sent = 0;
    for _ in 0..count {
        *time_ps += u64::from(choices.between(2_000, 30_000)) | 1;
        let (bytes, port) = (packet(choices), choices.between(0, 3));
        let mut received = Vec::new();
        for subject in subjects.iter_mut() {
            let device = &mut subject.devices[0];
            device.inject(port, *time_ps, bytes.clone()).expect("the port exists");
            device.advance(*time_ps).expect("no assertion fails");
            let packets = device.drain_transmitted();
            sent += packets.len() as u64;
            let packets = packets.into_iter().map(|one| (one.port, one.time_ps, one.bytes));
            received.push((subject.name, packets.collect::<Vec<_>>()));
        }
        for (name, packets) in &received {
            assert_eq!(*packets, received[0].1, "{name} and {} differ", received[0].0);
        }
    }
    sent / subjects.len() as u64
}

fn checkpoints(subjects: &mut [Subject]) -> Vec<(&'static str, Checkpoint)> {
    let read = |subject: &mut Subject| {
        let checkpoint = Checkpoint::read(&mut *subject.target).expect("it can be read");
        (subject.name, checkpoint)
    };
    subjects.iter_mut().map(read).collect()
}

fn assert_equal(subjects: &mut [Subject], what: &str) {
    let all = checkpoints(subjects);
    for (name, checkpoint) in &all {
        let (text, wanted) = (checkpoint.to_string(), all[0].1.to_string());
        assert_eq!(text, wanted, "{what}: {name} and {}", all[0].0);
    }
}

/// The same program with its objects in another order.
fn reversed(written: &Specification) -> Specification {
    let mut other = written.clone();
    other.tables.reverse();
    other.actions.reverse();
    other.registers.reverse();
    other.counters.reverse();
    other
}

#[test]
fn a_checkpoint_written_elsewhere_is_the_same_state() {
    let (mut batch_count, mut packet_count, mut through_maps) = (0, 0, 0);
    for seed in seeds(12) {
        let mut choices = Choices::from_seed(seed);
        let written = generator::specification(&mut choices);
        let program = written.compile();
        let mut source = [direct("source", &program, engine(seed))];
        let mut time_ps = 1_000;
        for _ in 0..8 {
            let state = source[0].devices[0].configuration();
            source[0].target.execute(batches::batch(&mut choices, &program, &state));
            batch_count += 1;
            send(&mut source, &mut choices, &mut time_ps, 2);
        }
        let checkpoint = Checkpoint::read(&mut *source[0].target).expect("it can be read");
        assert!(checkpoint.is_one_moment());
        let [source] = source;
        let mut subjects = vec![
            source,
            direct("other engine", &program, other(engine(seed))),
            direct("other order", &reversed(&written).compile(), engine(seed)),
        ];
        let kind = &KINDS[seed as usize % KINDS.len()];
        if let Some(Transformed { run, map }) =
            (kind.transform)(&mut choices, &written, Form::Right)
        {
            let run = run.compile();
            let map: Erased = map(&program, &run);
            let device = device(&run, engine(seed));
            let target = Box::new(Mapped::new(map, vec![Box::new(device.target())]));
            subjects.push(Subject::new(kind.name, target, vec![device]));
            through_maps += 1;
        }
        // Devices that are in use already take it too.
        for subject in &mut subjects[1..] {
            if choices.chance(50) {
                let program = subject.target.program();
                let state = subject.devices[0].configuration();
                let is_own = Arc::ptr_eq(&program, state.program());
                let batch = is_own.then(|| batches::batch(&mut choices, &program, &state));
                batch.map(|batch| subject.target.execute(batch));
            }
            let written = checkpoint.write(&mut *subject.target);
            assert!(written.is_ok(), "seed {seed}, {}: {}", subject.name, written.unwrap_err());
        }
        assert_equal(&mut subjects, &format!("seed {seed}, written"));
        packet_count += send(&mut subjects, &mut choices, &mut time_ps, 10);
        assert_equal(&mut subjects, &format!("seed {seed}, after packets"));
    }
    println!(
        "{} programs, {batch_count} batches, {packet_count} packets after, {through_maps} through maps",
        cases(12u64)
    );
    assert!(through_maps > 0 && packet_count > 0);
}

fn everything(defines: &str) -> Arc<Program> {
    let text = format!("{defines}{}", include_str!("everything.p4"));
    let ready = ReadyProgram::of_text("everything.p4", text);
    ready.unwrap_or_else(|why| panic!("{why}")).program().clone()
}

static EVERYTHING: LazyLock<[Arc<Program>; 2]> =
    LazyLock::new(|| ["", "#define OTHER_ORDER\n"].map(everything));

const COMMANDS: &str = "\
act_prof_create_member chosen send 2
act_prof_create_member chosen flood 5
act_prof_create_member chosen copy 7
act_prof_create_group chosen
act_prof_add_member_to_group chosen 0 0
act_prof_add_member_to_group chosen 1 0
table_indirect_add balanced 3 => 2
table_indirect_add_with_group balanced 5 => 0
table_indirect_add balanced 8 => 1
table_add painted paint 0&&&0 1->5 => 77 9
table_add painted paint 1&&&3 2->0x81 => 78 3
table_set_default painted paint 9
pvs_add special 2
pvs_add special 0x40
mc_mgrp_create 5
mc_node_create 6 1 2
mc_node_associate 5 0
mirroring_add 7 2
meter_set_rates limits 1 0.000001:1 0.000002:2
counter_write seen 3 12 0
register_write sums 2 900
set_crc16_parameters calc 0x1021 0xffff 0 false false
set_queue_rate 5000000 2
set_queue_depth 7 3
";

/// A device with all of it.
fn full(program: &Arc<Program>, engine: EngineChoice) -> Device {
    let device = device(program, engine);
    let mut target = device.target();
    let (commands, errors) = control::command_text::read("everything.txt", COMMANDS);
    assert!(errors.is_empty(), "{errors:?}");
    let mut session = Session::new(program.clone());
    for answer in session.apply_all(&commands, &mut target, None) {
        answer.unwrap_or_else(|error| panic!("{error}"));
    }
    let rate = TokenRate { rate_micro_units_per_second: 3_000_000, burst_units: 2 };
    let rates = Update::WriteDirectMeter {
        meter: program.tables[crate::control_maps::maps::table_named(program, "painted").index()]
            .direct_meters[0],
        entry: EntryReference::Default,
        configuration: Some(MeterConfiguration { committed: rate, peak: rate }),
    };
    assert!(target.execute(Batch::one(rates)).is_ok());
    device
}

#[test]
fn everything_that_a_control_plane_writes_is_in_a_checkpoint() {
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        let mut choices = Choices::from_seed(7);
        let source = full(&EVERYTHING[0], engine);
        let mut time_ps = 1_000;
        let mut subjects = vec![Subject::new("source", Box::new(source.target()), vec![source])];
        send(&mut subjects, &mut choices, &mut time_ps, 20);
        let checkpoint = Checkpoint::read(&mut *subjects[0].target).expect("it can be read");
        let text = checkpoint.to_string();
        for wanted in [
            "member 2 I.copy(",
            "group 0 Group",
            "entry [Exact(8w3)] priority 0 member 2",
            "I.paint(16w9) set",
            "value set",
            "packets: 15, bytes",
            "session 7",
            "group 5 MulticastGroup",
            "polynomial: 4129",
            "rate_micro_units_per_second: 2000000",
            "rate_micro_units_per_second: 3000000",
            "QueueRate { packets_per_second: 5000000",
        ] {
            assert!(text.contains(wanted), "`{wanted}` is not in\n{text}");
        }
        for (name, program) in [("fresh", &EVERYTHING[0]), ("other order", &EVERYTHING[1])] {
            subjects.push(direct(name, program, other(engine)));
        }
        for subject in &mut subjects[1..] {
            // Twice is the same as once.
            for _ in 0..2 {
                let written = checkpoint.write(&mut *subject.target);
                assert!(written.is_ok(), "{}: {}", subject.name, written.unwrap_err());
            }
        }
        assert_equal(&mut subjects, "written");
        // Meters begin full, so it waits until the source's are.
        time_ps += 4_000_000_000_000;
        subjects[0].advance(time_ps);
        // Those that waited in a slow queue.
        subjects[0].devices[0].drain_transmitted();
        send(&mut subjects, &mut choices, &mut time_ps, 200);
        assert_equal(&mut subjects, "after packets");
    }
}

#[test]
fn a_checkpoint_that_does_not_fit_changes_nothing() {
    let device = full(&EVERYTHING[0], EngineChoice::Interpreter);
    let checkpoint = Checkpoint::read(&mut device.target()).expect("it can be read");
    // Another shape.
    let text =
        include_str!("everything.p4").replace("register<bit<16>>(4)", "register<bit<16>>(5)");
    let text = text.replace("hdr.h.kind: ternary", "hdr.h.kind: exact").replace("seen", "counted");
    let ready = ReadyProgram::of_text("other.p4", text).unwrap_or_else(|why| panic!("{why}"));
    let misfit =
        crate::control_maps::comparison::device(ready.program(), EngineChoice::Interpreter);
    let before = Checkpoint::read(&mut misfit.target()).expect("it can be read");
    match checkpoint.write(&mut misfit.target()) {
        Err(CheckpointError::Mismatches(list)) => {
            let names: Vec<&str> = list.iter().map(|misfit| &*misfit.name).collect();
            assert_eq!(names, ["I.painted", "I.sums", "I.seen"], "{list:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(Checkpoint::read(&mut misfit.target()), Ok(before));
    // A size that is found by the store only.
    let text = include_str!("everything.p4").replace("size = 16", "size = 2");
    let ready = ReadyProgram::of_text("small.p4", text).unwrap_or_else(|why| panic!("{why}"));
    let small = crate::control_maps::comparison::device(ready.program(), EngineChoice::Interpreter);
    let before = Checkpoint::read(&mut small.target()).expect("it can be read");
    match checkpoint.write(&mut small.target()) {
        Err(CheckpointError::Refused { fault: Fault::Refused(error), .. }) => {
            assert!(error.to_string().contains("is full"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(Checkpoint::read(&mut small.target()), Ok(before));
    // A target without queues.
    let mut state = StateTarget::new(EVERYTHING[0].clone()).expect("the program is sound");
    match checkpoint.write(&mut state) {
        Err(CheckpointError::Refused { fault: Fault::Unsupported(_), .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn equal_priorities_keep_their_order() {
    let program = &EVERYTHING[0];
    let table = crate::control_maps::maps::table_named(program, "painted");
    let entries = |device: &Device| {
        let state = device.configuration();
        let mut list: Vec<_> = state.table(table).expect("it is there").entries().collect();
        list.sort_by_key(|entry| entry.generation);
        list.into_iter().map(|entry| entry.cookie).collect::<Vec<u64>>()
    };
    let make = |order: &[u64]| {
        let device = device(program, EngineChoice::Interpreter);
        let insert = |key: &u64| {
            let value = |bits: u64| ir::Bits::from_u64(8, bits);
            let keys = vec![
                ir::KeyPattern::Ternary { value: value(*key), mask: value(0xff) },
                ir::KeyPattern::Any,
            ];
            let action = crate::control_maps::batches::bound(program, table, "skip");
            let entry = NewEntry { cookie: *key, ..NewEntry::direct(keys, 1, action) };
            Update::InsertEntry { table, entry }
        };
        assert!(device.target().execute(Batch::of(order.iter().map(insert))).is_ok());
        device
    };
    for (has, wanted) in [
        (&[1, 2, 3][..], &[3, 2, 1][..]),
        (&[1, 2, 3], &[1, 3]),
        (&[2, 4], &[1, 2, 4]),
        (&[], &[2, 1]),
    ] {
        let (from, to) = (make(wanted), make(has));
        let checkpoint = Checkpoint::read(&mut from.target()).expect("it can be read");
        assert!(checkpoint.write(&mut to.target()).is_ok());
        assert_eq!(entries(&to), wanted);
    }
}

#[test]
fn settings_that_others_replace_are_left_out() {
    let device = device(&EVERYTHING[0], EngineChoice::Interpreter);
    let rate = |packets_per_second, port| DeviceItem::QueueRate {
        packets_per_second,
        port,
        priority: None,
    };
    let depth = DeviceItem::QueueDepth { packets: 3, port: Some(1), priority: Some(0) };
    let mut target = device.target();
    let items = [rate(5, Some(1)), depth.clone(), rate(6, Some(2)), rate(7, Some(1))];
    assert!(target.execute(Batch::of(items)).is_ok());
    let settings = |target: &mut dyn Target| {
        let outcome = target.execute(Batch::one(DeviceItem::ReadSettings));
        match outcome.results.into_iter().next() {
            Some(Ok(control::target::Reply::Settings(list))) => list,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(settings(&mut target), [depth.clone(), rate(6, Some(2)), rate(7, Some(1))]);
    assert!(target.execute(Batch::one(rate(0, None))).is_ok());
    assert_eq!(settings(&mut target), [depth, rate(0, None)]);
}
