// SPDX-License-Identifier: Apache-2.0
//! Prints the results of a whole sweep: means with confidence intervals, or JSON with each run.

use super::results_file::{SeedRun, SweepResults, Unmet};
use crate::files;
use frontend::{Console, ExitStatus, Failure};
use network_run::summary::summarize;
use network_run::table::Table;
use serde_json::{Map, Value, json};
use source::quantity;
use std::path::Path;

/// How results are printed.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r> {
    /// As one JSON object instead of tables.
    pub json: bool,
    /// The folder for a CSV file of each table.
    pub csv: Option<&'r Path>,
    /// The most rows of a table that are printed.
    pub rows: usize,
}

/// Prints them. The status says whether all runs meet all expectations.
pub(super) fn print(
    results: &SweepResults,
    report: Report<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let tables: Vec<Vec<Table>> = results.runs.iter().map(|run| run.tables.clone()).collect();
    let summary = summarize(&tables);
    if let Some(folder) = report.csv {
        let texts: Vec<(String, String)> = summary
            .iter()
            .map(|table| (format!("{}.csv", table.name.replace(' ', "_")), table.to_csv()))
            .collect();
        files::write_texts(folder, &texts)?;
    }
    if report.json {
        let runs: Vec<Value> = results.runs.iter().map(run_json).collect();
        let object = json!({
            "network": results.network,
            "seeds": results.runs.iter().map(|run| run.seed).collect::<Vec<_>>(),
            "summary": tables_json(&summary),
            "runs": runs,
        });
        console.print(&format!("{object}\n"));
    } else if !console.is_quiet() {
        let mut text = format!("{}\n", results.network);
        for table in &summary {
            text.push('\n');
            text.push_str(&table.to_text(report.rows));
        }
        let runs = results.runs.len();
        let end = results.runs.iter().map(|run| run.ended_ps).max().unwrap_or(0);
        text.push_str(&format!(
            "\n{runs} runs with seeds {}: means, ± half of the 95 % confidence interval; the latest run was over at {}\n",
            seeds_in_words(&results.runs),
            quantity::seconds(end)
        ));
        console.print(&text);
    }
    Ok(judge(&results.runs, console))
}

fn tables_json(tables: &[Table]) -> Map<String, Value> {
    tables.iter().map(|table| (table.name.replace(' ', "_"), table.to_json())).collect()
}

fn run_json(run: &SeedRun) -> Value {
    let mut object = Map::new();
    object.insert("seed".to_string(), json!(run.seed));
    object.insert("ended_ps".to_string(), json!(run.ended_ps));
    object.insert("complete".to_string(), json!(run.is_complete));
    object.insert("events".to_string(), json!(run.events));
    object.insert("frames".to_string(), json!(run.frames));
    object.extend(tables_json(&run.tables));
    let unmet: Vec<&str> = run.unmet.iter().map(|unmet| unmet.message.as_str()).collect();
    object.insert("unmet".to_string(), json!(unmet));
    Value::Object(object)
}

/// Ranges of numbers that follow each other: `1..20, 30`.
fn seeds_in_words(runs: &[SeedRun]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for run in runs {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(run.seed) => *last = run.seed,
            _ => ranges.push((run.seed, run.seed)),
        }
    }
    let range = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}..{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

/// Prints each expectation that a run does not meet, with the values of the first such run.
fn judge(runs: &[SeedRun], console: &dyn Console) -> ExitStatus {
    let mut places: Vec<(&Unmet, Vec<u64>)> = Vec::new();
    for run in runs {
        for unmet in &run.unmet {
            match places.iter_mut().find(|(first, _)| first.place == unmet.place) {
                Some((_, seeds)) => seeds.push(run.seed),
                None => places.push((unmet, vec![run.seed])),
            }
        }
    }
    for (unmet, seeds) in &places {
        let names: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let message = unmet.message.trim_end();
        console.note(&format!(
            "{message}\n  = note: with seed {}: {} of {} runs; the value is that of seed {}\n",
            names.join(", "),
            seeds.len(),
            runs.len(),
            seeds[0]
        ));
    }
    match places.is_empty() {
        true => ExitStatus::Fine,
        false => ExitStatus::WrongInput,
    }
}
