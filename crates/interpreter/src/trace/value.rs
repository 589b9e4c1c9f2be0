// SPDX-License-Identifier: Apache-2.0
//! How values, patterns and entries of the program are written for people.

use ir::{Bits, Display, KeyPattern, Program};
use state::{ActionData, BoundAction, EntryRecord};

/// A number: decimal up to 16 bits, else hexadecimal with all its digits.
fn number_text(value: &Bits) -> String {
    let width_bits = value.width_bits();
    match value.to_u64() {
        Some(number) if width_bits <= 16 => number.to_string(),
        _ => hexadecimal(value),
    }
}

/// `0x` and all digits that the width has.
pub(super) fn hexadecimal(value: &Bits) -> String {
    let digits = value.width_bits().div_ceil(4).max(1) as usize;
    format!("0x{:0>digits$}", value.to_biguint().to_str_radix(16))
}

/// A value as its declaration wants it shown.
pub fn value_text(program: &Program, display: &Display, value: &Bits) -> String {
    match display {
        Display::Unsigned => number_text(value),
        Display::Signed => value.to_signed_bigint().to_string(),
        Display::Bool => value.is_true().to_string(),
        Display::Error => match program.errors.get(value.low_u64() as usize) {
            Some(name) => format!("error.{name}"),
            None => number_text(value),
        },
        Display::Enum(name, members) => match members.iter().find(|(_, member)| member == value) {
            Some((member, _)) => format!("{name}.{member}"),
            None => number_text(value),
        },
    }
}

/// A pattern in P4's notation.
pub fn pattern_text(program: &Program, display: &Display, pattern: &KeyPattern) -> String {
    let text = |value: &Bits| value_text(program, display, value);
    match pattern {
        KeyPattern::Any => "_".to_owned(),
        KeyPattern::Exact(value) => text(value),
        KeyPattern::Prefix { value, length_bits } => format!("{}/{length_bits}", text(value)),
        KeyPattern::Ternary { value, mask } => format!("{} &&& {}", text(value), hexadecimal(mask)),
        KeyPattern::Range { low, high } => format!("{} .. {}", text(low), text(high)),
    }
}

/// An action with its arguments, such as `forward(port = 3)`.
pub(super) fn action_text(program: &Program, bound: &BoundAction) -> String {
    let Some(action) = program.actions.get(bound.action.index()) else {
        return String::new();
    };
    let arguments: Vec<String> = action
        .parameters
        .iter()
        .zip(&bound.arguments)
        .map(|(parameter, value)| {
            let display = program
                .slots
                .get(parameter.slot.index())
                .map_or(&Display::Unsigned, |slot| &slot.display);
            format!("{} = {}", parameter.name, value_text(program, display, value))
        })
        .collect();
    format!("{}({})", action.name, arguments.join(", "))
}

/// The keys of a table's entry, with its priority where it has one, and its member or group.
pub fn entry_text(program: &Program, table: &ir::Table, entry: &EntryRecord) -> String {
    let keys = table.keys.iter().filter(|key| key.match_kind != ir::MatchKind::Selector);
    let patterns: Vec<String> = keys
        .zip(&entry.keys)
        .map(|(key, pattern)| pattern_text(program, &key.display, pattern))
        .collect();
    let mut text = format!("({})", patterns.join(", "));
    if entry.priority != 0 {
        text.push_str(&format!(" priority {}", entry.priority));
    }
    match &entry.action {
        ActionData::Direct(_) => {}
        ActionData::Member(member) => text.push_str(&format!(" member {member}")),
        ActionData::Group(group) => text.push_str(&format!(" group {group}")),
        ActionData::OneShot(actions) => {
            text.push_str(&format!(" one of {} actions", actions.len()));
        }
    }
    text
}
