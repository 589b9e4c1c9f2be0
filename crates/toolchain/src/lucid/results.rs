// SPDX-License-Identifier: Apache-2.0
//! What runs and replays print and write besides observations: verdicts, what was still to happen, result
//! files, and lines in large pieces.

use super::inputs::Ready;
use super::machine::Machine;
use crate::files;
use frontend::Console;
use lucid_reference::report::{PendingEvents, Verdict};
use lucid_reference::simulation::Outcome;
use lucid_reference::specification::Links;
use std::path::Path;

/// Collects lines and prints them in large pieces.
pub struct Printer<'c> {
    console: &'c dyn Console,
    text: String,
}

const PRINTED_AT_ONCE: usize = 32 << 10;

impl<'c> Printer<'c> {
    /// Without lines.
    pub fn new(console: &'c dyn Console) -> Printer<'c> {
        Printer { console, text: String::new() }
    }

    /// Adds a line or several.
    pub fn add(&mut self, line: &str) {
        self.text.push_str(line);
        if self.text.len() >= PRINTED_AT_ONCE {
            self.flush();
        }
    }

    /// Prints what was collected.
    pub fn flush(&mut self) {
        if !self.text.is_empty() {
            self.console.print(&self.text);
            self.text.clear();
        }
    }
}

/// What was still to happen if the run's time was over, and how to let it run longer.
pub fn still_to_happen(
    ready: &Ready,
    outcome: &Outcome,
    waiting: &PendingEvents,
    machine: &Machine,
) -> Option<String> {
    if *outcome != Outcome::TimeOver {
        return None;
    }
    let setup = &ready.setup;
    let told = waiting.text(setup.program(), setup.max_time_ps(), machine.next_input_ps())?;
    let specification = ready.specification_path.display();
    let longer = match ready.specification_path == ready.program_path {
        true => "--until TIME lets it run longer".to_string(),
        false => format!("`max time` in {specification}, or --until TIME, lets it run longer"),
    };
    Some(format!("{told}\n{longer}"))
}

/// Writes what was asked for, and says so.
pub fn write_results(
    results: &[(&Path, String)],
    ready: &Ready,
    console: &dyn Console,
) -> Result<(), String> {
    for (path, text) in results {
        write(path, text, ready)?;
    }
    let names: Vec<String> = results.iter().map(|(path, _)| path.display().to_string()).collect();
    if !console.is_quiet() && !names.is_empty() {
        console.note(&format!("written: {}", names.join(", ")));
    }
    Ok(())
}

/// Writes a result, never over an input; makes its folder if it is not there.
fn write(path: &Path, text: &str, ready: &Ready) -> Result<(), String> {
    if let Ok(target) = path.canonicalize() {
        let is_target = |input: &Path| input.canonicalize().is_ok_and(|input| input == target);
        let over = ready.files().any(|input| is_target(&input));
        if over {
            return Err(format!("`{}` is an input and is not overwritten", path.display()));
        }
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            format!("cannot make `{}`: {}", folder.display(), files::reason(&error))
        })?;
    }
    files::write_text(path, text)
}

/// Verdicts for people; only what failed if `quiet`.
pub fn verdicts_text(verdicts: &[Verdict], quiet: bool) -> String {
    let mut text = String::new();
    for verdict in verdicts.iter().filter(|verdict| !quiet || !verdict.passed) {
        let word = if verdict.passed { "ok    " } else { "FAILED" };
        text.push_str(&format!("{word}  {}\n", verdict.expected));
        for line in &verdict.found {
            text.push_str(&format!("        {line}\n"));
        }
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.passed).count();
    let passed = verdicts.len() - failed;
    if text.is_empty() {
        return text;
    }
    format!("\n{text}expectations: {passed} passed, {failed} failed\n")
}

/// All links, for the picture of the network; a full mesh of many switches has too many to draw.
pub fn links(ready: &Ready) -> Vec<[(u32, u32); 2]> {
    const MOST_DRAWN: u32 = 64;
    let switches = ready.setup.switches();
    match &ready.run.links {
        Links::List(list) => list.iter().map(|link| link.ends).collect(),
        Links::FullMesh if switches <= MOST_DRAWN => (0..switches)
            .flat_map(|one| (one + 1..switches).map(move |other| [(one, other), (other, one)]))
            .collect(),
        Links::FullMesh => Vec::new(),
    }
}
