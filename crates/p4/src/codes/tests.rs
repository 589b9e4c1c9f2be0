// SPDX-License-Identifier: Apache-2.0
//! What holds for every explanation: codes are unique and well formed, the wrong example gives its
//! code, and the right one does not and has no error.

use super::{explanations, lexical, syntax};
use crate::interfaces::InterfacesOnly;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use source::{Diagnostics, Explanation, Severity, SourceMap};

/// What preprocessing and parsing say about a text.
fn read(text: &str) -> Diagnostics {
    let mut map = SourceMap::new();
    let main = map.add("example.p4", text);
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessorOptions::default();
    let tokens = preprocess(&mut map, &InterfacesOnly, main, &options, &mut diagnostics);
    crate::parser::parse(tokens, &mut diagnostics);
    diagnostics
}

/// Checks the examples of explanations by whatever part of the front end finds their codes.
/// Explanations without examples say why in their text.
pub(crate) fn check_examples(explanations: &[Explanation], diagnose: impl Fn(&str) -> Diagnostics) {
    for explanation in explanations {
        if explanation.wrong.is_empty() && explanation.right.is_empty() {
            continue;
        }
        let code = explanation.code;
        let wrong = diagnose(explanation.wrong);
        let found: Vec<_> = wrong.iter().map(|d| (d.code, d.message.clone())).collect();
        assert!(
            found.iter().any(|(found, _)| *found == code),
            "{code}: its wrong example gives {found:?}"
        );
        let right = diagnose(explanation.right);
        for diagnostic in right.iter() {
            assert!(
                diagnostic.code != code && diagnostic.severity != Severity::Error,
                "{code}: its right example gives {diagnostic:?}"
            );
        }
    }
}

#[test]
fn examples_of_lexical_codes() {
    check_examples(lexical::EXPLANATIONS, read);
}

#[test]
fn examples_of_syntax_codes() {
    check_examples(syntax::EXPLANATIONS, read);
}

/// A mistake gives one report: what follows from it is not reported.
#[test]
fn one_mistake_one_report() {
    for explanation in syntax::EXPLANATIONS {
        let found: Vec<_> =
            read(explanation.wrong).iter().map(|d| (d.code, d.message.clone())).collect();
        assert!(found.len() <= 1, "{}: {found:?}", explanation.code);
    }
}

#[test]
fn codes_are_unique_and_well_formed() {
    let mut seen = Vec::new();
    for explanation in explanations() {
        let code = explanation.code.0;
        assert!(!seen.contains(&code), "{code} is explained twice");
        seen.push(code);
        let number = code.strip_prefix("P4-E").or(code.strip_prefix("P4-W"));
        assert!(
            number.is_some_and(|n| n.len() == 4 && n.bytes().all(|b| b.is_ascii_digit())),
            "{code}"
        );
        assert!(!explanation.title.is_empty() && !explanation.text.is_empty(), "{code}");
    }
}
