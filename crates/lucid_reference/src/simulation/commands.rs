// SPDX-License-Identifier: Apache-2.0
//! Commands of a control plane, resolved: their effect on the state of a switch, and their results. A command
//! is atomic and runs between two handlers.

use crate::interpreter::{Entry, Group, State, Value};
use lucid::core::{ActionId, GlobalId, Program};
use serde_json::json;

/// A command on the state of one switch.
#[derive(Clone, Debug, PartialEq)]
pub enum ResolvedCommand {
    /// Cells `start` to `end`, without `end`; `single` if one index was asked for.
    ArrayGet {
        /// The array.
        array: GlobalId,
        /// The first cell.
        start: u64,
        /// The cell after the last one.
        end: u64,
        /// Whether the command named one index.
        single: bool,
    },
    /// Writes cells `start` to `end`, without `end`.
    ArraySet {
        /// The array.
        array: GlobalId,
        /// The first cell.
        start: u64,
        /// The cell after the last one.
        end: u64,
        /// What each gets; of single cells the first value.
        values: [u128; 2],
    },
    /// Installs an entry.
    TableInstall {
        /// The table.
        table: GlobalId,
        /// The entry.
        entry: Entry,
    },
    /// Removes the entry with a key.
    TableRemove {
        /// The table.
        table: GlobalId,
        /// Value and mask of each field.
        key: Vec<(u128, u128)>,
    },
    /// Reads all entries.
    TableGet {
        /// The table.
        table: GlobalId,
    },
}

/// What a command did.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandResult {
    /// The command as a person reads it.
    pub text: String,
    /// What it read.
    pub result: Option<serde_json::Value>,
    /// The table that was full, if an entry was not taken.
    pub table_full: Option<GlobalId>,
}

/// A number in JSON: beyond 64 bits as text.
pub(crate) fn json_number(value: u128) -> serde_json::Value {
    u64::try_from(value).map_or_else(|_| json!(value.to_string()), |value| json!(value))
}

/// A value in JSON.
pub(crate) fn json_value(value: &Value) -> serde_json::Value {
    use crate::interpreter::Place;
    match value {
        Value::Int(value) => json_number(*value),
        Value::Bool(value) => json!(value),
        Value::Group(group) => group_json(group),
        Value::Payload(bytes) => json!({ "bytes": hexadecimal(bytes) }),
        Value::Event(event) => {
            let arguments: Vec<serde_json::Value> =
                event.arguments.iter().map(json_value).collect();
            let place = match &event.place {
                Place::Here => json!(null),
                Place::Switch(switch) => json!(switch),
                Place::Switches(group) => group_json(group),
            };
            json!({ "event": event.event.0, "args": arguments, "delay": event.delay_ns, "place": place })
        }
    }
}

/// A group in JSON: its members, or the port that a flood leaves out.
pub(crate) fn group_json(group: &Group) -> serde_json::Value {
    match group {
        Group::Members(members) => json!(members.as_ref()),
        Group::AllBut(port) => json!({ "all_but": port }),
    }
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn key_text(key: &[(u128, u128)], program: &Program, table: GlobalId) -> Vec<String> {
    let widths = match &program.globals[table.0 as usize].kind {
        lucid::core::GlobalKind::Table(table) => table.key_widths.as_slice(),
        _ => &[],
    };
    let field = |(at, (value, mask)): (usize, &(u128, u128))| {
        let all = widths.get(at).map_or(u128::MAX, |width| lucid::core::arithmetic::mask(*width));
        match *mask {
            0 => "_".to_string(),
            mask if mask == all => value.to_string(),
            mask => format!("{value} &&& {mask}"),
        }
    };
    key.iter().enumerate().map(field).collect()
}

impl ResolvedCommand {
    /// Does it.
    pub fn run(&self, program: &Program, state: &mut State) -> CommandResult {
        let global = |id: &GlobalId| &program.globals[id.0 as usize].name;
        let answer = |text: String, result| CommandResult { text, result, table_full: None };
        match self {
            ResolvedCommand::ArrayGet { array, start, end, single } => {
                let cells = state.cells(*array);
                let pairs = cells.is_some_and(|cells| cells.is_pairs());
                let value = |index: u64| -> serde_json::Value {
                    let cell = cells.and_then(|cells| cells.get(u128::from(index)));
                    let [first, second] = cell.unwrap_or_default();
                    if pairs {
                        json!([json_number(first), json_number(second)])
                    } else {
                        json!([json_number(first)])
                    }
                };
                let name = global(array);
                if *single {
                    let result =
                        json!({ "array": name.as_ref(), "index": start, "value": value(*start) });
                    return answer(format!("Array.get({name}, {start})"), Some(result));
                }
                let values: Vec<serde_json::Value> = (*start..*end).map(value).collect();
                let result =
                    json!({ "array": name.as_ref(), "start": start, "end": end, "values": values });
                answer(format!("Array.getrange({name}, {start}, {end})"), Some(result))
            }
            ResolvedCommand::ArraySet { array, start, end, values } => {
                let mut pairs = false;
                if let Some(cells) = state.cells_mut(*array) {
                    pairs = cells.is_pairs();
                    for index in *start..*end {
                        cells.set(u128::from(index), *values);
                    }
                }
                let [first, second] = values;
                let name = global(array);
                let value = if pairs { format!("[{first}, {second}]") } else { first.to_string() };
                answer(
                    if *end == *start + 1 {
                        format!("Array.set({name}, {start}, {value})")
                    } else {
                        format!("Array.setrange({name}, {start}, {end}, {value})")
                    },
                    None,
                )
            }
            ResolvedCommand::TableInstall { table, entry } => {
                let taken =
                    state.table_mut(*table).is_some_and(|table| table.install(entry.clone()));
                let text = format!(
                    "Table.install({}, {})",
                    global(table),
                    entry_text(program, *table, entry)
                );
                CommandResult { text, result: None, table_full: (!taken).then_some(*table) }
            }
            ResolvedCommand::TableRemove { table, key } => {
                let removed = state.table_mut(*table).map_or(0, |table| table.remove(key));
                let text = format!(
                    "Table.remove({}, [{}])",
                    global(table),
                    key_text(key, program, *table).join(", ")
                );
                answer(text, Some(json!({ "table": global(table).as_ref(), "removed": removed })))
            }
            ResolvedCommand::TableGet { table } => {
                let entries = state.table(*table).map(|table| table.entries()).unwrap_or_default();
                let entry = |entry: &Entry| {
                    let arguments: Vec<serde_json::Value> =
                        entry.arguments.iter().map(json_value).collect();
                    json!({
                        "key": key_text(&entry.key, program, *table),
                        "priority": entry.priority,
                        "action": action_name(program, entry.action),
                        "args": arguments,
                    })
                };
                let entries: Vec<serde_json::Value> = entries.iter().map(entry).collect();
                let result = json!({ "table": global(table).as_ref(), "entries": entries });
                answer(format!("Table.get({})", global(table)), Some(result))
            }
        }
    }
}

fn action_name(program: &Program, action: ActionId) -> &str {
    program.actions.get(action.0 as usize).map_or("", |action| action.name.as_ref())
}

fn entry_text(program: &Program, table: GlobalId, entry: &Entry) -> String {
    let arguments: Vec<String> =
        entry.arguments.iter().map(|value| json_value(value).to_string()).collect();
    format!(
        "[{}], {}({})",
        key_text(&entry.key, program, table).join(", "),
        action_name(program, entry.action),
        arguments.join(", ")
    )
}
