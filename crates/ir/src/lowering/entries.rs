// SPDX-License-Identifier: Apache-2.0
//! Entries that a program gives a table (P4_16 v1.2.5 §14.2.1.4): keysets to patterns, and priorities
//! by the rules of §14.2.1.4.1, turned so that the larger number wins.

use super::tables::key_elements;
use super::{Lowered, Lowering, Value, annotation_named, annotation_numbers, bit, codes};
use crate::{Bits, Entry, Key, KeyPattern, MatchKind, Operand, Table};
use num_bigint::BigInt;
use p4::ast::{
    Entry as WrittenEntry, Expression, ExpressionKind, NodeId, TableDeclaration, TablePropertyKind,
};
use p4::typed::{Callee, Definition};

impl<'a> Lowering<'a> {
    pub(super) fn entries(
        &mut self,
        declaration: &'a TableDeclaration,
        written: &'a [WrittenEntry],
        table: &Table,
        nodes: &[NodeId],
    ) -> Lowered<Vec<Entry>> {
        debug_assert_eq!(key_elements(declaration).count(), table.keys.len());
        let priorities = self.priorities(declaration, written)?;
        let mut entries = Vec::with_capacity(written.len());
        for (entry, priority) in written.iter().zip(priorities) {
            self.at(entry.id, entry.span);
            let all_taken = |earlier: &Entry| {
                earlier.keys.iter().all(|pattern| *pattern == KeyPattern::Any)
                    && table.keys.iter().all(|key| key.match_kind == MatchKind::Exact)
            };
            if entries.last().is_some_and(all_taken) {
                // Exact tables have no priorities: what comes after `_` is left out instead.
                break;
            }
            let keys = self.patterns(&entry.keyset, &table.keys)?;
            let reference = &entry.action;
            let info = self.typed.calls.get(&reference.id);
            let node = match info.map(|info| info.callee) {
                Some(Callee::Action(node)) => node,
                _ => match self.typed.definitions.get(&reference.id) {
                    Some(Definition::Node(node)) => *node,
                    _ => return Err(self.missing_fact("the action of an entry")),
                },
            };
            let arguments = reference.arguments.as_deref().unwrap_or(&[]);
            let call = self.action_call(node, info, arguments, table, nodes)?;
            if table.actions[call.action as usize].default_only {
                return Err(self.error(
                    codes::ENTRY_MISMATCH,
                    "the action of this entry is marked `@defaultonly` in the table's list",
                ));
            }
            entries.push(Entry { keys, call, priority, origin: self.origin });
        }
        Ok(entries)
    }

    fn priorities(
        &mut self,
        declaration: &'a TableDeclaration,
        written: &'a [WrittenEntry],
    ) -> Lowered<Vec<i64>> {
        let mut largest_wins = true;
        let mut delta = 1i64;
        for property in &declaration.properties {
            let TablePropertyKind::Custom { name, value } = &property.kind else { continue };
            match &*name.text {
                "largest_priority_wins" => {
                    let wins = self.operand(value)?;
                    largest_wins = wins == bit(true);
                }
                "priority_delta" => {
                    delta = i64::try_from(self.known_u64(value)?).unwrap_or(i64::MAX);
                }
                _ => {}
            }
        }
        let mut given = Vec::with_capacity(written.len());
        for entry in written {
            given.push(match &entry.priority {
                Some(priority) => {
                    let value = self.known_integer(priority)?;
                    match i64::try_from(&value).ok().filter(|value| *value >= 0) {
                        Some(value) => Some(value),
                        None => {
                            return Err(self.error_at(
                                priority.span,
                                codes::ENTRY_PRIORITY,
                                format!("{value} is no priority"),
                            ));
                        }
                    }
                }
                None => None,
            });
        }
        let annotated: Vec<Option<u32>> = written.iter().map(annotated_priority).collect();
        if given.iter().all(Option::is_none) && annotated.iter().any(Option::is_some) {
            // BMv2's annotation: the smallest wins, and others count by their place from 1.
            let priority = |(at, given): (usize, Option<u32>)| match given {
                Some(given) => -i64::from(given),
                None => -(at as i64) - 1,
            };
            return Ok(annotated.into_iter().enumerate().map(priority).collect());
        }
        let count = given.len() as i64;
        let step = |at: i64| at.saturating_mul(delta);
        let mut priorities = Vec::with_capacity(given.len());
        if given.iter().all(Option::is_none) {
            priorities.extend((0..count).map(|at| match largest_wins {
                true => step(count - 1 - at).saturating_add(1),
                false => step(at).saturating_add(1),
            }));
        } else {
            let mut current = match (given.first(), written.first()) {
                (Some(Some(first)), _) => *first,
                (_, Some(entry)) => {
                    return Err(self.error_at(
                        entry.span,
                        codes::ENTRY_PRIORITY,
                        "the first entry needs a priority when others have one",
                    ));
                }
                _ => 0,
            };
            for (at, priority) in given.into_iter().enumerate() {
                current = match priority {
                    Some(priority) => priority,
                    None if largest_wins => current.saturating_sub(delta),
                    None => current.saturating_add(delta),
                };
                if current < 0 {
                    return Err(self.error_at(
                        written[at].span,
                        codes::ENTRY_PRIORITY,
                        "the priority of this entry would be negative",
                    ));
                }
                priorities.push(current);
            }
        }
        if !largest_wins {
            priorities.iter_mut().for_each(|priority| *priority = -*priority);
        }
        Ok(priorities)
    }

    fn patterns(&mut self, keyset: &'a Expression, keys: &[Key]) -> Lowered<Vec<KeyPattern>> {
        let parts: Vec<&'a Expression> = match &keyset.kind {
            ExpressionKind::TupleKeyset(items) | ExpressionKind::List(items) => {
                items.iter().collect()
            }
            _ => vec![keyset],
        };
        if parts.len() != keys.len() {
            if let [ExpressionKind::Default | ExpressionKind::DontCare] =
                parts.iter().map(|part| &part.kind).collect::<Vec<_>>().as_slice()
            {
                // The whole key fits, whatever the match kinds are (§14.2.1.4).
                let matched = keys.iter().filter(|key| key.match_kind != MatchKind::Selector);
                return Ok(matched.map(|_| KeyPattern::Any).collect());
            } else {
                return Err(self.error_at(
                    keyset.span,
                    codes::ENTRY_MISMATCH,
                    format!("the table has {} keys, this entry gives {}", keys.len(), parts.len()),
                ));
            }
        }
        let mut patterns = Vec::with_capacity(keys.len());
        for (part, key) in parts.into_iter().zip(keys) {
            let pattern = self.pattern(part, key)?;
            if key.match_kind != MatchKind::Selector {
                patterns.push(pattern);
            }
        }
        Ok(patterns)
    }

    fn pattern(&mut self, keyset: &'a Expression, key: &Key) -> Lowered<KeyPattern> {
        let width = key.width_bits;
        let misfit = |lowering: &mut Self, what: &str| {
            let message = format!("{what} does not fit the key `{}`", key.name);
            lowering.error_at(keyset.span, codes::ENTRY_MISMATCH, message)
        };
        match &keyset.kind {
            ExpressionKind::Default | ExpressionKind::DontCare | ExpressionKind::Dots => {
                if key.match_kind == MatchKind::Exact {
                    return Err(misfit(self, "a keyset that fits anything"));
                }
                Ok(KeyPattern::Any)
            }
            ExpressionKind::Mask(value, mask) => {
                let value = self.known_bits(value, width)?;
                let mask = self.known_bits(mask, width)?;
                let value = value.binary(crate::BinaryOperation::And, &mask);
                match key.match_kind {
                    MatchKind::Lpm => match prefix_length(&mask) {
                        Some(length_bits) => Ok(KeyPattern::Prefix { value, length_bits }),
                        None => Err(misfit(self, "a mask that is no prefix")),
                    },
                    MatchKind::Exact | MatchKind::Optional if mask == Bits::ones(width) => {
                        Ok(KeyPattern::Exact(value))
                    }
                    MatchKind::Optional if mask.is_zero() => Ok(KeyPattern::Any),
                    MatchKind::Exact | MatchKind::Range | MatchKind::Optional => {
                        Err(misfit(self, "a mask"))
                    }
                    _ => Ok(KeyPattern::Ternary { value, mask }),
                }
            }
            ExpressionKind::Range(low, high) => {
                let low = self.known_bits(low, width)?;
                let high = self.known_bits(high, width)?;
                match key.match_kind {
                    MatchKind::Range | MatchKind::Other(_) => Ok(KeyPattern::Range { low, high }),
                    _ if low == high => Ok(KeyPattern::Exact(low)),
                    _ => Err(misfit(self, "a range")),
                }
            }
            ExpressionKind::TupleKeyset(items) | ExpressionKind::List(items)
                if items.len() == 1 =>
            {
                self.pattern(&items[0], key)
            }
            _ => {
                let value = self.known_bits(keyset, width)?;
                Ok(match key.match_kind {
                    MatchKind::Lpm => KeyPattern::Prefix { value, length_bits: width },
                    _ => KeyPattern::Exact(value),
                })
            }
        }
    }

    /// A constant of a width.
    fn known_bits(&mut self, expression: &'a Expression, width: u32) -> Lowered<Bits> {
        match self.evaluate(expression)? {
            Value::Scalar(Operand::Constant(bits)) if bits.width_bits() == width => Ok(bits),
            Value::Scalar(Operand::Constant(bits)) => {
                Ok(Bits::from_bigint(width, &BigInt::from(bits.to_biguint())))
            }
            Value::Integer(value) => Ok(Bits::from_bigint(width, &value)),
            _ => Err(self.error_at(
                expression.span,
                codes::NOT_CONSTANT,
                "the keys of an entry must be known at compile time",
            )),
        }
    }
}

/// The number in `@priority(n)`.
fn annotated_priority(entry: &WrittenEntry) -> Option<u32> {
    let annotation = annotation_named(&entry.annotations, "priority")?;
    annotation_numbers(annotation).first().copied()
}

/// The length of the prefix that a mask covers.
fn prefix_length(mask: &Bits) -> Option<u32> {
    let width = mask.width_bits();
    let length = (0..width).rev().take_while(|at| mask.bit(*at)).count() as u32;
    (*mask == Bits::prefix_mask(width, length)).then_some(length)
}
