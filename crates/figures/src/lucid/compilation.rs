// SPDX-License-Identifier: Apache-2.0
//! What it takes to compile a program, and what comes of it: time by pass, memory, stages, or why not.
//! One compilation is measured in a process of its own, so that memory is that of the one; who starts
//! processes and looks at their memory is not here. What a process found goes through JSON.

use super::Table;
use super::stages::{p4_lines, published_title};
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

/// The recirculation port of a Tofino.
pub(super) const TOFINO_RECIRCULATION_PORT: u32 = 68;

/// How a program is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// To v1model.
    V1Model,
    /// To Tofino with the greedy layout.
    Greedy,
    /// To Tofino with the exact layout.
    Exact,
}

impl Way {
    /// All.
    pub const ALL: [Way; 3] = [Way::V1Model, Way::Greedy, Way::Exact];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Way::V1Model => "v1model",
            Way::Greedy => "tna",
            Way::Exact => "exact",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Way> {
        Way::ALL.into_iter().find(|way| way.name() == name)
    }
}

/// How far a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It is read, checked and elaborated.
    Check,
    /// It is compiled.
    Compile,
    /// What was printed is read again, checked and lowered.
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

/// Why a program is refused: the first error.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Where it ended.
    pub step: Step,
    /// The diagnostic's code.
    pub code: String,
    /// `file:line:column`; empty if the diagnostic has no place.
    pub place: String,
    /// What it says.
    pub message: String,
    /// How many errors there are.
    pub errors: u64,
}

impl Refusal {
    /// By the first error of these.
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

/// What came of one compilation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Passes in order with their time in milliseconds.
    pub passes: Vec<(String, f64)>,
    /// Largest resident set of the process when the program was compiled, in KiB.
    pub peak_kib: Option<u64>,
    /// Stages of the layout.
    pub stages: Option<u64>,
    /// What is known of fewer stages, for people.
    pub optimality: String,
    /// Lines of P4_16 that are neither blank nor comments.
    pub lines: u64,
    /// What the checker warns of when it reads what was printed.
    pub warnings: u64,
    /// Why there is no program.
    pub refusal: Option<Refusal>,
}

impl Outcome {
    /// A refusal.
    pub fn refused(refusal: Refusal) -> Outcome {
        Outcome { refusal: Some(refusal), ..Outcome::default() }
    }

    /// All passes together, in milliseconds.
    pub fn total_ms(&self) -> f64 {
        self.passes.iter().map(|pass| pass.1).sum()
    }

    fn pass_ms(&self, name: &str) -> f64 {
        self.passes.iter().filter(|pass| pass.0 == name).map(|pass| pass.1).sum()
    }

    /// Whether it came as far as the end of a step.
    pub fn passed(&self, step: Step) -> bool {
        self.refusal.as_ref().is_none_or(|refusal| refusal.step > step)
    }

    /// For another process.
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

    /// From another process; `None` if it is not what [`Outcome::to_json`] writes.
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

/// A program to be compiled, as text.
pub struct Source<'s> {
    /// What the user calls it.
    pub name: &'s str,
    /// Its text.
    pub text: String,
    /// Where included files come from.
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

/// Measures passes one after the other.
struct Watch {
    outcome: Outcome,
}

impl Watch {
    fn pass<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let made = work();
        self.outcome.passes.push((name.to_string(), begin.elapsed().as_secs_f64() * 1e3));
        made
    }
}

/// Compiles a program one way. `most_exact` bounds the search of [`Way::Exact`]; `peak_kib` looks at the
/// memory of this process.
pub fn compile_measured(
    source: Source<'_>,
    way: Way,
    most_exact: Duration,
    peak_kib: &dyn Fn() -> Option<u64>,
) -> Outcome {
    let mut map = SourceMap::new();
    let mut watch = Watch { outcome: Outcome::default() };
    let Source { name, text, loader, symbolics } = source;
    let analysis = watch.pass(READ, || front::analyse(&mut map, name, text, loader));
    let program = watch.pass(ELABORATE, || analysis.elaborate(symbolics, &[]));
    drop(analysis);
    let made = match program {
        Ok(program) => compiled(&program, &map, way, most_exact, &mut watch)
            .map_err(|found| Refusal::of(Step::Compile, &map, &found)),
        Err(found) => Err(Refusal::of(Step::Check, &map, &found)),
    };
    let mut outcome = watch.outcome;
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
    way: Way,
    most_exact: Duration,
    watch: &mut Watch,
) -> Result<Compiled, Diagnostics> {
    if way == Way::V1Model {
        let options = Options::default();
        let target = Backend::V1Model;
        let supported = watch.pass(NORMALIZE, || support::normal_form(program, target))?;
        return watch.pass(WRITE, || v1model::compile(&supported.program, map.clone(), &options));
    }
    let options = Options {
        target: Backend::Tna,
        recirculation_port: TOFINO_RECIRCULATION_PORT,
        ..Options::default()
    };
    let target = tna::tofino()?;
    let supported = watch.pass(NORMALIZE, || support::normal_form(program, Backend::Tna))?;
    let prepared = watch.pass(STATEMENTS, || tna::prepare(&supported.program, &options))?;
    let lay_out = |problem: &Problem| match way {
        Way::Exact => {
            let begin = Instant::now();
            pisa::exact::exact(problem, &target, &mut |_| begin.elapsed() > most_exact)
        }
        _ => pisa::greedy::greedy(problem, &target),
    };
    let layout = watch.pass(LAYOUT, || lay_out(&prepared.problem))?;
    watch.outcome.stages = Some(layout.stages.len() as u64);
    watch.outcome.optimality = layout.optimality.to_string();
    let write = || tna::write(&supported.program, prepared, layout, map.clone(), &options);
    watch.pass(WRITE, write).map(|made| made.compiled)
}

/// What the P4_16 checker and the lowering say of what is printed.
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

/// Outcomes of a program, by the ways that it was compiled.
pub type Outcomes = BTreeMap<Way, Outcome>;

fn mebibytes(kib: Option<u64>) -> String {
    kib.map_or("-".to_string(), |kib| format!("{:.0} MB", kib as f64 * 1024.0 / 1e6))
}

/// Time and memory of compiling each application.
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
        let of = |way: Way| outcomes.get(&way).unwrap_or(&nothing);
        let total = |outcome: &Outcome| match &outcome.refusal {
            Some(refusal) => refusal.code.clone(),
            None => milliseconds(outcome.total_ms()),
        };
        let (v1model, greedy, exact) = (of(Way::V1Model), of(Way::Greedy), of(Way::Exact));
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
                match of(Way::Exact).optimality.as_str() {
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

/// What becomes of the programs of folders.
pub fn corpus_table(programs: &[(String, Outcomes)]) -> Table {
    let ways = [Way::V1Model, Way::Greedy];
    let mut table = Table::new(
        "Programs by what becomes of them",
        &["program", "check", "v1model", "tna", "stages", "most memory", "time"],
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
        let of = |way: Way| outcomes.get(&way);
        let memory = outcomes.values().filter_map(|outcome| outcome.peak_kib).max();
        let time_ms = outcomes.values().map(Outcome::total_ms).fold(0.0, f64::max);
        let stages = of(Way::Greedy).and_then(|outcome| outcome.stages);
        table.row([
            name.clone(),
            verdict(of(Way::V1Model), Step::Check),
            verdict(of(Way::V1Model), Step::Compile),
            verdict(of(Way::Greedy), Step::Compile),
            stages.map_or(String::new(), |stages| stages.to_string()),
            mebibytes(memory),
            format!("{time_ms:.0} ms"),
        ]);
    }
    for way in ways {
        let of = || programs.iter().filter_map(|program| program.1.get(&way));
        let passed = |step: Step| of().filter(|outcome| outcome.passed(step)).count();
        let quiet =
            of().filter(|outcome| outcome.refusal.is_none() && outcome.warnings == 0).count();
        table.remark(format!(
            "{}: of {} programs {} check, {} compile; of what was printed for them the checker accepts {}, \
             {quiet} without a warning. Most memory {}.",
            way.name(),
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
        for (way, outcome) in outcomes {
            let Some(refusal) = &outcome.refusal else { continue };
            // What no target can compile is told once.
            let of_check = refusal.step == Step::Check;
            if of_check && outcomes.keys().next() != Some(way) {
                continue;
            }
            without += usize::from(refusal.code.is_empty() || refusal.place.is_empty());
            let step = if of_check { refusal.step.name() } else { way.name() };
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

    fn outcome(text: &str, way: Way) -> Outcome {
        let symbolics = Symbolics::default();
        let text = text.to_string();
        let source = Source { name: "p.dpt", text, loader: &NoFiles, symbolics: &symbolics };
        compile_measured(source, way, Duration::from_secs(10), &|| Some(1000))
    }

    const RIGHT: &str = "global Array.t<32> a = Array.create(8);
        memop plus(int stored, int x) { return stored + x; }
        event e(int x);
        handle e(int x) { Array.setm(a, x[2:0], plus, 1); generate e(x + 1); }";

    #[test]
    fn programs_compile_all_ways_and_go_through_json() {
        for way in Way::ALL {
            let found = outcome(RIGHT, way);
            assert_eq!((&found.refusal, found.warnings), (&None, 0), "{way:?}");
            assert_eq!(found.stages.is_some(), way != Way::V1Model);
            assert!(found.total_ms() > 0.0 && found.lines > 50);
            assert_eq!(Outcome::from_json(&found.to_json()), Some(found));
        }
    }

    #[test]
    fn refusals_say_how_far_a_program_came() {
        let wrong = outcome("event e(int x);\nhandle e(int x) { y = 1; }", Way::Greedy);
        let refusal = wrong.refusal.clone().expect("refused");
        assert_eq!((refusal.step, refusal.place.as_str()), (Step::Check, "p.dpt:2:19"));
        assert_eq!(Outcome::from_json(&wrong.to_json()), Some(wrong.clone()));
        let seed =
            "event e(int x, int s);\nhandle e(int x, int s) { generate e(hash<32>(s, x), s); }";
        let refused = outcome(seed, Way::Greedy);
        assert!(!refused.passed(Step::Compile) && refused.passed(Step::Check));
        let programs = [
            ("p.dpt".to_string(), [(Way::Greedy, wrong)].into()),
            ("q.dpt".to_string(), [(Way::Greedy, refused)].into()),
        ];
        let text = corpus_table(&programs).to_string();
        assert!(text.contains("tna: of 2 programs 1 check, 0 compile"), "{text}");
        assert!(text.contains("tna      LU-E0762 p.dpt:2:37"), "{text}");
        assert!(text.contains("Refusals without a code or a place: 0."), "{text}");
    }
}
