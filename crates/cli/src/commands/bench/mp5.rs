// SPDX-License-Identifier: Apache-2.0
//! `plane bench mp5`: prints the figures of the MP5 paper beside what `figures::mp5` measures.

use super::{print_figures, wrong_usage};
use crate::arguments::Bench;
use crate::programs::language;
use figures::Measuring;
use figures::mp5::{CompiledProgram, FIGURES, Measure, Options};
use frontend::{Console, ExitStatus, Failure, MemoryFiles, ProgramFile};
use p4::preprocessor::PreprocessorOptions;
use std::path::Path;
use toolchain::files;
use toolchain::scaling::ScaleRequest;
use toolchain::scaling::staged_device::staged_device;

/// Measures the figures of the command line, or all figures.
pub(super) fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
    if arguments.seeds == Some(0) {
        return wrong_usage("--seeds needs at least 1");
    }
    let read = |name: &str| -> Result<String, String> {
        let folder = arguments.traces.as_deref().unwrap_or(Path::new("."));
        files::read_text(&folder.join(name))
    };
    let compile =
        |file: &str, text: &str| compiled(file, text, console).map_err(|failure| failure.text());
    let defaults = Options::new(&compile);
    let options = Options {
        traces: if arguments.traces.is_some() { Some(&read) } else { None },
        seeds: arguments.seeds.unwrap_or(defaults.seeds),
        ..defaults
    };
    let measure = |figure: &Measure, measuring: &mut Measuring<'_>| {
        figure(measuring, &options).map_err(Failure::Message)
    };
    print_figures(FIGURES, measure, arguments, console)
}

/// Compiles an application, and cuts it into the stages of its language's hardware model.
fn compiled(name: &str, text: &str, console: &dyn Console) -> Result<CompiledProgram, Failure> {
    let path = Path::new(name);
    let files = MemoryFiles::new([(name, text)]);
    let preprocessing = PreprocessorOptions::default();
    let file = ProgramFile { path, files: &files, preprocessing: &preprocessing };
    let request = ScaleRequest { pipelines: 1, ..ScaleRequest::default() };
    let (device, control, written) = staged_device(language(path)?, &file, &request, console)?;
    Ok(CompiledProgram { device, control, written })
}
