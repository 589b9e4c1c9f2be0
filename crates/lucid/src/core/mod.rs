// SPDX-License-Identifier: Apache-2.0
//! The core program: the output of elaboration, which the reference interpreter runs and the compiler
//! compiles. Elaboration removes sizes, symbolics, constants, modules, records, vectors, loops, function
//! calls and global arguments: an event that takes globals has one copy for each choice of globals that the
//! program can make. A handler is a tree of statements over local variables; expressions have no effects;
//! each statement accesses at most one global.
//!
//! Evaluation order: operands left to right; `&&` and `||` evaluate both sides, as hardware does. Effects
//! of source expressions on globals, random numbers and the event queue are separate statements, in that
//! order.

#![allow(missing_docs, reason = "the text of a variant explains its fields")]

pub mod arithmetic;
pub mod bits;
mod fold;
pub mod hash;
mod print;
mod verify;
pub mod walk;

pub use print::{constant_text, print, type_text};
pub use verify::verify;

use source::Span;
use std::sync::Arc;

/// Widest integer, in bits. Elaboration reports wider ones with their place.
pub const MAX_INTEGER_BITS: u32 = 128;

/// Most cells of an array (2^28). Elaboration reports longer ones with their place.
pub const MAX_ARRAY_LENGTH: u64 = 1 << 28;

/// The ether type of events as the compiler puts them on the wire (`LUCID_ETHERTY`).
pub const LUCID_ETHER_TYPE: u16 = 666;

/// Where recirculated events come in unless the specification says otherwise.
pub const DEFAULT_RECIRCULATION_PORT: u32 = 196;

/// The port of an event that leaves by no port in particular: an exit event that was generated
/// without one, or the copy of a flood for the ports without a link.
pub const NO_PORT: u32 = u32::MAX;

/// A core program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Globals in order of declaration, which is the order of access (Lucid §5.1).
    pub globals: Vec<Global>,
    /// Events, with their handlers.
    pub events: Vec<Event>,
    /// Memops in use.
    pub memops: Vec<Memop>,
    /// Actions in use.
    pub actions: Vec<Action>,
    /// `extern` values, one a switch.
    pub externs: Vec<Extern>,
    /// `extern` functions.
    pub extern_functions: Vec<ExternFunction>,
    /// Parsers; `main_parser` is where packets go.
    pub parsers: Vec<Parser>,
    /// The parser named `main`, if there is one.
    pub main_parser: Option<ParserId>,
}

macro_rules! index {
    ($(#[$doc:meta] $name:ident),*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    )*};
}

index! {
    /// Index into [`Program::globals`].
    GlobalId,
    /// Index into [`Program::events`].
    EventId,
    /// Index into [`Program::memops`].
    MemopId,
    /// Index into [`Program::actions`].
    ActionId,
    /// Index into [`Program::externs`].
    ExternId,
    /// Index into [`Program::extern_functions`].
    ExternFunctionId,
    /// Index into [`Program::parsers`].
    ParserId,
    /// Index into the locals of a body; parameters come first.
    LocalId
}

/// The type of a local, a parameter or an expression. Records and vectors are flattened: a field
/// `a` of a local `r` is a local `r#a`, element 2 of `v` is `v[2]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Unsigned, width in bits, 1 to [`MAX_INTEGER_BITS`].
    Int(u32),
    /// True or false.
    Bool,
    /// An event value: constructor, arguments, delay, places.
    Event,
    /// A set of ports or switches.
    Group,
    /// The rest of a packet.
    Payload,
}

/// The type of a constant.
pub fn constant_type(constant: &Constant) -> Type {
    match constant {
        Constant::Int(_, width_bits) => Type::Int(*width_bits),
        Constant::Bool(_) => Type::Bool,
        Constant::Group(_) => Type::Group,
    }
}

/// A piece of persistent state.
#[derive(Clone, Debug)]
pub struct Global {
    /// Full name as a user would write it: `arr1`, `M.filter#arrs[2]`.
    pub name: Arc<str>,
    /// Where it is declared.
    pub span: Span,
    /// What it is.
    pub kind: GlobalKind,
}

/// Kinds of globals.
#[derive(Clone, Debug)]
pub enum GlobalKind {
    /// An array of cells, zero at the beginning.
    Array { width_bits: u32, length: u64 },
    /// An array of pairs of cells, zero at the beginning.
    PairArray { width_bits: u32, length: u64 },
    /// One cell with an initial value.
    Counter { width_bits: u32, initial: u128 },
    /// A match table.
    Table(Table),
}

/// A match table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Widths of the key's fields in bits; a `bool` is one bit.
    pub key_widths: Vec<u32>,
    /// Types of the arguments of a lookup.
    pub argument_types: Vec<Type>,
    /// Types of the result, flattened.
    pub result_types: Vec<Type>,
    /// Names of the result's parts, for people (`val`, `is_hit`; empty for one value).
    pub result_names: Vec<Arc<str>>,
    /// How many entries it may hold.
    pub capacity: u64,
    /// Which actions entries may have.
    pub actions: Vec<ActionId>,
    /// What runs on a miss, with its installed arguments.
    pub default_action: ActionId,
    /// Constant.
    pub default_arguments: Vec<Constant>,
}

/// A value known before the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    /// An integer of a width in bits.
    Int(u128, u32),
    /// A boolean.
    Bool(bool),
    /// Ports or switches.
    Group(Vec<u32>),
}

/// An event and, unless it only leaves, its handler.
#[derive(Clone, Debug)]
pub struct Event {
    /// Name: `route_query`, `M.update_once`. A copy for globals names them: `update(arr1, ctr1)`.
    pub name: Arc<str>,
    /// The name without the globals.
    pub declared_name: Arc<str>,
    /// The globals this copy is for, in order of its global parameters; a vector or record of
    /// globals is listed by its parts.
    pub global_arguments: Vec<GlobalId>,
    /// Where it is declared.
    pub span: Span,
    /// Packet, background, entry or exit.
    pub sort: crate::syntax::ast::EventSort,
    /// Number on the wire: written by the user, or given in order from 1 without clashes.
    pub wire_number: u32,
    /// Parameters without globals, flattened: `e#dstMac` for a field of a record.
    pub parameters: Vec<Local>,
    /// Its handler, run when it arrives.
    pub handler: Option<Body>,
    /// Its egress handler, run as it leaves a switch.
    pub egress_handler: Option<Body>,
    /// Its handler for the switch's processor.
    pub control_handler: Option<Body>,
}

/// A local variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// Name for people; made unique by `~2` and so on where inlining gave two the same.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub span: Span,
}

/// The body of a handler. A local that is read before it is assigned (which happens only where a
/// function of the source forgets a `return`) is zero, false or empty.
#[derive(Clone, Debug)]
pub struct Body {
    /// The event's name in the handler; the event, if it was declared with this body.
    pub span: Span,
    /// Locals: the parameters first.
    pub locals: Vec<Local>,
    /// How many of them are parameters.
    pub parameter_count: u32,
    /// What runs.
    pub statements: Vec<Statement>,
}

impl Default for Body {
    /// An empty body without a place in the source.
    fn default() -> Body {
        Body { span: Span::NONE, locals: Vec::new(), parameter_count: 0, statements: Vec::new() }
    }
}

/// A statement, with the place in the source it comes from and the calls it was inlined through.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// The statement or call in the source.
    pub span: Span,
    /// Call sites, outermost first.
    pub inlined_at: Arc<[Span]>,
}

/// Kinds of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `local = expression`
    Assign { local: LocalId, value: Expression, no_inline: bool },
    /// One access to an array, pair array or counter, atomic. An index beyond the end changes
    /// nothing and reads zero cells; the run counts such accesses, or stops there if it is configured to.
    Access { global: GlobalId, index: Expression, access: Access, result: Option<LocalId> },
    /// A lookup; parts of the result go to these locals. Booleans in keys are cast to one bit.
    Lookup {
        table: GlobalId,
        key: Vec<Expression>,
        arguments: Vec<Expression>,
        results: Vec<LocalId>,
    },
    /// A new entry.
    Install {
        table: GlobalId,
        /// Value and mask a field.
        key: Vec<(Expression, Option<Expression>)>,
        /// Lower comes first; of equals the earlier.
        priority: u32,
        action: ActionId,
        arguments: Vec<Expression>,
    },
    /// A random number of the local's width.
    Random { local: LocalId },
    /// A branch.
    If { condition: Expression, then: Vec<Statement>, otherwise: Vec<Statement> },
    /// First branch that matches; no branch at all is like an empty one.
    Match { subjects: Vec<Expression>, branches: Vec<Branch> },
    /// An event arm of a `match` on an event value: runs `then` with its arguments in `locals` if
    /// the value was made by this constructor.
    IfEvent {
        value: Expression,
        event: EventId,
        locals: Vec<LocalId>,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// Schedules an event.
    Generate { event: Expression, destination: Destination },
    /// Prints: a `printf` format split into pieces.
    Print { pieces: Vec<PrintPiece> },
    /// Calls an extern function.
    CallExtern { function: ExternFunctionId, arguments: Vec<ExternArgument> },
    /// Leaves the handler.
    Return,
}

/// A piece of a `printf`.
#[derive(Clone, Debug)]
pub enum PrintPiece {
    /// As it is.
    Text(Arc<str>),
    /// An integer in decimal, or true or false.
    Value(Expression),
}

/// An argument of an extern function.
#[derive(Clone, Debug)]
pub enum ExternArgument {
    /// A value.
    Value(Expression),
    /// A text.
    Text(Arc<str>),
}

/// A branch of a match: patterns a subject, then statements.
#[derive(Clone, Debug)]
pub struct Branch {
    /// One a subject.
    pub patterns: Vec<Pattern>,
    /// What runs.
    pub statements: Vec<Statement>,
    /// Where.
    pub span: Span,
}

/// Matches `x` if `x & mask == value`. The wildcard is mask zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Bits outside the mask are zero.
    pub value: u128,
    /// Which bits count.
    pub mask: u128,
}

/// Where a generated event goes.
#[derive(Clone, Debug)]
pub enum Destination {
    /// Where the event value says; to this switch if it says nothing.
    Event,
    /// To a switch.
    Switch(Expression),
    /// To each switch of a group.
    Switches(Expression),
    /// Out of a port.
    Port(Expression),
    /// Out of all ports of a group.
    Ports(Expression),
}

/// What happens to a cell.
#[derive(Clone, Debug)]
pub enum Access {
    /// Two-argument memops. Both see the old value. Without `get` nothing is read, without `set`
    /// nothing is written. The result is what `get` gives.
    Simple { get: Option<Use>, set: Option<Use> },
    /// A memop of three (one cell) or four arguments (a pair), with its two arguments and the value
    /// returned if the memop returns none.
    Complex { memop: MemopId, arguments: [Expression; 2], default: Expression },
}

/// A two-argument memop at work. Plain reads and writes are there so that the compiler and the
/// interpreter need not look into memops for them.
#[derive(Clone, Debug)]
pub enum Use {
    /// The old value.
    Old,
    /// This value.
    Value(Expression),
    /// `old + value`, wrapping (counters).
    Add(Expression),
    /// A memop with its second argument.
    Memop(MemopId, Expression),
}

/// A memop at one width.
#[derive(Clone, Debug)]
pub struct Memop {
    /// Name.
    pub name: Arc<str>,
    /// Where.
    pub span: Span,
    /// Width of its cells in bits.
    pub width_bits: u32,
    /// 2, 3 or 4.
    pub argument_count: u32,
    /// What it computes.
    pub body: MemopBody,
}

/// What a memop computes. Expressions are [`Expression`]s whose locals mean: for two arguments 0 is
/// the cell, 1 the argument; for three 0 is the cell, 1 and 2 the arguments; for four 0 and 1 are
/// the cells, 2 and 3 the arguments. In guards, `CONDITION_1` and `CONDITION_2` are the booleans
/// `b1` and `b2`, and in returned values `NEW_CELL_1` and `NEW_CELL_2` are the cells after the update.
#[derive(Clone, Debug)]
pub enum MemopBody {
    /// `return e;`
    Return(Expression),
    /// `if (c) { return a; } else { return b; }`
    If(Expression, Expression, Expression),
    /// Three or four arguments.
    Complex {
        /// The two booleans, if declared.
        conditions: [Option<Expression>; 2],
        /// At most two guarded updates a cell, the first whose guard holds counts; none: unchanged.
        cell1: Vec<(Expression, Expression)>,
        /// Of the second cell; in a memop of three arguments a scratch value only `return` sees.
        cell2: Vec<(Expression, Expression)>,
        /// Guard and returned value.
        returned: Option<(Expression, Expression)>,
    },
}

/// See [`MemopBody`].
pub const CONDITION_1: LocalId = LocalId(4);
/// See [`MemopBody`].
pub const CONDITION_2: LocalId = LocalId(5);
/// See [`MemopBody`].
pub const NEW_CELL_1: LocalId = LocalId(6);
/// See [`MemopBody`].
pub const NEW_CELL_2: LocalId = LocalId(7);

/// An action of a table: results as expressions over its parameters (install, then match).
#[derive(Clone, Debug)]
pub struct Action {
    /// Name.
    pub name: Arc<str>,
    /// Where.
    pub span: Span,
    /// Install parameters, then match parameters.
    pub parameters: Vec<Local>,
    /// How many of them are installed.
    pub install_count: u32,
    /// One a part of the result; locals are the parameters.
    pub results: Vec<Expression>,
}

/// An `extern` value.
#[derive(Clone, Debug)]
pub struct Extern {
    /// Name.
    pub name: Arc<str>,
    /// Where.
    pub span: Span,
    /// Int or Bool or Group.
    pub ty: Type,
}

/// An `extern` function.
#[derive(Clone, Debug)]
pub struct ExternFunction {
    /// Name.
    pub name: Arc<str>,
    /// Where.
    pub span: Span,
}

/// An expression without effects.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Which.
    pub kind: ExpressionKind,
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A constant.
    Constant(Constant),
    /// A local.
    Local(LocalId),
    /// An extern's value at this switch.
    Extern(ExternId),
    /// `self`, cut to the width.
    SelfSwitch,
    /// `ingress_port`.
    IngressPort,
    /// `recirculation_port`.
    RecirculationPort,
    /// `Sys.time()` cut to the width: the same in a whole handler.
    Time,
    /// `Sys.dequeue_depth()`
    DequeueDepth,
    /// `this`
    This,
    /// `!`, `~`, `-`
    Unary(crate::syntax::ast::UnaryOperator, Box<Expression>),
    /// Operands of equal width, except for shifts and concatenation (the left operand is the upper
    /// part). Comparisons give Bool; `==` and `!=` also compare Bool and Group.
    Binary(crate::syntax::ast::BinaryOperator, Box<Expression>, Box<Expression>),
    /// To the width of the type: cut or filled with zeros; Bool to Int as 0 or 1.
    Cast(Box<Expression>),
    /// Bits `low` up, as many as the type is wide.
    Slice(Box<Expression>, u32),
    /// A hash of the width of the type: seed, then values.
    Hash { seed: Box<Expression>, arguments: Vec<Expression> },
    /// The internet checksum of the values, 16 bits.
    Checksum { arguments: Vec<Expression> },
    /// An event value.
    Event { event: EventId, arguments: Vec<Expression> },
    /// With this delay in nanoseconds instead of its own.
    Delay { event: Box<Expression>, nanoseconds: Box<Expression> },
    /// For this switch.
    Locate { event: Box<Expression>, switch: Box<Expression> },
    /// For these switches.
    LocateMany { event: Box<Expression>, switches: Box<Expression> },
    /// All ports but one.
    Flood(Box<Expression>),
    /// A payload without bytes.
    EmptyPayload,
}

/// A parser of packets, a tree like its source.
#[derive(Clone, Debug)]
pub struct Parser {
    /// Name.
    pub name: Arc<str>,
    /// Where.
    pub span: Span,
    /// Locals; parameters (without the bitstring) first.
    pub locals: Vec<Local>,
    /// How many of them are parameters.
    pub parameter_count: u32,
    /// What it does.
    pub block: ParserBlock,
}

/// Steps and an end.
#[derive(Clone, Debug)]
pub struct ParserBlock {
    /// In order.
    pub actions: Vec<ParserAction>,
    /// How it ends.
    pub step: ParserStep,
    /// Where.
    pub span: Span,
}

/// One action of a parser.
#[derive(Clone, Debug)]
pub enum ParserAction {
    /// The next bits of the packet, most significant first, into these locals in order.
    Read(Vec<LocalId>),
    /// Skips this many bits.
    Skip(u32),
    /// An assignment.
    Assign(LocalId, Expression),
    /// The unread rest of the packet.
    Rest(LocalId),
}

/// How a parser's block ends.
#[derive(Clone, Debug)]
pub enum ParserStep {
    /// First branch that matches; none: the packet is dropped.
    Match { subjects: Vec<Expression>, branches: Vec<(Vec<Pattern>, ParserBlock)> },
    /// Handles this event now, at this switch.
    Generate(Expression),
    /// Goes on in another parser.
    Call { parser: ParserId, arguments: Vec<Expression> },
    /// Reads an event as the compiler puts it on the wire.
    LucidEvent,
    /// Drops the packet.
    Drop,
}
