// SPDX-License-Identifier: Apache-2.0
//! The prepared form of a core program: locals are numbered slots of two banks (words for integers and
//! booleans, objects for the other types), widths are masks, and names are gone. It has the statements of the
//! core program, one by one.

use super::arguments::Slot;
use super::value::Value;
use lucid::core::{ActionId, EventId, GlobalId, Pattern};
use lucid::syntax::ast::BinaryOperator;
use source::Span;
use std::sync::Arc;

/// A program ready to run; switches share it.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// Its events, in the order of the core program.
    pub events: Vec<PreparedEvent>,
    pub(crate) memops: Vec<PreparedMemop>,
    pub(crate) actions: Vec<PreparedAction>,
    pub(crate) parsers: Vec<PreparedParser>,
    /// The parser of packets from outside, by its index.
    pub main_parser: Option<u32>,
    /// The default action with its installed arguments, by global; `None` for arrays.
    pub(crate) default_actions: Vec<(ActionId, Vec<Value>)>,
    /// All ones of the fields of a table's key, by global; nothing of arrays.
    pub(crate) key_masks: Vec<Vec<u128>>,
}

/// An event: its parameters' slots and its handlers.
#[derive(Clone, Debug)]
pub struct PreparedEvent {
    /// Where each parameter is kept.
    pub slots: Vec<Slot>,
    /// The number by which frames name it.
    pub wire_number: u32,
    /// The handler of the ingress half, if there is one.
    pub ingress: Option<PreparedBody>,
    /// The egress handler.
    pub egress: Option<PreparedBody>,
    /// The control handler.
    pub control: Option<PreparedBody>,
}

/// A handler's body. The parameters are the first words and objects.
#[derive(Clone, Debug)]
pub struct PreparedBody {
    pub(crate) words: u32,
    pub(crate) objects: Vec<Value>,
    /// Where `this` is kept, if it is used: the object after the locals'.
    pub(crate) this: Option<u32>,
    pub(crate) steps: Vec<Step>,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Assign {
        local: u32,
        value: Word,
    },
    AssignObject {
        local: u32,
        value: Object,
    },
    Access(Box<CellAccess>),
    Lookup {
        table: GlobalId,
        key: Vec<Word>,
        arguments: Vec<Operand>,
        results: Vec<Slot>,
    },
    Install(Box<Install>),
    Random {
        local: u32,
        mask: u128,
    },
    If {
        condition: Word,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    Match {
        subjects: Vec<Word>,
        branches: Vec<(Vec<Pattern>, Vec<Step>)>,
    },
    IfEvent {
        value: Object,
        event: EventId,
        locals: Vec<Slot>,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    Generate {
        event: Generate,
        destination: Destination,
    },
    Print(Vec<Piece>),
    CallExtern {
        function: Arc<str>,
        arguments: Vec<Piece>,
    },
    Return,
}

/// An access to an array, array of pairs or counter.
#[derive(Clone, Debug)]
pub(crate) struct CellAccess {
    pub(crate) global: GlobalId,
    pub(crate) index: Word,
    pub(crate) access: Access,
    pub(crate) result: Option<u32>,
    pub(crate) span: Span,
}

/// A new entry of a table.
#[derive(Clone, Debug)]
pub(crate) struct Install {
    pub(crate) span: Span,
    pub(crate) table: GlobalId,
    pub(crate) key: Vec<(Word, Option<Word>)>,
    pub(crate) priority: u32,
    pub(crate) action: u32,
    pub(crate) arguments: Vec<Operand>,
}

/// A generated event: made on the spot, or a value made before.
#[derive(Clone, Debug)]
pub(crate) enum Generate {
    /// The common case, which needs no event value.
    Made { event: EventId, arguments: Vec<Operand>, delay: Option<Word> },
    /// An event value with its own delay and place.
    Value(Object),
}

/// Where a generated event goes.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    Event,
    Switch(Word),
    Switches(Object),
    Port(Word),
    Ports(Object),
}

/// A piece of a text or an argument of a call.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(Arc<str>),
    Value(Operand),
}

/// A word or an object, and what a user sees of it.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// An integer and its width in bits.
    Int(Word, u32),
    Bool(Word),
    Object(Object),
}

/// An expression that gives an integer or a boolean. Its value has no bits above its width.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    Constant(u128),
    Local(u32),
    /// An extern's value at this switch.
    Extern(u32),
    SelfSwitch,
    IngressPort,
    RecirculationPort,
    Time,
    DequeueDepth,
    /// Of a boolean.
    Not(Box<Word>),
    /// `~`, with the mask of its width.
    BitNot(Box<Word>, u128),
    /// `-`, with the mask of its width.
    Negate(Box<Word>, u128),
    /// Operands and their widths in bits; `&&` and `||` stand here as `&` and `|`.
    Binary(BinaryOperator, Box<(Word, Word)>, [u32; 2]),
    /// `==` of groups, events or payloads.
    Same(Box<(Object, Object)>),
    /// Shifted right, then masked: casts and slices.
    Slice(Box<Word>, u32, u128),
    /// Width, seed and values.
    Hash(u32, Box<(Word, Vec<Operand>)>),
    Checksum(Vec<Operand>),
}

/// An expression that gives an event, a group or a payload.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    Constant(Value),
    Local(u32),
    Extern(u32),
    Event(EventId, Vec<Operand>),
    /// With this delay in nanoseconds.
    Delay(Box<Object>, Box<Word>),
    Locate(Box<Object>, Box<Word>),
    LocateMany(Box<Object>, Box<Object>),
    Flood(Box<Word>),
}

/// What happens to a cell.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    Simple { get: Option<Use>, set: Option<Use> },
    Complex { memop: u32, arguments: Box<[Word; 2]>, default: Box<Word> },
}

/// See [`lucid::core::Use`].
#[derive(Clone, Debug)]
pub(crate) enum Use {
    Old,
    Value(Word),
    Add(Word),
    Memop(u32, Word),
}

/// A memop. Its locals are those of [`lucid::core::MemopBody`], all words.
#[derive(Clone, Debug)]
pub(crate) enum PreparedMemop {
    Return(Word),
    If(Word, Word, Word),
    Complex {
        /// Of three arguments, so that there is one cell, or of four.
        pair: bool,
        conditions: [Option<Word>; 2],
        cells: [Vec<(Word, Word)>; 2],
        returned: Option<(Word, Word)>,
    },
}

/// A table's action: results over install parameters and then match parameters.
#[derive(Clone, Debug)]
pub(crate) struct PreparedAction {
    pub(crate) results: Vec<Operand>,
}

/// A parser. Its parameters are its first locals.
#[derive(Clone, Debug)]
pub(crate) struct PreparedParser {
    pub(crate) words: u32,
    pub(crate) objects: Vec<Value>,
    pub slots: Vec<Slot>,
    pub(crate) block: PreparedBlock,
}

/// See [`lucid::core::ParserBlock`].
#[derive(Clone, Debug)]
pub(crate) struct PreparedBlock {
    pub(crate) actions: Vec<ParserStep>,
    pub(crate) end: ParserEnd,
}

/// See [`lucid::core::ParserAction`].
#[derive(Clone, Debug)]
pub(crate) enum ParserStep {
    /// Local and width in bits.
    Read(Vec<(u32, u32)>),
    Skip(u32),
    Assign(u32, Word),
    AssignObject(u32, Object),
    Rest(u32),
}

/// See [`lucid::core::ParserStep`].
#[derive(Clone, Debug)]
pub(crate) enum ParserEnd {
    Match { subjects: Vec<Word>, branches: Vec<(Vec<Pattern>, PreparedBlock)> },
    Generate(Object),
    Call { parser: u32, arguments: Vec<Operand> },
    LucidEvent,
    Drop,
}
