// SPDX-License-Identifier: Apache-2.0
//! `plane run`: a program on captures through one device, or by a specification where its language has
//! networks. Which options go with which is decided here; the runs are `toolchain`'s and the languages'.

use crate::arguments::{Engine, Run};
use crate::programs::{ended, language, on_disk};
use frontend::{Console, ExitStatus, Failure, Frontend, NetworkRun, NetworkRuns};
use std::path::{Path, PathBuf};
use toolchain::device_run::{self, DeviceRun};
use toolchain::selection;

/// Runs it.
pub fn run(arguments: &Run, console: &dyn Console) -> ExitStatus {
    let ran = language(&arguments.program).and_then(|language| match language.networks() {
        Some(networks) => in_network(arguments, language, networks, console),
        None => on_device(arguments, language, console),
    });
    ended(ran, console)
}

/// Runs a program on captures.
fn on_device(
    arguments: &Run,
    language: &dyn Frontend,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let program = arguments.program.as_path();
    if let Some(flag) = first_given(&of_networks(arguments)) {
        return Err(Failure::Usage(selection::only_for_networks(flag, program)));
    }
    let out = places(arguments).map_err(Failure::Usage)?;
    let captures = captures(arguments)?;
    let options = arguments.reading.options();
    let compiled = language.compile(&on_disk(program, &options), None)?;
    console.warnings(&compiled.map, &compiled.warnings);
    let run = DeviceRun {
        program,
        captures: &captures,
        out,
        entries: &arguments.entries,
        batch_size: arguments.batch_size,
        after: &arguments.after,
        digests: arguments.digests,
        engine: arguments.engine.and_then(Engine::choice),
        verify: arguments.verify,
        trace: arguments.trace,
        trace_json: arguments.trace_json,
        seed: arguments.seed.unwrap_or(0),
        until_ps: arguments.until_ps,
        device: arguments.device.as_deref(),
        cpu_port: arguments.cpu_port,
    };
    device_run::run(compiled, &run, console)
}

/// Runs a program by a specification.
fn in_network(
    arguments: &Run,
    language: &dyn Frontend,
    networks: &dyn NetworkRuns,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let program = arguments.program.as_path();
    if let Some(flag) = first_given(&of_devices(arguments)) {
        return Err(Failure::Usage(selection::only_for_devices(flag, program, language)));
    }
    let captures = captures(arguments)?;
    let network = &arguments.network;
    network.spec.as_deref().map_or(Ok(()), selection::check_specification)?;
    let run = NetworkRun {
        specification: network.spec.as_deref(),
        captures: &captures,
        out: arguments.out.as_deref(),
        engine: arguments.engine.and_then(Engine::choice),
        is_reference: arguments.engine == Some(Engine::Reference),
        verify: arguments.verify,
        target: network.target.as_deref(),
        user_p4: network.user_p4.files(),
        symbolics: network.symbolics.as_deref(),
        seed: arguments.seed,
        until_ps: arguments.until_ps,
        trace: arguments.trace,
        json: network.json,
        state_out: network.state_out.as_deref(),
        timeline: network.timeline.as_deref(),
        record: network.record.as_deref(),
        replay: network.replay.as_deref(),
    };
    let options = arguments.reading.options();
    networks.run(&on_disk(program, &options), &run, console)
}

/// An option, and whether it is given.
type Given = (&'static str, bool);

fn first_given(options: &[Given]) -> Option<&'static str> {
    options.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
}

/// The options that only runs in networks have.
fn of_networks(arguments: &Run) -> [Given; 11] {
    let network = &arguments.network;
    [
        ("--engine reference", arguments.engine == Some(Engine::Reference)),
        ("--spec", network.spec.is_some()),
        ("--target", network.target.is_some()),
        ("--p4-before", network.user_p4.p4_before.is_some()),
        ("--p4-after", network.user_p4.p4_after.is_some()),
        ("--symbolics", network.symbolics.is_some()),
        ("--json", network.json),
        ("--state-out", network.state_out.is_some()),
        ("--timeline", network.timeline.is_some()),
        ("--record", network.record.is_some()),
        ("--replay", network.replay.is_some()),
    ]
}

/// The options that only runs on one device have.
fn of_devices(arguments: &Run) -> [Given; 9] {
    let has_p4 = arguments.network.user_p4.files().files().next().is_some();
    [
        ("--entries", !arguments.entries.is_empty()),
        ("--batch-size", arguments.batch_size.is_some()),
        ("--after", !arguments.after.is_empty()),
        ("--digests", arguments.digests),
        ("--trace-json", arguments.trace_json),
        ("--cpu-port", arguments.cpu_port.is_some()),
        ("--device", arguments.device.is_some()),
        ("-I", !has_p4 && !arguments.reading.include_dirs.is_empty()),
        ("-D", !has_p4 && !arguments.reading.defines.is_empty()),
    ]
}

/// The folder for what is sent, of a command line that names captures too.
fn places(arguments: &Run) -> Result<&Path, String> {
    match (arguments.inputs.is_empty(), &arguments.out) {
        (true, None) => {
            Err("no packets to run: name captures with --in PORT=FILE, and a folder for \
                             what is sent with --out DIR"
                .to_string())
        }
        (true, Some(_)) => Err("no packets to run: name captures with --in PORT=FILE".to_string()),
        (false, None) => {
            let traces = match arguments.trace || arguments.trace_json {
                true => "; traces are printed besides",
                false => "",
            };
            Err(format!("nowhere to write what is sent: name a folder with --out DIR{traces}"))
        }
        (false, Some(out)) => Ok(out),
    }
}

fn captures(arguments: &Run) -> Result<Vec<(u32, PathBuf)>, Failure> {
    device_run::inputs(&arguments.inputs).map_err(Failure::Usage)
}
