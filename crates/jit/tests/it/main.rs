// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `jit`, one program.

mod blocks;
mod externs;
mod inline_lookups;
mod random_sites;
mod tables_and_state;
