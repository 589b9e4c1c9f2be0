// SPDX-License-Identifier: Apache-2.0
//! Removes instructions without effects whose results are not used, stores to local slots that are
//! not live afterwards ([`crate::analysis::Liveness`]), stores that are stored to again at once, and
//! temporaries that are no longer defined.

use super::{for_each_region, renumber_temps};
use crate::analysis::Liveness;
use crate::architecture::boundaries::{self, Boundaries};
use crate::{
    BasicBlock, BlockId, CallEffects, ExternAccess, Instruction, Operand, Operation, Place,
    Program, Region, RegionId, SlotId, Temp, effects,
};
use std::collections::{BTreeSet, HashSet};

/// Removes dead code in all regions.
pub fn remove_dead_code(program: &mut Program) {
    for_each_region(program, remove_overwritten_stores);
    remove_dead_stores(program);
    for_each_region(program, |_, region| {
        remove_unused_in_region(region);
        renumber_temps(region);
    });
}

fn remove_unused_in_region(region: &mut Region) {
    region.blocks.iter_mut().for_each(remove_unused_in_block);
}

/// Removes instructions of one block whose results are not used.
pub(crate) fn remove_unused_in_block(block: &mut BasicBlock) {
    remove_unused_results(&mut block.instructions, block.terminator.operand());
}

/// Whether the operation does nothing but define its results.
pub(crate) fn only_defines(operation: &Operation) -> bool {
    operation.is_pure()
        || matches!(
            operation,
            Operation::Load { .. }
                | Operation::PacketLength { .. }
                | Operation::ValueSetContains { .. }
                | Operation::Hash { .. }
                | Operation::RegisterAccess { update: None, .. }
        )
        || matches!(
            operation,
            Operation::CallExtern { effects: CallEffects { access, random: None }, .. }
                if *access != ExternAccess::Any
        )
}

fn remove_unused_results(instructions: &mut Vec<Instruction>, last: Option<&Operand>) {
    let mut used: HashSet<Temp> = HashSet::new();
    let use_operand = |used: &mut HashSet<Temp>, operand: &Operand| {
        if let Operand::Temp(temp) = operand {
            used.insert(*temp);
        }
    };
    last.into_iter().for_each(|operand| use_operand(&mut used, operand));
    let mut kept: Vec<Instruction> = Vec::with_capacity(instructions.len());
    for mut instruction in std::mem::take(instructions).into_iter().rev() {
        let results = instruction.operation.results();
        if only_defines(&instruction.operation)
            && results.iter().all(|result| !used.contains(result))
        {
            continue;
        }
        if let Operation::RegisterAccess { old, update, .. } = &mut instruction.operation {
            if let Some(update) = update {
                remove_unused_results(&mut update.body, Some(&update.value));
            }
            let needed_inside = |old: &Temp| {
                update.as_ref().is_some_and(|update| {
                    let uses = |operand: &Operand| *operand == Operand::Temp(*old);
                    let body = &update.body;
                    uses(&update.value)
                        || body.iter().any(|inner| inner.operation.operands().into_iter().any(uses))
                })
            };
            *old = old.filter(|old| used.contains(old) || needed_inside(old));
        }
        for operand in instruction.operation.operands() {
            use_operand(&mut used, operand);
        }
        kept.push(instruction);
    }
    kept.reverse();
    *instructions = kept;
}

/// Removes stores that a later store of the same basic block makes up for, before anybody looks.
fn remove_overwritten_stores(program: &Program, region: &mut Region) {
    for block in &mut region.blocks {
        let mut overwritten: BTreeSet<SlotId> = BTreeSet::new();
        let mut kept: Vec<Instruction> = Vec::with_capacity(block.instructions.len());
        for instruction in std::mem::take(&mut block.instructions).into_iter().rev() {
            match &instruction.operation {
                Operation::Store { place: Place::Slot(slot), .. } if overwritten.contains(slot) => {
                    continue;
                }
                Operation::Store { place: Place::Slot(slot), .. } => {
                    overwritten.insert(*slot);
                }
                operation if !overwritten.is_empty() => {
                    let effects = effects::of_operation(program, operation);
                    if effects.may_end_block {
                        overwritten.clear();
                    }
                    for slot in effects.slots_read() {
                        overwritten.remove(&slot);
                    }
                }
                _ => {}
            }
            kept.push(instruction);
        }
        kept.reverse();
        block.instructions = kept;
    }
}

/// Removes stores to slots that only code can name, where no later load can see them on any device.
fn remove_dead_stores(program: &mut Program) {
    let boundaries = Boundaries::of_any_device(program);
    let nameable = boundaries::nameable_slots(program);
    let liveness = Liveness::of(program, &boundaries);
    let mut doomed: Vec<(usize, usize, usize)> = Vec::new();
    for (region_at, region) in program.regions.iter().enumerate() {
        let id = RegionId(region_at as u32);
        for at in 0..region.blocks.len() {
            liveness.visit_back(id, BlockId(at as u32), |number, operation, live| {
                if let Some(Operation::Store { place: Place::Slot(slot), .. }) = operation
                    && !nameable.contains(*slot)
                    && !live.contains(*slot)
                {
                    doomed.push((region_at, at, number));
                }
            });
        }
    }
    // From each block's end to its start, so that indices stay right.
    for (region, block, instruction) in doomed {
        program.regions[region].blocks[block].instructions.remove(instruction);
    }
}
