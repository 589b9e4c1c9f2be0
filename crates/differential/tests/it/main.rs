// SPDX-License-Identifier: Apache-2.0
//! Integration tests of the crate: one program, so that it is linked once.

mod agreement;
mod analysis;
mod programs;
mod samples;
mod stages;
