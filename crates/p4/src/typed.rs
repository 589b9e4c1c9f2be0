// SPDX-License-Identifier: Apache-2.0
//! `TypedProgram`: the syntax tree and the results of the type checker, in side tables keyed by
//! [`NodeId`]. Lowering, analyses and rewriters read it; only `check` writes it.

use crate::ast::{NodeId, Program};
use num_bigint::BigInt;
use std::collections::HashMap;
use std::sync::Arc;

/// A type. Equal types compare equal; nominal types are equal when their declarations are.
pub type Type = Arc<TypeKind>;

/// A type (P4_16 v1.2.5 §7).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `int`: unbounded, compile time only.
    Integer,
    /// `bit<W>`
    Bit(u32),
    /// `int<W>`
    Int(u32),
    /// `varbit<W>`
    Varbit(u32),
    /// A struct, with type arguments.
    Struct(NodeId, Vec<Type>),
    /// A header.
    Header(NodeId, Vec<Type>),
    /// A header union.
    HeaderUnion(NodeId, Vec<Type>),
    /// `element[size]`
    Stack(Type, u32),
    /// `tuple<...>`; also the type of `{a, b}`.
    Tuple(Vec<Type>),
    /// `list<T>`
    List(Type),
    /// The type of `{f = a, g = b}` before it meets a struct or header type.
    AnonymousStruct(Vec<(Arc<str>, Type)>),
    /// An enum without values.
    Enum(NodeId),
    /// An enum with an underlying type.
    SerializableEnum(NodeId),
    /// `type T name;`
    NewType(NodeId),
    /// An extern object.
    Extern(NodeId, Vec<Type>),
    /// A parser: a `ParserType` declaration, or a `Parser` declaration as a type.
    Parser(NodeId, Vec<Type>),
    /// A control: a `ControlType` declaration, or a `Control` declaration as a type.
    Control(NodeId, Vec<Type>),
    /// A package.
    Package(NodeId, Vec<Type>),
    /// A table (its declaration).
    Table(NodeId),
    /// The result of `t.apply()`, with `hit`, `miss` and `action_run`.
    ApplyResult(NodeId),
    /// The type of `t.apply().action_run`.
    ActionRun(NodeId),
    /// An action (its declaration).
    Action(NodeId),
    /// A function, extern function or method, not yet called.
    Function,
    /// A set of values: keysets, `value_set`.
    Set(Type),
    /// A declared type parameter (the node of its declaration), inside generic declarations.
    Variable(NodeId),
    /// An inference variable; never left in a finished program.
    Inferred(u32),
    /// `_`, `...`, `default`: fits anything.
    DontCare,
    /// Could not be found; already reported.
    Unknown,
}

/// A value known at compile time (§18.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// `bool`
    Bool(bool),
    /// `int`, `bit<W>`, `int<W>` (already wrapped to the width), and new types over them.
    Integer(BigInt),
    /// `string`
    String(Arc<str>),
    /// `error.Name`
    Error(Arc<str>),
    /// `match_kind`
    MatchKind(Arc<str>),
    /// A member of an enum: the enum's declaration and the index of the member.
    EnumMember(NodeId, usize),
    /// A list or tuple.
    List(Vec<Constant>),
    /// A struct or (valid) header, in field order.
    Struct(Vec<(Arc<str>, Constant)>),
    /// `{#}`
    InvalidHeader,
}

/// The definition that a name refers to: a node of the program, or a built-in object without a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Definition {
    /// A declaration, parameter, type parameter, state, loop variable, enum member, error or match
    /// kind: the node that declares it.
    Node(NodeId),
    /// The parser state `accept`.
    Accept,
    /// The parser state `reject`.
    Reject,
}

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A P4 function (its declaration).
    Function(NodeId),
    /// An extern function (its declaration).
    ExternFunction(NodeId),
    /// An action (its declaration), called directly.
    Action(NodeId),
    /// A method of an extern object: the method's node; the object is the callee's base expression.
    /// The base may be `this`.
    ExternMethod(NodeId),
    /// An abstract method that the instance implements, or another function of the enclosing object
    /// initializer: the implementing function's declaration, where known; else the method's node.
    AbstractMethod(NodeId),
    /// `t.apply()`: the table's declaration.
    TableApply(NodeId),
    /// `instance.apply(...)` of a parser or control; the instance is the callee's base expression. The
    /// node is the parser or control (type) declaration.
    BlockApply(NodeId),
    /// `Type.apply(...)` without an instance (§15.1): the parser's or control's declaration.
    DirectApply(NodeId),
    /// A constructor: the declaration of the extern object, parser, control or package; the
    /// second node is the constructor's method and distinguishes the overloads of an extern.
    Constructor(NodeId, Option<NodeId>),
    /// `h.isValid()` of a header or union.
    IsValid,
    /// `h.setValid()`
    SetValid,
    /// `h.setInvalid()`
    SetInvalid,
    /// `s.push_front(n)`
    PushFront,
    /// `s.pop_front(n)`
    PopFront,
    /// `minSizeInBits()`, `maxSizeInBytes()` and so on: always a constant.
    SizeOf,
}

/// A resolved call.
#[derive(Clone, Debug)]
pub struct CallInfo {
    /// The callee.
    pub callee: Callee,
    /// All type arguments, written or inferred, in the order of the type parameters. For a method
    /// these are the method's own; the object's are in the base expression's type.
    pub type_arguments: Vec<Type>,
    /// For each parameter in order, the index of its argument; `None` when it is left out (default
    /// value or `@optional`).
    pub arguments: Vec<Option<usize>>,
    /// The result's type.
    pub result: Type,
}

/// A checked program.
#[derive(Clone, Debug, Default)]
pub struct TypedProgram {
    /// The tree.
    pub program: Program,
    /// Type of every expression, before any implicit cast. For a `Type` expression, the type it names.
    pub expression_types: HashMap<NodeId, Type>,
    /// Implicit casts (§8.12.2): the type that the expression's value is converted to. Also how list
    /// and struct expressions get their struct or header type, and `...` its type.
    pub implicit_casts: HashMap<NodeId, Type>,
    /// Value of every expression known at compile time, after its implicit cast.
    pub constants: HashMap<NodeId, Constant>,
    /// Every written type, resolved (typedefs gone).
    pub type_refs: HashMap<NodeId, Type>,
    /// The definition of each `Path` expression, `Named`/`Specialized` type, state reference and action reference
    /// refers to; also enum members and errors for `Member` expressions that name one.
    pub definitions: HashMap<NodeId, Definition>,
    /// Every call expression and `Instance` declaration (as a constructor call), and every
    /// action reference of tables and entries (the callee is `Action`).
    pub calls: HashMap<NodeId, CallInfo>,
    /// Type of every declared value: variable, constant, parameter, instance, field, table.
    pub declared_types: HashMap<NodeId, Type>,
    /// All errors in the order of declaration; `NoError` of core.p4 is first when it is declared.
    pub errors: Vec<Arc<str>>,
    /// All match kinds in the order of declaration.
    pub match_kinds: Vec<Arc<str>>,
    /// The declaration of the package instance called `main`, if there is one.
    pub main: Option<NodeId>,
}
