// SPDX-License-Identifier: Apache-2.0
//! Messages about wrong programs and wrong inputs: the cases in `tests/messages`.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

#[test]
fn messages_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/messages");
    let mut cases: Vec<_> = std::fs::read_dir(&folder)
        .expect("tests/messages")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    assert!(cases.len() >= 20, "only {} cases were found", cases.len());
    let bless = testing::golden::is_blessing();
    let mut failures = String::new();
    for case in cases {
        let command = std::fs::read_to_string(case.join("command")).expect("a command");
        let out = tempfile::tempdir().expect("a temporary folder");
        // The name of the output folder must not occur in messages.
        let words = command.split_whitespace().map(|word| match word {
            "out" => out.path().display().to_string(),
            word => word.to_string(),
        });
        let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
            .args(words)
            .current_dir(&case)
            .output()
            .expect("plane starts");
        let code = ran.status.code().map_or("killed".to_string(), |code| code.to_string());
        // Warnings alone end with 0.
        assert!(!ran.stderr.is_empty() || code != "0", "{}: nothing is said", case.display());
        let mut found = format!("exit status {code}\n");
        for (name, bytes) in [("standard output", &ran.stdout), ("standard error", &ran.stderr)] {
            let text = String::from_utf8_lossy(bytes);
            if !text.is_empty() {
                write!(found, "-- {name}\n{text}").expect("a string takes text");
            }
        }
        let path = case.join("expected");
        if bless {
            std::fs::write(&path, &found).expect("writable");
            continue;
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if expected != found {
            let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
            writeln!(failures, "== {name}: expected\n{expected}\n-- found\n{found}")
                .expect("a string takes text");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
