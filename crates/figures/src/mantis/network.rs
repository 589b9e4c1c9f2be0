// SPDX-License-Identifier: Apache-2.0
//! Runs of network files in memory: [`run`] takes the text of a network and the programs and files that it names.

use super::switch::{Program, SharedRecord, Switch, install};
use control::latency::LatencyModel;
use control::session::Session;
use control::target::Target;
use device::{Device, DeviceOptions, EngineChoice};
use ir::ready::ReadyProgram;
use network_file::model::{Network, Switch as Described};
use network_file::{Format, Kind, Options};
use network_run::controllers::{ControlInputs, Conversation, NoLine, Programs};
use network_run::{CaptureSink, Resources};
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use source::{Diagnostics, RenderOptions, SourceMap, render_text};

/// A program of a switch.
pub(super) enum SwitchProgram {
    Reacting(Box<Program>),
    Plain(Box<ReadyProgram>),
}

impl SwitchProgram {
    pub fn reacting(
        name: &str,
        text: &str,
        defines: &[(&str, String)],
    ) -> Result<SwitchProgram, String> {
        Ok(SwitchProgram::Reacting(Box::new(Program::compile(name, text, defines)?)))
    }

    pub fn plain(
        name: &str,
        text: &str,
        defines: &[(&str, String)],
    ) -> Result<SwitchProgram, String> {
        Ok(SwitchProgram::Plain(Box::new(plain_program(name, text, defines)?)))
    }
}

/// Compiles a P4 program.
pub(super) fn plain_program(
    name: &str,
    text: &str,
    defines: &[(&str, String)],
) -> Result<ReadyProgram, String> {
    let defines = defines.iter().map(|(name, body)| (name.to_string(), Some(body.clone())));
    let options = PreprocessorOptions { include_dirs: Vec::new(), defines: defines.collect() };
    let mut compiled = p4::compile::compile(name, text.to_string(), &InterfacesOnly, &options);
    ReadyProgram::of(&mut compiled).ok_or_else(|| shown(&compiled.map, &compiled.diagnostics))
}

/// A network and what it names.
pub(super) struct Files<'f> {
    /// The network file (YAML).
    pub network: &'f str,
    /// Programs by the names of their files.
    pub programs: &'f [(&'f str, &'f SwitchProgram)],
    /// Entries and device files by their names.
    pub texts: &'f [(&'f str, &'f str)],
    /// Captures that hosts replay, by their names.
    pub captures: Vec<(String, TimedFrames)>,
}

/// Frames with their times in picoseconds.
pub(super) type TimedFrames = Vec<(u64, Vec<u8>)>;

/// A frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CapturedFrame {
    /// The number of the capture in the file.
    pub capture: usize,
    pub time_ps: u64,
    pub bytes: Vec<u8>,
}

/// What a run gave.
pub(super) struct Ran {
    /// For each switch what its agent did.
    pub records: Vec<SharedRecord>,
    pub frames: Vec<CapturedFrame>,
}

struct Frames(Vec<CapturedFrame>);

impl CaptureSink for Frames {
    fn capture(&mut self, number: usize, time_ps: u64, bytes: &[u8]) {
        self.0.push(CapturedFrame { capture: number, time_ps, bytes: bytes.to_vec() });
    }
}

/// Networks of figures have no controllers that are programs.
struct NoPrograms;

impl Programs for NoPrograms {
    fn start(&mut self, _: usize) -> Result<Box<dyn Conversation>, NoLine> {
        let what = "is a program, which this run does not start".to_string();
        Err(NoLine::Failed { what, help: String::new() })
    }
}

fn shown(map: &SourceMap, found: &Diagnostics) -> String {
    render_text(map, found, RenderOptions::default())
}

impl<'f> Files<'f> {
    fn text(&self, name: &str) -> Result<&'f str, String> {
        let found = self.texts.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| format!("the network names `{name}`"))
    }

    fn options(
        &self,
        network: &Network,
        number: usize,
        switch: &Described,
        seed: u64,
    ) -> Result<DeviceOptions, String> {
        let built = match &switch.device {
            None => DeviceOptions::default(),
            Some(device) => {
                let text = self.text(&device.value)?;
                let mut map = SourceMap::new();
                let file = map.add(device.value.clone(), text);
                device::configuration::read(file, text).map_err(|found| shown(&map, &found))?
            }
        };
        let mut found = Diagnostics::new();
        let traffic_manager =
            network_run::traffic_manager(network, number, &built.traffic_manager, &mut found);
        Ok(DeviceOptions {
            seed,
            device_id: number as u64,
            engine: EngineChoice::Jit,
            traffic_manager,
            ..built
        })
    }
}

/// Runs a network until a time.
///
/// # Errors
///
/// A mistake in a file, or why the run stopped.
pub(super) fn run(
    files: &Files<'_>,
    model: &LatencyModel,
    seed: u64,
    until_ps: u64,
) -> Result<Ran, String> {
    let mut map = SourceMap::new();
    let file = map.add("network.yaml", files.network);
    let (read, found) = network_file::read(&map, file, Format::Yaml, &Options::default());
    let Some(Kind::Network(network)) = read else { return Err(shown(&map, &found)) };
    let mut control = ControlInputs {
        commands: vec![Vec::new(); network.controllers.len()],
        sessions: Vec::new(),
        interfaces: vec![None; network.switches.len()],
        own: Vec::new(),
        programs: Box::new(NoPrograms),
        seed,
    };
    let (mut devices, mut records) = (Vec::new(), Vec::new());
    for (number, switch) in network.switches.iter().enumerate() {
        let options = files.options(&network, number, switch, seed)?;
        let mut entries = String::new();
        for name in &switch.entries {
            entries.push_str(files.text(&name.value)?);
        }
        let name = switch.program.as_ref().map_or("", |program| &program.value);
        let program = files.programs.iter().find(|(known, _)| *known == name);
        match program {
            Some((_, SwitchProgram::Reacting(program))) => {
                let made = Switch::new(program, options, Some(model.clone()), &entries)?;
                control.sessions.push(Session::new(made.target.program()));
                let (device, own, record) = made.into_parts();
                devices.push(device);
                control.own.push(Some(own));
                records.push(record);
            }
            Some((_, SwitchProgram::Plain(program))) => {
                let device = Device::new(program.program().clone(), options);
                let device = device.map_err(|error| error.to_string())?;
                control.sessions.push(install(&entries, &mut device.target())?);
                devices.push(device);
                control.own.push(None);
                records.push(SharedRecord::default());
            }
            None => return Err(format!("the network names `{name}`")),
        }
    }
    let captures = files.captures.iter().cloned().collect();
    let resources = Resources { captures, ..Resources::default() };
    let built = network_run::build(*network, devices, &resources, control);
    let mut built = built.map_err(|found| shown(&map, &found))?;
    let mut frames = Frames(Vec::new());
    built.run_until(until_ps, &mut frames).map_err(|error| format!("{error:?}"))?;
    built.finish().map_err(|error| format!("{error:?}"))?;
    Ok(Ran { records, frames: frames.0 })
}
