// SPDX-License-Identifier: Apache-2.0
//! The examples and the library's tests, each with its run.

use crate::oracle::{Judged, judge};
use device::EngineChoice;
use lucid_compiler::{Backend, Delay, Options};
use lucid_testing::shipped_runs::{Shipped, runs};

/// Runs a specification compiled.
fn run_compiled(
    shipped: &Shipped,
    options: &Options,
    engine: EngineChoice,
) -> Result<Judged, String> {
    let Shipped { map, program, run, folder, .. } = shipped;
    judge(map, program, run, folder, options, engine)
}

fn examples_run_compiled(target: Backend) {
    let mut wrong = Vec::new();
    for shipped in runs() {
        let name = &shipped.name;
        let options = Options { target, ..Options::default() };
        match run_compiled(&shipped, &options, EngineChoice::Jit) {
            Ok(Judged::Same(verified, warnings)) => {
                if !warnings.is_empty() {
                    wrong.push(format!("{name}: {warnings}"));
                }
                println!(
                    "{name}: {} dispatches, {} cells, {} packets",
                    verified.schedule.dispatches.len(),
                    verified.cells,
                    verified.packets
                );
                if verified.schedule.dispatches.len() < 2 {
                    wrong.push(format!("{name}: nothing happened"));
                }
            }
            Ok(Judged::Refused(said)) => wrong.push(format!("{name}: refused: {said}")),
            Err(said) => wrong.push(format!("{name}: {said}")),
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn examples_run_compiled_for_v1model() {
    examples_run_compiled(Backend::V1Model);
}

#[test]
fn examples_run_compiled_for_tna() {
    examples_run_compiled(Backend::Tna);
}

/// Timers wait by going round.
#[test]
fn delays_by_recirculation_run_for_tna() {
    let options =
        Options { target: Backend::Tna, delay: Delay::Recirculation, ..Options::default() };
    let mut delayed = 0;
    for shipped in runs().iter().filter(|one| one.name.ends_with("library/tests/timer.yaml")) {
        for engine in [EngineChoice::Jit, EngineChoice::Interpreter] {
            match run_compiled(shipped, &options, engine) {
                Ok(Judged::Same(verified, _)) => delayed += verified.schedule.dispatches.len(),
                Ok(Judged::Refused(said)) | Err(said) => panic!("{}: {said}", shipped.name),
            }
        }
    }
    assert!(delayed > 10, "only {delayed} dispatches");
}
