// SPDX-License-Identifier: Apache-2.0
//! Very deep, very long and very wrong texts.

use super::{codes, tree};

const DEPTH: usize = 20_000;

#[test]
fn deep_texts_are_told_and_overflow_nothing() {
    let texts = [
        format!("const int c = {}1{};", "(".repeat(DEPTH), ")".repeat(DEPTH)),
        format!("const int c = {}1;", "!".repeat(DEPTH)),
        format!("const int c = {}1;", "- ".repeat(DEPTH)),
        format!("const int c = {}1;", "(int<8>)".repeat(DEPTH)),
        format!("const int c = {}1;", "flood ".repeat(DEPTH)),
        format!("const int c = 1{};", " + 1".repeat(DEPTH)),
        format!("const int c = r{};", "#f".repeat(DEPTH)),
        format!("const int c = {}", "f(".repeat(DEPTH)),
        format!("const int c = {}", "[".repeat(DEPTH)),
        format!("const int c = {}", "{".repeat(DEPTH)),
        format!("event e() {{ {}", "if (a) {".repeat(DEPTH)),
        format!("event e() {{ {}", "if (a) { } else ".repeat(DEPTH)),
        format!("event e() {{ {}", "match x with | 1 -> {".repeat(DEPTH)),
        format!("event e({}", "{".repeat(DEPTH)),
        format!("event e({}", "Table.t<<".repeat(DEPTH)),
        format!("event e(int{} x);", "[1]".repeat(DEPTH)),
        format!("event e(int<{}", "(".repeat(DEPTH)),
        "module M {".repeat(DEPTH),
        format!("module M : {{{}", "module M : {".repeat(DEPTH)),
        format!("parser main() {{{}", "match x with | 1 -> {".repeat(DEPTH)),
    ];
    for text in texts {
        let reported = codes(&text);
        let start: String = text.chars().take(60).collect();
        assert!(!reported.is_empty() && reported.len() <= 3, "{start}: {} codes", reported.len());
    }
}

/// Each of these is a mistake of its own, up to the depth.
#[test]
fn deep_bodies_without_braces() {
    assert_eq!(codes(&format!("event e() {{ {}", "if (a) ".repeat(DEPTH))).len(), 101);
}

#[test]
fn what_is_within_the_limits_is_read() {
    let nested = |levels: usize, open: &str, close: &str| {
        format!("event e() {{ {}{} }}", open.repeat(levels), close.repeat(levels))
    };
    tree(&nested(200, "if (a) { skip; ", "}"));
    tree(&format!("event e() {{ {} {{ }} }}", "if (a) { } else ".repeat(200)));
    tree(&format!("const int c = 1{};", " + 1".repeat(500)));
    tree(&format!("event e() {{ f({}1); }}", "1, ".repeat(100_000)));
}

#[test]
fn errors_are_counted_when_there_are_very_many() {
    let text = format!("event e() {{ {} }}", "x = ;\n".repeat(5000));
    let reported = codes(&text);
    assert_eq!(reported.len(), 101);
    assert_eq!(reported.last(), Some(&"LU-E0005"));
    let lexical = "event e() { \" }\n".repeat(5000);
    assert!(codes(&lexical).len() <= 202, "{}", codes(&lexical).len());
}

/// Doubling a text about doubles the time; what would be quadratic does not end within a test.
#[test]
fn long_texts_are_read_in_linear_time() {
    let pieces = [
        "x ; ",
        "} ",
        "{ ",
        "event e() { ",
        "( ",
        "\" ",
        "$ x ",
        "x = ; ",
        "@a ",
        "if (a) ",
        "a < b > ",
        "f<a,",
        "t[",
        "{ int a; ",
        "3<<1>> ",
        "module M : { ",
        "| 1 -> ",
        "int<",
    ];
    for piece in pieces {
        let text = piece.repeat(100_000 / piece.len());
        for prefix in ["", "event e() { ", "const int c = "] {
            let _ = codes(&format!("{prefix}{text}"));
        }
    }
}
