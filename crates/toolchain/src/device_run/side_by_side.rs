// SPDX-License-Identifier: Apache-2.0
//! `plane run --verify`: captures through both engines at once, until they differ. `device::side_by_side` compares.

use super::DeviceRun;
use super::arrivals::Arrivals;
use super::ended::{Ended, Pipelines};
use super::preparation::{add_replay, ports_exist, set_up};
use super::report::{deliver_messages, finish, load_error_text, replay_error_text};
use crate::control_files;
use crate::controllers::{ControlPlane, Controllers};
use crate::port_captures::PortCaptures;
use crate::reactions;
use crate::recorded_commands::Recorder;
use control::session::Session;
use device::DeviceOptions;
use device::side_by_side::{AgreedOutputs, SideBySide, Stop};
use frontend::{Compiled, Console, ControllerOptions, ExitStatus, Failure, Work};
use network::replay::{Clock, ReplayError};

/// Runs a program on both engines. `pipelines` is for the report.
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
    let controlled = ControllerOptions { records: run.trace.is_some(), ..run.reactions.options };
    if written.is_some() {
        reactions::say_if_not_repeatable(&controlled, console);
    }
    let (options, latency) =
        reactions::without_latency(options, written.as_deref(), &controlled, run.driver_model)?;
    let mut both =
        SideBySide::new(program, options).map_err(|error| load_error_text(&error, &map))?;
    if !ports_exist(run.captures.inputs, run.cpu_port, both.jit().largest_port(), console) {
        return Ok(ExitStatus::WrongUsage);
    }
    let plane =
        ControlPlane::of(written.as_deref(), controllers, &both.devices_mut(), &controlled)?;
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
        for device in both.devices_mut() {
            device.set_control_latency(latency.clone());
        }
    }
    let packets = Arrivals::open(run.captures.inputs, run.pads_snapped, console)?;
    let mut captures = PortCaptures::create(&run.captures)?;
    let spinner = console.spinner(Work::Packets, quiet);
    let mut clock = Clock::until(run.until_ps);
    let mut digests = Vec::new();
    let mut write = |clock: &Clock, agreed: AgreedOutputs| -> Result<(), String> {
        deliver_messages(run, (agreed.digests, &agreed.log), &mut digests, console);
        let mut sent = agreed.transmitted.iter();
        sent.try_for_each(|sent| captures.write(clock.capture_time_ps(sent.time_ps), sent))
    };
    let mut ran = Ok(());
    let mut stopped = None;
    for packet in packets {
        let arriving = match packet.map_err(ReplayError::Capture) {
            Ok(arriving) => arriving,
            Err(error) => {
                stopped = Some(error);
                break;
            }
        };
        let time_ps = match clock.arrival_ps(&arriving, both.now_ps()) {
            Ok(Some(time_ps)) => time_ps,
            Ok(None) => break,
            Err(error) => {
                stopped = Some(error);
                break;
            }
        };
        spinner.set_position(clock.progress().packets_in);
        if let Err(stop) =
            advance(&mut both, time_ps, &mut controllers, &mut |agreed| write(&clock, agreed))?
        {
            ran = Err(stop);
            break;
        }
        match both.receive(arriving.port, time_ps, arriving.packet.data) {
            Ok(agreed) => write(&clock, agreed)?,
            Err(stop) => {
                ran = Err(stop);
                break;
            }
        }
    }
    if ran.is_ok() {
        let until_ps = run.until_ps.unwrap_or(u64::MAX);
        ran = advance(&mut both, until_ps, &mut controllers, &mut |agreed| write(&clock, agreed))?;
    }
    if ran.is_ok() {
        match both.finish(run.until_ps) {
            Ok(agreed) => write(&clock, agreed)?,
            Err(stop) => ran = Err(stop),
        }
    }
    drop(spinner);
    controllers.reports().print(false, console);
    if !quiet && !run.json {
        controllers.summaries().iter().for_each(|line| console.note(line));
    }
    let error = match (ran, stopped) {
        (Err(stop), _) => Some(match *stop {
            Stop::Difference(difference) => difference.to_string(),
            Stop::Error(error) => replay_error_text(&ReplayError::Device(error), both.jit(), &map),
        }),
        (Ok(()), Some(error)) => Some(replay_error_text(&error, both.jit(), &map)),
        (Ok(()), None) => None,
    };
    let progress = error.is_none().then(|| clock.progress());
    let ended = Ended { progress, error, digests, pipelines };
    let is_complete = finish(both.jit(), ended, captures, run, console)?;
    if is_complete && !quiet && !run.json {
        let packets = clock.progress().packets_in;
        console.print(&format!("both engines agree on {packets} packets\n"));
    }
    let [recorded, _] = both.devices_mut();
    recorder.take(recorded);
    recorder.finish(console)?;
    if written.is_some() {
        for device in both.devices_mut() {
            device.set_control_latency(None);
        }
    }
    let asked = control_files::apply(run.after, None, &mut session, target.as_mut(), console)?;
    Ok(match is_complete && asked.is_some() {
        true => ExitStatus::Fine,
        false => ExitStatus::WrongInput,
    })
}

/// Runs both devices through the rounds of controllers before a time, while there are packets. The outer error is a
/// controller's, the inner one a device's.
fn advance(
    both: &mut SideBySide,
    until_ps: u64,
    controllers: &mut Controllers,
    write: &mut dyn FnMut(AgreedOutputs) -> Result<(), String>,
) -> Result<Result<(), Box<Stop>>, String> {
    while let Some(at_ps) = controllers.next_ps().filter(|at_ps| *at_ps <= until_ps) {
        if until_ps == u64::MAX && both.jit().next_event_ps().is_none() {
            break;
        }
        match both.finish(Some(at_ps.max(both.now_ps()))) {
            Ok(agreed) => write(agreed)?,
            Err(stop) => return Ok(Err(stop)),
        }
        controllers.wake(&mut both.devices_mut())?;
    }
    Ok(Ok(()))
}
