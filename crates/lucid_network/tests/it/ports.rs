// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of ports that no compiled switch has, at their places.

use crate::delays::program_and_run;
use device::EngineChoice;
use lucid_compiler::{Backend, Options};
use lucid_network::{CompiledSimulation, check_ports};
use lucid_reference::simulation::{NullObserver, Outcome, Setup};
use source::{Diagnostics, RenderOptions, render_text};
use std::sync::Arc;

/// What is said of it: by the compiler, before the run, or when it stops.
fn said(source: &str, run: &str) -> Vec<String> {
    let (map, program, run) = program_and_run(source, run);
    let setup = Setup::new(Arc::new(program), &run)
        .unwrap_or_else(|said| panic!("{}", render_text(&map, &said, RenderOptions::default())));
    let texts = |said: &Diagnostics| -> Vec<String> {
        let text = render_text(&map, said, RenderOptions::default());
        let wanted = |line: &&str| line.contains("-->") || line.starts_with("error");
        text.lines().filter(wanted).map(|line| line.trim().to_string()).collect()
    };
    for target in [Backend::V1Model, Backend::Tna] {
        let options = Options { target, ..Options::default() };
        let compiled = match lucid_compiler::compile(setup.program(), &map, &options) {
            Ok(compiled) => compiled,
            Err(said) => return texts(&said),
        };
        let before = check_ports(&setup);
        if before.has_errors() {
            return texts(&before);
        }
        let setup = Arc::new(setup.clone());
        let mut simulation =
            CompiledSimulation::new(setup, Arc::new(compiled), EngineChoice::Interpreter)
                .unwrap_or_else(|error| panic!("{error}"));
        if let Outcome::Stopped(fault) = simulation.run(&mut NullObserver) {
            let mut list = Diagnostics::new();
            list.push(*fault);
            return texts(&list);
        }
    }
    Vec::new()
}

fn check(source: &str, run: &str, expected: &[&str]) {
    assert_eq!(said(source, run), expected);
}

const SMALL: &str =
    "event out(int<8> n);\nevent go(int<9> n) { generate_port((int<32>) n, out(1)); }";

#[test]
fn ports_that_compiled_switches_have() {
    check(
        SMALL,
        r#"{"switches": 2, "links": {"0:508": "1:0"}, "recirculation_ports": [507, 508],
            "events": [{"name": "go", "args": [508], "locations": ["0:508"]}]}"#,
        &[],
    );
}

#[test]
fn ports_in_programs() {
    check(
        "event out(int<8> n);\nevent go(int<9> n) { generate_port(511, out(1)); \
         generate_ports({3, 600}, out(1)); }",
        "{}",
        &[
            "error[LU-E0714]: no compiled switch has a port 511",
            "--> small.dpt:2:36",
            "error[LU-E0714]: no compiled switch has a port 600",
            "--> small.dpt:2:65",
        ],
    );
}

#[test]
fn ports_in_runs() {
    check(
        SMALL,
        "{\"switches\": 2,\n\"links\": {\"0:600\": \"1:0\"},\n\"recirculation_ports\": 511,\n\"events\": [\n{\"name\": \"go\", \"args\": [5], \"locations\": [\"0:509\"]}]}",
        &[
            "error[LU-E0714]: no compiled switch has a port 511, the recirculation port of switch 0",
            "--> run.json:3:24",
            "error[LU-E0714]: no compiled switch has a port 600, which switch 0 has a link at",
            "--> run.json:2:11",
            "error[LU-E0714]: no compiled switch has a port 509, where this comes in",
            "--> run.json:5:1",
        ],
    );
}

#[test]
fn ports_of_events_that_handlers_generate() {
    check(
        SMALL,
        r#"{"events": [{"name": "go", "args": [511]}]}"#,
        &[
            "error[LU-E0714]: a handler of `go` generates `out` for port 511 of switch 0, and no compiled \
             switch has that port",
            "--> small.dpt:2:1",
        ],
    );
}
