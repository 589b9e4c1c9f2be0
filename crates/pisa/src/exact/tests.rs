// SPDX-License-Identifier: Apache-2.0
//! Exact layouts of random problems: never longer than greedy ones, accepted by the checker, and as
//! short as the shortest of all layouts where those can be listed.

use super::*;
use crate::check::check;
use crate::greedy::random_problems;
use crate::problem::{Gress, Resource, UnitId};
use proptest::prelude::*;
use source::Span;

/// A chip with so little in a stage that greedy choices are often wrong.
fn tight(stages: u32) -> HardwareModel {
    let mut target = HardwareModel::named("tofino", Span::NONE).unwrap().with_stages(stages);
    target.stage.insert(Resource::Tables, 2);
    target.stage.insert(Resource::StatefulAlus, 1);
    target.stage.insert(Resource::HashUnits, 1);
    target.stage.insert(Resource::TcamBlocks, 2);
    target.table.insert(Resource::Statements, 2);
    target.table.insert(Resource::Entries, 5);
    target
}

fn never(_: Progress) -> bool {
    false
}

/// The least number of stages, by trying every layout of at most `most` stages.
fn by_force(problem: &Problem, target: &HardwareModel, most: u32) -> Option<u32> {
    (0..=most).find(|stages| {
        let mut layout = Layout {
            target: target.name.clone(),
            stages: vec![Stage::default(); *stages as usize],
            optimality: Optimality::Unknown,
        };
        place(problem, target, 0, &mut layout)
    })
}

fn place(problem: &Problem, target: &HardwareModel, next: usize, layout: &mut Layout) -> bool {
    let Some(unit) = problem.units.get(next) else {
        // Stages may stay empty in the middle; one at the end makes the layout a shorter one.
        let mut shorter = layout.clone();
        while shorter.stages.last().is_some_and(|stage| stage.tables.is_empty()) {
            shorter.stages.pop();
        }
        return check(problem, target, &shorter).is_empty();
    };
    let stage_of = crate::report::stages_of(problem, layout);
    let id = UnitId(next as u32);
    for stage in 0..layout.stages.len() {
        let too_early = problem.dependencies.iter().any(|each| {
            let before = &problem.units[each.before.0 as usize];
            each.after == id
                && before.gress == unit.gress
                && stage_of[each.before.0 as usize]
                    .is_some_and(|before| before + each.kind.distance() > stage as u32)
        });
        if too_early {
            continue;
        }
        for table in 0..=layout.stages[stage].tables.len() {
            if table < layout.stages[stage].tables.len() {
                if layout.stages[stage].tables[table].gress != unit.gress {
                    continue;
                }
                layout.stages[stage].tables[table].units.push(id);
                if place(problem, target, next + 1, layout) {
                    return true;
                }
                layout.stages[stage].tables[table].units.pop();
            } else {
                layout.stages[stage]
                    .tables
                    .push(PlacedTable { gress: unit.gress, units: vec![id] });
                if place(problem, target, next + 1, layout) {
                    return true;
                }
                layout.stages[stage].tables.pop();
            }
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(96), ..ProptestConfig::default() })]

    #[test]
    fn never_longer_than_greedy(problem in random_problems::problem(18)) {
        let target = tight(100);
        let mut steps = 0;
        let answer = exact(&problem, &target, &mut |_| { steps += 1; steps > 40 });
        match (greedy::greedy(&problem, &target), answer) {
            (Ok(greedy), Ok(exact)) => {
                prop_assert_eq!(check(&problem, &target, &exact), []);
                prop_assert!(exact.stages.len() <= greedy.stages.len());
                if let Optimality::AtLeast(bound) = exact.optimality {
                    prop_assert!((bound as usize) < exact.stages.len());
                }
            }
            (Err(_), Err(diagnostics)) => prop_assert!(diagnostics.has_errors()),
            (greedy, exact) => prop_assert!(false, "greedy {greedy:?}, exact {exact:?}"),
        }
    }

    #[test]
    fn as_short_as_can_be(problem in random_problems::problem(5)) {
        let target = tight(100);
        if let Ok(layout) = exact(&problem, &target, &mut never) {
            prop_assert_eq!(layout.optimality, Optimality::Optimal);
            let stages = layout.stages.len() as u32;
            prop_assert_eq!(by_force(&problem, &target, stages), Some(stages));
        }
    }

    /// Where the greedy layout is too long for the target, the exact one may fit.
    #[test]
    fn within_a_short_pipeline(problem in random_problems::problem(9)) {
        let wide = tight(100);
        let Ok(best) = exact(&problem, &wide, &mut never) else { return Ok(()) };
        let stages = best.stages.len() as u32;
        let found = exact(&problem, &tight(stages), &mut never);
        prop_assert!(found.is_ok_and(|it| check(&problem, &tight(stages), &it).is_empty()));
        if stages > 1 {
            prop_assert!(exact(&problem, &tight(stages - 1), &mut never).is_err());
        }
    }
}

#[test]
fn stops_when_told() {
    let unit = |number: u32| crate::problem::Unit {
        name: format!("u{number}").into(),
        span: Span::NONE,
        gress: Gress::Ingress,
        guard: crate::guard::Guard::always(),
        mergeable: false,
        table: None,
        array: None,
        register_action: 0,
        demand: [(Resource::Statements, 1)].into(),
    };
    let problem = Problem { units: (0..9).map(unit).collect(), ..Problem::default() };
    let layout = exact(&problem, &tight(9), &mut |_| true).unwrap();
    // Two tables a stage: the sum alone proves it.
    assert_eq!((layout.stages.len(), layout.optimality), (5, Optimality::Optimal));
    assert_eq!(exact(&Problem::default(), &tight(1), &mut never).unwrap().stages.len(), 0);
}
