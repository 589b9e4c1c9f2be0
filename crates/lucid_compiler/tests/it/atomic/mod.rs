// SPDX-License-Identifier: Apache-2.0
//! Atomic programs: what each pass makes of small handlers (Lucid Figures 6 to 8), and that atomic
//! programs do what the handlers do that they were made of: the examples, the library's tests and
//! generated programs.

mod evaluate;
mod figures;
mod generated;
mod oracle;
mod shipped;
mod stateful;
