// SPDX-License-Identifier: Apache-2.0
//! Elaboration: a checked program and the values of its symbolics to a core program.
//!
//! Expressions are evaluated to `values::Value`s; values that exist only at compile time (sizes, globals,
//! memops, records, vectors) disappear, the others become core expressions. Effects become statements in
//! the order of evaluation: operands left to right, both sides of `&&` and `||`. Functions are inlined and
//! loops unrolled. Events are copied for the globals that they are generated with, from a worklist that
//! grows while handlers are elaborated.
//!
//! Limits: a handler has at most [`STATEMENT_LIMIT`] statements, a value [`LEAF_LIMIT`] parts, a program
//! [`EVENT_LIMIT`] events; functions and constructors nest at most [`CALL_LIMIT`] deep, blocks
//! [`BLOCK_LIMIT`].

mod access;
mod actions;
mod builder;
mod calls;
mod codes;
mod constants;
mod events;
mod expressions;
mod fold;
mod frame;
mod generate;
mod globals;
mod index;
mod lints;
mod matches;
mod memops;
mod operators;
mod parsers;
mod printing;
mod roots;
mod sizes;
mod statements;
mod symbolics;
mod tables;
mod types;
mod values;

pub use codes::{EXPLANATIONS, MISSING_SYMBOLIC};
pub use lints::lint;
pub use symbolics::{Symbolics, unknown_symbolics};

use crate::check::{CheckedProgram, Definition, Type, Variable};
use crate::core;
use crate::syntax::ast::{NodeId, Path};
use builder::Builder;
use events::EventCopies;
use index::Index;
use source::{Code, Diagnostic, Diagnostics, Span};
use std::collections::HashMap;
use std::sync::Arc;
use values::Value;

/// Calls that a message about an inlined function shows, innermost first.
const SHOWN_CALLS: usize = 4;

/// Limit of the statements of a handler.
pub const STATEMENT_LIMIT: u32 = 200_000;

/// Limit of elaborated expressions and statements of one handler or constant.
pub const STEP_LIMIT: u32 = 4_000_000;

/// Limit of the statements of all handlers.
pub const PROGRAM_STATEMENT_LIMIT: u64 = 2_000_000;

/// Limit of elaborated expressions and statements of a program.
pub const PROGRAM_STEP_LIMIT: u64 = 40_000_000;

/// Limit of the parts that a value is flattened into.
pub const LEAF_LIMIT: u64 = 65_536;

/// Deepest nesting of functions and constructors.
pub const CALL_LIMIT: usize = 100;

/// Deepest nesting of blocks.
pub const BLOCK_LIMIT: u32 = 256;

/// Limit of events, with their copies.
pub const EVENT_LIMIT: usize = 20_000;

/// An event with globals that something outside the program names: a run's specification may give
/// such events as inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The event's full name.
    pub event: String,
    /// Names of the globals, one a global parameter: `arr1`, `M.filter`, `bf1#filter2`, `arrs[2]`.
    pub globals: Vec<String>,
    /// Where the specification names it.
    pub span: Span,
}

/// Elaborates a program that checked without errors.
///
/// # Errors
///
/// Missing and wrong symbolics, and what goes beyond a limit once sizes are known.
pub fn elaborate(
    checked: &CheckedProgram,
    symbolics: &Symbolics,
) -> Result<core::Program, Diagnostics> {
    elaborate_with(checked, symbolics, &[])
}

/// As [`elaborate`], with copies of events for these choices of globals too.
///
/// # Errors
///
/// Those of [`elaborate`], and roots that name no event or no fitting globals.
pub fn elaborate_with(
    checked: &CheckedProgram,
    symbolics: &Symbolics,
    roots: &[Root],
) -> Result<core::Program, Diagnostics> {
    let mut known = events::KnownCopies::default();
    loop {
        let mut elaborator = Elaborator::new(checked, symbolics, known);
        // After an error the other declarations are still elaborated.
        let _ = elaborator.program(roots);
        if elaborator.diagnostics.has_errors() {
            return Err(elaborator.diagnostics);
        }
        match elaborator.events.unmatched_copies() {
            // A `match` on an event value has an arm a copy of the event, and copies were made
            // after it was elaborated.
            Some(more) => known = more,
            None => {
                debug_assert_eq!(core::verify(&elaborator.program), Ok(()));
                return Ok(elaborator.program);
            }
        }
    }
}

/// Elaboration of this declaration stopped with a reported error.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Elaborated<T> = Result<T, Reported>;

/// The meaning of names in the elaborated function, handler or constructor.
#[derive(Default)]
struct Scope {
    /// Values of size variables.
    sizes: HashMap<Variable, u128>,
    /// Closed types of type variables.
    types: HashMap<Variable, Type>,
    /// Values of locals and parameters, by binder; of those that can be assigned, local variables.
    locals: HashMap<NodeId, Value>,
    /// Values of loop variables.
    loops: HashMap<NodeId, u128>,
    /// What `return` does.
    frame: frame::Frame,
}

struct Elaborator<'a> {
    checked: &'a CheckedProgram,
    symbolics: &'a Symbolics,
    index: Index<'a>,
    program: core::Program,
    diagnostics: Diagnostics,
    /// Values of constants, globals and externs, by binder; `None` for those with errors.
    values: HashMap<NodeId, Option<Value>>,
    symbolic_values: HashMap<NodeId, Value>,
    /// The chosen side of each module alias.
    conditions: HashMap<NodeId, bool>,
    /// How many parts closed user types have.
    type_extents: HashMap<Type, types::Extent>,
    /// Which user types hold something that exists only before the run.
    static_types: HashMap<NodeId, bool>,
    new_globals: u32,
    /// Expressions and statements of the source elaborated so far, and statements made.
    steps: u64,
    statement_count: u64,
    memops: HashMap<(NodeId, u32), core::MemopId>,
    actions: HashMap<(NodeId, Vec<Type>), core::ActionId>,
    extern_functions: HashMap<NodeId, core::ExternFunctionId>,
    parsers: HashMap<(NodeId, Vec<Type>), core::ParserId>,
    events: EventCopies,
}

impl<'a> Elaborator<'a> {
    fn new(
        checked: &'a CheckedProgram,
        symbolics: &'a Symbolics,
        known: events::KnownCopies,
    ) -> Elaborator<'a> {
        Elaborator {
            checked,
            symbolics,
            index: Index::new(checked),
            program: core::Program::default(),
            diagnostics: Diagnostics::new(),
            values: HashMap::new(),
            symbolic_values: HashMap::new(),
            conditions: HashMap::new(),
            type_extents: HashMap::new(),
            static_types: HashMap::new(),
            new_globals: 0,
            steps: 0,
            statement_count: 0,
            memops: HashMap::new(),
            actions: HashMap::new(),
            extern_functions: HashMap::new(),
            parsers: HashMap::new(),
            events: EventCopies::new(known),
        }
    }

    fn program(&mut self, roots: &[Root]) -> Elaborated<()> {
        self.symbolics()?;
        for id in self.index.values.clone() {
            // What is wrong with one does not hide what is wrong with the next.
            let _ = self.declared_value(id);
        }
        if self.diagnostics.has_errors() {
            return Err(Reported);
        }
        self.declare_events()?;
        self.known_copies()?;
        self.root_events(roots)?;
        let _ = self.all_parsers();
        self.handlers();
        if self.diagnostics.has_errors() {
            return Err(Reported);
        }
        self.wire_numbers()
    }

    /// Reports an error.
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(code, span, message))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Reports an error inside a body: the calls it was inlined through are places too.
    fn report_in(&mut self, builder: &Builder, diagnostic: Diagnostic) -> Reported {
        self.report_through(&builder.calls, diagnostic)
    }

    /// Reports an error with the calls, outermost first, that lead to it.
    fn report_through(&mut self, calls: &[Span], mut diagnostic: Diagnostic) -> Reported {
        for call in calls.iter().rev().take(SHOWN_CALLS) {
            if *call != diagnostic.primary.span {
                diagnostic = diagnostic.label(*call, "called from here");
            }
        }
        self.report(diagnostic)
    }

    /// What a path means, through module aliases.
    fn definition(&mut self, path: &Path) -> Elaborated<Definition> {
        match self.checked.definitions.get(&path.id) {
            Some(definition) => self.resolved(&definition.clone()),
            None => Err(self.internal(path.span, "a name without a meaning")),
        }
    }

    fn resolved(&mut self, definition: &Definition) -> Elaborated<Definition> {
        let mut definition = definition;
        while let Definition::Aliased { alias, then, otherwise } = definition {
            definition = if self.condition(*alias)? { then } else { otherwise };
        }
        Ok(definition.clone())
    }

    /// Something that the checks in front should have kept away.
    fn internal(&mut self, span: Span, what: &str) -> Reported {
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED,
            span,
            format!("this cannot be elaborated: {what}"),
        );
        let diagnostic =
            diagnostic.note("the checks let it through, which is a mistake of this tool");
        self.report(diagnostic.help("please report it with the program"))
    }

    /// The full name of something declared.
    fn full_name(&self, id: NodeId) -> Arc<str> {
        if let Some(name) = self.index.names.get(&id) {
            return name.clone();
        }
        match self.checked.binders.get(&id) {
            Some(binder) => binder.name.clone(),
            None => "?".into(),
        }
    }

    /// Where something is declared.
    fn place(&self, id: NodeId) -> Span {
        self.checked.binders.get(&id).map_or(Span::NONE, |binder| binder.span)
    }
}
