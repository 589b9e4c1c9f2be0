// SPDX-License-Identifier: Apache-2.0
//! Declarations of the syntax tree: types, functions, parsers, controls, tables, packages and what they
//! consist of (P4_16 v1.2.5 §6 to §16). Expressions, statements and type references are the parent
//! module's.

use super::{
    Annotation, Argument, Block, Expression, Extension, Name, NodeId, Path, Statement, TypeRef,
};
use source::Span;

/// A declaration. Its name, annotations, id and span are in front; what it declares in `kind`.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Identity.
    pub id: NodeId,
    /// All of it.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// The declared name; for `error {}` and `match_kind {}` blocks that word itself.
    pub name: Name,
    /// Its kind.
    pub kind: DeclarationKind,
}

/// The forms of a declaration.
#[derive(Clone, Debug)]
pub enum DeclarationKind {
    /// `const T name = value;`
    Constant {
        /// Declared type.
        ty: TypeRef,
        /// Value.
        value: Expression,
    },
    /// `T name = value;`
    Variable {
        /// Declared type.
        ty: TypeRef,
        /// First value.
        initializer: Option<Expression>,
    },
    /// `Type(arguments) name = { body };` (§11.3)
    Instance {
        /// The type, perhaps specialized.
        ty: TypeRef,
        /// Constructor arguments.
        arguments: Vec<Argument>,
        /// Functions and instances of an object initializer.
        body: Option<Vec<Declaration>>,
    },
    /// `action name(parameters) { }`
    Action {
        /// Parameters; those without direction come from the control plane.
        parameters: Vec<Parameter>,
        /// Body.
        body: Block,
    },
    /// `T name<...>(parameters) { }`
    Function {
        /// Result, type parameters, parameters.
        signature: Signature,
        /// Body.
        body: Block,
    },
    /// `extern T name<...>(parameters);`
    ExternFunction(Signature),
    /// `extern name<...> { methods }`
    ExternObject {
        /// Type parameters.
        type_parameters: Vec<TypeParameter>,
        /// Constructors and methods.
        methods: Vec<Method>,
    },
    /// `parser name(parameters)(constructor parameters) { ... }`
    Parser(Box<ParserDeclaration>),
    /// `control name(parameters)(constructor parameters) { ... apply { } }`
    Control(Box<ControlDeclaration>),
    /// `parser name<...>(parameters);`
    ParserType(BlockType),
    /// `control name<...>(parameters);`
    ControlType(BlockType),
    /// `package name<...>(parameters);`
    PackageType(BlockType),
    /// `header name { }`
    Header(FieldList),
    /// `header_union name { }`
    HeaderUnion(FieldList),
    /// `struct name { }`
    Struct(FieldList),
    /// `enum name { A, B }`, or with an underlying type and values (§7.2.1)
    Enum {
        /// Type of a serializable enum.
        underlying: Option<TypeRef>,
        /// Members in order.
        members: Vec<EnumMember>,
    },
    /// `error { A, B }`
    Error(Vec<DeclaredName>),
    /// `match_kind { a, b }`
    MatchKind(Vec<DeclaredName>),
    /// `typedef T name;`
    Typedef(TypedefTarget),
    /// `type T name;` (§7.6)
    NewType(TypeRef),
    /// `table name { ... }`
    Table(Box<TableDeclaration>),
    /// `value_set<T>(size) name;`
    ValueSet {
        /// Element type.
        element: TypeRef,
        /// Size.
        size: Expression,
    },
    /// A declaration of a dialect.
    Extension(Box<Extension>),
    /// Not a declaration; already reported.
    Invalid,
}

/// The type that a `typedef` names.
#[derive(Clone, Debug)]
pub enum TypedefTarget {
    /// An existing type.
    Type(TypeRef),
    /// A struct, header, union or enum declared right here.
    Declaration(Box<Declaration>),
}

/// A name with an identity, such as an error or a match kind.
#[derive(Clone, Debug)]
pub struct DeclaredName {
    /// Identity.
    pub id: NodeId,
    /// The name.
    pub name: Name,
}

/// A member of an `enum`.
#[derive(Clone, Debug)]
pub struct EnumMember {
    /// Identity.
    pub id: NodeId,
    /// Name.
    pub name: Name,
    /// Value, in a serializable enum.
    pub value: Option<Expression>,
}

/// A type parameter.
pub type TypeParameter = DeclaredName;

/// Result, name-independent part of a function or method.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Result type.
    pub result: TypeRef,
    /// Type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
}

/// A parameter of anything.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Identity.
    pub id: NodeId,
    /// All of it.
    pub span: Span,
    /// Annotations such as `@optional`.
    pub annotations: Vec<Annotation>,
    /// Direction.
    pub direction: Direction,
    /// Type.
    pub ty: TypeRef,
    /// Name.
    pub name: Name,
    /// Default value.
    pub default: Option<Expression>,
}

/// Direction of a parameter (§6.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// None: compile-time known, or from the control plane in actions.
    None,
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A constructor or method of an extern object (§7.2.11.2).
#[derive(Clone, Debug)]
pub struct Method {
    /// Identity.
    pub id: NodeId,
    /// All of it.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Name; a constructor has the object's.
    pub name: Name,
    /// Whether it is abstract.
    pub is_abstract: bool,
    /// Whether it is a constructor; then the result is `void`.
    pub is_constructor: bool,
    /// Result, type parameters, parameters.
    pub signature: Signature,
}

/// Type parameters and parameters of a parser, control or package type.
#[derive(Clone, Debug)]
pub struct BlockType {
    /// Type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
}

/// A parser with its states (§13).
#[derive(Clone, Debug)]
pub struct ParserDeclaration {
    /// Type parameters and parameters.
    pub signature: BlockType,
    /// Constructor parameters.
    pub constructor_parameters: Vec<Parameter>,
    /// Constants, variables, instances and value sets.
    pub locals: Vec<Declaration>,
    /// States.
    pub states: Vec<State>,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct State {
    /// Identity.
    pub id: NodeId,
    /// All of it.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Name.
    pub name: Name,
    /// Statements.
    pub statements: Vec<Statement>,
    /// Where it goes; `None` is to `reject` (§13.5).
    pub transition: Option<Transition>,
}

/// `transition ...;`
#[derive(Clone, Debug)]
pub enum Transition {
    /// To a state by name.
    Direct(StateRef),
    /// By a `select`.
    Select {
        /// Identity of the select expression.
        id: NodeId,
        /// All of it.
        span: Span,
        /// The values that the cases match.
        subjects: Vec<Expression>,
        /// Cases in order. A keyset for several subjects is a `TupleKeyset`, `Default` or `DontCare`,
        /// or an expression of tuple or value-set type.
        cases: Vec<SelectCase>,
    },
}

/// A state's name where it is used.
#[derive(Clone, Debug)]
pub struct StateRef {
    /// Identity.
    pub id: NodeId,
    /// The name: a state, `accept` or `reject`.
    pub name: Name,
}

/// One case of a `select`.
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// The keyset.
    pub keyset: Expression,
    /// Where it goes.
    pub target: StateRef,
}

/// A control (§14).
#[derive(Clone, Debug)]
pub struct ControlDeclaration {
    /// Type parameters and parameters.
    pub signature: BlockType,
    /// Constructor parameters.
    pub constructor_parameters: Vec<Parameter>,
    /// Constants, variables, instances, actions and tables.
    pub locals: Vec<Declaration>,
    /// The `apply` block.
    pub body: Block,
}

/// Fields of a header, union or struct, with type parameters.
#[derive(Clone, Debug)]
pub struct FieldList {
    /// Type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// Fields in order.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Identity.
    pub id: NodeId,
    /// All of it.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Type.
    pub ty: TypeRef,
    /// Name.
    pub name: Name,
}

/// A table's properties in the order written (§14.2).
#[derive(Clone, Debug)]
pub struct TableDeclaration {
    /// Properties.
    pub properties: Vec<TableProperty>,
}

/// One property of a table.
#[derive(Clone, Debug)]
pub struct TableProperty {
    /// Identity.
    pub id: NodeId,
    /// All of it.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Whether it is `const`.
    pub is_const: bool,
    /// Its kind and value.
    pub kind: TablePropertyKind,
}

/// The forms of a table property.
#[derive(Clone, Debug)]
pub enum TablePropertyKind {
    /// `key = { ... }`
    Key(Vec<KeyElement>),
    /// `actions = { ... }`
    Actions(Vec<ActionRef>),
    /// `entries = { ... }`
    Entries(Vec<Entry>),
    /// Any other `name = expression;`, such as `default_action`, `size`, `counters`.
    Custom {
        /// Name.
        name: Name,
        /// Value. For `default_action` a path or a call of an action.
        value: Expression,
    },
}

/// One key of a table.
#[derive(Clone, Debug)]
pub struct KeyElement {
    /// Identity.
    pub id: NodeId,
    /// Annotations such as `@name`.
    pub annotations: Vec<Annotation>,
    /// The expression to match.
    pub expression: Expression,
    /// How.
    pub match_kind: Name,
}

/// An action in a table's list or entry, perhaps with arguments.
#[derive(Clone, Debug)]
pub struct ActionRef {
    /// Identity.
    pub id: NodeId,
    /// All of it.
    pub span: Span,
    /// Annotations such as `@defaultonly`.
    pub annotations: Vec<Annotation>,
    /// The action.
    pub path: Path,
    /// Arguments; `None` without parentheses.
    pub arguments: Option<Vec<Argument>>,
}

/// An entry of a table (§14.2.1.4).
#[derive(Clone, Debug)]
pub struct Entry {
    /// Identity.
    pub id: NodeId,
    /// All of it.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Whether it is `const`.
    pub is_const: bool,
    /// Priority, where written.
    pub priority: Option<Expression>,
    /// The keyset; a `TupleKeyset` for several keys.
    pub keyset: Expression,
    /// The action.
    pub action: ActionRef,
}

/// A loop variable: a declared type and a name.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Identity; uses of the name refer to it.
    pub id: NodeId,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Declared type.
    pub ty: TypeRef,
    /// Name.
    pub name: Name,
}
