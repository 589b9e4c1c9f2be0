// SPDX-License-Identifier: Apache-2.0
//! The rule that decides about each array, on small programs: one for each rule and for each way of telling accesses apart.

use crate::v1model::{program, register};
use scale::sharding::{ControlSharding, ShardOptions, shard};
use std::fmt::Write;

/// Returns the verdicts on a program with stages by dependences: for each array its rule, stage and group, then for each
/// group that state decides about the stage after which that is known.
fn verdicts(ready: &ir::ready::ReadyProgram, most_stages: usize) -> String {
    let controls = shard(ready.program(), ShardOptions::default(), &|_| None, &|_| most_stages);
    let mut text = String::new();
    for control in &controls {
        for array in &control.arrays {
            let name = array.name.rsplit('.').next().unwrap_or_default();
            let _ = write!(text, "{name} {}", array.rule.name());
            if let Some(group) = array.group {
                let _ = write!(text, " {}/{group}", control.groups[group].stage);
            }
            text.push('\n');
        }
        text.push_str(&uncertain(control));
    }
    text
}

fn uncertain(control: &ControlSharding<'_>) -> String {
    let groups = control.groups.iter().enumerate().filter(|(_, group)| !group.is_certain());
    groups.map(|(at, group)| format!("group {at} known after {:?}\n", group.known_after)).collect()
}

/// Registers of 8 cells, `one` of a single cell, and a table with an argument for an index.
fn declarations() -> String {
    let mut text: String = ["a", "b", "c", "d"].map(register).concat();
    text.push_str(
        "register<bit<32>>(1) one;
         action set(bit<8> to) { meta.k = to; }
         action add(bit<32> at) { bit<32> old; a.read(old, at); a.write(at, old + 32w1); }
         table chosen { key = { hdr.h.m : exact; } actions = { set; NoAction; } default_action = NoAction; }
         table added { key = { hdr.h.m : exact; } actions = { add; NoAction; } default_action = NoAction; }",
    );
    text
}

/// Checks the verdicts on an ingress control.
fn check(ingress: &str, expected: &str) {
    let ready = program(&declarations(), ingress, "");
    let expected: String = expected.split(';').map(|line| format!("{}\n", line.trim())).collect();
    assert_eq!(verdicts(&ready, 12), expected, "{ingress}");
}

/// An increment of a cell.
fn add(array: &str, index: &str) -> String {
    format!("{array}.read(x, (bit<32>){index}); {array}.write((bit<32>){index}, x + hdr.h.v);")
}

const I: &str = "(hdr.h.i & 8w7)";
const J: &str = "(hdr.h.j & 8w7)";

#[test]
fn an_index_from_the_packet() {
    check(&add("a", I), "a packet-index 1/0");
    check(&add("a", "(hdr.h.i ^ hdr.h.j)"), "a packet-index 1/0");
    check(&add("one", "8w0"), "one one-cell 0/0");
    check("a.read(x, (bit<32>)hdr.h.i); hdr.h.v = x;", "a never-written");
}

#[test]
fn an_index_from_a_table() {
    check(&format!("chosen.apply(); {}", add("a", "meta.k")), "a packet-index 1/0");
    check("added.apply();", "a packet-index 1/0");
}

#[test]
fn an_index_from_state() {
    check(
        &format!("{} {}", add("b", I), add("a", "(x[7:0] & 8w7)")),
        "b packet-index 1/0; a state-index 3/1",
    );
    // What is never written is no state.
    check(
        &format!("b.read(y, (bit<32>){I}); {}", add("a", "(y[7:0] & 8w7)")),
        "b never-written; a packet-index 3/0",
    );
}

#[test]
fn two_cells_of_one_array() {
    check(&format!("{} {}", add("a", I), add("a", J)), "a two-cells 1/0");
    check(
        &format!("if (hdr.h.m == 1) {{ {} }} else {{ {} }}", add("a", I), add("a", J)),
        "a packet-branches 1/0",
    );
    // One value does not equal two numbers.
    check(
        &format!("if (hdr.h.m == 1) {{ {} }} if (hdr.h.m == 2) {{ {} }}", add("a", I), add("a", J)),
        "a packet-branches 1/0",
    );
    check(
        &format!("if (hdr.h.m < 3) {{ {} }} if (hdr.h.m < 4) {{ {} }}", add("a", I), add("a", J)),
        "a two-cells 1/0",
    );
    check(
        &format!("{} if (x == 1) {{ {} }} else {{ {} }}", add("b", I), add("a", I), add("a", J)),
        "b packet-index 1/0; a state-branches 3/1",
    );
}

#[test]
fn a_predicate_on_state() {
    check(
        &format!("{} if (x == 1) {{ {} }}", add("b", I), add("a", J)),
        "b packet-index 1/0; a packet-index 3/1; group 1 known after Some(1)",
    );
    // The index is computed under the predicate, but from the packet.
    check(
        &format!(
            "{} if (x == 1) {{ meta.k = hdr.h.i & 8w3; {} }}",
            add("b", I),
            add("a", "meta.k")
        ),
        "b packet-index 1/0; a packet-index 3/1; group 1 known after Some(1)",
    );
    // Behind the branch it depends on state which index it is.
    check(
        &format!(
            "{} if (x == 1) {{ meta.k = hdr.h.i & 8w3; }} {}",
            add("b", I),
            add("a", "meta.k")
        ),
        "b packet-index 1/0; a state-index 4/1",
    );
}

#[test]
fn arrays_of_one_codelet() {
    let pair = |first: &str, second: &str| {
        format!(
            "a.read(x, (bit<32>){first}); b.read(y, (bit<32>){second});
             if (x < hdr.h.v || y == hdr.h.w) {{
                 a.write((bit<32>){first}, y + 1); b.write((bit<32>){second}, x);
             }}"
        )
    };
    check(&pair(I, I), "b equal-index 1/0; a equal-index 1/0");
    check(&pair(I, J), "b codelet-indices 1/0; a codelet-indices 1/0");
}

/// `a` depends on `b`. That no packet comes to `a` in front of `b` is known of its values, and not of the code that is cut.
#[test]
fn arrays_that_the_cut_keeps_in_one_stage() {
    let between = |index: &str| {
        format!(
            "if (hdr.h.m == 2) {{
                 if (hdr.h.m == 2) {{ {} }} else {{ {} }}
                 hdr.h.v = hdr.h.v + x; {}
             }}
             {}",
            add("b", index),
            add("a", I),
            add("b", index),
            add("a", I)
        )
    };
    check(&between(I), "b equal-index 1/0; a equal-index 1/0");
    check(&between(J), "b codelet-indices 1/0; a codelet-indices 1/0");
}

#[test]
fn arrays_of_one_stage() {
    // Equal indices: one group.
    check(&format!("{} {}", add("a", I), add("b", I)), "a equal-index 1/0; b equal-index 1/0");
    // The packet decides which is accessed (Figure 3).
    check(
        &format!("if (hdr.h.m == 1) {{ {} }} else {{ {} }}", add("a", I), add("b", J)),
        "a packet-index 1/0; b packet-index 1/1",
    );
    // A stage is left.
    check(&format!("{} {}", add("a", I), add("b", J)), "a packet-index 1/0; b serialised 2/1");
}

#[test]
fn no_stage_is_left() {
    let ready = program(&declarations(), &format!("{} {}", add("a", I), add("b", J)), "");
    assert_eq!(verdicts(&ready, 2), "a stage-conflict 1/0\nb stage-conflict 1/0\n");
}

#[test]
fn ingress_and_egress() {
    let ready = program(&declarations(), &add("a", I), &add("shared", I));
    assert_eq!(verdicts(&ready, 12), "a packet-index 1/0\nshared packet-index 1/0\n");
    let ready = program(&declarations(), &add("shared", I), &add("shared", I));
    let both = "shared two-controls 1/0\nshared two-controls 1/0\n";
    assert_eq!(verdicts(&ready, 12), both);
}
