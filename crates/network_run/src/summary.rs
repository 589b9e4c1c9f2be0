// SPDX-License-Identifier: Apache-2.0
//! The tables of several runs as one: numbers become means with 95 % confidence intervals (Student's t).

use crate::student::quantile_95;
use crate::table::{Cell, Column, Mean, Table, Unit};
use std::borrow::Cow;
use std::collections::HashMap;

/// The tables whose rows a run leaves out if all their numbers are 0.
const ROWS_OF_ZEROS_ARE_LEFT_OUT: [&str; 3] = ["links", "switches", "hosts that dropped frames"];

/// Makes the tables of several runs into one set: rows of equal names become one.
pub fn summarize(runs: &[Vec<Table>]) -> Vec<Table> {
    let mut names: Vec<Cow<'static, str>> = Vec::new();
    for table in runs.iter().flatten() {
        if !names.contains(&table.name) {
            names.push(table.name.clone());
        }
    }
    names.into_iter().map(|name| one_table(name, runs)).collect()
}

/// A row's names, and which one of that name it is.
type Key = (Vec<String>, usize);

fn one_table(name: Cow<'static, str>, runs: &[Vec<Table>]) -> Table {
    let tables: Vec<Option<&Table>> =
        runs.iter().map(|tables| tables.iter().find(|table| table.name == name)).collect();
    let columns: Vec<Column> =
        tables.iter().flatten().next().map_or_else(Vec::new, |table| table.columns.clone());
    let is_zero_if_absent = ROWS_OF_ZEROS_ARE_LEFT_OUT.contains(&&*name);
    let mut order: Vec<Key> = Vec::new();
    let mut rows: HashMap<Key, Vec<(usize, &Vec<Cell>)>> = HashMap::new();
    for (run, table) in tables.iter().enumerate() {
        let mut seen: HashMap<Vec<String>, usize> = HashMap::new();
        for row in table.iter().flat_map(|table| &table.rows) {
            let names = names_of(row);
            let count = seen.entry(names.clone()).or_default();
            let key = (names, *count);
            *count += 1;
            let found = rows.entry(key.clone()).or_default();
            if found.is_empty() {
                order.push(key);
            }
            found.push((run, row));
        }
    }
    let summary = |key: &Key| -> Vec<Cell> {
        let found = &rows[key];
        let absent = if is_zero_if_absent { runs.len() - found.len() } else { 0 };
        (0..columns.len()).map(|at| one_cell(found, at, absent, runs.len())).collect()
    };
    let rows = order.iter().map(summary).collect();
    let mut notes: Vec<String> = Vec::new();
    for note in tables.iter().flatten().flat_map(|table| &table.notes) {
        // Sentences with a count differ between runs.
        if !note.starts_with(|first: char| first.is_ascii_digit()) && !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    Table { name, columns, rows, notes }
}

/// The texts in front of the numbers.
fn names_of(row: &[Cell]) -> Vec<String> {
    let texts = row.iter().map_while(|cell| match cell {
        Cell::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

fn one_cell(found: &[(usize, &Vec<Cell>)], at: usize, absent: usize, of: usize) -> Cell {
    let cells = || found.iter().filter_map(|(_, row)| row.get(at));
    let numbers: Vec<(Unit, f64)> = cells().filter_map(Cell::number).collect();
    let Some((unit, _)) = numbers.first().copied() else {
        let first = cells().next().cloned().unwrap_or(Cell::Empty);
        return match cells().all(|cell| *cell == first) {
            true => first,
            false => Cell::Text("differs".to_string()),
        };
    };
    let mut values: Vec<f64> = numbers.into_iter().map(|(_, value)| value).collect();
    values.extend(std::iter::repeat_n(0.0, absent));
    Cell::Mean(mean(unit, &values, of))
}

fn mean(unit: Unit, values: &[f64], of: usize) -> Mean {
    let runs = values.len();
    let mean = values.iter().sum::<f64>() / runs as f64;
    let half_width = (runs > 1).then(|| {
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (runs - 1) as f64).sqrt();
        quantile_95(runs as u32 - 1) * deviation / (runs as f64).sqrt()
    });
    Mean { unit, mean, half_width, runs, of }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rows: &[(&str, Option<u64>)], name: &'static str) -> Vec<Table> {
        let mut table = Table::new(name, &[("name", "name"), ("time", "time_ps"), ("why", "why")]);
        for (name, time_ps) in rows {
            let why = Cell::Text(format!("{time_ps:?}"));
            table.rows.push(vec![Cell::Text((*name).to_string()), Cell::time(*time_ps), why]);
        }
        vec![table]
    }

    #[test]
    fn rows_of_equal_names_become_means() {
        let runs = [
            run(&[("a", Some(10_000)), ("b", None), ("a", Some(5))], "ping"),
            run(&[("a", Some(20_000)), ("b", None), ("a", Some(5))], "ping"),
            run(&[("a", Some(30_000)), ("b", Some(7))], "ping"),
        ];
        let summary = summarize(&runs);
        // 4.303 * 10,000 / sqrt(3).
        let text = "ping
  name             time  why
  a     20 ns ± 24.8 ns  differs
  b       7 ps (1 of 3)  differs
  a       5 ps (2 of 3)  Some(5)
";
        assert_eq!(summary[0].to_text(9), text);
        let csv = summary[0].to_csv();
        assert!(csv.starts_with("name,time_ps,time_ps_ci95,why\na,20000.000000,24841."), "{csv}");
        assert!(csv.contains("\nb,7.000000,,differs\n"), "{csv}");
        let json = summary[0].to_json();
        assert_eq!(json[2]["time_ps"], serde_json::json!({"mean": 5.0, "ci95": 0.0, "runs": 2}));
    }

    #[test]
    fn a_link_without_a_row_carried_nothing() {
        let runs = [run(&[("a", Some(4))], "links"), run(&[], "links")];
        let Cell::Mean(mean) = summarize(&runs)[0].rows[0][1] else { panic!("a mean") };
        assert_eq!((mean.mean, mean.runs, mean.of), (2.0, 2, 2));
    }
}
