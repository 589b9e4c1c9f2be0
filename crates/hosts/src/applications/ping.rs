// SPDX-License-Identifier: Apache-2.0
//! Ping: echo requests at an interval, and their replies.

use super::{Measures, Report, SECOND_PS, option_error};
use crate::error::AddError;
use crate::interface::HostOptions;
use crate::program::{EchoReply, Io, Program};
use crate::stack::Stack;
use crate::wire::{View, icmp};
use std::net::IpAddr;

/// Options of a ping.
#[derive(Clone, Debug, PartialEq)]
pub struct PingOptions {
    /// The host to reach.
    pub destination: IpAddr,
    /// When the first request leaves, in picoseconds.
    pub start_ps: u64,
    /// The time between requests, in picoseconds.
    pub interval_ps: u64,
    /// The number of requests; without it they go on to the end of the run.
    pub count: Option<u64>,
    /// Payload behind the ICMP header, in bytes (`ping`: 56).
    pub payload_bytes: u32,
}

impl PingOptions {
    /// Five requests, one a second.
    pub fn to(destination: IpAddr) -> PingOptions {
        PingOptions {
            destination,
            start_ps: 0,
            interval_ps: SECOND_PS,
            count: Some(5),
            payload_bytes: 56,
        }
    }
}

/// A reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingReply {
    /// The request's number, from 1.
    pub number: u64,
    /// From the request's departure to the reply's arrival, in picoseconds.
    pub round_trip_ps: u64,
    /// The reply's time to live.
    pub ttl: u8,
}

/// What a ping measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PingReport {
    /// Requests sent.
    pub transmitted: u64,
    /// Replies, each request's first one, in order of arrival.
    pub replies: Vec<PingReply>,
    /// Further replies to one request.
    pub duplicates: u64,
    /// Requests that a router or ARP found unreachable.
    pub unreachable: u64,
}

#[derive(Debug)]
pub(crate) struct Ping {
    options: PingOptions,
    /// When each request was sent, and whether it was answered.
    sent: Vec<(u64, bool)>,
    report: PingReport,
}

impl Ping {
    pub(crate) fn new(options: PingOptions, host: &HostOptions) -> Result<Ping, AddError> {
        let most = host.most_payload_bytes(options.destination);
        let most = most.saturating_sub(icmp::HEADER_BYTES as u32);
        if options.payload_bytes > most {
            return Err(option_error(format!(
                "ping's payload of {} bytes does not fit the host's MTU of {}: at most {most}",
                options.payload_bytes, host.mtu_bytes
            )));
        }
        if options.interval_ps == 0 {
            return Err(option_error("ping's interval is 0: write a time such as 1 s"));
        }
        Ok(Ping { options, sent: Vec::new(), report: PingReport::default() })
    }

    fn send(&mut self, io: &mut Io<'_>) {
        if self.options.count.is_some_and(|count| self.report.transmitted >= count) {
            return;
        }
        self.report.transmitted += 1;
        self.sent.push((io.now_ps(), false));
        let payload = View { bytes: &[], absent_bytes: self.options.payload_bytes };
        // The sequence number has 16 bits and goes round.
        io.send_echo(self.options.destination, self.report.transmitted as u16, payload);
        if self.options.count.is_none_or(|count| self.report.transmitted < count) {
            let next_ps =
                self.options.start_ps + self.report.transmitted * self.options.interval_ps;
            io.set_timer(next_ps, 0);
        }
    }
}

impl Program for Ping {
    fn start_ps(&self) -> Option<u64> {
        Some(self.options.start_ps)
    }

    fn start(&mut self, io: &mut Io<'_>) {
        self.send(io);
    }

    fn timer(&mut self, _: u64, io: &mut Io<'_>) {
        self.send(io);
    }

    fn echo_reply(&mut self, reply: &EchoReply, io: &mut Io<'_>) {
        // The latest request with these 16 bits.
        let latest = self.report.transmitted;
        let behind = u64::from((latest as u16).wrapping_sub(reply.sequence));
        let number = latest.saturating_sub(behind);
        let Some((sent_ps, is_answered)) =
            number.checked_sub(1).and_then(|at| self.sent.get_mut(at as usize))
        else {
            return;
        };
        if std::mem::replace(is_answered, true) {
            self.report.duplicates += 1;
            return;
        }
        let round_trip_ps = io.now_ps() - *sent_ps;
        self.report.replies.push(PingReply { number, round_trip_ps, ttl: reply.ttl });
    }

    fn unreachable(&mut self, _: IpAddr, _: &mut Io<'_>) {
        self.report.unreachable += 1;
    }
}

impl Measures for Ping {
    fn report(&self, _: &Stack) -> Report {
        Report::Ping(self.report.clone())
    }
}
