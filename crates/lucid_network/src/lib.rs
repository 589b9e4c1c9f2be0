// SPDX-License-Identifier: Apache-2.0
//! Runs of compiled programs: a device for each switch in the network of the run, reported as the same
//! observations as a simulation by the reference interpreter ([`lucid_reference::simulation`]), so that logs,
//! expectations and recorded schedules are the same things for both. The program is the one that `plane emit` writes,
//! and each device is built from the device file that it writes for the switch ([`deploy::device_file`]). Taps and probes
//! show what devices do; which cells a handler touches is seen by the reference interpreter, which runs each handler again
//! (`replaying`). Whether both agree is [`verify`]'s question.
//!
//! [`options`] says which choices of the compiler follow from a run, [`deploy`] what the control plane sets up at
//! each switch, and [`script`] says the same to the shell of a real Tofino.

mod arrival;
pub mod deploy;
mod egress;
mod egress_bytes;
mod event_loop;
mod globals;
mod handler_runs;
mod in_flight;
mod ingress;
mod installed;
pub mod options;
mod passes;
mod ports;
mod probed;
mod replaying;
pub mod script;
mod sending;
mod simulation;
mod switch;
mod unsupported_packets;
mod user;
mod verify;
mod waiting_frames;
mod watch;

pub use ports::check_ports;
pub use simulation::CompiledSimulation;
pub use switch::{LoadError, ready};
pub use verify::{Difference, Verified, tolerance, verify};
