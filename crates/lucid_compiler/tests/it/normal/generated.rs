// SPDX-License-Identifier: Apache-2.0
//! Generated programs do the same before and after each pass.

use super::oracle::same_after_each_pass;
use lucid::core::walk;
use lucid::core::{Statement, StatementKind};
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_reference::specification::{Format, read};
use lucid_testing::generator::{Features, Generated, generate};
use proptest::prelude::*;
use source::{Diagnostic, Diagnostics, RenderOptions, Severity, SourceMap, Span, render_text};
use std::sync::Arc;

fn judge(generated: &Generated, returns: &[bool]) -> Result<usize, String> {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let source = generated.source.clone();
    let symbolics = Symbolics::default();
    let compiled = front::compile(&mut map, "random.dpt", source, &files, &symbolics, &[]);
    let compiled = compiled.map_err(|said| {
        // A program leaves much unused; what counts is what is wrong.
        let mut errors = Diagnostics::new();
        let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
        said.iter().filter(is_error).for_each(|one| errors.push(one.clone()));
        format!("{}\n{}", render_text(&map, &errors, RenderOptions::default()), generated.source)
    })?;
    let file = map.add("random.json", generated.run.clone());
    let (run, said) = read(&map, file, Format::Json);
    let run = run.ok_or_else(|| render_text(&map, &said, RenderOptions::default()))?;
    let mut program = compiled.program;
    let mut returns = returns.iter();
    for body in walk::bodies_mut(&mut program) {
        add_returns(&mut body.statements, &mut returns);
    }
    let judged = same_after_each_pass(&program, &run, std::path::Path::new(""));
    judged.map_err(|said| format!("{said}\n{}{}", generated.source, generated.run))
}

/// Ends blocks with a `return`, which the core has and the language has not: once for each true.
fn add_returns(statements: &mut Vec<Statement>, returns: &mut std::slice::Iter<'_, bool>) {
    for statement in statements.iter_mut() {
        for block in walk::blocks_mut(statement) {
            add_returns(block, returns);
        }
    }
    if returns.next() == Some(&true) {
        let inlined_at = Arc::from([]);
        let kind = StatementKind::Return;
        let at = statements.len() / 2;
        statements.insert(at, Statement { kind, span: Span::NONE, inlined_at });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(96), ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_do_the_same_after_each_pass(
        tape in proptest::collection::vec(any::<u32>(), 0..300),
    ) {
        let generated = generate(&tape, Features::HANDLERS);
        if let Err(said) = judge(&generated, &[]) {
            prop_assert!(false, "{}", said);
        }
    }

    #[test]
    fn handlers_that_return_do_the_same_after_each_pass(
        tape in proptest::collection::vec(any::<u32>(), 0..300),
        returns in proptest::collection::vec(any::<bool>(), 0..20),
    ) {
        let generated = generate(&tape, Features::HANDLERS);
        if let Err(said) = judge(&generated, &returns) {
            prop_assert!(false, "{}", said);
        }
    }
}

/// Long tapes: large programs. How many observations there were says that the runs are no empty ones.
#[test]
fn large_programs_do_the_same_after_each_pass() {
    let mut observations = 0;
    for seed in testing::seeds(40) {
        match judge(&generate(&testing::tape::from_seed(seed, 1200), Features::HANDLERS), &[]) {
            Ok(found) => observations += found,
            Err(said) => panic!("seed {seed}: {said}"),
        }
    }
    assert!(observations > 400, "only {observations} observations");
}
