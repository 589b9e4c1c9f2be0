// SPDX-License-Identifier: Apache-2.0
//! Tests of the parser: what a text is read as, shown by printing it with every choice the grammar
//! leaves made visible, and what is said about wrong texts.

use super::parse;
use crate::ast::Program;
use crate::interfaces::InterfacesOnly;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use crate::printer;
use source::{Diagnostics, RenderOptions, SourceMap, render_text};
use testing::assert_snapshot;

fn read(text: &str) -> (SourceMap, Program, Diagnostics) {
    let mut map = SourceMap::new();
    let main = map.add("test.p4", text);
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessorOptions::default();
    let tokens = preprocess(&mut map, &InterfacesOnly, main, &options, &mut diagnostics);
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
    check("- -x", "- -x");
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

/// Each mistake is one report with the help that fits.
#[test]
fn suggestions() {
    let check = |text: &str, expected: &[&str]| {
        let (_, _, diagnostics) = read(text);
        let found: Vec<String> = diagnostics
            .iter()
            .map(|found| format!("{}: {}", found.code, found.help.first().map_or("", |help| help)))
            .collect();
        assert_eq!(found, expected, "{text}");
    };
    let in_apply = |statements: &str, expected: &[&str]| {
        check(
            &format!("control c(inout bit<8> x) {{ apply {{ {statements} x = 1; }} }}"),
            expected,
        );
    };
    check("acton a() { }", &["P4-E0101: did you mean `action`?"]);
    check("control c() { acton a() { } apply { } }", &["P4-E0104: did you mean `action`?"]);
    check(
        "control c() { tabel t { actions = { } } apply { } }",
        &["P4-E0104: did you mean `table`?"],
    );
    check("hedaer x { bit<8> a; }", &["P4-E0101: did you mean `header`?"]);
    check(
        "parser p() { state s { transiton accept; } }",
        &["P4-E0101: did you mean `transition`?"],
    );
    in_apply("if (x == 1) { } elif (x == 2) { } else { }", &["P4-E0113: write `else if`"]);
    in_apply("if (x == 1) then { }", &["P4-E0116: write `if (...) { ... }`, without `then`"]);
    in_apply("if (x == 1 and x == 2) { }", &["P4-E0102: write `&&`"]);
    in_apply("if (x == 1 or x == 2) { }", &["P4-E0102: write `||`"]);
    in_apply("if (not x) { }", &["P4-E0102: write `!`"]);
    in_apply(
        "x = 1\u{37e} x = 2;",
        &["P4-E0001: this only looks like `;`; write the one of ASCII"],
    );
    let unclosed = "P4-E0003: close it with `\"`; a quote inside a string is written `\\\"`";
    in_apply("log(\"hello);\n x = 2;", &[unclosed]);
    in_apply("log(\"hello (x) there);\n x = 2;", &[unclosed]);
    check("@name(\"abc)\ncontrol c() {\n@name(\"d\") action a() { }\napply { } }", &[unclosed]);
    check(
        "header_type h_t { fields { a : 8; } } parser start { return ingress; }",
        &[
            "P4-E0123: translate the program to P4_16 first, for example with `p4test --std p4-14 --pp`",
        ],
    );
    check("parser p { state start { transition accept; } }", &["P4-E0101: "]);
    let (_, _, diagnostics) = read("const int a = 1.5;");
    let messages: Vec<_> = diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(messages, ["P4 has no fractions"]);
}

/// Reports end after a hundred, nesting is reported once, and a text that the preprocessor gave up
/// has no other errors.
#[test]
fn reports_are_bounded() {
    let codes = |text: &str| {
        let (_, _, diagnostics) = read(text);
        diagnostics.iter().map(|found| (found.code.0, found.message.clone())).collect::<Vec<_>>()
    };
    let many = codes(&format!("control c() {{ apply {{ {} }} }}", "x = ;\n".repeat(250)));
    assert_eq!(many.len(), 101);
    assert_eq!(many[100], ("P4-E0042", "and 150 more syntax errors from here on".to_owned()));
    for text in ["if (x == 1) ", "x(", "{ ", "if (x) { } else { "] {
        let deep = codes(&format!("control c() {{ apply {{ {} }} }}", text.repeat(2000)));
        assert_eq!(deep.len(), 1, "{text}: {deep:?}");
        assert_eq!(deep[0].0, "P4-E0107");
    }
    let nested = format!("{}1{}", "F(".repeat(60), ")".repeat(60));
    let bomb = codes(&format!("#define F(x) x x\nconst int a = {nested};"));
    assert_eq!(bomb.iter().map(|found| found.0).collect::<Vec<_>>(), ["P4-E0041"]);
    let chain = format!("const int a = {} 1;", "true ? 1 : ".repeat(50));
    assert_eq!(codes(&chain).iter().map(|found| found.0).collect::<Vec<_>>(), ["P4-W0103"]);
}

/// A long chain of `else if` needs no stack.
#[test]
fn long_chains_of_else_if() {
    let branches = "if (x == 1) { x = 2; } else ".repeat(9_999);
    let program = |branches: &str| {
        format!("control c(inout bit<8> x) {{ apply {{ {branches} {{ x = 3; }} }} }}")
    };
    let text = program(&branches);
    let tree = accept(&text);
    let printed = printer::print(&tree);
    assert_eq!(printed.matches("} else if (x == 1) {").count(), 9_998);
    assert!(crate::format::format_source(&text).is_ok_and(|formatted| formatted == printed));
    let (_, _, diagnostics) = read(&program(&branches.repeat(3)));
    let codes: Vec<_> = diagnostics.iter().map(|found| found.code.0).collect();
    assert_eq!(codes, ["P4-E0107"]);
}
