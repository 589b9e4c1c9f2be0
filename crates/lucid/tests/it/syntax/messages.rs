// SPDX-License-Identifier: Apache-2.0
//! Whole messages as users see them, and what holds for every explanation.

use super::read;
use lucid::syntax::codes::EXPLANATIONS;
use source::{RenderOptions, Severity, render_text};
use testing::assert_snapshot;

fn messages(text: &str) -> String {
    let (map, _, diagnostics) = read(text);
    format!("{text}\n---\n{}", render_text(&map, &diagnostics, RenderOptions::default()).trim_end())
}

#[test]
fn missing_punctuation() {
    assert_snapshot!(messages(
        "const int K = 4\n\
         event e(int x;\n\
         handle e(int x) {\n    int y = (x + 1;\n    generate e(y)\n    if (x == 1) y = 2;\n}\n"
    ));
}

#[test]
fn unbalanced_braces() {
    assert_snapshot!(messages(
        "fun int f(int x) {\n    if (x == 1) {\n        return 1;\n    return 2;\n}\n\
         event e(int x);\n\
         handle e(int x) {\n    if (x == 1) {\n        skip;\n        }\n    }\n}\n"
    ));
}

#[test]
fn syntax_of_c() {
    assert_snapshot!(messages(
        "event e(int x) {\n    int y;\n    x += 1;\n    y++;\n    y = x * 3;\n    y = x % 4;\n    \
         while (x < 3) { x = x + 1; }\n    for (int i = 0; i < 4; i++) { skip; }\n    \
         if (x = 1) { skip; }\n    a[3] = 5;\n}\n\
         fun int f(int x) { return x, 1; }\n"
    ));
}

#[test]
fn comments_strings_and_names() {
    assert_snapshot!(messages(
        "event match(int x);\nevent e() { printf(\"x is %d, x); }\n/* a /* b */\nevent f();\n"
    ));
}

#[test]
fn examples_of_explanations() {
    for explanation in EXPLANATIONS {
        let code = explanation.code;
        if explanation.wrong.is_empty() {
            continue;
        }
        // Only a whole program knows that a file is missing.
        let diagnose = |text: &str| {
            let mut map = source::SourceMap::new();
            let none = lucid::syntax::NoFiles;
            lucid::syntax::load(&mut map, "example.dpt", text.to_owned(), &none).1
        };
        let wrong = diagnose(explanation.wrong);
        let found: Vec<_> = wrong.iter().map(|found| (found.code, &found.message)).collect();
        assert_eq!(found.len(), 1, "{code}: {found:?}");
        assert_eq!(found[0].0, code, "{found:?}");
        for diagnostic in diagnose(explanation.right).iter() {
            assert!(
                diagnostic.code != code && diagnostic.severity != Severity::Error,
                "{code}: its right example gives {diagnostic:?}"
            );
        }
    }
}

#[test]
fn codes_are_unique_and_well_formed() {
    let mut seen = Vec::new();
    for explanation in EXPLANATIONS {
        let code = explanation.code.0;
        assert!(!seen.contains(&code), "{code} is explained twice");
        seen.push(code);
        let number = code.strip_prefix("LU-E00").or(code.strip_prefix("LU-W00"));
        assert!(number.is_some_and(|digits| digits.len() == 2 && digits.parse::<u8>().is_ok()));
        assert!(!explanation.title.is_empty() && !explanation.text.is_empty(), "{code}");
    }
}
