// SPDX-License-Identifier: Apache-2.0
//! Loopback ports with rate, latency and queues, on both engines, exact to the picosecond.

mod differential;
mod flow_control;
mod harness;
mod loopback;
mod pace;
mod probes;
mod taps;
