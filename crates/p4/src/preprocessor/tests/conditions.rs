// SPDX-License-Identifier: Apache-2.0
//! Which lines `#if` and its relatives select, and the expressions that say so.

use super::{Run, check, check_reports};

/// Whether the condition holds; it must get no diagnostic.
fn holds(condition: &str, expected: bool) {
    let program = format!(
        "#define ONE 1\n#define EMPTY\n#define HAS defined(ONE)\n#if {condition}\nyes\n#else\nno\n#endif\n"
    );
    check(&program, if expected { "yes" } else { "no" });
}

#[test]
fn expressions() {
    for (condition, expected) in [
        ("1", true),
        ("0", false),
        ("NOTHING", false),
        ("ONE", true),
        ("defined ONE && defined(EMPTY) && !defined(NOTHING)", true),
        ("HAS", true),
        ("1 + 2 * 3 == 7", true),
        ("(1 + 2) * 3 == 9", true),
        ("10 - 3 - 2 == 5", true),
        ("-1 < 0", true),
        ("-1 > 0u", true),
        ("1 ? 0 : 1", false),
        ("0 ? 0 : 1 ? 2 : 0", true),
        ("~0 == -1", true),
        ("!0 + !1 == 1", true),
        ("1 << 63 < 0", true),
        ("1 << 64", false),
        ("-8 >> 1 == -4", true),
        ("0x10 == 16 && 0b101 == 5 && 010 == 8 && 0o10 == 8 && 1_000 == 1000", true),
        ("20200408L >= 20180101UL", true),
        ("7 / 2 == 3 && 7 % 4 == 3 && -7 / 2 == -3", true),
        ("5 & 6 ^ 1 | 8", true),
        ("defined(NOTHING) && 1 / NOTHING", false),
        ("1 || 1 / 0", true),
        ("1 ? 2 : 1 / 0", true),
        ("(-9223372036854775807 - 1) / -1 < 0", true),
        ("(-9223372036854775807 - 1) % -1", false),
        ("'a' == 97 && '\\n' == 10", true),
        ("1 /* a */ + /* b */ 1 == 2 // c", true),
    ] {
        holds(condition, expected);
    }
}

#[test]
fn wrong_expressions() {
    for (condition, expected) in [
        ("", "P4-E0032 main.p4:1:4 the condition is missing"),
        ("1 +", "P4-E0032 main.p4:1:8 the condition ends where a value is expected"),
        ("(1", "P4-E0032 main.p4:1:7 `)` is missing"),
        ("1 2", "P4-E0032 main.p4:1:7 `2` is not expected here"),
        ("f(1)", "P4-E0032 main.p4:1:5 `f` is no macro with arguments"),
        ("1 / 0", "P4-E0033 main.p4:1:7 the condition divides by zero"),
        ("8w5", "P4-E0032 main.p4:1:5 `8w5` has a width, which the preprocessor does not know"),
        ("0x", "P4-E0032 main.p4:1:5 `0x` is no number"),
        (
            "99999999999999999999",
            "P4-E0032 main.p4:1:5 `99999999999999999999` does not fit in 64 bits",
        ),
        ("defined", "P4-E0020 main.p4:1:12 the name of a macro is missing"),
        ("\"x\"", "P4-E0032 main.p4:1:5 a value is expected here, not `x`"),
        ("1 = 1", "P4-E0032 main.p4:1:7 `=` is not expected here"),
        ("1 ? 2", "P4-E0032 main.p4:1:10 `:` is missing after `?`"),
    ] {
        let run = Run::of(format!("#if {condition}\n#endif"));
        assert_eq!(run.reports().first().map(String::as_str), Some(expected), "for {condition}");
    }
}

#[test]
fn groups() {
    let program = |a: &str| {
        format!(
            "{a}\n#if defined A\na\n#elif defined B\nb\n#elifdef C\nc\n#elifndef D\nd\n#else\ne\n#endif\nz"
        )
    };
    check(&program("#define A\n#define B"), "a z");
    check(&program("#define B\n#define C"), "b z");
    check(&program("#define C"), "c z");
    check(&program(""), "d z");
    check(&program("#define D"), "e z");
    check("#ifndef A\n#define A\nx\n#endif\n#ifdef A\ny\n#endif", "x y");
    check("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 1\nc\n#endif", "c");
    check("#if 1\n#if 0\na\n#endif\nb\n#else\nc\n#endif", "b");
    // The condition of an #elif after a group that was read is not looked at.
    check("#if 1\na\n#elif 1 / 0\n#elif (((\n#endif", "a");
}

#[test]
fn excluded_text_may_be_anything() {
    check("#if 0\ndon't \" ` $ (\n#error no\n#include \"none\"\n#foo\n8w'\n#endif\nx", "x");
    check("#if 0\n/*\n#endif\n*/\n// #endif\n\"/*\"\n#endif\nx", "x");
    check("#if 0\nit's /* a\n#else\n*/\n#endif\nx", "x");
    check("#if 0\r\na\r\n # /* x */ else // y\r\nb\r\n#endif\r\nx", "b x");
    check("#if 0\na \\\n#endif\n#endif\nx", "x");
    check("#ifdef NO\n#endif/* remark */\nx", "x");
}

#[test]
fn wrong_groups() {
    check_reports("#if 1\n#else\n", &["P4-E0030 main.p4:1:1 this condition is never closed"]);
    check_reports("#if 0\nx", &["P4-E0030 main.p4:1:1 this condition is never closed"]);
    check_reports("#else", &["P4-E0031 main.p4:1:1 `#else` belongs to no `#if`"]);
    check_reports("x\n # endif", &["P4-E0031 main.p4:2:2 `#endif` belongs to no `#if`"]);
    check_reports("#elifdef A", &["P4-E0031 main.p4:1:1 `#elifdef` belongs to no `#if`"]);
    check_reports(
        "#if 1\n#else\n#else\n#endif",
        &["P4-E0031 main.p4:3:1 `#else` after the `#else` of its `#if`"],
    );
    check_reports(
        "#if 0\n#else\n#elif 1\n#endif",
        &["P4-E0031 main.p4:3:1 `#elif` after the `#else` of its `#if`"],
    );
    check_reports("#if 1\n#endif A", &["P4-W0004 main.p4:2:8 text after `#endif` is ignored"]);
}

/// A carriage return alone ends a line, as in old texts.
#[test]
fn carriage_returns() {
    check("// a\rx\r#define A \\\r 1\r#if A\ry // b\r#else\rz\r#endif\rA", "x y 1");
}
