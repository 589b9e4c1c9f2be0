// SPDX-License-Identifier: Apache-2.0
//! Warnings about whole packages: programs whose lines end with the codes that are reported there, as
//! `// IR-W0301`.

use ir::ready::ReadyProgram;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;

/// The parts of a v1model program that a case replaces.
#[derive(Default)]
struct Parts {
    parser: &'static str,
    locals: &'static str,
    ingress: &'static str,
    egress_locals: &'static str,
    egress: &'static str,
    deparser: &'static str,
}

impl Parts {
    fn program(&self) -> String {
        let Parts { parser, locals, ingress, egress_locals, egress, deparser } = self;
        format!(
            "#include <core.p4>\n#include <v1model.p4>\n\
             header a_t {{ bit<8> x; bit<8> y; }}\nheader b_t {{ bit<8> x; }}\n\
             @controller_header(\"packet_out\") header c_t {{ bit<8> z; }}\n\
             struct H {{ a_t a; a_t a2; b_t b; c_t c; b_t[3] s; }}\n\
             struct M {{ @field_list(1) bit<8> f; bit<8> g; }}\n\
             parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {{\n\
             state start {{\n{parser}\ntransition accept; }}\n}}\n\
             control C(inout H h, inout M m) {{ apply {{ }} }}\n\
             control I(inout H h, inout M m, inout standard_metadata_t s) {{\n\
             {locals}\napply {{\n{ingress}\n}} }}\n\
             control E(inout H h, inout M m, inout standard_metadata_t s) {{\n\
             {egress_locals}\napply {{\n{egress}\n}} }}\n\
             control D(packet_out p, in H h) {{ apply {{\n{deparser}\n}} }}\n\
             V1Switch(P(), C(), I(), E(), C(), D()) main;\n"
        )
    }
}

#[track_caller]
fn check(parts: &Parts) {
    check_program(&parts.program());
}

#[track_caller]
fn check_program(text: &str) {
    let options = PreprocessorOptions::default();
    let mut compiled = p4::compile::compile("case.p4", text.to_string(), &InterfacesOnly, &options);
    assert!(ReadyProgram::of(&mut compiled).is_some(), "{:?}", compiled.diagnostics);
    let mut found: Vec<(usize, String)> = compiled
        .diagnostics
        .iter()
        .filter(|it| it.code.0 != "P4-W0202" && it.code.0 != "P4-W0203")
        .map(|it| {
            let place = compiled.map.location(it.primary.span).expect("a place");
            (place.line as usize, it.code.to_string())
        })
        .collect();
    found.sort();
    let expected: Vec<(usize, String)> = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, line.split_once("// ")?.1)))
        .flat_map(|(at, codes)| codes.split(' ').map(move |code| (at, code.to_string())))
        .collect();
    assert_eq!(found, expected, "for the program\n{text}");
}

#[test]
fn headers_that_no_block_before_makes_valid() {
    check(&Parts {
        parser: "p.extract(h.a); p.extract(h.s.next);",
        locals: "action use_b() { m.f = h.b.x; // P4-W0406\n}\n\
                 action make_a2() { h.a2.setValid(); h.a2.x = 1; }\n\
                 table t { key = {\nh.b.x: exact; // P4-W0406\n\
                 h.a.x: exact; } actions = { use_b; make_a2; NoAction; } \
                 default_action = NoAction(); }",
        ingress: "if (h.b.x == 1) { s.egress_spec = 2; } // P4-W0406\n\
                  if (h.b.isValid() && h.b.x == 1) { s.egress_spec = 2; }\n\
                  h.a2.x = 2; // P4-W0406\n\
                  t.apply();\n\
                  m.g = h.a2.x + h.s[0].x + h.s[1].x;\n\
                  h.a2 = h.a;",
        egress: "m.f = h.a2.y;\nm.g = h.b.x; // P4-W0406\nh.b.setValid(); h.b.x = 1;",
        deparser: "p.emit(h.a); p.emit(h.a2); p.emit(h.b); p.emit(h.s);",
        ..Parts::default()
    });
}

#[test]
fn elements_of_stacks_that_nothing_extracts() {
    check(&Parts {
        parser: "p.extract(h.a);",
        ingress: "m.f = h.s[1].x; // P4-W0406\n\
                  h.s[0].x = 1; // P4-W0406\n\
                  m.g = h.s[m.g].x; // P4-W0406\n\
                  h.s[2].setValid(); h.s[2].x = 7;\n\
                  m.g = h.s[m.g].x;",
        egress: "h.s.push_front(1); m.f = h.s[1].x;",
        deparser: "p.emit(h.a); p.emit(h.s);",
        ..Parts::default()
    });
}

/// A package without a description may hand valid headers to its blocks.
#[test]
fn headers_from_outside_may_be_valid() {
    check_program(
        "header h_t { bit<8> x; }\nstruct H { h_t a; }\n\
         control Block<T>(inout T h);\ncontrol Maker<T>(out T h);\n\
         package Two<T>(Block<T> b, Maker<T> m);\n\
         control B(inout H h) { apply { h.a.x = h.a.x + 1; } }\n\
         control M(out H h) { apply {\nh.a.x = 1; // P4-W0406\n} }\n\
         Two(B(), M()) main;\n",
    );
}

#[test]
fn calls_and_writes_of_another_block() {
    check(&Parts {
        parser: "p.extract(h.a);",
        ingress: "s.egress_spec = 3; s.mcast_grp = 1; s.priority = 2;\n\
                  s.egress_port = 3; // IR-W0301\n\
                  recirculate_preserving_field_list(1); // IR-W0301\n\
                  clone(CloneType.E2E, 5); // IR-W0301\n\
                  clone(CloneType.I2E, 5); truncate(64); digest(0, h.a.x);\n\
                  resubmit_preserving_field_list(1);",
        egress_locals: "action leave(bit<9> port) { s.egress_spec = port; }\n\
                        action group() { s.mcast_grp = 2; // IR-W0301\n}\n\
                        table t { key = { h.a.x: exact; } actions = { leave; group; } }",
        egress: "s.egress_spec = 3; // IR-W0301\n\
                 s.mcast_grp = 1; // IR-W0301\n\
                 resubmit_preserving_field_list(1); // IR-W0301\n\
                 digest(0, h.a.x); // IR-W0301\n\
                 clone(CloneType.I2E, 5); // IR-W0301\n\
                 clone(CloneType.E2E, 5); recirculate_preserving_field_list(1); truncate(32);\n\
                 s.priority = 1; t.apply();",
        deparser: "p.emit(h.a);",
        ..Parts::default()
    });
    // A drop and its withdrawal, a field that is read again, and the drop port itself.
    for egress in [
        "mark_to_drop(s); if (h.a.x == 1) { s.egress_spec = 1; }",
        "s.egress_spec = 3; if (s.egress_spec == 3) { m.f = 1; }",
        "s.egress_spec = 511;",
        "s.mcast_grp = 7; m.f = (bit<8>) s.mcast_grp;",
        "mark_to_drop(s);",
    ] {
        check(&Parts {
            parser: "p.extract(h.a);",
            egress,
            deparser: "p.emit(h.a);",
            ..Parts::default()
        });
    }
}

#[test]
fn emitted_twice_and_never() {
    check(&Parts {
        parser: "p.extract(h.a); p.extract(h.c);\n\
                 p.extract(h.b); // IR-W0303",
        deparser: "p.emit(h.a);\np.emit(h.a2);\np.emit(h.a); // IR-W0302",
        ..Parts::default()
    });
    check(&Parts {
        parser: "p.extract(h.a); p.extract(h.b);",
        egress: "h.b.setInvalid();",
        deparser: "if (h.a.x == 1) { p.emit(h.a2); } else { p.emit(h.a); }\n\
                   if (h.a.x != 1) { p.emit(h.a2); } else { p.emit(h.a); }",
        ..Parts::default()
    });
    check(&Parts { parser: "p.extract(h.a); p.extract(h.b);", ..Parts::default() });
    // A table in front changes nothing, unless one of its actions ends the control.
    check(&Parts {
        parser: "p.extract(h.a); p.extract(h.b);",
        egress_locals: "action run() { h.a.x = 1; }\n\
                        table t { key = { h.a.x: exact; } actions = { run; }\n\
                        default_action = run(); }",
        egress: "t.apply(); h.b.setInvalid();",
        deparser: "p.emit(h.a);",
        ..Parts::default()
    });
    // The deparser reads it, as for a checksum.
    check(&Parts {
        parser: "p.extract(h.a);\np.extract(h.b);",
        deparser: "if (h.b.x == 1) { p.emit(h.a); }",
        ..Parts::default()
    });
    check(&Parts {
        parser: "p.extract(h.a);\np.extract(h.b); // IR-W0303",
        egress_locals: "action run() { exit; }\n\
                        table t { key = { h.a.x: exact; } actions = { run; NoAction; }\n\
                        default_action = NoAction(); }",
        egress: "t.apply(); h.b.setInvalid();",
        deparser: "p.emit(h.a);",
        ..Parts::default()
    });
    // The program puts another header into the packet.
    check(&Parts {
        parser: "p.extract(h.b);",
        ingress: "h.a.setValid(); h.a.x = h.b.x; h.a.y = 0;",
        deparser: "p.emit(h.a);",
        ..Parts::default()
    });
}

#[test]
fn direct_objects_without_a_table() {
    check(&Parts {
        parser: "p.extract(h.a);",
        locals: "direct_counter(CounterType.packets) n; // IR-W0304\n\
                 direct_counter(CounterType.packets) used;\n\
                 direct_counter(CounterType.packets) unused;\n\
                 action count() { n.count(); used.count(); }\n\
                 table t { key = { h.a.x: exact; } actions = { count; NoAction; }\n\
                 default_action = NoAction(); counters = used; }",
        ingress: "t.apply();",
        deparser: "p.emit(h.a);",
        ..Parts::default()
    });
}
