// SPDX-License-Identifier: Apache-2.0
//! `CheckedProgram`: the types, name resolutions and instantiations of a program. Side tables, keyed by
//! [`NodeId`], hold them; the tree stays unchanged. Elaboration, the order check and tools read them.

#![allow(missing_docs, reason = "the text of a variant explains its fields")]

use crate::syntax::ast::{NodeId, Program, Segment};
use std::collections::HashMap;
use std::sync::Arc;

/// A program that was checked. If the diagnostics that came with it hold errors, tables may have
/// gaps and `Type::Error`; without errors every expression, binder and path has its entry.
#[derive(Clone, Debug, Default)]
pub struct CheckedProgram {
    /// The tree.
    pub tree: Arc<Program>,
    /// Types of expressions (by `Expression::id`) and of value binders (by `Binder::id`): locals,
    /// parameters, constants, globals. Inside a polymorphic declaration they mention its variables;
    /// inside a handler, those of its event's signature.
    pub types: HashMap<NodeId, Type>,
    /// The definition of each path, by `Path::id`; paths of built-in types, and `start` in constraints of the
    /// order, have no entry.
    pub definitions: HashMap<NodeId, Definition>,
    /// Sizes as written, resolved, by the id of the path in them (named sizes only).
    pub sizes: HashMap<NodeId, Size>,
    /// For each use (by `Path::id`) of a polymorphic function, constructor, memop, event or action:
    /// what its variables stand for there.
    pub instantiations: HashMap<NodeId, Instantiation>,
    /// Signatures of functions, constructors, events, memops, actions and parsers, by binder.
    pub signatures: HashMap<NodeId, Signature>,
    /// User types, by binder, as they are inside their module.
    pub user_types: HashMap<NodeId, UserType>,
    /// Declared sizes, by binder: the value, or `None` if symbolic.
    pub declared_sizes: HashMap<NodeId, Option<Size>>,
    /// Bounds of loops and comprehensions, by the binder of their variable.
    pub loop_bounds: HashMap<NodeId, Size>,
    /// Sizes that stand in an expression, by `Expression::id`: high and low of a slice, the index of
    /// an `Index`, the size of a `SizeToInt`. (Widths of casts, hashes and literals are in the types.)
    pub expression_sizes: HashMap<NodeId, Vec<Size>>,
    /// The bits that a parser skips, by the id of the `Skip`'s source expression.
    pub skipped_types: HashMap<NodeId, Type>,
    /// Name and place of everything declared, by binder. User types that only a module alias has
    /// (`UserTypeBody::Aliased`) have numbers from `Program::node_count` up.
    pub binders: HashMap<NodeId, Segment>,
    /// The name of a variable of a polymorphic declaration, without the tick.
    pub variable_names: HashMap<Variable, Arc<str>>,
}

/// A type. `int<32>` is `Int(Size::constant(32))`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `bool`
    Bool,
    /// Unsigned, of a width in bits.
    Int(Size),
    /// `void`
    Void,
    /// An event value.
    Event,
    /// A set of ports or switches.
    Group,
    /// Labels in order.
    Record(Vec<(Arc<str>, Type)>),
    /// Elements and their number.
    Vector(Box<Type>, Size),
    /// Keys and arguments of tables.
    Tuple(Vec<Type>),
    /// A user's type by its binder; `CheckedProgram::user_types` says what it is.
    User { definition: NodeId, name: Arc<str>, sizes: Vec<Size> },
    /// `Array.t<w>`
    Array(Size),
    /// `PairArray.t<w>`
    PairArray(Size),
    /// `Counter.t<w>`
    Counter(Size),
    /// `Table.t<<key, install, argument, result>>`
    Table(Box<TableType>),
    /// A memop: number of arguments (2, 3, 4; 0 while not known) and width of its cell.
    Memop { arguments: usize, width: Size },
    /// An action's constructor, of the table type it fits.
    Action(Box<TableType>),
    /// A pattern over integers of a width.
    Pattern(Size),
    /// Unparsed bits.
    Bitstring,
    /// `Payload.t`
    Payload,
    /// A text, for extern functions.
    String,
    /// A type variable of a polymorphic declaration.
    Variable(Variable),
    /// The type of an expression with a reported error.
    Error,
}

/// The four types of a table. Single types stand for tuples of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableType {
    /// Key.
    pub key: Type,
    /// What an entry holds for its action. `Type::Error` where it differs between the actions, which
    /// the older `table_type` allows: the signature of the action tells it then.
    pub install: Type,
    /// The arguments that a lookup passes to the action.
    pub argument: Type,
    /// The results of a lookup.
    pub result: Type,
}

/// A variable of types or sizes. After checking only the variables of polymorphic declarations are
/// left, with the names that the user or inference gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(pub u32);

/// A size in normal form: a constant plus variables and symbolic sizes, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Size {
    /// The constant part.
    pub constant: u128,
    /// Symbolic sizes, loop variables (by binder) and size variables, sorted, with repetition.
    pub terms: Vec<SizeTerm>,
}

/// A part of a size that is not a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SizeTerm {
    /// A variable of a polymorphic declaration.
    Variable(Variable),
    /// `symbolic size`, by binder.
    Symbolic(NodeId),
    /// The variable of a `for` loop or comprehension, by binder.
    Loop(NodeId),
}

impl Size {
    /// A known size.
    pub fn constant(value: u128) -> Size {
        Size { constant: value, terms: Vec::new() }
    }

    /// The value if it is known.
    pub fn known(&self) -> Option<u128> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// The instantiation of a polymorphic declaration's variables at one use.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Instantiation {
    /// Size variables.
    pub sizes: HashMap<Variable, Size>,
    /// Type variables.
    pub types: HashMap<Variable, Type>,
}

/// The type of something that takes arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Types of parameters; of an action, install parameters and then match parameters.
    pub parameters: Vec<Type>,
    /// Its result type; `Event` for events.
    pub result: Type,
    /// Its variables, if it is polymorphic.
    pub variables: Vec<Variable>,
}

/// A user type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserType {
    /// Full name, with modules.
    pub name: Arc<str>,
    /// Its size parameters.
    pub parameters: Vec<Variable>,
    /// What it is.
    pub body: UserTypeBody,
    /// Whether it holds global data.
    pub is_global: bool,
}

/// What a user type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserTypeBody {
    /// This type, in terms of the parameters.
    Known(Type),
    /// The type of that name in one of the two modules of an alias, with the same parameters.
    Aliased { alias: NodeId, then: NodeId, otherwise: NodeId },
}

/// The definition that a path resolves to. `NodeId`s are binders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A local or a parameter (of a handler, function, memop, action, constructor or parser).
    Local(NodeId),
    /// The variable of a `for` loop or a comprehension, a size.
    Loop(NodeId),
    /// `const`
    Constant(NodeId),
    /// `symbolic`
    Symbolic(NodeId),
    /// `size` or `symbolic size`
    Size(NodeId),
    /// `extern`
    Extern(NodeId),
    /// `extern f(...)`
    ExternFunction(NodeId),
    /// `global`
    Global(NodeId),
    /// An event, as a constructor of event values.
    Event(NodeId),
    /// A function.
    Function(NodeId),
    /// A memop.
    Memop(NodeId),
    /// A constructor of a user type.
    Constructor(NodeId),
    /// An action's constructor.
    Action(NodeId),
    /// A parser.
    Parser(NodeId),
    /// A type.
    Type(NodeId),
    /// A module.
    Module(NodeId),
    /// A member of a module alias: one of these two, by the alias's condition.
    Aliased { alias: NodeId, then: Box<Definition>, otherwise: Box<Definition> },
    /// Something the language brings.
    Builtin(Builtin),
}

/// A built-in of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `Array.create(n)`
    ArrayCreate,
    /// `Array.get(a, i)`; in the paper also `Array.get(a, i, memop, x)`, which is `getm`.
    ArrayGet,
    /// `Array.getm(a, i, memop, x)`
    ArrayGetm,
    /// `Array.set(a, i, v)`; in the paper also `Array.set(a, i, memop, x)`, which is `setm`.
    ArraySet,
    /// `Array.setm(a, i, memop, x)`
    ArraySetm,
    /// `Array.update(a, i, get, x, set, y)`: both memops see the old value.
    ArrayUpdate,
    /// `Array.update_complex(a, i, memop3, x, y, default)`
    ArrayUpdateComplex,
    /// `PairArray.create(n)`
    PairArrayCreate,
    /// `PairArray.update(a, i, memop4, x, y, default)`
    PairArrayUpdate,
    /// `Counter.create(initial)`
    CounterCreate,
    /// `Counter.add(c, n)`: returns the old value.
    CounterAdd,
    /// `Table.create(n, [actions], default, arguments)`
    TableCreate,
    /// `Table.lookup(t, key, argument)`
    TableLookup,
    /// `Table.install(t, key, action, arguments)`
    TableInstall,
    /// `Table.install_ternary(t, key, mask, action, arguments)`
    TableInstallTernary,
    /// `Event.delay(e, t)`, `Event.mdelay`: nanoseconds.
    EventDelay,
    /// `Event.locate(e, s)`, `Event.sslocate`, ...: one switch.
    EventLocate,
    /// `Event.mslocate`, `Event.smlocate`, `Event.mmlocate`: a group of switches.
    EventLocateMany,
    /// `Sys.time()`: nanoseconds since the beginning, 32 bits (the width follows its use).
    SysTime,
    /// `Sys.random()`, 32 bits (the width follows its use).
    SysRandom,
    /// `Sys.dequeue_depth()`
    SysDequeueDepth,
    /// `Payload.empty()`
    PayloadEmpty,
    /// `Payload.parse(pkt)`
    PayloadParse,
    /// `self`, `SELF`
    SelfSwitch,
    /// `this`: the event being handled.
    This,
    /// `ingress_port`
    IngressPort,
    /// `recirculation_port`
    RecirculationPort,
    /// `LUCID_ETHERTY`
    LucidEtherType,
    /// `checksum`, the seed that makes a hash the internet checksum.
    Checksum,
    /// `do_lucid_parsing(pkt)`, a parser.
    LucidParser,
    /// `fst(stored, x)`, `snd(stored, x)` are ordinary memops of programs; nothing of the kind is
    /// built in. `cell1`, the first cell in a memop of three or four arguments.
    Cell1,
    /// `cell2`
    Cell2,
}
