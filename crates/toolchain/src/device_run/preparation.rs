// SPDX-License-Identifier: Apache-2.0
//! What precedes the first packet: device options, control commands, those of later times, ports that must exist.

use super::{DeviceRun, Engines};
use crate::recorded_commands::Replay;
use crate::{control_files, files};
use control::session::Session;
use control::target::Target;
use device::{DeviceOptions, EngineChoice};
use frontend::{Compiled, Console, Deployment, Failure, count};
use ir::Program;
use source::SourceMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Applies the control commands of the program's deployment and of the user's files. Returns `false` after printing
/// what is wrong with one.
pub(crate) fn set_up(
    setup: Option<&Deployment>,
    (entries, batch_size): (&[PathBuf], Option<NonZeroUsize>),
    session: &mut Session,
    target: &mut dyn Target,
    console: &dyn Console,
) -> Result<bool, String> {
    if let Some(setup) = setup
        && control_files::apply_text("deployment", &setup.commands, None, session, target, console)
            .is_none()
    {
        return Err("the set-up of the compiled program is wrong: this is a mistake in Planewright, please report it \
                    with the program"
            .into());
    }
    match control_files::apply(entries, batch_size, session, target, console)? {
        None => {
            console.error("not run: correct the errors in the entries first");
            return Ok(false);
        }
        Some(done) if done > 0 && !console.is_quiet() => {
            console.note(&format!("{} applied", count(done, "control command")));
        }
        Some(_) => {}
    }
    Ok(true)
}

/// Returns whether the device has all ports of the command line, after printing those that it does not have. The
/// largest port depends on the program's architecture.
pub(crate) fn ports_exist(
    inputs: &[(u32, PathBuf)],
    cpu_port: Option<u32>,
    largest: u32,
    console: &dyn Console,
) -> bool {
    let inputs = inputs.iter();
    let inputs = inputs.map(|(port, file)| (*port, format!("--in {port}={}", file.display())));
    let cpu_port = cpu_port.map(|port| (port, format!("--cpu-port {port}")));
    let wrong: Vec<_> = inputs.chain(cpu_port).filter(|(port, _)| *port > largest).collect();
    for (port, given) in &wrong {
        console.error(&format!("{given}: there is no port {port}; the largest port is {largest}"));
    }
    wrong.is_empty()
}

/// Returns how the device is built: by the device file, else by the program's deployment.
pub(crate) fn built_options(
    device: Option<&Path>,
    setup: Option<&Deployment>,
) -> Result<DeviceOptions, Failure> {
    let Some(path) = device else {
        return Ok(setup.map(|setup| setup.options.clone()).unwrap_or_default());
    };
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let file = map.add(path.display().to_string(), text.as_str());
    device::configuration::read(file, &text).map_err(|diagnostics| Failure::Found(map, diagnostics))
}

/// Returns the options of the device: those that it is built with; seed, CPU port, engine and traces by the description of the
/// run.
pub(super) fn device_options(
    run: &DeviceRun<'_>,
    setup: Option<&Deployment>,
) -> Result<DeviceOptions, Failure> {
    let built = built_options(run.device, setup)?;
    let engine = match run.engines {
        Engines::One(engine) => engine,
        // Machine code runs a pass in one moment.
        Engines::Default if built.pass_timing.is_some() => EngineChoice::Interpreter,
        Engines::Default | Engines::SideBySide => EngineChoice::Jit,
    };
    Ok(DeviceOptions {
        seed: run.seed,
        cpu_port: run.cpu_port.or(built.cpu_port),
        engine,
        trace: run.trace.is_some(),
        records_updates: run.record_commands.is_some(),
        ..built
    })
}

/// Reads the commands that are applied at times to the program as it runs, and adds their controller. Returns `false` after printing what is wrong with
/// them.
///
/// # Errors
///
/// The file cannot be read, or the program brings reactions.
pub(super) fn add_replay(
    run: &DeviceRun<'_>,
    compiled: &mut Compiled,
    program: &Arc<Program>,
    console: &dyn Console,
) -> Result<bool, Failure> {
    let Some(path) = run.replay_commands else { return Ok(true) };
    if compiled.written.is_some() {
        let message = "--replay-commands: commands are recorded of the program as run, so replay them on the program that \
                       `plane emit` writes";
        return Err(Failure::Usage(message.to_string()));
    }
    let Some(replay) = Replay::read(path, program, console)? else {
        console.error("not run: correct the errors in the commands first");
        return Ok(false);
    };
    compiled.controllers.push(Box::new(replay));
    Ok(true)
}
