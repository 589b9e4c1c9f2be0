// SPDX-License-Identifier: Apache-2.0
//! The examples of explanations of mistakes in C.

use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use react::c::{Compiler, check, codes::EXPLANATIONS};
use react::compiler::{Limits, compile};
use react::language::read;

/// Returns the codes of what is said about the C texts of a program.
fn codes(text: &str) -> Vec<&'static str> {
    let options = PreprocessorOptions::default();
    let read = read("test.p4r", text.to_string(), &InterfacesOnly, &options);
    let (program, _) = read.unwrap_or_else(|(_, found)| panic!("{text}: {found:#?}"));
    let compiled = compile(&program, Limits::of(program.architecture));
    let compiled = compiled.unwrap_or_else(|(found, _)| panic!("{text}: {found:#?}"));
    let found = check(&compiled.interface, &program.map, &Compiler::from_environment());
    found.iter().map(|diagnostic| diagnostic.code.0).collect()
}

#[test]
fn wrong_examples_have_their_code_and_right_ones_have_none() {
    let with_examples = EXPLANATIONS.iter().filter(|explanation| !explanation.wrong.is_empty());
    assert_eq!(with_examples.clone().count(), EXPLANATIONS.len() - 2);
    for explanation in with_examples {
        assert_eq!(codes(explanation.wrong), [explanation.code.0], "{}", explanation.wrong);
        assert!(codes(explanation.right).is_empty(), "{}", explanation.right);
    }
}
