// SPDX-License-Identifier: Apache-2.0
//! Events of a running block, and [`Observer`], which receives them: for traces, debuggers or coverage.

use crate::block_run::Outcome;
use ir::{
    Bits, BlockId, CounterId, ExternId, HeaderId, MeterId, OriginId, RegionId, RegisterId,
    RequestId, SlotId, StackId, StorageLayout, TableId, ValueSetId,
};
use state::{BoundAction, Colour, EntryRecord};

/// The slots of a packet, for reading.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    layout: &'a StorageLayout,
    storage: &'a [u64],
}

impl<'a> Slots<'a> {
    /// Slots in storage of this layout.
    pub fn new(layout: &'a StorageLayout, storage: &'a [u64]) -> Slots<'a> {
        Slots { layout, storage }
    }

    /// A slot's value, in the slot's width; of a varbit as wide as its length. The slot is one of the
    /// layout's program.
    pub fn value(self, slot: SlotId) -> Bits {
        self.layout.value(self.storage, slot)
    }
}

/// An event. Observers receive it after it happened, unless the variant says otherwise.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // The fields are what the variants' documentation names.
pub enum Event<'a> {
    /// A block of the program begins.
    BlockEntered { block: usize },
    /// A parser enters a basic block: a state, or a part of one.
    ParserState { region: RegionId, block: BlockId, name: &'a str },
    /// A header was extracted; its fields are in `slots`.
    Extracted { header: HeaderId, slots: Slots<'a> },
    /// The parser's cursor was moved.
    Advanced { bits: u64 },
    /// A parser rejects with this error.
    ParserError { error: u32 },
    /// A table was looked up and its action begins; events until `ActionEnded` belong to the action. `action`
    /// is missing when a group has no members.
    TableApplied {
        table: TableId,
        keys: &'a [Bits],
        entry: Option<&'a EntryRecord>,
        action: Option<&'a BoundAction>,
    },
    /// The table's action ended.
    ActionEnded { table: TableId },
    /// A slot was written.
    SlotStored { slot: SlotId, before: &'a Bits, after: &'a Bits },
    /// A header was emitted.
    Emitted { header: HeaderId, slots: Slots<'a> },
    /// A stack was shifted.
    StackShifted { stack: StackId, by: i32 },
    /// A register cell was read, and written where there is an `after`. `index` is `None` outside the
    /// array.
    RegisterAccessed {
        register: RegisterId,
        index: &'a Bits,
        before: &'a Bits,
        after: Option<&'a Bits>,
    },
    /// A counter counted the packet; without `index` at the entry or default action.
    Counted { counter: CounterId, index: Option<&'a Bits> },
    /// A meter marked the packet; without `index` at the entry or default action.
    Metered { meter: MeterId, index: Option<&'a Bits>, colour: Colour },
    /// A value set was tested.
    ValueSetAsked { set: ValueSetId, keys: &'a [Bits], is_member: bool },
    /// A hash was computed.
    Hashed { algorithm: ir::HashAlgorithm, result: &'a Bits },
    /// A random number was drawn.
    RandomDrawn { low: &'a Bits, high: &'a Bits, result: &'a Bits },
    /// The instruction at this place made a request.
    Requested {
        region: RegionId,
        block: BlockId,
        instruction: u32,
        request: RequestId,
        arguments: &'a [Bits],
    },
    /// A branch or switch at the end of a basic block went to another block. `value` is the condition
    /// or what was switched on. A condition of several terms may decide several times.
    Decided { region: RegionId, block: BlockId, taken: BlockId, value: &'a Bits },
    /// A line was logged.
    Logged { line: &'a str },
    /// An extern was called.
    ExternCalled { target: ExternId, method: &'a str, arguments: &'a [Bits], results: &'a [Bits] },
    /// A block of the program ended.
    BlockEnded { block: usize, outcome: &'a Outcome },
}

/// A receiver of events.
pub trait Observer {
    /// Receives an event with its origin in the program, if it has one.
    fn observe(&mut self, origin: Option<OriginId>, event: Event<'_>);
}
