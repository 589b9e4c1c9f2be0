// SPDX-License-Identifier: Apache-2.0
//! What `plane run` does with captures that are already in its output folder, and what it prints
//! about those it wrote.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn router(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/router").join(name)
}

/// Runs the router example on the capture of a host at port 1.
fn run_router(input: &Path, out: &Path, further: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plane"))
        .arg("run")
        .arg(router("router.p4"))
        .arg("--in")
        .arg(format!("1={}", input.display()))
        .arg("--entries")
        .arg(router("commands.txt"))
        .arg("--out")
        .arg(out)
        .args(further)
        .output()
        .expect("plane starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn an_input_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let input = folder.path().join("2.pcap");
    std::fs::copy(router("captures/host1.pcap"), &input).expect("a copy");
    let before = std::fs::read(&input).expect("the copy");
    let ran = run_router(&input, folder.path(), &[]);
    assert_eq!(ran.status.code(), Some(1));
    let message = text(&ran.stderr);
    assert!(message.contains("would overwrite") && message.contains("2.pcap"), "{message}");
    assert_eq!(std::fs::read(&input).expect("the copy"), before);
}

#[test]
fn captures_of_earlier_runs_are_told_apart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("77.pcap"), "earlier").expect("a file");
    std::fs::write(folder.path().join("3.pcap"), "earlier").expect("a file");
    let ran = run_router(&router("captures/host1.pcap"), folder.path(), &[]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let summary = text(&ran.stdout);
    let line = |start: &str| {
        summary.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_string()
    };
    assert!(line("written: ").contains("3.pcap"), "{summary}");
    assert!(line("not of this run: ").ends_with("77.pcap"), "{summary}");
    assert!(!line("not of this run: ").contains("3.pcap"), "{summary}");
}

#[test]
fn a_json_trace_is_alone_on_standard_output() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ran = run_router(&router("captures/host1.pcap"), folder.path(), &["--trace-json"]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let traces = text(&ran.stdout);
    assert!(traces.lines().count() > 10);
    for line in traces.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    assert!(text(&ran.stderr).contains("written: "), "{}", text(&ran.stderr));
}
