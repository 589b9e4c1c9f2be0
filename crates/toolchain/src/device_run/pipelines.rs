// SPDX-License-Identifier: Apache-2.0
//! A run on captures whose ingress runs on several pipelines, a thread each ([`scale::ahead`]), with the outputs of one
//! thread. With `--verify` an ordinary device runs the same packets beside it.

use super::arrivals::Arrivals;
use super::beside::{Beside, outputs};
use super::ended::{Ended, Pipelines};
use super::preparation::{add_replay, ports_exist, set_up};
use super::report::{deliver_messages, finish, load_error_text, replay_error_text};
use super::{DeviceRun, Engines};
use crate::control_files;
use crate::controllers::{ControlPlane, Controllers};
use crate::port_captures::PortCaptures;
use crate::recorded_commands::Recorder;
use crate::scaling::check_pipelines;
use control::session::Session;
use device::side_by_side::AgreedOutputs;
use device::{Device, DeviceError, DeviceOptions, DigestMessage};
use frontend::{Compiled, Console, ControllerOptions, ExitStatus, Failure, Spinner, Work, count};
use network::replay::{Clock, ReplayError};
use scale::ahead::{self, AheadDevice, Obstacle};
use scale::staged::StagedControl;
use source::SourceMap;
use std::sync::Arc;

/// What runs the packets.
pub(super) enum Plan {
    /// The user wants no pipelines.
    NotWanted,
    /// One thread, for this reason.
    One(String),
    /// Several pipelines run this ingress.
    Many(Arc<StagedControl>),
}

/// Decides what runs the packets.
///
/// # Errors
///
/// There are never so many pipelines.
pub(super) fn plan(
    compiled: &Compiled,
    options: &DeviceOptions,
    run: &DeviceRun<'_>,
) -> Result<Plan, Failure> {
    let Some(pipelines) = run.pipelines else { return Ok(Plan::NotWanted) };
    let found = check_pipelines(pipelines);
    if found.has_errors() {
        return Err(Failure::Found(SourceMap::new(), found));
    }
    let obstacle = match (&compiled.written, compiled.controllers.is_empty()) {
        (Some(_), _) => Some(Obstacle::new("reactions read and write between packets")),
        (None, false) => Some(Obstacle::new("controllers act between packets")),
        (None, true) => ahead::of_device(options),
    };
    let planned = obstacle.map_or_else(|| ahead::staged(compiled.ready.program()), Err);
    Ok(match planned {
        Ok(control) => Plan::Many(Arc::new(control)),
        Err(Obstacle { reason, span }) => match compiled.map.location(span) {
            Some(place) => Plan::One(format!("{reason} ({place})")),
            None => Plan::One(reason),
        },
    })
}

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
    controllers: Controllers,
    clock: Clock,
    /// The time of the last arrival, in picoseconds.
    last_ps: u64,
    recorder: Recorder<'r>,
    captures: PortCaptures,
    digests: Vec<DigestMessage>,
    run: &'r DeviceRun<'r>,
    console: &'r dyn Console,
}

/// Runs a program whose ingress is cut into stages.
pub(super) fn run(
    mut compiled: Compiled,
    (options, control): (DeviceOptions, Arc<StagedControl>),
    run: &DeviceRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    if !add_replay(run, &mut compiled, &control.program, console)? {
        return Ok(ExitStatus::WrongInput);
    }
    let Compiled { ready, map, setup, controllers, .. } = compiled;
    let recorder = Recorder::new(run.record_commands, ready.program().clone())?;
    let load_error = |error| load_error_text(&error, &map);
    let mut device = Device::new(control.program.clone(), options.clone()).map_err(load_error)?;
    if !ports_exist(run.captures.inputs, run.cpu_port, device.largest_port(), console) {
        return Ok(ExitStatus::WrongUsage);
    }
    let mut beside = match run.engines {
        Engines::SideBySide => {
            Some(Beside::new(Device::new(ready.program().clone(), options).map_err(load_error)?))
        }
        Engines::Default | Engines::One(_) => None,
    };
    let mut devices = vec![&mut device];
    devices.extend(beside.as_mut().map(|beside| &mut beside.device));
    let plane = ControlPlane::of(None, controllers, &devices, &ControllerOptions::default())?;
    let ControlPlane { mut target, controllers, .. } = plane;
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
    let controllers = Controllers::start_on(controllers)?;
    let packets = Arrivals::open(run.captures.inputs, run.pads_snapped, console)?;
    let captures = PortCaptures::create(&run.captures)?;
    let workers = run.pipelines.unwrap_or(1) as usize;
    let mut running = Running {
        ahead: AheadDevice::start(device, control, workers)?,
        beside,
        controllers,
        clock: Clock::until(run.until_ps),
        last_ps: 0,
        recorder,
        captures,
        digests: Vec::new(),
        run,
        console,
    };
    let spinner = console.spinner(Work::Packets, console.is_quiet());
    let ran = running.run(packets, spinner.as_ref());
    drop(spinner);
    let Running { ahead, beside, clock, mut recorder, captures, digests, controllers, .. } =
        running;
    let (mut device, workers) = ahead.end();
    controllers.reports().print(false, console);
    let ran = match (ran, &beside) {
        (Ok(()), Some(beside)) => beside.compare_ends(&device).map_err(Stop::Different),
        (ran, _) => ran,
    };
    let error = ran.err().map(|stop| match stop {
        Stop::Replay(error) => replay_error_text(&error, &device, &map),
        Stop::Different(difference) => difference,
    });
    let progress = error.is_none().then(|| clock.progress());
    let ended = Ended { progress, error, digests, pipelines: Some(Pipelines::Many(workers)) };
    let is_complete = finish(&device, ended, captures, run, console)?;
    if is_complete && beside.is_some() && !console.is_quiet() && !run.json {
        let packets = count(clock.progress().packets_in as usize, "packet");
        console.print(&format!("pipelines and one thread agree on {packets}\n"));
    }
    recorder.take(&mut device);
    recorder.finish(console)?;
    let asked = control_files::apply(run.after, None, &mut session, target.as_mut(), console)?;
    Ok(match is_complete && asked.is_some() {
        true => ExitStatus::Fine,
        false => ExitStatus::WrongInput,
    })
}

impl Running<'_> {
    /// Runs all packets, or those until the end of the run.
    fn run(&mut self, packets: Arrivals<'_>, spinner: &dyn Spinner) -> Result<(), Stop> {
        let mut stopped = None;
        for packet in packets {
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
            if self.controllers.next_ps().is_some_and(|at_ps| at_ps <= time_ps) {
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
        match self.run.until_ps {
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
        while let Some(next_ps) = self.controllers.next_ps().filter(|next_ps| *next_ps <= until_ps)
        {
            for device in self.devices() {
                device.advance(next_ps.max(device.now_ps()))?;
            }
            let mut devices = vec![&mut self.ahead.device];
            devices.extend(self.beside.as_mut().map(|beside| &mut beside.device));
            let woken = self.controllers.wake(&mut devices);
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
            && let Some(at_ps) = self.controllers.next_ps()
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
        self.recorder.take(&mut self.ahead.device);
        let sent = outputs(&mut self.ahead.device);
        if let Some(beside) = &mut self.beside {
            beside.compare(&sent).map_err(Stop::Different)?;
        }
        let AgreedOutputs { transmitted, digests, log } = sent;
        self.controllers.reports().print(false, self.console);
        deliver_messages(self.run, (digests, &log), &mut self.digests, self.console);
        let written = transmitted.iter().try_for_each(|sent| {
            self.captures.write(self.clock.capture_time_ps(sent.time_ps), sent)
        });
        written.map_err(|error| Stop::Replay(ReplayError::Sink(error)))
    }
}
