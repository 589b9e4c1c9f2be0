// SPDX-License-Identifier: Apache-2.0
//! Short campaigns: generated programs are accepted, use the whole language, and mean the same in every form; a planted
//! mistake is found and made small.

use conformance::stf;
use device::{DeviceOptions, EngineChoice, PassTiming};
use differential::campaign::{self, Failure};
use differential::coverage::Coverage;
use differential::forms::{Form, Forms};
use differential::runner::DifferenceKind;
use differential::subject::{DeviceSubject, Stimulus};
use ir::{BinaryOperation, Operation, Program};
use std::path::Path;
use testing::p4::Knobs;
use testing::{Choices, cases};

fn subject(name: &str) -> DeviceSubject {
    DeviceSubject::named(name).expect("the subject has a name")
}

/// Runs programs on two subjects and returns what occurred in them; seeds count from `first`.
fn agree(left: &str, right: &str, first: u64, programs: u64, knobs: Knobs) -> (Coverage, u64) {
    let (mut left, mut right) = (subject(left), subject(right));
    let mut coverage = Coverage::default();
    let mut transmitted = 0;
    for seed in first..first + cases(programs) {
        let mut choices = Choices::from_seed(seed);
        match campaign::run(&mut choices, knobs, 10, (&mut left, &mut right)) {
            Ok((agreement, forms)) => {
                transmitted += agreement.transmitted;
                coverage.add(&forms.form(Form::Simplified).expect("it was run"));
            }
            Err(failure) => panic!("seed {seed}: {failure}"),
        }
    }
    (coverage, transmitted)
}

#[test]
fn simplified_programs_mean_the_same() {
    let knobs = Knobs { size: 2, random: false, calls: false };
    let (coverage, transmitted) = agree("lowered", "interpreter", 1, 30, knobs);
    assert!(transmitted > 150, "{transmitted}");
    // Only what is rare may be missing in so short a run.
    let missing = coverage.missing();
    assert!(missing.len() < 16, "{missing:?}");
}

#[test]
fn machine_code_means_the_same() {
    agree("interpreter", "jit", 500, 15, Knobs { size: 2, random: true, calls: false });
}

#[test]
fn rewritten_programs_mean_the_same() {
    let knobs = Knobs { size: 2, random: false, calls: false };
    let (_, transmitted) = agree("interpreter", "rewritten", 9000, 25, knobs);
    assert!(transmitted > 100, "{transmitted}");
}

/// Runs programs with passes that take time, each packet alone, and with passes that take none.
fn agree_in_time(form: &str, timing: &PassTiming, first: u64, programs: u64) {
    // No time stamp of a microsecond shows what a pass takes.
    let slot_ps = 1_000_000;
    let mut left = subject(form).in_slots(slot_ps);
    let mut right = subject(form).in_slots(slot_ps).timed(timing.clone());
    let knobs = Knobs { size: 2, random: false, calls: false };
    for seed in first..first + cases(programs) {
        let mut choices = Choices::from_seed(seed);
        if let Err(failure) = campaign::run(&mut choices, knobs, 10, (&mut left, &mut right)) {
            panic!("seed {seed}: {failure}");
        }
    }
}

#[test]
fn passes_moment_by_moment_mean_the_same_to_a_packet_alone() {
    let timing = PassTiming { first_stage_ps: 7, stage_ps: 3, ..PassTiming::default() };
    agree_in_time("interpreter", &timing, 5000, 40);
    agree_in_time("lowered", &timing, 6000, 30);
}

#[test]
fn samples_of_stf_pass_moment_by_moment() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/calculator");
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).expect("the sample is there");
    let forms = Forms::of_text(&read("calculator.p4")).expect("the program compiles");
    let (steps, errors) = stf::reader::read("calculator.stf", &read("calculator.stf"));
    assert_eq!(errors, []);
    let timing = PassTiming { first_stage_ps: 7_000, stage_ps: 3_000, ..PassTiming::default() };
    for pass_timing in [None, Some(timing)] {
        let engine = EngineChoice::Interpreter;
        let options = DeviceOptions { engine, pass_timing, ..DeviceOptions::default() };
        let report = stf::runner::run_with(forms.lowered().clone(), &steps, options);
        assert_eq!(report.failures, Vec::<String>::new());
        assert!(report.packets_out > 0);
    }
}

#[test]
fn passes_in_no_time_are_passes_at_once() {
    let knobs = Knobs { size: 2, random: true, calls: false };
    let mut left = subject("interpreter");
    let mut right = subject("interpreter").timed(PassTiming::default());
    for seed in 2200..2200 + cases(15u64) {
        let mut choices = Choices::from_seed(seed);
        if let Err(failure) = campaign::run(&mut choices, knobs, 10, (&mut left, &mut right)) {
            panic!("seed {seed}: {failure}");
        }
    }
}

#[test]
fn printed_programs_mean_the_same() {
    agree("interpreter", "reprinted", 1000, 12, Knobs { size: 2, random: true, calls: false });
}

#[test]
fn programs_with_their_calls_inlined_mean_the_same() {
    let knobs = Knobs { size: 2, random: false, calls: true };
    agree("interpreter", "inlined", 1, 12, knobs);
    agree("jit", "jit-inlined", 100, 4, knobs);
}

#[test]
fn bytes_of_a_fuzzer_make_programs() {
    let mut choices = Choices::from_bytes((0..400u32).map(|at| (at * at % 251) as u8).collect());
    let knobs = Knobs { size: 2, random: false, calls: false };
    let (mut left, mut right) = (subject("lowered"), subject("interpreter"));
    let outcome = campaign::run(&mut choices, knobs, 10, (&mut left, &mut right));
    assert!(outcome.is_ok(), "{}", outcome.err().map(|why| why.to_string()).unwrap_or_default());
}

/// Saturating sums wrap.
fn forget_saturation(program: &mut Program) {
    let blocks = program.regions.iter_mut().flat_map(|region| &mut region.blocks);
    for instruction in blocks.flat_map(|block| &mut block.instructions) {
        if let Operation::Binary { operation, .. } = &mut instruction.operation
            && *operation == BinaryOperation::AddSaturatingUnsigned
        {
            *operation = BinaryOperation::Add;
        }
    }
}

#[test]
fn planted_mistakes_are_found_and_made_small() {
    let knobs = Knobs { size: 1, random: true, calls: false };
    let mut left = subject("interpreter");
    let mut right = subject("interpreter").altered(forget_saturation);
    for seed in 0..60 {
        let mut choices = Choices::from_seed(seed);
        match campaign::run(&mut choices, knobs, 10, (&mut left, &mut right)) {
            Ok(_) => {}
            Err(Failure::Difference { difference, case }) => {
                assert_eq!(difference.kind, DifferenceKind::Observation);
                let text = case.tree.print();
                assert!(text.contains("|+|"), "{text}");
                assert!(text.lines().count() < 80, "{text}");
                let is_packet = |step: &&Stimulus| matches!(step, Stimulus::Packet { .. });
                assert_eq!(case.stimuli.iter().filter(is_packet).count(), 1, "{:?}", case.stimuli);
                return;
            }
            Err(failure) => panic!("seed {seed}: {failure}"),
        }
    }
    panic!("the mistake was not found");
}
