// SPDX-License-Identifier: Apache-2.0
//! `plane scale`: one program on several pipelines. Prints which arrays are sharded and why not the others.

use crate::arguments::{Scale, ScaleFormat};
use crate::programs::{ended, language, on_disk};
use frontend::{Console, ExitStatus, Failure, Frontend, ProgramFile};
use std::path::Path;
use toolchain::files;
use toolchain::scaling::field_run::{self, MachineRun};
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
    let made = match &arguments.packets {
        Some(packets) => run_packets(arguments, packets, (language, &file, &request), console),
        None => scaling::report(language, &file, &request, console).map(|report| {
            let text = match arguments.format {
                ScaleFormat::Text => scale::report::text(&report),
                ScaleFormat::Json => scale::report::json(&report),
                ScaleFormat::Svg => scale::report::svg(&report),
            };
            (text, ExitStatus::Fine)
        }),
    };
    let (text, status) = made?;
    match &arguments.output {
        None => console.print(&text),
        Some(path) => files::write_text(path, &text)?,
    }
    Ok(status)
}

/// Runs packets on the machine.
fn run_packets(
    arguments: &Scale,
    packets: &Path,
    (language, file, request): (&dyn Frontend, &ProgramFile<'_>, &ScaleRequest<'_>),
    console: &dyn Console,
) -> Result<(String, ExitStatus), Failure> {
    let run = MachineRun {
        packets,
        packets_out: arguments.packets_out.as_deref(),
        state_out: arguments.state_out.as_deref(),
        design: &arguments.design,
        depth: arguments.depth,
        remap_every: arguments.remap_every,
        seed: arguments.seed,
    };
    let is_picture = arguments.format == ScaleFormat::Svg;
    if is_picture {
        let message = "--format svg draws the report on arrays; with --packets write text or json";
        return Err(Failure::Usage(message.to_string()));
    }
    let (report, status) = field_run::run_fields(language, file, (request, &run), console)?;
    let text = match arguments.format {
        ScaleFormat::Json => report.json(),
        ScaleFormat::Text | ScaleFormat::Svg => report.text(),
    };
    Ok((text, status))
}
