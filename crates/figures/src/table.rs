// SPDX-License-Identifier: Apache-2.0
//! [`Table`]: a figure as text with a title, columns, rows and remarks.

use serde_json::{Map, Value, json};
use std::fmt;

/// A figure as a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The title.
    pub title: String,
    /// Heads of the columns; the first is aligned left, the others right.
    pub columns: Vec<String>,
    /// Cells, as many as there are columns.
    pub rows: Vec<Vec<String>>,
    /// Remarks below the table, a paragraph each.
    pub remarks: Vec<String>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(title: &str, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|column| (*column).to_string()).collect();
        Table { title: title.to_string(), columns, ..Table::default() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Figures by their names as one list in JSON: rows are objects by the heads of their columns.
    pub fn json_list(figures: &[(String, Table)]) -> String {
        let one = |(name, table): &(String, Table)| {
            let mut object = table.json();
            object["figure"] = name.as_str().into();
            object
        };
        format!("{:#}\n", Value::from(figures.iter().map(one).collect::<Vec<_>>()))
    }

    fn json(&self) -> Value {
        let row = |cells: &Vec<String>| -> Value {
            let columns = self.columns.iter().cloned();
            columns
                .zip(cells.iter().map(|cell| Value::from(cell.as_str())))
                .collect::<Map<_, _>>()
                .into()
        };
        json!({
            "figure": null,
            "title": self.title,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }

    /// Adds a remark.
    pub fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |at: usize| {
            let cells = self.rows.iter().chain([&self.columns]).filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        writeln!(formatter, "{}\n", self.title)?;
        for row in [&self.columns].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if at == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("  {cell:>width$}"));
                }
            }
            writeln!(formatter, "{}", line.trim_end())?;
        }
        for remark in &self.remarks {
            writeln!(formatter, "\n{remark}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new("Figure", &["what", "n"]);
        table.row(["a".to_string(), "10".to_string()]);
        table.row(["longer".to_string(), "7".to_string()]);
        table.remark("Said.");
        let expected = "Figure\n\nwhat     n\na       10\nlonger   7\n\nSaid.\n";
        assert_eq!(table.to_string(), expected);
    }
}
