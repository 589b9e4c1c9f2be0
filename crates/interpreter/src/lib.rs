// SPDX-License-Identifier: Apache-2.0
//! The reference semantics of the pipeline IR, and the parts that all engines share.
//!
//! An [`Interpreter`] runs one block of a program on a [`PacketContext`], against one configuration version and
//! the cells of one pipeline instance. Time, lengths, random keys, the log and unknown externs come from an
//! [`Environment`], so it reads no clock and does no I/O. The device chooses which blocks run in which order,
//! and acts on requests. A packet's slots are flat words in the order of [`ir::StorageLayout`], so that engines
//! share contexts.
//!
//! A [`BlockRun`] can stop between two moments, for devices in which a pass takes time; a block run at once is
//! the same code without stops.
//!
//! **Shared by all engines:** [`hash`] (hash and checksum algorithms), [`random`] (counter-based random
//! numbers) and [`bit_string`] (bits of packets).
//!
//! An [`Observer`] receives the events of a run; [`trace`] makes a tree of them, and text or JSON of the tree.

pub mod bit_string;
mod block_run;
mod context;
mod engine;
mod environment;
mod externs;
pub mod hash;
mod headers;
mod observer;
mod operation;
pub mod random;
mod table;
pub mod trace;

pub use block_run::{BlockRun, Outcome, Progress, StopAfter};
pub use context::PacketContext;
pub use engine::Interpreter;
pub use environment::{Environment, ExternCall};
pub use externs::call_extern;
pub use observer::{Event, Observer, Slots};
pub use operation::log_line;
