// SPDX-License-Identifier: Apache-2.0
//! Controls cut into stages by drawn assignments mean the same as whole ones, on both engines: generated programs of
//! the whole language and generated programs about state. A planted mistake in the constraints is found.

use crate::programs::{EXAMPLES, example};
use differential::campaign::{self, Failure};
use differential::forms::Forms;
use differential::runner::{Difference, compare};
use differential::subject::{DeviceSubject, Stimulus};
use ir::Program;
use ir::stages::{Constraints, MovedActions, behind_tables, cut};
use pisa::HardwareModel;
use pisa::graph::graph_of;
use pisa::greedy::greedy_unlimited;
use pisa::stages::assignment_of;
use source::Span;
use std::cell::RefCell;
use std::rc::Rc;
use testing::cuts::{CutCounts, cut_controls};
use testing::p4::Knobs;
use testing::p4::stateful::{StatefulCase, stateful};
use testing::{Choices, cases, tape};

fn subject(name: &str) -> DeviceSubject {
    DeviceSubject::named(name).expect("the subject has a name")
}

/// A subject whose controls are cut, and what the cuts of the last program were like.
fn cut_subject(name: &str, count: u32, seed: u64) -> (DeviceSubject, Rc<RefCell<CutCounts>>) {
    let counts = Rc::new(RefCell::new(CutCounts::default()));
    let note = counts.clone();
    let subject = subject(name)
        .altered(move |program| *note.borrow_mut() = cut_controls(program, count, seed));
    (subject, counts)
}

/// Runs generated programs of the whole language.
fn agree(name: &str, first: u64, programs: u64) -> CutCounts {
    let knobs = Knobs { size: 2, random: true, calls: false };
    let mut all = CutCounts::default();
    for seed in first..first + cases(programs) {
        let (mut cut, counts) = cut_subject(name, 6 + (seed % 11) as u32, seed);
        let mut choices = Choices::from_seed(seed);
        let outcome = campaign::run(&mut choices, knobs, 10, (&mut subject(name), &mut cut));
        match outcome {
            Ok(_) => all.include(&counts.borrow()),
            Err(Failure::Difference { difference, case }) => {
                let failure = Failure::Difference { difference, case };
                panic!("seed {seed}: {failure}\n{}", counts.borrow());
            }
            Err(failure) => panic!("seed {seed}: {failure}"),
        }
    }
    println!("{name}, generated programs: {all}");
    all
}

#[test]
fn generated_programs_mean_the_same_in_stages() {
    let all = agree("interpreter", 20_000, 14);
    assert!(all.cuts > 14 && all.carried > 100, "{all}");
}

#[test]
fn generated_programs_mean_the_same_in_stages_of_machine_code() {
    agree("jit", 21_000, 2);
}

fn stimuli(case: &StatefulCase) -> Vec<Stimulus> {
    let commands = case.commands.iter().cloned().map(Stimulus::Command);
    let packet = |(port, bytes): &(u32, Vec<u8>)| Stimulus::Packet {
        port: *port,
        gap_ps: 1_000_000,
        bytes: bytes.clone(),
    };
    commands.chain(case.packets.iter().map(packet)).collect()
}

/// Compares a generated program about state with itself in stages.
fn compare_stateful(
    name: &str,
    case: &StatefulCase,
    (count, seed): (u32, u64),
) -> Result<CutCounts, Box<Difference>> {
    let forms = Forms::of_text(&case.text).unwrap_or_else(|error| panic!("{error}\n{}", case.text));
    let (mut cut, counts) = cut_subject(name, count, seed);
    compare(&forms, &stimuli(case), &mut subject(name), &mut cut)?;
    Ok(counts.take())
}

const TAPE_LENGTH: usize = 1500;

fn agree_on_state(name: &str, first: u64, programs: u64) -> CutCounts {
    let mut all = CutCounts::default();
    for seed in first..first + cases(programs) {
        let tape = tape::from_seed(seed, TAPE_LENGTH);
        let cut = (6 + (seed % 11) as u32, seed);
        let make = |tape: &[u32]| stateful(&mut Choices::from_tape(tape.iter().copied()), 12);
        match compare_stateful(name, &make(&tape), cut) {
            Ok(counts) => all.include(&counts),
            Err(_) => {
                let mut fails = |tape: &[u32]| compare_stateful(name, &make(tape), cut).is_err();
                let small = make(&tape::shrink(&tape, 400, &mut fails));
                let difference = compare_stateful(name, &small, cut).expect_err("it fails");
                panic!("seed {seed}: {difference}\n{:#?}\n{}", small.commands, small.text);
            }
        }
    }
    println!("{name}, programs about state: {all}");
    all
}

#[test]
fn programs_about_state_mean_the_same_in_stages() {
    let all = agree_on_state("interpreter", 0, 30);
    assert!(all.with_four_stages * 10 >= all.cuts * 8, "{all}");
    assert!(all.refused.is_empty(), "{:?}", all.refused);
}

#[test]
fn programs_about_state_mean_the_same_in_stages_of_machine_code() {
    agree_on_state("jit", 1000, 3);
}

/// Cuts ingress by a layout for a target; returns how many stages have code. 0 and the whole program if the target
/// cannot run it, for example because it accesses an array twice.
fn cut_by_layout(program: &mut Program, target: &HardwareModel) -> usize {
    let graph = graph_of(program);
    let Ok(layout) = greedy_unlimited(&graph.problem, target) else { return 0 };
    let block = program.blocks_with_role("ig").start;
    let moved = behind_tables(program, block, MovedActions::Stateful);
    let constraints = Constraints::of(&moved.program, block).expect("it can be cut");
    let assignment = assignment_of(&graph, &layout, &moved, &constraints);
    assert!(assignment.count() as usize >= layout.stages.len());
    let staged = cut(&moved.program, block, &assignment).expect("it is legal");
    assert_eq!(ir::verify(&staged.program), Ok(()));
    *program = staged.program;
    assignment.used_stages()
}

#[test]
fn programs_in_the_stages_of_layouts_mean_the_same() {
    for name in ["tofino", "rmt"] {
        let target = HardwareModel::named(name, Span::NONE).expect("a target");
        let mut stages = Vec::new();
        let mut check = |what: &str, forms: &Forms, stimuli: &[Stimulus]| {
            let (used, model) = (Rc::new(RefCell::new(0)), target.clone());
            let note = used.clone();
            let mut cut = subject("interpreter")
                .altered(move |program| *note.borrow_mut() = cut_by_layout(program, &model));
            if let Err(difference) = compare(forms, stimuli, &mut subject("interpreter"), &mut cut)
            {
                panic!("{what} for {name}: {difference}");
            }
            stages.push(*used.borrow());
        };
        for name in EXAMPLES {
            let (forms, stimuli) = example(name);
            check(name, &forms, &stimuli);
        }
        for seed in 0..cases(12u64) {
            let tape = tape::from_seed(seed, TAPE_LENGTH);
            let case = stateful(&mut Choices::from_tape(tape), 12);
            let forms = Forms::of_text(&case.text).expect("it compiles");
            check(&format!("seed {seed}"), &forms, &stimuli(&case));
        }
        let cut = stages.iter().filter(|used| **used > 0).count();
        println!("{name}: {cut} of {} programs in stages of layouts: {stages:?}", stages.len());
        assert!(cut >= EXAMPLES.len(), "{cut} programs");
    }
}

/// Exchanges two stages of a control that both have code.
fn exchange_stages(program: &mut Program, seed: u64) {
    cut_controls(program, 8, seed);
    let stages: Vec<usize> = program
        .blocks_with_role("ig")
        .filter(|at| {
            let region = &program.regions[program.blocks[*at].region.index()];
            region.blocks.iter().any(|block| !block.instructions.is_empty())
        })
        .collect();
    if let [first, .., last] = stages[..] {
        program.blocks.swap(first, last);
    }
}

#[test]
fn stages_in_a_wrong_order_are_found() {
    let mut found = 0;
    let count = 20;
    for seed in 0..count {
        let case = stateful(&mut Choices::from_tape(tape::from_seed(seed, TAPE_LENGTH)), 12);
        let forms = Forms::of_text(&case.text).expect("it compiles");
        let mut wrong =
            subject("interpreter").altered(move |program| exchange_stages(program, seed));
        let outcome = compare(&forms, &stimuli(&case), &mut subject("interpreter"), &mut wrong);
        found += u64::from(outcome.is_err());
    }
    println!("{found} of {count} wrong orders found");
    assert!(found * 4 > count * 3, "{found} of {count}");
}

#[test]
fn examples_mean_the_same_in_stages() {
    let mut all = CutCounts::default();
    for (number, name) in (0..).zip(EXAMPLES) {
        let (forms, stimuli) = example(name);
        for engine in ["interpreter", "jit"] {
            for seed in number..number + cases(1u64) {
                let (mut cut, counts) = cut_subject(engine, 6 + (seed % 11) as u32, seed);
                if let Err(difference) = compare(&forms, &stimuli, &mut subject(engine), &mut cut) {
                    panic!("{name}, seed {seed}: {difference}");
                }
                all.include(&counts.borrow());
            }
        }
    }
    println!("examples: {all}");
    assert!(all.cuts >= 10 && all.refused.is_empty(), "{all}: {:?}", all.refused);
}
