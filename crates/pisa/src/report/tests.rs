// SPDX-License-Identifier: Apache-2.0
//! The text report of a small program, and reasons that hold on random ones.

use super::*;
use crate::cost::Model;
use crate::greedy::{Clusters, greedy, greedy_unlimited, random_problems};
use crate::guard::{Condition, Guard, VariableId};
use crate::problem::{
    Array, ArrayId, Dependency, DependencyKind, Gress, MatchKind, ProgramKey, ProgramTable,
    Resource, Unit, UnitId, Variable,
};
use crate::target::HardwareModel;
use proptest::prelude::*;
use source::Span;

/// A counter a flow, and a table of the program whose entry tells where to send.
fn problem() -> Problem {
    let variable = |name: &str, width_bits| Variable { name: name.into(), width_bits };
    let unit = |name: &str, guard: Guard| Unit {
        name: name.into(),
        span: Span::NONE,
        gress: Gress::Ingress,
        guard,
        mergeable: true,
        table: None,
        array: None,
        register_action: 0,
        demand: [(Resource::Statements, 1)].into(),
    };
    let is_tcp = || Guard::when(VariableId(0), Condition::equals(6, 8));
    let array =
        |name: &str| Array { name: name.into(), cell_bits: 32, length: 10_000, span: Span::NONE };
    let dependency =
        |before, after, kind| Dependency { before: UnitId(before), after: UnitId(after), kind };
    let key =
        ProgramKey { variable: VariableId(1), kind: MatchKind::LongestPrefix, width_bits: 32 };
    let own = ProgramTable { keys: vec![key], entries: 1024, actions: 2, action_data_bits: 9 };
    Problem {
        name: "flows".into(),
        variables: vec![variable("proto", 8), variable("destination", 32)],
        arrays: (0..5).map(|index| array(&format!("counts_{index}"))).collect(),
        units: vec![
            Unit {
                demand: [(Resource::Statements, 1), (Resource::HashUnits, 1)].into(),
                ..unit("index = hash(...)", is_tcp())
            },
            Unit { table: Some(own), mergeable: false, ..unit("routes", Guard::always()) },
            Unit { array: Some(ArrayId(0)), ..unit("counts_0 += 1", is_tcp()) },
            Unit { array: Some(ArrayId(1)), ..unit("counts_1 += 1", Guard::always()) },
            Unit { array: Some(ArrayId(2)), ..unit("counts_2 += 1", Guard::always()) },
            Unit { array: Some(ArrayId(3)), ..unit("counts_3 += 1", Guard::always()) },
            Unit { array: Some(ArrayId(4)), ..unit("counts_4 += 1", Guard::always()) },
            Unit { array: Some(ArrayId(0)), ..unit("counts_0 = 0", Guard::always()) },
            unit("index = 0", Guard::always()),
        ],
        dependencies: vec![
            dependency(0, 2, DependencyKind::Action),
            dependency(0, 8, DependencyKind::Action),
            dependency(2, 8, DependencyKind::Anti),
        ],
    }
}

#[test]
fn a_layout_as_text() {
    let problem = problem();
    let target = HardwareModel::named("tofino", Span::NONE).unwrap();
    let layout = greedy(&problem, &target).unwrap();
    let place = |unit: UnitId| format!("flows.dpt:{}", unit.0 + 10);
    testing::assert_snapshot!(text(&problem, &target, &layout, &place));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(48), ..ProptestConfig::default() })]

    /// What a reason says is so: who is waited for sits as late as said, and what is short is short.
    #[test]
    fn reasons_hold(problem in random_problems::problem(20)) {
        let target = HardwareModel::named("tofino", Span::NONE).unwrap();
        let Ok(layout) = greedy_unlimited(&problem, &target) else { return Ok(()) };
        let model = Model::new(&problem, &target);
        let clusters = Clusters::of(&problem).unwrap();
        let reasons = Reasons::new(&model, &clusters, &layout);
        for index in 0..problem.units.len() {
            let unit = UnitId(index as u32);
            let stage = reasons.stage(unit).unwrap();
            match reasons.why(unit) {
                Why::First => prop_assert_eq!(stage, 0),
                Why::After { unit: before, kind } => {
                    prop_assert_eq!(reasons.stage(before).unwrap() + kind.distance(), stage);
                    let said = Dependency { before, after: unit, kind };
                    prop_assert!(problem.dependencies.contains(&said));
                }
                Why::With { unit: other, .. } => {
                    prop_assert_eq!(reasons.stage(other), Some(stage));
                    let bound = matches!(reasons.why(other), Why::After { .. });
                    prop_assert!(bound);
                }
                Why::Full { stage: before, excess } => {
                    prop_assert_eq!(before + 1, stage);
                    prop_assert!(!excess.is_empty());
                    prop_assert!(excess.iter().all(|each| each.needed > each.limit));
                }
                Why::Free => prop_assert!(stage > 0),
            }
        }
        let report = text(&problem, &target, &layout, &|_| String::new());
        // One heading a stage, and the table of what stages take.
        prop_assert_eq!(report.matches("\nstage ").count(), layout.stages.len() + 1);
    }
}
