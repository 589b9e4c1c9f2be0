// SPDX-License-Identifier: Apache-2.0
//! Differential testing: generated programs with entries and packets run on two subjects that must agree to the bit, and
//! a case on which they differ is made small. Subjects are devices with different engines, or one engine on different
//! forms of a program. Programs, entries and packets are made in `testing`.

pub mod campaign;
pub mod case;
pub mod coverage;
pub mod edits;
pub mod forms;
pub mod garbage;
pub mod runner;
pub mod shrink;
pub mod subject;
