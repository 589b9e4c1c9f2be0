// SPDX-License-Identifier: Apache-2.0
//! A run on captures by one engine, with traces if the user wants them.

use super::arrivals::Arrivals;
use super::ended::{Ended, Pipelines};
use super::preparation::{add_replay, ports_exist, set_up};
use super::report::{deliver_messages, finish, load_error_text, place, replay_error_text};
use super::{DeviceRun, TraceFormat};
use crate::control_files;
use crate::controllers::{ControlPlane, Controllers};
use crate::port_captures::PortCaptures;
use crate::reactions;
use crate::recorded_commands::Recorder;
use control::session::Session;
use device::{Device, DeviceOptions};
use frontend::{Compiled, Console, ControllerOptions, ExitStatus, Failure, Work};
use network::replay::replay;

/// Runs a program on the engine of the options. `pipelines` is for the report.
pub(super) fn run(
    mut compiled: Compiled,
    options: DeviceOptions,
    run: &DeviceRun<'_>,
    pipelines: Option<Pipelines>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let program = compiled.ready.program().clone();
    if !add_replay(run, &mut compiled, &program, console)? {
        return Ok(ExitStatus::WrongInput);
    }
    let Compiled { map, setup, controllers, written, .. } = compiled;
    let mut recorder = Recorder::new(run.record_commands, program.clone())?;
    let quiet = console.is_quiet();
    let engine = options.engine;
    let controlled = ControllerOptions { records: run.trace.is_some(), ..run.reactions.options };
    if written.is_some() {
        reactions::say_if_not_repeatable(&controlled, console);
    }
    let (options, latency) =
        reactions::without_latency(options, written.as_deref(), &controlled, run.driver_model)?;
    let mut device =
        Device::new(program.clone(), options).map_err(|error| load_error_text(&error, &map))?;
    if !ports_exist(run.captures.inputs, run.cpu_port, device.largest_port(), console) {
        return Ok(ExitStatus::WrongUsage);
    }
    let plane = ControlPlane::of(written.as_deref(), controllers, &[&mut device], &controlled)?;
    let ControlPlane { mut target, controllers, reloads } = plane;
    reactions::schedule(&run.reactions, run.program, reloads.as_deref(), console)?;
    let mut session = Session::new(target.program());
    if !set_up(
        setup.first(),
        (run.entries, run.batch_size),
        &mut session,
        target.as_mut(),
        console,
    )? {
        return Ok(ExitStatus::WrongInput);
    }
    let mut controllers = Controllers::start_on(controllers)?;
    if latency.is_some() {
        device.set_control_latency(latency);
    }
    if !quiet && device.engine_choice() != engine {
        console.note("traces come from the interpreter, so it runs everything");
    }
    let packets = Arrivals::open(run.captures.inputs, run.pads_snapped, console)?;
    let mut captures = PortCaptures::create(&run.captures)?;
    let running = device.program();
    let places = |origin| place(&running, &map, origin);
    let spinner = console.spinner(Work::Packets, quiet || run.trace.is_some());
    let mut digests = Vec::new();
    let is_traced = run.trace.is_some();
    let reports = controllers.reports();
    let ran =
        replay(&mut device, packets, run.until_ps, &mut controllers, |device, progress, sent| {
            spinner.set_position(progress.packets_in);
            recorder.take(device);
            if let Some(format) = run.trace {
                for trace in device.drain_traces() {
                    console.print(&match format {
                        TraceFormat::Text => device::trace::text_with_places(&trace, &places),
                        TraceFormat::Json => {
                            device::trace::json_with_places(&trace, &places) + "\n"
                        }
                    });
                }
            }
            reports.print(is_traced, console);
            let messages = (device.drain_digests(), &device.drain_log()[..]);
            deliver_messages(run, messages, &mut digests, console);
            sent.iter().try_for_each(|(time_ps, sent)| captures.write(*time_ps, sent))
        });
    drop(spinner);
    reports.print(is_traced, console);
    if !quiet && !run.json {
        controllers.summaries().iter().for_each(|line| console.note(line));
    }
    let ended = match ran {
        Ok(progress) => Ended { progress: Some(progress), error: None, digests, pipelines },
        Err(error) => {
            let error = Some(replay_error_text(&error, &device, &map));
            Ended { progress: None, error, digests, pipelines }
        }
    };
    let is_complete = finish(&device, ended, captures, run, console)?;
    recorder.take(&mut device);
    recorder.finish(console)?;
    if written.is_some() {
        device.set_control_latency(None);
    }
    let asked = control_files::apply(run.after, None, &mut session, target.as_mut(), console)?;
    Ok(match is_complete && asked.is_some() {
        true => ExitStatus::Fine,
        false => ExitStatus::WrongInput,
    })
}
