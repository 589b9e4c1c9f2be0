// SPDX-License-Identifier: Apache-2.0
//! Generated programs compiled and compared with the reference interpreter.

use crate::oracle::{Judged, judge, judge_as};
use device::EngineChoice;
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_compiler::{Backend, Options};
use lucid_reference::simulation::{Outcome, Setup};
use lucid_reference::specification::{Format, read};
use lucid_testing::generator::{Features, Generated, generate};
use proptest::prelude::*;
use source::{RenderOptions, SourceMap, render_text};
use std::sync::Arc;
use testing::tape::shrink;

/// The core program of a generated one.
fn core(map: &mut SourceMap, source: &str) -> Result<Program, String> {
    let files = lucid::syntax::NoFiles;
    let symbolics = Symbolics::default();
    let compiled = front::compile(map, "random.dpt", source.to_string(), &files, &symbolics, &[]);
    match compiled {
        Ok(compiled) => Ok(compiled.program),
        Err(said) => Err(render_text(map, &said, RenderOptions::default())),
    }
}

/// What came of a program.
pub enum Ran {
    /// Dispatches, and cells and packets out of the network that were compared.
    Same { dispatches: usize, cells: u64, packets: u64 },
    /// The target has too little of something, and the compiler says so.
    TooLarge(String),
}

/// Whether all that the compiler says is that something does not fit into a stage.
fn is_too_large(said: &str) -> bool {
    let mut errors = said.lines().filter(|line| line.starts_with("error[")).peekable();
    errors.peek().is_some() && errors.all(|line| line.starts_with("error[PI-E0203]"))
}

/// Compares a program; the error says what is wrong.
fn run(generated: &Generated, target: Backend, engine: EngineChoice) -> Result<Ran, String> {
    run_with(generated, &|_, options| options, target, engine)
}

/// The same with other options that follow from the run.
pub fn run_with(
    generated: &Generated,
    choose: &dyn Fn(&Setup, Options) -> Options,
    target: Backend,
    engine: EngineChoice,
) -> Result<Ran, String> {
    let mut map = SourceMap::new();
    let program = core(&mut map, &generated.source)?;
    let file = map.add("random.json", generated.run.clone());
    let (run, said) = read(&map, file, Format::Json);
    let run = run.ok_or_else(|| render_text(&map, &said, RenderOptions::default()))?;
    let folder = std::path::Path::new("");
    let setup = Setup::new(Arc::new(program.clone()), &run);
    let setup = setup.map_err(|said| {
        let said = render_text(&map, &said, RenderOptions::default());
        format!("{said}\n{}{}", generated.source, generated.run)
    })?;
    let options = choose(&setup, Options { target, ..Options::default() });
    match judge(&map, &program, &run, folder, &options, engine) {
        Ok(Judged::Same(verified, _)) => {
            if let Outcome::Stopped(fault) = &verified.outcome {
                let said = &fault.message;
                return Err(format!("stopped: {said}\n{}{}", generated.source, generated.run));
            }
            let dispatches = verified.schedule.dispatches.len();
            Ok(Ran::Same { dispatches, cells: verified.cells, packets: verified.packets })
        }
        Ok(Judged::Refused(said)) if is_too_large(&said) => Ok(Ran::TooLarge(said)),
        Ok(Judged::Refused(said)) => Err(format!("refused:\n{said}\n{}", generated.source)),
        Err(said) => Err(format!("{said}\n{}{}", generated.source, generated.run)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: testing::cases(60),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn generated_programs_do_on_devices_what_they_mean(
        tape in proptest::collection::vec(any::<u32>(), 0..200),
    ) {
        let generated = generate(&tape, Features::HANDLERS);
        if let Ok(Ran::TooLarge(said)) | Err(said) = run(&generated, Backend::V1Model, EngineChoice::Interpreter) {
            prop_assert!(false, "{}", said);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: testing::cases(30),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn generated_programs_do_for_tna_what_they_mean(
        tape in proptest::collection::vec(any::<u32>(), 0..200),
    ) {
        let generated = generate(&tape, Features::HANDLERS);
        if let Ok(Ran::TooLarge(said)) | Err(said) = run(&generated, Backend::Tna, EngineChoice::Interpreter) {
            prop_assert!(false, "{}", said);
        }
    }
}

/// How often a difference is tried to be made smaller.
const TRIES: usize = 150;

/// What a tape's program says, made small first if the compiled program differs. Refusals and faults stay
/// what they are.
pub fn smallest(
    tape: &[u32],
    features: Features,
    said: &str,
    differs: &mut dyn FnMut(&Generated) -> Option<String>,
) -> String {
    let small = shrink(tape, TRIES, &mut |tape| differs(&generate(tape, features)).is_some());
    let generated = generate(&small, features);
    differs(&generated).unwrap_or_else(|| said.to_string())
}

fn large_programs(target: Backend) {
    let (mut dispatches, mut cells) = (0, 0);
    let (mut wrong, mut too_large) = (Vec::new(), Vec::new());
    let count = testing::seeds(30).count();
    for seed in testing::seeds(30) {
        let tape = testing::tape::from_seed(seed, 800);
        match run(&generate(&tape, Features::HANDLERS), target, EngineChoice::Jit) {
            Ok(Ran::Same { dispatches: handlers, cells: compared, .. }) => {
                dispatches += handlers;
                cells += compared;
            }
            Ok(Ran::TooLarge(said)) => too_large.push(format!("seed {seed}: {said}")),
            Err(said) => {
                let mut differs = |small: &Generated| run(small, target, EngineChoice::Jit).err();
                wrong.push(format!(
                    "seed {seed}: {}",
                    smallest(&tape, Features::HANDLERS, &said, &mut differs)
                ));
            }
        }
    }
    println!("{dispatches} dispatches, {cells} cells");
    for said in &too_large {
        println!("NOT COMPARED, too large for the target: {said}");
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    // About one in two thousand.
    let (refused, most) = (too_large.len(), 1 + count / 500);
    assert!(refused <= most, "{refused} of {count} are too large:\n{}", too_large.join("\n"));
    // A few chosen seeds may be of programs that do little.
    let is_enough = count < 30 || dispatches > 200 && cells > 100;
    assert!(is_enough, "only {dispatches} dispatches, {cells} cells");
}

#[test]
fn large_programs_do_on_devices_what_they_mean() {
    large_programs(Backend::V1Model);
}

#[test]
fn large_programs_do_for_tna_what_they_mean() {
    large_programs(Backend::Tna);
}

/// Five register actions on one array are one too many for Tofino: said, and no mistake of the compiler.
#[test]
fn programs_too_large_for_tna_are_told_apart() {
    let large = generate(&testing::tape::from_seed(1535, 800), Features::HANDLERS);
    let engine = EngineChoice::Interpreter;
    let Ok(Ran::TooLarge(said)) = run(&large, Backend::Tna, engine) else { panic!("it fits") };
    assert!(said.contains("5 register actions are needed"), "{said}");
    assert!(!is_too_large(&said.replace("PI-E0203", "LU-E0701")));
    assert!(matches!(run(&large, Backend::V1Model, engine), Ok(Ran::Same { .. })));
}

/// Whether a program whose memops were compiled wrongly differs from what it means.
fn differs_with_a_mistake(generated: &Generated) -> Option<String> {
    let mut map = SourceMap::new();
    let program = core(&mut map, &generated.source).ok()?;
    let wrong = generated.source.replace("{ return stored + x; }", "{ return stored - x; }");
    let wrong = core(&mut map, &wrong).ok()?;
    let file = map.add("random.json", generated.run.clone());
    let (run, _) = read(&map, file, Format::Json);
    let folder = std::path::Path::new("");
    let engine = EngineChoice::Interpreter;
    let judged = judge_as(&map, (&program, &wrong), &run?, folder, &Options::default(), engine);
    let said = judged.err()?;
    // The compiled program follows the difference.
    let difference = said.lines().next()?;
    Some(format!("{difference}\n{}{}", generated.source, generated.run))
}

/// A mistake in the compiler comes out as a small program with few events.
#[test]
fn differences_are_made_small() {
    let seen = (0..40).find_map(|seed| {
        let tape = testing::tape::from_seed(seed, 300);
        let said = differs_with_a_mistake(&generate(&tape, Features::HANDLERS))?;
        Some((tape, said))
    });
    let (tape, said) = seen.expect("the mistake is hardly ever seen");
    let small = smallest(&tape, Features::HANDLERS, &said, &mut differs_with_a_mistake);
    assert!(small.contains("by the reference interpreter"), "{small}");
    // The memops are in every program.
    let statements = |text: &str| text.matches([';', '{']).count();
    assert_eq!(small.matches("\"timestamp\"").count(), 1, "{small}");
    assert!(statements(&small) < 60 && statements(&small) < statements(&said), "{small}");
}
