// SPDX-License-Identifier: Apache-2.0
//! [`StageGraph`]: the stages of a program's parts on one pipeline, with the distances that dependencies keep. It comes from
//! a layout on a hardware model, or from the control's values where there is no layout. Pushing a part pushes what waits
//! for it.

use pisa::{DependencyKind, Gress, Layout, Problem};
use std::collections::BTreeMap;

/// A part of the program: a unit of a layout, or a codelet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageNode {
    /// Its stage, from 0.
    pub stage: usize,
    /// The arrays that it accesses, by the last parts of their names.
    pub arrays: Vec<String>,
}

/// A dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageEdge {
    /// First.
    pub before: usize,
    /// Then.
    pub after: usize,
    /// The least number of stages from the first to the second.
    pub distance: usize,
    /// Whether the second needs what the first computes, not only its turn.
    pub is_flow: bool,
}

/// Parts with their stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageGraph {
    /// What gave the stages, for people.
    pub source: String,
    /// The parts.
    pub nodes: Vec<StageNode>,
    /// Their dependencies, without cycles among those of a distance.
    pub edges: Vec<StageEdge>,
}

/// Returns the last part of a name: `last` of `ingress.last`.
pub fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl StageGraph {
    /// Returns the units of one half of a layout. An array of several globals has their names joined by `+`.
    pub fn of_layout(problem: &Problem, layout: &Layout, gress: Gress) -> StageGraph {
        let mut stage_of = BTreeMap::new();
        for (stage, tables) in layout.stages.iter().enumerate() {
            let units = tables.tables.iter().flat_map(|table| &table.units);
            units.for_each(|unit| {
                stage_of.insert(*unit, stage);
            });
        }
        let mut graph = StageGraph { source: layout.target.to_string(), ..StageGraph::default() };
        let mut node_of = BTreeMap::new();
        for (unit, stage) in stage_of {
            let declared = &problem.units[unit.0 as usize];
            if declared.gress != gress {
                continue;
            }
            let array = declared.array.map(|array| &problem.arrays[array.0 as usize]);
            let names = array.into_iter().flat_map(|array| array.name.split('+'));
            let arrays = names.map(|name| last_part(name).to_string()).collect();
            node_of.insert(unit, graph.nodes.len());
            graph.nodes.push(StageNode { stage, arrays });
        }
        graph.edges = problem
            .dependencies
            .iter()
            .filter_map(|one| {
                let (before, after) = (*node_of.get(&one.before)?, *node_of.get(&one.after)?);
                let is_flow = one.kind != DependencyKind::Anti;
                let distance = one.kind.distance() as usize;
                Some(StageEdge { before, after, distance, is_flow })
            })
            .collect();
        graph
    }

    /// Returns the number of stages that parts without state take, in a row, in front of some nodes. What depends on state
    /// is left out: it is not known when a packet arrives.
    pub fn stages_in_front(&self, nodes: &[usize]) -> usize {
        let count = self.nodes.len();
        let mut has_state: Vec<bool> =
            self.nodes.iter().map(|node| !node.arrays.is_empty()).collect();
        let mut ends = vec![1; count];
        for _ in 0..count {
            let before = (has_state.clone(), ends.clone());
            for edge in self.edges.iter().filter(|edge| edge.is_flow) {
                let StageEdge { before, after, distance, .. } = *edge;
                if has_state[before] {
                    has_state[after] = true;
                } else if self.nodes[after].arrays.is_empty() {
                    ends[after] = ends[after].max(ends[before] + distance);
                }
            }
            if before == (has_state.clone(), ends.clone()) {
                break;
            }
        }
        let feeding = self.edges.iter().filter(|edge| edge.is_flow && nodes.contains(&edge.after));
        let feeding = feeding.filter(|edge| !has_state[edge.before]);
        feeding.map(|edge| ends[edge.before] + edge.distance - 1).max().unwrap_or(0)
    }

    /// Returns the nodes that access an array.
    pub fn nodes_of(&self, array: &str) -> Vec<usize> {
        let has = |node: &StageNode| node.arrays.iter().any(|name| name == last_part(array));
        (0..self.nodes.len()).filter(|at| has(&self.nodes[*at])).collect()
    }

    /// Returns the stages of all nodes when some have to be in a stage not before the given one. `None` if dependencies
    /// go round.
    pub fn stages(&self, least: &BTreeMap<usize, usize>) -> Option<Vec<usize>> {
        let first = |at: usize| self.nodes[at].stage.max(least.get(&at).copied().unwrap_or(0));
        let mut stages: Vec<usize> = (0..self.nodes.len()).map(first).collect();
        for _ in 0..=self.nodes.len() {
            let mut changed = false;
            for StageEdge { before, after, distance, .. } in &self.edges {
                let least = stages[*before] + distance;
                if stages[*after] < least {
                    stages[*after] = least;
                    changed = true;
                }
            }
            if !changed {
                return Some(stages);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(stages: &[usize], edges: &[(usize, usize, usize)]) -> StageGraph {
        let node = |stage: &usize| StageNode { stage: *stage, arrays: Vec::new() };
        let edge = |&(before, after, distance): &_| StageEdge {
            before,
            after,
            distance,
            is_flow: distance > 0,
        };
        StageGraph {
            source: String::new(),
            nodes: stages.iter().map(node).collect(),
            edges: edges.iter().map(edge).collect(),
        }
    }

    #[test]
    fn what_waits_is_pushed_and_no_more_than_needed() {
        let chain = graph(&[0, 1, 4, 0], &[(0, 1, 1), (1, 2, 1)]);
        let stages = |least: &[(usize, usize)]| chain.stages(&least.iter().copied().collect());
        assert_eq!(stages(&[]), Some(vec![0, 1, 4, 0]));
        assert_eq!(stages(&[(0, 2)]), Some(vec![2, 3, 4, 0]));
        assert_eq!(stages(&[(0, 5)]), Some(vec![5, 6, 7, 0]));
    }

    #[test]
    fn stages_in_front_are_those_without_state() {
        let mut chain = graph(&[0, 1, 2, 3, 4], &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1)]);
        chain.nodes[2].arrays.push("first".to_string());
        chain.nodes[4].arrays.push("second".to_string());
        assert_eq!(chain.stages_in_front(&[2]), 2);
        assert_eq!(chain.stages_in_front(&[4]), 0);
        chain.edges.push(StageEdge { before: 0, after: 4, distance: 1, is_flow: true });
        assert_eq!(chain.stages_in_front(&[2, 4]), 2);
        assert_eq!(chain.stages_in_front(&[4]), 1);
    }

    #[test]
    fn cycles_are_found() {
        let round = graph(&[0, 0], &[(0, 1, 1), (1, 0, 0)]);
        assert_eq!(round.stages(&BTreeMap::new()), None);
    }
}
