// SPDX-License-Identifier: Apache-2.0
//! Makes one access out of two accesses of the same cell in a basic block. The rules stand at the
//! parent module.

use super::origins::MergedOrigins;
use crate::passes::only_defines;
use crate::{
    BinaryOperation, Bits, Instruction, Operand, Operation, OriginId, Program, Region, RegisterId,
    RegisterUpdate, Temp, UnaryOperation, ValueType, effects, moments,
};
use std::collections::{BTreeSet, HashMap};

/// Accesses with more instructions than this between them stay apart; it bounds the work, and how deep a
/// chain of values is followed.
const DISTANCE_LIMIT: usize = 512;

/// How many conjunctions of guards are looked through.
const GUARD_DEPTH_LIMIT: u32 = 16;

/// The `@atomic` blocks of a region: how many accesses to state each has.
pub(super) struct AtomicBlocks(HashMap<u32, u32>);

impl AtomicBlocks {
    pub(super) fn of(program: &Program, origins: &MergedOrigins, region: &Region) -> AtomicBlocks {
        let mut counts = HashMap::new();
        for instruction in region.blocks.iter().flat_map(|block| &block.instructions) {
            if let Some(block) = origins.atomic_block(program, instruction.origin)
                && moments::is_moment(&instruction.operation)
            {
                *counts.entry(block).or_default() += 1;
            }
        }
        AtomicBlocks(counts)
    }

    /// Whether the second of two accesses may happen at the place of the first: it stays within its atomic
    /// block, or is all that its block does to state.
    fn let_move(&self, first: Option<u32>, second: Option<u32>) -> bool {
        match second {
            None => true,
            Some(block) => first == Some(block) || self.0.get(&block) == Some(&1),
        }
    }
}

/// An access taken apart.
#[derive(Clone)]
struct Access {
    register: RegisterId,
    index: Operand,
    guard: Option<Operand>,
    old: Option<Temp>,
    update: Option<RegisterUpdate>,
    origin: OriginId,
}

impl Access {
    fn of(instruction: &Instruction) -> Option<Access> {
        match &instruction.operation {
            Operation::RegisterAccess { register, index, guard, old, update } => Some(Access {
                register: *register,
                index: index.clone(),
                guard: guard.clone(),
                old: *old,
                update: update.clone(),
                origin: instruction.origin,
            }),
            _ => None,
        }
    }
}

/// Fuses two accesses in a block of the region; whether there were any.
pub(super) fn fuse_in_block(
    program: &Program,
    origins: &mut MergedOrigins,
    atomic_blocks: &AtomicBlocks,
    region: &mut Region,
    at: usize,
) -> bool {
    let (types, block) = (&mut region.temps, &mut region.blocks[at]);
    for first_at in 0..block.instructions.len() {
        let Some(first) = Access::of(&block.instructions[first_at]) else { continue };
        let end = block.instructions.len().min(first_at + DISTANCE_LIMIT);
        for second_at in first_at + 1..end {
            let instruction = &block.instructions[second_at];
            let second = Access::of(instruction).filter(|second| second.register == first.register);
            if let Some(second) = second {
                let atomic = |access: &Access| origins.atomic_block(program, access.origin);
                if second.index == first.index
                    && atomic_blocks.let_move(atomic(&first), atomic(&second))
                {
                    let together = origins.together(program, (first.origin, second.origin));
                    let mut fusion = Fusion {
                        together,
                        program,
                        types,
                        instructions: &block.instructions,
                        first_at,
                        second_at,
                        old: first.old,
                        hoisted: BTreeSet::new(),
                        copies: HashMap::new(),
                        body: Vec::new(),
                    };
                    if let Some(fused) = fusion.fuse(first.clone(), second.clone()) {
                        block.instructions = fused;
                        return true;
                    }
                }
                let apart = matches!(
                    (&first.index, &second.index),
                    (Operand::Constant(first), Operand::Constant(second))
                        if first.cmp_unsigned(second).is_ne()
                );
                if apart {
                    continue;
                }
                break;
            }
            let effects = effects::of_operation(program, &instruction.operation);
            let register = effects::Location::Register(first.register);
            if effects.may_end_block
                || effects.reads.contains(&register)
                || effects.writes.contains(&register)
            {
                break;
            }
        }
    }
    false
}

struct Fusion<'a> {
    program: &'a Program,
    /// The origin of the access that both become.
    together: OriginId,
    types: &'a mut Vec<ValueType>,
    instructions: &'a [Instruction],
    first_at: usize,
    second_at: usize,
    /// The first access's old value.
    old: Option<Temp>,
    /// Instructions between that move before the first access.
    hoisted: BTreeSet<usize>,
    /// Temporaries between, and what replaces them in the update's body.
    copies: HashMap<Temp, Operand>,
    body: Vec<Instruction>,
}

impl Fusion<'_> {
    fn fresh(&mut self, like: Temp) -> Temp {
        self.fresh_of(self.types[like.index()])
    }

    fn fresh_of(&mut self, ty: ValueType) -> Temp {
        self.types.push(ty);
        Temp(self.types.len() as u32 - 1)
    }

    /// The instruction between both accesses that defines a temporary.
    fn definition_between(&self, temp: Temp) -> Option<usize> {
        (self.first_at + 1..self.second_at)
            .find(|at| self.instructions[*at].operation.results().contains(&temp))
    }

    /// Moves the definition of an operand before the first access, if it is not there already.
    fn hoist(&mut self, operand: &Operand) -> Option<()> {
        let Operand::Temp(temp) = operand else { return Some(()) };
        if Some(*temp) == self.old {
            return None;
        }
        let Some(at) = self.definition_between(*temp) else { return Some(()) };
        if self.hoisted.contains(&at) {
            return Some(());
        }
        let operation = &self.instructions[at].operation;
        if !only_defines(operation) {
            return None;
        }
        let reads = effects::of_operation(self.program, operation).reads;
        for passed in &self.instructions[self.first_at..at] {
            let writes = effects::of_operation(self.program, &passed.operation).writes;
            if !reads.is_disjoint(&writes) {
                return None;
            }
        }
        for operand in operation.operands() {
            self.hoist(operand)?;
        }
        self.hoisted.insert(at);
        Some(())
    }

    /// Makes an operand of the second access usable in the update's body.
    fn bring(&mut self, operand: &Operand) -> Option<Operand> {
        let Operand::Temp(temp) = operand else { return Some(operand.clone()) };
        if let Some(copy) = self.copies.get(temp) {
            return Some(copy.clone());
        }
        if self.hoist_if_possible(operand) {
            return Some(operand.clone());
        }
        if Some(*temp) == self.old {
            return Some(operand.clone());
        }
        // It depends on the old value: computed again inside.
        let instruction = &self.instructions[self.definition_between(*temp)?];
        if !instruction.operation.is_pure() {
            return None;
        }
        self.copy(instruction)
    }

    fn hoist_if_possible(&mut self, operand: &Operand) -> bool {
        let before = self.hoisted.clone();
        let possible = self.hoist(operand).is_some();
        if !possible {
            self.hoisted = before;
        }
        possible
    }

    /// Appends a pure instruction to the body under a fresh name.
    fn copy(&mut self, instruction: &Instruction) -> Option<Operand> {
        let mut copy = instruction.clone();
        for operand in copy.operation.operands_mut() {
            let brought = self.bring(operand)?;
            *operand = brought;
        }
        let result = *copy.operation.results().first()?;
        let fresh = self.fresh(result);
        for result in copy.operation.results_mut() {
            *result = fresh;
        }
        self.copies.insert(result, Operand::Temp(fresh));
        self.body.push(copy);
        Some(Operand::Temp(fresh))
    }

    fn select(
        &mut self,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
        origin: OriginId,
        ty: ValueType,
    ) -> Operand {
        let result = self.fresh_of(ty);
        let operation = Operation::Select { result, condition, then, otherwise };
        self.body.push(Instruction { operation, origin });
        Operand::Temp(result)
    }

    /// The pure operation that defines an operand, anywhere before the second access.
    fn definition(&self, operand: &Operand) -> Option<&Operation> {
        let Operand::Temp(temp) = operand else { return None };
        self.instructions[..self.second_at]
            .iter()
            .map(|instruction| &instruction.operation)
            .find(|operation| operation.is_pure() && operation.results().contains(temp))
    }

    fn are_complements(&self, left: &Operand, right: &Operand) -> bool {
        let is_not = |of: &Operand, operand: &Operand| {
            matches!(
                self.definition(of),
                Some(Operation::Unary { operation: UnaryOperation::Not, operand: inner, .. })
                    if inner == operand
            )
        };
        is_not(left, right) || is_not(right, left)
    }

    /// Whether `guard` is 1 only when `outer` is.
    fn implies(&self, guard: &Operand, outer: &Operand) -> bool {
        self.implies_within(GUARD_DEPTH_LIMIT, guard, outer)
    }

    fn implies_within(&self, depth: u32, guard: &Operand, outer: &Operand) -> bool {
        if guard == outer {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        matches!(
            self.definition(guard),
            Some(Operation::Binary { operation: BinaryOperation::And, left, right, .. })
                if self.implies_within(depth, left, outer)
                    || self.implies_within(depth, right, outer)
        )
    }

    /// The block's instructions with both accesses made one.
    fn fuse(&mut self, first: Access, second: Access) -> Option<Vec<Instruction>> {
        let ty = ValueType::Bits(self.program.registers.get(first.register.index())?.width_bits);
        let Some(second_update) = second.update.clone() else {
            return self.share_read(first, second, ty);
        };
        let mut after = Vec::new();
        if let Some(read) = second.old {
            after = self.second_read(&first, &second, read, ty)?;
            let seen = match &first.update {
                Some(update) => update.value.clone(),
                None => Operand::Temp(first.old?),
            };
            self.copies.insert(read, seen);
        }
        if let Some(update) = &first.update {
            self.body.extend(update.body.iter().cloned());
        }
        for instruction in &second_update.body {
            self.copy(instruction)?;
        }
        let new = self.bring(&second_update.value)?;
        let origin = second.origin;
        let mut fused = first.clone();
        let before = first.update.as_ref().map(|update| update.value.clone());
        let value = match (&first.guard, &second.guard) {
            (first_guard, second_guard) if first_guard == second_guard => new,
            (None, Some(condition)) => {
                let condition = self.bring(condition)?;
                let kept = before.or(first.old.map(Operand::Temp))?;
                self.select(condition, new, kept, origin, ty)
            }
            (Some(outer), Some(condition)) if self.implies(condition, outer) => {
                let condition = self.bring(condition)?;
                let kept = before.or(first.old.map(Operand::Temp))?;
                self.select(condition, new, kept, origin, ty)
            }
            // From here on the fused access has to happen more often than the first one, which is
            // not visible in an old value that is not used.
            (Some(_), _) if first.old.is_some() => return None,
            (Some(_), None) => {
                fused.guard = None;
                new
            }
            (Some(condition), Some(other)) if self.are_complements(condition, other) => {
                fused.guard = None;
                self.select(condition.clone(), before?, new, origin, ty)
            }
            (Some(condition), Some(other)) => {
                let other = self.bring(other)?;
                fused.guard = None;
                let old = self.fresh_of(ty);
                fused.old = Some(old);
                let kept = self.select(condition.clone(), before?, Operand::Temp(old), origin, ty);
                self.select(other, new, kept, origin, ty)
            }
            (None, None) => return None,
        };
        fused.update = Some(RegisterUpdate { body: std::mem::take(&mut self.body), value });
        Some(self.assemble(fused, after))
    }

    /// Whether the access hits a cell for certain.
    fn in_range(&self, access: &Access) -> bool {
        let Some(array) = self.program.registers.get(access.register.index()) else { return false };
        match &access.index {
            Operand::Constant(index) => index.to_u64().is_some_and(|index| index < array.size),
            Operand::Temp(temp) => {
                let width_bits = self.types[temp.index()].width_bits();
                1u64.checked_shl(width_bits).is_some_and(|cells| cells <= array.size)
            }
        }
    }

    /// What defines the value that the second access reads: the old value where the first one does not
    /// write, else the new one, computed again, where it is sure that there is a cell to hold it.
    fn second_read(
        &mut self,
        first: &Access,
        second: &Access,
        read: Temp,
        ty: ValueType,
    ) -> Option<Vec<Instruction>> {
        let same_guard = first.guard == second.guard;
        let covered = match (&first.guard, &second.guard) {
            (None, _) => true,
            (Some(outer), Some(inner)) => self.implies(inner, outer),
            (Some(_), None) => false,
        };
        if !covered {
            return None;
        }
        let always = Operand::Constant(Bits::from_bit(true));
        let mut after = Vec::new();
        let (condition, then) = match &first.update {
            None => {
                let condition = second.guard.clone().filter(|_| !same_guard).unwrap_or(always);
                (condition, Operand::Temp(first.old?))
            }
            Some(update) => {
                if !self.in_range(first) {
                    return None;
                }
                let mut names: HashMap<Temp, Temp> = HashMap::new();
                for instruction in &update.body {
                    let mut again = instruction.clone();
                    for operand in again.operation.operands_mut() {
                        rename(&names, operand);
                    }
                    for result in again.operation.results_mut() {
                        let fresh = self.fresh(*result);
                        names.insert(*result, fresh);
                        *result = fresh;
                    }
                    after.push(again);
                }
                let mut value = update.value.clone();
                rename(&names, &mut value);
                (second.guard.clone().unwrap_or(always), value)
            }
        };
        let otherwise = Operand::Constant(Bits::zero(ty.width_bits()));
        let operation = Operation::Select { result: read, condition, then, otherwise };
        after.push(Instruction { operation, origin: second.origin });
        Some(after)
    }

    /// A read of a cell that the first access knows takes its value from there.
    fn share_read(
        &mut self,
        first: Access,
        second: Access,
        ty: ValueType,
    ) -> Option<Vec<Instruction>> {
        let after = self.second_read(&first, &second, second.old?, ty)?;
        Some(self.assemble(first, after))
    }

    fn assemble(&self, fused: Access, after: Vec<Instruction>) -> Vec<Instruction> {
        let Access { register, index, guard, old, update, .. } = fused;
        let access = Instruction {
            operation: Operation::RegisterAccess { register, index, guard, old, update },
            origin: self.together,
        };
        let all = self.instructions;
        let hoisted = self.hoisted.iter().map(|at| all[*at].clone());
        let between = (self.first_at + 1..self.second_at)
            .filter(|at| !self.hoisted.contains(at))
            .map(|at| all[at].clone());
        all[..self.first_at]
            .iter()
            .cloned()
            .chain(hoisted)
            .chain([access])
            .chain(between)
            .chain(after)
            .chain(all[self.second_at + 1..].iter().cloned())
            .collect()
    }
}

fn rename(names: &HashMap<Temp, Temp>, operand: &mut Operand) {
    if let Operand::Temp(temp) = operand
        && let Some(name) = names.get(temp)
    {
        *temp = *name;
    }
}
