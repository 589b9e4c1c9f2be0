// SPDX-License-Identifier: Apache-2.0
//! Inputs for the tests of several crates: randomly generated Lucid programs with runs, and the shipped
//! programs with runs. Only tests depend on this crate.

pub mod generator;
pub mod programs;
pub mod shipped_runs;
