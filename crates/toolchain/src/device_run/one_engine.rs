// SPDX-License-Identifier: Apache-2.0
//! A run on captures by one engine, with traces if they are wanted.

use super::report::{
    digest_line, load_problem_text, note_compilation, place, problem_text, summary,
};
use super::request::{DeviceRun, inputs_of, ports_exist, readers, set_up};
use crate::control_files;
use crate::controllers::Controllers;
use crate::port_captures::PortCaptures;
use control::session::Session;
use device::{Device, DeviceOptions};
use frontend::{Console, Controller, Deployment, ExitStatus, Failure, Work};
use network::capture::MergedCaptures;
use network::replay::replay;
use source::SourceMap;
use std::sync::Arc;

/// Runs a program on the engine that was chosen.
pub(super) fn run(
    program: Arc<ir::Program>,
    options: DeviceOptions,
    setup: Option<&Deployment>,
    controllers: Vec<Box<dyn Controller>>,
    run: &DeviceRun<'_>,
    map: &SourceMap,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let quiet = console.is_quiet();
    let engine = options.engine;
    let mut device =
        Device::new(program.clone(), options).map_err(|error| load_problem_text(&error, map))?;
    if !ports_exist(run, device.largest_port(), console) {
        return Ok(ExitStatus::WrongUsage);
    }
    let mut session = Session::new(program);
    if !set_up(setup, run, &mut [(&mut session, &mut device)], console)? {
        return Ok(ExitStatus::WrongInput);
    }
    let mut controllers = Controllers::start(controllers, &mut [&mut device])?;
    if !quiet && device.engine_choice() != engine {
        console.note("traces come from the interpreter, so it runs everything");
    }
    let readers = readers(run.captures)?;
    let mut captures = PortCaptures::in_folder(run.out, inputs_of(run))?;
    let running = device.program();
    let places = |origin| place(&running, map, origin);
    let spinner = console.spinner(Work::Packets, quiet || run.trace || run.trace_json);
    let packets = MergedCaptures::new(readers);
    let ran =
        replay(&mut device, packets, run.until_ps, &mut controllers, |device, progress, sent| {
            spinner.set_position(progress.packets_in);
            if run.trace || run.trace_json {
                for trace in device.drain_traces() {
                    console.print(&if run.trace {
                        device::trace::text_with_places(&trace, &places)
                    } else {
                        device::trace::json_with_places(&trace, &places) + "\n"
                    });
                }
            }
            for digest in device.drain_digests() {
                if run.digests {
                    console.print(&digest_line(&digest));
                }
            }
            for line in device.drain_log() {
                console.note(&format!("log: {}", line.text));
            }
            sent.iter().try_for_each(|(time_ps, sent)| captures.write(*time_ps, sent))
        });
    drop(spinner);
    let (progress, problem) = match ran {
        Ok(progress) => (Some(progress), None),
        Err(error) => (None, Some(problem_text(&error, &device, map))),
    };
    // First of all why it stopped: what follows may fail too.
    if let Some(problem) = &problem {
        console.error(problem);
    }
    let written = captures.finish()?;
    if !quiet {
        note_compilation(&device, console);
        let summary = summary(&device, progress, run, &written);
        // Readers of traces as JSON get nothing else on standard output.
        if run.trace_json {
            console.note(summary.trim_end());
        } else {
            console.print(&summary);
        }
    }
    let asked = control_files::apply(run.after, &mut session, &mut device, console)?;
    Ok(match problem.is_none() && asked.is_some() {
        true => ExitStatus::Fine,
        false => ExitStatus::WrongInput,
    })
}
