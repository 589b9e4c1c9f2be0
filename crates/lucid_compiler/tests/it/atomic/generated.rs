// SPDX-License-Identifier: Apache-2.0
//! Generated programs do the same as atomic programs.

use super::oracle::same_as_interpreter;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_reference::specification::{Format, read};
use lucid_testing::generator::{Features, Generated, generate};
use proptest::prelude::*;
use source::{RenderOptions, SourceMap, render_text};
use std::path::Path;

fn judge(generated: &Generated) -> Result<usize, String> {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let source = generated.source.clone();
    let compiled =
        front::compile(&mut map, "random.dpt", source, &files, &Symbolics::default(), &[]);
    let compiled = compiled.map_err(|said| render_text(&map, &said, RenderOptions::default()))?;
    let file = map.add("random.json", generated.run.clone());
    let (run, said) = read(&map, file, Format::Json);
    let run = run.ok_or_else(|| render_text(&map, &said, RenderOptions::default()))?;
    let judged = same_as_interpreter(&compiled.program, &run, Path::new(""));
    judged.map_err(|said| format!("{said}\n{}{}", generated.source, generated.run))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(160), ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_do_the_same_as_statements(
        tape in proptest::collection::vec(any::<u32>(), 0..300),
    ) {
        let generated = generate(&tape, Features::HANDLERS);
        if let Err(said) = judge(&generated) {
            prop_assert!(false, "{}", said);
        }
    }
}

/// Long tapes: large programs. How many dispatches there were says that the runs are no empty ones.
#[test]
fn large_programs_do_the_same_as_statements() {
    let mut dispatches = 0;
    for seed in testing::seeds(40) {
        match judge(&generate(&testing::tape::from_seed(seed, 1200), Features::HANDLERS)) {
            Ok(found) => dispatches += found,
            Err(said) => panic!("seed {seed}: {said}"),
        }
    }
    assert!(dispatches > 100, "only {dispatches} dispatches");
}
