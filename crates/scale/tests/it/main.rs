// SPDX-License-Identifier: Apache-2.0
//! Tests of `scale` as a whole.

mod checker;
mod equivalence;
mod figure3;
mod generate;
mod mechanisms;
mod resolution;
mod rules;
mod v1model;
