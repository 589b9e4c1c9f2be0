// SPDX-License-Identifier: Apache-2.0
//! `plane run`: a program on captures through one device, or by a specification where its language has networks.
//! `run_description` reads the arguments; the runs are in `toolchain` and the languages.

use crate::arguments::Run;
use crate::programs::{ended, on_disk};
use crate::run_description::RunDescription;
use crate::signals;
use frontend::{Console, ExitStatus, Failure};
use toolchain::device_run;

/// Runs it.
pub fn run(arguments: &Run, console: &dyn Console) -> ExitStatus {
    ended(run_described(arguments, console), console)
}

fn run_described(arguments: &Run, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let options = arguments.reading.options();
    let description = RunDescription::read(arguments, &options)?;
    signals::complete_captures();
    let program = on_disk(&arguments.program, &options);
    match description {
        RunDescription::OnDevice(language, run) => {
            let compiled = language.compile(&program, None)?;
            console.warnings(&compiled.map, &compiled.warnings);
            device_run::run(compiled, &run, console)
        }
        RunDescription::OnFields(runs, run) => runs.run(&program, &run, console),
        RunDescription::InNetwork(networks, run) => networks.run(&program, &run, console),
    }
}
