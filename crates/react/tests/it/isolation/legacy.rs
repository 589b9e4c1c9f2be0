// SPDX-License-Identifier: Apache-2.0
//! A legacy controller of the program as written: entries and default actions of malleable and ordinary tables, and cells
//! of registers, drawn from a seed.

use crate::generated::Target as Architecture;
use ir::{Bits, KeyPattern, MatchKind, Program, RegisterId, TableId};
use state::{BoundAction, CellRange, CellValues, NewEntry, Update};
use std::sync::Arc;
use testing::Choices;

pub struct Legacy {
    program: Arc<Program>,
    choices: Choices,
    tables: Vec<TableId>,
    register: RegisterId,
    /// Entries that were added, by table, keys and priority.
    entries: Vec<(TableId, Vec<KeyPattern>, i64)>,
    /// Whether it does anything.
    is_busy: bool,
    architecture: Architecture,
}

impl Legacy {
    /// The controller of a generated program, whose tables are `t0`, `t1`, and so on.
    pub fn new(program: Arc<Program>, seed: u64, architecture: Architecture) -> Legacy {
        let tables = program.tables.iter().enumerate();
        let tables = tables.filter(|(_, table)| table.name.contains("I.t"));
        let tables = tables.map(|(at, _)| TableId(at as u32)).collect();
        let register = program.registers.iter().position(|register| register.name.ends_with("I.r"));
        let register = RegisterId(register.expect("the register of all programs") as u32);
        let choices = Choices::from_seed(seed ^ 0x1e9_ac4);
        let is_busy = seed % 3 == 2;
        Legacy { program, choices, tables, register, entries: Vec::new(), is_busy, architecture }
    }

    /// Whether the controller does something now.
    pub fn is_due(&mut self) -> bool {
        self.is_busy && self.choices.one_in(8)
    }

    fn pattern(&mut self, kind: &MatchKind, width_bits: u32) -> KeyPattern {
        let ones = u64::MAX >> (64 - width_bits);
        let bits = |value: u64| Bits::from_u64(width_bits, value & ones);
        let value = self.choices.below(4) as u64;
        match kind {
            MatchKind::Lpm => {
                let length_bits = [0, width_bits - 2, width_bits - 1, width_bits];
                let length_bits = length_bits[self.choices.below(4)];
                let mask = Bits::prefix_mask(width_bits, length_bits);
                let value = bits(value).binary(ir::BinaryOperation::And, &mask);
                KeyPattern::Prefix { value, length_bits }
            }
            MatchKind::Ternary => match [ones, 3, 1, 0][self.choices.below(4)] {
                0 => KeyPattern::Any,
                mask => KeyPattern::Ternary { value: bits(value & mask), mask: bits(mask) },
            },
            MatchKind::Range => match self.choices.below(3) {
                0 => KeyPattern::Any,
                more => KeyPattern::Range { low: bits(value), high: bits(value + more as u64) },
            },
            _ => KeyPattern::Exact(bits(value)),
        }
    }

    fn action(&mut self, table: TableId) -> BoundAction {
        let program = self.program.clone();
        let listed = &program.tables[table.index()].actions;
        let action = listed[self.choices.below(listed.len())].action;
        let parameters = &program.actions[action.index()].parameters;
        let arguments = parameters.iter().map(|parameter| {
            let width_bits = program.slots[parameter.slot.index()].ty.width_bits();
            Bits::from_u64(width_bits, self.choices.below(6) as u64)
        });
        BoundAction { action, arguments: arguments.collect() }
    }

    /// The next update of an entry or a default action.
    pub fn table_update(&mut self) -> Update {
        let at = self.choices.below(self.tables.len());
        let table = self.tables[at];
        let kind = self.choices.below(6);
        let own = self.entries.iter().enumerate().filter(|(_, entry)| entry.0 == table);
        let own: Vec<usize> = own.map(|(at, _)| at).collect();
        let action = self.action(table);
        match (kind, own.is_empty()) {
            (0, _) => Update::SetDefaultAction { table, action: Some(action) },
            (1 | 2, false) => {
                let (_, keys, priority) = self.entries[*self.choices.pick(&own)].clone();
                let entry = NewEntry::direct(keys, priority, action);
                Update::ModifyEntry { table, entry }
            }
            (3, false) => {
                let (table, keys, priority) = self.entries.swap_remove(*self.choices.pick(&own));
                Update::DeleteEntry { table, keys, priority }
            }
            _ => {
                let program = self.program.clone();
                let declared = &program.tables[table.index()];
                let keys = declared.keys.iter();
                let keys: Vec<KeyPattern> =
                    keys.map(|key| self.pattern(&key.match_kind, key.width_bits)).collect();
                let has_priorities = declared.has_priorities();
                let priority = if has_priorities { 1 + self.choices.below(20) as i64 } else { 0 };
                self.entries.push((table, keys.clone(), priority));
                Update::InsertEntry { table, entry: NewEntry::direct(keys, priority, action) }
            }
        }
    }

    /// The next write of a cell of the measured register: the cell, the value, the update.
    pub fn register_write(&mut self) -> (u64, u64, Update) {
        let (cell, value) = (self.choices.below(12) as u64, 1000 + self.choices.below(1000) as u64);
        let values = CellValues::Same(Bits::from_u64(32, value));
        let (register, cells) = (self.register, CellRange::one(cell));
        (cell, value, Update::WriteRegister { register, cells, values })
    }

    /// Whether the next operation writes a register.
    pub fn writes_register(&mut self) -> bool {
        // Packets carry away what register actions read.
        self.choices.one_in(4) && self.architecture == Architecture::V1model
    }
}
