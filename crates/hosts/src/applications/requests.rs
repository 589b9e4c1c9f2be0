// SPDX-License-Identifier: Apache-2.0
//! Requests and responses over TCP. A round is one request to each server; with several servers at once it is an incast.
//! A request says its own length and that of its response, so that a server needs no options for them.

use super::{Measures, Report, option_error};
use crate::error::AddError;
use crate::program::{Binding, ConnectionId, Io, Program};
use crate::stack::Stack;
use crate::tcp::{TcpEvents, TcpOptions};
use rustc_hash::FxHashMap;
use std::net::IpAddr;

/// The lengths at the begin of a request, both of 8 bytes.
const HEADER_BYTES: u64 = 16;

/// Options of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestClientOptions {
    /// The servers, all asked in each round.
    pub servers: Vec<(IpAddr, u16)>,
    /// When the first round begins, in picoseconds.
    pub start_ps: u64,
    /// The number of rounds; without it they go on to the end of the run.
    pub rounds: Option<u64>,
    /// From the end of a round to the begin of the next, in picoseconds.
    pub pause_ps: u64,
    /// Bytes of a request, at least 16.
    pub request_bytes: u64,
    /// Bytes of a response.
    pub response_bytes: u64,
    /// Whether connections stay open for all rounds; else each request has its own.
    pub is_persistent: bool,
    /// The connections.
    pub tcp: TcpOptions,
}

impl RequestClientOptions {
    /// One request of 64 bytes to each server on a connection of its own, 1,024 bytes in return.
    pub fn to(servers: Vec<(IpAddr, u16)>) -> RequestClientOptions {
        RequestClientOptions {
            servers,
            start_ps: 0,
            rounds: Some(1),
            pause_ps: 0,
            request_bytes: 64,
            response_bytes: 1024,
            is_persistent: false,
            tcp: TcpOptions::default(),
        }
    }
}

/// A response that arrived, or did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The server's place in the options.
    pub server: usize,
    /// The round, from 0.
    pub round: u64,
    /// When the request was made, in picoseconds; a connection that it needs is opened then.
    pub asked_ps: u64,
    /// When the last byte of the response arrived, in picoseconds; `None` if the connection failed.
    pub answered_ps: Option<u64>,
}

/// A round that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// When it began, in picoseconds.
    pub began_ps: u64,
    /// When the last response arrived, in picoseconds.
    pub ended_ps: u64,
}

/// What a client measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestClientReport {
    /// Rounds that ended.
    pub rounds: Vec<Round>,
    /// Responses in order of arrival.
    pub responses: Vec<Response>,
    /// Segments that the client sent again, by connections that are over.
    pub retransmissions: u64,
    /// Bytes of responses that arrived.
    pub response_bytes: u64,
}

/// A request that waits for its response.
#[derive(Clone, Copy, Debug)]
struct Asked {
    server: usize,
    missing_bytes: u64,
    asked_ps: u64,
}

#[derive(Debug)]
pub(crate) struct RequestClient {
    options: RequestClientOptions,
    round: u64,
    round_began_ps: u64,
    /// Responses that the round waits for.
    missing: usize,
    /// By connection.
    asked: FxHashMap<ConnectionId, Asked>,
    /// Connections that stay open, by server.
    open: Vec<Option<ConnectionId>>,
    report: RequestClientReport,
}

impl RequestClient {
    pub(crate) fn new(options: RequestClientOptions) -> Result<RequestClient, AddError> {
        if options.servers.is_empty() {
            return Err(option_error("requests have no server: name at least one"));
        }
        if options.request_bytes < HEADER_BYTES {
            return Err(option_error(format!(
                "a request of {} bytes is too short: it needs {HEADER_BYTES} for its lengths",
                options.request_bytes
            )));
        }
        if options.response_bytes == 0 {
            return Err(option_error("a response of 0 bytes cannot be measured: write at least 1"));
        }
        let open = vec![None; options.servers.len()];
        Ok(RequestClient {
            options,
            round: 0,
            round_began_ps: 0,
            missing: 0,
            asked: FxHashMap::default(),
            open,
            report: RequestClientReport::default(),
        })
    }

    fn begin_round(&mut self, io: &mut Io<'_>) {
        self.round_began_ps = io.now_ps();
        self.missing = self.options.servers.len();
        for server in 0..self.options.servers.len() {
            let asked =
                Asked { server, missing_bytes: self.options.response_bytes, asked_ps: io.now_ps() };
            if let Some(id) = self.open[server] {
                self.asked.insert(id, asked);
                self.ask(id, io);
                continue;
            }
            match io.connect(self.options.servers[server], &self.options.tcp, false) {
                Some(id) => {
                    self.asked.insert(id, asked);
                    self.open[server] = self.options.is_persistent.then_some(id);
                }
                None => self.answered(asked, None, io),
            }
        }
    }

    fn ask(&mut self, id: ConnectionId, io: &mut Io<'_>) {
        let mut header = [0; HEADER_BYTES as usize];
        header[..8].copy_from_slice(&self.options.request_bytes.to_be_bytes());
        header[8..].copy_from_slice(&self.options.response_bytes.to_be_bytes());
        let rest = self.options.request_bytes - HEADER_BYTES;
        io.with(id, |connection| {
            connection.write(&header);
            connection.write_absent(rest);
        });
    }

    /// Notes a response, and ends the round if it was the last one.
    fn answered(&mut self, asked: Asked, answered_ps: Option<u64>, io: &mut Io<'_>) {
        let Asked { server, asked_ps, .. } = asked;
        let round = self.round;
        self.report.responses.push(Response { server, round, asked_ps, answered_ps });
        self.missing -= 1;
        if self.missing > 0 {
            return;
        }
        let ended_ps = io.now_ps();
        self.report.rounds.push(Round { began_ps: self.round_began_ps, ended_ps });
        self.round += 1;
        if self.options.rounds.is_none_or(|rounds| self.round < rounds) {
            // A round without a route would begin at the same instant for ever.
            let least_ps = if answered_ps.is_none() { super::SECOND_PS } else { 0 };
            io.set_timer(ended_ps + self.options.pause_ps.max(least_ps), 0);
        } else {
            for id in self.open.iter().flatten() {
                io.with(*id, |connection| connection.close());
            }
        }
    }
}

impl Program for RequestClient {
    fn start_ps(&self) -> Option<u64> {
        (self.options.rounds != Some(0)).then_some(self.options.start_ps)
    }

    fn start(&mut self, io: &mut Io<'_>) {
        self.begin_round(io);
    }

    fn timer(&mut self, _: u64, io: &mut Io<'_>) {
        self.begin_round(io);
    }

    fn connection(&mut self, id: ConnectionId, events: TcpEvents, io: &mut Io<'_>) {
        if events.is_connected {
            self.ask(id, io);
        }
        if events.arrived_bytes > 0 {
            io.with(id, |connection| connection.read(u64::MAX));
            let now_ps = io.now_ps();
            if let Some(asked) = self.asked.get_mut(&id) {
                self.report.response_bytes += asked.missing_bytes.min(events.arrived_bytes);
                asked.missing_bytes = asked.missing_bytes.saturating_sub(events.arrived_bytes);
                if asked.missing_bytes == 0
                    && let Some(asked) = self.asked.remove(&id)
                {
                    if !self.options.is_persistent {
                        io.with(id, |connection| connection.close());
                    }
                    self.answered(asked, Some(now_ps), io);
                }
            }
        }
        if events.is_over {
            if let Some(connection) = io.stack.connection(id) {
                self.report.retransmissions += connection.statistics().retransmissions;
            }
            if let Some(open) = self.open.iter_mut().find(|open| **open == Some(id)) {
                *open = None;
            }
            if let Some(asked) = self.asked.remove(&id) {
                self.answered(asked, None, io);
            }
        }
    }
}

impl Measures for RequestClient {
    fn report(&self, _: &Stack) -> Report {
        Report::Requests(self.report.clone())
    }
}

/// Options of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestServerOptions {
    /// The port.
    pub port: u16,
    /// From the last byte of a request to its response, in picoseconds.
    pub service_ps: u64,
    /// The connections.
    pub tcp: TcpOptions,
}

impl RequestServerOptions {
    /// Answers at once.
    pub fn at(port: u16) -> RequestServerOptions {
        RequestServerOptions { port, service_ps: 0, tcp: TcpOptions::default() }
    }
}

/// What a server did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestServerReport {
    /// Requests answered.
    pub answered: u64,
    /// Bytes of responses.
    pub response_bytes: u64,
    /// Segments sent again, by connections that are over.
    pub retransmissions: u64,
    /// Expired retransmission timers, by connections that are over.
    pub timeouts: u64,
}

/// What of a request has arrived.
#[derive(Clone, Debug, Default)]
struct Arriving {
    header: Vec<u8>,
    /// Bytes behind the header that are missing, once it is there.
    missing_bytes: u64,
    response_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct RequestServer {
    options: RequestServerOptions,
    arriving: FxHashMap<ConnectionId, Arriving>,
    /// Responses that wait for their time, by token: connection and length.
    waiting: FxHashMap<u64, (ConnectionId, u64)>,
    tokens: u64,
    report: RequestServerReport,
}

impl RequestServer {
    pub(crate) fn new(options: RequestServerOptions) -> RequestServer {
        RequestServer {
            options,
            arriving: FxHashMap::default(),
            waiting: FxHashMap::default(),
            tokens: 0,
            report: RequestServerReport::default(),
        }
    }

    fn answer(&mut self, id: ConnectionId, bytes: u64, io: &mut Io<'_>) {
        self.report.answered += 1;
        self.report.response_bytes += bytes;
        io.with(id, |connection| connection.write_absent(bytes));
    }

    /// Takes bytes of requests; returns the lengths of the responses that are due.
    fn take(&mut self, id: ConnectionId, mut bytes: &[u8]) -> Vec<u64> {
        let arriving = self.arriving.entry(id).or_default();
        let mut due = Vec::new();
        while !bytes.is_empty() {
            let missing = HEADER_BYTES as usize - arriving.header.len();
            if missing > 0 {
                let (header, rest) = bytes.split_at(missing.min(bytes.len()));
                arriving.header.extend_from_slice(header);
                bytes = rest;
                if arriving.header.len() < HEADER_BYTES as usize {
                    return due;
                }
                let number = |at: usize| {
                    u64::from_be_bytes(std::array::from_fn(|n| arriving.header[at + n]))
                };
                let (request, response) = (number(0), number(8));
                arriving.missing_bytes = request.saturating_sub(HEADER_BYTES);
                arriving.response_bytes = response;
            } else {
                let taken = arriving.missing_bytes.min(bytes.len() as u64);
                bytes = &bytes[taken as usize..];
                arriving.missing_bytes -= taken;
            }
            if arriving.missing_bytes == 0 {
                due.push(arriving.response_bytes);
                *arriving = Arriving::default();
            }
        }
        due
    }
}

impl Program for RequestServer {
    fn bindings(&self) -> Vec<Binding> {
        let RequestServerOptions { port, ref tcp, .. } = self.options;
        vec![Binding::Tcp { port, options: tcp.clone(), keeps_bytes: true }]
    }

    fn timer(&mut self, token: u64, io: &mut Io<'_>) {
        if let Some((id, bytes)) = self.waiting.remove(&token)
            && self.arriving.contains_key(&id)
        {
            self.answer(id, bytes, io);
        }
    }

    fn connection(&mut self, id: ConnectionId, events: TcpEvents, io: &mut Io<'_>) {
        if events.is_connected {
            self.arriving.insert(id, Arriving::default());
        }
        if events.arrived_bytes > 0
            && let Some(connection) = io.stack.connection_mut(id)
        {
            let (_, bytes) = connection.read(u64::MAX);
            for response_bytes in self.take(id, &bytes) {
                if self.options.service_ps == 0 {
                    self.answer(id, response_bytes, io);
                } else {
                    self.tokens += 1;
                    self.waiting.insert(self.tokens, (id, response_bytes));
                    io.set_timer(io.now_ps() + self.options.service_ps, self.tokens);
                }
            }
        }
        if events.is_peer_finished {
            io.with(id, |connection| connection.close());
        }
        if events.is_over {
            if let Some(connection) = io.stack.connection(id) {
                let statistics = connection.statistics();
                self.report.retransmissions += statistics.retransmissions;
                self.report.timeouts += statistics.timeouts;
            }
            self.arriving.remove(&id);
            self.waiting.retain(|_, waiting| waiting.0 != id);
        }
    }
}

impl Measures for RequestServer {
    fn report(&self, _: &Stack) -> Report {
        Report::RequestServer(self.report.clone())
    }
}
