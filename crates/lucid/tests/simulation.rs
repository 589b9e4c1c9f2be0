// SPDX-License-Identifier: Apache-2.0
//! The simulation, on core programs written by hand: times and order, networks, packets, commands,
//! faults, and that the same seed gives the same run.

#[path = "simulation/build.rs"]
mod build;
#[path = "simulation/log.rs"]
mod log;
#[path = "simulation/networks.rs"]
mod networks;
#[path = "simulation/schedules.rs"]
mod schedules;
#[path = "simulation/setups.rs"]
mod setups;
#[path = "simulation/timing.rs"]
mod timing;
