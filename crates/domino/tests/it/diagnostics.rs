// SPDX-License-Identifier: Apache-2.0
//! Errors and warnings: the examples of explanations, several errors at once, and damaged sources.

use crate::program;
use crate::{generate, program::try_read};
use source::{RenderOptions, render_text};
use testing::choices::Choices;

/// Returns the codes and lines of what is wrong.
fn found(text: &str) -> Vec<String> {
    let (map, found) = match program::read_diagnostics(text) {
        Ok(checked) => (checked.map, checked.warnings),
        Err(errors) => errors,
    };
    let mut list: Vec<String> = found
        .iter()
        .map(|one| {
            format!("{}:{}", one.code, map.location(one.primary.span).map_or(0, |at| at.line))
        })
        .collect();
    list.sort();
    list
}

#[test]
fn explanations_are_right() {
    for explanation in domino::codes::explanations() {
        let code = explanation.code.0;
        let has = |text: &str| found(text).iter().any(|one| one.starts_with(code));
        if explanation.wrong.is_empty() {
            continue;
        }
        assert!(
            has(explanation.wrong),
            "{code}: {:?}\n{}",
            found(explanation.wrong),
            explanation.wrong
        );
        assert_eq!(found(explanation.right), Vec::<String>::new(), "{code}: {}", explanation.right);
    }
}

/// Compares the codes and lines of what is wrong with `expected`, separated by blanks.
fn check(text: &str, expected: &str) {
    let expected: Vec<&str> = expected.split_whitespace().collect();
    assert_eq!(found(text), expected, "{}", try_read(text).err().unwrap_or_default());
}

#[test]
fn several_errors_are_reported_at_once() {
    check(
        "struct Packet { int a; int a; };\nint s = q;\nint r[0];\nvoid func(struct Packet p) {\n  p.b = 1;\n  x = s[2];\n  p.a = r;\n}\n",
        "DO-E0101:6 DO-E0102:1 DO-E0109:5 DO-E0110:7 DO-E0111:6 DO-E0113:2 DO-E0115:3",
    );
    check(
        "struct Packet { int a; };\nvoid func(struct Packet p) {\n  p.a = 1\n  p.a = (2;\n  char c;\n  p.a = (int) 3;\n  while (1) { }\n}\n",
        "DO-E0002:3 DO-E0003:4 DO-E0010:5 DO-E0013:7 DO-E0014:6",
    );
    check(
        "struct Packet { int a; };\nint f(int x) { return f(x); }\nint g() { return later(1); }\nint later(int x) { return x; }\n\
         void func(struct Packet p) { p.a = f(); func(p); }\n",
        "DO-E0103:3 DO-E0104:5 DO-E0105:2 DO-E0105:5 DO-E0119:5",
    );
}

#[test]
fn a_missing_semicolon_is_reported_at_its_line() {
    check("struct Packet { int a; }\nvoid func(struct Packet p) { }\n", "DO-E0002:1");
    check(
        "struct Packet { int a; };\nint s\nint t;\nvoid func(struct Packet p) { }\n",
        "DO-E0002:2",
    );
    check(
        "struct Packet { int a; };\nvoid func(struct Packet p) {\n  p.a = 1;\n  p.a++\n}\n",
        "DO-E0002:4",
    );
}

#[test]
fn loops_have_constant_bounds() {
    let text = |header: &str, body: &str| {
        format!(
            "struct Packet {{ int a; }};\nint f(int n) {{ int s = 0;\nfor ({header}) {{ {body} }}\nreturn s; }}\nvoid func(struct Packet p) {{ p.a = f(p.a); }}\n"
        )
    };
    for (header, body, expected) in [
        ("int i = 0; i < 4096; i++", "s += i;", ""),
        ("int i = 0; i < 4097; i++", "s += i;", "DO-E0013:3"),
        ("int i = 10; 0 < i; i -= 3", "s += i;", ""),
        ("int i = 1; i != 256; i = i * 2", "s += i;", ""),
        ("int i = 0; i < n; i++", "s += i;", "DO-E0013:3"),
        ("int i = n; i < 4; i++", "s += i;", "DO-E0013:3"),
        ("int i = 0; i < 4; i += n", "s += i;", "DO-E0013:3"),
        ("int i = 0; i < 4; i++", "i = 2;", "DO-E0013:3"),
        ("int i = 0, j = i++; i < 4; i++", "s += j;", "DO-E0013:3"),
        ("int i = 0; i < 4;", "s += i;", "DO-E0013:3"),
        ("; ;", "s += 1;", "DO-E0013:3"),
        ("unsigned i = 3; i >= 0; i--", "s += i;", "DO-E0013:3"),
    ] {
        check(&text(header, body), expected);
    }
}

#[test]
fn numbers_have_the_types_of_c() {
    let text = |number: &str| {
        format!("struct Packet {{ int a; }};\nvoid func(struct Packet p) {{ p.a = {number}; }}\n")
    };
    for (number, expected) in [
        ("2147483647", ""),
        ("2147483648", "DO-E0009:2"),
        ("-2147483648", ""),
        ("2147483648u", ""),
        ("0xffffffff", ""),
        ("0x100000000", "DO-E0009:2"),
        ("037777777777", ""),
        ("09", "DO-E0008:2"),
        ("1.5", "DO-E0008:2"),
        ("10L", "DO-E0008:2"),
        ("'a'", "DO-E0014:2"),
    ] {
        check(&text(number), expected);
    }
}

#[test]
fn macros_and_conditions_work() {
    check(
        "#define SIZE 4\n#define AT(array, i) array[(i) % SIZE]\n#if SIZE > 3 && !defined(OTHER)\nstruct Packet { int a; };\n#else\n#error no\n#endif\n\
         #define DECREMENT(x) (x - -1)\nint r[SIZE];\nvoid func(struct Packet p) { AT(r, p.a) = DECREMENT(p.a); p.a--; --p.a; }\n",
        "",
    );
    check(
        "#include \"missing.h\"\nstruct Packet { int a; };\nvoid func(struct Packet p) { }\n",
        "P4-E0010:1",
    );
}

#[test]
fn damaged_sources_never_panic() {
    for seed in testing::seeds(400) {
        let mut choices = Choices::from_seed(seed);
        let mut text: Vec<char> = generate::program(seed % 20).chars().collect();
        for _ in 0..choices.between(1, 6) {
            let at = choices.below(text.len());
            match choices.below(4) {
                0 => drop(text.remove(at)),
                1 => text.insert(
                    at,
                    *choices.pick(&[
                        '{', '}', '(', ')', ';', '*', ',', '-', '"', '\'', '#', '\u{e9}', '9',
                    ]),
                ),
                2 => {
                    let end = (at + choices.below(30)).min(text.len());
                    text.drain(at..end);
                }
                _ => {
                    let end = (at + choices.below(30)).min(text.len());
                    let part: Vec<char> = text[at..end].to_vec();
                    let to = choices.below(text.len());
                    text.splice(to..to, part);
                }
            }
        }
        let text: String = text.into_iter().collect();
        if let Err((map, errors)) = program::read_diagnostics(&text) {
            assert!(errors.has_errors(), "{text}");
            render_text(&map, &errors, RenderOptions { color: false });
        }
        let _ = domino::format(&text);
    }
}
