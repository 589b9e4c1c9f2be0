// SPDX-License-Identifier: Apache-2.0
//! What a run tells is the same whatever runs the program: counters, what is lost and what leaves,
//! accesses, faults.

use crate::delays::program_and_run;
use device::EngineChoice;
use lucid::core::Program;
use lucid_compiler::{Backend, DELAY_PERIOD_PS, Delay, Options};
use lucid_network::options::delay_options;
use lucid_network::{CompiledSimulation, verify};
use lucid_reference::report::{Detail, ShownBytes, TextLog};
use lucid_reference::simulation::{Observation, Observer, Outcome, Setup, Simulation};
use lucid_reference::specification::Run;
use source::{RenderOptions, SourceMap, render_text};
use std::sync::Arc;

/// Keeps observations as text.
struct ObservationLog<'p> {
    program: &'p Program,
    lines: Vec<String>,
}

impl Observer for ObservationLog<'_> {
    fn wants_accesses(&self) -> bool {
        true
    }

    fn observe(&mut self, observation: Observation) {
        let mut text = String::new();
        let mut write = |piece: &str| text.push_str(piece);
        let mut log =
            TextLog::new(self.program, Detail::Everything, &mut write).with_bytes(ShownBytes::All);
        log.observe(observation);
        self.lines.extend(text.lines().map(str::trim).map(str::to_string));
    }
}

/// What a run tells: counters of each switch, the fault that stopped it, lines of the trace.
struct Happened {
    counts: Vec<String>,
    fault: Option<String>,
    lines: Vec<String>,
}

fn outcome(map: &SourceMap, outcome: Outcome) -> Option<String> {
    let Outcome::Stopped(fault) = outcome else { return None };
    let mut list = source::Diagnostics::new();
    list.push(*fault);
    Some(render_text(map, &list, RenderOptions::default()))
}

fn reference(map: &SourceMap, setup: &Arc<Setup>) -> Happened {
    let mut log = ObservationLog { program: setup.program(), lines: Vec::new() };
    let mut simulation = Simulation::new(setup.clone());
    let ended = simulation.run(&mut log);
    let counts = (0..setup.switches()).map(|at| format!("{:?}", simulation.counts(at)));
    Happened { counts: counts.collect(), fault: outcome(map, ended), lines: log.lines }
}

fn compiled(
    map: &SourceMap,
    setup: &Arc<Setup>,
    target: Backend,
    delay: Option<Delay>,
) -> Happened {
    let mut options = delay_options(setup, Options { target, ..Options::default() });
    if let Some(delay) = delay {
        options = Options { delay, delay_period_ps: DELAY_PERIOD_PS, ..options };
    }
    let made = || {
        let compiled = match target {
            Backend::V1Model => lucid_compiler::compile(setup.program(), map, &options),
            Backend::Tna => {
                lucid_compiler::tna::compile_unlimited(setup.program(), map.clone(), &options)
            }
        };
        let compiled = compiled
            .unwrap_or_else(|said| panic!("{}", render_text(map, &said, RenderOptions::default())));
        CompiledSimulation::new(setup.clone(), Arc::new(compiled), EngineChoice::Interpreter)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let mut log = ObservationLog { program: setup.program(), lines: Vec::new() };
    let mut simulation = made();
    let ended = simulation.run(&mut log);
    let counts = (0..setup.switches()).map(|at| format!("{:?}", simulation.counts(at)));
    let ran = Happened { counts: counts.collect(), fault: outcome(map, ended), lines: log.lines };
    let mut nothing = ObservationLog { program: setup.program(), lines: Vec::new() };
    let verified = verify(&mut made(), &mut nothing);
    assert_eq!(verified.difference, None, "{target:?}: {}", ran.lines.join("\n"));
    ran
}

/// Counters and faults are equal, and so are the lines of the trace with one of these words in them,
/// up to their times and order.
pub fn check(source: &str, run: &str, targets: &[Backend], words: &[&str], expected: &[&str]) {
    check_delayed(source, run, (targets, None), words, expected);
}

/// The same with a kind of delay of its own.
pub fn check_delayed(
    source: &str,
    run: &str,
    (targets, delay): (&[Backend], Option<Delay>),
    words: &[&str],
    expected: &[&str],
) {
    let (map, program, run): (SourceMap, Program, Run) = program_and_run(source, run);
    let setup = Setup::new(Arc::new(program), &run)
        .unwrap_or_else(|said| panic!("{}", render_text(&map, &said, RenderOptions::default())));
    let setup = Arc::new(setup);
    let chosen = |lines: &[String]| {
        let mut found: Vec<String> = lines
            .iter()
            .filter(|line| words.iter().any(|word| line.contains(word)))
            // The time comes first.
            .map(|line| line.split_once("  ").map_or(line.as_str(), |cut| cut.1.trim()).to_string())
            .collect();
        found.sort();
        found
    };
    let meant = reference(&map, &setup);
    for wanted in expected {
        let said = format!("{}\n{:?}\n{:?}", meant.lines.join("\n"), meant.counts, meant.fault);
        assert!(said.contains(wanted), "no {wanted:?}:\n{said}");
    }
    for target in targets {
        let found = compiled(&map, &setup, *target, delay);
        let all = found.lines.join("\n");
        assert_eq!(meant.counts, found.counts, "{target:?}: {all}");
        assert_eq!(meant.fault, found.fault, "{target:?}: {all}");
        assert_eq!(chosen(&meant.lines), chosen(&found.lines), "{target:?}: {all}");
    }
}

const BOTH: &[Backend] = &[Backend::V1Model, Backend::Tna];

/// An array of 8 cells, and an index of more bits.
const NARROW: &str = "global Array.t<32> cells = Array.create(8);
    memop plus(int stored, int more) { return stored + more; }
    event note(int index);
    event after(int x);
    handle note(int index) {
        int x = Array.update(cells, index, plus, 1, plus, 1);
        generate after(x);
    }
    handle after(int x) { skip; }";

#[test]
fn accesses_beyond_the_end_are_counted() {
    check(
        NARROW,
        r#"{"max time": "50us", "events": [{"name": "note", "args": [3]},
            {"name": "note", "args": [8]}, {"name": "note", "args": [4000000000]}]}"#,
        BOTH,
        &["cells"],
        &["out_of_range: 2", "4000000000"],
    );
}

#[test]
fn a_run_stops_at_an_access_beyond_the_end() {
    check(
        NARROW,
        r#"{"max time": "50us", "stop on out of range": true, "events": [
            {"name": "note", "args": [3]}, {"name": "note", "args": [9], "timestamp": "20us"},
            {"name": "note", "args": [5], "timestamp": "30us"}]}"#,
        BOTH,
        &["cells"],
        &["out_of_range: 1", "index 9 is beyond the end of `cells`", "handled: 3"],
    );
}

/// What goes round before it leaves by a port is not counted as recirculated, and neither is what waits
/// when the run ends counted less.
#[test]
fn generated_events_are_counted_alike() {
    check(
        "event go(int<8> n);
         event out(int<8> n);
         handle go(int<8> n) {
             generate_port(1, out(n));
             generate_port(2, out(n));
             generate_ports({3, 4}, out(n));
             if (n != 0) { generate Event.delay(go(n - 1), 150000); }
             generate_switch(1, out(n));
         }
         handle out(int<8> n) { skip; }",
        r#"{"switches": 2, "links": {"0:1": "1:1"}, "max time": "250us",
            "events": [{"name": "go", "args": [9]}]}"#,
        BOTH,
        &["left by"],
        &["generated: 12", "recirculated: 2", "left: 6"],
    );
}

#[test]
fn events_for_switches_that_are_not_there_are_lost() {
    check(
        "event go(int<8> n);
         handle go(int<8> n) { generate_switch(7, go(n)); }",
        r#"{"switches": 2, "links": {"0:1": "1:1"}, "max time": "50us",
            "events": [{"name": "go", "args": [9]}]}"#,
        BOTH,
        &["lost", "drop", "unreachable"],
        &["dropped: 1"],
    );
}

#[test]
fn accesses_are_told() {
    check(
        "global Array.t<32> cells = Array.create(8);
         global PairArray.t<32> pairs = PairArray.create(8);
         action int pick(int b)(int x) { return b + x; }
         global Table.t<<int<8>, int, int, int>> picks = Table.create(16, [pick], pick, 5);
         memop plus(int stored, int more) { return stored + more; }
         memop both(int c1, int c2, int x, int y) {
             bool low = c1 < x;
             if (low) { cell1 = x; }
             if (low) { cell2 = c2 + y; }
             if (low) { return c1; }
         }
         event note(int<8> key, int more);
         handle note(int<8> key, int more) {
             int x = Array.update(cells, 3, plus, more, plus, more);
             int y = PairArray.update(pairs, 2, both, more, 7, 0);
             int z = Table.lookup(picks, key, x + y);
             printf(\"%d\", z);
         }",
        r#"{"max time": "50us", "events": [
            {"type": "command", "name": "Table.install",
             "args": {"table": "picks", "key": [4], "action": "pick", "args": [100]}},
            {"name": "note", "args": [3, 10]}, {"name": "note", "args": [4, 20]}]}"#,
        &[Backend::V1Model],
        &["cells", "pairs", "picks"],
        &["cells[3]", "picks"],
    );
}

/// The time of a trace is when a delayed event is due, not when it comes round.
#[test]
fn delayed_events_are_told_when_they_are_due() {
    check(
        "event go(int<8> n);
         event tick(int<8> n);
         handle go(int<8> n) {
             generate Event.delay(tick(n), 5000);
             generate tick(n + 1);
         }
         handle tick(int<8> n) { skip; }",
        r#"{"max time": "500us", "events": [{"name": "go", "args": [9]}]}"#,
        BOTH,
        &["-> tick"],
        &["-> tick(n=9) to itself, at 5000 ns", "-> tick(n=10) to itself, at 600 ns"],
    );
}

/// An exit event leaves the network at the switch that sends it, whatever the port leads to.
#[test]
fn exit_events_leave_where_they_are_sent() {
    check(
        "exit event out(int<8> n);
         exit event both(int<8> n);
         event go(int<8> n);
         handle both(int<8> n) { skip; }
         handle go(int<8> n) {
             generate_port(1, out(n));
             generate_port(2, out(n + 1));
             generate out(n + 2);
             generate_switch(0, out(n + 3));
             generate_switch(0, both(n + 4));
             generate_switch(1, both(n + 5));
             generate both(n + 6);
         }",
        r#"{"switches": 2, "links": {"0:1": "1:1"}, "max time": "50us",
            "events": [{"name": "go", "args": [9]}]}"#,
        BOTH,
        &["left"],
        &["left by port 1: out(n=9)", "left: 6"],
    );
}

/// Events without a handler leave by the port by which they came.
#[test]
fn events_without_a_handler_leave() {
    check(
        "event seen(int<8> n);
         event go(int<8> n);
         handle go(int<8> n) {
             generate seen(n);
             generate_port(1, seen(n + 1));
             generate_switch(1, seen(n + 2));
         }",
        r#"{"switches": 2, "links": {"0:1": "1:1"}, "max time": "50us", "events": [
            {"name": "seen", "args": [5], "locations": ["0:3"]}, {"name": "go", "args": [9]}]}"#,
        BOTH,
        &["left", "dropped"],
        &["left by port 3: seen(n=5)", "left by port 1: seen(n=10)", "left by port 0: seen(n=11)"],
    );
}

/// So do packet events: those that the parser makes, and those that are named, of which it need not make
/// anything.
#[test]
fn packet_events_without_a_handler_leave() {
    check(
        "event seen(int<8> n);
         packet event raw(int<8> n, Payload.t rest);
         packet event known(int<8> n, Payload.t rest);
         handle known(int<8> n, Payload.t rest) {
             generate seen(n);
             generate_switch(1, seen(n + 1));
             generate_port(2, seen(n + 2));
             generate raw(n + 1, rest);
             generate raw(n + 3, rest);
         }
         parser main(bitstring pkt) {
             int<8> n = read(pkt);
             match n with
             | 7 -> { generate(known(n, Payload.parse(pkt))); }
             | 8 -> { generate(raw(n, Payload.parse(pkt))); }
             | _ -> { drop; }
         }",
        r#"{"switches": 2, "links": {"0:1": "1:1"}, "max time": "50us", "events": [
            {"name": "raw", "args": [5, "00112233445566778899aabbccdd"], "locations": ["0:3"]},
            {"name": "raw", "args": [8, "00112233445566778899aabbccdd"], "locations": ["0:4"]},
            {"type": "packet", "bytes": "0800112233445566778899aabbccdd", "locations": ["1:5"]},
            {"type": "packet", "bytes": "0900112233445566778899aabbccdd", "locations": ["1:5"]},
            {"name": "known", "args": [7, "00112233445566778899aabbccdd"], "locations": ["0:5"]}]}"#,
        BOTH,
        &["left", "dropped"],
        &["left by port 3: raw", "left by port 5: raw", "dropped: 1"],
    );
}

/// The fault that stops a compiled run which the reference runs to the end.
fn check_fault(source: &str, run: &str, target: Backend, expected: &[&str]) {
    let (map, program, run) = program_and_run(source, run);
    let setup = Arc::new(Setup::new(Arc::new(program), &run).expect("a run"));
    assert_eq!(reference(&map, &setup).fault, None);
    let options = Options { target, ..Options::default() };
    let compiled = lucid_compiler::compile(setup.program(), &map, &options).expect("a program");
    let engine = EngineChoice::Interpreter;
    let mut simulation = CompiledSimulation::new(setup, Arc::new(compiled), engine).expect("runs");
    let program = simulation.setup().program().clone();
    let mut log = ObservationLog { program: &program, lines: Vec::new() };
    let fault = outcome(&map, simulation.run(&mut log)).expect("a fault");
    for part in expected {
        assert!(fault.contains(part), "no {part:?}: {fault}");
    }
}

/// A packet event that is named comes in as its bytes; the parser has to make the event of them.
#[test]
fn packet_events_of_which_the_parser_makes_something_else() {
    let source = "packet event raw(int<8> n, int<8> m);
         handle raw(int<8> n, int<8> m) { skip; }
         parser main(bitstring pkt) {
             int<8> n = read(pkt);
             int<8> m = read(pkt);
             generate(raw(m, n));
         }";
    let run = r#"{"events": [{"name": "raw", "args": [5, 5]}, {"name": "raw", "args": [5, 6]}]}"#;
    check_fault(source, run, Backend::V1Model, &["does not make `raw`", "run.json:1:"]);
    let said = ["`raw` comes to switch 0 as a packet of 2 bytes", "14", "run.json:1:"];
    check_fault(source, run, Backend::Tna, &said);
}

/// Events of other sorts that the parser makes and that have no handler leave in a frame.
#[test]
fn events_without_a_handler_of_parsers_leave() {
    check(
        "event seen(int<8> n, int<4> m);
         event known(int<48> d);
         handle known(int<48> d) { skip; }
         parser main(bitstring pkt) {
             int<8> n = read(pkt);
             skip(8, pkt);
             match n with
             | 7 -> { generate(known(7)); }
             | _ -> { generate(seen(n, 3)); }
         }",
        r#"{"max time": "50us", "events": [
            {"type": "packet", "bytes": "0800112233445566778899aabbccdd", "locations": ["0:5"]},
            {"type": "packet", "bytes": "0700112233445566778899aabbccdd", "locations": ["0:5"]}]}"#,
        BOTH,
        &["left", "dropped", "handled", "known"],
        &["left by port 5: seen(n=8, m=3)"],
    );
}

/// Without links between them events get to other switches directly.
#[test]
fn switches_without_links() {
    check(
        "event go(int<8> n);
         event there(int<8> n);
         handle go(int<8> n) {
             generate_switch(1, there(n));
             generate_switch(2, there(n + 1));
             generate_switch(3, there(n + 2));
         }
         handle there(int<8> n) { if (n == 10) { generate_switch(0, there(n + 10)); } }",
        r#"{"switches": 3, "max time": "50us", "events": [{"name": "go", "args": [9]}]}"#,
        BOTH,
        &["there(n=20) at port 0"],
        &["switch 1  there(n=9) at port 0", "switch 0  there(n=20)", "dropped: 1"],
    );
}

/// Ranges of wide values are several entries, and tables of several decisions come apart.
#[test]
fn decisions_by_ranges_are_alike() {
    let bounds = |low: u64, high: u64| [low, low + 1, high - 1, high];
    let (x, y, z) =
        (bounds(1000, 4_000_000_001), bounds(77_777, 4_000_000_003), bounds(5, 3_000_000_001));
    let events: Vec<String> = (0..64)
        .map(|at| {
            format!(
                "{{\"name\": \"e\", \"args\": [{}, {}, {}], \"timestamp\": \"{at}us\"}}",
                x[at / 16],
                y[at / 4 % 4],
                z[at % 4]
            )
        })
        .collect();
    let run = format!("{{\"max time\": \"100us\", \"events\": [{}]}}", events.join(", "));
    check(
        "event e(int x, int y, int z);
         event f(int x, int y, int z);
         handle e(int x, int y, int z) {
             int first = 1; if (x > 1000 && x < 4000000001) { first = 7; }
             int second = 3; if (y > 77777 && y < 4000000003) { second = y; }
             int third = 9; if (z > 5 && z < 3000000001) { third = x; }
             generate f(first, second, third);
         }
         handle f(int x, int y, int z) { skip; }",
        &run,
        BOTH,
        &[],
        &["handled: 128"],
    );
}
