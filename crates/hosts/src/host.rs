// SPDX-License-Identifier: Apache-2.0
//! [`Host`]: a node with protocols and applications.

use crate::applications::{Application, Measures, Report};
use crate::error::AddError;
use crate::interface::{HostOptions, InterfaceStatistics};
use crate::program::{Binding, Io, Program};
use crate::stack::{Delivery, Stack, TimerTarget};
use network::frame::Frame;
use network::node::{Node, NodeError, Outbox};

/// A host. Its interfaces have the ports from 0 on.
pub struct Host {
    stack: Stack,
    programs: Vec<Box<dyn Measures>>,
    /// Programs that see all frames.
    frame_listeners: Vec<usize>,
}

impl Host {
    /// Makes a host. Random numbers derive from the seed and the host's Ethernet address.
    pub fn new(options: HostOptions, seed: u64) -> Host {
        Host { stack: Stack::new(options, seed), programs: Vec::new(), frame_listeners: Vec::new() }
    }

    /// The options.
    pub fn options(&self) -> &HostOptions {
        &self.stack.options
    }

    /// Adds an application. Returns its number for [`Host::report`].
    pub fn add(&mut self, application: Application) -> Result<usize, AddError> {
        let index = self.programs.len();
        let random = self.stack.random(index);
        let program = application.into_program(self.options(), random)?;
        for binding in program.bindings() {
            match binding {
                Binding::Frames => self.frame_listeners.push(index),
                Binding::Udp(port) | Binding::Tcp { port, .. } => {
                    if !self.stack.bind(index, &binding) {
                        return Err(AddError::PortInUse(port));
                    }
                }
            }
        }
        if let Some(time_ps) = program.start_ps() {
            self.stack.set_timer(time_ps, TimerTarget::Start { program: index });
        }
        self.programs.push(program);
        Ok(index)
    }

    /// What an application measured so far. `None` if there is none with this number.
    pub fn report(&self, index: usize) -> Option<Report> {
        self.programs.get(index).map(|program| program.report(&self.stack))
    }

    /// The counters of all interfaces at a time in picoseconds, that of the last call or later.
    pub fn interface_statistics(&self, now_ps: u64) -> InterfaceStatistics {
        self.stack.statistics_at(now_ps)
    }

    /// The counters of one interface. `None` if the host has none with this port.
    pub fn port_statistics(&self, port: u32, now_ps: u64) -> Option<InterfaceStatistics> {
        let interface = self.stack.interfaces.get(port as usize)?;
        Some(interface.statistics_at(now_ps))
    }

    fn call(
        &mut self,
        program: usize,
        outbox: &mut Outbox,
        call: impl FnOnce(&mut dyn Program, &mut Io<'_>),
    ) {
        if let Some(called) = self.programs.get_mut(program) {
            call(called.as_mut(), &mut Io { stack: &mut self.stack, outbox, program });
        }
    }

    /// Shows a connection's program what happened, then sends what there is to send, so that answers carry
    /// acknowledgements.
    #[inline]
    fn after_change(&mut self, id: usize, outbox: &mut Outbox) {
        if let Some((program, events)) = self.stack.take_events(id) {
            self.call(program, outbox, |program, io| program.connection(id, events, io));
        }
        self.stack.flush(id, outbox);
        self.stack.remove_if_closed(id);
    }

    fn take_frame(&mut self, interface: usize, frame: Frame, outbox: &mut Outbox) {
        for at in 0..self.frame_listeners.len() {
            let program = self.frame_listeners[at];
            self.call(program, outbox, |program, io| program.frame(&frame, io));
        }
        match self.stack.receive(interface, &frame, outbox) {
            Delivery::Nothing => {}
            Delivery::Connection(id) => self.after_change(id, outbox),
            Delivery::Datagram { program, datagram } => {
                self.call(program, outbox, |program, io| program.datagram(&datagram, io));
            }
            Delivery::EchoReply { program, reply } => {
                self.call(program, outbox, |program, io| program.echo_reply(&reply, io));
            }
            Delivery::Unreachable { program, destination } => {
                self.call(program, outbox, |program, io| program.unreachable(destination, io));
            }
        }
        self.stack.interfaces[interface].recycle(frame);
    }

    fn expire(&mut self, time_ps: u64, target: TimerTarget, outbox: &mut Outbox) {
        match target {
            TimerTarget::Start { program } => {
                self.call(program, outbox, |program, io| program.start(io));
            }
            TimerTarget::Program { program, token } => {
                self.call(program, outbox, |program, io| program.timer(token, io));
            }
            TimerTarget::Connection { id } => {
                if self.stack.expire(id, time_ps, outbox.now_ps()) {
                    self.after_change(id, outbox);
                }
            }
            TimerTarget::Neighbor { interface, hop } => {
                self.stack.retry_neighbor(interface, hop, outbox);
            }
            TimerTarget::LoopBack => {
                if let Some(frame) = self.stack.take_looped_back() {
                    self.take_frame(0, frame, outbox);
                }
            }
        }
    }
}

impl Node for Host {
    fn receive(&mut self, port: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        if self.stack.interfaces.get(port as usize).is_none() {
            return Err(NodeError { message: format!("the host has no interface {port}") });
        }
        self.take_frame(port as usize, frame, outbox);
        Ok(())
    }

    fn next_wake_ps(&self) -> Option<u64> {
        self.stack.next_timer_ps()
    }

    fn wake(&mut self, outbox: &mut Outbox) -> Result<(), NodeError> {
        while let Some((time_ps, target)) = self.stack.take_timer(outbox.now_ps()) {
            self.expire(time_ps, target, outbox);
        }
        Ok(())
    }
}
