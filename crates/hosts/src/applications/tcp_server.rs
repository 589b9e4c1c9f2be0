// SPDX-License-Identifier: Apache-2.0
//! A TCP server that counts the bytes of its connections, or sends them back.

use super::{Intervals, Measures, Report, SECOND_PS};
use crate::program::{Binding, ConnectionId, Io, Program};
use crate::stack::Stack;
use crate::tcp::{TcpEvents, TcpOptions};
use rustc_hash::FxHashMap;
use std::net::IpAddr;

/// Options of a TCP server.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpServerOptions {
    /// The port.
    pub port: u16,
    /// Whether it sends every byte back.
    pub echoes: bool,
    /// The length of the report's intervals, in picoseconds; 0 for none.
    pub interval_ps: u64,
    /// The connections.
    pub tcp: TcpOptions,
}

impl TcpServerOptions {
    /// Counts bytes at a port.
    pub fn at(port: u16) -> TcpServerOptions {
        TcpServerOptions { port, echoes: false, interval_ps: SECOND_PS, tcp: TcpOptions::default() }
    }
}

/// A connection of a server. Times are in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedConnection {
    /// The client.
    pub remote: (IpAddr, u16),
    /// When it was open.
    pub opened_ps: u64,
    /// When the last byte arrived that is in order.
    pub last_byte_ps: Option<u64>,
    /// When it was over.
    pub closed_ps: Option<u64>,
    /// Bytes that arrived in order.
    pub bytes: u64,
}

/// What a server measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpServerReport {
    /// All connections, in order of opening.
    pub connections: Vec<ServedConnection>,
    /// Bytes that arrived in each interval, from time 0 on.
    pub intervals: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct TcpServer {
    options: TcpServerOptions,
    intervals: Intervals,
    served: Vec<ServedConnection>,
    open: FxHashMap<ConnectionId, usize>,
}

impl TcpServer {
    pub(crate) fn new(options: TcpServerOptions) -> TcpServer {
        let intervals = Intervals::new(options.interval_ps);
        TcpServer { options, intervals, served: Vec::new(), open: FxHashMap::default() }
    }
}

impl Program for TcpServer {
    fn bindings(&self) -> Vec<Binding> {
        let TcpServerOptions { port, echoes, ref tcp, .. } = self.options;
        vec![Binding::Tcp { port, options: tcp.clone(), keeps_bytes: echoes }]
    }

    fn connection(&mut self, id: ConnectionId, events: TcpEvents, io: &mut Io<'_>) {
        let now_ps = io.now_ps();
        if events.is_connected
            && let Some(remote) = io.remote(id)
        {
            self.open.insert(id, self.served.len());
            self.served.push(ServedConnection {
                remote,
                opened_ps: now_ps,
                last_byte_ps: None,
                closed_ps: None,
                bytes: 0,
            });
        }
        let Some(served) = self.open.get(&id).and_then(|at| self.served.get_mut(*at)) else {
            return;
        };
        if events.arrived_bytes > 0 {
            served.bytes += events.arrived_bytes;
            served.last_byte_ps = Some(now_ps);
            self.intervals.add(now_ps, events.arrived_bytes);
            if let Some(connection) = io.stack.connection_mut(id) {
                let (_, bytes) = connection.read(u64::MAX);
                if self.options.echoes {
                    connection.write(&bytes);
                }
            }
        }
        if events.is_peer_finished
            && let Some(connection) = io.stack.connection_mut(id)
        {
            connection.close();
        }
        if events.is_over {
            served.closed_ps = Some(now_ps);
            self.open.remove(&id);
        }
    }
}

impl Measures for TcpServer {
    fn report(&self, _: &Stack) -> Report {
        Report::TcpServer(TcpServerReport {
            connections: self.served.clone(),
            intervals: self.intervals.sums().to_vec(),
        })
    }
}
