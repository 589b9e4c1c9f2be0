// SPDX-License-Identifier: Apache-2.0
//! `plane bench mp5`: wrong usage, the form of tables and of JSON, and a figure that takes little time.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn bench(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(["bench", "mp5", "--quiet"])
        .args(words.split_whitespace())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .expect("plane starts")
}

fn succeeds(words: &str) -> String {
    let ran = bench(words);
    assert!(ran.status.success(), "{words}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn wrong_usage_is_refused() {
    for (words, status, message) in [
        ("--figure 9", 2, "there is no figure 9 to measure; figures are 2, "),
        ("--figure sram --seeds 0", 2, "--seeds needs at least 1"),
        ("--figure sram --seeds few", 2, "invalid value 'few'"),
        ("--figure sram --full", 2, "--full is for the figures of Mantis"),
        ("--figure sram --compile", 2, "cannot be used with"),
        ("--figure 7a --seeds 1 --traces nowhere", 1, "nowhere"),
    ] {
        let ran = bench(words);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(status), "{words}: {said}");
        assert!(said.contains(message), "{words}: {said}");
        assert!(ran.stdout.is_empty(), "{words}");
    }
}

#[test]
fn figures_are_tables_or_objects() {
    let text = succeeds("--figure sram");
    for part in ["pipelines", "published", "about 35 KB", "37.5"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: Value = serde_json::from_str(&succeeds("--figure SRAM --json")).expect("JSON");
    let [figure] = json.as_array().expect("a list").as_slice() else { panic!("{json}") };
    assert_eq!(figure["figure"], "sram");
    assert!(figure["title"].is_string() && figure["remarks"].is_array(), "{figure}");
    let rows = figure["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["pipelines"] == "64").expect("a row");
    assert_eq!((&row["kB"], &row["published"]), (&"37.5".into(), &"about 35 KB".into()));
}

#[test]
fn figures_of_one_seed_are_equal_and_come_in_the_order_of_the_paper() {
    let words = "--figure d2 --figure 2 --seeds 1 --json";
    let json = succeeds(words);
    assert_eq!(json, succeeds(words));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let figures = json.as_array().expect("a list");
    let names: Vec<&Value> = figures.iter().map(|figure| &figure["figure"]).collect();
    assert_eq!(names, ["2", "d2"]);
    let equal = |design: &str| {
        let rows = figures[0]["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["design"] == design).expect("a design");
        row["stateful: equal runs"].as_str().expect("a text").to_string()
    };
    assert_eq!(equal("mp5"), "2 of 2");
    assert_eq!(equal("no-order"), "0 of 2");
}

/// The four applications are compiled, and run on the machine with their own updates.
#[test]
fn applications_keep_the_meaning_that_they_have_on_one_pipeline() {
    let json = succeeds("--figure applications --seeds 1 --json");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let row = |design: &str| {
        let rows = json[0]["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["design"] == design).expect("a design").clone()
    };
    for application in ["flowlet", "CONGA", "WFQ", "sequencer"] {
        let equal = |design: &str| row(design)[format!("{application}: equal runs")].clone();
        assert_eq!((equal("naive"), equal("mp5")), ("1 of 1".into(), "1 of 1".into()));
    }
    assert_eq!(row("naive")["WFQ: throughput"], "0.250");
    // Start times depend on the order of packets.
    assert_eq!(row("no-order")["WFQ: equal runs"], "0 of 1");
}

/// Match, predicate and index are in front; the access stays in its stage.
#[test]
fn addresses_are_resolved_in_front() {
    let text = succeeds("--figure 5");
    let row = |part: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(part)).expect("a row");
        line.split_whitespace().rev().take(3).map(str::to_string).collect()
    };
    // From the right: in stages, in front, before.
    assert_eq!(row("matches of tables"), ["1", "1", "1"]);
    assert_eq!(row("phantoms"), ["0", "1", "0"]);
    assert_eq!(row("indices")[1], "1");
    assert_eq!(row("predicates")[1], "1");
    assert_eq!(row("accesses of state"), ["1", "0", "1"]);
    for code in ["Before:", "After, in front:", "store mp5.happens0", "After, stage 3:"] {
        assert!(text.contains(code), "{code}: {text}");
    }
}
