// SPDX-License-Identifier: Apache-2.0
//! Variables without a value on some path: bodies of a control, each with the reads that are reported and the
//! place on the path that the message names first.

use super::compile;

/// The control around a body: `LOCALS` in front of `apply`, then the statements.
fn control(body: &str) -> String {
    let (locals, statements) = body.split_once("apply:").unwrap_or(("", body));
    format!(
        "#include <core.p4>\n\
         header H {{ bit<8> a; }}\nstruct S {{ bit<8> f; bit<8> g; }}\n\
         extern void put(out bit<8> x);\nextern void take(in bit<8> x);\n\
         control c(inout H h, inout bit<8> k, inout bit<8> r, in bool b, in bool d) {{\n\
         {locals}\napply {{ {statements} }}\n}}\n"
    )
}

/// Checks what is reported about a body: code, place, and the first place on the path, as `code place / path`.
#[track_caller]
fn check(body: &str, expected: &[&str]) {
    check_program(&control(body), expected);
}

#[track_caller]
fn check_program(text: &str, expected: &[&str]) {
    let (map, diagnostics, _) = compile(text);
    let found: Vec<String> = diagnostics
        .iter()
        .filter(|it| it.code.0 != "P4-W0202")
        .map(|it| {
            let on_path = it.labels.iter().find(|label| label.text.starts_with("it has no value"));
            let path = on_path.map_or("", |label| map.slice(label.span));
            format!("{} {} / {path}", &it.code.0[3..], map.slice(it.primary.span))
        })
        .collect();
    assert_eq!(found, expected, "for the program\n{text}");
}

#[test]
fn branches() {
    for (body, expected) in [
        ("bit<8> v; if (h.isValid()) { v = 1; } if (v == 6) { r = 1; }", "W0407 v / h.isValid()"),
        ("bit<8> v; if (b) { v = 1; } else { v = 2; } r = v;", ""),
        ("bit<8> v; if (b) { v = 1; } else { return; } r = v;", ""),
        ("bit<8> v; if (b) { exit; } r = v; v = 1;", "W0404 v / "),
        ("bit<8> v; if (b) { if (d) { v = 1; } } r = v;", "W0407 v / b"),
        ("bit<8> v; r = b ? v : 1;", "W0404 v / "),
        ("S s; if (b) { s.f = 1; } r = s.f;", "W0407 s.f / b"),
        ("S s; if (b) { s = { 1, 2 }; } r = s.g;", "W0407 s.g / b"),
        ("bit<8> v; if (b) { put(v); } take(v);", "W0407 v / b"),
        ("bit<8> v; switch (k) { 1: 2: { v = 1; } 3: { v = 2; } } r = v;", "W0407 v / k"),
        ("bit<8> v; switch (k) { 1: { v = 1; } default: { v = 2; } } r = v;", ""),
        ("bit<8> v; if (b) { v = 1; } r = v; r = v + 1;", "W0407 v / b"),
    ] {
        check(body, &[expected][..usize::from(!expected.is_empty())]);
    }
}

/// The same condition, or one that it decides, does not hold and fail on one path.
#[test]
fn conditions_that_cannot_hold_together() {
    for (body, expected) in [
        ("bit<8> v; if (b) { v = 1; } if (b) { r = v; }", ""),
        ("bit<8> v; if (b) { v = 1; } if (!b || d) { r = 0; } else { r = v; }", ""),
        ("bit<8> v; if (b && d) { v = 1; } if (d) { if (b) { r = v; } }", ""),
        ("bit<8> v; if (b && d) { v = 1; } if (d) { r = v; }", "W0407 v / b && d"),
        ("bit<8> v; if (k == 1) { v = 1; } if (k == 2) { r = 0; } else if (k == 1) { r = v; }", ""),
        ("bit<8> v; if (k == 1) { v = 1; } k = 1; if (k == 1) { r = v; }", "W0407 v / k == 1"),
        ("bit<8> v; if (k < 8) { v = 1; } if (k == 7) { r = v; }", ""),
        ("bit<8> v; if (k < 8) { v = 1; } if (k <= 8) { r = v; }", "W0407 v / k < 8"),
        ("bit<8> v; switch (k) { 1: { v = 1; } } if (k == 1) { r = v; }", ""),
        ("bool f = false; bit<8> v; if (b) { v = 1; f = true; } if (f) { r = v; }", ""),
        ("bool f = b && k > 3; bit<8> v; if (f) { v = 1; } if (k == 4 && b) { r = v; }", ""),
        (
            "bool f = k > 3; bit<8> v; if (f) { v = 1; } k = 9; if (k == 9) { r = v; }",
            "W0407 v / f",
        ),
        (
            "bit<8> v; if (h.isValid()) { v = 1; } h.setValid(); if (h.isValid()) { r = v; }",
            "W0407 v / h.isValid()",
        ),
    ] {
        check(body, &[expected][..usize::from(!expected.is_empty())]);
    }
}

#[test]
fn loops() {
    for (body, expected) in [
        ("bit<8> v; for (bit<8> i = 0; i < 4; i = i + 1) { v = i; } r = v;", ""),
        ("bit<8> v; for (bit<8> i = 0; i < k; i = i + 1) { v = i; } r = v;", "W0407 v / i < k"),
        ("bit<8> v; for (bit<8> i in 0 .. 3) { if (b) { break; } v = i; } r = v;", "W0407 v / "),
        ("bit<8> v; for (bit<8> i in 0 .. 3) { r = v; v = i; }", "W0404 v / "),
        (
            "bit<8> v; for (bit<8> i in 0 .. 3) { if (i == 0) { continue; } v = i; } r = v;",
            "W0407 v / ",
        ),
    ] {
        check(body, &[expected][..usize::from(!expected.is_empty())]);
    }
}

#[test]
fn tables_and_actions() {
    let tables = "bit<8> v; bit<8> w;\n\
        action set(bit<8> x) { v = x; }\naction none() { }\naction stop() { exit; }\n\
        action use() { r = v; }\naction out_set(out bit<8> o) { o = 1; }\n\
        table both { key = { k: exact; } actions = { set; none; } default_action = none(); }\n\
        table sets { key = { k: exact; } actions = { set; } const default_action = set(1); }\n\
        table misses { key = { k: exact; } actions = { set; } }\n\
        table stops { key = { k: exact; } actions = { set; @defaultonly stop; } default_action = stop(); }\n\
        table fixed { key = { k: exact; } actions = { set; none; }\n\
        const entries = { 1: set(2); } const default_action = set(1); }\n\
        table uses { key = { k: exact; } actions = { use; } default_action = use(); }\n\
        table keyed { key = { v: exact @name(\"v\"); } actions = { none; } default_action = none(); }\n";
    for (body, expected) in [
        ("both.apply(); r = v;", "W0407 v / none"),
        ("sets.apply(); r = v;", ""),
        ("misses.apply(); r = v;", "W0407 v / misses"),
        ("stops.apply(); r = v;", ""),
        ("fixed.apply(); r = v;", ""),
        ("if (misses.apply().hit) { r = v; }", ""),
        ("if (!misses.apply().hit) { r = v; }", "W0404 v / "),
        ("switch (both.apply().action_run) { set: { r = v; } }", ""),
        ("switch (both.apply().action_run) { set: { } default: { r = v; } }", "W0404 v / "),
        ("if (b) { v = 1; } uses.apply();", "W0407 v / b"),
        ("v = 1; uses.apply();", ""),
        ("if (b) { v = 1; uses.apply(); } else { uses.apply(); }", "W0407 v / uses.apply()"),
        ("if (b) { v = 1; } keyed.apply();", "W0407 v / b"),
        ("if (b) { set(1); } r = v;", "W0407 v / b"),
        ("out_set(w); r = w;", ""),
    ] {
        check(&format!("{tables}apply:{body}"), &[expected][..usize::from(!expected.is_empty())]);
    }
}

#[test]
fn parsers_and_out_parameters() {
    check_program(
        "parser p(in bit<8> k, out bit<8> r) {\n\
         bit<8> v;\n\
         state start { transition select(k) { 1: one; 2: two; default: three; } }\n\
         state one { v = 1; transition three; }\n\
         state two { v = 2; transition four; }\n\
         state three { transition select(k) { 7: again; default: four; } }\n\
         state again { v = 3; transition three; }\n\
         state four { r = v; transition accept; }\n}\n",
        &["W0407 v / three"],
    );
    check_program("@noWarn(\"uninitialized-use\")\nbit<8> f() { bit<8> v; return v; }\n", &[]);
    check_program(
        "parser p(in bit<8> k, out bit<8> r) {\n\
         state start { transition select(k) { 1: one; default: reject; 2: two; } }\n\
         state one { r = 1; transition accept; }\n\
         state two { r = 2; transition accept; }\n}\n\
         bit<8> f(in bool b, out bit<8> s) { if (b) { return 1; } s = 1; return 2; }\n\
         control c(in bool b, out bit<8> s) { apply { if (b) { s = 1; } } }\n\
         control e(in bool b, out bit<8> s) { apply { if (b) { s = 1; } else { exit; } } }\n",
        &["W0702 2 / ", "W0408 s / return 1;", "W0408 s / b"],
    );
}
