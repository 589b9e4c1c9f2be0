// SPDX-License-Identifier: Apache-2.0
//! Ports beyond the wire: packets that come back by the port that they left by, with the port's rate,
//! latency and queues. Both engines, to the picosecond.

mod differential;
mod flow_control;
mod harness;
mod loopback;
mod pace;
mod probes;
mod taps;
