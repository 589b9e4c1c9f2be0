// SPDX-License-Identifier: Apache-2.0
//! Code of the IR: regions, basic blocks, instructions, terminators, and what each of them means.

use crate::{
    Bits, CounterId, ExternId, HashAlgorithm, HeaderId, MeterId, OriginId, RandomSite, RegisterId,
    RequestId, SlotId, StackId, TableId, ValueSetId, ValueType,
};
use std::sync::Arc;

/// A temporary of a region: index into [`Region::temps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Temp(pub u32);

/// A basic block of a region: index into [`Region::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl Temp {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl BlockId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The item that a region is the code of; it decides which instructions the region may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// A parser: may `Extract`, `Lookahead`, `Advance`, and end with `Reject`.
    Parser,
    /// A control.
    Control,
    /// A deparser: may `Emit`.
    Deparser,
    /// A table's action: may not `Apply`.
    Action,
}

/// A piece of code. Execution starts at block 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Name for people.
    pub name: Arc<str>,
    /// Kind.
    pub kind: RegionKind,
    /// Types of the temporaries.
    pub temps: Vec<ValueType>,
    /// Basic blocks.
    pub blocks: Vec<BasicBlock>,
}

/// Instructions without branches, then one terminator.
#[derive(Clone, Debug, PartialEq)]
pub struct BasicBlock {
    /// Name for people: the parser state, or empty.
    pub name: Arc<str>,
    /// Instructions in order.
    pub instructions: Vec<Instruction>,
    /// How it ends.
    pub terminator: Terminator,
    /// The origin of the terminator.
    pub origin: OriginId,
}

/// An instruction with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The operation.
    pub operation: Operation,
    /// Its origin.
    pub origin: OriginId,
}

/// A constant or a temporary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A constant of a certain width.
    Constant(Bits),
    /// A temporary.
    Temp(Temp),
}

/// A slot, or a field of a stack element chosen at run time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A slot.
    Slot(SlotId),
    /// Validity (`field` 0) or field `field - 1` of header `member` of element `index` of a stack.
    /// Reading outside the stack gives zero, writing outside does nothing.
    Element {
        /// The stack.
        stack: StackId,
        /// Which header of the element; 0 in header stacks.
        member: u32,
        /// 0 for validity, else one more than the field's index.
        field: u32,
        /// Which element, unsigned.
        index: Operand,
    },
}

/// A header instance, or one of a stack's chosen at run time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HeaderRef {
    /// A header.
    Header(HeaderId),
    /// Header `member` of element `index` of a stack.
    Element {
        /// The stack.
        stack: StackId,
        /// Which header of the element; 0 in header stacks.
        member: u32,
        /// Which element, unsigned.
        index: Operand,
    },
}

/// Operations with one operand; the result has the operand's width, but for `Is...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperation {
    /// Every bit flipped.
    Not,
    /// Two's complement.
    Negate,
}

/// Operations with two operands. Unless said otherwise both have the result's width, and results wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperation {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product, low bits.
    Multiply,
    /// Unsigned quotient; by zero gives zero.
    DivideUnsigned,
    /// Unsigned remainder; by zero gives zero.
    RemainderUnsigned,
    /// Unsigned sum, at most all ones.
    AddSaturatingUnsigned,
    /// Signed sum, kept in range.
    AddSaturatingSigned,
    /// Unsigned difference, at least zero.
    SubtractSaturatingUnsigned,
    /// Signed difference, kept in range.
    SubtractSaturatingSigned,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Left shift; the right operand is unsigned and of any width; shifting by the width or more gives
    /// zero.
    ShiftLeft,
    /// Right shift filling with zeros; amount as above.
    ShiftRightLogical,
    /// Right shift filling with the sign; by the width or more gives all sign bits.
    ShiftRightArithmetic,
    /// Equal: one bit. Varbits are equal when lengths and bits are.
    Equal,
    /// Not equal: one bit.
    NotEqual,
    /// Less, unsigned: one bit.
    LessUnsigned,
    /// Less or equal, unsigned: one bit.
    LessEqualUnsigned,
    /// Less, signed: one bit.
    LessSigned,
    /// Less or equal, signed: one bit.
    LessEqualSigned,
    /// Left operand in the high bits, right in the low ones; widths add up.
    Concat,
}

/// Changes of width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResizeKind {
    /// Wider, zeros in front.
    ZeroExtend,
    /// Wider, sign in front.
    SignExtend,
    /// Narrower, low bits kept.
    Truncate,
}

/// The update half of a register transaction: from the old value, by pure instructions, to a new one.
/// What the body defines is used in this update only; it may use temporaries defined before.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterUpdate {
    /// Pure instructions (no loads, stores or state); they may use the transaction's `old`.
    pub body: Vec<Instruction>,
    /// The new value.
    pub value: Operand,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// `result = op operand`
    Unary {
        /// Result.
        result: Temp,
        /// Operation.
        operation: UnaryOperation,
        /// Operand.
        operand: Operand,
    },
    /// `result = left op right`
    Binary {
        /// Result.
        result: Temp,
        /// Operation.
        operation: BinaryOperation,
        /// Left operand.
        left: Operand,
        /// Right operand.
        right: Operand,
    },
    /// `result = operand`, in the result's width.
    Resize {
        /// Result.
        result: Temp,
        /// How.
        kind: ResizeKind,
        /// Operand.
        operand: Operand,
    },
    /// `result = operand[high:low]`
    Slice {
        /// Result, `high - low + 1` bits.
        result: Temp,
        /// Operand.
        operand: Operand,
        /// Highest bit.
        high: u32,
        /// Lowest bit.
        low: u32,
    },
    /// `result = condition ? then : otherwise`
    Select {
        /// Result.
        result: Temp,
        /// One bit.
        condition: Operand,
        /// When 1.
        then: Operand,
        /// When 0.
        otherwise: Operand,
    },
    /// Reads storage.
    Load {
        /// Result.
        result: Temp,
        /// From where.
        place: Place,
    },
    /// Writes storage. A varbit slot takes varbits only.
    Store {
        /// Where to.
        place: Place,
        /// What.
        value: Operand,
    },
    /// Reads the header from the packet at the cursor, makes it valid, and moves the cursor on. With
    /// `varbit_bits` the variable field gets that many bits. Raises, in this
    /// order and before anything changes, `StackOutOfBounds` when the element does not exist,
    /// `ParserInvalidArgument` when `varbit_bits` makes the header's length no whole number of bytes,
    /// `PacketTooShort` when the packet ends first, `HeaderTooShort` when `varbit_bits` exceeds the
    /// field's width.
    Extract {
        /// Which header.
        header: HeaderRef,
        /// Length of the varbit field in bits.
        varbit_bits: Option<Operand>,
    },
    /// Reads bits at the cursor without moving it. Raises `PacketTooShort`.
    Lookahead {
        /// Result; its width is what is read.
        result: Temp,
    },
    /// Moves the cursor by that many bits (32-bit unsigned). Raises `PacketTooShort`.
    Advance {
        /// How many bits.
        bits: Operand,
    },
    /// Length of the packet in bytes at the beginning of this parser.
    PacketLength {
        /// Result, 32 bits.
        result: Temp,
    },
    /// Appends the header to the outgoing packet if it is valid.
    Emit {
        /// Which header.
        header: HeaderRef,
    },
    /// `push_front(by)` when positive, `pop_front(-by)` when negative (P4_16 v1.2.5 §8.20): moves whole
    /// elements, fills with invalid ones, and moves `nextIndex` within 0 to size.
    ShiftStack {
        /// Which stack.
        stack: StackId,
        /// How far.
        by: i32,
    },
    /// Looks the keys up and runs the action found, or the default action. `Exit` in the action ends
    /// the block. On a hit, the table's direct counters count the packet by themselves, except those
    /// that some action of the table counts by `CountDirect`; direct meters are never by themselves.
    /// When the entry names a group without members, or a member whose action is not in the table's
    /// list, the table was hit and no action runs.
    Apply {
        /// Which table.
        table: TableId,
        /// One operand a key, selector keys included.
        keys: Vec<Operand>,
        /// One bit: whether an entry matched.
        hit: Temp,
        /// 32 bits: index into the table's actions of what ran; all ones when nothing did.
        action: Temp,
    },
    /// One atomic transaction on a cell. With a `guard` of 0 nothing happens and `old` is zero. An
    /// index outside the array reads zero and writes nothing.
    RegisterAccess {
        /// Which array.
        register: RegisterId,
        /// Which cell, unsigned.
        index: Operand,
        /// One bit; `None` is always.
        guard: Option<Operand>,
        /// The cell's value before the update, if it is used.
        old: Option<Temp>,
        /// What is written, if anything.
        update: Option<RegisterUpdate>,
    },
    /// Counts this packet in a cell; an index outside does nothing.
    Count {
        /// Which counter (not direct).
        counter: CounterId,
        /// Which cell, unsigned.
        index: Operand,
    },
    /// Meters this packet: 0 green, 1 yellow, 2 red. An index outside gives green.
    Meter {
        /// Which meter (not direct).
        meter: MeterId,
        /// Which cell, unsigned.
        index: Operand,
        /// Colour; at least 2 bits.
        result: Temp,
    },
    /// Counts this packet at the entry that runs this action.
    CountDirect {
        /// Which direct counter.
        counter: CounterId,
    },
    /// Meters this packet at the entry that runs this action: colour as above; green without an entry.
    MeterDirect {
        /// Which direct meter.
        meter: MeterId,
        /// Colour.
        result: Temp,
    },
    /// Whether the value set has a member that matches.
    ValueSetContains {
        /// One bit.
        result: Temp,
        /// Which set.
        set: ValueSetId,
        /// One operand a component.
        keys: Vec<Operand>,
    },
    /// The hash of the inputs laid end to end, most significant bit first, padded with zero bits at the
    /// end to whole bytes; with `payload`, followed by the packet's bytes that the parser did not
    /// extract. The value is truncated or zero-extended to the result's width.
    Hash {
        /// Result.
        result: Temp,
        /// Algorithm.
        algorithm: HashAlgorithm,
        /// Inputs, perhaps varbit.
        inputs: Vec<Operand>,
        /// Whether the payload follows.
        payload: bool,
    },
    /// A random number from `low` to `high`, both included, unsigned; `low` when `high` is smaller. It is
    /// a function of the packet's pass, the site, and how many numbers the pass has drawn at this site.
    Random {
        /// Result.
        result: Temp,
        /// Smallest.
        low: Operand,
        /// Largest.
        high: Operand,
        /// The call site.
        site: RandomSite,
    },
    /// Asks the device for something.
    Request {
        /// What.
        request: RequestId,
        /// The values of the request's fields.
        arguments: Vec<Operand>,
    },
    /// Writes a line to the log; `{}` in the format takes the next argument.
    Log {
        /// Format.
        format: Arc<str>,
        /// Arguments.
        arguments: Vec<Operand>,
    },
    /// When the condition is 0: `assert` stops the run with an error that names the place, `assume` is
    /// reported likewise.
    Assert {
        /// One bit.
        condition: Operand,
        /// Whether it was `assume`.
        is_assume: bool,
    },
    /// Calls an extern that no description explains. A device runs the program if it has a provider of the
    /// extern, and refuses to load it otherwise.
    CallExtern {
        /// Which.
        target: ExternId,
        /// Method name; empty for a function.
        method: Arc<str>,
        /// Values of `in` and `inout` arguments.
        arguments: Vec<Operand>,
        /// Results: the return value, then `inout` and `out` arguments.
        results: Vec<Temp>,
        /// What the declaration allows the call to do.
        effects: CallEffects,
    },
}

/// What a call of an extern may do besides computing its results, as the annotations of the declaration
/// say. A device holds providers to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallEffects {
    /// Its effects on the extern's state and on packets.
    pub access: ExternAccess,
    /// The call site, when the declaration says `@random`: the extern may draw random numbers.
    pub random: Option<RandomSite>,
}

/// How a call of an extern uses the state that the extern keeps (P4_16 v1.2.5 §20.3.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExternAccess {
    /// `@pure`: results depend on the arguments alone.
    Pure,
    /// `@noSideEffects`: results may depend on state, the packet and time, and nothing changes.
    Reads,
    /// The call may change the extern's state, and drop, hold, release and emit packets.
    #[default]
    Any,
}

/// How a basic block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Continues at another block.
    Goto(BlockId),
    /// By one bit.
    Branch {
        /// One bit.
        condition: Operand,
        /// When 1.
        then: BlockId,
        /// When 0.
        otherwise: BlockId,
    },
    /// By value; cases are distinct and of the value's width.
    Switch {
        /// The value that selects the case.
        value: Operand,
        /// Cases.
        cases: Vec<(Bits, BlockId)>,
        /// Otherwise.
        default: BlockId,
    },
    /// The end of the region: `accept` in a parser, the end of a control or action.
    Return,
    /// Ends the whole block, also from inside an action (P4_16 v1.2.5 §12.5).
    Exit,
    /// Ends a parser with an error number (16 bits).
    Reject(Operand),
}
