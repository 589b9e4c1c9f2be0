// SPDX-License-Identifier: Apache-2.0
//! Events that wait by going round: runs in which devices make rounds without the program are the same as runs in which
//! the program makes every round, in all that can be observed.

use crate::delays::program_and_run;
use device::EngineChoice;
use lucid::core::Program;
use lucid_compiler::{Backend, Delay, Options};
use lucid_network::CompiledSimulation;
use lucid_network::options::port_options;
use lucid_reference::simulation::{Observation, Observer, Setup};
use lucid_reference::specification::Run;
use lucid_testing::generator::{Features, generate};
use source::SourceMap;
use std::sync::Arc;

/// All observations as text.
#[derive(Default)]
struct Everything(Vec<String>);

impl Observer for Everything {
    fn wants_accesses(&self) -> bool {
        true
    }

    fn observe(&mut self, observation: Observation) {
        self.0.push(format!("{observation:?}"));
    }
}

/// Until when devices make rounds without the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skips {
    Never,
    UntilTheFirstStop,
    ToTheEnd,
}

/// How a run is made.
#[derive(Clone, Copy, Debug)]
struct How {
    target: Backend,
    engine: EngineChoice,
    skips: Skips,
    /// Times at which the run stops and goes on, besides its end.
    stops_ps: &'static [u64],
}

/// All that can be observed of a run, and how many rounds the program did not make. `None` if the program does not
/// compile.
fn ran(map: &SourceMap, program: &Program, run: &Run, how: How) -> Option<(Vec<String>, u64)> {
    let setup = Arc::new(Setup::new(Arc::new(program.clone()), run).expect("a run"));
    let delay = Delay::Recirculation;
    let options = port_options(&setup, Options { target: how.target, delay, ..Options::default() });
    let compiled = match how.target {
        Backend::V1Model => lucid_compiler::compile(program, map, &options),
        Backend::Tna => lucid_compiler::tna::compile_unlimited(program, map.clone(), &options),
    };
    let compiled = Arc::new(compiled.ok()?);
    let mut simulation =
        CompiledSimulation::new(setup.clone(), compiled, how.engine).expect("devices");
    if how.skips == Skips::Never {
        simulation.run_every_round();
    }
    let mut seen = Everything::default();
    let note = |simulation: &CompiledSimulation, text: String| {
        let mut all = vec![text];
        all.push(format!("{} handled, {} passes", simulation.handled(), simulation.passes()));
        for switch in 0..setup.switches() {
            let device = simulation.device(switch).expect("a device");
            let rounds = device::OutputPath::Port(setup.recirculation_ports()[switch as usize]);
            all.push(format!(
                "{switch}: {:?} {:?} {:?} {:?} {} {:?}",
                simulation.counts(switch),
                simulation.state(switch),
                device.statistics(),
                device.queue_statistics(rounds, 0),
                device.buffered_bytes(),
                device.next_event_ps(),
            ));
        }
        all
    };
    let mut all = Vec::new();
    for stop_ps in how.stops_ps {
        let outcome = simulation.run_until(*stop_ps, &mut seen);
        all.extend(note(&simulation, format!("{outcome:?}")));
        if how.skips == Skips::UntilTheFirstStop {
            simulation.run_every_round();
        }
    }
    let outcome = simulation.run(&mut seen);
    all.extend(note(&simulation, format!("{outcome:?}")));
    seen.0.extend(all);
    Some((seen.0, simulation.skipped_rounds()))
}

/// Compares a run with its equal in which the program makes every round. Returns how many rounds it does not make, and
/// how many lines were compared.
fn compare(
    (map, program, run): &(SourceMap, Program, Run),
    (target, engine): (Backend, EngineChoice),
    stops_ps: &'static [u64],
) -> (u64, usize) {
    let how = How { target, engine, skips: Skips::ToTheEnd, stops_ps };
    let Some((short, skipped)) = ran(map, program, run, how) else { return (0, 0) };
    let other = |skips| ran(map, program, run, How { skips, ..how }).expect("it compiled");
    let (long, none) = other(Skips::Never);
    assert_eq!(none, 0);
    let check = |short: &[String]| {
        for (number, (short, long)) in short.iter().zip(&long).enumerate() {
            assert_eq!(short, long, "line {number}, {how:?}");
        }
        assert_eq!(short.len(), long.len());
    };
    check(&short);
    if !stops_ps.is_empty() {
        check(&other(Skips::UntilTheFirstStop).0);
    }
    (skipped, short.len())
}

const BOTH: [Backend; 2] = [Backend::V1Model, Backend::Tna];

/// Compares a run; the program has to be spared most rounds.
fn check(source: &str, run: &str, targets: &[Backend], stops_ps: &'static [u64]) {
    let all = program_and_run(source, run);
    for target in targets {
        let (skipped, lines) = compare(&all, (*target, EngineChoice::Jit), stops_ps);
        println!("{skipped} rounds skipped, {lines} lines, {target:?}");
        assert!(skipped > 100, "{skipped} rounds skipped, {target:?}");
    }
}

const TICK: &str = "event tick(int n, int wait);
    global Array.t<32> seen = Array.create(16);
    memop plus(int stored, int x) { return stored + x; }
    handle tick(int n, int wait) {
        int count = Array.update(seen, n[3:0], plus, 1, plus, 1);
        generate Event.delay(tick(n + 1, wait + count), wait);
    }";

/// The stamp of a frame is the address of a frame without one, 0x210, each 65,536 ns.
#[test]
fn one_event_waits() {
    check(
        TICK,
        r#"{"max time": "3ms", "events": [{"name": "tick", "args": [0, 77777]}]}"#,
        &BOTH,
        &[1, 599_000, 600_000, 1_000_000_000, 1_000_000_001, 2_500_000_777],
    );
    // A delay of some rounds, one of 100 ms, and one that is over within the first round.
    for wait in ["2500", "100000000", "601"] {
        let run = r#"{"max time": "350ms", "events": [{"name": "tick", "args": [3, WAIT]}]}"#;
        let run = run
            .replace("WAIT", wait)
            .replace("350ms", if wait.len() < 5 { "300us" } else { "350ms" });
        check(TICK, &run, &BOTH, &[]);
    }
}

/// Rounds take 600 ns, and ingress takes a packet each nanosecond.
#[test]
fn events_wait_together() {
    for (count, gap) in [(2, "0"), (40, "13ns"), (599, "1ns"), (700, "0"), (1000, "3ns")] {
        let run = r#"{"max time": "60us", "events": [{"name": "tick", "type": "generator",
            "count": COUNT, "gap": "GAP", "args": [{"sequence": {}}, {"uniform": [10000, 30000]}]}]}"#;
        let run = run.replace("COUNT", &count.to_string()).replace("GAP", gap);
        check(TICK, &run, &BOTH, &[33_333_333, 33_333_334]);
    }
}

/// Events for ports, for other switches and with payloads wait too, beside events that do not wait.
#[test]
fn events_of_all_kinds_wait() {
    let source = "event turn(int<8> n);
        event wait(int<9> n, bool odd, Payload.t rest);
        event there(int n);
        event out(int n);
        packet event raw(int<8> n, Payload.t rest);
        global Array.t<32> seen = Array.create(4);
        memop plus(int stored, int x) { return stored + x; }
        handle turn(int<8> n) { if (n != 0) { generate turn(n - 1); } }
        handle wait(int<9> n, bool odd, Payload.t rest) {
            int count = Array.update(seen, 1, plus, 1, plus, 1);
            printf(\"%d at %d\", count, Sys.time());
            generate Event.delay(wait(n + 1, !odd, rest), 40000 + count);
            generate_switch(1, Event.delay(there(count), 5000));
            generate_port(3, Event.delay(out(Sys.random()), 7000));
            generate_ports(flood 1, Event.delay(out(4), 3000));
            generate Event.delay(raw(9, rest), 20000);
        }
        handle there(int n) {
            int count = Array.update(seen, 2, plus, 1, plus, n);
            generate_switch(0, Event.delay(there(count + Sys.random()), 9000));
        }
        handle raw(int<8> n, Payload.t rest) {
            int count = Array.update(seen, 0, plus, 1, plus, 1);
            if (count < 30) { generate turn(5); }
        }
        parser main(bitstring pkt) {
            int<8> n = read(pkt);
            generate(raw(n, Payload.parse(pkt)));
        }";
    for switches in ["1", "2"] {
        let run = r#"{"switches": SWITCHES, LINKS "max time": "400us", "events": [
            {"name": "wait", "args": [5, true, "aabbcc"]},
            {"name": "wait", "args": [8, false, ""], "timestamp": "10us"},
            {"name": "turn", "args": [255], "timestamp": "50us"},
            {"name": "wait", "args": [8, false, "00"], "locations": ["0:9"], "timestamp": "61234ns"},
            {"type": "packet", "bytes": "07aa", "timestamp": "123456ns", "locations": ["0:2"]},
            {"type": "command", "name": "Array.set", "timestamp": "200us",
             "args": {"array": "seen", "index": 1, "value": [100]}}]}"#;
        let links = if switches == "2" { r#""links": {"0:1": "1:1"},"# } else { "" };
        let run = run.replace("SWITCHES", switches).replace("LINKS", links);
        check(source, &run, &[Backend::V1Model], &[100_000_000, 250_000_500]);
    }
}

/// The program with long delays, and delays of events that have none.
fn with_long_delays(source: &str) -> String {
    // Delays of ten bits are the longest in generated programs.
    let mut source = source.replace("(int<32>)(int<10>)(", "(int<32>)(int<16>)(");
    let (mut at, mut number) = (0, 0);
    while let Some(found) = source[at..].find("generate ") {
        let begin = at + found + "generate ".len();
        let end = begin + source[begin..].find(';').expect("a statement");
        if !source[begin..end].starts_with("Event.locate") {
            number += 1;
            let event =
                format!("Event.delay({}, {})", &source[begin..end], number * 7919 % 150_000);
            source.replace_range(begin..end, &event);
        }
        at = begin;
    }
    source
}

/// Generated programs, whose events wait long.
fn generated_programs_wait(target: Backend) {
    let (mut skipped, mut lines) = (0, 0);
    for seed in testing::seeds(60) {
        let generated = generate(&testing::tape::from_seed(seed, 800), Features::HANDLERS);
        let source = with_long_delays(&generated.source);
        let run = generated.run.replace("\"max time\": 20000", "\"max time\": 300000");
        assert_ne!(run, generated.run);
        let all = program_and_run(&source, &run);
        let engine = match seed % 4 {
            0 => EngineChoice::Jit,
            _ => EngineChoice::Interpreter,
        };
        let (more_skipped, more_lines) = compare(&all, (target, engine), &[2_000_000]);
        skipped += more_skipped;
        lines += more_lines;
    }
    println!("{skipped} rounds skipped, {lines} lines compared");
    assert!(skipped > 1000, "{skipped} rounds skipped");
}

#[test]
fn generated_programs_wait_on_v1model() {
    generated_programs_wait(Backend::V1Model);
}

#[test]
fn generated_programs_wait_on_tofino() {
    generated_programs_wait(Backend::Tna);
}
