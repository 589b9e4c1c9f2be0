// SPDX-License-Identifier: Apache-2.0
//! `plane scale --in`: the examples' captures through machines of several pipelines. What leaves is what one switch sends.

use crate::examples::{commands, root, subfolders};
use network::capture::CaptureReader;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

pub fn plane(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    command.args(words).current_dir(root()).output().expect("plane starts")
}

/// The packets of the captures in a folder, sorted, by port.
pub fn sorted_packets(folder: &Path) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut ports = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let reader = CaptureReader::open(&path).expect("a capture");
        let mut packets: Vec<Vec<u8>> =
            reader.map(|packet| packet.expect("a packet").data).collect();
        packets.sort();
        ports.insert(path.file_name().expect("a name").to_string_lossy().into_owned(), packets);
    }
    ports
}

/// Runs `plane scale` with these options behind those of a `plane run`. Returns the report and what left.
fn scaled(words: &[String], options: &[&str]) -> (Value, BTreeMap<String, Vec<Vec<u8>>>) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let at = words.iter().position(|word| *word == "--out").expect("--out") + 1;
    (words[0], words[at]) = ("scale", out.path().to_str().expect("a path"));
    words.extend(["--format", "json", "--quiet"]);
    words.extend(options);
    let ran = plane(&words);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{}: {errors}", words.join(" "));
    let report = serde_json::from_slice(&ran.stdout).expect("JSON");
    (report, sorted_packets(out.path()))
}

#[test]
fn examples_on_several_pipelines_send_what_one_switch_sends() {
    let mut examples = subfolders("examples");
    let others = ["lucid", "networks", "react", "domino"];
    examples.retain(|folder| others.iter().all(|other| !folder.ends_with(other)));
    assert!(examples.len() > 5, "{examples:?}");
    let mut accesses = 0;
    for (folder, pipelines) in examples.iter().zip(["2", "3", "8"].into_iter().cycle()) {
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
        let expected = sorted_packets(&folder.join("expected"));
        for words in commands(&readme) {
            // Cycles are long, so that packets meet in the machine; but packets of telemetry carry the length of queues.
            let clock = if folder.ends_with("telemetry") { "1GHz" } else { "40Hz" };
            let (report, left) = scaled(&words, &["--pipelines", pipelines, "--clock", clock]);
            assert!(left == expected, "{} at {clock} sends other packets", words.join(" "));
            assert_eq!(report["equivalent"], true, "{report}");
            accesses += report["accesses"].as_u64().expect("a number");
        }
    }
    assert!(accesses > 0, "no example accesses state");
}
