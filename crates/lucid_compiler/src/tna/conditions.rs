// SPDX-License-Identifier: Apache-2.0
//! Guards as conditions of P4: in front of tables of the program, of checksums, and of tables of which one runs.

use super::context::{Context, ones};
use crate::expressions::literal;
use pisa::{Condition, Gress, Guard, GuardRule, VariableId};

/// A guard as a condition of P4; `None` for always.
pub(super) fn condition(context: &Context<'_>, guard: &Guard, gress: Gress) -> Option<String> {
    if guard.is_always() {
        return None;
    }
    Some(first_match(context, &guard.rules, gress))
}

fn first_match(context: &Context<'_>, rules: &[GuardRule], gress: Gress) -> String {
    let Some((rule, others)) = rules.split_first() else { return "false".into() };
    let tests: Vec<String> = rule
        .conditions
        .iter()
        .filter_map(|(variable, condition)| test(context, *variable, condition, gress))
        .collect();
    if tests.is_empty() {
        return if rule.runs { "true".into() } else { "false".into() };
    }
    let here = tests.join(" && ");
    let rest = first_match(context, others, gress);
    match (rule.runs, rest.as_str()) {
        (true, "false") => here,
        (true, _) => format!("({here}) || ({rest})"),
        (false, "false") => "false".into(),
        (false, "true") => format!("!({here})"),
        (false, _) => format!("!({here}) && ({rest})"),
    }
}

fn test(
    context: &Context<'_>,
    variable: VariableId,
    condition: &Condition,
    gress: Gress,
) -> Option<String> {
    let width_bits = context.width(variable);
    let value = context.value(variable, width_bits, gress);
    let value = if value.starts_with('(') { format!("({value})") } else { value };
    let all = ones(width_bits);
    let text = |value: u128| literal(value, width_bits);
    match *condition {
        Condition::Ternary { mask: 0, .. } => None,
        Condition::Ternary { value: wanted, .. } if wanted & !all != 0 => Some("false".into()),
        Condition::Ternary { value: wanted, mask } if mask & all == all => {
            Some(format!("{value} == {}", text(wanted)))
        }
        Condition::Ternary { value: wanted, mask } => {
            Some(format!("{value} & {} == {}", text(mask & all), text(wanted)))
        }
        Condition::Range { low, .. } if low > all => Some("false".into()),
        Condition::Range { low, high } if low > high => Some("false".into()),
        Condition::Range { low: 0, high } if high >= all => None,
        Condition::Range { low: 0, high } => Some(format!("{value} <= {}", text(high))),
        Condition::Range { low, high } if high >= all => Some(format!("{value} >= {}", text(low))),
        Condition::Range { low, high } => {
            Some(format!("{value} >= {} && {value} <= {}", text(low), text(high)))
        }
    }
}
