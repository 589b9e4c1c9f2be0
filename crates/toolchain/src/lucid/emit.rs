// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: compiles a Lucid program to P4_16. Which files are written is in `emitted`.

use super::emitted::{self, Emitted};
use super::inputs::{LucidProgram, RunRequest, read_program, read_run, texts_of};
use super::targets::target_of;
use super::user_p4;
use crate::layouts;
use frontend::{Console, EmitRequest, Failure, ProgramFile, count};
use lucid::core::Program;
use lucid_compiler::normal::AfterPass;
use lucid_compiler::{
    Backend, Clock, Compiled, Delay, Options, Recirculation, atomic, normal, tna,
};
use lucid_network::deploy;
use lucid_network::options::{delay_options, queue_options};
use lucid_reference::simulation::Setup;
use source::{Diagnostics, SourceMap, Span};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A program with its sources and, optionally, the run that it is compiled for.
struct Source {
    map: SourceMap,
    program: Arc<Program>,
    setup: Option<Arc<Setup>>,
    /// The input files, which are never overwritten.
    files: Vec<PathBuf>,
}

/// Checks that the options go together.
fn check_usage(request: &EmitRequest<'_>) -> Result<(), String> {
    for (flag, given, target) in [
        ("--bmv2", request.bmv2, Backend::V1Model),
        ("--clock us", request.clock == "us", Backend::V1Model),
        ("--recirculation primitive", request.recirculation == "primitive", Backend::V1Model),
        ("--layout", request.layout.is_some(), Backend::Tna),
    ] {
        if given && request.target != target.name() {
            return Err(format!("{flag} applies only to --target {}", target.name()));
        }
    }
    match request.time_limit.is_some() && request.layout != Some("exact") {
        true => Err("--time-limit applies only to --layout exact".to_string()),
        false => Ok(()),
    }
}

/// Compiles a program, and prints or writes it.
pub(super) fn emit(
    file: &ProgramFile<'_>,
    request: &EmitRequest<'_>,
    console: &dyn Console,
) -> Result<(), Failure> {
    check_usage(request).map_err(Failure::Usage)?;
    let quiet = console.is_quiet();
    let Source { map, program, setup, files } = source(file, request, console)?;
    if let Some(pass) = request.after {
        return after(pass, map, &program, console);
    }
    let options = options(file, request)?;
    let options = match &setup {
        Some(setup) if request.delay.is_some() || request.bmv2 => queue_options(setup, options),
        Some(setup) => delay_options(setup, options),
        None => options,
    };
    let (compiled, stages) = match compiled(request, &program, &map, &options, console) {
        Ok(made) => made,
        Err(problems) => {
            return Err(Failure::Found(user_p4::with_sources(map, &options), problems));
        }
    };
    let place = setup.as_ref().map_or(Span::NONE, |setup| setup.delay_granularity_place());
    if let Some(unfit) = deploy::unfit_granularity(&compiled, place) {
        let mut problems = Diagnostics::new();
        problems.push(unfit);
        return Err(Failure::Found(map, problems));
    }
    console.warnings(&compiled.built.map, &compiled.warnings);
    console.warnings(&compiled.built.map, &compiled.built.warnings);
    let Some(folder) = request.output else {
        console.print(&compiled.built.print());
        if let (Some(stages), false) = (&stages, quiet) {
            console.note(stages);
        }
        return Ok(());
    };
    let emitted = Emitted {
        source: file.path,
        specification: request.specification,
        program: &program,
        compiled: &compiled,
        setup: setup.as_deref(),
        stages,
    };
    let texts = emitted.texts();
    let removed = emitted::write(folder, &texts, &files)?;
    if !quiet {
        if let Some(stages) = &emitted.stages {
            console.note(stages);
        }
        let files = count(texts.len(), "file");
        console.note(&format!("{files} in {}", folder.display()));
        if !removed.is_empty() {
            let names: Vec<String> =
                removed.iter().map(|path| path.display().to_string()).collect();
            console.note(&format!("removed files of an earlier plane emit: {}", names.join(", ")));
        }
    }
    Ok(())
}

/// Compiles the program; for Tofino it returns a text with the number of stages besides.
fn compiled(
    request: &EmitRequest<'_>,
    program: &Program,
    map: &SourceMap,
    options: &Options,
    console: &dyn Console,
) -> Result<(Compiled, Option<String>), Diagnostics> {
    if options.target != Backend::Tna {
        return Ok((lucid_compiler::compile(program, map, options)?, None));
    }
    let target = tna::tofino()?;
    let limit = request.time_limit.unwrap_or(Duration::from_secs(60));
    let layouter = |problem: &pisa::Problem| match request.layout {
        Some("exact") => layouts::exact(problem, &target, limit, console),
        _ => pisa::greedy::greedy(problem, &target),
    };
    let made = tna::compile_with(program, map.clone(), options, &layouter)?;
    let stages = made.layout.stages.len();
    let stages = format!("{stages} of {} stages: {}", target.stages(), made.layout.optimality);
    Ok((made.compiled, Some(stages)))
}

/// Reads the program, and the run if one is given.
fn source(
    file: &ProgramFile<'_>,
    request: &EmitRequest<'_>,
    console: &dyn Console,
) -> Result<Source, Failure> {
    let user_p4 = request.user_p4.files().map(Path::to_path_buf);
    if let Some(specification) = request.specification {
        let request = RunRequest {
            program: Some(file.path),
            specification: Some(specification),
            ..RunRequest::from(file.files)
        };
        let run = read_run(&request, Some(console))?;
        let program = run.setup.program().clone();
        let files = run.files().chain(user_p4).collect();
        return Ok(Source { map: run.map, program, setup: Some(run.setup), files });
    }
    let LucidProgram { map, program, warnings } = read_program(file.files, file.path)?;
    console.warnings(&map, &warnings);
    let files = texts_of(&map).chain(user_p4).collect();
    Ok(Source { map, program: Arc::new(program), setup: None, files })
}

fn options(file: &ProgramFile<'_>, request: &EmitRequest<'_>) -> Result<Options, Failure> {
    let mut options = Options {
        target: target_of(Some(request.target))?,
        delay: match request.delay {
            Some("recirculation") => Delay::Recirculation,
            _ => Delay::Queue,
        },
        clock: match request.clock {
            "us" => Clock::Microseconds,
            _ => Clock::Nanoseconds,
        },
        recirculation: match request.recirculation {
            "primitive" => Recirculation::Primitive,
            _ => Recirculation::Port,
        },
        ..Options::default()
    };
    if request.bmv2 {
        options.delay = Delay::Recirculation;
        options.clock = Clock::Microseconds;
        options.recirculation = Recirculation::Primitive;
    }
    user_p4::with_files(options, &request.user_p4, file).map_err(Failure::Message)
}

/// Prints the program after a pass.
fn after(
    name: &str,
    map: SourceMap,
    program: &Program,
    console: &dyn Console,
) -> Result<(), Failure> {
    let mut passes: Vec<AfterPass> = normal::after_passes(program);
    // Passes up to the normal form also apply to programs that no pipeline can run.
    match atomic::after_passes(&normal::normalize(program)) {
        Ok(more) => passes.extend(more),
        Err(problems) if !passes.iter().any(|pass| pass.name == name) => {
            return Err(Failure::Found(map, problems));
        }
        Err(_) => {}
    }
    if name == "list" {
        let lines: Vec<String> =
            passes.iter().map(|pass| format!("{:16} {}\n", pass.name, pass.description)).collect();
        console.print(&lines.concat());
        return Ok(());
    }
    match passes.iter().find(|pass| pass.name == name) {
        Some(pass) => {
            console.print(&pass.text);
            Ok(())
        }
        None => {
            let names: Vec<&str> = passes.iter().map(|pass| pass.name).collect();
            let message = format!("there is no pass `{name}`: the passes are {}", names.join(", "));
            Err(Failure::Usage(message))
        }
    }
}
