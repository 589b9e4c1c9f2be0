// SPDX-License-Identifier: Apache-2.0
//! The type checker: from a syntax tree to a [`TypedProgram`], with every static rule of P4_16 v1.2.5.
//! This file has the state that the checks share; each subject has its own file.

mod actions;
mod annotations;
mod arguments;
mod assignability;
mod blocks;
mod calls;
mod casts;
mod comparisons;
mod constants;
mod control_plane_names;
mod declarations;
mod entries;
mod enums;
mod expressions;
mod extensions;
mod flow;
mod inference;
mod instances;
mod keysets;
mod locations;
mod members;
mod methods;
mod missing_includes;
mod nesting;
mod operators;
mod packets;
mod parameters;
mod parser_graph;
mod parsers;
mod scopes;
mod select_coverage;
mod statements;
mod tables;
mod type_names;
mod types;
mod unused;

#[cfg(test)]
mod tests;

pub(crate) use annotations::string_body as annotation_string;

use crate::ast::{
    Declaration, DeclaredName, EnumMember, Field, Method, Name, NodeId, Parameter, Program, State,
    Variable,
};
use crate::dialect::Dialect;
use crate::typed::{Constant, Type, TypeKind, TypedProgram};
use rustc_hash::{FxHashMap, FxHashSet};
use scopes::Scope;
use source::{Code, Diagnostic, Diagnostics, Span};
use std::rc::Rc;
use std::sync::Arc;

/// The widest `bit`, `int` or `varbit` type, in bits.
pub const MAX_WIDTH_BITS: u32 = 16_384;

/// The largest size of an array or header stack, in elements.
pub const MAX_STACK_SIZE: u32 = 65_536;

/// Checks a whole program. What is wrong goes to `diagnostics`; the result is complete only when
/// these have no errors, but can always be looked at.
pub fn check(program: Program, diagnostics: &mut Diagnostics) -> TypedProgram {
    check_dialect(program, None, diagnostics)
}

/// Like [`check`], for a tree with constructs of a dialect: checks their types, expressions and blocks, and
/// keeps them in the tree.
pub fn check_dialect(
    program: Program,
    dialect: Option<&dyn Dialect>,
    diagnostics: &mut Diagnostics,
) -> TypedProgram {
    let mut checker = Checker::new(&program, diagnostics);
    checker.dialect = dialect;
    checker.check_program();
    let mut typed = std::mem::take(&mut checker.typed);
    typed.program = program;
    if !diagnostics.has_errors() {
        flow::warn(&typed, diagnostics);
    }
    typed
}

/// A node that names refer to.
#[derive(Clone, Copy)]
enum Node<'a> {
    None,
    Declaration(&'a Declaration),
    Parameter(&'a Parameter, ParameterRole),
    TypeParameter(&'a DeclaredName),
    State(&'a State),
    LoopVariable(&'a Variable),
    EnumMember(&'a EnumMember),
    Error(&'a DeclaredName),
    MatchKind(&'a DeclaredName),
    Method(&'a Method),
    Field(&'a Field),
}

impl<'a> Node<'a> {
    fn name(self) -> Option<&'a Name> {
        Some(match self {
            Node::None => return None,
            Node::Declaration(node) => &node.name,
            Node::Parameter(node, _) => &node.name,
            Node::TypeParameter(node) | Node::Error(node) | Node::MatchKind(node) => &node.name,
            Node::State(node) => &node.name,
            Node::LoopVariable(node) => &node.name,
            Node::EnumMember(node) => &node.name,
            Node::Method(node) => &node.name,
            Node::Field(node) => &node.name,
        })
    }
}

/// The owner of a parameter, which decides what a parameter without direction means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ParameterRole {
    /// Of a parser, control, function or extern: without direction it is known at compile time.
    RunTime,
    /// Of a constructor: always known at compile time.
    Constructor,
    /// Of an action: without direction it comes from the control plane.
    Action,
}

/// The construct that the checker is in, which decides the calls and statements that may stand there
/// (P4_16 v1.2.5 appendix on calling restrictions).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SyntacticContext {
    TopLevel,
    /// Declarations of a parser, outside of its states.
    ParserLocals,
    ParserState,
    /// Declarations of a control, outside of its `apply`.
    ControlLocals,
    ControlApply,
    Action,
    Function,
    /// Keys, properties and entries of a table.
    Table,
    /// Arguments of constructors and packages.
    ConstructorArguments,
}

impl SyntacticContext {
    /// Returns its description in messages.
    fn describe(self) -> &'static str {
        match self {
            SyntacticContext::TopLevel => "at the top level",
            SyntacticContext::ParserLocals => "among the declarations of a parser",
            SyntacticContext::ParserState => "in a parser state",
            SyntacticContext::ControlLocals => "among the declarations of a control",
            SyntacticContext::ControlApply => "in a control's apply block",
            SyntacticContext::Action => "in an action",
            SyntacticContext::Function => "in a function",
            SyntacticContext::Table => "in a table",
            SyntacticContext::ConstructorArguments => "in constructor arguments",
        }
    }
}

/// A field of a struct, header or union.
#[derive(Clone)]
struct FieldType {
    name: Arc<str>,
    span: Span,
    ty: Type,
}

/// Types that are used often, made once.
struct KnownTypes {
    unknown: Type,
    void: Type,
    bool: Type,
    error: Type,
    match_kind: Type,
    string: Type,
    integer: Type,
    dont_care: Type,
    function: Type,
    bit1: Type,
    bit32: Type,
}

/// The state of one check.
struct Checker<'a> {
    program: &'a Program,
    dialect: Option<&'a dyn Dialect>,
    diagnostics: &'a mut Diagnostics,
    typed: TypedProgram,
    known: KnownTypes,
    /// The declaring nodes, by [`NodeId`].
    nodes: Vec<Node<'a>>,
    scopes: Vec<Scope>,
    /// The types that typedefs name.
    aliases: FxHashMap<NodeId, Type>,
    /// Fields of structs, headers and unions in terms of their type parameters.
    fields: FxHashMap<NodeId, Rc<Vec<FieldType>>>,
    /// The extents of declared structs, headers and unions.
    extents: FxHashMap<NodeId, nesting::Extent>,
    /// The type parameters of generic declarations.
    type_parameters: FxHashMap<NodeId, &'a [DeclaredName]>,
    /// Underlying types of serializable enums and new types.
    underlying: FxHashMap<NodeId, Type>,
    /// Values of constants and enum members, by declaration.
    values: FxHashMap<NodeId, Constant>,
    /// Error and match kind names.
    error_nodes: FxHashMap<Arc<str>, NodeId>,
    match_kind_nodes: FxHashMap<Arc<str>, NodeId>,
    /// Specialized types whose nesting has been checked.
    checked_specializations: FxHashSet<Type>,
    /// Solutions of inference variables.
    solutions: Vec<Option<Type>>,
    /// The declarations that are being checked: a use of one of them is a recursion.
    open_declarations: Vec<&'a Declaration>,
    /// Overloaded parsers and controls, by the first one.
    overloads: FxHashMap<NodeId, Vec<NodeId>>,
    /// Declarations whose name is declared again: a use that does not fit one may fit the other.
    repeated: FxHashSet<NodeId>,
    /// Nodes that some name refers to.
    used: FxHashSet<NodeId>,
    context: SyntacticContext,
    /// Result type of the enclosing function, or `void` of the enclosing action or block.
    result: Option<Type>,
    loop_depth: usize,
    /// The instance whose object initializer encloses this place.
    this: Option<&'a Declaration>,
    /// The actions of the tables in the control that is being checked.
    table_actions: FxHashMap<NodeId, Rc<Vec<tables::ListedAction<'a>>>>,
}

impl<'a> Checker<'a> {
    fn new(program: &'a Program, diagnostics: &'a mut Diagnostics) -> Checker<'a> {
        let known = KnownTypes {
            unknown: Arc::new(TypeKind::Unknown),
            void: Arc::new(TypeKind::Void),
            bool: Arc::new(TypeKind::Bool),
            error: Arc::new(TypeKind::Error),
            match_kind: Arc::new(TypeKind::MatchKind),
            string: Arc::new(TypeKind::String),
            integer: Arc::new(TypeKind::Integer),
            dont_care: Arc::new(TypeKind::DontCare),
            function: Arc::new(TypeKind::Function),
            bit1: Arc::new(TypeKind::Bit(1)),
            bit32: Arc::new(TypeKind::Bit(32)),
        };
        Checker {
            program,
            dialect: None,
            diagnostics,
            typed: TypedProgram::default(),
            known,
            nodes: vec![Node::None; program.node_count as usize],
            scopes: vec![Scope::default()],
            aliases: FxHashMap::default(),
            fields: FxHashMap::default(),
            extents: FxHashMap::default(),
            type_parameters: FxHashMap::default(),
            underlying: FxHashMap::default(),
            values: FxHashMap::default(),
            error_nodes: FxHashMap::default(),
            match_kind_nodes: FxHashMap::default(),
            checked_specializations: FxHashSet::default(),
            solutions: Vec::new(),
            open_declarations: Vec::new(),
            overloads: FxHashMap::default(),
            repeated: FxHashSet::default(),
            used: FxHashSet::default(),
            context: SyntacticContext::TopLevel,
            result: None,
            loop_depth: 0,
            this: None,
            table_actions: FxHashMap::default(),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    fn node(&self, id: NodeId) -> Node<'a> {
        self.nodes.get(id.0 as usize).copied().unwrap_or(Node::None)
    }

    fn set_node(&mut self, id: NodeId, node: Node<'a>) {
        if let Some(slot) = self.nodes.get_mut(id.0 as usize) {
            *slot = node;
        }
    }

    fn name_of(&self, id: NodeId) -> &str {
        self.node(id).name().map_or("?", |name| &name.text)
    }

    fn span_of(&self, id: NodeId) -> Span {
        self.node(id).name().map_or(Span::NONE, |name| name.span)
    }

    /// Runs `work` in another context.
    fn in_context<R>(&mut self, context: SyntacticContext, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.context, context);
        let result = work(self);
        self.context = before;
        result
    }

    /// Runs `work` with enough stack for one more level of the user's nesting.
    fn deeper<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        stacker::maybe_grow(256 * 1024, 4 * 1024 * 1024, || work(self))
    }
}
