// SPDX-License-Identifier: Apache-2.0
//! Tests with network namespaces of their own need root and programs. Without them a test says NOT RUN; if
//! `PLANEWRIGHT_LIVE_TESTS` is `required`, as in `.ci/run`, it fails.

use std::process::{Command, Stdio};

fn works(program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns whether a test with network namespaces and these programs can run here. Says so if it cannot.
pub fn can_run(test: &str, programs: &[&str]) -> bool {
    let probe = format!("planeprobe-{}-{test}", std::process::id());
    let has_namespaces = works("ip", &["netns", "add", &probe])
        && works("ip", &["netns", "exec", &probe, "true"])
        && works("ip", &["netns", "delete", &probe]);
    let is_missing = |program: &&&str| {
        !["-V", "-v", "--version"].iter().any(|version| works(program, &[version]))
    };
    let missing: Vec<&&str> = programs.iter().filter(is_missing).collect();
    let why = match (has_namespaces, missing.first()) {
        (true, None) => return true,
        (true, Some(program)) => format!("the program `{program}` is missing"),
        (false, _) => "this user cannot make network namespaces".to_string(),
    };
    let is_required =
        std::env::var("PLANEWRIGHT_LIVE_TESTS").is_ok_and(|value| value == "required");
    assert!(!is_required, "{test} must run: {why}");
    not_run(test, &why);
    false
}

/// Says that a test does not run, and why.
pub fn not_run(test: &str, why: &str) {
    // The test harness hides what passing tests print, but not what other programs do.
    let sentence = format!("NOT RUN {test}: {why}");
    let mut echo = Command::new("sh");
    echo.args(["-c", "printf '%s\\n' \"$1\" >&2", "sh", &sentence]);
    let _ = echo.status();
}
