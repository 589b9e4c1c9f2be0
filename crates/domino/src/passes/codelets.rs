// SPDX-License-Identifier: Apache-2.0
//! Codelets: the strongly connected components of the statements of a program after the last pass. An edge goes from each
//! definition to its uses, and both ways between the read and the write of a global. A codelet's stage is the length of the
//! longest path to it. Statements without edges are left out, as in the paper's compiler.

use crate::core::{Core, Expression, StatementKind, Variable};
use source::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A codelet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codelet {
    /// The indices of its statements.
    pub statements: Vec<usize>,
    /// Its stage, from 0.
    pub stage: usize,
    /// The globals that it reads and writes.
    pub states: Vec<usize>,
}

impl Codelet {
    /// Returns the names of its globals, joined by `+`; nothing for a codelet without state.
    pub fn name(&self, core: &Core) -> String {
        let names: Vec<&str> =
            self.states.iter().map(|global| &*core.globals[*global].name).collect();
        names.join("+")
    }
}

/// The codelets of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codelets {
    /// In the order of their stages.
    pub codelets: Vec<Codelet>,
    /// Pairs of codelets of which the second needs a value of the first.
    pub dependencies: Vec<(usize, usize)>,
}

impl Codelets {
    /// Returns the number of stages.
    pub fn stages(&self) -> usize {
        self.codelets.iter().map(|codelet| codelet.stage + 1).max().unwrap_or(0)
    }

    /// Returns the largest number of codelets in a stage.
    pub fn width(&self) -> usize {
        let mut widths = vec![0usize; self.stages()];
        self.codelets.iter().for_each(|codelet| widths[codelet.stage] += 1);
        widths.into_iter().max().unwrap_or(0)
    }
}

/// The stages of a program's codelets, by what compiled code still has of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeletStages {
    /// For each global the stage of the codelet that accesses it; `None` for one that no statement writes.
    pub globals: Vec<Option<usize>>,
    /// Parts of the source text with the stages of the codelets that have statements of it.
    pub spans: Vec<(Span, usize)>,
}

impl Codelets {
    /// Returns the stages of globals and of parts of the source. The codelets are those of this program.
    pub fn by_source(&self, core: &Core) -> CodeletStages {
        let mut stages =
            CodeletStages { globals: vec![None; core.globals.len()], spans: Vec::new() };
        for codelet in &self.codelets {
            for global in &codelet.states {
                stages.globals[*global] = Some(codelet.stage);
            }
            let spans = codelet.statements.iter().map(|at| core.body[*at].span);
            stages.spans.extend(spans.filter(|it| !it.is_none()).map(|it| (it, codelet.stage)));
        }
        stages
    }
}

/// Returns the codelets of a program after the last pass.
pub fn codelets(core: &Core) -> Codelets {
    let graph = Graph::of(core);
    let components = components(&graph.successors);
    let mut of_node = vec![0; graph.successors.len()];
    for (component, nodes) in components.iter().enumerate() {
        nodes.iter().for_each(|node| of_node[*node] = component);
    }
    let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); components.len()];
    let mut has_edge = vec![false; components.len()];
    for (node, successors) in graph.successors.iter().enumerate() {
        for successor in successors {
            let (from, to) = (of_node[node], of_node[*successor]);
            has_edge[from] = true;
            has_edge[to] = true;
            if from != to {
                before[to].insert(from);
            }
        }
    }
    // Components come in reverse topological order.
    let mut stages = vec![0; components.len()];
    for component in (0..components.len()).rev() {
        stages[component] = before[component].iter().map(|one| stages[*one] + 1).max().unwrap_or(0);
    }
    let mut found = Vec::new();
    for (component, nodes) in components.iter().enumerate() {
        let statements: BTreeSet<usize> =
            nodes.iter().flat_map(|node| graph.nodes[*node].iter().copied()).collect();
        let states: BTreeSet<usize> = statements.iter().filter_map(|at| state(core, *at)).collect();
        if has_edge[component] || !states.is_empty() {
            let codelet = Codelet {
                statements: statements.into_iter().collect(),
                stage: stages[component],
                states: states.into_iter().collect(),
            };
            found.push((component, codelet));
        }
    }
    found.sort_by(|(_, one), (_, other)| {
        (one.stage, &one.statements).cmp(&(other.stage, &other.statements))
    });
    let place: BTreeMap<usize, usize> =
        found.iter().enumerate().map(|(at, (component, _))| (*component, at)).collect();
    let mut dependencies = Vec::new();
    for (component, after) in &place {
        dependencies
            .extend(before[*component].iter().filter_map(|one| Some((*place.get(one)?, *after))));
    }
    dependencies.sort_unstable();
    Codelets { codelets: found.into_iter().map(|(_, codelet)| codelet).collect(), dependencies }
}

/// Returns the written global that a statement accesses.
fn state(core: &Core, at: usize) -> Option<usize> {
    match &core.body[at].kind {
        StatementKind::Read(_, global, _) | StatementKind::Write(global, ..) => {
            core.globals[*global].is_written.then_some(*global)
        }
        _ => None,
    }
}

/// Statements that are one operation each, and their dependencies.
struct Graph {
    /// The statements of each node.
    nodes: Vec<Vec<usize>>,
    successors: Vec<BTreeSet<usize>>,
}

impl Graph {
    fn of(core: &Core) -> Graph {
        let mut uses: HashMap<Variable, Vec<usize>> = HashMap::new();
        let mut definition: HashMap<Variable, usize> = HashMap::new();
        for (at, statement) in core.body.iter().enumerate() {
            statement.kind.each_operand(&mut |operand| {
                operand.each_variable(&mut |variable| uses.entry(variable).or_default().push(at));
            });
            if let Some(target) = statement.kind.target() {
                definition.insert(target, at);
            }
        }
        // First values of fields are inputs: no statement computes them.
        let is_input = |at: usize| {
            matches!(&core.body[at].kind, StatementKind::Assign(target, Expression::Variable(field))
                if field.index() < core.fields.len() && target.index() >= core.fields.len()
                    && definition.get(field).is_some_and(|defined| *defined > at))
        };
        // A call, or a read of a global that nothing writes, is an operand of the statements that use it.
        let is_operand = |at: usize| match &core.body[at].kind {
            StatementKind::Call(target, ..) => target.index() >= core.fields.len(),
            StatementKind::Read(target, global, _) => {
                !core.globals[*global].is_written && target.index() >= core.fields.len()
            }
            _ => false,
        };
        let mut of_statement: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); core.body.len()];
        let mut nodes: Vec<Vec<usize>> = Vec::new();
        for at in (0..core.body.len()).rev().filter(|at| !is_input(*at)) {
            let target = core.body[at].kind.target().filter(|_| is_operand(at));
            let users = target.and_then(|target| uses.get(&target)).into_iter().flatten();
            let with_users: BTreeSet<usize> =
                users.flat_map(|user| of_statement[*user].iter().copied()).collect();
            for node in &with_users {
                nodes[*node].push(at);
            }
            of_statement[at] = with_users;
            if of_statement[at].is_empty() {
                of_statement[at].insert(nodes.len());
                nodes.push(vec![at]);
            }
        }
        let mut successors = vec![BTreeSet::new(); nodes.len()];
        for (variable, users) in &uses {
            let Some(defined) = definition.get(variable).filter(|at| !is_operand(**at)) else {
                continue;
            };
            for user in users.iter().filter(|user| **user > *defined) {
                for from in &of_statement[*defined] {
                    successors[*from].extend(of_statement[*user].iter().filter(|to| *to != from));
                }
            }
        }
        let mut accesses: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, nodes) in of_statement.iter().enumerate() {
            if let Some(global) = state(core, at) {
                accesses.entry(global).or_default().extend(nodes);
            }
        }
        for nodes in accesses.values() {
            for (from, to) in nodes.iter().zip(nodes.iter().skip(1)) {
                successors[*from].insert(*to);
                successors[*to].insert(*from);
            }
        }
        Graph { nodes, successors }
    }
}

/// Returns the strongly connected components, each before those that it is reached from (Tarjan's algorithm with a list
/// instead of recursion).
fn components(successors: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let count = successors.len();
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let (mut on_stack, mut stack) = (vec![false; count], Vec::new());
    let (mut next, mut found) = (0, Vec::new());
    let lists: Vec<Vec<usize>> =
        successors.iter().map(|one| one.iter().copied().collect()).collect();
    for root in 0..count {
        if index[root] != UNSEEN {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, at)) = path.pop() {
            if at == 0 {
                index[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            } else {
                low[node] = low[node].min(low[lists[node][at - 1]]);
            }
            let mut at = at;
            let mut descends = false;
            while let Some(successor) = lists[node].get(at).copied() {
                at += 1;
                if index[successor] == UNSEEN {
                    path.push((node, at));
                    path.push((successor, 0));
                    descends = true;
                    break;
                }
                if on_stack[successor] {
                    low[node] = low[node].min(index[successor]);
                }
            }
            if descends {
                continue;
            }
            if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                found.push(component);
            }
        }
    }
    found
}
