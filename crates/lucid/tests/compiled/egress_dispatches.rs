// SPDX-License-Identifier: Apache-2.0
//! Egress handlers of compiled programs: their dispatches are seen, and judged by the interpreter.

use crate::alike::check;
use lucid::compile::Target;

/// As in the reference, which is judged too: every handler with its arguments, and what left.
fn check_egress(source: &str, run: &str, expected: &[&str]) {
    check(source, run, &[Target::V1Model], &["handle", "left by", "dropped"], expected);
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
        &["left by port 2: out(x=8)", "handled: 18"],
    );
}

/// Random numbers of egress handlers are theirs.
#[test]
fn egress_handlers_draw() {
    check_egress(
        "global Array.t<32> drawn = Array.create(4);
         global Array.t<32> sent = Array.create(4);
         event out(int<8> x, bool b, Payload.t rest);
         event work(int<8> x, Payload.t rest);
         @egress handle out(int<8> x, bool b, Payload.t rest) {
             int r = Sys.random();
             Array.set(sent, 1, r);
             generate out(x + 1, !b, rest);
         }
         handle out(int<8> x, bool b, Payload.t rest) { skip; }
         handle work(int<8> x, Payload.t rest) {
             int r = Sys.random();
             Array.set(drawn, 1, r);
             generate out(x, true, rest);
             generate_port(3, out(x, false, Payload.empty()));
         }",
        r#"{"max time": "60us", "events": [{"name": "work", "args": [1, "aabbcc"]},
            {"name": "work", "args": [2, "00"], "timestamp": 9000}]}"#,
        &["left by port 3: out(x=2", "handled: 8"],
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
        &["left by port 1: only(x=21)"],
    );
}
