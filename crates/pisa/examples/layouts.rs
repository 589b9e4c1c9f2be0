// SPDX-License-Identifier: Apache-2.0
//! Lays out every program of a folder that the checker accepts, on several targets, and judges the
//! layouts: the independent checker finds nothing, an exact layout is never longer than the greedy one,
//! and a refusal has a code and a place. Prints the outcome of each program; fails if one of these does
//! not hold or if something panics.
//!
//!     cargo run --release -p pisa --example layouts -- FOLDER [--target NAME]... [--exact SECONDS]

use ir::ready::ReadyProgram;
use p4::preprocessor::PreprocessorOptions;
use pisa::{HardwareModel, Layout, Problem};
use source::{Diagnostics, Severity, Span};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testing::Disk;

/// The outcome of one program on one target.
enum Outcome {
    /// Laid out: stages, greedy, and exact with whether it is proved.
    Fits(usize, Option<(usize, bool)>),
    /// The code of the first error.
    Refused(String),
    /// What must not be.
    Wrong(String),
}

struct Wanted {
    folder: PathBuf,
    targets: Vec<HardwareModel>,
    exact: Option<Duration>,
}

fn main() -> ExitCode {
    let wanted = match arguments() {
        Ok(wanted) => wanted,
        Err(message) => {
            eprintln!("error: {message}");
            eprintln!("usage: layouts FOLDER [--target NAME]... [--exact SECONDS]");
            return ExitCode::from(2);
        }
    };
    let mut paths = Vec::new();
    if let Err(message) = programs_in(&wanted.folder, &mut paths) {
        eprintln!("error: {message}");
        return ExitCode::FAILURE;
    }
    paths.sort();
    // What a panic says is printed with the program it came from.
    std::panic::set_hook(Box::new(|_| {}));
    let mut tallies: Vec<BTreeMap<String, u32>> = vec![BTreeMap::new(); wanted.targets.len()];
    let mut slowest: Vec<(Duration, String)> = Vec::new();
    let (mut programs, mut wrong) = (0, 0);
    for path in &paths {
        let Some(program) = accepted(path) else { continue };
        programs += 1;
        for (target, tally) in wanted.targets.iter().zip(&mut tallies) {
            let start = Instant::now();
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
                judge(&program, target, wanted.exact)
            }));
            let what = format!("{} on {}", path.display(), target.name);
            slowest.push((start.elapsed(), what.clone()));
            let outcome = outcome.unwrap_or_else(|panic| Outcome::Wrong(said(&*panic)));
            let words = match outcome {
                Outcome::Fits(greedy, None) => {
                    println!("{what}: {greedy} stages");
                    "laid out".to_string()
                }
                Outcome::Fits(greedy, Some((exact, is_proved))) => {
                    let proof = if is_proved { "proved" } else { "not proved" };
                    println!("{what}: {greedy} stages, exact {exact}, {proof}");
                    let shorter = if exact < greedy { ", exact shorter" } else { "" };
                    format!("laid out, {proof}{shorter}")
                }
                Outcome::Refused(code) => {
                    println!("{what}: refused {code}");
                    format!("refused {code}")
                }
                Outcome::Wrong(message) => {
                    println!("{what}: WRONG: {message}");
                    wrong += 1;
                    "wrong".to_string()
                }
            };
            *tally.entry(words).or_default() += 1;
        }
    }
    println!("\n{} files, {programs} programs with a `main` that the checker accepts", paths.len());
    for (target, tally) in wanted.targets.iter().zip(&tallies) {
        let counts: Vec<String> =
            tally.iter().map(|(words, count)| format!("{count} {words}")).collect();
        println!("{}: {}", target.name, counts.join("; "));
    }
    slowest.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    for (time, what) in slowest.iter().take(5) {
        println!("slowest: {what}: {:.2} s", time.as_secs_f64());
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn arguments() -> Result<Wanted, String> {
    let mut folder = None;
    let mut names = Vec::new();
    let mut exact = None;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        match word.as_str() {
            "--target" => names.push(value()?),
            "--exact" => {
                let seconds = value()?.parse().map_err(|_| "--exact wants seconds".to_string())?;
                let limit = Duration::try_from_secs_f64(seconds);
                exact = Some(limit.map_err(|_| "--exact wants seconds".to_string())?);
            }
            _ if folder.is_none() && !word.starts_with('-') => folder = Some(PathBuf::from(word)),
            _ => return Err(format!("`{word}` is not understood")),
        }
    }
    if names.is_empty() {
        names.push("tofino".to_string());
    }
    let targets = names
        .iter()
        .map(|name| HardwareModel::named(name, Span::NONE).map_err(|wrong| wrong.message.clone()))
        .collect::<Result<_, _>>()?;
    Ok(Wanted { folder: folder.ok_or("no folder")?, targets, exact })
}

fn programs_in(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            programs_in(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "p4") {
            found.push(path);
        }
    }
    Ok(())
}

/// The program as pipeline IR, if the checker accepts it and it has a `main`.
fn accepted(path: &Path) -> Option<Arc<ir::Program>> {
    let text = std::fs::read_to_string(path).ok()?;
    let options = PreprocessorOptions::default();
    let mut compiled = p4::compile::compile(&path.display().to_string(), text, &Disk, &options);
    Some(ReadyProgram::of(&mut compiled)?.program().clone())
}

fn judge(program: &ir::Program, target: &HardwareModel, limit: Option<Duration>) -> Outcome {
    let obstacles = pisa::graph::obstacles(program);
    if obstacles.has_errors() {
        return refused(&obstacles);
    }
    let problem = pisa::graph::problem_of(program);
    let greedy = pisa::greedy::greedy(&problem, target);
    if let Ok(layout) = &greedy
        && let Some(violation) = pisa::check::check(&problem, target, layout).first()
    {
        return Outcome::Wrong(format!("the greedy layout: {violation:?}"));
    }
    let exact = limit.map(|limit| {
        let start = Instant::now();
        pisa::exact::exact(&problem, target, &mut |_| start.elapsed() >= limit)
    });
    match (&greedy, &exact) {
        (Ok(greedy), None) => Outcome::Fits(greedy.stages.len(), None),
        (greedy, Some(Ok(exact))) => {
            let greedy = greedy.as_ref().ok();
            compared(&problem, target, greedy, exact)
        }
        (Ok(_), Some(Err(_))) => Outcome::Wrong("greedy fits, exact does not".to_string()),
        (Err(_), Some(Err(found))) => refused(found),
        (Err(found), None) => refused(found),
    }
}

fn compared(
    problem: &Problem,
    target: &HardwareModel,
    greedy: Option<&Layout>,
    exact: &Layout,
) -> Outcome {
    if let Some(violation) = pisa::check::check(problem, target, exact).first() {
        return Outcome::Wrong(format!("the exact layout: {violation:?}"));
    }
    let stages = exact.stages.len();
    let is_proved = exact.optimality == pisa::Optimality::Optimal;
    match greedy.map(|greedy| greedy.stages.len()) {
        Some(greedy) if stages > greedy => {
            Outcome::Wrong(format!("greedy needs {greedy} stages, exact {stages}"))
        }
        // Without a greedy layout that fits there is nothing to compare with.
        greedy => Outcome::Fits(greedy.unwrap_or(stages), Some((stages, is_proved))),
    }
}

/// The code of a refusal, each of whose errors has to say where.
fn refused(found: &Diagnostics) -> Outcome {
    let errors: Vec<_> = found.iter().filter(|each| each.severity == Severity::Error).collect();
    if let Some(lost) = errors.iter().find(|each| each.primary.span.is_none()) {
        return Outcome::Wrong(format!("{} has no place: {}", lost.code, lost.message));
    }
    match errors.first() {
        Some(first) => Outcome::Refused(first.code.to_string()),
        None => Outcome::Wrong("refused without an error".to_string()),
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panic: {}", text.unwrap_or("unknown"))
}
