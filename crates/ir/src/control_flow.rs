// SPDX-License-Identifier: Apache-2.0
//! The control-flow graph of a region: order of basic blocks, predecessors, post-dominators. Blocks are
//! plain indices here.

use crate::Region;
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

/// Returns the reachable blocks in reverse postorder: each before its successors, except on cycles.
pub fn reverse_postorder(region: &Region) -> Vec<usize> {
    let mut order = Vec::new();
    if region.blocks.is_empty() {
        return order;
    }
    let successors = |at: usize| {
        let all = region.blocks[at].terminator.successors().into_iter();
        all.map(|block| block.index()).filter(|at| *at < region.blocks.len()).collect::<Vec<_>>()
    };
    let mut seen = vec![false; region.blocks.len()];
    seen[0] = true;
    let mut stack = vec![(0, successors(0))];
    while let Some((at, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, successors(next)));
                }
            }
            None => {
                order.push(*at);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Returns the reachable predecessors of each block, once for each edge.
pub fn predecessors(region: &Region) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); region.blocks.len()];
    for at in reverse_postorder(region) {
        for successor in region.blocks[at].terminator.successors() {
            if let Some(list) = predecessors.get_mut(successor.index()) {
                list.push(at);
            }
        }
    }
    predecessors
}

/// An edge out of a block that branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Decision {
    /// The block whose terminator decides.
    pub block: usize,
    /// Which of the terminator's successors is taken, by its place among them.
    pub taken: usize,
}

/// For each block, the blocks whose branch decides whether it runs.
pub fn control_dependences(region: &Region) -> Vec<Vec<usize>> {
    let deciders = |decisions: Vec<Decision>| {
        let mut blocks = Vec::new();
        for decision in decisions {
            if !blocks.contains(&decision.block) {
                blocks.push(decision.block);
            }
        }
        blocks
    };
    control_decisions(region).into_iter().map(deciders).collect()
}

/// For each block, the decisions by which it runs (Ferrante, Ottenstein and Warren, 1987): after each of them
/// it cannot be avoided, after another edge out of the same block it can. A block that runs in any case has none.
pub fn control_decisions(region: &Region) -> Vec<Vec<Decision>> {
    let count = region.blocks.len();
    let mut decisions = vec![Vec::new(); count];
    let parents = post_dominators(region);
    for at in reverse_postorder(region) {
        let successors = region.blocks[at].terminator.successors();
        if successors.len() < 2 {
            continue;
        }
        for (taken, successor) in successors.into_iter().enumerate() {
            let mut current = Some(successor.index());
            while let Some(block) = current
                && block < count
                && Some(block) != parents[at]
            {
                let decision = Decision { block: at, taken };
                if !decisions[block].contains(&decision) {
                    decisions[block].push(decision);
                }
                current = parents[block];
            }
        }
    }
    decisions
}

/// Returns the immediate post-dominator of each block; `None` where only the end of the region is.
pub fn post_dominators(region: &Region) -> Vec<Option<usize>> {
    let count = region.blocks.len();
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(count + 1, count * 2);
    let nodes: Vec<NodeIndex> = (0..=count).map(|_| graph.add_node(())).collect();
    let end = nodes[count];
    for (at, block) in region.blocks.iter().enumerate() {
        let successors = block.terminator.successors();
        if successors.is_empty() {
            graph.add_edge(end, nodes[at], ());
        }
        for successor in successors {
            if successor.index() < count {
                graph.add_edge(nodes[successor.index()], nodes[at], ());
            }
        }
    }
    // The step limit ends a cycle without an exit, so the cycle has an edge to the end.
    let mut dominators = simple_fast(&graph, end);
    for &node in &nodes[..count] {
        if node != end && dominators.immediate_dominator(node).is_none() {
            graph.add_edge(end, node, ());
            dominators = simple_fast(&graph, end);
        }
    }
    (0..count)
        .map(|at| dominators.immediate_dominator(nodes[at]).map(NodeIndex::index))
        .map(|parent| parent.filter(|parent| *parent < count))
        .collect()
}
