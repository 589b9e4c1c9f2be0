// SPDX-License-Identifier: Apache-2.0
//! Egress handlers on both targets, with both kinds of delay: they run on what is due as it leaves, once, and
//! what they generate leaves instead. They are judged handler by handler, and what left is what leaves in
//! the reference interpreter.

use crate::alike::check_delayed;
use lucid_compiler::{Backend, Delay};

/// What is to be said besides.
fn check(source: &str, run: &str, said: &[&str]) {
    for delay in [Delay::Recirculation, Delay::Queue] {
        let targets = &[Backend::V1Model, Backend::Tna];
        check_delayed(source, run, (targets, Some(delay)), &["left by", "left:", "dropped"], said);
    }
}

/// Round through the recirculation port, changed, replaced, or swallowed.
#[test]
fn what_goes_round_meets_its_egress_handler() {
    check(
        "global Array.t<32> seen = Array.create(16);
         memop plus(int stored, int x) { return stored + x; }
         event note(int x);
         event out(int x);
         event work(int x);
         handle note(int x) { Array.setm(seen, x, plus, 1); }
         @egress handle out(int x) {
             if (x == 9) { generate note(x + 1); }
             else { if (x != 3) { generate out(x + 2); } }
         }
         handle out(int x) { Array.setm(seen, 0, plus, x); }
         handle work(int x) { generate out(x); }",
        r#"{"max time": "5ms", "events": [
            {"name": "work", "args": [7], "timestamp": 0},
            {"name": "work", "args": [9], "timestamp": 50},
            {"name": "work", "args": [3], "timestamp": 2000}]}"#,
        &["left: 0"],
    );
}

/// The first delay is over before the handler runs, and it runs once.
#[test]
fn what_has_waited_meets_its_egress_handler() {
    check(
        "global Array.t<32> runs = Array.create(4);
         memop plus(int stored, int x) { return stored + x; }
         event tick(int<8> n);
         event other(int<8> n);
         event mark(int<8> n, int<32> total);
         @egress handle tick(int<8> n) {
             int<32> total = Array.update(runs, 1, plus, 1, plus, 1);
             generate mark(n, total);
         }
         handle mark(int<8> n, int<32> total) {
             if (n != 0) { generate Event.delay(tick(n - 1), 3000); generate other(n); }
         }
         handle other(int<8> n) { skip; }",
        r#"{"max time": "5ms", "events": [{"name": "mark", "args": [3, 0]}]}"#,
        &["left: 0"],
    );
}

/// Out of ports, groups and floods, at once and beside others, to another switch and out of the network.
#[test]
fn what_leaves_by_a_port_meets_its_egress_handler() {
    check(
        "global Array.t<32> passed = Array.create(256);
         memop plus(int stored, int x) { return stored + x; }
         extern int offset;
         event show(int x, int from);
         event raw(int x);
         event go(int x);
         @egress handle raw(int x) {
             int port = (int<32>)ingress_port;
             int count = Array.update(passed, port, plus, 1, plus, 1);
             if (x != 100) { generate show(x + count + offset, self); }
         }
         handle raw(int x) { skip; }
         handle show(int x, int from) { skip; }
         handle go(int x) {
             match x with
             | 0 -> { generate_port(1, raw(x)); }
             | 1 -> { generate_port(1, raw(x)); generate raw(x + 10); generate show(x, x); }
             | 2 -> { generate_ports({1, 7}, raw(x)); generate Event.delay(raw(x), 2500); }
             | 3 -> { generate_ports(flood 7, raw(x)); generate_port(1, raw(x + 1)); }
             | 4 -> { generate_port(1, raw(100)); generate_port(7, raw(100)); }
             | _ -> { generate Event.locate(raw(x), 1); generate Event.locate(raw(x), 0); }
         }",
        r#"{"max time": "5ms", "switches": 2, "links": {"0:1": "1:1"},
            "externs": {"offset": [1000, 2000]},
            "events": [
            {"name": "go", "args": [0], "timestamp": 0},
            {"name": "go", "args": [1], "timestamp": 3000},
            {"name": "go", "args": [2], "timestamp": 9000},
            {"name": "go", "args": [3], "timestamp": 20000},
            {"name": "go", "args": [4], "timestamp": 30000},
            {"name": "go", "args": [5], "timestamp": 40000}]}"#,
        &["left: 2"],
    );
}

/// Packet events: with a frame inside, without one outside.
#[test]
fn packets_meet_their_egress_handlers() {
    check(
        "packet event eth(int<48> d, int<48> s, int<16> t, Payload.t rest);
         packet event tagged(int<48> d, int<48> s, int<16> tag, int<16> t, Payload.t rest);
         event note(int<48> s);
         handle eth(int<48> d, int<48> s, int<16> t, Payload.t rest) {
             if (t == 0x800) { generate_port(3, eth(d, s, t, rest)); generate note(s); }
             else { generate_port(4, eth(d, s, t, rest)); }
         }
         handle note(int<48> s) { skip; }
         @egress handle eth(int<48> d, int<48> s, int<16> t, Payload.t rest) {
             if (ingress_port == 3) { generate tagged(d, s, 0x8100, t, rest); }
             else { generate eth(s, d, t, rest); }
         }
         parser main(bitstring pkt) {
             int<48> d = read(pkt);
             int<48> s = read(pkt);
             int<16> t = read(pkt);
             generate(eth(d, s, t, Payload.parse(pkt)));
         }",
        r#"{"max time": "1ms", "events": [
            {"type": "packet", "bytes": "0102030405061112131415160800aabbccdd", "timestamp": 0},
            {"type": "packet", "bytes": "0102030405061112131415160806aabbccdd", "timestamp": 5000}]}"#,
        &["left: 2"],
    );
}

/// Packet events meet their egress handler once, whether they waited, or another event's egress handler generated them.
#[test]
fn packet_events_meet_one_egress_handler() {
    check(
        "global Array.t<32> came = Array.create(4);
         global Array.t<32> runs = Array.create(4);
         memop plus(int stored, int x) { return stored + x; }
         packet event go(int<112> fill, int<8> n, Payload.t rest);
         event other(int<112> fill, int<8> n);
         event note(int<8> n);
         handle note(int<8> n) { Array.setm(came, 2, plus, 1); }
         handle other(int<112> fill, int<8> n) { Array.setm(came, 3, plus, 1); }
         @egress handle other(int<112> fill, int<8> n) {
             Array.setm(runs, 1, plus, 1);
             generate go(fill, n, Payload.empty());
         }
         handle go(int<112> fill, int<8> n, Payload.t rest) {
             Array.setm(came, 0, plus, (int<32>)n);
             match n with
             | 1 -> { generate Event.delay(go(fill, 9, rest), 3000); }
             | 2 -> { generate Event.delay(go(fill, 9, rest), 3000); generate note(n); }
             | 3 -> { generate go(fill, 9, rest); generate note(n); }
             | 4 -> { generate other(fill, 9); }
             | 5 -> { generate other(fill, 9); generate note(n); generate Event.delay(other(fill, 9), 2000); }
             | 6 -> { generate Event.delay(go(fill, 9, rest), 150000); }
             | _ -> { skip; }
         }
         @egress handle go(int<112> fill, int<8> n, Payload.t rest) {
             int count = Array.update(runs, 0, plus, 1, plus, 1);
             generate go(fill, n + 10, rest);
         }
         parser main(bitstring pkt) {
             int<112> fill = read(pkt);
             int<8> n = read(pkt);
             generate(go(fill, n, Payload.parse(pkt)));
         }",
        &format!(
            r#"{{"max time": "5ms", "events": [{}]}}"#,
            [1, 2, 3, 4, 5, 6]
                .map(|n| format!(
                    r#"{{"type": "packet", "bytes": "{:028x}{n:02x}a1a2", "timestamp": {}}}"#,
                    0x0a0b,
                    400_000 * n
                ))
                .join(", ")
        ),
        &["left: 0"],
    );
}

/// Of two events that meet the same egress handler one keeps its payload.
#[test]
fn egress_handlers_keep_payloads_beside_events_that_lose_theirs() {
    check(
        "global Array.t<32> runs = Array.create(4);
         memop plus(int stored, int x) { return stored + x; }
         event go(int<8> n, Payload.t rest);
         handle go(int<8> n, Payload.t rest) {
             if (n == 1) {
                 generate Event.delay(go(5, Payload.empty()), 2000);
                 generate go(6, rest);
             }
             if (n == 2) { generate go(7, Payload.empty()); generate_port(3, go(8, rest)); }
         }
         @egress handle go(int<8> n, Payload.t rest) {
             Array.setm(runs, 0, plus, 1);
             generate go(n + 10, rest);
         }",
        r#"{"max time": "5ms", "events": [{"name": "go", "args": [1, "a1a2a3a4"]},
            {"name": "go", "args": [2, "b1b2b3"], "timestamp": 5000}]}"#,
        &["left by port 3: go(n=18, rest=b1b2b3)"],
    );
}

/// Exit events that are sent by the recirculation port leave by no port in particular.
#[test]
fn exit_events_leave_instead_of_going_round() {
    check(
        "exit event out(int<8> n);
         event go(int<8> n);
         event again(int<8> n);
         handle go(int<8> n) {
             generate again(n);
             if (n == 1) { generate_port(recirculation_port, out(n)); }
             if (n == 2) { generate_port(3, out(n)); }
         }
         handle again(int<8> n) { skip; }
         @egress handle again(int<8> n) { generate out(n + 10); }",
        r#"{"max time": "5ms", "events": [{"name": "go", "args": [1]},
            {"name": "go", "args": [2], "timestamp": 5000}]}"#,
        &["left: out(n=1)", "left: out(n=11)", "left by port 3: out(n=2)", "left: 4"],
    );
}

/// An exit event meets its egress handler once if a handler generated it, by whatever port and however late, and never
/// if an egress handler did.
#[test]
fn exit_events_of_egress_handlers_meet_none() {
    let events = [1, 2, 3, 4, 5, 6, 7, 8]
        .map(|n| format!(r#"{{"name": "go", "args": [{n}], "timestamp": {}}}"#, 20_000 * n));
    for delay in [Delay::Recirculation, Delay::Queue] {
        check_delayed(
            "global Array.t<32> runs = Array.create(4);
             memop plus(int stored, int x) { return stored + x; }
             exit event out(int<8> n, int<9> port);
             event go(int<8> n);
             event again(int<8> n);
             handle go(int<8> n) {
                 if (n != 4) { generate again(n); }
                 match n with
                 | 2 -> { generate out(n, 0); }
                 | 3 -> { generate_port(3, out(n, 0)); }
                 | 4 -> { generate_port(recirculation_port, out(n, 0)); }
                 | 5 -> { generate Event.delay(out(n, 0), 3000); }
                 | 6 -> { generate_switch(self, out(n, 0)); }
                 | 7 -> { generate Event.delay(Event.locate(out(n, 0), self), 3000); }
                 | 8 -> { generate Event.delay(again(n), 3000); }
                 | _ -> { skip; }
             }
             handle again(int<8> n) { skip; }
             @egress handle again(int<8> n) { generate out(n + 10, 0); }
             @egress handle out(int<8> n, int<9> port) {
                 Array.setm(runs, 0, plus, (int<32>)n);
                 generate out(n + 100, ingress_port);
             }",
            &format!(r#"{{"max time": "5ms", "events": [{}]}}"#, events.join(", ")),
            (&[Backend::V1Model], Some(delay)),
            &["left by", "left:", "dropped"],
            &["left: out(n=11, port=0)", "left: out(n=18, port=0)", ", is 27"],
        );
    }
}

/// The port that an egress handler sees of an event that leaves by no port in particular.
#[test]
fn egress_handlers_see_the_port_outside() {
    check(
        "event go(int<8> n);
         event out(int<9> port, int<9> other);
         handle go(int<8> n) { generate_ports(flood 2, out(0, 0)); generate_port(3, out(0, 0)); }
         @egress handle out(int<9> port, int<9> other) {
             generate out(ingress_port, ingress_port << 6);
         }",
        r#"{"max time": "5ms", "switches": 2, "links": {"0:1": "1:1"}, "events": [
            {"name": "go", "args": [1], "locations": ["1:0"]}]}"#,
        &["left: out(port=510, other=384)", "left by port 3: out(port=3, other=192)"],
    );
}
