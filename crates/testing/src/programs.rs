// SPDX-License-Identifier: Apache-2.0
//! Programs that tests start: compilers, simulators, network tools. Without them a test says NOT RUN; where tests with them are
//! required, as in `.ci/run`, it fails.

use std::process::{Command, Stdio};

/// Says whether a program starts with these arguments and succeeds.
pub fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Says whether a program is installed: it prints its version.
pub fn is_installed(program: &str) -> bool {
    ["--version", "-V", "-v"].iter().any(|version| succeeds(program, &[version]))
}

/// Returns whether the programs of a test are installed. Otherwise says NOT RUN, or panics if the environment variable has the value
/// `required`.
#[track_caller]
pub fn are_installed(test: &str, programs: &[&str], variable: &str) -> bool {
    match programs.iter().find(|program| !is_installed(program)) {
        None => true,
        Some(missing) => {
            lacks(test, &format!("`{missing}` does not start"), variable);
            false
        }
    }
}

/// Says that a test does not run, and why; panics if the environment variable has the value `required`.
#[track_caller]
pub fn lacks(test: &str, why: &str, variable: &str) {
    let is_required = std::env::var(variable).is_ok_and(|value| value == "required");
    assert!(!is_required, "{test} must run: {why}");
    not_run(test, why);
}

/// Says that a test does not run, and why.
pub fn not_run(test: &str, why: &str) {
    // The test harness hides what passing tests print, but not what other programs do.
    let sentence = format!("NOT RUN {test}: {why}");
    let mut echo = Command::new("sh");
    echo.args(["-c", "printf '%s\\n' \"$1\" >&2", "sh", &sentence]);
    let _ = echo.status();
}
