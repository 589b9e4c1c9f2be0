// SPDX-License-Identifier: Apache-2.0
//! `plane run --verify`: captures through both engines at once, until they differ. What is compared is
//! in `device::side_by_side`.

use super::report::{digest_line, load_problem_text, note_compilation, problem_text, summary};
use super::request::{DeviceRun, inputs_of, ports_exist, readers, set_up};
use crate::control_files;
use crate::controllers::Controllers;
use crate::port_captures::PortCaptures;
use control::session::Session;
use device::DeviceOptions;
use device::side_by_side::{AgreedOutputs, SideBySide, Stop};
use frontend::{Console, Controller, Deployment, ExitStatus, Failure, Work};
use network::capture::MergedCaptures;
use network::replay::{Clock, ReplayError};
use source::SourceMap;
use std::sync::Arc;

/// Runs a program on both engines.
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
    let mut both = SideBySide::new(program.clone(), options)
        .map_err(|error| load_problem_text(&error, map))?;
    if !ports_exist(run, both.jit().largest_port(), console) {
        return Ok(ExitStatus::WrongUsage);
    }
    let mut sessions = [Session::new(program.clone()), Session::new(program)];
    {
        let mut devices: Vec<_> = sessions.iter_mut().zip(both.devices_mut()).collect();
        if !set_up(setup, run, &mut devices, console)? {
            return Ok(ExitStatus::WrongInput);
        }
    }
    let mut controllers = Controllers::start(controllers, &mut both.devices_mut())?;
    let packets = MergedCaptures::new(readers(run.captures)?);
    let mut captures = PortCaptures::in_folder(run.out, inputs_of(run))?;
    let spinner = console.spinner(Work::Packets, quiet);
    let mut clock = Clock::until(run.until_ps);
    let mut write = |clock: &Clock, agreed: AgreedOutputs| -> Result<(), String> {
        for digest in agreed.digests.iter().filter(|_| run.digests) {
            console.print(&digest_line(digest));
        }
        for line in &agreed.log {
            console.note(&format!("log: {}", line.text));
        }
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
    let problem = match (ran, stopped) {
        (Err(stop), _) => Some(match *stop {
            Stop::Difference(difference) => difference.to_string(),
            Stop::Error(error) => problem_text(&ReplayError::Device(error), both.jit(), map),
        }),
        (Ok(()), Some(error)) => Some(problem_text(&error, both.jit(), map)),
        (Ok(()), None) => None,
    };
    if let Some(problem) = &problem {
        console.error(problem);
    }
    let written = captures.finish()?;
    if !quiet {
        note_compilation(both.jit(), console);
        let progress = problem.is_none().then(|| clock.progress());
        console.print(&summary(both.jit(), progress, run, &written));
        if problem.is_none() {
            let packets = clock.progress().packets_in;
            console.print(&format!("both engines agree on {packets} packets\n"));
        }
    }
    let asked = {
        let mut devices: Vec<_> = sessions.iter_mut().zip(both.devices_mut()).collect();
        control_files::apply_to_all(run.after, None, &mut devices, console)?
    };
    Ok(match problem.is_none() && asked.is_some() {
        true => ExitStatus::Fine,
        false => ExitStatus::WrongInput,
    })
}

/// Runs both devices through the rounds of controllers that come before a time, for as long as there are
/// packets. The outer error is what a controller says.
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
