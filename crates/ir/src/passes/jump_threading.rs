// SPDX-License-Identifier: Apache-2.0
//! Shortens control flow: jumps over blocks that only jump on, or whose branch is decided by what the
//! block before stored; joins a block with its only successor if it has no other predecessor; removes blocks that
//! cannot be reached.

use super::for_each_region;
use crate::control_flow::{predecessors, reverse_postorder};
use crate::{
    BasicBlock, Bits, BlockId, Operand, Operation, Place, Program, Region, SlotId, Temp,
    Terminator, ValueType, effects,
};
use std::collections::HashMap;

/// How many instructions a decided block may have to be jumped over; each is evaluated again for each
/// block before it.
const DECIDED_BLOCK_LIMIT: usize = 16;

/// Threads jumps in all regions.
pub fn thread_jumps(program: &mut Program) {
    for_each_region(program, |program, region| {
        thread_empty_blocks(region);
        thread_decided_branches(program, region);
        join_chains(region);
        remove_unreachable_blocks(region);
    });
}

/// Redirects jumps to an empty block to its target.
fn thread_empty_blocks(region: &mut Region) {
    let onward: Vec<Option<BlockId>> = region
        .blocks
        .iter()
        .map(|block| match block.terminator {
            Terminator::Goto(next) if block.instructions.is_empty() => Some(next),
            _ => None,
        })
        .collect();
    for block in &mut region.blocks {
        for successor in block.terminator.successors_mut() {
            // A cycle of empty blocks has no end; the limit leaves the jump inside it.
            for _ in 0..onward.len() {
                let Some(next) = onward[successor.index()] else { break };
                *successor = next;
            }
        }
    }
}

/// Returns the successor of a block of loads and pure instructions if these slots hold these constants.
fn decided_successor(
    region: &Region,
    at: BlockId,
    slots: &HashMap<SlotId, Bits>,
) -> Option<BlockId> {
    let block = &region.blocks[at.index()];
    if block.instructions.len() > DECIDED_BLOCK_LIMIT {
        return None;
    }
    let mut temps: HashMap<Temp, Bits> = HashMap::new();
    let value = |temps: &HashMap<Temp, Bits>, operand: &Operand| match operand {
        Operand::Constant(value) => Some(value.clone()),
        Operand::Temp(temp) => temps.get(temp).cloned(),
    };
    for instruction in &block.instructions {
        match &instruction.operation {
            Operation::Load { result, place: Place::Slot(slot) } => {
                temps.extend(slots.get(slot).map(|value| (*result, value.clone())));
            }
            Operation::Unary { result, operation, operand } => {
                let operand = value(&temps, operand);
                temps.extend(operand.map(|operand| (*result, operand.unary(*operation))));
            }
            Operation::Binary { result, operation, left, right } => {
                let operands = value(&temps, left).zip(value(&temps, right));
                temps.extend(
                    operands.map(|(left, right)| (*result, left.binary(*operation, &right))),
                );
            }
            Operation::Load { .. } => {}
            operation if operation.is_pure() => {}
            _ => return None,
        }
    }
    match &block.terminator {
        Terminator::Branch { condition, then, otherwise } => {
            Some(if value(&temps, condition)?.is_true() { *then } else { *otherwise })
        }
        Terminator::Switch { value: operand, cases, default } => {
            let value = value(&temps, operand)?;
            Some(cases.iter().find(|(case, _)| *case == value).map_or(*default, |(_, next)| *next))
        }
        _ => None,
    }
}

/// The constants that slots hold for certain at the end of a block.
fn constants_at_end(program: &Program, block: &BasicBlock) -> HashMap<SlotId, Bits> {
    let mut slots = HashMap::new();
    for instruction in &block.instructions {
        match &instruction.operation {
            Operation::Store { place: Place::Slot(slot), value: Operand::Constant(value) }
                if program.slots[slot.index()].ty == ValueType::Bits(value.width_bits()) =>
            {
                slots.insert(*slot, value.clone());
            }
            operation if !slots.is_empty() => {
                for slot in effects::of_operation(program, operation).slots_written() {
                    slots.remove(&slot);
                }
            }
            _ => {}
        }
    }
    slots
}

/// Redirects a jump to a block whose branch is decided by stores before the jump.
fn thread_decided_branches(program: &Program, region: &mut Region) {
    for at in 0..region.blocks.len() {
        let Terminator::Goto(mut target) = region.blocks[at].terminator else { continue };
        let slots = constants_at_end(program, &region.blocks[at]);
        if slots.is_empty() {
            continue;
        }
        for _ in 0..region.blocks.len() {
            let Some(next) = decided_successor(region, target, &slots) else { break };
            // Nothing is won by turning a loop; its passes are counted by the step limit.
            if next.index() == at || next == target {
                break;
            }
            target = next;
        }
        region.blocks[at].terminator = Terminator::Goto(target);
    }
}

/// Joins a block with its only successor if that has no other predecessor. Names stay: a named block is joined only
/// to an empty block without a name, which takes it over.
pub(crate) fn join_chains(region: &mut Region) {
    let incoming: Vec<usize> = predecessors(region).iter().map(Vec::len).collect();
    for at in reverse_postorder(region) {
        while let Terminator::Goto(next) = region.blocks[at].terminator {
            let next = next.index();
            let block = &region.blocks[at];
            let takes_name = block.name.is_empty() && block.instructions.is_empty();
            let keeps_names = region.blocks[next].name.is_empty() || takes_name;
            if next == at || next == 0 || incoming[next] != 1 || !keeps_names {
                break;
            }
            let joined = &mut region.blocks[next];
            let name = std::mem::replace(&mut joined.name, "".into());
            let instructions = std::mem::take(&mut joined.instructions);
            let terminator = std::mem::replace(&mut joined.terminator, Terminator::Return);
            let origin = joined.origin;
            let block = &mut region.blocks[at];
            if !name.is_empty() {
                block.name = name;
            }
            block.instructions.extend(instructions);
            block.terminator = terminator;
            block.origin = origin;
        }
    }
}

/// Removes blocks that execution cannot reach; the others keep their order.
pub(crate) fn remove_unreachable_blocks(region: &mut Region) {
    let mut reachable = vec![false; region.blocks.len()];
    for at in reverse_postorder(region) {
        reachable[at] = true;
    }
    let mut numbers = Vec::with_capacity(reachable.len());
    let mut count = 0;
    for kept in &reachable {
        numbers.push(BlockId(count));
        count += u32::from(*kept);
    }
    let mut at = 0;
    region.blocks.retain(|_| {
        at += 1;
        reachable[at - 1]
    });
    for block in &mut region.blocks {
        for successor in block.terminator.successors_mut() {
            *successor = numbers[successor.index()];
        }
    }
}
