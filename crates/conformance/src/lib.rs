// SPDX-License-Identifier: Apache-2.0
//! Programs and tests from outside: STF tests on a device, and corpora of P4 programs with committed baselines of
//! verdicts. What every accepted program must survive is in [`rewrites`] and [`inlining`].

pub mod corpus;
pub mod inlining;
pub mod rewrites;
pub mod stf;
