// SPDX-License-Identifier: Apache-2.0
//! Lucid Figures 6 to 8: a handler as an atomic table graph, with its branches inlined, rearranged by
//! data flow, and merged; and what the passes make of other small handlers. The figures are drawings;
//! the handler is put together from what §6 says of it: `idx` is added to for UDP and set to zero for
//! what is neither TCP nor UDP, packets of TCP are counted by port, all by host, and inlining three
//! branches saves three stages.

use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_compiler::{atomic, normal};
use pisa::HardwareModel;
use source::{RenderOptions, SourceMap, Span, render_text};

fn program(text: &str) -> Program {
    let mut map = SourceMap::new();
    let text = text.to_owned();
    let files = lucid::syntax::NoFiles;
    match front::compile(&mut map, "test.dpt", text, &files, &Symbolics::default(), &[]) {
        Ok(compiled) => normal::normalize(&compiled.program),
        Err(said) => panic!("{}", render_text(&map, &said, RenderOptions::default())),
    }
}

/// The text after a pass.
fn check(source: &str, pass: &str, expected: &str) {
    let after = atomic::after_passes(&program(source)).expect("atomic statements");
    let found = after.into_iter().find(|one| one.name == pass).expect("a pass").text;
    assert_eq!(found.trim(), expected.trim(), "after {pass}");
}

/// Tables by stage: the statements of each.
fn layout(source: &str) -> String {
    let program = program(source);
    let graph = atomic::translate(&program).expect("atomic statements");
    let statements = atomic::dataflow(&program, &graph);
    let problem = atomic::problem(&program, &statements, "test");
    let target = HardwareModel::named("tofino", Span::NONE).expect("a target we ship");
    let layout = pisa::greedy::greedy(&problem, &target).expect("a layout");
    assert_eq!(pisa::check::check(&problem, &target, &layout), []);
    let mut text = String::new();
    for (number, stage) in layout.stages.iter().enumerate() {
        for table in &stage.tables {
            let units = table.units.iter().map(|unit| &*problem.units[unit.0 as usize].name);
            text.push_str(&format!("{number}: {}\n", units.collect::<Vec<_>>().join(" | ")));
        }
    }
    text
}

const FIGURE_6: &str = "
const int NUM_PORTS = 32;
const int<8> TCP = 6;
const int<8> UDP = 17;
global Array.t<32> other_cts = Array.create(96);
global Array.t<32> tcp_cts = Array.create(32);
global Array.t<32> hcts = Array.create(256);
memop plus(int stored, int x) { return stored + x; }
event count(int port, int<8> proto, int dst);
handle count(int port, int<8> proto, int dst) {
    int idx = port;
    if (proto != TCP) {
        if (proto == UDP) {
            idx = idx + NUM_PORTS;
        } else {
            idx = 0;
        }
        Array.setm(other_cts, idx, plus, 1);
    }
    if (proto == TCP) {
        Array.setm(tcp_cts, port, plus, 1);
    }
    Array.setm(hcts, dst, plus, 1);
}
";

#[test]
fn figure_6_1_is_the_atomic_table_graph() {
    check(
        FIGURE_6,
        "atomic",
        "
handle count
  branch
  | 2: always ->
      branch
      | 1: count.proto == 17 ->
          idx = count.port + 32
      | 2: always ->
          idx = 0
      other_cts[idx] set plus(old, 1)
  | 1: count.proto == 6 -> nothing
  branch
  | 1: count.proto == 6 ->
      tcp_cts[count.port] set plus(old, 1)
  hcts[count.dst] set plus(old, 1)
",
    );
}

#[test]
fn figure_6_2_inlines_branches() {
    check(
        FIGURE_6,
        "branches",
        "
handle count
  [count.proto == 6: no; count.proto == 17] idx = count.port + 32
  [count.proto == 6: no; count.proto == 17: no; else] idx = 0
  [count.proto == 6: no; else] other_cts[idx] set plus(old, 1)
  [count.proto == 6] tcp_cts[count.port] set plus(old, 1)
  hcts[count.dst] set plus(old, 1)
",
    );
    let graph = atomic::translate(&program(FIGURE_6)).expect("atomic statements");
    let saved = graph.longest_path() - graph.longest_path_of_statements();
    assert_eq!((graph.longest_path(), saved), (7, 3));
}

/// Counting by host waits for nothing, and stands beside the first table.
#[test]
fn figure_6_3_rearranges_by_data_flow() {
    check(
        FIGURE_6,
        "dataflow",
        "
handle count
  [count.proto == 17] idx = count.port + 32
  [count.proto == 6: no; else] other_cts[idx] set plus(old, 1)
  [count.proto == 6] tcp_cts[count.port] set plus(old, 1)
  hcts[count.dst] set plus(old, 1)
",
    );
}

/// Tables that run in one stage are one, but for arrays, of which a table has one.
#[test]
fn figure_8_merges_tables() {
    assert_eq!(
        layout(FIGURE_6),
        "\
0: idx = count.port + 32 | tcp_cts[count.port] set plus(old, 1)
0: hcts[count.dst] set plus(old, 1)
1: other_cts[idx] set plus(old, 1)
"
    );
}

const CONDITIONS: &str = "
global Array.t<32> a = Array.create(16);
memop plus(int stored, int x) { return stored + x; }
event e(int x, int y, int<8> z);
handle e(int x, int y, int<8> z) {
    bool small = x < 10 && z != 3;
    int index = 0;
    if (small || x == y) { index = 1; }
    match z with
    | 0b1******* -> { if (small) { index = 2; } }
    | 7 -> { index = 3; }
    Array.setm(a, index, plus, y);
}
";

/// A boolean in a variable is asked where it comes from; two variables are compared by a difference.
#[test]
fn conditions_ask_for_what_they_are_about() {
    check(
        CONDITIONS,
        "dataflow",
        "
handle e
  difference = e.x ^ e.y
  [e.x <= 9, e.z == 3, difference == 0; e.x <= 9, e.z == 3: no; e.x <= 9, e.z == 7: no; \
e.x <= 9, e.z & 0x80 == 0x0; e.x <= 9: no; e.z & 0x80 == 0x80, difference == 0; \
e.z == 7, difference == 0: no; difference == 0] index = 1
  [e.x <= 9, e.z == 3: no; e.x <= 9, e.z & 0x80 == 0x80] index = 2
  [e.z == 7] index = 3
  a[index] set plus(old, e.y)
",
    );
}

/// Fields of generated events are written where they are computed, whether or not it is generated.
#[test]
fn arguments_are_computed_in_their_fields() {
    check(
        "
global Array.t<32> last = Array.create(4);
memop keep(int stored, int x) { return stored; }
memop put(int stored, int x) { return x; }
event tick(int n);
packet event seen(int n, int before);
handle tick(int n) {
    int before = Array.update(last, 0, keep, 0, put, n);
    if (before != n) {
        generate_port(3, seen(n + 1, before));
    }
    generate Event.delay(tick(n + 1), 500);
}
",
        "dataflow",
        "
handle tick
  slot0.seen.before = last[0] get keep(old, 0) set put(old, tick.n)
  difference = tick.n ^ slot0.seen.before
  [difference == 0: no; else] generate slot0 seen
  generate slot1 tick
  slot0.seen.n = tick.n + 1
  slot0.place_kind = 514
  slot0.place = 3
  slot1.tick.n = tick.n + 1
  slot1.delay_ns = 500
",
    );
}

/// The sum of four ends with what comes last: two stages after the array, not four.
#[test]
fn sums_are_balanced() {
    check(
        "
global Array.t<32> a = Array.create(4);
event e(int x, int y, int z);
handle e(int x, int y, int z) {
    int late = Array.get(a, 1);
    generate e(late + x + y + z, 0, 0);
}
",
        "dataflow",
        "
handle e
  late = a[1] get old
  generate slot0 e
  t~2 = e.x + e.y
  t = e.z + t~2
  slot0.e.x = late + t
",
    );
}

/// Comparisons are right for all values: no sign of a difference is asked for.
#[test]
fn comparisons_of_variables_saturate() {
    check(
        "
global Array.t<32> a = Array.create(4);
memop plus(int stored, int x) { return stored + x; }
event e(int x, int y);
handle e(int x, int y) {
    if (x < y) { Array.setm(a, 0, plus, 1); }
}
",
        "dataflow",
        "
handle e
  excess = e.y |-| e.x
  [excess == 0: no; else] a[0] set plus(old, 1)
",
    );
}
