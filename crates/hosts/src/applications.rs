// SPDX-License-Identifier: Apache-2.0
//! Applications of hosts as plain data ([`Application`]), and what they measured ([`Report`]).

mod flows;
pub mod frames;
pub mod memcached;
pub mod ping;
pub mod requests;
pub mod tcp_bulk;
pub mod tcp_server;
pub mod trace_sender;
pub mod udp_sender;
pub mod udp_server;

use crate::error::AddError;
use crate::interface::HostOptions;
use crate::program::Program;
use crate::stack::Stack;
use arithmetic::random::stream::Stream;
pub use flows::{Arrivals, FlowRecord, FlowsOptions, FlowsReport, ListedFlow};
use frames::{FrameListenerOptions, FrameSenderOptions};
use memcached::{MemcachedClientOptions, MemcachedServerOptions};
use ping::PingOptions;
use requests::{RequestClientOptions, RequestServerOptions};
use tcp_bulk::TcpBulkOptions;
use tcp_server::TcpServerOptions;
use trace_sender::TraceSenderOptions;
use udp_sender::UdpSenderOptions;
use udp_server::UdpServerOptions;

/// One second in picoseconds.
const SECOND_PS: u64 = 1_000_000_000_000;

/// An application of a host.
#[derive(Clone, Debug, PartialEq)]
pub enum Application {
    /// Echo requests, as `ping` sends them.
    Ping(PingOptions),
    /// One TCP connection that sends as fast as it can, or at a rate.
    TcpBulk(TcpBulkOptions),
    /// TCP connections whose bytes are counted, or sent back.
    TcpServer(TcpServerOptions),
    /// Requests over TCP to one server, or to several at once (incast).
    Requests(RequestClientOptions),
    /// Answers requests of [`Application::Requests`].
    RequestServer(RequestServerOptions),
    /// UDP datagrams at a constant rate or as a Poisson process.
    UdpSender(UdpSenderOptions),
    /// UDP datagrams that are counted, or sent back.
    UdpServer(UdpServerOptions),
    /// TCP flows with sizes of a distribution, or from a list.
    Flows(FlowsOptions),
    /// Gets and sets over UDP.
    MemcachedClient(MemcachedClientOptions),
    /// A key-value store over UDP.
    MemcachedServer(MemcachedServerOptions),
    /// Frames at given times, such as those of a capture.
    FrameSender(FrameSenderOptions),
    /// Records frames that arrive.
    FrameListener(FrameListenerOptions),
    /// A generated packet trace.
    TraceSender(TraceSenderOptions),
}

/// What an application measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// Of [`Application::Ping`].
    Ping(ping::PingReport),
    /// Of [`Application::TcpBulk`].
    TcpBulk(tcp_bulk::TcpBulkReport),
    /// Of [`Application::TcpServer`].
    TcpServer(tcp_server::TcpServerReport),
    /// Of [`Application::Requests`].
    Requests(requests::RequestClientReport),
    /// Of [`Application::RequestServer`].
    RequestServer(requests::RequestServerReport),
    /// Of [`Application::UdpSender`].
    UdpSender(udp_sender::UdpSenderReport),
    /// Of [`Application::UdpServer`].
    UdpServer(udp_server::UdpServerReport),
    /// Of [`Application::Flows`].
    Flows(FlowsReport),
    /// Of [`Application::MemcachedClient`].
    MemcachedClient(memcached::MemcachedClientReport),
    /// Of [`Application::MemcachedServer`].
    MemcachedServer(memcached::MemcachedServerReport),
    /// Of [`Application::FrameSender`] and [`Application::TraceSender`].
    FrameSender(frames::FrameSenderReport),
    /// Of [`Application::FrameListener`].
    FrameListener(frames::FrameListenerReport),
}

/// A program that reports what it measured.
pub(crate) trait Measures: Program {
    fn report(&self, stack: &Stack) -> Report;
}

impl Application {
    /// Checks the options, and makes the program that runs it.
    pub(crate) fn into_program(
        self,
        host: &HostOptions,
        mut random: Stream,
    ) -> Result<Box<dyn Measures>, AddError> {
        Ok(match self {
            Application::Ping(options) => Box::new(ping::Ping::new(options, host)?),
            Application::TcpBulk(options) => Box::new(tcp_bulk::TcpBulk::new(options)?),
            Application::TcpServer(options) => Box::new(tcp_server::TcpServer::new(options)),
            Application::Requests(options) => Box::new(requests::RequestClient::new(options)?),
            Application::RequestServer(options) => Box::new(requests::RequestServer::new(options)),
            Application::UdpSender(options) => {
                Box::new(udp_sender::UdpSender::new(options, host, random)?)
            }
            Application::UdpServer(options) => Box::new(udp_server::UdpServer::new(options)),
            Application::Flows(options) => Box::new(flows::Flows::new(options, random)?),
            Application::MemcachedClient(options) => {
                Box::new(memcached::MemcachedClient::new(options, host, random)?)
            }
            Application::MemcachedServer(options) => {
                Box::new(memcached::MemcachedServer::new(options, host)?)
            }
            Application::FrameSender(options) => Box::new(frames::FrameSender::new(options)),
            Application::FrameListener(options) => Box::new(frames::FrameListener::new(options)),
            Application::TraceSender(options) => {
                Box::new(trace_sender::TraceSender::new(options, random.bits())?)
            }
        })
    }
}

/// Sums by interval of time.
#[derive(Clone, Debug)]
pub(crate) struct Intervals {
    length_ps: u64,
    sums: Vec<u64>,
}

impl Intervals {
    /// Of a length; 0 keeps none.
    pub(crate) fn new(length_ps: u64) -> Intervals {
        Intervals { length_ps, sums: Vec::new() }
    }

    #[inline]
    pub(crate) fn add(&mut self, time_ps: u64, amount: u64) {
        if self.length_ps == 0 {
            return;
        }
        let at = (time_ps / self.length_ps) as usize;
        if self.sums.len() <= at {
            self.sums.resize(at + 1, 0);
        }
        self.sums[at] += amount;
    }

    pub(crate) fn sums(&self) -> &[u64] {
        &self.sums
    }
}

/// The error of an option.
pub(crate) fn option_error(text: impl Into<String>) -> AddError {
    AddError::Option(text.into())
}
