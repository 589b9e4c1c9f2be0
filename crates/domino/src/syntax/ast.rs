// SPDX-License-Identifier: Apache-2.0
//! The syntax tree: what the parser has read, before names are resolved.

use source::Span;
use std::sync::Arc;

/// A name where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text.
    pub text: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

/// The type of a value. Both have 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `int`
    Int,
    /// `unsigned`
    Unsigned,
}

impl Type {
    /// Whether this is `unsigned`.
    pub fn is_unsigned(self) -> bool {
        self == Type::Unsigned
    }
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Its declarations in order.
    pub items: Vec<Item>,
}

/// A declaration of a program.
#[derive(Clone, Debug)]
pub enum Item {
    /// The packet's fields.
    Struct(Struct),
    /// A global.
    Global(Global),
    /// A function.
    Function(Function),
}

/// `struct Packet { ... };`
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name.
    pub name: Name,
    /// The fields.
    pub fields: Vec<(Name, Type)>,
}

/// A scalar or an array.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: Name,
    /// The type of its cells.
    pub ty: Type,
    /// The size of an array; `None` within is `[]`.
    pub size: Option<Option<Expression>>,
    /// The initialiser.
    pub initializer: Option<Initializer>,
}

/// An initialiser.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// `= 1`
    Value(Expression),
    /// `= {1, 2}` with the place of its braces.
    List(Vec<Expression>, Span),
}

/// The parameters of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: ParameterType,
}

/// The type of a parameter.
#[derive(Clone, Debug)]
pub enum ParameterType {
    /// A value.
    Value(Type),
    /// The struct of this name.
    Struct(Name),
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// The type of its value; `None` is `void`.
    pub returns: Option<Type>,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The body; `None` is a declaration without one.
    pub body: Option<Vec<Statement>>,
}

impl Function {
    /// Whether the function has a struct as a parameter.
    pub fn is_for_packets(&self) -> bool {
        self.parameters.iter().any(|one| matches!(one.ty, ParameterType::Struct(_)))
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `;`
    Empty,
    /// `a = b;`
    Expression(Expression),
    /// `int a = 1, b;`
    Declaration(Type, Vec<(Name, Option<Expression>)>),
    /// `if (a) ... else ...`
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    /// `for (...; ...; ...) ...`
    For(Box<For>),
    /// `return a;`
    Return(Option<Expression>),
    /// `{ ... }`
    Block(Vec<Statement>),
}

/// A loop.
#[derive(Clone, Debug)]
pub struct For {
    /// What is done first.
    pub begin: Statement,
    /// The condition.
    pub condition: Option<Expression>,
    /// What follows each turn.
    pub step: Option<Expression>,
    /// What is repeated.
    pub body: Statement,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands.
    pub span: Span,
    /// The height of its tree.
    pub height: u32,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A number.
    Literal(u32, Type),
    /// A name.
    Name(Name),
    /// `p.field`
    Member(Box<Expression>, Name),
    /// `array[index]`
    Index(Box<Expression>, Box<Expression>),
    /// `f(a, b)`
    Call(Name, Vec<Expression>),
    /// `-a`
    Unary(UnaryOperator, Box<Expression>),
    /// `a + b`
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `a && b`, `a || b`
    Logical(LogicalOperator, Box<Expression>, Box<Expression>),
    /// `a ? b : c`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `a = b`, `a += b`
    Assign(Option<BinaryOperator>, Box<Expression>, Box<Expression>),
    /// `a++`
    Step(Step, Box<Expression>),
}

impl ExpressionKind {
    /// Returns the height of the tree.
    pub fn height(&self) -> u32 {
        let of = |one: &Expression| one.height;
        1 + match self {
            ExpressionKind::Literal(..) | ExpressionKind::Name(_) => 0,
            ExpressionKind::Member(one, _)
            | ExpressionKind::Unary(_, one)
            | ExpressionKind::Step(_, one) => of(one),
            ExpressionKind::Index(one, two)
            | ExpressionKind::Binary(_, one, two)
            | ExpressionKind::Logical(_, one, two)
            | ExpressionKind::Assign(_, one, two) => of(one).max(of(two)),
            ExpressionKind::Call(_, arguments) => arguments.iter().map(of).max().unwrap_or(0),
            ExpressionKind::Conditional(one, two, three) => of(one).max(of(two)).max(of(three)),
        }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `+`
    Plus,
    /// `-`
    Negate,
    /// `~`
    Complement,
    /// `!`
    Not,
}

/// Operators with two operands that are both evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is spelled out by BinaryOperator::spelling")]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
}

impl BinaryOperator {
    /// Returns how the operator is written.
    pub fn spelling(self) -> &'static str {
        match self {
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Remainder => "%",
            BinaryOperator::And => "&",
            BinaryOperator::Or => "|",
            BinaryOperator::Xor => "^",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::Greater => ">",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::GreaterEqual => ">=",
        }
    }

    /// Whether the value is 0 or 1.
    pub fn is_comparison(self) -> bool {
        use BinaryOperator as B;
        matches!(
            self,
            B::Equal | B::NotEqual | B::Less | B::Greater | B::LessEqual | B::GreaterEqual
        )
    }

    /// Whether the value has the type of the left operand.
    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight)
    }
}

/// Operators that may leave their right operand unevaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicalOperator {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// `++` or `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// `++`
    pub is_increment: bool,
    /// Before its operand: the value is the new one.
    pub is_prefix: bool,
}
