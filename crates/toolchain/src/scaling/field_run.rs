// SPDX-License-Identifier: Apache-2.0
//! `plane scale --packets`: packets of a CSV file through the machine, K a cycle in the order of lines.

use super::machine_run::{MachineRun, PacketSource, StagedProgram};
use super::{ScaleRequest, Scaled};
use crate::{control_files, files};
use control::session::Session;
use device::{Device, DeviceOptions, EngineChoice};
use frontend::{Console, ExitStatus, Failure, FieldProgram, Frontend, ProgramFile};
use network::replay::ReplayError;
use scale::report::MachineReport;
use scale::switch_run::{CycleClock, SwitchRun};
use source::SourceMap;
use std::path::Path;

/// Time between packets, in picoseconds.
const PACKET_GAP_PS: u64 = 1_000_000;

/// A run of a table of packets, as its user describes it.
#[derive(Clone, Copy, Debug)]
pub struct FieldRun<'r> {
    /// The packets that enter.
    pub packets: &'r Path,
    /// The file for the packets that leave, in the order of those that enter.
    pub packets_out: Option<&'r Path>,
    /// The file for the state at the end.
    pub state_out: Option<&'r Path>,
    /// The engine.
    pub engine: EngineChoice,
}

/// Runs a program, and writes packets and state. The clock of the machine is that of the packets.
///
/// # Errors
///
/// Errors of the program, of its packets or of the request, and why no machine runs it.
pub fn run_fields(
    language: &dyn Frontend,
    file: &ProgramFile<'_>,
    request: &ScaleRequest<'_>,
    (run, machine): (&FieldRun<'_>, &MachineRun<'_>),
    console: &dyn Console,
) -> Result<(MachineReport, ExitStatus), Failure> {
    let found = machine.check();
    if found.has_errors() {
        return Err(Failure::Found(SourceMap::new(), found));
    }
    let Some(fields) = language.field_runs() else {
        let name = language.name();
        let message = format!(
            "--packets does not apply to {name} programs: their packets are frames; write --in PORT=FILE"
        );
        return Err(Failure::Usage(message));
    };
    for path in run.packets_out.into_iter().chain(run.state_out) {
        files::check_output(path)?;
    }
    let FieldProgram { compiled, commands, frames, writer } =
        fields.prepare(file, run.packets, console)?;
    let scaled = Scaled::of(compiled, language, file, request)?;
    let program = StagedProgram::of(&scaled, request.pipelines)?;
    let left = vec![None; frames.len()];
    let options =
        DeviceOptions { seed: machine.seed, engine: run.engine, ..DeviceOptions::default() };
    let mut source = Source { frames, commands, options, pipelines: request.pipelines, left };
    let ran = program.run(&mut source, machine, console)?;
    if let Some(error) = &ran.error {
        return Err(Failure::Message(error.to_string()));
    }
    if let Some(path) = run.packets_out {
        files::write_text(path, &writer.packets(&source.left))?;
    }
    if let Some(path) = run.state_out {
        let state = writer.state(scaled.compiled.ready.program(), &ran.ingress.cells);
        files::write_text(path, &state)?;
    }
    Ok(ran.report(machine))
}

struct Source {
    frames: Vec<Vec<u8>>,
    /// The commands that write the first values.
    commands: String,
    options: DeviceOptions,
    pipelines: u64,
    /// The packets that left, in the order of those that entered.
    left: Vec<Option<Vec<u8>>>,
}

impl PacketSource for Source {
    fn device(
        &self,
        program: &StagedProgram<'_>,
        console: &dyn Console,
    ) -> Result<Device, Failure> {
        let mut device = program.device(self.options.clone())?;
        let mut target = device.target();
        let mut session = Session::new(device.program());
        let (name, commands) = ("first values", &self.commands);
        let applied =
            control_files::apply_text(name, commands, None, &mut session, &mut target, console);
        if applied.is_none() {
            let message = "the first values of the compiled program are wrong: this is a mistake in Planewright, please \
                           report it with the program";
            return Err(Failure::Message(message.to_string()));
        }
        device.run_to_completion().map_err(|error| error.to_string())?;
        Ok(device)
    }

    fn clock(&self) -> (CycleClock, u32) {
        let period_ps = PACKET_GAP_PS * self.pipelines;
        (CycleClock { origin_ps: PACKET_GAP_PS, period_ps }, self.pipelines as u32)
    }

    fn run(&mut self, switch: &mut SwitchRun, _: bool, _: &dyn Console) -> Result<(), ReplayError> {
        for (number, frame) in (0..).zip(&self.frames) {
            let port = (number % self.pipelines) as u32;
            let time_ps = (number + 1) * PACKET_GAP_PS;
            switch.arrive(port, time_ps, frame.clone()).map_err(ReplayError::Device)?;
        }
        switch.complete(None).map_err(ReplayError::Device)?;
        for sent in switch.device().drain_transmitted() {
            self.left[sent.packet as usize] = Some(sent.bytes);
        }
        Ok(())
    }
}
