// SPDX-License-Identifier: Apache-2.0
//! Turns the arms of an `if` into straight code: computations are done in any case, stores select
//! between the arms' values, and register accesses get the condition as their guard.

use crate::control_flow::predecessors;
use crate::passes::{join_chains, only_defines};
use crate::{
    BinaryOperation, BlockId, Instruction, Operand, Operation, OriginId, Place, Program, Region,
    SlotId, Temp, Terminator, UnaryOperation, ValueType,
};
use std::collections::BTreeMap;

/// Arms with more instructions than this stay as they are.
const ARM_LIMIT: usize = 256;

/// How deep `if`s may nest.
const NESTING_LIMIT: u32 = 32;

/// Converts the `if` that block `head` ends with, those in its arms first; whether it could. The blocks
/// of the arms stay, unreachable.
pub(super) fn convert(program: &Program, region: &mut Region, head: usize) -> bool {
    convert_nested(program, region, head, NESTING_LIMIT)
}

fn convert_nested(program: &Program, region: &mut Region, head: usize, depth: u32) -> bool {
    let Terminator::Branch { then, otherwise, .. } = region.blocks[head].terminator else {
        return false;
    };
    if depth == 0 || then == otherwise {
        return false;
    }
    for arm in [then.index(), otherwise.index()] {
        while arm != head
            && predecessors(region)[arm].len() == 1
            && convert_nested(program, region, arm, depth - 1)
        {}
    }
    convert_one(program, region, head)
}

/// What an arm does, taken apart.
struct Arm {
    computations: Vec<Instruction>,
    /// What slots hold at its end, where it stores to them.
    stores: BTreeMap<SlotId, (Operand, OriginId)>,
}

/// The arm's parts when it is simple: one predecessor, the head, and only instructions that can be done
/// in any case or guarded.
fn arm(region: &Region, incoming: &[Vec<usize>], block: BlockId) -> Option<(Arm, BlockId)> {
    let incoming = &incoming[block.index()];
    let block = region.blocks.get(block.index())?;
    let Terminator::Goto(next) = block.terminator else { return None };
    if incoming.len() != 1 || !block.name.is_empty() || block.instructions.len() > ARM_LIMIT {
        return None;
    }
    let mut arm = Arm { computations: Vec::new(), stores: BTreeMap::new() };
    for instruction in &block.instructions {
        match &instruction.operation {
            Operation::Store { place: Place::Slot(slot), value } => {
                arm.stores.insert(*slot, (value.clone(), instruction.origin));
            }
            // The stores move behind all loads.
            Operation::Load { place: Place::Slot(slot), .. } if arm.stores.contains_key(slot) => {
                return None;
            }
            Operation::Load { place: Place::Element { .. }, .. } if !arm.stores.is_empty() => {
                return None;
            }
            operation
                if only_defines(operation)
                    || matches!(operation, Operation::RegisterAccess { .. }) =>
            {
                arm.computations.push(instruction.clone());
            }
            _ => return None,
        }
    }
    Some((arm, next))
}

fn convert_one(program: &Program, region: &mut Region, head: usize) -> bool {
    let Terminator::Branch { condition, then, otherwise } = region.blocks[head].terminator.clone()
    else {
        return false;
    };
    let incoming = predecessors(region);
    let nothing = || Arm { computations: Vec::new(), stores: BTreeMap::new() };
    let (then_arm, otherwise_arm) =
        (arm(region, &incoming, then), arm(region, &incoming, otherwise));
    let (then_arm, otherwise_arm, join) = match (then_arm, otherwise_arm) {
        (Some((then_arm, join)), Some((otherwise_arm, other))) if join == other => {
            (then_arm, otherwise_arm, join)
        }
        (Some((then_arm, join)), _) if join == otherwise => (then_arm, nothing(), join),
        (_, Some((otherwise_arm, join))) if join == then => (nothing(), otherwise_arm, join),
        _ => return false,
    };
    if join.index() == head {
        return false;
    }
    let mut straight = StraightLineCode {
        program,
        types: &mut region.temps,
        origin: region.blocks[head].origin,
        out: Vec::new(),
    };
    straight.computations(then_arm.computations, &condition);
    if otherwise_arm.computations.iter().any(is_access) {
        let opposite = straight.unary(UnaryOperation::Not, condition.clone());
        straight.computations(otherwise_arm.computations, &opposite);
    } else {
        straight.out.extend(otherwise_arm.computations);
    }
    straight.stores(&condition, then_arm.stores, otherwise_arm.stores);
    let added = straight.out;
    region.blocks[head].instructions.extend(added);
    region.blocks[head].terminator = Terminator::Goto(join);
    join_chains(region);
    true
}

fn is_access(instruction: &Instruction) -> bool {
    matches!(instruction.operation, Operation::RegisterAccess { .. })
}

/// StraightLineCode code under construction.
struct StraightLineCode<'a> {
    program: &'a Program,
    types: &'a mut Vec<ValueType>,
    origin: OriginId,
    out: Vec<Instruction>,
}

impl StraightLineCode<'_> {
    fn temp(&mut self, ty: ValueType) -> Temp {
        self.types.push(ty);
        Temp(self.types.len() as u32 - 1)
    }

    fn push(&mut self, operation: Operation, origin: OriginId) {
        self.out.push(Instruction { operation, origin });
    }

    fn unary(&mut self, operation: UnaryOperation, operand: Operand) -> Operand {
        let result = self.temp(ValueType::Bits(1));
        let origin = self.origin;
        self.push(Operation::Unary { result, operation, operand }, origin);
        Operand::Temp(result)
    }

    /// An arm's computations; accesses are guarded by the arm's condition.
    fn computations(&mut self, instructions: Vec<Instruction>, condition: &Operand) {
        for mut instruction in instructions {
            let origin = instruction.origin;
            if let Operation::RegisterAccess { guard, .. } = &mut instruction.operation {
                *guard = Some(match guard.take() {
                    None => condition.clone(),
                    Some(inner) => {
                        let result = self.temp(ValueType::Bits(1));
                        let both = Operation::Binary {
                            result,
                            operation: BinaryOperation::And,
                            left: condition.clone(),
                            right: inner,
                        };
                        self.push(both, origin);
                        Operand::Temp(result)
                    }
                });
            }
            self.out.push(instruction);
        }
    }

    fn stores(
        &mut self,
        condition: &Operand,
        mut then: BTreeMap<SlotId, (Operand, OriginId)>,
        mut otherwise: BTreeMap<SlotId, (Operand, OriginId)>,
    ) {
        let slots: Vec<SlotId> = then.keys().chain(otherwise.keys()).copied().collect();
        for slot in slots {
            let sides = (then.remove(&slot), otherwise.remove(&slot));
            let origin = match &sides {
                (Some((_, origin)), _) | (None, Some((_, origin))) => *origin,
                // The slot was stored to in both arms and is done.
                (None, None) => continue,
            };
            let ty = self.program.slots[slot.index()].ty;
            let mut side = |side: Option<(Operand, OriginId)>| match side {
                Some((value, _)) => value,
                None => {
                    let result = self.temp(ty);
                    self.push(Operation::Load { result, place: Place::Slot(slot) }, origin);
                    Operand::Temp(result)
                }
            };
            let (then, otherwise) = (side(sides.0), side(sides.1));
            let result = self.temp(ty);
            let select =
                Operation::Select { result, condition: condition.clone(), then, otherwise };
            self.push(select, origin);
            let value = Operand::Temp(result);
            self.push(Operation::Store { place: Place::Slot(slot), value }, origin);
        }
    }
}
