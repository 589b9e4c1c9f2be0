// SPDX-License-Identifier: Apache-2.0
//! Runs with reactions: what users say about them ([`ReactionRun`]), drivers, and reloads at times.

use crate::files::{self, Disk};
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
/// packet takes no time. Returns the model for the time after it: that of a file of the user, else of the device file, else
/// of the program.
///
/// # Errors
///
/// The file cannot be read, or nothing uses it.
pub(crate) fn without_latency(
    device: DeviceOptions,
    written: Option<&dyn WrittenProgram>,
    options: &ControllerOptions,
    model: Option<&Path>,
) -> Result<(DeviceOptions, Option<LatencyModel>), Failure> {
    let usage = |message: &str| Err(Failure::Usage(message.to_string()));
    let latency = match (written, options.driver, model) {
        (None, _, Some(_)) => {
            return usage("--driver-model is for programs with reactions (.p4r)");
        }
        (None, _, None) => return Ok((device, None)),
        (Some(_), Driver::InProcess, Some(_)) => {
            return usage("--driver in-process has no costs: leave --driver-model out");
        }
        (Some(_), Driver::InProcess, None) => None,
        (Some(_), Driver::Simulated, Some(path)) => Some(files::read_driver_model(path)?),
        (Some(written), Driver::Simulated, None) => {
            device.control_latency.clone().or_else(|| written.driver())
        }
    };
    Ok((DeviceOptions { control_latency: None, ..device }, latency))
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
