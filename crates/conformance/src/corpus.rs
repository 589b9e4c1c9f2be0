// SPDX-License-Identifier: Apache-2.0
//! Judges the programs of a corpus (accepted, rejected, broken, crashed) and compares the verdicts with a baseline of
//! names, content hashes and verdicts. An accepted program must also survive printing, rewriting and inlining. The
//! caller finds and reads the files.

use crate::inlining::{self, Trial};
use crate::rewrites;
pub use frontend::{Outcome, Verdict};
use ir::ready::ReadyProgram;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use p4::typed::TypedProgram;
use sha2::{Digest, Sha256};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Judges one program.
pub fn run_one(
    name: &str,
    text: &str,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Outcome {
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let start = Instant::now();
    let judged = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let judged = judge(name, text, loader, options);
        (judged.0, judged.1, judged.2)
    }));
    let (verdict, architecture, elapsed) = judged.unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()))
            .unwrap_or_else(|| "unknown panic".to_string());
        (Verdict::Crashed(message), architecture_of_text(text), start.elapsed())
    });
    Outcome { name: name.to_string(), hash, verdict, architecture, elapsed }
}

fn judge(
    name: &str,
    text: &str,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> (Verdict, String, Duration) {
    let start = Instant::now();
    let mut compiled = p4::compile::compile(name, text.to_string(), loader, options);
    let ready = ReadyProgram::of(&mut compiled);
    let elapsed = start.elapsed();
    let architecture = architecture_of_text(text);
    if let Some(error) =
        compiled.diagnostics.iter().find(|each| each.severity == source::Severity::Error)
    {
        let (code, message) = (error.code.to_string(), error.message.clone());
        return (Verdict::Rejected { code, message }, architecture, elapsed);
    }
    let verdict = match &compiled.program {
        Some(typed) => survives(&compiled, typed, ready.as_ref(), loader, options).err(),
        None => None,
    };
    let verdict = match verdict {
        Some((step, message)) => Verdict::Broken { step, message },
        None => Verdict::Accepted,
    };
    (verdict, architecture, elapsed)
}

/// Checks what must hold for every accepted program. Its IR verifies and survives its text form; the printed and the
/// rewritten program are accepted and have the same IR; with calls inlined it has the same control-plane names.
fn survives(
    compiled: &p4::compile::Compilation,
    typed: &Arc<TypedProgram>,
    ready: Option<&ReadyProgram>,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Result<(), (&'static str, String)> {
    if let Some(ready) = ready {
        let program = ready.lowered();
        if let Err(errors) = ir::verify::verify(program) {
            let first = errors.first().map(|error| error.to_string()).unwrap_or_default();
            return Err(("verify", first));
        }
        if let Err(errors) = ir::verify::verify(ready.program()) {
            let first = errors.first().map(|error| error.to_string()).unwrap_or_default();
            return Err(("verify", format!("after simplification: {first}")));
        }
        let text = ir::text::print(program);
        match ir::text::parse(&text) {
            Ok(again) if ir::text::print(&again) == text && again == **program => {}
            Ok(_) => return Err(("ir text", "prints differently when read again".to_string())),
            Err(errors) => {
                let first = errors.first().map(|error| error.to_string()).unwrap_or_default();
                return Err(("ir text", first));
            }
        }
    }
    let whole = PreprocessorOptions::default();
    survives_printing(p4::printer::print(&typed.program), ready, loader, &whole)?;
    // The libraries are found where they were found; what the command line defines is in the text.
    let options = PreprocessorOptions { defines: Vec::new(), ..options.clone() };
    let text = p4::printer::print_with_includes(&compiled.map, &typed.program);
    survives_printing(text, ready, loader, &options)
        .map_err(|(step, message)| (step, format!("with includes: {message}")))?;
    let lowered = ready.map(|ready| &**ready.lowered());
    rewrites::check(typed, &compiled.map, lowered).map_err(|message| ("rewrite", message))?;
    match inlining::trial(typed, compiled.map.clone(), ready, loader, &options) {
        Trial::Broken(message) => Err(("inline", message)),
        Trial::Same(_) => Ok(()),
    }
}

/// Checks that the printed program is accepted and has the same IR.
fn survives_printing(
    printed: String,
    ready: Option<&ReadyProgram>,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Result<(), (&'static str, String)> {
    let mut again = p4::compile::compile("printed.p4", printed.clone(), loader, options);
    let ready_again = ReadyProgram::of(&mut again);
    if let Some(error) = again.diagnostics.iter().find(|e| e.severity == source::Severity::Error) {
        let place = again.map.location(error.primary.span).map_or(0, |place| place.line);
        return Err(("print", format!("line {place} of the printed program: {}", error.message)));
    }
    match (ready, ready_again, &again.program) {
        (Some(first), Some(second), _) => {
            if without_origins(first.lowered()) != without_origins(second.lowered()) {
                return Err(("print", "the printed program has another IR".to_string()));
            }
        }
        (None, None, Some(typed_again)) => {
            let includes = printed.lines().any(|line| line.starts_with("#include"));
            let text = match includes {
                true => p4::printer::print_with_includes(&again.map, &typed_again.program),
                false => p4::printer::print(&typed_again.program),
            };
            if text != printed {
                return Err(("print", "prints differently when read again".to_string()));
            }
        }
        _ => return Err(("print", "the printed program lowers differently".to_string())),
    }
    Ok(())
}

/// The text form with places taken out: the printed program has other lines.
fn without_origins(program: &ir::Program) -> String {
    let mut program = program.clone();
    for origin in &mut program.origins {
        origin.span = source::Span::NONE;
        origin.node = None;
    }
    ir::text::print(&program)
}

/// Which architecture a program is written for, by its includes.
pub fn architecture_of_text(text: &str) -> String {
    let mut core = false;
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let file = rest.trim().trim_matches(['<', '>', '"', ' ']);
        let file = file.split(['>', '"']).next().unwrap_or(file);
        let base = file.rsplit('/').next().unwrap_or(file);
        match base {
            "core.p4" => core = true,
            other => return other.strip_suffix(".p4").unwrap_or(other).to_string(),
        }
    }
    if core { "core".to_string() } else { "none".to_string() }
}

/// A baseline as text: a line a program with name, hash and verdict, sorted by name.
pub fn baseline_text(outcomes: &[Outcome]) -> String {
    let mut lines: Vec<String> = outcomes
        .iter()
        .map(|outcome| format!("{}\t{}\t{}\n", outcome.name, outcome.hash, outcome.verdict.word()))
        .collect();
    lines.sort();
    lines.concat()
}

/// What a baseline has about a program that is not so now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// File name.
    pub name: String,
    /// What changed, for a person.
    pub text: String,
}

/// Compares outcomes with a baseline's text.
pub fn compare(baseline: &str, outcomes: &[Outcome]) -> Result<Vec<Change>, String> {
    let mut before = std::collections::BTreeMap::new();
    for (number, line) in baseline.lines().enumerate() {
        let parts: Vec<&str> = line.split('\t').collect();
        let [name, hash, verdict] = parts.as_slice() else {
            return Err(format!(
                "line {}: a baseline has name, hash and verdict, with tabs between",
                number + 1
            ));
        };
        before.insert(*name, (*hash, *verdict));
    }
    let mut changes = Vec::new();
    for outcome in outcomes {
        let word = outcome.verdict.word();
        let text = match before.remove(outcome.name.as_str()) {
            None => format!("new: {word}"),
            Some((_, verdict)) if verdict != word => {
                let reason = match &outcome.verdict {
                    Verdict::Rejected { message, .. } | Verdict::Broken { message, .. } => {
                        format!(" ({message})")
                    }
                    Verdict::Crashed(message) => format!(" ({message})"),
                    Verdict::Accepted => String::new(),
                };
                format!("was {verdict}, is {word}{reason}")
            }
            Some((hash, _)) if hash != outcome.hash => format!("the file changed; still {word}"),
            Some(_) => continue,
        };
        changes.push(Change { name: outcome.name.clone(), text });
    }
    for (name, (_, verdict)) in before {
        changes.push(Change { name: name.to_string(), text: format!("gone; was {verdict}") });
    }
    Ok(changes)
}
