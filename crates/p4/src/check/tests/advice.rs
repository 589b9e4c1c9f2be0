// SPDX-License-Identifier: Apache-2.0
//! What messages advise: suggestions, later declarations, what is missing. A line for each diagnostic:
//! code, message, then notes, help and labels behind `|`.

use super::compile;

/// Checks that a program gets exactly these diagnostics with their advice.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (_, diagnostics, _) = compile(text);
    let found: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| {
            let mut line = format!("{} {}", diagnostic.code, diagnostic.message);
            for part in diagnostic.notes.iter().chain(&diagnostic.help) {
                line.push_str(" | ");
                line.push_str(part);
            }
            line
        })
        .collect();
    assert_eq!(found, expected, "for the program\n{text}");
}

/// Declarations in the manner of an architecture.
const ARCHITECTURE: &str = "#include <core.p4>\n\
    struct intrinsic_t { bit<9> port; }\n\
    control Ingress<H, M>(inout H hdr, inout M meta, inout intrinsic_t intrinsic);\n\
    control Deparser<H>(packet_out b, in H hdr);\n\
    package Switch<H, M>(Ingress<H, M> ig, Deparser<H> dep);\n\
    header E { bit<16> type; }\n\
    header_union U { E e; }\n\
    struct H { E ethernet; U u; }\n\
    struct M { bit<8> a; }\n\
    control D(packet_out b, in H h) { apply { b.emit(h.ethernet); } }\n";

#[track_caller]
fn check_switch(text: &str, expected: &[&str]) {
    check(&format!("{ARCHITECTURE}{text}"), expected);
}

#[test]
fn suggestions_are_of_the_wanted_kind() {
    check(
        "control c(inout bit<8> value) {\n\
         action forward() { valeu = 1; vale(); a(); }\n\
         action later() { }\n\
         action first() { last(); }\n\
         action last() { }\n\
         apply { forwrad(); later(); first(); xy = 1; }\n}\n",
        &[
            "P4-E0201 there is no value `valeu` here | did you mean `value`?",
            "P4-E0201 there is no function or action `vale` here",
            "P4-E0201 there is no function or action `a` here",
            "P4-E0201 there is no function or action `last` here | move the declaration before its first use",
            "P4-E0201 there is no function or action `forwrad` here | did you mean `forward`?",
            "P4-E0201 there is no value `xy` here",
        ],
    );
}

#[test]
fn long_names_are_not_compared() {
    let name = "n".repeat(200_000);
    check(
        &format!("const bit<8> {name} = 1;\nconst bit<8> c = {name}x;\n"),
        &[&format!("P4-E0201 there is no value `{name}x` here")],
    );
}

#[test]
fn parser_states() {
    check(
        "parser p(inout bit<8> x) {\n\
         state start { transition select(x) { 1: middle; 5..2: accept; default: acept; } }\n\
         state end { transition reject; }\n}\n\
         parser q(inout bit<8> x) {\n\
         state Start { transition accept; }\n}\n\
         parser r(inout bit<8> x) {\n\
         state start { x = 1; }\n}\n",
        &[
            "P4-E0201 there is no parser state `middle` here | the states are `end`, `start`",
            "P4-W0702 the range from 5 to 2 is empty",
            "P4-E0201 there is no parser state `acept` here | did you mean `accept`?",
            "P4-W0701 state `end` is never reached",
            "P4-E0701 parser `q` has no `start` state | parsing begins in the state called `start`",
            "P4-W0703 state `start` has no `transition`, so it rejects every packet | end it with `transition accept;`",
        ],
    );
}

#[test]
fn methods_of_headers() {
    check_switch(
        "control c(inout H h, inout M m, inout intrinsic_t i) {\n\
         apply {\n\
         if (h.ethernet.isvalid()) { }\n\
         if (h.isValid()) { }\n\
         if (h.ethernet.isValid) { }\n\
         if (valid(h.ethernet)) { }\n\
         h.u.setValid();\n\
         }\n}\n",
        &[
            "P4-E0205 `E` has no member `isvalid` | did you mean `isValid()`?",
            "P4-E0205 `H` has no member `isValid` | a struct is neither valid nor invalid; its headers are | name the header: `... .header.isValid()`",
            "P4-E0410 a condition is `bool`, but this is `function` | call it: add `()`",
            "P4-E0201 there is no function or action `valid` here | to ask whether a header is valid write `header.isValid()`",
            "P4-E0504 a header union has no `setValid` | make one of its headers valid: `union.header.setValid()`",
        ],
    );
}

#[test]
fn misspelt_apply() {
    check_switch(
        "control C(inout H h) { apply { } }\n\
         control I(inout H h, inout M m, inout intrinsic_t i) {\n\
         C() inner;\n\
         action a() { }\n\
         table t { actions = { a; } const defualt_action = a(); }\n\
         apply { t.aply(); inner.appply(h); t.xyz(); }\n}\n\
         Switch(I(), D()) main;\n",
        &[
            "P4-W0802 `defualt_action` is not a property of tables and has no effect | did you mean `default_action`?",
            "P4-E0205 `table t` has no member `aply` | did you mean `apply`?",
            "P4-E0205 `C` has no member `appply` | did you mean `apply`?",
            "P4-E0205 `table t` has no member `xyz`",
        ],
    );
}

#[test]
fn cases_that_earlier_cases_take() {
    // Each line of a `select` of a `bit<8>`, an `int<4>` and an enum, with `//` where it is never taken.
    let cases = "(0x80, _, _): accept;\n\
                 (0x80, -8 .. 7, E.A): accept; //\n\
                 (0x81, 1, E.A): accept;\n\
                 (0x81, 1, E.B): accept;\n\
                 (0x81, 1, E.A): accept; //\n\
                 (0x40 &&& 0xC0, _, _): accept;\n\
                 (0x41, 3, E.B): accept; //\n\
                 (0x41 .. 0x7F, _, _): accept; //\n\
                 (0x40 .. 0x81, _, _): accept;\n\
                 (0x40 .. 0x80, _, _): accept; //\n\
                 (_, -8 .. -1, _): accept;\n\
                 (_, 0 .. 6, _): accept;\n\
                 (_, 7, E.A): accept;\n\
                 (5, -1 .. 7, E.A): accept; //\n\
                 (5, -1 .. 7, E.B): accept;\n\
                 (set, _, _): accept;\n\
                 (set, 0, _): accept; //\n\
                 default: accept;\n\
                 (_, _, _): accept; //\n";
    let text = format!(
        "enum E {{ A, B }}\nparser p(in bit<8> a, in int<4> b, in E c) {{\n\
         value_set<bit<8>>(4) set;\n\
         state start {{ transition select(a, b, c) {{\n{cases}}} }}\n}}\n"
    );
    let (map, diagnostics, _) = compile(&text);
    let found: Vec<String> = diagnostics
        .iter()
        .map(|it| format!("{} {}", it.code, map.slice(it.primary.span)))
        .collect();
    let expected: Vec<String> = cases
        .lines()
        .filter_map(|line| Some(line.strip_suffix(": accept; //")?.to_string()))
        .map(|keyset| format!("P4-W0702 {keyset}"))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn blocks_that_lack_parameters() {
    check_switch(
        "control I(inout H h, inout M m) { apply { } }\n\
         control X(inout H h, in H g) { apply { } }\n\
         Switch(I(), D()) main;\nSwitch(I(), X()) other;\n",
        &[
            "P4-E0510 `I` does not fit `Ingress`: `I` has 2 parameters, expected 3; `inout intrinsic_t intrinsic` is missing",
            "P4-E0510 `I` does not fit `Ingress`: `I` has 2 parameters, expected 3; `inout intrinsic_t intrinsic` is missing",
            "P4-E0510 `X` does not fit `Deparser`: parameter `h` of `X` has type `H`, expected `packet_out`",
        ],
    );
}

#[test]
fn mistakes_that_are_told_once() {
    check_switch(
        "extern register<T> { register(bit<32> size); void read(out T result, in bit<32> index); }\n\
         extern void hash<T, O>(out O result, in T base, in bit<8> data);\n\
         control I() { apply { } }\n\
         control I(inout H h, inout M m, inout intrinsic_t i) { apply { } }\n\
         control J(inout H h, inout M m, inout intrinsic_t i) {\n\
         register<bit<8>>(4) r;\n\
         action a() { }\n\
         table t {\n\
         key = { m.a: exact; i.port: exact; h.ethernet.type: exact; }\n\
         actions = { a; }\n\
         const entries = { 1: a(); (1, 2): a(); (1, 2, 3): a(); }\n\
         }\n\
         apply { m.a = r.read(0); hash(m.a, 0, 1); t.apply(); }\n}\n\
         control E(packet_out b, in H h) { apply { b.emit(h.ethernt); } }\n\
         Switch(I(), D()) main;\n",
        &[
            "P4-E0202 `I` is declared twice",
            "P4-E0806 this entry has 1 key, the table 3",
            "P4-E0806 this entry has 2 keys, the table 3",
            "P4-E0501 `read` gives its result through an argument | put the variable for it first: `read(result, index)`",
            "P4-E0308 parameter `base` of `hash` cannot be `int`, which exists at compile time only | give the number a width, such as `32w1`",
            "P4-E0205 `H` has no member `ethernt` | did you mean `ethernet`?",
            "P4-E0202 `E` is declared twice",
        ],
    );
}

#[test]
fn properties_and_packages() {
    check_switch(
        "control I(inout H h, inout M m, inout intrinsic_t i) {\n\
         action a() { }\n\
         table t { actions = { a; } defualt_action = a(); keyy = 3; support_timeout = true; junk = 3; }\n\
         apply { t.apply(); }\n}\n\
         Switch(I(), D()) sw;\n",
        &[
            "P4-W0802 `defualt_action` is not a property of tables and has no effect | did you mean `default_action`?",
            "P4-W0802 `keyy` is not a property of tables and has no effect | did you mean `key`?",
            "P4-W0802 `junk` is not a property of tables and has no effect",
            "P4-W0204 the package is called `sw`; only `main` is run | call it `main`",
        ],
    );
    check_switch(
        "",
        &[
            "P4-W0204 the program has no `main`, so nothing is run | a package instance called `main` says \
           which parsers and controls are used",
        ],
    );
}

#[test]
fn generic_types_may_hold_themselves() {
    check("struct L<T> { T v; }\ntypedef L<L<bit<8>>> q;\nconst q z = { v = { v = 1 } };\n", &[]);
}
