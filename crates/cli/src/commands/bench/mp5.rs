// SPDX-License-Identifier: Apache-2.0
//! `plane bench mp5`: prints the figures of the MP5 paper beside what `figures::mp5` measures.

use super::{print_figures, wrong_usage};
use crate::arguments::Bench;
use figures::Measuring;
use figures::mp5::{FIGURES, Measure, Options};
use frontend::{Console, ExitStatus, Failure};
use std::path::Path;
use toolchain::files;

/// Measures the figures of the command line, or all figures.
pub(super) fn run(arguments: &Bench, console: &dyn Console) -> ExitStatus {
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
    let measure = |figure: &Measure, measuring: &mut Measuring<'_>| {
        figure(measuring, &options).map_err(Failure::Message)
    };
    print_figures(FIGURES, measure, arguments, console)
}
