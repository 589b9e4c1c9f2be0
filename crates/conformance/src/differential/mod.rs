// SPDX-License-Identifier: Apache-2.0
//! Differential testing: random programs with entries and packets run on two subjects that must agree
//! to the bit, and a program on which they do not is made small. Subjects are devices with different
//! engines, or one engine on different forms of the program.

pub mod campaign;
pub mod choices;
pub mod coverage;
pub mod entries;
pub mod forms;
pub mod garbage;
pub mod generator;
pub mod packets;
pub mod piece;
pub mod runner;
pub mod shrink;
pub mod subject;
