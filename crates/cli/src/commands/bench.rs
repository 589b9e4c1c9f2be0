// SPDX-License-Identifier: Apache-2.0
//! `plane bench lucid`: prints the figures of the Lucid paper, measured again, or the cost of compilation.
//! `figures::lucid` measures. [`mantis`] and [`mp5`] print those of their papers.

mod mantis;
mod mp5;

use super::measured;
use crate::arguments::{Bench, System};
use crate::output;
use crate::programs::ended;
use figures::lucid::{self as paper, Application, TargetChoice};
use figures::{Measuring, Table};
use frontend::{Console, ExitStatus, Failure};
use indicatif::{ProgressBar, ProgressStyle};
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
const FIGURES: &[(u32, Measure)] = &[
    (9, |measuring, given| {
        stages(given.folder, |list| paper::figure_9(measuring, list, given.exact_limit))
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
pub fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
    let quiet = console.is_quiet();
    if arguments.system == System::Mantis {
        return mantis::run(arguments, console);
    }
    if arguments.system == System::Mp5 {
        return mp5::run(arguments, console);
    }
    if let Some((option, paper)) = of_mantis(arguments).or(of_mp5(arguments)) {
        return wrong_usage(&format!("{option} is for the figures of {paper}"));
    }
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
        (None, []) => return all_figures(arguments, exact_limit, console),
        (None, folders) => with_bar(quiet, |progress| {
            let programs = measured::programs_in(folders)?;
            let choices = [TargetChoice::V1Model, TargetChoice::Greedy];
            let found = measured::all(&programs, &choices, exact_limit, progress)?;
            Ok(paper::corpus_table(&found))
        }),
    };
    ended(done.map(|()| ExitStatus::Fine), console)
}

/// An option of the command line that only the figures of Lucid have, and the paper.
fn of_lucid(arguments: &Bench) -> Option<(&'static str, &'static str)> {
    let given = [
        ("--compile", arguments.compile),
        ("--corpus", !arguments.corpus.is_empty()),
        ("--one", arguments.one.is_some()),
    ];
    first_given(&given, "Lucid")
}

/// An option that only the figures of Mantis have.
fn of_mantis(arguments: &Bench) -> Option<(&'static str, &'static str)> {
    let given = [("--full", arguments.full), ("--driver-model", arguments.driver_model.is_some())];
    first_given(&given, "Mantis")
}

/// An option that only the figures of MP5 have.
fn of_mp5(arguments: &Bench) -> Option<(&'static str, &'static str)> {
    let given = [("--traces", arguments.traces.is_some()), ("--seeds", arguments.seeds.is_some())];
    first_given(&given, "MP5")
}

fn first_given(
    given: &[(&'static str, bool)],
    paper: &'static str,
) -> Option<(&'static str, &'static str)> {
    given.iter().find(|(_, is_given)| *is_given).map(|(option, _)| (*option, paper))
}

fn wrong_usage(message: &str) -> ExitStatus {
    output::error(message);
    ExitStatus::WrongUsage
}

/// Makes a table behind a progress bar, and prints it.
fn with_bar(
    quiet: bool,
    make: impl FnOnce(&mut dyn FnMut(&str, f64)) -> Result<Table, Failure>,
) -> Result<(), Failure> {
    behind_bar(quiet, make).map(|table| output::print(&table.to_string()))
}

/// Makes a table behind a progress bar.
fn behind_bar(
    quiet: bool,
    make: impl FnOnce(&mut dyn FnMut(&str, f64)) -> Result<Table, Failure>,
) -> Result<Table, Failure> {
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
    made
}

/// Figures as they are made: tables as text, or all of them as one list in JSON.
struct Printed {
    json: Option<Vec<(String, Table)>>,
    is_first: bool,
}

impl Printed {
    fn new(is_json: bool) -> Printed {
        Printed { json: is_json.then(Vec::new), is_first: true }
    }

    fn add(&mut self, figure: &str, table: Table) {
        if let Some(list) = &mut self.json {
            list.push((figure.to_string(), table));
            return;
        }
        if !std::mem::take(&mut self.is_first) {
            output::print("\n");
        }
        output::print(&table.to_string());
    }

    fn finish(self) {
        if let Some(list) = self.json {
            output::print(&Table::json_list(&list));
        }
    }
}

fn all_figures(arguments: &Bench, exact_limit: Duration, console: &dyn Console) -> ExitStatus {
    let known = |name: &String| FIGURES.iter().any(|figure| figure.0.to_string() == *name);
    if let Some(unknown) = arguments.figure.iter().find(|name| !known(name)) {
        let all: Vec<String> = FIGURES.iter().map(|figure| figure.0.to_string()).collect();
        let why = match unknown.as_str() {
            "11" => "figure 11 shows the time that people took, which no program can measure"
                .to_string(),
            other => format!("there is no figure {other} to measure"),
        };
        return wrong_usage(&format!("{why}; figures are {}", all.join(", ")));
    }
    let given = Given { folder: &arguments.applications, exact_limit };
    let mut printed = Printed::new(arguments.json);
    for (number, measure) in FIGURES {
        let name = number.to_string();
        if !arguments.figure.is_empty() && !arguments.figure.contains(&name) {
            continue;
        }
        let made = behind_bar(console.is_quiet(), |progress| {
            measure(&mut Measuring { seed: arguments.seed, progress }, &given)
        });
        match made {
            Ok(table) => printed.add(&name, table),
            Err(failure) => return ended(Err(failure), console),
        }
    }
    printed.finish();
    ExitStatus::Fine
}
