// SPDX-License-Identifier: Apache-2.0
//! Compiled programs against the reference interpreter: examples with their runs, the library's, and
//! generated programs, on devices in the run's network, with legal schedules and equal cells.

#[path = "compiled/alike.rs"]
mod alike;
#[path = "compiled/delays.rs"]
mod delays;
#[path = "compiled/egress.rs"]
mod egress;
#[path = "compiled/egress_dispatches.rs"]
mod egress_dispatches;
#[path = "compiled/generated.rs"]
mod generated;
mod generator;
#[path = "compiled/links.rs"]
mod links;
#[path = "compiled/oracle.rs"]
mod oracle;
#[path = "compiled/ports.rs"]
mod ports;
#[path = "compiled/shipped.rs"]
mod shipped;
mod shipped_runs;
#[path = "compiled/shrink.rs"]
mod shrink;
#[path = "compiled/small.rs"]
mod small;
#[path = "compiled/user.rs"]
mod user;
