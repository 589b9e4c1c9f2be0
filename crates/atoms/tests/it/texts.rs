// SPDX-License-Identifier: Apache-2.0
//! The text form: messages, the examples of the explanations and of the documentation, any text without a panic.

use arithmetic::random::SplitMix64;
use atoms::{Items, banzai, read, text::codes::EXPLANATIONS};
use source::{RenderOptions, SourceMap, render_text};
use std::collections::BTreeSet;

/// Reads a text: the items, the codes of its mistakes and the messages.
fn messages(text: &str) -> (Items, Vec<&'static str>, String) {
    let mut map = SourceMap::new();
    let file = map.add("test.atoms", text);
    let (items, diagnostics) = read(&map, file);
    let codes = diagnostics.iter().map(|each| each.code.0).collect();
    (items, codes, render_text(&map, &diagnostics, RenderOptions::default()))
}

#[test]
fn explanations_have_examples_that_hold() {
    let mut seen = BTreeSet::new();
    for explanation in EXPLANATIONS {
        assert!(seen.insert(explanation.code.0), "{}", explanation.code);
        if explanation.wrong.is_empty() {
            continue;
        }
        let (_, codes, text) = messages(explanation.wrong);
        assert_eq!(codes, [explanation.code.0], "{}\n{text}", explanation.wrong);
        let (_, codes, text) = messages(explanation.right);
        assert!(codes.is_empty(), "{}: {text}", explanation.code);
    }
}

#[test]
fn several_mistakes_in_one_go() {
    let (items, codes, text) = messages(
        "atom a { state s; input p; s = opt(s) + [p | C] q = 1; }\n\
         atom b { state s; s = s @ 2; if (s) { s = tt; } }\n\
         codelet c { state count; input x; count = cuont + x; x = 1; }\n\
         codelet d { state s; s = [s | 1]; }\n\
         codelet e { state s; s = s + 1; }\n",
    );
    assert_eq!(items.codelets.len(), 1, "{text}");
    for code in ["AT-E0102", "AT-E0107", "AT-E0201", "AT-E0203", "AT-E0205"] {
        assert!(codes.contains(&code), "{code} of {codes:?}\n{text}");
    }
    assert!(text.contains("did you mean `count`?"), "{text}");
}

#[test]
fn operators_bind_as_in_c() {
    for (text, value) in [
        ("1 + 2 * 3", 7),
        ("8 - 2 - 1", 5),
        ("1 << 2 + 1", 8),
        ("5 & 3 == 3", 1),
        ("1 | 6 ^ 2 & 3", 5),
        ("0 || 2 && 0", 0),
        ("1 < 2 == 1", 1),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("-1 u> 1", 1),
        ("-1 u>> 31 | 0", 1),
        ("!0 + ~0", 0),
        ("0x10 % 7", 2),
    ] {
        let (items, _, messages) = messages(&format!("codelet c {{ state s; s = {text}; }}"));
        let codelet = items.codelets.first().unwrap_or_else(|| panic!("{messages}"));
        let point = atoms::Point { states: vec![0], inputs: vec![] };
        assert_eq!(codelet.next(atoms::Words::new(32), &point), [value], "{text}");
    }
}

#[test]
fn banzai_has_its_atoms_and_holes() {
    let found: Vec<(String, usize)> =
        banzai().into_iter().map(|each| (each.name, each.holes.len())).collect();
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["rw", "raw", "pred_raw", "if_else_raw", "sub", "nested_ifs", "pair", "mul_acc"]
    );
    // One hole for each choice, constant, optional operand and operator of the reference's templates.
    let holes: Vec<usize> = found.iter().map(|(_, holes)| *holes).collect();
    assert_eq!(holes, [2, 3, 7, 10, 16, 39, 68, 4]);
}

/// The example in the documentation.
#[test]
fn the_documented_atoms_read() {
    let document = include_str!("../../../../docs/atoms.md");
    let mut examples = 0;
    for part in document.split("```atoms\n").skip(1) {
        let (example, _) = part.split_once("```").unwrap();
        let (_, codes, text) = messages(example);
        assert!(codes.is_empty(), "{text}");
        examples += 1;
    }
    assert!(examples >= 2);
    for explanation in EXPLANATIONS {
        assert!(explanation.text.ends_with('.'), "{}", explanation.code);
    }
}

/// Changed texts give messages or items, never a panic, and each message is about a place of the text.
#[test]
fn changed_texts_never_panic() {
    let texts = [include_str!("../../src/banzai.atoms"), include_str!("../data/comparing.atoms")];
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "|",
        ";",
        "C",
        "u",
        "..",
        "opt",
        "rel",
        "9999999999",
        "é",
        "if",
        "else",
        "atom x {",
        "?",
        "=",
    ];
    let mut random = SplitMix64::new(1);
    for round in 0..400 {
        let mut text = texts[round % 2].to_owned();
        for _ in 0..1 + random.next_number() % 4 {
            let at = (random.next_number() % text.len() as u64) as usize;
            let at = (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap();
            match random.next_number() % 3 {
                0 => text
                    .insert_str(at, pieces[(random.next_number() % pieces.len() as u64) as usize]),
                1 => text.truncate(at.max(1)),
                _ => drop(text.drain(..at.min(text.len() / 8))),
            }
            if text.is_empty() {
                text.push(' ');
            }
        }
        messages(&text);
    }
    messages(&format!("atom a {{ state s; s = {}s; }}", "(".repeat(100_000)));
    messages(&format!("atom a {{ state s; s = {}s; }}", "-".repeat(100_000)));
    messages(&format!("atom a {{ state s; s = s{}; }}", " + s".repeat(100_000)));
    let doubling: String =
        (1..40).map(|at| format!("define d{at} = d{} + d{};", at - 1, at - 1)).collect();
    let (_, codes, _) =
        messages(&format!("atom a {{ state s; define d0 = s; {doubling} s = d39; }}"));
    assert_eq!(codes, ["AT-E0207"]);
}
