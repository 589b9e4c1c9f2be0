// SPDX-License-Identifier: Apache-2.0
//! `plane scale`: one program on several pipelines. Prints which arrays are sharded and why not the others.

use crate::arguments::{Scale, ScaleFormat};
use crate::programs::{ended, language, on_disk};
use frontend::{Console, ExitStatus, Failure};
use scale::codes;
use toolchain::files;
use toolchain::scaling::{self, ScaleRequest};

/// Runs it.
pub fn run(arguments: &Scale, console: &dyn Console) -> ExitStatus {
    ended(report(arguments, console), console)
}

fn report(arguments: &Scale, console: &dyn Console) -> Result<ExitStatus, Failure> {
    if let Some(path) = &arguments.output {
        files::not_overwritten(path, [arguments.program.as_path()].into_iter())?;
    }
    let language = language(&arguments.program)?;
    let options = arguments.reading.options();
    let file = on_disk(&arguments.program, &options);
    let request = ScaleRequest {
        pipelines: arguments.pipelines,
        stages: arguments.stages,
        target: arguments.target.as_deref(),
        read_only_is_state: arguments.read_only_is_state,
    };
    let report = match scaling::report(language, &file, &request, console) {
        Ok(report) => report,
        Err(Failure::Found(map, found)) if found.iter().any(is_of_the_command_line) => {
            console.diagnostics(&map, &found);
            return Ok(ExitStatus::WrongUsage);
        }
        Err(failure) => return Err(failure),
    };
    let text = match arguments.format {
        ScaleFormat::Text => scale::report::text(&report),
        ScaleFormat::Json => scale::report::json(&report),
        ScaleFormat::Svg => scale::report::svg(&report),
    };
    match &arguments.output {
        None => console.print(&text),
        Some(path) => files::write_text(path, &text)?,
    }
    Ok(ExitStatus::Fine)
}

/// Whether the command line is what is wrong.
fn is_of_the_command_line(found: &source::Diagnostic) -> bool {
    [codes::PIPELINES, codes::STAGES].contains(&found.code)
}
