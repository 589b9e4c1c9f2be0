// SPDX-License-Identifier: Apache-2.0
//! What is compiled together: a unit is a list of steps (blocks of the program, and what the device
//! does between them) with its exits. Architectures describe units; nothing here knows one.

use ir::SlotId;

/// Exits are numbered from 1; those from here on leave nothing in storage, for packets that end there,
/// and are counted. There are at most [`crate::ENDS`] of them.
pub const FIRST_WITHOUT_STORAGE: u32 = 1 << 15;

/// A number that a step puts into a slot, truncated to the slot's width, or hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepValue {
    /// A constant.
    Constant(u64),
    /// What a slot of at most 64 bits holds.
    Slot(SlotId),
    /// What the caller gives: 0 is each packet's own, the others hold for a burst.
    Input(usize),
    /// The packet's length in bytes as it came into the unit.
    PacketLength,
    /// The packet's length in bytes as it came into the unit, plus the bytes of all valid headers at
    /// one [`Step::Measure`], less those at another; at least 0.
    Length {
        /// Index of the later measure.
        plus: usize,
        /// Index of the earlier one.
        minus: usize,
    },
}

/// When a unit is left early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    Always,
    /// Code of the unit asked the device for something.
    RequestsPending,
    /// A slot of at most 64 bits holds this number.
    Equals(SlotId, u64),
    /// A slot of at most 64 bits does not hold this number.
    Differs(SlotId, u64),
    /// A slot of at most 64 bits holds this number or a larger one.
    AtLeast(SlotId, u64),
    /// A gate of the caller's is closed, or there is none of these numbers.
    Closed(Gate),
}

/// A bit that the caller sets to close a way: in the word that a slot names, the bit that another names,
/// both slots of at most 64 bits. Fresh units have gates ([`crate::Burst::run`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Which word.
    pub row: SlotId,
    /// How many words there are: a power of two.
    pub rows: u32,
    /// Which bit; `None` is bit 0.
    pub bit: Option<SlotId>,
}

/// One step of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Runs a block of the program, by its index. Its end by `exit` or by a parser's error goes on
    /// with the next step; a step limit or a failed assertion leaves the unit.
    Block(usize),
    /// Puts a number into a slot.
    Set(SlotId, StepValue),
    /// Notes how many bytes the valid ones of the unit's deparsed headers have, under this index.
    Measure(usize),
    /// Leaves the unit with this exit (at least 1, below 1 << 16) when the condition holds.
    ExitIf(Condition, u32),
    /// Hands a number to the caller, under this index.
    Output(usize, StepValue),
    /// The same, for callers that go on after a later exit with storage only.
    OutputAtExit(usize, StepValue),
}

/// What a unit begins with and leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The packet's storage in memory is what the unit begins with and what it leaves.
    Kept,
    /// The unit begins with all slots zero, whatever is in memory, and runs on bursts. After an exit
    /// the storage holds the slots that matter from there on ([`Unit::observed`]); after the end it
    /// holds nothing of meaning.
    Fresh,
}

/// A list of steps that becomes one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// For people.
    pub name: String,
    /// In order.
    pub steps: Vec<Step>,
    /// Where slots are before and after.
    pub storage: Storage,
    /// Slots that whoever goes on after an exit reads, beyond those that are live there as
    /// [`ir::analysis`] says. The others may hold anything then.
    pub observed: Vec<SlotId>,
    /// Whether the last block is a deparser whose headers go straight into the packet's memory: the
    /// function then tells where the outgoing packet starts and how long it is. Else what it emits
    /// is appended to the outgoing bits.
    pub in_place: bool,
}

impl Unit {
    /// How many words of gates it reads.
    pub(crate) fn gate_rows(&self) -> usize {
        let rows = |step: &Step| match step {
            Step::ExitIf(Condition::Closed(gate), _) => gate.rows as usize,
            _ => 0,
        };
        self.steps.iter().map(rows).max().unwrap_or(0)
    }

    /// One block alone, on storage in memory.
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
