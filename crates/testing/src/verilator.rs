// SPDX-License-Identifier: Apache-2.0
//! Emitted SystemVerilog in Verilator: compiled with its test bench, and run on a file of arrivals.

use crate::programs;
use std::path::Path;
use std::process::Command;

/// Makes tests of hardware required.
const VARIABLE: &str = "PLANEWRIGHT_RTL_TESTS";

/// Returns whether a tool of hardware tests (`verilator`, `yosys`) is there. Otherwise says NOT RUN, or panics if
/// `PLANEWRIGHT_RTL_TESTS` is `required`.
#[track_caller]
pub fn has_tool(tool: &str, test: &str) -> bool {
    programs::are_installed(test, &[tool], VARIABLE)
}

/// Runs a command that must succeed, and returns what it printed: standard output, standard error.
#[track_caller]
pub fn run(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [text, errors] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{command:?}\n{text}{errors}");
    (text, errors)
}

/// Writes files, each a name and a text, into a folder and compiles them to a program that simulates a test bench. Returns
/// Verilator's warnings.
#[track_caller]
pub fn compile<'f>(
    folder: &Path,
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
    bench: &str,
) -> String {
    let mut command = Command::new("verilator");
    command.current_dir(folder).args(["--binary", "-Wall", "-Wno-fatal", "-j", "2", "-O3"]);
    // Compiling takes longer than running.
    command.args(["-MAKEFLAGS", "OPT_GLOBAL=-O0 OPT_FAST=-O0 OPT_SLOW=-O0"]);
    command.args(["--x-assign", "0", "-o", "simulation", "--top-module", bench]);
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder takes files");
        command.arg(name);
    }
    let (_, errors) = run(&mut command);
    let warnings = errors.lines().filter(|line| line.starts_with("%Warning"));
    warnings.collect::<Vec<_>>().join("\n")
}

/// Runs the compiled test bench on arrivals for a number of cycles, and returns its trace.
#[track_caller]
pub fn simulate(folder: &Path, arrivals: &str, cycles: u64) -> String {
    std::fs::write(folder.join("arrivals"), arrivals).expect("the folder takes files");
    let mut command = Command::new("./obj_dir/simulation");
    command.current_dir(folder).args(["+arrivals=arrivals", "+trace=trace"]);
    run(command.arg(format!("+cycles={cycles}")));
    std::fs::read_to_string(folder.join("trace")).expect("the bench writes a trace")
}
