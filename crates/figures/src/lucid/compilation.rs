// SPDX-License-Identifier: Apache-2.0
//! Measures the compilation of a program: time by pass, memory, stages, or the error that refuses it. The caller
//! compiles each program in a process of its own, so that the peak of memory is that of one compilation, and passes
//! the [`Outcome`] between processes as JSON.

use super::published::published_title;
use super::tofino::{self, p4_lines};
use crate::Table;
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::syntax::Loader;
use lucid_compiler::{Backend, Compiled, Options, support, tna, v1model};
use lucid_network::ready;
use p4::preprocessor::PreprocessorOptions;
use pisa::Problem;
use serde_json::{Value, json};
use source::{Diagnostics, Severity, SourceMap};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The target and layout that a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetChoice {
    /// To v1model.
    V1Model,
    /// To Tofino with the greedy layout.
    Greedy,
    /// To Tofino with the exact layout.
    Exact,
}

impl TargetChoice {
    /// All choices.
    pub const ALL: [TargetChoice; 3] =
        [TargetChoice::V1Model, TargetChoice::Greedy, TargetChoice::Exact];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            TargetChoice::V1Model => "v1model",
            TargetChoice::Greedy => "tna",
            TargetChoice::Exact => "exact",
        }
    }

    /// Returns the choice of this name.
    pub fn named(name: &str) -> Option<TargetChoice> {
        TargetChoice::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

/// The steps of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The program is read, checked and elaborated.
    Check,
    /// The program is compiled.
    Compile,
    /// The printed program is read again, checked and lowered.
    ReadAgain,
}

impl Step {
    const ALL: [Step; 3] = [Step::Check, Step::Compile, Step::ReadAgain];

    fn name(self) -> &'static str {
        match self {
            Step::Check => "check",
            Step::Compile => "compile",
            Step::ReadAgain => "read again",
        }
    }
}

/// The first error of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The step that failed.
    pub step: Step,
    /// The diagnostic's code.
    pub code: String,
    /// `file:line:column`; empty if the diagnostic has no place.
    pub place: String,
    /// The message.
    pub message: String,
    /// The number of errors.
    pub errors: u64,
}

impl Refusal {
    /// Takes the first error of these diagnostics.
    pub fn of(step: Step, map: &SourceMap, found: &Diagnostics) -> Refusal {
        let errors = || found.iter().filter(|one| one.severity == Severity::Error);
        let first = errors().next();
        let place = first.and_then(|first| map.location(first.primary.span));
        Refusal {
            step,
            code: first.map_or(String::new(), |first| first.code.0.to_string()),
            place: place
                .map_or(String::new(), |at| format!("{}:{}:{}", at.file, at.line, at.column)),
            message: first.map_or(String::new(), |first| first.message.clone()),
            errors: errors().count() as u64,
        }
    }
}

/// The result of one compilation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Passes in order with their time in milliseconds.
    pub passes: Vec<(String, f64)>,
    /// Largest resident set of the process when the program was compiled, in KiB.
    pub peak_kib: Option<u64>,
    /// Stages of the layout.
    pub stages: Option<u64>,
    /// Whether a layout with fewer stages can exist.
    pub optimality: String,
    /// Lines of P4_16 that are neither blank nor comments.
    pub lines: u64,
    /// Warnings of the checker for the printed program.
    pub warnings: u64,
    /// The error, if the program was refused.
    pub refusal: Option<Refusal>,
}

impl Outcome {
    /// Creates the outcome of a refused program.
    pub fn refused(refusal: Refusal) -> Outcome {
        Outcome { refusal: Some(refusal), ..Outcome::default() }
    }

    /// Returns the time of all passes, in milliseconds.
    pub fn total_ms(&self) -> f64 {
        self.passes.iter().map(|pass| pass.1).sum()
    }

    fn pass_ms(&self, name: &str) -> f64 {
        self.passes.iter().filter(|pass| pass.0 == name).map(|pass| pass.1).sum()
    }

    /// Whether the program passed a step.
    pub fn passed(&self, step: Step) -> bool {
        self.refusal.as_ref().is_none_or(|refusal| refusal.step > step)
    }

    /// Writes the outcome for another process.
    pub fn to_json(&self) -> String {
        let refusal = self.refusal.as_ref().map(|refusal| {
            json!({
                "step": refusal.step.name(),
                "code": refusal.code,
                "place": refusal.place,
                "message": refusal.message,
                "errors": refusal.errors,
            })
        });
        json!({
            "passes": self.passes,
            "peak_kib": self.peak_kib,
            "stages": self.stages,
            "optimality": self.optimality,
            "lines": self.lines,
            "warnings": self.warnings,
            "refusal": refusal,
        })
        .to_string()
    }

    /// Reads the text of [`Outcome::to_json`]; `None` for any other text.
    pub fn from_json(text: &str) -> Option<Outcome> {
        let value: Value = serde_json::from_str(text).ok()?;
        let string = |value: &Value| value.as_str().map(str::to_string);
        let pass = |pass: &Value| Some((string(&pass[0])?, pass[1].as_f64()?));
        let refusal = match &value["refusal"] {
            Value::Null => None,
            refusal => Some(Refusal {
                step: Step::ALL.into_iter().find(|step| refusal["step"] == step.name())?,
                code: string(&refusal["code"])?,
                place: string(&refusal["place"])?,
                message: string(&refusal["message"])?,
                errors: refusal["errors"].as_u64()?,
            }),
        };
        Some(Outcome {
            passes: value["passes"].as_array()?.iter().map(pass).collect::<Option<_>>()?,
            peak_kib: value["peak_kib"].as_u64(),
            stages: value["stages"].as_u64(),
            optimality: string(&value["optimality"])?,
            lines: value["lines"].as_u64()?,
            warnings: value["warnings"].as_u64()?,
            refusal,
        })
    }
}

/// The text of a program to compile.
pub struct Source<'s> {
    /// The name of its file.
    pub name: &'s str,
    /// Its text.
    pub text: String,
    /// Loads included files.
    pub loader: &'s dyn Loader,
    /// Values of its symbolics.
    pub symbolics: &'s Symbolics,
}

const READ: &str = "read, check";
const ELABORATE: &str = "elaborate";
const NORMALIZE: &str = "normalize";
const STATEMENTS: &str = "statements";
const LAYOUT: &str = "layout";
const WRITE: &str = "write";

/// Measures the wall-clock time of passes.
struct PassTimer {
    outcome: Outcome,
}

impl PassTimer {
    fn pass<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let made = work();
        self.outcome.passes.push((name.to_string(), begin.elapsed().as_secs_f64() * 1e3));
        made
    }
}

/// Compiles a program for one target. `exact_limit` bounds the search of [`TargetChoice::Exact`]; `peak_kib` reads the
/// peak memory of this process.
pub fn compile_measured(
    source: Source<'_>,
    choice: TargetChoice,
    exact_limit: Duration,
    peak_kib: &dyn Fn() -> Option<u64>,
) -> Outcome {
    let mut map = SourceMap::new();
    let mut timer = PassTimer { outcome: Outcome::default() };
    let Source { name, text, loader, symbolics } = source;
    let analysis = timer.pass(READ, || front::analyse(&mut map, name, text, loader));
    let program = timer.pass(ELABORATE, || analysis.elaborate(symbolics, &[]));
    drop(analysis);
    let made = match program {
        Ok(program) => compiled(&program, &map, choice, exact_limit, &mut timer)
            .map_err(|found| Refusal::of(Step::Compile, &map, &found)),
        Err(found) => Err(Refusal::of(Step::Check, &map, &found)),
    };
    let mut outcome = timer.outcome;
    outcome.peak_kib = peak_kib();
    match made {
        Ok(compiled) => read_again(&compiled, &mut outcome),
        Err(refusal) => outcome.refusal = Some(refusal),
    }
    outcome
}

fn compiled(
    program: &Program,
    map: &SourceMap,
    choice: TargetChoice,
    exact_limit: Duration,
    timer: &mut PassTimer,
) -> Result<Compiled, Diagnostics> {
    if choice == TargetChoice::V1Model {
        let options = Options::default();
        let target = Backend::V1Model;
        let supported = timer.pass(NORMALIZE, || support::normal_form(program, target))?;
        return timer.pass(WRITE, || v1model::compile(&supported.program, map.clone(), &options));
    }
    let options = tofino::options();
    let target = tna::tofino()?;
    let supported = timer.pass(NORMALIZE, || support::normal_form(program, Backend::Tna))?;
    let prepared = timer.pass(STATEMENTS, || tna::prepare(&supported.program, &options))?;
    let lay_out = |problem: &Problem| match choice {
        TargetChoice::Exact => {
            let begin = Instant::now();
            pisa::exact::exact(problem, &target, &mut |_| begin.elapsed() > exact_limit)
        }
        _ => pisa::greedy::greedy(problem, &target),
    };
    let layout = timer.pass(LAYOUT, || lay_out(&prepared.problem))?;
    timer.outcome.stages = Some(layout.stages.len() as u64);
    timer.outcome.optimality = layout.optimality.to_string();
    let write = || tna::write(&supported.program, prepared, layout, map.clone(), &options);
    timer.pass(WRITE, write).map(|made| made.compiled)
}

/// Checks and lowers the printed program.
fn read_again(compiled: &Compiled, outcome: &mut Outcome) {
    let text = compiled.built.print();
    outcome.lines = p4_lines(&text).count() as u64;
    let options = PreprocessorOptions::default();
    let again = p4::compile::compile("printed.p4", text, &p4::interfaces::InterfacesOnly, &options);
    let errors = again.diagnostics.iter().filter(|one| one.severity == Severity::Error).count();
    outcome.warnings = (again.diagnostics.len() - errors) as u64;
    if errors > 0 {
        outcome.refusal = Some(Refusal::of(Step::ReadAgain, &again.map, &again.diagnostics));
    } else if let Err(error) = ready(compiled).map(|ready| ready.program().clone()) {
        let found = error.diagnostics();
        outcome.refusal = Some(Refusal::of(Step::ReadAgain, &compiled.built.map, &found));
    }
}

/// Outcomes of a program, by target.
pub type Outcomes = BTreeMap<TargetChoice, Outcome>;

fn mebibytes(kib: Option<u64>) -> String {
    kib.map_or("-".to_string(), |kib| format!("{:.0} MB", kib as f64 * 1024.0 / 1e6))
}

/// Returns the table of `--compile`: time and memory of compiling each application.
pub fn compile_table(applications: &[(String, Outcomes)]) -> Table {
    let passes = [READ, ELABORATE, NORMALIZE, STATEMENTS, LAYOUT, WRITE];
    let mut columns = vec!["application", "v1model", "memory", "tna"];
    columns.extend(passes);
    columns.extend(["memory", "exact layout", "stages", "memory"]);
    let mut table = Table::new(
        "Compile time and memory: the reference's compiler takes 12.6 to 196 s and 4.8 to 11.6 GB for \
         each of these applications",
        &columns,
    );
    let milliseconds = |ms: f64| format!("{ms:.0} ms");
    let nothing = Outcome::default();
    let (mut worst_ms, mut worst_kib) = (0.0f64, 0);
    for (name, outcomes) in applications {
        let of = |choice: TargetChoice| outcomes.get(&choice).unwrap_or(&nothing);
        let total = |outcome: &Outcome| match &outcome.refusal {
            Some(refusal) => refusal.code.clone(),
            None => milliseconds(outcome.total_ms()),
        };
        let (v1model, greedy, exact) =
            (of(TargetChoice::V1Model), of(TargetChoice::Greedy), of(TargetChoice::Exact));
        for outcome in [v1model, greedy] {
            worst_ms = worst_ms.max(outcome.total_ms());
            worst_kib = worst_kib.max(outcome.peak_kib.unwrap_or(0));
        }
        let mut row = vec![published_title(name), total(v1model), mebibytes(v1model.peak_kib)];
        row.push(total(greedy));
        row.extend(passes.map(|pass| milliseconds(greedy.pass_ms(pass))));
        row.push(mebibytes(greedy.peak_kib));
        row.push(milliseconds(exact.pass_ms(LAYOUT)));
        row.push(match (greedy.stages, exact.stages) {
            (Some(greedy), Some(exact)) => {
                let proved = exact.to_string();
                match of(TargetChoice::Exact).optimality.as_str() {
                    "no layout has fewer" => format!("{greedy}, {proved}"),
                    other => format!("{greedy}, {proved} ({other})"),
                }
            }
            _ => "-".to_string(),
        });
        row.push(mebibytes(exact.peak_kib));
        table.row(row);
    }
    table.remark(format!(
        "At most {worst_ms:.0} ms and {} with the greedy layout. Each is compiled in a process of its own; \
         times are from the text to checked P4_16, memory is the largest resident set of the process \
         until then, with the program of this command itself. Columns between tna and its memory are its \
         passes: `statements` makes atomic statements and their dependencies, `write` prints tables and \
         checks them. Stages are the greedy layout's and the exact one's. Times of one run: run it \
         again on a quiet machine.",
        mebibytes(Some(worst_kib))
    ));
    table
}

/// Returns the table of `--corpus`: which programs of folders compile.
pub fn corpus_table(programs: &[(String, Outcomes)]) -> Table {
    let choices = [TargetChoice::V1Model, TargetChoice::Greedy];
    let mut table = Table::new(
        "Programs that check and compile",
        &["program", "check", "v1model", "tna", "stages", "peak memory", "time"],
    );
    let verdict = |outcome: Option<&Outcome>, step: Step| match outcome {
        None => "-".to_string(),
        Some(outcome) => match &outcome.refusal {
            Some(refusal) if refusal.step < step => String::new(),
            Some(refusal) if refusal.step == step || step == Step::Compile => refusal.code.clone(),
            _ if step == Step::Compile && outcome.warnings > 0 => {
                format!("{} warnings", outcome.warnings)
            }
            _ => "ok".to_string(),
        },
    };
    for (name, outcomes) in programs {
        let of = |choice: TargetChoice| outcomes.get(&choice);
        let memory = outcomes.values().filter_map(|outcome| outcome.peak_kib).max();
        let time_ms = outcomes.values().map(Outcome::total_ms).fold(0.0, f64::max);
        let stages = of(TargetChoice::Greedy).and_then(|outcome| outcome.stages);
        table.row([
            name.clone(),
            verdict(of(TargetChoice::V1Model), Step::Check),
            verdict(of(TargetChoice::V1Model), Step::Compile),
            verdict(of(TargetChoice::Greedy), Step::Compile),
            stages.map_or(String::new(), |stages| stages.to_string()),
            mebibytes(memory),
            format!("{time_ms:.0} ms"),
        ]);
    }
    for choice in choices {
        let of = || programs.iter().filter_map(|program| program.1.get(&choice));
        let passed = |step: Step| of().filter(|outcome| outcome.passed(step)).count();
        let quiet =
            of().filter(|outcome| outcome.refusal.is_none() && outcome.warnings == 0).count();
        table.remark(format!(
            "{}: of {} programs {} check, {} compile; the checker accepts {} of the printed programs, \
             {quiet} without a warning. Peak memory {}.",
            choice.name(),
            programs.len(),
            passed(Step::Check),
            passed(Step::Compile),
            passed(Step::ReadAgain),
            mebibytes(of().filter_map(|outcome| outcome.peak_kib).max()),
        ));
    }
    refusals(&mut table, programs);
    table
}

/// A line for each program that is refused.
fn refusals(table: &mut Table, programs: &[(String, Outcomes)]) {
    let mut lines: Vec<String> = Vec::new();
    let mut without = 0;
    for (name, outcomes) in programs {
        for (choice, outcome) in outcomes {
            let Some(refusal) = &outcome.refusal else { continue };
            // An error of the checker is the same for all targets and printed once.
            let of_check = refusal.step == Step::Check;
            if of_check && outcomes.keys().next() != Some(choice) {
                continue;
            }
            without += usize::from(refusal.code.is_empty() || refusal.place.is_empty());
            let step = if of_check { refusal.step.name() } else { choice.name() };
            let place = if refusal.place.is_empty() { "no place" } else { &refusal.place };
            lines.push(format!(
                "{step:8} {} {place}: {}{}",
                if refusal.code.is_empty() { "no code" } else { &refusal.code },
                refusal.message,
                if place.starts_with(name.as_str()) { String::new() } else { format!(" ({name})") },
            ));
        }
    }
    lines.sort();
    if !lines.is_empty() {
        table.remark(format!("Refused, with the first error of each:\n{}", lines.join("\n")));
    }
    table.remark(format!("Refusals without a code or a place: {without}."));
}

#[cfg(test)]
mod tests {
    use super::*;
    use lucid::syntax::NoFiles;

    fn outcome(text: &str, choice: TargetChoice) -> Outcome {
        let symbolics = Symbolics::default();
        let text = text.to_string();
        let source = Source { name: "p.dpt", text, loader: &NoFiles, symbolics: &symbolics };
        compile_measured(source, choice, Duration::from_secs(10), &|| Some(1000))
    }

    const RIGHT: &str = "global Array.t<32> a = Array.create(8);
        memop plus(int stored, int x) { return stored + x; }
        event e(int x);
        handle e(int x) { Array.setm(a, x[2:0], plus, 1); generate e(x + 1); }";

    #[test]
    fn programs_compile_all_ways_and_go_through_json() {
        for choice in TargetChoice::ALL {
            let found = outcome(RIGHT, choice);
            assert_eq!((&found.refusal, found.warnings), (&None, 0), "{choice:?}");
            assert_eq!(found.stages.is_some(), choice != TargetChoice::V1Model);
            assert!(found.total_ms() > 0.0 && found.lines > 50);
            assert_eq!(Outcome::from_json(&found.to_json()), Some(found));
        }
    }

    #[test]
    fn refusals_name_the_step_that_failed() {
        let wrong = outcome("event e(int x);\nhandle e(int x) { y = 1; }", TargetChoice::Greedy);
        let refusal = wrong.refusal.clone().expect("refused");
        assert_eq!((refusal.step, refusal.place.as_str()), (Step::Check, "p.dpt:2:19"));
        assert_eq!(Outcome::from_json(&wrong.to_json()), Some(wrong.clone()));
        let seed =
            "event e(int x, int s);\nhandle e(int x, int s) { generate e(hash<32>(s, x), s); }";
        let refused = outcome(seed, TargetChoice::Greedy);
        assert!(!refused.passed(Step::Compile) && refused.passed(Step::Check));
        let programs = [
            ("p.dpt".to_string(), [(TargetChoice::Greedy, wrong)].into()),
            ("q.dpt".to_string(), [(TargetChoice::Greedy, refused)].into()),
        ];
        let text = corpus_table(&programs).to_string();
        assert!(text.contains("tna: of 2 programs 1 check, 0 compile"), "{text}");
        assert!(text.contains("tna      LU-E0762 p.dpt:2:37"), "{text}");
        assert!(text.contains("Refusals without a code or a place: 0."), "{text}");
    }
}
