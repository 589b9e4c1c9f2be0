// SPDX-License-Identifier: Apache-2.0
//! `plane test` for specifications of Lucid runs: runs each and compares with its expectations.

use super::inputs::{Trouble, Wanted, ready};
use super::machine::Machine;
use super::run::{still_to_happen, verdicts_text};
use crate::arguments::Engine;
use crate::output;
use lucid::compile::Options;
use lucid::report::{Detail, Observers, TextLog, Verdicts, Waiting};
use lucid::simulation::Outcome;
use source::{Diagnostics, RenderOptions, SourceMap};
use std::path::Path;

/// How one test ended.
pub struct Tested {
    /// What is wrong, line by line; nothing if it passed.
    pub failures: Vec<String>,
    /// What happened, if asked for and the test failed.
    pub trace: String,
    /// Worth telling although it passed.
    pub notes: Vec<String>,
}

/// Runs one specification.
pub fn one(path: &Path, program: Option<&Path>, engine: Engine, trace: bool) -> Tested {
    let mut tested = Tested { failures: Vec::new(), trace: String::new(), notes: Vec::new() };
    let wanted = Wanted { program, specification: Some(path), ..Wanted::default() };
    let ready = match ready(&wanted, true) {
        Ok(ready) => ready,
        Err(Trouble::Usage(message) | Trouble::Message(message)) => {
            tested.failures.push(message);
            return tested;
        }
        Err(Trouble::Found(map, found)) => {
            tested.failures.push(rendered(&map, &found));
            return tested;
        }
    };
    let program = ready.setup.program().clone();
    let mut verdicts = match Verdicts::new(&program, &ready.run.expectations) {
        Ok(verdicts) => verdicts,
        Err(problems) => {
            tested.failures.push(rendered(&ready.map, &problems));
            return tested;
        }
    };
    if ready.run.expectations.is_empty() {
        tested.notes.push("it expects nothing: add `expect`".to_string());
    }
    let options = Options::default();
    let mut machine = match Machine::new(engine, options, false, &ready, true) {
        Ok(machine) => machine,
        Err(Trouble::Usage(message) | Trouble::Message(message)) => {
            tested.failures.push(message);
            return tested;
        }
        Err(Trouble::Found(map, found)) => {
            tested.failures.push(rendered(&map, &found));
            return tested;
        }
    };
    let mut happened = String::new();
    let mut waiting = Waiting::new();
    let outcome = {
        let mut log = TextLog::new(&program, Detail::Everything, |line| happened.push_str(line))
            .with_recirculation_ports(ready.setup.recirculation_ports());
        let mut observers = Observers::new();
        if trace {
            observers.push(&mut log);
        }
        observers.push(&mut waiting);
        machine.observe(&mut verdicts, &mut observers)
    };
    let counts = machine.counts();
    let verdicts =
        verdicts.finish(&counts, &|switch, global, index| machine.cell(switch, global, index));
    if verdicts.iter().any(|verdict| !verdict.passed) {
        tested.failures.push(verdicts_text(&verdicts, true).trim().to_string());
        tested.failures.extend(still_to_happen(&ready, &outcome, &waiting, &machine));
    }
    if let Outcome::Stopped(fault) = outcome {
        let mut list = Diagnostics::new();
        list.push(*fault);
        tested.failures.push(rendered(&ready.map, &list));
    }
    if !tested.failures.is_empty() {
        tested.trace = happened;
    }
    tested
}

fn rendered(map: &SourceMap, diagnostics: &Diagnostics) -> String {
    let text = output::diagnostics_text(map, diagnostics, RenderOptions { color: false });
    text.trim_end().to_string()
}
