// SPDX-License-Identifier: Apache-2.0
//! Regions of the pipeline IR to machine code, with Cranelift. The meaning of every instruction is
//! the interpreter's, to the bit; what lives here is how to get there fast.
//!
//! A [`Unit`] is a list of steps: blocks of the program, and what the device does between them. It
//! becomes one function. Slots live in variables of that function; headers stay in the packet's
//! memory, where their fields are read when they are wanted, and an in-place deparser writes only
//! what changed. State is reached through the address of an instance, so one code serves many.
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

pub use burst::{Burst, LeftEarly};
pub use compiled::{CompileError, Compiled, Ending, Runs};
pub use instance::BoundInstance;
pub use large_pages::prefer_large_pages;
pub use packets::{Packets, SentPacket};
pub use runtime::pass::{ENDS, NUMBERS, OUTPUTS, TAILROOM_BYTES};
pub use unit::{Condition, FIRST_WITHOUT_STORAGE, Gate, Step, StepValue, Storage, Unit};
