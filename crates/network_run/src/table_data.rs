// SPDX-License-Identifier: Apache-2.0
//! Tables as JSON from which the same table is read again, for files of results.

use crate::table::{Cell, Column, Table};
use serde_json::{Map, Value, json};

impl Table {
    /// The table with all digits of its numbers.
    pub fn to_data(&self) -> Value {
        let columns = self.columns.iter().map(|column| json!([column.title, column.name]));
        let rows = self.rows.iter().map(|row| row.iter().map(cell_data).collect::<Vec<_>>());
        json!({
            "name": self.name,
            "columns": columns.collect::<Vec<_>>(),
            "rows": rows.collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }

    /// Reads what [`Table::to_data`] wrote; `None` of anything else.
    pub fn of_data(data: &Value) -> Option<Table> {
        let text = |value: &Value| value.as_str().map(str::to_string);
        let column = |value: &Value| {
            let (title, name) = (text(value.get(0)?)?.into(), text(value.get(1)?)?.into());
            Some(Column { title, name })
        };
        let columns: Vec<Column> =
            data["columns"].as_array()?.iter().map(column).collect::<Option<_>>()?;
        let row = |value: &Value| {
            let cells: Vec<Cell> =
                value.as_array()?.iter().map(data_cell).collect::<Option<_>>()?;
            (cells.len() == columns.len()).then_some(cells)
        };
        let rows = data["rows"].as_array()?.iter().map(row).collect::<Option<_>>()?;
        let notes = data["notes"].as_array()?.iter().map(text).collect::<Option<_>>()?;
        Some(Table { name: text(&data["name"])?.into(), columns, rows, notes })
    }
}

fn cell_data(cell: &Cell) -> Value {
    let (kind, value) = match cell {
        Cell::Empty | Cell::Mean(_) => return Value::Null,
        Cell::Text(text) => return json!(text),
        Cell::Count(value) => ("count", json!(value)),
        Cell::Time(value) => ("time", json!(value)),
        Cell::Bytes(value) => ("bytes", json!(value)),
        Cell::Rate(value) => ("rate", json!(value)),
        Cell::Share(value) => ("share", json!(value)),
        Cell::Number(value) => ("number", json!(value)),
    };
    Value::Object(Map::from_iter([(kind.to_string(), value)]))
}

fn data_cell(data: &Value) -> Option<Cell> {
    let object = match data {
        Value::Null => return Some(Cell::Empty),
        Value::String(text) => return Some(Cell::Text(text.clone())),
        Value::Object(object) => object,
        _ => return None,
    };
    let (kind, value) = object.iter().next()?;
    Some(match kind.as_str() {
        "count" => Cell::Count(value.as_u64()?),
        "time" => Cell::Time(value.as_u64()?),
        "bytes" => Cell::Bytes(value.as_u64()?),
        "rate" => Cell::Rate(value.as_f64()?),
        "share" => Cell::Share(value.as_f64()?),
        "number" => Cell::Number(value.as_f64()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let mut table = Table::new("links", &[("link", "link"), ("rate", "rate_bps")]);
        for cell in [
            Cell::Empty,
            Cell::Count(u64::MAX),
            Cell::Time(1),
            Cell::Bytes(2),
            Cell::Rate(0.1 + 0.2),
            Cell::Share(1.0 / 3.0),
            Cell::Number(1e-300),
        ] {
            table.rows.push(vec![Cell::Text("a -> b".to_string()), cell]);
        }
        table.notes.push("a note".to_string());
        let text = table.to_data().to_string();
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(Table::of_data(&read), Some(table));
        assert_eq!(Table::of_data(&json!({"name": "x"})), None);
    }
}
