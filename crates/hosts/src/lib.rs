// SPDX-License-Identifier: Apache-2.0
//! Simulated hosts: a [`Host`] is a `network::node::Node` with interfaces, ARP, neighbor discovery, ICMP, UDP, TCP and
//! [`applications`] that report what they measured. The same options, seed and frames give the same bytes on every machine.

pub mod applications;
mod error;
mod host;
mod interface;
pub mod packet_trace;
mod ports;
mod program;
mod routing;
pub mod sizes;
mod stack;
pub mod tcp;
pub mod wire;

pub use error::AddError;
pub use host::Host;
pub use interface::{HostOptions, InterfaceOptions, InterfaceStatistics, IpNetwork, Route};
