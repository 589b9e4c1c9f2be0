// SPDX-License-Identifier: Apache-2.0
//! A run on captures whose ingress runs on several pipelines, a thread each ([`scale::ahead`]), with the outputs of one
//! thread. With `--verify` an ordinary device runs the same packets beside it.

use super::Engines;
use super::beside::{Beside, outputs};
use super::ended::Ended;
use super::ready_run::{Beginning, ReadyRun, Unready};
use super::report::deliver_messages;
use crate::threads::Pipelines;
use device::side_by_side::AgreedOutputs;
use device::{Device, DeviceError};
use frontend::{ExitStatus, Spinner, count};
use network::replay::{Clock, ReplayError};
use scale::ahead::AheadDevice;
use scale::staged::StagedControl;
use std::sync::Arc;

/// Why a run stopped.
pub(super) enum Stop {
    /// As runs on one thread stop.
    Replay(ReplayError),
    /// It differs from the run on one thread.
    Different(String),
}

impl From<DeviceError> for Stop {
    fn from(error: DeviceError) -> Stop {
        Stop::Replay(ReplayError::Device(error))
    }
}

/// A run.
struct Running<'r> {
    ahead: AheadDevice,
    /// The run on one thread that it is compared with.
    beside: Option<Beside>,
    clock: Clock,
    /// The time of the last arrival, in picoseconds.
    last_ps: u64,
    ready: ReadyRun<'r>,
}

/// Runs a program whose ingress is cut into stages.
pub(super) fn run(
    beginning: Beginning<'_>,
    control: Arc<StagedControl>,
) -> Result<ExitStatus, Unready> {
    let load = |program: &Arc<ir::Program>| {
        let made = Device::new(program.clone(), beginning.options.clone());
        made.map_err(|error| beginning.load_error(&error))
    };
    let mut device = load(&control.program)?;
    let mut beside = match beginning.run.engines {
        Engines::SideBySide => Some(Beside::new(load(&beginning.program())?)),
        Engines::Default | Engines::One(_) => None,
    };
    let mut devices = vec![&mut device];
    devices.extend(beside.as_mut().map(|beside| &mut beside.device));
    let ready = beginning.set_up(&mut devices)?;
    let workers = ready.run.pipelines.unwrap_or(1) as usize;
    let ahead = AheadDevice::start(device, control, workers)?;
    let clock = Clock::until(ready.run.until_ps);
    let mut running = Running { ahead, beside, clock, last_ps: 0, ready };
    let spinner = running.ready.spinner();
    let ran = running.run(spinner.as_ref());
    drop(spinner);
    let Running { ahead, beside, clock, mut ready, .. } = running;
    let (mut device, workers) = ahead.end();
    let ran = match (ran, &beside) {
        (Ok(()), Some(beside)) => beside.compare_ends(&device).map_err(Stop::Different),
        (ran, _) => ran,
    };
    let error = ran.err().map(|stop| match stop {
        Stop::Replay(error) => ready.error_text(&error, &device),
        Stop::Different(difference) => difference,
    });
    let progress = error.is_none().then(|| clock.progress());
    let digests = std::mem::take(&mut ready.digests);
    let ended = Ended { progress, error, digests, pipelines: Some(Pipelines::Many(workers)) };
    let packets = count(clock.progress().packets_in as usize, "packet");
    let agreed = format!("pipelines and one thread agree on {packets}\n");
    ready.end(&mut [&mut device], ended, beside.is_some().then_some(&*agreed))
}

impl Running<'_> {
    /// Runs all packets, or those until the end of the run.
    fn run(&mut self, spinner: &dyn Spinner) -> Result<(), Stop> {
        let mut stopped = None;
        for packet in self.ready.packets.take().into_iter().flatten() {
            let arrival = packet.map_err(ReplayError::Capture).and_then(|arriving| {
                let time_ps = self.clock.arrival_ps(&arriving, self.last_ps)?;
                Ok((arriving, time_ps))
            });
            let (arriving, time_ps) = match arrival {
                Ok((arriving, Some(time_ps))) => (arriving, time_ps),
                Ok((_, None)) => break,
                Err(error) => {
                    stopped = Some(Stop::Replay(error));
                    break;
                }
            };
            self.last_ps = time_ps;
            spinner.set_position(self.clock.progress().packets_in);
            if self.ready.controllers.next_ps().is_some_and(|at_ps| at_ps <= time_ps) {
                // A packet reads the tables of its arrival, and commands read the registers of theirs.
                self.finish_all()?;
                self.advance(time_ps)?;
                self.ahead.resume();
            }
            if self.ahead.is_full() {
                for _ in 0..self.ahead.burst() {
                    self.finish_next()?;
                }
                self.write_outputs()?;
            }
            let (port, bytes) = (arriving.port, arriving.packet.data);
            if let Some(beside) = &mut self.beside {
                beside.will_arrive(port, time_ps, &bytes);
            }
            self.ahead.begin(port, time_ps, bytes)?;
        }
        self.finish_all()?;
        match self.ready.run.until_ps {
            Some(until_ps) => self.advance(until_ps)?,
            None => self.complete()?,
        }
        stopped.map_or(Ok(()), Err)
    }

    /// Lets the oldest packet under way arrive. False if there is none.
    fn finish_next(&mut self) -> Result<bool, Stop> {
        let found = self.ahead.finish_next();
        if let Some(beside) = &mut self.beside {
            beside.arrive_next()?;
        }
        Ok(found?)
    }

    /// Lets all packets under way arrive, and gives the device the cells of the workers.
    fn finish_all(&mut self) -> Result<(), Stop> {
        while self.finish_next()? {}
        self.ahead.halt();
        self.write_outputs()
    }

    fn devices(&mut self) -> Vec<&mut Device> {
        let mut devices = vec![&mut self.ahead.device];
        devices.extend(self.beside.as_mut().map(|beside| &mut beside.device));
        devices
    }

    /// Advances to a time, with the actions of controllers at theirs.
    fn advance(&mut self, until_ps: u64) -> Result<(), Stop> {
        while let Some(next_ps) =
            self.ready.controllers.next_ps().filter(|next_ps| *next_ps <= until_ps)
        {
            for device in self.devices() {
                device.advance(next_ps.max(device.now_ps()))?;
            }
            let mut devices = vec![&mut self.ahead.device];
            devices.extend(self.beside.as_mut().map(|beside| &mut beside.device));
            let woken = self.ready.controllers.wake(&mut devices);
            woken.map_err(|error| Stop::Replay(ReplayError::Agent(error)))?;
        }
        for device in self.devices() {
            device.advance(until_ps)?;
        }
        self.write_outputs()
    }

    /// Runs to completion; controllers act as long as the device has events.
    fn complete(&mut self) -> Result<(), Stop> {
        while self.ahead.device.next_event_ps().is_some()
            && let Some(at_ps) = self.ready.controllers.next_ps()
        {
            self.advance(at_ps.max(self.ahead.device.now_ps()))?;
        }
        for device in self.devices() {
            device.run_to_completion()?;
        }
        self.write_outputs()
    }

    /// Writes what the device has sent, after a comparison.
    fn write_outputs(&mut self) -> Result<(), Stop> {
        self.ready.recorder.take(&mut self.ahead.device);
        let sent = outputs(&mut self.ahead.device);
        if let Some(beside) = &mut self.beside {
            beside.compare(&sent).map_err(Stop::Different)?;
        }
        let AgreedOutputs { transmitted, digests, log } = sent;
        let ReadyRun { run, console, controllers, captures, digests: kept, .. } = &mut self.ready;
        controllers.reports().print(false, *console);
        deliver_messages(run, (digests, &log), kept, *console);
        let written = transmitted
            .iter()
            .try_for_each(|sent| captures.write(self.clock.capture_time_ps(sent.time_ps), sent));
        written.map_err(|error| Stop::Replay(ReplayError::Sink(error)))
    }
}
