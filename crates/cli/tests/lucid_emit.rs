// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: what it writes is accepted by the other commands, and mistakes are told.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plane(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(words.split_whitespace())
        .current_dir(root())
        .output()
        .expect("plane starts")
}

fn succeeds(words: &str) -> String {
    let output = plane(words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_is_written_runs() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().join("nat").display().to_string();
    succeeds(&format!("emit examples/lucid/nat/nat.dpt -o {folder}"));
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder")
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["README.md", "commands-0.txt", "device-0.toml", "nat.p4"]);
    succeeds(&format!("check {folder}/nat.p4"));
    let said = succeeds(&format!(
        "run {folder}/nat.p4 --entries {folder}/commands-0.txt --device {folder}/device-0.toml \
         --in 1=examples/router/captures/host1.pcap --out {folder}/out"
    ));
    assert!(said.contains("packets"), "{said}");
}

/// A program for BMv2 is the same as with the three choices that it stands for.
#[test]
fn programs_for_bmv2_recirculate_by_the_primitive() {
    let text = succeeds("emit examples/lucid/rip/rip.dpt --bmv2");
    assert!(text.contains("recirculate_preserving_field_list(0)"), "{text}");
    assert_eq!(
        text,
        succeeds(
            "emit examples/lucid/rip/rip.dpt --clock us --delay recirculation --recirculation primitive"
        )
    );
}

#[test]
fn each_switch_of_a_run_has_its_commands() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().display().to_string();
    succeeds(&format!(
        "emit examples/lucid/sro/sro.dpt --spec examples/lucid/sro/run.yaml -o {folder}"
    ));
    let commands = |switch: u32| {
        std::fs::read_to_string(out.path().join(format!("commands-{switch}.txt")))
            .expect("commands")
    };
    assert!(commands(0).contains("table_set_default configuration configure => 0 196"));
    assert!(commands(1).contains("table_set_default configuration configure => 1 196"));
    assert!(commands(1).contains("table_add forward forward_to 0 => "));
}

#[test]
fn passes_are_shown_by_name() {
    let listed = succeeds("emit examples/lucid/rip/rip.dpt --after list");
    let first = listed.split_whitespace().next().expect("a pass");
    assert!(!succeeds(&format!("emit examples/lucid/rip/rip.dpt --after {first}")).is_empty());
    let wrong = plane("emit examples/lucid/rip/rip.dpt --after nothing");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("there is no pass `nothing`"));
}
