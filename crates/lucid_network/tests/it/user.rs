// SPDX-License-Identifier: Apache-2.0
//! The user's P4 around the dispatcher (Lucid §8.1): what it makes of packets, with handlers compared with the
//! reference interpreter, and the places of its mistakes.

use crate::delays::program_and_run;
use crate::oracle::judge_as;
use device::EngineChoice;
use lucid::core::GlobalId;
use lucid_compiler::{Backend, Options, UserP4, compile};
use lucid_network::options::port_options;
use lucid_network::{CompiledSimulation, verify};
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Setup};
use source::{RenderOptions, render_text};
use std::sync::Arc;

const PROGRAM: &str = "packet event eth(int<48> d, int<48> s, int<16> t, Payload.t rest);
    event flagged(int<48> s);
    global Array.t<32> counts = Array.create(4);
    memop plus(int stored, int more) { return stored + more; }
    handle eth(int<48> d, int<48> s, int<16> t, Payload.t rest) {
        Array.setm(counts, 0, plus, 1);
        generate_port(3, eth(d, s, t, rest));
    }
    handle flagged(int<48> s) { Array.setm(counts, 1, plus, 1); }
    parser main(bitstring pkt) {
        int<48> d = read(pkt);
        int<48> s = read(pkt);
        int<16> t = read(pkt);
        generate(eth(d, s, t, Payload.parse(pkt)));
    }";

const RUN: &str = r#"{"max time": "1ms", "events": [
    {"type": "packet", "bytes": "0102030405060a0b0c0d0e0f0800", "timestamp": 0},
    {"type": "packet", "bytes": "0102030405061112131415160800", "timestamp": 5000}]}"#;

const PARAMETERS: &str = "(inout headers_t hdr, inout ig_md_t ig_md,
    in ingress_intrinsic_metadata_t ig_intr_md,
    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md)";

fn given(name: &str, text: &str) -> Option<UserP4> {
    let options = p4::preprocessor::PreprocessorOptions::default();
    Some(UserP4::read(name, text, &options, &p4::interfaces::InterfacesOnly))
}

/// Parameters of the user's controls, and what they call the number of the event and its headers.
struct Words {
    target: Backend,
    parameters: &'static str,
    event: &'static str,
    header: &'static str,
    /// The header of the first event that a handler generates.
    generated_tick: &'static str,
    egress_port: &'static str,
    drop: &'static str,
}

const V1MODEL: Words = Words {
    target: Backend::V1Model,
    parameters: "(inout headers_t hdr, inout metadata_t meta,
        inout standard_metadata_t standard_metadata)",
    event: "meta.event",
    header: "hdr.",
    generated_tick: "hdr.tick_0",
    egress_port: "standard_metadata.egress_spec",
    drop: "mark_to_drop(standard_metadata);",
};

const TNA: Words = Words {
    target: Backend::Tna,
    parameters: PARAMETERS,
    event: "ig_md.dispatched",
    header: "hdr.in_",
    generated_tick: "hdr.slot0_tick",
    egress_port: "ig_tm_md.ucast_egress_port",
    drop: "ig_dprsr_md.drop_ctl = 1;",
};

/// Runs a program with bodies of `before` and `after` (none if empty) beside the reference interpreter, on both
/// targets: the cells of `counts` at the end, the ports by which packets left, handlers, passes that the user
/// changed. `EVENT`, `IN_`, `EGRESS_PORT` and `DROP` are what each target calls them.
fn check(
    (program, run): (&str, &str),
    [before, after]: [&str; 2],
    (counts, ports): (&[u128], &[u32]),
    (handlers, by_user): (usize, u64),
) {
    for words in [V1MODEL, TNA] {
        let control = |hook: &str, body: &str| {
            let body = body
                .replace("EVENT ", &format!("{} ", words.event))
                .replace("IN_", words.header)
                .replace("GENERATED_tick", words.generated_tick)
                .replace("EGRESS_PORT", words.egress_port)
                .replace("DROP", words.drop);
            let text = format!("control {hook}{} {{ {body} }}", words.parameters);
            given(&format!("{hook}.p4"), &text).filter(|_| !body.is_empty())
        };
        let (map, program, run) = program_and_run(program, run);
        let setup = Setup::new(Arc::new(program), &run).expect("a right run");
        let options = Options {
            target: words.target,
            before: control("before", before),
            after: control("after", after),
            ..Options::default()
        };
        let options = port_options(&setup, options);
        let compiled = compile(setup.program(), &map, &options).unwrap_or_else(|said| {
            let mut map = map.clone();
            lucid_compiler::v1model::add_files(&mut map, &options);
            panic!("{}", render_text(&map, &said, RenderOptions::default()))
        });
        assert!(compiled.built.warnings.is_empty(), "{:?}", compiled.built.warnings);
        let (setup, compiled) = (Arc::new(setup), Arc::new(compiled));
        for engine in [EngineChoice::Jit, EngineChoice::Interpreter] {
            let simulation = CompiledSimulation::new(setup.clone(), compiled.clone(), engine);
            let mut simulation = simulation.unwrap_or_else(|error| panic!("{error}"));
            let mut left = Ports(Vec::new());
            let verified = verify(&mut simulation, &mut left);
            let what = format!("{:?}, {engine:?}", words.target);
            assert_eq!(verified.difference, None, "{what}");
            let cells = (0..counts.len() as u64).map(|index| {
                simulation.cell(0, GlobalId(0), index).and_then(|cell| cell.first().copied())
            });
            let cells: Vec<u128> = cells.map(Option::unwrap_or_default).collect();
            assert_eq!((cells.as_slice(), left.0.as_slice()), (counts, ports), "{what}");
            let found = (verified.schedule.dispatches.len(), verified.by_user);
            assert_eq!(found, (handlers, by_user), "{what}");
        }
    }
}

/// Ports by which packets left.
struct Ports(Vec<u32>);

impl Observer for Ports {
    fn observe(&mut self, observation: Observation) {
        if let ObservationKind::Left { port, .. } = observation.kind {
            self.0.push(port);
        }
    }
}

#[test]
fn nothing_is_changed() {
    check((PROGRAM, RUN), ["apply { }", "apply { }"], (&[2, 0], &[3, 3]), (2, 0));
}

/// The second packet's event is another one, and the port of the other's is changed behind the dispatcher.
#[test]
fn a_table_of_the_users_classifies_before_the_dispatcher() {
    let before = "action flag() {
            IN_flagged.setValid();
            IN_flagged.s = IN_eth.s;
            EVENT = EVENT_flagged;
        }
        table classify {
            key = { IN_eth.s : exact; }
            actions = { flag; NoAction; }
            const entries = { 48w0x0a0b0c0d0e0f : flag(); }
            default_action = NoAction();
            size = 16;
        }
        apply { if (EVENT == EVENT_eth) { classify.apply(); } }";
    let after = "apply { if (EGRESS_PORT == 3) { EGRESS_PORT = 4; } }";
    check((PROGRAM, RUN), [before, ""], (&[1, 1], &[3]), (2, 1));
    check((PROGRAM, RUN), ["", after], (&[2, 0], &[4, 4]), (2, 2));
    check((PROGRAM, RUN), [before, after], (&[1, 1], &[4]), (2, 2));
}

#[test]
fn packets_are_dropped() {
    let before =
        "apply { if (EVENT == EVENT_eth && IN_eth.s == 48w0x0a0b0c0d0e0f) { EVENT = 0; } }";
    check((PROGRAM, RUN), [before, ""], (&[1, 0], &[3]), (1, 1));
    let leaves = "apply { if (IN_eth.s == 48w0x0a0b0c0d0e0f) { DROP exit; } }";
    check((PROGRAM, RUN), [leaves, ""], (&[1, 0], &[3]), (1, 1));
    let after = "apply { if (EGRESS_PORT == 3) { DROP } }";
    check((PROGRAM, RUN), ["", after], (&[2, 0], &[]), (2, 2));
}

/// A countdown at two switches, with delays; what comes round is on its way once more.
const COUNTDOWN: &str = "event tick(int<8> n, int<8> far);
    event done(int<8> n);
    global Array.t<32> counts = Array.create(4);
    memop plus(int stored, int more) { return stored + more; }
    handle tick(int<8> n, int<8> far) {
        Array.setm(counts, 0, plus, 1);
        if (n == 0) { generate done(7); }
        else {
            generate Event.delay(tick(n - 1, far), 2000);
            if (far == 1) { generate_switch(1, tick(0, 0)); }
        }
    }
    handle done(int<8> n) { Array.setm(counts, 1, plus, (int<32>)n); }";

const COUNTDOWN_RUN: &str = r#"{"switches": 2, "links": {"0:1": "1:2"}, "max time": "5ms", "events": [
    {"name": "tick", "args": [3, 1], "locations": ["0:0"]}]}"#;

/// What is handled is compared when its field was rewritten, on the device and by the interpreter.
#[test]
fn a_field_is_rewritten() {
    let run = COUNTDOWN_RUN.replace(r#""links": {"0:1": "1:2"}, "#, "");
    check((COUNTDOWN, &run), ["apply { }", ""], (&[4, 7], &[]), (11, 0));
    // Only at the dispatcher: 3 becomes 1.
    let before = "apply { if (EVENT == EVENT_tick && IN_tick.n == 3) { IN_tick.n = 1; } }";
    check((COUNTDOWN, &run), [before, ""], (&[2, 7], &[]), (5, 1));
    // Of what was generated: 2 becomes 0.
    let after = "apply { if (GENERATED_tick.isValid() && GENERATED_tick.n == 2) { \
        GENERATED_tick.n = 0; } }";
    check((COUNTDOWN, &run), ["", after], (&[2, 7], &[]), (5, 1));
}

/// What goes to another switch over a link is on its way when the user's control sees it there and here.
#[test]
fn events_on_their_way_are_seen() {
    let run = COUNTDOWN_RUN;
    check((COUNTDOWN, run), ["apply { }", "apply { }"], (&[4, 7], &[]), (11, 0));
    let away = "apply { if (hdr.frame.isValid() && hdr.frame.place_kind == PLACE_SWITCH) { EVENT = 0; \
        hdr.frame.place_kind = PLACE_HERE; hdr.frame.number = 0; } }";
    check((COUNTDOWN, run), [away, ""], (&[4, 7], &[]), (5, 3));
}
/// A compiled handler that does something else is found, whatever the user's P4 does.
#[test]
fn differences_are_found() {
    let tick = "meta.event == EVENT_tick && hdr.tick.n == 3";
    let before = format!(
        "control before{} {{ apply {{ if ({tick}) {{ hdr.tick.n = 2; }} }} }}",
        V1MODEL.parameters
    );
    let after = format!(
        "control after{} {{ apply {{ if (hdr.frame_0.isValid()) {{ hdr.frame_0.delay_ns = 0; }} }} }}",
        V1MODEL.parameters
    );
    let options = Options {
        before: given("before.p4", &before),
        after: given("after.p4", &after),
        ..Options::default()
    };
    for (right, wrong, expected) in [
        ("plus, 1", "plus, 2", "`counts[0]` is [2] on the device and [1]"),
        ("n - 1, far", "n - 1, 0", "generates [tick(0, 0), tick(1, 0)] on the device and"),
        ("done(7)", "done(8)", "generates [done(8)] on the device and [done(7)]"),
        ("if (far == 1)", "if (far == 2)", "and [tick(0, 0), tick(1, 1)] by the reference"),
    ] {
        let (map, program, run) = program_and_run(COUNTDOWN, COUNTDOWN_RUN);
        let (_, other, _) = program_and_run(&COUNTDOWN.replace(right, wrong), COUNTDOWN_RUN);
        let folder = std::path::Path::new("");
        let found =
            judge_as(&map, (&program, &other), &run, folder, &options, EngineChoice::Jit).err();
        assert!(found.as_ref().is_some_and(|found| found.contains(expected)), "{found:?}");
    }
}

#[test]
fn mistakes_are_told_where_they_are() {
    let check = |text: &str, expected: &str| {
        let (mut map, program, _) = program_and_run(PROGRAM, RUN);
        let options = Options {
            target: Backend::Tna,
            before: given("classify.p4", text),
            ..Options::default()
        };
        let said = compile(&program, &map, &options).expect_err("a mistake");
        lucid_compiler::v1model::add_files(&mut map, &options);
        let rendered = render_text(&map, &said, RenderOptions::default());
        assert!(rendered.contains(expected), "{rendered}");
    };
    let text = format!("control before{PARAMETERS} {{\n  apply {{ hdr.missing.setValid(); }}\n}}");
    check(&text, "classify.p4:6:15");
    check("control other() { apply { } }", "declares no control `before`");
    check("control other() { apply { } }", "ig_intr_md");
}
