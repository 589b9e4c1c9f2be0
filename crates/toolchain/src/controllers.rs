// SPDX-License-Identifier: Apache-2.0
//! Controllers at work beside the device that runs their program, or beside several that run it alike: started
//! before the first packet, woken at the times they ask for, replaced when programs are swapped. What
//! controllers do is theirs ([`frontend::Controller`]).

use device::Device;
use frontend::{ControlAccess, Controller};
use ir::Program;
use ir::ready::ReadyProgram;
use network::replay::Agent;
use state::{Batch, BatchOutcome};
use std::sync::Arc;

/// The controllers of one program.
pub struct Controllers {
    running: Vec<Running>,
}

struct Running {
    controller: Box<dyn Controller>,
    next_ps: Option<u64>,
}

/// Devices with one program and equal state as one switch.
struct Switch<'s, 'd> {
    devices: &'s mut [&'d mut Device],
}

impl ControlAccess for Switch<'_, '_> {
    fn program(&self) -> &Arc<Program> {
        self.devices[0].program()
    }

    fn now_ps(&self) -> u64 {
        self.devices[0].now_ps()
    }

    fn submit(&mut self, mut batch: Batch) -> BatchOutcome {
        batch.now_ps = self.now_ps();
        let (first, others) = self.devices.split_first_mut().expect("a switch is a device or more");
        let outcome = first.write_batch(batch.clone());
        for other in others {
            other.write_batch(batch.clone());
        }
        outcome
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
        let begin = |controller: Box<dyn Controller>| {
            Running::begin(controller, devices, |controller, switch| controller.prologue(switch))
        };
        let running = controllers.into_iter().map(begin).collect::<Result<_, String>>()?;
        Ok(Controllers { running })
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
            let reload = |controller: &mut dyn Controller, switch: &mut dyn ControlAccess| {
                controller.reload(switch, program)
            };
            self.running.push(Running::begin(controller, devices, reload)?);
        }
        Ok(())
    }

    /// When the next of them is to be woken, in picoseconds.
    pub fn next_ps(&self) -> Option<u64> {
        self.running.iter().filter_map(|each| each.next_ps).min()
    }

    /// Runs a round of each controller whose time has come.
    ///
    /// # Errors
    ///
    /// What a controller says.
    pub fn wake(&mut self, devices: &mut [&mut Device]) -> Result<(), String> {
        let mut switch = Switch { devices };
        let now_ps = switch.now_ps();
        for each in &mut self.running {
            if each.next_ps.is_some_and(|next_ps| next_ps <= now_ps) {
                let next = each.controller.round(&mut switch);
                each.next_ps = each.checked(next, now_ps)?;
            }
        }
        Ok(())
    }
}

impl Running {
    fn begin(
        mut controller: Box<dyn Controller>,
        devices: &mut [&mut Device],
        begin: impl FnOnce(&mut dyn Controller, &mut dyn ControlAccess) -> Result<Option<u64>, String>,
    ) -> Result<Running, String> {
        let next = begin(controller.as_mut(), &mut Switch { devices });
        let next_ps = next.map_err(|why| format!("controller `{}`: {why}", controller.name()))?;
        Ok(Running { controller, next_ps })
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
}
