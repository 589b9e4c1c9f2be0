// SPDX-License-Identifier: Apache-2.0
//! Compiled programs against the reference interpreter: examples with their runs, the library's, and
//! generated programs, on devices in the run's network, with legal schedules and equal cells.

mod addressed;
mod alike;
mod delays;
mod departures;
mod egress;
mod egress_dispatches;
mod generated;
mod generated_runs;
mod hops;
mod links;
mod missing;
mod oracle;
mod payloads;
mod ports;
mod shipped;
mod small;
mod stages;
mod tables;
mod user;
mod v1model;
mod waiting;
