// SPDX-License-Identifier: Apache-2.0
//! Garbage in slots that are not live: stores of random values at random points of a program, to slots whose
//! values nothing may use any more as [`ir::analysis`] says. The program means the same with them, if that is
//! right; with a store to a slot that is live it usually does not.

use ir::analysis::{Analysis, Point};
use ir::{Instruction, Operand, Operation, Place, Program, RegionId, SlotId, SlotSet};
use testing::Choices;

/// What was put into a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Garbage {
    /// Points with garbage.
    pub points: u64,
    /// Slots that were written there, all points together.
    pub written: u64,
    /// Slots that there are, once for each point.
    pub slots: u64,
}

impl Garbage {
    /// Adds what another program got.
    pub fn include(&mut self, other: Garbage) {
        self.points += other.points;
        self.written += other.written;
        self.slots += other.slots;
    }

    /// The mean share of slots that were written at a point.
    pub fn share(&self) -> f64 {
        self.written as f64 / self.slots.max(1) as f64
    }
}

/// All points of code that can be reached.
fn points(analysis: &Analysis<'_>) -> Vec<Point> {
    let mut points = Vec::new();
    for region in (0..analysis.program().regions.len() as u32).map(RegionId) {
        let facts = analysis.region(region);
        // In the order of the text, whatever comes first when it runs.
        for (block, code) in facts.region.blocks.iter().enumerate() {
            if facts.rank[block] != usize::MAX {
                let count = code.instructions.len();
                points.extend((0..=count).map(|at| Point::new(region, block, at)));
            }
        }
    }
    points
}

fn insert(program: &mut Program, at: Point, slots: &[SlotId], choices: &mut Choices) {
    let block = &mut program.regions[at.region.index()].blocks[at.block.index()];
    let origin = block.origin;
    let stores = slots.iter().map(|slot| {
        let width_bits = program.slots[slot.index()].ty.width_bits();
        let value = Operand::Constant(choices.bits(width_bits));
        Instruction { operation: Operation::Store { place: Place::Slot(*slot), value }, origin }
    });
    let stores: Vec<Instruction> = stores.collect();
    let place = at.instruction as usize;
    block.instructions.splice(place..place, stores);
}

/// Writes garbage to all slots that are not live, at about `percent` of a program's points.
pub fn spoil_dead_slots(program: &mut Program, percent: usize, choices: &mut Choices) -> Garbage {
    let original = program.clone();
    let analysis = Analysis::of(&original);
    let mut garbage = Garbage::default();
    // From the end of each basic block to its start, so that points keep their places.
    for point in points(&analysis).into_iter().rev() {
        if !choices.chance(percent) {
            continue;
        }
        let mut dead = SlotSet::full(&original);
        dead.subtract(&analysis.live_at(point));
        let dead: Vec<SlotId> = dead.iter().collect();
        insert(program, point, &dead, choices);
        garbage.points += 1;
        garbage.written += dead.len() as u64;
        garbage.slots += original.slots.len() as u64;
    }
    garbage
}

/// Writes garbage to one slot that is live at one point; which, when there is any.
pub fn spoil_a_live_slot(program: &mut Program, choices: &mut Choices) -> Option<(Point, SlotId)> {
    let original = program.clone();
    let analysis = Analysis::of(&original);
    let points = points(&analysis);
    for _ in 0..points.len() {
        let point = *choices.pick(&points);
        let live: Vec<SlotId> = analysis.live_at(point).iter().collect();
        if !live.is_empty() {
            let slot = *choices.pick(&live);
            insert(program, point, &[slot], choices);
            return Some((point, slot));
        }
    }
    None
}
