// SPDX-License-Identifier: Apache-2.0
//! `plane layout`: where a program's tables and arrays sit on the stages of a pipeline. How they are
//! placed, and the documents that say so, are the `pisa` crate's.

use crate::arguments::{Layout, LayoutFormat};
use crate::file_kind::{Language, language};
use crate::{Ending, files, output};
use pisa::exact::Progress;
use pisa::{Problem, Target, UnitId};
use source::{Diagnostics, SourceMap, Span};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// A program ready to be laid out, and its sources.
pub(super) struct Ready {
    pub problem: Problem,
    pub map: SourceMap,
    /// Units of no line of the program's: those of the event scheduler of a Lucid program.
    pub scheduler: BTreeSet<UnitId>,
}

/// Runs it.
pub fn run(arguments: &Layout, quiet: bool) -> Ending {
    let limit = match time_limit(arguments.time_limit) {
        Ok(limit) => limit,
        Err(message) => {
            output::error(&message);
            return Ending::WrongUsage;
        }
    };
    if let Some(path) = &arguments.output
        && let Err(message) =
            files::not_overwritten(path, [arguments.program.as_path()].into_iter())
    {
        output::error(&message);
        return Ending::WrongInput;
    }
    let target = match target(&arguments.target) {
        Ok(target) => target,
        Err(ending) => return ending,
    };
    let Some(ready) = ready(arguments, quiet) else { return Ending::WrongInput };
    let Ready { problem, map, scheduler } = &ready;
    let layout = if arguments.exact {
        exact(problem, &target, limit, quiet)
    } else {
        pisa::greedy::greedy(problem, &target)
    };
    let layout = match layout {
        Ok(layout) => layout,
        Err(diagnostics) => {
            output::diagnostics(map, &diagnostics);
            return Ending::WrongInput;
        }
    };
    let place = |id: UnitId| {
        if scheduler.contains(&id) {
            return "scheduler".to_string();
        }
        let span = problem.units.get(id.0 as usize).map_or(Span::NONE, |unit| unit.span);
        map.location(span).map_or(String::new(), |place| format!("{}:{}", place.file, place.line))
    };
    let text = match arguments.format {
        LayoutFormat::Text => pisa::report::text(problem, &target, &layout, &place),
        LayoutFormat::Json => pisa::json::json(problem, &target, &layout, &place),
        LayoutFormat::Svg => pisa::svg::svg(problem, &target, &layout, &place),
    };
    let Some(path) = &arguments.output else {
        output::print(&text);
        return Ending::Fine;
    };
    match files::write_text(path, &text) {
        Ok(()) => {
            if !quiet {
                let stages = output::count(layout.stages.len(), "stage");
                output::note(&format!("{stages}; written to `{}`", path.display()));
            }
            Ending::Fine
        }
        Err(message) => {
            output::error(&message);
            Ending::WrongInput
        }
    }
}

/// How long an exact layout may be looked for.
pub(super) fn time_limit(seconds: f64) -> Result<Duration, String> {
    if !seconds.is_finite() || seconds < 0.0 {
        return Err(format!("--time-limit {seconds}: give a number of seconds, such as 60"));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// The target that the command line names; what is wrong with it is printed. A name that there is not is a
/// wrong command line, a wrong file wrong input.
fn target(wanted: &str) -> Result<Target, Ending> {
    let is_file = wanted.ends_with(".toml") || wanted.contains(['/', '\\']);
    let mut map = SourceMap::new();
    let found = if is_file {
        let path = Path::new(wanted);
        let text = match files::read_text(path) {
            Ok(text) => text,
            Err(message) => {
                output::error(&message);
                return Err(Ending::WrongInput);
            }
        };
        let name = path.file_stem().map_or(wanted.into(), |stem| stem.to_string_lossy());
        let file = map.add(wanted, text.clone());
        Target::from_toml(&name, file, &text)
    } else {
        Target::named(wanted, Span::NONE).map_err(|diagnostic| {
            let mut diagnostics = Diagnostics::new();
            diagnostics.push(*diagnostic);
            diagnostics
        })
    };
    found.map_err(|diagnostics| {
        output::diagnostics(&map, &diagnostics);
        if is_file { Ending::WrongInput } else { Ending::WrongUsage }
    })
}

/// Reads the program; what is wrong with it is printed.
fn ready(arguments: &Layout, quiet: bool) -> Option<Ready> {
    let path = &arguments.program;
    match language(path) {
        Ok(Language::Lucid) => return super::lucid::layout::ready(path),
        Ok(Language::P4) => {}
        Err(message) => {
            output::error(&message);
            return None;
        }
    }
    let (compiled, found) = super::compile_or_report(path, &arguments.reading, quiet)?;
    let Some(found) = found else {
        output::error(&format!(
            "{} has no `main`, so there is nothing to lay out: instantiate a package",
            match path == Path::new("-") {
                true => "standard input".to_string(),
                false => format!("`{}`", path.display()),
            }
        ));
        return None;
    };
    let obstacles = pisa::graph::obstacles(found.program());
    if !obstacles.is_empty() {
        output::diagnostics(&compiled.map, &obstacles);
    }
    if obstacles.has_errors() {
        return None;
    }
    let mut problem = pisa::graph::problem_of(found.program());
    problem.name = title(path).into();
    Some(Ready { problem, map: compiled.map, scheduler: BTreeSet::new() })
}

/// What a program is called in reports.
pub(super) fn title(path: &Path) -> String {
    if path == Path::new("-") {
        return "program".to_string();
    }
    path.file_stem().map_or("program".into(), |stem| stem.to_string_lossy()).into_owned()
}

/// The exact layout, with a line that tells how far it is.
pub(super) fn exact(
    problem: &Problem,
    target: &Target,
    limit: Duration,
    quiet: bool,
) -> Result<pisa::Layout, Diagnostics> {
    let bar = if quiet {
        indicatif::ProgressBar::hidden()
    } else {
        let bar = indicatif::ProgressBar::new_spinner();
        if let Ok(style) = indicatif::ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
            bar.set_style(style);
        }
        bar
    };
    let start = Instant::now();
    let layout = pisa::exact::exact(problem, target, &mut |progress: Progress| {
        bar.set_message(format!(
            "{}, at least {}; {} assignments tried",
            output::count(progress.stages, "stage"),
            progress.at_least,
            progress.assignments
        ));
        bar.tick();
        start.elapsed() >= limit
    });
    bar.finish_and_clear();
    layout
}
