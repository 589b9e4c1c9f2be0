// SPDX-License-Identifier: Apache-2.0
//! A UDP server that measures the datagrams of each sender, or sends them back.

use super::udp_sender::STAMP_BYTES;
use super::{Intervals, Measures, Report, SECOND_PS};
use crate::program::{Binding, Datagram, Io, Program};
use crate::stack::Stack;
use crate::wire::ipv4::Ecn;
use rustc_hash::FxHashMap;
use std::net::IpAddr;

/// Options of a UDP server.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpServerOptions {
    /// The port.
    pub port: u16,
    /// Whether it sends every datagram back.
    pub echoes: bool,
    /// Whether datagrams begin with number and time, as those of the built-in sender do.
    pub has_stamps: bool,
    /// The length of the report's intervals, in picoseconds; 0 for none.
    pub interval_ps: u64,
}

impl UdpServerOptions {
    /// Measures datagrams at a port.
    pub fn at(port: u16) -> UdpServerOptions {
        UdpServerOptions { port, echoes: false, has_stamps: true, interval_ps: SECOND_PS }
    }
}

/// The datagrams of one sender. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpFlow {
    /// The sender.
    pub remote: (IpAddr, u16),
    /// Datagrams that arrived.
    pub received: u64,
    /// Bytes of payload that arrived.
    pub received_bytes: u64,
    /// The largest number that arrived, and one.
    pub expected: u64,
    /// Datagrams that arrived after one with a larger number.
    pub out_of_order: u64,
    /// Datagrams with a mark (CE).
    pub marks: u64,
    /// When the first one arrived.
    pub first_ps: u64,
    /// When the last one arrived.
    pub last_ps: u64,
    /// The sum of delays.
    pub delay_sum_ps: u128,
    /// The least delay.
    pub least_delay_ps: u64,
    /// The largest delay.
    pub largest_delay_ps: u64,
    /// The interarrival jitter (RFC 3550 section 6.4.1).
    pub jitter_ps: u64,
}

impl UdpFlow {
    /// Datagrams of which a later one arrived and they did not. A duplicate hides one.
    pub fn lost(&self) -> u64 {
        self.expected.saturating_sub(self.received)
    }
}

/// What a UDP server measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UdpServerReport {
    /// By sender, in order of their first datagrams.
    pub flows: Vec<UdpFlow>,
    /// Bytes that arrived in each interval, from time 0 on.
    pub intervals: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct UdpServer {
    options: UdpServerOptions,
    flows: Vec<(UdpFlow, Option<u64>)>,
    by_remote: FxHashMap<(IpAddr, u16), usize>,
    intervals: Intervals,
}

impl UdpServer {
    pub(crate) fn new(options: UdpServerOptions) -> UdpServer {
        let intervals = Intervals::new(options.interval_ps);
        UdpServer { options, flows: Vec::new(), by_remote: FxHashMap::default(), intervals }
    }
}

impl Program for UdpServer {
    fn bindings(&self) -> Vec<Binding> {
        vec![Binding::Udp(self.options.port)]
    }

    fn datagram(&mut self, datagram: &Datagram<'_>, io: &mut Io<'_>) {
        let now_ps = io.now_ps();
        let bytes = datagram.payload.length() as u64;
        let flows = &mut self.flows;
        let at = *self.by_remote.entry(datagram.source).or_insert_with(|| {
            let flow = UdpFlow {
                remote: datagram.source,
                received: 0,
                received_bytes: 0,
                expected: 0,
                out_of_order: 0,
                marks: 0,
                first_ps: now_ps,
                last_ps: now_ps,
                delay_sum_ps: 0,
                least_delay_ps: u64::MAX,
                largest_delay_ps: 0,
                jitter_ps: 0,
            };
            flows.push((flow, None));
            flows.len() - 1
        });
        let (flow, last_delay_ps) = &mut self.flows[at];
        flow.received += 1;
        flow.received_bytes += bytes;
        flow.last_ps = now_ps;
        flow.marks += u64::from(datagram.ecn == Ecn::Congestion);
        self.intervals.add(now_ps, bytes);
        if self.options.has_stamps
            && let Ok(stamp) = datagram.payload.header::<STAMP_BYTES>()
        {
            let [number, sent_ps] =
                [0, 8].map(|at| u64::from_be_bytes(std::array::from_fn(|n| stamp[at + n])));
            if number < flow.expected {
                flow.out_of_order += 1;
            }
            flow.expected = flow.expected.max(number.saturating_add(1));
            let delay_ps = now_ps.saturating_sub(sent_ps);
            flow.delay_sum_ps += u128::from(delay_ps);
            flow.least_delay_ps = flow.least_delay_ps.min(delay_ps);
            flow.largest_delay_ps = flow.largest_delay_ps.max(delay_ps);
            if let Some(last_ps) = last_delay_ps.replace(delay_ps) {
                let change_ps = delay_ps.abs_diff(last_ps);
                flow.jitter_ps = flow.jitter_ps - flow.jitter_ps / 16 + change_ps / 16;
            }
        }
        if self.options.echoes {
            io.send_datagram(self.options.port, datagram.source, 0, datagram.payload);
        }
    }
}

impl Measures for UdpServer {
    fn report(&self, _: &Stack) -> Report {
        Report::UdpServer(UdpServerReport {
            flows: self.flows.iter().map(|(flow, _)| flow.clone()).collect(),
            intervals: self.intervals.sums().to_vec(),
        })
    }
}
