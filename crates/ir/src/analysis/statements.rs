// SPDX-License-Identifier: Apache-2.0
//! [`StatementFacts`]: what a statement of the source does, wherever it was inlined: its instructions, the
//! points in front of it and behind it, its effects, and the conditions that guard it. A statement is a node of
//! the typed program; [`crate::analysis::StatementTree`] says which nodes belong to one.
//!
//! In the program as lowered each statement has code of its own. In a simplified program values are shared
//! between statements, so reads may appear at another statement than in the source.

use super::points::Point;
use super::region_facts::RegionFacts;
use super::statement_tree::StatementTree;
use crate::effects::{self, Effects};
use crate::{
    ActionId, Operand, Operation, OriginId, Program, RegionId, SlotId, TableId, Temp, Terminator,
};
use p4::ast::NodeId;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A condition under which code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A branch or switch takes one of certain successors.
    Branch {
        /// The terminator that decides.
        at: Point,
        /// The tested operand.
        operand: Operand,
        /// The slots that this is computed from, in the basic block of the branch.
        slots: BTreeSet<SlotId>,
        /// Which of its successors let the code run, by their places: of a branch 0 is true, 1 is false; of a
        /// switch the cases in order, then the default.
        taken: BTreeSet<usize>,
        /// The origin of the condition.
        origin: OriginId,
    },
    /// A table runs the action that the code is in.
    Action {
        /// The application.
        at: Point,
        /// The table.
        table: TableId,
        /// The action.
        action: ActionId,
    },
}

/// One place where a statement was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementInstance {
    /// The calls through which it was inlined, the innermost first.
    pub calls: Vec<OriginId>,
    /// The region.
    pub region: RegionId,
    /// Its instructions and terminators.
    pub code: BTreeSet<Point>,
    /// Points before it: where control enters its code.
    pub before: BTreeSet<Point>,
    /// Points after it: where control leaves its code within the region.
    pub after: BTreeSet<Point>,
    /// Its possible reads and writes.
    pub effects: Effects,
    /// The conditions under which control reaches it. A branch is listed when one of its successors always
    /// leads to the statement and another may not; in a chain of `||` and `&&` each term is a branch, and
    /// several of them together are the condition. Conditions that guard these branches are listed, too.
    pub guards: Vec<Condition>,
}

/// What is known of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementFacts {
    /// Where it was inlined; none for a statement without code.
    pub instances: Vec<StatementInstance>,
}

impl StatementFacts {
    /// The effects of all instances together.
    pub fn effects(&self) -> Effects {
        let mut effects = Effects::default();
        for instance in &self.instances {
            effects.include(&instance.effects);
        }
        effects
    }
}

/// Facts about the statement that these nodes make up.
pub(super) fn statement(
    program: &Program,
    regions: &[RegionFacts<'_>],
    nodes: &BTreeSet<NodeId>,
) -> StatementFacts {
    // The calls around a node distinguish the instances.
    let mut code: BTreeMap<(RegionId, Option<OriginId>), BTreeSet<Point>> = BTreeMap::new();
    for facts in regions {
        for &block in &facts.order {
            let lines = &facts.region.blocks[block];
            let origins = lines.instructions.iter().map(|instruction| instruction.origin);
            for (at, origin) in origins.chain([lines.origin]).enumerate() {
                for place in instances(program, origin, nodes) {
                    code.entry((facts.id, place))
                        .or_default()
                        .insert(Point::new(facts.id, block, at));
                }
            }
        }
    }
    let instances = code
        .into_iter()
        .map(|((region, parent), code)| instance(program, regions, (region, parent), code));
    StatementFacts { instances: instances.collect() }
}

/// A statement in a chain of calls, and its instructions.
type Code = ((NodeId, Option<OriginId>), BTreeSet<Point>);

/// The statements of a region by their own code, without that of nested statements, in the order of their first
/// instructions.
pub(super) fn of_region(
    program: &Program,
    regions: &[RegionFacts<'_>],
    tree: &StatementTree,
    region: RegionId,
) -> Vec<(NodeId, StatementInstance)> {
    let facts = &regions[region.index()];
    let mut code: Vec<Code> = Vec::new();
    let mut places: HashMap<(NodeId, Option<OriginId>), usize> = HashMap::new();
    for &block in &facts.order {
        let lines = &facts.region.blocks[block];
        let origins = lines.instructions.iter().map(|instruction| instruction.origin);
        for (at, origin) in origins.chain([lines.origin]).enumerate() {
            for origin in program.merged_origins(origin) {
                let Some(key) = enclosing(program, tree, origin) else { continue };
                let place = *places.entry(key).or_insert_with(|| {
                    code.push((key, BTreeSet::new()));
                    code.len() - 1
                });
                code[place].1.insert(Point::new(region, block, at));
            }
        }
    }
    let instances = code
        .into_iter()
        .map(|((node, parent), code)| (node, instance(program, regions, (region, parent), code)));
    instances.collect()
}

/// The innermost statement that an origin or one of its calls stands in, with the calls around it.
fn enclosing(
    program: &Program,
    tree: &StatementTree,
    origin: OriginId,
) -> Option<(NodeId, Option<OriginId>)> {
    let mut next = Some(origin);
    for _ in 0..=program.origins.len() {
        let origin = program.origins.get(next?.index())?;
        if let Some(statement) = origin.node.and_then(|node| tree.enclosing(node)) {
            return Some((statement, origin.parent));
        }
        next = origin.parent;
    }
    None
}

/// The calls around those origins of a chain that are of one of the nodes: the outermost of them.
fn instances(
    program: &Program,
    origin: OriginId,
    nodes: &BTreeSet<NodeId>,
) -> BTreeSet<Option<OriginId>> {
    let mut found = BTreeSet::new();
    for origin in program.merged_origins(origin) {
        let mut place = None;
        let mut next = Some(origin);
        for _ in 0..=program.origins.len() {
            let Some(origin) = next.and_then(|id| program.origins.get(id.index())) else { break };
            if origin.node.is_some_and(|node| nodes.contains(&node)) {
                place = Some(origin.parent);
            }
            next = origin.parent;
        }
        found.extend(place);
    }
    found
}

/// Facts about code of a region that is inlined through the calls above `parent`.
pub(super) fn instance(
    program: &Program,
    regions: &[RegionFacts<'_>],
    (region, parent): (RegionId, Option<OriginId>),
    code: BTreeSet<Point>,
) -> StatementInstance {
    let facts = &regions[region.index()];
    let blocks = &facts.region.blocks;
    let mut effects = Effects::default();
    let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
    let mut entered: BTreeSet<usize> = BTreeSet::from([0]);
    for &block in &facts.order {
        let end = blocks[block].instructions.len();
        if !code.contains(&Point::new(region, block, end)) {
            let next = blocks[block].terminator.successors();
            entered.extend(next.into_iter().map(|next| next.index()));
        }
    }
    for point in &code {
        let (block, at) = (point.block.index(), point.instruction as usize);
        let end = blocks[block].instructions.len();
        let is_entered = match at {
            0 => entered.contains(&block),
            at => !code.contains(&Point::new(region, block, at - 1)),
        };
        if is_entered {
            before.insert(*point);
        }
        if at < end {
            effects.include(facts.effects(block, at));
            let next = Point::new(region, block, at + 1);
            if !code.contains(&next) {
                after.insert(next);
            }
            continue;
        }
        effects.include(&effects::of_terminator(&blocks[block].terminator));
        for next in blocks[block].terminator.successors() {
            let next = Point::new(region, next.index(), 0);
            if !code.contains(&next) {
                after.insert(next);
            }
        }
    }
    let guards = guards(program, regions, region, before.iter());
    let mut calls = Vec::new();
    let mut next = parent;
    while let Some(call) = next
        && calls.len() <= program.origins.len()
    {
        calls.push(call);
        next = program.origins.get(call.index()).and_then(|origin| origin.parent);
    }
    StatementInstance { calls, region, code, before, after, effects, guards }
}

/// The conditions under which control reaches one of these points of a region.
pub(super) fn guards<'q>(
    program: &Program,
    regions: &[RegionFacts<'_>],
    region: RegionId,
    points: impl Iterator<Item = &'q Point>,
) -> Vec<Condition> {
    let facts = &regions[region.index()];
    let mut open: Vec<usize> = points.map(|point| point.block.index()).collect();
    let mut taken: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    while let Some(block) = open.pop() {
        for decision in &facts.decisions[block] {
            let is_new = !taken.contains_key(&decision.block);
            taken.entry(decision.block).or_default().insert(decision.taken);
            if is_new {
                open.push(decision.block);
            }
        }
    }
    let mut found: Vec<Condition> = applications(program, regions, region);
    let mut deciders: Vec<usize> = taken.keys().copied().collect();
    deciders.sort_by_key(|block| facts.rank[*block]);
    for block in deciders {
        let code = &facts.region.blocks[block];
        let (Terminator::Branch { condition: operand, .. }
        | Terminator::Switch { value: operand, .. }) = &code.terminator
        else {
            continue;
        };
        found.push(Condition::Branch {
            at: Point::new(region, block, code.instructions.len()),
            operand: operand.clone(),
            slots: slots_of(program, facts, operand),
            taken: taken[&block].clone(),
            origin: code.origin,
        });
    }
    found
}

/// The slots that an operand is computed from in its basic block.
fn slots_of(program: &Program, facts: &RegionFacts<'_>, operand: &Operand) -> BTreeSet<SlotId> {
    let mut slots = BTreeSet::new();
    let mut seen: BTreeSet<Temp> = BTreeSet::new();
    let mut open = vec![operand];
    while let Some(operand) = open.pop() {
        let Operand::Temp(temp) = operand else { continue };
        if let Some((_, instruction)) = facts.definition(*temp)
            && seen.insert(*temp)
        {
            effects::visit_slots_read(program, &instruction.operation, |slot| {
                slots.insert(slot);
            });
            open.extend(instruction.operation.operands());
        }
    }
    slots
}

/// The applications that may run an action's region.
fn applications(
    program: &Program,
    regions: &[RegionFacts<'_>],
    region: RegionId,
) -> Vec<Condition> {
    let runs = |action: &ActionId| program.actions[action.index()].region == region;
    let mut found = Vec::new();
    if !program.actions.iter().any(|action| action.region == region) {
        return found;
    }
    for facts in regions {
        for &block in &facts.order {
            for (at, instruction) in facts.region.blocks[block].instructions.iter().enumerate() {
                let Operation::Apply { table, .. } = &instruction.operation else { continue };
                let listed = program.tables[table.index()].actions.iter().map(|it| it.action);
                found.extend(listed.filter(runs).map(|action| Condition::Action {
                    at: Point::new(facts.id, block, at),
                    table: *table,
                    action,
                }));
            }
        }
    }
    found
}
