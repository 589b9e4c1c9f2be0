// SPDX-License-Identifier: Apache-2.0
//! `--record-commands` and `--replay-commands`: the program as run, with the recorded commands of a reacting run applied at
//! their times, sends the packets of that run, byte for byte.

use crate::examples::{captures, commands, root, subfolders};
use std::path::Path;
use std::process::Command;

/// Runs `plane` at the root of the repository; the output is that of standard output and standard error.
#[track_caller]
pub fn plane(words: &[String]) -> (Option<i32>, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(words)
        .current_dir(root())
        .output()
        .expect("plane starts");
    let text = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (ran.status.code(), text.concat())
}

pub fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| word.to_string()).collect()
}

/// The command of an example without one of its options and the option's value.
pub fn without(mut command: Vec<String>, option: &str) -> Vec<String> {
    while let Some(at) = command.iter().position(|word| word == option) {
        command.drain(at..at + 2);
    }
    command
}

/// The P4R examples for v1model.
pub fn examples() -> Vec<std::path::PathBuf> {
    let mut folders = subfolders("examples/react");
    folders.retain(|folder| !folder.display().to_string().ends_with("_tna"));
    folders
}

#[test]
fn recorded_commands_make_the_same_run_of_the_emitted_program() {
    let (mut failures, mut changing) = (Vec::new(), 0);
    let all = examples();
    assert_eq!(all.len(), 11, "{all:?}");
    for folder in all {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
        let run = without(commands(&readme).remove(0), "--out");
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| scratch.path().join(name).display().to_string();
        let recorded = path("commands.txt");
        let mut first = run.clone();
        first.extend(words(&["--out", &path("first"), "--record-commands", &recorded]));
        let (status, text) = plane(&first);
        assert_eq!(status, Some(0), "{name}: {text}");
        let emitted = words(&["emit", &run[1], "-o", &path("emitted")]);
        let (status, text) = plane(&emitted);
        assert_eq!(status, Some(0), "{name}: {text}");
        let mut second = without(run, "--entries");
        second[1] = path(&format!("emitted/{name}.p4"));
        second.extend(words(&["--out", &path("second"), "--replay-commands", &recorded]));
        let (status, text) = plane(&second);
        assert_eq!(status, Some(0), "{name}: {text}");
        let expected = captures(&folder.join("expected"));
        assert_eq!(
            captures(Path::new(&path("first"))),
            expected,
            "{name}: recording changes the run"
        );
        if captures(Path::new(&path("second"))) != expected {
            failures.push(name.clone());
        }
        // What the agent does during the run matters.
        let text = std::fs::read_to_string(&recorded).expect("a recording");
        let later = text.match_indices("# at ").nth(1).map_or(text.len(), |(at, _)| at);
        std::fs::write(&recorded, &text[..later]).expect("a file");
        let out = second.iter().position(|word| word == "--out").expect("an option") + 1;
        second[out] = path("third");
        let (status, text) = plane(&second);
        assert_eq!(status, Some(0), "{name}: {text}");
        changing += usize::from(captures(Path::new(&path("third"))) != expected);
    }
    assert!(failures.is_empty(), "other packets with recorded commands: {failures:?}");
    assert!(changing >= 9, "only {changing} examples send other packets without their agent");
}

#[test]
fn a_recording_overwrites_no_file_that_the_run_reads() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let folder = root().join("examples/react/figure1");
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
    let mut run = without(commands(&readme).remove(0), "--out");
    let replayed = scratch.path().join("commands.txt");
    std::fs::write(&replayed, "# at 1 us\n").expect("a file");
    let path = |name: &str| scratch.path().join(name).display().to_string();
    run.extend(words(&["--out", &path("out"), "--replay-commands", &path("commands.txt")]));
    // Under another name.
    run.extend(words(&["--record-commands", &path("out/../commands.txt")]));
    std::fs::create_dir(scratch.path().join("out")).expect("a folder");
    let (status, text) = plane(&run);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("commands.txt` is an input: write somewhere else"), "{text}");
    assert_eq!(std::fs::read_to_string(&replayed).expect("the file"), "# at 1 us\n");
}
