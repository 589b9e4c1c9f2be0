// SPDX-License-Identifier: Apache-2.0
//! [`RunDescription`]: the arguments of `plane run`, read once. All errors of usage are found here; the two kinds of run
//! (`toolchain::device_run`, [`frontend::NetworkRuns`]) take their description as it is.

use crate::arguments::{Engine, Run};
use crate::programs::language;
use device::EngineChoice;
use frontend::{
    CompiledRun, Execution, Failure, FieldExecution, FieldRun, FieldRuns, Frontend, NetworkRun,
    NetworkRuns, RunCaptures,
};
use p4::preprocessor::PreprocessorOptions;
use std::path::{Path, PathBuf};
use toolchain::device_run::{DeviceRun, Engines, TraceFormat};
use toolchain::reactions::ReactionRun;
use toolchain::selection;

/// A run, by its kind.
pub enum RunDescription<'a> {
    /// Captures run through one device.
    OnDevice(&'static dyn Frontend, DeviceRun<'a>),
    /// A table of packets runs through one program.
    OnFields(&'static dyn FieldRuns, FieldRun<'a>),
    /// A specification describes a network.
    InNetwork(&'static dyn NetworkRuns, NetworkRun<'a>),
}

impl<'a> RunDescription<'a> {
    /// Reads the arguments. The language of the program decides the kind of run.
    ///
    /// # Errors
    ///
    /// The program is of no language, or the options do not go together.
    pub fn read(
        arguments: &'a Run,
        preprocessing: &'a PreprocessorOptions,
    ) -> Result<RunDescription<'a>, Failure> {
        let language = language(&arguments.program)?;
        match (language.field_runs(), &arguments.fields.packets) {
            (Some(runs), Some(packets)) => {
                let run = on_fields(arguments, packets).map_err(Failure::Usage)?;
                return Ok(RunDescription::OnFields(runs, run));
            }
            (None, _) if let Some(option) = arguments.given.of_fields.first() => {
                let program = &arguments.program;
                let message = selection::only_for_field_runs(option, program, language);
                return Err(Failure::Usage(message));
            }
            _ => {}
        }
        match language.networks() {
            None => {
                let run = on_device(arguments, language, preprocessing).map_err(Failure::Usage)?;
                Ok(RunDescription::OnDevice(language, run))
            }
            Some(networks) => {
                let run = in_network(arguments, language).map_err(Failure::Usage)?;
                run.specification.map_or(Ok(()), selection::check_specification)?;
                Ok(RunDescription::InNetwork(networks, run))
            }
        }
    }
}

fn on_device<'a>(
    arguments: &'a Run,
    language: &dyn Frontend,
    preprocessing: &'a PreprocessorOptions,
) -> Result<DeviceRun<'a>, String> {
    let program = arguments.program.as_path();
    let is_reference = arguments.engine == Some(Engine::Reference);
    let reference = is_reference.then(|| "--engine reference".to_string());
    if let Some(option) = arguments.given.of_networks.first().or(reference.as_ref()) {
        return Err(selection::only_for_networks(option, program, language));
    }
    let device = &arguments.device;
    let captures = match (arguments.inputs.is_empty(), arguments.out.as_deref()) {
        (false, Some(out)) => RunCaptures { inputs: &arguments.inputs, out },
        (false, None) => {
            return Err("no folder for the packets that leave: add --out DIR".to_string());
        }
        (true, Some(_)) => return Err("no packets to run: add --in PORT=FILE".to_string()),
        (true, None) => {
            return Err(
                "no packets to run: add --in PORT=FILE, and --out DIR for the packets that leave"
                    .to_string(),
            );
        }
    };
    let from_standard_input = |(_, path): &&(u32, PathBuf)| path.as_path() == Path::new("-");
    if arguments.inputs.iter().filter(from_standard_input).count() > 1 {
        return Err("two --in read standard input (`-`), which can be read only once".to_string());
    }
    if arguments.json {
        let texts = [
            ("--trace", arguments.trace),
            ("--trace-json", device.trace_json),
            ("--after", !device.after.is_empty()),
            ("--digests", device.digests),
        ];
        if let Some((option, _)) = texts.iter().find(|(_, is_given)| *is_given) {
            return Err(format!(
                "{option} cannot be combined with --json, whose output is one JSON object; it has counters, \
                 registers and digests"
            ));
        }
    }
    let trace = match (arguments.trace, device.trace_json) {
        (true, _) => Some(TraceFormat::Text),
        (false, true) => Some(TraceFormat::Json),
        (false, false) => None,
    };
    let engines = match arguments.engine.and_then(Engine::choice) {
        _ if arguments.verify => Engines::SideBySide,
        Some(engine) => Engines::One(engine),
        None => Engines::Default,
    };
    Ok(DeviceRun {
        program,
        captures,
        entries: &device.entries,
        batch_size: device.batch_size,
        after: &device.after,
        record_commands: device.record_commands.as_deref(),
        replay_commands: device.replay_commands.as_deref(),
        pads_snapped: device.pad_snapped,
        digests: device.digests,
        json: arguments.json,
        engines,
        pipelines: device.pipelines,
        trace,
        seed: arguments.seed.unwrap_or(0),
        until_ps: arguments.until_ps,
        device: device.device.as_deref(),
        driver_model: arguments.reactions.driver_model.as_deref(),
        cpu_port: device.cpu_port,
        reactions: ReactionRun {
            options: arguments.reactions.options(None),
            reloads: &arguments.reload,
            preprocessing,
        },
    })
}

fn on_fields<'a>(arguments: &'a Run, packets: &'a Path) -> Result<FieldRun<'a>, String> {
    let given = &arguments.given;
    let others = given.of_networks.iter().chain(&given.of_devices).map(String::as_str);
    let mut others: Vec<&str> =
        others.filter(|option| !["--state-out", "--pipelines"].contains(option)).collect();
    let of_captures = [
        ("--in", !arguments.inputs.is_empty()),
        ("--out", arguments.out.is_some()),
        ("--trace", arguments.trace),
        ("--json", arguments.json),
        ("--until", arguments.until_ps.is_some()),
    ];
    others.extend(of_captures.iter().filter(|(_, is_given)| *is_given).map(|(option, _)| *option));
    if let Some(option) = others.first() {
        return Err(format!("{option} cannot be combined with --packets"));
    }
    let execution = match (arguments.verify, arguments.engine) {
        (true, _) => FieldExecution::Verified,
        (false, Some(Engine::Reference)) => FieldExecution::Reference,
        (false, engine) => {
            FieldExecution::Device(engine.and_then(Engine::choice).unwrap_or(EngineChoice::Jit))
        }
    };
    let packets_out = arguments.fields.packets_out.as_deref();
    let state_out = arguments.network.state_out.as_deref();
    if packets_out.is_some() && packets_out == state_out {
        return Err("two options name the same file".to_string());
    }
    let seed = arguments.seed.unwrap_or(0);
    let pipelines = arguments.device.pipelines;
    if pipelines.is_some() && execution == FieldExecution::Reference {
        let message = "the reference interpreter has no pipelines: leave --pipelines or --engine reference out";
        return Err(message.to_string());
    }
    Ok(FieldRun { packets, packets_out, state_out, execution, pipelines, seed })
}

fn in_network<'a>(arguments: &'a Run, language: &dyn Frontend) -> Result<NetworkRun<'a>, String> {
    let network = &arguments.network;
    let user_p4 = arguments.user_p4.files();
    let has_user_p4 = user_p4.files().next().is_some();
    let reading = &arguments.reading;
    let of_p4 = [("-I", !reading.include_dirs.is_empty()), ("-D", !reading.defines.is_empty())];
    let of_p4 = of_p4.iter().find(|(_, is_given)| *is_given && !has_user_p4);
    let of_p4 = of_p4.map(|(option, _)| option.to_string());
    if let Some(option) = arguments.given.of_devices.first().or(of_p4.as_ref()) {
        return Err(selection::only_for_devices(option, &arguments.program, language));
    }
    if arguments.inputs.iter().any(|(_, path)| path.as_path() == Path::new("-")) {
        return Err("only P4 programs read packets from standard input (`-`): a run of a Lucid program reads each \
                    capture twice; write the packets to a file first"
            .to_string());
    }
    let captures = match (arguments.inputs.is_empty(), arguments.out.as_deref()) {
        (false, Some(out)) => Some(RunCaptures { inputs: &arguments.inputs, out }),
        (true, None) => None,
        (false, None) => {
            return Err("--in needs --out DIR, a folder for the packets that leave".to_string());
        }
        (true, Some(_)) => {
            return Err("--out needs --in PORT=FILE, the packets that enter".to_string());
        }
    };
    let execution = match (&network.replay, arguments.engine) {
        (Some(path), _) => Execution::Replay(path),
        (None, Some(Engine::Reference)) => {
            let compiled = [
                ("--target", network.target.is_some()),
                ("--p4-before or --p4-after", has_user_p4),
            ];
            if let Some((option, _)) = compiled.iter().find(|(_, is_given)| *is_given) {
                return Err(format!(
                    "{option} cannot be combined with --engine reference, which does not compile the program"
                ));
            }
            Execution::Reference
        }
        (None, engine) => Execution::Compiled(CompiledRun {
            target: network.target.as_deref(),
            engine: engine.and_then(Engine::choice).unwrap_or(EngineChoice::Jit),
            is_verified: arguments.verify,
            user_p4,
        }),
    };
    let written = [&network.state_out, &network.timeline, &network.record];
    let mut named: Vec<&Path> = written.into_iter().flatten().map(|path| path.as_path()).collect();
    named.extend(network.replay.as_deref());
    named.extend(user_p4.files());
    named.sort();
    if let Some(pair) = named.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two options name the file `{}`", pair[0].display()));
    }
    Ok(NetworkRun {
        specification: network.spec.as_deref(),
        captures,
        events: network.events.as_deref(),
        execution,
        symbolics: network.symbolics.as_deref(),
        seed: arguments.seed,
        until_ps: arguments.until_ps,
        trace: arguments.trace,
        json: arguments.json,
        only: &network.only,
        all_bytes: network.all_bytes,
        state_out: network.state_out.as_deref(),
        timeline: network.timeline.as_deref(),
        record: network.record.as_deref(),
    })
}
