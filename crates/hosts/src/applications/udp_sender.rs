// SPDX-License-Identifier: Apache-2.0
//! UDP datagrams at a constant rate or as a Poisson process. Each carries its number and its time of departure, so that the
//! server measures loss, delay and jitter.

use super::{Measures, Report, SECOND_PS, option_error};
use crate::error::AddError;
use crate::interface::HostOptions;
use crate::program::{Io, Program};
use crate::stack::Stack;
use crate::wire::{View, udp};
use arithmetic::random::stream::Stream;
use std::net::IpAddr;

/// Bytes of number and time at the begin of the payload, if they fit.
pub(super) const STAMP_BYTES: usize = 16;

/// When datagrams leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departures {
    /// At equal intervals.
    Constant,
    /// At independent exponential intervals.
    Poisson,
}

/// The lengths of payloads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PayloadSizes {
    /// All equal.
    Fixed(u32),
    /// Exponential with a mean, not less than `least`, not more than the MTU allows.
    Exponential {
        /// The mean before the bounds.
        mean: f64,
        /// The least.
        least: u32,
    },
}

/// Options of a UDP sender. It ends with the first of its limits; without one, with the run.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpSenderOptions {
    /// The receiver.
    pub destination: (IpAddr, u16),
    /// The sender's port; without it a free one.
    pub source_port: Option<u16>,
    /// When the first datagram may leave, in picoseconds.
    pub start_ps: u64,
    /// The mean rate in bits of payload per second.
    pub rate_bps: u64,
    /// The lengths of payloads.
    pub sizes: PayloadSizes,
    /// When datagrams leave.
    pub departures: Departures,
    /// The number of datagrams.
    pub count: Option<u64>,
    /// How long to send, in picoseconds.
    pub duration_ps: Option<u64>,
    /// The type of service byte of IPv4: code point and ECN field.
    pub tos: u8,
}

impl UdpSenderOptions {
    /// 1 Mb/s in datagrams of 1,470 bytes, as `iperf` sends them.
    pub fn to(destination: (IpAddr, u16)) -> UdpSenderOptions {
        UdpSenderOptions {
            destination,
            source_port: None,
            start_ps: 0,
            rate_bps: 1_000_000,
            sizes: PayloadSizes::Fixed(1470),
            departures: Departures::Constant,
            count: None,
            duration_ps: None,
            tos: 0,
        }
    }
}

/// What a UDP sender did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UdpSenderReport {
    /// The sender's port.
    pub local_port: Option<u16>,
    /// Datagrams sent.
    pub sent: u64,
    /// Bytes of payload sent.
    pub sent_bytes: u64,
    /// Datagrams for which a host or router answered that they cannot arrive.
    pub unreachable: u64,
    /// When the first one left, in picoseconds.
    pub first_ps: Option<u64>,
    /// When the last one left, in picoseconds.
    pub last_ps: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct UdpSender {
    options: UdpSenderOptions,
    most_payload_bytes: u32,
    random: Stream,
    /// Time of the next departure after the start, in picoseconds, as a sum of exponential intervals.
    next_after_ps: f64,
    mean_payload_bytes: f64,
    report: UdpSenderReport,
}

impl UdpSender {
    pub(crate) fn new(
        options: UdpSenderOptions,
        host: &HostOptions,
        random: Stream,
    ) -> Result<UdpSender, AddError> {
        let most = host.most_payload_bytes(options.destination.0);
        let most = most.saturating_sub(udp::HEADER_BYTES as u32);
        if options.rate_bps == 0 {
            return Err(option_error("a UDP sender's rate is 0: write a rate such as 1 Mb/s"));
        }
        let mean_payload_bytes = match options.sizes {
            PayloadSizes::Fixed(bytes) if bytes == 0 || bytes > most => {
                return Err(option_error(format!(
                    "a UDP payload of {bytes} bytes does not fit the host's MTU of {}: write 1 to {most}",
                    host.mtu_bytes
                )));
            }
            PayloadSizes::Fixed(bytes) => f64::from(bytes),
            PayloadSizes::Exponential { mean, .. } if !(mean > 0.0 && mean.is_finite()) => {
                return Err(option_error("the mean length of UDP payloads must be above 0"));
            }
            PayloadSizes::Exponential { mean, .. } if mean > f64::from(most) => {
                return Err(option_error(format!(
                    "a mean UDP payload of {mean} bytes does not fit the host's MTU of {}: write 1 to {most}",
                    host.mtu_bytes
                )));
            }
            PayloadSizes::Exponential { mean, .. } => mean,
        };
        Ok(UdpSender {
            options,
            most_payload_bytes: most,
            random,
            next_after_ps: 0.0,
            mean_payload_bytes,
            report: UdpSenderReport::default(),
        })
    }

    /// When the next datagram leaves.
    fn next_ps(&mut self) -> u64 {
        let after_ps = match self.options.departures {
            Departures::Constant => {
                // Number n leaves after n intervals: no rounding adds up.
                let bits = u128::from(self.report.sent) * (self.mean_payload_bytes * 8.0) as u128;
                (bits * u128::from(SECOND_PS) / u128::from(self.options.rate_bps)) as u64
            }
            Departures::Poisson => {
                let seconds = self.mean_payload_bytes * 8.0 / self.options.rate_bps as f64;
                self.next_after_ps += self.random.exponential(seconds * SECOND_PS as f64);
                self.next_after_ps as u64
            }
        };
        self.options.start_ps.saturating_add(after_ps)
    }

    fn schedule(&mut self, io: &mut Io<'_>) {
        if self.options.count.is_some_and(|count| self.report.sent >= count) {
            return;
        }
        let next_ps = self.next_ps();
        let end_ps = self.options.duration_ps.map(|ps| self.options.start_ps.saturating_add(ps));
        if end_ps.is_none_or(|end_ps| next_ps < end_ps) {
            io.set_timer(next_ps, 0);
        }
    }
}

impl Program for UdpSender {
    fn bindings(&self) -> Vec<crate::program::Binding> {
        self.options.source_port.map(crate::program::Binding::Udp).into_iter().collect()
    }

    fn start_ps(&self) -> Option<u64> {
        Some(self.options.start_ps)
    }

    fn start(&mut self, io: &mut Io<'_>) {
        self.report.local_port = self.options.source_port.or_else(|| io.bind_udp());
        if self.report.local_port.is_some() {
            self.schedule(io);
        }
    }

    fn timer(&mut self, _: u64, io: &mut Io<'_>) {
        let Some(port) = self.report.local_port else { return };
        let bytes = match self.options.sizes {
            PayloadSizes::Fixed(bytes) => bytes,
            PayloadSizes::Exponential { mean, least } => {
                let drawn = libm::round(self.random.exponential(mean)) as u32;
                drawn.max(least).min(self.most_payload_bytes)
            }
        };
        let mut stamp = [0; STAMP_BYTES];
        stamp[..8].copy_from_slice(&self.report.sent.to_be_bytes());
        stamp[8..].copy_from_slice(&io.now_ps().to_be_bytes());
        let stored = if bytes as usize >= STAMP_BYTES { STAMP_BYTES } else { 0 };
        let payload = View { bytes: &stamp[..stored], absent_bytes: bytes - stored as u32 };
        io.send_datagram(port, self.options.destination, self.options.tos, payload);
        self.report.sent += 1;
        self.report.sent_bytes += u64::from(bytes);
        self.report.first_ps.get_or_insert(io.now_ps());
        self.report.last_ps = Some(io.now_ps());
        self.schedule(io);
    }

    fn unreachable(&mut self, _: IpAddr, _: &mut Io<'_>) {
        self.report.unreachable += 1;
    }
}

impl Measures for UdpSender {
    fn report(&self, _: &Stack) -> Report {
        Report::UdpSender(self.report.clone())
    }
}
