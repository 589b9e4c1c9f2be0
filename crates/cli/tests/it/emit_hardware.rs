// SPDX-License-Identifier: Apache-2.0
//! `plane emit --target rtl`: the files that it writes, and requests that it refuses. What hardware cannot hold is in
//! `tests/messages/rtl-*`.

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "examples/domino/sequencer.domino";

/// Runs `plane emit` on the example for a target.
fn emit_for(target: &str, words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(["emit", PROGRAM, "--target", target])
        .args(words.split_whitespace())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .expect("plane starts")
}

/// Runs `plane emit` on the example for hardware.
fn emit(words: &str) -> Output {
    emit_for("rtl", words)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn machine_bench_and_fields_are_written() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().join("new/sequencer");
    let ran = emit(&format!("--pipelines 2 --depth 4 -o {}", folder.display()));
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("2 pipelines, rings of 4"), "{said}");
    let mut expected: Vec<String> =
        rtl::modules::MODULES.iter().map(|module| format!("{}.sv", module.name)).collect();
    expected.extend(
        ["bench.sv", "header.csv", "logic.sv", "machine.sv"].map(|name| format!("mp5_{name}")),
    );
    expected.sort();
    assert_eq!(names(&folder), expected);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file");
    for module in rtl::modules::MODULES {
        assert_eq!(read(&format!("{}.sv", module.name)), module.text);
    }
    let machine = read("mp5_machine.sv");
    for parameter in ["PIPELINES = 2", "DEPTH = 4"] {
        assert!(machine.contains(parameter), "{parameter}");
    }
    let header = read("mp5_header.csv");
    assert!(header.starts_with("first bit,bits,field\n0,"), "{header}");
    // Files that are there already are written anew, others stay.
    let other = folder.join("other.txt");
    std::fs::write(&other, "").expect("a file");
    let ran = emit(&format!("--pipelines 4 -o {}", folder.display()));
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(read("mp5_machine.sv").contains("PIPELINES = 4") && other.exists());
}

#[test]
fn requests_without_sense_are_wrong_usage_and_write_nothing() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().join("out");
    for (words, message) in [
        ("-o OUT", "--target rtl needs --pipelines K"),
        ("--pipelines 2", "name their folder with -o DIR"),
        ("--pipelines 0 -o OUT", "RTL-E0101"),
        ("--pipelines 65 -o OUT", "RTL-E0101"),
        ("--pipelines two -o OUT", "invalid value 'two'"),
        ("--pipelines 2 --depth 0 -o OUT", "RTL-E0101"),
        ("--pipelines 2 --depth 4097 -o OUT", "RTL-E0101"),
        ("--pipelines 2 --remap-every 1 -o OUT", "RTL-E0101"),
        ("--pipelines 2 --stages 0 -o OUT", "SC-E0102"),
        ("--pipelines 2 --delay queue -o OUT", "--delay applies only to targets in P4_16"),
        ("--pipelines 2 --clock ns -o OUT", "--clock applies only"),
        ("--pipelines 2 --recirculation port -o OUT", "--recirculation applies only"),
        ("--pipelines 2 --layout exact --time-limit 5 -o OUT", "--layout applies only"),
        ("--pipelines 2 --bmv2 -o OUT", "--bmv2 applies only"),
        ("--pipelines 2 --after list -o OUT", "--after applies only"),
        ("--pipelines 2 --spec run.yaml -o OUT", "--spec applies only"),
        ("--pipelines 2 --p4-before x.p4 -o OUT", "--p4-before applies only"),
    ] {
        let ran = emit(&words.replace("OUT", &folder.display().to_string()));
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(message), "{words}: {said}");
        assert!(!folder.exists(), "{words}");
    }
}

#[test]
fn options_of_hardware_are_refused_for_other_targets() {
    for option in ["--pipelines 2", "--depth 8", "--remap-every 100", "--stages 4"] {
        let ran = emit_for("v1model", option);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{option}: {said}");
        assert!(said.contains("applies only to --target rtl"), "{option}: {said}");
    }
}

#[test]
fn a_file_in_the_place_of_the_folder_stays() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let file = out.path().join("file");
    std::fs::write(&file, "mine").expect("a file");
    let ran = emit(&format!("--pipelines 2 -o {}", file.display()));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("is a file; name a folder"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "mine");
}
