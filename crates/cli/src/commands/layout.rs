// SPDX-License-Identifier: Apache-2.0
//! `plane layout`: assigns a program's tables and arrays to the stages of a pipeline. The crate `pisa` computes and
//! prints layouts.

use crate::arguments::{Layout, LayoutFormat};
use crate::programs::{deliver, ended, language, on_disk};
use frontend::{Console, ExitStatus, Failure, LayoutProblem, count};
use pisa::UnitId;
use source::Span;
use toolchain::files;
use toolchain::layouts::{self, TargetError};

/// Runs it.
pub fn run(arguments: &Layout, console: &dyn Console) -> ExitStatus {
    ended(lay_out(arguments, console), console)
}

fn lay_out(arguments: &Layout, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let limit = layouts::time_limit(arguments.time_limit).map_err(Failure::Usage)?;
    if let Some(path) = &arguments.output {
        files::not_overwritten(path, [arguments.program.as_path()].into_iter())?;
    }
    let target = match layouts::target(&arguments.target) {
        Ok(target) => target,
        Err(TargetError::File(failure)) => return Err(failure),
        // An unknown name is a wrong command line.
        Err(TargetError::Unknown(failure)) => {
            failure.print(console);
            return Ok(ExitStatus::WrongUsage);
        }
    };
    let language = language(&arguments.program)?;
    let options = arguments.reading.options();
    let ready = language.layout_problem(&on_disk(&arguments.program, &options), console)?;
    let LayoutProblem { problem, map, scheduler } = &ready;
    let layout = if arguments.exact {
        layouts::exact(problem, &target, limit, console)
    } else {
        pisa::greedy::greedy(problem, &target)
    };
    let layout = layout.map_err(|found| Failure::Found(map.clone(), found))?;
    let place = |id: UnitId| {
        if scheduler.contains(&id) {
            return "scheduler".to_string();
        }
        let span = problem.units.get(id.0 as usize).map_or(Span::NONE, |unit| unit.span);
        map.location(span).map_or(String::new(), |place| place.to_string())
    };
    let text = match arguments.format {
        LayoutFormat::Text => pisa::report::text(problem, &target, &layout, &place),
        LayoutFormat::Json => pisa::json::json(problem, &target, &layout, &place),
        LayoutFormat::Svg => pisa::svg::svg(problem, &target, &layout, &place),
    };
    let contents = || count(layout.stages.len(), "stage");
    deliver(&text, arguments.output.as_deref(), contents, console)?;
    Ok(ExitStatus::Fine)
}
