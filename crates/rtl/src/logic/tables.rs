// SPDX-License-Identifier: Apache-2.0
//! Tables with constant entries: comparisons in the order in which entries win, then the code of each action on its own path.

use super::{Logic, Reached, constant};
use crate::codes;
use ir::{Entry, KeyPattern, OriginId, Table, TableId};

/// What an applied table gives.
pub(super) struct Applied {
    pub hit: String,
    pub action: String,
    /// Where the code behind it goes on; `None` if every action ends the block.
    pub place: Option<Reached>,
    pub exits: Vec<Reached>,
}

/// Entries in the order in which they win.
fn sorted(table: &Table) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = table.entries.iter().collect();
    if table.has_priorities() {
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.priority));
    } else {
        let length = |entry: &&Entry| {
            let lengths = entry.keys.iter().map(|key| match key {
                KeyPattern::Prefix { length_bits, .. } => *length_bits,
                KeyPattern::Exact(bits) => bits.width_bits(),
                _ => 0,
            });
            lengths.sum::<u32>()
        };
        entries.sort_by_key(|entry| std::cmp::Reverse(length(entry)));
    }
    entries
}

/// The comparison of a key with a pattern.
fn matches(key: &str, pattern: &KeyPattern) -> String {
    match pattern {
        KeyPattern::Any => "1'b1".to_owned(),
        KeyPattern::Exact(value) => format!("({key} == {})", constant(value)),
        KeyPattern::Prefix { value, length_bits } => {
            let mask = ir::Bits::prefix_mask(value.width_bits(), *length_bits);
            format!("(({key} & {}) == {})", constant(&mask), constant(value))
        }
        KeyPattern::Ternary { value, mask } => {
            format!("(({key} & {}) == {})", constant(mask), constant(value))
        }
        KeyPattern::Range { low, high } => {
            let mut tests = Vec::new();
            if !low.is_zero() {
                tests.push(format!("{key} >= {}", constant(low)));
            }
            if *high != ir::Bits::ones(high.width_bits()) {
                tests.push(format!("{key} <= {}", constant(high)));
            }
            if tests.is_empty() { "1'b1".to_owned() } else { format!("({})", tests.join(" && ")) }
        }
    }
}

impl Logic<'_> {
    pub(super) fn apply(
        &mut self,
        id: TableId,
        keys: &[String],
        place: &Reached,
        origin: OriginId,
    ) -> Applied {
        let program = self.program;
        let table = &program.tables[id.index()];
        let is_fixed = table.const_entries || table.keys.is_empty();
        if !is_fixed || table.implementation.is_some() {
            let help = "declare the entries with `const entries`, or write conditions instead of the table";
            let message = format!("the entries of table `{}` are written at run time", table.name);
            self.refuse(codes::TABLE, origin, message, help);
        }
        if !table.direct_meters.is_empty() {
            let help = "leave the meters to the program in front of the machine";
            let message = format!("table `{}` has direct meters", table.name);
            self.refuse(codes::OPERATION, origin, message, help);
        }
        let mut calls = Vec::new();
        let mut none = "1'b1".to_owned();
        for entry in sorted(table) {
            let mut tests: Vec<String> =
                keys.iter().zip(&entry.keys).map(|(key, pattern)| matches(key, pattern)).collect();
            tests.push(none.clone());
            let wins = self.wire(1, &tests.join(" && "));
            none = self.wire(1, &format!("{none} & ~{wins}"));
            calls.push((wins, &entry.call));
        }
        let miss = self.wire(1, &none);
        let hit = self.wire(1, &format!("~{miss}"));
        calls.push((miss, &table.default_action));
        let mut action = "32'hffffffff".to_owned();
        let (mut ends, mut exits) = (Vec::new(), Vec::new());
        for (number, listed) in table.actions.iter().enumerate() {
            let own: Vec<_> =
                calls.iter().filter(|(_, call)| call.action as usize == number).collect();
            if own.is_empty() {
                continue;
            }
            let any: Vec<&str> = own.iter().map(|(wins, _)| &**wins).collect();
            let any = self.wire(1, &any.join(" | "));
            action = format!("{any} ? 32'd{number} : {action}");
            let condition = self.narrowed(&place.condition, &[(&any, true)]);
            let mut slots = place.slots.clone();
            let declared = &program.actions[listed.action.index()];
            for (at, parameter) in declared.parameters.iter().enumerate() {
                let mut value = "'0".to_owned();
                for (wins, call) in &own {
                    if let Some(argument) = call.arguments.get(at) {
                        value = format!("{wins} ? {} : {value}", constant(argument));
                    }
                }
                let width = self.slot_width(parameter.slot);
                let value = self.wire(width, &value);
                slots.insert(parameter.slot, value);
            }
            let (action_ends, action_exits) =
                self.region(declared.region, Reached { condition, slots });
            ends.extend(action_ends);
            exits.extend(action_exits);
        }
        let action = self.wire(32, &action);
        Applied { hit, action, place: self.join(ends), exits }
    }
}
