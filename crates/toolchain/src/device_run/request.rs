// SPDX-License-Identifier: Apache-2.0
//! What is asked of a run on captures, and what is made ready for it: captures, options, control commands.

use crate::{control_files, files};
use control::session::Session;
use device::{Device, DeviceOptions, EngineChoice};
use frontend::{Console, Deployment, Failure, coded, count};
use network::capture::CaptureReader;
use source::SourceMap;
use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What is asked of a run.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRun<'r> {
    /// The program's file.
    pub program: &'r Path,
    /// Captures by the port that their packets arrive at.
    pub captures: &'r [(u32, PathBuf)],
    /// The folder for captures of what is sent.
    pub out: &'r Path,
    /// Files of control commands for before the run.
    pub entries: &'r [PathBuf],
    /// The most items of a batch of these commands; `None` is one batch a file.
    pub batch_size: Option<NonZeroUsize>,
    /// Files of control commands for after the run.
    pub after: &'r [PathBuf],
    /// Print digests.
    pub digests: bool,
    /// What runs the program; `None` is machine code, or the interpreter where passes take time.
    pub engine: Option<EngineChoice>,
    /// Both engines run it side by side.
    pub verify: bool,
    /// Print what happened to each packet.
    pub trace: bool,
    /// The same as JSON.
    pub trace_json: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// When the run ends, by the device's clock.
    pub until_ps: Option<u64>,
    /// The device file.
    pub device: Option<&'r Path>,
    /// The port of the CPU, over that of the device file.
    pub cpu_port: Option<u32>,
}

/// `PORT=FILE` taken apart.
pub fn inputs(texts: &[String]) -> Result<Vec<(u32, PathBuf)>, String> {
    let mut inputs: Vec<(u32, PathBuf)> = Vec::new();
    for text in texts {
        let (port, file) = text
            .split_once('=')
            .ok_or_else(|| format!("--in {text}: write PORT=FILE, such as 1=capture.pcap"))?;
        let port: u32 =
            port.trim().parse().map_err(|_| format!("--in {text}: `{port}` is no port number"))?;
        if file.is_empty() {
            return Err(format!("--in {text}: the file is missing"));
        }
        inputs.push((port, PathBuf::from(file)));
    }
    Ok(inputs)
}

/// Carries out the control commands of the program's deployment and of the user's files; `false` when one was
/// wrong, which has been printed.
pub(super) fn set_up(
    setup: Option<&Deployment>,
    run: &DeviceRun<'_>,
    devices: &mut [(&mut Session, &mut Device)],
    console: &dyn Console,
) -> Result<bool, String> {
    if let Some(setup) = setup
        && control_files::apply_text("deployment", &setup.commands, None, devices, console)
            .is_none()
    {
        return Err("the program's own set-up is wrong; this is a mistake in Planewright".into());
    }
    match control_files::apply_to_all(run.entries, run.batch_size, devices, console)? {
        None => {
            console.error("nothing was run: mend the entries first");
            return Ok(false);
        }
        Some(done) if done > 0 && !console.is_quiet() => {
            console.note(&format!("{} applied", count(done, "control command")));
        }
        Some(_) => {}
    }
    Ok(true)
}

/// Where the captures are.
pub(super) fn inputs_of<'r>(run: &DeviceRun<'r>) -> impl Iterator<Item = &'r Path> + use<'r> {
    run.captures.iter().map(|(_, path)| path.as_path())
}

/// What is wrong with ports of the command line: the largest depends on the program's architecture. Printed;
/// `false` if there is something.
pub(super) fn ports_exist(run: &DeviceRun<'_>, largest: u32, console: &dyn Console) -> bool {
    let captures = run.captures.iter();
    let inputs = captures.map(|(port, file)| (*port, format!("--in {port}={}", file.display())));
    let cpu_port = run.cpu_port.map(|port| (port, format!("--cpu-port {port}")));
    let wrong: Vec<_> = inputs.chain(cpu_port).filter(|(port, _)| *port > largest).collect();
    for (port, given) in &wrong {
        console.error(&format!("{given}: there is no port {port}: the largest is {largest}"));
    }
    wrong.is_empty()
}

/// How the device is built: as the device file says, or else the program's deployment, and over that what the
/// command line says.
pub(super) fn device_options(
    run: &DeviceRun<'_>,
    setup: Option<&Deployment>,
) -> Result<DeviceOptions, Failure> {
    let built = match run.device {
        None => setup.map(|setup| setup.options.clone()).unwrap_or_default(),
        Some(path) => {
            let text = files::read_text(path)?;
            let mut map = SourceMap::new();
            let file = map.add(path.display().to_string(), text.as_str());
            device::configuration::read(file, &text)
                .map_err(|diagnostics| Failure::Found(map, diagnostics))?
        }
    };
    // Machine code runs a pass in one moment.
    let default_engine = match built.pass_timing {
        Some(_) if !run.verify => EngineChoice::Interpreter,
        _ => EngineChoice::Jit,
    };
    Ok(DeviceOptions {
        seed: run.seed,
        cpu_port: run.cpu_port.or(built.cpu_port),
        engine: run.engine.unwrap_or(default_engine),
        trace: run.trace || run.trace_json,
        ..built
    })
}

/// Captures by the port that their packets arrive at.
pub(super) type Readers = Vec<(u32, CaptureReader<BufReader<File>>)>;

/// The captures, opened.
pub(super) fn readers(inputs: &[(u32, PathBuf)]) -> Result<Readers, String> {
    let open = |(port, path): &(u32, PathBuf)| {
        let reader = CaptureReader::open(path)
            .map_err(|error| coded(error.code().0, &error.with_path(path).to_string()))?;
        Ok((*port, reader))
    };
    inputs.iter().map(open).collect()
}
