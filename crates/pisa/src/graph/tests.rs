// SPDX-License-Identifier: Apache-2.0
//! Problems of small P4 programs as text: units with what they take, and what depends on what.

use super::*;
use crate::problem::Resource;

/// A v1model program whose ingress has these declarations and statements.
fn program(declarations: &str, statements: &str) -> ir::Program {
    let source = format!(
        r#"
#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<8> a; bit<8> b; bit<8> c; bit<8> d; bit<32> w; bit<32> x; }}
struct headers {{ h_t h; }}
struct metadata {{ bit<32> m; bit<32> n; bit<8> t; }}
parser P(packet_in p, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {{
    state start {{ p.extract(hdr.h); transition accept; }}
}}
control V(inout headers hdr, inout metadata meta) {{ apply {{ }} }}
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{
    {declarations}
    apply {{ {statements} }}
}}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers hdr, inout metadata meta) {{ apply {{ }} }}
control D(packet_out p, in headers hdr) {{ apply {{ p.emit(hdr.h); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#
    );
    let ready = ir::ready::ReadyProgram::of_text("case.p4", source).expect("it compiles");
    ir::Program::clone(ready.program())
}

fn shown(problem: &Problem) -> String {
    let mut text = String::new();
    for (number, unit) in problem.units.iter().enumerate() {
        text.push_str(&format!("{number} {}", unit.name));
        if !unit.guard.is_always() {
            let rules: Vec<String> = unit
                .guard
                .rules
                .iter()
                .map(|rule| {
                    let conditions = rule.conditions.iter().map(|(variable, condition)| {
                        let name = &problem.variables[variable.0 as usize].name;
                        match condition {
                            crate::Condition::Ternary { value, mask } => {
                                format!("{name}&{mask:#x}={value:#x}")
                            }
                            crate::Condition::Range { low, high } => {
                                format!("{name}={low}..{high}")
                            }
                        }
                    });
                    let conditions: Vec<String> = conditions.collect();
                    format!("{}{}", if rule.runs { "+" } else { "-" }, conditions.join(","))
                })
                .collect();
            text.push_str(&format!(" if [{}]", rules.join(" ")));
        }
        if let Some(table) = &unit.table {
            let keys: Vec<String> = table
                .keys
                .iter()
                .map(|key| {
                    let name = &problem.variables[key.variable.0 as usize].name;
                    format!("{name} {:?} {}", key.kind, key.width_bits)
                })
                .collect();
            text.push_str(&format!(
                " table({}; {} entries, {} actions, {} bits)",
                keys.join(", "),
                table.entries,
                table.actions,
                table.action_data_bits
            ));
        }
        if let Some(array) = unit.array {
            let array = &problem.arrays[array.0 as usize];
            text.push_str(&format!(
                " array({} {}x{}, action {})",
                array.name, array.length, array.cell_bits, unit.register_action
            ));
        }
        if !unit.mergeable {
            text.push_str(" alone");
        }
        for (resource, amount) in &unit.demand {
            if *resource != Resource::Statements {
                text.push_str(&format!(" {} {amount}", resource.name()));
            }
        }
        text.push('\n');
    }
    for dependency in &problem.dependencies {
        text.push_str(&format!(
            "{} -> {} {:?}\n",
            dependency.before.0, dependency.after.0, dependency.kind
        ));
    }
    text
}

/// The problem of each list of statements, with these declarations.
fn check(name: &str, declarations: &str, statements: &[&str]) {
    let mut text = String::new();
    for statements in statements {
        let problem = problem_of(&program(declarations, statements));
        assert!(problem.dependencies.iter().all(|it| it.before < it.after));
        text.push_str(&format!("{statements}\n\n{}\n", shown(&problem)));
    }
    testing::assert_snapshot!(name, text);
}

#[test]
fn statements() {
    check(
        "statements",
        "",
        &[
            "hdr.h.a = hdr.h.b; hdr.h.c = hdr.h.a + 1; hdr.h.b = 5;",
            "hdr.h.a = (hdr.h.b + hdr.h.c) & hdr.h.d;",
            "bit<32> t = hdr.h.w; hdr.h.w = hdr.h.x; hdr.h.x = t;",
            "hdr.h.w[7:0] = hdr.h.a; hdr.h.x = hdr.h.w;",
            "meta.m = (hdr.h.a == 1 && hdr.h.b == hdr.h.c) ? hdr.h.w : hdr.h.x;",
        ],
    );
}

#[test]
fn conditions() {
    check(
        "conditions",
        "",
        &[
            "if (hdr.h.a == 1) { hdr.h.b = 1; } \
             else if (hdr.h.a < 9 && hdr.h.c != 2) { hdr.h.b = 2; hdr.h.d = 4; }",
            "if (hdr.h.a == hdr.h.b) { hdr.h.c = 1; hdr.h.d = 2; }",
            "if (hdr.h.a < hdr.h.b) { hdr.h.c = 1; }",
            "if (hdr.h.a == 1) { hdr.h.a = 2; hdr.h.b = 3; }",
            "if (hdr.h.w[3:0] == 5 || hdr.h.x & 0xf0 == 0x30) { hdr.h.c = 1; } else { return; } \
             hdr.h.d = 7;",
            "switch (hdr.h.a) { 1: { hdr.h.b = 1; } 2: { hdr.h.c = 1; } default: { hdr.h.d = 1; } }",
        ],
    );
}

#[test]
fn tables() {
    check(
        "tables",
        "action set(bit<8> v) { hdr.h.a = v; } \
         action sum() { hdr.h.b = hdr.h.c + hdr.h.d; hdr.h.w = (hdr.h.x & 7) + meta.m; } \
         action swap() { bit<32> s = hdr.h.w; hdr.h.w = hdr.h.x; hdr.h.x = s; } \
         action leave() { exit; } \
         counter(2048, CounterType.packets) c; direct_counter(CounterType.bytes) d; \
         action counted() { c.count(hdr.h.w); } \
         table t { key = { hdr.h.a : exact; meta.m : ternary; } \
             actions = { set; sum; swap; NoAction; } size = 512; default_action = NoAction(); } \
         table u { key = { hdr.h.b : exact; } actions = { set; NoAction; } \
             const entries = { 1 : set(3); 2 : set(5); } default_action = NoAction(); } \
         table w { key = { hdr.h.w + 1 : lpm @name(\"sum\"); } actions = { counted; leave; } \
             default_action = leave(); counters = d; }",
        &[
            "if (hdr.h.isValid()) { \
                 if (t.apply().hit) { hdr.h.d = 1; hdr.h.c = 2; } else { u.apply(); } }",
            "switch (t.apply().action_run) { set: { hdr.h.d = 9; } swap: { u.apply(); } }",
            "w.apply(); hdr.h.d = 1;",
            "if (hdr.h.a == 1) { u.apply(); } else { hdr.h.b = 2; u.apply(); }",
            "if (hdr.h.a == 1) { u.apply(); } else { hdr.h.b = hdr.h.c + 1; u.apply(); }",
            "if (hdr.h.a == 1) { hdr.h.d = 3; u.apply(); } else { u.apply(); }",
            "if (hdr.h.c == 1) { c.count(1); } else if (hdr.h.c == 2) { c.count(2); }",
        ],
    );
}

#[test]
fn registers() {
    check(
        "registers",
        "register<bit<32>>(1024) r; register<bit<32>>(16) s; \
         action both(bit<32> i) { bit<32> v; r.read(v, i); s.write(i, v); } \
         action one(bit<32> i) { s.write(i, hdr.h.x); } \
         table t { key = { hdr.h.a : exact; } actions = { both; one; } default_action = one(0); }",
        &[
            "bit<32> v; r.read(v, hdr.h.w); v = v + 1; r.write(hdr.h.w, v); hdr.h.x = v; \
             if (v == 3) { s.write(0, hdr.h.x); }",
            "bit<32> v; r.read(v, hdr.h.w); meta.m = v; r.write(3, hdr.h.w);",
            "bit<32> i; hash(i, HashAlgorithm.crc32, 32w0, { meta.m, meta.n }, 32w1024); \
             r.write(i, hdr.h.w);",
            "if (hdr.h.a == 1) { r.write(0, 1); } else { r.write(0, 2); }",
            "t.apply();",
        ],
    );
}

/// What never both runs does not wait for each other.
#[test]
fn exclusion() {
    check(
        "exclusion",
        "register<bit<32>>(1024) r; \
         action one() { hdr.h.b = 1; } action two() { hdr.h.c = hdr.h.b; } \
         action sums() { hdr.h.c = hdr.h.d + 7; hdr.h.b = hdr.h.d + 7; } \
         action write() { r.write(3, hdr.h.w); } action read() { r.read(hdr.h.x, hdr.h.w); } \
         table t { key = { hdr.h.a : exact; } actions = { one; write; NoAction; } \
             const entries = { 1 : one(); 2 : write(); } const default_action = NoAction(); } \
         table u { key = { hdr.h.a : ternary; } actions = { two; read; NoAction; } \
             const entries = { 1 : NoAction(); 2 &&& 0xfe : two(); _ : read(); } \
             const default_action = NoAction(); } \
         table v { key = { hdr.h.a : exact; } actions = { one; two; sums; NoAction; } \
             const entries = { 2 : two(); } default_action = NoAction(); } \
         table w { key = { hdr.h.w : lpm; } actions = { one; two; sums; NoAction; } \
             const entries = { 32w0x01000000 &&& 32w0xff000000 : one(); \
                 32w0x01020000 &&& 32w0xffff0000 : sums(); } \
             const default_action = two(); }",
        &[
            "if (hdr.h.a == 1) { hdr.h.b = 1; } if (hdr.h.a == 2) { hdr.h.c = hdr.h.b; }",
            "if (hdr.h.a == 1) { hdr.h.b = 1; hdr.h.a = 2; } \
             if (hdr.h.a == 2) { hdr.h.c = hdr.h.b; }",
            "t.apply(); u.apply();",
            "t.apply(); hdr.h.a = 1; u.apply();",
            "v.apply(); u.apply();",
            "w.apply(); if (hdr.h.w == 0x01030000) { hdr.h.d = hdr.h.c; } \
             else if (hdr.h.w == 0x01020000) { meta.t = hdr.h.b; }",
            "if (hdr.h.d == 1) { t.apply(); } else { r.write(5, meta.m); }",
        ],
    );
}

/// What one ALU does at once, and what may be done twice rather than waited for.
#[test]
fn operations() {
    check(
        "operations",
        "action sums() { hdr.h.c = hdr.h.d + 7; hdr.h.b = hdr.h.d + 7; } \
         table t { actions = { sums; } const default_action = sums(); }",
        &[
            "hdr.h.w = hdr.h.x < meta.m ? hdr.h.x : meta.m;",
            "hdr.h.w = hdr.h.x <= meta.m ? meta.m : hdr.h.x;",
            "hdr.h.w = hdr.h.x < meta.m ? meta.n : meta.m;",
            "t.apply();",
            "bit<8> s = hdr.h.d + 7; hdr.h.c = s; hdr.h.d = 1; hdr.h.b = s;",
        ],
    );
}
