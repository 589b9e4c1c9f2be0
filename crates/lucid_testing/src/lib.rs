// SPDX-License-Identifier: Apache-2.0
//! What tests of several crates run Lucid on: programs made at random, and the programs with runs that are
//! shipped. No crate but tests depends on this one; what is asked of a program is each test's.

pub mod generator;
pub mod programs;
pub mod shipped_runs;
