// SPDX-License-Identifier: Apache-2.0
//! Ports that programs serve, and what arrives at them.

use crate::tcp::TcpOptions;
use crate::wire::View;
use crate::wire::ipv4::Ecn;
use std::net::IpAddr;

/// The number of a connection in a host while it exists.
pub(crate) type ConnectionId = usize;

/// A port that a program serves.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    Udp(u16),
    Tcp {
        port: u16,
        options: TcpOptions,
        keeps_bytes: bool,
    },
    /// All frames that arrive.
    Frames,
}

/// A UDP datagram that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram<'a> {
    pub source: (IpAddr, u16),
    pub ecn: Ecn,
    pub payload: View<'a>,
}

/// The answer to an echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EchoReply {
    pub source: IpAddr,
    pub sequence: u16,
    pub ttl: u8,
    pub payload_bytes: u32,
}
