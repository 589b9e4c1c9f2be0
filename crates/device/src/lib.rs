// SPDX-License-Identifier: Apache-2.0
//! One switch: ports, queues, replication, recirculation and a clock, with an architecture's
//! description deciding in which order the blocks of a program run. The outside world (files,
//! links, live ports) is not here.
//!
//! **Time** is integer picoseconds, given by the caller with each packet. At one time, packets
//! leaving queues come first (lower path first), then packets back to ingress, then packets from
//! ports, each by port and sequence; so with infinite rates every packet runs to its end before the
//! next one begins.

pub mod options;
pub mod statistics;
pub mod traffic_manager;

pub use options::{CongestionThresholds, DeviceOptions, PortOptions, TrafficManagerOptions};
pub use statistics::{DropReason, PortStatistics, Statistics};
pub use traffic_manager::{CongestionSignal, OutputPath};
