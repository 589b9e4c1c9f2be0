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

/// Cuts the programs of some runs into stages and judges them: of every `step`-th run from `first` on, or with
/// `PLANEWRIGHT_CASES=N` of all of them, N times.
fn run_in_stages(target: Backend, engine: EngineChoice, (first, step): (u64, u64)) -> CutCounts {
    let seeds = cases(0u64);
    let all = RefCell::new(CutCounts::default());
    let (mut wrong, mut dispatches, mut cells) = (Vec::new(), 0, 0);
    for (number, shipped) in (0..).zip(runs()) {
        let is_mine = number % step == first;
        for seed in number..number + seeds.max(u64::from(is_mine)) {
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
    let all = run_in_stages(Backend::V1Model, EngineChoice::Jit, (0, 3));
    assert!(all.refused.is_empty() && all.cuts >= 5, "{all}: {:?}", all.refused);
}

#[test]
fn shipped_programs_for_tofino_mean_the_same_in_stages() {
    let all = run_in_stages(Backend::Tna, EngineChoice::Jit, (1, 3));
    assert!(all.refused.is_empty() && all.cuts >= 5, "{all}: {:?}", all.refused);
}

#[test]
fn shipped_programs_mean_the_same_in_stages_of_the_interpreter() {
    let all = run_in_stages(Backend::V1Model, EngineChoice::Interpreter, (2, 9));
    assert!(all.refused.is_empty() && all.cuts >= 1, "{all}: {:?}", all.refused);
}
