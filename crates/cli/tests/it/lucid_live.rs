// SPDX-License-Identifier: Apache-2.0
//! `plane run --events -`: a controller that answers to what a run prints.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

/// Asks for a route that it does not have; the table is the controller's.
const ROUTER: &str = "\
action int<9> to(int<9> port)() { return port; }
global Table.t<<int, int<9>, (), int<9>>> routes = Table.create(8, [to], to, 0);
exit event ask(int host);
event packet(int host) {
  int<9> port = Table.lookup(routes, host, ());
  if (port == 0) { generate_port(100, ask(host)); } else { generate_port(port, packet(host)); }
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = "{\"max time\": \"1ms\", \"events\": [{\"name\": \"packet\", \"args\": [7], \"timestamp\": 1000}]}";
    for (name, text) in [("router.dpt", ROUTER), ("router.json", run)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn plane(words: &str, folder: &tempfile::TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    command.args(words.split_whitespace()).current_dir(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The run waits for each line, so the controller can read what it asks, install a route, and send again.
#[test]
fn a_controller_answers_to_what_a_run_prints() {
    for engine in ["", " --engine reference", " --target tna"] {
        let folder = folder();
        let words = format!("run router.dpt --json --no-warnings --events -{engine}");
        let mut plane = plane(&words, &folder).spawn().expect("plane starts");
        let mut input = plane.stdin.take().expect("its input");
        let mut output = BufReader::new(plane.stdout.take().expect("its output")).lines();
        let mut until = |input: &mut dyn Write, time_ns: u64| -> Vec<Value> {
            writeln!(input, "{}", json!({"until": time_ns})).expect("it reads");
            let mut seen = Vec::new();
            loop {
                let line = output.next().expect("a line").expect("text");
                let line: Value = serde_json::from_str(&line).expect("JSON");
                if line["kind"] == "until" {
                    assert_eq!(line["time_ps"], json!(time_ns * 1000));
                    return seen;
                }
                seen.push(line);
            }
        };
        let left = |seen: &[Value]| -> Vec<(String, u64, u64)> {
            let lines = seen.iter().filter(|line| line["kind"] == "left");
            let text = |line: &Value| line["event"].as_str().expect("a name").to_string();
            let number = |value: &Value| value.as_u64().expect("a number");
            lines
                .map(|line| (text(line), number(&line["args"]["host"]), number(&line["port"])))
                .collect()
        };
        assert_eq!(until(&mut input, 900), Vec::<Value>::new(), "{engine}");
        let asked = until(&mut input, 10_000);
        assert_eq!(left(&asked), [("ask".to_string(), 7, 100)], "{engine}");
        let install = json!({"type": "command", "name": "Table.install", "timestamp": 10_001,
            "args": {"table": "routes", "key": [7], "action": "to", "args": [3]}});
        writeln!(input, "{install}").expect("it reads");
        // Without a time an entry comes the default gap after the one before it.
        writeln!(input, "\n{}", json!({"name": "packet", "args": [7]})).expect("it reads");
        writeln!(input, "{}", json!({"name": "packet", "args": [8], "timestamp": "12us"}))
            .expect("it reads");
        let sent = until(&mut input, 20_000);
        let expected = [("packet".to_string(), 7, 3), ("ask".to_string(), 8, 100)];
        assert_eq!(left(&sent), expected, "{engine}");
        drop(input);
        assert_eq!(plane.wait().expect("it ends").code(), Some(0), "{engine}");
    }
}

fn with_lines(words: &str, lines: &str) -> Output {
    let folder = folder();
    let mut plane = plane(words, &folder).spawn().expect("plane starts");
    let mut input = plane.stdin.take().expect("its input");
    input.write_all(lines.as_bytes()).expect("it reads");
    drop(input);
    plane.wait_with_output().expect("it ends")
}

/// The command reports a wrong line with its number and skips it; the run continues.
#[test]
fn wrong_lines_are_left_out() {
    let lines = "{\"name\": \"packet\", \"args\": [1], \"timestamp\": 5000}\n\
        {\"name\": \"pakcet\", \"args\": [1]}\n\
        {\"name\": \"packet\", \"args\": [true]}\n\
        {\"name\": \"packet\", \"args\": [1]\n\
        {\"name\": \"packet\", \"args\": [2], \"timestamp\": 4000}\n\
        {\"type\": \"generator\", \"name\": \"packet\", \"args\": [1], \"count\": 3, \"gap\": 5}\n\
        {\"until\": \"never\"}\n\
        {\"name\": \"packet\", \"args\": [3], \"timestamp\": 6000}\n";
    for engine in ["", " --engine reference"] {
        let ran = with_lines(&format!("run router.dpt --events -{engine}"), lines);
        assert_eq!(ran.status.code(), Some(1));
        let (out, told) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        for host in [7, 1, 3] {
            assert!(out.contains(&format!("left by port 100: ask(host={host})")), "{out}");
        }
        assert!(!out.contains("host=2"), "{out}");
        for (line, what) in [
            (2, "LU-E0601"),
            (3, "LU-E0603"),
            (4, "LU-E0501"),
            (5, "this time is over: the run is at"),
            (6, "a generator can only stand in a specification"),
            (7, "`until` must be a time"),
        ] {
            let place = format!("standard input, line {line}:");
            assert!(told.contains(&place) && told.contains(what), "{line}: {told}");
        }
        assert!(!told.contains("line 8") && !told.contains("line 1:"), "{told}");
    }
}

#[test]
fn a_file_of_entries_does_not_go_with_verification() {
    let ran = with_lines("run router.dpt --events - --verify", "");
    assert_eq!(ran.status.code(), Some(2));
    let ran = with_lines("run router.dpt --events nowhere", "");
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.code() == Some(1) && told.contains("cannot read `nowhere`"), "{told}");
}
