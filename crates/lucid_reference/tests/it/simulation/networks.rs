// SPDX-License-Identifier: Apache-2.0
//! Several switches: links, switches by number, groups, floods, exits, failures, egress.

use super::build::*;
use super::log::{check, run as run_logged};
use lucid::core::*;
use lucid::syntax::ast::EventSort;
use lucid_reference::specification::{Input, InputKind, Link, Links, Run};
use std::sync::Arc;

const INT: Type = Type::Int(32);

fn link(one: (u32, u32), other: (u32, u32)) -> Link {
    Link { ends: [one, other], latency_ps: None, jitter_ps: None, loss: None, rate_bps: None }
}

/// `event go(int to) { generate ... heard(to) }`, `event heard(int x) {}`
fn sender(destination: impl Fn(Expression) -> Destination) -> Arc<Program> {
    let heard = event_value(1, vec![local(0, INT)]);
    Builder::new()
        .event("go", &[("to", INT)], &[], vec![generate_to(heard, destination(local(0, INT)))])
        .event("heard", &[("x", INT)], &[], vec![])
        .done()
}

/// 0 and 1 are joined by ports 1 and 2, 1 and 2 by ports 3 and 4.
fn line(inputs: Vec<Input>) -> Run {
    let mut specification = run(3);
    specification.links = Links::List(vec![link((0, 1), (1, 2)), link((1, 3), (2, 4))]);
    specification.inputs = inputs;
    specification
}

#[test]
fn ports_lead_over_links_or_out() {
    let program = sender(Destination::Port);
    let mut specification = line(vec![input(0, "go", &[1]), input(10, "go", &[7])]);
    check(
        &program,
        &specification,
        &["0 0:0 go(1)", "10 0:0 go(7)", "600 1:2 heard(1)", "610 0:7 out heard(7)"],
    );
    specification.propagate_delay_ps = 50_000;
    check(
        &program,
        &specification,
        &["0 0:0 go(1)", "10 0:0 go(7)", "610 0:7 out heard(7)", "650 1:2 heard(1)"],
    );
}

#[test]
fn switches_are_reached_over_links_or_directly() {
    let program = sender(Destination::Switch);
    let mut specification = line(vec![input(0, "go", &[2]), input(10, "go", &[0])]);
    specification.propagate_delay_ps = 50_000;
    let expected = ["0 0:0 go(2)", "10 0:0 go(0)", "610 0:0 heard(0)", "700 2:0 heard(2)"];
    check(&program, &specification, &expected);
    specification.links = Links::List(Vec::new());
    specification.inputs.push(input(20, "go", &[3]));
    let expected = [
        "0 0:0 go(2)",
        "10 0:0 go(0)",
        "20 0:0 go(3)",
        "20 0 lost Unreachable",
        "600 2:0 heard(2)",
        "610 0:0 heard(0)",
    ];
    check(&program, &specification, &expected);
}

#[test]
fn a_link_that_is_down_loses_events() {
    let down = |time_ns: u64, up| Input {
        time_ps: Some(time_ns * 1000),
        locations: vec![],
        kind: InputKind::Link { ends: [(0, 1), (1, 2)], up },
        field_spans: Default::default(),
    };
    // What counts is the link when the event leaves, not when it is generated.
    let specification =
        line(vec![input(0, "go", &[1]), down(600, false), input(5, "go", &[1]), down(605, true)]);
    check(
        &sender(Destination::Port),
        &specification,
        &[
            "0 0:0 go(1)",
            "5 0:0 go(1)",
            "600 link false",
            "600 0 lost LinkDown",
            "605 link true",
            "605 1:2 heard(1)",
        ],
    );
}

#[test]
fn floods_take_every_link_but_one_and_leave() {
    let flood = |port| Destination::Ports(of(ExpressionKind::Flood(Box::new(port)), Type::Group));
    let program = sender(flood);
    let at = |switch| Input { locations: vec![(switch, 9)], ..input(0, "go", &[2]) };
    check(
        &program,
        &line(vec![at(1)]),
        &["0 1:9 go(2)", "600 1:- out heard(2)", "600 2:4 heard(2)"],
    );
}

#[test]
fn exit_events_leave_wherever_they_are_sent() {
    let program = Builder::new()
        .event(
            "go",
            &[],
            &[],
            vec![
                generate(event_value(1, vec![])),
                generate_to(event_value(1, vec![]), Destination::Port(int(1, 8))),
            ],
        )
        .event_of(EventSort::Exit, "done", &[], &[], None)
        .done();
    let specification = line(vec![input(0, "go", &[])]);
    check(&program, &specification, &["0 0:0 go()", "600 0:1 out done()", "600 0:- out done()"]);
}

/// An egress handler changes what leaves; its event goes out of the same port.
#[test]
fn egress_handlers_run_as_events_leave() {
    let out = event_value(2, vec![local(0, INT)]);
    let program = Builder::new()
        .event(
            "go",
            &[("x", INT)],
            &[],
            vec![generate_to(event_value(1, vec![local(0, INT)]), Destination::Port(int(1, 8)))],
        )
        .event("raw", &[("x", INT)], &[], vec![])
        .egress(&[], vec![generate(out)])
        .event("marked", &[("x", INT)], &[], vec![])
        .done();
    let specification = line(vec![input(0, "go", &[5])]);
    check(&program, &specification, &["0 0:0 go(5)", "600 0:1 egress raw(5)", "600 1:2 marked(5)"]);
}

/// A packet event crosses a link as bytes, and the parser of the other switch reads them.
#[test]
fn packets_are_parsed_where_they_arrive() {
    let int8 = Type::Int(8);
    let forward = event_value(0, vec![local(0, int8), local(1, Type::Payload)]);
    let mut builder = Builder::new().event_of(
        EventSort::Packet,
        "frame",
        &[("kind", int8), ("rest", Type::Payload)],
        &[],
        Some(vec![generate_to(forward, Destination::Port(int(1, 8)))]),
    );
    let event = event_value(0, vec![local(0, int8), local(1, Type::Payload)]);
    builder.program.parsers.push(Parser {
        name: Arc::from("main"),
        span: source::Span::NONE,
        locals: locals(&[("kind", int8), ("rest", Type::Payload)]),
        parameter_count: 0,
        block: ParserBlock {
            actions: vec![ParserAction::Read(vec![LocalId(0)])],
            step: ParserStep::Match {
                subjects: vec![local(0, int8)],
                branches: vec![(
                    vec![Pattern { value: 0x80, mask: 0x80 }],
                    ParserBlock {
                        actions: vec![ParserAction::Rest(LocalId(1))],
                        step: ParserStep::Generate(event),
                        span: source::Span::NONE,
                    },
                )],
            },
            span: source::Span::NONE,
        },
    });
    builder.program.main_parser = Some(ParserId(0));
    let program = builder.done();
    let packet = |time_ns: u64, bytes: &[u8]| Input {
        time_ps: Some(time_ns * 1000),
        locations: vec![],
        kind: InputKind::Packet { bytes: bytes.to_vec() },
        field_spans: Default::default(),
    };
    let specification =
        line(vec![packet(0, &[0x81, 0xab, 0xcd]), packet(1, &[0x01, 0xab]), packet(2, &[])]);
    let (simulation, _, lines) = run_logged(&program, &specification);
    assert_eq!(
        lines,
        [
            "0 0:0 frame(129,abcd)",
            "1 0 lost Parser",
            "2 0 lost Parser",
            "600 1:2 frame(129,abcd)",
            "1200 1:1 out frame(129,abcd) 81abcd",
        ]
    );
    assert_eq!(simulation.counts(0).unwrap_or_default().dropped, 2);
}
