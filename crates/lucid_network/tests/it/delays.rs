// SPDX-License-Identifier: Apache-2.0
//! Small programs with delays, with both kinds of delay, for both targets: never early, never lost.

use crate::oracle::{Judged, judge};
use device::EngineChoice;
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_compiler::{Backend, Delay, Options, tna};
use lucid_network::deploy::granularity_beyond_stamps;
use lucid_network::{CompiledSimulation, Verified};
use lucid_reference::simulation::{NullObserver, Setup};
use lucid_reference::specification::{Format, Run, read};
use source::{RenderOptions, SourceMap, Span, render_text};
use std::sync::Arc;

/// Read and elaborated.
pub fn program_and_run(source: &str, run: &str) -> (SourceMap, Program, Run) {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let symbolics = Symbolics::default();
    let text = source.to_string();
    let program = match front::compile(&mut map, "small.dpt", text, &files, &symbolics, &[]) {
        Ok(compiled) => compiled.program,
        Err(said) => panic!("{}", render_text(&map, &said, RenderOptions::default())),
    };
    let file = map.add("run.json", run.to_string());
    let (specification, said) = read(&map, file, Format::Json);
    let specification = specification
        .unwrap_or_else(|| panic!("{}", render_text(&map, &said, RenderOptions::default())));
    (map, program, specification)
}

/// How many handlers ran.
fn check(source: &str, run: &str, options: &Options) -> usize {
    check_on(source, run, options, EngineChoice::Jit)
}

/// The same by one of the engines.
pub fn check_on(source: &str, run: &str, options: &Options, engine: EngineChoice) -> usize {
    judged(source, run, options, engine).schedule.dispatches.len()
}

/// The result of a run that is as the reference interpreter's.
fn judged(source: &str, run: &str, options: &Options, engine: EngineChoice) -> Box<Verified> {
    let (map, program, specification) = program_and_run(source, run);
    let folder = std::path::Path::new("");
    match judge(&map, &program, &specification, folder, options, engine) {
        Ok(Judged::Same(verified, _)) => verified,
        Ok(Judged::Refused(said)) | Err(said) => panic!("{options:?}: {said}\n{source}"),
    }
}

fn check_delayed(source: &str, run: &str, target: Backend, handlers: usize) {
    for delay in [Delay::Recirculation, Delay::Queue] {
        let options = Options { target, delay, ..Options::default() };
        assert_eq!(check(source, run, &options), handlers, "{options:?}");
    }
}

pub fn check_for_tna(source: &str, run: &str, handlers: usize) {
    check_delayed(source, run, Backend::Tna, handlers);
}

pub fn check_everywhere(source: &str, run: &str, handlers: usize) {
    for target in [Backend::V1Model, Backend::Tna] {
        check_delayed(source, run, target, handlers);
    }
}

#[test]
fn one_delayed_event() {
    check_everywhere(
        "event tick(int<8> n);
         handle tick(int<8> n) { if (n != 0) { generate Event.delay(tick(n - 1), 2000); } }",
        r#"{"max time": "5ms", "events": [{"name": "tick", "args": [3]}]}"#,
        4,
    );
}

/// A copy that the serialiser makes comes round for the first time with its whole delay.
#[test]
fn a_delayed_event_beside_another() {
    check_everywhere(
        "event tick(int<8> n);
         event other();
         handle tick(int<8> n) {
             if (n != 0) {
                 generate Event.delay(tick(n - 1), 2000);
                 generate other();
             }
         }
         handle other() { skip; }",
        r#"{"max time": "5ms", "events": [{"name": "tick", "args": [3]}]}"#,
        7,
    );
}

/// Of two equal events the one that is due first comes first.
#[test]
fn equal_events_with_different_delays() {
    check_everywhere(
        "global Array.t<32> count = Array.create(1);
         memop plus(int stored, int more) { return stored + more; }
         event start();
         event done(int x);
         handle start() {
             generate Event.delay(done(1), 3000);
             generate done(1);
         }
         handle done(int x) { Array.setm(count, 0, plus, x); }",
        r#"{"max time": "5ms", "events": [{"name": "start", "args": []}]}"#,
        3,
    );
}

/// To another switch, to this one by its number, out of ports; longer than 16 bits of nanoseconds.
#[test]
fn delayed_events_for_other_places() {
    check_everywhere(
        "global Array.t<32> count = Array.create(4);
         memop plus(int stored, int more) { return stored + more; }
         event at(int<2> n, int x);
         event go(int x);
         handle at(int<2> n, int x) { Array.setm(count, n, plus, x); }
         handle go(int x) {
             match x with
             | 0 -> { generate Event.delay(Event.locate(at(0, 1), 1), 3000); }
             | 1 -> { generate_port(1, Event.delay(at(1, 2), 2500)); generate at(1, 7); }
             | 2 -> { generate Event.delay(Event.locate(at(2, 3), {0, 1}), 2000); }
             | 3 -> { generate_ports(flood 9, Event.delay(at(3, 4), 4000)); generate at(3, x); }
             | 4 -> { generate Event.delay(Event.locate(at(0, 9), 0), 150000); }
             | _ -> { generate Event.delay(at(0, 5), 70000); generate Event.delay(at(0, 5), 70001); }
         }",
        r#"{"max time": "5ms", "switches": 2, "links": {"0:1": "1:1"}, "events": [
            {"name": "go", "args": [0], "timestamp": 0},
            {"name": "go", "args": [1], "timestamp": 3000},
            {"name": "go", "args": [2], "timestamp": 9000},
            {"name": "go", "args": [3], "timestamp": 20000},
            {"name": "go", "args": [4], "timestamp": 30000},
            {"name": "go", "args": [5], "timestamp": 40000}]}"#,
        16,
    );
}

/// A round takes 600 ns, which a period of the delay queue does not have: the time going round counts too.
#[test]
fn queues_with_short_periods() {
    let source = "global Array.t<32> late = Array.create(32);
         event a(int<8> x);
         event b(int<8> x);
         event c();
         handle c() { skip; }
         handle a(int<8> x) { generate c(); generate Event.delay(b(x), 5000); }
         handle b(int<8> x) { Array.set(late, (int<32>) x, 1); }";
    let run = r#"{"max time": "1ms", "events": [{"type": "generator", "name": "a",
        "args": [{"sequence": 0}], "count": 20, "gap": "1300ns", "timestamp": "1us"}]}"#;
    for target in [Backend::V1Model, Backend::Tna] {
        for delay_period_ps in [100_000, 1_000_000, 7_000_000, 50_000_000, 60_000_000] {
            let options =
                Options { target, delay: Delay::Queue, delay_period_ps, ..Options::default() };
            assert_eq!(check(source, run, &options), 60, "{options:?}");
        }
    }
}

/// A delay is late by at most a period of the queue, a round to it and a round out of it, however long it is; and never
/// early, with rounds that are shorter than a unit of the time stamp too.
#[test]
fn long_delays_do_not_drift() {
    let source = "event start(int d);
         event other();
         event done();
         handle start(int d) {
             if (d == 0) { generate other(); generate Event.delay(done(), 7000000); }
             else { generate Event.delay(done(), d); }
         }
         handle other() { skip; }
         handle done() { skip; }";
    for (period_us, delay_ns) in [
        (100, 1_000_000),
        (100, 0),
        (100, 20_000_000),
        (25, 3_000_001),
        (51, 5_000_000),
        (300, 10_000_000),
        (1_000, 10_000_000),
        (10_000, 10_000_000),
        (10_000, 25_000_003),
        (200_000, 300_000_000),
    ] {
        for (round_ns, target) in [(600, Backend::V1Model), (600, Backend::Tna), (50, Backend::Tna)]
        {
            let asked_ns = if delay_ns == 0 { 7_000_000 } else { delay_ns };
            let until_us = asked_ns / 1000 + 3 * period_us as i64;
            let run = format!(
                r#"{{"max time": "{until_us}us", "generate delay": {round_ns}, "events": [
                    {{"name": "start", "args": [{delay_ns}], "timestamp": "12345678ps"}}]}}"#
            );
            let delay_period_ps = period_us * 1_000_000;
            let options = Options { target, delay_period_ps, ..Options::default() };
            let verified = judged(source, &run, &options, EngineChoice::Jit);
            let (first, last) = match verified.schedule.dispatches.as_slice() {
                [first, .., last] => (first, last),
                few => panic!("{options:?}: {few:?}"),
            };
            let late_ps = (last.time_ps - first.time_ps) as i64 - asked_ns * 1000;
            let longest_ps = (delay_period_ps + 3 * round_ns * 1000 + 1_000_000) as i64;
            assert!((0..=longest_ps).contains(&late_ps), "{late_ps} ps late, {run}\n{options:?}");
        }
    }
}

/// No time stamp on Tofino counts two periods of more than 1.5 s.
#[test]
fn tofino_has_a_longest_granularity() {
    for (target, period_s, is_refused) in
        [(Backend::Tna, 1, false), (Backend::Tna, 2, true), (Backend::V1Model, 2, false)]
    {
        let delay_period_ps = period_s * 1_000_000_000_000;
        let options = Options { target, delay_period_ps, ..Options::default() };
        let unfit = granularity_beyond_stamps(&options, Span::NONE);
        assert_eq!(
            unfit.map(|one| one.message.clone()),
            is_refused
                .then(|| { "`delay granularity` has to be at most 1500 ms on Tofino".to_string() })
        );
    }
}

/// Going round, a delay is late by two rounds at most.
#[test]
fn long_delays_that_go_round_do_not_drift() {
    let source = "event start(); event done();
         handle start() { generate Event.delay(done(), 10000000); }
         handle done() { skip; }";
    // Multiples of a round hit each time stamp, and the one that looks like none.
    for began_ns in [528, 1] {
        let run = format!(
            r#"{{"max time": "11ms", "events": [{{"name": "start", "args": [], "timestamp": {began_ns}}}]}}"#
        );
        for target in [Backend::V1Model, Backend::Tna] {
            let delay = Delay::Recirculation;
            let options = Options { target, delay, ..Options::default() };
            let verified = judged(source, &run, &options, EngineChoice::Jit);
            let times: Vec<u64> =
                verified.schedule.dispatches.iter().map(|it| it.time_ps).collect();
            let late_ps = (times[1] - times[0]) as i64 - 10_000_000_000;
            assert!(
                (0..=1_900_000).contains(&late_ps),
                "{late_ps} ps late, {began_ns} {options:?}"
            );
        }
    }
}

/// The program for Tofino sends the packet generator's frames to the recirculation port, and nothing else
/// times its queue.
#[test]
fn programs_for_tofino_time_their_queue() {
    let (map, program, run) = program_and_run(
        "event tick(int<8> n);
         handle tick(int<8> n) { if (n != 0) { generate Event.delay(tick(n - 1), 2000); } }",
        r#"{"max time": "1ms", "events": [{"name": "tick", "args": [3], "timestamp": "250us"}]}"#,
    );
    let options = Options { target: Backend::Tna, ..Options::default() };
    let compiled = tna::compile_unlimited(&program, map, &options).expect("a program");
    let setup = Arc::new(Setup::new(Arc::new(program), &run).expect("a run"));
    let engine = EngineChoice::Interpreter;
    let mut simulation =
        CompiledSimulation::new(setup, Arc::new(compiled), engine).expect("a device");
    simulation.run(&mut NullObserver);
    let device = simulation.device(0).expect("a switch");
    assert_eq!(device.options().packet_generator, []);
    // One at the beginning, and two in each period, of which the last are still on their way.
    assert_eq!(device.statistics().flow_control_frames, 1 + 2 * 9);
    assert_eq!(simulation.handled(), 4);
}

/// Packets of flow control that come from outside, or go round as a packet event, are the program's.
#[test]
fn packets_of_flow_control_from_outside_are_packets() {
    let source = "packet event control(int<48> d, int<48> s, int<16> t, int<16> opcode, Payload.t rest);
         packet event other(int<48> d, int<48> s, int<16> t, Payload.t rest);
         global Array.t<32> seen = Array.create(4);
         memop plus(int stored, int x) { return stored + x; }
         handle other(int<48> d, int<48> s, int<16> t, Payload.t rest) {
             Array.setm(seen, 1, plus, 1);
         }
         handle control(int<48> d, int<48> s, int<16> t, int<16> opcode, Payload.t rest) {
             Array.setm(seen, 0, plus, 1);
             if (opcode != 2) { generate control(d, s, t, 2, rest); }
         }
         parser main(bitstring pkt) {
             int<48> d = read(pkt);
             int<48> s = read(pkt);
             int<16> t = read(pkt);
             match t with
             | 0x8808 -> { int<16> opcode = read(pkt); generate(control(d, s, t, opcode, Payload.parse(pkt))); }
             | _ -> { generate(other(d, s, t, Payload.parse(pkt))); }
         }";
    for port in [68, 69, 196] {
        let run = format!(
            r#"{{"max time": "1ms", "recirculation ports": {port}, "events": [
                {{"type": "packet", "bytes": "00000000000011121314151688080101aabbccdd", "locations": ["0:3"]}},
                {{"type": "packet", "bytes": "01020304050611121314151608000806aabbccdd",
                  "timestamp": 5000}}]}}"#
        );
        for target in [Backend::V1Model, Backend::Tna] {
            let options = Options { target, ..Options::default() };
            assert_eq!(check(source, &run, &options), 3, "{options:?}");
        }
    }
}

/// The packet generator's port is the recirculation port of no switch.
#[test]
fn packets_of_flow_control_go_round_at_every_switch() {
    let source = "packet event control(int<96> addresses, int<16> t, int<8> n, Payload.t rest);
         handle control(int<96> addresses, int<16> t, int<8> n, Payload.t rest) {
             if (n != 0) { generate control(addresses, t, n - 1, rest); }
         }
         parser main(bitstring pkt) {
             int<96> addresses = read(pkt);
             int<16> t = read(pkt);
             int<8> n = read(pkt);
             generate(control(addresses, t, n, Payload.parse(pkt)));
         }";
    let run = r#"{"max time": "1ms", "switches": 3, "recirculation ports": [196, 68, 69],
        "links": {"0:1": "1:1"}, "events": [
        {"type": "packet", "bytes": "000000000000111213141516880803aabb", "locations": "all"}]}"#;
    for target in [Backend::V1Model, Backend::Tna] {
        let options = Options { target, ..Options::default() };
        assert_eq!(check(source, run, &options), 12, "{options:?}");
    }
}
