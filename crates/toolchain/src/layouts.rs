// SPDX-License-Identifier: Apache-2.0
//! Hardware models by name or file, and the search for exact layouts with its progress. `pisa` lays out programs.

use crate::files;
use frontend::{Console, Failure, Work, count};
use pisa::exact::Progress;
use pisa::{HardwareModel, Problem};
use source::{Diagnostics, SourceMap, Span};
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns the time limit of a search for an exact layout.
///
/// # Errors
///
/// The number is negative or not finite.
pub fn time_limit(seconds: f64) -> Result<Duration, String> {
    if !seconds.is_finite() || seconds < 0.0 {
        return Err(format!("--time-limit {seconds}: write a number of seconds, such as 60"));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Why a target cannot be loaded.
pub enum TargetError {
    /// No shipped target has this name.
    Unknown(Failure),
    /// The file is wrong.
    File(Failure),
}

/// Loads a shipped target, or the target of a file.
///
/// # Errors
///
/// There is no such target, or the file is wrong.
pub fn target(name_or_file: &str) -> Result<HardwareModel, TargetError> {
    let mut map = SourceMap::new();
    if !(name_or_file.ends_with(".toml") || name_or_file.contains(['/', '\\'])) {
        return HardwareModel::named(name_or_file, Span::NONE).map_err(|diagnostic| {
            let mut diagnostics = Diagnostics::new();
            diagnostics.push(*diagnostic);
            TargetError::Unknown(Failure::Found(map, diagnostics))
        });
    }
    let path = Path::new(name_or_file);
    let text =
        files::read_text(path).map_err(|message| TargetError::File(Failure::Message(message)))?;
    let name = path.file_stem().map_or(name_or_file.into(), |stem| stem.to_string_lossy());
    let file = map.add(name_or_file, text.clone());
    HardwareModel::from_toml(&name, file, &text)
        .map_err(|diagnostics| TargetError::File(Failure::Found(map, diagnostics)))
}

/// Searches for the layout with the fewest stages.
///
/// # Errors
///
/// The program has no layout on this target.
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
