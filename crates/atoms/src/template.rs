// SPDX-License-Identifier: Apache-2.0
//! [`Template`]: an atom as a decision tree with holes, and [`Configuration`]: what fills the holes. Each hole stands at
//! one place, and a path of the tree assigns each state variable at most once.

use crate::codelet::{Codelet, Point};
use crate::graph::{Graph, Node, NodeId};
use crate::words::{Binary, Words};

/// What may fill a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    /// A constant in this range, both ends included, within the range of the [`Setting`](crate::Setting).
    Constant(Option<(i64, i64)>),
    /// The number of an alternative, below this count.
    Alternative(usize),
}

/// A part of an atom. All expressions read the state variables before the packet.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Gives a state variable a new value.
    Assign {
        /// The state variable.
        state: usize,
        /// Its next value.
        value: NodeId,
    },
    /// Chooses between two blocks.
    If {
        /// The condition: any value but 0 is true.
        test: NodeId,
        /// The block for a true condition.
        then: Vec<Statement>,
        /// The block for a false condition.
        otherwise: Vec<Statement>,
    },
}

/// An atom with holes.
#[derive(Clone, Debug)]
pub struct Template {
    /// The name in messages and tables.
    pub name: String,
    /// The names of the state variables.
    pub states: Vec<String>,
    /// The names of the inputs, which a configuration connects to fields of the packet.
    pub inputs: Vec<String>,
    /// The expressions.
    pub graph: Graph,
    /// What may fill each hole.
    pub holes: Vec<Hole>,
    /// The decision tree.
    pub body: Vec<Statement>,
    /// The next value of each state variable as one expression; `body` in another form.
    pub updates: Vec<NodeId>,
}

/// Fills the holes of a template and connects it to a codelet. Indices of state variables and inputs at or beyond the
/// codelet's own stand for unused ones ([`Codelet::padded`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The constant, or the number of the alternative, for each hole.
    pub holes: Vec<u32>,
    /// The codelet's state variable in each state variable of the template.
    pub states: Vec<usize>,
    /// The codelet's input at each input of the template.
    pub inputs: Vec<usize>,
}

impl Template {
    /// Runs the configured template on one packet: the next value of each state variable of the padded codelet.
    pub fn next(&self, configuration: &Configuration, words: Words, point: &Point) -> Vec<u32> {
        let states: Vec<u32> = configuration.states.iter().map(|at| point.states[*at]).collect();
        let inputs: Vec<u32> = configuration.inputs.iter().map(|at| point.inputs[*at]).collect();
        let mut values = Vec::new();
        self.graph.evaluate(words, &states, &inputs, &configuration.holes, &mut values);
        let mut next = states;
        run(&self.body, &values, &mut next);
        let mut result = point.states.clone();
        for (at, value) in configuration.states.iter().zip(next) {
            result[*at] = value;
        }
        result
    }

    /// Formats the configured template as a codelet over the codelet's names, one statement a line.
    pub fn describe(
        &self,
        configuration: &Configuration,
        words: Words,
        codelet: &Codelet,
    ) -> String {
        let padded = codelet.padded(
            configuration.states.iter().map(|state| state + 1).max().unwrap_or(0),
            configuration.inputs.len(),
        );
        let mut text = String::new();
        let printer = Printer { template: self, configuration, words, codelet: &padded };
        printer.block(&self.body, 0, &mut text);
        text
    }
}

/// Carries out the assignments of a block on values that are already computed.
fn run(block: &[Statement], values: &[u32], next: &mut [u32]) {
    for statement in block {
        match statement {
            Statement::Assign { state, value } => next[*state] = values[value.index()],
            Statement::If { test, then, otherwise } => match values[test.index()] {
                0 => run(otherwise, values, next),
                _ => run(then, values, next),
            },
        }
    }
}

struct Printer<'t> {
    template: &'t Template,
    configuration: &'t Configuration,
    words: Words,
    codelet: &'t Codelet,
}

impl Printer<'_> {
    fn state(&self, state: usize) -> &str {
        &self.codelet.states[self.configuration.states[state]]
    }

    fn block(&self, block: &[Statement], depth: usize, text: &mut String) {
        let indent = "    ".repeat(depth);
        for statement in block {
            match statement {
                Statement::Assign { state, value } => {
                    let (name, value) = (self.state(*state), self.expression(*value, 0));
                    text.push_str(&format!("{indent}{name} = {value};\n"));
                }
                Statement::If { test, then, otherwise } => {
                    text.push_str(&format!("{indent}if ({}) {{\n", self.expression(*test, 0)));
                    self.block(then, depth + 1, text);
                    if !otherwise.is_empty() {
                        text.push_str(&format!("{indent}}} else {{\n"));
                        self.block(otherwise, depth + 1, text);
                    }
                    text.push_str(&format!("{indent}}}\n"));
                }
            }
        }
    }

    /// Formats an expression; operators that bind no tighter than `around` get parentheses.
    fn expression(&self, id: NodeId, around: u32) -> String {
        let chosen = |hole: &crate::graph::HoleId| self.configuration.holes[hole.index()];
        match self.template.graph.node(id) {
            Node::Literal(number) => self.number(*number),
            Node::Constant(hole) => self.number(chosen(hole)),
            Node::State(state) => self.state(*state).to_owned(),
            Node::Input(input) => self.codelet.inputs[self.configuration.inputs[*input]].clone(),
            Node::Unary(operator, operand) => {
                format!("{}{}", operator.spelling(), self.expression(*operand, 11))
            }
            Node::Choice(hole, alternatives) => {
                self.expression(alternatives[chosen(hole) as usize], around)
            }
            Node::Operation(hole, operators, left, right) => {
                self.binary(operators[chosen(hole) as usize], *left, *right, around)
            }
            Node::Binary(operator, left, right) => self.binary(*operator, *left, *right, around),
            Node::Select(condition, then, otherwise) => format!(
                "({} ? {} : {})",
                self.expression(*condition, 0),
                self.expression(*then, 0),
                self.expression(*otherwise, 0)
            ),
        }
    }

    fn number(&self, word: u32) -> String {
        self.words.signed(self.words.word(i64::from(word))).to_string()
    }

    fn binary(&self, operator: Binary, left: NodeId, right: NodeId, around: u32) -> String {
        let precedence = operator.precedence();
        // An operand of the same precedence on the left needs no parentheses.
        let left = self.expression(left, precedence - 1);
        let right = self.expression(right, precedence);
        let text = format!("{left} {} {right}", operator.spelling());
        if precedence <= around { format!("({text})") } else { text }
    }
}
