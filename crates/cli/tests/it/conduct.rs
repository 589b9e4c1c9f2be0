// SPDX-License-Identifier: Apache-2.0
//! How `plane` behaves as a command: exit statuses, standard input, closed pipes, quiet, formats.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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

fn plane_reading(words: &str, input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(words.split_whitespace())
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("plane starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input.as_bytes()).expect("plane reads");
    drop(pipe);
    child.wait_with_output().expect("plane ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn exit_statuses() {
    for (words, status) in [
        ("check examples/router/router.p4", 0),
        ("explain --list", 0),
        ("--help", 0),
        ("help run", 0),
        ("ir examples/router/router.p4 --effects", 0),
        ("check nowhere.p4", 1),
        ("check examples", 1),
        ("explain P4-E9999", 1),
        ("test nowhere.stf", 1),
        ("corpus nowhere", 1),
        ("fmt nowhere.p4", 1),
        ("", 2),
        ("chekc x", 2),
        ("check", 2),
        ("run examples/router/router.p4", 2),
        ("run examples/router/router.p4 --in 1 --out x", 2),
        ("check --arch v2model examples/router/router.p4", 2),
    ] {
        let ran = plane(words);
        assert_eq!(ran.status.code(), Some(status), "{words}: {}", text(&ran.stderr));
    }
}

#[test]
fn ports_that_the_architecture_does_not_have() {
    let capture = "examples/router/captures/host1.pcap";
    for rest in ["", " --verify"] {
        let words = format!(
            "run examples/router/router.p4 --in 1={capture} --in 600={capture} --cpu-port 9999 \
             --out target/nothing{rest}"
        );
        let ran = plane(&words);
        assert_eq!(ran.status.code(), Some(2));
        let errors = text(&ran.stderr);
        for wrong in [&format!("--in 600={capture}"), "--cpu-port 9999"] {
            assert!(errors.contains(&format!("{wrong}: there is no port ")), "{errors}");
        }
        assert!(!errors.contains("--in 1="), "{errors}");
    }
}

#[test]
fn a_lucid_program_is_not_printed_but_the_ways_are_told() {
    let ran = plane("print examples/lucid/nat/nat.dpt");
    assert_eq!(ran.status.code(), Some(1));
    let errors = text(&ran.stderr);
    assert!(errors.contains("plane emit examples/lucid/nat/nat.dpt --target v1model"), "{errors}");
}

#[test]
fn every_subcommand_has_an_example() {
    for command in ["check", "run", "test", "fmt", "print", "ir", "corpus", "explain"] {
        let help = text(&plane(&format!("help {command}")).stdout);
        assert!(help.contains(&format!("plane {command}")), "{help}");
        assert!(help.contains("Example:"), "{help}");
    }
}

#[test]
fn programs_from_standard_input() {
    let ran = plane_reading("check -", "const bit<8> x = y;\n");
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("standard input"), "{}", text(&ran.stderr));
    let ran = plane_reading("fmt -", "const   bit<8> x=1 ;");
    assert_eq!(text(&ran.stdout), "const bit<8> x = 1;\n");
}

#[test]
fn a_closed_pipe_ends_the_command_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(["ir", "examples/router/router.p4"])
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("plane starts");
    drop(child.stdout.take());
    let ran = child.wait_with_output().expect("plane ends");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    assert_eq!(text(&ran.stderr), "");
}

#[test]
fn diagnostics_without_colours_in_a_pipe() {
    let ran = plane_reading("check -", "control c() { apply { x = 1; } }");
    assert!(!text(&ran.stderr).contains('\u{1b}'));
}

#[test]
fn diagnostics_as_json() {
    let ran = plane_reading("check --format json -", "control c() { apply { x = 1; y = 2; } }");
    assert_eq!(ran.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let list = json.as_array().expect("an array");
    assert_eq!(list.len(), 2, "{json}");
    assert!(list.iter().all(|each| each["code"].is_string() && each["line"].is_u64()));
    let ran =
        plane("check --format json examples/router/router.p4 examples/multicast/multicast.p4");
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert!(json.as_array().is_some());
}

#[test]
fn quiet_says_nothing_when_all_is_well() {
    let ran = plane("check --quiet examples/router/router.p4");
    assert_eq!((text(&ran.stdout), text(&ran.stderr)), (String::new(), String::new()));
}

#[test]
fn a_code_without_family_gives_the_choice() {
    let ran = plane("explain E0205");
    assert_eq!(ran.status.code(), Some(1));
    let errors = text(&ran.stderr);
    assert!(errors.contains("P4-E0205  ") && errors.contains("IR-E0205  "), "{errors}");
    assert!(text(&plane("explain p4-e0205").stdout).starts_with("P4-E0205: "));
    assert!(text(&plane("explain CTL-E0102").stdout).contains("docs/control-commands.md"));
}

#[test]
fn warnings_and_colours_on_demand() {
    let program = "const bit<8> x = 300;\ncontrol c() { apply { bit<8> v; bit<8> w = v; } }\n";
    let warned = plane_reading("check -", program);
    let hidden = plane_reading("check --no-warnings -", program);
    let coloured = plane_reading("--color always check -", program);
    assert!(text(&warned.stderr).contains("warning["), "{}", text(&warned.stderr));
    assert!(!text(&hidden.stderr).contains("warning["), "{}", text(&hidden.stderr));
    assert!(text(&hidden.stderr).contains("ok, "), "the summary stays: {}", text(&hidden.stderr));
    assert!(text(&coloured.stderr).contains('\u{1b}'), "{}", text(&coloured.stderr));
    let json = plane_reading("check --no-warnings --format json -", program);
    assert_eq!(text(&json.stdout).trim(), "[]");
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&plane(&format!("completions {shell}")).stdout);
        assert!(script.contains("plane") && script.contains("pad-snapped"), "{shell}");
    }
    assert_eq!(plane("completions tcsh").status.code(), Some(2));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ran = plane(&format!("man {}", folder.path().join("man1").display()));
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let page = |name: &str| std::fs::read_to_string(folder.path().join("man1").join(name));
    assert!(page("plane.1").expect("the page").contains("plane\\-run"));
    assert!(page("plane-run.1").expect("the page").contains("\\-\\-pad\\-snapped"));
}

#[test]
fn the_architecture_asked_for() {
    assert_eq!(plane("check --arch v1model examples/router/router.p4").status.code(), Some(0));
    let ran = plane("check --arch psa examples/router/router.p4");
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("is for v1model, not for psa"), "{}", text(&ran.stderr));
}

#[test]
fn traces() {
    let run =
        "run examples/calculator/calculator.p4 --in 1=examples/calculator/captures/host1.pcap";
    let out = tempfile::tempdir().expect("a temporary folder");
    let out = out.path().display();
    let ran = plane(&format!("{run} --out {out} --trace --quiet"));
    let trace = text(&ran.stdout);
    assert!(trace.contains("start") && trace.contains("operation"), "{trace}");
    let ran = plane(&format!("{run} --out {out} --trace-json --quiet"));
    let lines = text(&ran.stdout);
    assert_eq!(lines.lines().count(), 11, "an object a packet");
    for line in lines.lines() {
        let json: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert!(json.is_object());
    }
}

#[test]
fn passes_that_take_time_run_on_the_interpreter() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("timed");
    std::fs::create_dir_all(&folder).expect("a folder");
    let run = |device: &str, rest: &str| {
        let file = folder.join("device.toml");
        std::fs::write(&file, device).expect("written");
        let capture = "examples/router/captures/host1.pcap";
        let (out, file) = (folder.display(), file.display());
        let words = format!(
            "run examples/router/router.p4 --entries examples/router/commands.txt --in 1={capture} \
             --out {out} --device {file} {rest}"
        );
        let ran = plane(&words);
        (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
    };
    let timing = "[pass_timing]\nstage = \"10ns\"\n";
    for rest in ["", "--engine interp"] {
        let (status, errors, noted) = run(timing, rest);
        assert_eq!(status, Some(0), "{noted}");
        assert!(errors.contains("router.p4 (interpreter)"), "{errors}");
        assert!(noted.contains("passes take time, so the interpreter runs them"), "{noted}");
    }
    for rest in ["--engine jit", "--verify"] {
        let (status, _, noted) = run(timing, rest);
        assert_eq!(status, Some(1), "{noted}");
        assert!(noted.contains("DV-E0107"), "{noted}");
        assert!(noted.contains("passes that take time need the interpreter"), "{noted}");
    }
    let (status, _, noted) = run("[pass_timing]\nstages = { nothing = 3 }\n", "");
    assert_eq!(status, Some(1), "{noted}");
    assert!(noted.contains("DV-E0108") && noted.contains("`nothing` is given a stage"), "{noted}");
}

#[test]
fn effects_are_printed_for_each_statement() {
    let printed =
        text(&plane("ir examples/stateful_firewall/stateful_firewall.p4 --effects").stdout);
    for wanted in ["live at start", "reads", "writes", "live after", "accesses", "index: "] {
        assert!(printed.contains(wanted), "no `{wanted}` in\n{printed}");
    }
}
