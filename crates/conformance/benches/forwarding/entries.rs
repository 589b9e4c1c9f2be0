// SPDX-License-Identifier: Apache-2.0
//! Entries made for the state store directly, by the names of table and action.

use control::command::Origin;
use ir::{Bits, KeyPattern, Program, TableId};
use state::{BoundAction, NewEntry, Update};

/// Writes entries with one action into one table.
pub struct EntryWriter {
    table: TableId,
    action: ir::ActionId,
    key_widths_bits: Vec<u32>,
    parameter_widths_bits: Vec<u32>,
}

impl EntryWriter {
    /// Names must be the program's: it is this benchmark's own.
    pub fn new(program: &Program, table: &str, action: &str) -> EntryWriter {
        let origin = Origin { file: "benchmark".to_string(), place: String::new() };
        let id = control::lookup::table(program, table, &origin).expect("the table exists");
        let listed = control::lookup::table_action(program, id, action, &origin);
        let table = &program.tables[id.index()];
        let action = table.actions[listed.expect("the table has the action")].action;
        let parameters = &program.actions[action.index()].parameters;
        let width_bits =
            |parameter: &ir::ActionParameter| program.slots[parameter.slot.index()].ty.width_bits();
        EntryWriter {
            table: id,
            action,
            key_widths_bits: table.keys.iter().map(|key| key.width_bits).collect(),
            parameter_widths_bits: parameters.iter().map(width_bits).collect(),
        }
    }

    /// Adds an entry.
    pub fn insert(&self, keys: Vec<KeyPattern>, priority: i64, arguments: &[u64]) -> Update {
        let widths_bits = self.parameter_widths_bits.iter();
        let arguments =
            widths_bits.zip(arguments).map(|(bits, value)| Bits::from_u64(*bits, *value));
        self.insert_wide(keys, priority, arguments.collect())
    }

    /// Adds an entry whose arguments have the widths of the parameters.
    pub fn insert_wide(
        &self,
        keys: Vec<KeyPattern>,
        priority: i64,
        arguments: Vec<Bits>,
    ) -> Update {
        let action = BoundAction { action: self.action, arguments };
        Update::InsertEntry { table: self.table, entry: NewEntry::direct(keys, priority, action) }
    }

    /// A value of a key.
    pub fn exact(&self, key: usize, value: u64) -> KeyPattern {
        KeyPattern::Exact(Bits::from_u64(self.key_widths_bits[key], value))
    }

    /// A prefix of a key.
    pub fn prefix(&self, key: usize, value: u64, length_bits: u32) -> KeyPattern {
        KeyPattern::Prefix { value: Bits::from_u64(self.key_widths_bits[key], value), length_bits }
    }

    /// A value of a key under a mask.
    pub fn ternary(&self, key: usize, value: u64, mask: u64) -> KeyPattern {
        let width_bits = self.key_widths_bits[key];
        KeyPattern::Ternary {
            value: Bits::from_u64(width_bits, value),
            mask: Bits::from_u64(width_bits, mask),
        }
    }
}
