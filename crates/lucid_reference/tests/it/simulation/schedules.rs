// SPDX-License-Identifier: Apache-2.0
//! What the simulation does is legal, replays to the same state, and goes through JSON lines; and
//! schedules that were tampered with are not legal, each by the rule it breaks.

use super::build::*;
use lucid::core::*;
use lucid::syntax::ast::BinaryOperator;
use lucid_reference::simulation::schedule::{
    Recorder, Rule, Schedule, Tolerance, check_legal, replay,
};
use lucid_reference::simulation::{Setup, Simulation};
use lucid_reference::specification::{Input, Link, Links, Run};
use proptest::prelude::*;
use std::sync::Arc;

const INT: Type = Type::Int(32);

/// Three events that generate each other by different statements, with state, delays and random numbers:
///
/// ```text
/// event walk(int n) {
///     int draw = random; cells[n & 15] += draw;
///     if (n != 0) { generate_port(n & 3, walk(n - 1)); generate Event.delay(rest(n - 1), draw & 4095); }
/// }
/// event rest(int n) { cells[n & 15] += 1; if (n != 0) { generate_switch(n & 3, jump(n >> 1)); } }
/// event jump(int n) { generate_ports(flood ingress_port, walk(n >> 1)) if n != 0; }
/// ```
fn program() -> Arc<Program> {
    let n = || local(0, INT);
    let index = || of(ExpressionKind::Slice(Box::new(n()), 0), Type::Int(4));
    let low2 = || of(ExpressionKind::Slice(Box::new(n()), 0), Type::Int(2));
    let some = || binary(BinaryOperator::NotEqual, n(), int(0, 32));
    let less = || binary(BinaryOperator::Subtract, n(), int(1, 32));
    let half = || binary(BinaryOperator::ShiftRight, n(), int(1, 32));
    let draw = || local(1, INT);
    let wait = binary(BinaryOperator::BitAnd, draw(), int(4095, 32));
    let port = of(ExpressionKind::IngressPort, Type::Int(9));
    let flood = of(ExpressionKind::Flood(Box::new(port)), Type::Group);
    Builder::new()
        .array("cells", 32, 16)
        .event(
            "walk",
            &[("n", INT)],
            &[("draw", INT)],
            vec![
                statement(StatementKind::Random { local: LocalId(1) }),
                add_to_cell(0, index(), draw(), None),
                if_else(
                    some(),
                    vec![
                        generate_to(event_value(0, vec![less()]), Destination::Port(low2())),
                        generate(delayed(event_value(1, vec![less()]), wait)),
                    ],
                    vec![],
                ),
            ],
        )
        .event(
            "rest",
            &[("n", INT)],
            &[],
            vec![
                add_to_cell(0, index(), int(1, 32), None),
                if_else(
                    some(),
                    vec![generate_to(event_value(2, vec![half()]), Destination::Switch(low2()))],
                    vec![],
                ),
            ],
        )
        .event(
            "jump",
            &[("n", INT)],
            &[],
            vec![if_else(
                some(),
                vec![generate_to(event_value(0, vec![half()]), Destination::Ports(flood))],
                vec![],
            )],
        )
        .done()
}

fn recorded(setup: &Setup) -> (Simulation, Schedule) {
    let mut simulation = Simulation::new(Arc::new(setup.clone()));
    let mut recorder = Recorder::new();
    simulation.run(&mut recorder);
    (simulation, recorder.into_schedule())
}

fn setup_of(program: &Arc<Program>, specification: &Run) -> Setup {
    match Setup::new(program.clone(), specification) {
        Ok(setup) => setup,
        Err(found) => panic!("{found:?}"),
    }
}

fn link(one: (u32, u32), other: (u32, u32)) -> Link {
    Link { ends: [one, other], latency_ps: None, jitter_ps: None, loss: None, rate_bps: None }
}

prop_compose! {
    fn runs()(
        switches in 1u32..4,
        latency_ps in prop_oneof![Just(0), Just(1_000), Just(333_333)],
        jitter_ps in prop_oneof![Just(0u64), Just(5_000)],
        random_delay_range_ps in prop_oneof![Just(0u64), Just(7_000)],
        delay_granularity_ps in prop_oneof![Just(0u64), Just(1_000_000)],
        drop_chance_percent in prop_oneof![Just(0.0), Just(20.0)],
        rate_bps in prop_oneof![Just(None), Just(Some(1_000_000_000u64))],
        is_mesh: bool,
        seed: u64,
        events in prop::collection::vec((0u64..50, 0u32..4, 0u32..3, 0usize..3, 0u128..9), 1..8),
        failures in prop::collection::vec((0u64..4_000, any::<bool>()), 0..3),
        max_time_ns in 500u64..20_000,
    ) -> Run {
        let joined = |one: u32, other: u32| Link {
            latency_ps: Some(latency_ps),
            jitter_ps: Some(jitter_ps),
            rate_bps,
            ..link((one, other), (other, one))
        };
        let mut specification = run(switches);
        let mut links = vec![];
        for one in 0..switches {
            for other in one + 1..switches {
                if is_mesh || other == one + 1 {
                    links.push(joined(one, other));
                }
            }
        }
        specification.inputs = events.into_iter().map(|(time_ns, port, switch, event, n)| Input {
            locations: vec![(switch % switches, port)],
            ..input(time_ns, ["walk", "rest", "jump"][event], &[n])
        }).collect();
        if let Some(first) = links.first() {
            let ends = first.ends;
            specification.inputs.extend(failures.into_iter().map(|(time_ns, up)| Input {
                time_ps: Some(time_ns * 1000),
                locations: vec![],
                kind: lucid_reference::specification::InputKind::Link { ends, up },
                field_spans: Default::default(),
            }));
        }
        specification.links = Links::List(links);
        specification.random_delay_range_ps = random_delay_range_ps;
        specification.delay_granularity_ps = delay_granularity_ps;
        specification.drop_chance_percent = drop_chance_percent;
        specification.seed = seed;
        specification.max_time_ps = max_time_ns * 1000;
        specification
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(200)))]

    #[test]
    fn what_the_simulation_does_is_legal_and_replays(specification in runs()) {
        let program = program();
        let setup = setup_of(&program, &specification);
        let (simulation, schedule) = recorded(&setup);
        prop_assert_eq!(check_legal(&setup, Tolerance::EXACT, &schedule), Ok(()));
        let replayed = replay(&setup, &schedule).map_err(|why| TestCaseError::fail(why.to_string()))?;
        for switch in 0..setup.switches() {
            prop_assert_eq!(simulation.state(switch), replayed.states.get(switch as usize));
        }
        let lines = schedule.to_json_lines(&program);
        let read = Schedule::from_json_lines(&program, &lines);
        // Delay and place of an event are not part of a dispatch.
        let read = read.map(|read| read.to_json_lines(&program));
        prop_assert_eq!(read, Ok(lines));
        // The same run again is the same.
        prop_assert_eq!(recorded(&setup).1, schedule);
    }

    /// Without random delays and losses nothing can be left out, doubled, moved earlier or later.
    #[test]
    fn tampering_is_found(specification in runs(), at: prop::sample::Index, how in 0..5) {
        let specification = Run {
            random_delay_range_ps: 0,
            drop_chance_percent: 0.0,
            max_time_ps: 1_000_000_000,
            links: match specification.links {
                Links::List(links) => Links::List(links.into_iter().map(|link| Link {
                    jitter_ps: Some(0),
                    rate_bps: None,
                    ..link
                }).collect()),
                other => other,
            },
            inputs: specification.inputs.into_iter().filter(|input| {
                !matches!(input.kind, lucid_reference::specification::InputKind::Link { .. })
            }).collect(),
            ..specification
        };
        let setup = setup_of(&program(), &specification);
        let (_, mut schedule) = recorded(&setup);
        let list = &mut schedule.dispatches;
        let at = at.index(list.len());
        match how {
            // Doubled.
            0 => list.insert(at + 1, list[at].clone()),
            // Too late: no other event can have delayed it that long.
            1 => {
                let mut moved = list.remove(at);
                moved.time_ps = 900_000_000;
                // What it causes would be confused with something else otherwise.
                list.truncate(at);
                list.push(moved);
            }
            // A value that no event had.
            2 => {
                let mut event = (*list[at].event).clone();
                event.arguments = vec![lucid_reference::interpreter::Value::Int(77)];
                list[at].event = Arc::new(event);
            }
            // Another port.
            3 => list[at].port = 99,
            // The end is missing.
            _ => list.truncate(at),
        }
        prop_assert!(check_legal(&setup, Tolerance::EXACT, &schedule).is_err());
    }
}

/// `event go(int n) { generate done(n) }`, twice at one port.
fn simple() -> (Setup, Schedule) {
    let program = Builder::new()
        .event(
            "go",
            &[("n", INT)],
            &[("draw", Type::Int(8))],
            vec![
                statement(StatementKind::Random { local: LocalId(1) }),
                generate(event_value(1, vec![local(0, INT)])),
            ],
        )
        .event("done", &[("n", INT)], &[], vec![])
        .done();
    let mut specification = run(1);
    specification.inputs = vec![input(10, "go", &[1]), input(10, "go", &[2])];
    let setup = setup_of(&program, &specification);
    let schedule = recorded(&setup).1;
    assert_eq!(schedule.dispatches.len(), 4);
    (setup, schedule)
}

#[track_caller]
fn breaks(rule: Rule, tamper: impl FnOnce(&mut Schedule)) {
    let (setup, mut schedule) = simple();
    tamper(&mut schedule);
    let found = check_legal(&setup, Tolerance::EXACT, &schedule);
    assert_eq!(found.as_ref().err().map(|violation| violation.rule), Some(rule), "{found:?}");
}

#[test]
fn each_rule_is_checked() {
    breaks(Rule::Time, |schedule| schedule.dispatches[1].time_ps = 0);
    breaks(Rule::Time, |schedule| schedule.dispatches[3].time_ps = u64::MAX);
    breaks(Rule::Pace, |schedule| schedule.dispatches[1].time_ps -= 1);
    breaks(Rule::Cause, |schedule| schedule.dispatches[2].cause = None);
    breaks(Rule::Cause, |schedule| schedule.dispatches[2].cause = Some(1));
    breaks(Rule::Early, |schedule| schedule.dispatches[2].time_ps -= 1);
    breaks(Rule::Idle, |schedule| schedule.dispatches[3].time_ps += 1);
    breaks(Rule::Loss, |schedule| schedule.dispatches.truncate(3));
    breaks(Rule::Draws, |schedule| schedule.dispatches[0].draws[0] = 256);
    breaks(Rule::Draws, |schedule| schedule.dispatches[0].draws.clear());
    breaks(Rule::Draws, |schedule| schedule.dispatches[2].draws.push(1));
    breaks(Rule::Fit, |schedule| schedule.dispatches[0].switch = 1);
    // The two inputs come in at one port in this order.
    breaks(Rule::Order, |schedule| {
        let (first, second) = (schedule.dispatches[0].clone(), schedule.dispatches[1].clone());
        schedule.dispatches[0].event = second.event;
        schedule.dispatches[1].event = first.event;
    });
}

/// A machine may be later than the specification by as much as it is allowed, and not more.
#[test]
fn tolerance_is_for_machines() {
    let (setup, mut schedule) = simple();
    schedule.dispatches[2].time_ps += 40_000;
    schedule.dispatches[3].time_ps += 50_000;
    let tolerance = Tolerance { late_ps: 50_000, ..Tolerance::EXACT };
    assert_eq!(check_legal(&setup, tolerance, &schedule), Ok(()));
    let tolerance = Tolerance { late_ps: 30_000, ..Tolerance::EXACT };
    assert!(check_legal(&setup, tolerance, &schedule).is_err());
    let (setup, mut schedule) = simple();
    schedule.dispatches[2].time_ps -= 5_000;
    schedule.dispatches[3].time_ps -= 5_000;
    let tolerance = Tolerance { early_ps: 5_000, ..Tolerance::EXACT };
    assert_eq!(check_legal(&setup, tolerance, &schedule), Ok(()));
}

#[test]
fn malformed_lines_are_reported() {
    let (setup, schedule) = simple();
    let program = setup.program();
    let lines = schedule.to_json_lines(program);
    let check = |from: &str, to: &str, message: &str| {
        let found = Schedule::from_json_lines(program, &lines.replacen(from, to, 1));
        let reported = found.err().map(|bad| bad.to_string()).unwrap_or_default();
        assert!(reported.starts_with("line 1 of the schedule"), "{reported}");
        assert!(reported.contains(message), "{reported}");
    };
    check("\"go\"", "\"gone\"", "no event `gone`");
    check("[1]", "[1,2]", "takes 1 arguments");
    check("[1]", "[4294967296]", "no value of `n`");
    check("\"time_ps\"", "\"time\"", "`time_ps` should be a number");
    check("ingress", "ingres", "`stage`");
    check("{", "", "not JSON, at column 10");
}

/// Eight times as many events that wait at a time take about eight times as long to check.
#[test]
fn checks_take_time_in_proportion_to_waiting_events() {
    let least_time = |count: u64| {
        let mut specification = run(1);
        specification.inputs =
            (0..count).map(|number| input(number % 40, "rest", &[number.into()])).collect();
        specification.max_time_ps = count * 1000;
        let setup = setup_of(&program(), &specification);
        let (_, schedule) = recorded(&setup);
        let took = (0..3).map(|_| {
            let began = std::time::Instant::now();
            assert_eq!(check_legal(&setup, Tolerance::EXACT, &schedule), Ok(()));
            began.elapsed()
        });
        took.min().expect("three times")
    };
    let (few, many) = (least_time(2_000), least_time(16_000));
    assert!(many < few * 30, "{few:?} for 2,000 events, {many:?} for 16,000");
}
