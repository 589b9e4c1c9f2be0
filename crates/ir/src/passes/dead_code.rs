// SPDX-License-Identifier: Apache-2.0
//! Removes instructions whose results nobody uses and that do nothing else, stores to local slots that
//! nobody reads afterwards or that are stored to again at once, and temporaries that are no longer defined.

use super::{for_each_region, renumber_temps};
use crate::{
    CallEffects, ExternAccess, Instruction, Operand, Operation, Place, Program, Region, SlotId,
    Temp, effects,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Removes dead code in all regions.
pub fn remove_dead_code(program: &mut Program) {
    let observed = observed_slots(program);
    let owners = sole_owners(program);
    for_each_region(program, remove_overwritten_stores);
    for at in 0..program.regions.len() {
        let local = owners
            .iter()
            .filter(|(slot, owner)| **owner == Some(at) && !observed.contains(slot))
            .map(|(slot, _)| *slot)
            .collect();
        remove_dead_stores(program, at, local);
    }
    for_each_region(program, |_, region| {
        remove_unused_in_region(region);
        renumber_temps(region);
    });
}

/// Removes instructions of one region whose results nobody uses.
pub(crate) fn remove_unused_in_region(region: &mut Region) {
    for block in &mut region.blocks {
        remove_unused_results(&mut block.instructions, block.terminator.operand());
    }
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

/// The slots that something outside code may look at, or that code reaches as parts of headers.
fn observed_slots(program: &Program) -> BTreeSet<SlotId> {
    let mut observed = BTreeSet::new();
    for block in &program.blocks {
        observed.extend(block.parser_error);
        for parameter in &block.parameters {
            observed.extend(&parameter.slots);
        }
    }
    for list in &program.field_lists {
        observed.extend(&list.slots);
    }
    for header in &program.headers {
        let fields =
            program.header_types.get(header.ty.index()).map_or(0, |ty| ty.fields.len() as u32);
        let first = header.first_slot.0;
        observed.extend((first..=first.saturating_add(fields)).map(SlotId));
    }
    observed.extend(program.stacks.iter().map(|stack| stack.next));
    for action in &program.actions {
        observed.extend(action.parameters.iter().map(|parameter| parameter.slot));
    }
    observed
}

/// The slots that a region's own instructions mention; not those of actions that it applies.
fn mentioned_slots(program: &Program, region: &Region) -> BTreeSet<SlotId> {
    let instructions = region.blocks.iter().flat_map(|block| &block.instructions);
    instructions
        .filter(|instruction| !matches!(instruction.operation, Operation::Apply { .. }))
        .flat_map(|instruction| {
            let effects = effects::of_operation(program, &instruction.operation);
            let mut slots = effects.slots_read();
            slots.extend(effects.slots_written());
            slots
        })
        .collect()
}

/// The one region that mentions a slot, where there is only one.
fn sole_owners(program: &Program) -> BTreeMap<SlotId, Option<usize>> {
    let mut owners: BTreeMap<SlotId, Option<usize>> = BTreeMap::new();
    for (at, region) in program.regions.iter().enumerate() {
        for slot in mentioned_slots(program, region) {
            owners.entry(slot).and_modify(|owner| *owner = None).or_insert(Some(at));
        }
    }
    owners
}

/// Removes stores to slots that only this region mentions, where no later load in the region can see
/// them. A slot that the region may read before it writes it may hold a value from an earlier run and
/// is left alone.
fn remove_dead_stores(program: &mut Program, at: usize, mut local: BTreeSet<SlotId>) {
    if local.is_empty() {
        return;
    }
    let id = crate::RegionId(at as u32);
    let region = &program.regions[at];
    let live = effects::live_slots(program, id);
    if let Some(live_in) = live.first() {
        for slot in live_in {
            local.remove(slot);
        }
    }
    if local.is_empty() {
        return;
    }
    let mut doomed: HashMap<usize, HashSet<usize>> = HashMap::new();
    for (number, block) in region.blocks.iter().enumerate() {
        let mut needed: BTreeSet<SlotId> = BTreeSet::new();
        for successor in block.terminator.successors() {
            needed.extend(&live[successor.index()]);
        }
        for (index, instruction) in block.instructions.iter().enumerate().rev() {
            if let Operation::Store { place: Place::Slot(slot), .. } = &instruction.operation
                && local.contains(slot)
                && !needed.contains(slot)
            {
                doomed.entry(number).or_default().insert(index);
                continue;
            }
            for slot in effects::slots_surely_written(program, &instruction.operation) {
                needed.remove(&slot);
            }
            needed.extend(effects::of_operation(program, &instruction.operation).slots_read());
        }
    }
    for (number, dead) in doomed {
        let mut index = 0;
        program.regions[at].blocks[number].instructions.retain(|_| {
            index += 1;
            !dead.contains(&(index - 1))
        });
    }
}
