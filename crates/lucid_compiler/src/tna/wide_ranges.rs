// SPDX-License-Identifier: Apache-2.0
//! Ranges of values that are too wide for Tofino's ranges: the entries that they take in a table of statements, and
//! the refusal of statements that alone take too many.

use super::codes::TOO_MANY_ENTRIES;
use super::context::{Context, ones};
use super::keysets::{self, MAX_RANGE_BITS};
use crate::atomic::program::StatementId;
use pisa::guard::cross_product;
use pisa::{Condition, Gress, Guard, VariableId};
use source::Diagnostic;
use std::collections::BTreeMap;

/// Most entries of a table with ranges of wide values.
const MAX_ENTRIES: usize = 2048;

/// The entries that a condition takes: more than one if it is a range of a wide value.
fn entries_of(
    context: &Context<'_>,
    variable: VariableId,
    condition: &Condition,
    gress: Gress,
) -> usize {
    let Condition::Range { low, high } = *condition else { return 1 };
    let base = context.base(variable, gress);
    let width_bits = base.width_bits.min(context.width(variable));
    if width_bits <= MAX_RANGE_BITS || base.known.is_some() {
        return 1;
    }
    keysets::prefixes(low, high.min(ones(width_bits)), width_bits).len()
}

fn guards(context: &Context<'_>, statements: &[StatementId]) -> Vec<Guard> {
    statements.iter().map(|id| context.atomic.statements[id.0 as usize].guard.clone()).collect()
}

/// The entries of a table of statements with these guards; 0 if none matches a range of a wide value.
fn entries(context: &Context<'_>, guards: &[Guard], gress: Gress) -> usize {
    let is_range = |condition: &Condition| matches!(condition, Condition::Range { .. });
    let mut conditions =
        guards.iter().flat_map(|guard| &guard.rules).flat_map(|rule| rule.conditions.values());
    if !conditions.any(is_range) {
        return 0;
    }
    let rules = cross_product(&guards.iter().collect::<Vec<&Guard>>());
    let of_rule = |conditions: &BTreeMap<VariableId, Condition>| {
        let each = conditions
            .iter()
            .map(|(variable, condition)| entries_of(context, *variable, condition, gress));
        each.fold(1, usize::saturating_mul)
    };
    // The limit concerns tables with a range of a wide value only.
    let each: Vec<usize> = rules.iter().map(|rule| of_rule(&rule.conditions)).collect();
    match each.iter().all(|count| *count <= 1) {
        true => 0,
        false => each.into_iter().fold(0, usize::saturating_add),
    }
}

/// Whether a table holds these statements.
pub(super) fn fit(context: &Context<'_>, statements: &[StatementId], gress: Gress) -> bool {
    entries(context, &guards(context, statements), gress) <= MAX_ENTRIES
}

/// Whether a table holds these statements; reports those that no table holds.
pub(super) fn check(context: &mut Context<'_>, statements: &[StatementId], gress: Gress) -> bool {
    let guards = guards(context, statements);
    let count = entries(context, &guards, gress);
    let [first, ..] = statements else { return true };
    if count <= MAX_ENTRIES {
        return true;
    }
    let message = format!(
        "the ranges that decide whether this runs take {count} entries of a table, more than the {MAX_ENTRIES} of one"
    );
    let span = context.atomic.statements[first.0 as usize].span;
    let mut found = Diagnostic::error(TOO_MANY_ENTRIES, span, message);
    let mut widest: BTreeMap<VariableId, usize> = BTreeMap::new();
    let rules = guards.iter().flat_map(|guard| &guard.rules);
    for (variable, condition) in rules.flat_map(|rule| &rule.conditions) {
        let count = entries_of(context, *variable, condition, gress);
        let most = widest.entry(*variable).or_insert(1);
        *most = count.max(*most);
    }
    for (variable, count) in widest.into_iter().filter(|(_, count)| *count > 1) {
        let variable = context.atomic.variables.get(variable.0 as usize);
        // A temporary may have the span of all that is decided.
        if let Some(variable) = variable.filter(|of| of.span.to(span) != of.span) {
            found = found.label(variable.span, format!("a range of this takes up to {count}"));
        }
    }
    context.found.push(found.help(
        "generate an event if the first comparisons hold and write the others in its handler, or compare \
         slices of at most 16 bits",
    ));
    false
}
