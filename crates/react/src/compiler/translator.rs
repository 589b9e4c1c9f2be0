// SPDX-License-Identifier: Apache-2.0
//! [`Translator`]: the tree that the passes of the compiler change, and the pieces of P4_16 that they put in.

use super::architectures::Style;
use super::names::STATE;
use super::plan::combination;
use super::registers::{Cells, RegisterAction, cells, register_actions};
use super::usage::Usage;
use super::{Limits, Mode};
use crate::language::{Directions, Gress, P4rProgram};
use p4::ast::{Declaration, Expression, NodeId, Statement};
use p4::parser::pieces::{Hole, tokens_at};
use p4::rewrite::Rewriter;
use source::{Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The alternatives that malleable fields stand for, by the index of the field.
pub(super) type Choice = BTreeMap<usize, usize>;

/// Fields, and declarations and names of the actions for each combination of their alternatives.
pub(super) type Specialised = (Vec<usize>, Vec<(NodeId, String)>);

/// What a pipeline's control begins with, as text.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginning {
    /// Declarations of variables.
    pub(super) variables: String,
    /// Statements of the first init action.
    pub(super) resets: String,
}

/// What a control loads.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    /// The fields that a table's key, an action or a register action reads from variables.
    pub(super) early: BTreeMap<NodeId, BTreeSet<usize>>,
    /// The same by the names that lead there.
    pub(super) reached: BTreeMap<Arc<str>, BTreeSet<usize>>,
    /// Declarations of the variables.
    pub(super) variables: BTreeSet<String>,
    /// How many single statements loaded fields.
    pub(super) count: usize,
}

/// A program on its way to P4_16.
pub(super) struct Translator<'p> {
    pub(super) program: &'p P4rProgram,
    pub(super) rewriter: Rewriter,
    pub(super) directions: Directions,
    pub(super) usage: Usage,
    pub(super) alternatives: Vec<usize>,
    pub(super) style: Style,
    pub(super) mode: Mode,
    pub(super) limits: Limits,
    /// What the control at hand loads.
    pub(super) loads: Loads,
    /// Actions that stand once for each combination of alternatives of fields, with the names of these.
    pub(super) specialised: BTreeMap<NodeId, Specialised>,
    /// The registers that are arguments.
    pub(super) cells: Vec<Cells>,
    /// The register actions that write registers.
    pub(super) actions: BTreeMap<NodeId, RegisterAction>,
    /// What each pipeline begins with.
    pub(super) beginnings: BTreeMap<Gress, Beginning>,
    /// What is wrong with the program.
    pub(super) found: Diagnostics,
    /// What is wrong with the compiler: pieces that do not parse.
    pub(super) faults: Diagnostics,
}

impl<'p> Translator<'p> {
    pub(super) fn new(program: &'p P4rProgram, mode: Mode, limits: Limits) -> Translator<'p> {
        let fields = program.declarations.fields.iter();
        let usage = Usage::of(program);
        Translator {
            program,
            style: Style::of(program),
            mode,
            limits,
            loads: Loads::default(),
            specialised: BTreeMap::new(),
            cells: cells(&program.typed, &usage.groups),
            actions: register_actions(&program.typed),
            beginnings: BTreeMap::new(),
            rewriter: Rewriter::of(&program.typed, program.map.clone()),
            directions: Directions::of(&program.typed),
            usage,
            alternatives: fields.map(|field| field.alternatives.len()).collect(),
            found: Diagnostics::new(),
            faults: Diagnostics::new(),
        }
    }

    /// Reads statements with holes, all at one place.
    pub(super) fn statements(
        &mut self,
        span: Span,
        text: &str,
        holes: Vec<(&str, Hole)>,
    ) -> Vec<Statement> {
        let tokens = tokens_at(span, text, &mut self.faults);
        let mut pieces = self.rewriter.pieces();
        for (name, hole) in holes {
            pieces.fill(name, hole);
        }
        match pieces.statements(tokens) {
            Ok(statements) => statements,
            Err(found) => {
                self.faults.append(found);
                Vec::new()
            }
        }
    }

    /// Reads one statement with holes.
    pub(super) fn statement(
        &mut self,
        span: Span,
        text: &str,
        holes: Vec<(&str, Hole)>,
    ) -> Option<Statement> {
        self.statements(span, text, holes).into_iter().next()
    }

    /// Reads an expression with holes.
    pub(super) fn expression(
        &mut self,
        span: Span,
        text: &str,
        holes: Vec<(&str, Hole)>,
    ) -> Option<Expression> {
        let tokens = tokens_at(span, text, &mut self.faults);
        let mut pieces = self.rewriter.pieces();
        for (name, hole) in holes {
            pieces.fill(name, hole);
        }
        match pieces.expression(tokens) {
            Ok(expression) => Some(expression),
            Err(found) => {
                self.faults.append(found);
                None
            }
        }
    }

    /// Reads declarations of a control.
    pub(super) fn locals(&mut self, span: Span, text: &str) -> Vec<Declaration> {
        let tokens = tokens_at(span, text, &mut self.faults);
        match self.rewriter.pieces().control_locals(tokens) {
            Ok(locals) => locals,
            Err(found) => {
                self.faults.append(found);
                Vec::new()
            }
        }
    }

    /// Reads declarations of the file.
    pub(super) fn declarations(&mut self, span: Span, text: &str) -> Vec<Declaration> {
        let tokens = tokens_at(span, text, &mut self.faults);
        match self.rewriter.pieces().declarations(tokens) {
            Ok(declarations) => declarations,
            Err(found) => {
                self.faults.append(found);
                Vec::new()
            }
        }
    }

    /// The node of the program as written that a node is a copy of.
    pub(super) fn model(&self, node: NodeId) -> NodeId {
        self.rewriter.model_of(node)
    }

    /// The index of a malleable field.
    pub(super) fn field_index(&self, name: &str) -> Option<usize> {
        self.program.declarations.fields.iter().position(|field| &*field.name.text == name)
    }

    /// The text of the selector of a field; `None` for a field of one alternative, which has none.
    pub(super) fn selector(&self, field: usize) -> Option<String> {
        let field = &self.program.declarations.fields[field];
        (field.alternatives.len() > 1)
            .then(|| format!("{STATE}.{}", selector_name(&field.name.text)))
    }

    /// The text of an alternative of a field.
    pub(super) fn alternative(&self, field: usize, alternative: usize) -> String {
        self.program.declarations.fields[field].alternatives[alternative].text()
    }

    /// The number of combinations of alternatives of these fields.
    pub(super) fn combinations(&self, fields: &[usize]) -> usize {
        fields.iter().map(|field| self.alternatives[*field]).product()
    }

    /// The alternatives of these fields in the combination of this index.
    pub(super) fn choice(&self, fields: &[usize], index: usize) -> Choice {
        combination(&self.alternatives, fields, index).into_iter().collect()
    }

    /// A part of a name for the alternatives of these fields, such as `hdr_a_x`.
    pub(super) fn choice_name(&self, fields: &[usize], choice: &Choice) -> String {
        let names = fields.iter().map(|field| name_of(&self.alternative(*field, choice[field])));
        names.collect::<Vec<String>>().join("__")
    }
}

/// The name of the field of the state that holds the selector of a malleable field.
pub(super) fn selector_name(field: &str) -> String {
    format!("{field}__alt")
}

/// A name made of a path.
pub(super) fn name_of(path: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let mut name: String = path.chars().map(|c| if is_part(c) { c } else { '_' }).collect();
    while name.ends_with('_') {
        name.pop();
    }
    name
}
