// SPDX-License-Identifier: Apache-2.0
//! Codelets of a control: its accesses of state in groups that depend on each other in a cycle, all accesses of one array
//! among them (Domino §4.2). Also the depth of values in operations, which gives stages where no layout does.

use ir::analysis::{AccessedCell, ControlValues, Predicate, Value, ValueId};
use ir::effects::Location;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Codelets, and pairs of them.
#[derive(Debug)]
pub(super) struct Codelets {
    pub accesses: Vec<BTreeSet<usize>>,
    /// The second depends on the first.
    pub dependences: BTreeSet<(usize, usize)>,
    /// The second is in no earlier stage than the first. Codelets of which each is so in front of the other share a stage.
    pub order: BTreeSet<(usize, usize)>,
}

/// Returns the codelets of these accesses. Of a pair of objects in `order` the second is in no earlier stage than the first:
/// what depends on each other and has to share a stage is one codelet.
pub(super) fn codelets(
    values: &mut ControlValues<'_>,
    accesses: &[usize],
    order: &BTreeSet<(Location, Location)>,
) -> Codelets {
    let mut graph: DiGraph<usize, ()> = DiGraph::new();
    let node_of: BTreeMap<usize, NodeIndex> =
        accesses.iter().map(|access| (*access, graph.add_node(*access))).collect();
    for (access, node) in &node_of {
        for before in values.reads_of_access(*access) {
            if let Some(before) = node_of.get(&before) {
                graph.update_edge(*before, *node, ());
            }
        }
    }
    let dependences: Vec<(NodeIndex, NodeIndex)> =
        graph.edge_indices().filter_map(|edge| graph.edge_endpoints(edge)).collect();
    let mut first: BTreeMap<Location, NodeIndex> = BTreeMap::new();
    for (access, node) in &node_of {
        let first = *first.entry(values.accesses()[*access].object).or_insert(*node);
        if first != *node {
            graph.update_edge(first, *node, ());
            graph.update_edge(*node, first, ());
        }
    }
    let order: Vec<(NodeIndex, NodeIndex)> = order
        .iter()
        .filter_map(|(before, after)| Some((*first.get(before)?, *first.get(after)?)))
        .collect();
    let alone = tarjan_scc(&graph);
    let component_of = |components: &[Vec<NodeIndex>]| -> HashMap<NodeIndex, usize> {
        let nodes = components.iter().enumerate();
        nodes.flat_map(|(at, nodes)| nodes.iter().map(move |node| (*node, at))).collect()
    };
    let of_node = component_of(&alone);
    order.iter().for_each(|(before, after)| {
        graph.update_edge(*before, *after, ());
    });
    // What shares a stage is one codelet if it has a dependence.
    let mut components = Vec::new();
    let mut sharing = tarjan_scc(&graph);
    // Components come in reverse topological order.
    sharing.reverse();
    for nodes in sharing {
        let depends = dependences.iter().any(|(from, to)| {
            nodes.contains(from) && nodes.contains(to) && of_node[from] != of_node[to]
        });
        if depends {
            components.push(nodes);
        } else {
            let parts: BTreeSet<usize> = nodes.iter().map(|node| of_node[node]).collect();
            components.extend(parts.into_iter().rev().map(|part| alone[part].clone()));
        }
    }
    let of_node = component_of(&components);
    let pairs = |edges: &[(NodeIndex, NodeIndex)]| -> BTreeSet<(usize, usize)> {
        let pairs = edges.iter().map(|(from, to)| (of_node[from], of_node[to]));
        pairs.filter(|(from, to)| from != to).collect()
    };
    let (dependences, order) = (pairs(&dependences), pairs(&order));
    let accesses =
        components.iter().map(|nodes| nodes.iter().map(|node| graph[*node]).collect()).collect();
    Codelets { accesses, dependences, order }
}

/// How many operations in a row values take. Moving bits takes none; a hash, a remainder, a lookup and a predicate of
/// several bits are one each.
#[derive(Debug, Default)]
pub struct Depths {
    known: HashMap<ValueId, usize>,
}

impl Depths {
    /// Returns the number of operations in a row of a value.
    pub fn of(&mut self, values: &ControlValues<'_>, value: ValueId) -> usize {
        let mut open = vec![value];
        while let Some(&next) = open.last() {
            if self.known.contains_key(&next) {
                open.pop();
                continue;
            }
            let operands = operands(values, next);
            let before = open.len();
            open.extend(operands.iter().copied().filter(|one| !self.known.contains_key(one)));
            if open.len() > before {
                continue;
            }
            let deepest = operands.iter().map(|one| self.known[one]).max().unwrap_or(0);
            let depth = self.depth(values, next, deepest);
            self.known.insert(next, depth);
        }
        self.known[&value]
    }

    fn depth(&self, values: &ControlValues<'_>, value: ValueId, deepest: usize) -> usize {
        match values.values().value(value) {
            Value::Constant(_) | Value::Start(_) | Value::Unknown(..) => 0,
            Value::Resize(..) | Value::Slice(..) => deepest,
            Value::Binary(ir::BinaryOperation::Concat, ..) => deepest,
            Value::Binary(..) if is_of_lookup(values, value) => deepest,
            Value::Choice(condition, then, otherwise) => {
                let atoms = values.values().atoms_of(*condition);
                // The action that a table runs chooses in the table's stage.
                let is_free = atoms.iter().all(|atom| is_of_lookup(values, *atom));
                let condition = self.predicate(values, *condition);
                condition.max(self.known[then]).max(self.known[otherwise]) + usize::from(!is_free)
            }
            Value::Truth(predicate) => self.predicate(values, *predicate),
            _ => deepest + 1,
        }
    }

    /// The depth of a predicate whose bits are known.
    fn predicate(&self, values: &ControlValues<'_>, predicate: Predicate) -> usize {
        let atoms = values.values().atoms_of(predicate);
        let deepest = atoms.iter().map(|atom| self.known[atom]).max().unwrap_or(0);
        let is_free = atoms.len() < 2 || atoms.iter().all(|atom| is_of_lookup(values, *atom));
        deepest + usize::from(!is_free)
    }

    /// Returns the number of operations in a row of a predicate.
    pub fn of_predicate(&mut self, values: &ControlValues<'_>, predicate: Predicate) -> usize {
        for atom in values.values().atoms_of(predicate) {
            self.of(values, atom);
        }
        self.predicate(values, predicate)
    }

    /// Returns the stage of a codelet: operations that its accesses need and that do not depend on it.
    pub(super) fn of_codelet(
        &mut self,
        values: &mut ControlValues<'_>,
        codelet: &BTreeSet<usize>,
    ) -> usize {
        let mut open: Vec<ValueId> = Vec::new();
        for access in codelet {
            let access = &values.accesses()[*access];
            open.extend(&access.inputs);
            open.extend(values.cell_values(access.cell));
            open.extend(values.values().atoms_of(access.predicate));
        }
        let mut seen = BTreeSet::new();
        let mut deepest = 0;
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            if values.values_mut().reads_of(value).is_disjoint(codelet) {
                deepest = deepest.max(self.of(values, value));
            } else if !matches!(values.values().value(value), Value::Read(..)) {
                open.extend(operands(values, value));
            }
        }
        deepest
    }
}

/// Whether a bit tells what a lookup has found.
fn is_of_lookup(values: &ControlValues<'_>, bit: ValueId) -> bool {
    match values.values().value(bit) {
        Value::Hit(_) => true,
        Value::Binary(ir::BinaryOperation::Equal, left, _) => {
            matches!(values.values().value(*left), Value::Action(_))
        }
        _ => false,
    }
}

/// The values that a value is made of, those of lookups and accesses among them.
pub(crate) fn operands(values: &ControlValues<'_>, value: ValueId) -> Vec<ValueId> {
    match values.values().value(value) {
        Value::Hit(application) | Value::Action(application) | Value::Argument(application, ..) => {
            values.applications()[*application].keys.clone()
        }
        Value::Read(access, ..) => {
            let access = &values.accesses()[*access];
            let mut operands = access.inputs.clone();
            if let AccessedCell::Entry(application) = access.cell {
                operands.extend(&values.applications()[application].keys);
            }
            operands.extend(values.values().atoms_of(access.predicate));
            operands
        }
        _ => values.values().operands(value),
    }
}
