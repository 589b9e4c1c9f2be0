// SPDX-License-Identifier: Apache-2.0
//! [`Analysis`]: data flow of a program, built once. Points have live slots and preceding effects; statements have
//! effects, instances and guards; values have slices; accesses of state have names that passes keep. Effects of
//! single operations come from [`crate::effects`], those of devices between blocks from
//! [`crate::architecture::boundaries`]; passes and tools have no data flow of their own.

mod accesses;
mod control_values;
mod dependence;
mod frames;
mod liveness;
mod points;
mod predicates;
mod region_facts;
mod statement_tree;
mod statements;
mod validity;

pub use accesses::{AccessSlices, CellIndex, StateAccess};
pub use control_values::{
    AccessedCell, Application, ControlAccess, ControlValues, Unknown, Value, ValueId, Values,
};
pub use dependence::Slice;
pub use liveness::Liveness;
pub use points::{Point, Use};
pub use predicates::{Predicate, Predicates};
pub use region_facts::RegionFacts;
pub use statement_tree::StatementTree;
pub use statements::{Condition, StatementFacts, StatementInstance};
pub use validity::Validity;

use crate::architecture::boundaries::Boundaries;
use crate::effects::{Effects, Location};
use crate::{Operand, Operation, Program, RegionId, SlotId, SlotSet};
use dependence::Dependences;
use frames::Frames;
use p4::ast::NodeId;
use region_facts::TableEffects;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Which regions name a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    None,
    One(RegionId),
    Several,
}

/// Data flow of a verified program. Parts are computed at their first use.
#[derive(Debug)]
pub struct Analysis<'p> {
    program: &'p Program,
    boundaries: Boundaries,
    regions: OnceCell<Vec<RegionFacts<'p>>>,
    frames: OnceCell<Frames>,
    owners: OnceCell<Vec<Owner>>,
    liveness: OnceCell<Liveness<'p>>,
    validity: OnceCell<Validity<'p>>,
    accesses: OnceCell<Vec<StateAccess>>,
    access_slices: OnceCell<Vec<AccessSlices>>,
}

impl<'p> Analysis<'p> {
    /// Of a verified program, on the device of its architecture.
    pub fn of(program: &'p Program) -> Analysis<'p> {
        Analysis::with_boundaries(program, Boundaries::of(program))
    }

    /// The same on a device that does this between blocks.
    pub fn with_boundaries(program: &'p Program, boundaries: Boundaries) -> Analysis<'p> {
        Analysis {
            program,
            boundaries,
            regions: OnceCell::new(),
            frames: OnceCell::new(),
            owners: OnceCell::new(),
            liveness: OnceCell::new(),
            validity: OnceCell::new(),
            accesses: OnceCell::new(),
            access_slices: OnceCell::new(),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// What the device does between blocks.
    pub fn boundaries(&self) -> &Boundaries {
        &self.boundaries
    }

    fn regions(&self) -> &[RegionFacts<'p>] {
        self.regions.get_or_init(|| {
            let tables = TableEffects::new(self.program);
            (0..self.program.regions.len() as u32)
                .map(|id| RegionFacts::new(self.program, &tables, RegionId(id)))
                .collect()
        })
    }

    fn frames(&self) -> &Frames {
        self.frames.get_or_init(|| Frames::of(self.program, self.regions()))
    }

    /// Control flow and effects of one region.
    pub fn region(&self, region: RegionId) -> &RegionFacts<'p> {
        &self.regions()[region.index()]
    }

    /// Slots that only this region's own instructions name, those of the actions that it applies left out.
    pub fn private_slots(&self, region: RegionId) -> BTreeSet<SlotId> {
        let owners = self.owners.get_or_init(|| self.owners());
        let own = |(_, owner): &(usize, &Owner)| **owner == Owner::One(region);
        let slots = owners.iter().enumerate().filter(own);
        slots.map(|(slot, _)| SlotId(slot as u32)).collect()
    }

    fn owners(&self) -> Vec<Owner> {
        let mut owners = vec![Owner::None; self.program.slots.len()];
        for (at, region) in self.program.regions.iter().enumerate() {
            let id = RegionId(at as u32);
            for instruction in region.blocks.iter().flat_map(|block| &block.instructions) {
                if matches!(instruction.operation, Operation::Apply { .. }) {
                    continue;
                }
                let effects = crate::effects::of_operation(self.program, &instruction.operation);
                for slot in effects.slots_read().into_iter().chain(effects.slots_written()) {
                    let owner = &mut owners[slot.index()];
                    *owner = match *owner {
                        Owner::None => Owner::One(id),
                        Owner::One(known) if known == id => Owner::One(id),
                        _ => Owner::Several,
                    };
                }
            }
        }
        owners
    }

    /// Live slots at all points.
    pub fn liveness(&self) -> &Liveness<'p> {
        self.liveness.get_or_init(|| Liveness::of(self.program, &self.boundaries))
    }

    /// Headers that may be valid at all points.
    pub fn validity(&self) -> &Validity<'p> {
        self.validity.get_or_init(|| Validity::of(self.program, &self.boundaries))
    }

    /// The slots whose values at this point may still be used before the packet has left the device, by code
    /// or by the device. At a point of an action: behind any of the applications that run it.
    pub fn live_at(&self, at: Point) -> SlotSet {
        self.liveness().before(at.region, at.block, at.instruction as usize)
    }

    /// Effects on the packet that may have happened before control reaches a point, in earlier blocks and in
    /// this one; in a loop they include those of later instructions. What was done in earlier passes through the device
    /// is not included.
    pub fn effects_before(&self, at: Point) -> Effects {
        let mut effects = Effects::default();
        let mut open: Vec<Point> = vec![at];
        let mut seen: BTreeSet<Point> = BTreeSet::new();
        let mut blocks: BTreeSet<usize> = BTreeSet::new();
        while let Some(point) = open.pop() {
            let facts = self.region(point.region);
            for instruction in 0..point.instruction as usize {
                effects.include(facts.effects(point.block.index(), instruction));
            }
            for (block, code) in facts.region.blocks.iter().enumerate() {
                let successors = code.terminator.successors();
                let end = Point::new(point.region, block, code.instructions.len());
                if facts.rank[block] != usize::MAX
                    && successors.contains(&point.block)
                    && seen.insert(end)
                {
                    open.push(end);
                }
            }
            for &frame in self.frames().of_region(point.region) {
                let frame = self.frames().frame(frame);
                if let Some(by) = frame.applied_by {
                    let region = self.frames().frame(by.frame).region;
                    let place = Point::new(region, by.block, by.instruction);
                    if seen.insert(place) {
                        open.push(place);
                    }
                }
                blocks.extend(frame.program_block);
            }
        }
        for block in self.blocks_before(blocks) {
            effects.include(&crate::effects::of_region(
                self.program,
                self.program.blocks[block].region,
            ));
        }
        effects
    }

    /// Blocks that may have run on a packet's storage before these.
    fn blocks_before(&self, blocks: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut before = BTreeSet::new();
        let mut open: Vec<usize> = blocks.into_iter().collect();
        while let Some(block) = open.pop() {
            for (from, end) in self.boundaries.ends.iter().enumerate() {
                let goes_on = |to: usize| to == block && !self.boundaries.first.contains(&to);
                if end.next.iter().any(|passage| goes_on(passage.to)) && before.insert(from) {
                    open.push(from);
                }
            }
        }
        before
    }

    /// Facts about the statement that is this node of the typed program: its own code and what was inlined
    /// through it. Nodes of calls within it are other nodes: see [`Analysis::statement_of`].
    pub fn statement(&self, node: NodeId) -> StatementFacts {
        self.statement_of(&BTreeSet::from([node]))
    }

    /// Facts about the statement that these nodes make up ([`StatementTree::nodes_of`]).
    pub fn statement_of(&self, nodes: &BTreeSet<NodeId>) -> StatementFacts {
        statements::statement(self.program, self.regions(), nodes)
    }

    /// The statements of a region with the effects of their own code, in the order of their first instructions.
    /// Nested statements are statements of their own; the code of an `if` is its condition.
    pub fn statements_of_region(
        &self,
        region: RegionId,
        tree: &StatementTree,
    ) -> Vec<(NodeId, StatementInstance)> {
        statements::of_region(self.program, self.regions(), tree, region)
    }

    /// The conditions under which control reaches a point.
    pub fn guards(&self, at: Point) -> Vec<Condition> {
        statements::guards(self.program, self.regions(), at.region, [at].iter())
    }

    /// The code and the state that these values depend on.
    pub fn slice_of(&self, wanted: &[Use]) -> Slice {
        self.with_dependences(|dependences| dependences.slice(wanted))
    }

    fn with_dependences<T>(&self, ask: impl FnOnce(&Dependences<'_, 'p>) -> T) -> T {
        ask(&Dependences::new(self.program, &self.boundaries, self.regions(), self.frames()))
    }

    /// Every access of state, in the order of regions and instructions.
    pub fn accesses(&self) -> &[StateAccess] {
        self.accesses.get_or_init(|| accesses::accesses(self.program))
    }

    /// The accesses that have this name among theirs. Passes may have made several of one, in copies of the
    /// code around it.
    pub fn accesses_named<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = &'a StateAccess> + 'a {
        self.accesses().iter().filter(move |access| access.names.iter().any(|it| it == name))
    }

    /// The dependences of each of [`Analysis::accesses`].
    pub fn access_slices(&self) -> &[AccessSlices] {
        self.access_slices.get_or_init(|| {
            self.with_dependences(|dependences| {
                let slices = self.accesses().iter().map(|access| {
                    let index = match &access.index {
                        CellIndex::Operand(operand) => {
                            dependences.slice(&[Use::Operand(access.at, operand.clone())])
                        }
                        CellIndex::Entry => dependences.slice(&self.entry_uses(access)),
                        CellIndex::Whole => Slice::default(),
                    };
                    let guard = dependences.slice(&[Use::Reached(access.at)]);
                    AccessSlices { index, guard }
                });
                slices.collect()
            })
        })
    }

    /// The keys of the applications that choose the entry of a direct object.
    fn entry_uses(&self, access: &StateAccess) -> Vec<Use> {
        let program = self.program;
        let direct = |table: &crate::Table| match access.object {
            Location::Counter(counter) => table.direct_counters.contains(&counter),
            Location::Meter(meter) => table.direct_meters.contains(&meter),
            _ => false,
        };
        let mut uses = Vec::new();
        for facts in self.regions() {
            for &block in &facts.order {
                let code = facts.region.blocks[block].instructions.iter().enumerate();
                for (at, instruction) in code {
                    if let Operation::Apply { table, keys, hit, .. } = &instruction.operation
                        && direct(&program.tables[table.index()])
                    {
                        let point = Point::new(facts.id, block, at);
                        let after = Point::new(facts.id, block, at + 1);
                        uses.extend(keys.iter().map(|key| Use::Operand(point, key.clone())));
                        // The entries count, too.
                        uses.push(Use::Operand(after, Operand::Temp(*hit)));
                    }
                }
            }
        }
        uses
    }
}
