// SPDX-License-Identifier: Apache-2.0
//! The time that events take from switch to switch on v1model, whose pipeline takes none: what a handler sends leaves
//! after the generate delay, as for the reference interpreter.

use crate::delays::program_and_run;
use device::EngineChoice;
use lucid_compiler::{Backend, Options, compile};
use lucid_network::options::delay_options;
use lucid_network::{CompiledSimulation, verify};
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Setup, Simulation};
use std::sync::Arc;

/// Times of handlers and of events that are lost, in nanoseconds.
#[derive(Default, Debug, PartialEq)]
struct Times {
    handled: Vec<u64>,
    dropped: Vec<(u64, Option<u32>)>,
}

impl Observer for Times {
    fn observe(&mut self, observation: Observation) {
        let time_ns = observation.time_ps / 1000;
        match observation.kind {
            ObservationKind::Handled { .. } => self.handled.push(time_ns),
            ObservationKind::Dropped { event, .. } => {
                self.dropped.push((time_ns, event.map(|event| event.event.0)));
            }
            _ => {}
        }
    }
}

/// The times of a run for the reference interpreter and on v1model.
fn times(source: &str, run: &str) -> [Times; 2] {
    let (map, program, run) = program_and_run(source, run);
    let setup = Arc::new(Setup::new(Arc::new(program), &run).expect("a run"));
    let mut meant = Times::default();
    Simulation::new(setup.clone()).run(&mut meant);
    let options = Options { target: Backend::V1Model, ..Options::default() };
    let options = delay_options(&setup, options);
    let compiled = Arc::new(compile(setup.program(), &map, &options).expect("a program"));
    let engine = EngineChoice::Interpreter;
    let mut simulation = CompiledSimulation::new(setup, compiled, engine).expect("devices");
    let mut found = Times::default();
    let verified = verify(&mut simulation, &mut found);
    assert_eq!(verified.difference, None);
    [meant, found]
}

fn check(source: &str, run: &str, handled: &[u64], dropped: &[(u64, Option<u32>)]) {
    let [meant, found] = times(source, run);
    assert_eq!(found, Times { handled: handled.to_vec(), dropped: dropped.to_vec() });
    assert_eq!(meant, found);
}

const BY_PORT: &str = "event hop(int<8> n);
    handle hop(int<8> n) { if (n != 0) { generate_port(1, hop(n - 1)); } }";

#[test]
fn hops_over_links_take_the_generate_delay_and_the_latency() {
    let links = r#""switches": 2, "links": {"0:1": "1:1"}, "#;
    let run = |fields: &str| {
        format!(
            r#"{{{links}{fields}"max time": "50us", "events": [{{"name": "hop", "args": [5], "locations": ["0:3"]}}]}}"#
        )
    };
    check(BY_PORT, &run(""), &[0, 600, 1200, 1800, 2400, 3000], &[]);
    let slow = run(r#""generate delay": 100, "propagate delay": "1us", "#);
    check(BY_PORT, &slow, &[0, 1100, 2200, 3300, 4400, 5500], &[]);
}

/// By number: over two links, and directly without links.
#[test]
fn events_for_other_switches_take_the_generate_delay_once() {
    let source = "event hop(int<8> n);
        handle hop(int<8> n) { if (n != 0) { generate_switch(2 - self, hop(n - 1)); } }";
    for links in [r#""links": {"0:1": "1:1", "1:2": "2:2"}, "#, ""] {
        let run = format!(
            r#"{{"switches": 3, {links}"max time": "50us", "events": [{{"name": "hop", "args": [2]}}]}}"#
        );
        check(source, &run, &[0, 600, 1200], &[]);
    }
}

/// A link that goes down before an event leaves loses it.
#[test]
fn links_lose_events_when_they_leave() {
    for (time_ns, handled, dropped) in
        [(500, vec![0], vec![(600, Some(0))]), (700, vec![0, 600], vec![])]
    {
        let run = format!(
            r#"{{"switches": 2, "links": {{"0:1": "1:1"}}, "max time": "50us", "events": [
                {{"name": "hop", "args": [1], "locations": ["0:3"]}},
                {{"type": "link", "link": "0:1", "state": "down", "timestamp": {time_ns}}}]}}"#
        );
        check(BY_PORT, &run, &handled, &dropped);
    }
}

/// Events of one time share the rate of a link in the order in which they leave.
#[test]
fn rates_count_from_when_events_leave() {
    let source = "event start(int<8> n); event hop(int<8> n);
        handle start(int<8> n) { generate_port(1, hop(n)); }
        handle hop(int<8> n) { skip; }";
    let run = r#"{"switches": 2, "max time": "50us",
        "links": [{"ends": ["0:1", "1:1"], "rate": "5120Mbps"}], "events": [
        {"name": "start", "args": [1]}, {"name": "start", "args": [2], "timestamp": 10}]}"#;
    let [meant, found] = times(source, run);
    // The shortest packet has 64 bytes for the interpreter and 60 for devices.
    assert_eq!(meant.handled, [0, 10, 700, 800]);
    assert_eq!(found.handled, [0, 10, 693, 787]);
}
