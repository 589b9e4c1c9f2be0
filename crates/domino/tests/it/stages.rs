// SPDX-License-Identifier: Apache-2.0
//! Compiled programs, cut into stages by drawn assignments, against the interpreter of the language, on both engines: the
//! examples, and the thirty programs of domino-examples if `DOMINO_EXAMPLES` names a folder with them.

use crate::packets::packets;
use crate::{examples, on_device, thirty};
use domino::Checked;
use domino::core::flatten_with_calls;
use domino::passes::{self, codelets::codelets};
use ir::RegisterId;
use ir::analysis::Analysis;
use ir::effects::Location;
use ir::stages::{Constraints, Hints, cut};
use std::collections::BTreeMap;
use testing::cases;
use testing::cuts::{CutCounts, cut_controls};
use testing::programs::not_run;

/// Runs a program in some cuts; returns what they were like, and how many packets ran.
fn cut_randomly(
    (name, text, checked): (&str, &str, &Checked),
    (count, cuts): (usize, u64),
) -> (CutCounts, usize) {
    let packets = packets(&checked.program, text, count, 5);
    let (ours, our_cells) = on_device::interpreted(checked, &packets);
    let (mut all, mut ran) = (CutCounts::default(), 0);
    for is_interpreted in [true, false] {
        for seed in 0..cases(cuts) {
            let mut counts = CutCounts::default();
            let (left, cells) =
                on_device::run_changed(checked, &packets, is_interpreted, |program| {
                    counts = cut_controls(program, 6 + (seed % 11) as u32, seed);
                });
            assert_eq!(left, ours, "{name}, seed {seed}");
            assert!(cells == our_cells, "{name}, seed {seed}: cells differ");
            all.include(&counts);
            ran += packets.len();
        }
    }
    (all, ran)
}

/// Cuts a compiled program by the stages of its codelets, runs it on both engines, and returns how many arrays are in
/// the stage of their codelet, how many there are, and how many stages have code.
/// `None` for a program that has no codelets, because it accesses an array by two indices.
fn cut_by_codelets((name, text, checked): (&str, &str, &Checked)) -> Option<(usize, usize, usize)> {
    let core = flatten_with_calls(&checked.program).expect("it is flat");
    let core = passes::run(core, None).expect("a last pass").ok()?;
    let stages = codelets(&core).by_source(&core);
    let registers = on_device::compile(checked).registers;
    let packets = packets(&checked.program, text, 60, 6);
    let (ours, our_cells) = on_device::interpreted(checked, &packets);
    let mut found = (0, 0, 0);
    for is_interpreted in [true, false] {
        let (left, cells) = on_device::run_changed(checked, &packets, is_interpreted, |program| {
            let block = program.blocks_with_role("ig").start;
            let mut hints = Hints::default();
            for (at, array) in (0..).zip(&program.registers) {
                let is_it =
                    |name: &Option<String>| name.as_deref() == array.name.rsplit('.').next();
                let global = registers.iter().position(is_it);
                let stage = global.and_then(|global| stages.globals[global]);
                hints.registers.extend(stage.map(|stage| (RegisterId(at), stage as u32)));
            }
            hints.spans = stages.spans.iter().map(|(span, at)| (*span, *at as u32)).collect();
            let constraints = Constraints::of(program, block).expect("it can be cut");
            let wanted = hints.wanted(program, &constraints);
            let assignment = constraints.at_least(&wanted, 1);
            let analysis = Analysis::of(program);
            let accesses = analysis.accesses().iter().filter_map(|access| {
                let Location::Register(register) = access.object else { return None };
                Some((register, assignment.stage(access.at)?))
            });
            let accesses: BTreeMap<RegisterId, u32> = accesses.collect();
            let kept = accesses.iter().filter(|(at, stage)| hints.registers.get(at) == Some(stage));
            found = (kept.count(), accesses.len(), assignment.used_stages());
            *program = cut(program, block, &assignment).expect("it is legal").program;
        });
        assert_eq!(left, ours, "{name} by its codelets");
        assert!(cells == our_cells, "{name} by its codelets: cells differ");
    }
    Some(found)
}

#[test]
fn programs_in_the_stages_of_their_codelets_mean_the_same() {
    let mut programs = examples::examples();
    let thirty = thirty::examples().unwrap_or_default();
    programs.extend(thirty.into_iter().map(|it| (it.name, it.text, it.checked)));
    let (mut kept, mut all) = (0, 0);
    for (name, text, checked) in &programs {
        let Some((in_stage, arrays, stages)) = cut_by_codelets((name, text, checked)) else {
            println!("{name}: no codelets");
            continue;
        };
        println!(
            "{name}: {in_stage} of {arrays} arrays in the stage of their codelet, {stages} stages"
        );
        kept += in_stage;
        all += arrays;
    }
    println!(
        "{kept} of {all} arrays of {} programs in the stages of their codelets",
        programs.len()
    );
    assert!(kept * 2 > all, "{kept} of {all}");
}

#[test]
fn examples_mean_the_same_in_stages() {
    let (mut all, mut packets) = (CutCounts::default(), 0);
    for (name, text, checked) in examples::examples() {
        let (counts, ran) = cut_randomly((&name, &text, &checked), (60, 1));
        all.include(&counts);
        packets += ran;
    }
    println!("examples of Domino, {packets} packets: {all}");
    assert!(all.refused.is_empty() && all.with_four_stages > 10, "{all}");
}

#[test]
fn the_thirty_programs_mean_the_same_in_stages() {
    let Some(examples) = thirty::examples() else {
        return not_run("the thirty programs in stages", "DOMINO_EXAMPLES names no folder");
    };
    let (mut all, mut packets) = (CutCounts::default(), 0);
    for thirty::Example { name, text, checked } in &examples {
        let (counts, ran) = cut_randomly((name, text, checked), (100, 2));
        println!("{name}: {counts}");
        all.include(&counts);
        packets += ran;
    }
    println!("the thirty programs of Domino, {packets} packets, 0 differences: {all}");
}
