// SPDX-License-Identifier: Apache-2.0
//! Many pipelines against one: generated programs and packets in generated designs; the judge finds no difference and the checker no
//! violation. Full queues drain to empty.

use crate::generate::{Case, case, design};
use scale::checker::check;
use scale::design::Design;
use scale::judge::{Verdict, judge, reference};
use scale::machine::outcome::{Cause, Outcome};
use scale::machine::{Settings, run};
use scale::synthetic::{Packet, Synthetic};
use scale::trace::Trace;
use testing::choices::Choices;
use testing::tape;

/// What a run gave.
pub struct Judged {
    pub outcome: Outcome<Packet>,
    pub verdict: Verdict,
    pub trace: Trace,
}

/// Runs a case and judges it.
pub fn judged(case: &Case, design: &Design, depth: Option<usize>) -> Judged {
    let mut work = Synthetic::new(case.program.clone(), case.pipelines);
    let mut trace = Trace::default();
    let settings = Settings { depth, ..Settings::new(case.pipelines) };
    let outcome = run(&mut work, case.arrivals.clone(), settings, design, &mut trace);
    // Without a recorder the machine runs stages without queues at once.
    let mut unrecorded = Synthetic::new(case.program.clone(), case.pipelines);
    let other = run(&mut unrecorded, case.arrivals.clone(), settings, design, &mut ());
    assert_eq!(outcome, other, "with and without a recorder, {design:?}");
    let mut single = Synthetic::new(case.program.clone(), 1);
    let expected = reference(&mut single, &case.arrivals);
    let verdict = judge(&work, &outcome, &mut single, &expected);
    Judged { outcome, verdict, trace }
}

/// Says what is wrong with a run that should equal one pipeline.
fn difference(tape: &[u32]) -> Option<String> {
    let mut choices = Choices::from_tape(tape.iter().copied());
    let design = design(&mut choices);
    let case = case(&mut choices);
    let Judged { outcome, verdict, trace } = judged(&case, &design, None);
    let violations = check(&trace);
    let counters =
        (outcome.measures.in_flight, outcome.measures.stalled, outcome.measures.reordered);
    let is_right = verdict.is_equivalent() && violations.is_empty() && counters == (0, 0, 0);
    (!is_right).then(|| {
        let program = &case.program;
        format!(
            "{design:?}\n{} pipelines\n{program:?}\n{:?}\n{verdict:?}\n{violations:?}\n{counters:?}",
            case.pipelines, case.arrivals
        )
    })
}

#[test]
fn many_pipelines_equal_one() {
    for seed in testing::seeds(300) {
        let tape = tape::from_seed(seed, 600);
        if difference(&tape).is_some() {
            let small = tape::shrink(&tape, 2000, &mut |tape| difference(tape).is_some());
            panic!("seed {seed}: {}", difference(&small).unwrap_or_default());
        }
    }
}

/// Says what is wrong with a run with rings of few entries: every packet leaves or is dropped, all counters are 0 at the end, and what is
/// left keeps the rules.
fn leftover(tape: &[u32]) -> Option<String> {
    let mut choices = Choices::from_tape(tape.iter().copied());
    let depth = 1 + choices.below(3);
    let design = design(&mut choices);
    let case = case(&mut choices);
    let Judged { outcome, verdict, trace } = judged(&case, &design, Some(depth));
    let violations = check(&trace);
    let gone = outcome.departures.len() + outcome.dropped.len();
    let lost = outcome.dropped.iter().filter(|dropped| dropped.cause != Cause::Program).count();
    let counters = (outcome.measures.in_flight, outcome.measures.stalled);
    let is_right = gone == case.arrivals.len()
        && verdict.lost.len() == lost
        && (lost > 0 || verdict.is_equivalent())
        && violations.is_empty()
        && counters == (0, 0);
    (!is_right).then(|| {
        format!(
            "{design:?} depth {depth}\n{} pipelines\n{:?}\n{:?}\n{violations:?}\n{counters:?}",
            case.pipelines, case.program, case.arrivals
        )
    })
}

#[test]
fn full_queues_drain_to_empty() {
    let mut lost = 0;
    for seed in testing::seeds(300) {
        let tape = tape::from_seed(seed, 600);
        if leftover(&tape).is_some() {
            let small = tape::shrink(&tape, 2000, &mut |tape| leftover(tape).is_some());
            panic!("seed {seed}: {}", leftover(&small).unwrap_or_default());
        }
        let mut choices = Choices::from_tape(tape);
        let depth = 1 + choices.below(3);
        let design = design(&mut choices);
        let case = case(&mut choices);
        lost += judged(&case, &design, Some(depth)).verdict.lost.len();
    }
    assert!(lost > 100, "only {lost} packets were lost: the test fills no queues");
}
