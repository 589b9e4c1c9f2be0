// SPDX-License-Identifier: Apache-2.0
//! Passes with durations: interleavings of packets and the control plane between two moments, their order, and times of
//! outputs. Tests in `conformance` check that a single packet behaves as in a pass without duration.

use crate::setup::{session, write};
use control::target::{Batch, Target};
use device::{
    Device, DeviceError, DeviceOptions, EngineChoice, LoadError, PassTiming, PortOptions,
    TappedEvent, TrafficManagerOptions,
};
use ir::ready::ReadyProgram;
use ir::{Bits, KeyPattern, Program, RegisterId};
use proptest::prelude::*;
use state::{BoundAction, CellRange, CellValues, NewEntry, Update};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Duration of a stage in these tests.
const STAGE_PS: u64 = 10_000;

fn ready(text: &str) -> ReadyProgram {
    ReadyProgram::of_text("program.p4", text).unwrap_or_else(|why| panic!("{why}"))
}

/// A program without fused accesses.
fn lowered(text: &str) -> Program {
    Program::clone(ready(text).lowered())
}

fn program() -> Program {
    lowered(include_str!("program.p4"))
}

fn timing() -> PassTiming {
    PassTiming { stage_ps: STAGE_PS, ..PassTiming::default() }
}

fn timed(timing: PassTiming) -> DeviceOptions {
    DeviceOptions {
        engine: EngineChoice::Interpreter,
        pass_timing: Some(timing),
        ..DeviceOptions::default()
    }
}

fn device(program: Program) -> Device {
    Device::new(Arc::new(program), timed(timing())).expect("loads")
}

/// A packet for port 9.
fn order(what: u8) -> Vec<u8> {
    vec![what, 9, 0, 0, 0, 0, 0, 0]
}

/// The three numbers in a packet.
fn numbers(bytes: &[u8]) -> [u16; 3] {
    [2, 4, 6].map(|at| u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

/// Injects packets at these times and runs to completion. Returns the numbers of each packet in order of arrival.
fn run(device: &mut Device, packets: &[(u64, u8)]) -> Vec<[u16; 3]> {
    for (time_ps, what) in packets {
        device.inject(1, *time_ps, order(*what)).expect("not in the past");
    }
    device.run_to_completion().expect("no assertion fails");
    let mut sent = device.drain_transmitted();
    sent.sort_by_key(|packet| packet.packet);
    sent.iter().map(|packet| numbers(&packet.bytes)).collect()
}

fn table(device: &Device, name: &str) -> ir::TableId {
    let tables = &device.program().tables;
    let at = tables.iter().position(|table| &*table.name == name).expect("it is there");
    ir::TableId(at as u32)
}

/// An entry of a table for a version, with a value for its first action.
fn entry(device: &Device, name: &str, version: u64, value: u64) -> Update {
    let table = table(device, name);
    let key = vec![KeyPattern::Exact(Bits::from_u64(1, version))];
    let action = device.program().tables[table.index()].actions[0].action;
    let action = BoundAction { action, arguments: vec![Bits::from_u64(16, value)] };
    Update::InsertEntry { table, entry: NewEntry::direct(key, 0, action) }
}

fn set_version(device: &Device, version: u64) -> Update {
    let table = table(device, "MyIngress.version");
    let action = device.program().tables[table.index()].actions[0].action;
    let action = BoundAction { action, arguments: vec![Bits::from_u64(1, version)] };
    Update::SetDefaultAction { table, action: Some(action) }
}

fn register(device: &Device, name: &str) -> RegisterId {
    let registers = &device.program().registers;
    let at = registers.iter().position(|register| &*register.name == name).expect("it is there");
    RegisterId(at as u32)
}

fn cell(device: &Device, name: &str, index: u64) -> u64 {
    let cells = device.cells();
    let register = cells.register(register(device, name)).expect("it is there");
    register.read(index).map_or(0, |value| value.low_u64())
}

#[test]
fn a_packet_stops_between_two_of_its_tables() {
    let mut device = device(program());
    let old = [entry(&device, "MyIngress.one", 0, 10), entry(&device, "MyIngress.two", 0, 10)];
    write(&device, old);
    device.inject(1, 0, order(1)).expect("not in the past");
    // The packet has read tables `version` and `one` and is before `two`.
    device.advance(2 * STAGE_PS - 1).expect("no assertion fails");
    assert!(device.is_busy());
    assert_eq!(device.next_event_ps(), Some(2 * STAGE_PS));
    let (one, two) = (table(&device, "MyIngress.one"), table(&device, "MyIngress.two"));
    let updates = [
        Update::ClearEntries { table: one },
        Update::ClearEntries { table: two },
        entry(&device, "MyIngress.one", 0, 20),
        entry(&device, "MyIngress.two", 0, 20),
    ];
    write(&device, updates);
    // The packet sees half of this single batch.
    assert_eq!(run(&mut device, &[]), [[10, 20, 0]]);
    let now_ps = device.now_ps();
    assert_eq!(run(&mut device, &[(now_ps, 1)]), [[20, 20, 1]]);
}

#[test]
fn a_version_read_once_keeps_a_packet_whole() {
    let mut device = device(program());
    let old = [entry(&device, "MyIngress.one", 0, 10), entry(&device, "MyIngress.two", 0, 10)];
    write(&device, old);
    device.inject(1, 0, order(1)).expect("not in the past");
    device.inject(1, 2 * STAGE_PS, order(1)).expect("not in the past");
    device.advance(STAGE_PS / 2).expect("no assertion fails");
    // Prepared and committed while the first packet is between `version` and `one`.
    let new = [entry(&device, "MyIngress.one", 1, 20), entry(&device, "MyIngress.two", 1, 20)];
    write(&device, new);
    let commit = [set_version(&device, 1)];
    write(&device, commit);
    assert_eq!(run(&mut device, &[]), [[10, 10, 0], [20, 20, 1]]);
}

#[test]
fn removing_the_old_version_too_early_shows() {
    let mut device = device(program());
    let old = [entry(&device, "MyIngress.one", 0, 10), entry(&device, "MyIngress.two", 0, 10)];
    write(&device, old);
    device.inject(1, 0, order(1)).expect("not in the past");
    device.advance(STAGE_PS / 2).expect("no assertion fails");
    let (one, two) = (table(&device, "MyIngress.one"), table(&device, "MyIngress.two"));
    let updates = [
        entry(&device, "MyIngress.one", 1, 20),
        entry(&device, "MyIngress.two", 1, 20),
        set_version(&device, 1),
    ];
    write(&device, updates);
    device.advance(STAGE_PS + STAGE_PS / 2).expect("no assertion fails");
    // The packet still reads `two` in the old version.
    let clear = |table| Update::ClearEntries { table };
    write(&device, [clear(one), clear(two)]);
    assert_eq!(run(&mut device, &[]), [[10, 0, 0]]);
}

#[test]
fn a_request_at_the_time_of_a_moment_comes_first() {
    // Table `one` is read one stage after the arrival.
    for (time_ps, expected) in [(STAGE_PS, [20, 0, 0]), (STAGE_PS + 1, [0, 0, 0])] {
        let mut device = device(program());
        let batch = Batch::of([entry(&device, "MyIngress.one", 0, 20)]);
        let mut target = device.target();
        let ticket = target.submit(batch, time_ps);
        assert_eq!(run(&mut device, &[(0, 1)]), [expected]);
        let outcome = target.poll(ticket).expect("it was carried out");
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

#[test]
fn a_barrier_waits_for_passes_under_way() {
    let mut device = device(program());
    device.inject(1, 0, order(1)).expect("not in the past");
    device.inject(1, STAGE_PS, order(1)).expect("not in the past");
    device.advance(STAGE_PS / 2).expect("no assertion fails");
    let mut target = device.target();
    let ticket = target.barrier(STAGE_PS / 2);
    // The first packet leaves 10 stages after its arrival. The second arrives after the barrier.
    device.advance(10 * STAGE_PS - 1).expect("no assertion fails");
    assert_eq!(target.poll(ticket), None);
    device.advance(10 * STAGE_PS).expect("no assertion fails");
    assert!(target.poll(ticket).is_some());
    assert!(device.is_busy());
}

#[test]
fn a_read_and_a_later_write_of_two_packets_interleave() {
    let mut device = device(program());
    // The first packet writes one stage after its read. The second reads in between.
    assert_eq!(run(&mut device, &[(0, 2), (STAGE_PS / 2, 2)]), [[0, 0, 0], [0, 0, 1]]);
    assert_eq!(cell(&device, "MyIngress.cells", 0), 1);
}

#[test]
fn a_read_at_the_time_of_a_write_comes_after_it() {
    let mut device = device(program());
    // The first packet's write and the second one's read are at one time: in order of arrival.
    assert_eq!(run(&mut device, &[(0, 2), (STAGE_PS, 2)]), [[0, 0, 0], [1, 0, 1]]);
    assert_eq!(cell(&device, "MyIngress.cells", 0), 2);
}

#[test]
fn a_fused_access_loses_nothing() {
    let mut device = device(Program::clone(ready(include_str!("program.p4")).program()));
    assert_eq!(run(&mut device, &[(0, 2), (STAGE_PS / 2, 2)]), [[0, 0, 0], [1, 0, 1]]);
    assert_eq!(cell(&device, "MyIngress.cells", 0), 2);
}

#[test]
fn an_atomic_block_loses_nothing() {
    let mut device = device(program());
    let packets = [(0, 3), (1, 3), (STAGE_PS / 2, 3), (STAGE_PS / 2, 3)];
    let seen: Vec<u16> = run(&mut device, &packets).iter().map(|numbers| numbers[0]).collect();
    assert_eq!(seen, [0, 1, 2, 3]);
    assert_eq!(cell(&device, "MyIngress.cells", 1), 4);
}

#[test]
fn an_atomic_block_sees_one_state_of_two_arrays() {
    // One batch writes both arrays; read at each time of a pass.
    let seen = |what: u8| -> BTreeSet<(u16, u16)> {
        let times = (0..20).map(|half_stages| half_stages * STAGE_PS / 2);
        let run_with_write_at = |time_ps: u64| {
            let mut device = device(program());
            device.inject(1, 0, order(what)).expect("not in the past");
            device.advance(time_ps).expect("no assertion fails");
            let ids = ["MyIngress.cells", "MyIngress.others"].map(|name| register(&device, name));
            let values = CellValues::Same(Bits::from_u64(16, 7));
            let write_cell = |register| Update::WriteRegister {
                register,
                cells: CellRange::one(2),
                values: values.clone(),
            };
            write(&device, ids.map(write_cell));
            let [first, second, _] = run(&mut device, &[])[0];
            (first, second)
        };
        times.map(run_with_write_at).collect()
    };
    assert_eq!(seen(4), BTreeSet::from([(0, 0), (0, 7), (7, 7)]));
    assert_eq!(seen(5), BTreeSet::from([(0, 0), (7, 7)]));
}

#[test]
fn packets_leave_when_both_halves_are_over() {
    let stages = |what: u8| {
        let mut device = device(program());
        device.inject(1, 5, order(what)).expect("not in the past");
        device.run_to_completion().expect("no assertion fails");
        device.drain_transmitted()[0].time_ps
    };
    // Each packet takes as long as the longest path: 3 tables, 2 + 1 + 2 + 1 register moments, and one in egress.
    let all = [0, 1, 2, 3, 4, 5, 6].map(stages);
    assert_eq!(all, [5 + (9 + 1) * STAGE_PS; 7]);
}

#[test]
fn latencies_are_kept_where_stages_take_less() {
    let options = DeviceOptions {
        ingress_latency_ps: 1_000_000,
        egress_latency_ps: 500_000,
        ..timed(timing())
    };
    let mut device = Device::new(Arc::new(program()), options).expect("loads");
    device.inject(1, 5, order(1)).expect("not in the past");
    device.run_to_completion().expect("no assertion fails");
    assert_eq!(device.drain_transmitted()[0].time_ps, 1_500_005);
    assert_eq!(device.now_ps(), 1_500_005);
}

#[test]
fn packets_are_in_both_halves_side_by_side() {
    let mut device = device(program());
    for number in 0..20 {
        device.inject(1, number * 1000, order(0)).expect("not in the past");
    }
    device.advance(9 * STAGE_PS + 10_000).expect("no assertion fails");
    // Ingress takes 90 ns, egress 10 ns: some have left, some are in egress, the last has just arrived.
    let sent = device.drain_transmitted().len();
    assert_eq!(sent, 1);
    device.run_to_completion().expect("no assertion fails");
    let rest = device.drain_transmitted();
    let times: Vec<u64> = rest.iter().map(|packet| packet.time_ps).collect();
    let expected: Vec<u64> = (1..20).map(|number| number * 1000 + 10 * STAGE_PS).collect();
    assert_eq!(times, expected);
    assert_eq!(device.statistics().ports[&9].sent_packets, 20);
}

#[test]
fn wires_send_one_packet_after_the_other() {
    // A byte takes 1 ns, a packet of 8 bytes 8 ns. Five arrive at the same time.
    let port = PortOptions { rate_bps: Some(8_000_000_000), ..PortOptions::default() };
    let ports = [(9, port)].into_iter().collect();
    let traffic_manager = TrafficManagerOptions { ports, ..TrafficManagerOptions::default() };
    let options = DeviceOptions { traffic_manager, ..timed(timing()) };
    let mut device = Device::new(Arc::new(program()), options).expect("loads");
    for _ in 0..5 {
        device.inject(1, 0, order(0)).expect("not in the past");
    }
    device.run_to_completion().expect("no assertion fails");
    let times: Vec<u64> = device.drain_transmitted().iter().map(|packet| packet.time_ps).collect();
    let expected: Vec<u64> = (1..=5).map(|number| 10 * STAGE_PS + number * 8_000).collect();
    assert_eq!(times, expected);
}

#[test]
fn everything_has_its_own_time() {
    let options = DeviceOptions { tap: true, trace: true, ..timed(timing()) };
    let mut device = Device::new(Arc::new(program()), options).expect("loads");
    let entries = [entry(&device, "MyIngress.one", 0, 10)];
    write(&device, entries);
    device.inject(1, 0, order(6)).expect("not in the past");
    device.inject(1, 3, order(1)).expect("not in the past");
    device.run_to_completion().expect("no assertion fails");
    // The request for the digest is after the last moment of its path. It is sent at the end of ingress.
    let digests = device.drain_digests();
    assert_eq!(digests.iter().map(|digest| digest.time_ps).collect::<Vec<_>>(), [9 * STAGE_PS]);
    assert_eq!(device.drain_log().iter().map(|line| line.time_ps).collect::<Vec<_>>(), [0]);
    let queued: Vec<(u64, u64)> = device
        .drain_taps()
        .into_iter()
        .filter(|tapped| matches!(tapped.what, TappedEvent::Queued { .. }))
        .map(|tapped| (tapped.packet, tapped.time_ps))
        .collect();
    assert_eq!(queued, [(0, 9 * STAGE_PS), (1, 9 * STAGE_PS + 3)]);
    let traces = device.drain_traces();
    let text = device::trace::text(&traces[1]);
    for expected in ["table MyIngress.version", "table MyIngress.one", "table MyIngress.two"] {
        assert!(text.contains(expected), "{text}");
    }
    let times: Vec<&str> = text
        .lines()
        .filter(|line| line.trim_start().starts_with("table"))
        .filter_map(|line| line.rsplit_once(", at ").map(|(_, time)| time))
        .collect();
    assert_eq!(times, ["0.000000000003 s", "0.000000010003 s", "0.000000020003 s"], "{text}");
}

#[test]
fn clones_are_made_at_the_end_of_ingress() {
    let mut device = device(program());
    device.inject(1, 0, order(7)).expect("not in the past");
    device.advance(9 * STAGE_PS - 1).expect("no assertion fails");
    // The session is added at the last stage of the packet and removed before its departure.
    write(&device, [session(5, &[(4, 0)])]);
    device.run_to_completion().expect("no assertion fails");
    let ports: Vec<u32> = device.drain_transmitted().iter().map(|packet| packet.port).collect();
    assert_eq!(ports, [4, 9]);
}

#[test]
fn passes_end_with_the_program_that_they_began_with() {
    let mut device = device(program());
    let entries = [entry(&device, "MyIngress.two", 0, 10)];
    write(&device, entries);
    device.inject(1, 0, order(1)).expect("not in the past");
    device.advance(STAGE_PS).expect("no assertion fails");
    let other = lowered(
        &include_str!("program.p4").replace("hdr.order.second = value", "hdr.order.second = 99"),
    );
    device.load_second(Arc::new(other)).expect("loads");
    assert!(device.swap());
    assert_eq!(device.loaded_programs(), 2);
    let now_ps = device.now_ps();
    assert_eq!(run(&mut device, &[(now_ps, 1)]), [[0, 10, 0], [0, 99, 0]]);
    assert_eq!(device.loaded_programs(), 1);
}

#[test]
fn an_assertion_stops_the_run_at_its_moment() {
    let text = include_str!("program.p4")
        .replace("two.apply();", "two.apply(); assert(hdr.order.second == 0);");
    let mut device = device(lowered(&text));
    let entries = [entry(&device, "MyIngress.two", 0, 10)];
    write(&device, entries);
    device.inject(1, 7, order(1)).expect("not in the past");
    match device.run_to_completion() {
        Err(DeviceError::AssertionFailed { time_ps, .. }) => assert_eq!(time_ps, 7 + 2 * STAGE_PS),
        other => panic!("{other:?}"),
    }
}

#[test]
fn stages_are_given_by_name() {
    let stages = |stages: &[(&str, u32)]| {
        let stages = stages.iter().map(|(name, stage)| (name.to_string(), *stage)).collect();
        timed(PassTiming { first_stage_ps: 500, stage_ps: STAGE_PS, stages })
    };
    let load = |options| Device::new(Arc::new(program()), options);
    let mut device =
        load(stages(&[("MyIngress.version", 4), ("MyIngress.one", 4)])).expect("loads");
    let entries = [entry(&device, "MyIngress.one", 0, 10), entry(&device, "MyIngress.two", 0, 10)];
    write(&device, entries);
    device.inject(1, 0, order(1)).expect("not in the past");
    device.advance(500 + 4 * STAGE_PS).expect("no assertion fails");
    // Both tables are read at the same time, before the new version.
    let commit = [set_version(&device, 1)];
    write(&device, commit);
    assert_eq!(device.next_event_ps(), Some(500 + 5 * STAGE_PS));
    assert_eq!(run(&mut device, &[]), [[10, 10, 0]]);

    let message = |options| load(options).map(|_| ()).expect_err("does not fit").to_string();
    assert_eq!(
        message(stages(&[("MyIngress.two", 0)])),
        "the times of passes do not fit the program: `MyIngress.two` cannot be in stage 0: an access before \
         it is in stage 1"
    );
    assert_eq!(
        message(stages(&[("MyIngress.three", 1)])),
        "the times of passes do not fit the program: `MyIngress.three` is given a stage, but ingress and \
         egress of the program access nothing of that name"
    );
}

#[test]
fn machine_code_refuses_passes_that_take_time() {
    for engine in [EngineChoice::Jit, EngineChoice::default()] {
        let options = DeviceOptions { engine, ..timed(timing()) };
        let error = Device::new(Arc::new(program()), options).expect_err("machine code cannot");
        assert_eq!(error, LoadError::PassTimingOnJit);
        assert_eq!(error.code().0, "DV-E0107");
        assert!(error.to_string().contains("--engine interp"), "{error}");
    }
    let note = "passes take time, so the interpreter runs them moment by moment";
    assert_eq!(device(program()).notes(), [note]);
}

/// Marks of places in a packet of `places.p4`.
const PLACES: [(usize, &str); 4] = [(3, "a"), (5, "b"), (7, "c"), (9, "d")];

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(40), ..ProptestConfig::default() })]

    #[test]
    fn packets_come_to_each_place_in_the_order_of_arrival(
        packets in prop::collection::vec((0u64..30, 0u8..8, 0u32..4), 2..40),
        stage_ps in 0u64..25,
        first_stage_ps in 0u64..40,
    ) {
        let program = Arc::new(lowered(include_str!("places.p4")));
        let timing = PassTiming { first_stage_ps, stage_ps, ..PassTiming::default() };
        let mut device = Device::new(program, timed(timing)).expect("loads");
        let mut time_ps = 0;
        let mut ports = Vec::new();
        for (gap_ps, mask, port) in &packets {
            time_ps += gap_ps;
            let mut bytes = vec![*mask];
            bytes.resize(11, 0);
            device.inject(*port, time_ps, bytes).expect("not in the past");
            ports.push((time_ps, *port));
        }
        device.run_to_completion().expect("no assertion fails");
        let mut sent = device.drain_transmitted();
        prop_assert_eq!(sent.len(), packets.len());
        // Packets of equal time are in order of port, then of injection.
        sent.sort_by_key(|sent| (ports[sent.packet as usize], sent.packet));
        for (at, place) in PLACES {
            let numbers: Vec<u16> = sent
                .iter()
                .map(|sent| u16::from_be_bytes([sent.bytes[at], sent.bytes[at + 1]]))
                .filter(|number| *number > 0)
                .collect();
            let expected: Vec<u16> = (1..=numbers.len() as u16).collect();
            prop_assert_eq!(numbers, expected, "place {}", place);
        }
    }
}
