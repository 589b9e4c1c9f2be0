// SPDX-License-Identifier: Apache-2.0
//! `plane scale`: reports on programs of all languages against golden files, and packets on the machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plane(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(words)
        .current_dir(root())
        .output()
        .expect("plane starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn reports_are_golden() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scale");
    for (program, options) in [
        ("domino/flowlets.domino", &[][..]),
        ("domino/best_path.domino", &[]),
        ("domino/fair_queueing.domino", &["--format", "json"]),
        ("domino/sequencer.domino", &[]),
        ("domino/two_paths.domino", &["--read-only-is-state"]),
        ("domino/count_min.domino", &["--stages", "5"]),
        ("lucid/starflow/starflow.dpt", &[]),
        ("lucid/rip/rip.dpt", &[]),
        ("stateful_firewall/stateful_firewall.p4", &[]),
        ("meter_police/meter_police.p4", &[]),
        ("telemetry/telemetry.p4", &[]),
    ] {
        let path = format!("examples/{program}");
        let ran = plane(&[&["scale", &path, "--pipelines", "4", "--quiet"], options].concat());
        assert_eq!(ran.status.code(), Some(0), "{path}: {}", text(&ran.stderr));
        let name = program.rsplit('/').next().unwrap_or_default();
        testing::golden::check(golden.join(format!("{name}.txt")), &text(&ran.stdout));
    }
}

#[test]
fn pictures_have_all_groups() {
    let program = "examples/domino/flowlets.domino";
    let ran = plane(&["scale", program, "--pipelines", "12", "--format", "svg", "--quiet"]);
    let picture = text(&ran.stdout);
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{picture}");
    for part in ["seen_at", "path_of", "stage 5", "addresses", "and 4 more"] {
        assert!(picture.contains(part), "{part}");
    }
}

/// Runs a program of Figure 3 and returns status, report and final state.
fn figure_3(program: &Path, design: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let state = folder.path().join("state.json");
    let program = program.to_str().expect("a path");
    let packets = "examples/domino/two_paths.csv";
    let mut words = vec!["scale", program, "--pipelines", "2", "--read-only-is-state"];
    words.extend(["--packets", packets, "--design", design, "--state-out"]);
    words.push(state.to_str().expect("a path"));
    let ran = plane(&words);
    let said = text(&ran.stdout) + &text(&ran.stderr);
    (ran.status.code(), said, std::fs::read_to_string(state).unwrap_or_default())
}

/// Checks that the paper's machine gives the numbers of one pipeline, and the machine without phantoms those of the paper.
fn needs_the_order_of_arrival(program: &Path) {
    let (status, said, state) = figure_3(program, "mp5");
    assert!(said.contains("equal to one pipeline"), "{said}");
    assert_eq!(status, Some(0), "{said}");
    assert!(state.contains("\"results\":[0,0,263,0]"), "{state}");
    let (status, said, state) = figure_3(program, "no-order");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("cells that differ from one pipeline: "), "{said}");
    assert!(state.contains("\"results\":[0,0,284,0]"), "{state}");
}

#[test]
fn figure_3_needs_the_order_of_arrival() {
    needs_the_order_of_arrival(Path::new("examples/domino/two_paths.domino"));
}

#[test]
fn figure_3_with_conditional_values_needs_the_order_of_arrival() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("conditional.domino");
    let text = "struct Packet { int first; int second; int third; int multiplies; int operand; };\n\
                int factors[4] = {4, 2, 8, 16}, terms[4] = {1, 3, 5, 7}, results[4] = {0, 0, 1, 0};\n\
                void combine(struct Packet p) {\n\
                p.operand = p.multiplies == 1 ? factors[p.first % 4] : terms[p.second % 4];\n\
                results[p.third % 4] = p.multiplies == 1 ? results[p.third % 4] * p.operand\n\
                : results[p.third % 4] + p.operand;\n}\n";
    std::fs::write(&program, text).expect("a program");
    needs_the_order_of_arrival(&program);
}

#[test]
fn packets_and_state_are_those_of_one_device() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = "examples/domino/flowlets.domino";
    let packets = "examples/domino/flowlets.csv";
    let files = |name: &str| {
        [format!("{name}.csv"), format!("{name}.json")].map(|name| folder.path().join(name))
    };
    let [one, many] = ["one", "many"].map(files);
    for (files, words) in [
        (&one, &["run", program, "--packets", packets][..]),
        (&many, &["scale", program, "--packets", packets, "--pipelines", "4", "--depth", "8"]),
    ] {
        let [out, state] = files.each_ref().map(|path| path.to_str().expect("a path"));
        let ran = plane(&[words, &["--packets-out", out, "--state-out", state]].concat());
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    }
    for (one, many) in one.iter().zip(&many) {
        let read = |path: &Path| std::fs::read_to_string(path).expect("a result");
        assert_eq!(read(one), read(many));
    }
}

/// `table` and `state` are keywords of P4.
#[test]
fn arrays_have_the_names_of_the_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_string();
    let [program, packets, state] = ["names.domino", "in.csv", "state.json"].map(path);
    let source = "struct Packet { int flow; int value; };\n\
                  int table[4] = {5};\nint state = 2;\n\
                  void count(struct Packet p) {\n\
                  table[p.flow % 4] = table[p.flow % 4] + p.value;\nstate = state * 3;\n}\n";
    std::fs::write(&program, source).expect("a program");
    std::fs::write(&packets, "flow,value\n0,1\n1,2\n4,3\n").expect("packets");
    let ran = plane(&["scale", &program, "--pipelines", "2", "--format", "json", "--quiet"]);
    let report = text(&ran.stdout);
    for name in ["table", "state"] {
        assert!(report.contains(&format!("\"name\": \"{name}\"")), "{name}: {report}");
    }
    assert!(report.contains("banzai"), "{report}");
    let words = ["--pipelines", "2", "--packets", &packets, "--state-out", &state];
    let ran = plane(&[&["scale", &program], &words[..]].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let state = std::fs::read_to_string(&state).expect("the state");
    assert!(state.contains("[9,2,0,0]") && state.contains("54"), "{state}");
}

#[test]
fn cells_are_found_as_hardware_finds_them() {
    let run = |words: &[&str]| {
        let program = "examples/domino/flowlets.domino";
        let packets = ["--packets", "examples/domino/flowlets.csv", "--remap-every", "2"];
        let ran = plane(&[&["scale", program, "--pipelines", "2"], &packets[..], words].concat());
        assert_eq!(ran.status.code(), Some(0), "{words:?}: {}", text(&ran.stderr));
        text(&ran.stdout)
    };
    let scanned = run(&["--remap-engine", "scan"]);
    assert!(scanned.contains("mp5-scan") && scanned.contains("equal to one pipeline"), "{scanned}");
    assert_eq!(scanned, run(&["--design", "mp5-scan"]));
}

#[test]
fn wrong_requests_have_codes() {
    let flowlets = "examples/domino/flowlets.domino";
    let packets = ["--packets", "examples/domino/flowlets.csv"];
    for (words, status, code) in [
        (&["--pipelines", "0"][..], 2, "SC-E0101"),
        (&["--pipelines", "65"], 2, "SC-E0101"),
        (&["--pipelines", "2", "--stages", "0"], 2, "SC-E0102"),
        (&["--pipelines", "2", "--stages", "5"], 2, "takes 6 stages"),
        (&["--pipelines", "2", "--stages", "1", packets[0], packets[1]], 2, "takes 6 stages"),
        (&["--pipelines", "2", "--depth", "0", packets[0], packets[1]], 2, "SC-E0105"),
        (&["--pipelines", "2", "--remap-every", "0", packets[0], packets[1]], 2, "SC-E0106"),
        (&["--pipelines", "2", "--design", "mp4", packets[0], packets[1]], 2, "SC-E0107"),
        (&["--pipelines", "2", "--clock", "0Hz", "--in", "1=x.pcap"], 2, "SC-E0109"),
        (&["--pipelines", "2", "--depth", "8"], 2, "--packets"),
        (&["--pipelines", "2", "--remap-engine", "scan"], 2, "--packets"),
        (&["--pipelines", "2", "--remap-engine", "fast", packets[0], packets[1]], 2, "fast"),
        (&["--pipelines", "2", "--packets", "examples/nowhere.csv"], 1, "nowhere.csv"),
    ] {
        let ran = plane(&[&["scale", flowlets], words].concat());
        let said = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(status), "{words:?}: {said}");
        assert!(said.contains(code), "{words:?}: {said}");
    }
    let router = ["scale", "examples/router/router.p4", "--pipelines", "2"];
    let ran = plane(&[&router[..], &packets].concat());
    assert_eq!(ran.status.code(), Some(2), "{}", text(&ran.stderr));
}

#[test]
fn code_is_shown_before_and_after() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scale");
    let program = "examples/domino/two_paths.domino";
    for when in ["before", "after"] {
        let words = ["scale", program, "--pipelines", "2", "--read-only-is-state", "--show", when];
        let ran = plane(&words);
        assert_eq!(ran.status.code(), Some(0), "{when}: {}", text(&ran.stderr));
        testing::golden::check(golden.join(format!("two_paths.{when}.txt")), &text(&ran.stdout));
    }
    let ran = plane(&["scale", program, "--pipelines", "2", "--show", "after", "--format", "json"]);
    assert_eq!(ran.status.code(), Some(2), "{}", text(&ran.stderr));
}
