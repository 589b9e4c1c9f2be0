// SPDX-License-Identifier: Apache-2.0
//! Times and order at one switch.

use super::build::*;
use super::log::{check, run as run_logged};
use lucid::core::*;
use lucid::syntax::ast::BinaryOperator;
use lucid_reference::simulation::Outcome;
use lucid_reference::specification::{Input, InputKind};
use std::sync::Arc;

const INT: Type = Type::Int(32);

/// `event count(int n) { cell += 1; if (n < 3) { generate count(n + 1); } }`
fn counter(delay_ns: Option<u128>) -> Arc<Program> {
    let next = binary(BinaryOperator::Add, local(0, INT), int(1, 32));
    let mut event = event_value(0, vec![next]);
    if let Some(delay) = delay_ns {
        event = delayed(event, int(delay, 32));
    }
    let more = binary(BinaryOperator::Less, local(0, INT), int(3, 32));
    let body = vec![
        add_to_cell(0, int(0, 4), int(1, 32), None),
        if_else(more, vec![generate(event)], vec![]),
    ];
    Builder::new().array("cell", 32, 4).event("count", &[("n", INT)], &[], body).done()
}

#[test]
fn recirculation_takes_the_generate_delay() {
    let mut specification = run(1);
    specification.inputs = vec![input(5, "count", &[0])];
    check(
        &counter(None),
        &specification,
        &["5 0:0 count(0)", "605 0:196 count(1)", "1205 0:196 count(2)", "1805 0:196 count(3)"],
    );
}

#[test]
fn a_delay_counts_if_it_is_longer() {
    let mut specification = run(1);
    specification.inputs = vec![input(0, "count", &[2])];
    check(&counter(Some(100)), &specification, &["0 0:0 count(2)", "600 0:196 count(3)"]);
    check(&counter(Some(5000)), &specification, &["0 0:0 count(2)", "5000 0:196 count(3)"]);
    specification.delay_granularity_ps = 100_000_000;
    specification.inputs = vec![input(1, "count", &[2])];
    check(&counter(Some(5000)), &specification, &["1 0:0 count(2)", "100000 0:196 count(3)"]);
}

/// The run ends at its time, included; what is due later waits.
#[test]
fn the_end_of_time_cuts() {
    let mut specification = run(1);
    specification.inputs = vec![input(0, "count", &[0])];
    specification.max_time_ps = 1_200_000;
    let (simulation, outcome, lines) = run_logged(&counter(None), &specification);
    assert_eq!(lines.len(), 3);
    assert_eq!(outcome, Outcome::TimeOver);
    assert_eq!((simulation.in_flight(), simulation.handled()), (1, 3));
    specification.max_time_ps = 1_199_999;
    assert_eq!(run_logged(&counter(None), &specification).2.len(), 2);
}

/// A switch takes one event a nanosecond; those that come meanwhile wait in order of arrival, and of
/// one time in order of ports.
#[test]
fn one_event_a_nanosecond() {
    let mut specification = run(1);
    let at =
        |time_ns, port, n| Input { locations: vec![(0, port)], ..input(time_ns, "count", &[n]) };
    specification.inputs = vec![at(0, 3, 10), at(0, 1, 11), at(0, 1, 12), at(1, 0, 13)];
    check(
        &counter(None),
        &specification,
        &["0 0:1 count(11)", "1 0:1 count(12)", "2 0:3 count(10)", "3 0:0 count(13)"],
    );
}

/// Inputs without a time come the gap after the one before.
#[test]
fn the_gap_between_inputs() {
    let mut specification = run(1);
    let untimed = |n| Input { time_ps: None, ..input(0, "count", &[n]) };
    specification.default_input_gap_ps = 7000;
    specification.inputs = vec![untimed(10), untimed(11), input(100, "count", &[12]), untimed(13)];
    check(
        &counter(None),
        &specification,
        &["0 0:0 count(10)", "7 0:0 count(11)", "100 0:0 count(12)", "107 0:0 count(13)"],
    );
}

/// Commands come before the events of their time.
#[test]
fn commands_are_between_handlers() {
    let mut specification = run(1);
    let get = |time_ns: u64| Input {
        time_ps: Some(time_ns * 1000),
        locations: vec![],
        kind: InputKind::Command(lucid_reference::specification::Command::ArrayGet {
            array: "cell".to_string(),
            start: 0,
            end: None,
        }),
        field_spans: Default::default(),
    };
    specification.inputs = vec![input(5, "count", &[9]), get(5), get(6)];
    check(
        &counter(None),
        &specification,
        &[
            "5 0 Array.get(cell, 0) = {\"array\":\"cell\",\"index\":0,\"value\":[0]}",
            "5 0:0 count(9)",
            "6 0 Array.get(cell, 0) = {\"array\":\"cell\",\"index\":0,\"value\":[1]}",
        ],
    );
}

/// An access beyond the end reads zero and changes nothing; a run can be configured to stop there.
#[test]
fn beyond_the_end() {
    let print = statement(StatementKind::Print { pieces: vec![PrintPiece::Value(local(1, INT))] });
    let program = Builder::new()
        .array("cell", 32, 4)
        .event(
            "bump",
            &[("i", INT)],
            &[("old", INT)],
            vec![add_to_cell(0, local(0, INT), int(7, 32), Some(1)), print],
        )
        .done();
    let mut specification = run(1);
    specification.inputs =
        vec![input(0, "bump", &[4]), input(1, "bump", &[3]), input(2, "bump", &[3])];
    let (simulation, outcome, lines) = run_logged(&program, &specification);
    assert_eq!(
        lines,
        [
            "0 0:0 bump(4)",
            "0 0 beyond 4",
            "0 0 \"0\"",
            "1 0:0 bump(3)",
            "1 0 \"0\"",
            "2 0:0 bump(3)",
            "2 0 \"7\""
        ]
    );
    assert_eq!(outcome, Outcome::Finished);
    assert_eq!(simulation.counts(0).unwrap_or_default().out_of_range, 1);
    specification.stop_on_out_of_range = true;
    let (_, outcome, lines) = run_logged(&program, &specification);
    assert_eq!(lines.len(), 3);
    let Outcome::Stopped(fault) = outcome else { panic!("{outcome:?}") };
    assert_eq!(fault.code, lucid_reference::simulation::codes::OUT_OF_RANGE);
    assert!(fault.message.contains("index 4 is beyond the end of `cell`"), "{}", fault.message);
}
