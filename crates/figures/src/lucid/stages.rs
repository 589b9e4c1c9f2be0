// SPDX-License-Identifier: Apache-2.0
//! Figures 9, 10, 12 and 13: applications compiled for Tofino; their lines, stages and statements. The
//! stages are those of the printed program, the scheduler's tables included.

use super::compilation::TOFINO_RECIRCULATION_PORT;
use super::{Measuring, Table};
use lucid::core::Program;
use lucid::syntax::lexer;
use lucid_compiler::tna::{self, Part, TnaProgram};
use lucid_compiler::{Backend, Options, atomic, normal};
use pisa::{Optimality, Problem};
use source::{Diagnostics, FileId, SourceMap};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// An application to be compiled.
pub struct Application {
    /// Its name: the paper's figures stand beside the names that it has there or here.
    pub name: String,
    /// The core program.
    pub program: Program,
    /// Its sources.
    pub map: SourceMap,
    /// The program itself among them.
    pub source: FileId,
}

/// What the paper says of an application (Lucid Figure 9).
struct Published {
    /// Folders and programs that are this application.
    names: &'static [&'static str],
    title: &'static str,
    lucid_lines: u32,
    p4_lines: u32,
    stages: u32,
}

const PUBLISHED: [Published; 10] = [
    Published {
        names: &["stateful_firewall", "stateful_fw"],
        title: "stateful firewall",
        lucid_lines: 189,
        p4_lines: 2267,
        stages: 10,
    },
    Published {
        names: &["fast_rerouter", "rerouter"],
        title: "fast rerouter",
        lucid_lines: 115,
        p4_lines: 899,
        stages: 8,
    },
    Published {
        names: &["dns_defense", "dnsguard"],
        title: "closed-loop DNS defense",
        lucid_lines: 215,
        p4_lines: 1874,
        stages: 10,
    },
    Published {
        names: &["starflow"],
        title: "*Flow",
        lucid_lines: 149,
        p4_lines: 1927,
        stages: 12,
    },
    Published {
        names: &["sro", "chain_replication"],
        title: "consistent shared state",
        lucid_lines: 94,
        p4_lines: 897,
        stages: 11,
    },
    Published {
        names: &["distributed_firewall", "chain_prob_stateful_firewall"],
        title: "distributed prob. firewall",
        lucid_lines: 66,
        p4_lines: 1073,
        stages: 10,
    },
    Published {
        names: &["distributed_firewall_aging", "chain_prob_stateful_firewall_timeout"],
        title: "  + aging",
        lucid_lines: 119,
        p4_lines: 1595,
        stages: 10,
    },
    Published {
        names: &["rip", "rip_single"],
        title: "single-destination RIP",
        lucid_lines: 81,
        p4_lines: 764,
        stages: 8,
    },
    Published {
        names: &["nat", "NAT"],
        title: "simple NAT",
        lucid_lines: 41,
        p4_lines: 707,
        stages: 11,
    },
    Published {
        names: &["count_min", "countmin_historical"],
        title: "historical prob. queries",
        lucid_lines: 93,
        p4_lines: 856,
        stages: 5,
    },
];

/// An application's place in the paper's table.
fn published(name: &str) -> Option<(usize, &'static Published)> {
    PUBLISHED.iter().enumerate().find(|(_, one)| one.names.contains(&name))
}

/// Where an application stands in the paper's tables; others are behind all of them.
pub fn place_in_paper(name: &str) -> usize {
    published(name).map_or(usize::MAX, |(at, _)| at)
}

/// Applications in the order of the paper, others behind them.
fn in_order(applications: &[Application]) -> Vec<&Application> {
    let mut order: Vec<&Application> = applications.iter().collect();
    order.sort_by_key(|one| place_in_paper(&one.name));
    order
}

/// What the paper calls an application; others keep their names.
pub(super) fn published_title(name: &str) -> String {
    published(name).map_or_else(|| name.to_owned(), |(_, one)| one.title.to_owned())
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

fn options() -> Options {
    Options {
        target: Backend::Tna,
        recirculation_port: TOFINO_RECIRCULATION_PORT,
        ..Options::default()
    }
}

/// The program with its greedy layout, and how long that took from the core program on.
fn compiled(application: &Application) -> Result<(TnaProgram, Duration), Wrong> {
    let target = tna::tofino().map_err(wrong(application))?;
    let begin = Instant::now();
    let greedy = |problem: &Problem| pisa::greedy::greedy(problem, &target);
    let (program, map) = (&application.program, application.map.clone());
    let made = tna::compile_with(program, map, &options(), &greedy).map_err(wrong(application))?;
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

/// Lines of P4 that are neither blank nor comments.
pub(super) fn p4_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

fn milliseconds(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1000.0)
}

fn told(progress: &mut Measuring<'_>, application: &Application, at: usize, of: usize) {
    (progress.progress)(&application.name, at as f64 / of.max(1) as f64);
}

/// Lines and stages, greedy and exact.
///
/// # Errors
///
/// What does not compile.
pub fn figure_9(
    measuring: &mut Measuring<'_>,
    applications: &[Application],
    most_exact: Duration,
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
            "compile",
            "exact layout",
        ],
    );
    for (at, application) in in_order(applications).into_iter().enumerate() {
        told(measuring, application, at, applications.len());
        let target = tna::tofino().map_err(wrong(application))?;
        let (made, time) = compiled(application)?;
        let begin = Instant::now();
        let mut stop = |_| begin.elapsed() > most_exact;
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
            milliseconds(time),
            milliseconds(exact_time),
        ]);
    }
    table.remark(
        "Lines have a token; included files are not counted. Stages count the scheduler's tables. \
         Compile times are from the core program to checked P4_16, greedy layout included; an exact \
         layout that was stopped says below which number of stages there is surely none.",
    );
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
        told(measuring, application, at, applications.len());
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
        told(measuring, application, at, applications.len());
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
        told(measuring, application, at, applications.len());
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
