// SPDX-License-Identifier: Apache-2.0
//! The type checker: names, modules, types and sizes in one pass of inference (Lucid §5.2, appendix A
//! without effects). `order` checks the effects, `memop` the bodies of memops.

mod aliases;
mod argument_lists;
mod body;
mod builtins;
mod calls;
mod checked;
pub mod codes;
mod declarations;
mod expressions;
mod handlers;
mod interfaces;
mod late;
mod limits;
mod locals;
mod operators;
mod parsers;
mod patterns;
mod printing;
mod queries;
mod records;
mod recursion;
mod reports;
mod scopes;
mod signed;
mod statements;
mod types;
mod undeclared;
mod unused;
mod variables;

pub use checked::*;
pub use printing::{FormatError, FormatPiece, format_pieces};

use crate::syntax::ast::{NodeId, Program, Segment};
use body::Body;
use scopes::{Namespace, Scope, ScopeId};
use source::{Diagnostics, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use variables::Variables;

/// Checks a program. The result is whole if there are no errors among the diagnostics.
pub fn check(tree: Arc<Program>) -> (CheckedProgram, Diagnostics) {
    let mut checker = Checker::new(tree.clone());
    checker.declarations(&tree.declarations);
    checker.unhandled_events();
    if !checker.diagnostics.has_errors() {
        checker.unused(&tree);
    }
    (checker.out, in_order(checker.diagnostics))
}

/// Diagnostics in the order of the text, as some are found only at the end of a declaration.
fn in_order(diagnostics: Diagnostics) -> Diagnostics {
    let mut list: Vec<_> = diagnostics.into_iter().collect();
    list.sort_by_key(|diagnostic| (diagnostic.primary.span.file, diagnostic.primary.span.start));
    let mut sorted = Diagnostics::new();
    list.into_iter().for_each(|diagnostic| sorted.push(diagnostic));
    sorted
}

/// The state of the type checker.
struct Checker {
    out: CheckedProgram,
    diagnostics: Diagnostics,
    variables: Variables,
    /// All modules and interfaces; the first is the program.
    scopes: Vec<Scope>,
    /// The modules around what is being checked, innermost last.
    stack: Vec<ScopeId>,
    /// Names that a module will declare, for messages about names used too early.
    later: HashMap<(ScopeId, Namespace, Arc<str>), Vec<Span>>,
    /// User types that are abstract outside of a module; `None`: everywhere.
    opaque: HashMap<NodeId, Option<ScopeId>>,
    facts: HashMap<NodeId, limits::UserTypeFacts>,
    /// User types of different names that were found to be the same.
    same_users: HashSet<(Type, Type)>,
    /// Parameters as declared, by the binder of what has them, for messages.
    parameters: HashMap<NodeId, Vec<Segment>>,
    /// How many of an action's parameters are installed, by binder.
    install_counts: HashMap<NodeId, usize>,
    /// Record types that can be built by their labels, latest last.
    records: Vec<NodeId>,
    /// Binders that something refers to.
    used: HashSet<NodeId>,
    /// Functions whose recursion is already reported.
    circles: HashSet<(ScopeId, Arc<str>)>,
    events: handlers::Events,
    /// The declaration being checked.
    body: Body,
    /// The function being checked.
    function_name: Option<Arc<str>>,
    /// The checked expression, for sizes that are solved later.
    at: Span,
    /// Remaining searches for names similar to an undeclared one.
    suggestions_left: u32,
    /// The next number for user types that no binder declares.
    next_node: u32,
}

impl Checker {
    fn new(tree: Arc<Program>) -> Checker {
        let next_node = tree.node_count;
        Checker {
            out: CheckedProgram { tree, ..CheckedProgram::default() },
            diagnostics: Diagnostics::new(),
            variables: Variables::default(),
            scopes: vec![Scope::new("".into())],
            stack: vec![ScopeId(0)],
            later: HashMap::new(),
            opaque: HashMap::new(),
            facts: HashMap::new(),
            same_users: HashSet::new(),
            parameters: HashMap::new(),
            install_counts: HashMap::new(),
            records: Vec::new(),
            used: HashSet::new(),
            circles: HashSet::new(),
            events: handlers::Events::default(),
            body: Body::default(),
            function_name: None,
            at: Span::NONE,
            suggestions_left: 100,
            next_node,
        }
    }

    /// A number that no node of the tree has.
    fn new_node(&mut self) -> NodeId {
        self.next_node += 1;
        NodeId(self.next_node - 1)
    }
}
