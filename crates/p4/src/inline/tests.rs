// SPDX-License-Identifier: Apache-2.0
//! What inlined programs look like, and what is refused. That they mean the same is compared elsewhere, by
//! running both.

use super::*;
use crate::compile::compile;
use crate::interfaces::InterfacesOnly;
use crate::preprocessor::PreprocessorOptions;
use testing::assert_snapshot;

fn inlined(text: &str) -> (Inlined, String) {
    let options = PreprocessorOptions::default();
    let text = format!("#include <core.p4>\n{text}");
    let compiled = compile("test.p4", text, &InterfacesOnly, &options);
    let typed = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let inlined = inline_all(&typed, compiled.map).expect("the program checks again");
    let text = inlined.program.print();
    let text = text.strip_prefix("#include <core.p4>\n\n").unwrap_or(&text).to_string();
    (inlined, text)
}

/// The program after inlining all of its calls.
fn all_inlined(text: &str) -> String {
    let (inlined, text) = inlined(text);
    assert_eq!(inlined.refused, []);
    text
}

/// Checks why calls are refused.
fn check_refused(text: &str, expected: &[Obstacle]) {
    let (inlined, _) = inlined(text);
    let obstacles: Vec<Obstacle> = inlined.refused.into_iter().map(|(_, why)| why).collect();
    assert_eq!(obstacles, expected, "{text}");
}

#[test]
fn a_control_becomes_a_block_and_its_tables_keep_their_names() {
    assert_snapshot!(all_inlined(
        "struct s { bit<8> a; bit<8> b; }
control inner(inout s x, in bit<8> y)(bit<8> n) {
    action set(bit<8> v) { x.a = v + n; }
    @name(\"given\") table t { key = { x.b: exact; } actions = { set; NoAction; } default_action = NoAction(); }
    apply { if (t.apply().hit) { return; } x.b = y; }
}
control outer(inout s x, inout s z) {
    inner(3) c;
    apply { c.apply(z, 7); x = z; }
}"
    ));
}

#[test]
fn arguments_that_overlap_are_copied_and_written_back_before_an_exit() {
    assert_snapshot!(all_inlined(
        "struct s { bit<8> a; bit<8> b; }
control leaf(inout bit<8> a, inout bit<8> b, out bit<8> c) {
    action quit(bit<8> a) { b = a; exit; }
    table t { actions = { quit; NoAction; } default_action = NoAction(); }
    apply { c = 1; t.apply(); if (a == 1) exit; b = 1; }
}
control outer(inout s x, inout bit<8> k) {
    leaf() l;
    apply { bit<8> tmp; l.apply(x.a, x.a, tmp); k = tmp; }
}"
    ));
}

#[test]
fn functions_and_actions_become_blocks_with_their_values_in_variables() {
    assert_snapshot!(all_inlined(
        "bit<8> twice(in bit<8> x) { return x + x; }
T pick<T>(in bool c, in T a, in T b) { if (c) { return a; } return b; }
bit<8> count(inout bit<8> x) { x = x + 1; return x; }
control c(inout bit<8> x, inout bit<8> y) {
    action set(inout bit<8> v, in bit<8> x) { if (x > 2) { v = 1; return; } v = x; y = 1; }
    apply {
        bit<8> v = twice(x);
        if (x > 1 && twice(v) > 3) { y = pick(x > 1, y, v); } else if (count(x) == 2) { set(y, 3); }
        set(x, x);
        y = y + count(x);
    }
}"
    ));
}

#[test]
fn returns_that_are_not_last_get_a_flag() {
    assert_snapshot!(all_inlined(
        "control inner(inout bit<8> x) {
    apply {
        if (x == 1) { if (x > 2) { return; } x = 3; } else { x = 4; }
        x = 5;
        switch (x) { 1: { return; } default: { x = 6; } }
        x = 7;
    }
}
control outer(inout bit<8> x) { apply { inner.apply(x); } }"
    ));
}

#[test]
fn names_of_the_top_level_are_not_captured() {
    assert_snapshot!(all_inlined(
        "const bit<8> LIMIT = 4;
typedef bit<8> byte;
control inner(inout byte x) { apply { byte y = LIMIT; x = y; } }
control outer(inout bit<8> y, in bit<16> LIMIT) {
    inner() i;
    apply { bit<8> byte = 1; i.apply(y); y = byte; }
}"
    ));
}

#[test]
fn a_parser_becomes_states_and_its_accept_the_rest_of_the_state() {
    assert_snapshot!(all_inlined(
        "header h_t { bit<8> k; }
parser sub(packet_in p, out h_t h, inout bit<8> n) {
    value_set<bit<8>>(4) vs;
    bit<8> m = 1;
    state start {
        p.extract(h);
        n = n + m;
        transition select(h.k) { 0: start; 1: other; vs: reject; default: accept; }
    }
    state other { transition reject; }
}
parser top(packet_in p, out h_t h) {
    sub() s;
    state start {
        bit<8> n = 3;
        s.apply(p, h, n);
        transition select(n) { 3: start; default: accept; }
    }
}"
    ));
}

#[test]
fn what_cannot_be_inlined_stays_with_a_reason() {
    let stateful = "control inner(inout bit<8> x) { table t { actions = { NoAction; } } apply { t.apply(); } }\n";
    check_refused(
        &format!(
            "{stateful}control c(inout bit<8> x) {{ inner() i; apply {{ i.apply(x); i.apply(x); }} }}"
        ),
        &[Obstacle::StateWithSeveralCalls, Obstacle::StateWithSeveralCalls],
    );
    let count = "bit<8> count(inout bit<8> x) { x = x + 1; return x; }\n";
    check_refused(
        &format!("{count}control c(inout bit<8> x) {{ apply {{ x = x + count(x); }} }}"),
        &[Obstacle::InsideExpression],
    );
    check_refused(
        &format!(
            "{count}control c(inout bit<8> x) {{ apply {{ if (x > 1 && count(x) > 1) {{ }} }} }}"
        ),
        &[Obstacle::InsideExpression],
    );
    check_refused(
        "bit<8> f(in bit<8> x) { return x; }
control c(inout bit<8> x) {
    table t { key = { f(x): exact @name(\"k\"); } actions = { NoAction; } }
    apply { t.apply(); for (bit<8> i = 0; i < f(x); i = i + 1) { } }
}",
        &[Obstacle::OutsideStatements, Obstacle::InLoopHeader],
    );
    check_refused(
        "bit<8> f(in bit<8> x) { for (bit<8> i = 0; i < 3; i = i + 1) { return i; } return x; }
control c(inout bit<8> x) { apply { x = f(x); } }",
        &[Obstacle::ReturnInLoop],
    );
    check_refused(
        "header h_t { bit<8> k; }
parser sub(packet_in p, out h_t h) { state start { p.extract(h); transition accept; } }
parser top(packet_in p, out h_t h) {
    sub() s;
    state start { { s.apply(p, h); } transition accept; }
}",
        &[Obstacle::NotAtStateLevel],
    );
}

#[test]
fn one_call_alone_is_inlined_where_it_stands() {
    let options = PreprocessorOptions::default();
    let text = "bit<8> twice(in bit<8> x) { return x + x; }
control c(inout bit<8> x) { apply { x = twice(x); x = twice(x); } }"
        .to_string();
    let compiled = compile("test.p4", text, &InterfacesOnly, &options);
    let typed = compiled.program.expect("a right program");
    let mut rewriter = Rewriter::of(&typed, compiled.map);
    let mut calls = Calls::default();
    calls.declaration(&typed.program.declarations[1]);
    assert_eq!(inline_block(&mut rewriter, calls.0[1]), Ok(()));
    assert_eq!(inline_block(&mut rewriter, calls.0[1]), Err(Obstacle::NoSuchCall));
    let rewritten = rewriter.finish().expect("the result checks");
    assert_snapshot!(rewritten.print());
}
