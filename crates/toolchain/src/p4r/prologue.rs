// SPDX-License-Identifier: Apache-2.0
//! The entries that the agent's prologue installs, as BMv2's commands.

use control::target::{Batch, Item};
use ir::{Bits, Key, KeyPattern, MatchKind, Program};
use state::{ActionData, BatchItem, NewEntry, Update};

fn number(value: &Bits) -> String {
    value.to_biguint().to_string()
}

/// Formats a pattern for a key.
fn pattern(key: &Key, pattern: &KeyPattern) -> String {
    let ones = Bits::ones(key.width_bits);
    match (pattern, &key.match_kind) {
        (KeyPattern::Any, MatchKind::Range) => format!("0->{}", number(&ones)),
        (KeyPattern::Any, MatchKind::Lpm) => "0/0".to_string(),
        (KeyPattern::Any, _) => "0&&&0".to_string(),
        (KeyPattern::Exact(value), MatchKind::Ternary) => {
            format!("{}&&&{}", number(value), number(&ones))
        }
        (KeyPattern::Exact(value), MatchKind::Range) => {
            format!("{}->{}", number(value), number(value))
        }
        (KeyPattern::Exact(value), MatchKind::Lpm) => {
            format!("{}/{}", number(value), key.width_bits)
        }
        (KeyPattern::Exact(value), _) => number(value),
        (KeyPattern::Prefix { value, length_bits }, MatchKind::Ternary) => {
            let mask = Bits::prefix_mask(key.width_bits, *length_bits);
            format!("{}&&&{}", number(value), number(&mask))
        }
        (KeyPattern::Prefix { value, length_bits }, _) => {
            format!("{}/{length_bits}", number(value))
        }
        (KeyPattern::Ternary { value, mask }, _) => format!("{}&&&{}", number(value), number(mask)),
        (KeyPattern::Range { low, high }, _) => format!("{}->{}", number(low), number(high)),
    }
}

/// Writes the insertions of a batch. BMv2's smallest priority wins.
pub(super) fn commands(program: &Program, batch: &Batch) -> String {
    let inserted = batch.items.iter().filter_map(|item| match item {
        Item::State(BatchItem::Update(Update::InsertEntry { table, entry })) => {
            Some((*table, entry))
        }
        _ => None,
    });
    let all: Vec<(ir::TableId, &NewEntry)> = inserted.collect();
    let mut priorities: Vec<i64> = all.iter().map(|(_, entry)| entry.priority).collect();
    priorities.sort_unstable_by_key(|priority| std::cmp::Reverse(*priority));
    priorities.dedup();
    let mut text = String::from("# SPDX-License-Identifier: Apache-2.0\n");
    for (table, entry) in all {
        let table = &program.tables[table.index()];
        let ActionData::Direct(action) = &entry.action else { continue };
        let keys = table.keys.iter().zip(&entry.keys);
        let keys: Vec<String> = keys.map(|(key, given)| pattern(key, given)).collect();
        let mut line = format!(
            "table_add {} {} {} =>",
            table.name,
            program.actions[action.action.index()].name,
            keys.join(" ")
        );
        for argument in &action.arguments {
            line.push_str(&format!(" {}", number(argument)));
        }
        if table.has_priorities() {
            let rank = priorities.iter().position(|priority| *priority == entry.priority);
            line.push_str(&format!(" {}", rank.unwrap_or(0) + 1));
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}
