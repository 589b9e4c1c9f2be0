// SPDX-License-Identifier: Apache-2.0
//! Formats values, patterns and entries of the program for people. `naming` finds addresses and times by names.
//!
//! A number without sign is decimal up to 16 bits and hexadecimal with all its digits above. In a
//! named place, 48 bits are a MAC address unless the name says they are a time, which is decimal; 32
//! and 128 bits whose name says that they are an IP address have it behind the number.

use super::naming::{Meaning, meaning_of};
use ir::{Bits, Display, KeyPattern, Program};
use state::{ActionData, BoundAction, EntryRecord};
use std::net::{Ipv4Addr, Ipv6Addr};

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
    let number = value.to_biguint().to_str_radix(16);
    let zeros = digits.saturating_sub(number.len());
    // A width of `format!` ends at 65,535.
    format!("0x{}{number}", "0".repeat(zeros))
}

fn mac_address(value: &Bits) -> String {
    let number = value.low_u64();
    let octets: Vec<String> =
        (0..6).rev().map(|octet| format!("{:02x}", (number >> (8 * octet)) & 0xff)).collect();
    octets.join(":")
}

/// An IP address, when the width is one's.
fn ip_address(value: &Bits) -> Option<String> {
    match value.width_bits() {
        32 => u32::try_from(value.low_u64()).ok().map(|bits| Ipv4Addr::from(bits).to_string()),
        128 => u128::try_from(value.to_biguint()).ok().map(|bits| Ipv6Addr::from(bits).to_string()),
        _ => None,
    }
}

/// A number of a place with this name, which may be empty.
fn named_number_text(name: &str, value: &Bits) -> String {
    match (meaning_of(name), value.width_bits()) {
        (Meaning::Time, _) => value.to_biguint().to_string(),
        (Meaning::IpAddress, 32 | 128) => match ip_address(value) {
            Some(address) => format!("{} ({address})", hexadecimal(value)),
            None => hexadecimal(value),
        },
        (_, 48) if !name.is_empty() => mac_address(value),
        _ => number_text(value),
    }
}

/// A value in its declared display form; `name` is that of its place, or empty.
pub fn value_text(program: &Program, display: &Display, name: &str, value: &Bits) -> String {
    match display {
        Display::Unsigned => named_number_text(name, value),
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

/// A pattern in P4's notation; `name` is the key's. IP addresses are shown without their number.
pub fn pattern_text(
    program: &Program,
    display: &Display,
    name: &str,
    pattern: &KeyPattern,
) -> String {
    let is_address = matches!(display, Display::Unsigned) && meaning_of(name) == Meaning::IpAddress;
    let text = |value: &Bits| match ip_address(value) {
        Some(address) if is_address => address,
        _ => value_text(program, display, name, value),
    };
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
            let text = value_text(program, display, &parameter.name, value);
            format!("{} = {text}", parameter.name)
        })
        .collect();
    format!("{}({})", action.name, arguments.join(", "))
}

/// The keys of a table's entry, with its priority where it has one, and its member or group.
pub fn entry_text(program: &Program, table: &ir::Table, entry: &EntryRecord) -> String {
    let keys = table.keys.iter().filter(|key| key.match_kind != ir::MatchKind::Selector);
    let patterns: Vec<String> = keys
        .zip(&entry.keys)
        .map(|(key, pattern)| pattern_text(program, &key.display, &key.name, pattern))
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

/// A count with its thousands apart, such as `99,900`.
pub fn count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
