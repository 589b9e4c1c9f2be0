// SPDX-License-Identifier: Apache-2.0
//! A run of a compiled program on captures, through one device, with the controllers that the program brings:
//! [`DeviceRun`] describes it, [`run`] does it: by one engine, by two side by side, or on several pipelines.

mod arrivals;
mod beside;
mod ended;
mod one_engine;
mod pipelines;
mod preparation;
mod ready_run;
mod report;
mod result_json;
mod side_by_side;

use crate::files;
use crate::reactions::ReactionRun;
use crate::threads::{Pipelines, Plan, plan};
pub(crate) use arrivals::Arrivals;
use device::EngineChoice;
use frontend::{Compiled, Console, ExitStatus, Failure, RunCaptures};
pub(crate) use preparation::{built_options, ports_exist, set_up};
use ready_run::{Beginning, Unready};
pub(crate) use report::{load_error_text, place, replay_error_text};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// A run on captures through one device, as its user describes it.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRun<'r> {
    /// The program's file.
    pub program: &'r Path,
    /// The captures.
    pub captures: RunCaptures<'r>,
    /// Files of control commands, applied before the first packet.
    pub entries: &'r [PathBuf],
    /// The maximum number of items in a batch of these commands; `None` is one batch a file.
    pub batch_size: Option<NonZeroUsize>,
    /// Files of control commands, applied after the last packet.
    pub after: &'r [PathBuf],
    /// Write the updates of the control plane to this file, as commands with times.
    pub record_commands: Option<&'r Path>,
    /// Apply the commands of this file at their times.
    pub replay_commands: Option<&'r Path>,
    /// Fill packets that their capture has cut with zeros.
    pub pads_snapped: bool,
    /// Print digests.
    pub digests: bool,
    /// Print the result as JSON instead of the summary.
    pub json: bool,
    /// What runs the program.
    pub engines: Engines,
    /// The number of pipelines, each on a thread, if the user wants several (MP5).
    pub pipelines: Option<u64>,
    /// Print what happens to each packet.
    pub trace: Option<TraceFormat>,
    /// Seed of everything random.
    pub seed: u64,
    /// The end of the run, by the device's clock.
    pub until_ps: Option<u64>,
    /// The device file.
    pub device: Option<&'r Path>,
    /// The model of the driver through which reactions reach the switch.
    pub driver_model: Option<&'r Path>,
    /// The CPU port; it replaces that of the device file.
    pub cpu_port: Option<u32>,
    /// How reactions run, in programs that have some.
    pub reactions: ReactionRun<'r>,
}

impl<'r> DeviceRun<'r> {
    /// The files that a run reads.
    fn files_read(&self) -> impl Iterator<Item = &'r Path> {
        let files = [self.device, self.driver_model, self.replay_commands].into_iter().flatten();
        let captures = self.captures.inputs.iter().map(|(_, file)| file.as_path());
        let commands = self.entries.iter().chain(self.after).map(PathBuf::as_path);
        let reloads = self.reactions.reloads.iter().map(|reload| reload.file.as_path());
        std::iter::once(self.program).chain(files).chain(captures).chain(commands).chain(reloads)
    }
}

/// The engines of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engines {
    /// Machine code; the interpreter where passes take time.
    Default,
    /// This one.
    One(EngineChoice),
    /// Machine code and interpreter side by side. The run stops where they differ.
    SideBySide,
}

/// The form of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// Text.
    Text,
    /// JSON, an object a line. Standard output has nothing else.
    Json,
}

/// Runs a program.
///
/// # Errors
///
/// Why there is no run. What goes wrong in the run is printed.
pub fn run(
    compiled: Compiled,
    run: &DeviceRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    if let Some(path) = run.record_commands {
        files::not_overwritten(path, run.files_read())?;
    }
    let options = preparation::device_options(run, compiled.setup.first())?;
    let plan = plan(&compiled, &options, run.pipelines)?;
    let program = match &plan {
        Plan::Many(control) => &control.program,
        Plan::NotWanted | Plan::One(_) => compiled.ready.program(),
    };
    let program = program.clone();
    let ended = Beginning::of(compiled, options, &program, (run, console)).and_then(|beginning| {
        let pipelines = match plan {
            Plan::Many(control) => return pipelines::run(beginning, control),
            Plan::NotWanted => None,
            Plan::One(reason) => Some(Pipelines::One(reason)),
        };
        match run.engines {
            Engines::SideBySide => side_by_side::run(beginning, pipelines),
            Engines::Default | Engines::One(_) => one_engine::run(beginning, pipelines),
        }
    });
    match ended {
        Ok(status) | Err(Unready::Told(status)) => Ok(status),
        Err(Unready::Failed(failure)) => Err(failure),
    }
}
