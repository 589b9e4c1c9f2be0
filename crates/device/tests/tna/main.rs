// SPDX-License-Identifier: Apache-2.0
//! The device with programs for Tofino, from P4 source to ports, on both engines.

mod harness;
mod registers;
mod ways;
