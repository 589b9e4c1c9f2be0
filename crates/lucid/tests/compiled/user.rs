// SPDX-License-Identifier: Apache-2.0
//! The user's P4 around the dispatcher of a program for TNA (Lucid §8.1): what it makes of packets, and where
//! its mistakes are told.

use crate::delays::program_and_run;
use device::EngineChoice;
use lucid::compile::{Options, Target, UserP4, compile};
use lucid::compiled::CompiledSimulation;
use lucid::core::GlobalId;
use lucid::simulation::{Observation, ObservationKind, Observer, Setup};
use source::{RenderOptions, render_text};
use std::sync::Arc;

const PROGRAM: &str = "packet event eth(int<48> d, int<48> s, int<16> t);
    event flagged(int<48> s);
    global Array.t<32> counts = Array.create(4);
    memop plus(int stored, int more) { return stored + more; }
    handle eth(int<48> d, int<48> s, int<16> t) {
        Array.setm(counts, 0, plus, 1);
        generate_port(3, eth(d, s, t));
    }
    handle flagged(int<48> s) { Array.setm(counts, 1, plus, 1); }
    parser main(bitstring pkt) {
        int<48> d = read(pkt);
        int<48> s = read(pkt);
        int<16> t = read(pkt);
        generate(eth(d, s, t));
    }";

const RUN: &str = r#"{"max time": "1ms", "events": [
    {"type": "packet", "bytes": "0102030405060a0b0c0d0e0f0800", "timestamp": 0},
    {"type": "packet", "bytes": "0102030405061112131415160800", "timestamp": 5000}]}"#;

const PARAMETERS: &str = "(inout headers_t hdr, inout ig_md_t ig_md,
    in ingress_intrinsic_metadata_t ig_intr_md,
    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md)";

struct NoIncludes;

impl p4::preprocessor::IncludeLoader for NoIncludes {
    fn load(&self, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

fn given(name: &str, text: &str) -> Option<UserP4> {
    let options = p4::preprocessor::PreprocessorOptions::default();
    Some(UserP4::read(name, text, &options, &NoIncludes))
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
fn a_table_of_the_users_classifies_before_the_dispatcher() {
    let before = format!(
        "control before{PARAMETERS} {{
            action flag() {{
                hdr.in_flagged.setValid();
                hdr.in_flagged.s = hdr.in_eth.s;
                ig_md.dispatched = EVENT_flagged;
            }}
            table classify {{
                key = {{ hdr.in_eth.s : exact; }}
                actions = {{ flag; NoAction; }}
                const entries = {{ 48w0x0a0b0c0d0e0f : flag(); }}
                default_action = NoAction();
                size = 16;
            }}
            apply {{ if (ig_md.dispatched == EVENT_eth) {{ classify.apply(); }} }}
        }}"
    );
    let after = format!(
        "control after{PARAMETERS} {{
            apply {{ if (ig_tm_md.ucast_egress_port == 3) {{ ig_tm_md.ucast_egress_port = 4; }} }}
        }}"
    );
    let (map, program, run) = program_and_run(PROGRAM, RUN);
    let setup = Setup::new(Arc::new(program), &run).expect("a right run");
    let options = Options {
        target: Target::Tna,
        before: given("classify.p4", &before),
        after: given("rest.p4", &after),
        ..Options::default()
    };
    let compiled = compile(setup.program(), &map, &options)
        .unwrap_or_else(|said| panic!("{}", render_text(&map, &said, RenderOptions::default())));
    assert!(compiled.built.warnings.is_empty(), "{:?}", compiled.built.warnings);
    let simulation =
        CompiledSimulation::new(Arc::new(setup), Arc::new(compiled), EngineChoice::Jit);
    let mut simulation = simulation.unwrap_or_else(|error| panic!("{error}"));
    let mut ports = Ports(Vec::new());
    simulation.run(&mut ports);
    let cell = |index| simulation.cell(0, GlobalId(0), index);
    assert_eq!((cell(0), cell(1)), (Some(vec![1]), Some(vec![1])));
    assert_eq!(ports.0, [4]);
}

#[test]
fn mistakes_are_told_where_they_are() {
    let check = |text: &str, expected: &str| {
        let (mut map, program, _) = program_and_run(PROGRAM, RUN);
        let options = Options {
            target: Target::Tna,
            before: given("classify.p4", text),
            ..Options::default()
        };
        let said = compile(&program, &map, &options).expect_err("a mistake");
        lucid::compile::v1model::add_files(&mut map, &options);
        let rendered = render_text(&map, &said, RenderOptions::default());
        assert!(rendered.contains(expected), "{rendered}");
    };
    let text = format!("control before{PARAMETERS} {{\n  apply {{ hdr.missing.setValid(); }}\n}}");
    check(&text, "classify.p4:6:15");
    check("control other() { apply { } }", "declares no control `before`");
    check("control other() { apply { } }", "ig_intr_md");
}
