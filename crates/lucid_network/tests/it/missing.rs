// SPDX-License-Identifier: Apache-2.0
//! Packets that a device loses or changes are differences, also while a timer of the program never ends.

use crate::delays::program_and_run;
use crate::oracle::{Judged, judge, judge_as};
use device::EngineChoice;
use lucid_compiler::{Backend, Options};
use lucid_reference::simulation::Outcome;
use std::path::Path;

const SOURCE: &str = "packet event out(int<112> fill, int x);
    packet event ask(int<112> fill, int x);
    event tick();
    handle tick() { generate Event.delay(tick(), 1000); }
    handle ask(int<112> fill, int x) { generate_port(7, out(fill, x)); }
    parser main(bitstring pkt) { int<112> fill = read(pkt); int x = read(pkt); generate(ask(fill, x)); }";

/// What differs if `wrong` stands in the compiled program in the place of the sending of `out`.
fn difference(wrong: &str, max_time: &str, target: Backend) -> String {
    let run = format!(
        "{{\"max time\": \"{max_time}\", \"events\": [{{\"name\": \"tick\", \"args\": []}}, {{\"type\": \"packet\", \
         \"bytes\": \"0102030405060708090a0b0c0d0e00000005\", \"timestamp\": \"1us\"}}]}}"
    );
    let sends = "generate_port(7, out(fill, x));";
    let (map, program, run) = program_and_run(SOURCE, &run);
    let (_, compiled, _) = program_and_run(&SOURCE.replace(sends, wrong), "{}");
    let options = Options { target, ..Options::default() };
    let engine = EngineChoice::Interpreter;
    match judge_as(&map, (&program, &compiled), &run, Path::new(""), &options, engine) {
        Ok(Judged::Same(..)) => "nothing".into(),
        Ok(Judged::Refused(said)) => panic!("{said}"),
        Err(said) => said.lines().next().unwrap_or_default().into(),
    }
}

#[test]
fn lost_packets_are_missing_while_a_timer_goes_on() {
    for target in Backend::ALL {
        let said = difference("skip;", "1ms", target);
        assert!(said.contains("a packet that a handler sent did not leave switch 0"), "{said}");
        // Too early to say.
        assert_eq!(difference("skip;", "2us", target), "nothing");
        assert_eq!(difference("generate_port(7, out(fill, x));", "1ms", target), "nothing");
    }
}

#[test]
fn packets_that_a_device_changes_differ() {
    for target in Backend::ALL {
        let said = difference("generate_port(7, out(fill, x + 1));", "1ms", target);
        assert!(said.contains("switch 0 by port 7"), "{said}");
        let said = difference(
            "generate_port(7, ask(fill, x)); generate_port(7, out(fill, 0));",
            "1ms",
            target,
        );
        assert!(said.contains("that no handler sent left switch 0 by port 7"), "{said}");
    }
}

/// A fault that is the user's stops the run; nothing is said of what would have come.
#[test]
fn runs_that_stop_have_no_missing_events() {
    let source = "packet event a(int<112> fill, int x);
        packet event b(int<112> fill, int x);
        handle a(int<112> fill, int x) { skip; }
        handle b(int<112> fill, int x) { skip; }
        parser main(bitstring pkt) { int<112> fill = read(pkt); int x = read(pkt); generate(a(fill, x)); }";
    let run =
        "{\"events\": [{\"name\": \"a\", \"args\": [1, 2]}, {\"name\": \"b\", \"args\": [1, 2]},
        {\"name\": \"a\", \"args\": [1, 3], \"timestamp\": 5000}]}";
    let (map, program, run) = program_and_run(source, run);
    for target in Backend::ALL {
        let options = Options { target, ..Options::default() };
        let engine = EngineChoice::Interpreter;
        match judge(&map, &program, &run, Path::new(""), &options, engine) {
            Ok(Judged::Same(verified, _)) => {
                assert!(matches!(verified.outcome, Outcome::Stopped(_)), "{:?}", verified.outcome);
            }
            Ok(Judged::Refused(said)) | Err(said) => panic!("{said}"),
        }
    }
}
