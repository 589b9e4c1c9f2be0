// SPDX-License-Identifier: Apache-2.0
//! `plane corpus`: verdicts over a folder of programs.

use crate::arguments::Corpus;
use crate::output;
use crate::programs::on_disk;
use conformance::corpus;
use frontend::{Console, CorpusJudge, ExitStatus, Frontend, Outcome, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolchain::{files, registry};

/// Runs it.
pub fn run(arguments: &Corpus, console: &dyn Console) -> ExitStatus {
    let is_judged = |path: &Path| judge_of(path).is_some();
    let paths = match files::files_in(&arguments.folder, &is_judged) {
        Ok(paths) if paths.is_empty() => {
            let ends: Vec<String> = judged().map(|(each, _)| registry::end(each)).collect();
            let folder = arguments.folder.display();
            output::error(&format!("there are no {} files in `{folder}`", ends.join(" or ")));
            return ExitStatus::WrongInput;
        }
        Ok(paths) => paths,
        Err(message) => {
            output::error(&message);
            return ExitStatus::WrongInput;
        }
    };
    let outcomes = judge(&paths, arguments, console.is_quiet());
    let text = report(&outcomes, arguments);
    output::print(&text);
    if let Some(path) = &arguments.write_baseline
        && let Err(message) = files::write_text(path, &corpus::baseline_text(&outcomes))
    {
        output::error(&message);
        return ExitStatus::WrongInput;
    }
    let unexpected = outcomes.iter().any(|outcome| match outcome.verdict {
        Verdict::Accepted => arguments.expect_errors,
        Verdict::Rejected { .. } => !arguments.expect_errors,
        Verdict::Broken { .. } | Verdict::Crashed(_) => true,
    });
    match &arguments.baseline {
        None if unexpected => ExitStatus::WrongInput,
        None => ExitStatus::Fine,
        Some(path) => compare(path, &outcomes),
    }
}

/// Returns the languages that judge programs.
fn judged() -> impl Iterator<Item = (&'static dyn Frontend, &'static dyn CorpusJudge)> {
    registry::frontends().iter().filter_map(|each| Some((*each, each.corpus()?)))
}

/// Returns the judge of a program, by its extension. Files that are only included have no judge.
fn judge_of(path: &Path) -> Option<&'static dyn CorpusJudge> {
    let end = path.extension()?;
    let of_program = |each: &dyn Frontend| each.extensions().first().is_some_and(|one| end == *one);
    judged().find(|(each, _)| of_program(*each)).map(|(_, judge)| judge)
}

fn compare(path: &Path, outcomes: &[Outcome]) -> ExitStatus {
    let changes = files::read_text(path).and_then(|baseline| {
        corpus::compare(&baseline, outcomes).map_err(|why| format!("`{}`: {why}", path.display()))
    });
    match changes {
        Ok(changes) if changes.is_empty() => {
            output::print(&format!("as in {}\n", path.display()));
            ExitStatus::Fine
        }
        Ok(changes) => {
            let mut text = format!("changed since {}:\n", path.display());
            for change in changes {
                text.push_str(&format!("  {}: {}\n", change.name, change.text));
            }
            output::print(&text);
            ExitStatus::WrongInput
        }
        Err(message) => {
            output::error(&message);
            ExitStatus::WrongInput
        }
    }
}

fn judge(paths: &[PathBuf], arguments: &Corpus, quiet: bool) -> Vec<Outcome> {
    let bar = if quiet {
        indicatif::ProgressBar::hidden()
    } else {
        indicatif::ProgressBar::new(paths.len() as u64)
    };
    let options = arguments.reading.options();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let one = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = path.strip_prefix(&arguments.folder).unwrap_or(path).display().to_string();
            let outcome = match files::read_text(path) {
                Ok(text) if let Some(judge) = judge_of(path) => {
                    Outcome { name, ..judge.judge(&on_disk(path, &options), &text) }
                }
                Ok(_) => continue,
                Err(message) => Outcome {
                    name,
                    hash: String::new(),
                    verdict: Verdict::Rejected { code: "file".to_string(), message },
                    architecture: "none".to_string(),
                    elapsed: std::time::Duration::ZERO,
                },
            };
            bar.inc(1);
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.push(outcome);
            }
        }
    };
    // Panics are part of the verdict here; their messages would spoil the progress bar.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
        for _ in 0..workers {
            let builder = std::thread::Builder::new().stack_size(crate::STACK_BYTES);
            if builder.spawn_scoped(scope, one).is_err() {
                one();
            }
        }
    });
    std::panic::set_hook(hook);
    bar.finish_and_clear();
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by(|left, right| left.name.cmp(&right.name));
    outcomes
}

fn report(outcomes: &[Outcome], arguments: &Corpus) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let line = match &outcome.verdict {
            Verdict::Accepted if arguments.all || arguments.expect_errors => "accepted".to_string(),
            Verdict::Accepted => continue,
            Verdict::Rejected { .. } if arguments.expect_errors && !arguments.all => continue,
            Verdict::Rejected { code, message } => format!("rejected {code}: {message}"),
            Verdict::Broken { step, message } => format!("BROKEN ({step}): {message}"),
            Verdict::Crashed(message) => format!("CRASHED: {message}"),
        };
        text.push_str(&format!("{}: {line}\n", outcome.name));
    }
    let mut table: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for outcome in outcomes {
        let row = table.entry(&outcome.architecture).or_default();
        match &outcome.verdict {
            Verdict::Accepted => row[0] += 1,
            Verdict::Rejected { code, message } => {
                row[1] += 1;
                reasons.entry(code).or_insert((0, message)).0 += 1;
            }
            Verdict::Broken { .. } => row[2] += 1,
            Verdict::Crashed(_) => row[3] += 1,
        }
    }
    text.push_str(&format!(
        "\n{:<14} {:>9} {:>9} {:>9} {:>9}\n",
        "includes", "accepted", "rejected", "broken", "crashed"
    ));
    let mut total = [0; 4];
    for (name, row) in &table {
        for (sum, count) in total.iter_mut().zip(row) {
            *sum += count;
        }
        text.push_str(&row_text(name, row));
    }
    text.push_str(&row_text("all", &total));
    if !reasons.is_empty() {
        text.push_str("\nrejected because of        programs  first message\n");
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (code, (count, message)) in reasons {
            text.push_str(&format!("  {code:<24} {count:>7}  {message}\n"));
        }
    }
    let mut times: Vec<_> =
        outcomes.iter().map(|outcome| (outcome.elapsed, outcome.name.as_str())).collect();
    times.sort();
    if let (Some((slowest, name)), Some((median, _))) = (times.last(), times.get(times.len() / 2)) {
        text.push_str(&format!(
            "\ntime a program: median {:.1} ms, slowest {:.1} ms ({name})\n",
            median.as_secs_f64() * 1e3,
            slowest.as_secs_f64() * 1e3
        ));
    }
    text
}

fn row_text(name: &str, row: &[usize; 4]) -> String {
    format!("{name:<14} {:>9} {:>9} {:>9} {:>9}\n", row[0], row[1], row[2], row[3])
}
