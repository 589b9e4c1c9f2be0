// SPDX-License-Identifier: Apache-2.0
//! Bulk TCP: one connection that sends bytes, as `iperf3`'s client does.

use super::{Measures, Report, SECOND_PS, option_error};
use crate::error::AddError;
use crate::program::{ConnectionId, Io, Program};
use crate::stack::Stack;
use crate::tcp::{TcpEvents, TcpOptions, TcpStatistics};
use std::net::IpAddr;

/// What an endless sender writes: more than any run sends.
const ENDLESS_BYTES: u64 = 1 << 60;
/// Tokens of timers.
const WRITE: u64 = 0;
const STOP: u64 = 1;
const INTERVAL: u64 = 2;

/// Options of a bulk sender. It ends with the first of its limits; without one, with the run.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpBulkOptions {
    /// The server.
    pub destination: (IpAddr, u16),
    /// When to connect, in picoseconds.
    pub start_ps: u64,
    /// The number of bytes.
    pub bytes: Option<u64>,
    /// How long to send, in picoseconds.
    pub duration_ps: Option<u64>,
    /// The application's own rate in bits of payload per second.
    pub rate_bps: Option<u64>,
    /// Bytes that an application with a rate writes at once.
    pub write_bytes: u32,
    /// The length of the report's intervals, in picoseconds; 0 for none.
    pub interval_ps: u64,
    /// The connection.
    pub tcp: TcpOptions,
}

impl TcpBulkOptions {
    /// Sends to the end of the run.
    pub fn to(destination: (IpAddr, u16)) -> TcpBulkOptions {
        TcpBulkOptions {
            destination,
            start_ps: 0,
            bytes: None,
            duration_ps: None,
            rate_bps: None,
            write_bytes: 1448,
            interval_ps: SECOND_PS,
            tcp: TcpOptions::default(),
        }
    }
}

/// An interval of a bulk sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInterval {
    /// Its end, in picoseconds.
    pub end_ps: u64,
    /// Bytes that the peer acknowledged in it.
    pub acknowledged_bytes: u64,
    /// Segments sent again in it.
    pub retransmissions: u64,
    /// The congestion window at its end.
    pub congestion_window_bytes: u64,
    /// The smoothed round-trip time at its end, in picoseconds.
    pub round_trip_ps: Option<u64>,
}

/// What a bulk sender measured. Times are in picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpBulkReport {
    /// The sender's port.
    pub local_port: Option<u16>,
    /// When it connected, first SYN.
    pub started_ps: Option<u64>,
    /// When the connection was open.
    pub connected_ps: Option<u64>,
    /// When everything was acknowledged.
    pub finished_ps: Option<u64>,
    /// Whether the connection was refused, reset or given up.
    pub has_failed: bool,
    /// The connection's counters.
    pub statistics: TcpStatistics,
    /// The intervals that ended.
    pub intervals: Vec<TcpInterval>,
}

#[derive(Debug)]
pub(crate) struct TcpBulk {
    options: TcpBulkOptions,
    connection: Option<ConnectionId>,
    written_bytes: u64,
    writes: u64,
    has_stopped: bool,
    report: TcpBulkReport,
}

impl TcpBulk {
    pub(crate) fn new(options: TcpBulkOptions) -> Result<TcpBulk, AddError> {
        if options.rate_bps == Some(0) {
            return Err(option_error(
                "a bulk sender's rate is 0: leave it out to send at full speed",
            ));
        }
        if options.bytes == Some(0) {
            return Err(option_error("a bulk sender has 0 bytes to send: write at least 1"));
        }
        if options.write_bytes == 0 {
            return Err(option_error("a bulk sender writes 0 bytes at once: write at least 1"));
        }
        Ok(TcpBulk {
            options,
            connection: None,
            written_bytes: 0,
            writes: 0,
            has_stopped: false,
            report: TcpBulkReport::default(),
        })
    }

    fn left_bytes(&self) -> u64 {
        self.options.bytes.unwrap_or(ENDLESS_BYTES) - self.written_bytes
    }

    /// Writes everything, or a piece if the application has a rate.
    fn write(&mut self, io: &mut Io<'_>) {
        let (Some(id), false) = (self.connection, self.has_stopped) else { return };
        let piece = match self.options.rate_bps {
            Some(_) => self.left_bytes().min(self.options.write_bytes.into()),
            None => self.left_bytes(),
        };
        self.written_bytes += piece;
        self.writes += 1;
        let is_last = self.left_bytes() == 0;
        self.has_stopped |= is_last;
        io.with(id, |connection| {
            connection.write_absent(piece);
            if is_last {
                connection.close();
            }
        });
        if let (Some(rate_bps), false) = (self.options.rate_bps, is_last) {
            // The n-th piece leaves at n pieces' time after the first one: no rounding adds up.
            let bits = u128::from(self.writes) * u128::from(self.options.write_bytes) * 8;
            let after_ps = bits * u128::from(SECOND_PS) / u128::from(rate_bps);
            let begin_ps = self.report.connected_ps.unwrap_or(0);
            io.set_timer(begin_ps.saturating_add(after_ps as u64), WRITE);
        }
    }

    fn end_interval(&mut self, io: &mut Io<'_>) {
        let Some(id) = self.connection else { return };
        let now_ps = io.now_ps();
        if let Some(connection) = io.stack.connection(id) {
            let statistics = connection.statistics();
            let earlier = self.report.intervals.iter().fold((0, 0), |sum, interval| {
                (sum.0 + interval.acknowledged_bytes, sum.1 + interval.retransmissions)
            });
            self.report.intervals.push(TcpInterval {
                end_ps: now_ps,
                acknowledged_bytes: statistics.acknowledged_bytes - earlier.0,
                retransmissions: statistics.retransmissions - earlier.1,
                congestion_window_bytes: connection.congestion_window_bytes(),
                round_trip_ps: connection.smoothed_round_trip_ps(),
            });
        }
        io.set_timer(now_ps + self.options.interval_ps, INTERVAL);
    }
}

impl Program for TcpBulk {
    fn start_ps(&self) -> Option<u64> {
        Some(self.options.start_ps)
    }

    fn start(&mut self, io: &mut Io<'_>) {
        let now_ps = io.now_ps();
        self.report.started_ps = Some(now_ps);
        self.connection = io.connect(self.options.destination, &self.options.tcp, false);
        self.report.has_failed = self.connection.is_none();
        self.report.local_port = self
            .connection
            .and_then(|id| io.stack.connection(id))
            .map(|connection| connection.ports().0);
        if let Some(duration_ps) = self.options.duration_ps {
            io.set_timer(now_ps.saturating_add(duration_ps), STOP);
        }
        if self.options.interval_ps > 0 {
            io.set_timer(now_ps + self.options.interval_ps, INTERVAL);
        }
    }

    fn timer(&mut self, token: u64, io: &mut Io<'_>) {
        match token {
            WRITE => self.write(io),
            INTERVAL => self.end_interval(io),
            _ => {
                if let (Some(id), false) = (self.connection, self.has_stopped) {
                    self.has_stopped = true;
                    io.with(id, |connection| {
                        connection.drop_unsent();
                        connection.close();
                    });
                }
            }
        }
    }

    fn connection(&mut self, id: ConnectionId, events: TcpEvents, io: &mut Io<'_>) {
        let now_ps = io.now_ps();
        if events.is_connected {
            self.report.connected_ps = Some(now_ps);
            self.write(io);
        }
        let Some(connection) = io.stack.connection(id) else { return };
        let is_done = self.has_stopped && connection.unacknowledged_bytes() == 0;
        let is_news = events.acknowledged_bytes > 0 || events.is_over;
        if is_done && is_news && self.report.finished_ps.is_none() {
            self.report.finished_ps = Some(now_ps);
        }
        if events.is_over {
            self.report.statistics = connection.statistics();
            self.report.has_failed |= !is_done;
            self.connection = None;
        }
    }
}

impl Measures for TcpBulk {
    fn report(&self, stack: &Stack) -> Report {
        let mut report = self.report.clone();
        if let Some(connection) = self.connection.and_then(|id| stack.connection(id)) {
            report.statistics = connection.statistics();
        }
        Report::TcpBulk(report)
    }
}
