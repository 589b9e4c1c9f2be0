// SPDX-License-Identifier: Apache-2.0
//! Random problems for property tests: small programs of a random shape, with dependencies found from
//! what units read and write, so that many of them can be laid out.

use crate::greedy::{Clusters, Fault};
use crate::guard::{Condition, Guard, GuardRule, VariableId};
use crate::problem::{
    Array, ArrayId, Dependency, DependencyKind, Gress, MatchKind, Problem, ProgramKey,
    ProgramTable, Resource, Unit, UnitId, Variable,
};
use proptest::prelude::*;
use source::Span;

const VARIABLES: usize = 16;
const ARRAYS: usize = 9;

#[derive(Clone, Debug)]
struct Seed {
    guard: Guard,
    reads: Vec<usize>,
    writes: Option<usize>,
    array: Option<usize>,
    register_action: u32,
    table: Option<ProgramTable>,
    hash: bool,
    egress: bool,
    mergeable: bool,
}

/// A problem of up to `most` units.
pub(crate) fn problem(most: usize) -> impl Strategy<Value = Problem> {
    let length = prop_oneof![8 => 1u64..30_000, 1 => 1u64..200_000];
    let arrays = proptest::collection::vec((1u32..65, length), ARRAYS);
    let seeds = proptest::collection::vec(seed(), 1..=most);
    (seeds, arrays, any::<bool>()).prop_map(|(mut seeds, arrays, sparse)| {
        // Where little is written there are few dependencies, and resources decide.
        for seed in seeds.iter_mut().enumerate().filter(|(at, _)| sparse && at % 8 > 0) {
            seed.1.writes = None;
        }
        let mut problem = Problem {
            name: "random".into(),
            variables: (0..VARIABLES)
                .map(|index| Variable {
                    name: format!("v{index}").into(),
                    width_bits: width(index),
                })
                .collect(),
            arrays: arrays
                .into_iter()
                .enumerate()
                .map(|(index, (cell_bits, length))| Array {
                    name: format!("a{index}").into(),
                    cell_bits,
                    length,
                    span: Span::NONE,
                })
                .collect(),
            units: seeds.iter().enumerate().map(|(index, seed)| unit(index, seed)).collect(),
            dependencies: Vec::new(),
        };
        dependencies(&mut problem, &seeds);
        mend(&mut problem);
        problem
    })
}

/// Takes accesses to arrays away until a layout can be, in most problems: of random ones hardly any
/// could be laid out otherwise.
fn mend(problem: &mut Problem) {
    let keep = problem.units.len() % 8 == 7;
    while !keep && let Err(faults) = Clusters::of(problem) {
        for fault in faults {
            let units = match fault {
                Fault::Apart { chain, .. } | Fault::Circle { chain } => chain,
                Fault::Orders { legs } => legs.into_iter().flatten().collect(),
                Fault::BothHalves { egress, .. } => vec![egress],
                Fault::TwoTables { second, .. } => vec![second],
            };
            for unit in units.iter().take(1) {
                problem.units[unit.0 as usize].array = None;
            }
        }
    }
}

fn width(variable: usize) -> u32 {
    [8, 1, 1, 32, 16, 3, 1, 9, 8, 48, 1, 32, 16, 2, 32, 1][variable]
}

fn seed() -> impl Strategy<Value = Seed> {
    let table = prop_oneof![6 => Just(None), 1 => program_table().prop_map(Some)];
    (
        guard(),
        proptest::collection::vec(0..VARIABLES, 0..3),
        proptest::option::of(0..VARIABLES),
        prop_oneof![2 => Just(None), 1 => (0..ARRAYS).prop_map(Some)],
        0u32..3,
        table,
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.95),
    )
        .prop_map(
            |(guard, reads, writes, array, register_action, table, hash, egress, mergeable)| Seed {
                guard,
                reads,
                writes,
                // Tables with arrays are rare in programs, and most random ones cannot be laid out.
                array: array.filter(|_| table.is_none() && mergeable && !egress),
                register_action,
                mergeable: mergeable && table.is_none(),
                table,
                hash,
                egress,
            },
        )
}

fn guard() -> impl Strategy<Value = Guard> {
    let condition = (0..VARIABLES, any::<u8>(), 0u8..8).prop_map(|(variable, value, kind)| {
        let bits = width(variable);
        let condition = match kind {
            0 => Condition::Range { low: 0, high: u128::from(value % 4) },
            1 => Condition::Ternary { value: u128::from(value & 1), mask: 1 },
            _ => Condition::equals(u128::from(value % 4), bits),
        };
        (VariableId(variable as u32), condition)
    });
    let rule =
        (proptest::collection::btree_map(Just(0u8), condition, 0..2), any::<bool>()).prop_map(
            |(conditions, runs)| GuardRule { conditions: conditions.into_values().collect(), runs },
        );
    prop_oneof![
        2 => Just(Guard::always()),
        3 => proptest::collection::vec(rule, 1..4).prop_map(|rules| Guard { rules }),
    ]
}

fn program_table() -> impl Strategy<Value = ProgramTable> {
    let kind = prop_oneof![
        Just(MatchKind::Exact),
        Just(MatchKind::Ternary),
        Just(MatchKind::LongestPrefix),
        Just(MatchKind::Range)
    ];
    let key = (0..VARIABLES, kind).prop_map(|(variable, kind)| ProgramKey {
        variable: VariableId(variable as u32),
        kind,
        width_bits: width(variable),
    });
    (proptest::collection::vec(key, 0..3), 0u64..3_000, 1u32..5, 0u32..64).prop_map(
        |(keys, entries, actions, action_data_bits)| ProgramTable {
            keys,
            entries,
            actions,
            action_data_bits,
        },
    )
}

fn unit(index: usize, seed: &Seed) -> Unit {
    let mut demand = std::collections::BTreeMap::from([(Resource::Statements, 1)]);
    if seed.hash {
        demand.insert(Resource::HashUnits, 1);
    }
    Unit {
        name: format!("u{index}").into(),
        span: Span::NONE,
        gress: if seed.egress { Gress::Egress } else { Gress::Ingress },
        guard: seed.guard.clone(),
        mergeable: seed.mergeable,
        table: seed.table.clone(),
        array: seed.array.map(|array| ArrayId(array as u32)),
        register_action: if seed.array.is_some() { seed.register_action } else { 0 },
        demand,
    }
}

fn dependencies(problem: &mut Problem, seeds: &[Seed]) {
    let matches = |at: usize| -> Vec<usize> {
        let keys = seeds[at].table.iter().flat_map(|table| &table.keys).map(|key| key.variable);
        seeds[at].guard.variables().into_iter().chain(keys).map(|each| each.0 as usize).collect()
    };
    for after in 0..seeds.len() {
        for before in 0..after {
            let wrote = seeds[before].writes;
            let kind = if wrote.is_some_and(|wrote| matches(after).contains(&wrote)) {
                DependencyKind::Match
            } else if wrote.is_some_and(|wrote| seeds[after].reads.contains(&wrote))
                || (wrote.is_some() && wrote == seeds[after].writes)
            {
                DependencyKind::Action
            } else if seeds[after].writes.is_some_and(|writes| {
                seeds[before].reads.contains(&writes) || matches(before).contains(&writes)
            }) {
                DependencyKind::Anti
            } else if seeds[before].table.is_some() && seeds[after].hash {
                DependencyKind::Successor
            } else {
                continue;
            };
            // Accesses to one array are alternatives more often than not; dependencies between them
            // would make most problems impossible.
            if seeds[before].array.is_some() && seeds[before].array == seeds[after].array {
                continue;
            }
            problem.dependencies.push(Dependency {
                before: UnitId(before as u32),
                after: UnitId(after as u32),
                kind,
            });
        }
    }
}
