// SPDX-License-Identifier: Apache-2.0
//! The simple test framework's language (STF) with BMv2's extensions: reading it, and running a test
//! on a device.

pub mod reader;
pub mod runner;
