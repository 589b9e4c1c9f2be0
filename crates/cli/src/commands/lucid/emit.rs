// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: compiles a Lucid program to P4_16. Which files are written is in `emitted`.

use super::super::layout;
use super::emitted::{self, Emitted};
use super::inputs::{Trouble, Wanted, ready, symbolics_beside, texts_of};
use super::user_p4;
use crate::arguments::{Emit, EmitClock, EmitDelay, EmitLayout, EmitRecirculation, EmitTarget};
use crate::file_kind::{self, FileKind, WRONG_KIND};
use crate::{Ending, files, output};
use lucid::compile::normal::AfterPass;
use lucid::compile::{
    self, Clock, Compiled, Delay, Options, Recirculation, Target, atomic, normal, tna,
};
use lucid::core::Program;
use lucid::simulation::Setup;
use source::{Diagnostics, SourceMap, Span};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A program with its sources, and the run that it is compiled for, if there is one.
struct Source {
    map: SourceMap,
    program: Arc<Program>,
    setup: Option<Arc<Setup>>,
    /// Whatever was read, so that nothing of it is overwritten.
    files: Vec<PathBuf>,
}

/// Does it. Warnings are left out when `quiet`.
pub fn run(arguments: &Emit, quiet: bool) -> Ending {
    if let Err(message) = usage(arguments) {
        output::error(&message);
        return Ending::WrongUsage;
    }
    match emit(arguments, quiet) {
        Ok(()) => Ending::Fine,
        Err(trouble) => trouble.print(),
    }
}

/// What does not go together.
fn usage(arguments: &Emit) -> Result<(), String> {
    let is_v1model = arguments.target == EmitTarget::V1model;
    for (flag, given, target, is_there) in [
        ("--bmv2", arguments.bmv2, "v1model", is_v1model),
        ("--clock us", arguments.clock == EmitClock::Us, "v1model", is_v1model),
        (
            "--recirculation primitive",
            arguments.recirculation == EmitRecirculation::Primitive,
            "v1model",
            is_v1model,
        ),
        ("--layout", arguments.layout.is_some(), "tna", !is_v1model),
    ] {
        if given && !is_there {
            return Err(format!("{flag} is for --target {target}"));
        }
    }
    if arguments.time_limit.is_some() && arguments.layout != Some(EmitLayout::Exact) {
        return Err("--time-limit is for --layout exact".to_string());
    }
    arguments.time_limit.map_or(Ok(()), |seconds| layout::time_limit(seconds).map(drop))
}

fn emit(arguments: &Emit, quiet: bool) -> Result<(), Trouble> {
    let Source { map, program, setup, files } = source(arguments, quiet)?;
    if let Some(wanted) = &arguments.after {
        return after(wanted, map, &program);
    }
    let options = options(arguments)?;
    let options = match &setup {
        Some(setup) => setup.queue_options(options),
        None => options,
    };
    let (compiled, stages) = match compiled(arguments, &program, &map, &options, quiet) {
        Ok(made) => made,
        Err(problems) => {
            return Err(Trouble::Found(user_p4::with_sources(map, &options), problems));
        }
    };
    let place = setup.as_ref().map_or(Span::NONE, |setup| setup.delay_granularity_place());
    if let Some(unfit) = compile::deploy::unfit_granularity(&compiled, place) {
        let mut problems = Diagnostics::new();
        problems.push(unfit);
        return Err(Trouble::Found(map, problems));
    }
    if !quiet {
        output::diagnostics(&compiled.built.map, &compiled.warnings);
        output::diagnostics(&compiled.built.map, &compiled.built.warnings);
    }
    let Some(folder) = &arguments.output else {
        output::print(&compiled.built.print());
        if let (Some(stages), false) = (&stages, quiet) {
            output::note(stages);
        }
        return Ok(());
    };
    let emitted = Emitted {
        source: &arguments.program,
        specification: arguments.spec.as_deref(),
        program: &program,
        compiled: &compiled,
        setup: setup.as_deref(),
        stages,
    };
    let texts = emitted.texts();
    let removed = emitted::write(folder, &texts, &files)?;
    if !quiet {
        if let Some(stages) = &emitted.stages {
            output::note(stages);
        }
        let files = output::count(texts.len(), "file");
        output::note(&format!("{files} in {}", folder.display()));
        if !removed.is_empty() {
            let names: Vec<String> =
                removed.iter().map(|path| path.display().to_string()).collect();
            output::note(&format!("removed, of an earlier plane emit: {}", names.join(", ")));
        }
    }
    Ok(())
}

/// The compiled program; for Tofino how many stages it takes, for people.
fn compiled(
    arguments: &Emit,
    program: &Program,
    map: &SourceMap,
    options: &Options,
    quiet: bool,
) -> Result<(Compiled, Option<String>), Diagnostics> {
    if options.target != Target::Tna {
        return Ok((compile::compile(program, map, options)?, None));
    }
    let target = tna::tofino()?;
    let limit = arguments.time_limit.and_then(|seconds| layout::time_limit(seconds).ok());
    let limit = limit.unwrap_or(Duration::from_secs(60));
    let layouter = |problem: &pisa::Problem| match arguments.layout.unwrap_or(EmitLayout::Greedy) {
        EmitLayout::Greedy => pisa::greedy::greedy(problem, &target),
        EmitLayout::Exact => layout::exact(problem, &target, limit, quiet),
    };
    let made = tna::compile_with(program, map.clone(), options, &layouter)?;
    let stages = made.layout.stages.len();
    let stages = format!("{stages} of {} stages: {}", target.stages(), made.layout.optimality);
    Ok((made.compiled, Some(stages)))
}

/// The program, and its run if one is named.
fn source(arguments: &Emit, quiet: bool) -> Result<Source, Trouble> {
    let path = &arguments.program;
    match FileKind::of_readable(path) {
        None | Some(FileKind::Lucid | FileKind::StandardInput) => {}
        Some(FileKind::P4) => {
            let message = format!(
                "`{name}` is P4 already: `plane run` runs it, `plane layout` lays it out; `plane emit` \
                 compiles Lucid programs (.dpt)",
                name = path.display()
            );
            return Err(Trouble::Message(output::coded(WRONG_KIND.0, &message)));
        }
        Some(kind) => {
            let message = file_kind::wrong(path, "is not a Lucid program (.dpt)", kind);
            return Err(Trouble::Message(message));
        }
    }
    let user_p4 = arguments.user_p4.files().cloned();
    if let Some(specification) = &arguments.spec {
        let wanted =
            Wanted { program: Some(path), specification: Some(specification), ..Wanted::default() };
        let ready = ready(&wanted, quiet)?;
        let program = ready.setup.program().clone();
        let files = ready.files().chain(user_p4).collect();
        return Ok(Source { map: ready.map, program, setup: Some(ready.setup), files });
    }
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let Some(symbolics) = symbolics_beside(&mut map, path, &mut found)? else {
        return Err(Trouble::Found(map, found));
    };
    let name = path.display().to_string();
    let analysis = lucid::front::analyse(&mut map, &name, text, &files::DiskLoader);
    match analysis.elaborate(&symbolics, &[]) {
        Ok(program) => {
            if !quiet {
                output::diagnostics(&map, &analysis.diagnostics);
            }
            let files = texts_of(&map).chain(user_p4).collect();
            Ok(Source { map, program: Arc::new(program), setup: None, files })
        }
        Err(problems) => Err(Trouble::Found(map, problems)),
    }
}

fn options(arguments: &Emit) -> Result<Options, Trouble> {
    let mut options = Options {
        target: match arguments.target {
            EmitTarget::V1model => Target::V1Model,
            EmitTarget::Tna => Target::Tna,
        },
        delay: match arguments.delay {
            EmitDelay::Queue => Delay::Queue,
            EmitDelay::Recirculation => Delay::Recirculation,
        },
        clock: match arguments.clock {
            EmitClock::Ns => Clock::Nanoseconds,
            EmitClock::Us => Clock::Microseconds,
        },
        recirculation: match arguments.recirculation {
            EmitRecirculation::Port => Recirculation::Port,
            EmitRecirculation::Primitive => Recirculation::Primitive,
        },
        ..Options::default()
    };
    if arguments.bmv2 {
        options.delay = Delay::Recirculation;
        options.clock = Clock::Microseconds;
        options.recirculation = Recirculation::Primitive;
    }
    user_p4::with_files(options, &arguments.user_p4, &arguments.reading).map_err(Trouble::Message)
}

/// Prints what a pass made.
fn after(wanted: &str, map: SourceMap, program: &Program) -> Result<(), Trouble> {
    let mut passes: Vec<AfterPass> = normal::after_passes(program);
    // Those to the normal form can be shown of programs that no pipeline can run.
    match atomic::after_passes(&normal::normalize(program)) {
        Ok(more) => passes.extend(more),
        Err(problems) if !passes.iter().any(|pass| pass.name == wanted) => {
            return Err(Trouble::Found(map, problems));
        }
        Err(_) => {}
    }
    if wanted == "list" {
        let lines: Vec<String> =
            passes.iter().map(|pass| format!("{:16} {}\n", pass.name, pass.description)).collect();
        output::print(&lines.concat());
        return Ok(());
    }
    match passes.iter().find(|pass| pass.name == wanted) {
        Some(pass) => {
            output::print(&pass.text);
            Ok(())
        }
        None => {
            let names: Vec<&str> = passes.iter().map(|pass| pass.name).collect();
            let message =
                format!("there is no pass `{wanted}`: the passes are {}", names.join(", "));
            Err(Trouble::Usage(message))
        }
    }
}
