// SPDX-License-Identifier: Apache-2.0
//! The JSON of a small layout, whole, and of random ones: it agrees with the layout.

use super::*;
use crate::greedy::{self, random_problems};
use crate::guard::{Condition, Guard, VariableId};
use crate::problem::{Array, ProgramKey, ProgramTable, Unit, Variable};
use proptest::prelude::*;
use source::Span;

fn small() -> Problem {
    let unit = |name: &str| Unit {
        name: name.into(),
        span: Span::NONE,
        gress: Gress::Ingress,
        guard: Guard::always(),
        mergeable: true,
        table: None,
        array: None,
        register_action: 0,
        demand: [(Resource::Statements, 1)].into(),
    };
    let port = VariableId(0);
    let key = ProgramKey { variable: port, kind: MatchKind::Exact, width_bits: 9 };
    let own = ProgramTable { keys: vec![key], entries: 512, actions: 2, action_data_bits: 9 };
    Problem {
        name: "small".into(),
        variables: vec![Variable { name: "port".into(), width_bits: 9 }],
        arrays: vec![Array { name: "seen".into(), cell_bits: 32, length: 64, span: Span::NONE }],
        units: vec![
            Unit { table: Some(own), mergeable: false, ..unit("ports") },
            Unit {
                array: Some(ArrayId(0)),
                guard: Guard::when(port, Condition::equals(3, 9)),
                ..unit("seen[i] += 1")
            },
        ],
        dependencies: Vec::new(),
    }
}

#[test]
fn all_of_a_small_one() {
    let problem = small();
    let target = HardwareModel::named("tofino", Span::NONE).unwrap();
    let layout = greedy::greedy(&problem, &target).unwrap();
    let text = json(&problem, &target, &layout, &|id| format!("small.p4:{}", id.0 + 1));
    testing::assert_snapshot!(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(48), ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_layout(problem in random_problems::problem(12), shared in any::<bool>()) {
        let target = HardwareModel { shared, ..HardwareModel::named("tofino", Span::NONE).unwrap() };
        let Ok(layout) = greedy::greedy(&problem, &target) else { return Ok(()) };
        let text = json(&problem, &target, &layout, &|_| String::new());
        let document: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&document["stages_used"], layout.stages.len());
        prop_assert_eq!(&document["target"], "tofino");
        match layout.optimality {
            Optimality::Optimal => prop_assert_eq!(&document["optimal"], true),
            Optimality::AtLeast(bound) => prop_assert_eq!(&document["optimal"], bound),
            Optimality::Unknown => prop_assert_eq!(&document["optimal"], false),
        }
        let stages = document["stages"].as_array().unwrap();
        prop_assert_eq!(stages.len(), layout.stages.len());
        for (stage, placed) in stages.iter().zip(&layout.stages) {
            let names: Vec<&str> = stage["tables"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|table| table["units"].as_array().unwrap())
                .map(|unit| unit["name"].as_str().unwrap())
                .collect();
            let expected: Vec<&str> = placed
                .tables
                .iter()
                .flat_map(|table| &table.units)
                .map(|id| &*problem.units[id.0 as usize].name)
                .collect();
            prop_assert_eq!(names, expected);
            if shared {
                let tables = stage["resources"]["tables"].as_u64().unwrap_or(0);
                prop_assert_eq!(tables, placed.tables.len() as u64);
            }
        }
    }
}
