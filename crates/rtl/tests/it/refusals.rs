// SPDX-License-Identifier: Apache-2.0
//! What hardware cannot hold: each mistake with its code, and several at once.

use crate::logic::program;
use ir::RegisterId;
use rtl::program::{FirstValues, Resolution, Source, SourceGroup};
use rtl::shape::Shape;

/// The codes for a control with these declarations and this body, on a machine of a shape.
#[track_caller]
fn check_shape(locals: &str, body: &str, shape: Shape, expected: &[&str]) {
    let ready = program(locals, body);
    let program = ready.program();
    let block = program.blocks_with_role("ig").start;
    let registers: Vec<RegisterId> = (0..program.registers.len() as u32).map(RegisterId).collect();
    let group = SourceGroup { name: String::new(), stage: 0, cells: 1, registers, decision: None };
    let source = Source {
        name: String::new(),
        program,
        stages: vec![program.blocks[block].region],
        resolution: Resolution::Always,
        groups: vec![group],
        first_values: FirstValues::new(),
    };
    let found = rtl::program::plan(&source, shape).err().unwrap_or_default();
    let codes: Vec<&str> = found.iter().map(|one| one.code.0).collect();
    assert_eq!(codes, expected, "{body}");
    for one in found.iter() {
        assert!(!one.help.is_empty(), "{}: no advice", one.message);
    }
}

#[track_caller]
fn check(locals: &str, body: &str, expected: &[&str]) {
    check_shape(locals, body, Shape { pipelines: 2, depth: 8, remap_every: None }, expected);
}

#[test]
fn tables_whose_entries_are_written_at_run_time() {
    let table = "action set(bit<8> v) { hdr.h.a = v; }
        table open { key = { hdr.h.b : exact; } actions = { set; NoAction; } default_action = NoAction(); }";
    check(table, "open.apply();", &["RTL-E0102"]);
    let table = table.replace("default_action", "const entries = { 5 : set(1); } default_action");
    check(&table, "open.apply();", &[]);
}

#[test]
fn operations_without_hardware() {
    check("", "random(hdr.h.a, 0, 9);", &["RTL-E0103"]);
    check("", "clone(CloneType.I2E, 5);", &["RTL-E0103"]);
    check(
        "meter(4, MeterType.packets) rate;",
        "rate.execute_meter<bit<8>>(0, hdr.h.a);",
        &["RTL-E0103"],
    );
}

#[test]
fn divisions_by_variables() {
    check("", "hdr.h.b = hdr.h.b / (bit<16>) hdr.h.a;", &["RTL-E0106"]);
    check("", "hdr.h.b = hdr.h.b % 1000;", &[]);
}

#[test]
fn two_cells_of_an_array() {
    let array = "register<bit<8>>(8) r;";
    let both = "bit<8> x; r.read(x, (bit<32>) hdr.h.e); r.write((bit<32>) hdr.h.f, x);";
    check(array, both, &["RTL-E0105"]);
    let branches = "if (hdr.h.p == 1) { r.write((bit<32>) hdr.h.e, 1); } else { r.write((bit<32>) hdr.h.f, 2); }";
    check(array, branches, &[]);
    let same = "bit<8> x; r.read(x, (bit<32>) hdr.h.e); r.write((bit<32>) hdr.h.e, x + 1);";
    check(array, same, &[]);
}

#[test]
fn shapes_that_cannot_be_built() {
    let shape = Shape { pipelines: 0, depth: 0, remap_every: Some(1) };
    check_shape("", "hdr.h.a = 1;", shape, &["RTL-E0101"; 3]);
}

#[test]
fn several_mistakes_at_once() {
    let body = "hdr.h.b = hdr.h.b / (bit<16>) hdr.h.a; random(hdr.h.a, 0, 9);";
    check("", body, &["RTL-E0106", "RTL-E0103"]);
}
