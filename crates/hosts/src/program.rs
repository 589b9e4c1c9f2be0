// SPDX-License-Identifier: Apache-2.0
//! [`Program`]: an application in a host, and what it can do there ([`Io`]).

pub(crate) use crate::ports::{Binding, ConnectionId, Datagram, EchoReply};
use crate::stack::{Stack, TimerTarget};
use crate::tcp::{Connection, TcpEvents, TcpOptions};
use crate::wire::View;
use network::frame::Frame;
use network::node::Outbox;
use std::net::IpAddr;

/// An application. Its calls come in order of time.
pub(crate) trait Program {
    /// The ports that it serves.
    fn bindings(&self) -> Vec<Binding> {
        Vec::new()
    }

    /// When to start it, in picoseconds.
    fn start_ps(&self) -> Option<u64> {
        None
    }

    fn start(&mut self, _io: &mut Io<'_>) {}

    /// A timer of [`Io::set_timer`].
    fn timer(&mut self, _token: u64, _io: &mut Io<'_>) {}

    /// Something happened to a connection. After an event with `is_over` the connection is gone.
    fn connection(&mut self, _id: ConnectionId, _events: TcpEvents, _io: &mut Io<'_>) {}

    fn datagram(&mut self, _datagram: &Datagram<'_>, _io: &mut Io<'_>) {}

    fn echo_reply(&mut self, _reply: &EchoReply, _io: &mut Io<'_>) {}

    /// A packet that this program sent did not reach its destination.
    fn unreachable(&mut self, _destination: IpAddr, _io: &mut Io<'_>) {}

    fn frame(&mut self, _frame: &Frame, _io: &mut Io<'_>) {}
}

/// What a program can do during a call.
pub(crate) struct Io<'a> {
    pub(crate) stack: &'a mut Stack,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) program: usize,
}

impl Io<'_> {
    pub(crate) fn now_ps(&self) -> u64 {
        self.outbox.now_ps()
    }

    /// Has [`Program::timer`] called at a time.
    pub(crate) fn set_timer(&mut self, time_ps: u64, token: u64) {
        self.stack.set_timer(time_ps, TimerTarget::Program { program: self.program, token });
    }

    /// Opens a connection. `None` if there is no route or no free port.
    pub(crate) fn connect(
        &mut self,
        remote: (IpAddr, u16),
        options: &TcpOptions,
        keeps_bytes: bool,
    ) -> Option<ConnectionId> {
        let id = self.stack.connect(self.program, remote, options, keeps_bytes)?;
        self.stack.flush(id, self.outbox);
        Some(id)
    }

    /// Changes a connection, and sends what it then has to send.
    pub(crate) fn with<R>(
        &mut self,
        id: ConnectionId,
        change: impl FnOnce(&mut Connection) -> R,
    ) -> Option<R> {
        let result = change(self.stack.connection_mut(id)?);
        self.stack.flush(id, self.outbox);
        self.stack.finish_later(id, self.outbox.now_ps());
        Some(result)
    }

    /// The address of the other end of a connection.
    pub(crate) fn remote(&self, id: ConnectionId) -> Option<(IpAddr, u16)> {
        self.stack.remote(id)
    }

    /// A free UDP port, which the program then serves.
    pub(crate) fn bind_udp(&mut self) -> Option<u16> {
        self.stack.bind_free_udp(self.program)
    }

    pub(crate) fn send_datagram(
        &mut self,
        source_port: u16,
        destination: (IpAddr, u16),
        tos: u8,
        payload: View<'_>,
    ) {
        self.stack.send_datagram(source_port, destination, tos, payload, self.outbox);
    }

    pub(crate) fn send_echo(&mut self, destination: IpAddr, sequence: u16, payload: View<'_>) {
        let identifier = self.program as u16;
        self.stack.send_echo(destination, identifier, sequence, payload, self.outbox);
    }

    /// Sends a frame as it is, by the first interface.
    pub(crate) fn send_frame(&mut self, frame: Frame) {
        self.stack.interfaces[0].transmit(frame, self.outbox);
    }
}
