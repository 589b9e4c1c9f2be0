// SPDX-License-Identifier: Apache-2.0
//! `plane atoms`: the least atom of each stateful codelet of a program. `toolchain::atoms` searches and writes reports.

use crate::arguments::{Atoms, AtomsFormat, ValueRange};
use crate::programs::{deliver, ended, on_disk};
use frontend::{Console, ExitStatus, Failure, ProgramCodelets, count};
use std::path::Path;
use toolchain::atoms::{self, Question, Range};
use toolchain::{files, layouts};

/// Runs it.
pub fn run(arguments: &Atoms, console: &dyn Console) -> ExitStatus {
    ended(answer(arguments, console), console)
}

fn answer(arguments: &Atoms, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let limit = layouts::time_limit(arguments.time_limit).map_err(Failure::Usage)?;
    if let Some(path) = &arguments.output {
        let inputs = [Some(arguments.program.as_path()), arguments.atom.as_deref()];
        files::not_overwritten(path, inputs.into_iter().flatten())?;
    }
    let templates = atoms::templates(arguments.atom.as_deref().map(Path::new))?;
    let ranges = match arguments.range {
        ValueRange::Small => vec![Range::small()],
        ValueRange::Exact => vec![Range::exact()],
        ValueRange::Both => vec![Range::small(), Range::exact()],
    };
    let question =
        Question { templates: &templates, ranges: &ranges, limit, is_complete: arguments.all };
    let options = arguments.reading.options();
    let ProgramCodelets { map, codelets } =
        atoms::codelets(&on_disk(&arguments.program, &options), console)?;
    let answered = atoms::answer(codelets, &question, console)?;
    let text = match arguments.format {
        AtomsFormat::Text => atoms::text(&map, &answered, &question),
        AtomsFormat::Json => {
            atoms::json(&arguments.program.display().to_string(), &map, &answered, &question)
        }
    };
    let contents = || count(answered.len(), "codelet");
    deliver(&text, arguments.output.as_deref(), contents, console)?;
    Ok(ExitStatus::Fine)
}
