// SPDX-License-Identifier: Apache-2.0
//! Atomic programs: what each pass makes of small handlers (Lucid Figures 6 to 8), and that atomic
//! programs do what the handlers do that they were made of: the examples, the library's tests and
//! generated programs.

#[path = "atomic/figures.rs"]
mod figures;
#[path = "atomic/generated.rs"]
mod generated;
mod generator;
#[path = "atomic/oracle.rs"]
mod oracle;
#[path = "atomic/shipped.rs"]
mod shipped;
#[allow(dead_code, reason = "not every test shows sources")]
mod shipped_runs;
