// SPDX-License-Identifier: Apache-2.0
//! `plane bench`: prints figures of a paper, measured again. `lucid`, `mantis` and `mp5` say which figures there are and what
//! they are measured with; the crate `figures` measures.

mod lucid;
mod mantis;
mod mp5;

use crate::arguments::{Bench, System};
use crate::output;
use crate::programs::ended;
use figures::{Measuring, Table};
use frontend::{Console, ExitStatus, Failure};
use indicatif::{ProgressBar, ProgressStyle};

/// Measures the figures of the command line, or all figures.
pub fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
    if let Some((paper, option)) = foreign_option(arguments) {
        return wrong_usage(&format!("{option} is for the figures of {paper}"));
    }
    match arguments.system {
        System::Lucid => lucid::run(arguments, console),
        System::Mantis => mantis::run(arguments, console),
        System::Mp5 => mp5::run(arguments, console),
    }
}

/// Returns an option of the command line that the figures of another paper have.
fn foreign_option(arguments: &Bench) -> Option<(&'static str, &'static str)> {
    let given = [
        (System::Lucid, "Lucid", "--compile", arguments.compile),
        (System::Lucid, "Lucid", "--corpus", !arguments.corpus.is_empty()),
        (System::Lucid, "Lucid", "--one", arguments.one.is_some()),
        (System::Mantis, "Mantis", "--full", arguments.full),
        (System::Mantis, "Mantis", "--driver-model", arguments.driver_model.is_some()),
        (System::Mp5, "MP5", "--traces", arguments.traces.is_some()),
        (System::Mp5, "MP5", "--seeds", arguments.seeds.is_some()),
    ];
    given
        .into_iter()
        .find(|(system, .., is_given)| *is_given && *system != arguments.system)
        .map(|(_, paper, option, _)| (paper, option))
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

/// Measures and prints those of the figures that the command line names, or all of them.
fn print_figures<M>(
    figures: &[(&str, M)],
    measure: impl Fn(&M, &mut Measuring<'_>) -> Result<Table, Failure>,
    arguments: &Bench,
    console: &dyn Console,
) -> ExitStatus {
    let wanted: Vec<String> = arguments.figure.iter().map(|name| name.to_lowercase()).collect();
    let known = |name: &&String| figures.iter().any(|(figure, _)| figure == *name);
    if let Some(unknown) = wanted.iter().find(|name| !known(name)) {
        let all: Vec<&str> = figures.iter().map(|(figure, _)| *figure).collect();
        let message =
            format!("there is no figure {unknown} to measure; figures are {}", all.join(", "));
        return wrong_usage(&message);
    }
    let mut printed = Printed::new(arguments.json);
    for (name, figure) in figures {
        if !wanted.is_empty() && !wanted.iter().any(|one| one == name) {
            continue;
        }
        let made = behind_bar(console.is_quiet(), |progress| {
            measure(figure, &mut Measuring { seed: arguments.seed, progress })
        });
        match made {
            Ok(table) => printed.add(name, table),
            Err(failure) => return ended(Err(failure), console),
        }
    }
    printed.finish();
    ExitStatus::Fine
}
