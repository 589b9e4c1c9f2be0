// SPDX-License-Identifier: Apache-2.0
//! Networks with real hosts: each host is a network namespace in which programs run, and the switches of the file forward
//! their frames in real time. [`LiveNetwork`] makes a network in the kernel and removes it; [`Forwarder`] runs its switches;
//! [`state`] finds the networks that run, or have crashed. The caller reads files, makes devices and prints.

mod checksums;
pub mod containerlab;
mod forwarding;
mod kernel;
mod live_network;
pub mod one_switch;
mod pingall;
mod plan;
pub mod programs;
pub mod state;
mod system;
mod unsupported;
pub mod user_namespace;

pub use forwarding::{Forwarder, Pace, StepError};
pub use kernel::Interfaces;
pub use live_network::{LiveNetwork, default_name, exec};
pub use pingall::{Pinged, pingall};
pub use plan::Plan;
use source::Explanation;
pub use system::run_in_real_time;
pub use unsupported::check_hosts;

/// The explanations of all codes.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    programs::EXPLANATIONS.iter()
}
