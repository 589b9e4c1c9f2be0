// SPDX-License-Identifier: Apache-2.0
//! What inlined programs look like, and what is refused. That they mean the same is compared elsewhere, by
//! running both.

use super::*;
use crate::compile::compile;
use crate::interfaces::InterfacesOnly;
use crate::preprocessor::PreprocessorOptions;

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

/// Checks the last declaration after inlining, and that everything was inlined.
fn check(text: &str, expected: &str) {
    let (inlined, text) = inlined(text);
    assert_eq!(inlined.refused, []);
    assert!(text.ends_with(expected), "{text}");
}

/// Checks why calls are refused.
fn check_refused(text: &str, expected: &[Obstacle]) {
    let (inlined, _) = inlined(text);
    let obstacles: Vec<Obstacle> = inlined.refused.into_iter().map(|(_, why)| why).collect();
    assert_eq!(obstacles, expected);
}

#[test]
fn a_control_becomes_a_block_and_its_tables_keep_their_names() {
    check(
        "struct s { bit<8> a; bit<8> b; }
control inner(inout s x, in bit<8> y)(bit<8> n) {
    action set(bit<8> v) { x.a = v + n; }
    table t { key = { x.b: exact; } actions = { set; } default_action = set(1); }
    apply { if (t.apply().hit) { return; } x.b = y; }
}
control outer(inout s x, inout s z) {
    inner(3) c;
    apply { c.apply(z, 7); x = z; }
}
",
        "",
    );
}

#[test]
fn show() {
    for text in [
        "struct s { bit<8> a; bit<8> b; }
control inner(inout s x, in bit<8> y)(bit<8> n) {
    action set(bit<8> v) { x.a = v + n; }
    @name(\"tt\") table t { key = { x.b: exact; } actions = { set; @defaultonly NoAction; } default_action = NoAction(); }
    apply { if (t.apply().hit) { return; } x.b = y; }
}
control outer(inout s x, inout s z) {
    inner(3) c;
    apply { c.apply(z, 7); x = z; }
}
",
        "bit<8> twice(in bit<8> x) { return x + x; }
T pick<T>(in bool c, in T a, in T b) { if (c) { return a; } return b; }
bit<8> count(inout bit<8> x) { x = x + 1; return x; }
control c(inout bit<8> x, inout bit<8> y) {
    action set(inout bit<8> v, in bit<8> x) { if (x > 2) { v = 1; return; } v = x; y = 1; }
    apply {
        bit<8> v = twice(x);
        if (twice(v) > 3) { y = pick(x > 1, y, twice(v)); } else if (count(x) == 2) { set(y, 3); }
        set(x, x);
        y = count(x) + 1;
    }
}
",
        "header h_t { bit<8> k; }
parser sub(packet_in p, out h_t h, inout bit<8> n) {
    bit<8> m = 1;
    state start { p.extract(h); n = n + m; transition select(h.k) { 0: start; 1: other; default: accept; } }
    state other { transition reject; }
}
parser top(packet_in p, out h_t h, out h_t g) {
    sub() s;
    state start { bit<8> n = 3; s.apply(p, h, n); s.apply(p, g, n); transition select(n) { 3: start; default: accept; } }
}
",
        "struct s { bit<8> a; bit<8> b; }
control leaf(inout bit<8> a, inout bit<8> b, out bit<8> c) {
    action quit(bit<8> a) { b = a; exit; }
    table t { actions = { quit; NoAction; } default_action = NoAction(); }
    apply { c = 1; t.apply(); if (a == 1) { exit; } b = 1; }
}
control mid(inout s x, inout bit<8> k) { leaf() l; apply { bit<8> tmp; l.apply(x.a, x.a, tmp); k = tmp; } }
control outer(inout s x, inout s z) {
    mid() m1; mid() m2;
    apply { m1.apply(x, z.a); m2.apply(z, x.b); }
}
",
    ] {
        let (inlined, text) = inlined(text);
        println!("{text}\n{:?} {:?}\n", inlined.inlined, inlined.refused);
    }
}
