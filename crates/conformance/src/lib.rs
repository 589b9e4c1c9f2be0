// SPDX-License-Identifier: Apache-2.0
//! Checking Planewright against the outside: STF tests run on a device, corpora of programs with
//! committed baselines of verdicts, the coverage of the P4_16 specification's clauses, and random
//! programs on which engines must agree. It uses every crate below the command line; nothing below
//! uses it.

pub mod corpus;
pub mod differential;
pub mod inlining;
pub mod rewrites;
pub mod specification;
pub mod stf;
