// SPDX-License-Identifier: Apache-2.0
//! Prints the results of a network run: tables, JSON, CSV files.

use super::NetRun;
use crate::files;
use frontend::{Console, Failure};
use network_run::Built;
use network_run::results::Results;
use network_run::tables::tables;
use serde_json::{Map, Value, json};
use source::quantity;

/// Prints them.
pub(super) fn print(
    built: &Built,
    results: &Results,
    (until_ps, is_complete): (u64, bool),
    run: &NetRun<'_>,
    console: &dyn Console,
) -> Result<(), Failure> {
    let tables = tables(built.network(), results);
    if let Some(folder) = run.csv {
        let texts: Vec<(String, String)> = tables
            .iter()
            .map(|table| (format!("{}.csv", table.name.replace(' ', "_")), table.to_csv()))
            .collect();
        files::write_texts(folder, &texts)?;
    }
    if run.json {
        let mut object = Map::new();
        object.insert("network".to_string(), json!(run.file.display().to_string()));
        object.insert("ended_ps".to_string(), json!(results.ended_ps));
        object.insert("complete".to_string(), json!(is_complete));
        object.insert("events".to_string(), json!(results.events));
        object.insert("frames".to_string(), json!(results.frames));
        for table in &tables {
            object.insert(table.name.replace(' ', "_"), table.to_json());
        }
        console.print(&format!("{}\n", Value::Object(object)));
        return Ok(());
    }
    if console.is_quiet() {
        return Ok(());
    }
    let mut text = format!("{}\n", run.file.display());
    for table in &tables {
        text.push('\n');
        text.push_str(&table.to_text(run.rows));
    }
    let end = match is_complete {
        true => format!("nothing is left to happen after {}", quantity::seconds(results.ended_ps)),
        false => {
            format!("the run was over at {}", quantity::seconds(results.ended_ps.min(until_ps)))
        }
    };
    text.push_str(&format!("\n{end}; {} events, {} frames sent\n", results.events, results.frames));
    console.print(&text);
    built.summaries().iter().for_each(|line| console.note(line));
    Ok(())
}
