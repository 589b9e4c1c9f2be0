// SPDX-License-Identifier: Apache-2.0
//! The syntax tree. Every node that a later step refers to has a [`NodeId`]; results of checks are in side
//! tables (`check::CheckedProgram`), never here. Both spellings of a construct (paper and later) give the
//! same tree; [`Spelling`] keeps the spelling that was written where the formatter needs it.

#![allow(missing_docs, reason = "the text of a variant explains its fields")]

use source::Span;
use std::sync::Arc;

/// Number of a node, unique in one [`Program`], dense from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// The name in a declaration. Its id identifies the declared item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binder {
    /// Identity of what is declared.
    pub id: NodeId,
    /// The name.
    pub name: Arc<str>,
    /// Where the name stands.
    pub span: Span,
}

/// A name in use, perhaps qualified by modules: `Filter.t`, `arr1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Identity of this use.
    pub id: NodeId,
    /// At least one segment.
    pub segments: Vec<Segment>,
    /// The whole path.
    pub span: Span,
}

/// One name of a path or one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The name.
    pub name: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

/// Which of two spellings was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Spelling {
    /// The spelling of today's reference implementation (`Array.t<32>`, `3w16`).
    #[default]
    Later,
    /// The paper's or its artifact's (`new Array<<32>>(8)`, `3<<16>>`, `Array.t<<32>>`).
    Paper,
}

/// A whole program: the main file with its includes in front, in order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// Declarations in order; those of an included file replace its `include`.
    pub declarations: Vec<Declaration>,
    /// The include directives, for tools.
    pub includes: Vec<Include>,
    /// One more than the largest node number.
    pub node_count: u32,
}

/// `include "x.dpt"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The file as written.
    pub file: Arc<str>,
    /// Where the directive stands.
    pub span: Span,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// What is declared.
    pub kind: DeclarationKind,
    /// From its first word to its end.
    pub span: Span,
    /// `@main` and other pragmas in front.
    pub pragmas: Vec<Segment>,
}

/// The kinds of declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclarationKind {
    /// `size n = 8;` or, without a value, `symbolic size n;`.
    Size { name: Binder, value: Option<Size> },
    /// `const int K = 4;`
    Constant { name: Binder, ty: Type, value: Expression },
    /// `symbolic int n;`
    Symbolic { name: Binder, ty: Type },
    /// `extern int n;`, a value per switch.
    Extern { name: Binder, ty: Type },
    /// `extern f(int x);`, a function of the surroundings that prints or counts; runs outside.
    ExternFunction { name: Binder, parameters: Vec<Parameter> },
    /// `global Array.t<32> a = Array.create(8);` The type is absent in the paper's
    /// `global a = new Array<<32>>(8);`, where the value is a `New` expression.
    Global { name: Binder, ty: Option<Type>, value: Expression },
    /// `event e(int x);`, with its handler if it has a body (`event e(int x) { ... }`).
    Event {
        name: Binder,
        sort: EventSort,
        /// `event e@7(...)`: the number on the wire.
        wire_number: Option<(u128, Span)>,
        parameters: Vec<Parameter>,
        constraints: Vec<Constraint>,
        body: Option<Block>,
    },
    /// `handle e(int x) { ... }`; the path's id is the use of the event's name.
    Handler { event: Path, sort: HandlerSort, parameters: Vec<Parameter>, body: Block },
    /// `fun int f(int x) { ... }`
    Function {
        name: Binder,
        return_type: Type,
        parameters: Vec<Parameter>,
        constraints: Vec<Constraint>,
        body: Block,
    },
    /// `memop f(int stored, int x) { ... }`. The body is any block here; the memop check says
    /// whether it may be one.
    Memop { name: Binder, parameters: Vec<Parameter>, body: Block },
    /// `type t<'a> = { ... }` or an alias.
    UserType { name: Binder, parameters: Vec<SizeParameter>, ty: Type },
    /// `constr t<'a> create(int n) = { ... };`
    Constructor { name: Binder, ty: Type, parameters: Vec<Parameter>, value: Expression },
    /// `module M : { interface } { ... }`
    Module { name: Binder, interface: Option<Vec<InterfaceItem>>, declarations: Vec<Declaration> },
    /// `module F = A if b else B;`
    ModuleAlias { name: Binder, condition: Expression, then: Path, otherwise: Path },
    /// `action r f(int d)(int q) { return ...; }`, also spelled `action_constr f(int d) = ...`.
    Action {
        name: Binder,
        return_type: Type,
        install_parameters: Vec<Parameter>,
        match_parameters: Vec<Parameter>,
        body: Block,
        spelling: Spelling,
    },
    /// `parser main(bitstring b) { ... }`
    Parser { name: Binder, parameters: Vec<Parameter>, body: ParserBlock },
}

/// The role of an event at the border of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSort {
    /// `event`: generated by programs.
    Background,
    /// `packet event`: arrives as a packet.
    Packet,
    /// `entry event` (artifact): arrives from outside.
    Entry,
    /// `exit event` (artifact): leaves to the outside; has no handler.
    Exit,
}

/// Where a handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerSort {
    /// `handle`
    Ingress,
    /// `control handle`: on the switch's processor.
    Control,
    /// `@egress handle`: as an event leaves the switch.
    Egress,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Binder,
}

/// A size parameter of a type, `'a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeParameter {
    /// Name without the tick.
    pub name: Binder,
}

/// `[p < q]`, `[start <= p; end q]` (paper appendix A and the module interfaces).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// A chain `a < b <= c`: operands and, between them, whether strict. `start` as a name is the
    /// beginning of the function.
    Chain { operands: Vec<Path>, strict: Vec<bool>, span: Span },
    /// `end p`: the function ends right after its access to `p`.
    End { operand: Path, span: Span },
}

/// One entry of a module's interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceItem {
    /// What it says.
    pub kind: InterfaceItemKind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of interface entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterfaceItemKind {
    /// `size n;`
    Size { name: Binder },
    /// `int x;`
    Value { name: Binder, ty: Type },
    /// `type t<'a> = ...;` or opaque; `global type` if it holds global data.
    Type { name: Binder, parameters: Vec<SizeParameter>, ty: Option<Type>, is_global: bool },
    /// `constr t<'a> create(int n);`
    Constructor { name: Binder, ty: Type, parameters: Vec<Parameter> },
    /// `fun int f(t p) [start <= p; end p];`
    Function {
        name: Binder,
        return_type: Type,
        parameters: Vec<Parameter>,
        constraints: Vec<Constraint>,
    },
    /// `event e(int x);`
    Event { name: Binder, parameters: Vec<Parameter>, constraints: Vec<Constraint> },
    /// `memop f(int<'a> x, int<'a> y);`
    Memop { name: Binder, parameters: Vec<Parameter> },
    /// `module M : { ... }`
    Module { name: Binder, interface: Vec<InterfaceItem> },
}

/// A type as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Which.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// Kinds of types as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `int`, 32 bits when no size is written.
    Int(Option<Size>),
    /// `bool`
    Bool,
    /// `void`
    Void,
    /// `event`; the artifact's `mevent` too.
    Event,
    /// `group`
    Group,
    /// `auto`
    Auto,
    /// `'a`
    Variable(Segment),
    /// `Array.t<32>`, `t<'a, 4>`, `Array<<32>>`, `Payload.t`: builtin or user type.
    Named { path: Path, sizes: Vec<Size>, spelling: Spelling },
    /// `Table.t<<key, install, argument, result>>`: a type with type arguments.
    Applied { path: Path, arguments: Vec<Type> },
    /// `{ int a; int b; }`
    Record(Vec<Parameter>),
    /// `T[n]`
    Vector(Box<Type>, Size),
    /// `()` or `(A, B)`, in table types.
    Tuple(Vec<Type>),
    /// `memop<32>` or `memop<<16, 16>>`
    Memop(Vec<Size>),
    /// `bitstring`
    Bitstring,
}

/// A size as written: a type-level number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Which.
    pub kind: SizeKind,
    /// Where.
    pub span: Span,
}

/// Kinds of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeKind {
    /// `32`
    Number(u128),
    /// `idx_size`, a declared size or a loop variable.
    Named(Path),
    /// `'a`
    Variable(Segment),
    /// `auto`
    Auto,
    /// `a + b`
    Sum(Vec<Size>),
}

/// Statements between braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
    /// With the braces.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Identity.
    pub id: NodeId,
    /// Which.
    pub kind: StatementKind,
    /// Where.
    pub span: Span,
}

/// Kinds of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// `skip;`
    Skip,
    /// `int x = e;` (`no_inline` for `@noinline`).
    Local { name: Binder, ty: Type, value: Expression, no_inline: bool },
    /// `x = e;`; in memops `cell1 = e;` too.
    Assign { target: Path, value: Expression, no_inline: bool },
    /// `f(x);`
    Call(Expression),
    /// `if (c) { ... } else { ... }`; `else if` is a block of one `If`.
    If { condition: Expression, then: Block, otherwise: Option<Block> },
    /// `match (a, b) with | p, q -> { ... }`
    Match { subjects: Vec<Expression>, branches: Vec<Branch> },
    /// `return e;`
    Return(Option<Expression>),
    /// `printf("...", a, b);`
    Print { format: Arc<str>, format_span: Span, arguments: Vec<Expression> },
    /// `generate e;` and its relatives.
    Generate { target: GenerateTarget, event: Expression },
    /// `for (i < 4) { ... }`; the variable is a size.
    For { variable: Binder, bound: Size, body: Block },
    /// `Table.multi_install`-like statements of the artifact:
    /// `table_install(tbl, { (pats) -> act(args); [prio](pats) -> act(args) });`
    TableInstall { table: Expression, entries: Vec<TableEntry> },
}

/// Where `generate` sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenerateTarget {
    /// `generate e;`: to the event's location; without one to this switch.
    Event,
    /// `mgenerate e;` (artifact): to all the places that the event names.
    Many,
    /// `generate_switch(s, e);`
    Switch(Expression),
    /// `generate_port(p, e);`
    Port(Expression),
    /// `generate_ports(g, e);`
    Ports(Expression),
}

/// An entry of a `table_install` statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// Lower comes first; 50 when not written.
    pub priority: Option<(u128, Span)>,
    /// One a key field.
    pub patterns: Vec<Expression>,
    /// The action's constructor.
    pub action: Path,
    /// Its installed arguments.
    pub arguments: Vec<Expression>,
    /// Where.
    pub span: Span,
}

/// One branch of a `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// One a subject, or a single wildcard for all.
    pub patterns: Vec<Pattern>,
    /// What runs.
    pub body: Block,
    /// Where.
    pub span: Span,
}

/// A pattern of a `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Which.
    pub kind: PatternKind,
    /// Where.
    pub span: Span,
}

/// Kinds of patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// `10`
    Number(u128),
    /// `0b1*0`: `Some(bit)` or `None` for `*`, the most significant first.
    Bits(Vec<Option<bool>>),
    /// A constant, symbolic or extern by name.
    Named(Path),
    /// `e(int a, int b)`: an event with its arguments bound, when the subject is an event.
    Event { event: Path, parameters: Vec<Parameter> },
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Identity; the key of its type.
    pub id: NodeId,
    /// Which.
    pub kind: ExpressionKind,
    /// Where.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionKind {
    /// `5`, `5w16`, `5<<16>>`
    Integer { value: u128, width: Option<Size>, spelling: Spelling },
    /// `true`
    Boolean(bool),
    /// `"..."`, an argument of an extern function.
    String(Arc<str>),
    /// A name: local, constant, global, size in `size_to_int`, event without arguments, memop, ...
    Name(Path),
    /// `f(x)`, `Array.get(a, i)`, `e(1, 2)` (an event value), `M.create(4)`.
    /// `unordered` for `f<unordered>(x)`: this call is left out of the order.
    Call { function: Path, arguments: Vec<Expression>, unordered: bool },
    /// `new Array<<32>>(8)` (paper).
    New { ty: Type, arguments: Vec<Expression> },
    /// `!e`, `~e`, `-e`
    Unary { operator: UnaryOperator, operand: Box<Expression> },
    /// `a + b`
    Binary { operator: BinaryOperator, left: Box<Expression>, right: Box<Expression> },
    /// `(int<8>)e`
    Cast { ty: Type, operand: Box<Expression> },
    /// `e[7:0]`, both bounds included.
    Slice { operand: Box<Expression>, high: Size, low: Size },
    /// `hash<10>(seed, a, b)`
    Hash { width: Size, arguments: Vec<Expression> },
    /// `flood p`: every port but one.
    Flood(Box<Expression>),
    /// `size_to_int(n)`, `size_to_int<16>(n)`
    SizeToInt { size: Size, width: Option<Size> },
    /// `{a = 1; b = 2}`
    Record(Vec<(Segment, Expression)>),
    /// `{r with a = 1}`
    With { record: Box<Expression>, fields: Vec<(Segment, Expression)> },
    /// `r#a`
    Field { record: Box<Expression>, label: Segment },
    /// `[a; b]`
    Vector(Vec<Expression>),
    /// `[e for i < n]`
    Comprehension { element: Box<Expression>, variable: Binder, bound: Size },
    /// `v[i]`
    Index { vector: Box<Expression>, index: Size },
    /// `(a, b)`, `()`
    Tuple(Vec<Expression>),
    /// `{1, 2}`: a group of ports or switches.
    Group(Vec<Expression>),
    /// `_` and `0b1*0` as arguments of table installs.
    Pattern(PatternKind),
    /// `a &&& b`: a masked pattern.
    Masked { value: Box<Expression>, mask: Box<Expression> },
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `!`
    Not,
    /// `~`
    BitNot,
    /// `-`
    Negate,
}

impl UnaryOperator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Not => "!",
            UnaryOperator::BitNot => "~",
            UnaryOperator::Negate => "-",
        }
    }
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `|+|`
    SaturatingAdd,
    /// `|-|`
    SaturatingSubtract,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^^`
    BitXor,
    /// `<<` (`<<<` too)
    ShiftLeft,
    /// `>>` (`>>>` too)
    ShiftRight,
    /// `^`
    Concatenate,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessOrEqual,
    /// `>=`
    GreaterOrEqual,
    /// `&&`; both operands are always evaluated.
    And,
    /// `||`; both operands are always evaluated.
    Or,
}

impl BinaryOperator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::SaturatingAdd => "|+|",
            BinaryOperator::SaturatingSubtract => "|-|",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::BitOr => "|",
            BinaryOperator::BitXor => "^^",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::Concatenate => "^",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::Greater => ">",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::And => "&&",
            BinaryOperator::Or => "||",
        }
    }
}

/// A parser's block: actions, then one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParserBlock {
    /// In order.
    pub actions: Vec<ParserAction>,
    /// How it ends.
    pub step: ParserStep,
    /// Where.
    pub span: Span,
}

/// An action of a parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParserAction {
    /// Which.
    pub kind: ParserActionKind,
    /// Where.
    pub span: Span,
}

/// Kinds of parser actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParserActionKind {
    /// `eth e = read(pkt);`
    Read { name: Binder, ty: Type, source: Expression },
    /// `skip(int<16>, pkt);`
    Skip { ty: Type, source: Expression },
    /// `int x = e;`
    Local { name: Binder, ty: Type, value: Expression },
    /// `e#etherTy = 5;`, `x = 5;`
    Assign { target: Expression, value: Expression },
}

/// How a parser's block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParserStep {
    /// `match e with | 1 -> { ... }`
    Match { subjects: Vec<Expression>, branches: Vec<ParserBranch>, span: Span },
    /// `generate e(...);`
    Generate { event: Expression, span: Span },
    /// `parse_ip(pkt, e);`, `do_lucid_parsing(pkt);`
    Call { parser: Path, arguments: Vec<Expression>, span: Span },
    /// `drop;`
    Drop { span: Span },
}

/// One branch of a parser's `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParserBranch {
    /// One a subject.
    pub patterns: Vec<Pattern>,
    /// What follows.
    pub body: ParserBlock,
    /// Where.
    pub span: Span,
}
