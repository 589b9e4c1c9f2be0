// SPDX-License-Identifier: Apache-2.0
//! `plane bench lucid`: figures of the Lucid paper, measured again. What is measured and how is in
//! `lucid::figures`.

use super::inputs::{Trouble, Wanted, ready, symbolics_beside};
use crate::arguments::{Bench, System};
use crate::{Ending, files, output};
use indicatif::{ProgressBar, ProgressStyle};
use lucid::core::Program;
use lucid::figures::{self, Application, Measuring, Table};
use lucid::simulation::Setup;
use source::{Diagnostics, FileId, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Measures a figure; the folder has applications.
type Measure = fn(&mut Measuring<'_>, &Path) -> Result<Table, Trouble>;

/// The figures, by their numbers in the paper.
const FIGURES: &[(u32, Measure)] = &[
    (9, |measuring, folder| stages(folder, |list| figures::figure_9(measuring, list, MOST_EXACT))),
    (10, |measuring, folder| stages(folder, |list| figures::figure_10(measuring, list))),
    (12, |measuring, folder| stages(folder, |list| figures::figure_12(measuring, list))),
    (13, |measuring, folder| stages(folder, |list| figures::figure_13(measuring, list))),
    (14, |measuring, _| {
        figures::figure_14(measuring).map_err(|(map, found)| Trouble::Found(map, found))
    }),
    (15, |measuring, folder| Ok(figures::figure_15(measuring, &applications(folder)?))),
    (16, |measuring, _| {
        figures::figure_16(measuring).map_err(|(map, found)| Trouble::Found(map, found))
    }),
    (17, |measuring, _| {
        figures::figure_17(measuring).map_err(|(map, found)| Trouble::Found(map, found))
    }),
];

/// Longest search for an exact layout.
const MOST_EXACT: Duration = Duration::from_secs(20);

/// Measures what applications compile to. What is wrong is told without its place: the sources of
/// all of them are apart.
fn stages(
    folder: &Path,
    measure: impl FnOnce(&[Application]) -> Result<Table, Diagnostics>,
) -> Result<Table, Trouble> {
    let list = programs(folder)?;
    measure(&list).map_err(|found| Trouble::Found(SourceMap::new(), found))
}

/// The applications of a folder: of each folder in it with a run the program, or its programs.
fn programs(folder: &Path) -> Result<Vec<Application>, Trouble> {
    let cannot = |error: std::io::Error| format!("cannot read `{}`: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)?.flatten() {
        let path = entry.path();
        let run = path.join("run.yaml");
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if run.is_file() {
            found.push((name.to_string(), run, true));
        } else if path.extension().is_some_and(|end| end == "dpt") {
            found.push((name.to_string(), path.clone(), false));
        }
    }
    if found.is_empty() {
        let help = "name a folder of applications with --applications DIR";
        return Err(format!("there is no application in `{}`; {help}", folder.display()).into());
    }
    found.sort();
    let made_ready = |(name, path, is_run): (String, PathBuf, bool)| {
        if !is_run {
            return alone(name, &path);
        }
        let ready = ready(&Wanted { specification: Some(&path), ..Wanted::default() }, true)?;
        let program = (**ready.setup.program()).clone();
        Ok(application(name, program, ready.map, &ready.program_path))
    };
    found.into_iter().map(made_ready).collect()
}

/// A program without a run, with the symbolics beside it.
fn alone(name: String, path: &Path) -> Result<Application, Trouble> {
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let Some(symbolics) = symbolics_beside(&mut map, path, &mut found)? else {
        return Err(Trouble::Found(map, found));
    };
    let file = path.display().to_string();
    let analysis = lucid::front::analyse(&mut map, &file, text, &files::DiskLoader);
    match analysis.elaborate(&symbolics, &[]) {
        Ok(program) => Ok(application(name, program, map, path)),
        Err(problems) => Err(Trouble::Found(map, problems)),
    }
}

fn application(name: String, program: Program, map: SourceMap, path: &Path) -> Application {
    let own = path.display().to_string();
    let mut files = (0..map.file_count()).map(|file| FileId(file as u32));
    let source = files.find(|file| **map.name(*file) == *own).unwrap_or(FileId(0));
    Application { name, program, map, source }
}

/// The applications of a folder, by the names of theirs, with their runs.
fn applications(folder: &Path) -> Result<Vec<(String, Arc<Setup>)>, Trouble> {
    let cannot = |error: std::io::Error| format!("cannot read `{}`: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)?.flatten() {
        let run = entry.path().join("run.yaml");
        if let (true, Some(name)) = (run.is_file(), entry.file_name().to_str()) {
            found.push((name.to_string(), run));
        }
    }
    if found.is_empty() {
        let help = "name a folder of applications with --applications DIR";
        return Err(format!("there is no application in `{}`; {help}", folder.display()).into());
    }
    found.sort();
    let made_ready = |(name, run): (String, std::path::PathBuf)| {
        let wanted = Wanted { specification: Some(&run), ..Wanted::default() };
        ready(&wanted, true).map(|ready| (name, ready.setup))
    };
    found.into_iter().map(made_ready).collect()
}

/// Measures those that are wanted, or all.
pub fn run(arguments: &Bench, quiet: bool) -> Ending {
    let System::Lucid = arguments.system;
    let known = |number: &u32| FIGURES.iter().any(|figure| figure.0 == *number);
    if let Some(unknown) = arguments.figure.iter().find(|number| !known(number)) {
        let all: Vec<String> = FIGURES.iter().map(|figure| figure.0.to_string()).collect();
        let why = match unknown {
            11 => "figure 11 says how long people took, which no program can measure".to_string(),
            other => format!("there is no figure {other} to measure"),
        };
        output::error(&format!("{why}; figures are {}", all.join(", ")));
        return Ending::WrongUsage;
    }
    let mut first = true;
    for (number, measure) in FIGURES {
        if !arguments.figure.is_empty() && !arguments.figure.contains(number) {
            continue;
        }
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(1000) };
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}%") {
            bar.set_style(style);
        }
        let mut progress = |what: &str, share: f64| {
            bar.set_message(what.to_string());
            bar.set_position((share * 1000.0) as u64);
        };
        let measured = measure(
            &mut Measuring { seed: arguments.seed, progress: &mut progress },
            &arguments.applications,
        );
        bar.finish_and_clear();
        match measured {
            Ok(table) => output::print(&format!("{}{table}", if first { "" } else { "\n" })),
            Err(trouble) => {
                trouble.print();
                return Ending::WrongInput;
            }
        }
        first = false;
    }
    Ending::Fine
}
