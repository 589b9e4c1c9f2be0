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
use ir::analysis::{AccessedCell, ControlValues, Predicate, Value, ValueId};
use ir::{Bits, Block, Program, Region, RegionId, SlotId};
use std::collections::{BTreeMap, BTreeSet};

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
    let program = control.values.as_ref()?.program().clone();
    resolution_in(control, program)
}

/// Makes the code that resolves addresses, in a program that has the storage, the tables and the state of the control's and
/// perhaps more.
pub fn resolution_in(control: &mut ControlSharding<'_>, program: Program) -> Option<Resolution> {
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
    let mut program = program;
    for action in &original.actions {
        let region = &mut program.regions[action.region.index()];
        region.temps.clear();
        region.blocks.truncate(1);
        for block in &mut region.blocks {
            block.instructions.clear();
            block.terminator = ir::Terminator::Return;
        }
    }
    let control_block = &original.blocks[control.block];
    let mut wanted: Vec<ValueId> = answers.iter().filter_map(|answer| answer.index).collect();
    for Answer { happens, .. } in &answers {
        wanted.extend(values.values().atoms_of(*happens));
    }
    let mut emitter = emit::Emitter::new(values, program, &wanted, &BTreeMap::new());
    let slots = answers.iter().enumerate().map(|(at, answer)| {
        let happens = emitter.answer_bit(&format!("mp5.happens{at}"), answer.happens);
        let index = answer.index.map(|index| emitter.answer(&format!("mp5.index{at}"), index));
        GroupSlots { happens, index }
    });
    let slots = slots.collect();
    let (mut program, region) = emitter.finish(&format!("{}.resolution", control_block.name));
    let block = add_block(&mut program, region, control_block, "resolution");
    Some(Resolution { program, block, slots, stages: stages_in_front.unwrap_or(deepest) + 1 })
}

fn add_block(program: &mut Program, region: Region, control: &Block, name: &str) -> usize {
    let region_id = RegionId(program.regions.len() as u32);
    program.regions.push(region);
    program.blocks.push(Block {
        role: format!("{}.{name}", control.role).into(),
        name: format!("{}.{name}", control.name).into(),
        region: region_id,
        ..control.clone()
    });
    program.blocks.len() - 1
}

/// Returns the results of accesses of state that a group's predicate is computed from.
pub fn state_of_predicate(values: &ControlValues<'_>, group: &ShardGroup) -> Vec<(usize, ValueId)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = values.values().atoms_of(group.predicate);
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        match values.values().value(value) {
            Value::Read(access, ..) if !values.values().is_configuration(*access) => {
                found.push((*access, value));
            }
            _ => open.extend(crate::sharding::operands(values, value)),
        }
    }
    found.sort_unstable();
    found
}

/// Adds a block to the program of a resolution that tells, once state is known, whether a packet accesses a group. `reads` gives
/// the slots of what the packet has read. Returns the block and the slot of its answer.
pub fn add_decision(
    resolution: &mut Resolution,
    control: &mut ControlSharding<'_>,
    group: usize,
    reads: &BTreeMap<ValueId, SlotId>,
) -> Option<(usize, SlotId)> {
    let predicate = control.groups[group].predicate;
    let values = control.values.as_mut()?;
    let control_block = &values.program().blocks[control.block];
    let program = std::mem::take(&mut resolution.program);
    let wanted = values.values().atoms_of(predicate);
    let mut emitter = emit::Emitter::new(values, program, &wanted, reads);
    let slot = emitter.answer_bit(&format!("mp5.accesses{group}"), predicate);
    let (mut program, region) = emitter.finish(&format!("{}.decision{group}", control_block.name));
    let block = add_block(&mut program, region, control_block, &format!("decision{group}"));
    resolution.program = program;
    Some((block, slot))
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
