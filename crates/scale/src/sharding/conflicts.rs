// SPDX-License-Identifier: Apache-2.0
//! Groups, their stages, and conflicts in a stage (MP5 §3.3): a packet is in one pipeline in each stage. Groups of a stage
//! are fine if packets access one of them at most, or become one group if the index is the same. Otherwise one moves to a
//! later stage, or both are in one pipeline.

mod verdicts;

use super::codelets::{Codelets, Depths, codelets};
use super::rule::Rule;
use super::rules::Accesses;
use super::stage_graph::{StageEdge, StageGraph, StageNode, last_part};
use super::{ArraySharding, declared};
use ir::analysis::ControlValues;
use ir::effects::Location;
use pisa::Gress;
use std::collections::{BTreeMap, BTreeSet};

/// A group whose stage is not settled.
#[derive(Clone, Debug)]
struct Candidate {
    arrays: Vec<usize>,
    /// The nodes of the stage graph that access it.
    nodes: Vec<usize>,
    is_sharded: bool,
    moved_from: Option<usize>,
}

/// The work on one control.
#[derive(Debug)]
pub(super) struct Assignment<'p> {
    accesses: Accesses<'p>,
    gress: Gress,
    arrays: Vec<ArraySharding>,
    counters: Vec<Location>,
    candidates: Vec<Candidate>,
    codelets: Codelets,
    graph: StageGraph,
    /// Whether the layout knows all arrays.
    is_laid_out: bool,
    /// The least stages of nodes.
    least: BTreeMap<usize, usize>,
    stages: Vec<usize>,
}

impl<'p> Assignment<'p> {
    /// Finds arrays and codelets, and gives the verdicts that need no stages.
    pub fn new(
        mut values: ControlValues<'p>,
        gress: Gress,
        is_copied: &dyn Fn(Location) -> bool,
        in_several: &dyn Fn(Location) -> bool,
        stage_order: &BTreeSet<(Location, Location)>,
    ) -> Assignment<'p> {
        let program = values.program();
        let mut by_object: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
        let mut order: Vec<Location> = Vec::new();
        for (at, access) in values.accesses().iter().enumerate() {
            by_object.entry(access.object).or_default().push(at);
            if !order.contains(&access.object) {
                order.push(access.object);
            }
        }
        let shared: Vec<usize> = (0..values.accesses().len())
            .filter(|at| !is_copied(values.accesses()[*at].object))
            .collect();
        let codelets = codelets(&mut values, &shared, stage_order);
        let mut accesses = Accesses::new(values);
        let (mut arrays, mut counters) = (Vec::new(), Vec::new());
        for object in order {
            let of_object = by_object.remove(&object).unwrap_or_default();
            let array = declared(program, object)
                .filter(|_| !matches!(object, Location::Counter(_)) || !is_copied(object));
            let Some((name, cells, width_bits)) = array else {
                counters.push(object);
                continue;
            };
            let (rule, because) = if is_copied(object) {
                (Rule::NeverWritten, BTreeSet::new())
            } else if in_several(object) {
                (Rule::TwoControls, BTreeSet::new())
            } else {
                accesses.array(cells, &of_object)
            };
            let because = because.into_iter().collect();
            let accesses = of_object;
            arrays.push(ArraySharding {
                object,
                name,
                cells,
                width_bits,
                accesses,
                rule,
                because,
                group: None,
            });
        }
        let mut state = Assignment {
            accesses,
            gress,
            arrays,
            counters,
            candidates: Vec::new(),
            codelets,
            graph: StageGraph::default(),
            is_laid_out: false,
            least: BTreeMap::new(),
            stages: Vec::new(),
        };
        state.candidates();
        state
    }

    /// Makes a candidate of each codelet.
    fn candidates(&mut self) {
        for codelet in self.codelets.accesses.clone() {
            let in_codelet = |array: &ArraySharding| {
                array.accesses.iter().any(|access| codelet.contains(access))
            };
            let arrays: Vec<usize> =
                (0..self.arrays.len()).filter(|at| in_codelet(&self.arrays[*at])).collect();
            let mut is_sharded = arrays.iter().all(|at| self.arrays[*at].rule.is_sharded());
            if arrays.len() > 1 {
                let lists: Vec<Vec<usize>> =
                    arrays.iter().map(|at| self.arrays[*at].accesses.clone()).collect();
                let lists: Vec<&[usize]> = lists.iter().map(Vec::as_slice).collect();
                is_sharded = is_sharded && self.accesses.have_equal_index(&lists);
                for at in &arrays {
                    let others = codelet.iter().copied();
                    let others: Vec<usize> =
                        others.filter(|one| !self.arrays[*at].accesses.contains(one)).collect();
                    let array = &mut self.arrays[*at];
                    if array.rule.is_sharded() {
                        let rule = if is_sharded { Rule::EqualIndex } else { Rule::CodeletIndices };
                        (array.rule, array.because) = (rule, others);
                    }
                }
            }
            let candidate = Candidate { arrays, nodes: Vec::new(), is_sharded, moved_from: None };
            self.candidates.push(candidate);
        }
    }

    /// Gives groups their stages, and settles conflicts.
    pub fn assign(&mut self, graph: Option<StageGraph>, most_stages: usize) {
        let is_without = graph.is_none();
        self.is_laid_out = !is_without;
        self.graph = graph.unwrap_or_else(|| StageGraph {
            source: "dependences".to_string(),
            ..StageGraph::default()
        });
        let mut depths = Depths::default();
        for at in 0..self.candidates.len() {
            let mut nodes = BTreeSet::new();
            for array in &self.candidates[at].arrays {
                nodes.extend(self.graph.nodes_of(&self.arrays[*array].name));
            }
            if nodes.is_empty() {
                self.is_laid_out = false;
                let codelet = self.codelets.accesses[at].clone();
                let stage = depths.of_codelet(&mut self.accesses.values, &codelet);
                let names = self.candidates[at].arrays.iter();
                let arrays = names.map(|one| last_part(&self.arrays[*one].name).to_string());
                nodes.insert(self.graph.nodes.len());
                let node = StageNode { stage, arrays: arrays.collect() };
                self.graph.nodes.push(node);
            }
            self.candidates[at].nodes = nodes.into_iter().collect();
        }
        self.add_edges(is_without);
        self.settle(&BTreeMap::new());
        while let Some((one, other)) = self.conflict() {
            self.resolve(one, other, most_stages);
        }
    }

    /// Adds what codelets need of each other. Without a layout their nodes keep their distances.
    fn add_edges(&mut self, keeps_distances: bool) {
        let flow = self.codelets.dependences.iter().map(|pair| (*pair, true));
        let order = self.codelets.order.iter().map(|pair| (*pair, false));
        for ((before, after), is_flow) in flow.chain(order) {
            for &before in &self.candidates[before].nodes {
                for &after in &self.candidates[after].nodes {
                    if before == after {
                        continue;
                    }
                    let stage = |node: usize| self.graph.nodes[node].stage;
                    let distance = match (is_flow, keeps_distances) {
                        (false, _) => 0,
                        (true, false) => 1,
                        (true, true) => stage(after).saturating_sub(stage(before)).max(1),
                    };
                    self.graph.edges.push(StageEdge { before, after, distance, is_flow });
                }
            }
        }
    }

    /// Computes stages so that all nodes of a candidate have one. Returns whether that is possible.
    fn settle(&mut self, further: &BTreeMap<usize, usize>) -> bool {
        let mut least = self.least.clone();
        for (node, stage) in further {
            let entry = least.entry(*node).or_default();
            *entry = (*entry).max(*stage);
        }
        // Each round raises a stage, and none is raised beyond the number of nodes in a row.
        let limit = self.graph.nodes.iter().map(|node| node.stage).max().unwrap_or(0)
            + self.graph.nodes.len()
            + further.values().copied().max().unwrap_or(0)
            + 1;
        while let Some(stages) = self.graph.stages(&least) {
            if stages.iter().any(|stage| *stage > limit) {
                break;
            }
            let mut changed = false;
            for candidate in &self.candidates {
                let last = candidate.nodes.iter().map(|node| stages[*node]).max().unwrap_or(0);
                for node in &candidate.nodes {
                    if stages[*node] < last {
                        least.insert(*node, last);
                        changed = true;
                    }
                }
            }
            if !changed {
                (self.least, self.stages) = (least, stages);
                return true;
            }
        }
        if self.stages.is_empty() {
            // The layout and the IR disagree.
            self.graph.edges.clear();
            for node in self.candidates.iter().flat_map(|candidate| &candidate.nodes) {
                self.graph.nodes[*node].stage = 0;
            }
            self.add_edges(false);
            self.graph.source = "order".to_string();
            self.is_laid_out = false;
            self.stages = self.graph.stages(&BTreeMap::new()).unwrap_or_default();
        }
        false
    }

    fn stage(&self, candidate: usize) -> usize {
        let nodes = self.candidates[candidate].nodes.iter();
        nodes.map(|node| self.stages[*node]).max().unwrap_or(0)
    }

    fn group_accesses(&self, candidate: usize) -> Vec<usize> {
        let arrays = self.candidates[candidate].arrays.iter();
        arrays.flat_map(|at| self.arrays[*at].accesses.iter().copied()).collect()
    }

    /// Returns two groups of one stage of which a packet may access both.
    fn conflict(&mut self) -> Option<(usize, usize)> {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by_key(|at| (self.stage(*at), self.group_accesses(*at).first().copied()));
        for (place, &one) in order.iter().enumerate() {
            for &other in &order[place + 1..] {
                if self.stage(one) != self.stage(other) {
                    break;
                }
                let (first, second) = (self.group_accesses(one), self.group_accesses(other));
                if !self.accesses.groups_exclude(&first, &second) {
                    return Some((one, other));
                }
            }
        }
        None
    }

    /// Settles a conflict.
    fn resolve(&mut self, one: usize, other: usize, most_stages: usize) {
        let both_sharded = self.candidates[one].is_sharded && self.candidates[other].is_sharded;
        let (first, second) = (self.group_accesses(one), self.group_accesses(other));
        if both_sharded && self.accesses.have_equal_index(&[&first, &second]) {
            self.merge(one, other, Rule::EqualIndex);
            return;
        }
        for (moved, stays) in [(other, one), (one, other)] {
            let stage = self.stage(moved);
            let before = (self.least.clone(), self.stages.clone());
            let further = self.candidates[moved].nodes.iter().map(|node| (*node, stage + 1));
            let further: BTreeMap<usize, usize> = further.collect();
            if self.settle(&further)
                && self.stage(stays) == stage
                && self.stages.iter().all(|stage| *stage < most_stages)
            {
                let stays: Vec<usize> = self.group_accesses(stays);
                let candidate = &mut self.candidates[moved];
                candidate.moved_from.get_or_insert(stage);
                for at in candidate.arrays.clone() {
                    let array = &mut self.arrays[at];
                    array.because = stays.clone();
                    if array.rule.is_sharded() && array.rule != Rule::EqualIndex {
                        array.rule = Rule::Serialised;
                    }
                }
                return;
            }
            (self.least, self.stages) = before;
        }
        self.merge(one, other, Rule::StageConflict);
    }

    /// Makes one group of two.
    fn merge(&mut self, one: usize, other: usize, rule: Rule) {
        let accesses = [one, other].map(|at| self.group_accesses(at));
        for (at, others) in [(one, &accesses[1]), (other, &accesses[0])] {
            for array in self.candidates[at].arrays.clone() {
                let array = &mut self.arrays[array];
                if array.rule.is_sharded() {
                    array.rule = rule;
                    array.because.extend(others.iter().filter(|one| !array.accesses.contains(one)));
                    array.because.sort_unstable();
                    array.because.dedup();
                }
            }
        }
        let gone = self.candidates.remove(other.max(one));
        let kept = &mut self.candidates[other.min(one)];
        kept.arrays.extend(gone.arrays);
        kept.nodes.extend(gone.nodes);
        kept.moved_from = kept.moved_from.or(gone.moved_from);
        kept.is_sharded = rule.is_sharded();
    }
}
