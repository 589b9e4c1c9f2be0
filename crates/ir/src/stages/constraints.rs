// SPDX-License-Identifier: Apache-2.0
//! [`Constraints`]: which instructions of a control may not be in an earlier stage than which others, and which are in
//! one stage. Everything follows from [`crate::effects`] and [`crate::analysis`]. Stages themselves are in
//! `assignment`.

use super::obstacles::obstacles;
use crate::analysis::{Analysis, Point, RegionFacts};
use crate::effects::Location;
use crate::moments::is_moment;
use crate::{Operand, Program, RegionId};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use source::Diagnostics;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Why an instruction is not in an earlier stage than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// It uses a temporary that the other defines.
    Value,
    /// The other computes a condition that decides whether it runs.
    Condition,
    /// Both access this, and one of them writes. For requests, the log and random numbers, that is their order.
    Access(Location),
    /// One of them may end the block, and the other writes something or may end it, too.
    EndOfBlock,
    /// Both access this object of state, and all accesses to an object are in one stage.
    SameObject(Location),
    /// Both access state in this `@atomic` block.
    SameAtomicBlock(u32),
}

/// `after` is in no earlier stage than `before`. Accesses that are in one stage have two precedences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    /// An instruction.
    pub before: Point,
    /// The other.
    pub after: Point,
    /// Why.
    pub reason: Reason,
}

/// What every assignment of the instructions of a region to stages has to respect.
///
/// Instructions that cannot be in different stages form a *class*. Classes are numbered so that each comes after those
/// that precede it.
#[derive(Clone, Debug)]
pub struct Constraints {
    region: RegionId,
    lengths: Vec<usize>,
    precedences: Vec<Precedence>,
    classes: Vec<Vec<Point>>,
    class_of: HashMap<Point, usize>,
    class_of_object: BTreeMap<Location, usize>,
    predecessors: Vec<Vec<usize>>,
    successors: Vec<Vec<usize>>,
}

impl Constraints {
    /// The constraints of a programmable block, by its index in [`Program::blocks`].
    ///
    /// # Errors
    ///
    /// The block is no control, has a loop at run time, or applies a table whose actions `exit`
    /// ([`super::behind_tables`] moves them behind the table).
    pub fn of(program: &Program, block: usize) -> Result<Constraints, Diagnostics> {
        let analysis = Analysis::of(program);
        let found = obstacles(&analysis, block);
        match found.has_errors() {
            true => Err(found),
            false => Ok(Constraints::of_region(&analysis, program.blocks[block].region)),
        }
    }

    /// The constraints of a region without loops, in which `exit` is no more than the end.
    pub(super) fn of_region(analysis: &Analysis<'_>, region: RegionId) -> Constraints {
        let facts = analysis.region(region);
        let mut nodes = Nodes { facts, points: Vec::new(), number: HashMap::new() };
        for &block in &facts.order {
            for at in 0..facts.region.blocks[block].instructions.len() {
                let point = Point::new(region, block, at);
                nodes.number.insert(point, nodes.points.len());
                nodes.points.push(point);
            }
        }
        let mut found: BTreeMap<(usize, usize), Reason> = BTreeMap::new();
        nodes.values_and_conditions(&mut found);
        nodes.accesses(&mut found);
        nodes.early_ends(&mut found);
        nodes.one_stage(analysis.program(), &mut found);
        let mut lengths = vec![0; facts.region.blocks.len()];
        for &block in &facts.order {
            lengths[block] = facts.region.blocks[block].instructions.len();
        }
        let objects = nodes.objects();
        Constraints::solved(region, lengths, nodes.points, &found, &objects)
    }

    /// Makes classes of strongly connected instructions.
    fn solved(
        region: RegionId,
        lengths: Vec<usize>,
        points: Vec<Point>,
        found: &BTreeMap<(usize, usize), Reason>,
        objects: &BTreeMap<Location, Vec<usize>>,
    ) -> Constraints {
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(points.len(), found.len());
        for _ in &points {
            graph.add_node(());
        }
        for (before, after) in found.keys() {
            graph.add_edge(NodeIndex::new(*before), NodeIndex::new(*after), ());
        }
        let mut components: Vec<Vec<usize>> = tarjan_scc(&graph)
            .into_iter()
            .map(|component| component.into_iter().map(NodeIndex::index).collect())
            .collect();
        components.reverse();
        components.iter_mut().for_each(|component| component.sort_unstable());
        let mut class_of = vec![0; points.len()];
        for (class, component) in components.iter().enumerate() {
            component.iter().for_each(|node| class_of[*node] = class);
        }
        let mut predecessors = vec![BTreeSet::new(); components.len()];
        let mut successors = vec![BTreeSet::new(); components.len()];
        for (before, after) in found.keys() {
            let (before, after) = (class_of[*before], class_of[*after]);
            if before != after {
                predecessors[after].insert(before);
                successors[before].insert(after);
            }
        }
        let lists = |sets: Vec<BTreeSet<usize>>| -> Vec<Vec<usize>> {
            sets.into_iter().map(|set| set.into_iter().collect()).collect()
        };
        let precedence = |((before, after), reason): (&(usize, usize), &Reason)| Precedence {
            before: points[*before],
            after: points[*after],
            reason: *reason,
        };
        Constraints {
            region,
            lengths,
            precedences: found.iter().map(precedence).collect(),
            classes: components
                .iter()
                .map(|component| component.iter().map(|node| points[*node]).collect())
                .collect(),
            class_of: points.iter().enumerate().map(|(at, point)| (*point, class_of[at])).collect(),
            class_of_object: objects.iter().map(|(at, nodes)| (*at, class_of[nodes[0]])).collect(),
            predecessors: lists(predecessors),
            successors: lists(successors),
        }
    }

    /// The region.
    pub fn region(&self) -> RegionId {
        self.region
    }

    /// By basic block, how many instructions have a stage: none in a block that is not reached.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// All precedences, also those that follow from others.
    pub fn precedences(&self) -> &[Precedence] {
        &self.precedences
    }

    /// Instructions that are in one stage, each class after those that precede it.
    pub fn classes(&self) -> &[Vec<Point>] {
        &self.classes
    }

    /// The class of an instruction; `None` for one that is not reached.
    pub fn class_of(&self, at: Point) -> Option<usize> {
        self.class_of.get(&at).copied()
    }

    /// The class of all accesses to an object of state: a register, a counter, a meter or an extern. `None` if no
    /// instruction that is reached accesses it.
    pub fn class_of_object(&self, object: Location) -> Option<usize> {
        self.class_of_object.get(&object).copied()
    }

    /// The pairs of objects of which the second is in no earlier stage than the first, because a chain of precedences
    /// leads to it. Objects that share a stage are a pair both ways.
    pub fn order_of_objects(&self) -> BTreeSet<(Location, Location)> {
        let mut here: BTreeMap<usize, BTreeSet<Location>> = BTreeMap::new();
        for (object, class) in &self.class_of_object {
            here.entry(*class).or_default().insert(*object);
        }
        let mut before: Vec<BTreeSet<Location>> = Vec::with_capacity(self.classes.len());
        for class in 0..self.classes.len() {
            let mut all = here.get(&class).cloned().unwrap_or_default();
            self.predecessors[class].iter().for_each(|one| all.extend(&before[*one]));
            before.push(all);
        }
        let of_object = |(after, class): (&Location, &usize)| {
            let after = *after;
            before[*class].iter().map(move |before| (*before, after)).collect::<Vec<_>>()
        };
        let pairs = self.class_of_object.iter().flat_map(of_object);
        pairs.filter(|(before, after)| before != after).collect()
    }

    /// The classes that directly precede a class, all with smaller numbers.
    pub fn predecessors(&self, class: usize) -> &[usize] {
        &self.predecessors[class]
    }

    /// The classes that a class directly precedes, all with larger numbers.
    pub fn successors(&self, class: usize) -> &[usize] {
        &self.successors[class]
    }

    /// A precedence between two classes, to explain why one cannot be in an earlier stage.
    pub fn why(&self, before: usize, after: usize) -> Option<&Precedence> {
        self.precedences.iter().find(|it| {
            self.class_of(it.before) == Some(before) && self.class_of(it.after) == Some(after)
        })
    }
}

/// Instructions as nodes, in an order in which they could run.
struct Nodes<'a, 'p> {
    facts: &'a RegionFacts<'p>,
    points: Vec<Point>,
    number: HashMap<Point, usize>,
}

impl Nodes<'_, '_> {
    fn place(&self, node: usize) -> (usize, usize) {
        (self.points[node].block.index(), self.points[node].instruction as usize)
    }

    /// Whether the second may run after the first.
    fn follows(&self, first: usize, second: usize) -> bool {
        let ((from, before), (to, after)) = (self.place(first), self.place(second));
        if from == to { before < after } else { self.facts.reaches(from, to) }
    }

    fn values_and_conditions(&self, found: &mut BTreeMap<(usize, usize), Reason>) {
        let facts = self.facts;
        let definition = |block: usize, operand: &Operand| match operand {
            Operand::Temp(temp) => {
                let (at, _) = facts.definition(*temp)?;
                self.number.get(&Point::new(facts.id, block, at)).copied()
            }
            Operand::Constant(_) => None,
        };
        let deciders = all_deciders(facts);
        for (node, point) in self.points.iter().enumerate() {
            let (block, at) = (point.block.index(), point.instruction as usize);
            let operation = &facts.region.blocks[block].instructions[at].operation;
            for operand in operation.operands() {
                // What an update's body defines belongs to the instruction itself.
                if let Some(before) = definition(block, operand).filter(|before| *before != node) {
                    found.entry((before, node)).or_insert(Reason::Value);
                }
            }
            for decider in &deciders[block] {
                let operand = facts.region.blocks[*decider].terminator.operand();
                if let Some(before) = operand.and_then(|operand| definition(*decider, operand)) {
                    found.entry((before, node)).or_insert(Reason::Condition);
                }
            }
        }
    }

    fn accesses(&self, found: &mut BTreeMap<(usize, usize), Reason>) {
        let mut accesses: BTreeMap<Location, Vec<(usize, bool)>> = BTreeMap::new();
        for node in 0..self.points.len() {
            let (block, at) = self.place(node);
            let effects = self.facts.effects(block, at);
            for location in &effects.writes {
                accesses.entry(*location).or_default().push((node, true));
            }
            for location in effects.reads.difference(&effects.writes) {
                accesses.entry(*location).or_default().push((node, false));
            }
        }
        for (location, list) in accesses {
            if list.iter().all(|(_, writes)| !writes) {
                continue;
            }
            for (number, &(first, first_writes)) in list.iter().enumerate() {
                for &(second, second_writes) in &list[number + 1..] {
                    if !(first_writes || second_writes) {
                        continue;
                    }
                    if self.follows(first, second) {
                        found.entry((first, second)).or_insert(Reason::Access(location));
                    } else if self.follows(second, first) {
                        found.entry((second, first)).or_insert(Reason::Access(location));
                    }
                }
            }
        }
    }

    fn early_ends(&self, found: &mut BTreeMap<(usize, usize), Reason>) {
        let effects = |node: usize| {
            let (block, at) = self.place(node);
            self.facts.effects(block, at)
        };
        let count = self.points.len();
        for ending in (0..count).filter(|node| effects(*node).may_end_block) {
            for other in (0..count).filter(|other| *other != ending) {
                let matters = effects(other).may_end_block || !effects(other).writes.is_empty();
                if matters && self.follows(ending, other) {
                    found.entry((ending, other)).or_insert(Reason::EndOfBlock);
                } else if matters && self.follows(other, ending) {
                    found.entry((other, ending)).or_insert(Reason::EndOfBlock);
                }
            }
        }
    }

    /// Accesses of each object.
    fn objects(&self) -> BTreeMap<Location, Vec<usize>> {
        let mut objects: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
        for node in 0..self.points.len() {
            let (block, at) = self.place(node);
            let effects = self.facts.effects(block, at);
            for location in effects.reads.union(&effects.writes).filter(|it| is_object(**it)) {
                objects.entry(*location).or_default().push(node);
            }
        }
        objects
    }

    /// Accesses to one object, and those of one atomic block.
    fn one_stage(&self, program: &Program, found: &mut BTreeMap<(usize, usize), Reason>) {
        let of_object = |(object, nodes)| (Reason::SameObject(object), nodes);
        let mut groups: BTreeMap<Reason, Vec<usize>> =
            self.objects().into_iter().map(of_object).collect();
        for node in 0..self.points.len() {
            let (block, at) = self.place(node);
            let instruction = &self.facts.region.blocks[block].instructions[at];
            if is_moment(&instruction.operation)
                && let Some(number) = program.atomic_block(instruction.origin)
            {
                groups.entry(Reason::SameAtomicBlock(number)).or_default().push(node);
            }
        }
        for (reason, nodes) in groups {
            for pair in nodes.windows(2) {
                found.entry((pair[0], pair[1])).or_insert(reason);
                found.entry((pair[1], pair[0])).or_insert(reason);
            }
        }
    }
}

/// Whether a location is an object of state that packets change, which hardware holds in one stage.
fn is_object(location: Location) -> bool {
    matches!(
        location,
        Location::Register(_) | Location::Counter(_) | Location::Meter(_) | Location::Extern(_)
    )
}

/// For each basic block of a region without loops, the blocks whose branches decide whether it runs, directly or by
/// deciding about each other.
pub(super) fn all_deciders(facts: &RegionFacts<'_>) -> Vec<BTreeSet<usize>> {
    let mut all: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); facts.region.blocks.len()];
    for &block in &facts.order {
        let direct = facts.deciders(block);
        let mut deciders: BTreeSet<usize> = direct.iter().copied().collect();
        direct.iter().for_each(|decider| deciders.extend(&all[*decider]));
        all[block] = deciders;
    }
    all
}
