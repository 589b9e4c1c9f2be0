// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `interpreter`, one program.

mod harness;
mod instructions;
mod stopping;
mod traces;
