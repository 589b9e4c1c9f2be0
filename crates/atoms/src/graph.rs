// SPDX-License-Identifier: Apache-2.0
//! [`Graph`]: expressions over words that share equal parts. Operands are made before the nodes that use them, so the
//! order of nodes is an order of evaluation.

use crate::words::{Binary, Unary, Words};
use std::collections::HashMap;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// Returns the node's place in the order of evaluation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A hole of a template, by its place in [`Template::holes`](crate::Template).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoleId(pub u32);

impl HoleId {
    /// Returns the place in the list of holes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An expression. Codelets have no holes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number, modulo two to the width.
    Literal(u32),
    /// The value of a state variable before the packet.
    State(usize),
    /// A packet field.
    Input(usize),
    /// An operator on one operand.
    Unary(Unary, NodeId),
    /// An operator on two operands.
    Binary(Binary, NodeId, NodeId),
    /// `condition ? then : otherwise`
    Select(NodeId, NodeId, NodeId),
    /// A constant that the configuration chooses.
    Constant(HoleId),
    /// One of several expressions; the configuration chooses which.
    Choice(HoleId, Vec<NodeId>),
    /// One of several operators on two operands; the configuration chooses which.
    Operation(HoleId, Vec<Binary>, NodeId, NodeId),
}

/// Expressions with shared parts.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    index: HashMap<Node, NodeId>,
}

impl Graph {
    /// Creates an empty graph.
    pub fn new() -> Graph {
        Graph::default()
    }

    /// Returns the node for an expression; an equal one is used again. Its operands must be nodes of this graph.
    pub fn add(&mut self, node: Node) -> NodeId {
        if let Some(id) = self.index.get(&node) {
            return *id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.index.insert(node, id);
        id
    }

    /// Returns the node of a number.
    pub fn literal(&mut self, number: i64) -> NodeId {
        self.add(Node::Literal(number as u32))
    }

    /// Returns the node of an operator on two operands.
    pub fn binary(&mut self, operator: Binary, left: NodeId, right: NodeId) -> NodeId {
        self.add(Node::Binary(operator, left, right))
    }

    /// Returns a node's expression.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns all nodes in the order of evaluation.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Evaluates all nodes into `values`. `holes` has the constant or the number of the chosen alternative of each hole.
    pub fn evaluate(
        &self,
        words: Words,
        states: &[u32],
        inputs: &[u32],
        holes: &[u32],
        values: &mut Vec<u32>,
    ) {
        values.clear();
        for node in &self.nodes {
            let at = |id: &NodeId| values[id.index()];
            let value = match node {
                Node::Literal(number) => words.word(i64::from(*number)),
                Node::State(state) => states[*state],
                Node::Input(input) => inputs[*input],
                Node::Unary(operator, operand) => words.unary(*operator, at(operand)),
                Node::Binary(operator, left, right) => words.binary(*operator, at(left), at(right)),
                Node::Select(condition, then, otherwise) => match at(condition) {
                    0 => at(otherwise),
                    _ => at(then),
                },
                Node::Constant(hole) => holes[hole.index()],
                Node::Choice(hole, alternatives) => at(&alternatives[holes[hole.index()] as usize]),
                Node::Operation(hole, operators, left, right) => {
                    words.binary(operators[holes[hole.index()] as usize], at(left), at(right))
                }
            };
            values.push(value);
        }
    }
}
