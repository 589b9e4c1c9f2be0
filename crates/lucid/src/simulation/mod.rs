// SPDX-License-Identifier: Apache-2.0
//! Networks of switches that run one Lucid program: queues, links, time, commands, failures.

mod observation;

pub use observation::*;
