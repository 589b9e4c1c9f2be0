// SPDX-License-Identifier: Apache-2.0
//! Tests of `scale` as a whole.

mod ahead;
mod checker;
mod controls;
mod designs;
mod equivalence;
mod figure3;
mod generate;
mod mechanisms;
mod programs;
mod resolution;
mod rules;
mod switch_run;
mod threads;
mod traffic;
mod transformer;
mod v1model;
