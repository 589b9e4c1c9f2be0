// SPDX-License-Identifier: Apache-2.0
//! Moments of a region: its accesses to state that other packets and the control plane share, each with the
//! stage it happens in. Stages depend on places in the program, not on the path taken: they never decrease
//! along a path, so packets that keep their distance meet each access in the order in which they came.
//! The device decides when a stage begins.
//!
//! One moment is one of:
//! - the application of a table, with the action that it runs;
//! - one register access, one count, one metering, one question to a value set, one hash by a CRC whose
//!   parameters can be set, one call of an unknown extern;
//! - all accesses of an `@atomic` block ([`crate::Origin::atomic`]);
//! - all accesses of a cycle of basic blocks: a loop, or states of a parser that repeat.
//!
//! Instructions between two moments touch only the packet, so they may happen with either.

use crate::control_flow::reverse_postorder;
use crate::{ExternAccess, HashAlgorithm, Operation, Program, RegionId};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// An access to state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The instruction, by its index in the basic block.
    pub instruction: u32,
    /// The stage that it happens in.
    pub stage: u32,
}

/// The moments of a region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    blocks: Vec<Vec<Moment>>,
    last_stage: Option<u32>,
}

impl Moments {
    /// Those of a basic block, in order.
    pub fn of_block(&self, block: usize) -> &[Moment] {
        self.blocks.get(block).map_or(&[], Vec::as_slice)
    }

    /// The last stage up to the region's end, stages before the region counted; `None` before any moment.
    pub fn last_stage(&self) -> Option<u32> {
        self.last_stage
    }
}

/// A requested stage that is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageError {
    /// The name whose stage was requested.
    pub name: Arc<str>,
    /// The requested stage.
    pub stage: u32,
    /// Why not.
    pub reason: StageErrorReason,
}

/// Why an access cannot be in a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StageErrorReason {
    /// An access before it is in this later stage.
    Follows(u32),
    /// It is one moment with another access, for which this stage was requested.
    AtOnceWith(Arc<str>, u32),
}

impl fmt::Display for StageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StageError { name, stage, reason } = self;
        write!(formatter, "`{name}` cannot be in stage {stage}: ")?;
        match reason {
            StageErrorReason::Follows(before) => {
                write!(formatter, "an access before it is in stage {before}")
            }
            StageErrorReason::AtOnceWith(other, stage) => write!(
                formatter,
                "it happens in one moment with `{other}`, which is in stage {stage}"
            ),
        }
    }
}

impl std::error::Error for StageError {}

/// Whether an operation touches state that is not the packet's own.
pub fn is_moment(operation: &Operation) -> bool {
    match operation {
        Operation::Apply { .. }
        | Operation::RegisterAccess { .. }
        | Operation::Count { .. }
        | Operation::Meter { .. }
        | Operation::CountDirect { .. }
        | Operation::MeterDirect { .. }
        | Operation::ValueSetContains { .. } => true,
        Operation::CallExtern { effects, .. } => effects.access != ExternAccess::Pure,
        Operation::Hash { algorithm, .. } => matches!(algorithm, HashAlgorithm::Custom(_)),
        Operation::Unary { .. }
        | Operation::Binary { .. }
        | Operation::Resize { .. }
        | Operation::Slice { .. }
        | Operation::Select { .. }
        | Operation::Load { .. }
        | Operation::Store { .. }
        | Operation::Extract { .. }
        | Operation::Lookahead { .. }
        | Operation::Advance { .. }
        | Operation::PacketLength { .. }
        | Operation::Emit { .. }
        | Operation::ShiftStack { .. }
        | Operation::Random { .. }
        | Operation::Request { .. }
        | Operation::Log { .. }
        | Operation::Assert { .. } => false,
    }
}

/// The control-plane name of the state that a moment touches.
pub fn name_of_moment<'p>(program: &'p Program, operation: &Operation) -> Option<&'p Arc<str>> {
    match operation {
        Operation::Apply { table, .. } => Some(&program.tables[table.index()].name),
        Operation::RegisterAccess { register, .. } => {
            Some(&program.registers[register.index()].name)
        }
        Operation::Count { counter, .. } | Operation::CountDirect { counter } => {
            Some(&program.counters[counter.index()].name)
        }
        Operation::Meter { meter, .. } | Operation::MeterDirect { meter, .. } => {
            Some(&program.meters[meter.index()].name)
        }
        Operation::ValueSetContains { set, .. } => Some(&program.value_sets[set.index()].name),
        Operation::Hash { algorithm: HashAlgorithm::Custom(calculation), .. } => {
            Some(&program.calculations[calculation.index()].name)
        }
        _ => None,
    }
}

/// The moments of a region and their stages: those that `stages` gives by name, otherwise one more than
/// the last stage on any path to the moment. `before` is the last stage of regions that run before.
///
/// Given stages may be equal along a path; then both accesses happen at one time.
pub fn of_region(
    program: &Program,
    region: RegionId,
    before: Option<u32>,
    stages: &BTreeMap<String, u32>,
) -> Result<Moments, StageError> {
    Graph::new(program, region).moments(before, stages)
}

/// Moments and basic blocks as nodes, with an edge from each to what may come next.
struct Graph {
    graph: DiGraph<(), ()>,
    entries: Vec<NodeIndex>,
    /// By basic block: instructions that are moments, with their nodes. An atomic block is one node.
    moments: Vec<Vec<(u32, NodeIndex)>>,
    /// Names of what the moments of a node touch.
    names: HashMap<NodeIndex, Vec<Arc<str>>>,
}

impl Graph {
    fn new(program: &Program, region: RegionId) -> Graph {
        let region = &program.regions[region.index()];
        let mut graph = DiGraph::new();
        let entries: Vec<NodeIndex> = region.blocks.iter().map(|_| graph.add_node(())).collect();
        let mut moments = vec![Vec::new(); region.blocks.len()];
        let mut names: HashMap<NodeIndex, Vec<Arc<str>>> = HashMap::new();
        let mut atomic_blocks: HashMap<u32, NodeIndex> = HashMap::new();
        for at in reverse_postorder(region) {
            let block = &region.blocks[at];
            let mut last = entries[at];
            for (number, instruction) in (0..).zip(&block.instructions) {
                if !is_moment(&instruction.operation) {
                    continue;
                }
                let node = match program.atomic_block(instruction.origin) {
                    Some(atomic) => {
                        *atomic_blocks.entry(atomic).or_insert_with(|| graph.add_node(()))
                    }
                    None => graph.add_node(()),
                };
                graph.update_edge(last, node, ());
                moments[at].push((number, node));
                let of_node = names.entry(node).or_default();
                of_node.extend(name_of_moment(program, &instruction.operation).cloned());
                last = node;
            }
            for successor in block.terminator.successors() {
                graph.update_edge(last, entries[successor.index()], ());
            }
        }
        Graph { graph, entries, moments, names }
    }

    fn moments(
        self,
        before: Option<u32>,
        stages: &BTreeMap<String, u32>,
    ) -> Result<Moments, StageError> {
        let Graph { graph, entries, moments, names } = self;
        // The last stage on any path to the end of a node.
        let mut last: HashMap<NodeIndex, Option<u32>> = HashMap::new();
        // Components come after those that they lead to.
        for component in tarjan_scc(&graph).into_iter().rev() {
            let ways_in = component
                .iter()
                .flat_map(|node| graph.neighbors_directed(*node, petgraph::Direction::Incoming));
            let reached = ways_in.filter_map(|from| last.get(&from).copied().flatten()).max();
            let reached = reached.max(before);
            let is_moment = component.iter().any(|node| names.contains_key(node));
            let stage = match is_moment {
                true => {
                    let names = component.iter().flat_map(|node| names.get(node)).flatten();
                    let given = given_stage(names, stages, reached)?;
                    Some(given.unwrap_or_else(|| reached.map_or(0, |stage| stage + 1)))
                }
                false => reached,
            };
            last.extend(component.into_iter().map(|node| (node, stage)));
        }
        let last_stage = entries
            .iter()
            .chain(moments.iter().flatten().map(|(_, node)| node))
            .filter_map(|node| last.get(node).copied().flatten())
            .max()
            .max(before);
        let stage_of = |(instruction, node): (u32, NodeIndex)| Moment {
            instruction,
            stage: last.get(&node).copied().flatten().unwrap_or(0),
        };
        let blocks =
            moments.into_iter().map(|block| block.into_iter().map(stage_of).collect()).collect();
        Ok(Moments { blocks, last_stage })
    }
}

/// Returns the stage requested for what one moment touches, after `reached`.
fn given_stage<'n>(
    names: impl Iterator<Item = &'n Arc<str>>,
    stages: &BTreeMap<String, u32>,
    reached: Option<u32>,
) -> Result<Option<u32>, StageError> {
    let mut given: Option<(Arc<str>, u32)> = None;
    for name in names {
        let Some(&stage) = stages.get(&**name) else { continue };
        let error = |reason| StageError { name: name.clone(), stage, reason };
        match &given {
            Some((other, before)) if *before != stage => {
                return Err(error(StageErrorReason::AtOnceWith(other.clone(), *before)));
            }
            _ => {}
        }
        if let Some(reached) = reached.filter(|reached| *reached > stage) {
            return Err(error(StageErrorReason::Follows(reached)));
        }
        given = Some((name.clone(), stage));
    }
    Ok(given.map(|(_, stage)| stage))
}
