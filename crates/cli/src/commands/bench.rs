// SPDX-License-Identifier: Apache-2.0
//! `plane bench lucid`: figures of the Lucid paper, measured again, and what compiling takes. What is
//! measured and how is in `figures::lucid`.

use super::measured;
use crate::arguments::{Bench, System};
use crate::output;
use figures::lucid::{self as paper, Application, Measuring, Table, Way};
use frontend::{Console, ExitStatus, Failure};
use indicatif::{ProgressBar, ProgressStyle};
use lucid::core::Program;
use lucid_reference::simulation::Setup;
use source::{Diagnostics, FileId, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolchain::files::{self, Disk};
use toolchain::lucid::inputs::{self, Alone, Wanted};

/// What figures are measured of.
struct Given<'a> {
    /// Folder of the applications.
    folder: &'a Path,
    /// Longest search for one exact layout.
    most_exact: Duration,
}

/// Measures a figure.
type Measure = fn(&mut Measuring<'_>, &Given<'_>) -> Result<Table, Failure>;

/// The figures, by their numbers in the paper.
const FIGURES: &[(u32, Measure)] = &[
    (9, |measuring, given| {
        stages(given.folder, |list| paper::figure_9(measuring, list, given.most_exact))
    }),
    (10, |measuring, given| stages(given.folder, |list| paper::figure_10(measuring, list))),
    (12, |measuring, given| stages(given.folder, |list| paper::figure_12(measuring, list))),
    (13, |measuring, given| stages(given.folder, |list| paper::figure_13(measuring, list))),
    (14, |measuring, _| {
        paper::figure_14(measuring).map_err(|(map, found)| Failure::Found(map, found))
    }),
    (15, |measuring, given| Ok(paper::figure_15(measuring, &applications(given.folder)?))),
    (16, |measuring, _| {
        paper::figure_16(measuring).map_err(|(map, found)| Failure::Found(map, found))
    }),
    (17, |measuring, _| {
        paper::figure_17(measuring).map_err(|(map, found)| Failure::Found(map, found))
    }),
];

/// Measures what applications compile to.
fn stages(
    folder: &Path,
    measure: impl FnOnce(&[Application]) -> Result<Table, (SourceMap, Diagnostics)>,
) -> Result<Table, Failure> {
    let list = programs(folder)?;
    measure(&list).map_err(|(map, found)| Failure::Found(map, found))
}

/// An application in a folder: its name, and its run or, without one, its program.
enum Found {
    Run(PathBuf),
    Program(PathBuf),
}

/// The applications of a folder: each folder in it with a run, and its programs.
fn found_in(folder: &Path) -> Result<Vec<(String, Found)>, Failure> {
    let cannot = |error: std::io::Error| {
        format!(
            "cannot read `{}`: {}; run this in the project's folder, or name another folder of \
             applications with --applications DIR",
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
        let help = "name a folder of applications with --applications DIR";
        return Err(format!("there is no application in `{}`; {help}", folder.display()).into());
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// The run of an application, ready.
fn ready_run(run: &Path) -> Result<inputs::Ready, Failure> {
    inputs::ready(&Wanted { specification: Some(run), ..Wanted::from(&Disk) }, None)
}

/// The applications of a folder.
fn programs(folder: &Path) -> Result<Vec<Application>, Failure> {
    let made_ready = |(name, found): (String, Found)| match found {
        Found::Program(path) => alone(name, &path),
        Found::Run(run) => {
            let ready = ready_run(&run)?;
            let program = (**ready.setup.program()).clone();
            Ok(application(name, program, ready.map, &ready.program_path))
        }
    };
    found_in(folder)?.into_iter().map(made_ready).collect()
}

/// A program without a run, with the symbolics beside it.
fn alone(name: String, path: &Path) -> Result<Application, Failure> {
    let Alone { map, program, .. } = inputs::alone(&Disk, path)?;
    Ok(application(name, program, map, path))
}

fn application(name: String, program: Program, map: SourceMap, path: &Path) -> Application {
    let own = path.display().to_string();
    let mut files = (0..map.file_count()).map(|file| FileId(file as u32));
    let source = files.find(|file| **map.name(*file) == *own).unwrap_or(FileId(0));
    Application { name, program, map, source }
}

/// The applications of a folder that have runs, by their names.
fn applications(folder: &Path) -> Result<Vec<(String, Arc<Setup>)>, Failure> {
    let mut with_runs = Vec::new();
    for (name, found) in found_in(folder)? {
        if let Found::Run(run) = found {
            with_runs.push((name, ready_run(&run)?.setup));
        }
    }
    if with_runs.is_empty() {
        return Err(format!("no application in `{}` has a run (run.yaml)", folder.display()).into());
    }
    Ok(with_runs)
}

/// The program files of the applications of a folder, in the paper's order.
fn program_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut found: Vec<(String, PathBuf)> = found_in(folder)?
        .into_iter()
        .map(|(name, found)| {
            let path = match found {
                Found::Program(path) => path,
                Found::Run(run) => ready_run(&run)?.program_path,
            };
            Ok((name, path))
        })
        .collect::<Result<_, Failure>>()?;
    found.sort_by_key(|(name, _)| paper::place_in_paper(name));
    Ok(found)
}

/// Measures what is wanted, or all figures.
pub fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
    let quiet = console.is_quiet();
    let System::Lucid = arguments.system;
    let most_exact = match toolchain::layouts::time_limit(arguments.time_limit) {
        Ok(most_exact) => most_exact,
        Err(message) => return wrong_usage(&message),
    };
    let done = match (&arguments.one, &arguments.corpus[..]) {
        (Some(one), _) => {
            let way = one.first().and_then(|way| Way::named(way.to_str()?));
            let (Some(way), Some(path)) = (way, one.get(1)) else {
                let names = Way::ALL.map(Way::name).join(", ");
                return wrong_usage(&format!("--one takes one of {names}, and a program"));
            };
            measured::one(way, Path::new(path), most_exact)
        }
        (None, []) if arguments.compile => with_bar(quiet, |progress| {
            let programs = program_files(&arguments.applications)?;
            let found = measured::all(&programs, &Way::ALL, most_exact, progress)?;
            Ok(paper::compile_table(&found))
        }),
        (None, []) => return all_figures(arguments, most_exact, console),
        (None, folders) => with_bar(quiet, |progress| {
            let programs = measured::programs_in(folders)?;
            let ways = [Way::V1Model, Way::Greedy];
            let found = measured::all(&programs, &ways, most_exact, progress)?;
            Ok(paper::corpus_table(&found))
        }),
    };
    ended(done, console)
}

fn wrong_usage(message: &str) -> ExitStatus {
    output::error(message);
    ExitStatus::WrongUsage
}

fn ended(done: Result<(), Failure>, console: &dyn Console) -> ExitStatus {
    match done {
        Ok(()) => ExitStatus::Fine,
        Err(failure) => failure.print(console),
    }
}

/// Prints a table that takes a while to make.
fn with_bar(
    quiet: bool,
    make: impl FnOnce(&mut dyn FnMut(&str, f64)) -> Result<Table, Failure>,
) -> Result<(), Failure> {
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(1000) };
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}%") {
        bar.set_style(style);
    }
    let mut progress = |what: &str, share: f64| {
        bar.set_message(what.to_string());
        bar.set_position((share * 1000.0) as u64);
    };
    let made = make(&mut progress);
    bar.finish_and_clear();
    made.map(|table| output::print(&table.to_string()))
}

fn all_figures(arguments: &Bench, most_exact: Duration, console: &dyn Console) -> ExitStatus {
    let known = |number: &u32| FIGURES.iter().any(|figure| figure.0 == *number);
    if let Some(unknown) = arguments.figure.iter().find(|number| !known(number)) {
        let all: Vec<String> = FIGURES.iter().map(|figure| figure.0.to_string()).collect();
        let why = match unknown {
            11 => "figure 11 says how long people took, which no program can measure".to_string(),
            other => format!("there is no figure {other} to measure"),
        };
        return wrong_usage(&format!("{why}; figures are {}", all.join(", ")));
    }
    let given = Given { folder: &arguments.applications, most_exact };
    let mut is_first = true;
    for (number, measure) in FIGURES {
        if !arguments.figure.is_empty() && !arguments.figure.contains(number) {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            output::print("\n");
        }
        let done = with_bar(console.is_quiet(), |progress| {
            measure(&mut Measuring { seed: arguments.seed, progress }, &given)
        });
        if done.is_err() {
            return ended(done, console);
        }
    }
    ExitStatus::Fine
}
