// SPDX-License-Identifier: Apache-2.0
//! `plane test` of STF files: one test through one device. The format and its steps are in
//! `conformance::stf`.

use crate::device_run::place;
use crate::{registry, selection};
use conformance::stf::reader;
use conformance::stf::runner;
use device::DeviceOptions;
use frontend::{Compiled, Failure, ProgramFile, Tested};
use std::path::Path;

/// Runs one test. Errors that prevent the run are failures too. Without a named program it runs the one beside the test.
pub fn run(test: &ProgramFile<'_>, program: Option<&Path>, options: &DeviceOptions) -> Tested {
    let mut tested =
        Tested { engine: options.effective_engine().name().to_string(), ..Tested::default() };
    if let Err(failures) = ran(test, program, options, &mut tested) {
        tested.failures = failures;
    }
    tested
}

fn ran(
    test: &ProgramFile<'_>,
    program: Option<&Path>,
    options: &DeviceOptions,
    tested: &mut Tested,
) -> Result<(), Vec<String>> {
    let text = test.text().map_err(messages)?;
    let (steps, errors) = reader::read(&test.path.display().to_string(), &text);
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| error.to_string()).collect());
    }
    let is_named = program.is_some();
    let (frontend, program) = match program {
        Some(path) => (selection::of(path).map_err(|message| vec![message])?, path.to_path_buf()),
        None => selection::program_beside(test.path, registry::with_devices())
            .ok_or_else(|| vec!["no language runs on devices".to_string()])?,
    };
    if frontend.networks().is_some() {
        let (file, name) = (program.display(), frontend.name());
        return Err(vec![format!(
            "`{file}` is a {name} program: tests of such programs are specifications with expectations"
        )]);
    }
    let file = ProgramFile { path: &program, ..*test };
    let compiled = frontend.compile(&file, None).map_err(|failure| match failure {
        Failure::Message(message) if !is_named && !program.is_file() => {
            let end = registry::end(frontend);
            vec![format!("{message}; name the program with --program PROG{end}")]
        }
        failure => messages(failure),
    })?;
    let Compiled { ready, map, .. } = compiled;
    let program = ready.program();
    let report = runner::run_with(program.clone(), &steps, options.clone());
    let places = |origin| place(program, &map, origin);
    let traces = report.traces.iter();
    tested.trace = traces.map(|trace| device::trace::text_with_places(trace, &places)).collect();
    tested.failures = report.failures;
    tested.notes = report.notes;
    Ok(())
}

fn messages(failure: Failure) -> Vec<String> {
    match failure {
        Failure::Usage(message) | Failure::Message(message) => vec![message],
        Failure::Found(map, found) => {
            let options = source::RenderOptions { color: false };
            vec![source::render_text(&map, &found, options)]
        }
    }
}
