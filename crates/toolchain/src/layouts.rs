// SPDX-License-Identifier: Apache-2.0
//! Targets by name or file, and the search for exact layouts with a line that tells how far it is. How layouts
//! are found is in `pisa`.

use crate::files;
use frontend::{Console, Failure, Work, count};
use pisa::exact::Progress;
use pisa::{HardwareModel, Problem};
use source::{Diagnostics, SourceMap, Span};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long an exact layout may be looked for.
///
/// # Errors
///
/// The number is no time.
pub fn time_limit(seconds: f64) -> Result<Duration, String> {
    if !seconds.is_finite() || seconds < 0.0 {
        return Err(format!("--time-limit {seconds}: give a number of seconds, such as 60"));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Why there is no target.
pub enum TargetError {
    /// No shipped target has this name: the command line is wrong.
    Unknown(Failure),
    /// The file is wrong.
    File(Failure),
}

/// A shipped target, or that of a file.
///
/// # Errors
///
/// There is no such target, or the file is wrong.
pub fn target(wanted: &str) -> Result<HardwareModel, TargetError> {
    let mut map = SourceMap::new();
    if !(wanted.ends_with(".toml") || wanted.contains(['/', '\\'])) {
        return HardwareModel::named(wanted, Span::NONE).map_err(|diagnostic| {
            let mut diagnostics = Diagnostics::new();
            diagnostics.push(*diagnostic);
            TargetError::Unknown(Failure::Found(map, diagnostics))
        });
    }
    let path = Path::new(wanted);
    let text =
        files::read_text(path).map_err(|message| TargetError::File(Failure::Message(message)))?;
    let name = path.file_stem().map_or(wanted.into(), |stem| stem.to_string_lossy());
    let file = map.add(wanted, text.clone());
    HardwareModel::from_toml(&name, file, &text)
        .map_err(|diagnostics| TargetError::File(Failure::Found(map, diagnostics)))
}

/// The exact layout.
///
/// # Errors
///
/// Why there is none.
pub fn exact(
    problem: &Problem,
    target: &HardwareModel,
    limit: Duration,
    console: &dyn Console,
) -> Result<pisa::Layout, Diagnostics> {
    let spinner = console.spinner(Work::Search, console.is_quiet());
    let start = Instant::now();
    pisa::exact::exact(problem, target, &mut |progress: Progress| {
        spinner.set_message(format!(
            "{}, at least {}; {} assignments tried",
            count(progress.stages, "stage"),
            progress.at_least,
            progress.assignments
        ));
        start.elapsed() >= limit
    })
}
