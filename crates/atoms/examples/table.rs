// SPDX-License-Identifier: Apache-2.0
//! The stateful codelets of the thirty Domino programs on the seven atoms of Banzai, at small ranges and for all words of 32
//! bits: the 15 x 7 table, the least atom of each codelet, times and checks.
//!
//! `cargo run --release -p atoms --example table [small|exact] [SECONDS] [PROGRAM...]`

use atoms::{Budget, Check, Codelet, Setting, Template, Verdict, banzai, check, map, read};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The programs of the reference's folder `generalize`, the rows of its table.
const ROWS: [&str; 15] = [
    "hula_probe",
    "hula_forwarding",
    "blue_increase",
    "blue_decrease",
    "ftp_monitoring",
    "hash_pipe_first_stage",
    "hash_pipe_second_stage",
    "many_ip_domains",
    "marple_new_flow",
    "marple_tcp_nmo",
    "snap_heavy_hitter",
    "spam_detection",
    "stateful_fw",
    "superspreader",
    "red",
];

struct Cell {
    verdict: Verdict,
    check: Check,
    time: Duration,
    conflicts: u64,
    proposals: u64,
}

fn cell(codelet: &Codelet, template: &Template, setting: &Setting, seconds: u64) -> Cell {
    let start = Instant::now();
    let late = || start.elapsed() > Duration::from_secs(seconds);
    let budget = Budget { conflicts: u64::MAX, interrupt: Some(&late) };
    let answer = map(codelet, template, setting, budget);
    let time = start.elapsed();
    let check = check(codelet, template, setting, &answer.verdict);
    Cell {
        verdict: answer.verdict,
        check,
        time,
        conflicts: answer.conflicts,
        proposals: answer.proposals,
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Yes(_) => "yes",
        Verdict::No(_) => "no",
        Verdict::Unknown => "unknown",
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(60);
    let exact = arguments.iter().any(|argument| argument == "exact");
    let setting = if exact { Setting::exact(32) } else { Setting::small() };
    let details = arguments.iter().any(|argument| argument == "details");
    let mut map = source::SourceMap::new();
    let file = map.add("thirty.atoms", include_str!("../tests/data/thirty.atoms"));
    let (items, diagnostics) = read(&map, file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let known = |program: &str| {
        items.codelets.iter().any(|each| each.name.starts_with(&format!("{program}.")))
    };
    let only: Vec<&String> = arguments.iter().filter(|argument| known(argument)).collect();
    let templates = banzai();
    let mut rows: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    println!(
        "{:34} {:13} {:8} {:>8} {:>9} {:>5} check",
        "codelet", "atom", "verdict", "ms", "conflicts", "tries"
    );
    for codelet in &items.codelets {
        let program = codelet.name.split('.').next().unwrap_or_default().to_owned();
        if !only.is_empty() && !only.contains(&&program) {
            continue;
        }
        for (at, template) in templates.iter().enumerate() {
            let cell = cell(codelet, template, &setting, seconds);
            let checked = match &cell.check {
                Check::Served { points, all: true } => format!("all {points} values"),
                Check::Served { points, all: false } => format!("{points} values"),
                Check::Refuted => match &cell.verdict {
                    Verdict::No(points) => format!("refuted at {} points", points.len()),
                    _ => String::new(),
                },
                other => format!("{other:?}"),
            };
            println!(
                "{:34} {:13} {:8} {:>8} {:>9} {:>5} {checked}",
                codelet.name,
                template.name,
                word(&cell.verdict),
                cell.time.as_millis(),
                cell.conflicts,
                cell.proposals,
            );
            if details {
                match &cell.verdict {
                    Verdict::Yes(configuration) => {
                        print!("{}", template.describe(configuration, setting.words, codelet));
                    }
                    Verdict::No(points) => {
                        for point in points {
                            let signed = |values: &[u32]| {
                                values
                                    .iter()
                                    .map(|each| setting.words.signed(*each))
                                    .collect::<Vec<_>>()
                            };
                            println!("    {:?} {:?}", signed(&point.states), signed(&point.inputs));
                        }
                    }
                    Verdict::Unknown => {}
                }
            }
            let row = rows.entry(program.clone()).or_insert_with(|| vec!["yes"; templates.len()]);
            // A program maps if all its codelets do.
            row[at] = match (row[at], word(&cell.verdict)) {
                ("no", _) | (_, "no") => "no",
                ("unknown", _) | (_, "unknown") => "unknown",
                _ => "yes",
            };
        }
    }
    println!(
        "\n{:24} {}",
        "program",
        templates.iter().map(|each| format!("{:13}", each.name)).collect::<String>()
    );
    let others = rows.keys().filter(|program| !ROWS.contains(&program.as_str()));
    for program in ROWS.iter().map(|row| (*row).to_owned()).chain(others.cloned()) {
        if let Some(row) = rows.get(&program) {
            println!(
                "{program:24} {}",
                row.iter().map(|each| format!("{each:13}")).collect::<String>()
            );
        }
    }
}
