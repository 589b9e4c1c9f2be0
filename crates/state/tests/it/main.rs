// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `state`, one program.

mod batches;
mod cell_ranges;
mod cells;
mod concurrency;
mod forwarding;
mod lookup;
mod match_index;
mod migration;
mod programs;
mod subscriptions;
mod versions;
