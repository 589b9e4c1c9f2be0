// SPDX-License-Identifier: Apache-2.0
//! Links of a network.

use super::Node;
use crate::format::value::QueueLimit;
use network::links::LinkOptions;
use source::Span;

/// The rate of links whose file gives none, in bits per second.
pub const DEFAULT_RATE_BPS: u64 = 1_000_000_000;

/// The latency of links whose file gives none, in picoseconds.
pub const DEFAULT_LATENCY_PS: u64 = 10_000_000;

/// A port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The node.
    pub node: Node,
    /// Its port; those of hosts are numbered from 0 in the order of links.
    pub port: u32,
    /// The place.
    pub span: Span,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Both ends.
    pub ends: [End; 2],
    /// From the first end to the second, and back.
    pub directions: [Direction; 2],
    /// The place.
    pub span: Span,
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// Latency, jitter, loss and what else happens to frames on the link; without the sender's rate.
    pub options: LinkOptions,
    /// The rate of the sending port in bits per second; `None` only between Lucid switches.
    pub rate_bps: Option<u64>,
    /// Most packets or bytes that wait at the sending port.
    pub queue: Option<QueueLimit>,
    /// Bytes that each packet takes on the wire besides its own.
    pub overhead_bytes: u32,
    /// Whether the file gives no rate.
    pub is_default_rate: bool,
    /// Whether the file gives no latency.
    pub is_default_latency: bool,
}
