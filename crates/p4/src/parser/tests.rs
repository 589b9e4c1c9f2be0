// SPDX-License-Identifier: Apache-2.0
//! Tests of the parser: what a text is read as, shown by printing it with every choice the grammar
//! leaves made visible, and what is said about wrong texts.

use super::parse;
use crate::ast::Program;
use crate::codes::tests::NoFiles;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use crate::printer;
use insta::assert_snapshot;
use source::{Diagnostics, RenderOptions, SourceMap, render_text};

fn read(text: &str) -> (SourceMap, Program, Diagnostics) {
    let mut map = SourceMap::new();
    let main = map.add("test.p4", text);
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessorOptions::default();
    let tokens = preprocess(&mut map, &NoFiles, main, &options, &mut diagnostics);
    let program = parse(tokens, &mut diagnostics);
    (map, program, diagnostics)
}

/// The rendered diagnostics of a text.
fn complaints(text: &str) -> String {
    let (map, _, diagnostics) = read(text);
    render_text(&map, &diagnostics, RenderOptions::default())
}

/// Reads a text that has no mistake.
fn accept(text: &str) -> Program {
    let (map, program, diagnostics) = read(text);
    assert!(
        diagnostics.is_empty(),
        "{text}\n{}",
        render_text(&map, &diagnostics, RenderOptions::default())
    );
    program
}

/// Each of these is a whole program that must be read without a word.
#[test]
fn accepted() {
    for text in [
        "",
        ";;",
        "const bit<8> a = 0x_F;",
        "const int a = 0d10 + 0o7 + 0b1_0;",
        "const bit<1> a = 0w0 ++ 1w1;",
        "extern packet_in;",
        "extern void f<T>(in T x, out bit<32> y = 3);",
        "extern T g<T>();",
        "extern E<T> { E(T size); abstract T m(in T x); void n<U>(U u); @pure T o(); }",
        "typedef struct inner { bit<8> a; } s_t;",
        "typedef bit<8>[4] four_t;",
        "type bit<9> port_t; typedef tuple<port_t, bit<8>> pair_t;",
        "typedef list<tuple<bit<8>, bit<8>>> l_t;",
        "header h<T> { T a; @x varbit<(8 * 4)> v; } header_union u { h<bit<8>> a; }",
        "enum e { A, B, } enum bit<8> f { A = 1, B = f.A + 1, }",
        "error { A, B } match_kind { exact, lpm, }",
        "parser p<H>(packet_in b, out H h); control c(); package k<H>(p<H> x);",
        "struct s { error e; tuple<> t; list<bit<8>> l; match_kind m; string n; int i; bool b; bit c; }",
        "@a @b(1 (2) \"x\") @c[1, 2] @d[x = 1, y = 2,] @table const bool t = true;",
        "struct S { bit<8> a; } const S s = { a = 1, ... }; const S t = (S) {#};",
        "bit<8> f(in bit<8> x) { return x; } void g() { return; }",
        "control c() { apply @x { } }",
        "control c()(int n) { action a(bit<8> apply, bit<8> key) { key = apply; } apply { a(1, key = _); } }",
    ] {
        accept(text);
    }
}

#[test]
fn type_names_decide() {
    let text = "
        struct T { bit<8> x; }
        extern E<X> { E(); X m<Y>(in Y y); }
        extern X f<X>(in X x);
        control c(inout bit<8> a) {
            E<bit<8>>() e;
            action shadow(bit<8> T) { a = (T) - a; }
            apply {
                bool b = a < a && (a < a) == (a > (a));
                f<bit<8>>(a);
                f<_>(a);
                e.m<tuple<bit<8>, list<bit<8>>>>(a);
                .f(a);
                c.apply(a);
                T t = (T) {a};
                Unknown<bit<8>> v;
                Other(1) w;
            }
        }
        const T t = (T) -f<T>(1 < 2);
        const bit<(8 >> 2)> u = 1 >> 2;";
    assert_snapshot!(printer::print(&accept(text)));
}

#[test]
fn precedence() {
    let check = |text: &str, expected: &str| {
        let program = accept(&format!("const bit<8> a = {text};"));
        let printed = printer::print(&program);
        assert_eq!(printed, format!("const bit<8> a = {expected};\n"), "{text}");
    };
    check("((1 + 2)) + 3", "1 + 2 + 3");
    check("1 + (2 + 3)", "1 + (2 + 3)");
    check("(1 & 2) == 3", "1 & 2 == 3");
    check("1 & (2 == 3)", "1 & (2 == 3)");
    check("1 << (2 + 3)", "1 << 2 + 3");
    check("(1 << 2) + 3", "(1 << 2) + 3");
    check("-(1 + 2) * 3", "-(1 + 2) * 3");
    check("-(x.y[1])", "-x.y[1]");
    check("(-x)[3:0]", "(-x)[3:0]");
    check("(bit<8>) (x + 1)", "(bit<8>) (x + 1)");
    check("((bit<8>) x) + 1", "(bit<8>) x + 1");
    check("!(!a || b) && c", "!(!a || b) && c");
    check("+(+x)", "+ +x");
    check("- -x", "--x");
    check("~(~x)", "~~x");
    check("a ? (b ? c : d) : (e ? f : g)", "a ? (b ? c : d) : (e ? f : g)");
    check("(a ++ b) |+| c |-| (d * e % f)", "a ++ b |+| c |-| d * e % f");
    check("a[7:4] ++ a[0+:4]", "a[7:4] ++ a[0+:4]");
    check("a - (b - c) - d", "a - (b - c) - d");
    check("(a < b) == (c > d)", "a < b == c > d");
    check("(a == b) != c", "a == b != c");
    check("{1, {2, 3,}, {}}", "{ 1, { 2, 3 }, {} }");
    check(r#""a \"b\" \\ \n""#, r#""a \"b\" \\ \\n""#);
}

#[test]
fn numbers_too_large_are_cut() {
    let check = |written: &str, kept: &str| {
        let (_, program, diagnostics) = read(&format!("const int a = {written};"));
        let codes: Vec<_> = diagnostics.iter().map(|d| d.code.0).collect();
        assert_eq!(codes, ["P4-W0101"], "{written}");
        assert_eq!(printer::print(&program), format!("const int a = {kept};\n"));
        let [declaration] = &program.declarations[..] else { panic!("one declaration") };
        assert_eq!(declaration.name.text.as_ref(), "a");
    };
    check("8w300", "8w44");
    check("4s15", "4s15");
    check("4s8", "4s8");
    check("4s0x17", "4s7");
    check("0w1", "0w0");
    check("1s1", "1s1");
}

#[test]
fn pragma_lines() {
    let program = accept(
        "@pragma name \"x\" (1)\nconst bool a = true;\n@pragma alone\n\
         const bool b = true;\n#pragma ignored (\nconst bool c = true;",
    );
    assert_snapshot!(printer::print(&program));
}

#[test]
fn mistakes_of_c_programmers() {
    assert_snapshot!(complaints(
        "header h_t {
    uint16_t port;
}
control c(inout bit<8> x) {
    bit<8> table = 3;
    apply {
        if (x = 1) {
            x++;
        }
        while (x) {
            x = x - 1;
        }
        x == 4;
        x = bit<8>(4);
        if x == 3 {
            return;
        }
    }
}
"
    ));
}

#[test]
fn missing_semicolons_and_braces() {
    assert_snapshot!(complaints(
        "control c(inout bit<8> x) {
    action a(bit<8> y) { x = y }
    table t {
        key = { x; x: exact }
        actions = { a, a; }
    }
    apply {
        x = 1
        x = (2;
        t.apply()
        if (x == 1) {
            x = {1, = 3};
    }
}
parser p() {
    state start {
        next;
    }
    state next {
        select (1) {
            0: accept
            default: reject;
        }
    }
}
}
bit<8> global;
"
    ));
}

/// Long chains and deep nesting are read up to the documented limits, and reported beyond: never a
/// stack overflow, when reading, printing, copying or dropping.
#[test]
fn limits_of_depth() {
    let constant = |value: String| format!("const bit<8> a = {value};");
    let control = |body: String| format!("control c() {{ apply {{ {body} }} }}");
    let repeat = |text: &str, count: usize| text.repeat(count);
    let below = [
        constant(format!("1{}", repeat(" + 1", 999))),
        constant(format!("{}1{}", repeat("(", 400), repeat(")", 400))),
        constant(format!("{}1", repeat("-", 400))),
        constant(format!("a{}", repeat(".b", 999))),
        constant(format!("{}1{}", repeat("{", 400), repeat("}", 400))),
        control(format!("{}{}", repeat("{", 400), repeat("}", 400))),
        control(format!("if (true) ; {}", repeat("else if (true) ; ", 400))),
        format!("typedef {}bit<8>{} t;", repeat("tuple<", 400), repeat(">", 400)),
    ];
    for text in below {
        let program = accept(&text);
        let copy = program.clone();
        assert!(printer::same_tree(&program, &accept(&printer::print(&copy))));
    }
    let above = [
        constant(format!("1{}", repeat(" + 1", 20_000))),
        constant(format!("{}1{}", repeat("(", 20_000), repeat(")", 20_000))),
        constant(repeat("(", 20_000)),
        constant(format!("{}1", repeat("-", 20_000))),
        constant(format!("{}1", repeat("(bit<8>) ", 20_000))),
        constant(format!("a{}", repeat(".b", 20_000))),
        constant(format!("a{}", repeat("[1]", 20_000))),
        constant(repeat("{", 20_000)),
        constant(format!("1{}", repeat(" ? 1 : 1", 20_000))),
        control(format!("{}{}", repeat("{", 20_000), repeat("}", 20_000))),
        control(format!("if (true) ; {}", repeat("else if (true) ; ", 20_000))),
        format!("typedef {}bit<8>{} t;", repeat("tuple<", 20_000), repeat(">", 20_000)),
        format!("typedef bit<8>{} t;", repeat("[1]", 20_000)),
        format!("extern e {}", repeat("{", 20_000)),
        repeat("typedef struct ", 20_000),
    ];
    for text in above {
        let (_, program, diagnostics) = read(&text);
        assert!(diagnostics.has_errors(), "{}", &text[..60]);
        drop(program.clone());
    }
}

/// Whatever the tokens, the parser ends, and says something about what is no program.
#[test]
fn hostile_texts_end() {
    let pieces = [
        "control c(",
        ") {",
        "}",
        "{",
        "apply",
        "(",
        ")",
        "<",
        ">",
        ">>",
        ";",
        "table t",
        "key",
        "=",
        "actions",
        "x",
        ".",
        ":",
        "state s",
        "transition",
        "select",
        "1",
        "@",
        "[",
        "]",
        "bit<",
        "extern",
        "for (",
        "in",
        "switch",
        "error",
        "struct s",
        "?",
        "-",
        "enum",
        ",",
        "typedef",
        "if (",
        "else",
        "parser p()",
        "const",
        "...",
        "entries",
        "priority",
    ];
    // A small generator with a fixed seed: the same texts in every run.
    let mut seed = 12_345u64;
    for _ in 0..3000 {
        let mut text = String::new();
        for _ in 0..40 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            text.push(' ');
        }
        let (_, _, diagnostics) = read(&text);
        assert!(diagnostics.has_errors(), "{text}");
    }
}
