// SPDX-License-Identifier: Apache-2.0
//! `plane bench mantis`: prints the figures of the Mantis paper beside what `figures::mantis` measures.

use super::print_figures;
use crate::arguments::Bench;
use crate::programs::ended;
use control::latency::DriverModel;
use figures::Measuring;
use figures::mantis::{FIGURES, Measure, Options};
use frontend::{Console, ExitStatus, Failure};
use toolchain::files;

/// Measures the figures of the command line, or all figures.
pub(super) fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
    let model = match &arguments.driver_model {
        None => DriverModel::pcie_chip().model,
        Some(path) => match files::read_driver_model(path) {
            Ok(model) => model,
            Err(failure) => return ended(Err(failure), console),
        },
    };
    let options = Options { model, is_full: arguments.full };
    let measure = |figure: &Measure, measuring: &mut Measuring<'_>| {
        figure(measuring, &options).map_err(Failure::Message)
    };
    print_figures(FIGURES, measure, arguments, console)
}
