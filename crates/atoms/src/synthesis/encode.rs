// SPDX-License-Identifier: Apache-2.0
//! Expressions as circuits: of codelets, of templates whose holes are variables, and of configured templates.

use super::circuit::{Circuit, Word};
use super::solver::Bit;
use crate::graph::{Graph, Node};
use crate::template::{Configuration, Hole, Template};
use crate::words::Binary;

/// What fills a hole in a circuit.
pub enum Filling {
    /// A constant.
    Constant(Word),
    /// One selector for each alternative.
    Selectors(Vec<Bit>),
}

/// Returns the word of each node of a graph.
pub fn encode(
    circuit: &mut Circuit<'_>,
    graph: &Graph,
    states: &[Word],
    inputs: &[Word],
    holes: &[Filling],
) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::with_capacity(graph.nodes().len());
    for node in graph.nodes() {
        let word = match node {
            Node::Literal(number) => circuit.constant(*number),
            Node::State(state) => states[*state].clone(),
            Node::Input(input) => inputs[*input].clone(),
            Node::Unary(operator, operand) => circuit.unary(*operator, &words[operand.index()]),
            Node::Binary(operator, left, right) => {
                circuit.binary(*operator, &words[left.index()], &words[right.index()])
            }
            Node::Select(condition, then, otherwise) => {
                let condition = circuit.any(&words[condition.index()]);
                let pair = words[then.index()].iter().zip(&words[otherwise.index()]);
                pair.map(|(then, otherwise)| circuit.mux(condition, *then, *otherwise)).collect()
            }
            Node::Constant(hole) => match &holes[hole.index()] {
                Filling::Constant(word) => word.clone(),
                Filling::Selectors(_) => circuit.constant(0),
            },
            Node::Choice(hole, alternatives) => {
                let alternatives: Vec<Word> =
                    alternatives.iter().map(|each| words[each.index()].clone()).collect();
                circuit.choose(selectors(&holes[hole.index()]), &alternatives)
            }
            Node::Operation(hole, operators, left, right) => {
                let (left, right) = (words[left.index()].clone(), words[right.index()].clone());
                let selectors = selectors(&holes[hole.index()]);
                operation(circuit, selectors, operators, &left, &right)
            }
        };
        words.push(word);
    }
    words
}

fn selectors(filling: &Filling) -> &[Bit] {
    match filling {
        Filling::Selectors(selectors) => selectors,
        Filling::Constant(_) => &[],
    }
}

/// Applies the chosen operator. `+` and `-` share one adder.
fn operation(
    circuit: &mut Circuit<'_>,
    selectors: &[Bit],
    operators: &[Binary],
    left: &[Bit],
    right: &[Bit],
) -> Word {
    if let Some(chosen) = selectors.iter().position(|bit| *bit == Bit::TRUE) {
        return circuit.binary(operators[chosen], left, right);
    }
    if let [Binary::Add, Binary::Subtract] = operators {
        let subtract = selectors[1];
        let right: Word = right.iter().map(|bit| circuit.xor(*bit, subtract)).collect();
        return circuit.add(left, &right, subtract).0;
    }
    let results: Vec<Word> =
        operators.iter().map(|operator| circuit.binary(*operator, left, right)).collect();
    circuit.choose(selectors, &results)
}

/// Returns the fillings of a configuration.
pub fn fixed(
    circuit: &Circuit<'_>,
    template: &Template,
    configuration: &Configuration,
) -> Vec<Filling> {
    let holes = template.holes.iter().zip(&configuration.holes);
    holes
        .map(|(hole, value)| match hole {
            Hole::Constant(_) => Filling::Constant(circuit.constant(*value)),
            Hole::Alternative(count) => Filling::Selectors(
                (0..*count).map(|each| Bit::constant(each == *value as usize)).collect(),
            ),
        })
        .collect()
}
