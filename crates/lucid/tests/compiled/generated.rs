// SPDX-License-Identifier: Apache-2.0
//! Generated programs compiled. `PLANEWRIGHT_SEEDS` says how many large ones.

use crate::generator::{Features, Generated, generate, tape};
use crate::oracle::{Judged, judge};
use device::EngineChoice;
use lucid::compile::{Options, Target};
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::specification::{Format, read};
use proptest::prelude::*;
use source::{RenderOptions, SourceMap, render_text};

/// Dispatches and cells compared.
fn run(
    generated: &Generated,
    target: Target,
    engine: EngineChoice,
) -> Result<(usize, u64), String> {
    let mut map = SourceMap::new();
    let files = lucid::syntax::NoFiles;
    let source = generated.source.clone();
    let symbolics = Symbolics::default();
    let compiled = front::compile(&mut map, "random.dpt", source, &files, &symbolics, &[]);
    let compiled = compiled.map_err(|said| render_text(&map, &said, RenderOptions::default()))?;
    let file = map.add("random.json", generated.run.clone());
    let (run, said) = read(&map, file, Format::Json);
    let run = run.ok_or_else(|| render_text(&map, &said, RenderOptions::default()))?;
    let folder = std::path::Path::new("");
    let options = Options { target, ..Options::default() };
    match judge(&map, &compiled.program, &run, folder, &options, engine) {
        Ok(Judged::Same(verified, _)) => Ok((verified.schedule.dispatches.len(), verified.cells)),
        Ok(Judged::Refused(said)) => Err(format!("refused:\n{said}\n{}", generated.source)),
        Err(said) => Err(format!("{said}\n{}{}", generated.source, generated.run)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn generated_programs_do_on_devices_what_they_mean(
        tape in proptest::collection::vec(any::<u32>(), 0..200),
    ) {
        let generated = generate(&tape, Features::ALL);
        if let Err(said) = run(&generated, Target::V1Model, EngineChoice::Interpreter) {
            prop_assert!(false, "{}", said);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 30,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn generated_programs_do_for_tna_what_they_mean(
        tape in proptest::collection::vec(any::<u32>(), 0..200),
    ) {
        let generated = generate(&tape, Features::ALL);
        if let Err(said) = run(&generated, Target::Tna, EngineChoice::Interpreter) {
            prop_assert!(false, "{}", said);
        }
    }
}

fn large_programs(target: Target) {
    let seeds = std::env::var("PLANEWRIGHT_SEEDS").ok().and_then(|text| text.parse().ok());
    let (mut dispatches, mut cells) = (0, 0);
    let mut wrong = Vec::new();
    for seed in 0..seeds.unwrap_or(30) {
        match run(&generate(&tape(seed, 800), Features::ALL), target, EngineChoice::Jit) {
            Ok(found) => {
                dispatches += found.0;
                cells += found.1;
            }
            Err(said) => wrong.push(format!("seed {seed}: {said}")),
        }
    }
    println!("{dispatches} dispatches, {cells} cells");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(dispatches > 200 && cells > 100, "only {dispatches} dispatches, {cells} cells");
}

#[test]
fn large_programs_do_on_devices_what_they_mean() {
    large_programs(Target::V1Model);
}

#[test]
fn large_programs_do_for_tna_what_they_mean() {
    large_programs(Target::Tna);
}
