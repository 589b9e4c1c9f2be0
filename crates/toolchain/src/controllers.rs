// SPDX-License-Identifier: Apache-2.0
//! [`Controllers`]: runs the controllers of a program beside its device, or beside several devices with equal state.
//! Starts them before the first packet, wakes them at their times, and replaces them when programs are swapped.

use control::target::{Batch, Notification, OfController, Outcome, Target, Ticket, Visibility};
use device::{Device, DeviceTarget};
use frontend::{
    Activity, Console, Controller, ControllerOptions, Deployed, Reloads, WrittenProgram,
};
use ir::Program;
use ir::ready::ReadyProgram;
use network::replay::Agent;
use std::sync::{Arc, Mutex, PoisonError};

/// The controllers of one program.
pub struct Controllers {
    running: Vec<Running>,
    reports: Reports,
}

/// What controllers report while they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A line for the user.
    Log(String),
    /// What a controller did, for traces and time lines.
    Activity(Activity),
}

/// The reports of controllers, which a run prints between packets.
#[derive(Clone, Debug, Default)]
pub struct Reports(Arc<Mutex<Vec<Report>>>);

impl Reports {
    /// Takes the reports so far.
    pub fn take(&self) -> Vec<Report> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prints the reports so far: lines as remarks, what controllers did with the traces.
    pub fn print(&self, is_traced: bool, console: &dyn Console) {
        for report in self.take() {
            match report {
                Report::Log(line) => console.note(&format!("log: {line}")),
                Report::Activity(activity) if is_traced => console.print(&activity.text),
                Report::Activity(_) => {}
            }
        }
    }
}

struct Running {
    controller: Box<dyn Controller>,
    next_ps: Option<u64>,
    /// Its access to the switch; it keeps its requests and notifications from round to round.
    switch: Box<dyn Target>,
}

/// The control plane of a program on its devices: the target of commands, and controllers with their targets.
pub struct ControlPlane {
    /// The target of commands.
    pub target: Box<dyn Target>,
    /// Controllers, each with its target.
    pub controllers: Vec<(Box<dyn Controller>, Box<dyn Target>)>,
    /// Exchanges the code of controllers that the program as written brings.
    pub reloads: Option<Box<dyn Reloads>>,
}

impl ControlPlane {
    /// Makes the control plane of a compiled program on devices with equal state.
    ///
    /// # Errors
    ///
    /// Why the devices cannot be controlled.
    pub fn of(
        written: Option<&dyn WrittenProgram>,
        controllers: Vec<Box<dyn Controller>>,
        devices: &[&mut Device],
        options: &ControllerOptions,
    ) -> Result<ControlPlane, String> {
        let access = || -> Box<dyn Target> { Box::new(Switch::of(devices)) };
        let Some(written) = written else {
            let controllers = controllers.into_iter().map(|controller| (controller, access()));
            let controllers = controllers.collect();
            return Ok(ControlPlane { target: access(), controllers, reloads: None });
        };
        let Deployed { target, controllers, reloads } = written.deploy(access(), options)?;
        let target = Arc::new(Mutex::new(target));
        let joint = |number| -> Box<dyn Target> { Box::new(OfController::new(&target, number)) };
        let controllers = (1..).zip(controllers);
        let controllers = controllers.map(|(number, controller)| (controller, joint(number)));
        Ok(ControlPlane { controllers: controllers.collect(), target: joint(0), reloads })
    }
}

/// Several devices with equal state as one target: each gets every request, the first one answers. Their programs are one
/// program, or forms of it with the same tables and registers; batches are for the first one's form.
struct Switch(Vec<DeviceTarget>);

impl Switch {
    fn of(devices: &[&mut Device]) -> Switch {
        Switch(devices.iter().map(|device| device.target()).collect())
    }

    /// Sends a request to all devices and returns the ticket of the first; the tickets of all have equal numbers.
    fn all(&mut self, mut ask: impl FnMut(&mut DeviceTarget) -> Ticket) -> Ticket {
        let tickets: Vec<Ticket> = self.0.iter_mut().map(&mut ask).collect();
        tickets[0]
    }

    /// Sends a batch to all devices, to each for its form of the program.
    fn send(
        &mut self,
        batch: &Batch,
        mut ask: impl FnMut(&mut DeviceTarget, Batch) -> Ticket,
    ) -> Ticket {
        let first = self.0[0].program();
        let is_for_first = batch.program.as_ref().is_some_and(|it| Arc::ptr_eq(it, &first));
        self.all(|target| {
            let program = match is_for_first {
                true => Some(target.program()),
                false => batch.program.clone(),
            };
            ask(target, Batch { program, ..batch.clone() })
        })
    }
}

impl Target for Switch {
    fn program(&self) -> Arc<Program> {
        self.0[0].program()
    }

    fn now_ps(&self) -> u64 {
        self.0[0].now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.0[0].visibility()
    }

    fn next_event_ps(&self) -> Option<u64> {
        self.0.iter().filter_map(Target::next_event_ps).min()
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.send(&batch, |target, batch| target.submit(batch, at_ps))
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.send(&batch, |target, batch| target.reserve(batch, at_ps))
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        self.all(|target| target.commit(reservation, at_ps))
    }

    fn release(&mut self, reservation: Ticket) {
        self.0.iter_mut().for_each(|target| target.release(reservation));
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.all(|target| target.barrier(at_ps))
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        let answers: Vec<Option<Outcome>> =
            self.0.iter_mut().map(|target| target.poll(ticket)).collect();
        answers.into_iter().next().flatten()
    }

    fn notifications(&mut self) -> Vec<Notification> {
        let all: Vec<_> = self.0.iter_mut().map(Target::notifications).collect();
        all.into_iter().next().unwrap_or_default()
    }
}

impl Controllers {
    /// Runs the prologues, in order.
    ///
    /// # Errors
    ///
    /// What a controller says.
    pub fn start(
        controllers: Vec<Box<dyn Controller>>,
        devices: &mut [&mut Device],
    ) -> Result<Controllers, String> {
        let access = |controller| -> (Box<dyn Controller>, Box<dyn Target>) {
            (controller, Box::new(Switch::of(devices)))
        };
        Controllers::start_on(controllers.into_iter().map(access).collect())
    }

    /// Runs the prologues of controllers with targets of their own, in order.
    ///
    /// # Errors
    ///
    /// What a controller says.
    pub fn start_on(
        controllers: Vec<(Box<dyn Controller>, Box<dyn Target>)>,
    ) -> Result<Controllers, String> {
        let begin = |(controller, switch): (Box<dyn Controller>, Box<dyn Target>)| {
            Running::begin(controller, switch, |controller, switch| controller.prologue(switch))
        };
        let running = controllers.into_iter().map(begin).collect::<Result<_, String>>()?;
        let mut controllers = Controllers { running, reports: Reports::default() };
        controllers.collect_reports();
        Ok(controllers)
    }

    /// The reports of these controllers.
    pub fn reports(&self) -> Reports {
        self.reports.clone()
    }

    fn collect_reports(&mut self) {
        let mut reports = self.reports.0.lock().unwrap_or_else(PoisonError::into_inner);
        for each in &mut self.running {
            reports.extend(each.controller.drain_log().into_iter().map(Report::Log));
            let activities = each.controller.drain_activities();
            reports.extend(activities.into_iter().map(Report::Activity));
        }
    }

    /// Returns a line about the whole run for each controller that has one.
    pub fn summaries(&self) -> Vec<String> {
        self.running.iter().filter_map(|each| each.controller.summary()).collect()
    }

    /// Replaces the controllers by those of the program that the devices have swapped to.
    ///
    /// # Errors
    ///
    /// What a controller says; those before are gone.
    pub fn reload(
        &mut self,
        controllers: Vec<Box<dyn Controller>>,
        program: &ReadyProgram,
        devices: &mut [&mut Device],
    ) -> Result<(), String> {
        self.running.clear();
        for controller in controllers {
            let reload = |controller: &mut dyn Controller, switch: &mut dyn Target| {
                controller.reload(switch, program)
            };
            let switch = Box::new(Switch::of(devices));
            self.running.push(Running::begin(controller, switch, reload)?);
        }
        Ok(())
    }

    /// Returns the time of the next round of a controller, in picoseconds.
    pub fn next_ps(&self) -> Option<u64> {
        self.running.iter().filter_map(|each| each.next_ps).min()
    }

    /// Runs a round of each controller whose time has come.
    ///
    /// # Errors
    ///
    /// What a controller says.
    pub fn wake(&mut self, devices: &mut [&mut Device]) -> Result<(), String> {
        let now_ps = devices.first().map_or(0, |device| device.now_ps());
        for each in &mut self.running {
            if each.next_ps.is_some_and(|next_ps| next_ps <= now_ps) {
                let next = each.controller.round(each.switch.as_mut());
                each.next_ps = each.checked(next, now_ps)?;
            }
        }
        self.collect_reports();
        Ok(())
    }
}

impl Running {
    fn begin(
        mut controller: Box<dyn Controller>,
        mut switch: Box<dyn Target>,
        begin: impl FnOnce(&mut dyn Controller, &mut dyn Target) -> Result<Option<u64>, String>,
    ) -> Result<Running, String> {
        let next = begin(controller.as_mut(), switch.as_mut());
        let next_ps = next.map_err(|why| format!("controller `{}`: {why}", controller.name()))?;
        Ok(Running { controller, next_ps, switch })
    }

    /// Errors with the controller's name. A loop that does not advance would never end.
    fn checked(
        &self,
        next: Result<Option<u64>, String>,
        now_ps: u64,
    ) -> Result<Option<u64>, String> {
        let name = self.controller.name();
        match next.map_err(|why| format!("controller `{name}`: {why}"))? {
            Some(next_ps) if next_ps <= now_ps => Err(format!(
                "controller `{name}`: its next round is at {} ns, which is not later than now",
                source::quantity::nanoseconds(next_ps)
            )),
            next => Ok(next),
        }
    }
}

impl Agent for Controllers {
    fn next_ps(&self) -> Option<u64> {
        self.next_ps()
    }

    fn act(&mut self, device: &mut Device) -> Result<(), String> {
        self.wake(&mut [device])
    }

    fn summaries(&self) -> Vec<String> {
        self.summaries()
    }
}
