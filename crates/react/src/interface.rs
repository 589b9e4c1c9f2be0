// SPDX-License-Identifier: Apache-2.0
//! What the reactions of a program see: malleables, tables and arguments with their types, and the C texts. The compiler
//! of P4R writes it, the C side reads it. [`Host`] and [`Reactions`] are the calls between a running reaction and the
//! agent; all values cross as 64-bit words.

use source::Span;
use std::fmt;
use std::sync::Arc;

/// The type of a value: `bit<W>`, `int<W>` or `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Bits, at least 1.
    pub width_bits: u32,
    /// Whether it is `int<W>`.
    pub is_signed: bool,
    /// Whether it is `bool`; then the width is 1.
    pub is_bool: bool,
}

impl Scalar {
    /// `bit<W>`
    pub fn unsigned(width_bits: u32) -> Scalar {
        Scalar { width_bits, is_signed: false, is_bool: false }
    }

    /// The number of 64-bit words of a value, the lowest bits first.
    pub fn words(&self) -> usize {
        self.width_bits.div_ceil(64) as usize
    }
}

/// A text in C, with its place in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CText {
    /// The text between the braces.
    pub text: Arc<str>,
    /// Where that text stands.
    pub span: Span,
}

/// A malleable value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalleableValue {
    /// Its name.
    pub name: Arc<str>,
    /// Its declaration.
    pub span: Span,
    /// Its type, of at most 64 bits.
    pub ty: Scalar,
    /// Its value before the first assignment.
    pub initial: u64,
}

/// A malleable field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalleableField {
    /// Its name.
    pub name: Arc<str>,
    /// Its declaration.
    pub span: Span,
    /// The type of each alternative.
    pub ty: Scalar,
    /// Its alternatives as written, without blanks, such as `hdr.ipv4.src`.
    pub alternatives: Vec<Arc<str>>,
    /// The index of the alternative before the first assignment.
    pub initial: usize,
}

/// How a key of a table is matched; decides the parameters of functions in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// One value.
    Exact,
    /// A value and a prefix length in bits.
    Lpm,
    /// A value and a mask.
    Ternary,
    /// The lowest and the highest value.
    Range,
    /// A value, and whether it is compared.
    Optional,
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableKey {
    /// Its control-plane name, such as `hdr.ipv4.dst`.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Scalar,
    /// How it is matched.
    pub kind: KeyKind,
}

/// An action of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAction {
    /// Its name in C: the last part of its control-plane name.
    pub name: Arc<str>,
    /// Parameters that the control plane sets.
    pub parameters: Vec<(Arc<str>, Scalar)>,
    /// Whether entries may have it.
    pub is_for_entries: bool,
    /// Whether the default action may be it.
    pub is_for_default: bool,
}

/// A table that reactions write: a malleable one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReactionTable {
    /// Its name in C: the last part of its control-plane name.
    pub name: Arc<str>,
    /// Its declaration.
    pub span: Span,
    /// Its keys, in order.
    pub keys: Vec<TableKey>,
    /// Its actions, in order.
    pub actions: Vec<TableAction>,
    /// Whether its entries have priorities: a larger one wins.
    pub has_priorities: bool,
    /// Whether its default action may be set.
    pub default_may_change: bool,
}

/// A step of a path to a field, such as `hdr`, `vlan`, `0`, `id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// A parameter or member.
    Name(Arc<str>),
    /// An element of a header stack.
    Index(u32),
}

/// Formats a path as P4 writes it.
pub fn path_text(path: &[PathStep]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            PathStep::Name(name) if text.is_empty() => text.push_str(name),
            PathStep::Name(name) => {
                text.push('.');
                text.push_str(name);
            }
            PathStep::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// An argument of a reaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name after `as`; without one, fields are written as in P4, registers and malleables by their name.
    pub name: Option<Arc<str>>,
    /// All of it.
    pub span: Span,
    /// What is measured.
    pub kind: ArgumentKind,
}

/// What an argument measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A field of a header or of metadata. Words: those of its type.
    Field {
        /// Its path in the pipeline's control.
        path: Vec<PathStep>,
        /// Its type.
        ty: Scalar,
    },
    /// All fields of a header. Words: those of each field in order.
    Header {
        /// Its path in the pipeline's control.
        path: Vec<PathStep>,
        /// Names and types of its fields.
        fields: Vec<(Arc<str>, Scalar)>,
    },
    /// Cells of a register. Words: those of each cell in order.
    Register {
        /// The register's name in C: the last part of its control-plane name.
        register: Arc<str>,
        /// The type of a cell.
        ty: Scalar,
        /// The first cell.
        first: u64,
        /// The last cell, included.
        last: u64,
    },
    /// A malleable value, or the measured value of the alternative that a malleable field stood for.
    Malleable {
        /// Its name.
        malleable: Arc<str>,
        /// Its type.
        ty: Scalar,
    },
    /// A compile-time constant of the P4 program.
    Constant {
        /// Its name.
        constant: Arc<str>,
        /// Its type.
        ty: Scalar,
        /// Its value, of at most 64 bits.
        value: u64,
    },
}

impl ArgumentKind {
    /// The number of words that the argument takes of a reaction's input.
    pub fn words(&self) -> usize {
        match self {
            ArgumentKind::Field { ty, .. } | ArgumentKind::Malleable { ty, .. } => ty.words(),
            ArgumentKind::Header { fields, .. } => fields.iter().map(|(_, ty)| ty.words()).sum(),
            ArgumentKind::Register { ty, first, last, .. } => {
                ty.words() * (last - first + 1) as usize
            }
            ArgumentKind::Constant { .. } => 0,
        }
    }
}

/// A reaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// Its name.
    pub name: Arc<str>,
    /// Its declaration.
    pub span: Span,
    /// Its arguments in order.
    pub arguments: Vec<Argument>,
    /// The headers, of arguments that are headers or fields of headers, whose validity is measured.
    pub validities: Vec<Vec<PathStep>>,
    /// Its body.
    pub body: CText,
    /// The time from call to call, in picoseconds: `@rate("10ms")`; `None` is as often as possible.
    pub rate_ps: Option<u64>,
    /// The simulated time of the body, in picoseconds: `@cost("500ns")`.
    pub cost_ps: u64,
}

impl Reaction {
    /// The number of words of its input: those of the arguments in order, then a word for each validity.
    pub fn input_words(&self) -> usize {
        let arguments = self.arguments.iter().map(|argument| argument.kind.words());
        arguments.sum::<usize>() + self.validities.len()
    }
}

/// All that the C texts of a program can name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Malleable values, in order of declaration.
    pub values: Vec<MalleableValue>,
    /// Malleable fields, in order of declaration.
    pub fields: Vec<MalleableField>,
    /// Malleable tables.
    pub tables: Vec<ReactionTable>,
    /// Reactions, in the order of their calls.
    pub reactions: Vec<Reaction>,
    /// `init { C }`: run before the first packet.
    pub init: Option<CText>,
    /// `c { C }`: includes, types, helpers.
    pub shared: Vec<CText>,
    /// `state { C }`: variables that survive a reload.
    pub state: Vec<CText>,
    /// Compile-time constants of the P4 text, for advice.
    pub constants: Vec<Arc<str>>,
    /// Tables that reactions do not write, by the last part of their names, for advice.
    pub ordinary_tables: Vec<Arc<str>>,
    /// Object-like macros of the P4 text: name and replacement.
    pub defines: Vec<(String, String)>,
}

impl Interface {
    /// The number of words that hold the malleables: one for each value, then one for each field, which is the index of
    /// its alternative.
    pub fn malleable_words(&self) -> usize {
        self.values.len() + self.fields.len()
    }
}

/// An operation on a table that a reaction calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TableOperation {
    /// Adds an entry: keys, priority, arguments. Returns its handle, or 0 if the table is full or has the entry.
    Add = 0,
    /// Gives the entry of a handle an action: handle, arguments. Returns 1, or 0 if there is no such entry.
    Modify = 1,
    /// Deletes the entry of a handle: handle. Returns 1, or 0 if there is no such entry.
    Delete = 2,
    /// Finds an entry: keys, priority. Returns its handle, or 0.
    Find = 3,
    /// Sets the default action: arguments. Returns 1.
    SetDefault = 4,
    /// Gives the table the default action of the program. Returns 1.
    ResetDefault = 5,
}

/// What a running reaction asks of the agent.
pub trait Host {
    /// Carries out an operation on the table of this index in [`Interface::tables`], with the action of this index. `words`
    /// has, for each key in order: exact the value; lpm the value and the prefix length; ternary the value and the mask;
    /// range the lowest and the highest value; optional the value and whether it is compared. The priority follows if the
    /// table has priorities, then the arguments.
    fn table(
        &mut self,
        operation: TableOperation,
        table: usize,
        action: usize,
        words: &[u64],
    ) -> u64;

    /// Returns the time in nanoseconds.
    fn now_ns(&mut self) -> u64;

    /// Receives a line of the reaction's log.
    fn log(&mut self, line: &str);

    /// Returns how many of the commits of the agent have failed so far.
    fn failed_commits(&mut self) -> u64;
}

/// Why a call of a reaction did not end well. Nothing that it set may take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It ended by a signal such as SIGSEGV; its name.
    Crashed(String),
    /// It did not end within the watchdog's time, in nanoseconds.
    Endless(u64),
    /// There is no code to run; why.
    Gone(String),
}

impl fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Crashed(signal) => write!(formatter, "the reaction ended by {signal}"),
            Stopped::Endless(limit_ns) => {
                let milliseconds = limit_ns / 1_000_000;
                write!(formatter, "the reaction did not return within {milliseconds} ms")
            }
            Stopped::Gone(why) => formatter.write_str(why),
        }
    }
}

/// Compiled reactions that can be called.
pub trait Reactions: Send {
    /// Calls the reaction of this index. `input` has [`Reaction::input_words`] words, `malleables` has
    /// [`Interface::malleable_words`], with the last assigned values; the reaction changes them in place.
    ///
    /// # Errors
    ///
    /// The reaction did not return.
    fn call(
        &mut self,
        reaction: usize,
        input: &[u64],
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<(), Stopped>;

    /// Calls `init`.
    ///
    /// # Errors
    ///
    /// It did not return.
    fn call_init(&mut self, malleables: &mut [u64], host: &mut dyn Host) -> Result<(), Stopped>;
}
