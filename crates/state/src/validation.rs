// SPDX-License-Identifier: Apache-2.0
//! Checks updates of a control plane against the program and brings them into canonical form. `draft` checks them
//! against the store's content.

use crate::{BoundAction, MeterConfiguration, Replica, UpdateError};
use ir::{BinaryOperation, Bits, Key, KeyPattern, MatchKind, Program, ResizeKind, Table};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A number for messages: decimal when small, hexadecimal when large.
pub(crate) fn number_text(value: &Bits) -> String {
    match value.to_u64() {
        Some(small) if small < 1 << 16 => small.to_string(),
        _ => format!("{:#x}", value.to_biguint()),
    }
}

/// The value in this width, if it fits.
pub(crate) fn fit(value: &Bits, width_bits: u32) -> Option<Bits> {
    use std::cmp::Ordering::*;
    match value.width_bits().cmp(&width_bits) {
        Equal => Some(value.clone()),
        Less => Some(value.resize(ResizeKind::ZeroExtend, width_bits)),
        Greater => {
            let narrow = value.resize(ResizeKind::Truncate, width_bits);
            let back = narrow.resize(ResizeKind::ZeroExtend, value.width_bits());
            (back == *value).then_some(narrow)
        }
    }
}

/// Checks one pattern for one key of the table or value set called `object`.
fn canonical_pattern(
    object: &Arc<str>,
    key: &Key,
    pattern: &KeyPattern,
) -> Result<KeyPattern, UpdateError> {
    let width_bits = key.width_bits;
    let fitting = |value: &Bits| {
        fit(value, width_bits).ok_or_else(|| UpdateError::KeyTooWide {
            object: object.clone(),
            key: key.name.clone(),
            width_bits,
            value: number_text(value),
        })
    };
    let refuse = |pattern| UpdateError::PatternNotOfKind {
        object: object.clone(),
        key: key.name.clone(),
        match_kind: key.match_kind.name().into(),
        pattern,
    };
    let kind = &key.match_kind;
    let any_mask = matches!(kind, MatchKind::Ternary | MatchKind::Other(_));
    match pattern {
        KeyPattern::Any if *kind == MatchKind::Exact => Err(refuse("wildcard")),
        KeyPattern::Any if *kind == MatchKind::Lpm => prefix(&Bits::zero(width_bits), 0),
        KeyPattern::Any => Ok(KeyPattern::Any),
        KeyPattern::Exact(value) => {
            let value = fitting(value)?;
            match kind {
                MatchKind::Lpm => prefix(&value, width_bits),
                MatchKind::Ternary => {
                    Ok(KeyPattern::Ternary { value, mask: Bits::ones(width_bits) })
                }
                MatchKind::Range => Ok(KeyPattern::Range { low: value.clone(), high: value }),
                _ => Ok(KeyPattern::Exact(value)),
            }
        }
        KeyPattern::Prefix { value, length_bits } => {
            let (value, length_bits) = (fitting(value)?, *length_bits);
            if length_bits > width_bits {
                return Err(UpdateError::PrefixTooLong {
                    object: object.clone(),
                    key: key.name.clone(),
                    width_bits,
                    length_bits,
                });
            }
            match kind {
                MatchKind::Lpm => prefix(&value, length_bits),
                _ if any_mask => Ok(ternary(&value, &Bits::prefix_mask(width_bits, length_bits))),
                _ if length_bits == width_bits => {
                    canonical_pattern(object, key, &KeyPattern::Exact(value))
                }
                _ => Err(refuse("prefix")),
            }
        }
        KeyPattern::Ternary { value, mask } => {
            // A mask wider than the key may have ones in front: only those over the key count.
            let mask = match mask.width_bits() > width_bits {
                true => mask.resize(ResizeKind::Truncate, width_bits),
                false => fitting(mask)?,
            };
            let value = fitting(value)?;
            if any_mask {
                return Ok(ternary(&value, &mask));
            }
            if mask == Bits::ones(width_bits) {
                return canonical_pattern(object, key, &KeyPattern::Exact(value));
            }
            if mask.is_zero() && *kind != MatchKind::Exact {
                return canonical_pattern(object, key, &KeyPattern::Any);
            }
            match (0..=width_bits).find(|&length| Bits::prefix_mask(width_bits, length) == mask) {
                Some(length_bits) if *kind == MatchKind::Lpm => prefix(&value, length_bits),
                _ => Err(refuse("mask")),
            }
        }
        KeyPattern::Range { low, high } => {
            let (low, high) = (fitting(low)?, fitting(high)?);
            if low.cmp_unsigned(&high).is_gt() {
                return Err(UpdateError::EmptyRange {
                    object: object.clone(),
                    key: key.name.clone(),
                    low: number_text(&low),
                    high: number_text(&high),
                });
            }
            let is_all = low.is_zero() && high == Bits::ones(width_bits);
            match kind {
                MatchKind::Range | MatchKind::Other(_) if is_all => Ok(KeyPattern::Any),
                MatchKind::Range | MatchKind::Other(_) => Ok(KeyPattern::Range { low, high }),
                _ if low == high => canonical_pattern(object, key, &KeyPattern::Exact(low)),
                MatchKind::Exact => Err(refuse("range")),
                _ if is_all => canonical_pattern(object, key, &KeyPattern::Any),
                _ => Err(refuse("range")),
            }
        }
    }
}

fn prefix(value: &Bits, length_bits: u32) -> Result<KeyPattern, UpdateError> {
    let mask = Bits::prefix_mask(value.width_bits(), length_bits);
    Ok(KeyPattern::Prefix { value: value.binary(BinaryOperation::And, &mask), length_bits })
}

fn ternary(value: &Bits, mask: &Bits) -> KeyPattern {
    if mask.is_zero() {
        return KeyPattern::Any;
    }
    KeyPattern::Ternary { value: value.binary(BinaryOperation::And, mask), mask: mask.clone() }
}

/// Checks the keys of an entry or value set member.
pub(crate) fn canonical_keys<'a>(
    object: &Arc<str>,
    keys: impl Iterator<Item = &'a Key> + Clone,
    patterns: &[KeyPattern],
) -> Result<Vec<KeyPattern>, UpdateError> {
    let expected = keys.clone().count();
    if expected != patterns.len() {
        return Err(UpdateError::WrongKeyCount {
            object: object.clone(),
            expected,
            given: patterns.len(),
        });
    }
    keys.zip(patterns).map(|(key, pattern)| canonical_pattern(object, key, pattern)).collect()
}

/// Checks the keys of an entry that the program gives. Unlike the control plane it may leave an exact
/// key open: `_` as the whole keyset takes every packet.
pub(crate) fn declared_keys(
    table: &Table,
    patterns: &[KeyPattern],
) -> Result<Vec<KeyPattern>, UpdateError> {
    let keys = matched_keys(table);
    let is_open = |key: &Key, pattern: &KeyPattern| {
        key.match_kind == MatchKind::Exact && *pattern == KeyPattern::Any
    };
    if !keys.clone().zip(patterns).any(|(key, pattern)| is_open(key, pattern)) {
        return canonical_keys(&table.name, keys, patterns);
    }
    keys.zip(patterns)
        .map(|(key, pattern)| match is_open(key, pattern) {
            true => Ok(KeyPattern::Any),
            false => canonical_pattern(&table.name, key, pattern),
        })
        .collect()
}

/// The keys of a table that its entries give.
pub(crate) fn matched_keys(table: &Table) -> impl Iterator<Item = &Key> + Clone {
    table.keys.iter().filter(|key| key.match_kind != MatchKind::Selector)
}

/// Checks number and widths of an action's arguments.
pub(crate) fn fitting_arguments(
    program: &Program,
    action: &BoundAction,
) -> Result<BoundAction, UpdateError> {
    let declared = program
        .actions
        .get(action.action.index())
        .ok_or(UpdateError::NoSuchObject { kind: "action", index: action.action.0 })?;
    if declared.parameters.len() != action.arguments.len() {
        return Err(UpdateError::WrongArgumentCount {
            action: declared.name.clone(),
            expected: declared.parameters.len(),
            given: action.arguments.len(),
        });
    }
    let arguments = declared
        .parameters
        .iter()
        .zip(&action.arguments)
        .map(|(parameter, value)| {
            let width_bits = program
                .slots
                .get(parameter.slot.index())
                .map_or(value.width_bits(), |slot| slot.ty.width_bits());
            fit(value, width_bits).ok_or_else(|| UpdateError::ArgumentTooWide {
                action: declared.name.clone(),
                parameter: parameter.name.clone(),
                width_bits,
                value: number_text(value),
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(BoundAction { action: action.action, arguments })
}

/// Checks that entries of a table (or its default) may run an action, and its arguments.
pub(crate) fn allowed_action(
    program: &Program,
    table: &Table,
    action: &BoundAction,
    is_default: bool,
) -> Result<BoundAction, UpdateError> {
    let action = fitting_arguments(program, action)?;
    let name = || program.actions[action.action.index()].name.clone();
    let mut listed =
        table.actions.iter().filter(|listed| listed.action == action.action).peekable();
    if listed.peek().is_none() {
        return Err(UpdateError::ActionNotInTable { table: table.name.clone(), action: name() });
    }
    let barred =
        |listed: &ir::TableAction| if is_default { listed.table_only } else { listed.default_only };
    match (listed.all(barred), is_default) {
        (false, _) => Ok(action),
        (true, true) => {
            Err(UpdateError::ActionTableOnly { table: table.name.clone(), action: name() })
        }
        (true, false) => {
            Err(UpdateError::ActionDefaultOnly { table: table.name.clone(), action: name() })
        }
    }
}

/// Checks that the committed rate does not exceed the peak rate.
pub(crate) fn check_rates(
    meter: &Arc<str>,
    configuration: &Option<MeterConfiguration>,
) -> Result<(), UpdateError> {
    match configuration {
        Some(rates)
            if rates.committed.rate_micro_units_per_second
                > rates.peak.rate_micro_units_per_second =>
        {
            Err(UpdateError::RatesReversed { meter: meter.clone() })
        }
        _ => Ok(()),
    }
}

/// Checks that no copy is asked for twice.
pub(crate) fn check_replicas(replicas: &[Replica]) -> Result<(), UpdateError> {
    let mut seen = BTreeSet::new();
    match replicas.iter().find(|replica| !seen.insert(**replica)) {
        Some(&Replica { egress_port, instance }) => {
            Err(UpdateError::DuplicateReplica { egress_port, instance })
        }
        None => Ok(()),
    }
}

/// An entry's keys for messages.
pub(crate) fn keys_text(keys: &[KeyPattern]) -> String {
    format!("({})", keys.iter().map(pattern_text).collect::<Vec<_>>().join(", "))
}

/// A pattern as text: `*`, `7`, `10/8`, `7 &&& 15`, `5..9`.
pub fn pattern_text(pattern: &KeyPattern) -> String {
    match pattern {
        KeyPattern::Any => "*".to_owned(),
        KeyPattern::Exact(value) => number_text(value),
        KeyPattern::Prefix { value, length_bits } => {
            format!("{}/{length_bits}", number_text(value))
        }
        KeyPattern::Ternary { value, mask } => {
            format!("{} &&& {}", number_text(value), number_text(mask))
        }
        KeyPattern::Range { low, high } => format!("{}..{}", number_text(low), number_text(high)),
    }
}

/// A member of a value set in canonical form, as [`crate::ValueSetState::members`] has it.
pub fn value_set_member(
    set: &ir::ValueSet,
    member: &[KeyPattern],
) -> Result<Vec<KeyPattern>, UpdateError> {
    canonical_keys(&set.name, set.components.iter(), member)
}

/// The keys of an entry in canonical form, as [`crate::EntryRecord::keys`] has them: two entries with equal
/// ones, and equal priorities where the table has priorities, are one. An error says which key does not fit.
pub fn entry_keys(table: &Table, keys: &[KeyPattern]) -> Result<Vec<KeyPattern>, UpdateError> {
    canonical_keys(&table.name, matched_keys(table), keys)
}
