// SPDX-License-Identifier: Apache-2.0
//! Each kind of violation once, and the checker's counts against the cost model's on random tables.

use super::count::Counted;
use super::*;
use crate::cost;
use crate::greedy::{greedy, greedy_unlimited, random_problems};
use crate::guard::{Guard, VariableId};
use crate::layout::{Optimality, Stage};
use crate::problem::{Array, Dependency, MatchKind, ProgramKey, ProgramTable, Unit, Variable};
use proptest::prelude::*;
use source::Span;
use std::collections::BTreeMap;

fn tofino() -> HardwareModel {
    HardwareModel::named("tofino", Span::NONE).unwrap()
}

fn unit(name: &str) -> Unit {
    Unit {
        name: name.into(),
        span: Span::NONE,
        gress: Gress::Ingress,
        guard: Guard::always(),
        mergeable: true,
        table: None,
        array: None,
        register_action: 0,
        demand: BTreeMap::new(),
    }
}

/// Units 0 and 1 access array 0; 2 may not merge; 3 is in egress; 4 waits for 0, 5 goes by the outcome
/// of 2, and 6 writes what 4 reads.
fn problem() -> Problem {
    let dependency =
        |before, after, kind| Dependency { before: UnitId(before), after: UnitId(after), kind };
    Problem {
        arrays: vec![Array { name: "a".into(), cell_bits: 32, length: 9, span: Span::NONE }],
        units: vec![
            Unit { array: Some(ArrayId(0)), ..unit("0") },
            Unit { array: Some(ArrayId(0)), register_action: 1, ..unit("1") },
            Unit { mergeable: false, ..unit("2") },
            Unit { gress: Gress::Egress, ..unit("3") },
            unit("4"),
            unit("5"),
            unit("6"),
        ],
        dependencies: vec![
            dependency(0, 4, DependencyKind::Match),
            dependency(2, 5, DependencyKind::Successor),
            dependency(4, 6, DependencyKind::Anti),
            // Egress comes after ingress anyhow.
            dependency(4, 3, DependencyKind::Action),
        ],
        ..Problem::default()
    }
}

/// Stages by `|`, tables by spaces, units by `+`; `e` before a table of egress.
fn layout(text: &str) -> Layout {
    let table = |text: &str| {
        let (gress, units) = match text.strip_prefix('e') {
            Some(rest) => (Gress::Egress, rest),
            None => (Gress::Ingress, text),
        };
        let units = units.split('+').filter(|each| !each.is_empty());
        let units = units.map(|unit| UnitId(unit.parse().unwrap())).collect();
        PlacedTable { gress, units }
    };
    let stages = text
        .split('|')
        .map(|stage| Stage { tables: stage.split_whitespace().map(table).collect() })
        .collect();
    Layout { target: "tofino".into(), stages, optimality: Optimality::Unknown }
}

fn violations(target: &HardwareModel, text: &str) -> String {
    let list = check(&problem(), target, &layout(text));
    list.iter().map(Violation::to_string).collect::<Vec<_>>().join("; ")
}

#[test]
fn each_kind_of_violation() {
    let check = |text: &str, expected: &str| assert_eq!(violations(&tofino(), text), expected);
    check("0+1 2 e3 5 | 4+6", "");
    check("0+1 2 e3 | 4+5+6", "");
    check("0+1 2 e3 5 | 4+6 |", "the last stage is empty");
    check("0+1 2 e3 5 | 4+6 +", "a table of stage 1 is empty");
    check("0+1 2 e3 5 | 4", "unit 6 is nowhere");
    check("0+1 2 e3 5 | 4+6 | 5", "unit 5 is at several places");
    check("0+1 2 e3 5 | 4+6+7", "there is no unit 7");
    check("0+1 2 5 | 4+6+3", "unit 3 is in a table of the other half");
    check("0+1+2 e3 | 4+5+6", "unit 2 may not share a table with 0");
    check("0 1 2 e3 5 | 4+6", "array 0 is in several tables");
    check("0+1 2 e3 5 4 | 6", "unit 0 has to come before 4 (Match)");
    check("0+1 5 e3 | 2 4+6", "unit 2 has to come before 5 (Successor)");
    check("0+1 6 2 e3 5 | 4", "unit 4 has to come before 6 (Anti)");
}

#[test]
fn limits_of_stages_tables_and_arrays() {
    let good = "0+1 2 e3 5 | 4+6";
    let with = |change: fn(&mut HardwareModel)| {
        let mut target = tofino();
        change(&mut target);
        violations(&target, good)
    };
    assert_eq!(with(|t| t.ingress_stages = 1), "Ingress uses 2 stages of 1");
    assert_eq!(with(|t| _ = t.stage.insert(Resource::Tables, 3)), "stage 0: 4 tables of 3");
    assert_eq!(
        with(|t| _ = t.array.insert(Resource::RegisterActions, 1)),
        "stage 0, table 0, array 0: 2 register actions of 1"
    );
    assert_eq!(
        with(|t| _ = t.table.insert(Resource::SramBlocks, 1)),
        "stage 0, table 0: 2 SRAM blocks of 1"
    );
    // Three tables of ingress and one of egress, in stages of their own.
    let apart = |t: &mut HardwareModel| {
        t.shared = false;
        t.stage.insert(Resource::Tables, 3);
    };
    assert_eq!(with(apart), "");
}

/// Sizes as users may write them, whose products leave 64 bits.
#[test]
fn enormous_sizes() {
    let key = ProgramKey { variable: VariableId(0), kind: MatchKind::Ternary, width_bits: 2000 };
    let table = |kind| ProgramTable {
        keys: vec![ProgramKey { kind, ..key }],
        entries: u64::MAX,
        actions: u32::MAX,
        action_data_bits: u32::MAX,
    };
    let mut problem = Problem {
        variables: vec![Variable { name: "v".into(), width_bits: 2000 }],
        arrays: vec![Array { name: "a".into(), cell_bits: 64, length: u64::MAX, span: Span::NONE }],
        units: vec![
            Unit { array: Some(ArrayId(0)), ..unit("array") },
            Unit { table: Some(table(MatchKind::Exact)), ..unit("exact") },
            Unit { table: Some(table(MatchKind::Ternary)), ..unit("ternary") },
            Unit { demand: [(Resource::HashBits, u64::MAX)].into(), ..unit("hash") },
            Unit { demand: [(Resource::HashBits, u64::MAX)].into(), ..unit("more") },
        ],
        ..Problem::default()
    };
    let layout = layout("0 1 2 3 4");
    assert!(!check(&problem, &tofino(), &layout).is_empty());
    let messages = greedy(&problem, &tofino()).unwrap_err();
    assert_eq!(messages.len(), 5);
    // On a target without limits, and with the sizes of blocks at their least.
    let text = "[pipeline]\nstages = 3\n[memory]\nsram-block-words = 1\nsram-block-bits = 1\n\
                tcam-block-words = 1\ntcam-block-bits = 1\narray-overhead-blocks = 2147483648\n";
    let file = source::SourceMap::new().add("t.toml", text);
    let unlimited = HardwareModel::from_toml("t", file, text).unwrap();
    assert_eq!(check(&problem, &unlimited, &greedy(&problem, &unlimited).unwrap()), []);
    problem.units.truncate(3);
    assert_eq!(check(&problem, &unlimited, &greedy(&problem, &unlimited).unwrap()), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(128), ..ProptestConfig::default() })]

    /// Both counts agree.
    #[test]
    fn the_cost_model_counts_the_same(
        problem in random_problems::problem(12),
        picks in proptest::collection::vec(any::<bool>(), 12),
        name in prop_oneof![Just("tofino"), Just("rmt"), Just("banzai")],
    ) {
        let target = HardwareModel::named(name, Span::NONE).unwrap();
        let all = (0..problem.units.len()).map(|index| UnitId(index as u32));
        let picked: Vec<UnitId> = all.filter(|unit| picks[unit.0 as usize]).collect();
        let of = |unit: &UnitId| &problem.units[unit.0 as usize];
        // A table of the program alone, or all others together.
        let units: Vec<UnitId> = match picked.iter().find(|unit| of(unit).table.is_some()) {
            Some(own) => vec![*own],
            None => picked,
        };
        let cost = cost::table(&problem, &target, &units);
        let placed = PlacedTable { gress: Gress::Ingress, units };
        let counted = Counted::of(&problem, &target, &placed);
        for resource in Resource::ALL {
            let modelled = cost.demand.get(&resource).copied().unwrap_or(0);
            prop_assert_eq!(counted.takes(resource), modelled, "{}", resource.name());
            for (array, demand) in &cost.arrays {
                let modelled = demand.get(&resource).copied().unwrap_or(0);
                prop_assert_eq!(counted.array_takes(*array, resource), modelled);
            }
        }
    }

    /// A unit that is moved anywhere else makes no new layout go unchecked: the checker says yes only
    /// where dependencies and arrays, looked at one by one, say yes.
    #[test]
    fn moved_units_are_noticed(problem in random_problems::problem(16), pick in any::<(u8, u8)>()) {
        let target = tofino().with_stages(1000);
        let Ok(mut layout) = greedy_unlimited(&problem, &target) else { return Ok(()) };
        let unit = UnitId(u32::from(pick.0) % problem.units.len() as u32);
        let goal = usize::from(pick.1) % layout.stages.len();
        for stage in &mut layout.stages {
            for table in &mut stage.tables {
                table.units.retain(|other| *other != unit);
            }
            stage.tables.retain(|table| !table.units.is_empty());
        }
        let gress = problem.units[unit.0 as usize].gress;
        layout.stages[goal].tables.push(PlacedTable { gress, units: vec![unit] });
        let stage = |of: UnitId| {
            let holds = |stage: &Stage| stage.tables.iter().any(|table| table.units.contains(&of));
            layout.stages.iter().position(holds)
        };
        let late = problem.dependencies.iter().any(|each| {
            let same = problem.units[each.before.0 as usize].gress
                == problem.units[each.after.0 as usize].gress;
            same && (each.before == unit || each.after == unit)
                && stage(each.before).unwrap() + each.kind.distance() as usize
                    > stage(each.after).unwrap()
        });
        let array = problem.units[unit.0 as usize].array;
        let mates = problem.units.iter().filter(|each| array.is_some() && each.array == array);
        let apart = mates.count() > 1;
        let noticed = check(&problem, &target, &layout);
        let by_place = noticed.iter().any(|each| {
            matches!(each, Violation::Dependency { .. } | Violation::ArrayApart { .. })
        });
        prop_assert_eq!(by_place, late || apart, "{:?}", noticed);
    }
}
