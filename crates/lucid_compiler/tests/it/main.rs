// SPDX-License-Identifier: Apache-2.0
//! Tests of the compiler from outside, one module a part of it; those that need an interpreter of core programs
//! have the reference machine's. Compiled programs run in the tests of `lucid_network`.

mod atomic;
mod constructs;
mod normal;
mod tna;
mod tofino_rules;
mod v1model;
