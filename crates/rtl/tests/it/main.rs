// SPDX-License-Identifier: Apache-2.0
//! Tests of the emitted hardware in Verilator and Yosys. Without the tools they print NOT RUN.

mod lockstep;
mod logic;
mod mutations;
mod refusals;
mod synthesis;
mod synthetic;
mod tools;
