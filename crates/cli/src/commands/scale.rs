// SPDX-License-Identifier: Apache-2.0
//! `plane scale`: one program on several pipelines. Prints which arrays are sharded and why not the others.

use crate::arguments::{RemapEngine, Scale, ScaleFormat, ShownCode};
use crate::programs::{deliver, ended, language, on_disk};
use frontend::{Console, ExitStatus, Failure, Frontend, ProgramFile};
use std::path::PathBuf;
use toolchain::files;
use toolchain::scaling::capture_run::{CaptureRun, names_counters, run_captures};
use toolchain::scaling::field_run::{FieldRun, run_fields};
use toolchain::scaling::machine_run::MachineRun;
use toolchain::scaling::shares::{Share, first_share, one_program_a_port, run_shares};
use toolchain::scaling::shown::{Shown, show};
use toolchain::scaling::{self, ScaleRequest};

/// The frequency of the pipelines without `--clock`, that of MP5 §4.1.
const DEFAULT_CLOCK_HZ: u64 = 1_000_000_000;

/// Runs it.
pub fn run(arguments: &Scale, console: &dyn Console) -> ExitStatus {
    ended(report(arguments, console), console)
}

fn report(arguments: &Scale, console: &dyn Console) -> Result<ExitStatus, Failure> {
    if let Some(path) = &arguments.output {
        files::not_overwritten(path, [arguments.program.as_path()].into_iter())?;
    }
    let language = language(&arguments.program)?;
    let options = arguments.reading.options();
    let file = on_disk(&arguments.program, &options);
    let others: Vec<u64> = arguments.captures.beside.iter().map(|one| one.pipelines).collect();
    let request = ScaleRequest {
        pipelines: match (arguments.on, others.is_empty()) {
            (None, true) => arguments.pipelines,
            (on, _) => first_share(arguments.pipelines, on, &others)?,
        },
        stages: arguments.stages,
        target: arguments.target.as_deref(),
        read_only_is_state: arguments.read_only_is_state,
        counters_are_state: match &arguments.captures.replay_commands {
            Some(path) => names_counters(path)?,
            None => false,
        },
    };
    if let Some(code) = arguments.show {
        let shown = match code {
            ShownCode::Before => Shown::Before,
            ShownCode::After => Shown::After,
        };
        let text = show(language, &file, &request, (shown, console))?;
        let output = arguments.output.as_deref();
        return deliver(&text, output, || "code".to_string(), console).map(|()| ExitStatus::Fine);
    }
    let has_packets = arguments.packets.is_some() || !arguments.inputs.is_empty();
    let made = match has_packets {
        true => run_packets(arguments, (language, &file, &request), console),
        false => scaling::report(language, &file, &request, console).map(|report| {
            let text = match arguments.format {
                ScaleFormat::Text => scale::report::text(&report),
                ScaleFormat::Json => scale::report::json(&report),
                ScaleFormat::Svg => scale::report::svg(&report),
            };
            (text, ExitStatus::Fine)
        }),
    };
    let (text, status) = made?;
    deliver(&text, arguments.output.as_deref(), || "report".to_string(), console)?;
    Ok(status)
}

/// Runs packets on the machine.
fn run_packets(
    arguments: &Scale,
    (language, file, request): (&dyn Frontend, &ProgramFile<'_>, &ScaleRequest<'_>),
    console: &dyn Console,
) -> Result<(String, ExitStatus), Failure> {
    if arguments.format == ScaleFormat::Svg {
        let message = "--format svg draws the report on arrays; with packets write text or json";
        return Err(Failure::Usage(message.to_string()));
    }
    let captures = &arguments.captures;
    let machine = MachineRun {
        design: match arguments.remap_engine {
            Some(RemapEngine::Scan) => "mp5-scan",
            None => &arguments.design,
        },
        depth: arguments.depth,
        remap_every: arguments.remap_every,
        clock_hz: captures.clock_hz.unwrap_or(DEFAULT_CLOCK_HZ),
        seed: arguments.seed,
        ecn: arguments.ecn.as_ref().map(|(field, entries)| (field.as_deref(), *entries)),
        keep_order: arguments.keep_order.as_deref(),
    };
    let engine = arguments.engine.choice();
    let (report, status) = match &arguments.packets {
        Some(packets) => {
            let run = FieldRun {
                packets,
                packets_out: arguments.packets_out.as_deref(),
                state_out: arguments.state_out.as_deref(),
                engine,
            };
            run_fields(language, file, request, (&run, &machine), console)?
        }
        None => {
            let run = CaptureRun {
                inputs: &arguments.inputs,
                out: captures.out.as_deref(),
                entries: &captures.entries,
                batch_size: captures.batch_size,
                device: captures.device.as_deref(),
                cpu_port: captures.cpu_port,
                pads_snapped: captures.pad_snapped,
                until_ps: captures.until_ps,
                replay_commands: captures.replay_commands.as_deref(),
                engine,
            };
            if !captures.beside.is_empty() {
                let program = (language, file, request);
                return run_beside(arguments, program, (&run, &machine), console);
            }
            run_captures(language, file, request, (&run, &machine), console)?
        }
    };
    let text = match arguments.format {
        ScaleFormat::Json => report.json(),
        ScaleFormat::Text | ScaleFormat::Svg => report.text(),
    };
    Ok((text, status))
}

/// Runs captures of several programs, each on pipelines of its own.
fn run_beside(
    arguments: &Scale,
    (language, file, request): (&dyn Frontend, &ProgramFile<'_>, &ScaleRequest<'_>),
    (run, machine): (&CaptureRun<'_>, &MachineRun<'_>),
    console: &dyn Console,
) -> Result<(String, ExitStatus), Failure> {
    let others = &arguments.captures.beside;
    let ports: Vec<&[u32]> = others.iter().map(|one| &one.ports[..]).collect();
    one_program_a_port(&ports)?;
    let inputs_of = |is_own: &dyn Fn(u32) -> bool| -> Vec<(u32, PathBuf)> {
        run.inputs.iter().filter(|(port, _)| is_own(*port)).cloned().collect()
    };
    let mut inputs = vec![inputs_of(&|port| !ports.iter().any(|own| own.contains(&port)))];
    inputs.extend(ports.iter().map(|own| inputs_of(&|port| own.contains(&port))));
    let paths = std::iter::once(&arguments.program).chain(others.iter().map(|one| &one.program));
    let folder = |(at, path): (usize, &PathBuf)| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        run.out.map(|out| out.join(format!("{at}-{stem}")))
    };
    let folders: Vec<Option<PathBuf>> = paths.enumerate().map(folder).collect();
    let options = arguments.reading.options();
    let mut shares = vec![Share {
        language,
        file: *file,
        request: request.clone(),
        run: CaptureRun { inputs: &inputs[0], out: folders[0].as_deref(), ..*run },
    }];
    for (at, other) in (1..).zip(others) {
        let run = CaptureRun {
            inputs: &inputs[at],
            out: folders[at].as_deref(),
            entries: other.entries.as_slice(),
            replay_commands: None,
            ..*run
        };
        let request = ScaleRequest { pipelines: other.pipelines, ..request.clone() };
        let language = self::language(&other.program)?;
        shares.push(Share { language, file: on_disk(&other.program, &options), request, run });
    }
    let (report, status) = run_shares(arguments.pipelines, &shares, machine, console)?;
    let text = match arguments.format {
        ScaleFormat::Json => report.json(),
        ScaleFormat::Text | ScaleFormat::Svg => report.text(),
    };
    Ok((text, status))
}
