// SPDX-License-Identifier: Apache-2.0
//! Several mistakes in one text: each is reported once, at its place, without follow-up errors.

use super::{codes, errors, read, show};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected, "{text}");
}

#[test]
fn several_statements() {
    check(
        "event e(int x) {\n    int y = 5\n    x += 1;\n    y++;\n    int z;\n    f(x;\n    \
         if (x = 1) { skip; }\n    int a = x * 2;\n    y = ;\n    generate e(1)\n}\n",
        &[
            "2: LU-E0012",
            "3: LU-E0017",
            "4: LU-E0017",
            "5: LU-E0019",
            "6: LU-E0013",
            "7: LU-E0022",
            "8: LU-E0018",
            "9: LU-E0011",
            "10: LU-E0012",
        ],
    );
}

#[test]
fn several_declarations() {
    check(
        "const int = 4;\nevent e(int x;\nevent f();\nfun g() { skip; }\nhandle f() { x = ; }\n\
         global Array.t<32 a = Array.create(8);\nmodule M { const int = 3; const int K = ; }\n",
        &[
            "1: LU-E0011",
            "2: LU-E0013",
            "4: LU-E0011",
            "5: LU-E0011",
            "6: LU-E0013",
            "7: LU-E0011",
            "7: LU-E0011",
        ],
    );
}

#[test]
fn statements_outside_are_one_mistake() {
    check(
        "x = 1;\nif (x == 2) { y = 3; }\nevent e();\nint = 3;\n",
        &["1: LU-E0026", "4: LU-E0026"],
    );
    check("while (x) { y = 1; z = 2; }\nevent e()\n", &["1: LU-E0026", "2: LU-E0012"]);
}

#[test]
fn missing_and_stray_braces() {
    check(
        "event e() {\n    if (a) {\n        skip;\n}\nevent f();\nevent g() { x = ; }\n",
        &["5: LU-E0013", "6: LU-E0011"],
    );
    check(
        "event e() {\n    skip;\n}\n}\nevent f();\nconst int = 1;\n",
        &["4: LU-E0014", "6: LU-E0011"],
    );
    check("event e() { skip; } }\nx = 2;\n}\nevent f();\n", &["1: LU-E0014"]);
    check("event e() {", &["1: LU-E0013"]);
    check("module M { event e() { skip;\n", &["2: LU-E0013"]);
    check("}", &["1: LU-E0014"]);
}

#[test]
fn the_lexer_s_mistakes_are_told_once() {
    check("event e() { printf(\"x); }\nevent f() { x = ; }\n", &["1: LU-E0003", "2: LU-E0011"]);
    check(
        "event e() { int x = $$$; int y = 5 $ 6; y = ; }\n",
        &["1: LU-E0001", "1: LU-E0001", "1: LU-E0011"],
    );
    check("(* a *) event e(); (* b *)\n", &["1: LU-E0006"]);
    check("/* a\nevent e();\n", &["1: LU-E0002"]);
    check("event e(int x) { int y = 'a'; }\n", &["1: LU-E0001"]);
}

#[test]
fn syntax_of_other_languages() {
    let texts: &[(&str, &str)] = &[
        ("event e(int x) { x -= 1; }", "LU-E0017"),
        ("event e(int x) { x <<= 1; }", "LU-E0017"),
        ("event e(int x) { x--; }", "LU-E0017"),
        ("event e(int x) { ++x; }", "LU-E0017"),
        ("event e(int x) { int y = x++; }", "LU-E0017"),
        ("event e(int x) { int y = x / 2; }", "LU-E0018"),
        ("event e(int x) { if (x % 2 == 0) { skip; } }", "LU-E0018"),
        ("event e(int x) { int y = x > 1 ? 2 : 3; }", "LU-E0018"),
        ("event e(int x) { x *= 2; }", "LU-E0017"),
        ("const int[4 * n] x = y;", "LU-E0018"),
        ("event e(int<n - 1> x);", "LU-E0018"),
        ("event e() { int x, y; }", "LU-E0019"),
        ("event e() { int x = 1, y = 2; }", "LU-E0011"),
        ("event e() { while (true) { skip; } }", "LU-E0020"),
        ("event e() { do { skip; } while (true); }", "LU-E0020"),
        ("event e() { for (int i = 0; i < 4; i++) { skip; } }", "LU-E0020"),
        ("event e() { for (i = 0; i < 4; i = i + 1) { skip; } }", "LU-E0020"),
        ("event e(int x) { switch (x) { case 1: break; } }", "LU-E0020"),
        ("event e() { break; }", "LU-E0020"),
        ("event e() { unsigned int x = 1; }", "LU-E0020"),
        ("fun int f(int x) { return x, 1; }", "LU-E0021"),
        ("fun int f(int x) { if (x == 1) return 1; return 2; }", "LU-E0023"),
        ("event e(int x) { a[x] = 1; }", "LU-E0027"),
        ("event e(int x) { r#f = 1; }", "LU-E0027"),
        ("event e(int x) { { x = 1; } }", "LU-E0011"),
        ("event e(int x) { if (x === 1) { skip; } }", "LU-E0011"),
        ("event e(int x) { int y = r#f.g; }", "LU-E0011"),
        ("event e(int x) { int y = Array.get<32>(a, x); }", "LU-E0011"),
        ("event e(int x) { Array.set<int>(a, x, 1); }", "LU-E0011"),
        ("event e(int x) { event f(int y); }", "LU-E0025"),
        ("event e(int x) { int f(int y) { return y; } }", "LU-E0025"),
        ("module M { include \"x.dpt\" }", "LU-E0025"),
        ("memop int f(int a, int b) { return a; }", "LU-E0011"),
        ("int f(int x) { return x; }", "LU-E0026"),
        ("#include <x.h>\nevent e();", "LU-E0011"),
        ("#define N (4 + 1)\nevent e();", "LU-E0011"),
        ("struct s { int x; };", "LU-E0011"),
        ("Array<32> a[8];", "LU-E0011"),
        ("const K = 4;", "LU-E0011"),
        ("fun int f(x) { return x; }", "LU-E0011"),
        ("fun int f(int) { return 1; }", "LU-E0011"),
        ("event e(void);", "LU-E0011"),
        ("type t = { int a, int b; }", "LU-E0011"),
        ("event e() { r = {a = 1, b = 2}; }", "LU-E0011"),
        ("event e(bool b) { match b with | true -> { } }", "LU-E0011"),
        ("parser main(bitstring b) { int x = read(b); }", "LU-E0028"),
        ("parser main(bitstring b) { drop; drop; }", "LU-E0028"),
        ("parser main(bitstring b) { read eth e; drop; }", "LU-E0011"),
        ("@egress event e();", "LU-E0011"),
    ];
    for (text, code) in texts {
        assert_eq!(codes(text), [*code], "{text}");
    }
}

#[test]
fn what_is_read_besides_a_mistake_is_kept() {
    let (_, program, _) =
        read("event e(int x) { x = ; y = 1; int z; }\nconst int = 3;\nevent f();\n");
    assert_eq!(
        show::program(&program),
        "(Background e (int x) [] [(y = 1) (int z = 0)])\n(Background f  [])\n"
    );
}

#[test]
fn words_of_one_place_are_names_elsewhere() {
    let words = [
        "entry",
        "exit",
        "packet",
        "control",
        "end",
        "read",
        "drop",
        "skip",
        "noinline",
        "new",
        "unordered",
        "start",
        "table_type",
        "table_match",
        "key_type",
        "while",
        "mevent",
    ];
    for word in words {
        let text = format!("event {word}(int {word}) {{ {word} = f({word}, {word} + 1); }}");
        assert_eq!(codes(&text), [""; 0], "{text}");
    }
}

#[test]
fn operators_that_mislead() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(codes(&format!("const bool c = {text};")), expected, "{text}");
    };
    check("a || b && c", &["LU-W0001"]);
    check("a && b || c", &[]);
    check("a || (b && c)", &[]);
    check("x | y & z", &["LU-W0001"]);
    check("x & y | z", &[]);
    check("x & y << 2", &["LU-W0001"]);
    check("x << 2 & y", &[]);
}
