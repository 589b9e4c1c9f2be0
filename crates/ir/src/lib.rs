// SPDX-License-Identifier: Apache-2.0
//! The pipeline IR: what is executed, laid out, sharded and measured.
//!
//! # Meaning
//!
//! A [`Program`] has *storage* (slots that belong to one packet in flight), *state* (tables,
//! registers, counters, meters, action profiles, value sets, which belong to one pipeline instance)
//! and *regions* of code (one a programmable block, one an action).
//!
//! **Storage.** Every header field, validity bit, metadata field and local variable is a [`Slot`]. At
//! the start of a packet all slots are zero, so an undefined read gives zero, an invalid header's
//! fields keep what was last stored, and metadata starts at zero. `error` and enum values are numbers:
//! the index of the error in [`Program::errors`], the ordinal of the enum's member (or its underlying
//! value); `bool` is one bit.
//!
//! **Code.** A [`Region`] is a list of basic blocks; execution starts at block 0. An instruction
//! defines temporaries, each exactly once, which are used only later in the same basic block; whatever
//! crosses blocks goes through slots. Operands are constants or temporaries and carry their width.
//!
//! **Raising.** Inside a parser region `Extract`, `Lookahead` and `Advance` may raise an error: the
//! region then ends as if by [`Terminator::Reject`] with that error. A block that rejects stores the
//! error in its [`Block::parser_error`] slot, when it has one; `accept` leaves the slot at zero
//! (`NoError`).
//!
//! **Limits.** No value is wider than [`MAX_WIDTH_BITS`]. A block ends with the internal condition
//! "step limit" after [`STEP_LIMIT`] taken back edges (parser cycles and loops that could not be
//! unrolled), and the packet is dropped with that reason.
//!
//! **Moments.** A block run at once sees one state. Where a device lets a pass take time, other packets and
//! the control plane may change state between two *moments* of the block: [`moments`] says which accesses
//! are one moment. An access by an instruction whose origin names an `@atomic` block
//! ([`Origin::atomic`]) is one moment with all others of that block.
//!
//! The meaning of each instruction stands at its variant of [`Operation`].
//!
//! # Around it
//!
//! [`text`] prints and parses programs, [`verify()`] checks the invariants of programs, [`effects`] has reads and
//! writes of operations, [`analysis`] data flow, [`passes`] simplify, [`transactions`] fuse register accesses,
//! [`moments`] orders accesses to state in stages, [`stages`] cuts controls into stages, [`architecture`] describes architectures, [`lowering`] makes
//! programs from typed P4, [`lints`] warn about packages, [`ready`] runs lowering and passes in the one order that tools use.

pub mod analysis;
pub mod analysis_report;
pub mod architecture;
pub mod bits;
mod block;
pub mod codes;
pub mod control_flow;
mod crc;
pub mod effects;
mod hash_algorithm;
mod ids;
pub mod instruction;
mod item_ref;
pub mod lints;
pub mod lowering;
pub mod moments;
mod operand_walk;
mod origin;
pub mod passes;
mod program;
mod random_site;
pub mod reading;
pub mod ready;
mod slot_set;
pub mod stages;
mod state_objects;
mod storage;
pub mod storage_layout;
mod table;
pub mod text;
pub mod transactions;
pub mod verify;

pub use arithmetic::crc::CrcParameters;
pub use bits::Bits;
pub use block::{Block, BlockKind, BlockParameter, Extern, Request};
pub use crc::{CRC_WIDTHS_BITS, Calculation};
pub use hash_algorithm::HashAlgorithm;
pub use ids::*;
pub use instruction::*;
pub use item_ref::ItemRef;
pub use origin::Origin;
pub use program::Program;
pub use random_site::RandomSite;
pub use slot_set::SlotSet;
pub use state_objects::{ActionProfile, CountUnit, Counter, Meter, RegisterArray, ValueSet};
pub use storage::{
    Display, FieldList, Header, HeaderField, HeaderType, Slot, Stack, Union, ValueType,
};
pub use storage_layout::StorageLayout;
pub use table::{
    Action, ActionCall, ActionParameter, Entry, Key, KeyPattern, MatchKind, Table, TableAction,
};
pub use verify::{VerifyError, verify};

/// The widest value in bits that any engine has to handle; the verifier enforces it.
pub const MAX_WIDTH_BITS: u32 = p4::check::MAX_WIDTH_BITS;

/// How many back edges one run of a region may take before it is stopped.
pub const STEP_LIMIT: u32 = 65_536;
