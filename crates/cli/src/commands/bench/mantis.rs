// SPDX-License-Identifier: Apache-2.0
//! `plane bench mantis`: prints the figures of the Mantis paper beside what `figures::mantis` measures.

use super::{Printed, behind_bar, of_lucid, of_mp5, wrong_usage};
use crate::arguments::Bench;
use crate::programs::ended;
use control::latency::DriverModel;
use figures::Measuring;
use figures::mantis::{FIGURES, Options};
use frontend::{Console, ExitStatus, Failure};
use toolchain::files;

/// Measures the figures of the command line, or all figures.
pub(super) fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
    if let Some((option, paper)) = of_lucid(arguments).or(of_mp5(arguments)) {
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
    let model = match &arguments.driver_model {
        None => DriverModel::pcie_chip().model,
        Some(path) => match files::read_driver_model(path) {
            Ok(model) => model,
            Err(failure) => return ended(Err(failure), console),
        },
    };
    let options = Options { model, is_full: arguments.full };
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
