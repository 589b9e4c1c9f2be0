// SPDX-License-Identifier: Apache-2.0
//! `plane scale --in`: captures through the machine. Packets arrive at the times of their captures; the clock sets the length of
//! a cycle.

use super::machine_run::{MachineRun, PacketSource, StagedProgram};
use super::observed::{Observed, batch_texts};
use super::{ScaleRequest, Scaled};
use crate::device_run::{Arrivals, built_options, ports_exist, replay_error_text, set_up};
use crate::port_captures::{PortCaptures, written_text};
use crate::recorded_commands::{self, Replay};
use control::session::Session;
use device::{Device, DeviceOptions, EngineChoice};
use frontend::{Console, Deployment, ExitStatus, Failure, Frontend, ProgramFile};
use ir::Program;
use network::replay::{Clock, ReplayError};
use scale::codes;
use scale::report::MachineReport;
use scale::switch_run::{CycleClock, SwitchRun};
use source::{Diagnostic, Diagnostics, SourceMap, Span};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run of captures, as its user describes it.
#[derive(Clone, Copy, Debug)]
pub struct CaptureRun<'r> {
    /// The captures with their ports.
    pub inputs: &'r [(u32, PathBuf)],
    /// The folder for captures of the packets that leave.
    pub out: Option<&'r Path>,
    /// Files of control commands, applied before the first packet.
    pub entries: &'r [PathBuf],
    /// The maximum number of items in a batch of these commands.
    pub batch_size: Option<NonZeroUsize>,
    /// The device file.
    pub device: Option<&'r Path>,
    /// The CPU port; it replaces that of the device file.
    pub cpu_port: Option<u32>,
    /// Fill packets that their capture has cut with zeros.
    pub pads_snapped: bool,
    /// The end of the run, by the device's clock.
    pub until_ps: Option<u64>,
    /// Apply the commands of this file at their times.
    pub replay_commands: Option<&'r Path>,
    /// The engine.
    pub engine: EngineChoice,
}

/// Says whether a file of commands has one about a counter: then counters are arrays with an owner for each cell.
///
/// # Errors
///
/// The file cannot be read.
pub fn names_counters(path: &Path) -> Result<bool, Failure> {
    recorded_commands::names_counters(path).map_err(Failure::Message)
}

/// Runs captures, and writes what leaves.
///
/// # Errors
///
/// Errors of the program or of the request, and why no machine runs it.
pub fn run_captures(
    language: &dyn Frontend,
    file: &ProgramFile<'_>,
    request: &ScaleRequest<'_>,
    (run, machine): (&CaptureRun<'_>, &MachineRun<'_>),
    console: &dyn Console,
) -> Result<(MachineReport, ExitStatus), Failure> {
    let found = machine.check();
    if found.has_errors() {
        return Err(Failure::Found(SourceMap::new(), found));
    }
    let scaled = Scaled::new(language, file, request, console)?;
    if scaled.compiled.written.is_some() {
        return Err(reactions(&file.title()));
    }
    let program = StagedProgram::of(&scaled, request.pipelines)?;
    let setup = scaled.compiled.setup.first();
    let mut captures = None;
    if let Some(out) = run.out {
        let inputs = run.inputs.iter().map(|(_, path)| path.as_path());
        captures = Some(PortCaptures::in_folder(out, inputs)?);
    }
    let mut source = Source {
        run,
        setup,
        clock: CycleClock { origin_ps: 0, period_ps: machine.period_ps() },
        seed: machine.seed,
        captures,
        commands: None,
    };
    let ran = program.run(&mut source, machine, console)?;
    if let Some(error) = &ran.error {
        console.error(&replay_error_text(error, &ran.device, &scaled.compiled.map));
        if ran.ingress.arrivals.is_empty() {
            // Nothing ran that a report could tell of.
            return Err(Failure::Found(SourceMap::new(), Diagnostics::new()));
        }
    }
    let (report, status) = ran.report(machine);
    if let Some(captures) = source.captures {
        let written = captures.finish()?;
        if !console.is_quiet() {
            console.note(written_text(&written).trim_end());
        }
    }
    Ok((report, status))
}

/// Why a program with reactions does not run, and how its updates do.
fn reactions(title: &str) -> Failure {
    let mut found = Diagnostics::new();
    let message =
        format!("the reactions of `{title}` run beside one switch, not beside several pipelines");
    found.push(
        Diagnostic::error(codes::NOT_RUN, Span::NONE, message)
            .note("`plane scale` without packets reports on the program that the pipelines run")
            .help(format!(
                "run it on one switch with `plane run {title}.p4r --record-commands UPDATES`, and the program of `plane emit {title}.p4r \
                 -o DIR` on the machine with `plane scale DIR/{title}.p4 --replay-commands UPDATES`"
            )),
    );
    Failure::Found(SourceMap::new(), found)
}

struct Source<'s> {
    run: &'s CaptureRun<'s>,
    setup: Option<&'s Deployment>,
    clock: CycleClock,
    seed: u64,
    captures: Option<PortCaptures>,
    /// The commands that are still to come.
    commands: Option<Replay>,
}

impl PacketSource for Source<'_> {
    fn device(
        &self,
        program: &StagedProgram<'_>,
        console: &dyn Console,
    ) -> Result<Device, Failure> {
        let run = self.run;
        let built = built_options(run.device, self.setup)?;
        let device = program.device(DeviceOptions {
            seed: self.seed,
            cpu_port: run.cpu_port.or(built.cpu_port),
            engine: run.engine,
            ..built
        })?;
        if !ports_exist(run.inputs, run.cpu_port, device.largest_port(), console) {
            return Err(Failure::Usage("not run: the switch lacks these ports".to_string()));
        }
        let mut target = device.target();
        let mut session = Session::new(device.program());
        let commands = (run.entries, run.batch_size);
        match set_up(self.setup, commands, &mut session, &mut target, console)? {
            true => Ok(device),
            // What is wrong is printed.
            false => Err(Failure::Found(SourceMap::new(), Diagnostics::new())),
        }
    }

    fn clock(&self) -> (CycleClock, u32) {
        let largest = self.run.inputs.iter().map(|(port, _)| *port).max().unwrap_or(0);
        (self.clock, largest.saturating_add(1))
    }

    fn run(
        &mut self,
        switch: &mut SwitchRun,
        is_trial: bool,
        console: &dyn Console,
    ) -> Result<(), ReplayError> {
        self.commands = self.read_commands(&switch.device().program(), console)?;
        let arrivals = Arrivals::open(self.run.inputs, self.run.pads_snapped, console);
        let mut clock = Clock::until(self.run.until_ps);
        for packet in arrivals.map_err(ReplayError::Sink)? {
            let arriving = packet.map_err(ReplayError::Capture)?;
            let now_ps = switch.device().now_ps();
            let Some(time_ps) = clock.arrival_ps(&arriving, now_ps)? else { break };
            self.control(switch, time_ps)?;
            let ran = switch.arrive(arriving.port, time_ps, arriving.packet.data);
            self.write(switch, &clock, is_trial, console)?;
            ran.map_err(ReplayError::Device)?;
        }
        self.control(switch, self.run.until_ps.unwrap_or(u64::MAX))?;
        let ran = switch.complete(self.run.until_ps);
        self.write(switch, &clock, is_trial, console)?;
        ran.map_err(ReplayError::Device)
    }
}

impl Source<'_> {
    /// Reads the commands with times.
    fn read_commands(
        &self,
        program: &Arc<Program>,
        console: &dyn Console,
    ) -> Result<Option<Replay>, ReplayError> {
        let Some(path) = self.run.replay_commands else { return Ok(None) };
        match Replay::read(path, program, console).map_err(ReplayError::Agent)? {
            Some(commands) => Ok(Some(commands)),
            None => Err(ReplayError::Agent("correct the errors in the commands first".to_string())),
        }
    }

    /// Applies the commands until a time, each at its own.
    fn control(&mut self, switch: &mut SwitchRun, until_ps: u64) -> Result<(), ReplayError> {
        let Some(commands) = &mut self.commands else { return Ok(()) };
        while let Some(time_ps) = commands.next_ps().filter(|time_ps| *time_ps <= until_ps) {
            switch.advance(time_ps).map_err(ReplayError::Device)?;
            let mut target = Observed::new(switch.device().target());
            commands.apply(&mut target, time_ps).map_err(ReplayError::Agent)?;
            // What reads find is known when they have reached the owners of their cells.
            commands.take_log();
            for items in target.applied {
                switch.control(&items).map_err(ReplayError::Agent)?;
            }
        }
        Ok(())
    }

    /// Prints what the program has logged, and writes what has left.
    fn write(
        &mut self,
        switch: &mut SwitchRun,
        clock: &Clock,
        is_trial: bool,
        console: &dyn Console,
    ) -> Result<(), ReplayError> {
        for line in switch.device().drain_log() {
            console.note(&format!("log: {}", line.text));
        }
        let program = switch.device().program();
        for batch in switch.take_completed().into_iter().filter(|_| !is_trial) {
            batch_texts(&program, &batch).iter().for_each(|text| console.note(text));
        }
        let mut sent = switch.device().drain_transmitted().into_iter();
        let Some(captures) = self.captures.as_mut().filter(|_| !is_trial) else { return Ok(()) };
        sent.try_for_each(|sent| captures.write(clock.capture_time_ps(sent.time_ps), &sent))
            .map_err(ReplayError::Sink)
    }
}
