// SPDX-License-Identifier: Apache-2.0
//! TCP flows for studies of completion times: sizes of a distribution with Poisson arrivals at a load, or a list.

use super::{Measures, Report, SECOND_PS, option_error};
use crate::error::AddError;
use crate::program::{ConnectionId, Io, Program};
use crate::sizes::FlowSizes;
use crate::stack::Stack;
use crate::tcp::{TcpEvents, TcpOptions};
use arithmetic::random::stream::Stream;
use rustc_hash::FxHashMap;
use std::net::IpAddr;

/// A flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    /// When it starts, in picoseconds.
    pub start_ps: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The server.
    pub destination: (IpAddr, u16),
}

/// Which flows there are.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Independent arrivals, each to a random server. The mean rate is load x rate / (8 x mean size).
    Poisson {
        /// The servers.
        destinations: Vec<(IpAddr, u16)>,
        /// The sizes.
        sizes: FlowSizes,
        /// The share of the rate that the flows' bytes take, above 0.
        load: f64,
        /// The rate that the load refers to, in bits per second.
        rate_bps: u64,
        /// When arrivals begin, in picoseconds.
        start_ps: u64,
        /// How long flows arrive, in picoseconds.
        duration_ps: Option<u64>,
        /// The number of flows.
        count: Option<u64>,
    },
    /// These flows.
    List(Vec<ListedFlow>),
}

/// Options of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowsOptions {
    /// Which flows there are.
    pub arrivals: Arrivals,
    /// The connections.
    pub tcp: TcpOptions,
}

/// A flow. Times are in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Its bytes.
    pub bytes: u64,
    /// The server.
    pub destination: (IpAddr, u16),
    /// This host's port; the server's report has the time of the last byte under it.
    pub local_port: Option<u16>,
    /// When it connected, first SYN.
    pub started_ps: u64,
    /// When its last byte was acknowledged.
    pub finished_ps: Option<u64>,
    /// Whether the connection was refused, reset or given up.
    pub has_failed: bool,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
}

/// What flows measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowsReport {
    /// All flows that started, in order of start.
    pub flows: Vec<FlowRecord>,
}

#[derive(Debug)]
pub(crate) struct Flows {
    options: FlowsOptions,
    random: Stream,
    /// The sum of exponential intervals, in picoseconds.
    arrived_ps: f64,
    open: FxHashMap<ConnectionId, usize>,
    records: Vec<FlowRecord>,
}

impl Flows {
    pub(crate) fn new(mut options: FlowsOptions, random: Stream) -> Result<Flows, AddError> {
        match &mut options.arrivals {
            Arrivals::List(list) => {
                list.sort_by_key(|flow| flow.start_ps);
                if list.iter().any(|flow| flow.bytes == 0) {
                    return Err(option_error("a flow of 0 bytes never starts: write at least 1"));
                }
            }
            Arrivals::Poisson { destinations, sizes, load, rate_bps, .. } => {
                sizes.check().map_err(option_error)?;
                if destinations.is_empty() {
                    return Err(option_error("flows have no destination: name at least one"));
                }
                if *rate_bps == 0 || !(*load > 0.0 && load.is_finite()) {
                    return Err(option_error("the load of flows and its rate must be above 0"));
                }
            }
        }
        Ok(Flows {
            options,
            random,
            arrived_ps: 0.0,
            open: FxHashMap::default(),
            records: Vec::new(),
        })
    }

    /// When the next flow starts.
    fn next_ps(&mut self) -> Option<u64> {
        match &self.options.arrivals {
            Arrivals::List(list) => list.get(self.records.len()).map(|flow| flow.start_ps),
            Arrivals::Poisson { sizes, load, rate_bps, start_ps, duration_ps, count, .. } => {
                if count.is_some_and(|count| self.records.len() as u64 >= count) {
                    return None;
                }
                let rate = load * *rate_bps as f64 / (8.0 * sizes.mean());
                self.arrived_ps += self.random.exponential(SECOND_PS as f64 / rate);
                let is_over = duration_ps.is_some_and(|most| self.arrived_ps >= most as f64);
                (!is_over).then(|| start_ps.saturating_add(self.arrived_ps as u64))
            }
        }
    }

    fn schedule(&mut self, io: &mut Io<'_>) {
        if let Some(time_ps) = self.next_ps() {
            io.set_timer(time_ps, 0);
        }
    }
}

impl Program for Flows {
    fn start_ps(&self) -> Option<u64> {
        match &self.options.arrivals {
            Arrivals::List(list) => list.first().map(|flow| flow.start_ps),
            Arrivals::Poisson { start_ps, .. } => Some(*start_ps),
        }
    }

    fn start(&mut self, io: &mut Io<'_>) {
        self.schedule(io);
    }

    fn timer(&mut self, _: u64, io: &mut Io<'_>) {
        let (destination, bytes) = match &self.options.arrivals {
            Arrivals::List(list) => {
                let flow = list[self.records.len()];
                (flow.destination, flow.bytes)
            }
            Arrivals::Poisson { destinations, sizes, .. } => {
                let at = self.random.up_to(destinations.len() as u64 - 1) as usize;
                (destinations[at], sizes.draw(self.random.fraction()))
            }
        };
        let id = io.connect(destination, &self.options.tcp, false);
        let connection = id.and_then(|id| io.stack.connection(id));
        let local_port = connection.map(|connection| connection.ports().0);
        if let Some(id) = id {
            self.open.insert(id, self.records.len());
        }
        self.records.push(FlowRecord {
            bytes,
            destination,
            local_port,
            started_ps: io.now_ps(),
            finished_ps: None,
            has_failed: id.is_none(),
            retransmissions: 0,
            timeouts: 0,
        });
        self.schedule(io);
    }

    fn connection(&mut self, id: ConnectionId, events: TcpEvents, io: &mut Io<'_>) {
        let Some(record) = self.open.get(&id).and_then(|at| self.records.get_mut(*at)) else {
            return;
        };
        if events.is_connected {
            io.with(id, |connection| {
                connection.write_absent(record.bytes);
                connection.close();
            });
        }
        let Some(connection) = io.stack.connection(id) else { return };
        let is_done = connection.unacknowledged_bytes() == 0;
        if is_done && events.acknowledged_bytes > 0 && record.finished_ps.is_none() {
            record.finished_ps = Some(io.now_ps());
        }
        if events.is_over {
            let statistics = connection.statistics();
            record.retransmissions = statistics.retransmissions;
            record.timeouts = statistics.timeouts;
            record.has_failed = record.finished_ps.is_none();
            self.open.remove(&id);
        }
    }
}

impl Measures for Flows {
    fn report(&self, stack: &Stack) -> Report {
        let mut flows = self.records.clone();
        // The order of the map does not matter: each connection has its own record.
        for (id, at) in &self.open {
            if let Some(connection) = stack.connection(*id) {
                let statistics = connection.statistics();
                flows[*at].retransmissions = statistics.retransmissions;
                flows[*at].timeouts = statistics.timeouts;
            }
        }
        Report::Flows(FlowsReport { flows })
    }
}
