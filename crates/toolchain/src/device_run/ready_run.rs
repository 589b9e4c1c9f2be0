// SPDX-License-Identifier: Apache-2.0
//! What the runs on captures share: [`Beginning`], before there are devices, and [`ReadyRun`], whose devices are set up. A run
//! makes its devices between the two, moves packets, and ends with [`ReadyRun::end`].

use super::DeviceRun;
use super::arrivals::Arrivals;
use super::ended::Ended;
use super::preparation::{add_replay, ports_exist, set_up};
use super::report::{finish, load_error_text, replay_error_text};
use crate::control_files;
use crate::controllers::{ControlPlane, Controllers};
use crate::port_captures::PortCaptures;
use crate::reactions;
use crate::recorded_commands::Recorder;
use control::latency::LatencyModel;
use control::session::Session;
use control::target::Target;
use device::{Device, DeviceOptions, DigestMessage, LoadError};
use frontend::{
    Compiled, Console, ControllerOptions, ExitStatus, Failure, Spinner, Work, WrittenProgram,
};
use ir::Program;
use network::replay::ReplayError;
use source::SourceMap;
use std::sync::Arc;

/// Why there is no run, or how one ended early.
pub(super) enum Unready {
    /// The user has been told.
    Told(ExitStatus),
    /// The caller tells.
    Failed(Failure),
}

impl From<Failure> for Unready {
    fn from(failure: Failure) -> Unready {
        Unready::Failed(failure)
    }
}

impl From<String> for Unready {
    fn from(message: String) -> Unready {
        Unready::Failed(message.into())
    }
}

/// A run before its devices.
pub(super) struct Beginning<'r> {
    pub(super) run: &'r DeviceRun<'r>,
    pub(super) console: &'r dyn Console,
    /// The options of its devices.
    pub(super) options: DeviceOptions,
    compiled: Compiled,
    recorder: Recorder<'r>,
    controlled: ControllerOptions,
    /// What the control plane's requests cost behind the set-up.
    latency: Option<LatencyModel>,
}

impl<'r> Beginning<'r> {
    /// Begins a run of a compiled program in the form that devices get.
    pub(super) fn of(
        mut compiled: Compiled,
        options: DeviceOptions,
        program: &Arc<Program>,
        (run, console): (&'r DeviceRun<'r>, &'r dyn Console),
    ) -> Result<Beginning<'r>, Unready> {
        if !add_replay(run, &mut compiled, program, console)? {
            return Err(Unready::Told(ExitStatus::WrongInput));
        }
        let recorder = Recorder::new(run.record_commands, compiled.ready.program().clone())?;
        let records = run.trace.is_some();
        let controlled = ControllerOptions { records, ..run.reactions.options };
        let written = compiled.written.as_deref();
        if written.is_some() {
            reactions::say_if_not_repeatable(&controlled, console);
        }
        let (options, latency) =
            reactions::without_latency(options, written, &controlled, run.driver_model)?;
        Ok(Beginning { run, console, options, compiled, recorder, controlled, latency })
    }

    /// Returns the program as compiled.
    pub(super) fn program(&self) -> Arc<Program> {
        self.compiled.ready.program().clone()
    }

    /// Returns why a device does not load the program.
    pub(super) fn load_error(&self, error: &LoadError) -> String {
        load_error_text(error, &self.compiled.map)
    }

    /// Sets devices up: control plane, commands, controllers. Opens the captures.
    pub(super) fn set_up(mut self, devices: &mut [&mut Device]) -> Result<ReadyRun<'r>, Unready> {
        let Beginning { run, console, .. } = self;
        let largest = devices[0].largest_port();
        if !ports_exist(run.captures.inputs, run.cpu_port, largest, console) {
            return Err(Unready::Told(ExitStatus::WrongUsage));
        }
        let controllers = std::mem::take(&mut self.compiled.controllers);
        let written = self.compiled.written.as_deref();
        let plane = ControlPlane::of(written, controllers, devices, &self.controlled)?;
        let ControlPlane { mut target, controllers, reloads } = plane;
        reactions::schedule(&run.reactions, run.program, reloads.as_deref(), console)?;
        let mut session = Session::new(target.program());
        let commands = (run.entries, run.batch_size);
        let deployment = self.compiled.setup.first();
        if !set_up(deployment, commands, &mut session, target.as_mut(), console)? {
            return Err(Unready::Told(ExitStatus::WrongInput));
        }
        let controllers = Controllers::start_on(controllers)?;
        if self.latency.is_some() {
            for device in devices {
                device.set_control_latency(self.latency.clone());
            }
        }
        Ok(ReadyRun {
            run,
            console,
            controllers,
            recorder: self.recorder,
            packets: Some(Arrivals::open(run.captures.inputs, run.pads_snapped, console)?),
            captures: PortCaptures::create(&run.captures)?,
            digests: Vec::new(),
            map: self.compiled.map,
            written: self.compiled.written,
            session,
            target,
        })
    }
}

/// A run whose devices are set up.
pub(super) struct ReadyRun<'r> {
    pub(super) run: &'r DeviceRun<'r>,
    pub(super) console: &'r dyn Console,
    pub(super) controllers: Controllers,
    pub(super) recorder: Recorder<'r>,
    /// The packets that arrive, until a run takes them.
    pub(super) packets: Option<Arrivals<'r>>,
    pub(super) captures: PortCaptures,
    /// The digests so far, if the result is JSON.
    pub(super) digests: Vec<DigestMessage>,
    /// The files of the program.
    pub(super) map: SourceMap,
    written: Option<Arc<dyn WrittenProgram>>,
    session: Session,
    target: Box<dyn Target>,
}

impl ReadyRun<'_> {
    /// Shows the progress of packets, unless something else is printed.
    pub(super) fn spinner(&self) -> Box<dyn Spinner> {
        let is_hidden = self.console.is_quiet() || self.run.trace.is_some();
        self.console.spinner(Work::Packets, is_hidden)
    }

    /// Returns what stopped a device.
    pub(super) fn error_text(&self, error: &ReplayError, device: &Device) -> String {
        replay_error_text(error, device, &self.map)
    }

    /// Completes the captures, prints error and summary, and applies the commands that follow the last packet. `also` is printed
    /// behind the summary of a complete run. The first device is the one that the report is about.
    pub(super) fn end(
        mut self,
        devices: &mut [&mut Device],
        ended: Ended,
        also: Option<&str>,
    ) -> Result<ExitStatus, Unready> {
        let ReadyRun { run, console, .. } = self;
        let tells = !console.is_quiet() && !run.json;
        self.controllers.reports().print(run.trace.is_some(), console);
        if tells {
            self.controllers.summaries().iter().for_each(|line| console.note(line));
        }
        let is_complete = finish(devices[0], ended, self.captures, run, console)?;
        if let Some(also) = also.filter(|_| is_complete && tells) {
            console.print(also);
        }
        self.recorder.take(devices[0]);
        self.recorder.finish(console)?;
        if self.written.is_some() {
            devices.iter_mut().for_each(|device| device.set_control_latency(None));
        }
        let (session, target) = (&mut self.session, self.target.as_mut());
        let asked = control_files::apply(run.after, None, session, target, console)?;
        Ok(match is_complete && asked.is_some() {
            true => ExitStatus::Fine,
            false => ExitStatus::WrongInput,
        })
    }
}
