// SPDX-License-Identifier: Apache-2.0
//! A router with static routes by destination, drop-tail queues, and marks at a depth. It measures its queues over time.

use hosts::wire::MacAddress;
use network::frame::Frame;
use network::node::{Node, NodeError, Outbox};
use std::collections::{HashMap, VecDeque};
use std::net::Ipv4Addr;

#[derive(Clone, Debug)]
pub struct PortOptions {
    pub rate_bps: u64,
    /// Frames that may wait, not counting the one being sent.
    pub queue_packets: usize,
    /// Marks frames that find this many waiting.
    pub mark_at: Option<usize>,
    /// Bytes of a frame on the wire beside its own.
    pub overhead_bytes: i64,
}

#[derive(Debug)]
struct Port {
    options: PortOptions,
    busy_until_ps: u64,
    /// When the first bits of waiting frames leave.
    starts: VecDeque<u64>,
    /// Time spent at each number of waiting frames.
    histogram: Vec<u64>,
    measured_to_ps: u64,
    drops: u64,
    marks: u64,
    packets: u64,
}

impl Port {
    /// Accounts for the time until now.
    fn measure(&mut self, now_ps: u64, from_ps: u64) {
        while let Some(start_ps) = self.starts.front().copied().filter(|start| *start <= now_ps) {
            self.spend(start_ps, from_ps);
            self.starts.pop_front();
        }
        self.spend(now_ps, from_ps);
    }

    fn spend(&mut self, to_ps: u64, from_ps: u64) {
        let waiting = self.starts.len();
        if self.histogram.len() <= waiting {
            self.histogram.resize(waiting + 1, 0);
        }
        let begin_ps = self.measured_to_ps.max(from_ps);
        self.histogram[waiting] += to_ps.saturating_sub(begin_ps);
        self.measured_to_ps = self.measured_to_ps.max(to_ps);
    }
}

/// A queue over time.
#[derive(Clone, Copy, Debug)]
pub struct QueueFigures {
    pub mean: f64,
    pub p99: usize,
    pub most: usize,
    /// From the begin of the run.
    pub drops: u64,
    pub marks: u64,
    pub packets: u64,
}

#[derive(Debug, Default)]
pub struct Router {
    ports: Vec<Port>,
    routes: HashMap<Ipv4Addr, (usize, MacAddress)>,
    measure_from_ps: u64,
}

impl Router {
    pub fn new(ports: Vec<PortOptions>) -> Router {
        let port = |options| Port {
            options,
            busy_until_ps: 0,
            starts: VecDeque::new(),
            histogram: Vec::new(),
            measured_to_ps: 0,
            drops: 0,
            marks: 0,
            packets: 0,
        };
        Router { ports: ports.into_iter().map(port).collect(), ..Router::default() }
    }

    pub fn route(&mut self, destination: Ipv4Addr, port: usize, next_hop: MacAddress) {
        self.routes.insert(destination, (port, next_hop));
    }

    pub fn measure_from(&mut self, time_ps: u64) {
        self.measure_from_ps = time_ps;
    }

    pub fn figures(&mut self, port: usize, now_ps: u64) -> QueueFigures {
        let from_ps = self.measure_from_ps;
        let port = &mut self.ports[port];
        port.measure(now_ps, from_ps);
        let total: u64 = port.histogram.iter().sum();
        let weighted = port.histogram.iter().enumerate().map(|(n, time)| n as f64 * *time as f64);
        let mut seen = 0;
        let p99 = port.histogram.iter().position(|time| {
            seen += time;
            seen as f64 >= 0.99 * total as f64
        });
        QueueFigures {
            mean: weighted.sum::<f64>() / total as f64,
            p99: p99.unwrap_or(0),
            most: port.histogram.iter().rposition(|time| *time > 0).unwrap_or(0),
            drops: port.drops,
            marks: port.marks,
            packets: port.packets,
        }
    }
}

impl Node for Router {
    fn receive(&mut self, _: u32, mut frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        let bytes = &mut frame.bytes;
        let destination = Ipv4Addr::new(bytes[30], bytes[31], bytes[32], bytes[33]);
        let Some((number, next_hop)) = self.routes.get(&destination).copied() else {
            return Err(NodeError { message: format!("no route to {destination}") });
        };
        bytes[..6].copy_from_slice(&next_hop.0);
        let now_ps = outbox.now_ps();
        let from_ps = self.measure_from_ps;
        let port = &mut self.ports[number];
        port.measure(now_ps, from_ps);
        let begins_ps = port.busy_until_ps.max(now_ps);
        let counts = now_ps >= from_ps;
        if begins_ps > now_ps {
            if port.starts.len() >= port.options.queue_packets {
                port.drops += 1;
                return Ok(());
            }
            if port.options.mark_at.is_some_and(|depth| port.starts.len() >= depth) {
                if bytes[15] & 3 == 0 {
                    port.drops += 1;
                    return Ok(());
                }
                mark(bytes);
                port.marks += u64::from(counts);
            }
            port.starts.push_back(begins_ps);
        }
        port.packets += u64::from(counts);
        let length = frame.length_bytes().saturating_add_signed(port.options.overhead_bytes);
        port.busy_until_ps =
            begins_ps + (length * 8 * 1_000_000_000_000).div_ceil(port.options.rate_bps);
        outbox.send(number as u32, port.busy_until_ps, frame);
        Ok(())
    }

    fn next_wake_ps(&self) -> Option<u64> {
        None
    }

    fn wake(&mut self, _: &mut Outbox) -> Result<(), NodeError> {
        Ok(())
    }
}

/// Sets CE, and the IPv4 checksum anew.
fn mark(bytes: &mut [u8]) {
    bytes[15] |= 3;
    bytes[24..26].fill(0);
    let sum = hosts::wire::checksum::of(&bytes[14..34]);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
}
