// SPDX-License-Identifier: Apache-2.0
//! Figures 9, 10, 12 and 13: lines, stages and statements of applications compiled for Tofino. Stages include the
//! tables of the event scheduler.

use super::published::{Published, place_in_paper, published, published_title};
use super::tofino::{self, p4_lines};
use super::tofino_compiler;
use crate::{Measuring, Table};
use lucid::core::Program;
use lucid::syntax::lexer;
use lucid_compiler::tna::{self, Part, TnaProgram};
use lucid_compiler::{atomic, normal};
use pisa::{Optimality, Problem};
use source::{Diagnostics, FileId, SourceMap};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// An application to be compiled.
pub struct Application {
    /// Its name; `published` knows those of the paper.
    pub name: String,
    /// The core program.
    pub program: Program,
    /// Its sources.
    pub map: SourceMap,
    /// The program itself among them.
    pub source: FileId,
}

/// Sorts applications by the order of the paper; others come behind them.
fn in_order(applications: &[Application]) -> Vec<&Application> {
    let mut order: Vec<&Application> = applications.iter().collect();
    order.sort_by_key(|one| place_in_paper(&one.name));
    order
}

fn title(application: &Application) -> String {
    published_title(&application.name)
}

/// What does not compile, with the sources of that application.
type Wrong = (SourceMap, Diagnostics);

fn wrong(application: &Application) -> impl FnOnce(Diagnostics) -> Wrong {
    let map = application.map.clone();
    move |found| (map, found)
}

/// The program with its greedy layout, and how long that took from the core program on.
fn compiled(application: &Application) -> Result<(TnaProgram, Duration), Wrong> {
    let target = tna::tofino().map_err(wrong(application))?;
    let begin = Instant::now();
    let greedy = |problem: &Problem| pisa::greedy::greedy(problem, &target);
    let (program, map) = (&application.program, application.map.clone());
    let made =
        tna::compile_with(program, map, &tofino::options(), &greedy).map_err(wrong(application))?;
    Ok((made, begin.elapsed()))
}

/// Lines with a token of the program itself.
fn lucid_lines(application: &Application) -> usize {
    let map = &application.map;
    let lexed = lexer::lex(map, application.source, &mut Diagnostics::new());
    let places = lexed.tokens.iter().filter(|token| token.span.start < token.span.end);
    let lines = places.filter_map(|token| map.location(token.span));
    lines.map(|location| location.line).collect::<BTreeSet<_>>().len()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1000.0)
}

fn show_progress(measuring: &mut Measuring<'_>, application: &Application, at: usize, of: usize) {
    (measuring.progress)(&application.name, at as f64 / of.max(1) as f64);
}

/// Lines and stages, greedy and exact.
///
/// # Errors
///
/// What does not compile.
pub fn figure_9(
    measuring: &mut Measuring<'_>,
    applications: &[Application],
    exact_limit: Duration,
) -> Result<Table, Wrong> {
    let mut table = Table::new(
        "Figure 9: lines of code and stages; published, and measured here",
        &[
            "application",
            "Lucid: paper",
            "here",
            "P4: paper",
            "here",
            "stages: paper",
            "greedy",
            "exact",
            "Tofino's compiler",
            "compile",
            "exact layout",
        ],
    );
    for (at, application) in in_order(applications).into_iter().enumerate() {
        show_progress(measuring, application, at, applications.len());
        let target = tna::tofino().map_err(wrong(application))?;
        let (made, time) = compiled(application)?;
        let begin = Instant::now();
        let mut stop = |_| begin.elapsed() > exact_limit;
        let exact = pisa::exact::exact(&made.problem, &target, &mut stop);
        let exact = exact.map_err(wrong(application))?;
        let exact_time = begin.elapsed();
        let stages = match exact.optimality {
            Optimality::Optimal => exact.stages.len().to_string(),
            Optimality::AtLeast(least) => format!("{} (>= {least})", exact.stages.len()),
            Optimality::Unknown => format!("{} (?)", exact.stages.len()),
        };
        let paper = published(&application.name).map(|(_, one)| one);
        let of = |number: fn(&Published) -> u32| {
            paper.map_or("-".to_owned(), |one| number(one).to_string())
        };
        table.row([
            title(application),
            of(|one| one.lucid_lines),
            lucid_lines(application).to_string(),
            of(|one| one.p4_lines),
            p4_lines(&made.compiled.built.print()).count().to_string(),
            of(|one| one.stages),
            made.layout.stages.len().to_string(),
            stages,
            tofino_compiler::stages(&application.name),
            milliseconds(time),
            milliseconds(exact_time),
        ]);
    }
    table.remark(
        "Lines have a token; included files are not counted. Stages count the scheduler's tables. \
         Compile times are from the core program to checked P4_16, greedy layout included; an exact \
         layout that was stopped says below which number of stages there is surely none.",
    );
    table.remark(tofino_compiler::remark(applications.iter().map(|one| one.name.as_str())));
    table.remark(
        "Where there are fewer stages than in the paper: our applications are written anew; booleans \
         are asked for where they come from; an array's index is hashed in the array's stage; events are \
         dispatched by the parser. The model of the target has no groups of containers, so any two \
         variables may meet in an ALU, and no limit on what reaches a stage's hash units and stateful \
         ALUs by their crossbars.",
    );
    Ok(table)
}

/// What a line of P4 belongs to (Lucid Figure 10).
const PARTS: [&str; 6] =
    ["headers, metadata", "parsers", "register actions", "actions", "tables", "control, other"];

/// Lines by part: the innermost declaration that is open tells.
fn parts(text: &str) -> [usize; 6] {
    let mut counts = [0; 6];
    let mut open: Vec<usize> = Vec::new();
    for line in p4_lines(text) {
        let word = line.split([' ', '<', '(']).next().unwrap_or("");
        let of = match word {
            "header" | "struct" | "typedef" | "const" | "enum" if open.is_empty() => Some(0),
            "parser" | "state" => Some(1),
            "RegisterAction" | "DirectRegisterAction" | "Register" => Some(2),
            "action" => Some(3),
            "table" => Some(4),
            "control" | "apply" => Some(5),
            _ => None,
        };
        // What stands inside a part is of it, but for what a control or a parser declares.
        let inherited = open.last().copied();
        let part = match (of, inherited) {
            (Some(of), None | Some(1 | 5)) => of,
            (_, Some(inherited)) => inherited,
            (None, None) => 5,
        };
        counts[part] += 1;
        for letter in line.chars() {
            match letter {
                '{' => open.push(part),
                '}' => {
                    open.pop();
                }
                _ => {}
            }
        }
    }
    counts
}

/// What the lines of P4 are.
///
/// # Errors
///
/// What does not compile.
pub fn figure_10(
    measuring: &mut Measuring<'_>,
    applications: &[Application],
) -> Result<Table, Wrong> {
    let mut columns = vec!["application"];
    columns.extend(PARTS);
    columns.push("Lucid");
    let mut table = Table::new("Figure 10: lines of P4 by what they are", &columns);
    for (at, application) in in_order(applications).into_iter().enumerate() {
        show_progress(measuring, application, at, applications.len());
        let (made, _) = compiled(application)?;
        let counts = parts(&made.compiled.built.print());
        let own = lucid_lines(application);
        let cells = counts.iter().map(usize::to_string);
        table.row([title(application)].into_iter().chain(cells).chain([own.to_string()]));
    }
    table.remark(
        "Published as a drawing: actions and tables take the most lines, and for most applications \
         the Lucid program is shorter than the register actions in P4 alone.",
    );
    Ok(table)
}

/// Stages with and without optimisation.
///
/// # Errors
///
/// What does not compile.
pub fn figure_12(
    measuring: &mut Measuring<'_>,
    applications: &[Application],
) -> Result<Table, Wrong> {
    let mut table = Table::new(
        "Figure 12: stages optimised, and the longest code path in atomic tables",
        &["application", "longest path", "stages", "ratio"],
    );
    for (at, application) in in_order(applications).into_iter().enumerate() {
        show_progress(measuring, application, at, applications.len());
        let graph = atomic::translate(&normal::normalize(&application.program));
        let graph = graph.map_err(wrong(application))?;
        let (made, _) = compiled(application)?;
        let (before, after) = (graph.longest_path(), made.layout.stages.len());
        table.row([
            title(application),
            before.to_string(),
            after.to_string(),
            format!("{:.1}", f64::from(before) / after.max(1) as f64),
        ]);
    }
    table.remark(
        "Published as a drawing: a factor of 1.5 to 4 for most applications, the most for *Flow and \
         the DNS defense, whose longest paths were nearly 4 times too long for 12 stages. Here each \
         field that is written for a generated event is an atomic table of the longest path.",
    );
    Ok(table)
}

/// Statements a stage.
///
/// # Errors
///
/// What does not compile.
pub fn figure_13(
    measuring: &mut Measuring<'_>,
    applications: &[Application],
) -> Result<Table, Wrong> {
    let mut table = Table::new(
        "Figure 13: statements of handlers a stage",
        &["application", "least", "mean", "most", "by stage"],
    );
    for (at, application) in in_order(applications).into_iter().enumerate() {
        show_progress(measuring, application, at, applications.len());
        let (made, _) = compiled(application)?;
        let is_statement = |unit: &pisa::UnitId| {
            matches!(made.parts.get(unit.0 as usize), Some(Part::Statement(_)))
        };
        let counts: Vec<usize> = (made.layout.stages.iter())
            .map(|stage| {
                stage
                    .tables
                    .iter()
                    .flat_map(|table| &table.units)
                    .filter(|it| is_statement(it))
                    .count()
            })
            .filter(|count| *count > 0)
            .collect();
        let sum: usize = counts.iter().sum();
        let list: Vec<String> = counts.iter().map(usize::to_string).collect();
        table.row([
            title(application),
            counts.iter().min().unwrap_or(&0).to_string(),
            format!("{:.1}", sum as f64 / counts.len().max(1) as f64),
            counts.iter().max().unwrap_or(&0).to_string(),
            list.join(" "),
        ]);
    }
    table.remark(
        "Published: 2 to 13 Lucid statements a stage. Here every field of a generated event is a \
         statement of its own.",
    );
    Ok(table)
}
