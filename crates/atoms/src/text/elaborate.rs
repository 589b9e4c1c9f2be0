// SPDX-License-Identifier: Apache-2.0
//! Syntax trees to templates and codelets: resolves names, expands definitions, numbers holes, and rejects paths that assign
//! a state variable twice.

use super::tree::{Expression, Form, Item, Member, Name, Statement as Tree};
use super::{Items, codes};
use crate::codelet::Codelet;
use crate::graph::{Graph, HoleId, Node, NodeId};
use crate::template::{Hole, Statement, Template};
use crate::words::Unary;
use source::{Diagnostic, Diagnostics, Span, nearest};
use std::collections::BTreeMap;

/// Most nodes and statements of an item after its definitions are expanded.
const MAX_PARTS: usize = 4096;
/// Most levels of an expression after its definitions are expanded: later steps go down recursively.
const MAX_DEPTH: usize = 256;
/// Most state variables and inputs of an atom: all connections of them to a codelet are tried.
const MAX_ATOM_STATES: usize = 4;
const MAX_ATOM_INPUTS: usize = 8;
/// Most state variables, and most inputs, of a codelet.
const MAX_CODELET_NAMES: usize = 16;

/// Elaborates all items. Those with errors are left out.
pub fn elaborate(trees: &[Item], diagnostics: &mut Diagnostics) -> Items {
    let mut items = Items::default();
    let mut names = BTreeMap::new();
    for tree in trees {
        if let Some(first) = names.insert(tree.name.text.clone(), tree.name.span) {
            diagnostics.push(declared_twice(&tree.name, first));
        }
        let mut elaboration = Elaboration {
            is_atom: tree.is_atom,
            diagnostics: Diagnostics::new(),
            declared: BTreeMap::new(),
            defines: Vec::new(),
            graph: Graph::new(),
            holes: Vec::new(),
            parts: 0,
            depth: 0,
        };
        let body = elaboration.item(tree);
        let failed = elaboration.diagnostics.has_errors();
        diagnostics.append(elaboration.diagnostics);
        if failed {
            continue;
        }
        let (mut graph, holes) = (elaboration.graph, elaboration.holes);
        let current = (0..tree.states.len()).map(|state| graph.add(Node::State(state))).collect();
        let updates = flatten(&body, current, &mut graph);
        let texts = |names: &[Name]| names.iter().map(|name| name.text.clone()).collect();
        let (name, states, inputs) =
            (tree.name.text.clone(), texts(&tree.states), texts(&tree.inputs));
        if tree.is_atom {
            items.templates.push(Template { name, states, inputs, graph, holes, body, updates });
        } else {
            let computed = Vec::new();
            items.codelets.push(Codelet { name, states, inputs, computed, graph, updates });
        }
    }
    items
}

/// Returns the next value of each state variable after a block as an expression, from its value before the block.
fn flatten(block: &[Statement], mut next: Vec<NodeId>, graph: &mut Graph) -> Vec<NodeId> {
    for statement in block {
        match statement {
            Statement::Assign { state, value } => next[*state] = *value,
            Statement::If { test, then, otherwise } => {
                let then = flatten(then, next.clone(), graph);
                let otherwise = flatten(otherwise, next.clone(), graph);
                for ((next, then), otherwise) in next.iter_mut().zip(then).zip(otherwise) {
                    *next = match then == otherwise {
                        true => then,
                        false => graph.add(Node::Select(*test, then, otherwise)),
                    };
                }
            }
        }
    }
    next
}

fn declared_twice(name: &Name, first: Span) -> Diagnostic {
    let message = format!("`{}` is declared twice", name.text);
    Diagnostic::error(codes::DECLARED_TWICE, name.span, message)
        .label(first, "first declared here")
        .help("choose another name")
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Meaning {
    State(usize),
    Input(usize),
    /// A definition, by its place among the item's.
    Define(usize),
}

/// A definition.
#[derive(Clone, Copy)]
struct Define<'t> {
    parameters: &'t [Name],
    value: &'t Expression,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The expression sees so many definitions.
    visible: usize,
    /// The use of the definition that the expression belongs to.
    call: Option<&'a Call<'a>>,
}

/// A use of a definition. An argument is elaborated again at each use of its parameter.
struct Call<'a> {
    parameters: &'a [Name],
    arguments: &'a [Expression],
    place: Place<'a>,
}

struct Elaboration<'t> {
    is_atom: bool,
    diagnostics: Diagnostics,
    declared: BTreeMap<&'t str, (Meaning, Span)>,
    defines: Vec<Define<'t>>,
    graph: Graph,
    holes: Vec<Hole>,
    /// Nodes and statements so far, shared ones counted again.
    parts: usize,
    /// Levels of expressions around the current one.
    depth: usize,
}

/// The state variables that a path has assigned, and where.
type Assigned = BTreeMap<usize, Span>;

impl<'t> Elaboration<'t> {
    fn item(&mut self, tree: &'t Item) -> Vec<Statement> {
        self.check_size(tree);
        for (index, name) in tree.states.iter().enumerate() {
            self.declare(name, Meaning::State(index));
        }
        for (index, name) in tree.inputs.iter().enumerate() {
            self.declare(name, Meaning::Input(index));
        }
        let mut body = Vec::new();
        let mut assigned = Assigned::new();
        for member in &tree.members {
            match member {
                Member::Define { name, parameters, value } => {
                    self.declare(name, Meaning::Define(self.defines.len()));
                    self.defines.push(Define { parameters, value });
                }
                Member::Statement(tree) => body.extend(self.statement(tree, &mut assigned)),
            }
        }
        body
    }

    fn check_size(&mut self, tree: &Item) {
        let (states, inputs) = match self.is_atom {
            true => (MAX_ATOM_STATES, MAX_ATOM_INPUTS),
            false => (MAX_CODELET_NAMES, MAX_CODELET_NAMES),
        };
        let kind = if self.is_atom { "an atom" } else { "a codelet" };
        if tree.states.is_empty() {
            let message = format!("`{}` has no state variable", tree.name.text);
            let diagnostic = Diagnostic::error(codes::NO_STATE, tree.name.span, message);
            self.diagnostics.push(diagnostic.help("declare one: `state s;`"));
        }
        for (names, most, what) in
            [(&tree.states, states, "state variables"), (&tree.inputs, inputs, "inputs")]
        {
            if let Some(name) = names.get(most) {
                let message =
                    format!("{kind} has at most {most} {what}, this one has {}", names.len());
                self.diagnostics.push(Diagnostic::error(codes::TOO_LARGE, name.span, message));
            }
        }
    }

    fn declare(&mut self, name: &'t Name, meaning: Meaning) {
        match self.declared.get(name.text.as_str()) {
            Some((_, first)) => self.diagnostics.push(declared_twice(name, *first)),
            None => drop(self.declared.insert(&name.text, (meaning, name.span))),
        }
    }

    /// Counts a part; false if there are too many.
    fn count(&mut self, span: Span) -> bool {
        self.parts += 1;
        if self.parts == MAX_PARTS + 1 {
            let message =
                format!("this has more than {MAX_PARTS} parts with its definitions expanded");
            self.diagnostics.push(Diagnostic::error(codes::TOO_LARGE, span, message));
        }
        self.parts <= MAX_PARTS
    }

    fn statement(&mut self, tree: &Tree, assigned: &mut Assigned) -> Option<Statement> {
        let place = Place { visible: self.defines.len(), call: None };
        match tree {
            Tree::Assign { target, value } => {
                let value = self.expression(value, place);
                let state = self.target(target)?;
                if let Some(first) = assigned.insert(state, target.span) {
                    let message = format!("`{}` is assigned twice for one packet", target.text);
                    self.diagnostics.push(
                        Diagnostic::error(codes::ASSIGNED_TWICE, target.span, message)
                            .label(first, "first assigned here")
                            .note("all assignments happen at once, with the values of before")
                            .help("combine both into one expression, or put them into different branches"),
                    );
                }
                Some(Statement::Assign { state, value: value? })
            }
            Tree::If { test, then, otherwise } => {
                let test = self.expression(test, place);
                let mut branch = |block: &[Tree]| {
                    let mut path = assigned.clone();
                    let read: Vec<Statement> =
                        block.iter().filter_map(|each| self.statement(each, &mut path)).collect();
                    (read, path)
                };
                let (then, path) = branch(then);
                let (otherwise, other) = branch(otherwise);
                assigned.extend(path);
                assigned.extend(other);
                Some(Statement::If { test: test?, then, otherwise })
            }
        }
    }

    /// Returns the state variable that an assignment names.
    fn target(&mut self, name: &Name) -> Option<usize> {
        let what = match self.declared.get(name.text.as_str()) {
            Some((Meaning::State(state), _)) => return Some(*state),
            Some((Meaning::Input(_), _)) => "an input",
            Some((Meaning::Define(_), _)) => "a definition",
            None => {
                self.unknown(name, Place { visible: 0, call: None });
                return None;
            }
        };
        let message = format!("`{}` is {what} and cannot be assigned", name.text);
        self.diagnostics.push(
            Diagnostic::error(codes::NOT_A_STATE, name.span, message)
                .help("assign a state variable; a value with a name is `define name = value;`"),
        );
        None
    }

    fn unknown(&mut self, name: &Name, place: Place) {
        let message = format!("`{}` is not declared", name.text);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, name.span, message);
        let parameters = place.call.map_or(&[][..], |call| call.parameters);
        let names = self.declared.keys().copied();
        let names = names.chain(parameters.iter().map(|parameter| parameter.text.as_str()));
        let diagnostic = match nearest(&name.text, names) {
            Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")),
            None => diagnostic.help("declare it above: `state`, `input` or `define`"),
        };
        self.diagnostics.push(diagnostic);
    }

    fn add_hole(&mut self, hole: Hole, span: Span) -> Option<HoleId> {
        if !self.is_atom {
            self.diagnostics.push(
                Diagnostic::error(codes::HOLE_IN_CODELET, span, "a codelet has no holes")
                    .help("write the value or operator itself, or make this an `atom`"),
            );
            return None;
        }
        self.holes.push(hole);
        Some(HoleId(self.holes.len() as u32 - 1))
    }

    fn expression(&mut self, tree: &Expression, place: Place) -> Option<NodeId> {
        if !self.count(tree.span) {
            return None;
        }
        if self.depth == MAX_DEPTH {
            let message =
                format!("this nests deeper than {MAX_DEPTH} levels with its definitions expanded");
            self.diagnostics.push(Diagnostic::error(codes::TOO_LARGE, tree.span, message));
            return None;
        }
        self.depth += 1;
        let node = self.nested_expression(tree, place);
        self.depth -= 1;
        node
    }

    fn nested_expression(&mut self, tree: &Expression, place: Place) -> Option<NodeId> {
        let node = match &tree.form {
            Form::Number(number) => Node::Literal(*number),
            Form::Use(name, arguments) => return self.name(name, arguments.as_deref(), place),
            Form::Unary(operator, operand) => {
                let operand = self.expression(operand, place)?;
                match (operator, self.graph.node(operand)) {
                    (Unary::Negate, Node::Literal(number)) => Node::Literal(number.wrapping_neg()),
                    _ => Node::Unary(*operator, operand),
                }
            }
            Form::Binary(operators, left, right) => {
                let (left, right) = (self.expression(left, place), self.expression(right, place));
                match operators.as_slice() {
                    [operator] => Node::Binary(*operator, left?, right?),
                    several => {
                        let hole = self.add_hole(Hole::Alternative(several.len()), tree.span)?;
                        Node::Operation(hole, several.to_vec(), left?, right?)
                    }
                }
            }
            Form::Select(condition, then, otherwise) => {
                let condition = self.expression(condition, place);
                let then = self.expression(then, place);
                Node::Select(condition?, then?, self.expression(otherwise, place)?)
            }
            Form::Constant(range) => {
                Node::Constant(self.add_hole(Hole::Constant(*range), tree.span)?)
            }
            Form::Choice(alternatives) => {
                let read: Vec<Option<NodeId>> =
                    alternatives.iter().map(|each| self.expression(each, place)).collect();
                let read: Vec<NodeId> = read.into_iter().collect::<Option<_>>()?;
                Node::Choice(self.add_hole(Hole::Alternative(read.len()), tree.span)?, read)
            }
        };
        Some(self.graph.add(node))
    }

    /// Elaborates a name: a parameter, state variable, input or definition.
    fn name(
        &mut self,
        name: &Name,
        arguments: Option<&[Expression]>,
        place: Place,
    ) -> Option<NodeId> {
        if let Some(call) = place.call
            && let Some(index) = call.parameters.iter().position(|each| each.text == name.text)
        {
            self.check_arguments(name, arguments, 0)?;
            return self.expression(call.arguments.get(index)?, call.place);
        }
        let node = match self.declared.get(name.text.as_str()) {
            Some((Meaning::State(state), _)) => Node::State(*state),
            Some((Meaning::Input(input), _)) => Node::Input(*input),
            Some((Meaning::Define(define), _)) if *define < place.visible => {
                let define = *define;
                let Define { parameters, value } = self.defines[define];
                self.check_arguments(name, arguments, parameters.len())?;
                let call = Call { parameters, arguments: arguments.unwrap_or(&[]), place };
                return self.expression(value, Place { visible: define, call: Some(&call) });
            }
            _ => {
                self.unknown(name, place);
                return None;
            }
        };
        self.check_arguments(name, arguments, 0)?;
        Some(self.graph.add(node))
    }

    fn check_arguments(
        &mut self,
        name: &Name,
        arguments: Option<&[Expression]>,
        parameters: usize,
    ) -> Option<()> {
        let given = arguments.map_or(0, <[Expression]>::len);
        if given == parameters {
            return Some(());
        }
        let message = match parameters {
            0 => format!("`{}` takes no arguments", name.text),
            _ => format!("`{}` takes {parameters} arguments, {given} are given", name.text),
        };
        self.diagnostics.push(Diagnostic::error(codes::WRONG_ARGUMENTS, name.span, message));
        None
    }
}
