// SPDX-License-Identifier: Apache-2.0
//! `plane bench lucid --compile` and `--corpus`: starts this program again for each compilation, with the hidden option
//! `--one`. `figures::lucid` measures.

use crate::output;
use figures::lucid::{Outcome, Outcomes, Refusal, Source, Step, TargetChoice, compile_measured};
use frontend::{Failure, Frontend};
use source::{Diagnostics, SourceMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use toolchain::files::{self, Disk};
use toolchain::lucid::Lucid;
use toolchain::lucid::includes::Includes;
use toolchain::lucid::inputs::symbolics_beside;

/// The time limit of the compilation of one program.
const MAX_COMPILATION: Duration = Duration::from_secs(300);

/// Whether a file is a Lucid program.
pub fn is_program(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str());
    path.is_file() && end.is_some_and(|end| Lucid.extensions().contains(&end))
}

/// Compiles one program in this process and prints the outcome as JSON.
pub fn one(choice: TargetChoice, path: &Path, exact_limit: Duration) -> Result<(), Failure> {
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let Some(symbolics) = symbolics_beside(&Disk, &mut map, path, &mut found)? else {
        output::print(&Outcome::refused(Refusal::of(Step::Check, &map, &found)).to_json());
        return Ok(());
    };
    let name = path.display().to_string();
    let source = Source { name: &name, text, loader: &Includes(&Disk), symbolics: &symbolics };
    let outcome = compile_measured(source, choice, exact_limit, &peak_kib);
    output::print(&outcome.to_json());
    Ok(())
}

/// Returns the peak resident set of this process, if the system reports it.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Compiles programs for these targets, each in a process of its own.
pub fn all(
    programs: &[(String, PathBuf)],
    choices: &[TargetChoice],
    exact_limit: Duration,
    progress: &mut dyn FnMut(&str, f64),
) -> Result<Vec<(String, Outcomes)>, String> {
    let mut found = Vec::new();
    for (at, (name, path)) in programs.iter().enumerate() {
        progress(name, at as f64 / programs.len().max(1) as f64);
        let mut outcomes = Outcomes::new();
        for choice in choices {
            outcomes.insert(*choice, in_a_process(*choice, path, exact_limit)?);
        }
        found.push((name.clone(), outcomes));
    }
    Ok(found)
}

fn in_a_process(
    choice: TargetChoice,
    path: &Path,
    exact_limit: Duration,
) -> Result<Outcome, String> {
    let cannot = |error: std::io::Error| format!("cannot start this program again: {error}");
    let own = std::env::current_exe().map_err(cannot)?;
    let seconds = exact_limit.as_secs_f64().to_string();
    let mut child = Command::new(own)
        .args(["bench", "lucid", "--time-limit", &seconds, "--one", choice.name()])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    // A thread reads messages, so that long ones do not block the process.
    let messages = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().map_err(cannot)? {
            Some(status) => break Some(status),
            None if begin.elapsed() > MAX_COMPILATION => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let mut printed = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        let _ = stdout.read_to_string(&mut printed);
    }
    let messages = messages.and_then(|messages| messages.join().ok()).unwrap_or_default();
    if let Some(outcome) = Outcome::from_json(&printed) {
        return Ok(outcome);
    }
    let message = match status {
        None => format!("not finished after {} s", MAX_COMPILATION.as_secs()),
        Some(_) => messages.lines().next().unwrap_or("the process printed no message").to_string(),
    };
    let refusal = Refusal {
        step: Step::Check,
        code: String::new(),
        place: String::new(),
        message,
        errors: 1,
    };
    Ok(Outcome::refused(refusal))
}

/// Finds all Lucid programs of folders and their subfolders, in the order of their paths.
pub fn programs_in(folders: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, String> {
    let mut found = Vec::new();
    for folder in folders {
        let programs = files::files_in(folder, &is_program)?;
        if programs.is_empty() {
            return Err(format!("there is no Lucid program (.dpt) in `{}`", folder.display()));
        }
        found.extend(programs.into_iter().map(|path| (path.display().to_string(), path)));
    }
    Ok(found)
}
