// SPDX-License-Identifier: Apache-2.0
//! Verilator and Yosys at work on emitted files.

use rtl::File;
use std::path::Path;
use std::process::Command;

/// Says whether a tool starts. Otherwise says that a test was not run, or fails where tests with it are required.
pub fn has_tool(tool: &str, test: &str) -> bool {
    if Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return true;
    }
    let is_required = std::env::var("PLANEWRIGHT_RTL_TESTS").is_ok_and(|value| value == "required");
    assert!(!is_required, "{test} must run: {tool} does not start");
    testing::live::not_run(test, &format!("{tool} does not start"));
    false
}

/// Runs a command that must succeed, and returns what it printed.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}{errors}");
    text
}

/// Writes files into a folder.
pub fn write(folder: &Path, files: &[File]) {
    for file in files {
        std::fs::write(folder.join(&file.name), &file.text).unwrap();
    }
}

/// Compiles files with Verilator to a program that simulates a test bench. Returns its warnings.
#[track_caller]
pub fn verilate(folder: &Path, files: &[File], bench: &str) -> String {
    write(folder, files);
    let mut command = Command::new("verilator");
    command.current_dir(folder).args([
        "--binary",
        "-Wall",
        "-Wno-fatal",
        "-j",
        "2",
        "-O3",
        "--x-assign",
        "0",
    ]);
    // Compiling takes longer than running.
    command.args(["-MAKEFLAGS", "OPT_GLOBAL=-O0 OPT_FAST=-O0 OPT_SLOW=-O0", "-o", "simulation"]);
    command.args(["--top-module", bench]);
    command.args(files.iter().map(|file| &file.name));
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}\n{errors}");
    let warnings = errors.lines().filter(|line| line.starts_with("%Warning"));
    warnings.collect::<Vec<_>>().join("\n")
}

/// Runs a compiled test bench on arrivals for a number of cycles, and returns its trace.
#[track_caller]
pub fn simulate(folder: &Path, arrivals: &str, cycles: u64) -> String {
    std::fs::write(folder.join("arrivals"), arrivals).unwrap();
    let mut command = Command::new("./obj_dir/simulation");
    command.current_dir(folder).args(["+arrivals=arrivals", "+trace=trace"]);
    run(command.arg(format!("+cycles={cycles}")));
    std::fs::read_to_string(folder.join("trace")).unwrap()
}
