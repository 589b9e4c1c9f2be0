// SPDX-License-Identifier: Apache-2.0
//! [`Switch`]: what a controller has of a switch: the session of its commands, its interface, and its notifications. A
//! switch that fails loses its state; when it returns, it has the entries with which the run began.

use super::interface::OwnControl;
use super::mistakes::Refusal;
use super::packet_header::PacketHeader;
use control::checkpoint::Checkpoint;
use control::command::Located;
use control::error::ControlError;
use control::p4info::P4Info;
use control::session::{Answer, Session};
use control::target::{Notification, Target};
use device::{Device, DeviceTarget};
use std::sync::Arc;

/// A switch as its controller sees it.
pub(super) struct Switch {
    pub name: String,
    pub controller: Option<usize>,
    pub cpu_port: Option<u32>,
    pub session: Session,
    pub info: Option<Arc<P4Info>>,
    pub packet_in: Option<PacketHeader>,
    pub packet_out: Option<PacketHeader>,
    pub is_up: bool,
    /// Receives notifications, if the controller is a program.
    listener: Option<DeviceTarget>,
    /// State and session at the beginning of the run, if the switch fails during the run.
    beginning: Option<(Checkpoint, Session)>,
    /// The devices of earlier lives, which keep their counters.
    pub retired: Vec<Device>,
    /// The control plane that its program brings.
    own: Option<OwnControl>,
}

impl Switch {
    pub fn new(
        name: String,
        controller: Option<usize>,
        (session, own): (Session, Option<OwnControl>),
        info: Option<Arc<P4Info>>,
    ) -> Switch {
        let header = |name| info.as_ref().and_then(|info| PacketHeader::named(info, name));
        Switch {
            name,
            controller,
            session,
            packet_in: header("packet_in"),
            packet_out: header("packet_out"),
            cpu_port: None,
            info,
            is_up: true,
            listener: None,
            beginning: None,
            retired: Vec::new(),
            own,
        }
    }

    /// Subscribes to the notifications of the device.
    pub fn listen(&mut self, device: &Device) {
        let mut target = device.target();
        target.notifications();
        self.listener = Some(target);
    }

    /// Takes the notifications since the last call.
    pub fn notifications(&mut self) -> Vec<Notification> {
        self.listener.as_mut().map_or_else(Vec::new, Target::notifications)
    }

    /// Keeps the state that the switch has now for its return after a failure.
    pub fn keep_beginning(&mut self, device: &Device) -> Result<(), String> {
        let checkpoint =
            Checkpoint::read(&mut device.target()).map_err(|error| error.to_string())?;
        self.beginning = Some((checkpoint, self.session.clone()));
        Ok(())
    }

    /// Runs the device until now, so that a change takes effect at this time.
    pub fn bring_to(device: &mut Device, now_ps: u64) -> Result<(), String> {
        device.advance(now_ps.max(device.now_ps())).map_err(|error| error.to_string())
    }

    /// Applies a command now.
    pub fn apply(&mut self, command: &Located, device: &mut Device) -> Result<Answer, Refusal> {
        let applied = match &mut self.own {
            Some(own) => self.session.apply(command, own.target.as_mut()),
            None => self.session.apply(command, &mut device.target()),
        };
        applied.map_err(|error| Refusal {
            code: Some(error.code),
            why: error.message,
            help: Some(error.help).filter(|help| !help.is_empty()),
        })
    }

    /// Applies commands now.
    pub fn apply_all(
        &mut self,
        commands: &[Located],
        device: &mut Device,
    ) -> Vec<Result<Answer, ControlError>> {
        match &mut self.own {
            Some(own) => self.session.apply_all(commands, own.target.as_mut(), None),
            None => self.session.apply_all(commands, &mut device.target(), None),
        }
    }

    /// When the controllers of its program act next, in picoseconds. A switch that is down has none.
    pub fn next_act_ps(&self) -> Option<u64> {
        self.own.as_ref().filter(|_| self.is_up)?.agent.next_ps()
    }

    /// Lets the controllers of its program act.
    pub fn act(&mut self, device: &mut Device, now_ps: u64) -> Result<(), String> {
        Switch::bring_to(device, now_ps)?;
        self.own.as_mut().map_or(Ok(()), |own| own.agent.act(device))
    }

    /// Lines about the whole run of the controllers of its program.
    pub fn summaries(&self) -> Vec<String> {
        self.own.as_ref().map_or_else(Vec::new, |own| own.agent.summaries())
    }

    /// Replaces the device by a new one without entries: packets and state are lost.
    pub fn fail(&mut self, device: &mut Device, now_ps: u64) -> Result<(), String> {
        let options = device.options().clone();
        let mut fresh = device.sharing_code_with(options).map_err(|error| format!("{error:?}"))?;
        Switch::bring_to(&mut fresh, now_ps)?;
        fresh.drain_transmitted();
        self.is_up = false;
        self.listener = None;
        self.retired.push(std::mem::replace(device, fresh));
        Ok(())
    }

    /// Starts the switch after a failure: it gets the entries with which the run began.
    pub fn restart(&mut self, device: &mut Device, listens: bool) -> Result<(), String> {
        if let Some((checkpoint, session)) = &self.beginning {
            checkpoint.write(&mut device.target()).map_err(|error| error.to_string())?;
            self.session = session.clone();
        }
        self.is_up = true;
        if listens {
            self.listen(device);
        }
        Ok(())
    }
}
