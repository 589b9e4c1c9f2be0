// SPDX-License-Identifier: Apache-2.0
//! Malleables, tables and the functions of reactions, compiled and called.

use crate::fixture::{Fixture, bits, boolean, int};
use react::interface::{KeyKind, Reactions, TableOperation};

/// Runs a body with a malleable value of this type.
#[track_caller]
fn check_value(ty: react::interface::Scalar, before: u64, body: &str, after: u64) {
    let (malleables, _) = Fixture::new().value("v", ty).reaction(body).run(&[], &[before]);
    assert_eq!(malleables, [after], "{body}");
}

#[test]
fn values_wrap_at_their_width() {
    check_value(bits(16), 1, "int x = 65538; ${v} = x;", 2);
    check_value(bits(12), 1, "${v} = ${v} + 4096;", 1);
    check_value(bits(12), 4095, "${v}++;", 0);
    check_value(bits(12), 0, "--${v};", 4095);
    check_value(bits(12), 1, "${v} -= 2;", 4095);
    check_value(bits(40), 1, "${v} <<= 39; ${v} *= 2; ${v} |= 1;", 1);
    check_value(bits(64), 1, "${v} = -1; ${v} -= 1;", u64::MAX - 1);
    check_value(bits(1), 1, "${v} = ${v} + 1u;", 0);
    check_value(boolean(), 0, "${v} = 4;", 1);
    check_value(boolean(), 1, "${v} = !${v};", 0);
    check_value(int(12), 0x800, "if (${v} == -2048) ${v} = ${v} + 1;", 0x801);
    check_value(int(64), u64::MAX, "${v} = ${v} / 2 - 5;", -5i64 as u64);
}

#[test]
fn reads_of_narrow_values_have_c_types() {
    // A bit-field of 40 bits would wrap at 40 bits.
    check_value(bits(40), 1 << 39, "uint64_t x = ${v} * 2; ${v} = x >> 8;", 1 << 32);
    check_value(bits(40), 7, "log(\"%llu\", (unsigned long long)${v}); (void)sizeof(${v});", 7);
    check_value(bits(12), 7, "uint32_t a[8] = { [7] = 9 }; (${v}) = a[${v}];", 9);
}

#[test]
fn macros_take_malleables() {
    let check = |ty, body: &str, after| {
        let macros = "\n#define BUMP(x) ((x)++)\n#define MAX(a, b) ({ typeof(a) a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })\n";
        let fixture = Fixture::new().value("v", ty).shared(macros).reaction(body);
        assert_eq!(fixture.run(&[], &[5]).0, [after], "{body}");
    };
    check(bits(16), "BUMP(${v}); ${v} = MAX(${v}, 3);", 6);
    check(bits(12), "${v} = MAX(${v}, 3);", 5);
    check(bits(40), "${v} = MAX(${v}, 3);", 5);
    check(boolean(), "${v} = MAX(${v}, 0);", 1);
}

#[test]
fn values_can_be_read_after_assignments_of_the_same_call() {
    check_value(bits(8), 3, "${v} = 200; uint8_t w = ${ v }; ${v} = w + 100;", 44);
    check_value(bits(8), 3, "uint8_t w; w = ${v} = 300 - 45; ${v} = w - 1;", 254);
}

#[track_caller]
fn check_field(before: u64, body: &str, after: u64) {
    let fixture = Fixture::new().field("f", &["hdr.a.x", "hdr.b.y", "meta.z"]);
    let (malleables, _) = fixture.reaction(body).run(&[], &[before]);
    assert_eq!(malleables, [after], "{body}");
}

#[test]
fn fields_stand_for_alternatives() {
    check_field(0, "${f} = hdr.b.y;", 1);
    check_field(0, "${f} = hdr . b /* b */ . y;", 1);
    check_field(0, "int c = 1; ${f} = c ? meta.z : hdr.b.y;", 2);
    check_field(0, "int c = 2; ${f} = c == 1 ? hdr.a.x : (c == 2 ? (hdr.b.y) : meta.z);", 1);
    check_field(1, "if (${f} == hdr.b.y) ${f} = hdr.a.x; else ${f} = meta.z;", 0);
    check_field(1, "if (hdr.b.y != ${f}) ${f} = hdr.a.x; else ${f} = meta.z;", 2);
    check_field(1, "${f} = ${f} == hdr.b.y ? meta.z : hdr.a.x;", 2);
    check_field(
        2,
        "switch (${f}) { case hdr.a.x: ${f} = hdr.b.y; break; case meta.z: ${f} = hdr.a.x; }",
        0,
    );
    check_field(0, "${f} =\n  hdr\n  .b.y;", 1);
}

#[test]
fn a_field_read_as_a_number_is_the_index_of_its_alternative() {
    check_field(0, "${f} = (${f} + 1) % 3;", 1);
    check_field(2, "uint32_t saved = ${f}; ${f} = hdr.a.x; if (saved) ${f} = saved;", 2);
}

#[test]
fn an_index_without_an_alternative_leaves_the_field_as_it_was() {
    let fixture = Fixture::new().field("f", &["hdr.a.x", "hdr.b.y"]).reaction("${f} = 2;");
    let (malleables, host) = fixture.run(&[], &[1]);
    assert_eq!(malleables, [1]);
    assert_eq!(
        host.lines,
        ["${f} was given the index 2, but has 2 alternatives: it stays as it was"]
    );
}

#[test]
fn fields_with_equal_alternatives_can_be_assigned_and_compared() {
    let alternatives = ["hdr.a.x", "hdr.b.y"];
    let fixture = Fixture::new().field("f", &alternatives).field("g", &alternatives);
    let body = "${f} = ${g}; if (${f} != ${g}) log(\"differ\"); ${f} = ${g} = hdr.a.x;";
    let (malleables, host) = fixture.reaction(body).run(&[], &[0, 1]);
    assert_eq!((malleables, host.lines.len()), (vec![0, 0], 0));
}

#[test]
fn texts_keep_what_only_looks_like_a_malleable() {
    let body = "log(\"${v} hdr.a.x\"); /* ${nothing} */ ${v} = '$'; // ${nothing}";
    let (malleables, host) = Fixture::new().value("v", bits(8)).reaction(body).run(&[], &[0]);
    assert_eq!(malleables, [u64::from(b'$')]);
    assert_eq!(host.lines, ["${v} hdr.a.x"]);
}

#[test]
fn table_functions_pass_keys_priority_and_arguments() {
    let keys = [
        ("hdr.ip.dst", bits(32), KeyKind::Lpm),
        ("hdr.ip.src", bits(32), KeyKind::Ternary),
        ("hdr.tcp.port", bits(16), KeyKind::Range),
        ("hdr.ip6.dst", bits(128), KeyKind::Exact),
        ("meta.flag", boolean(), KeyKind::Optional),
    ];
    let parameters = [("port", bits(9)), ("delta", int(20)), ("mac", bits(72))];
    let body = r#"
        const uint8_t wide[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
        uint64_t h = T_add_a(0x0a000000, 8, 1, 0xffffffff, 80, 90, wide, true, 1, 7, 513, -1, wide);
        T_mod_a(h, 2, -2, wide);
        T_mod_drop(h);
        if (T_find(0x0a000000, 8, 1, 2, 80, 90, wide, false, 0, -3)) T_del(h);
        T_default_a(1, 2, wide + 7);
        T_default_drop();
        T_reset_default();
    "#;
    let fixture = Fixture::new().table("T", &keys, &parameters, true).reaction(body);
    let (_, host) = fixture.run(&[], &[]);
    let (low, high) = (0x090a_0b0c_0d0e_0f10, 0x0102_0304_0506_0708);
    let (bytes_2_to_9, byte_1) = (0x0203_0405_0607_0809, 1);
    use TableOperation::{Add, Delete, Find, Modify, ResetDefault, SetDefault};
    let key = |mask, is_set| vec![0x0a00_0000, 8, 1, mask, 80, 90, low, high, 1, is_set];
    let add = [key(0xffff_ffff, 1), vec![7, 1, 0xf_ffff, bytes_2_to_9, byte_1]].concat();
    assert_eq!(
        host.operations,
        [
            (Add, 0, 0, add),
            (Modify, 0, 0, vec![1, 2, 0xf_fffe, bytes_2_to_9, byte_1]),
            (Modify, 0, 1, vec![1]),
            (
                Find,
                0,
                0,
                [key(2, 0), vec![-3i64 as u64]]
                    .concat()
                    .into_iter()
                    .enumerate()
                    .map(|(at, word)| if at == 8 { 0 } else { word })
                    .collect()
            ),
            (Delete, 0, 0, vec![1]),
            (SetDefault, 0, 0, vec![1, 2, 0x090a_0b0c_0d0e_0f10, 8]),
            (SetDefault, 0, 1, vec![]),
            (ResetDefault, 0, 0, vec![]),
        ]
    );
}

#[test]
fn a_table_that_takes_no_entry_returns_0() {
    let fixture = Fixture::new()
        .value("v", bits(8))
        .table("T", &[("k", bits(8), KeyKind::Exact)], &[], false)
        .reaction("${v} = T_add_a(1) ? 1 : 2; if (!T_del(5)) ${v} += 10;");
    let mut host = crate::fixture::Recorder { result: Some(0), ..Default::default() };
    let mut malleables = [0];
    fixture.load().call(0, &[], &mut malleables, &mut host).expect("a call");
    assert_eq!(malleables, [12]);
}

#[test]
fn time_log_and_failed_commits_come_from_the_host() {
    let body = "uint64_t now = now(); ${v} = now % 1000 + failed_commits();\n\
                log(\"%s %d\\n\", \"a\", 5); log(\"b%%\");";
    let (malleables, host) = Fixture::new().value("v", bits(8)).reaction(body).run(&[], &[0]);
    assert_eq!(malleables, [10]);
    assert_eq!(host.lines, ["a 5", "b%"]);
}

#[test]
fn the_logarithm_stays_available_with_math_h() {
    let fixture = Fixture::new()
        .value("v", bits(8))
        .shared("\n#include <math.h>\nstatic double twice(double x) { return 2 * log(x); }\n")
        .reaction("${v} = log(exp(3.0)) + twice(M_E) + 0.5; log(\"%d\", ${v});");
    let (malleables, host) = fixture.run(&[], &[0]);
    assert_eq!(malleables, [5]);
    assert_eq!(host.lines, ["5"]);
}

#[test]
fn helpers_types_and_macros_are_shared() {
    let fixture = Fixture::new()
        .value("v", bits(16))
        .define("LIMIT", "16w0x10")
        // Macros of P4 with names that headers use.
        .define("st_mode", "7")
        .shared("\n#include <sys/stat.h>\n#include <string.h>\n#define TWICE(x) \\\n  ((x) * 2)\nstruct pair { int a, b; };\n")
        .shared("static int sum(struct pair p) { ${v} = 1; return TWICE(p.a) + p.b + st_mode; }")
        .reaction("\n#define LOCAL 3\nstruct pair p = { LOCAL, LIMIT };\n int s = sum(p); ${v} += s;\n");
    assert_eq!(fixture.run(&[], &[0]).0, [30]);
}

#[test]
fn static_and_state_variables_keep_their_values_between_calls() {
    let fixture = Fixture::new()
        .value("v", bits(16))
        .state("uint32_t total;")
        .reaction("static int calls = 10; calls++; total += 100; ${v} = calls + total;");
    let mut loaded = fixture.load();
    let mut malleables = [0];
    for expected in [111, 212, 313] {
        loaded
            .call(0, &[], &mut malleables, &mut crate::fixture::Recorder::default())
            .expect("a call");
        assert_eq!(malleables, [expected]);
    }
    // Each load has variables of its own.
    let mut other = fixture.load();
    other.call(0, &[], &mut malleables, &mut crate::fixture::Recorder::default()).expect("a call");
    assert_eq!(malleables, [111]);
}

#[test]
fn a_return_ends_a_reaction_and_its_assignments_stay() {
    check_value(bits(8), 0, "${v} = 1; if (${v}) return; ${v} = 2;", 1);
}

#[test]
fn init_runs_by_itself() {
    let fixture = Fixture::new()
        .value("v", bits(8))
        .state("int ready;")
        .init("ready = 1; ${v} = 5;")
        .reaction("${v} = ready ? ${v} + 1 : 0;");
    let mut loaded = fixture.load();
    let (mut malleables, mut host) = ([0], crate::fixture::Recorder::default());
    loaded.call_init(&mut malleables, &mut host).expect("init");
    assert_eq!(malleables, [5]);
    loaded.call(0, &[], &mut malleables, &mut host).expect("a call");
    assert_eq!(malleables, [6]);
}

#[test]
fn a_panic_of_the_host_passes_the_reaction() {
    struct Panics;
    impl react::interface::Host for Panics {
        fn table(&mut self, _: TableOperation, _: usize, _: usize, _: &[u64]) -> u64 {
            0
        }
        fn now_ns(&mut self) -> u64 {
            std::panic::resume_unwind(Box::new("no time"))
        }
        fn log(&mut self, _: &str) {}
        fn failed_commits(&mut self) -> u64 {
            0
        }
    }
    let mut loaded = Fixture::new().reaction("now(); now();").load();
    let call = std::panic::AssertUnwindSafe(|| loaded.call(0, &[], &mut [], &mut Panics));
    let panic = std::panic::catch_unwind(call).expect_err("a panic");
    assert_eq!(panic.downcast_ref(), Some(&"no time"));
}
