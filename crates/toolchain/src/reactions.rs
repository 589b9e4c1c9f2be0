// SPDX-License-Identifier: Apache-2.0
//! Runs with reactions: what users say about them ([`ReactionRun`]), drivers, and reloads at times.

use crate::files::Disk;
use control::latency::LatencyModel;
use device::DeviceOptions;
use frontend::{
    Console, ControllerOptions, Driver, Failure, ProgramFile, ReloadRequest, Reloads,
    WrittenProgram,
};
use p4::preprocessor::PreprocessorOptions;
use std::path::{Path, PathBuf};

/// How reactions run on one device.
#[derive(Clone, Copy, Debug)]
pub struct ReactionRun<'r> {
    /// How the agent runs.
    pub options: ControllerOptions,
    /// Reloads, in the order of the command line.
    pub reloads: &'r [TimedReload],
    /// How P4R sources are read.
    pub preprocessing: &'r PreprocessorOptions,
}

/// A reload at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedReload {
    /// The program with the new reactions.
    pub file: PathBuf,
    /// When, and how.
    pub request: ReloadRequest,
}

/// Prints that a run does not repeat, if it does not.
pub fn say_if_not_repeatable(options: &ControllerOptions, console: &dyn Console) {
    if options.driver == Driver::InProcess {
        console.warning(
            "--driver in-process: dialogues take the time that this machine needs, so no two runs are equal",
        );
    }
}

/// Takes the latency model out of the options of a device whose program is controlled as written: what precedes the first
/// packet takes no time. Returns the model for the time after it.
pub(crate) fn without_latency(
    device: DeviceOptions,
    written: Option<&dyn WrittenProgram>,
    options: &ControllerOptions,
) -> (DeviceOptions, Option<LatencyModel>) {
    let Some(written) = written else { return (device, None) };
    let latency = match options.driver {
        Driver::Simulated => device.control_latency.clone().or_else(|| written.driver()),
        Driver::InProcess => None,
    };
    (DeviceOptions { control_latency: None, ..device }, latency)
}

/// Compiles the programs of reloads and hands them to the agent, before the first packet.
///
/// # Errors
///
/// A program is wrong or does not fit, or the program of the run has no reactions.
pub(crate) fn schedule(
    run: &ReactionRun<'_>,
    program: &Path,
    reloads: Option<&dyn Reloads>,
    console: &dyn Console,
) -> Result<(), Failure> {
    let Some(reloads) = reloads else {
        return match run.reloads.is_empty() {
            true => Ok(()),
            false => {
                let name = program.display();
                let message = format!("--reload exchanges reactions, and `{name}` has none");
                Err(Failure::Usage(message))
            }
        };
    };
    for TimedReload { file, request } in run.reloads {
        let file = ProgramFile { path: file, files: &Disk, preprocessing: run.preprocessing };
        let (map, warnings) = reloads.reload(&file, *request)?;
        console.warnings(&map, &warnings);
    }
    Ok(())
}
