// SPDX-License-Identifier: Apache-2.0
//! Elaboration: sources with the core programs they become or the messages they get, examples of
//! messages, and random programs that have to mean in the end what they mean as written.

mod examples;
mod golden;
mod roots;
