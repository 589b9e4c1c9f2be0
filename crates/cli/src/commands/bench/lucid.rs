// SPDX-License-Identifier: Apache-2.0
//! `plane bench lucid`: the figures of the Lucid paper, or the cost of compilation. `figures::lucid` measures.

use super::{print_figures, with_bar, wrong_usage};
use crate::arguments::Bench;
use crate::commands::measured;
use crate::programs::ended;
use figures::lucid::{self as paper, Application, TargetChoice};
use figures::{Measuring, Table};
use frontend::{Console, ExitStatus, Failure};
use lucid::core::Program;
use lucid_reference::simulation::Setup;
use source::{Diagnostics, FileId, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolchain::files::{self, Disk};
use toolchain::lucid::inputs::{self, LucidProgram, RunRequest};

/// The programs of figures.
struct Given<'a> {
    /// The folder of the applications.
    folder: &'a Path,
    /// The time limit of the search for one exact layout.
    exact_limit: Duration,
}

/// Measures a figure.
type Measure = fn(&mut Measuring<'_>, &Given<'_>) -> Result<Table, Failure>;

/// The figures, by their numbers in the paper.
const FIGURES: &[(&str, Measure)] = &[
    ("9", |measuring, given| {
        stages(given.folder, |list| paper::figure_9(measuring, list, given.exact_limit))
    }),
    ("10", |measuring, given| stages(given.folder, |list| paper::figure_10(measuring, list))),
    ("12", |measuring, given| stages(given.folder, |list| paper::figure_12(measuring, list))),
    ("13", |measuring, given| stages(given.folder, |list| paper::figure_13(measuring, list))),
    ("14", |measuring, _| {
        paper::figure_14(measuring).map_err(|(map, found)| Failure::Found(map, found))
    }),
    ("15", |measuring, given| Ok(paper::figure_15(measuring, &applications(given.folder)?))),
    ("16", |measuring, _| {
        paper::figure_16(measuring).map_err(|(map, found)| Failure::Found(map, found))
    }),
    ("17", |measuring, _| {
        paper::figure_17(measuring).map_err(|(map, found)| Failure::Found(map, found))
    }),
];

/// Measures a figure of compiled applications.
fn stages(
    folder: &Path,
    measure: impl FnOnce(&[Application]) -> Result<Table, (SourceMap, Diagnostics)>,
) -> Result<Table, Failure> {
    let list = programs(folder)?;
    measure(&list).map_err(|(map, found)| Failure::Found(map, found))
}

/// An application in a folder: its run, or its program if it has no run.
enum Found {
    Run(PathBuf),
    Program(PathBuf),
}

/// Finds the applications of a folder: each subfolder with a run, and each program.
fn found_in(folder: &Path) -> Result<Vec<(String, Found)>, Failure> {
    let cannot = |error: std::io::Error| {
        format!(
            "cannot read `{}`: {}; run this in the project's folder, or give the folder of \
             the applications with --applications DIR",
            folder.display(),
            files::reason(&error)
        )
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)?.flatten() {
        let path = entry.path();
        let run = path.join("run.yaml");
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if run.is_file() {
            found.push((name.to_string(), Found::Run(run)));
        } else if measured::is_program(&path) {
            found.push((name.to_string(), Found::Program(path.clone())));
        }
    }
    if found.is_empty() {
        let help = "give the folder of the applications with --applications DIR";
        return Err(format!("there is no application in `{}`; {help}", folder.display()).into());
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// Reads the run of an application.
fn run_of(run: &Path) -> Result<inputs::LucidRun, Failure> {
    inputs::read_run(&RunRequest { specification: Some(run), ..RunRequest::from(&Disk) }, None)
}

/// Reads the applications of a folder.
fn programs(folder: &Path) -> Result<Vec<Application>, Failure> {
    let with_run = |(name, found): (String, Found)| match found {
        Found::Program(path) => read_program(name, &path),
        Found::Run(run) => {
            let run = run_of(&run)?;
            let program = (**run.setup.program()).clone();
            Ok(application(name, program, run.map, &run.program_path))
        }
    };
    found_in(folder)?.into_iter().map(with_run).collect()
}

/// Reads a program without a run, with the symbolics beside it.
fn read_program(name: String, path: &Path) -> Result<Application, Failure> {
    let LucidProgram { map, program, .. } = inputs::read_program(&Disk, path)?;
    Ok(application(name, program, map, path))
}

fn application(name: String, program: Program, map: SourceMap, path: &Path) -> Application {
    let own = path.display().to_string();
    let mut files = (0..map.file_count()).map(|file| FileId(file as u32));
    let source = files.find(|file| **map.name(*file) == *own).unwrap_or(FileId(0));
    Application { name, program, map, source }
}

/// Reads the applications of a folder that have runs.
fn applications(folder: &Path) -> Result<Vec<(String, Arc<Setup>)>, Failure> {
    let mut with_runs = Vec::new();
    for (name, found) in found_in(folder)? {
        if let Found::Run(run) = found {
            with_runs.push((name, run_of(&run)?.setup));
        }
    }
    if with_runs.is_empty() {
        return Err(format!("no application in `{}` has a run (run.yaml)", folder.display()).into());
    }
    Ok(with_runs)
}

/// Finds the program files of the applications of a folder, in the paper's order.
fn program_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut found: Vec<(String, PathBuf)> = found_in(folder)?
        .into_iter()
        .map(|(name, found)| {
            let path = match found {
                Found::Program(path) => path,
                Found::Run(run) => run_of(&run)?.program_path,
            };
            Ok((name, path))
        })
        .collect::<Result<_, Failure>>()?;
    found.sort_by_key(|(name, _)| paper::place_in_paper(name));
    Ok(found)
}

/// Measures the figures of the command line, or all figures.
pub(super) fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
    let quiet = console.is_quiet();
    let exact_limit = match toolchain::layouts::time_limit(arguments.time_limit) {
        Ok(exact_limit) => exact_limit,
        Err(message) => return wrong_usage(&message),
    };
    let done = match (&arguments.one, &arguments.corpus[..]) {
        (Some(one), _) => {
            let choice = one.first().and_then(|choice| TargetChoice::named(choice.to_str()?));
            let (Some(choice), Some(path)) = (choice, one.get(1)) else {
                let names = TargetChoice::ALL.map(TargetChoice::name).join(", ");
                return wrong_usage(&format!("--one needs one of {names}, and a program"));
            };
            measured::one(choice, Path::new(path), exact_limit)
        }
        (None, []) if arguments.compile => with_bar(quiet, |progress| {
            let programs = program_files(&arguments.applications)?;
            let found = measured::all(&programs, &TargetChoice::ALL, exact_limit, progress)?;
            Ok(paper::compile_table(&found))
        }),
        (None, []) => {
            if arguments.figure.iter().any(|figure| figure == "11") {
                return wrong_usage(
                    "figure 11 shows the time that people took, which no program can measure",
                );
            }
            let given = Given { folder: &arguments.applications, exact_limit };
            let measure =
                |figure: &Measure, measuring: &mut Measuring<'_>| figure(measuring, &given);
            return print_figures(FIGURES, measure, arguments, console);
        }
        (None, folders) => with_bar(quiet, |progress| {
            let programs = measured::programs_in(folders)?;
            let choices = [TargetChoice::V1Model, TargetChoice::Greedy];
            let found = measured::all(&programs, &choices, exact_limit, progress)?;
            Ok(paper::corpus_table(&found))
        }),
    };
    ended(done.map(|()| ExitStatus::Fine), console)
}
