// SPDX-License-Identifier: Apache-2.0
//! [`Proposer`]: the solver whose variables are the holes of a template. Each point is a set of clauses under an
//! assumption of its own, so that a contradiction names the points that it needs.

use super::circuit::{Circuit, Word};
use super::encode::{Filling, encode};
use super::solver::{Bit, Found, Meter, Solver};
use super::verify::restrict;
use crate::codelet::{Codelet, Point};
use crate::graph::{HoleId, Node, NodeId};
use crate::samples::notable;
use crate::setting::{Domain, Setting};
use crate::template::{Configuration, Hole, Statement, Template};
use crate::words::Binary;

/// What the solver proposes.
pub enum Proposal {
    /// This configuration serves all points.
    Try(Configuration),
    /// No configuration serves all points.
    Nothing,
    /// The budget ended.
    Unknown,
}

/// Searches configurations that serve points.
pub struct Proposer<'a> {
    circuit: Circuit<'a>,
    setting: &'a Setting,
    codelet: &'a Codelet,
    template: &'a Template,
    states: &'a [usize],
    operands: &'a [Vec<usize>],
    holes: Vec<Filling>,
    /// For each input of the template, one selector for each input of the codelet that may be there.
    inputs: Vec<Vec<Bit>>,
    /// The assumption that constants are notable numbers, as long as it leads to proposals.
    notable: Option<Bit>,
    points: Vec<(Bit, Point)>,
}

impl<'a> Proposer<'a> {
    /// Creates a search without points.
    pub fn new(
        meter: &'a Meter<'a>,
        setting: &'a Setting,
        codelet: &'a Codelet,
        template: &'a Template,
        states: &'a [usize],
        operands: &'a [Vec<usize>],
    ) -> Proposer<'a> {
        let mut circuit = Circuit::new(Solver::new(meter), setting.words);
        let inputs = operands.iter().map(|each| circuit.selectors(each.len())).collect();
        let assumption = circuit.solver.variable();
        let mut holes = Vec::new();
        for hole in &template.holes {
            holes.push(match hole {
                Hole::Alternative(count) => Filling::Selectors(circuit.selectors(*count)),
                Hole::Constant(_) => {
                    let (word, range) = (circuit.variables(), setting.range(*hole));
                    restrict(&mut circuit, setting, &word, range);
                    prefer_notable(&mut circuit, setting, codelet, &word, range, assumption);
                    Filling::Constant(word)
                }
            });
        }
        for (hole, operator) in redundant_operators(template) {
            if let Filling::Selectors(selectors) = &holes[hole.index()] {
                circuit.solver.clause(&[!selectors[operator]]);
            }
        }
        for [left, right] in paired_constants(template) {
            settle_left(&mut circuit, setting, template, &holes, left, right);
        }
        let notable = Some(assumption);
        let points = Vec::new();
        Proposer {
            circuit,
            setting,
            codelet,
            template,
            states,
            operands,
            holes,
            inputs,
            notable,
            points,
        }
    }

    /// Demands that proposals serve a point.
    pub fn add(&mut self, point: &Point) {
        let circuit = &mut self.circuit;
        let active = circuit.solver.variable();
        let states: Vec<Word> =
            self.states.iter().map(|state| circuit.constant(point.states[*state])).collect();
        let mut inputs = Vec::new();
        for (selectors, operands) in self.inputs.iter().zip(self.operands) {
            let values: Vec<Word> =
                operands.iter().map(|input| circuit.constant(point.inputs[*input])).collect();
            inputs.push(circuit.choose(selectors, &values));
        }
        let nodes = encode(circuit, &self.template.graph, &states, &inputs, &self.holes);
        let next = self.codelet.next(self.setting.words, point);
        for (state, value) in next.iter().enumerate() {
            let wanted = circuit.constant(*value);
            let found = match self.states.iter().position(|placed| *placed == state) {
                Some(at) => nodes[self.template.updates[at].index()].clone(),
                None => circuit.constant(point.states[state]),
            };
            for (found, wanted) in found.iter().zip(wanted) {
                let equal = !circuit.xor(*found, wanted);
                circuit.solver.clause(&[!active, equal]);
            }
        }
        self.points.push((active, point.clone()));
    }

    /// Searches a configuration that serves all points.
    pub fn propose(&mut self) -> Proposal {
        let active: Vec<Bit> = self.points.iter().map(|(active, _)| *active).collect();
        if let Some(notable) = self.notable {
            let mut assumptions = active.clone();
            assumptions.push(notable);
            match self.circuit.solver.solve(&assumptions) {
                Found::Model => return Proposal::Try(self.configuration()),
                Found::Unknown => return Proposal::Unknown,
                Found::Nothing => {
                    self.notable = None;
                    self.circuit.solver.clause(&[!notable]);
                }
            }
        }
        match self.circuit.solver.solve(&active) {
            Found::Model => Proposal::Try(self.configuration()),
            Found::Nothing => Proposal::Nothing,
            Found::Unknown => Proposal::Unknown,
        }
    }

    /// Returns points that no configuration serves together, after a search that proposed nothing.
    pub fn reason(&self) -> Vec<Point> {
        let used = self.points.iter().filter(|(active, _)| self.circuit.solver.is_in_core(*active));
        used.map(|(_, point)| point.clone()).collect()
    }

    fn configuration(&self) -> Configuration {
        let chosen = |selectors: &[Bit]| {
            selectors.iter().position(|bit| self.circuit.solver.value(*bit)).unwrap_or(0)
        };
        let holes = self.holes.iter().map(|filling| match filling {
            Filling::Constant(word) => self.circuit.value(word),
            Filling::Selectors(selectors) => chosen(selectors) as u32,
        });
        let inputs = self.inputs.iter().zip(self.operands);
        Configuration {
            holes: holes.collect(),
            states: self.states.to_vec(),
            inputs: inputs.map(|(selectors, operands)| operands[chosen(selectors)]).collect(),
        }
    }
}

/// Makes `assumption` imply that a constant is one of the numbers that occur in the codelet, or near to one.
fn prefer_notable(
    circuit: &mut Circuit<'_>,
    setting: &Setting,
    codelet: &Codelet,
    word: &[Bit],
    range: Domain,
    assumption: Bit,
) {
    let numbers = notable(setting, codelet, range);
    if numbers.len() as u64 >= range.count() {
        return;
    }
    let mut clause = vec![!assumption];
    for number in numbers {
        let constant = circuit.constant(number);
        clause.push(circuit.equal(word, &constant));
    }
    circuit.solver.clause(&clause);
}

/// An alternative of a choice that is a constant: the choice, the number of the alternative, and the constant.
type ConstantAlternative = (HoleId, usize, HoleId);

/// Returns the pairs of constants that a template may add or subtract.
fn paired_constants(template: &Template) -> Vec<[ConstantAlternative; 2]> {
    let alternative = |id: NodeId| match template.graph.node(id) {
        Node::Choice(hole, alternatives) => {
            alternatives.iter().enumerate().find_map(|(at, each)| {
                match template.graph.node(*each) {
                    Node::Constant(constant) => Some((*hole, at, *constant)),
                    _ => None,
                }
            })
        }
        _ => None,
    };
    let pair = |node: &Node| {
        let (operators, left, right) = match node {
            Node::Binary(operator, left, right) => (std::slice::from_ref(operator), left, right),
            Node::Operation(_, operators, left, right) => (operators.as_slice(), left, right),
            _ => return None,
        };
        let sums = [Binary::Add, Binary::Subtract];
        let is_sum = operators.iter().all(|operator| sums.contains(operator));
        is_sum.then(|| Some([alternative(*left)?, alternative(*right)?])).flatten()
    };
    template.graph.nodes().iter().filter_map(pair).collect()
}

/// Demands that the left one of two constants that are added or subtracted is 0: the right one alone gives every sum, if it
/// can be any word.
fn settle_left(
    circuit: &mut Circuit<'_>,
    setting: &Setting,
    template: &Template,
    holes: &[Filling],
    left: ConstantAlternative,
    right: ConstantAlternative,
) {
    let is_full =
        |constant: HoleId| setting.range(template.holes[constant.index()]).is_full(setting.words);
    let selector = |(choice, at, _): ConstantAlternative| match &holes[choice.index()] {
        Filling::Selectors(selectors) => Some(selectors[at]),
        Filling::Constant(_) => None,
    };
    if !is_full(left.2) || !is_full(right.2) {
        return;
    }
    if let (Some(left_chosen), Some(right_chosen)) = (selector(left), selector(right))
        && let Filling::Constant(word) = &holes[left.2.index()]
    {
        for bit in word {
            circuit.solver.clause(&[!left_chosen, !right_chosen, !*bit]);
        }
    }
}

/// Returns operators that need not be tried: `!=` in a condition that may be `==`, when both branches can do the same.
fn redundant_operators(template: &Template) -> Vec<(HoleId, usize)> {
    let mut found = Vec::new();
    let mut blocks = vec![&template.body];
    while let Some(block) = blocks.pop() {
        for statement in block {
            let Statement::If { test, then, otherwise } = statement else { continue };
            blocks.extend([then, otherwise]);
            if let Node::Operation(hole, operators, ..) = template.graph.node(*test)
                && operators.contains(&Binary::Equal)
                && let Some(other) = operators.iter().position(|each| *each == Binary::NotEqual)
                && are_alike(template, then, otherwise)
            {
                found.push((*hole, other));
            }
        }
    }
    found
}

/// Whether two blocks differ only in their holes.
fn are_alike(template: &Template, left: &[Statement], right: &[Statement]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|pair| match pair {
            (
                Statement::Assign { state, value },
                Statement::Assign { state: other, value: with },
            ) => state == other && are_alike_nodes(template, *value, *with),
            (
                Statement::If { test, then, otherwise },
                Statement::If { test: other, then: with, otherwise: without },
            ) => {
                are_alike_nodes(template, *test, *other)
                    && are_alike(template, then, with)
                    && are_alike(template, otherwise, without)
            }
            _ => false,
        })
}

/// Whether two expressions differ only in their holes, and these can be filled alike.
fn are_alike_nodes(template: &Template, left: NodeId, right: NodeId) -> bool {
    let alike = |left: &NodeId, right: &NodeId| are_alike_nodes(template, *left, *right);
    let node = |id| template.graph.node(id);
    match (node(left), node(right)) {
        (Node::Constant(a), Node::Constant(b)) => {
            template.holes[a.index()] == template.holes[b.index()]
        }
        (Node::Choice(_, a), Node::Choice(_, b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
        }
        (Node::Operation(_, a, left, right), Node::Operation(_, b, with, other)) => {
            a == b && alike(left, with) && alike(right, other)
        }
        (Node::Unary(a, left), Node::Unary(b, right)) => a == b && alike(left, right),
        (Node::Binary(a, left, right), Node::Binary(b, with, other)) => {
            a == b && alike(left, with) && alike(right, other)
        }
        (Node::Select(a, then, otherwise), Node::Select(b, with, without)) => {
            alike(a, b) && alike(then, with) && alike(otherwise, without)
        }
        (a, b) => a == b,
    }
}
