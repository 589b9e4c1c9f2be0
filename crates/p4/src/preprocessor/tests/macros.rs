// SPDX-License-Identifier: Apache-2.0
//! Definitions and uses of macros, among them the examples every C preprocessor is tried with.

use super::{Run, check, check_reports};

#[test]
fn object_like() {
    check("#define PORT 9w5\nx = PORT;", "x = 9w5 ;");
    check("#define EMPTY\na EMPTY b", "a b");
    check("#define A B\n#define B C\n#define C 1\nA", "1");
    check("#define A (1)\nA", "( 1 )");
    check("#define A 1\n#undef A\nA\n#undef A\n", "A");
    check("#define apply control\napply", "control");
}

#[test]
fn a_name_in_its_own_expansion_stays() {
    check("#define A A + B\n#define B A\nA", "A + A");
    check("#define f(x) f(x + 1)\nf(f(0))", "f ( f ( 0 + 1 ) + 1 )");
    check("#define g f\n#define f(x) x g\nf(1)(2)", "1 f ( 2 )");
    // A painted name in an argument that reaches beyond its macro.
    check("#define foo bar(foo\n#define bar(x) [x]\nfoo )", "[ foo ]");
}

#[test]
fn function_like() {
    check(
        "#define MAX(a, b) ((a) > (b) ? (a) : (b))\nMAX(x, f(y, z))",
        "( ( x ) > ( f ( y , z ) ) ? ( x ) : ( f ( y , z ) ) )",
    );
    check("#define f() 1\nf() f", "1 f");
    check("#define f(x) <x>\nf() f(\n a\n) f (b)", "< > < a > < b >");
    check("#define f (x)\nf", "( x )");
    check("#define f(x) x\n#define g f\ng(1) f\n(2)", "1 2");
    check("#define twice(x) x x\ntwice(twice(a))", "a a a a");
    check("#define f(x) x\nf(f)(1)", "f ( 1 )");
}

#[test]
fn stringize_and_paste() {
    check("#define S(x) #x\nS(a + b  (\"q\\n\"))", r#""a + b (\"q\\n\")""#);
    check("#define S(x) # x\nS( p4.org/psa/v1 )", r#""p4.org/psa/v1""#);
    check(
        "#define J(a, b) a ## b\nJ(x, 1) J(8w, 0xF) J(<, <) J(, y) J(y,) J(,)",
        "x1 8w0xF << y y",
    );
    check("#define A 1\n#define J(a, b) a##b\n#define K(a, b) J(a, b)\nJ(A, A) K(A, A)", "AA 11");
    check("#define hash #\n#define T(x) x ## _t ## x\nT(a)", "a_ta");
    // C11 6.10.3.5, example 4.
    check(
        "#define str(s) # s\n#define xstr(s) str(s)\n#define INCFILE(n) vers ## n\n\
         #define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n#define HIGHLOW \"hello\"\n\
         #define LOW LOW \", world\"\nxstr(INCFILE(2).h) glue(HIGH, LOW); xglue(HIGH, LOW)",
        r#""vers2.h" "hello" ; "hello" ", world""#,
    );
}

#[test]
fn the_standard_s_third_example() {
    // C11 6.10.3.5, example 3.
    check(
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n\
         #define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n\
         #define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n\
         f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
         p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nstr(hello)",
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; \
         f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ \
         m ( 0 , 1 ) ; int i [ ] = { 1 , 23 , 4 , 5 , } ; \"hello\"",
    );
}

#[test]
fn variadic() {
    check("#define V(...) f(__VA_ARGS__)\nV() V(1) V(1, 2)", "f ( ) f ( 1 ) f ( 1 , 2 )");
    check("#define V(a, ...) a[__VA_ARGS__]\nV(x) V(x, y, z)", "x [ ] x [ y , z ]");
    check(
        "#define L(m, ...) log(m, ## __VA_ARGS__)\nL(a) L(a, b, c)",
        "log ( a ) log ( a , b , c )",
    );
    check("#define S(...) #__VA_ARGS__\nS(a, b)", "\"a, b\"");
    check("#define N(rest...) <rest>\nN(1, 2)", "< 1 , 2 >");
}

#[test]
fn directives_among_arguments() {
    check("#define f(x) <x>\n#define A\nf(1\n#ifdef A\n+ 2\n#else\n- 2\n#endif\n)", "< 1 + 2 >");
}

#[test]
fn file_and_line() {
    check("#define L __LINE__\n\n__FILE__ __LINE__ L", "\"main.p4\" 3 3");
}

#[test]
fn joined_lines_and_comments() {
    check("#define A 1 \\\n + /* two\nlines */ 2 // rest \\\n of it\nA", "1 + 2");
    check("#define S \"a // b\"\nS", "\"a // b\"");
    check("a\\\nb", "a b");
    check("#\n# \n#pragma once\nx", "x");
}

#[test]
fn pragma_is_a_token() {
    check("#pragma pa_size  ingress \\\n x 8 // why\ny", "[pragma pa_size  ingress   x 8] y");
}

#[test]
fn places() {
    let run = Run::of("#define INC(x) x + 1\n#define TWO INC(2)\na = INC(b) * TWO;");
    let shown: Vec<(String, String)> = run
        .tokens
        .iter()
        .map(|token| (token.text.to_string(), run.map.slice(token.span).to_owned()))
        .collect();
    let expected = [
        ("a", "a"),
        ("=", "="),
        ("b", "b"),
        ("+", "INC(b)"),
        ("1", "INC(b)"),
        ("*", "*"),
        ("2", "TWO"),
        ("+", "TWO"),
        ("1", "TWO"),
        (";", ";"),
        ("", ""),
    ];
    let expected = expected.map(|(one, two)| (one.to_owned(), two.to_owned()));
    assert_eq!(shown, expected);
    let used = run.map.macro_use(run.tokens[3].span).expect("a macro's use");
    assert_eq!((&*used.name, run.map.slice(used.definition)), ("INC", "INC"));
}

#[test]
fn wrong_definitions() {
    check_reports("#define", &["P4-E0020 main.p4:1:8 the name of a macro is missing"]);
    check_reports("#define 1x", &["P4-E0020 main.p4:1:9 `1x` cannot be the name of a macro"]);
    check_reports(
        "#define defined",
        &["P4-E0020 main.p4:1:9 `defined` cannot be the name of a macro"],
    );
    check_reports(
        "#define f(a b) a",
        &["P4-E0021 main.p4:1:13 the parameters of the macro cannot be read"],
    );
    check_reports(
        "#define f(a, a) a",
        &["P4-E0021 main.p4:1:14 the macro has two parameters named `a`"],
    );
    check_reports(
        "#define f(",
        &["P4-E0021 main.p4:1:10 the parameters of the macro cannot be read"],
    );
    check_reports(
        "#define f(a) ## a",
        &["P4-E0025 main.p4:1:14 `##` stands between two tokens of a macro"],
    );
    check_reports("#define A 1\n#define A 1\n#define A  1 \n", &[]);
    check_reports(
        "#define A 1\n#define A 2",
        &["P4-W0002 main.p4:2:9 the macro `A` is defined again, differently"],
    );
    check_reports("#undef A x", &["P4-W0004 main.p4:1:10 text after `#undef NAME` is ignored"]);
}

#[test]
fn wrong_uses() {
    let define = "#define f(a, b) a\n#define v(a, ...) a\n";
    let reports = |text: &str| Run::of(format!("{define}{text}")).reports();
    assert_eq!(reports("f(1)"), ["P4-E0022 main.p4:3:1 the macro `f` takes 2 arguments, not 1"]);
    assert_eq!(
        reports("f(1,2,3)"),
        ["P4-E0022 main.p4:3:1 the macro `f` takes 2 arguments, not 3"]
    );
    assert_eq!(reports("v()"), [""; 0]);
    assert_eq!(
        reports("f(1,\n 2"),
        ["P4-E0023 main.p4:3:1 the arguments of the macro `f` are never closed"]
    );
    check_reports(
        "#define J(a, b) a ## b\nJ(+, 1)",
        &["P4-E0024 main.p4:2:1 in the macro `J`, `##` makes `+1`, which is no token"],
    );
    check_reports("#define A '\nA", &["P4-E0001 main.p4:2:1 P4 does not know the character `'`"]);
}

#[test]
fn directives_nobody_knows() {
    check_reports(
        "#inclde <core.p4>",
        &["P4-W0003 main.p4:1:2 there is no directive `#inclde`; the line is ignored"],
    );
    check_reports("#error don't \"do this", &["P4-E0040 main.p4:1:1 don't \"do this"]);
    check_reports("#warning", &["P4-W0001 main.p4:1:1 #warning"]);
    check_reports("# 1 \"file.p4\"\n#line 7 \"x\"\n", &[]);
}
