// SPDX-License-Identifier: Apache-2.0
//! Memops: messages, verdicts one rule at a time, shapes, explanations, and that no program makes the
//! check panic. `PLANEWRIGHT_BLESS=1` writes the expected messages anew.

use crate::support::{compare, corpus, files, root};
use lucid::memop::codes::EXPLANATIONS;
use lucid::memop::{Shape, shape};
use lucid::syntax::ast::DeclarationKind;
use proptest::prelude::*;
use source::SourceMap;
use std::sync::Arc;

fn said(name: &str, text: &str) -> crate::support::Said {
    crate::support::said(name, text, lucid::memop::check)
}

#[test]
fn messages() {
    for path in files(&root().join("tests/it/memop/messages")) {
        let text = std::fs::read_to_string(&path).expect("a program");
        let said = said(&path.file_name().expect("a name").to_string_lossy(), &text);
        assert!(!said.before.has_errors(), "{}", said.text());
        compare(&path, &said.own());
    }
}

/// The shape of a memop, as a word.
fn form(text: &str) -> Option<&'static str> {
    let mut map = SourceMap::new();
    let file = map.add("memop.dpt", text);
    let (tree, _) = lucid::syntax::parse(&map, file);
    let (program, found) = lucid::check::check(Arc::new(tree));
    assert!(!found.has_errors(), "{text}");
    let declared =
        program.tree.declarations.iter().find_map(|declaration| match &declaration.kind {
            DeclarationKind::Memop { name, .. } => Some(name.id),
            _ => None,
        });
    Some(match shape(&program, declared?)? {
        Shape::Return(_) => "return",
        Shape::If(..) => "if",
        Shape::Complex(parts) => match (parts.cell1.len(), parts.cell2.len()) {
            (2, 2) => "complex 2 2",
            (2, 0) => "complex 2 0",
            (1, 0) => "complex 1 0",
            _ => "complex",
        },
    })
}

#[test]
fn shapes() {
    let table = [
        ("memop m(int s, int x) { return s; }", Some("return")),
        ("memop m(int s, int x) { skip; return s; }", Some("return")),
        ("memop m(int s, int x) { if (s < x) { return x; } else { return s; } }", Some("if")),
        ("memop m(int s, int x) { return s + s; }", None),
        ("memop m(int s, int x, int y) { if (true) { cell1 = x; } }", Some("complex 1 0")),
        (
            "memop m(int s, int x, int y) { bool b = s == 1; \
             if (b) { cell1 = x; } else { if (!b) { cell1 = y; } } if (b) { return s; } }",
            Some("complex 2 0"),
        ),
        (
            "memop m(int s, int t, int x, int y) { bool b = s == 1; \
             if (b) { cell2 = x; } else { if (!b) { cell2 = y; } } \
             if (b) { cell1 = t; } else { if (true) { cell1 = 3; } } }",
            Some("complex 2 2"),
        ),
        ("memop m(int s, int x, int y) { return s; }", None),
        ("const int k = 1;", None),
    ];
    for (text, expected) in table {
        assert_eq!(form(text), expected, "{text}");
    }
}

#[test]
fn explanations_show_what_they_say() {
    for explanation in EXPLANATIONS {
        let code = explanation.code;
        let wrong = said("wrong.dpt", explanation.wrong);
        let has = |said: &crate::support::Said| said.found.iter().any(|one| one.code == code);
        assert!(!wrong.before.has_errors() && has(&wrong), "{code}: {}", wrong.text());
        let right = said("right.dpt", explanation.right);
        assert!(!right.before.has_errors() && right.found.is_empty(), "{code}: {}", right.text());
    }
}

#[test]
fn every_code_is_in_a_message() {
    let all: String = files(&root().join("tests/it/memop/messages"))
        .iter()
        .map(|path| std::fs::read_to_string(path.with_extension("expected")).unwrap_or_default())
        .collect();
    for explanation in EXPLANATIONS {
        let code = format!("[{}]", explanation.code);
        assert!(all.contains(&code), "no program of the tests gets {code}");
    }
}

/// The memops that messages offer instead are right themselves.
#[test]
fn advice_can_be_followed() {
    for path in files(&root().join("tests/it/memop/messages")) {
        let text = std::fs::read_to_string(&path).expect("a program");
        let wrong = said("program.dpt", &text);
        for diagnostic in wrong.found.iter() {
            for help in &diagnostic.help {
                let Some((_, offered)) = help.split_once(":\n") else { continue };
                let offered = said("offered.dpt", offered);
                assert!(!offered.before.has_errors(), "{help}\n{}", offered.text());
                assert!(offered.found.is_empty(), "{help}\n{}", offered.own());
            }
        }
    }
}

#[test]
fn memops_of_the_examples_are_right() {
    for (path, text) in corpus("../../examples/lucid") {
        let said = crate::support::said_in(&path, &text, lucid::memop::check);
        assert!(said.found.is_empty(), "{}", said.own());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(200), ..ProptestConfig::default() })]

    /// Programs with words changed, which mostly do not check, make nothing panic.
    #[test]
    fn no_program_makes_it_panic(
        which in any::<prop::sample::Index>(),
        changes in crate::support::changes(),
    ) {
        let corpus = corpus("tests/it/memop/messages");
        let (path, text) = &corpus[which.index(corpus.len())];
        crate::support::said_in(path, &crate::support::changed(text, &changes), lucid::memop::check);
    }
}
