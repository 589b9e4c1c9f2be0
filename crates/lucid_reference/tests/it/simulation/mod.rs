// SPDX-License-Identifier: Apache-2.0
//! The simulation, on core programs written by hand: times and order, networks, packets, commands,
//! faults, and that the same seed gives the same run.

mod build;
mod log;
mod networks;
mod schedules;
mod setups;
mod timing;
