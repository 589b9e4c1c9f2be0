// SPDX-License-Identifier: Apache-2.0
//! Tests of the printer: the layout of a program with every kind of declaration, and that printed
//! text is read as the same tree.

use super::{print, print_expression, print_type_ref, same_tree};
use crate::ast::{DeclarationKind, Program};
use crate::interfaces;
use crate::interfaces::InterfacesOnly;
use crate::parser::parse;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use source::{Diagnostics, SourceMap};
use testing::assert_snapshot;

fn read(text: &str) -> Program {
    let mut map = SourceMap::new();
    let main = map.add("test.p4", text);
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessorOptions::default();
    let tokens = preprocess(&mut map, &InterfacesOnly, main, &options, &mut diagnostics);
    let program = parse(tokens, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{text}\n{diagnostics:?}");
    program
}

pub(crate) const EVERYTHING: &str = r#"
const bit<8> ONE = 8w1; typedef bit<9> port_t; type bit<32> address_t;
error { TooShort } match_kind { exact, lpm } enum kind { A, B } enum bit<8> code { X = 1, Y = 2 }
header h_t { bit<8> a; @field("x") varbit<64> b; } struct s_t<T> { T[4] x; }
extern packet_in { void extract<T>(out T h); abstract bit<8> f(); packet_in(); }
@pure extern bit<8> hash<T>(in T data, bit<8> seed = 3);
bit<8> twice(in bit<8> x) { return x ++ x; }
parser p(packet_in b, out h_t h)(bool flag) {
  value_set<bit<8>>(4) seen; bit<8> n = 0;
  @name("first") state start { b.extract(h); n = n + 1; transition select(h.a, n) {
    (1, _): again; (2 &&& 3, 4 .. 5): accept; (seen, default): reject; default: accept; } }
  state again { transition start; } }
control c(inout h_t h, in bit<32> very_long_parameter_name, inout bit<32> another_long_parameter_name) {
  @hidden action drop() {} action set(bit<8> v, inout bit<8> w) { h.a = v; w += 1; }
  table t { key = { h.a: exact @name("a"); h.a[3:0]: lpm; } actions = { drop; @defaultonly set(h.a); }
    const default_action = drop(); size = 4 * 256;
    entries = { (1, 2): drop(); const priority = 3: (4, _): set(5) @x; } }
  apply {
    if (h.a == 1) drop(); else if (h.a == 2) { exit; } else { return; }
    switch (t.apply().action_run) { drop: set: { h.a = 1; } default: {} }
    switch (h.a) { 1: { break; } }
    @unroll for (bit<8> i = 0, bit<8> j = 1; i < 4; i = i + 1, j += 2) { continue; }
    for (bit<8> k in 1 .. ONE) h.a = k;
    h = (h_t) { a = 1, ... }; { ; } bit<8> local;
    if (h.a == 1 && very_long_parameter_name == 2 && another_long_parameter_name == 3 || h.a == 4) { exit; }
    hash<tuple<bit<8>, bit<32>, bit<32>>>({ h.a, very_long_parameter_name, another_long_parameter_name }, seed = 3);
  } }
package top(); control e(); parser q(); top() main;
"#;

#[test]
fn layout_of_everything() {
    assert_snapshot!(print(&read(EVERYTHING)));
}

#[test]
fn printed_text_is_the_same_program() {
    let program = read(EVERYTHING);
    let printed = print(&program);
    let again = read(&printed);
    assert!(same_tree(&program, &again));
    assert_eq!(print(&again), printed);
}

#[test]
fn interfaces_survive_printing() {
    for name in ["core.p4", "v1model.p4", "psa.p4", "pna.p4"] {
        assert!(interfaces::interface(name).is_some(), "{name}");
        let program = read(&format!("#include <{name}>\n"));
        assert!(same_tree(&program, &read(&print(&program))), "{name}");
    }
}

#[test]
fn different_programs_differ() {
    for (first, second) in [
        ("const bit<8> a = 1 - (2 - 3);", "const bit<8> a = (1 - 2) - 3;"),
        ("const bit<8> a = 1;", "const bit<8> b = 1;"),
        ("const string a = \"NodeId(1)\";", "const string a = \"NodeId(2)\";"),
        ("@x const bit<8> a = 1;", "const bit<8> a = 1;"),
    ] {
        assert!(!same_tree(&read(first), &read(second)), "{first} {second}");
    }
}

#[test]
fn parts_on_one_line() {
    let program =
        read("const tuple<bit<8>, .T<int<(1 + 2)>, _>[3]> a = f(x = {1, 2}, -y[3:0]) ? (a) : b;");
    let Some(DeclarationKind::Constant { ty, value }) =
        program.declarations.first().map(|declaration| &declaration.kind)
    else {
        panic!("a constant was written")
    };
    assert_eq!(print_type_ref(ty), "tuple<bit<8>, .T<int<(1 + 2)>, _>[3]>");
    assert_eq!(print_expression(value), "f(x = { 1, 2 }, -y[3:0]) ? a : b");
}
