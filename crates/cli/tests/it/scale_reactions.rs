// SPDX-License-Identifier: Apache-2.0
//! P4R programs on several pipelines: the updates of their reactions are recorded on one switch and replayed on the machine, which sends
//! the same packets.

use crate::scale_captures::{plane, sorted_packets};
use serde_json::Value;
use std::path::Path;

fn succeeds(words: &[&str]) -> Vec<u8> {
    let ran = plane(words);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{words:?}: {errors}");
    ran.stdout
}

/// Runs an example on one switch and on four pipelines. Returns the accesses of state.
fn check(example: &str) -> u64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let written = format!("examples/react/{example}/{example}.p4r");
    let input = format!("0=examples/react/{example}/captures/in.pcap");
    let [emitted, updates, one, many] = ["emitted", "updates.txt", "one", "many"].map(path);
    let inputs = ["--in", &input, "--quiet", "--out"];
    succeeds(&["emit", &written, "-o", &emitted, "--quiet"]);
    let record = ["--record-commands", &updates];
    succeeds(&[&["run", &written], &inputs[..], &[&one], &record].concat());
    let program = path(&format!("emitted/{example}.p4"));
    let replay = ["--replay-commands", &updates, "--pipelines", "4", "--format", "json"];
    let report = succeeds(&[&["scale", &program], &inputs[..], &[&many], &replay].concat());
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    let halves = [&report, &report["egress"]];
    for half in halves.iter().filter(|half| !half.is_null()) {
        assert_eq!(half["equivalent"], true, "{example}: {report}");
    }
    let [one, many] = [one, many].map(|folder| sorted_packets(Path::new(&folder)));
    assert!(one == many && !one.is_empty(), "{example}: other packets leave");
    halves.iter().filter_map(|half| half["accesses"].as_u64()).sum()
}

#[test]
fn updates_of_reactions_have_a_place_in_the_order() {
    let examples = ["field_arg", "figure1", "figure4", "hash_polarization", "mbl_table"];
    let accesses: u64 = examples.iter().map(|example| check(example)).sum();
    assert!(accesses > 1000, "{accesses} accesses of state");
}

#[test]
fn reactions_beside_a_machine_are_refused_with_advice() {
    let program = "examples/react/figure1/figure1.p4r";
    let input = "0=examples/react/figure1/captures/in.pcap";
    let ran = plane(&["scale", program, "--pipelines", "2", "--in", input]);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{errors}");
    for part in ["SC-E0108", "the reactions of `figure1`", "--record-commands", "--replay-commands"]
    {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}
