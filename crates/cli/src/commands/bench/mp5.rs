// SPDX-License-Identifier: Apache-2.0
//! `plane bench mp5`: prints the figures of the MP5 paper beside what `figures::mp5` measures.

use super::{Printed, behind_bar, of_lucid, of_mantis, wrong_usage};
use crate::arguments::Bench;
use crate::programs::ended;
use figures::Measuring;
use figures::mp5::{FIGURES, Options};
use frontend::{Console, ExitStatus, Failure};
use std::path::Path;
use toolchain::files;

/// Measures the figures of the command line, or all figures.
pub(super) fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
    if let Some((option, paper)) = of_lucid(arguments).or(of_mantis(arguments)) {
        return wrong_usage(&format!("{option} is for the figures of {paper}"));
    }
    let wanted: Vec<String> = arguments.figure.iter().map(|name| name.to_lowercase()).collect();
    let known = |name: &String| FIGURES.iter().any(|(figure, _)| figure == name);
    if let Some(unknown) = wanted.iter().find(|name| !known(name)) {
        let all: Vec<&str> = FIGURES.iter().map(|(figure, _)| *figure).collect();
        let message =
            format!("there is no figure {unknown} to measure; figures are {}", all.join(", "));
        return wrong_usage(&message);
    }
    if arguments.seeds == Some(0) {
        return wrong_usage("--seeds needs at least 1");
    }
    let read = |name: &str| -> Result<String, String> {
        let folder = arguments.traces.as_deref().unwrap_or(Path::new("."));
        files::read_text(&folder.join(name))
    };
    let defaults = Options::default();
    let options = Options {
        traces: if arguments.traces.is_some() { Some(&read) } else { None },
        seeds: arguments.seeds.unwrap_or(defaults.seeds),
        ..defaults
    };
    let mut printed = Printed::new(arguments.json);
    for (name, measure) in FIGURES {
        if !wanted.is_empty() && !wanted.iter().any(|one| one == name) {
            continue;
        }
        let made = behind_bar(console.is_quiet(), |progress| {
            let mut measuring = Measuring { seed: arguments.seed, progress };
            measure(&mut measuring, &options).map_err(Failure::Message)
        });
        match made {
            Ok(table) => printed.add(name, table),
            Err(failure) => return ended(Err(failure), console),
        }
    }
    printed.finish();
    ExitStatus::Fine
}
