// SPDX-License-Identifier: Apache-2.0
//! `plane` with Lucid programs: exit statuses, what goes where, files of results, seeds.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const PROGRAM: &str = "\
symbolic int<32> step;
global Array.t<32> counts = Array.create(4);
global Array.t<32> noise = Array.create(4);
memop plus(int stored, int more) { return stored + more; }

event done(int<32> slot);

event count(int<32> slot) {
  Array.setm(counts, slot, plus, step);
  Array.set(noise, slot, Sys.random());
  printf(\"counted %d\", slot);
  generate_port(2, done(slot));
}
";

pub const RUN: &str = "\
symbolics: {step: 2}
seed: 5
events:
  - {name: count, args: [1], timestamp: 100}
  - {name: count, args: [1], timestamp: 200}
  - {name: count, args: [3], timestamp: 5000}
expect:
  - {left: done, port: 2, count: 3}
  - {array: counts, values: [0, 2], at: 100}
  - {array: counts, values: [0, 4, 0, 2]}
";

/// A folder with the program `count.dpt` and these further files.
pub fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [("count.dpt", PROGRAM)].iter().chain(files) {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

pub fn plane(folder: &Path, words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(words.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("plane starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn exit_statuses() {
    let twice = RUN.replace("count: 3", "count: 4");
    let files = [
        ("count.yaml", RUN),
        ("wrong.yaml", twice.as_str()),
        ("broken.yaml", "events: ["),
        ("elsewhere.yaml", "program: nowhere.dpt"),
        ("wrong.dpt", "event ;"),
    ];
    let folder = folder(&files);
    for (words, status, said) in [
        ("run count.dpt", 0, ""),
        ("run count.dpt --spec count.yaml --quiet", 0, ""),
        ("run count.dpt --spec wrong.yaml", 1, ""),
        ("run count.dpt --spec broken.yaml", 1, "LU-E0501"),
        ("run count.dpt --spec nowhere.yaml", 1, "no such file"),
        ("run nowhere.dpt", 1, "cannot read `nowhere.dpt`"),
        ("run wrong.dpt --spec count.yaml", 1, "LU-E00"),
        ("check wrong.dpt", 1, "LU-E00"),
        ("check count.dpt", 0, "count.dpt: ok"),
        ("check --arch v1model count.dpt", 1, "--arch applies only to P4 and P4R programs"),
        ("test count.yaml", 0, ""),
        ("test --program count.dpt count.yaml", 0, ""),
        ("test wrong.yaml", 1, ""),
        ("test broken.yaml", 1, ""),
        ("test elsewhere.yaml", 1, ""),
        ("test nowhere.yaml", 1, ""),
        ("run count.dpt --until soon", 2, "is not a time"),
        ("run count.dpt --until 5parsecs", 2, "is not a unit of time"),
        ("run count.dpt --in 1=x.pcap", 2, "--in needs --out"),
        ("run count.dpt --in 1=x.pcap --out out", 1, "x.pcap"),
        ("run count.dpt --out out", 2, "--out needs --in"),
        ("run count.dpt --verify", 0, "as the reference interpreter: 3 handlers"),
        ("run count.dpt --engine reference", 0, ""),
        (
            "run count.dpt --engine reference --target tna",
            2,
            "cannot be combined with --engine reference",
        ),
        (
            "run x.p4 --engine reference --in 1=x.pcap --out out",
            2,
            "applies only to Lucid programs",
        ),
        ("run count.dpt --trace-json", 2, "applies only to P4, P4R and Domino programs"),
        ("run x.p4 --spec count.yaml", 2, "applies only to Lucid programs"),
        ("run x.p4", 2, "--in PORT=FILE"),
        ("run x.p4 --in 1=x.pcap", 2, "--out DIR"),
        ("run count.dpt --timeline a --state-out a", 2, "two options"),
        ("run count.dpt --timeline count.yaml", 1, "is an input"),
        ("ir count.dpt", 1, "step"),
        ("print count.dpt", 1, "is a Lucid program"),
        ("explain LU-E0501", 0, ""),
        ("explain lu-w0501", 0, ""),
        ("explain LU-E9999", 1, "no such code"),
    ] {
        let ran = plane(folder.path(), words);
        let errors = text(&ran.stderr);
        let found = (ran.status.code(), errors.contains(said));
        assert_eq!(found, (Some(status), true), "{words}: {}{errors}", text(&ran.stdout));
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("count.yaml")).expect("it"), RUN);
}

#[test]
fn what_a_run_prints() {
    let folder = folder(&[("count.yaml", RUN)]);
    let ran = plane(folder.path(), "run count.dpt --engine reference");
    let said = text(&ran.stdout);
    assert!(
        said.starts_with("count.dpt with count.yaml (Lucid reference interpreter)\n"),
        "{said}"
    );
    assert!(said.contains("       700 ns  switch 0  left by port 2: done(slot=1)\n"), "{said}");
    let ran = plane(folder.path(), "run count.dpt");
    let said = text(&ran.stdout);
    assert!(said.starts_with("count.dpt with count.yaml (compiled for v1model, jit)\n"), "{said}");
    for part in [
        "       100 ns  switch 0  counted 1\n",
        "       100 ns  switch 0  left by port 2: done(slot=1)\n",
        "counts: [1] = 4, [3] = 2",
        "ok      left done port 2: 3 times\n",
        "expectations: 3 passed, 0 failed\n",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    let trace = text(&plane(folder.path(), "run count.dpt --trace").stdout);
    for part in
        ["count(slot=1) at port 0\n", ". counts[1] was 0, is 2\n", "-> done(slot=1) by port 2\n"]
    {
        assert!(trace.contains(part), "no {part:?} in {trace}");
    }
    let quiet = plane(folder.path(), "run count.dpt --quiet");
    assert_eq!((text(&quiet.stdout), text(&quiet.stderr)), (String::new(), String::new()));
    let tested = text(&plane(folder.path(), "test count.yaml").stdout);
    assert_eq!(tested, "ok      count.yaml\n1 passed, 0 failed (Lucid reference interpreter)\n");
}

/// An event that delays itself, and inputs after the end of a run that says nothing of its time.
const TICKS: &str = "\
event tick(int<32> by);
handle tick(int<32> by) { generate Event.delay(tick(by), 6000); }
";

#[test]
fn a_run_tells_what_was_waiting_at_its_end() {
    let run = "events: [{name: tick, args: [3]}, {name: tick, args: [4], timestamp: 20us}]\n\
               expect: [{handled: tick, count: 7}]";
    let folder = folder(&[("tick.dpt", TICKS), ("tick.yaml", run)]);
    for (options, due) in [
        ("--engine reference", "12000"),
        ("", "12600"),
        ("--target tna", "12600"),
        ("--verify", "12600"),
    ] {
        let ran = plane(folder.path(), &format!("run tick.dpt {options}"));
        let said = text(&ran.stdout);
        let expected = format!(
            "the run was over at 10000 ns; 1 event was waiting: tick(by=3), due at switch 0 at {due} \
             ns; inputs were to come, the next at 20000 ns\n`max time` in tick.yaml, or --until TIME, \
             lets it run longer\n"
        );
        assert!(said.contains(&expected), "{options}: {said}");
        assert!(text(&ran.stderr).contains("LU-W0504"), "{options}");
        let ran = plane(folder.path(), &format!("run tick.dpt {options} --until 21us"));
        let said = text(&ran.stdout);
        assert!(said.contains("over at 21000 ns; 2 events were waiting, the next: "), "{said}");
        assert!(!text(&ran.stderr).contains("LU-W0504"), "what is within --until happens");
    }
    let trace = text(&plane(folder.path(), "run tick.dpt --trace").stdout);
    assert!(trace.contains("tick(by=3) at port 196 (recirculation)\n"), "{trace}");
    let quiet = plane(folder.path(), "run tick.dpt --quiet");
    assert!(!text(&quiet.stdout).contains("waiting"), "{}", text(&quiet.stdout));
    let tested = text(&plane(folder.path(), "test tick.yaml").stdout);
    assert!(tested.contains("1 event was waiting: tick(by=3)"), "{tested}");
}

#[test]
fn a_run_tells_what_its_target_leaves_out() {
    let folder = folder(&[("count.yaml", RUN)]);
    for (words, warnings) in [("run count.dpt --target tna", 1), ("run count.dpt", 0)] {
        let ran = plane(folder.path(), words);
        let errors = text(&ran.stderr);
        assert_eq!(errors.matches("LU-W0701").count(), warnings, "{words}: {errors}");
    }
}

#[test]
fn json_is_alone_on_standard_output() {
    let folder = folder(&[("count.yaml", RUN)]);
    let ran = plane(folder.path(), "run count.dpt --json");
    let said = text(&ran.stdout);
    let lines: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((of("handled"), of("printed"), of("left"), of("access")), (3, 3, 3, 0), "{said}");
    assert!(text(&ran.stderr).contains("expectations: 3 passed"), "{}", text(&ran.stderr));
    let said = text(&plane(folder.path(), "run count.dpt --json --trace").stdout);
    assert_eq!(said.matches("\"kind\":\"access\"").count(), 6, "{said}");
}

#[test]
fn results_are_written_into_new_folders() {
    let folder = folder(&[("count.yaml", RUN)]);
    let words = "run count.dpt --state-out out/deep/state.json --timeline out/line.html";
    let ran = plane(folder.path(), words);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let state = std::fs::read_to_string(folder.path().join("out/deep/state.json")).expect("state");
    let state: Value = serde_json::from_str(&state).expect("JSON");
    assert_eq!(state["0"]["counts"], serde_json::json!([0, 4, 0, 2]));
    let page = std::fs::read_to_string(folder.path().join("out/line.html")).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("count.dpt with count.yaml"));
    let names = |path: PathBuf| {
        let entries = std::fs::read_dir(path).expect("a folder").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(folder.path().join("out")), ["deep", "line.html"]);
    // Nothing is written where it cannot be written whole.
    std::fs::create_dir(folder.path().join("taken")).expect("a folder");
    let ran = plane(folder.path(), "run count.dpt --timeline taken");
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    assert_eq!(names(folder.path().join("taken")).len(), 0);
}

#[test]
fn seeds_and_ends() {
    let folder = folder(&[("count.yaml", RUN)]);
    let noise = |words: &str| {
        let state = folder.path().join("state.json");
        let ran = plane(folder.path(), &format!("run count.dpt {words} --state-out state.json"));
        let read = std::fs::read_to_string(state).expect("state");
        let state: Value = serde_json::from_str(&read).expect("JSON");
        (ran.status.code(), state["0"]["noise"].clone(), state["0"]["counts"][3].clone())
    };
    let first = noise("");
    assert_eq!(noise(""), first);
    assert_eq!(noise("--seed 5"), first);
    assert_ne!(noise("--seed 6").1, first.1);
    // The third event is left out, so an expectation fails.
    let early = noise("--until 2us");
    assert_eq!((early.0, early.2), (Some(1), Value::from(0)));
}

#[test]
fn schedules_are_recorded_and_run_again() {
    let folder = folder(&[("count.yaml", RUN)]);
    let ran = plane(folder.path(), "run count.dpt --record run.jsonl --state-out first.json");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let words = "run count.dpt --replay run.jsonl --state-out second.json --timeline line.html";
    let again = plane(folder.path(), words);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(
        text(&again.stdout).contains("3 dispatches, a legal schedule"),
        "{}",
        text(&again.stdout)
    );
    let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    assert_eq!(read("first.json"), read("second.json"));
    assert!(read("line.html").contains("as in run.jsonl"));
    // Earlier than it can be, an event that is not there, a random number too many.
    let schedule = read("run.jsonl");
    for (from, to, status, said) in [
        ("\"time_ps\":200000", "\"time_ps\":150000", 1, "LU-E0621"),
        ("\"event\":\"count\"", "\"event\":\"cuont\"", 1, "line 1 of the schedule"),
        ("\"draws\":[", "\"draws\":[7,", 1, "LU-E0621"),
    ] {
        assert!(schedule.contains(from), "no {from} in {schedule}");
        std::fs::write(folder.path().join("other.jsonl"), schedule.replacen(from, to, 1))
            .expect("it");
        let ran = plane(folder.path(), "run count.dpt --replay other.jsonl");
        let errors = text(&ran.stderr);
        assert_eq!((ran.status.code(), errors.contains(said)), (Some(status), true), "{errors}");
    }
    let ran = plane(folder.path(), "run count.dpt --replay run.jsonl --record x.jsonl");
    assert_eq!(ran.status.code(), Some(2));
}

#[test]
fn symbolics_of_the_command_line_count_most() {
    let run = RUN.replace("symbolics: {step: 2}", "");
    let run = run.split("expect:").next().expect("a run");
    let inline = format!("symbolics: {{step: 3}}\n{run}");
    let named = format!("symbolics file: other.symb\n{run}");
    let symb = |step: u32| format!("{{\"symbolics\": {{\"step\": {step}}}}}");
    let (beside, other, line) = (symb(7), symb(11), symb(13));
    let files = [
        ("count.yaml", run),
        ("inline.yaml", inline.as_str()),
        ("named.yaml", named.as_str()),
        ("count.symb", beside.as_str()),
        ("other.symb", other.as_str()),
        ("line.symb", line.as_str()),
    ];
    let folder = folder(&files);
    for (words, step) in [
        ("", 7),
        ("--spec inline.yaml", 3),
        ("--spec named.yaml", 11),
        ("--symbolics line.symb", 13),
        ("--spec inline.yaml --symbolics line.symb", 13),
    ] {
        let ran = plane(folder.path(), &format!("run count.dpt {words} --state-out state.json"));
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
        let read = std::fs::read_to_string(folder.path().join("state.json")).expect("state");
        let state: Value = serde_json::from_str(&read).expect("JSON");
        assert_eq!(state["0"]["counts"][1], Value::from(2 * step), "{words}");
    }
    // Missing altogether it is an error that says so.
    std::fs::remove_file(folder.path().join("count.symb")).expect("removed");
    let ran = plane(folder.path(), "run count.dpt");
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("step"), "{}", text(&ran.stderr));
}

#[test]
fn the_specification_beside_the_program() {
    let folder = folder(&[("count.json", "{\"symbolics\": {\"step\": 1}}")]);
    let said = text(&plane(folder.path(), "run count.dpt").stdout);
    assert!(said.starts_with("count.dpt with count.json "), "{said}");
    std::fs::write(folder.path().join("count.toml"), "seed = 1").expect("a file");
    let ran = plane(folder.path(), "run count.dpt");
    assert!(text(&ran.stderr).contains("several specifications"), "{}", text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(1));
}

#[test]
fn programs_are_formatted() {
    let folder = folder(&[
        ("wide.dpt", "event   e( int<32>  x ){int y=x+1;printf(\"%d\",y);}"),
        ("wrong.dpt", "event ;"),
    ]);
    let ran = plane(folder.path(), "fmt --check wide.dpt");
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("not formatted"), "{}", text(&ran.stderr));
    assert_eq!(plane(folder.path(), "fmt wide.dpt").status.code(), Some(0));
    let formatted = std::fs::read_to_string(folder.path().join("wide.dpt")).expect("a program");
    assert!(formatted.starts_with("event e(int<32> x) {\n"), "{formatted}");
    assert_eq!(plane(folder.path(), "fmt --check wide.dpt").status.code(), Some(0));
    let ran = plane(folder.path(), "fmt wrong.dpt");
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("LU-E00"), "{}", text(&ran.stderr));
}

#[test]
fn core_programs_are_printed() {
    let folder = folder(&[("count.symb", "{\"symbolics\": {\"step\": 23}}")]);
    let ran = plane(folder.path(), "ir count.dpt");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let core = text(&ran.stdout);
    assert!(core.contains("counts") && core.contains("23"), "{core}");
}

#[test]
fn a_flood_of_mistakes_is_cut() {
    let wrong = "  - {name: cuont, args: [1]}\n".repeat(500);
    let run = format!("symbolics: {{step: 1}}\nevents:\n{wrong}");
    let folder = folder(&[("count.yaml", &run)]);
    let ran = plane(folder.path(), "run count.dpt");
    let errors = text(&ran.stderr);
    assert_eq!((ran.status.code(), errors.matches("error[").count()), (Some(1), 100));
    let last = errors.trim_end().lines().last().unwrap_or("");
    assert!(last.starts_with("and 40") && last.ends_with(" more"), "{last}");
}

#[test]
fn many_programs_are_checked_at_once() {
    let folder = folder(&[("wrong.dpt", "event e(int<32> x) { y = 1; }")]);
    let ran = plane(folder.path(), "check count.dpt wrong.dpt nowhere.dpt --format json");
    assert_eq!(ran.status.code(), Some(1));
    let list: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let errors = list.as_array().expect("a list").iter().filter(|each| each["severity"] == "error");
    let errors: Vec<_> = errors.map(|each| (&each["file"], &each["line"])).collect();
    assert_eq!(errors, [(&Value::from("wrong.dpt"), &Value::from(1))]);
    assert!(text(&ran.stderr).contains("nowhere.dpt"));
}

const RENAMED: &str = "control before(inout headers_t hdr, inout metadata_t meta,
    inout standard_metadata_t standard_metadata) {
    apply { if (meta.event == EVENT_count && hdr.count.slot == FROM) { hdr.count.slot = 2; } }
}
";

/// What the user's P4 changes is changed, and handlers are compared with it.
#[test]
fn p4_of_the_users_around_the_dispatcher() {
    let expected = RUN.replace("[0, 4, 0, 2]", "[0, 4, 2, 0]");
    let folder = folder(&[("count.yaml", &expected), ("before.p4", RENAMED)]);
    let run = "run count.dpt --p4-before before.p4 -D FROM=3";
    let ran = plane(folder.path(), run);
    assert_eq!(ran.status.code(), Some(0), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let compared = plane(folder.path(), &format!("{run} --verify"));
    let said = text(&compared.stderr);
    assert_eq!(compared.status.code(), Some(0), "{said}");
    assert!(said.contains("as the reference interpreter: 3 handlers"), "{said}");
    assert!(said.contains("P4 of yours changed something: 1"), "{said}");
    for (words, status, message) in [
        (format!("{run} --target tna"), 1, "before.p4:1"),
        (format!("{run} --record all.jsonl"), 2, "cannot be used with"),
        (format!("{run} --state-out before.p4"), 2, "name the file `before.p4`"),
        (format!("{run} --engine reference"), 2, "cannot be combined with --engine reference"),
        (
            "run count.dpt -D FROM=3".to_string(),
            2,
            "-D applies only to P4, P4R and Domino programs",
        ),
        ("run count.dpt --p4-after none.p4".to_string(), 1, "none.p4"),
    ] {
        let wrong = plane(folder.path(), &words);
        let said = text(&wrong.stderr);
        assert_eq!(wrong.status.code(), Some(status), "{words}: {said}");
        assert!(said.contains(message), "{words}: {said}");
    }
}
