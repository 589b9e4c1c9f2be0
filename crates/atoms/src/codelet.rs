// SPDX-License-Identifier: Apache-2.0
//! [`Codelet`]: what one packet does to the state variables of one stage, as an expression for each.

use crate::graph::{Graph, Node, NodeId};
use crate::words::Words;

/// A transaction on state variables: each gets the value of an expression over all of them and the packet's fields, all at
/// once.
#[derive(Clone, Debug)]
pub struct Codelet {
    /// The name in messages and tables.
    pub name: String,
    /// The names of the state variables.
    pub states: Vec<String>,
    /// The names of the packet fields.
    pub inputs: Vec<String>,
    /// The inputs that stages before compute from other inputs, with their values over inputs that are not computed.
    pub computed: Vec<(usize, NodeId)>,
    /// The expressions, without holes.
    pub graph: Graph,
    /// The next value of each state variable, in the order of `states`.
    pub updates: Vec<NodeId>,
}

/// The values that a codelet meets: one for each state variable and each packet field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// The state variables before the packet.
    pub states: Vec<u32>,
    /// The packet's fields.
    pub inputs: Vec<u32>,
}

impl Codelet {
    /// Creates a codelet that changes nothing yet.
    pub fn new(name: &str, states: &[&str], inputs: &[&str]) -> Codelet {
        let mut graph = Graph::new();
        let updates = (0..states.len()).map(|state| graph.add(Node::State(state))).collect();
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Codelet {
            name: name.to_owned(),
            states: owned(states),
            inputs: owned(inputs),
            computed: Vec::new(),
            graph,
            updates,
        }
    }

    /// Returns the state variables after the packet.
    pub fn next(&self, words: Words, point: &Point) -> Vec<u32> {
        let mut values = Vec::new();
        self.graph.evaluate(words, &point.states, &point.inputs, &[], &mut values);
        self.updates.iter().map(|update| values[update.index()]).collect()
    }

    /// Returns the inputs that are not computed, in order.
    pub fn free_inputs(&self) -> Vec<usize> {
        let is_computed = |input: &usize| self.computed.iter().any(|(one, _)| one == input);
        (0..self.inputs.len()).filter(|input| !is_computed(input)).collect()
    }

    /// Sets the computed inputs of a point to their values.
    pub fn compute_inputs(&self, words: Words, point: &mut Point) {
        if self.computed.is_empty() {
            return;
        }
        let mut values = Vec::new();
        self.graph.evaluate(words, &point.states, &point.inputs, &[], &mut values);
        for (input, value) in &self.computed {
            point.inputs[*input] = values[value.index()];
        }
    }

    /// Returns the codelet with at least that many state variables and inputs. The added state variables keep their
    /// values; the added inputs are not read. Their names begin with `~` and so come last by the alphabet.
    pub fn padded(&self, states: usize, inputs: usize) -> Codelet {
        let mut padded = self.clone();
        while padded.states.len() < states {
            let state = padded.states.len();
            padded.states.push(format!("~unused_{}", state + 1));
            let update = padded.graph.add(Node::State(state));
            padded.updates.push(update);
        }
        while padded.inputs.len() < inputs {
            padded.inputs.push(format!("~unused_{}", padded.inputs.len() + 1));
        }
        padded
    }

    /// Returns the numbers that the expressions contain.
    pub fn literals(&self) -> impl Iterator<Item = u32> {
        self.graph.nodes().iter().filter_map(|node| match node {
            Node::Literal(number) => Some(*number),
            _ => None,
        })
    }
}
