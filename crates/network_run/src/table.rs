// SPDX-License-Identifier: Apache-2.0
//! [`Table`]: rows of measurements, as text for people, as CSV and as JSON.

use crate::json_numbers::integer;
use serde_json::{Map, Value, json};
use source::quantity;
use std::borrow::Cow;

/// A measurement in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing was measured.
    Empty,
    /// A name.
    Text(String),
    /// A count.
    Count(u64),
    /// A time in picoseconds.
    Time(u64),
    /// Bits per second.
    Rate(f64),
    /// Bytes.
    Bytes(u64),
    /// A share, 0 to 1.
    Share(f64),
    /// Another number.
    Number(f64),
    /// The mean over runs.
    Mean(Mean),
}

/// A mean over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// What the runs measured.
    pub unit: Unit,
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval; `None` of one run.
    pub half_width: Option<f64>,
    /// Runs that measured it.
    pub runs: usize,
    /// All runs.
    pub of: usize,
}

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// Picoseconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Bytes,
    /// A share, 0 to 1.
    Share,
    /// Another number.
    Number,
}

impl Unit {
    fn text(self, number: f64) -> String {
        match self {
            Unit::Count if number.fract() == 0.0 => format!("{number:.0}"),
            Unit::Count => format!("{number:.1}"),
            Unit::Time => Cell::Time(number.round() as u64).text(),
            Unit::Rate => Cell::Rate(number).text(),
            Unit::Bytes => quantity::bytes(number),
            Unit::Share => Cell::Share(number).text(),
            Unit::Number => Cell::Number(number).text(),
        }
    }
}

impl Mean {
    fn text(&self) -> String {
        let mut text = self.unit.text(self.mean);
        if let Some(half_width) = self.half_width.filter(|width| *width > 0.0) {
            text.push_str(&format!(" ± {}", self.unit.text(half_width)));
        }
        if self.runs < self.of {
            text.push_str(&format!(" ({} of {})", self.runs, self.of));
        }
        text
    }
}

fn rounded(number: f64) -> Value {
    json!((number * 1e6).round() / 1e6)
}

impl Cell {
    /// A time that may not have been measured.
    pub fn time(time_ps: Option<u64>) -> Cell {
        time_ps.map_or(Cell::Empty, Cell::Time)
    }

    /// What it measured; `None` of names and of nothing.
    pub fn number(&self) -> Option<(Unit, f64)> {
        Some(match self {
            Cell::Empty | Cell::Text(_) | Cell::Mean(_) => return None,
            Cell::Count(count) => (Unit::Count, *count as f64),
            Cell::Time(time_ps) => (Unit::Time, *time_ps as f64),
            Cell::Rate(rate) => (Unit::Rate, *rate),
            Cell::Bytes(bytes) => (Unit::Bytes, *bytes as f64),
            Cell::Share(share) => (Unit::Share, *share),
            Cell::Number(number) => (Unit::Number, *number),
        })
    }

    fn is_text(&self) -> bool {
        matches!(self, Cell::Text(_))
    }

    /// As people read it, rounded, with a unit.
    fn text(&self) -> String {
        match self {
            Cell::Empty => "-".to_string(),
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Time(time_ps) => quantity::rounded(*time_ps),
            Cell::Rate(rate) => quantity::rate(*rate),
            Cell::Bytes(bytes) => quantity::bytes(*bytes as f64),
            Cell::Share(share) => format!("{:.1} %", share * 100.0),
            Cell::Number(number) => format!("{number:.1}"),
            Cell::Mean(mean) => mean.text(),
        }
    }

    /// In basic units, exact.
    fn csv(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) if text.contains([',', '"', '\n']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Cell::Text(text) => text.clone(),
            Cell::Count(count) | Cell::Time(count) | Cell::Bytes(count) => count.to_string(),
            Cell::Rate(number) => format!("{number:.0}"),
            Cell::Share(number) | Cell::Number(number) => format!("{number:.6}"),
            Cell::Mean(Mean { mean, half_width, .. }) => match half_width {
                Some(half_width) => format!("{mean:.6},{half_width:.6}"),
                None => format!("{mean:.6},"),
            },
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::Empty => Value::Null,
            Cell::Text(text) => json!(text),
            Cell::Count(count) | Cell::Time(count) | Cell::Bytes(count) => integer(*count),
            Cell::Rate(number) => json!(number.round()),
            Cell::Share(number) | Cell::Number(number) => rounded(*number),
            Cell::Mean(Mean { mean, half_width, runs, .. }) => json!({
                "mean": rounded(*mean),
                "ci95": half_width.map(rounded),
                "runs": runs,
            }),
        }
    }
}

/// A column: its title, and its name with the unit in CSV and JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// For people.
    pub title: Cow<'static, str>,
    /// For programs: `rtt_mean_ps`.
    pub name: Cow<'static, str>,
}

/// Rows of measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name, also of its CSV file.
    pub name: Cow<'static, str>,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Sentences below the table.
    pub notes: Vec<String>,
}

impl Table {
    /// An empty table; each column is a title and a name.
    pub fn new(name: &'static str, columns: &[(&'static str, &'static str)]) -> Table {
        let columns = columns
            .iter()
            .map(|(title, name)| Column {
                title: Cow::Borrowed(*title),
                name: Cow::Borrowed(*name),
            })
            .collect();
        Table { name: Cow::Borrowed(name), columns, rows: Vec::new(), notes: Vec::new() }
    }

    /// As text with aligned columns, at most `most_rows` rows.
    pub fn to_text(&self, most_rows: usize) -> String {
        let shown = &self.rows[..self.rows.len().min(most_rows)];
        let texts: Vec<Vec<String>> =
            shown.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = texts.iter().map(|row| row[at].chars().count());
                cells.chain([self.columns[at].title.len()]).max().unwrap_or(0)
            })
            .collect();
        let is_left = |at: usize| shown.iter().any(|row| row[at].is_text());
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut line = String::new();
            for (at, cell) in cells.enumerate() {
                let width = widths[at];
                line.push_str("  ");
                line.push_str(&match is_left(at) {
                    true => format!("{cell:<width$}"),
                    false => format!("{cell:>width$}"),
                });
            }
            line.trim_end().to_string() + "\n"
        };
        let mut text = format!("{}\n", self.name);
        text.push_str(&line(&mut self.columns.iter().map(|column| &*column.title)));
        for row in &texts {
            text.push_str(&line(&mut row.iter().map(String::as_str)));
        }
        if self.rows.len() > shown.len() {
            text.push_str(&format!("  ... and {} more\n", self.rows.len() - shown.len()));
        }
        for note in &self.notes {
            text.push_str(&format!("  {note}\n"));
        }
        text
    }

    /// As CSV with a line of names (RFC 4180).
    pub fn to_csv(&self) -> String {
        let is_mean = |cell: &Cell| matches!(cell, Cell::Mean(_));
        // A mean has a column for its confidence interval beside it.
        let is_mean: Vec<bool> = (0..self.columns.len())
            .map(|at| self.rows.iter().any(|row| row.get(at).is_some_and(is_mean)))
            .collect();
        let names = self.columns.iter().zip(&is_mean).map(|(column, is_mean)| match is_mean {
            true => format!("{0},{0}_ci95", column.name),
            false => column.name.to_string(),
        });
        let mut text = names.collect::<Vec<_>>().join(",") + "\n";
        for row in &self.rows {
            let cells = row.iter().zip(&is_mean).map(|(cell, is_mean)| match cell {
                Cell::Mean(_) => cell.csv(),
                _ if *is_mean => cell.csv() + ",",
                _ => cell.csv(),
            });
            let cells: Vec<String> = cells.collect();
            text.push_str(&(cells.join(",") + "\n"));
        }
        text
    }

    /// As a list of objects.
    pub fn to_json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let fields = self.columns.iter().zip(row);
            let fields = fields.map(|(column, cell)| (column.name.to_string(), cell.json()));
            Value::Object(fields.collect::<Map<String, Value>>())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = Table::new("links", &[("link", "link"), ("rate", "rate_bps")]);
        table.rows.push(vec![Cell::Text("s1:1 -> h1".into()), Cell::Rate(9_640_000.0)]);
        table.rows.push(vec![Cell::Text("a,b".into()), Cell::Empty]);
        table
    }

    #[test]
    fn one_table_in_three_forms() {
        let table = example();
        let text =
            "links\n  link             rate\n  s1:1 -> h1  9.64 Mb/s\n  a,b                 -\n";
        assert_eq!(table.to_text(10), text);
        assert!(table.to_text(1).ends_with("  ... and 1 more\n"));
        assert_eq!(table.to_csv(), "link,rate_bps\ns1:1 -> h1,9640000\n\"a,b\",\n");
        let json = r#"[{"link":"s1:1 -> h1","rate_bps":9640000.0},{"link":"a,b","rate_bps":null}]"#;
        assert_eq!(table.to_json().to_string(), json);
    }
}
