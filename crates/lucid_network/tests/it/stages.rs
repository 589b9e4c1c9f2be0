// SPDX-License-Identifier: Apache-2.0
//! The shipped programs with their runs, compiled and cut into stages by drawn assignments, against the reference
//! interpreter.

use crate::oracle::{Judged, judge_after};
use device::EngineChoice;
use lucid_compiler::{Backend, Options};
use lucid_testing::shipped_runs::runs;
use std::cell::RefCell;
use testing::cases;
use testing::cuts::{CutCounts, cut_controls};

/// Cuts the programs of all runs into some stages and judges them.
fn run_in_stages(target: Backend, engine: EngineChoice, seeds: u64) -> CutCounts {
    let all = RefCell::new(CutCounts::default());
    let (mut wrong, mut dispatches, mut cells) = (Vec::new(), 0, 0);
    for (number, shipped) in (0..).zip(runs()) {
        for seed in number..number + seeds {
            let options = Options { target, ..Options::default() };
            let pass = |program: &mut ir::Program| {
                all.borrow_mut().include(&cut_controls(program, 6 + (seed % 11) as u32, seed));
            };
            let programs = (&shipped.program, &shipped.program);
            let (map, run, folder) = (&shipped.map, &shipped.run, &shipped.folder);
            match judge_after(map, programs, run, folder, (&options, engine), &pass) {
                Ok(Judged::Same(verified, _)) => {
                    dispatches += verified.schedule.dispatches.len();
                    cells += verified.cells;
                }
                Ok(Judged::Refused(said)) => wrong.push(format!("{}: {said}", shipped.name)),
                Err(said) => wrong.push(format!("{}, seed {seed}: {said}", shipped.name)),
            }
        }
    }
    let all = all.into_inner();
    println!("{target:?}, {engine:?}, {dispatches} dispatches, {cells} cells: {all}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n\n"));
    all
}

#[test]
fn shipped_programs_mean_the_same_in_stages() {
    let all = run_in_stages(Backend::V1Model, EngineChoice::Interpreter, cases(1));
    assert!(all.refused.is_empty() && all.cuts >= 17, "{all}: {:?}", all.refused);
}

#[test]
fn shipped_programs_mean_the_same_in_stages_of_machine_code() {
    let all = run_in_stages(Backend::V1Model, EngineChoice::Jit, cases(1));
    assert!(all.refused.is_empty() && all.cuts >= 17, "{all}: {:?}", all.refused);
}

#[test]
fn shipped_programs_for_tofino_mean_the_same_in_stages() {
    let all = run_in_stages(Backend::Tna, EngineChoice::Interpreter, cases(1));
    assert!(all.refused.is_empty() && all.cuts >= 17, "{all}: {:?}", all.refused);
}
