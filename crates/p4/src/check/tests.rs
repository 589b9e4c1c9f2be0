// SPDX-License-Identifier: Apache-2.0
//! Tests of the type checker: programs with what is said about them, as `code start-text` lines; the
//! examples of all explanations; and properties of the tables of checked programs.

mod accepted;
mod advice;
mod assignment;
mod rejected;
mod side_tables;

use crate::codes::tests::check_examples;
use crate::codes::typing;
use crate::interfaces::InterfacesOnly;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use crate::typed::TypedProgram;
use source::{Diagnostics, SourceMap};

/// Reads and checks a program.
fn compile(text: &str) -> (SourceMap, Diagnostics, TypedProgram) {
    let mut map = SourceMap::new();
    let main = map.add("test.p4", text);
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessorOptions::default();
    let tokens = preprocess(&mut map, &InterfacesOnly, main, &options, &mut diagnostics);
    let tree = crate::parser::parse(tokens, &mut diagnostics);
    let typed = crate::check::check(tree, &mut diagnostics);
    (map, diagnostics, typed)
}

/// Checks that a program gets exactly these diagnostics: code, the text they point at, and the
/// message, a line each.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (map, diagnostics, _) = compile(text);
    let found: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| {
            let place = map.slice(diagnostic.primary.span);
            format!("{} <{place}> {}", diagnostic.code, diagnostic.message)
        })
        .collect();
    assert_eq!(found, expected, "for the program\n{text}");
}

#[test]
fn examples_of_typing_codes() {
    for explanations in [
        typing::names::EXPLANATIONS,
        typing::types::EXPLANATIONS,
        typing::expressions::EXPLANATIONS,
        typing::calls::EXPLANATIONS,
        typing::statements::EXPLANATIONS,
        typing::tables::EXPLANATIONS,
    ] {
        check_examples(explanations, |text| compile(text).1);
    }
}

#[test]
fn every_code_is_explained() {
    for code in typing::ALL {
        assert!(crate::codes::explanation(code.0).is_some(), "{code} has no explanation");
    }
}

/// One mistake gives one report.
#[test]
fn one_mistake_one_report() {
    let mut repeated = Vec::new();
    for explanation in crate::codes::explanations() {
        if !typing::ALL.contains(&explanation.code) {
            continue;
        }
        let (_, diagnostics, _) = compile(explanation.wrong);
        let errors: Vec<_> = diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == source::Severity::Error)
            .map(|diagnostic| (diagnostic.code, diagnostic.message.clone()))
            .collect();
        if errors.len() > 1 {
            repeated.push((explanation.code, errors));
        }
    }
    assert!(repeated.is_empty(), "{repeated:#?}");
}
