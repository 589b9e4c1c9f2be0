// SPDX-License-Identifier: Apache-2.0
//! Links that go down and up while compiled programs run: events for other switches take other routes, as they do
//! for the reference interpreter.

use crate::alike::check;
use crate::delays::program_and_run;
use crate::oracle::{Judged, judge};
use device::EngineChoice;
use lucid_compiler::{Backend, Delay, Options};

/// Counts at switch 2 what is sent there from switch 0.
const PROGRAM: &str = "event send(int<8> n);
    event come(int<8> n);
    global Array.t<32> counts = Array.create(16);
    memop plus(int stored, int more) { return stored + more; }
    handle send(int<8> n) { generate_switch(2, come(n)); }
    handle come(int<8> n) { Array.setm(counts, (int<32>)n, plus, 1); }";

/// A ring of four: 0 - 1 - 2 and 0 - 3 - 2.
fn ring(events: &str) -> String {
    format!(
        r#"{{"switches": 4, "max time": "100us",
        "links": {{"0:1": "1:0", "1:2": "2:1", "0:3": "3:0", "3:2": "2:3"}},
        "events": [{events}]}}"#
    )
}

fn check_ring(events: &str, expected: &[&str]) {
    let words = ["counts[", "link_down", "link down", "lost"];
    check(PROGRAM, &ring(events), &[Backend::V1Model, Backend::Tna], &words, expected);
}

#[test]
fn another_way_is_taken_and_left_again() {
    check_ring(
        r#"{"name": "send", "args": [1], "timestamp": 0},
           {"type": "link", "link": "0:1", "state": "down", "timestamp": 10000},
           {"name": "send", "args": [2], "timestamp": 20000},
           {"type": "link", "link": "0:1", "state": "up", "timestamp": 30000},
           {"name": "send", "args": [3], "timestamp": 40000}"#,
        &["counts[1]", "counts[2]", "counts[3]"],
    );
}

/// The route from the switch on is another one, and its own link is up all the time.
#[test]
fn a_link_further_on_is_down() {
    check_ring(
        r#"{"type": "link", "link": "1:2", "state": "down", "timestamp": 10000},
           {"name": "send", "args": [1], "timestamp": 20000},
           {"name": "send", "args": [2], "timestamp": 20001},
           {"type": "link", "link": "3:2", "state": "down", "timestamp": 30000},
           {"type": "link", "link": "1:2", "state": "up", "timestamp": 30000},
           {"name": "send", "args": [3], "timestamp": 40000}"#,
        &["counts[1]", "counts[2]", "counts[3]"],
    );
}

#[test]
fn no_way_is_left() {
    check_ring(
        r#"{"type": "link", "link": "0:1", "state": "down", "timestamp": 10000},
           {"type": "link", "link": "0:3", "state": "down", "timestamp": 10000},
           {"name": "send", "args": [1], "timestamp": 20000},
           {"type": "link", "link": "0:3", "state": "up", "timestamp": 30000},
           {"name": "send", "args": [2], "timestamp": 40000}"#,
        &["counts[2]", "dropped: 1"],
    );
}

/// What is on its way when a link further on goes down is lost there, or takes another route: the interpreter sends it
/// over all links at once, and the judge of schedules takes either.
#[test]
fn links_change_while_events_are_on_their_way() {
    for time_ns in [20_000, 20_400, 21_000, 23_000, 26_000, 31_000] {
        let run = ring(&format!(
            r#"{{"name": "send", "args": [1], "timestamp": 20000}},
               {{"type": "link", "link": "1:2", "state": "down", "timestamp": {time_ns}}},
               {{"name": "send", "args": [2], "timestamp": 40000}}"#
        ));
        let run = run.replace(r#""max time""#, r#""propagate delay": "5us", "max time""#);
        let (map, program, run) = program_and_run(PROGRAM, &run);
        for target in [Backend::V1Model, Backend::Tna] {
            let options = Options { target, ..Options::default() };
            let folder = std::path::Path::new("");
            match judge(&map, &program, &run, folder, &options, EngineChoice::Jit) {
                Ok(Judged::Same(verified, _)) => {
                    // Two are sent, the second comes, and the first does unless it was at switch 1.
                    assert!((3..=4).contains(&verified.schedule.dispatches.len()));
                }
                Ok(Judged::Refused(said)) | Err(said) => panic!("{target:?} {time_ns}: {said}"),
            }
        }
    }
}

/// A machine sends a delayed event a little later than it is due, when the link may be down.
#[test]
fn links_go_down_when_delayed_events_leave() {
    let source = "event send(int<8> n);
        event come(int<8> n);
        handle send(int<8> n) { generate_port(1, Event.delay(come(n), 700)); generate come(n); }
        handle come(int<8> n) { skip; }";
    for time_ns in (1_500..4_000).step_by(250) {
        let run = ring(&format!(
            r#"{{"name": "send", "args": [1], "locations": ["0:5"], "timestamp": 1000}},
               {{"type": "link", "link": "0:1", "state": "down", "timestamp": {time_ns}}}"#
        ));
        let run = run.replace(r#""max time""#, r#""propagate delay": "1500ns", "max time""#);
        let (map, program, run) = program_and_run(source, &run);
        for target in [Backend::V1Model, Backend::Tna] {
            let options = Options { target, delay: Delay::Recirculation, ..Options::default() };
            let folder = std::path::Path::new("");
            match judge(&map, &program, &run, folder, &options, EngineChoice::Jit) {
                Ok(Judged::Same(verified, _)) => {
                    assert!((2..=3).contains(&verified.schedule.dispatches.len()));
                }
                Ok(Judged::Refused(said)) | Err(said) => panic!("{target:?} {time_ns}: {said}"),
            }
        }
    }
}
