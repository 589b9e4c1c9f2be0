// SPDX-License-Identifier: Apache-2.0
//! Tests of P4R programs, from their text to the two programs that the compiler makes, and of agents beside devices.

mod compiled;
mod equal;
mod generated;
mod script;
