// SPDX-License-Identifier: Apache-2.0
//! Networks of switches that run one Lucid program: queues, links, time, commands, failures.

pub mod codes;
mod commands;
mod inputs;
mod observation;
mod packet_fields;
mod random;
mod resolve;
mod setup;
mod simulator;
mod topology;

pub use observation::*;
pub use setup::{MOST_STATE_BYTES, NO_PORT, ReadCapture, Setup};
pub use simulator::{EVENT_TIME_PS, Outcome, Simulation};
