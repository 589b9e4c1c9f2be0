// SPDX-License-Identifier: Apache-2.0
//! `plane atoms`: the least atom that does what each stateful codelet of a program does. Crate `atoms` searches and checks;
//! `report` writes the results.

mod report;

pub use report::{json, text};

use crate::{files, selection};
use ::atoms::text::codes;
use ::atoms::{Budget, Check, Codelet, Items, Setting, Template, Verdict, check, map};
use frontend::{Console, Failure, ProgramCodelets, ProgramFile, StatefulCodelet, Work};
use source::{Code, Diagnostic, Diagnostics, SourceMap, Span};
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

/// The end of the names of files of atoms and codelets.
pub const EXTENSION: &str = "atoms";

/// Time between two messages of a search.
const MESSAGE_INTERVAL: Duration = Duration::from_millis(200);

/// Ranges of values, by name.
#[derive(Clone, Debug)]
pub struct Range {
    /// `small` or `exact`.
    pub name: &'static str,
    /// The words and ranges.
    pub setting: Setting,
}

impl Range {
    /// Returns the ranges of Domino's compiler.
    pub fn small() -> Range {
        Range { name: "small", setting: Setting::small() }
    }

    /// Returns all words of 32 bits.
    pub fn exact() -> Range {
        Range { name: "exact", setting: Setting::exact(32) }
    }
}

/// What is asked of the codelets of a program.
pub struct Question<'q> {
    /// The atoms, from the least to the greatest.
    pub templates: &'q [Template],
    /// The ranges of values.
    pub ranges: &'q [Range],
    /// The time for one codelet and one atom.
    pub limit: Duration,
    /// Whether atoms behind the least one are tried too.
    pub is_complete: bool,
}

/// The answer for one atom.
pub struct Trial {
    /// The number of the atom.
    pub template: usize,
    /// Whether it does what the codelet does.
    pub verdict: Verdict,
    /// Whether the verdict was confirmed without the solver.
    pub check: Check,
    /// Conflicts in the solver.
    pub conflicts: u64,
    /// Configurations that were tried.
    pub proposals: u64,
}

/// The answers of a codelet at a range of values, in the order of the atoms.
pub struct Answers {
    /// The range.
    pub range: Range,
    /// An answer for each atom up to the least one, or for all atoms.
    pub trials: Vec<Trial>,
}

impl Answers {
    /// Returns the answer of the first atom that does what the codelet does.
    pub fn least(&self) -> Option<&Trial> {
        self.trials.iter().find(|trial| matches!(trial.verdict, Verdict::Yes(_)))
    }
}

/// The answers of a codelet.
pub struct Answered {
    /// The codelet.
    pub codelet: StatefulCodelet,
    /// Its answers at each range; none if no atom can be asked.
    pub answers: Vec<Answers>,
}

/// Returns the atoms of a file, or those of Banzai.
///
/// # Errors
///
/// The file cannot be read, is wrong, or has no atom.
pub fn templates(file: Option<&Path>) -> Result<Vec<Template>, Failure> {
    let Some(path) = file else { return Ok(::atoms::banzai()) };
    let (map, items, start) = items(path)?;
    if items.templates.is_empty() {
        let message = format!("`{}` has no atom", path.display());
        return Err(empty(map, start, codes::NO_ATOM, message, "write `atom NAME { ... }`"));
    }
    Ok(items.templates)
}

/// Reads a file of atoms and codelets. Returns the place of its beginning too.
fn items(path: &Path) -> Result<(SourceMap, Items, Span), Failure> {
    let mut map = SourceMap::new();
    let file = map.add(path.display().to_string(), files::read_text(path)?);
    let (items, diagnostics) = ::atoms::read(&map, file);
    match diagnostics.has_errors() {
        true => Err(Failure::Found(map, diagnostics)),
        false => Ok((map, items, Span::new(file, 0, 0))),
    }
}

fn empty(map: SourceMap, at: Span, code: Code, message: String, help: &str) -> Failure {
    let mut found = Diagnostics::new();
    found.push(Diagnostic::error(code, at, message).help(help));
    Failure::Found(map, found)
}

/// Returns the stateful codelets of a program, or those of a file of codelets.
///
/// # Errors
///
/// The file cannot be read, is wrong, or has no codelets.
pub fn codelets(
    program: &ProgramFile<'_>,
    console: &dyn Console,
) -> Result<ProgramCodelets, Failure> {
    if program.path.extension().is_none_or(|end| end != EXTENSION) {
        return selection::codelet_source_of(program.path)?.codelets(program, console);
    }
    let (map, items, start) = items(program.path)?;
    if items.codelets.is_empty() {
        let message = format!("`{}` has no codelet", program.path.display());
        return Err(empty(map, start, codes::NO_CODELET, message, "write `codelet NAME { ... }`"));
    }
    let codelets = items.codelets.into_iter().map(|codelet| StatefulCodelet {
        name: codelet.name.clone(),
        span: Span::NONE,
        stage: None,
        text: String::new(),
        codelet: Some(codelet),
    });
    Ok(ProgramCodelets { map, codelets: codelets.collect() })
}

/// Answers a question for each codelet.
///
/// # Errors
///
/// A check contradicts a verdict, which is a mistake in Planewright.
pub fn answer(
    codelets: Vec<StatefulCodelet>,
    question: &Question<'_>,
    console: &dyn Console,
) -> Result<Vec<Answered>, Failure> {
    let spinner = console.spinner(Work::Search, console.is_quiet());
    let mut all = Vec::new();
    for codelet in codelets {
        let mut answers = Vec::new();
        for range in question.ranges.iter().filter(|_| codelet.codelet.is_some()) {
            let mut trials = Vec::new();
            for (number, template) in question.templates.iter().enumerate() {
                let Some(asked) = &codelet.codelet else { break };
                let title = format!("{} at {} range: {}", codelet.name, range.name, template.name);
                spinner.set_message(title.clone());
                let say = |seconds: u64| spinner.set_message(format!("{title}, {seconds} s"));
                let trial = try_one(asked, (number, template), &range.setting, question, &say)?;
                let is_least = matches!(trial.verdict, Verdict::Yes(_));
                trials.push(trial);
                if is_least && !question.is_complete {
                    break;
                }
            }
            answers.push(Answers { range: range.clone(), trials });
        }
        all.push(Answered { codelet, answers });
    }
    Ok(all)
}

fn try_one(
    codelet: &Codelet,
    (number, template): (usize, &Template),
    setting: &Setting,
    question: &Question<'_>,
    say: &dyn Fn(u64),
) -> Result<Trial, Failure> {
    let (start, said) = (Instant::now(), Cell::new(Duration::ZERO));
    let is_late = || {
        let elapsed = start.elapsed();
        if elapsed > said.get() + MESSAGE_INTERVAL {
            said.set(elapsed);
            say(elapsed.as_secs());
        }
        elapsed > question.limit
    };
    let budget = Budget { conflicts: u64::MAX, interrupt: Some(&is_late) };
    let answer = map(codelet, template, setting, budget);
    let check = check(codelet, template, setting, &answer.verdict);
    if let Check::Differs(_) | Check::Invalid | Check::NotRefuted = check {
        let message = format!(
            "the verdict on `{}` and `{}` did not stand its check: this is a mistake in Planewright, please report it \
             with the program",
            codelet.name, template.name
        );
        return Err(Failure::Message(message));
    }
    Ok(Trial {
        template: number,
        verdict: answer.verdict,
        check,
        conflicts: answer.conflicts,
        proposals: answer.proposals,
    })
}
