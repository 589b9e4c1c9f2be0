// SPDX-License-Identifier: Apache-2.0
//! Whether two guards can hold at once, and whether a rule can ever be the first that matches.
//! Answers err on one side: "may be" is said where a proof would take too long.

use super::Guard;
use super::conditions::{Conditions, intersection, meet, reachable};

/// Pieces looked at before a rule counts as reachable without proof.
const BUDGET: u32 = 2000;

/// Combinations of rules looked at before guards count as running together without proof.
const COMBINATIONS: u32 = 20_000;

/// Whether it is proved that never both run.
pub fn exclusive(a: &Guard, b: &Guard) -> bool {
    never_all(&[a, b])
}

/// Whether it is proved that never all of them run at once.
pub fn never_all(guards: &[&Guard]) -> bool {
    let lists: Vec<Vec<(Conditions, bool)>> = guards
        .iter()
        .map(|guard| {
            let rules = guard.rules.iter();
            let whole = |rule: &super::GuardRule| {
                (rule.conditions.iter().map(|(at, each)| (*at, *each)).collect(), rule.runs)
            };
            rules.map(whole).collect()
        })
        .collect();
    let mut left = COMBINATIONS;
    !some_run(&lists, &Vec::new(), &mut Vec::new(), &mut left)
}

/// Whether values that meet `region`, and none of `earlier`, may make all the rest of the guards run:
/// each by one of its rules, of which no earlier one decides.
fn some_run<'a>(
    lists: &'a [Vec<(Conditions, bool)>],
    region: &Conditions,
    earlier: &mut Vec<&'a Conditions>,
    left: &mut u32,
) -> bool {
    let Some((rules, rest)) = lists.split_first() else {
        return reachable(region, earlier, BUDGET);
    };
    let known = earlier.len();
    let mut found = false;
    for (conditions, runs) in rules {
        if *left == 0 {
            found = true;
        } else if *runs && meet(conditions, region) {
            *left -= 1;
            found = intersection(region, conditions)
                .iter()
                .any(|part| some_run(rest, part, earlier, left));
        }
        if found || conditions.is_empty() {
            break;
        }
        if meet(conditions, region) {
            earlier.push(conditions);
        }
    }
    earlier.truncate(known);
    found
}

/// Whether both may run at once: the contrary of [`exclusive`].
pub fn runs_together(a: &Guard, b: &Guard) -> bool {
    !exclusive(a, b)
}
