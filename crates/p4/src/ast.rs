// SPDX-License-Identifier: Apache-2.0
//! The syntax tree of P4_16. The parser makes it, the type checker annotates it in side tables keyed
//! by [`NodeId`] (see `typed`), the printer writes it back. It holds no types and no meaning.
//!
//! Every node that a side table may speak of has an id, unique in its program. The tree has no
//! parenthesis nodes: the printer puts them where precedence needs them. Declarations are in `declarations`.

mod declarations;
mod extensions;
mod nodes;

pub use declarations::*;
pub use extensions::*;
pub use nodes::Node;

use crate::token::Token;
use num_bigint::BigInt;
use source::Span;
use std::sync::Arc;

/// The identity of a node in its [`Program`]: dense, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A whole program after preprocessing: P4_16 v1.2.5 §6.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Top-level declarations in order.
    pub declarations: Vec<Declaration>,
    /// One more than the largest [`NodeId`] in use.
    pub node_count: u32,
}

/// A name where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text.
    pub text: Arc<str>,
    /// The place.
    pub span: Span,
}

/// A reference by name: `name` or `.name` (top level, §6.9).
#[derive(Clone, Debug)]
pub struct Path {
    /// Whether it starts with a dot.
    pub absolute: bool,
    /// The name.
    pub name: Name,
}

/// `@name`, `@name(...)` or `@name[...]` (§20).
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name after the at sign.
    pub name: Name,
    /// The part behind the name.
    pub body: AnnotationBody,
    /// All of it.
    pub span: Span,
}

/// The body of an annotation.
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// `@name`
    Empty,
    /// `@name(tokens)`: any balanced tokens.
    Unstructured(Vec<Token>),
    /// `@name[e, e]`
    Expressions(Vec<Expression>),
    /// `@name[k = e, k = e]`
    Pairs(Vec<(Name, Expression)>),
}

/// A type where it is written (§7).
#[derive(Clone, Debug)]
pub struct TypeRef {
    /// Identity.
    pub id: NodeId,
    /// Place.
    pub span: Span,
    /// Its written form.
    pub kind: TypeRefKind,
}

/// The forms of a written type.
#[derive(Clone, Debug)]
pub enum TypeRefKind {
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `void`
    Void,
    /// `int` (any size)
    Integer,
    /// `bit`, `bit<W>`, `bit<(expression)>`; without a width it is `bit<1>`.
    Bit(Option<Box<Expression>>),
    /// `int<W>`
    SignedBit(Box<Expression>),
    /// `varbit<W>`
    Varbit(Box<Expression>),
    /// A named type or type variable.
    Named(Path),
    /// `name<args>`
    Specialized(Path, Vec<TypeRef>),
    /// `element[size]`
    Stack(Box<TypeRef>, Box<Expression>),
    /// `tuple<args>`
    Tuple(Vec<TypeRef>),
    /// `list<arg>`
    List(Box<TypeRef>),
    /// `_` as a type argument.
    DontCare,
    /// Not a type; already reported.
    Invalid,
}

/// An expression (§8).
#[derive(Clone, Debug)]
pub struct Expression {
    /// Identity.
    pub id: NodeId,
    /// Place.
    pub span: Span,
    /// Its kind.
    pub kind: ExpressionKind,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `10`, `8w10`, `4s3` (§6.4.3.2)
    Integer {
        /// The value.
        value: BigInt,
        /// Width in bits and whether it is signed, where written.
        width: Option<(u32, bool)>,
    },
    /// `true`, `false`
    Bool(bool),
    /// A string literal, escapes resolved.
    String(Arc<str>),
    /// A name of a value, function, action, table or instance.
    Path(Path),
    /// A type in expression position: before `.member`, or called as a constructor.
    Type(TypeRef),
    /// `error` before `.Member`.
    ErrorType,
    /// `this` (§11.3)
    This,
    /// `...` as a default (§8.28)
    Dots,
    /// `default` in a keyset or switch label.
    Default,
    /// `_` in a keyset or as an argument.
    DontCare,
    /// `{a, b}` (§8.13)
    List(Vec<Expression>),
    /// `{f = a, g = b}`, perhaps with `...` at the end (§8.14)
    Struct {
        /// Fields in the order written.
        fields: Vec<(Name, Expression)>,
        /// Whether `...` ends the list.
        rest: bool,
    },
    /// `{#}` (§8.18)
    InvalidHeader,
    /// `-a`
    Unary(UnaryOperator, Box<Expression>),
    /// `a + b`
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `c ? a : b`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `(T) a`
    Cast(TypeRef, Box<Expression>),
    /// `a.member`
    Member(Box<Expression>, Name),
    /// `a[i]`
    Index(Box<Expression>, Box<Expression>),
    /// `a[high:low]`
    Slice {
        /// The sliced value.
        base: Box<Expression>,
        /// Highest bit.
        high: Box<Expression>,
        /// Lowest bit.
        low: Box<Expression>,
    },
    /// `a[low +: width]` (§8.7)
    PlusSlice {
        /// The sliced value.
        base: Box<Expression>,
        /// Lowest bit.
        low: Box<Expression>,
        /// How many bits.
        width: Box<Expression>,
    },
    /// A call of a function, method, action, table or constructor.
    Call(Box<Call>),
    /// `value &&& mask` in a keyset (§8.16.3)
    Mask(Box<Expression>, Box<Expression>),
    /// `low .. high` in a keyset or `for` (§8.16.4)
    Range(Box<Expression>, Box<Expression>),
    /// A tuple keyset `(a, b)` with two or more elements.
    TupleKeyset(Vec<Expression>),
    /// An expression of a dialect.
    Extension(Box<Extension>),
    /// Not an expression; already reported.
    Invalid,
}

/// A call: `callee<types>(arguments)`. The callee is a `Path`, a `Member` or a `Type` (constructor).
#[derive(Clone, Debug)]
pub struct Call {
    /// The callee.
    pub callee: Expression,
    /// Written type arguments.
    pub type_arguments: Vec<TypeRef>,
    /// Arguments in the order written.
    pub arguments: Vec<Argument>,
}

/// An argument, by position or by name. `_` is the expression `DontCare`.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The parameter's name, where written.
    pub name: Option<Name>,
    /// The value.
    pub value: Expression,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Minus,
    /// `+`
    Plus,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `|+|`
    AddSaturating,
    /// `|-|`
    SubtractSaturating,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `!=`
    NotEqual,
    /// `==`
    Equal,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `++`
    Concat,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// A statement (§12), or a declaration among statements.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Identity.
    pub id: NodeId,
    /// Place.
    pub span: Span,
    /// Its kind.
    pub kind: StatementKind,
}

/// The forms of a statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `a = b;` or `a += b;` (with the operator)
    Assign {
        /// The l-value.
        target: Expression,
        /// The operator of a compound assignment.
        operator: Option<BinaryOperator>,
        /// The right side.
        value: Expression,
    },
    /// A call as a statement; the expression is a `Call`.
    Call(Expression),
    /// `if`
    If {
        /// The condition.
        condition: Expression,
        /// Done when true.
        then: Box<Statement>,
        /// Done when false.
        otherwise: Option<Box<Statement>>,
    },
    /// `{ ... }`
    Block(Block),
    /// `;`
    Empty,
    /// `exit;`
    Exit,
    /// `return;` or `return e;`
    Return(Option<Expression>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `switch` on `t.apply().action_run` or on a value (§12.7)
    Switch {
        /// The value that the labels are compared with.
        subject: Expression,
        /// Cases in order.
        cases: Vec<SwitchCase>,
    },
    /// `for (init; condition; update) body` (§12.8)
    For {
        /// Annotations such as `@unroll`.
        annotations: Vec<Annotation>,
        /// Declarations, assignments or calls.
        init: Vec<Statement>,
        /// The condition.
        condition: Expression,
        /// Assignments or calls.
        update: Vec<Statement>,
        /// The body.
        body: Box<Statement>,
    },
    /// `for (T x in collection) body`
    ForIn {
        /// Annotations such as `@unroll`.
        annotations: Vec<Annotation>,
        /// The loop variable; it has no initializer.
        variable: Box<Variable>,
        /// A `Range`, a stack or a list.
        collection: Expression,
        /// The body.
        body: Box<Statement>,
    },
    /// A variable or constant declared among statements.
    Declaration(Box<Declaration>),
    /// A statement of a dialect.
    Extension(Box<Extension>),
}

/// `{ statements }` with annotations.
#[derive(Clone, Debug)]
pub struct Block {
    /// Annotations such as `@atomic`.
    pub annotations: Vec<Annotation>,
    /// Statements in order.
    pub statements: Vec<Statement>,
    /// From brace to brace.
    pub span: Span,
}

/// One label of a `switch`, and its block unless it falls through.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// The label: `Default` or an expression.
    pub label: Expression,
    /// The block; `None` falls through to the next case.
    pub body: Option<Block>,
}
