// SPDX-License-Identifier: Apache-2.0
//! Compiles regions of the pipeline IR to machine code, with Cranelift. Results are those of the interpreter,
//! bit for bit.
//!
//! A [`Unit`] is a list of steps: blocks of the program, and what the device does between them. It becomes one
//! function. Slots live in variables of that function; headers stay in the packet's memory, where fields are
//! read at their uses, and an in-place deparser writes only changed fields. The code reaches state through the
//! address of an instance, so instances share it.
//!
//! This is the only crate with `unsafe` code: it calls what it compiled, and what it compiled reads
//! memory by address.

#[allow(unsafe_code)] // Calls compiled code.
mod burst;
pub(crate) mod codegen;
#[allow(unsafe_code)] // Calls compiled code, and frees it.
mod compiled;
mod instance;
#[allow(unsafe_code)] // Advises the system on memory.
mod large_pages;
#[allow(unsafe_code)] // Compiled code notes where packets are; of many it is checked once.
mod packets;
#[allow(unsafe_code)] // Called from compiled code, with addresses that compiled code hands in.
pub(crate) mod runtime;
mod unit;

pub use burst::{Burst, EarlyExit};
pub use compiled::{CompileError, Compiled, Runs, UnitExit};
pub use instance::BoundInstance;
pub use large_pages::prefer_large_pages;
pub use packets::{Packets, SentPacket};
pub use runtime::pass::{MAX_COUNTED_EXITS, MAX_INPUTS, MAX_OUTPUTS, TAILROOM_BYTES};
pub use unit::{Condition, FIRST_WITHOUT_STORAGE, Gate, Step, StepValue, Storage, Unit};
