// SPDX-License-Identifier: Apache-2.0
//! Entries written in a table: keysets against the match kinds of the keys, actions and priorities
//! (P4_16 v1.2.5 §14.2.1.4, §14.2.1.4.1).

use super::Checker;
use super::tables::{ListedAction, TableKey};
use super::type_names::count;
use crate::ast::{
    Argument, Entry, Expression, ExpressionKind, TableDeclaration, TableProperty, TablePropertyKind,
};
use crate::codes::typing as codes;
use crate::typed::{Constant, TypeKind};
use num_bigint::BigInt;
use num_traits::One;
use rustc_hash::FxHashMap;
use source::{Diagnostic, Span};

/// The rules that give priorities to entries without one.
struct PriorityRules {
    largest_wins: bool,
    delta: BigInt,
}

/// What makes two keys of entries the same.
#[derive(PartialEq, Eq, Hash)]
enum KeyIdentity {
    Any,
    Value(BigInt),
    Mask(BigInt, BigInt),
    Range(BigInt, BigInt),
}

impl<'a> Checker<'a> {
    pub(super) fn check_entries(
        &mut self,
        table: &'a TableDeclaration,
        property: &'a TableProperty,
        entries: &'a [Entry],
        keys: &[TableKey<'a>],
        listed: &[ListedAction<'a>],
    ) {
        for entry in entries {
            self.check_annotations(&entry.annotations);
            self.check_entry(property, entry, keys, listed);
        }
        self.check_priorities(property, entries, keys, self.priority_rules(table));
        if property.is_const {
            self.warn_repeated_keys(entries, keys);
        }
    }

    /// `largest_priority_wins` and `priority_delta`, or their defaults.
    fn priority_rules(&self, table: &'a TableDeclaration) -> PriorityRules {
        let mut rules = PriorityRules { largest_wins: true, delta: 1.into() };
        for property in &table.properties {
            let TablePropertyKind::Custom { name, value } = &property.kind else { continue };
            match (&*name.text, self.constant(value)) {
                ("largest_priority_wins", Some(Constant::Bool(value))) => {
                    rules.largest_wins = *value;
                }
                ("priority_delta", Some(Constant::Integer(value))) => rules.delta = value.clone(),
                _ => {}
            }
        }
        rules
    }

    /// Checks where priorities are given, and that the others can be computed from them (§14.2.1.4.1).
    fn check_priorities(
        &mut self,
        property: &'a TableProperty,
        entries: &'a [Entry],
        keys: &[TableKey<'a>],
        rules: PriorityRules,
    ) {
        let Some(given) = entries.iter().find_map(|entry| entry.priority.as_ref()) else { return };
        if property.is_const {
            return;
        }
        let needs_none = keys.iter().all(|key| matches!(&*key.match_kind.text, "exact" | "lpm"));
        if needs_none {
            self.report(
                Diagnostic::error(
                    codes::INVALID_ENTRY,
                    given.span,
                    "entries of this table have no priority",
                )
                .note("all its keys are `exact` or `lpm`, so no two entries match alike"),
            );
            return;
        }
        let Some(first) = entries.first() else { return };
        if first.priority.is_none() {
            self.report(
                Diagnostic::error(
                    codes::INVALID_ENTRY,
                    first.span,
                    "the first entry needs a priority",
                )
                .label(given.span, "as this entry has one"),
            );
            return;
        }
        let mut current = BigInt::from(0);
        for entry in entries {
            match &entry.priority {
                Some(priority) => match self.plain_integer(priority) {
                    Some(value) => current = value,
                    None => return,
                },
                None if rules.largest_wins => current -= &rules.delta,
                None => current += &rules.delta,
            }
            if current < BigInt::from(0) || current > BigInt::from(i32::MAX) {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_ENTRY,
                        entry.span,
                        format!("this entry would have priority {current}"),
                    )
                    .note(format!("a priority is from 0 to {}", i32::MAX)),
                );
                return;
            }
        }
    }

    /// Warns about entries that are never used because an earlier one has the same keys.
    fn warn_repeated_keys(&mut self, entries: &'a [Entry], keys: &[TableKey<'a>]) {
        let mut seen: FxHashMap<Vec<KeyIdentity>, Span> = FxHashMap::default();
        for entry in entries {
            let parts: Vec<&Expression> = match &entry.keyset.kind {
                ExpressionKind::TupleKeyset(parts) | ExpressionKind::List(parts)
                    if parts.len() == keys.len() =>
                {
                    parts.iter().collect()
                }
                _ => vec![&entry.keyset],
            };
            let Some(identity) =
                parts.into_iter().map(|part| self.key_identity(part)).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            match seen.get(&identity) {
                // §14.2.1.4: where all keys are exact, no two entries are alike.
                Some(first) if keys.iter().all(|key| &*key.match_kind.text == "exact") => {
                    let first = *first;
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_ENTRY,
                            entry.keyset.span,
                            "this entry has the same keys as another",
                        )
                        .label(first, "the other entry"),
                    );
                }
                Some(first) => {
                    let first = *first;
                    self.report(
                        Diagnostic::warning(
                            codes::UNREACHABLE_ENTRY,
                            entry.keyset.span,
                            "this entry is never used",
                        )
                        .label(first, "an earlier entry has the same keys"),
                    );
                }
                None => {
                    seen.insert(identity, entry.keyset.span);
                }
            }
        }
    }

    fn key_identity(&self, part: &Expression) -> Option<KeyIdentity> {
        Some(match &part.kind {
            ExpressionKind::Default | ExpressionKind::DontCare => KeyIdentity::Any,
            ExpressionKind::Mask(value, mask) => {
                let (value, mask) = (self.plain_integer(value)?, self.plain_integer(mask)?);
                KeyIdentity::Mask(value & &mask, mask)
            }
            ExpressionKind::Range(low, high) => {
                KeyIdentity::Range(self.plain_integer(low)?, self.plain_integer(high)?)
            }
            _ => KeyIdentity::Value(self.plain_integer(part)?),
        })
    }

    fn check_entry(
        &mut self,
        property: &'a TableProperty,
        entry: &'a Entry,
        keys: &[TableKey<'a>],
        listed: &[ListedAction<'a>],
    ) {
        if let Some(priority) = &entry.priority {
            self.constant_size(priority, "the priority of an entry");
            if property.is_const {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_ENTRY,
                        priority.span,
                        "entries of a `const` list have no priority",
                    )
                    .label(property.span, "the list")
                    .note("their order in the list is their priority"),
                );
            }
        }
        let types: Vec<_> = keys.iter().map(|key| key.ty.clone()).collect();
        if let Some(given) = given_keys(&entry.keyset)
            && keys.len() > 1
            && given != keys.len()
        {
            self.error(
                codes::INVALID_ENTRY,
                entry.keyset.span,
                format!("this entry has {}, the table {}", count(given, "key"), keys.len()),
            );
        } else {
            self.check_keyset(&entry.keyset, &types, "a key of this entry");
        }
        match &entry.keyset.kind {
            ExpressionKind::TupleKeyset(elements) | ExpressionKind::List(elements)
                if keys.len() > 1 && elements.len() == keys.len() =>
            {
                for (element, key) in elements.iter().zip(keys) {
                    self.check_entry_key(element, key);
                }
            }
            _ if keys.len() == 1 => self.check_entry_key(&entry.keyset, &keys[0]),
            _ => {}
        }
        let arguments: &'a [Argument] = entry.action.arguments.as_deref().unwrap_or(&[]);
        self.check_annotations(&entry.action.annotations);
        let action = self.check_complete_action(
            entry.action.id,
            entry.action.span,
            &entry.action.path,
            arguments,
            listed,
        );
        if let Some(node) = action
            && let Some(listed) = listed.iter().find(|action| action.node == node)
            && let Some(annotation) = listed
                .reference
                .annotations
                .iter()
                .find(|annotation| &*annotation.name.text == "defaultonly")
        {
            self.report(
                Diagnostic::error(
                    codes::INVALID_ENTRY,
                    entry.action.span,
                    format!("action `{}` cannot be used in an entry", entry.action.path.name.text),
                )
                .label(annotation.span, "it is marked so here"),
            );
        }
    }

    /// Checks a key of an entry against its match kind.
    fn check_entry_key(&mut self, element: &'a Expression, key: &TableKey<'a>) {
        let kind = &*key.match_kind.text;
        let form = match &element.kind {
            ExpressionKind::Mask(..) => "a mask",
            ExpressionKind::Range(..) => "a range",
            ExpressionKind::Default | ExpressionKind::DontCare => "`_`",
            _ => "a value",
        };
        let allowed = match (kind, form) {
            ("exact", form) => form == "a value",
            ("lpm" | "ternary", form) => form != "a range",
            ("range", form) => form != "a mask",
            ("optional", form) => matches!(form, "a value" | "`_`"),
            _ => true,
        };
        if !allowed {
            self.report(
                Diagnostic::error(
                    codes::INVALID_ENTRY,
                    element.span,
                    format!("{form} cannot be matched with `{kind}`"),
                )
                .label(key.match_kind.span, "the key"),
            );
            return;
        }
        match &element.kind {
            ExpressionKind::Default | ExpressionKind::DontCare => {}
            ExpressionKind::Mask(value, mask) => {
                let known = self.require_compile_time(value, "a key of an entry")
                    && self.require_compile_time(mask, "a mask");
                if known && kind == "lpm" {
                    self.check_prefix_mask(mask, key);
                }
            }
            ExpressionKind::Range(low, high) => {
                let known = self.require_compile_time(low, "a bound of a range")
                    && self.require_compile_time(high, "a bound of a range");
                if known
                    && let (Some(low), Some(high_value)) =
                        (self.plain_integer(low), self.plain_integer(high))
                    && low > high_value
                {
                    self.error(
                        codes::INVALID_ENTRY,
                        element.span,
                        format!("the range from {low} to {high_value} is empty"),
                    );
                }
            }
            _ => {
                self.require_compile_time(element, "a key of an entry");
            }
        }
    }

    /// A mask of a longest-prefix match is ones followed by zeros.
    fn check_prefix_mask(&mut self, mask: &'a Expression, key: &TableKey<'a>) {
        let TypeKind::Bit(width) = &*self.representation(&key.ty) else { return };
        let Some(value) = self.plain_integer(mask) else { return };
        let all_ones: BigInt = (BigInt::one() << *width) - 1;
        let inverted: BigInt = &all_ones - &value;
        let is_prefix = (&inverted & (&inverted + 1)) == BigInt::ZERO;
        if !is_prefix {
            self.report(
                Diagnostic::error(
                    codes::INVALID_ENTRY,
                    mask.span,
                    "the mask of an `lpm` key must be ones followed by zeros",
                )
                .label(key.match_kind.span, "the key"),
            );
        }
    }
}

/// Returns how many keys are written in an entry, where that can be seen.
fn given_keys(keyset: &Expression) -> Option<usize> {
    match &keyset.kind {
        ExpressionKind::TupleKeyset(elements) | ExpressionKind::List(elements) => {
            Some(elements.len())
        }
        ExpressionKind::Integer { .. }
        | ExpressionKind::Bool(_)
        | ExpressionKind::Mask(..)
        | ExpressionKind::Range(..) => Some(1),
        _ => None,
    }
}
