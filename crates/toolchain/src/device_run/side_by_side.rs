// SPDX-License-Identifier: Apache-2.0
//! `plane run --verify`: captures through both engines at once, until they differ. `device::side_by_side` compares.

use super::ended::Ended;
use super::ready_run::{Beginning, ReadyRun, Unready};
use super::report::deliver_messages;
use crate::controllers::Controllers;
use crate::threads::Pipelines;
use device::side_by_side::{AgreedOutputs, SideBySide, Stop};
use frontend::ExitStatus;
use network::replay::{Clock, ReplayError};

/// Runs a program on both engines. `pipelines` is for the report.
pub(super) fn run(
    beginning: Beginning<'_>,
    pipelines: Option<Pipelines>,
) -> Result<ExitStatus, Unready> {
    let made = SideBySide::new(beginning.program(), beginning.options.clone());
    let mut both = made.map_err(|error| beginning.load_error(&error))?;
    let mut ready = beginning.set_up(&mut both.devices_mut())?;
    let spinner = ready.spinner();
    let packets = ready.packets.take().into_iter().flatten();
    let ReadyRun { run, console, controllers, captures, digests, .. } = &mut ready;
    let mut clock = Clock::until(run.until_ps);
    let mut write = |clock: &Clock, agreed: AgreedOutputs| -> Result<(), String> {
        deliver_messages(run, (agreed.digests, &agreed.log), digests, *console);
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
            advance(&mut both, time_ps, controllers, &mut |agreed| write(&clock, agreed))?
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
        ran = advance(&mut both, until_ps, controllers, &mut |agreed| write(&clock, agreed))?;
    }
    if ran.is_ok() {
        match both.finish(run.until_ps) {
            Ok(agreed) => write(&clock, agreed)?,
            Err(stop) => ran = Err(stop),
        }
    }
    drop(spinner);
    let error = match (ran, stopped) {
        (Err(stop), _) => Some(match *stop {
            Stop::Difference(difference) => difference.to_string(),
            Stop::Error(error) => ready.error_text(&ReplayError::Device(error), both.jit()),
        }),
        (Ok(()), Some(error)) => Some(ready.error_text(&error, both.jit())),
        (Ok(()), None) => None,
    };
    let progress = error.is_none().then(|| clock.progress());
    let digests = std::mem::take(&mut ready.digests);
    let ended = Ended { progress, error, digests, pipelines };
    let agreed = format!("both engines agree on {} packets\n", clock.progress().packets_in);
    ready.end(&mut both.devices_mut(), ended, Some(&agreed))
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
