// SPDX-License-Identifier: Apache-2.0
//! `plane layout` for Lucid programs: the statements of the handlers and the tables of the event
//! scheduler, as the compiler lays them out for Tofino's architecture.

use super::inputs::{LucidProgram, read_program};
use frontend::{Failure, LayoutProblem, ProgramFile};
use lucid_compiler::{Backend, Options, normal, tna};

/// The problem of a Lucid program.
pub(super) fn problem(file: &ProgramFile<'_>) -> Result<LayoutProblem, Failure> {
    let LucidProgram { map, program, .. } = read_program(file.files, file.path)?;
    let options = Options { target: Backend::Tna, ..Options::default() };
    match tna::prepare(&normal::normalize(&program), &options) {
        Ok(prepared) => {
            let mut problem = prepared.problem;
            problem.name = file.title().into();
            let scheduler = (0..).zip(&prepared.parts).filter_map(|(at, part)| match part {
                tna::Part::Scheduler(_) => Some(pisa::UnitId(at)),
                tna::Part::Statement(_) => None,
            });
            Ok(LayoutProblem { problem, map, scheduler: scheduler.collect() })
        }
        Err(problems) => Err(Failure::Found(map, problems)),
    }
}
