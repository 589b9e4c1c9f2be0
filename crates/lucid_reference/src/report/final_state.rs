// SPDX-License-Identifier: Apache-2.0
//! The state at the end of a run: all of it as JSON for tools, the nonzero cells as text for people.

use super::values::{integer_json, value_json, value_text};
use crate::interpreter::{Cells, Entry, GlobalState, MatchTable, State};
use lucid::core::{GlobalKind, Program};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// An object by switch number, in it an object by global: the list of an array's values (lists of
/// two for pairs, one value for a counter), or the list of a table's entries.
pub fn state_json<'s>(program: &Program, switches: impl Iterator<Item = &'s State>) -> Value {
    let mut all = Map::new();
    for (switch, state) in switches.enumerate() {
        let mut object = Map::new();
        for (global, state) in program.globals.iter().zip(state.globals()) {
            let value = match state {
                GlobalState::Cells(cells) => cells_json(cells),
                GlobalState::Table(table) => {
                    table.entries().iter().map(|entry| entry_json(program, entry)).collect()
                }
            };
            object.insert(global.name.to_string(), value);
        }
        all.insert(switch.to_string(), Value::Object(object));
    }
    Value::Object(all)
}

fn cells_json(cells: &Cells) -> Value {
    let cell = |index: u64| {
        let [first, second] = cells.get(index.into()).unwrap_or_default();
        match cells.is_pairs() {
            true => json!([integer_json(first), integer_json(second)]),
            false => integer_json(first),
        }
    };
    (0..cells.length()).map(cell).collect()
}

fn entry_json(program: &Program, entry: &Entry) -> Value {
    let field = |(value, mask): &(u128, u128)| json!({ "value": integer_json(*value), "mask": integer_json(*mask) });
    let action = program.actions.get(entry.action.0 as usize).map(|action| &*action.name);
    let arguments = entry.arguments.iter().map(|value| value_json(program, value));
    json!({
        "key": entry.key.iter().map(field).collect::<Value>(),
        "priority": entry.priority,
        "action": action,
        "args": arguments.collect::<Value>(),
    })
}

/// Most cells and entries of one global that are shown to people.
const MAX_SHOWN: usize = 12;

/// Most switches that are shown to people.
const MAX_SWITCHES: usize = 32;

/// The cells that are not zero and the entries of tables, a line a global; nothing for globals and
/// switches without any.
pub fn state_text<'s>(program: &Program, switches: impl Iterator<Item = &'s State>) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for (switch, state) in switches.enumerate() {
        let mut lines = String::new();
        for (global, state) in program.globals.iter().zip(state.globals()) {
            let content = match state {
                GlobalState::Cells(cells) => {
                    cells_text(cells, matches!(global.kind, GlobalKind::Counter { .. }))
                }
                GlobalState::Table(table) => {
                    let widths = match &global.kind {
                        GlobalKind::Table(table) => table.key_widths.as_slice(),
                        _ => &[],
                    };
                    table_text(program, table, widths)
                }
            };
            if let Some(content) = content {
                let _ = writeln!(lines, "    {}: {content}", global.name);
            }
        }
        if lines.is_empty() {
            continue;
        }
        shown += 1;
        if shown > MAX_SWITCHES {
            text.push_str("  and further switches\n");
            break;
        }
        let _ = write!(text, "  switch {switch}\n{lines}");
    }
    text
}

fn cells_text(cells: &Cells, is_counter: bool) -> Option<String> {
    let not_zero = (0..cells.length())
        .filter_map(|index| Some((index, cells.get(index.into())?)))
        .filter(|(_, cell)| *cell != [0, 0]);
    let mut parts = Vec::new();
    let mut count = 0;
    for (index, [first, second]) in not_zero {
        count += 1;
        if parts.len() < MAX_SHOWN {
            parts.push(match (is_counter, cells.is_pairs()) {
                (true, _) => first.to_string(),
                (false, true) => format!("[{index}] = ({first}, {second})"),
                (false, false) => format!("[{index}] = {first}"),
            });
        }
    }
    listed(parts, count)
}

fn table_text(program: &Program, table: &MatchTable, widths: &[u32]) -> Option<String> {
    let entries = table.entries();
    let shown = entries.iter().take(MAX_SHOWN).map(|entry| entry_text(program, entry, widths));
    listed(shown.collect(), entries.len())
}

fn entry_text(program: &Program, entry: &Entry, widths: &[u32]) -> String {
    let field = |((value, mask), width): (&(u128, u128), &u32)| {
        let ones = if *width >= 128 { u128::MAX } else { (1 << width) - 1 };
        match mask & ones {
            0 => "_".to_string(),
            mask if mask == ones => value.to_string(),
            mask => format!("{value} &&& {mask:#x}"),
        }
    };
    let key: Vec<String> = entry.key.iter().zip(widths).map(field).collect();
    let arguments: Vec<String> =
        entry.arguments.iter().map(|value| value_text(program, value)).collect();
    let action = program.actions.get(entry.action.0 as usize).map_or("?", |action| &action.name);
    format!("[{}] -> {action}({})", key.join(", "), arguments.join(", "))
}

fn listed(parts: Vec<String>, count: usize) -> Option<String> {
    if count == 0 {
        return None;
    }
    let more = count - parts.len();
    let end = if more > 0 { format!(", and {more} more") } else { String::new() };
    Some(format!("{}{end}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::Value as Cell;
    use crate::report::example;
    use lucid::core::{ActionId, GlobalId};

    fn states() -> [State; 3] {
        let program = example::program();
        let [mut first, second, mut third] = [(); 3].map(|()| State::new(&program));
        let cells = |state: &mut State, global, index, values| {
            let cells = state.cells_mut(GlobalId(global)).expect("cells");
            assert!(cells.set(index, values));
        };
        cells(&mut first, 0, 1, [7, 0]);
        cells(&mut first, 0, 3, [4_294_967_295, 0]);
        cells(&mut first, 1, 0, [1, 2]);
        let ones = u128::from(u32::MAX);
        for (key, priority) in
            [(vec![(10, ones), (0, 0)], 5), (vec![(0x0a00, 0xff00), (7, 0xffff)], 1)]
        {
            let arguments = vec![Cell::Int(3)];
            let entry = Entry { key, priority, action: ActionId(0), arguments };
            assert!(first.table_mut(GlobalId(3)).expect("a table").install(entry));
        }
        cells(&mut third, 2, 0, [0, 0]);
        [first, second, third]
    }

    #[test]
    fn as_json() {
        testing::assert_snapshot!(format!(
            "{:#}",
            state_json(&example::program(), states().iter())
        ));
    }

    #[test]
    fn as_text() {
        testing::assert_snapshot!(state_text(&example::program(), states().iter()));
    }
}
