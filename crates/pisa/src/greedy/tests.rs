// SPDX-License-Identifier: Apache-2.0
//! Greedy layouts: small problems by hand, messages, and random problems against the checker.

use super::random_problems;
use super::*;
use crate::check::check;
use crate::guard::{Condition, Guard, VariableId};
use crate::problem::{
    Array, ArrayId, Dependency, DependencyKind, Resource, Unit, UnitId, Variable,
};
use proptest::prelude::*;
use source::{RenderOptions, SourceMap, Span, render_text};

fn target(name: &str) -> HardwareModel {
    HardwareModel::named(name, Span::NONE).unwrap()
}

/// A problem from lines of text; spans are the lines. A line is a name and words: `array=a`,
/// `action=1`, `hash`, `egress`, `fixed`, `if=v:3`, `after=name` (action), `match=name`, `anti=name`,
/// `successor=name`. Lines `array NAME LENGTH` declare arrays of 32 bits.
fn parse(text: &str) -> (Problem, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add("test.dpt", text);
    let mut problem = Problem { name: "test".into(), ..Problem::default() };
    let mut start = 0;
    for line in text.lines() {
        let span = Span::new(file, start, start + line.len() as u32);
        start += line.len() as u32 + 1;
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["array", name, length] = words[..] {
            let length = length.parse().unwrap();
            problem.arrays.push(Array { name: name.into(), cell_bits: 32, length, span });
            continue;
        }
        let Some((name, words)) = words.split_first() else { continue };
        let id = UnitId(problem.units.len() as u32);
        let mut unit = Unit {
            name: (*name).into(),
            span,
            gress: Gress::Ingress,
            guard: Guard::always(),
            mergeable: true,
            table: None,
            array: None,
            register_action: 0,
            demand: [(Resource::Statements, 1)].into(),
        };
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let before = |problem: &Problem| {
                let at = problem.units.iter().position(|unit| &*unit.name == value).unwrap();
                UnitId(at as u32)
            };
            let depends = |problem: &mut Problem, kind| {
                let before = before(problem);
                problem.dependencies.push(Dependency { before, after: id, kind });
            };
            match key {
                "array" => {
                    let at = problem.arrays.iter().position(|array| &*array.name == value);
                    unit.array = Some(ArrayId(at.unwrap() as u32));
                }
                "action" => unit.register_action = value.parse().unwrap(),
                "hash" => _ = unit.demand.insert(Resource::HashUnits, 1),
                "egress" => unit.gress = Gress::Egress,
                "fixed" => unit.mergeable = false,
                "after" => depends(&mut problem, DependencyKind::Action),
                "match" => depends(&mut problem, DependencyKind::Match),
                "anti" => depends(&mut problem, DependencyKind::Anti),
                "successor" => depends(&mut problem, DependencyKind::Successor),
                "if" => {
                    let (name, number) = value.split_once(':').unwrap();
                    let known = problem.variables.iter().position(|each| &*each.name == name);
                    let at = known.unwrap_or_else(|| {
                        problem.variables.push(Variable { name: name.into(), width_bits: 8 });
                        problem.variables.len() - 1
                    });
                    let condition = Condition::equals(number.parse().unwrap(), 8);
                    unit.guard = Guard::when(VariableId(at as u32), condition);
                }
                other => panic!("{other}"),
            }
        }
        problem.units.push(unit);
    }
    (problem, sources)
}

fn shown(problem: &Problem, layout: &Layout) -> String {
    let mut stages: Vec<String> = Vec::new();
    for stage in &layout.stages {
        let tables: Vec<String> = stage
            .tables
            .iter()
            .map(|table| {
                let names = table.units.iter().map(|unit| &*problem.units[unit.0 as usize].name);
                names.collect::<Vec<_>>().join("+")
            })
            .collect();
        stages.push(tables.join(" "));
    }
    stages.join(" | ")
}

fn lays_out(text: &str, expected: &str) -> Layout {
    let (problem, sources) = parse(text);
    let target = target("tofino");
    let layout = greedy(&problem, &target).unwrap_or_else(|diagnostics| {
        panic!("{}", render_text(&sources, &diagnostics, RenderOptions { color: false }))
    });
    assert_eq!(check(&problem, &target, &layout), []);
    assert_eq!(shown(&problem, &layout), expected);
    layout
}

fn fails(text: &str) -> String {
    let (problem, sources) = parse(text);
    let diagnostics = greedy(&problem, &target("tofino")).unwrap_err();
    render_text(&sources, &diagnostics, RenderOptions { color: false })
}

#[test]
fn units_merge_where_nothing_is_between() {
    let layout = lays_out("a if=v:1\nb if=v:2\nc after=a\nd anti=a\n", "a+b+d | c");
    assert_eq!(layout.optimality, Optimality::Optimal);
}

#[test]
fn an_array_has_a_table_of_its_own() {
    lays_out("array x 8\narray y 8\na array=x\nb array=y\nc\n", "a+c b");
}

/// `r2` forces the array to stage 1, and so `r1`, which could sit in stage 0.
#[test]
fn accesses_to_an_array_sit_together() {
    lays_out("array x 8\nr1 array=x if=v:1\na\nr2 array=x after=a\nb after=r1\n", "a | r1+r2 | b");
}

/// Anti-dependencies go round between two arrays: they share a stage, in two tables.
#[test]
fn arrays_that_wait_for_each_other() {
    lays_out(
        "array x 8\narray y 8\nx1 array=x\ny1 array=y anti=x1\ny2 array=y\nx2 array=x anti=y2\n\
         a\nz array=y after=a\n",
        "a | x1+x2 y1+y2+z",
    );
}

#[test]
fn five_arrays_take_two_stages() {
    let arrays: String = (0..5).map(|index| format!("array a{index} 8\n")).collect();
    let units: String = (0..5).map(|index| format!("u{index} array=a{index}\n")).collect();
    let layout = lays_out(&(arrays + &units), "u0 u1 u2 u3 | u4");
    assert_eq!(layout.optimality, Optimality::Optimal);
}

#[test]
fn hash_units_of_a_table_and_of_a_stage() {
    // Two a table, six a stage.
    let units: String = (0..7).map(|index| format!("h{index} hash\n")).collect();
    lays_out(&units, "h0+h1 h2+h3 h4+h5 | h6");
}

#[test]
fn what_follows_by_outcome_is_another_table() {
    lays_out("t fixed\na successor=t\nb\n", "t a+b");
}

#[test]
fn nothing_to_lay_out() {
    let layout = lays_out("", "");
    assert_eq!((layout.stages.len(), layout.optimality), (0, Optimality::Optimal));
}

#[test]
fn a_chain_that_is_too_long() {
    let mut text = "u0\n".to_string();
    for index in 1..14 {
        text.push_str(&format!("u{index} after=u{}\n", index - 1));
    }
    testing::assert_snapshot!(fails(&text));
}

#[test]
fn too_many_arrays() {
    let arrays: String = (0..50).map(|index| format!("array a{index} 8\n")).collect();
    let units: String = (0..50).map(|index| format!("u{index} array=a{index}\n")).collect();
    testing::assert_snapshot!(fails(&(arrays + &units + "last after=u49\n")));
}

#[test]
fn an_array_that_is_too_large() {
    testing::assert_snapshot!(fails(
        "array big 1000000\narray fine 8\na array=big\nb array=fine\n"
    ));
}

#[test]
fn too_many_register_actions() {
    let units: String =
        (0..5).map(|index| format!("u{index} array=x action={index} if=v:{index}\n")).collect();
    testing::assert_snapshot!(fails(&("array x 8\n".to_string() + &units)));
}

#[test]
fn one_array_twice_in_a_pass() {
    testing::assert_snapshot!(fails("array x 8\nfirst array=x\nsecond array=x after=first\n"));
    testing::assert_snapshot!(fails(
        "array x 8\nread array=x\ncompute after=read\nwrite array=x after=compute\n"
    ));
}

#[test]
fn arrays_in_two_orders() {
    testing::assert_snapshot!(fails(
        "array x 8\narray y 8\nx1 array=x\nc after=x1\ny1 array=y after=c\n\
         y2 array=y\nx2 array=x after=y2\n"
    ));
    // The circle is found from a unit without an array.
    testing::assert_snapshot!(fails(
        "array x 8\nx1 array=x\nc anti=x1\nd after=c\nx2 array=x anti=d\n"
    ));
}

#[test]
fn an_array_of_both_halves_or_of_two_tables() {
    testing::assert_snapshot!(fails("array x 8\na array=x\nb array=x egress\n"));
    testing::assert_snapshot!(fails("array x 8\na array=x fixed\nb array=x\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(96), ..ProptestConfig::default() })]

    /// The greedy result always passes the checker, is never worse than the plain walk, and never
    /// better than the bound; and what does not fit is said in messages.
    #[test]
    fn random_problems_are_laid_out_well(
        problem in random_problems::problem(24),
        name in prop_oneof![Just("tofino"), Just("rmt"), Just("banzai")],
    ) {
        let target = target(name);
        match greedy_unlimited(&problem, &target) {
            Ok(layout) => {
                let many = target.with_stages(1000);
                prop_assert_eq!(check(&problem, &many, &layout), []);
                let plain = plain(&problem, &target).unwrap();
                prop_assert_eq!(check(&problem, &many, &plain), []);
                prop_assert!(layout.stages.len() <= plain.stages.len());
                prop_assert!(bound::least_stages(&problem, &target) as usize <= layout.stages.len());
                match greedy(&problem, &target) {
                    Ok(within) => prop_assert_eq!(check(&problem, &target, &within), []),
                    Err(diagnostics) => prop_assert!(diagnostics.has_errors()),
                }
                // A pipeline that is one stage too short gets messages, and the checker agrees.
                let stages = layout.stages.len() as u32 - 1;
                if stages > 0 {
                    let short = target.with_stages(stages);
                    match greedy(&problem, &short) {
                        Ok(better) => prop_assert_eq!(check(&problem, &short, &better), []),
                        Err(diagnostics) => {
                            prop_assert!(diagnostics.has_errors());
                            prop_assert!(!check(&problem, &short, &layout).is_empty());
                        }
                    }
                }
            }
            Err(diagnostics) => {
                prop_assert!(diagnostics.has_errors());
                prop_assert!(greedy(&problem, &target).is_err());
            }
        }
    }
}

/// Five arrays in the middle of a chain of three: the middle takes two stages, so all take four.
#[test]
fn resources_between_two_ends_of_a_chain() {
    let arrays: String = (0..5).map(|index| format!("array a{index} 8\n")).collect();
    let middle: String =
        (0..5).map(|index| format!("m{index} array=a{index} after=first\n")).collect();
    let after: String = (0..5).map(|index| format!(" after=m{index}")).collect();
    let layout = lays_out(
        &(arrays + "first\n" + &middle + "last" + &after),
        "first | m0 m1 m2 m3 | m4 | last",
    );
    assert_eq!(layout.optimality, Optimality::Optimal);
}
