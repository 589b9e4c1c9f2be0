// SPDX-License-Identifier: Apache-2.0
//! Units of compilation: lists of steps (blocks of the program, and what the device does between them) with
//! exits. Architectures describe their units; this file knows no architecture.

use ir::SlotId;

/// Exits have numbers from 1. Exits with this number or a larger one write no storage and are counted; there
/// are at most [`crate::MAX_COUNTED_EXITS`] of them.
pub const FIRST_WITHOUT_STORAGE: u32 = 1 << 15;

/// A number that a step stores in a slot, truncated to the slot's width, or outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepValue {
    /// A constant.
    Constant(u64),
    /// The value of a slot of at most 64 bits.
    Slot(SlotId),
    /// An input of the caller. Each packet has its own input 0; a burst shares the others.
    Input(usize),
    /// A word of the caller: in a column of words behind the gates, the word that a slot names. A gate of the same slot and
    /// number of words has let the packet pass.
    Row {
        /// The slot that names the word.
        row: SlotId,
        /// The number of words of a column, as of [`Gate::rows`].
        rows: u32,
        /// The number of the column; 0 are the gates.
        column: u32,
    },
    /// The length in bytes of the packet that entered the unit.
    PacketLength,
    /// The length in bytes of the packet that entered the unit, plus the bytes of all valid headers at one
    /// [`Step::Measure`], less those at another; at least 0.
    Length {
        /// Index of the later measure.
        plus: usize,
        /// Index of the earlier one.
        minus: usize,
    },
}

/// The condition of an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    Always,
    /// The packet has pending requests.
    RequestsPending,
    /// A slot of at most 64 bits is equal to this number.
    Equals(SlotId, u64),
    /// A slot of at most 64 bits differs from this number.
    Differs(SlotId, u64),
    /// A slot of at most 64 bits is at least this number.
    AtLeast(SlotId, u64),
    /// A gate of the caller is closed, or the caller has no such gate.
    Closed(Gate),
}

/// A bit that the caller sets to make packets take an exit: in the word that one slot names, the bit that
/// another slot names. Both slots have at most 64 bits. Fresh units have gates ([`crate::Burst::run`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The slot that names the word.
    pub row: SlotId,
    /// The number of words: a power of two.
    pub rows: u32,
    /// The slot that names the bit; `None` is bit 0.
    pub bit: Option<SlotId>,
}

/// One step of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Runs a block of the program, by its index. The next step follows also after `exit` and after a parser's
    /// error; a step limit or a failed assertion leaves the unit.
    Block(usize),
    /// Stores a number in a slot.
    Set(SlotId, StepValue),
    /// Measures the bytes of all valid headers that the deparser gets, under this index.
    Measure(usize),
    /// Leaves the unit with this exit (at least 1, below 1 << 16) when the condition holds.
    ExitIf(Condition, u32),
    /// Outputs a number to the caller, under this index.
    Output(usize, StepValue),
    /// Outputs a number that callers read only after a later exit with storage.
    OutputAtExit(usize, StepValue),
}

/// The storage before and after a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The unit reads and writes the packet's storage in memory.
    Kept,
    /// The unit begins with all slots zero and runs on bursts. After an exit the storage has the slots that are
    /// live there ([`Unit::observed`]); after the end its content is undefined.
    Fresh,
}

/// A list of steps that becomes one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Name for diagnostics.
    pub name: String,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The storage before and after.
    pub storage: Storage,
    /// Slots that the slow path reads after an exit, besides those that are live by [`ir::analysis`]. All
    /// others are undefined then.
    pub observed: Vec<SlotId>,
    /// Whether the last block is a deparser that writes headers into the packet's memory: the function then
    /// records the outgoing packet's address and length. Else the deparser appends to the emitted bits.
    pub in_place: bool,
}

impl Unit {
    /// The number of words of gates and columns behind them that it reads.
    pub(crate) fn gate_rows(&self) -> usize {
        let rows = |step: &Step| match step {
            Step::ExitIf(Condition::Closed(gate), _) => gate.rows as usize,
            Step::Set(_, StepValue::Row { rows, column, .. }) => (rows * (column + 1)) as usize,
            _ => 0,
        };
        self.steps.iter().map(rows).max().unwrap_or(0)
    }

    /// A unit of one block, on storage in memory.
    pub fn block(name: &str, block: usize) -> Unit {
        Unit {
            name: name.to_string(),
            steps: vec![Step::Block(block)],
            storage: Storage::Kept,
            observed: Vec::new(),
            in_place: false,
        }
    }
}
