// SPDX-License-Identifier: Apache-2.0
//! Guards against their meaning: every operation is compared with evaluation on all values of small
//! variables.

use super::*;
use proptest::prelude::*;

const WIDTHS: [u32; 3] = [3, 2, 1];

/// All assignments of the three variables.
fn assignments() -> impl Iterator<Item = [u128; 3]> {
    (0..8).flat_map(|a| (0..4).flat_map(move |b| (0..2).map(move |c| [a, b, c])))
}

fn condition(width: u32) -> impl Strategy<Value = Condition> {
    let top = (1u128 << width) - 1;
    prop_oneof![
        3 => (0..=top, 0..=top)
            .prop_map(|(value, mask)| Condition::Ternary { value: value & mask, mask }),
        2 => (0..=top).prop_map(move |value| Condition::equals(value, width)),
        1 => (0..=top, 0..=top)
            .prop_map(|(a, b)| Condition::Range { low: a.min(b), high: a.max(b) }),
    ]
}

fn rule() -> impl Strategy<Value = GuardRule> {
    let each = |index: usize| proptest::option::of(condition(WIDTHS[index]));
    (each(0), each(1), each(2), any::<bool>()).prop_map(|(a, b, c, runs)| GuardRule {
        conditions: [a, b, c]
            .into_iter()
            .enumerate()
            .filter_map(|(index, condition)| Some((VariableId(index as u32), condition?)))
            .collect(),
        runs,
    })
}

fn guard() -> impl Strategy<Value = Guard> {
    proptest::collection::vec(rule(), 0..5).prop_map(|rules| Guard { rules })
}

fn value(values: [u128; 3]) -> impl Fn(VariableId) -> u128 {
    move |variable| values[variable.0 as usize]
}

proptest! {
    #[test]
    fn cross_product_means_the_guards_one_by_one(
        guards in proptest::collection::vec(guard(), 0..5)
    ) {
        let rules = cross_product(&guards.iter().collect::<Vec<_>>());
        let mut decided = vec![false; rules.len()];
        for values in assignments() {
            let value = value(values);
            let first = rules.iter().position(|rule| {
                rule.conditions.iter().all(|(variable, each)| each.admits(value(*variable)))
            });
            let merged: Vec<usize> = first.map(|at| rules[at].runs.clone()).unwrap_or_default();
            let single: Vec<usize> =
                (0..guards.len()).filter(|index| guards[*index].runs(&value)).collect();
            prop_assert_eq!(merged, single, "{:?}", values);
            if let Some(at) = first {
                decided[at] = true;
            }
        }
        // Widths are not known to a product, so only rules without ranges are sure to be exact.
        let ranges = guards.iter().flat_map(|guard| &guard.rules).any(|rule| {
            rule.conditions.values().any(|each| matches!(each, Condition::Range { .. }))
        });
        if !ranges {
            prop_assert!(decided.iter().all(|each| *each), "a rule never decides: {:?}", rules);
        }
    }

    #[test]
    fn a_limit_on_rules_holds(guards in proptest::collection::vec(guard(), 0..5), limit in 0usize..12) {
        let list: Vec<&Guard> = guards.iter().collect();
        if let Some(rules) = cross_product_within(&list, limit) {
            prop_assert!(rules.len() <= limit);
            prop_assert_eq!(rules, cross_product(&list));
        }
    }

    #[test]
    fn algebra_of_guards(a in guard(), b in guard()) {
        let (and, or, not, same) = (a.and(&b), a.or(&b), a.negated(), a.simplified());
        let mut together = false;
        for values in assignments() {
            let value = value(values);
            let (first, second) = (a.runs(&value), b.runs(&value));
            together |= first && second;
            prop_assert_eq!(and.runs(&value), first && second);
            prop_assert_eq!(or.runs(&value), first || second);
            prop_assert_eq!(not.runs(&value), !first);
            prop_assert_eq!(same.runs(&value), first);
        }
        prop_assert!(same.rules.len() <= a.rules.len());
        prop_assert!(!(exclusive(&a, &b) && together));
        let ranges = a.rules.iter().chain(&b.rules).any(|rule| {
            rule.conditions.values().any(|each| matches!(each, Condition::Range { .. }))
        });
        if !ranges {
            prop_assert_eq!(runs_together(&a, &b), together);
        }
    }

    #[test]
    fn several_that_never_all_run(guards in proptest::collection::vec(guard(), 0..5)) {
        let all = |values| guards.iter().all(|guard| guard.runs(&value(values)));
        let together = assignments().any(all);
        let ranges = guards.iter().flat_map(|guard| &guard.rules).any(|rule| {
            rule.conditions.values().any(|each| matches!(each, Condition::Range { .. }))
        });
        let proved = never_all(&guards.iter().collect::<Vec<_>>());
        prop_assert!(!(proved && together));
        if !ranges {
            prop_assert_eq!(proved, !together);
        }
    }

    #[test]
    fn conditions_as_sets(a in condition(3), b in condition(3)) {
        let both = a.intersection(&b);
        for value in 0..8 {
            let admitted = both.iter().filter(|each| each.admits(value)).count();
            prop_assert_eq!(admitted, usize::from(a.admits(value) && b.admits(value)));
            let outside = a.complement().iter().filter(|each| each.admits(value)).count();
            prop_assert_eq!(outside, usize::from(!a.admits(value)));
            prop_assert_eq!(a.trimmed(3).admits(value), a.admits(value));
            if a.covers(&b) && b.admits(value) {
                prop_assert!(a.admits(value));
            }
        }
        prop_assert_eq!(a.meets(&b), !both.is_empty());
    }
}

#[test]
fn prefixes_of_whole_and_odd_ranges() {
    let check = |low, high, expected: usize| {
        let list = condition::prefixes(low, high);
        assert_eq!(list.len(), expected, "{low}..={high}: {list:?}");
    };
    check(0, u128::MAX, 1);
    check(1, u128::MAX, 128);
    check(0, 0, 1);
    check(1, 6, 4);
    check(8, 15, 1);
    check(u128::MAX, u128::MAX, 1);
    check(5, 4, 0);
}

/// Lucid Figure 8: two tables that match on the protocol, and their product.
#[test]
fn figure_8_in_small() {
    let proto = VariableId(0);
    let equals = |value| Condition::equals(value, 8);
    let tcp = Guard::when(proto, equals(6));
    let neither = Guard::when(proto, equals(6)).or(&Guard::when(proto, equals(17))).negated();
    let rules = cross_product(&[&tcp, &neither, &Guard::always()]);
    let shown: Vec<(Option<Condition>, Vec<usize>)> =
        rules.into_iter().map(|rule| (rule.conditions.get(&proto).copied(), rule.runs)).collect();
    assert_eq!(
        shown,
        [(Some(equals(6)), vec![0, 2]), (Some(equals(17)), vec![2]), (None, vec![1, 2]),]
    );
    assert!(exclusive(&tcp, &neither));
    assert!(runs_together(&tcp, &Guard::always()));
}
