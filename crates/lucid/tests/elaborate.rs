// SPDX-License-Identifier: Apache-2.0
//! Elaboration: sources with the core programs they become or the messages they get, examples of
//! messages, and random programs that have to mean in the end what they mean as written.

#[path = "elaborate/examples.rs"]
mod examples;
#[path = "elaborate/golden.rs"]
mod golden;
#[path = "elaborate/meaning.rs"]
mod meaning;
#[path = "elaborate/roots.rs"]
mod roots;
