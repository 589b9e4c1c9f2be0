// SPDX-License-Identifier: Apache-2.0
//! Small programs for what hardware does unlike software, for both targets and both kinds of delay.

use crate::delays::{check_everywhere, check_for_tna, check_on, program_and_run};
use device::EngineChoice;
use lucid_compiler::{Backend, Options, compile};
use lucid_network::ready;

/// Pieces that cross words, constants, a single word, none that is whole.
#[test]
fn checksums_that_handlers_use() {
    check_everywhere(
        "global Array.t<16> sums = Array.create(8);
         global Array.t<32> zeros = Array.create(2);
         memop plus(int stored, int more) { return stored + more; }
         event go(int x, int<16> y, int<8> z, bool b, int<5> w);
         event result(int<16> c, int<16> d);
         handle result(int<16> c, int<16> d) { skip; }
         handle go(int x, int<16> y, int<8> z, bool b, int<5> w) {
             int<16> one = hash<16>(checksum, y);
             int<16> all = hash<16>(checksum, x, y, z, b, w, 3w16, x);
             int<16> odd = hash<16>(checksum, z, x, w);
             Array.set(sums, w[2:0], all);
             if (odd < one) { Array.setm(zeros, 0, plus, 1); } else { Array.setm(zeros, 1, plus, 1); }
             generate result(all, hash<16>(checksum, x, y));
         }",
        r#"{"max time": "1ms", "events": [
            {"name": "go", "args": [4294967295, 65535, 255, true, 31]},
            {"name": "go", "args": [0, 0, 0, false, 0], "timestamp": 2000},
            {"name": "go", "args": [305419896, 39612, 222, true, 9], "timestamp": 4000},
            {"name": "go", "args": [4294901761, 1, 128, false, 18], "timestamp": 6000}]}"#,
        8,
    );
}

/// By more bits than there are, of its own variable, by one that is narrow.
#[test]
fn shifts_by_variables() {
    check_everywhere(
        "global Array.t<32> last = Array.create(8);
         event go(int x, int n, int<3> m, int<9> odd);
         event result(int a, int b, int<9> c, int<9> d);
         handle result(int a, int b, int<9> c, int<9> d) { skip; }
         handle go(int x, int n, int<3> m, int<9> odd) {
             int y = x << n;
             n = n >> n;
             int<9> c = odd << m;
             if (m == 2) { c = c >> (odd - 3); }
             Array.set(last, m, y | n);
             generate result(y, x >> (int<32>)m, c, 257 >> odd);
         }",
        r#"{"max time": "1ms", "events": [
            {"name": "go", "args": [2863311530, 3, 2, 5]},
            {"name": "go", "args": [2863311530, 31, 7, 8], "timestamp": 2000},
            {"name": "go", "args": [2863311530, 32, 0, 9], "timestamp": 4000},
            {"name": "go", "args": [2863311530, 4294967295, 1, 511], "timestamp": 6000},
            {"name": "go", "args": [7, 0, 2, 4], "timestamp": 8000}]}"#,
        10,
    );
}

/// Cells narrower than those of a stateful ALU wrap, compare and saturate at their own width.
#[test]
fn cells_of_odd_widths() {
    check_everywhere(
        "global Array.t<3> three = Array.create(4);
         global Array.t<9> nine = Array.create(4);
         global Array.t<17> wide = Array.create(4);
         global PairArray.t<12> pairs = PairArray.create(4);
         memop plus(int<'a> stored, int<'a> x) { return stored + x; }
         memop minus(int<'a> stored, int<'a> x) { return stored - x; }
         memop least(int<9> stored, int<9> x) { if (stored < x) { return stored; } else { return x; } }
         memop both(int<12> a, int<12> b, int<12> x, int<12> y) {
             bool low = a < x;
             if (low) { cell1 = a + x; }
             if (!low) { cell2 = b - y; }
             if (low) { return cell2; }
         }
         event go(int<2> i, int<3> x, int<9> y, int<17> z, int<12> p);
         event result(int<3> x, int<9> y, int<17> z, int<12> p);
         handle result(int<3> x, int<9> y, int<17> z, int<12> p) { skip; }
         handle go(int<2> i, int<3> x, int<9> y, int<17> z, int<12> p) {
             int<3> a = Array.update(three, i, plus, x, minus, x);
             int<9> b = Array.update(nine, i, least, y, minus, y);
             int<17> c = Array.update(wide, i, minus, z, plus, z);
             int<12> d = PairArray.update(pairs, i, both, p, 7, 5);
             generate result(a, b, c, d);
         }",
        r#"{"max time": "1ms", "events": [
            {"name": "go", "args": [1, 5, 300, 131071, 4095]},
            {"name": "go", "args": [1, 7, 500, 131071, 9], "timestamp": 2000},
            {"name": "go", "args": [1, 1, 1, 2, 2048], "timestamp": 4000},
            {"name": "go", "args": [1, 6, 511, 99999, 1], "timestamp": 6000}]}"#,
        8,
    );
}

/// More slots than one table of a pipeline takes apart; some of them wait, one leaves at once.
#[test]
fn many_events_of_one_handler() {
    let source = "global Array.t<32> seen = Array.create(64);
         memop plus(int stored, int more) { return stored + more; }
         event one(int<8> n, int<8> left);
         event wide(int<8> n, int a, int b);
         event go(int<8> which);
         handle one(int<8> n, int<8> left) { Array.setm(seen, (int<32>)n, plus, 1); }
         handle wide(int<8> n, int a, int b) { Array.setm(seen, (int<32>)n, plus, a + b); }
         handle go(int<8> which) {
             for (i < 12) {
                 if (which[0:0] == 0) { generate one(which, 3); } else { generate wide(which, 1, 2); }
             }
             if (which == 3) { generate_port(5, one(which, 1)); }
             if (which == 4) { generate Event.delay(one(which, 1), 3000); }
         }";
    let run = r#"{"max time": "5ms", "events": [
            {"name": "go", "args": [2]}, {"name": "go", "args": [3], "timestamp": 90000},
            {"name": "go", "args": [4], "timestamp": 180000}]}"#;
    // Ways to wait are other tests', and machine code for so large a program takes longest of all.
    for target in [Backend::V1Model, Backend::Tna] {
        let options = Options { target, ..Options::default() };
        assert_eq!(check_on(source, run, &options, EngineChoice::Interpreter), 40, "{target:?}");
    }
}

/// Too many delays and ports for a table of Tofino to ask for all of them.
#[test]
fn many_delays_of_one_handler() {
    check_for_tna(
        "global Array.t<32> seen = Array.create(64);
         memop plus(int stored, int more) { return stored + more; }
         event one(int<8> n);
         event go(int<8> which, int t, int<9> port);
         handle one(int<8> n) { Array.setm(seen, (int<32>)n, plus, 1); }
         @egress handle one(int<8> n) { generate one(n + 1); }
         handle go(int<8> which, int t, int<9> port) {
             if (which == 1) { for (i < 17) { generate Event.delay(one(which), t); } }
             if (which != 2) { generate Event.delay(one(which), t); }
             if (which == 3) {
                 for (i < 3) { generate_port(port, Event.delay(one(which), t)); }
             }
             if (which == 4) { generate_ports(flood 7, Event.delay(one(which), t)); }
         }",
        r#"{"max time": "800us", "events": [
            {"name": "go", "args": [1, 3000, 5]},
            {"name": "go", "args": [2, 2000, 5], "timestamp": 90000},
            {"name": "go", "args": [1, 0, 5], "timestamp": 180000},
            {"name": "go", "args": [3, 0, 5], "timestamp": 280000},
            {"name": "go", "args": [3, 1700, 5], "timestamp": 380000},
            {"name": "go", "args": [4, 0, 5], "timestamp": 480000}]}"#,
        91,
    );
}

/// Each switch has a recirculation port of its own, which another one uses for a link.
#[test]
fn recirculation_ports_of_their_own() {
    check_everywhere(
        "global Array.t<32> seen = Array.create(8);
         memop plus(int stored, int more) { return stored + more; }
         event hop(int<8> left, int from);
         event result(int port, int<9> back);
         event done(int<9> back);
         handle result(int port, int<9> back) {
             if (ingress_port == recirculation_port) { Array.setm(seen, 0, plus, port); }
             generate_port(5, done(back));
         }
         handle hop(int<8> left, int from) {
             int<9> back = (int<9>)recirculation_port;
             if (left == 0) { generate result((int<32>)ingress_port, back); }
             else {
                 generate Event.delay(Event.locate(hop(left - 1, self), 1 - self), 2000);
                 generate Event.delay(result(from, back), 3000);
                 generate result(self, back);
             }
         }",
        r#"{"max time": "5ms", "switches": 2, "recirculation ports": [7, 9],
            "links": {"0:9": "1:7"}, "events": [{"name": "hop", "args": [3, 0]}]}"#,
        11,
    );
}

/// On Tofino a key that is asked for single bits and for a range becomes few entries.
#[test]
fn bits_and_ranges_of_one_variable() {
    check_everywhere(
        "global Array.t<32> seen = Array.create(8);
         memop plus(int stored, int more) { return stored + more; }
         event go(int x);
         handle go(int x) {
             if (x < 5) { Array.setm(seen, 1, plus, 1); }
             else {
                 match x with
                 | 0b*******************************1 -> { if (x > 77) { Array.setm(seen, 2, plus, 1); } }
                 | _ -> { Array.setm(seen, 3, plus, 1); }
             }
         }",
        r#"{"max time": "5ms", "events": [{"name": "go", "args": [4]}, {"name": "go", "args": [5]},
            {"name": "go", "args": [6]}, {"name": "go", "args": [79]}]}"#,
        4,
    );
}

/// The first draw waits for more than the second.
#[test]
fn random_numbers_keep_their_order() {
    check_everywhere(
        "global Array.t<32> last = Array.create(8);
         event go(int x, int n);
         event result(int a, int b);
         handle result(int a, int b) { skip; }
         handle go(int x, int n) {
             int a = 0;
             if (hash<8>(1, x + n) != 0) {
                 a = Sys.random();
                 Array.set(last, 0, a);
             }
             int b = Sys.random();
             generate_port(1, result(a, ~b));
         }",
        r#"{"switches": 2, "links": {"0:1": "1:2"}, "max time": "1ms", "events": [
            {"name": "go", "args": [2863311530, 3]},
            {"name": "go", "args": [2863311530, 31], "timestamp": 2000}]}"#,
        4,
    );
}

/// Four times as many handlers, of which several access each array, load in about four times the time.
#[test]
fn large_programs_load_in_proportion_to_their_handlers() {
    let least_time = |count: usize| {
        let mut source = String::from("memop plus(int stored, int x) { return stored + x; }\n");
        for at in 0..count {
            source.push_str(&format!("event e{at}(int x);\n"));
        }
        for at in 0..count / 6 {
            source.push_str(&format!("global Array.t<32> a{at} = Array.create(16);\n"));
        }
        for at in 0..count {
            let (array, next) = (at % (count / 6), (at + 1) % count);
            source.push_str(&format!(
                "handle e{at}(int x) {{ Array.setm(a{array}, 1, plus, x); generate e{next}(x); }}\n"
            ));
        }
        let (map, program, _) = program_and_run(&source, r#"{"events": []}"#);
        let took = (0..3).map(|_| {
            let compiled = compile(&program, &map, &Options::default()).expect("a program");
            let ready = ready(&compiled).expect("it lowers");
            let began = std::time::Instant::now();
            ready.program();
            began.elapsed()
        });
        took.min().expect("three times")
    };
    let (few, many) = (least_time(36), least_time(144));
    assert!(many < few * 9, "{few:?} for 36 handlers, {many:?} for 144");
}
