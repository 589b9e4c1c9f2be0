// SPDX-License-Identifier: Apache-2.0
//! Sets of values that conditions on several variables describe: cover, meeting, intersection, and whether
//! earlier sets leave anything of one.

use super::{Condition, VariableId};

/// Conditions sorted by variable: rules are short, and most of the time goes into comparing them.
pub(super) type Conditions = Vec<(VariableId, Condition)>;

/// Whether what meets `inner` meets `outer`.
pub(super) fn covers(outer: &Conditions, inner: &Conditions) -> bool {
    let mut rest = inner.as_slice();
    outer.iter().all(|(variable, condition)| {
        while rest.first().is_some_and(|(other, _)| other < variable) {
            rest = &rest[1..];
        }
        match rest.first() {
            Some((other, inner)) if other == variable => condition.covers(inner),
            _ => is_total(condition),
        }
    })
}

fn is_total(condition: &Condition) -> bool {
    matches!(condition, Condition::Ternary { value: 0, mask: 0 })
}

/// Whether some values may meet both.
pub(super) fn meet(a: &Conditions, b: &Conditions) -> bool {
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    while let (Some((x, first)), Some((y, second))) = (left.peek(), right.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => _ = left.next(),
            std::cmp::Ordering::Greater => _ = right.next(),
            std::cmp::Ordering::Equal => {
                if !first.meets(second) {
                    return false;
                }
                _ = left.next();
                _ = right.next();
            }
        }
    }
    true
}

/// What meets both: as many rows as it takes.
pub(super) fn intersection(a: &Conditions, b: &Conditions) -> Vec<Conditions> {
    if !meet(a, b) {
        return Vec::new();
    }
    let mut results: Vec<Conditions> = vec![Vec::with_capacity(a.len() + b.len())];
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return results,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((x, _)), Some((y, _))) => x.cmp(y),
        };
        let taken = match order {
            std::cmp::Ordering::Less => left.next(),
            std::cmp::Ordering::Greater => right.next(),
            std::cmp::Ordering::Equal => {
                if let (Some((variable, first)), Some((_, second))) = (left.next(), right.next()) {
                    let pieces = first.intersection(second);
                    results = results
                        .iter()
                        .flat_map(|row| {
                            pieces.iter().map(|piece| {
                                let mut row = row.clone();
                                row.push((*variable, *piece));
                                row
                            })
                        })
                        .collect();
                }
                continue;
            }
        };
        if let Some(condition) = taken {
            for row in &mut results {
                row.push(*condition);
            }
        }
    }
}

/// Whether some values meet `conditions` and none of `earlier`. After a budget of pieces: perhaps.
pub(super) fn reachable(conditions: &Conditions, earlier: &[&Conditions], budget: u32) -> bool {
    let mut budget = budget;
    search(conditions, earlier, &mut budget)
}

fn search(region: &Conditions, earlier: &[&Conditions], budget: &mut u32) -> bool {
    if *budget == 0 {
        return true;
    }
    *budget -= 1;
    let mut meeting = earlier.iter().enumerate().filter(|(_, each)| meet(each, region));
    let Some((place, first)) = meeting.next() else { return true };
    if covers(first, region) {
        return false;
    }
    // What is left of the region, split by the first condition of the rule that it fails.
    let mut inside = vec![region.clone()];
    for (variable, condition) in first.iter() {
        for outside in condition.complement() {
            let piece: Conditions = vec![(*variable, outside)];
            for part in inside.iter().flat_map(|region| intersection(region, &piece)) {
                if search(&part, &earlier[place + 1..], budget) {
                    return true;
                }
            }
        }
        let kept: Conditions = vec![(*variable, *condition)];
        inside = inside.iter().flat_map(|region| intersection(region, &kept)).collect();
    }
    false
}
