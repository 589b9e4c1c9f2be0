// SPDX-License-Identifier: Apache-2.0
//! `plane run --events`: entries that a run gets while it goes on, a JSON object a line. The run waits for each line, and
//! goes on until just before the time of its entry, so the sender may answer to what it printed.

use super::executor::Executor;
use super::inputs::LucidRun;
use crate::files::reason;
use frontend::Console;
use lucid_reference::report::{Observers, Verdicts};
use lucid_reference::simulation::Outcome;
use lucid_reference::specification::{Input, LiveEntry, codes, read_entry};
use source::quantity::nanoseconds;
use source::{Diagnostic, FileId, SourceMap, Span};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Entries from a file or from standard input.
pub struct LiveEvents<'r> {
    run: &'r LucidRun,
    console: &'r dyn Console,
    lines: Box<dyn BufRead>,
    name: String,
    /// The last line and its number.
    line: String,
    number: usize,
    /// Everything before this time has happened.
    now_ps: u64,
    /// When an entry without a time happens.
    next_ps: u64,
    is_json: bool,
    has_errors: bool,
}

impl<'r> LiveEvents<'r> {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn open(
        path: &Path,
        is_json: bool,
        run: &'r LucidRun,
        console: &'r dyn Console,
    ) -> Result<LiveEvents<'r>, String> {
        let (lines, name): (Box<dyn BufRead>, String) = match path == Path::new("-") {
            true => (Box::new(BufReader::new(std::io::stdin())), "standard input".to_string()),
            false => {
                let file = File::open(path).map_err(|error| {
                    format!("cannot read `{}`: {}", path.display(), reason(&error))
                })?;
                (Box::new(BufReader::new(file)), path.display().to_string())
            }
        };
        Ok(LiveEvents {
            run,
            console,
            lines,
            name,
            line: String::new(),
            number: 0,
            now_ps: 0,
            next_ps: 0,
            is_json,
            has_errors: false,
        })
    }

    /// Runs with the entries, and to the end after the last of them.
    pub fn observe(
        &mut self,
        executor: &mut Executor,
        verdicts: &mut Verdicts<'_>,
        observers: &mut Observers<'_>,
    ) -> Outcome {
        let mut times = verdicts.times().into();
        while let Some(entry) = self.next_entry() {
            let until_ps = match &entry {
                LiveEntry::Input(input) => input.time_ps.unwrap_or(self.next_ps).checked_sub(1),
                LiveEntry::Until(time_ps) => Some(*time_ps),
            };
            let until_ps = until_ps.map(|until_ps| until_ps.min(self.run.setup.max_time_ps()));
            if until_ps.is_some() {
                let outcome = executor.advance(until_ps, &mut times, verdicts, observers);
                if let Outcome::Stopped(_) = outcome {
                    return outcome;
                }
            }
            match entry {
                LiveEntry::Input(input) => self.inject(executor, *input),
                LiveEntry::Until(time_ps) => {
                    self.now_ps = time_ps.saturating_add(1);
                    self.next_ps = self.next_ps.max(self.now_ps);
                    if self.is_json {
                        self.console
                            .print(&format!("{{\"kind\":\"until\",\"time_ps\":{time_ps}}}\n"));
                    }
                }
            }
        }
        executor.advance(None, &mut times, verdicts, observers)
    }

    /// Whether a line was wrong.
    pub fn has_errors(&self) -> bool {
        self.has_errors
    }

    fn inject(&mut self, executor: &mut Executor, mut input: Input) {
        let time_ps = input.time_ps.unwrap_or(self.next_ps);
        input.time_ps = Some(time_ps);
        self.now_ps = time_ps;
        self.next_ps = time_ps.saturating_add(self.run.specification.default_input_gap_ps);
        if executor.inject(&input).is_err() {
            // The message is about the program's text too.
            let (map, file) = self.line_in(self.run.map.clone());
            if let (Some(LiveEntry::Input(again)), _) =
                read_entry(&map, file, &self.run.specification)
                && let Err(found) = executor.inject(&again)
            {
                self.console.diagnostics(&map, &found);
            }
            self.has_errors = true;
        }
    }

    /// The line, added to a map of sources.
    fn line_in(&self, mut map: SourceMap) -> (SourceMap, FileId) {
        let file = map.add(format!("{}, line {}", self.name, self.number), self.line.clone());
        (map, file)
    }

    /// The next entry that is right; `None` at the end. Empty lines are left out.
    fn next_entry(&mut self) -> Option<LiveEntry> {
        loop {
            self.line.clear();
            self.number += 1;
            match self.lines.read_line(&mut self.line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    let (name, number, reason) = (&self.name, self.number, reason(&error));
                    self.console
                        .error(&format!("line {number} of {name} cannot be read: {reason}"));
                    self.has_errors = true;
                    return None;
                }
            }
            if self.line.trim().is_empty() {
                continue;
            }
            let (map, file) = self.line_in(SourceMap::new());
            let (entry, mut found) = read_entry(&map, file, &self.run.specification);
            let time_ps = match &entry {
                Some(LiveEntry::Input(input)) => input.time_ps,
                Some(LiveEntry::Until(time_ps)) => time_ps.checked_add(1),
                None => None,
            };
            if time_ps.is_some_and(|time_ps| time_ps < self.now_ps) {
                let message =
                    format!("this time is over: the run is at {} ns", nanoseconds(self.now_ps));
                let place = Span::new(file, 0, self.line.trim_end().len() as u32);
                found.push(
                    Diagnostic::error(codes::CONFLICT, place, message)
                        .help("write the lines in the order of their times"),
                );
            }
            self.console.diagnostics(&map, &found);
            match entry.filter(|_| !found.has_errors()) {
                Some(entry) => return Some(entry),
                None => self.has_errors = true,
            }
        }
    }
}
