// SPDX-License-Identifier: Apache-2.0
//! Egress handlers of compiled programs: their dispatches are seen, and judged by the interpreter.

use crate::alike::check;
use crate::delays::program_and_run;
use crate::oracle::{Judged, judge};
use device::EngineChoice;
use lucid_compiler::{Backend, Options};
use lucid_reference::simulation::Stage;
use lucid_reference::simulation::schedule::Schedule;

const BOTH: &[Backend] = &[Backend::V1Model, Backend::Tna];

/// As in the reference, which is judged too: every handler with its arguments, and what left.
fn check_egress(source: &str, run: &str, targets: &[Backend], expected: &[&str]) {
    check(source, run, targets, &["handle", "leaving by", "left by", "dropped"], expected);
}

/// What leaves by a port, comes round, and is generated beside others.
#[test]
fn egress_handlers_are_dispatches() {
    check_egress(
        "global Array.t<32> seen = Array.create(16);
         global Array.t<32> sent = Array.create(16);
         memop plus(int stored, int x) { return stored + x; }
         event out(int x);
         event note(int x);
         event work(int<8> x);
         @egress handle out(int x) {
             int count = Array.update(sent, (int<4>) x, plus, 1, plus, 1);
             if (x == 3) { generate note(count); } else {
                 if (x != 5) { generate out(x + count); }
             }
         }
         handle out(int x) { Array.setm(seen, 0, plus, x); }
         handle note(int x) { Array.setm(seen, 1, plus, x); }
         handle work(int<8> x) {
             if (x == 1) { generate out(3); }
             if (x == 2) { generate out(3); generate out(4); generate_port(1, out(4)); }
             if (x == 3) { generate_port(2, out(7)); generate_ports({1, 3}, out(8)); generate note(9); }
             if (x == 4) { generate Event.delay(out(4), 9000); generate out(5); }
         }",
        r#"{"switches": 2, "links": {"0:1": "1:1"}, "max time": "60us", "events": [
            {"name": "work", "args": [1]}, {"name": "work", "args": [2], "timestamp": 5000},
            {"name": "work", "args": [3], "timestamp": 10000},
            {"name": "work", "args": [4], "timestamp": 15000}]}"#,
        BOTH,
        &["left by port 2: out(x=8)", "handled: 18"],
    );
}

/// Random numbers of egress handlers are theirs. On Tofino no payload can be cut off.
#[test]
fn egress_handlers_draw() {
    for (payload, targets) in [("Payload.empty()", &BOTH[..1]), ("rest", BOTH)] {
        let source = format!(
            "global Array.t<32> drawn = Array.create(4);
             global Array.t<32> sent = Array.create(4);
             event out(int<8> x, bool b, Payload.t rest);
             event work(int<8> x, Payload.t rest);
             @egress handle out(int<8> x, bool b, Payload.t rest) {{
                 int r = Sys.random();
                 Array.set(sent, 1, r);
                 generate out(x + 1, !b, rest);
             }}
             handle out(int<8> x, bool b, Payload.t rest) {{ skip; }}
             handle work(int<8> x, Payload.t rest) {{
                 int r = Sys.random();
                 Array.set(drawn, 1, r);
                 generate out(x, true, rest);
                 generate_port(3, out(x, false, {payload}));
             }}"
        );
        check_egress(
            &source,
            r#"{"max time": "60us", "events": [{"name": "work", "args": [1, "aabbcc"]},
                {"name": "work", "args": [2, "00"], "timestamp": 9000}]}"#,
            targets,
            &["left by port 3: out(x=2", "handled: 8"],
        );
    }
}

/// An exit event meets its egress handler once, where it leaves; what comes from elsewhere and leaves meets
/// none.
#[test]
fn egress_handlers_of_exit_events() {
    check_egress(
        "exit event out(int<8> x);
         exit event both(int<8> x);
         event note(int<8> x);
         event work(int<8> x);
         @egress handle out(int<8> x) { generate out(x + 1); }
         @egress handle both(int<8> x) { if (x != 9) { generate both(x + 1); } }
         handle both(int<8> x) { skip; }
         handle note(int<8> x) { skip; }
         handle work(int<8> x) {
             generate out(x);
             generate both(x);
             generate_port(1, out(x + 10));
             generate_ports({1, 2}, both(x + 20));
             generate note(x);
             generate Event.delay(out(x + 30), 3000);
             generate_switch(0, out(x + 40));
             generate_switch(1, both(x + 50));
         }",
        r#"{"switches": 2, "links": {"0:1": "1:1"}, "max time": "60us",
            "events": [{"name": "work", "args": [20]}, {"name": "work", "args": [9], "timestamp": 9000},
            {"name": "out", "args": [3], "timestamp": 20000, "locations": ["1:7"]},
            {"name": "both", "args": [3], "timestamp": 20000, "locations": ["1:7"]}]}"#,
        BOTH,
        &["out(x=21)"],
    );
}

/// What is addressed to a switch meets none, and neither does what only leaves because it has no handler.
#[test]
fn egress_handlers_of_switches() {
    check_egress(
        "event out(int<8> x);
         event only(int<8> x);
         event work(int<8> x);
         @egress handle out(int<8> x) { generate out(x + 1); }
         @egress handle only(int<8> x) { generate only(x + ((int<8>) ingress_port)); }
         handle out(int<8> x) { skip; }
         handle work(int<8> x) {
             generate_switch(1, out(x));
             generate_switch(0, out(x));
             generate_switch(0, Event.delay(out(x + 10), 5000));
             generate_port(1, only(x));
             generate only(x);
         }",
        r#"{"switches": 2, "links": {"0:1": "1:1"}, "max time": "60us",
            "events": [{"name": "work", "args": [20]}]}"#,
        BOTH,
        &["left by port 1: only(x=21)"],
    );
}

/// The interpreter replays with the queue depth of the device. Three copies come to the
/// recirculation port's queue at once.
#[test]
fn egress_handlers_ask_for_the_depth_of_the_queue() {
    let source = "global Array.t<32> depths = Array.create(8);
         memop largest(int stored, int x) { if (stored < x) { return x; } else { return stored; } }
         event out(int<8> x);
         event work(int<8> x);
         @egress handle out(int<8> x) {
             int depth = (int<32>) Sys.dequeue_depth();
             Array.setm(depths, (int<3>) x, largest, depth + 1);
             generate out(x);
         }
         handle out(int<8> x) { skip; }
         handle work(int<8> x) { generate out(x); generate out(x + 1); generate out(x + 2); }";
    let run = r#"{"max time": "60us", "events": [{"name": "work", "args": [1]}]}"#;
    let (map, program, run) = program_and_run(source, run);
    for target in BOTH {
        let options = Options { target: *target, ..Options::default() };
        let folder = std::path::Path::new("");
        match judge(&map, &program, &run, folder, &options, EngineChoice::Interpreter) {
            Ok(Judged::Same(verified, _)) => {
                let dispatches = &verified.schedule.dispatches;
                let at_egress = dispatches.iter().filter(|one| one.stage == Stage::Egress);
                let depths: Vec<u64> = at_egress.map(|one| one.dequeue_depth).collect();
                assert_eq!(depths, [2, 1, 0], "{target:?}");
                let text = verified.schedule.to_json_lines(&program);
                assert_eq!(Schedule::from_json_lines(&program, &text), Ok(verified.schedule));
            }
            Ok(Judged::Refused(said)) | Err(said) => panic!("{target:?}: {said}"),
        }
    }
}
