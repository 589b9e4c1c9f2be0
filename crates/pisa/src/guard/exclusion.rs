// SPDX-License-Identifier: Apache-2.0
//! Whether two guards can hold at once, and whether a rule can ever be the first that matches.
//! Answers err on one side: "may be" is said where a proof would take too long.

use super::product::{Conditions, covers, intersection, meet};
use super::{Guard, cross_product};

/// Pieces looked at before a rule counts as reachable without proof.
const BUDGET: u32 = 2000;

/// Whether it is proved that never both run.
pub fn exclusive(a: &Guard, b: &Guard) -> bool {
    let rules: Vec<(Conditions, usize)> = cross_product(&[a, b])
        .into_iter()
        .map(|rule| (rule.conditions.into_iter().collect(), rule.runs.len()))
        .collect();
    let mut earlier: Vec<&Conditions> = Vec::new();
    for (conditions, runs) in &rules {
        if *runs == 2 && reachable(conditions, &earlier, BUDGET) {
            return false;
        }
        earlier.push(conditions);
    }
    true
}

/// Whether both may run at once: the contrary of [`exclusive`].
pub fn runs_together(a: &Guard, b: &Guard) -> bool {
    !exclusive(a, b)
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
