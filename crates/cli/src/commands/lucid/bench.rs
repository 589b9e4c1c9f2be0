// SPDX-License-Identifier: Apache-2.0
//! `plane bench lucid`: figures of the Lucid paper, measured again. What is measured and how is in
//! `lucid::figures`.

use crate::arguments::{Bench, System};
use crate::{Ending, output};
use indicatif::{ProgressBar, ProgressStyle};
use lucid::figures::{self, Measuring, Table};
use source::{Diagnostics, SourceMap};

/// Measures a figure.
type Measure = fn(&mut Measuring<'_>) -> Result<Table, (SourceMap, Diagnostics)>;

/// The figures, by their numbers in the paper.
const FIGURES: &[(u32, Measure)] = &[(16, figures::figure_16), (17, figures::figure_17)];

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
        let measured = measure(&mut Measuring { seed: arguments.seed, progress: &mut progress });
        bar.finish_and_clear();
        match measured {
            Ok(table) => output::print(&format!("{}{table}", if first { "" } else { "\n" })),
            Err((map, problems)) => {
                output::diagnostics(&map, &problems);
                return Ending::WrongInput;
            }
        }
        first = false;
    }
    Ending::Fine
}
