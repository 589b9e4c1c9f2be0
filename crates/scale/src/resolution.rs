// SPDX-License-Identifier: Apache-2.0
//! Address resolution (MP5 §3.1 D4, §3.3): the code in front of a control that tells, for an arriving packet, which groups
//! it accesses and at which index. It is a control of its own, of one basic block that computes all of it at once:
//! predicates and indices are values, so nothing branches. Lookups of tables are in it, their actions are not.
//!
//! It runs on a copy of the packet's storage, with the program's tables. Slots that it adds hold the answers.

mod emit;
mod width;

pub use width::{PAPER_PHANTOM_BITS, PhantomWidth, RING_DEPTH, phantom_width};

use crate::sharding::{ControlSharding, Depths, ShardGroup};
use ir::analysis::{AccessedCell, ControlValues, Predicate, ValueId};
use ir::{Bits, Block, Program, RegionId, SlotId};

/// The slots that answer for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSlots {
    /// One bit: whether the packet accesses the group, or may access it.
    pub happens: SlotId,
    /// The cell; `None` of a group that is not sharded, and of one whose cell is that of a table's entry.
    pub index: Option<SlotId>,
}

/// Address resolution of a control.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The program with the added slots. Its block is the last one; the regions of actions are empty.
    pub program: Program,
    /// The place of the block among the program's.
    pub block: usize,
    /// By group.
    pub slots: Vec<GroupSlots>,
    /// How many stages the code takes, and one for the map from cells to pipelines. The layout counts them, so a hash and a
    /// remainder are one operation each; without a layout they are the operations in a row.
    pub stages: usize,
}

/// The values that answer for a group.
struct Answer {
    happens: Predicate,
    index: Option<ValueId>,
}

/// Makes the code that resolves addresses. `None` if nothing is known of the control.
pub fn resolution(control: &mut ControlSharding<'_>) -> Option<Resolution> {
    let groups = control.groups.clone();
    let cells_of_accesses = |control: &ControlSharding<'_>, access: usize| {
        control.arrays.iter().find(|array| array.accesses.contains(&access)).map(|it| it.cells)
    };
    let mut cells = Vec::new();
    for group in &groups {
        let of_group = group.accesses.iter().map(|access| cells_of_accesses(control, *access));
        cells.push(of_group.map(|cells| cells.unwrap_or(u64::MAX)).collect::<Vec<u64>>());
    }
    let values = control.values.as_mut()?;
    let answers: Vec<Answer> =
        groups.iter().zip(&cells).map(|(group, cells)| answer(values, group, cells)).collect();
    let mut depths = Depths::default();
    let mut deepest = 0;
    let stages_in_front = control.stages_in_front;
    for Answer { happens, index } in &answers {
        deepest = deepest.max(depths.of_predicate(values, *happens));
        deepest = deepest.max(index.map_or(0, |index| depths.of(values, index)));
    }
    let original = values.program();
    let mut program = original.clone();
    for action in &original.actions {
        let region = &mut program.regions[action.region.index()];
        region.temps.clear();
        region.blocks.truncate(1);
        for block in &mut region.blocks {
            block.instructions.clear();
            block.terminator = ir::Terminator::Return;
        }
    }
    for table in &mut program.tables {
        table.direct_counters.clear();
        table.direct_meters.clear();
        table.idle_timeout = false;
    }
    let control_block = &original.blocks[control.block];
    let mut wanted: Vec<ValueId> = answers.iter().filter_map(|answer| answer.index).collect();
    for Answer { happens, .. } in &answers {
        wanted.extend(values.values().atoms_of(*happens));
    }
    let mut emitter = emit::Emitter::new(values, program, &wanted);
    let slots = answers.iter().enumerate().map(|(at, answer)| {
        let happens = emitter.answer_bit(&format!("mp5.happens{at}"), answer.happens);
        let index = answer.index.map(|index| emitter.answer(&format!("mp5.index{at}"), index));
        GroupSlots { happens, index }
    });
    let slots = slots.collect();
    let (mut program, region) = emitter.finish(&format!("{}.resolution", control_block.name));
    let region_id = RegionId(program.regions.len() as u32);
    program.regions.push(region);
    let block = program.blocks.len();
    program.blocks.push(Block {
        role: format!("{}.resolution", control_block.role).into(),
        name: format!("{}.resolution", control_block.name).into(),
        region: region_id,
        ..control_block.clone()
    });
    Some(Resolution { program, block, slots, stages: stages_in_front.unwrap_or(deepest) + 1 })
}

/// Returns when a packet may access a group, and the cell then.
fn answer(values: &mut ControlValues<'_>, group: &ShardGroup, cells: &[u64]) -> Answer {
    if !group.is_sharded {
        return Answer { happens: group.may, index: None };
    }
    let mut happens = Predicate::FALSE;
    let mut index: Option<ValueId> = None;
    let mut widest = 0;
    let mut found: Vec<(Predicate, ValueId)> = Vec::new();
    for (access, cells) in group.accesses.iter().zip(cells) {
        let access = &values.accesses()[*access];
        let predicate = access.predicate;
        let AccessedCell::Index(cell) = access.cell else { continue };
        let may = values.values_mut().whatever_state(predicate);
        let inside = is_inside(values, cell, *cells);
        let may = values.values_mut().predicates_mut().and(may, inside);
        widest = widest.max(values.values().ty(cell).width_bits());
        found.push((may, cell));
    }
    if found.is_empty() {
        return Answer { happens: group.may, index: None };
    }
    // Indices that differ are of accesses that exclude each other.
    for (may, cell) in found.into_iter().rev() {
        happens = values.values_mut().predicates_mut().or(happens, may);
        let cell = values.values_mut().resize(ir::ResizeKind::ZeroExtend, cell, widest);
        index = Some(match index {
            Some(other) => values.values_mut().choice(may, cell, other),
            None => cell,
        });
    }
    Answer { happens, index }
}

/// Returns that an index is one of the array's cells. Outside nothing is read or written.
fn is_inside(values: &mut ControlValues<'_>, index: ValueId, cells: u64) -> Predicate {
    let width_bits = values.values().ty(index).width_bits();
    if width_bits < 64 && 1u64 << width_bits <= cells {
        return Predicate::TRUE;
    }
    if values.values().largest(index).is_some_and(|largest| largest < u128::from(cells)) {
        return Predicate::TRUE;
    }
    let values = values.values_mut();
    let bound = values.constant(Bits::from_u64(width_bits, cells));
    let inside = values.binary(ir::BinaryOperation::LessUnsigned, index, bound, 1);
    values.predicate(inside)
}
