// SPDX-License-Identifier: Apache-2.0
//! Generated P4 programs for v1model with entries and packets that reach deep into them. A program is a tree of pieces,
//! which a shrinker takes away.

pub mod entries;
pub mod generator;
pub mod packets;
pub mod piece;
pub mod stateful;

pub use generator::{Generated, Knobs, generate};
