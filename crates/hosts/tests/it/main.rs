// SPDX-License-Identifier: Apache-2.0
//! Hosts in simulated networks.

#[path = "../support/mod.rs"]
mod support;

mod applications;
mod ipv6;
mod pairs;
mod published;
mod small_queues;
mod smoltcp_peer;
