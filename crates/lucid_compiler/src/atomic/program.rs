// SPDX-License-Identifier: Apache-2.0
//! Atomic programs: all handlers of a program as one list of statements, each of which one ALU, one
//! stateful ALU, one hash unit or one table of the program can do (Lucid §6.1), each with the static
//! match rules that say when it runs (Lucid §6.2). What is translated to P4_16 after a layout. How they
//! are made, printed or run is said elsewhere in [`super`].
//!
//! # What an atomic program means
//!
//! One pass of a packet through a pipeline runs `statements` from first to last; a statement whose
//! guard does not hold does nothing. Guards and operations read the values that variables have at that
//! moment. The order is one of those that are right: any order, and any layout, that keeps the
//! dependencies ([`super::dependencies`]) gives the same.
//!
//! - Variables of the kinds [`VariableKind::Temporary`], [`VariableKind::Slot`] and
//!   [`VariableKind::Argument`] are zero at the beginning of each pass.
//! - [`VariableKind::Dispatched`] is the wire number of the event whose handler is to run in this
//!   gress, and [`NOT_DISPATCHED`] for everything that only passes through (frames for other switches,
//!   delayed ones, what user P4 handles). Every guard of a handler's statement asks for the number.
//! - Operands narrower than the result are filled up with zeros, wider ones are cut.
//!
//! # Generated events
//!
//! Each `generate` of a handler has a fixed **slot**; those that cannot both run share slots. Slot k is
//! generated if a [`Operation::Generate`] with it ran; then its frame has the fields that
//! [`SlotField`] names and the arguments in the variables [`VariableKind::Argument`] of this slot and
//! event. The order of events is the order of the slots. The serialiser therefore sees which slots of
//! [`AtomicProgram::slots`] were generated (any subset), counts them, and sends the i-th one of them as
//! copy i (see [`crate::wire`], "After a handler").

use lucid::core::{EventId, ExternId, GlobalId, MemopId};
use pisa::{Gress, Guard, VariableId};
use source::Span;
use std::sync::Arc;

/// Value of the variable of kind [`VariableKind::Dispatched`] when no handler is to run.
pub const NOT_DISPATCHED: u128 = 0;

/// A program as statements of one ALU each.
#[derive(Clone, Debug, Default)]
pub struct AtomicProgram {
    /// All that statements and guards name. Ids are those of the `pisa::Problem`.
    pub variables: Vec<Variable>,
    /// What may be done with each array: register actions in use. One array a [`GlobalId`].
    pub arrays: Vec<Array>,
    /// In an order in which they may run.
    pub statements: Vec<Statement>,
    /// One for each handler of the core program that is compiled.
    pub handlers: Vec<Handler>,
    /// Which events a slot may hold; [`Slot`] k is at index k. Ingress handlers.
    pub slots: Vec<Slot>,
    /// The same for egress handlers.
    pub egress_slots: Vec<Slot>,
}

macro_rules! index {
    ($(#[$doc:meta] $name:ident),*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    )*};
}

index! {
    /// Index into [`AtomicProgram::statements`].
    StatementId,
    /// Index into [`AtomicProgram::handlers`].
    HandlerId,
    /// Index into [`AtomicProgram::arrays`].
    ArrayId
}

/// Something that a packet carries along the pipeline: a field or metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Unique in the program, for people and for P4 after mangling: `idx`, `idx~2`, `slot0.place`.
    pub name: Arc<str>,
    /// Width in bits; a boolean has one.
    pub width_bits: u32,
    /// Where its value comes from.
    pub kind: VariableKind,
    /// Where it is declared; for temporaries the expression.
    pub span: Span,
}

/// Where the value of a variable comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableKind {
    /// The wire number of the event to be handled, 16 bits.
    Dispatched(Gress),
    /// A parameter of the event that is being handled. Statements may not write it.
    Parameter {
        /// The event.
        event: EventId,
        /// Index into its parameters.
        parameter: u32,
    },
    /// What the surroundings say. Statements may not write it.
    Given(Given),
    /// Made and used in the pipeline. Starts as zero.
    Temporary,
    /// A field of a slot's frame. Starts as zero.
    Slot {
        /// Which half of the switch.
        gress: Gress,
        /// The slot.
        slot: u32,
        /// The field.
        field: SlotField,
    },
    /// An argument of an event in a slot. Starts as zero.
    Argument {
        /// Which half of the switch.
        gress: Gress,
        /// The slot.
        slot: u32,
        /// The generated event.
        event: EventId,
        /// Index into its parameters.
        parameter: u32,
    },
}

/// What the surroundings say, the same during a handler, cut to the variable's width (low bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Given {
    /// `self`
    SelfSwitch,
    /// `ingress_port`
    IngressPort,
    /// `recirculation_port`
    RecirculationPort,
    /// `Sys.time()` in nanoseconds.
    Time,
    /// `Sys.dequeue_depth()`
    DequeueDepth,
    /// An extern's value at this switch.
    Extern(ExternId),
}

/// Fields of a slot's frame that statements write (see [`crate::wire`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlotField {
    /// 16 bits: `PlaceKind::field()`.
    PlaceKind,
    /// 32 bits: switch, port or group.
    Place,
    /// 32 bits.
    DelayNs,
    /// 16 bits: the event's wire number.
    Number,
}

/// An array of the program and the programs that its stateful ALU runs.
#[derive(Clone, Debug)]
pub struct Array {
    /// The array, pair array or counter.
    pub global: GlobalId,
    /// Different programs in use.
    pub register_actions: Vec<RegisterAction>,
}

/// A program of a stateful ALU: the new cell and the result. Two accesses run the same
/// register action if they do the same with the same operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterAction {
    /// Name for people and for P4: unique in its array.
    pub name: Arc<str>,
    /// What is done.
    pub access: MemoryAccess,
    /// Whether what it returns is used.
    pub returns: bool,
}

/// What a stateful ALU does with a cell (mirrors [`lucid::core::Access`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryAccess {
    /// Memops of two arguments, both on the old value. The result is what `get` gives.
    Simple {
        /// What is returned.
        get: Option<MemoryUse>,
        /// What is stored.
        set: Option<MemoryUse>,
    },
    /// A memop of three or four arguments.
    Complex {
        /// It.
        memop: MemopId,
        /// Its arguments after the cells.
        arguments: [Operand; 2],
        /// Returned if the memop returns nothing.
        default: Operand,
    },
}

/// A memop of two arguments at work (mirrors [`lucid::core::Use`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryUse {
    /// The old value.
    Old,
    /// This value.
    Value(Operand),
    /// The old value and this one, wrapping.
    Add(Operand),
    /// The memop of the old value and this one.
    Memop(MemopId, Operand),
}

/// A variable or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operand {
    /// Its value.
    Variable(VariableId),
    /// Fits the width of its use.
    Constant(u128),
}

/// A statement of one ALU.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Of which handler. `None`: of several (a table of the program that several look up).
    pub handler: Option<HandlerId>,
    /// Which half.
    pub gress: Gress,
    /// When it runs.
    pub guard: Guard,
    /// What it does.
    pub operation: Operation,
    /// Whether its value goes to a container of another size than that of its operand, by a hash unit.
    pub crosses: bool,
    /// The statement or expression of the source.
    pub span: Span,
    /// Call sites, outermost first.
    pub inlined_at: Arc<[Span]>,
}

/// What one statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `to = from`: cut, or filled with zeros. Wider than 32 bits takes several containers.
    Move {
        /// Written.
        to: VariableId,
        /// Read.
        from: Operand,
    },
    /// `to = left operator right`. Arithmetic is at most 32 bits wide.
    Compute {
        /// Written.
        to: VariableId,
        /// Which.
        operator: AluOperator,
        /// Left operand.
        left: Operand,
        /// Right operand; a constant for shifts.
        right: Operand,
    },
    /// `to = from[low + n - 1 : low]`, n the lesser of `width_bits` and the width of `to`; filled with
    /// zeros.
    Slice {
        /// Written.
        to: VariableId,
        /// Read.
        from: VariableId,
        /// Lowest bit.
        low: u32,
        /// How many bits.
        width_bits: u32,
    },
    /// `to = left ++ right`.
    Concatenate {
        /// Written; as wide as both.
        to: VariableId,
        /// Upper part and its width in bits.
        left: (Operand, u32),
        /// Lower part and its width in bits.
        right: (Operand, u32),
    },
    /// `to = hash(seed, arguments)`, by a hash unit.
    Hash {
        /// Written.
        to: VariableId,
        /// Computed.
        hash: Hash,
    },
    /// `to` = internet checksum of the values, by the deparser at the end of the gress: `to` is a
    /// [`VariableKind::Argument`]; takes no stage.
    Checksum {
        /// Written, 16 bits.
        to: VariableId,
        /// Values and their widths in bits.
        arguments: Vec<(Operand, u32)>,
    },
    /// A random number of the width of `to`.
    Random {
        /// Written.
        to: VariableId,
    },
    /// A register action of an array.
    Memory {
        /// The array.
        array: ArrayId,
        /// Index into its register actions.
        register_action: u32,
        /// Which cell.
        index: Index,
        /// Written with what it returns.
        result: Option<VariableId>,
    },
    /// A lookup in a table of the program: results by the hit entry's action, or the default action.
    Lookup {
        /// The table.
        table: GlobalId,
        /// Its key; variables or constants.
        key: Vec<Operand>,
        /// Matched arguments of the actions.
        arguments: Vec<Operand>,
        /// Written. `None`: not used.
        results: Vec<Option<VariableId>>,
    },
    /// Slot `slot` holds this event: its header becomes valid, the slot's number is the event's. Kind and
    /// place, delay and arguments are written by statements of their own, before or after, under the same
    /// guard or a weaker one, and may be read as temporaries are (so they need a place that can be written
    /// and read whether or not the header is valid). Fields that nothing writes are zero, a kind of zero
    /// is `Here`.
    Generate {
        /// Slot.
        slot: u32,
        /// Event.
        event: EventId,
        /// What follows its parameters.
        payload: Payload,
    },
}

/// What follows the parameters of a generated event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Payload {
    /// The payload of the packet.
    Kept,
    /// Nothing, and nothing follows the parameters of the event that is handled.
    Absent,
    /// Nothing, but bytes may follow the parameters of the event that is handled: they have to be cut off.
    Cut,
}

/// Which cell of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// This one.
    Operand(Operand),
    /// The hash, computed in front of the stateful ALU in the same stage
    /// (`action.execute(hash.get(...))`).
    Hash(Hash),
}

/// `hash<width>(seed, arguments)` as the language defines it ([`lucid::core::hash`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hash {
    /// Known.
    pub seed: u32,
    /// Width of the result in bits.
    pub width_bits: u32,
    /// Values and their widths in bits, in order.
    pub arguments: Vec<(Operand, u32)>,
}

/// Binary operators of a stateless ALU. `~x` is `x ^ all ones`, `-x` is `0 - x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AluOperator {
    /// Wraps.
    Add,
    /// Wraps.
    Subtract,
    /// Stops at the greatest value of the result's width: 8, 16 or 32 bits.
    SaturatingAdd,
    /// Stops at zero.
    SaturatingSubtract,
    /// Bit by bit.
    And,
    /// Bit by bit.
    Or,
    /// Bit by bit.
    Xor,
    /// By a constant.
    ShiftLeft,
    /// By a constant.
    ShiftRight,
    /// The lesser, unsigned.
    Minimum,
    /// The greater, unsigned.
    Maximum,
}

impl AluOperator {
    /// Whether each bit of the result comes of the same bit of the operands.
    pub fn is_bitwise(self) -> bool {
        matches!(self, AluOperator::And | AluOperator::Or | AluOperator::Xor)
    }

    /// What an ALU computes of operands of a width.
    pub fn apply(self, left: u128, right: u128, width_bits: u32) -> u128 {
        use lucid::core::arithmetic::integer_binary;
        use lucid::syntax::ast::BinaryOperator as B;
        let operator = match self {
            AluOperator::Add => B::Add,
            AluOperator::Subtract => B::Subtract,
            AluOperator::SaturatingAdd => B::SaturatingAdd,
            AluOperator::SaturatingSubtract => B::SaturatingSubtract,
            AluOperator::And => B::BitAnd,
            AluOperator::Or => B::BitOr,
            AluOperator::Xor => B::BitXor,
            AluOperator::ShiftLeft => B::ShiftLeft,
            AluOperator::ShiftRight => B::ShiftRight,
            AluOperator::Minimum => return left.min(right),
            AluOperator::Maximum => return left.max(right),
        };
        integer_binary(operator, left, right, width_bits, width_bits).unwrap_or(0)
    }
}

/// A handler that is compiled.
#[derive(Clone, Debug)]
pub struct Handler {
    /// Its event.
    pub event: EventId,
    /// Which half of the switch it runs in.
    pub gress: Gress,
    /// Its event's name, for people; what it prints or calls was reported and left out.
    pub name: Arc<str>,
}

/// What a slot may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Events, each once, in order of their ids.
    pub events: Vec<EventId>,
}

impl AtomicProgram {
    /// A variable.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0 as usize]
    }
}

impl Operand {
    /// The variable, if it is one.
    pub fn variable(self) -> Option<VariableId> {
        match self {
            Operand::Variable(id) => Some(id),
            Operand::Constant(_) => None,
        }
    }
}
